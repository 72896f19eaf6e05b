"""Public attributes: sent in clear, counted by stratum, estimated by group, at the same ε."""

from __future__ import annotations

import numpy as np
import pytest

from bruit import Plan
from bruit.audit.plans import empirical_plan, exact_plan
from bruit.cards import Card
from bruit.collection.plan import without_public
from bruit.domains import Attribute, Categories, Schema
from bruit.errors import DataError, DisclosureWarning, FormatError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation import Tally

METHODS = ["SPL[GRR]", "SMP[ADP]", "RS+FD[GRR]", "SMP[OUE]"]
SCHEMA = {"smokes": ["no", "yes"], "degree": ["none", "school", "college"]}
PUBLIC = {"school": ["A", "B", "C"], "year": [1, 2]}


def people(n: int, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: np.array(labels)[rng.integers(len(labels), size=n)] for name, labels in {**SCHEMA, **PUBLIC}.items()}


def several(method: str) -> Plan:
    return Plan({**SCHEMA, **PUBLIC}, 1.0, method, public=list(PUBLIC))


@pytest.mark.parametrize("method", METHODS)
def test_epsilon_is_that_of_the_plan_without_what_is_sent_in_clear(method: str) -> None:
    plan, alone = several(method), Plan(SCHEMA, 1.0, method)
    assert plan.guarantees == alone.guarantees
    assert without_public(plan) == alone
    assert plan.digest != alone.digest
    assert exact_plan(plan).ratio == exact_plan(alone).ratio


@pytest.mark.parametrize("method", METHODS)
def test_a_stratum_is_counted_as_its_people_alone_would_be(method: str) -> None:
    plan, table = several(method), people(900)
    reports = plan.privatize(table, rng=3)
    groups = plan.estimate(plan.tally(reports)).by("school", "year")
    for school in "ABC":
        for year in (1, 2):
            rows = (table["school"] == school) & (table["year"] == year)
            own = without_public(plan).count({name: reports[name][rows] for name in without_public(plan).form})
            expected = without_public(plan).estimate(own)
            for name in SCHEMA:
                assert groups[school, year][name].n == expected[name].n
                assert np.array_equal(groups[school, year][name].frequency, expected[name].frequency)
                assert np.array_equal(groups[school, year][name].interval(), expected[name].interval())


@pytest.mark.parametrize("method", METHODS)
def test_all_strata_together_are_the_plan_without_them_and_tallies_add(method: str) -> None:
    plan, table = several(method), people(500)
    reports = plan.privatize(table, rng=3)
    whole = plan.tally(reports)
    halves = [{name: column[part] for name, column in reports.items()} for part in (slice(200), slice(200, None))]
    assert plan.tally(halves[0]) + plan.tally(halves[1]) == whole
    assert Tally.from_json(whole.to_json()) == whole
    alone = without_public(plan).estimate(
        without_public(plan).count({name: reports[name] for name in without_public(plan).form})
    )
    for name in SCHEMA:
        assert np.array_equal(plan.estimate(whole)[name].frequency, alone[name].frequency)


def test_groups_by_some_public_attributes_add_up_over_the_others() -> None:
    plan, table = several("SPL[GRR]"), people(300)
    answers = plan.estimate(plan.tally(plan.privatize(table, rng=3)))
    assert answers.by("year").n == {year: int((table["year"] == year).sum()) for year in (1, 2)}
    assert answers.by("year", "school").n[2, "C"] == int(((table["year"] == 2) & (table["school"] == "C")).sum())
    counts = [answers.by("school")[school]["smokes"].counts for school in "ABC"]
    assert np.allclose(sum(counts), answers["smokes"].counts)


def test_what_is_sent_in_clear_is_the_code_as_it_is_and_takes_no_noise() -> None:
    plan, table = several("SMP[GRR]"), people(50)
    reports = plan.privatize(table, rng=1)
    assert (np.array(PUBLIC["school"])[reports["school"]] == table["school"]).all()
    assert list(reports) == ["attribute", "report", "school", "year"]


@pytest.mark.parametrize("method", METHODS)
def test_a_hostile_public_value_is_one_refusal_and_reaches_nobody_else(method: str) -> None:
    plan, table = several(method), people(60)
    reports = {name: list(column) for name, column in plan.privatize(table, rng=1).items()}
    honest = plan.tally({name: column[5:] for name, column in reports.items()})
    for row, value in enumerate([3, 255, "A", None, -1]):
        reports["school"][row] = value
    tally = plan.tally(reports)
    assert (tally.n, tally.refused) == (55, 5)
    assert np.array_equal(tally.counts, honest.counts)


def test_valid_says_who_is_counted() -> None:
    plan = several("RS+FD[GRR]")
    reports = plan.privatize(people(40), rng=1)
    reports["year"][:7] = 2
    assert plan.valid(reports).sum() == plan.tally(reports).n == 33


def test_a_schema_and_a_plan_say_what_is_sent_in_clear() -> None:
    schema = Schema([Attribute("smokes", ["no", "yes"]), Attribute("school", ["A", "B"], public=True)])
    plan = Plan(schema, 1.0)
    assert Schema.from_json(schema.to_json()) == schema
    assert Plan.from_json(plan.to_json()) == plan == Plan({"smokes": ["no", "yes"]}, 1.0, public={"school": ["A", "B"]})
    assert "in clear 'school'" in repr(plan)
    assert '"sent_in_clear"' in plan.to_json()
    assert list(plan.public), plan.records.size == (["school"], 2)


def test_a_file_of_reports_gives_the_same_tally(tmp_path) -> None:
    plan, table = several("SMP[OUE]"), people(200)
    expected = plan.tally(plan.privatize(table, rng=5))
    for name in ("reports.csv", "reports.parquet"):
        plan.privatize(table, 5, to=tmp_path / name)
        assert np.array_equal(Plan.load(tmp_path / name).tally(tmp_path / name).counts, expected.counts)


def test_a_mechanism_with_a_column_in_clear_is_a_plan() -> None:
    import bruit

    oracle = bruit.oracle("SS", epsilon=1.0, labels=["a", "b", "c", "d"])
    plan = Plan({"x": oracle}, public={"school": ["A", "B"]})
    table = {"x": ["a", "b"] * 20, "school": ["A", "B"] * 20}
    assert plan.estimate(plan.tally(plan.privatize(table, rng=1))).by("school")["A"]["x"].n == 20
    assert without_public(plan) == Plan({"x": oracle})


def test_a_card_asks_for_what_is_sent_in_clear_and_its_reports_are_counted() -> None:
    for method in METHODS:
        plan = several(method)
        card = plan.card()
        assert Card.from_bytes(card.to_bytes()) == card
        report = card.sample({"smokes": "yes", "degree": "none", "school": "C", "year": "2"})
        assert (report["school"], report["year"]) == ("2", "1")
        tally = plan.tally({name: [text] for name, text in report.items()})
        assert (tally.n, tally.refused) == (1, 0)
        assert {len(vector.codes) for vector in card.vectors(1, rng=1)} == {4}


def test_simulated_strata_have_the_sizes_and_the_means_of_the_people() -> None:
    plan = Plan({"smokes": ["no", "yes"], "school": ["A", "B"]}, 4.0, public=["school"])
    tally = plan.simulate(np.array([[90_000, 10_000], [20_000, 80_000]]), rng=1)
    groups = plan.estimate(tally).by("school")
    assert groups.n == {"A": 100_000, "B": 100_000}
    for school, share in (("A", 0.1), ("B", 0.8)):
        answer = groups[school]["smokes"]
        assert abs(answer.frequency[1] - share) < 6 * answer.standard_error[1]


def test_an_audit_and_the_risks_speak_of_what_is_not_in_clear() -> None:
    from bruit.attacks import risks

    plan = several("RS+FD[GRR]")
    assert empirical_plan(plan, trials=2000, rng=1).passes(plan.guarantee)
    assert {risk.attribute for risk in risks(plan)} <= {None, *SCHEMA}


# What singles people out.


def test_a_value_of_their_own_for_everybody_is_refused_before_anything_is_sent() -> None:
    plan = Plan({"smokes": ["no", "yes"], "id": Categories(k=1000)}, 1.0, public=["id"])
    with pytest.raises(DataError, match="name each person"):
        plan.privatize({"smokes": ["no"] * 30, "id": list(range(30))})
    assert len(plan.privatize({"smokes": ["no"], "id": [7]})["id"]) == 1  # one's own device


def test_a_file_with_a_value_of_their_own_for_everybody_is_refused_and_leaves_nothing(tmp_path) -> None:
    plan = Plan({"smokes": ["no", "yes"], "id": Categories(k=1000)}, 1.0, public=["id"])
    (tmp_path / "people.csv").write_text("id,smokes\n" + "".join(f"{place},no\n" for place in range(30)))
    for to in (tmp_path / "r.csv", None):
        with pytest.raises(DataError, match="name each person"):
            plan.privatize(tmp_path / "people.csv", to=to)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    frames = [{"id": np.arange(20), "smokes": ["no"] * 20}] * 2  # everybody alone in their batch, and not in all
    assert len(plan.privatize(iter(frames))["id"]) == 40


def test_people_alone_in_a_stratum_are_warned_of() -> None:
    plan = Plan({"smokes": ["no", "yes"], "school": ["A", "B"]}, 1.0, public=["school"])
    table = {"smokes": ["no"] * 30, "school": ["A"] * 29 + ["B"]}
    with pytest.warns(DisclosureWarning, match="1 have 'school' for themselves"):
        reports = plan.privatize(table)
    with pytest.warns(DisclosureWarning, match="1 group of 2"):
        plan.estimate(plan.tally(reports)).by("school")


def test_groups_of_one_person_each_are_refused() -> None:
    plan = Plan({"smokes": ["no", "yes"], "id": Categories(k=10)}, 1.0, public=["id"])
    answers = plan.estimate(plan.tally(plan.privatize({"smokes": ["no"] * 9, "id": list(range(9))})))
    with pytest.raises(DataError, match="Every group is one person"):
        answers.by("id")


def test_an_empty_stratum_is_an_error_when_it_is_looked_at_and_a_note_in_the_table() -> None:
    plan = Plan({"smokes": ["no", "yes"], "school": ["A", "B"]}, 1.0, public=["school"])
    groups = plan.estimate(plan.tally(plan.privatize({"smokes": ["no"] * 9, "school": ["A"] * 9}))).by("school")
    with pytest.raises(DataError, match="Nobody answered of the group school B"):
        groups["B"]
    assert "nobody answered of 1 group" in str(groups.table("smokes"))


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: Plan({"a": ["0", "1"]}, 1.0, public=["a"]), ParameterError),
        (lambda: Plan({"a": ["0", "1"]}, 1.0, public=["b"]), ParameterError),
        (lambda: Plan({"a": ["0", "1"]}, 1.0, public="a"), ParameterTypeError),
        (lambda: Plan({"a": ["0", "1"]}, 1.0, public={"a": ["0", "1"]}), ParameterError),
        (lambda: Plan({"a": ["0", "1"]}, 1.0, public={"b": Categories(k=2, missing="drop")}), ParameterError),
        (lambda: Plan({"a": ["0", "1"]}, 1.0, public={"b": Categories(k=100_000)}), LimitError),
        (lambda: Plan(SCHEMA, 1.0, "SMP[GRR]", public={"report": ["0", "1"]}), ParameterError),
        (lambda: Attribute("a", ["0", "1"], public=1), ParameterTypeError),
        (lambda: Attribute.from_dict({**Attribute("a", ["0", "1"]).to_dict(), "public": False}), FormatError),
    ],
)
def test_a_public_attribute_that_cannot_be_is_refused(make, kind) -> None:
    with pytest.raises(kind):
        make()


def test_groups_by_what_was_not_sent_in_clear_are_refused_with_the_way_out() -> None:
    plan = Plan({"smokes": ["no", "yes"]}, 1.0)
    answers = plan.estimate(plan.tally(plan.privatize({"smokes": ["no"] * 9})))
    with pytest.raises(ParameterError, match="sends nothing in clear"):
        answers.by("school")
    other = several("SPL[GRR]")
    answers = other.estimate(other.tally(other.privatize(people(100), rng=1)))
    for names in ((), ("smokes",), ("school", "school")):
        with pytest.raises(ParameterError, match="sent in clear"):
            answers.by(*names)


def test_a_forged_tally_is_refused() -> None:
    plan = several("SPL[GRR]")
    tally = plan.tally(plan.privatize(people(100), rng=1))
    counts = tally.counts.copy()
    counts[0] += 1
    with pytest.raises(DataError, match="do not add up"):
        plan.estimate(Tally(design=tally.design, counts=counts, n=tally.n))
