"""Totals by privacy-loss distributions: never below exact optimal composition, however small δ is, and close to it."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import ParameterError
from bruit.privacy import loss_distribution
from bruit.privacy.accounting import total
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.loss_distribution import least_epsilon


def promises(epsilons, delta=0.0):
    return [Guarantee(epsilon=e, delta=delta, neighbours="add-remove") for e in epsilons]


def optimal_epsilon(k, epsilon, delta):
    """The least ε at δ of k releases of pure ε in 160 digits (Kairouz, Oh and Viswanath 2015, theorem 3.3).

    Doubles mean the decimals that they print as, as in a ledger.
    δ(ε) = Σ P(loss)·(1 − e^(ε − loss)) over the losses (k − 2j)ε₀ above ε, and j is binomial.
    """
    with mpmath.workdps(160):
        cost, allowed = mpmath.mpf(repr(epsilon)), mpmath.mpf(delta)
        odds = mpmath.exp(-cost)
        weight, above, scaled = (1 / (1 + odds)) ** k, mpmath.mpf(0), mpmath.mpf(0)
        for j in range(k // 2 + 1):
            loss = (k - 2 * j) * cost
            if above - mpmath.exp(loss) * scaled > allowed:
                break
            above, scaled = above + weight, scaled + weight * mpmath.exp(-loss)
            weight *= mpmath.mpf(k - j) / (j + 1) * odds
        return max(mpmath.mpf(0), mpmath.log((above - allowed) / scaled) if above > allowed else mpmath.mpf(0))


def exact_delta(epsilons, epsilon):
    """δ at ε of these releases, over all combinations of their losses; doubles mean their decimals."""
    with mpmath.workdps(50):
        whole, at, losses = mpmath.mpf(0), mpmath.mpf(str(epsilon)), [mpmath.mpf(repr(cost)) for cost in epsilons]
        for signs in itertools.product((1, -1), repeat=len(epsilons)):
            loss = mpmath.fsum(sign * cost for sign, cost in zip(signs, losses, strict=True))
            if loss > at:
                chance = mpmath.fprod(1 / (1 + mpmath.exp(-sign * e)) for sign, e in zip(signs, losses, strict=True))
                whole += chance * (1 - mpmath.exp(at - loss))
        return whole


@pytest.mark.audit("10000-0.005", share=3)
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-10, 1e-12, 1e-13, 1e-16, 1e-30, 1e-100])
@pytest.mark.parametrize(("k", "epsilon"), [(1, 1.0), (2, 3.0), (10, 0.3), (100, 0.1), (1000, 0.1), (10_000, 0.005)])
def test_equal_releases_cost_their_exact_optimal_composition_and_not_less(k, epsilon, delta):
    exact = optimal_epsilon(k, epsilon, delta)
    stated = total(promises([epsilon] * k), delta, methods=["pld"]).best.epsilon
    assert exact <= stated <= exact * (1 + mpmath.mpf("1e-9")) + mpmath.mpf("1e-12")


def test_the_reference_knows_its_own_formula():
    """The control: an ε one part in a thousand below the reference has a δ above what is allowed."""
    exact = float(optimal_epsilon(9, 0.4, 1e-4))
    assert exact_delta([0.4] * 9, exact) == pytest.approx(1e-4, rel=1e-12)
    assert exact_delta([0.4] * 9, exact * 0.999) > 1e-4


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from([0.1, 0.25, 0.5]), st.floats(0.01, 1.5)), min_size=1, max_size=7),
    st.sampled_from([1e-2, 1e-6, 1e-13, 1e-20]),
)
def test_different_releases_cost_at_least_their_exact_composition(epsilons, delta):
    stated = total(promises(epsilons), delta, methods=["pld"]).best.epsilon
    assert exact_delta(epsilons, stated) <= delta
    if stated:  # rounding to units costs little
        assert exact_delta(epsilons, 0.999 * stated) > delta * (1 - 1e-3)


def test_decimals_with_a_common_unit_are_not_rounded():
    unit, times = loss_distribution._lattice({loss_distribution.decimal(e): 2 for e in (0.1, 0.25)})
    assert (float(unit), times) == (0.05, {2: 2, 5: 2})


def test_releases_without_a_common_unit_are_rounded_up_and_never_down():
    costs = {loss_distribution.decimal(math.sqrt(n)): n for n in range(1, 9)}
    unit, times = loss_distribution._lattice(costs)
    assert sum(size * many for size, many in times.items()) * unit >= sum(c * many for c, many in costs.items())
    assert sum(size * many for size, many in times.items()) <= loss_distribution.MOST_UNITS + sum(costs.values())


def test_coarse_units_still_give_a_valid_total(monkeypatch):
    monkeypatch.setattr(loss_distribution, "MOST_UNITS", 40)
    epsilons = [0.31, 0.47, 0.53, 0.71, 0.83]
    stated = least_epsilon(dict.fromkeys(epsilons, 1), 1e-3)
    assert exact_delta(epsilons, stated) <= 1e-3


def test_the_probabilities_of_many_releases_are_right_to_the_last_of_them():
    """What the fast Fourier transform loses: each probability is right relative to itself."""
    law = loss_distribution._binomial(3000, 0.3)
    with mpmath.workdps(60):
        odds = mpmath.exp(-mpmath.mpf(0.3))
        for j in (0, 1, 500, 1276, 2000, 3000):
            exact = mpmath.binomial(3000, j) * odds**j / (1 + odds) ** 3000
            if exact > 1e-300:
                assert abs(law[j] / exact - 1) < 1e-11
    rounded = np.fft.irfft(np.fft.rfft([1 / (1 + math.exp(-0.3)), 1 / (1 + math.exp(0.3))], 3002) ** 3000, 3002)
    with mpmath.workdps(60):
        exact = mpmath.binomial(3000, 800) * odds**800 / (1 + odds) ** 3000
    assert abs(law[800] / exact - 1) < 1e-11
    assert abs(rounded[800] / float(exact) - 1) > 1  # the control


def test_the_deltas_of_releases_come_out_of_the_total_s():
    noisy = total(promises([0.1] * 100, delta=1e-9), 1e-6, methods=["pld"]).best.epsilon
    with_room = optimal_epsilon(100, 0.1, mpmath.mpf("1e-6") - 100 * mpmath.mpf("1e-9"))
    assert with_room <= noisy <= with_room * (1 + mpmath.mpf("1e-9"))
    with pytest.raises(ParameterError, match="delta must be above"):
        total(promises([0.1] * 100, delta=1e-8), 1e-6, methods=["pld"])


def test_a_delta_below_what_doubles_can_tell_is_refused_with_the_alternatives():
    with pytest.raises(ParameterError, match='use "zcdp" or "sum"'):
        total(promises([0.1]), 1e-201, methods=["pld"])
    assert total(promises([0.1]), 1e-201).best.epsilon == 0.1


def test_thousands_of_different_releases_take_coarser_units_and_bounded_work(monkeypatch):
    monkeypatch.setattr(loss_distribution, "MOST_WORK", 10**8)
    epsilons = [0.005 + 1e-7 * math.sqrt(n) for n in range(5000)]
    _, times = loss_distribution._lattice({loss_distribution.decimal(e): 1 for e in epsilons})
    assert sum(size * many for size, many in times.items()) * len(epsilons) < 2 * 10**8
    stated = total(promises(epsilons), 1e-9, methods=["pld"]).best.epsilon
    assert optimal_epsilon(5000, 0.005, 1e-9) <= stated


def test_another_implementation_agrees_where_its_error_does_not_matter():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    from dp_accounting.pld.common import DifferentialPrivacyParameters

    whole = None
    for number in range(12):
        parameters = DifferentialPrivacyParameters(0.1 + 0.01 * number, 1e-8)
        release = pld.from_privacy_parameters(parameters, value_discretization_interval=1e-4)
        whole = release if whole is None else whole.compose(release)
    ours = total(promises([0.1 + 0.01 * number for number in range(12)], 1e-8), 1e-4, methods=["pld"]).best.epsilon
    assert ours == pytest.approx(whole.get_epsilon_for_delta(1e-4), rel=1e-3)
