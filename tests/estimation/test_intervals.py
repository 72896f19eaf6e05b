"""Intervals against slow definitions of what they are."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.estimation import intervals


@given(st.integers(1, 300), st.data())
@settings(deadline=None, max_examples=40)
def test_wilson_ends_are_where_the_score_test_is_undecided(n, data):
    count = data.draw(st.integers(0, n))
    z = intervals.normal_quantile(0.9)
    for end in intervals.wilson(count, n, 0.9):
        if 1e-12 < end < 1 - 1e-12:
            assert abs(count / n - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n), rel=1e-9)


@given(st.integers(1, 60), st.data())
@settings(deadline=None, max_examples=40)
def test_clopper_pearson_ends_have_exactly_the_tail_probabilities(n, data):
    count = data.draw(st.integers(0, n))
    lower, upper = (float(end) for end in intervals.clopper_pearson(count, n, 0.9))

    def at_least(r):
        return mpmath.fsum(
            mpmath.binomial(n, i) * mpmath.mpf(r) ** i * (1 - mpmath.mpf(r)) ** (n - i) for i in range(count, n + 1)
        )

    assert lower == 0 if count == 0 else float(at_least(lower)) == pytest.approx(0.05, abs=1e-9)
    if count == n:
        assert upper == 1
    else:
        at = mpmath.mpf(upper)
        at_most = mpmath.fsum(mpmath.binomial(n, i) * at**i * (1 - at) ** (n - i) for i in range(count + 1))
        assert float(at_most) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.3, 0.01), (0.5, 0.2), (0.9, 0.5)])
@pytest.mark.parametrize("count", [0, 1, 17, 60, 100])
def test_the_score_interval_for_people_ends_where_its_test_is_undecided(p, q, count):
    n, gap = 100, p - q
    estimate = (count / n - q) / gap
    z = intervals.normal_quantile(0.95)
    for end in intervals.score_people(estimate, n, p=p, q=q, gap=gap, level=0.95):
        variance = (end * p * (1 - p) + (1 - end) * q * (1 - q)) / (n * gap**2)
        assert abs(estimate - end) == pytest.approx(z * math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("r", [0.02, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("n", [20, 200])
def test_clopper_pearson_never_covers_below_its_level_and_wilson_is_near_it(r, n):
    counts = np.arange(n + 1)
    mass = np.array(
        [float(mpmath.binomial(n, int(c)) * mpmath.mpf(r) ** int(c) * mpmath.mpf(1 - r) ** int(n - c)) for c in counts]
    )

    def coverage(method):
        lower, upper = method(counts, n, 0.95)
        return mass[(lower <= r) & (r <= upper)].sum()

    assert coverage(intervals.clopper_pearson) >= 0.95
    assert 0.88 <= coverage(intervals.wilson) <= 0.995


def test_wald_covers_far_too_seldom_for_rare_values():
    """The control: the same measure of coverage shows why Wald is only a fallback."""
    n, r = 20, 0.02
    counts = np.arange(n + 1)
    mass = np.array([math.comb(n, c) * r**c * (1 - r) ** (n - c) for c in counts])
    lower, upper = intervals.wald(counts / n, counts / n * (1 - counts / n) / n, 0.95)
    assert mass[(lower <= r) & (r <= upper)].sum() < 0.5
