"""Regression within a table: the ratio of odds, the target of clear data, and intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest

from bruit import Plan
from bruit.analysis import logistic, table_logistic
from bruit.collection import TAB
from bruit.errors import DataError, ParameterError, ParameterTypeError

SCHEMA = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "smokes": ["no", "yes"]}
#: People by sex, degree and smokes; no additive model is exactly right.
JOINT = np.array([[[3000, 700], [2500, 400], [1500, 300]], [[2000, 1400], [1700, 500], [1000, 350]]])


def columns(joint: np.ndarray, schema=SCHEMA) -> dict[str, np.ndarray]:
    codes = np.repeat(np.array(list(np.ndindex(joint.shape))), joint.ravel(), axis=0)
    return {name: np.array(labels)[codes[:, axis]] for axis, (name, labels) in enumerate(schema.items())}


def asked(joint: np.ndarray, epsilon: float, seed: int, schema=SCHEMA):
    plan = Plan(schema, epsilon, TAB(tables=[tuple(schema)]))
    return plan.estimate(plan.simulate(joint, rng=seed)).table(*schema)


def test_nearly_clear_reports_give_the_regression_of_clear_answers() -> None:
    people = columns(JOINT)
    clear = logistic(None, people["smokes"], {name: people[name] for name in ("sex", "degree")},
                     reference={"sex": "F", "degree": "none"})  # fmt: skip
    fit = table_logistic(asked(JOINT, 20.0, 1), "smokes")
    # The order of terms is that of sorted levels in both.
    assert [str(term) for term in fit.terms] == [str(term) for term in clear.terms]
    assert np.allclose(fit.coefficients, clear.coefficients, atol=1e-5)
    assert np.allclose(fit.standard_error, clear.standard_error, rtol=0.02)


def test_of_two_by_two_cells_the_coefficient_is_the_ratio_of_odds() -> None:
    schema = {"sex": ["F", "M"], "smokes": ["no", "yes"]}
    table = asked(JOINT.sum(axis=1), 1.0, 3, schema)
    ratio = table.odds_ratio(smokes=("yes", "no"), sex=("M", "F"))
    fit = table_logistic(table, "smokes")
    assert fit.coefficient("sex = M") == pytest.approx(np.log(ratio.value), abs=1e-6)
    assert np.exp(fit.interval()[0, 1]) == pytest.approx([ratio.lower, ratio.upper], rel=1e-5)
    assert fit.p_values[0, 1] == pytest.approx(ratio.p_value, rel=1e-4)
    turned = table_logistic(table, "smokes", reference={"sex": "M"}, baseline="yes")
    assert turned.coefficient("sex = F") == pytest.approx(fit.coefficient("sex = M"), abs=1e-6)
    # Either attribute may be the answer: the ratio of odds is the same.
    assert table_logistic(table, "sex").coefficient("smokes = yes") == pytest.approx(np.log(ratio.value), abs=1e-6)


def test_reports_made_apart_and_answers_of_three_values_work_too() -> None:
    plan = Plan({"sex": SCHEMA["sex"], "degree": SCHEMA["degree"]}, 8.0, "SPL[GRR]")
    people = columns(JOINT)
    table = plan.table(plan.privatize({name: people[name] for name in ("sex", "degree")}, rng=2), "sex", "degree")
    fit = table_logistic(table, "degree")
    shares = JOINT.sum(axis=2) / JOINT.sum()
    truth = np.log(shares[1, 1:] / shares[1, 0]) - np.log(shares[0, 1:] / shares[0, 0])
    assert (np.abs(fit.coefficients[:, 1] - truth) < 5 * fit.standard_error[:, 1]).all()
    assert "each answer against none" in str(fit)


@pytest.mark.parametrize(
    ("runs", "low", "high"), [(100, 0.9, 0.99), pytest.param(4000, 0.94, 0.96, marks=pytest.mark.audit)]
)
def test_intervals_cover_the_target_of_clear_data(runs: int, low: float, high: float) -> None:
    rng, share = np.random.default_rng(4), JOINT / JOINT.sum()
    target = table_logistic(asked(100 * JOINT, 20.0, 1), "smokes").coefficients
    covered, off = [], []
    for seed in range(runs):
        joint = rng.multinomial(20_000, share.ravel()).reshape(share.shape)
        fit = table_logistic(asked(joint, 3.0, seed), "smokes")
        ends = fit.interval()
        covered.append((ends[..., 0] <= target) & (target <= ends[..., 1]))
        off.append((fit.coefficients - target) / fit.standard_error)
    print(f"\ncover {np.mean(covered, axis=0).round(4)}, spread in stated errors {np.std(off, axis=0).round(3)}")
    assert low <= np.mean(covered) <= high
    assert abs(np.std(off) - 1) < 5 / np.sqrt(runs)


def test_a_regression_of_the_reports_themselves_would_be_too_small() -> None:
    plan = Plan({"sex": SCHEMA["sex"], "smokes": SCHEMA["smokes"]}, 2.0, "SPL[GRR]")
    people = columns(JOINT)
    reports = plan.privatize({name: people[name] for name in ("sex", "smokes")}, rng=2)
    naive = logistic(None, reports["smokes"], {"sex": reports["sex"]}, reference={"sex": 0}).coefficients[0, 1]
    fit = table_logistic(plan.table(reports, "sex", "smokes"), "smokes")
    shares = JOINT.sum(axis=1) / JOINT.sum()
    truth = np.log(shares[1, 1] * shares[0, 0] / shares[1, 0] / shares[0, 1])
    assert abs(fit.coefficients[0, 1] - truth) < 4 * fit.standard_error[0, 1]
    assert naive < truth / 3


def test_what_cannot_be_estimated_is_said() -> None:
    few = asked(np.array([[[3, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 1]]]), 0.5, 1)
    with pytest.raises(DataError, match=r"0 or below|no finite estimate"):
        table_logistic(few, "smokes")
    table = asked(JOINT, 3.0, 1)
    with pytest.raises(ParameterError, match="answer must be an attribute"):
        table_logistic(table, "town")
    with pytest.raises(ParameterError, match="baseline must be one of"):
        table_logistic(table, "smokes", baseline="maybe")
    with pytest.raises(ParameterError, match="reference must name a predictor"):
        table_logistic(table, "smokes", reference={"town": "x"})
    with pytest.raises(ParameterTypeError, match="table must be a table"):
        table_logistic(np.ones((2, 2)), "smokes")  # type: ignore[arg-type]
