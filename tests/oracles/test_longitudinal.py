"""Longitudinal protocols by name: the papers' figures and variances, and the names.

`test_longitudinal_histories.py` has the exact ε over all pairs of histories.
"""

import math

import numpy as np
import pytest
from scipy import stats

import bruit
from bruit.errors import BruitError, LimitError, ParameterError
from bruit.oracles import Memory, Repeated, one_report, panel
from bruit.oracles.longitudinal import protocol, real_epsilon

BITS = ["L-SUE", "L-OSUE", "L-OUE", "L-SOUE"]


def at(name, report=1.0, epoch=2.0, k=3):
    return protocol(name, report, epoch, k=k)


@pytest.mark.parametrize("name", BITS)
def test_reports_clear_the_bit_of_the_value_as_often_as_they_state(name):
    design = at(name)
    reports = design.oracle.privatize(np.zeros(20_000, np.int64), rng=3)
    own = int(design.oracle.supports(reports)[:, 0].sum())
    assert stats.binomtest(own, 20_000, float(design.oracle.p)).pvalue > 1e-7
    assert stats.binomtest(20_000, 20_000, float(design.oracle.p)).pvalue < 1e-9


@pytest.mark.parametrize(
    ("name", "two", "four"),
    [("L-SUE", 1.612, 1.959), ("L-OSUE", 1.642, 1.974), ("L-OUE", 1.629, 1.923), ("L-SOUE", 1.472, 1.823)],
)
def test_two_and_four_reports_cost_the_known_figures(name, two, four):
    assert [round(at(name).after(rounds).epsilon, 3) for rounds in (2, 4)] == [two, four]


# The papers' formulas.


@pytest.mark.parametrize(("report", "epoch"), [(1.0, 2.0), (2.0, 4.0), (0.3, 1.7)])
def test_the_second_steps_are_those_of_the_papers(report, epoch):
    a, b = math.exp(epoch), math.exp(report)
    s = math.sqrt(a)
    shown = {
        "L-SUE": (1 + math.tanh(report / 4) / math.tanh(epoch / 4)) / 2,
        "L-OSUE": (a * b - 1) / ((a - 1) * (b + 1)),
    }
    for name, p in shown.items():
        assert (1 + float(at(name, report, epoch).panel.keep)) / 2 == pytest.approx(p, rel=1e-12)
    roots = {
        "L-OUE": (4 * a * (b - 1), 2 * a + 2 + 2 * b - 6 * a * b, 2 * a + 1 - 3 * b),
        "L-SOUE": (
            4 * s * (b - 1),
            2 + 4 * s - 2 * a - b * (2 * a + 4 * s - 2),
            2 * a + s - b * (s + 2),
        ),
    }
    for name, polynomial in roots.items():
        design = at(name, report, epoch)
        assert float(design.second.q) == pytest.approx(min(np.roots(polynomial)), rel=1e-9)
        assert report * (1 - 1e-9) < design.oracle.guarantee.epsilon <= report


def test_the_real_epsilon_of_l_grr_is_that_of_both_its_steps():
    for k in (2, 3, 10, 50):
        a, b = math.exp(2.0), math.exp(1.0)
        r = (a * b - 1) / (a - b)
        first, second = (np.where(np.eye(k, dtype=bool), odds, 1) / (odds + k - 1) for odds in (a, r))
        both = first @ second
        assert real_epsilon(1.0, 2.0, k) == pytest.approx(math.log(both[0, 0] / both[0, 1]), abs=1e-12)
        assert panel("L-GRR", epsilon=1.0, epoch_epsilon=2.0, k=k).oracle.matrix()[0][0] == pytest.approx(both[0, 0])
    assert real_epsilon(2.0, 2.0, 7) == 2.0


@pytest.mark.parametrize(("report", "epoch", "most"), [(1.0, 2.0, 5), (2.0, 4.0, 15)])
def test_l_adp_changes_from_l_grr_to_bits_where_the_papers_do(report, epoch, most):
    names = [panel("L-ADP", epsilon=report, epoch_epsilon=epoch, k=k).oracle.name for k in (2, most, most + 1, 90)]
    assert names == ["GRR", "GRR", "OUE", "OUE"]
    assert panel("L-ADP", epsilon=1.0, epoch_epsilon=2.0, k=10**5).oracle.name == "OUE"


# Variances: of 400 000 people who have value 0, the scores of the other values.

VARIANCES = [
    ("L-SUE", 3.918, 0.921), ("L-OSUE", 3.683, 0.724), ("L-OUE", 4.467, 0.919), ("L-SOUE", 3.889, 0.733),
    ("L-GRR", 9.77, 0.456),
]  # fmt: skip


def reported_scores(design, rounds, people=400_000):
    """The mean score over rounds of each person for a value that nobody has; real reports of stored memos."""
    values = np.zeros(people, np.int64)
    if design.panel is None:
        reports = [design.oracle.privatize(values, rng=9)]
    else:
        memos = design.panel.memoize(values, rng=1)
        reports = [design.panel.answer(memos, rng=2 + number) for number in range(rounds)]
    return np.mean([design.oracle.scores(own)[:, 1] for own in reports], axis=0)


@pytest.mark.parametrize(("name", "first", "second"), VARIANCES)
def test_one_round_has_the_variance_of_the_papers(name, first, second):
    for wanted, report, epoch in ((first, 1.0, 2.0), (second, 2.0, 4.0)):
        design = at(name, report, epoch, k=10)
        assert design.oracle.typical_variance(0.0, 1) == pytest.approx(wanted, rel=0.002)
    scores = reported_scores(at(name, k=10), 1)
    assert scores.var() == pytest.approx(first, rel=0.03)
    assert abs(scores.mean()) < 6 * math.sqrt(first / scores.size)
    assert scores.var() != pytest.approx(1.1 * first, rel=0.03)  # the control


@pytest.mark.parametrize(("name", "wanted"), [("L-OSUE", 1.464), ("L-SUE", 1.675), ("L-GRR", 2.723)])
def test_the_mean_of_four_rounds_keeps_the_noise_of_the_memo(name, wanted):
    scores = reported_scores(at(name, k=10), 4)
    assert scores.var() == pytest.approx(wanted, rel=0.03)
    assert scores.var() > 1.1 * at(name, k=10).oracle.typical_variance(0.0, 4)  # reports drawn afresh would have this


def test_exact_calibration_saves_what_the_formula_wastes():
    for k, published, exact in ((10, 9.77, 3.63), (50, 449, 17.2)):
        assert at("L-GRR", k=k).oracle.typical_variance(0.0, 1) == pytest.approx(published, rel=0.002)
        assert Repeated(bruit.oracle("GRR", epsilon=1.0, k=k), 2.0).oracle.typical_variance(0.0, 1) == pytest.approx(
            exact, rel=0.002
        )


# The front door.


def test_a_panel_by_name_is_the_repeated_oracle():
    values = {"labels": ["bus", "car", "bike"]}
    for name, own in (("L-SUE", "SUE"), ("l_osue", "OUE")):
        design = bruit.panel(name, epsilon=1.0, epoch_epsilon=2.0, **values)
        assert design == Repeated(bruit.oracle(own, epsilon=1.0, **values), 2.0)
        assert Repeated.from_dict(design.to_dict()) == design


def test_a_panel_by_name_is_used_with_a_memory_and_a_series(tmp_path):
    for name in ("L-SUE", "L-OSUE", "L-GRR", "L-ADP"):
        design = panel(name, epsilon=2.0, epoch_epsilon=4.0, labels=["bus", "car", "bike"])
        memory = Memory.create(tmp_path / name, design)
        reports = [memory.report(value, round=number) for number, value in enumerate(["bus", "car"])]
        series = design.series([design.oracle.tally(report) for report in reports])
        assert series.frequency.shape == (2, 3)
        simulated = design.simulate([6000, 3000, 1000], rounds=3, rng=7)
        assert abs(simulated.mean().frequency[0] - 0.6) < 6 * simulated.mean().standard_error[0]


@pytest.mark.parametrize(
    ("name", "settings", "rule"),
    [
        ("L-OSEU", {}, "Did you mean 'L-OSUE'"),
        ("RAPPOR", {}, "bruit.open_answers.RAPPOR.*bruit.panel.'L-SUE'"),
        ("OUE", {}, "bruit.panel.'L-OSUE'"),
        ("GRR", {}, "Repeated"),
        (7, {}, "name must be a text"),
        ("L-OUE", {}, "one_report"),
        ("L-SUE", {"epsilon": 3.0}, "epoch_epsilon must be at least epsilon"),
        ("L-SUE", {"epoch_epsilon": math.inf}, "epoch_epsilon"),
        ("L-GRR", {"k": 10**5}, "take L-OSUE"),
        ("dBitFlipPM", {"epoch_epsilon": None}, "bruit.oracles.DBitFlip"),
        ("L-OSUE", {"epoch_epsilon": None}, "epoch_epsilon must be given"),
        ("LOLOHA", {"g": 2}, "'g' is no key here. There are k, labels, domain"),
    ],
)
def test_a_name_or_setting_that_cannot_be_is_refused_with_what_to_write(name, settings, rule):
    with pytest.raises(BruitError, match=rule):
        panel(name, **{"epsilon": 1.0, "epoch_epsilon": 2.0, "k": 3, **settings})


@pytest.mark.parametrize("name", ["L-OSUE", "LOLOHA", "BiLOLOHA"])
def test_the_least_epsilon_of_the_laws_is_allowed(name):
    design = panel(name, epsilon=0.001, epoch_epsilon=0.002, k=5)
    assert design.after(1).epsilon == pytest.approx(0.001, rel=1e-6)


@pytest.mark.parametrize("name", ["L-OUE", "L-SOUE"])
def test_one_report_has_one_epsilon(name):
    for report, epoch in [(1.0, 2.0), (4.0, 8.0)]:
        design = at(name, report, epoch, k=2)
        assert design.after(1) == design.oracle.guarantee
        assert design.after(1).epsilon <= report < design.after(2).epsilon


@pytest.mark.parametrize(("name", "limit"), [("L-OUE", "3b <= 2a + 1"), ("L-SOUE", "b <= s(2s + 1)/(s + 2)")])
def test_a_report_that_the_second_step_cannot_reach_is_refused(name, limit):
    a = math.exp(2.0)
    s = math.sqrt(a)
    largest = math.log((2 * a + 1) / 3 if name == "L-OUE" else s * (2 * s + 1) / (s + 2))
    assert one_report(name, epsilon=largest - 1e-6, epoch_epsilon=2.0, k=3).epsilon <= largest, limit
    with pytest.raises(ParameterError, match="cannot tell as much"):
        one_report(name, epsilon=largest + 1e-6, epoch_epsilon=2.0, k=3)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("rappor", "bruit.open_answers.RAPPOR.*bruit.oracle.'SUE'"),
        ("l-osue", "bruit.panel.'L-OSUE'"),
        ("O-RAPPOR", "bruit.open_answers.RAPPOR"),
        ("o-rr", "bruit.open_answers.HashedResponse"),
        ("CMS", "RAPPOR.count_mean_sketch"),
        ("hcms", "bruit.oracle.'BLH'"),
        ("SHE", "bruit.oracle.'SUE'"),
    ],
)
def test_an_oracle_by_a_name_that_is_no_oracle_is_refused_with_what_to_write(name, rule):
    with pytest.raises(ParameterError, match=rule):
        bruit.oracle(name, epsilon=1.0, k=3)
    with pytest.raises(ParameterError, match=rule):
        bruit.choose(3, 1.0, among=[name])


def test_the_limits_of_l_grr_are_a_limit_error():
    with pytest.raises(LimitError):
        panel("L-GRR", epsilon=0.002, epoch_epsilon=0.01, k=50)
