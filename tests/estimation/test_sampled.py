"""What it costs that how many people report on an attribute is random, against fractions and both of its formulas."""

import math
from fractions import Fraction

import pytest

from bruit.estimation import sampled
from bruit.estimation.sampled import harmonic_reports


def exact(n, chance):
    """1/E[1/m | m ≥ 1] in fractions."""
    p = Fraction(chance)
    chances = {m: math.comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(1, n + 1)}
    return sum(chances.values()) / sum(own / m for m, own in chances.items())


@pytest.mark.parametrize("chance", [0.5, 0.2, 0.01, 1.0])
@pytest.mark.parametrize("n", [1, 2, 7, 60, 300])
def test_the_mean_over_how_many_report_is_exact(n, chance):
    assert harmonic_reports(n, chance) == pytest.approx(float(exact(n, chance)), rel=1e-9)


@pytest.mark.parametrize("chance", [0.5, 0.01, 2.0**-20])
def test_the_series_for_many_people_goes_on_where_the_sum_ends(chance, monkeypatch):
    n = int(sampled._SERIES_FROM / chance)
    by_sum = harmonic_reports(n, chance)
    monkeypatch.setattr(sampled, "_SERIES_FROM", 1)
    by_series = harmonic_reports(n, chance)
    assert by_series == pytest.approx(by_sum, rel=1e-9)
    assert by_series != pytest.approx(n * chance, rel=1e-6)  # the mean is not what counts


def test_all_people_of_the_world_have_their_share():
    assert harmonic_reports(2**50, 0.2) == pytest.approx(2**50 * 0.2, rel=1e-12)
