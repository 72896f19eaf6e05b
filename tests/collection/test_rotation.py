"""Attributes in rotation: all balanced assignments are equally likely, and none depends on a value."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit
from bruit.collection import SMP, Plan, Repeat, plan_for, rotation
from bruit.collection.sample import Rotation
from bruit.entropy import Entropy, Words
from bruit.errors import DataTypeError, LimitError, ParameterError
from bruit.estimation import Target
from bruit.sheets import sheet

FIVE = {f"a{j}": ["v", "w", "x", "y", "z"] for j in range(5)}
ROTATED = SMP("GRR", assign="rotation")


class Script(Entropy):
    """Words that a test has written."""

    def __init__(self, *words: list[int]) -> None:
        super().__init__(0)
        self.left = list(words)

    def words(self, size: int) -> Any:
        """The next ones, which must be as many."""
        words = self.left.pop(0)
        assert len(words) == size
        return np.array(words, np.uint64)


def _law(n: int, d: int, assign: Any = rotation.assignment) -> Counter[tuple[int, ...]]:
    """How often each assignment follows, over all orders of the words of people and of attributes."""
    pairs = itertools.product(itertools.permutations(range(n)), itertools.permutations(range(d)))
    return Counter(tuple(assign(n, d, Script(list(people), list(own))).tolist()) for people, own in pairs)


def _is_fair(law: Counter[tuple[int, ...]], n: int, d: int) -> bool:
    """Whether all balanced assignments, and no others, are equally likely."""
    balanced = {
        chosen
        for chosen in itertools.product(range(d), repeat=n)
        if max(map(chosen.count, range(d))) - min(map(chosen.count, range(d))) <= 1
    }
    return set(law) == balanced and len(set(law.values())) == 1


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 3), (3, 3), (4, 3), (5, 3), (4, 2), (5, 2), (5, 4)])
def test_all_balanced_assignments_are_equally_likely_and_nobody_has_a_likelier_attribute(n: int, d: int) -> None:
    law = _law(n, d)
    assert _is_fair(law, n, d)
    for person, place in itertools.product(range(n), range(d)):
        chance = Fraction(sum(many for chosen, many in law.items() if chosen[person] == place), law.total())
        assert chance == Fraction(1, d)


def test_assignment_by_row_order_or_with_the_first_attribute_first_is_caught() -> None:
    def by_row(n: int, d: int, stream: Entropy) -> Any:
        stream.words(n)
        return rotation.permutation(d, stream)[np.arange(n) % d]

    def first_attribute_first(n: int, d: int, stream: Entropy) -> Any:
        which = np.empty(n, np.int64)
        which[rotation.permutation(n, stream)] = np.arange(n) % d
        stream.words(d)
        return which

    assert not _is_fair(_law(4, 3, by_row), 4, 3)
    assert not _is_fair(_law(4, 3, first_attribute_first), 4, 3)


def test_orders_are_equally_likely_because_equal_words_are_drawn_again() -> None:
    orders: Counter[tuple[int, ...]] = Counter()
    for words in itertools.product(range(4), repeat=3):
        orders[tuple(rotation.permutation(3, Script(list(words), [2, 0, 1])).tolist())] += len(set(words)) == 3
    assert len(orders) == math.factorial(3)
    assert set(orders.values()) == {4}


class ByValue(Rotation):
    """A planted defect: people take attributes in the order of their answers."""

    def _randomize(self, codes: Any, words: Any, out: Any) -> None:
        order = np.argsort(codes[next(iter(codes))], kind="stable")
        out["attribute"][order] = np.sort(out["attribute"])
        super()._randomize(codes, words, out)


def _attributes(design: Rotation, tables: list[Any]) -> set[tuple[int, ...]]:
    return {tuple(design.randomize(design.encode(table), Words(3))["attribute"].tolist()) for table in tables}


def test_attributes_depend_on_no_value() -> None:
    plan = Plan(FIVE, 1.0, ROTATED)
    tables = [{name: np.random.default_rng(seed).choice(list("vwxyz"), 23) for name in FIVE} for seed in range(3)]
    own = (plan.schema, plan.mechanisms, dict.fromkeys(FIVE, 1))
    assert len(_attributes(Rotation(*own), tables)) == 1
    assert len(_attributes(ByValue(*own), tables)) > 1


def _joint_law(plan: Plan, records: Any) -> dict[Any, Fraction]:
    """P(attributes and reports of all people | their records), written out."""
    laws = [mechanism.matrix() for mechanism in plan.mechanisms.values()]
    n, assignments = len(records), _law(len(records), len(laws))
    law: dict[Any, Fraction] = {}
    for chosen, many in assignments.items():
        rows = [laws[j][record[j]] for j, record in zip(chosen, records, strict=True)]
        for messages in itertools.product(*(range(len(row)) for row in rows)):
            chance = math.prod((rows[i][messages[i]] for i in range(n)), start=Fraction(many, assignments.total()))
            law[chosen, messages] = chance
    return law


def test_all_reports_together_tell_of_a_person_what_the_plan_says() -> None:
    plan = Plan({"a": ["0", "1"], "b": ["0", "1", "2"]}, 1.0, ROTATED)
    first, second = (_joint_law(plan, [record, (1, 2), (0, 1)]) for record in ((0, 0), (1, 1)))
    assert sum(first.values()) == 1
    assert max(first[key] / second[key] for key in first) == plan.design.ratio("person")
    assert plan.guarantees == Plan(plan.schema, 1.0, "SMP[GRR]").guarantees
    assert plan.design.matrix() == Plan(plan.schema, 1.0, "SMP[GRR]").design.matrix()


@pytest.mark.parametrize("n", [0, 1, 3, 20, 23, 70_001])
def test_everybody_has_one_attribute_and_shares_differ_by_one(n: int) -> None:
    plan = Plan(FIVE, 1.0, ROTATED)
    tally = plan.tally(plan.privatize({name: np.full(n, "v") for name in FIVE}, rng=n))
    assert tally.counts[:5].sum() == tally.n == n
    assert np.ptp(tally.counts[:5]) <= 1


def _pieces(table: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    n = len(next(iter(table.values())))
    for start in range(0, n, size):
        yield {name: column[start : start + size] for name, column in table.items()}


def test_a_file_in_pieces_has_the_reports_of_an_array_whatever_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, ROTATED)
    table = {name: np.tile(["0", "1", "1"], 100_000) for name in plan.schema}  # two batches, five blocks
    monkeypatch.setenv("BRUIT_THREADS", "1")
    whole = plan.privatize(table, rng=5)
    monkeypatch.setenv("BRUIT_THREADS", "3")
    pq.write_table(pa.table(table), tmp_path / "p.parquet")
    assert plan.privatize(tmp_path / "p.parquet", rng=5, to=tmp_path / "r.parquet") == 300_000
    written = pq.read_table(tmp_path / "r.parquet")
    assert bruit.Plan.load(tmp_path / "r.parquet") == plan
    for reports in (plan.privatize(_pieces(table, 70_000), rng=5), {name: written[name].to_numpy() for name in whole}):
        assert all(np.array_equal(whole[name], reports[name]) for name in whole)
    assert plan.tally(tmp_path / "r.parquet").counts[:2].tolist() == [150_000, 150_000]


def test_an_empty_file_gives_an_empty_file_of_reports(tmp_path: Path) -> None:
    plan = Plan(FIVE, 1.0, ROTATED)
    (tmp_path / "p.csv").write_text(",".join(FIVE) + "\n")
    assert plan.privatize(tmp_path / "p.csv", to=tmp_path / "r.csv") == 0
    assert (tmp_path / "r.csv").read_text().strip() == "attribute,report"


def test_who_lacks_the_list_is_refused_with_what_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(FIVE, 1.0, ROTATED)
    spark = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    with pytest.raises(ParameterError, match=r"A device answers alone.*leave assign=.rotation. \(--weights rotation\)"):
        plan.card()
    with pytest.raises(ParameterError, match="This page speaks of a device that draws its question"):
        sheet(plan, "en", n=60)
    with pytest.raises(ParameterError, match="In rounds everybody draws a memo alone"):
        Plan(FIVE, 1.0, ROTATED, repeat=Repeat(3, epoch_epsilon=2.0))
    with pytest.raises(ParameterError, match="The parts of a Spark job draw alone"):
        plan.privatize(spark)
    monkeypatch.setattr(rotation, "MOST_ASSIGNED", 10)
    for table in ({name: ["v"] * 11 for name in FIVE}, iter([{name: ["v"] * 11 for name in FIVE}])):
        with pytest.raises(LimitError, match="At most 10 people are assigned in rotation"):
            plan.privatize(table)


def test_rotation_is_an_option_that_goes_with_no_weights() -> None:
    with pytest.raises(ParameterError, match="give weights or assign, and not both"):
        SMP(assign="rotation", weights={"a0": 1})
    with pytest.raises(ParameterError, match="assign must be one of 'rotation'"):
        SMP(assign="by age")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="assign belongs to SMP, not to SPL"):
        SMP.named("SPL[GRR]", assign="rotation")


def test_the_document_says_it_and_those_of_plain_sampling_do_not() -> None:
    plain, rotated = Plan(FIVE, 1.0, "SMP[GRR]"), Plan(FIVE, 1.0, ROTATED)
    assert '"assign": "rotation"' in rotated.to_json()
    assert "assign" not in plain.to_json()
    assert Plan.from_json(rotated.to_json()) == rotated != plain
    assert Plan.from_json(rotated.to_json()).method == ROTATED != plain.method
    assert rotated.method.in_words(5).startswith("each person answers one of the 5 questions, assigned at random")


# What it gains.


def test_the_stated_variance_is_the_mean_over_the_shares_in_fractions() -> None:
    d, frequency = 5, np.full(5, 0.2)
    plan = Plan(FIVE, 1.0, ROTATED)
    one = float(plan.mechanisms["a0"].variance(frequency, 1, "population")[0])
    for n in (5, 20, 23, 24, 101):
        a, r = divmod(n, d)
        exact = Fraction(d, n) * (1 + Fraction(r * (d - r), d**2 * a * (a + 1)))
        assert float(plan.variance(n)["a0"][0]) == pytest.approx(one * float(exact), rel=1e-12)
    assert plan.variance(3)["a0"][0] == pytest.approx(one)
    plain = Plan(FIVE, 1.0, "SMP[GRR]")
    many = 2**40 * d
    for target in ("population", "people"):
        own, other = (each.variance(many, target=target)["a0"] for each in (plan, plain))
        assert own == pytest.approx(other)


@pytest.mark.parametrize("n", [1, 2, 20, 60, 500])
def test_where_people_draw_the_variance_is_the_mean_over_how_many_report(n: int) -> None:
    plain = Plan(FIVE, 1.0, "SMP[GRR]")
    noise, whole = (
        plain.mechanisms["a0"].variance(np.full(5, 0.2), 1, target)[0] for target in ("people", "population")
    )
    inverse = _expected_inverse(n, 5)
    assert plain.variance(n)["a0"][0] == pytest.approx(whole * inverse, rel=1e-9)
    drawn = (inverse - 1 / n) * n / max(1, n - 1)  # of (1/m)·(n − m)/(n − 1)
    assert plain.variance(n, target="people")["a0"][0] == pytest.approx(
        noise * (inverse - drawn) + whole * drawn, rel=1e-9
    )


def _expected_inverse(n: int, d: int) -> float:
    """E[1/m | m ≥ 1] where each of n people draws one of d attributes."""
    chances = {m: math.comb(n, m) * (d - 1) ** (n - m) / d**n for m in range(1, n + 1)}
    return sum(chance / m for m, chance in chances.items()) / sum(chances.values())


def test_where_people_draw_twenty_of_them_cost_a_quarter_more() -> None:
    assert _expected_inverse(20, 5) * 20 / 5 == pytest.approx(1.27, abs=0.005)
    assert _expected_inverse(500, 5) * 500 / 5 == pytest.approx(1 + 4 / 500, rel=1e-3)


SHARES = np.array([[0.5, 0.2, 0.1, 0.1, 0.1]] * 5)


@pytest.mark.parametrize("target", ["population", "people"])
@pytest.mark.parametrize("n", [20, 23])
def test_estimates_have_the_stated_variance_and_not_that_of_drawing(target: Target, n: int) -> None:
    plan, runs = Plan(FIVE, 4.0, ROTATED), 4000
    generator = np.random.default_rng(n)
    fixed = generator.multinomial(n, SHARES[0])
    errors = []
    for run in range(runs):
        people = fixed if target == "people" else generator.multinomial(n, SHARES[0])
        answer = plan.estimate(plan.simulate(dict.fromkeys(FIVE, people), rng=run), target)["a0"]
        errors.append(answer.frequency - (fixed / n if target == "people" else SHARES[0]))
    truth = fixed / n if target == "people" else SHARES[0]
    spread, stated = np.mean(np.square(errors)), plan.variance(n, {"a0": truth}, target)["a0"].mean()
    drawn = stated * _expected_inverse(n, 5) * n / 5
    allowed = 5.5 * math.sqrt(2 / runs)
    assert abs(spread / stated - 1) < allowed
    assert spread / drawn < 1 - 0.5 * allowed


def test_simulated_people_and_real_ones_have_the_same_law() -> None:
    """Every attribute of four people of two values, with reports that hardly lie: counts of all outcomes."""
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 20.0, ROTATED)
    table = {"a": ["0", "0", "1", "1"], "b": ["0", "1", "1", "1"]}
    joint = np.array([[1, 1], [0, 2]])
    laws = []
    for draw in (
        lambda run: plan.tally(plan.privatize(table, rng=run)),
        lambda run: plan.simulate(joint, rng=run),
    ):
        laws.append(Counter(tuple(draw(run).counts.tolist()) for run in range(3000)))
    # Of six pairs of people that report on a: 1 has no 1 among them, 4 have one, 1 has two.
    for law in laws:
        ones = Counter(dict.fromkeys(range(3), 0))
        for counts, many in law.items():
            assert counts[:2] == (2, 2)
            ones[counts[3]] += many
        assert [ones[number] / 3000 for number in range(3)] == pytest.approx([1 / 6, 4 / 6, 1 / 6], abs=0.05)
    assert set(laws[0]) == set(laws[1])


def test_groups_in_clear_are_one_list_with_random_shares_in_each() -> None:
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, ROTATED, public={"school": ["A", "B"]})
    people = {"a": [[3, 2], [2, 2]], "b": [[5, 0], [0, 4]]}
    drawn = [plan.simulate(people, rng=run).counts for run in range(300)]
    table = {"a": ["0", "1"] * 4 + ["0"], "b": ["0"] * 9, "school": ["A"] * 5 + ["B"] * 4}
    drawn += [plan.tally(plan.privatize(table, rng=run)).counts for run in range(300)]
    first = [counts[2:].reshape(2, -1)[0, 0] for counts in drawn]
    for counts in drawn:
        assert counts[:2].tolist() == [5, 4]
        assert np.ptp(counts[2:].reshape(2, -1)[:, :2].sum(axis=0)) == 1
    # Five of nine people, of whom four or five report on a: 5/9 of these, with the variance of such a draw.
    for own in (first[:300], first[300:]):
        assert np.mean(own) == pytest.approx(2.5, abs=0.35)
        assert np.var(own) == pytest.approx(5 / 9 * 4 / 9 * 2.5 + 25 / 324, rel=0.5)
    with pytest.raises(DataTypeError, match="counts"):
        plan.simulate({"a": [[1, "x"], [1, 1]], "b": [[1, 1], [1, 1]]})


def test_more_people_than_the_law_goes_are_refused_in_simulations() -> None:
    with pytest.raises(LimitError, match="simulated in rotation"):
        Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, ROTATED).simulate(np.full((2, 2), 10**9))


def test_intervals_cover_with_twenty_people() -> None:
    plan, runs = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 3.0, ROTATED), 1500
    covered = 0
    for run in range(runs):
        answer = plan.estimate(plan.simulate({"a": [12, 8], "b": [10, 10]}, rng=run), "people")["a"]
        lower, upper = answer.interval(0.95)[0]
        covered += int(lower <= 0.6 <= upper)
    assert covered / runs > 0.95 - 5.5 * math.sqrt(0.95 * 0.05 / runs) - 0.01


def test_a_plan_is_solved_for_people_in_whole_turns() -> None:
    sizing = plan_for(FIVE, epsilon=2.0, half_width=0.25, method=ROTATED)
    assert max(sizing.half_widths.values()) <= 0.25 * (1 + 1e-9)
    assert max(plan_for(FIVE, epsilon=2.0, n=sizing.n - 5, method=ROTATED).half_widths.values()) > 0.25
    assert sizing.n == pytest.approx(plan_for(FIVE, epsilon=2.0, half_width=0.25, method="SMP[GRR]").n, abs=5)
