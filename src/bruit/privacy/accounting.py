"""Tighter totals of many releases: zero-concentrated privacy (zCDP) and privacy-loss distributions (PLD).

A ledger adds ε, which is valid for any releases and loose when there are many. If a small δ is allowed,
a hundred releases of ε = 0.1 amount to ε = 5.2 at δ = 10⁻⁶ rather than to 10. These functions say so of what a ledger
has booked; they analyse, and change neither its entries nor its budget, which stays a sum.

- *zCDP*: every entry has the ρ that its release proves of itself: ε²/2 for pure ε, ε²/8 for an exponential mechanism,
  Δ²/2σ² for Gaussian noise. ρ adds, and is turned into (ε, δ) at the end (``zcdp.py``).
- *PLD*: the law of the loss of the worst mechanisms with the stated (ε, δ) is composed (``loss_distribution.py``). It
  is never worse than zCDP for the same knowledge; it does not know ρ.

A total is a promise if what was released, and with which ε, was fixed beforehand, or if the ρ (for zCDP) or the
sequence of ε (for PLD) was. If each ε was chosen after seeing results, only the sum, within its budget, is.

Double precision is used, with room to spare for its roundings: idealised numerics, unlike the ledger's sums. The
arguments are in ``accounting.proof.md`` and ``zcdp.proof.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from bruit import _checks
from bruit.errors import ParameterError, ParameterTypeError
from bruit.privacy import loss_distribution
from bruit.privacy.composition import _same_neighbours
from bruit.privacy.guarantee import Guarantee, Neighbours
from bruit.privacy.ledger.accounts import Account, Books, Entry
from bruit.privacy.zcdp import rho_to_epsilon
from bruit.rounding import above

__all__ = ["Method", "Totals", "total"]

Method = Literal["sum", "zcdp", "pld"]
METHODS: tuple[Method, ...] = ("sum", "zcdp", "pld")
#: What can be totalled: entries of a ledger, or guarantees.
Item: TypeAlias = Entry | Guarantee

_UP = 1 + 1e-12


@dataclass(frozen=True)
class Totals:
    """What releases amount to together, by each method, for one δ; each is a valid guarantee.

    `rho` is the sum of ρ behind the zCDP total.
    """

    by_method: Mapping[Method, Guarantee]
    rho: float | None = None

    @property
    def best(self) -> Guarantee:
        """The guarantee with the least ε."""
        return self.by_method[self.best_method]

    @property
    def best_method(self) -> Method:
        """The method that gives it."""
        return min(self.by_method, key=lambda method: self.by_method[method].epsilon)

    def __str__(self) -> str:
        return "\n".join(f"{method:<5}{guarantee}" for method, guarantee in self.by_method.items())


def total(items: Iterable[Item], delta: float, *, methods: Iterable[Method] = ("sum", "zcdp")) -> Totals:
    """What releases amount to together at this δ, by each method.

    Parameters
    ----------
    items
        The entries of one ledger (``ledger.entries``), or guarantees. Of entries on disjoint parts the worst part
        counts, as in the ledger.
    delta
        The δ of the total, above the sum of the entries' own.
    methods
        Any of ``"sum"``, ``"zcdp"`` and ``"pld"``.

    Examples
    --------
    >>> from bruit.privacy.ledger import Ledger
    >>> ledger = Ledger(epsilon=10.0)
    >>> for week in range(100):
    ...     entry = ledger.spend(Guarantee(epsilon=0.1, neighbours="add-remove"), f"count of week {week}")
    >>> print(total(ledger.entries, delta=1e-6, methods=("sum", "zcdp", "pld")))
    sum  ε = 10 (central, one record added or removed)
    zcdp ε = 5.221534, δ = 1e-06 (central, one record added or removed)
    pld  ε = 4.774568, δ = 1e-06 (central, one record added or removed)
    """
    entries, neighbours = _entries(items)
    wanted = _checks.probability(delta=delta)
    by: dict[Method, Guarantee] = {}
    spent = None
    for method in methods:
        _checks.one_of(METHODS, methods=method)
        if method == "sum":
            by[method] = _sum(entries, neighbours)
        elif method == "zcdp":
            spent, failure = _rho(entries)
            epsilon = rho_to_epsilon(above(spent), _rest(wanted, failure))
            by[method] = Guarantee(epsilon=epsilon, delta=wanted, neighbours=neighbours)
        else:
            by[method] = Guarantee(
                epsilon=_by_distribution(entries, neighbours, wanted), delta=wanted, neighbours=neighbours
            )
    if not by:
        raise ParameterError("methods must name at least one method.")
    return Totals(by, None if spent is None else above(spent))


def _entries(items: Iterable[Any]) -> tuple[list[Entry], Neighbours]:
    entries = []
    booked: set[int] = set()
    for index, item in enumerate(items):
        if isinstance(item, Guarantee):
            entries.append(Entry(index=index, label="", guarantee=item))
            continue
        if not isinstance(item, Entry):
            raise ParameterTypeError("items must be the entries of a ledger, or guarantees.")
        if item.index in booked:  # the parts of two ledgers would be taken for one another's
            raise ParameterError("items must be the entries of one ledger, none twice: total two ledgers apart.")
        booked.add(item.index)
        entries.append(item)
    return entries, _same_neighbours(entry.guarantee for entry in entries)[1]


def _sum(entries: Iterable[Entry], neighbours: Neighbours) -> Guarantee:
    """What a ledger would say."""
    books = Books(neighbours)
    for entry in entries:
        books.add(entry)
    return books.spent


def _rho(entries: list[Entry]) -> tuple[Fraction, Fraction]:
    """The sum of ρ, and of the δ of those entries that have none."""
    spent, failure = Account(), Account()
    for entry in entries:  # (ε, δ) without a ρ is ε-private but for a share δ
        spent.add(Fraction(entry.cost.rho), entry.group, entry.part)
        failure.add(Fraction(entry.cost.failure), entry.group, entry.part)
    return spent.total, failure.total


def _rest(delta: float, failure: Fraction) -> float:
    """What is left of δ, rounded down."""
    left = Fraction(delta) - failure
    if left <= 0:
        raise ParameterError("delta must be above the sum of the δ that the releases already have.")
    return float(left) / _UP


def _by_distribution(entries: list[Entry], neighbours: Neighbours, delta: float) -> float:
    """ε by privacy-loss distributions; disjoint parts enter as one release with their total."""
    groups: dict[Any, list[Entry]] = {}
    for place, entry in enumerate(entries):
        groups.setdefault(place if entry.group is None else entry.group, []).append(entry)
    together = [_sum(group, neighbours) for group in groups.values()]
    simple = _sum(entries, neighbours)
    failure = sum((Fraction(guarantee.delta) for guarantee in together), Fraction(0))
    costs = Counter(guarantee.epsilon for guarantee in together)
    epsilon = loss_distribution.least_epsilon(costs, _rest(delta, failure)) * _UP
    return min(epsilon, simple.epsilon) if simple.delta <= delta else epsilon
