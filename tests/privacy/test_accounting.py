"""Tighter totals: never below the exact composition of the worst mechanisms, and close to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from bruit.errors import ParameterError, ParameterTypeError
from bruit.privacy.accounting import total
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Entry, Ledger
from bruit.privacy.zcdp import bounded_range_rho, gaussian_rho, rho_to_epsilon


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


def booked(epsilons, rho, delta=0.0):
    """A ledger in which releases of these ε have said what ρ they prove."""
    ledger = Ledger(epsilon=1e6, delta=1 if delta else 0)
    for guarantee in promises(epsilons, delta=delta):
        ledger.spend(guarantee, "release", rho=rho(guarantee.epsilon))
    return ledger


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
    found = total(booked([epsilon] * k, bounded_range_rho).entries, 1e-6)
    assert exact_delta(losses, weights, found.by_method["zcdp"].epsilon) <= 1e-6
    assert found.best.epsilon < 0.6 * total(promises([epsilon] * k), 1e-6).best.epsilon


def test_an_eighth_is_not_enough_for_other_pure_releases():
    # The control: randomised response is pure, its losses span 2ε, and an eighth does not cover it.
    losses, weights = two_outcomes(0.4, -0.4, 60)
    found = total(booked([0.4] * 60, bounded_range_rho).entries, 1e-6)
    assert exact_delta(losses, weights, found.by_method["zcdp"].epsilon) > 1e-6


def test_a_total_takes_no_advice_about_rho():
    with pytest.raises(TypeError, match="rho"):
        total(promises([0.1]), 1e-6, rho=lambda _: 0.0)


def test_a_pure_release_has_half_its_square_whatever_it_says():
    ledger = Ledger(epsilon=10.0, delta=0.1)
    for rho in (None, 7.0):
        assert ledger.spend(promises([0.5])[0], "count", rho=rho).rho == 0.125
    assert ledger.spend(promises([0.5])[0], "median", rho=0.03125).rho == 0.03125
    assert ledger.spend(promises([0.5], delta=1e-6)[0], "unknown").rho is None
    with pytest.raises(ParameterError, match="rho"):
        ledger.spend(promises([0.5])[0], "negative", rho=-1.0)


def test_the_best_method_is_the_sum_for_few_and_zcdp_for_many():
    assert total(promises([0.1] * 3), 1e-6).best_method == "sum"
    many = total(promises([0.1] * 300), 1e-6)
    assert many.best_method == "zcdp"
    assert many.best == many.by_method["zcdp"]
    assert str(many).splitlines()[0].startswith("sum")


def test_a_known_rho_replaces_the_stated_epsilon_and_delta():
    noisy = booked([2.0] * 10, lambda _: gaussian_rho(1, 50), delta=1e-5)  # each of ρ = 0.01
    known = total(noisy.entries, 1e-6, methods=["zcdp"])
    assert known.rho == pytest.approx(0.1)
    assert known.best.epsilon == pytest.approx(rho_to_epsilon(0.1, 1e-6))
    noisy.spend(promises([2.0], delta=1e-5)[0], "of which only this is known")
    some = total(noisy.entries, 1e-3, methods=["zcdp"])
    assert some.best.epsilon == pytest.approx(rho_to_epsilon(2.1, 1e-3 - 1e-5))


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
    with ledger.parallel("by region", fixed=True) as parts:
        for region in ("north", "south", "west"):
            parts.spend(half, region)
        parts.spend(half, "west")
    ledger.spend(half, "all")
    found = total(ledger.entries, 1e-6)
    assert found.rho == pytest.approx((2 + 1) * 0.125)
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


def test_entries_of_two_ledgers_are_not_taken_for_those_of_one():
    ledgers = [Ledger(epsilon=10.0) for _ in range(2)]
    for ledger in ledgers:
        with ledger.parallel("by sex") as parts:
            parts.spend(promises([1.0])[0], "women")
    both = [entry for ledger in ledgers for entry in ledger.entries]
    assert {entry.group for entry in both} == {"by sex #0"}  # they would count as one release
    with pytest.raises(ParameterError, match="one ledger"):
        total(both, 1e-6)
    assert total([*both[:1], *promises([0.5])], 1e-6).by_method["sum"].epsilon == 1.5


def test_an_entry_made_by_hand_has_the_rho_of_a_pure_release():
    entries = [Entry(index=place, label="count", guarantee=promises([0.5])[0]) for place in range(4)]
    assert total(entries, 1e-6).rho == 0.5


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 1), (0.1, 100), (0.5, 20), (0.02, 2000)])
def test_privacy_loss_distributions_give_the_exact_composition_and_not_less(epsilon, k):
    found = total(promises([epsilon] * k), 1e-6, methods=["sum", "zcdp", "pld"])
    losses, weights = two_outcomes(epsilon, -epsilon, k)
    stated = found.by_method["pld"].epsilon
    assert exact_delta(losses, weights, stated) <= 1e-6 * (1 + 1e-6)
    assert exact_delta(losses, weights, 0.98 * stated) > 1e-6
    assert stated <= found.by_method["sum"].epsilon
    assert found.best_method == "pld"


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


def test_releases_that_lose_nothing_cost_nothing_by_any_method():
    found = total(promises([0.0] * 5), 1e-6, methods=["sum", "zcdp", "pld"])
    assert {guarantee.epsilon for guarantee in found.by_method.values()} == {0.0}
