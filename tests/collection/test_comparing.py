"""Methods are ranked by exact error before anything is collected, with what they really guarantee."""

import numpy as np
import pytest

import bruit
from bruit.collection import Plan
from bruit.errors import BruitError, LimitError, ParameterError

SCHEMA = {"sex": ["F", "M"], "age": bruit.Grid(17, 90), "degree": ["none", "school", "college"]}


def test_methods_are_ranked_by_the_mean_of_exact_variances():
    found = bruit.compare(SCHEMA, epsilon=1.0, n=10_000)
    assert [row.variance for row in found] == sorted(row.variance for row in found)
    assert {row.method for row in found} >= {"SPL[ADP]", "SMP[ADP]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[SS]"}
    for row in found:
        variances = row.plan.variance(10_000).values()
        assert row.variance == pytest.approx(np.mean([variance.mean() for variance in variances]))
        assert row.person == row.plan.guarantee.epsilon <= 1.0
        assert row.attribute == row.plan.guarantees["attribute"].epsilon
    assert isinstance(found.best, Plan)


def test_at_the_same_epsilon_of_a_person_fakes_cost_variance_and_buy_only_the_hiding():
    """RS+FD[GRR] has 2 to 23 times the variance of SMP, for d = 2 to 18 at ε = 1."""
    ratios = []
    for d in (2, 18):
        rows = {
            row.method: row
            for row in bruit.compare(
                {f"a{j}": bruit.Categories(k=4) for j in range(d)}, 1.0, methods=["SMP[GRR]", "RS+FD[GRR]"]
            )
        }
        ratios.append(rows["RS+FD[GRR]"].variance / rows["SMP[GRR]"].variance)
        assert rows["RS+FD[GRR]"].hides
        assert not rows["SMP[GRR]"].hides
        assert rows["RS+FD[GRR]"].guessed == pytest.approx(rows["SMP[GRR]"].guessed)
    assert 1.5 < ratios[0] < 3
    assert 10 < ratios[1] < 30


def test_the_published_calibration_is_shown_for_what_it_is_and_never_the_best():
    found = bruit.compare(SCHEMA, 1.0, methods=["RS+FD[GRR]", "RS+FD[OUE-z]"], published=True)
    printed = [row for row in found if row.plan.method.published]
    assert len(printed) == 2
    assert all(row.person > 1.8 and not row.holds for row in printed)
    assert found[0] in printed
    assert not found.best.method.published
    assert "✗" in repr(found)
    assert "does not hold" in repr(found)


def test_known_frequencies_and_priors_are_used():
    prior = {"sex": [1, 1], "age": [1] * 74, "degree": [1, 2, 3]}
    found = bruit.compare(SCHEMA, 1.0, prior=prior)
    assert {"RS+RFD[GRR]", "RS+RFD[OUE-r]"} <= {row.method for row in found}
    even = bruit.compare(SCHEMA, 1.0, methods=["SMP[GRR]"])[0].variance
    known = bruit.compare(SCHEMA, 1.0, methods=["SMP[GRR]"], frequencies={"sex": [1.0, 0.0]})[0].variance
    assert known < even
    with pytest.raises(ParameterError, match="2 numbers"):
        bruit.compare(SCHEMA, 1.0, frequencies={"sex": [1.0]})


def test_a_comparison_can_be_shown_and_taken_on():
    found = bruit.compare(SCHEMA, 1.0, unit="attribute", methods=["SPL[ADP]", "SMP[ADP]"])
    assert found.to_frame("polars").height == 2
    assert found._repr_html_().count("<tr>") == 3
    assert found[:1][0].method == "SPL[ADP]"
    assert found[0].person > 2.9
    assert list(found.to_frame("polars")["holds"]) == [True, True]


def test_methods_that_cannot_serve_are_left_out_with_the_reason():
    found = bruit.compare(SCHEMA, 0.0025, methods=["SPL[GRR]", "SMP[GRR]"])
    assert [row.method for row in found] == ["SMP[GRR]"]
    assert "0.001" in found.left_out["SPL[GRR]"]
    assert "left out" in repr(found)
    with pytest.raises(LimitError, match="No method"):
        bruit.compare(SCHEMA, 0.0025, methods=["SPL[GRR]"])


@pytest.mark.parametrize(
    "bad", [{"schema": {"a": ["0", "1"]}}, {"n": 0}, {"epsilon": -1}, {"methods": ["GRR"]}, {"unit": "x"}]
)
def test_what_is_asked_is_checked(bad):
    with pytest.raises(BruitError):
        bruit.compare(**{"schema": SCHEMA, "epsilon": 1.0, **bad})
