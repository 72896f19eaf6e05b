"""What a ledger says when it refuses: the currency that is short, what is left of each, and a change that helps.

The law ranges over budgets (ε, ε and δ, ρ, ρ and δ), over what is spent of each currency, over requests, and over
releases on all data or on one of several disjoint parts. What is true of each is computed here from the budget and the
spends alone, and what a message advises is tried.
"""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from bruit import Guarantee, Ledger
from bruit.errors import BudgetError
from bruit.privacy.zcdp import pure_rho

BUDGETS: list[dict[str, float]] = [
    {"epsilon": 1.0},
    {"epsilon": 1.0, "delta": 1e-6},
    {"rho": 0.5},
    {"rho": 0.5, "delta": 1e-6},
]
#: What is spent before, as a part of the budget.
SPENT = [0.0, 0.5, 1.0]
#: ε, δ, and whether the release proves a ρ of its own.
REQUESTS = [(0.25, 0.0, False), (2.0, 0.0, False), (0.25, 1e-6, True), (2.0, 1e-6, True), (0.25, 1e-6, False),
            (0.25, 2e-7, False), (2.0, 1e-5, False)]  # fmt: skip


class Case(NamedTuple):
    """A ledger, what it has spent, and a request that is refused or not."""

    budget: dict[str, float]
    spent: tuple[float, float]
    request: tuple[float, float, bool]
    in_part: bool


CASES = [
    Case(budget, spent, request, in_part)
    for budget, spent, request, in_part in itertools.product(
        BUDGETS, itertools.product(SPENT, SPENT), REQUESTS, (False, True)
    )
    if budget.get("delta") or not spent[1]
]


def _guarantee(epsilon: float, delta: float = 0.0) -> Guarantee:
    return Guarantee(epsilon=epsilon, delta=delta, neighbours="add-remove")


class Books:
    """A ledger with what a case spends before, and the truth about it."""

    def __init__(self, case: Case) -> None:
        self.ledger = Ledger(**case.budget)
        self.sign = "ρ" if "rho" in case.budget else "ε"
        self.totals = {self.sign: next(iter(case.budget.values())), "δ": case.budget.get("delta", 0.0)}
        totals = {sign: Fraction(repr(total)) for sign, total in self.totals.items()}
        before = {sign: totals[sign] * Fraction(part) for sign, part in zip(totals, case.spent, strict=True)}
        self.left = {sign: totals[sign] - before[sign] for sign in totals}
        self.slack = {sign: before[sign] if case.in_part else Fraction(0) for sign in totals}
        # The other part has cost all that was spent before, and this one nothing.
        self._block = self.ledger.parallel("by region")
        parts = self._block.__enter__()
        self.target: Any = parts.part("here") if case.in_part else self.ledger
        spender: Any = parts.part("there") if case.in_part else self.ledger
        first, delta = (float(before[sign]) for sign in totals)
        if first and self.sign == "ρ":
            spender.spend(_guarantee(10.0, 0.5), "before", rho=first)
        elif first:
            spender.spend(_guarantee(first), "before")
        if delta:
            spender.spend(_guarantee(0.0, delta), "before")

    def request(self, epsilon: float, delta: float, proves: bool) -> None:
        self.target.spend(_guarantee(epsilon, delta), "request", rho=pure_rho(epsilon) / 4 if proves else None)

    def costs(self, epsilon: float, delta: float, proves: bool) -> dict[str, Fraction]:
        """What the request costs of each currency."""
        if self.sign == "ε":
            return {"ε": Fraction(repr(epsilon)), "δ": Fraction(repr(delta))}
        rho = pure_rho(epsilon) / 4 if proves else pure_rho(epsilon)
        return {"ρ": Fraction(repr(rho)), "δ": Fraction(0) if proves or not delta else Fraction(repr(delta))}

    def short(self, costs: dict[str, Fraction]) -> set[str]:
        """The currencies that do not suffice."""
        return {sign for sign in self.totals if costs[sign] > self.left[sign] + self.slack[sign]}


def untruths(message: str, books: Books, costs: dict[str, Fraction]) -> list[str]:
    """What a refusal says wrongly or leaves out."""
    short = books.short(costs)
    needed = dict(re.findall(r"([ερδ])=([0-9.e-]+)(?=[, ])", message.partition(". ")[0]))
    wrong = [] if set(needed) == short else [f"needs {sorted(needed)}, short are {sorted(short)}"]
    for sign, text in needed.items():
        if abs(float(text) - costs[sign]) > 1e-6 * float(costs[sign]):
            wrong.append(f"{sign}: not what is needed")
    for sign, total in books.totals.items():
        left, room = books.left[sign], books.left[sign] + books.slack[sign]
        if not total:
            if sign in short and f"this ledger has no {sign}" not in message:
                wrong.append(f"{sign}: there is none, and that is not said")
            continue
        name = rf"{sign}=[0-9.e-]+, " if sign in short else rf"Of {sign}, "
        shown = re.search(rf"{name}([0-9.e-]+) remain of {re.escape(repr(total))}", message)
        both = rf"for its part, ([0-9.e-]+) remain for that and ([0-9.e-]+) of {re.escape(repr(total))} for all"
        parted = re.search(rf"{sign}=[0-9.e-]+ {both}", message)
        pairs = [(shown[1], left)] if shown else [(parted[1], room), (parted[2], left)] if parted else []
        if not pairs or any(abs(float(text) - exact) > 1e-6 * total or float(text) > exact for text, exact in pairs):
            wrong.append(f"{sign}: what is left is not said, or wrongly")
    nothing = not books.left[books.sign] + books.slack[books.sign]
    if nothing != (f"No {books.sign} is left for these people" in message):
        wrong.append("nothing is left, or something")
    return wrong


def advised(message: str, request: tuple[float, float, bool], books: Books) -> list[tuple[float, float, bool]]:
    """The requests that a message advises instead."""
    epsilon, delta, proves = request
    most = re.search(r"without δ, to ([0-9.e-]+)", message)
    advice = message.lower()
    if most:
        # Lowered without δ; a release that proves a ρ of its own costs less.
        return [(float(most[1]), 0.0, False)]
    if "lower epsilon" in advice:
        epsilon = float(books.left["ε"] + books.slack["ε"])
    if "leave delta out" in advice:
        return [(epsilon, 0.0, proves)]
    options = [(epsilon, float(books.left["δ"] + books.slack["δ"]), proves)] if "lower delta" in advice else []
    if "declare its groups" in advice:
        options.append((epsilon, 0.0, proves))
    return options or ([(epsilon, delta, proves)] if "lower epsilon" in advice else [])


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_refusal_names_what_is_short_what_is_left_and_a_change_that_fits(budget: dict[str, float]) -> None:
    refused = 0
    for case in (case for case in CASES if case.budget == budget):
        books = Books(case)
        costs = books.costs(*case.request)
        if not books.short(costs):
            books.request(*case.request)
            continue
        refused += 1
        with pytest.raises(BudgetError) as refusal:
            books.request(*case.request)
        message = str(refusal.value)
        assert untruths(message, books, costs) == [], (case, message)
        changes = advised(message, case.request, books)
        assert changes or "No " in message, (case, message)
        for change in changes:
            Books(case).request(*change)
    assert refused > 20


def test_the_law_catches_a_refusal_that_is_not_true() -> None:
    books = Books(Case({"epsilon": 1.0, "delta": 1e-6}, (0.5, 1.0), (0.25, 1e-6, False), False))
    costs = books.costs(0.25, 1e-6, False)
    with pytest.raises(BudgetError) as refusal:
        books.request(0.25, 1e-6, False)
    true = str(refusal.value)
    assert untruths(true, books, costs) == []
    for wrong in (
        "Budget exceeded: this release needs δ=1e-06, 0.0 remain of 1e-06. Nothing is left for these people.",
        true.replace("Of ε, 0.5 remain", "Of ε, 0.6 remain"),
        true.replace("δ=1e-06", "ε=1e-06"),
        true + " No ε is left for these people.",
    ):
        assert untruths(wrong, books, costs), wrong


def test_a_ledger_without_delta_says_so_and_that_epsilon_remains() -> None:
    ledger = Ledger(epsilon=1.0)
    ledger.spend(_guarantee(0.5), "count")
    with pytest.raises(BudgetError) as refusal:
        ledger.spend(_guarantee(0.25, 1e-6), "gaussian")
    assert str(refusal.value) == (
        "Budget exceeded: this release needs δ=1e-06, and this ledger has no δ. Of ε, 0.5 remain of 1.0. Leave delta "
        "out, for Laplace noise and declared groups, or open a new ledger with a δ, as in delta=1e-6 (--budget "
        "1,1e-6)."
    )
