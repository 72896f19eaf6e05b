"""A ledger in ρ: Gaussian releases add their ρ, others what they prove, and the budget holds."""

import math
import os

import mpmath
import pytest

import bruit
from bruit import Guarantee, Ledger
from bruit.errors import BudgetError, FormatError, LedgerError, ParameterError
from bruit.privacy.ledger import Line, storage
from bruit.privacy.zcdp import epsilon_to_rho, pure_rho, rho_to_delta, rho_to_epsilon
from bruit.releases import Count, Median, Release


def promise(epsilon, delta=0.0):
    return Guarantee(epsilon=epsilon, delta=delta, neighbours="add-remove")


@pytest.fixture(params=["memory", "file"])
def start(request, tmp_path):
    if request.param == "memory":
        return Ledger
    return lambda *values, **budget: Ledger.open(tmp_path / "l.ledger", *values, **budget)


def test_rho_adds_and_what_does_not_fit_is_refused(start):
    ledger = start(rho=0.5)
    for number in range(10):
        ledger.spend(promise(1.0, 1e-6), f"release {number}", rho=0.05)
    assert ledger.remaining_rho == 0.0  # ten times 0.05, in decimals
    with pytest.raises(BudgetError, match=r"needs ρ=0\.05, 0\.0 remain of 0\.5"):
        ledger.spend(promise(1.0, 1e-6), "one more", rho=0.05)
    assert len(ledger) == 10
    assert ledger.spent.epsilon == rho_to_epsilon(0.5, 1e-6) == ledger.epsilon


def test_releases_book_what_they_prove_of_themselves(start):
    ledger = start(rho=1.0)
    people = [31, 40, 22]
    bruit.release(people, Count(epsilon=0.5, delta=1e-6), ledger=ledger)
    bruit.release(people, Count(epsilon=0.5), ledger=ledger)
    bruit.release(people, Median(bounds=(0, 100), epsilon=0.5), ledger=ledger)
    costs = [entry.cost.rho for entry in ledger.entries]
    assert costs[0] == epsilon_to_rho(0.5, 1e-6) < 0.01
    assert costs[1] == 0.125
    assert costs[2] <= 0.5**2 / 8 * (1 + 1e-12)
    assert 1 - sum(costs) == pytest.approx(ledger.remaining_rho)


def test_a_release_without_a_rho_needs_a_delta_of_the_ledger(start):
    ledger = start(rho=1.0, delta=1e-6)
    groups = Release(Count(epsilon=0.5, delta=1e-6), "zone")
    tally = groups.fold({"zone": ["a"] * 100})
    groups.publish(tally, ledger)
    assert ledger.entries[0].rho is None
    assert ledger.remaining_rho == 0.875
    assert ledger.remaining.delta == 0.0
    with pytest.raises(BudgetError, match="proves no ρ of itself"):
        groups.publish(tally, ledger)


def test_epsilon_and_delta_kept_in_rho_are_never_exceeded_and_almost_reached():
    for epsilon, delta in ((0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-5), (10.0, 1e-3)):
        ledger = Ledger(epsilon, delta, zcdp=True)
        assert ledger.promise.epsilon <= epsilon
        assert ledger.promise.delta <= delta
        at = ledger.promise.delta - ledger.delta
        assert rho_to_delta(ledger.rho, epsilon) <= at * (1 + 1e-9)
        assert ledger.rho > 0.97 * epsilon_to_rho(epsilon, delta)


def test_the_promise_holds_for_gaussian_noise_in_high_precision():
    """The exact δ of all releases together: Gaussian noise of total ρ has μ = √(2ρ)."""
    ledger = Ledger(1.0, 1e-6, zcdp=True)
    mu = mpmath.sqrt(2 * mpmath.mpf(ledger.rho))
    exact = mpmath.ncdf(mu / 2 - 1 / mu) - mpmath.e * mpmath.ncdf(-mu / 2 - 1 / mu)
    assert 1e-9 < exact <= ledger.promise.delta - ledger.delta
    beyond = mpmath.sqrt(2 * mpmath.mpf(ledger.rho) * 3)  # a control: three times the ρ breaks the promise
    assert mpmath.ncdf(beyond / 2 - 1 / beyond) - mpmath.e * mpmath.ncdf(-beyond / 2 - 1 / beyond) > 1e-6


def test_many_gaussian_releases_fit_where_a_sum_of_epsilon_refuses():
    rho, epsilon, delta = 0.0005, 0.2, 1e-9
    in_rho, summed = Ledger(1.0, 1e-6, zcdp=True), Ledger(1.0, 1e-6)
    for ledger, fits in ((in_rho, math.floor(in_rho.rho / rho)), (summed, 5)):
        for week in range(fits):
            ledger.spend(promise(epsilon, delta), f"week {week}", rho=rho)
        with pytest.raises(BudgetError):
            ledger.spend(promise(epsilon, delta), "one more", rho=rho)
    assert len(in_rho) > 9 * len(summed)


def test_disjoint_parts_cost_the_worst_part(start):
    ledger = start(rho=0.1)
    with ledger.parallel("by region") as parts:
        for region in ("north", "south"):
            parts.spend(promise(1.0, 1e-6), region, rho=0.06)
    assert ledger.remaining_rho == 0.04


def test_a_file_keeps_its_kind_of_budget(tmp_path):
    path = tmp_path / "l.ledger"
    Ledger.open(path, 1.0, 1e-6, zcdp=True).spend(promise(0.125), "count")
    again = Ledger.open(path)
    assert again.rho == Ledger(1.0, 1e-6, zcdp=True).rho
    assert (
        Ledger.open(path, 1.0, 1e-6, zcdp=True).remaining_rho == again.remaining_rho == pytest.approx(again.rho - 2**-7)
    )
    for other in ({"epsilon": 1.0, "delta": 1e-6}, {"rho": 0.5}, {"epsilon": 2.0, "delta": 1e-6, "zcdp": True}):
        with pytest.raises(LedgerError, match="was started with"):
            Ledger.open(path, **other)
    line = storage.header_line({"rho": -1.0, "delta": 0.0, "at": 1e-6, "neighbours": "add-remove"})
    path.write_bytes(line)
    with pytest.raises(FormatError, match="states no budget"):
        Ledger.open(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")
def test_after_a_fork_both_spend_from_one_file(tmp_path):
    ledger = Ledger.open(tmp_path / "l.ledger", rho=0.5)
    child = os.fork()
    if not child:
        ledger.spend(promise(0.1), "child")
        os._exit(0)
    os.waitpid(child, 0)
    ledger.spend(promise(0.1), "parent")
    assert ledger.remaining_rho == pytest.approx(0.5 - 2 * pure_rho(0.1))


def test_a_ledger_has_one_kind_of_budget():
    with pytest.raises(ParameterError, match="leave epsilon out"):
        Ledger(1.0, rho=0.5)
    with pytest.raises(ParameterError, match="leave rho out"):
        Ledger(1.0, 1e-6, rho=0.5, zcdp=True)
    with pytest.raises(ParameterError, match="give rho, too"):
        Ledger(1.0, at=1e-6)


def test_what_either_kind_would_leave_is_said_before():
    line = Line(promise(0.4, 1e-7), "mean", epsilon_to_rho(0.4, 1e-7))
    summed = Ledger(1.0, 1e-6).foresee([line])
    assert summed.startswith("Ledger would have ε = 0.6 of 1.0 and δ = 9e-07 of 1e-06 left. Kept in ρ, for the same")
    in_rho = Ledger(1.0, 1e-6, zcdp=True)
    assert "Kept in ε and δ, for the same promise, it would have ε = 0.6 of 1" in in_rho.foresee([line])
    for week in range(4):
        in_rho.spend(line.guarantee, f"week {week}", rho=line.rho)
    assert "it would refuse: ε would be 2 of 1" in in_rho.foresee([line])
    assert Ledger(1.0).foresee([Line(promise(0.4), "mean")]) == "Ledger would have ε = 0.6 of 1.0 left."


def test_the_table_says_what_rho_stands_for():
    ledger = Ledger(1.0, 1e-6, zcdp=True)
    ledger.spend(promise(0.1), "count")
    text = ledger.table().text(width=None)
    assert "stands for ε = 1 at δ = 1e-06" in text
    assert "count    0.1  0.005" in text
    assert repr(ledger).startswith("<Ledger: ρ = 0.005")
