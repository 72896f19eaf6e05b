"""k of d attributes: the guarantee by enumeration, the law of reports, and estimates with their variance."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

import bruit
from bruit.collection import Plan
from bruit.collection.sample import _from_rows
from bruit.errors import DataError, LimitError, ParameterError
from bruit.rounding import log_ceiling

SHAPE = (2, 3, 2)


def _law(design):
    """P(set and messages | record) for every record, from the mechanisms' own matrices."""
    matrices = [mechanism.matrix() for mechanism in design.mechanisms.values()]
    sets = list(itertools.combinations(range(design.d), design.sampled))
    return {
        record: {
            tuple(zip(places, messages, strict=True)): math.prod(
                (matrices[place][record[place]][y] for place, y in zip(places, messages, strict=True)),
                start=Fraction(1, len(sets)),
            )
            for places in sets
            for messages in itertools.product(*(range(len(matrices[place][0])) for place in places))
        }
        for record in itertools.product(*(range(len(matrix)) for matrix in matrices))
    }


def _worst(design, unit):
    table = _law(design)
    return max(
        table[first][report] / table[second][report]
        for first, second in itertools.permutations(table, 2)
        if unit == "person" or sum(a != b for a, b in zip(first, second, strict=True)) == 1
        for report in table[first]
    )


def _seen(plan, reports):
    """How often each set with its messages was reported."""
    mechanisms = list(plan.mechanisms.values())
    pairs = []
    for number in range(1, plan.design.sampled + 1):
        column = []
        for place, report in zip(reports[f"attribute_{number}"].tolist(), reports[f"report_{number}"], strict=True):
            form = mechanisms[place]._empty_reports(0)
            width = form.shape[1] if form.ndim == 2 else form.dtype.itemsize
            own = _from_rows(report[None, :width], form) if report.ndim else np.array([report], form.dtype)
            column.append((place, int(mechanisms[place].message(own)[0])))
        pairs.append(column)
    return Counter(zip(*pairs, strict=True))


def _p_value(seen, law):
    n = sum(seen.values())
    assert set(seen) <= set(law)
    statistic = sum((seen[key] - float(chance) * n) ** 2 / (float(chance) * n) for key, chance in law.items())
    return float(special.chdtrc(len(law) - 1, statistic))


@pytest.mark.parametrize("method", ["SMP2[GRR]", "SMP2[OUE]", "SMP2[ADP]"])
@pytest.mark.parametrize("unit", ["person", "attribute"])
def test_the_guarantee_is_the_worst_ratio_of_the_law_written_out(make, method, unit):
    plan = make(method, SHAPE, 1.5, unit=unit)
    for whom in ("person", "attribute"):
        assert plan.design.ratio(whom) == _worst(plan.design, whom)
        assert plan.guarantees[whom].epsilon == log_ceiling(_worst(plan.design, whom))
    assert plan.guarantees[unit].epsilon <= 1.5


def test_reports_that_each_have_all_of_epsilon_break_the_guarantee(make):
    """The control: the same design with the mechanisms of SMP, which have ε and not ε/2."""
    plan, whole = make("SMP2[GRR]", SHAPE, 1.5), make("SMP[GRR]", SHAPE, 1.5)
    broken = replace(plan.design, mechanisms=whole.mechanisms)
    assert log_ceiling(_worst(broken, "person")) > 1.5 * 1.9
    assert broken.ratio("person") == _worst(broken, "person")


def test_the_matrix_of_a_plan_is_the_written_law(make):
    design = make("SMP2[GRR]", SHAPE, 1.5).design
    assert design.matrix() == [list(row.values()) for row in _law(design).values()]
    assert all(sum(row) == 1 for row in design.matrix())


@pytest.mark.parametrize(("method", "epsilon"), [("SMP2[GRR]", 3.0), ("SMP2[OUE]", 3.0), ("SMP2[ADP]", 6.0)])
def test_reports_follow_the_written_law_and_not_that_of_another_record_or_epsilon(make, method, epsilon):
    plan, record = make(method, SHAPE, epsilon), (1, 2, 0)
    people = {f"a{j}": np.full(40_000, code) for j, code in enumerate(record)}
    seen = _seen(plan, plan.privatize(people, rng=3))
    assert _p_value(seen, _law(plan.design)[record]) > 1e-7
    assert _p_value(seen, _law(plan.design)[1, 2, 1]) < 1e-7
    assert _p_value(seen, _law(make(method, SHAPE, epsilon * 1.3).design)[record]) < 1e-7


def test_every_set_of_three_of_five_attributes_is_drawn_equally_often(make):
    plan = make("SMP3[GRR]", (2, 3, 4, 5, 6))
    reports = plan.privatize({name: np.zeros(50_000, int) for name in plan.schema}, rng=5)
    sets = Counter(zip(*(reports[f"attribute_{number}"].tolist() for number in (1, 2, 3)), strict=True))
    assert set(sets) == set(itertools.combinations(range(5), 3))
    assert special.chdtrc(9, sum((count - 5000) ** 2 / 5000 for count in sets.values())) > 1e-7


@pytest.mark.audit
@pytest.mark.parametrize("target", ["people", "population"])
@pytest.mark.parametrize("jointly", [False, True])
def test_estimates_are_unbiased_and_have_the_stated_variance(make, target, jointly):
    plan, n, runs = make("SMP2[GRR]", SHAPE, 4.0), 600, 1500
    generator = np.random.default_rng(8)
    share = generator.dirichlet(np.ones(math.prod(SHAPE)))
    fixed = generator.multinomial(n, share).reshape(SHAPE)
    errors = []
    for run in range(runs):
        table = fixed if target == "people" else generator.multinomial(n, share).reshape(SHAPE)
        margin = {f"a{j}": table.sum(axis=tuple(set(range(3)) - {j})) for j in range(3)}
        answers = plan.estimate(plan.simulate(table if jointly else margin, rng=run), target=target)
        truth = fixed / n if target == "people" else share.reshape(SHAPE)
        errors.append(answers["a1"].frequency - truth.sum(axis=(0, 2)))
    mean, spread = np.mean(errors, axis=0), np.var(errors, axis=0)
    truth = (fixed / n if target == "people" else share.reshape(SHAPE)).sum(axis=(0, 2))
    stated = plan.variance(n, {"a1": truth}, target)["a1"]
    assert (np.abs(mean) < 5.5 * np.sqrt(stated / runs)).all()
    assert (np.abs(spread / stated - 1) < 5.5 * math.sqrt(2 / runs)).all()
    # The control: the variance with one attribute each, or with all three, is clearly another.
    assert not (np.abs(spread / (stated * 2) - 1) < 5.5 * math.sqrt(2 / runs)).any()
    assert not (np.abs(spread / (stated * 2 / 3) - 1) < 5.5 * math.sqrt(2 / runs)).any()


def test_reports_and_simulation_agree_on_the_number_of_reports(make):
    plan = make("SMP2[OUE]", SHAPE, 2.0)
    people = {name: np.arange(5000) % 2 for name in plan.schema}
    tally = plan.tally(plan.privatize(people, rng=2))
    simulated = plan.simulate({"a0": [2500, 2500], "a1": [2500, 2500, 0], "a2": [2500, 2500]}, rng=2)
    for own in (tally, simulated):
        assert own.n == 5000
        assert own.counts[:3].sum() == 10_000
        assert own.counts[:3].max() <= 5000


def test_a_person_who_names_an_attribute_twice_or_out_of_order_is_refused_once(make):
    plan = make("SMP2[GRR]", SHAPE, 2.0)
    reports = plan.privatize({name: np.zeros(100, int) for name in plan.schema}, rng=1)
    forged = {name: column.copy() for name, column in reports.items()}
    forged["attribute_2"][0] = forged["attribute_1"][0]
    for kind in ("attribute", "report"):
        forged[f"{kind}_1"][1], forged[f"{kind}_2"][1] = reports[f"{kind}_2"][1], reports[f"{kind}_1"][1]
    forged["attribute_2"][2] = 3
    forged["report_1"][3] = 200
    tally = plan.tally(forged)
    assert (tally.n, tally.refused) == (96, 4)
    assert plan.estimate(tally)["a0"].refused == 4


def test_a_tally_whose_reports_do_not_add_up_to_k_per_person_is_refused(make):
    plan = make("SMP2[GRR]", SHAPE, 2.0)
    tally = plan.tally(plan.privatize({name: np.zeros(100, int) for name in plan.schema}, rng=1))
    counts = tally.counts.copy()
    counts[0] += 1
    with pytest.raises(DataError, match="do not add up"):
        plan.estimate(replace(tally, counts=counts))
    with pytest.raises(DataError, match="do not add up"):
        plan.estimate(replace(tally, n=tally.n + 1))


def test_the_best_k_has_the_least_variance_of_all(make):
    shape = (3, 4, 5, 6, 7, 8)
    spelt = {1: "SMP[ADP]", **{k: f"SMP{k}[ADP]" for k in range(2, 6)}, 6: "SPL[ADP]"}
    best = set()
    for epsilon in (0.5, 4.0, 8.0, 12.0, 20.0):
        errors = {}
        for method in spelt.values():
            variances = make(method, shape, epsilon).variance(1000)
            errors[method] = np.mean([own.mean() for own in variances.values()])
        chosen = str(make("SMPk[ADP]", shape, epsilon).method)
        assert errors[chosen] <= min(errors.values()) * (1 + 1e-9)
        best.add(chosen)
    assert "SMP[ADP]" in best
    assert best & {spelt[k] for k in range(2, 6)}


def test_a_plan_comes_back_from_its_document_and_its_reports_from_a_file(make, tmp_path):
    plan = make("smp2[adp]", SHAPE, 2.0)
    assert str(plan.method) == "SMP2[ADP]"
    assert Plan.from_json(plan.to_json()) == plan
    people = {name: np.arange(500) % 2 for name in plan.schema}
    for name in ("reports.csv", "reports.parquet"):
        plan.privatize(people, rng=1, to=tmp_path / name)
        assert plan.tally(tmp_path / name).n == 500


def test_log_odds_of_reports_are_those_of_the_written_law(make):
    plan, first, second = make("SMP2[GRR]", SHAPE, 3.0), (0, 0, 0), (1, 2, 1)
    reports = plan.privatize({name: np.zeros(200, int) for name in plan.schema}, rng=4)
    names = list(plan.schema)
    odds = plan.design.log_odds(reports, dict(zip(names, first, strict=True)), dict(zip(names, second, strict=True)))
    law = _law(plan.design)
    for person in range(200):
        own = {name: column[person : person + 1] for name, column in reports.items()}
        (report,) = _seen(plan, own)
        assert odds[person] == pytest.approx(math.log(law[first][report] / law[second][report]))


def test_what_cannot_be_done_is_refused_with_a_way_out(make):
    plan = make("SMP2[GRR]", SHAPE)
    with pytest.raises(ParameterError, match="A card draws one question or asks all"):
        plan.card()
    with pytest.raises(ParameterError, match=r"SMP3\[GRR\] draws 3 of 3 attributes: .* SMP2\[GRR\], .* SPL\[GRR\]"):
        make("SMP3[GRR]", SHAPE)
    with pytest.raises(ParameterError, match=r"take SMP\[GRR\], or SPL\[GRR\]"):
        make("SMP2[GRR]", (2, 2))
    with pytest.raises(ParameterError, match="Only SMP takes a number"):
        make("SPL2[GRR]", SHAPE)
    with pytest.raises(ParameterError, match="Only SMP takes a number"):
        make("SMP0[GRR]", SHAPE)
    with pytest.raises(ParameterError, match=r"weights belongs to SMP and TAB, not to SMP2\[GRR\]"):
        make("SMP2[GRR]", SHAPE, weights={"a0": 1, "a1": 1, "a2": 1})
    with pytest.raises(ParameterError, match="asked once, and so are several"):
        make("SMP2[GRR]", SHAPE, rounds=2, epoch_epsilon=2.0)
    with pytest.raises(ParameterError, match=r"for a table take TAB\[ADP\]"):
        plan.table({}, "a0", "a1")
    with pytest.raises(LimitError, match="at most 32 attributes"):
        make("SMPk[GRR]", (2,) * 33)


def test_people_read_how_many_questions_are_drawn(make):
    page = bruit.sheets.sheet(make("SMP2[GRR]", SHAPE), "en", n=100)
    assert "2 of the 3 questions are drawn by chance" in page
    assert "2 des 3 questions sont tirées" in bruit.sheets.sheet(make("SMP2[GRR]", SHAPE), "fr", n=100)
