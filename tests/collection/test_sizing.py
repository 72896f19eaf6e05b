"""A plan is solved for people, ε or width, and the three answers belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bruit import Grid
from bruit.collection import Plan, compare_groups, plan_for
from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.oracles import people_needed

SCHEMAS: list[tuple[Any, str]] = [
    ({"smokes": ["no", "yes"]}, "ADP"),
    ({"smokes": ["no", "yes"], "degree": ["none", "school", "college"]}, "SMP[ADP]"),
    ({"smokes": ["no", "yes"], "degree": ["none", "school", "college"]}, "SPL[GRR]"),
    ({"smokes": ["no", "yes"], "degree": ["none", "school", "college"]}, "RS+FD[GRR]"),
]


@pytest.mark.parametrize(("schema", "method"), SCHEMAS, ids=[method for _, method in SCHEMAS])
def test_people_epsilon_and_width_lead_to_each_other(schema: Any, method: str) -> None:
    sizing = plan_for(schema, epsilon=1.5, half_width=0.03, method=method)
    assert max(sizing.half_widths.values()) <= 0.03
    fewer = plan_for(schema, epsilon=1.5, n=sizing.n - 1, method=method)
    assert max(fewer.half_widths.values()) > 0.03
    back = plan_for(schema, n=sizing.n, half_width=0.03, method=method)
    assert back.epsilon == pytest.approx(1.5, rel=2e-3)
    assert max(back.half_widths.values()) <= 0.03 * (1 + 1e-9)


def test_the_width_is_what_the_plan_says_of_its_variance() -> None:
    schema = {"smokes": ["no", "yes"], "degree": ["none", "school", "college"]}
    sizing = plan_for(schema, epsilon=1.0, n=4_000)
    variance = Plan(schema, 1.0).variance(4_000)
    z = intervals.normal_quantile(0.95)
    assert sizing.half_widths == pytest.approx({name: z * float(np.sqrt(v.mean())) for name, v in variance.items()})


def test_one_question_agrees_with_people_needed() -> None:
    known = {"smokes": [0.9, 0.1]}
    sizing = plan_for({"smokes": ["no", "yes"]}, epsilon=1.0, half_width=0.02, method="GRR", frequencies=known)
    expected = people_needed(k=2, epsilon=1.0, half_width=0.02, frequency=0.1, among=["GRR"])["GRR"]
    assert sizing.n == expected


def test_widths_by_attribute_are_each_kept_and_a_number_is_in_its_own_unit() -> None:
    wanted = {"smokes": 0.05, "age": 1.0}
    sizing = plan_for({"smokes": ["no", "yes"], "age": Grid(18, 80, cells=63)}, epsilon=1.0, half_width=wanted)
    assert all(sizing.half_widths[name] <= own for name, own in wanted.items())
    assert max(sizing.half_widths[name] / own for name, own in wanted.items()) > 0.999


def test_too_few_people_for_any_epsilon_are_refused() -> None:
    with pytest.raises(LimitError, match="too few for these widths even without noise"):
        plan_for({"smokes": ["no", "yes"]}, n=100, half_width=0.01)


@pytest.mark.parametrize("known", [{}, {"epsilon": 1.0}, {"epsilon": 1.0, "n": 10, "half_width": 0.1}])
def test_anything_but_two_of_three_is_refused(known: Any) -> None:
    with pytest.raises(ParameterError, match="Two of epsilon, n and half_width"):
        plan_for({"smokes": ["no", "yes"]}, **known)


# Differences between groups.


def test_people_to_see_thirty_against_twenty_percent() -> None:
    ways = compare_groups(0.3, 0.2, epsilon=1.0, power=0.8)
    people = {row.design: row.n for row in ways.rows}
    assert people == {"no privacy": 581, "clear": 3_472, "joint": 9_552, "split": 214_854}


def test_power_and_epsilon_are_found_back() -> None:
    for design, people in (("clear", 3_472), ("joint", 9_552), ("split", 214_854)):
        assert compare_groups(0.3, 0.2, epsilon=1.0, n=people)[design].power == pytest.approx(0.8, abs=2e-4)
        assert compare_groups(0.3, 0.2, n=people, power=0.8)[design].epsilon == pytest.approx(1.0, abs=2e-3)


@pytest.mark.audit
@pytest.mark.parametrize("design", ["joint", "split"])
def test_the_variance_of_a_difference_is_the_one_observed(design: str) -> None:
    """Collections of people of whom the group is random; false alarm below 1e-6 by the χ² law of a variance."""
    from scipy import stats

    from bruit.collection.power import _Groups

    n, runs = 20_000, 400
    cells = np.array([[0.15, 0.35], [0.1, 0.4]])
    rng = np.random.default_rng(5)
    joint = Plan({"cell": ["1y", "1n", "2y", "2n"]}, 3.0, "GRR")
    split = Plan({"group": ["1", "2"], "answer": ["y", "n"]}, 3.0, "SPL[GRR]")
    differences = []
    for run in range(runs):
        table = rng.multinomial(n, cells.ravel()).reshape(2, 2)
        codes = np.repeat(np.arange(4), table.ravel())
        if design == "joint":
            labels = np.array(["1y", "1n", "2y", "2n"])
            reports = joint.privatize({"cell": labels[codes]}, rng=run)["cell"]
            p, q = (float(getattr(joint.mechanisms["cell"], name)) for name in "pq")
            shares = ((np.bincount(reports, minlength=4) / n - q) / (p - q)).reshape(2, 2)
        else:
            people = {"group": np.array(["1", "2"])[codes // 2], "answer": np.array(["y", "n"])[codes % 2]}
            reports = split.privatize(people, rng=run)
            scores = [split.mechanisms[name].scores(reports[name]) for name in ("group", "answer")]
            shares = scores[0].T @ scores[1] / n
        differences.append(shares[0, 0] / shares[0].sum() - shares[1, 0] / shares[1].sum())
    _, variance = _Groups(0.3, 0.2, 2, 0.5).variance(design, 3.0)
    statistic = (runs - 1) * np.var(differences, ddof=1) / (variance / n)
    low, high = stats.chi2.ppf([2e-7, 1 - 2e-7], runs - 1)
    assert low < statistic < high
    assert not low < 2 * statistic < high  # a variance that is half as large would be seen


def test_equal_shares_and_hopeless_people_are_named() -> None:
    with pytest.raises(ParameterError, match="must differ"):
        compare_groups(0.3, 0.3, epsilon=1.0, power=0.8)
    with pytest.raises(ParameterError, match="Two of epsilon, n and power"):
        compare_groups(0.3, 0.2, epsilon=1.0)
    assert "clear" in compare_groups(0.3, 0.2, n=100, power=0.8).left_out
