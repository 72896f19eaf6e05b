"""Tighter totals: never below the exact composition of the worst mechanisms, and close to it."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from bruit.errors import MissingExtraError, ParameterError, ParameterTypeError
from bruit.privacy.accounting import (
    bounded_range_rho,
    gaussian_rho,
    pure_rho,
    rho_to_delta,
    rho_to_epsilon,
    total,
)
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Ledger

HAS_PLD = importlib.util.find_spec("dp_accounting") is not None
needs_pld = pytest.mark.skipif(not HAS_PLD, reason="dp-accounting (the extra `accounting`) is not installed")


def promises(epsilons, neighbours="add-remove", delta=0.0):
    return [Guarantee(epsilon=e, delta=delta, neighbours=neighbours) for e in epsilons]


def exact_delta(losses, weights, epsilon):
    """δ at this ε of a mechanism with these losses under the first table: Σ P(loss)·(1 − e^(ε − loss))₊."""
    return float(np.sum(weights * np.maximum(0, -np.expm1(epsilon - losses))))


def two_outcomes(high, low, k):
    """Losses and weights of k releases, each with two outcomes whose losses are `high` and `low` < 0 < `high`."""
    # P(high)·e^−high + P(low)·e^−low = 1.
    p = (math.exp(-low) - 1) / (math.exp(-low) - math.exp(-high))
    wins = np.arange(k + 1)
    log = special.gammaln(k + 1) - special.gammaln(wins + 1) - special.gammaln(k - wins + 1)
    weights = np.exp(log + special.xlogy(wins, p) + special.xlog1py(k - wins, -p))
    return wins * high + (k - wins) * low, weights


def gaussian_delta(rho, epsilon):
    """The exact δ of Gaussian noise that is ρ-zCDP."""
    ratio = math.sqrt(2 * rho)
    return special.ndtr(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * special.ndtr(-ratio / 2 - epsilon / ratio)


def test_the_rho_of_each_kind_is_its_formula_rounded_up():
    assert pure_rho(0.5) == 0.125
    assert bounded_range_rho(0.5) == 0.03125
    assert gaussian_rho(3, 9) == 0.5
    assert pure_rho(0.1) >= 0.1**2 / 2


@settings(deadline=None)
@given(st.floats(1e-6, 50), st.floats(1e-12, 0.5))
def test_a_converted_rho_covers_gaussian_noise_and_is_below_the_simple_formula(rho, delta):
    epsilon = rho_to_epsilon(rho, delta)
    assert gaussian_delta(rho, epsilon) <= delta * (1 + 1e-6)
    assert epsilon <= (rho + 2 * math.sqrt(rho * math.log(1 / delta))) * (1 + 1e-9)


def test_the_conversion_leaves_little_room():
    # The control: an ε a fifth smaller is already broken by Gaussian noise of this ρ.
    for rho in (0.01, 0.5, 3.0):
        assert gaussian_delta(rho, 0.8 * rho_to_epsilon(rho, 1e-6)) > 1e-6


@settings(deadline=None)
@given(st.floats(1e-3, 10), st.floats(1e-9, 0.1))
def test_the_two_conversions_are_inverse(rho, delta):
    epsilon = rho_to_epsilon(rho, delta)
    if epsilon == 0:
        assert rho_to_delta(rho, 0.0) <= delta
    else:
        assert rho_to_delta(rho, epsilon) == pytest.approx(delta, rel=0.01)
        assert rho_to_delta(rho, 0.9 * epsilon) >= delta * (1 - 1e-9)


def test_nothing_spent_is_nothing_lost():
    assert rho_to_epsilon(0.0, 1e-6) == rho_to_delta(0.0, 0.0) == 0.0
    assert rho_to_epsilon(1e-320, 1e-6) < 1e-5


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 1), (0.1, 100), (0.5, 20), (0.02, 2000)])
def test_many_pure_releases_cost_at_least_what_the_worst_ones_do_exactly(epsilon, k):
    found = total(promises([epsilon] * k), delta=1e-6)
    losses, weights = two_outcomes(epsilon, -epsilon, k)  # randomised response, the worst of all
    assert exact_delta(losses, weights, found.by_method["zcdp"].epsilon) <= 1e-6
    assert found.by_method["sum"].epsilon == pytest.approx(k * epsilon)
    assert found.rho == pytest.approx(k * epsilon**2 / 2)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_exponential_mechanisms_cost_an_eighth(share):
    epsilon, k = 0.4, 60
    # The losses of an exponential mechanism span ε: the worst has the two ends only.
    losses, weights = two_outcomes(share * epsilon, -(1 - share) * epsilon, k)
    found = total(promises([epsilon] * k), 1e-6, rho=lambda entry: bounded_range_rho(entry.guarantee.epsilon))
    assert exact_delta(losses, weights, found.by_method["zcdp"].epsilon) <= 1e-6
    assert found.best.epsilon < 0.6 * total(promises([epsilon] * k), 1e-6).best.epsilon


def test_an_eighth_is_not_enough_for_other_pure_releases():
    # The control: randomised response is pure, its losses span 2ε, and an eighth does not cover it.
    losses, weights = two_outcomes(0.4, -0.4, 60)
    found = total(promises([0.4] * 60), 1e-6, rho=lambda entry: bounded_range_rho(entry.guarantee.epsilon))
    assert exact_delta(losses, weights, found.by_method["zcdp"].epsilon) > 1e-6


def test_the_best_method_is_the_sum_for_few_and_zcdp_for_many():
    assert total(promises([0.1] * 3), 1e-6).best_method == "sum"
    many = total(promises([0.1] * 300), 1e-6)
    assert many.best_method == "zcdp"
    assert many.best == many.by_method["zcdp"]
    assert str(many).splitlines()[0].startswith("sum")


def test_a_known_rho_replaces_the_stated_epsilon_and_delta():
    noisy = promises([2.0] * 10, delta=1e-5)  # Gaussian releases, each of ρ = 0.01
    known = total(noisy, 1e-6, rho=lambda _: 0.01, methods=["zcdp"])
    assert known.rho == pytest.approx(0.1)
    assert known.best.epsilon == pytest.approx(rho_to_epsilon(0.1, 1e-6))
    some = total(noisy, 1e-3, rho=lambda entry: 0.01 if entry.index else None, methods=["zcdp"])
    assert some.best.epsilon == pytest.approx(rho_to_epsilon(2.09, 1e-3 - 1e-5))


def test_the_deltas_of_the_releases_come_out_of_the_total_s():
    noisy = promises([0.1] * 100, delta=1e-8)
    found = total(noisy, 2e-6)
    assert found.by_method["zcdp"].epsilon == pytest.approx(rho_to_epsilon(0.5, 1e-6))
    assert found.by_method["sum"].delta == pytest.approx(1e-6)
    with pytest.raises(ParameterError, match="delta must be above"):
        total(noisy, 1e-6)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_disjoint_parts_count_as_in_the_ledger(neighbours):
    ledger = Ledger(epsilon=100.0, neighbours=neighbours)
    [half] = promises([0.5], neighbours)
    with ledger.parallel("by region") as parts:
        for region in ("north", "south", "west"):
            parts.spend(half, region)
        parts.spend(half, "west")
    ledger.spend(half, "all")
    worst = 2 + 1 if neighbours == "replace" else 2
    found = total(ledger.entries, 1e-6)
    assert found.rho == pytest.approx((worst + 1) * 0.125)
    assert found.by_method["sum"] == ledger.spent
    assert found.best.neighbours == neighbours


def test_bad_items_are_refused():
    with pytest.raises(ParameterError):
        total([], 1e-6)
    with pytest.raises(ParameterError, match="same neighbours"):
        total([*promises([0.1]), *promises([0.1], "replace")], 1e-6)
    with pytest.raises(ParameterTypeError, match="entries"):
        total([0.1], 1e-6)
    with pytest.raises(ParameterError):
        total(promises([0.1]), 0.0)
    with pytest.raises(ParameterError):
        total(promises([0.1]), 1e-6, methods=["rdp"])
    with pytest.raises(ParameterError):
        total(promises([0.1]), 1e-6, methods=[])
    with pytest.raises(ParameterError):
        total(promises([0.1]), 1e-6, rho=lambda _: -1.0)


@pytest.mark.skipif(HAS_PLD, reason="dp-accounting is installed here")
def test_without_the_extra_the_error_says_what_to_install():
    with pytest.raises(MissingExtraError, match=r"bruit\[accounting\]"):
        total(promises([0.1]), 1e-6, methods=["pld"])


@needs_pld
@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 1), (0.1, 100), (0.5, 20), (0.02, 2000)])
def test_privacy_loss_distributions_give_the_exact_composition_and_not_less(epsilon, k):
    found = total(promises([epsilon] * k), 1e-6, methods=["sum", "zcdp", "pld"])
    losses, weights = two_outcomes(epsilon, -epsilon, k)
    stated = found.by_method["pld"].epsilon
    assert exact_delta(losses, weights, stated) <= 1e-6 * (1 + 1e-6)
    assert exact_delta(losses, weights, 0.98 * stated) > 1e-6
    assert stated <= found.by_method["sum"].epsilon
    assert found.best_method == "pld"


@needs_pld
def test_privacy_loss_distributions_take_mixed_releases_parts_and_deltas():
    ledger = Ledger(epsilon=100.0, delta=1e-3)
    for number in range(30):
        ledger.spend(Guarantee(epsilon=0.1 + 0.01 * number, delta=1e-8, neighbours="add-remove"), "count")
    with ledger.parallel("by region") as parts:
        for region in ("north", "south"):
            parts.spend(Guarantee(epsilon=0.5, neighbours="add-remove"), region)
    found = total(ledger.entries, 1e-5, methods=["sum", "zcdp", "pld"])
    assert found.by_method["pld"].epsilon < found.by_method["zcdp"].epsilon < found.by_method["sum"].epsilon
    with pytest.raises(ParameterError, match="delta must be above"):
        total(ledger.entries, 1e-8, methods=["pld"])


@needs_pld
def test_releases_that_lose_nothing_cost_nothing_by_any_method():
    found = total(promises([0.0] * 5), 1e-6, methods=["sum", "zcdp", "pld"])
    assert {guarantee.epsilon for guarantee in found.by_method.values()} == {0.0}
