"""The substitutions in the report's proof of AboveThreshold: as corrected they keep the probability, as printed not."""

import numpy as np
import pytest

EPSILON = 1.0
#: Wide and fine enough for an error below 10⁻⁶.
V = np.linspace(-120, 120, 480_001)


def _below(x, scale):
    """The distribution function of Laplace noise."""
    return np.where(x < 0, 0.5 * np.exp(-np.abs(x) / scale), 1 - 0.5 * np.exp(-np.abs(x) / scale))


def _density(x, scale):
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def _integral(lower, upper, shift_t, shift_v):
    """∫ l₄(v + shift_v) ∫ l₂(t + shift_t) dt dv, t from lower to upper + v where that is more."""
    inner = _below(np.maximum(upper + V, lower) + shift_t, 2 / EPSILON) - _below(lower + shift_t, 2 / EPSILON)
    return float(np.trapezoid(inner * _density(V + shift_v, 4 / EPSILON), V))


@pytest.mark.parametrize(("g", "g2", "y", "y2"), [(3.0, 2.0, 4.0, 5.0), (1.0, 1.5, 0.0, -1.0), (-2.0, -1.0, 2.5, 2.0)])
def test_the_opposite_shifts_keep_the_probability_and_the_printed_ones_do_not(g, g2, y, y2):
    truth = _integral(g, y, 0.0, 0.0)
    corrected = _integral(g2, y2, g - g2, g - g2 + y2 - y)
    printed = _integral(g2, y2, g2 - g, g2 - g + y - y2)
    assert corrected == pytest.approx(truth, abs=1e-6)
    assert abs(printed - truth) > 1e-3


@pytest.mark.parametrize(("g", "g2", "y", "y2"), [(3.0, 2.0, 4.0, 5.0), (1.0, 1.5, 0.0, -1.0), (-2.0, -1.0, 2.5, 2.0)])
def test_the_bound_that_the_report_comes_to_holds_all_the_same(g, g2, y, y2):
    assert _integral(g, y, 0.0, 0.0) <= np.exp(EPSILON) * _integral(g2, y2, 0.0, 0.0)
