"""Two groups with different laws show who does not follow; equal laws are refused, for they show nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bruit.analysis import compliance, second_plan, sensitivity
from bruit.analysis.compliance import largest_errors, promise
from bruit.collection import Plan, Repeat
from bruit.errors import DataError, DesignError, ParameterError
from bruit.estimation import Tally

LABELS = ["no", "yes"]
FIRST = Plan({"cheats": LABELS}, 2.0)
SECOND = second_plan(FIRST, 0.5)


def tally(plan: Plan, following: list[int], ignoring: int, seed: int) -> Tally:
    """Reports of people of whom some follow, with so many of each answer, and some always send the first answer."""
    labels = np.array(next(iter(plan.schema.values())).labels)
    reports = plan.privatize({next(iter(plan.schema)): np.repeat(labels, following)}, rng=seed)[next(iter(plan.schema))]
    return plan.tally({next(iter(plan.schema)): np.concatenate([reports, np.zeros(ignoring, reports.dtype)])})


def expected(plan: Plan, pi: float, gamma: float) -> float:
    """The exact share of reports other than the first answer."""
    law = np.array(next(iter(plan.mechanisms.values())).matrix(), float)
    others = np.full(len(law) - 1, pi / (len(law) - 1))
    follows = np.array([1 - gamma - pi, *others])
    return float((follows @ law)[1:].sum())


@pytest.mark.parametrize("labels", [LABELS, ["no", "once", "often"]])
def test_exact_shares_give_back_exactly_what_was_planted(labels: list[str]) -> None:
    from bruit.analysis.compliance import _inverse, _Law

    first = Plan({"q": labels}, 2.0, "GRR")
    second = second_plan(first, 0.5)
    inverse = _inverse(_Law.of(first), _Law.of(second))
    for pi, gamma in ((0.2, 0.1), (0.0, 0.5), (0.6, 0.0)):
        found = inverse @ [expected(first, pi, gamma), expected(second, pi, gamma)]
        assert found == pytest.approx([pi, 1 - gamma], abs=1e-9)


def test_two_answers_have_the_closed_form() -> None:
    tallies = tally(FIRST, [6_300, 2_700], 1_000, 1), tally(SECOND, [6_300, 2_700], 1_000, 2)
    result = compliance(FIRST, tallies[0], SECOND, tallies[1])
    e1, e2 = math.exp(2.0), math.exp(0.5)
    r1, r2 = (own.counts[1] / own.n for own in tallies)
    gamma = 1 - (r1 * (e1 + 1) * (e2 - 1) - r2 * (e2 + 1) * (e1 - 1)) / (e2 - e1)
    variance = (
        (e1 + 1) ** 2 * (e2 - 1) ** 2 * r1 * (1 - r1) / 10_000 + (e2 + 1) ** 2 * (e1 - 1) ** 2 * r2 * (1 - r2) / 10_000
    ) / (e2 - e1) ** 2
    assert result.ignoring == pytest.approx(gamma, abs=1e-6)
    assert result.following == pytest.approx((r2 * (e2 + 1) - r1 * (e1 + 1)) / (e2 - e1), abs=1e-6)
    assert result.covariance[1, 1] == pytest.approx(variance, rel=1e-6)


def test_a_planted_tenth_is_recovered_within_its_interval_and_full_compliance_is_not_accused() -> None:
    planted = compliance(
        FIRST, tally(FIRST, [12_600, 5_400], 2_000, 3), SECOND, tally(SECOND, [12_600, 5_400], 2_000, 4)
    )
    low, high = planted.interval()["ignoring"]
    assert low < 0.1 < high
    assert planted.p_value < 1e-6
    low, high = planted.interval()["prevalence"]
    assert low < 0.27 < 0.37 < high
    honest = compliance(FIRST, tally(FIRST, [14_000, 6_000], 0, 5), SECOND, tally(SECOND, [14_000, 6_000], 0, 6))
    assert honest.p_value > 1e-3
    low, high = honest.interval()["ignoring"]
    assert low < 0 < high


@pytest.mark.audit
def test_intervals_cover_as_often_as_they_say() -> None:
    # 2,000 surveys: a coverage of .95 is within .95 ± .026 but for one time in ten million.
    runs, n, pi, gamma = 2_000, 4_000, 0.25, 0.1
    rng = np.random.default_rng(8)
    counts = [rng.binomial(n, expected(plan, pi, gamma), runs) for plan in (FIRST, SECOND)]
    covered = np.zeros(3)
    for first, second in zip(*counts, strict=True):
        tallies = [
            Tally(design=plan.digest, counts=np.array([n - own, own]), n=n)
            for plan, own in ((FIRST, first), (SECOND, second))
        ]
        ends = compliance(FIRST, tallies[0], SECOND, tallies[1]).interval()
        truths = (pi, pi), (gamma, gamma), (pi, pi + gamma)
        for place, (own, truth) in enumerate(zip(ends.values(), truths, strict=True)):
            covered[place] += own[0] <= truth[0] and truth[1] <= own[1]
    assert (np.abs(covered[:2] / runs - 0.95) < 0.026).all()
    assert covered[2] / runs > 0.924


def test_equal_laws_are_refused_as_not_identified() -> None:
    with pytest.raises(ParameterError, match="do not identify"):
        second_plan(FIRST, 2.0)
    with pytest.raises(ParameterError, match="do not identify"):
        compliance(FIRST, FIRST.simulate([5, 5], rng=1), FIRST, FIRST.simulate([5, 5], rng=2))


def test_a_person_in_either_group_has_the_larger_epsilon_by_enumeration() -> None:
    # (group, report) of a coin and the two laws.
    laws = [
        [[own / 2 for own in row] for row in next(iter(plan.mechanisms.values())).matrix()] for plan in (FIRST, SECOND)
    ]
    rows = [laws[0][value] + laws[1][value] for value in (0, 1)]
    ratio = max(max(a / b, b / a) for a, b in zip(*rows, strict=True))
    assert math.log(ratio) <= promise(FIRST, SECOND).epsilon
    assert math.log(ratio) == pytest.approx(promise(FIRST, SECOND).epsilon, rel=1e-12)


def test_errors_expected_beforehand_are_not_exceeded() -> None:
    following, ignoring = largest_errors(FIRST, SECOND, (10_000, 10_000))
    result = compliance(FIRST, tally(FIRST, [6_300, 2_700], 1_000, 1), SECOND, tally(SECOND, [6_300, 2_700], 1_000, 2))
    errors = 1.96 * np.sqrt(np.diag(result.covariance))
    assert errors[0] <= following < 1.5 * errors[0]
    assert errors[1] <= ignoring < 1.5 * errors[1]


def test_a_survey_of_one_group_says_what_it_would_say_if_some_did_not_follow() -> None:
    own = tally(FIRST, [12_600, 5_400], 2_000, 3)
    rows = {row[0]: row for row in sensitivity(FIRST, own).rows}
    assert rows[0.0][1] == pytest.approx(FIRST.estimate(own)["cheats"].frequency[1])
    assert rows[0.1][2] < 0.27 < rows[0.1][3]
    assert rows[0.2][3] - rows[0.2][2] > 0.2
    assert "if some did not follow" in repr(sensitivity(FIRST, own))


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_reports_that_all_agree_have_an_error_too(code: int, n: int) -> None:
    equal = [plan.tally({next(iter(plan.schema)): np.full(n, code, np.uint8)}) for plan in (FIRST, SECOND)]
    result = compliance(FIRST, equal[0], SECOND, equal[1])
    assert (np.linalg.eigvalsh(result.covariance) > 0).all()
    assert 0 <= result.p_value <= 1
    for low, high in result.interval().values():
        assert low <= high
    assert "p " in repr(result)
    low, high = result.interval()["ignoring"]
    assert high - low > 1 / n
    assert all(0 <= row[2] <= row[3] <= 1 for row in sensitivity(FIRST, equal[0]).rows)


def test_bad_input_is_refused_by_rule() -> None:
    other = Plan({"smokes": LABELS}, 0.5)
    with pytest.raises(DesignError, match="same one question"):
        compliance(FIRST, FIRST.simulate([5, 5], rng=1), other, other.simulate([5, 5], rng=1))
    with pytest.raises(ParameterError, match="method GRR"):
        second_plan(Plan({"cheats": LABELS}, 2.0, "OUE"), 0.5)
    with pytest.raises(ParameterError, match="leave rounds out"):
        second_plan(Plan({"cheats": LABELS}, 1.0, repeat=Repeat(3, epoch_epsilon=2.0)), 0.5)
    with pytest.raises(DataError, match="Both groups"):
        compliance(FIRST, FIRST.tally({"cheats": []}), SECOND, SECOND.simulate([5, 5], rng=1))
    with pytest.raises(ParameterError, match="safe must be one of"):
        sensitivity(FIRST, FIRST.simulate([5, 5], rng=1), safe="maybe")
