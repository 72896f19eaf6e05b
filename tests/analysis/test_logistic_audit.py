"""Intervals of regressions cover as often as they say, over thousands of surveys."""

from __future__ import annotations

import numpy as np
import pytest

import bruit
from bruit.analysis import logistic

TRUTH = np.array([-0.5, 0.8, 0.5, -0.4])
GROUPS = np.array(["a", "b", "c"])


def _survey(seed: int, n: int, plan: bruit.Plan) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=n), rng.integers(0, 3, n)
    linear = TRUTH[0] + TRUTH[1] * x + TRUTH[2] * (g == 1) + TRUTH[3] * (g == 2)
    answers = np.where(rng.random(n) < 1 / (1 + np.exp(-linear)), "yes", "no")
    return plan.privatize({"smokes": answers}, rng=seed), {"x": x, "g": GROUPS[g]}


@pytest.mark.audit
@pytest.mark.parametrize("method", ["moments", "likelihood"])
def test_intervals_cover_between_94_and_96_percent_in_5000_surveys_of_5000_people_at_epsilon_1(method: str) -> None:
    plan, runs = bruit.Plan({"smokes": ["no", "yes"]}, epsilon=1.0), 5_000
    estimates, covered, stated = np.empty((runs, 4)), np.empty((runs, 4)), np.empty((runs, 4))
    for run in range(runs):
        reports, on = _survey(run, 5_000, plan)
        fit = logistic(plan, reports, on, method=method)  # type: ignore[arg-type]
        ends = fit.interval()[0]
        estimates[run], stated[run] = fit.coefficients[0], fit.standard_error[0]
        covered[run] = (ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)
    mean, spread = estimates.mean(axis=0), estimates.std(axis=0, ddof=1)
    print(f"\n{method}: coverage {covered.mean(axis=0).round(4)}, mean {mean.round(4)}, observed {spread.round(4)}, ")
    print(f"stated {stated.mean(axis=0).round(4)}, bias in its errors {((mean - TRUTH) / spread * runs**0.5).round(2)}")
    assert ((covered.mean(axis=0) >= 0.94) & (covered.mean(axis=0) <= 0.96)).all()
    # Five of its standard errors: a false alarm once in a million runs.
    assert (np.abs(mean - TRUTH) < 5 * spread / runs**0.5).all()
    assert (np.abs(stated.mean(axis=0) / spread - 1) < 0.05).all()
