"""Tighter totals of many releases: zero-concentrated privacy (zCDP) and privacy-loss distributions (PLD).

A ledger adds ε, which is right for any releases and generous to nobody when there are many. If a small δ is allowed,
a hundred releases of ε = 0.1 amount to ε = 5.2 at δ = 10⁻⁶ rather than to 10. These functions say so of what a ledger
has booked; they analyse, and change neither its entries nor its budget, which stays a sum.

- *zCDP*: a release of pure ε is ε²/2-zCDP, an exponential mechanism ε²/8, Gaussian noise Δ²/2σ². ρ adds, and is turned
  into (ε, δ) at the end.
- *PLD*: the law of the loss of the worst mechanism with the stated (ε, δ) is composed numerically, by Google's
  dp-accounting (``pip install 'bruit[accounting]'``). Never worse than zCDP for the same knowledge.

A total is a promise if what was released, and with which ε, was fixed beforehand, or if the ρ (for zCDP) or the
sequence of ε (for PLD) was. If each ε was chosen after seeing results, only the sum, within its budget, is.

Double precision is used and the results are raised by one part in 10¹²: idealised numerics, unlike the ledger's sums.
The arguments are in ``accounting.proof.md``.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from bruit import _checks
from bruit.errors import MissingExtraError, ParameterError, ParameterTypeError
from bruit.privacy._ledger_books import Account, Books, Entry
from bruit.privacy.composition import _same_neighbours
from bruit.privacy.guarantee import Guarantee, Neighbours

__all__ = [
    "Method",
    "Totals",
    "bounded_range_rho",
    "gaussian_rho",
    "pure_rho",
    "rho_to_delta",
    "rho_to_epsilon",
    "total",
]

Method = Literal["sum", "zcdp", "pld"]
METHODS: tuple[Method, ...] = ("sum", "zcdp", "pld")
#: What can be totalled: entries of a ledger, or guarantees.
Item: TypeAlias = Entry | Guarantee
#: From an entry to the ρ that its mechanism is known to have, or None.
KnownRho: TypeAlias = Callable[[Entry], float | None]

_UP = 1 + 1e-12
#: The most cells of a privacy-loss distribution.
_MOST_CELLS = 10**6
#: Orders among which the best is taken: any order gives a valid ε.
_ORDERS = [1 + math.exp(step / 50) for step in range(-1000, 1001)]


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


def pure_rho(epsilon: float) -> float:
    """The ρ of a release of pure ε: ε²/2."""
    return _above(Fraction(_checks.non_negative(epsilon=epsilon)) ** 2 / 2)


def bounded_range_rho(epsilon: float) -> float:
    """The ρ of an exponential mechanism of this ε: ε²/8, because its loss has a range of ε and not 2ε."""
    return _above(Fraction(_checks.non_negative(epsilon=epsilon)) ** 2 / 8)


def gaussian_rho(sensitivity: float, sigma2: float | Fraction) -> float:
    """The ρ of (discrete) Gaussian noise of variance parameter σ² on what changes by at most `sensitivity`: Δ²/2σ²."""
    _checks.positive(sigma2=sigma2)
    return _above(Fraction(_checks.non_negative(sensitivity=sensitivity)) ** 2 / (2 * Fraction(sigma2)))


def rho_to_epsilon(rho: float, delta: float) -> float:
    """The ε of ρ-zCDP at this δ (Canonne, Kamath and Steinke 2020), below ρ + 2√(ρ ln(1/δ)).

    >>> round(rho_to_epsilon(0.5, 1e-6), 3)
    5.222
    """
    rho, delta = _checks.non_negative(rho=rho), _checks.probability(delta=delta)
    if rho == 0:
        return 0.0
    return max(0.0, min(_epsilon_at(order, rho, delta) for order in (*_ORDERS, _rough_order(rho, delta)))) * _UP


def rho_to_delta(rho: float, epsilon: float) -> float:
    """The δ of ρ-zCDP at this ε; the inverse of `rho_to_epsilon`.

    >>> 0.99e-6 < rho_to_delta(0.5, rho_to_epsilon(0.5, 1e-6)) < 1.01e-6
    True
    """
    rho, epsilon = _checks.non_negative(rho=rho), _checks.non_negative(epsilon=epsilon)
    if rho == 0:
        return 0.0
    logs = ((o - 1) * (o * rho - epsilon) + (o - 1) * math.log1p(-1 / o) - math.log(o) for o in _ORDERS)
    return min(1.0, math.exp(min(0.0, *logs)) * _UP)


def total(
    items: Iterable[Item],
    delta: float,
    *,
    rho: KnownRho | None = None,
    methods: Iterable[Method] = ("sum", "zcdp"),
) -> Totals:
    """What releases amount to together at this δ, by each method.

    Parameters
    ----------
    items
        The entries of a ledger (``ledger.entries``), or guarantees. Entries on disjoint parts count as the ledger
        counts them: the worst part, or the two worst under ``"replace"``.
    delta
        The δ of the total, above the sum of the entries' own.
    rho
        What is known of the mechanisms: a function from an entry to its ρ, or None where only its (ε, δ) is known. Use
        `bounded_range_rho` for quantiles and other exponential mechanisms and `gaussian_rho` for Gaussian noise. It
        serves zCDP only.
    methods
        Any of ``"sum"``, ``"zcdp"`` and ``"pld"``, which needs the extra ``accounting``.

    Examples
    --------
    >>> from bruit.privacy.ledger import Ledger
    >>> ledger = Ledger(epsilon=10.0)
    >>> for week in range(100):
    ...     entry = ledger.spend(Guarantee(epsilon=0.1, neighbours="add-remove"), f"count of week {week}")
    >>> print(total(ledger.entries, delta=1e-6))
    sum  ε = 10 (central, one record added or removed)
    zcdp ε = 5.221756, δ = 1e-06 (central, one record added or removed)
    >>> exponential = total(ledger.entries, delta=1e-6, rho=lambda entry: bounded_range_rho(entry.guarantee.epsilon))
    >>> round(exponential.best.epsilon, 2)
    2.42
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
            spent, failure = _rho(entries, neighbours, rho)
            epsilon = rho_to_epsilon(_above(spent), _rest(wanted, failure))
            by[method] = Guarantee(epsilon=epsilon, delta=wanted, neighbours=neighbours)
        else:
            by[method] = Guarantee(
                epsilon=_by_distribution(entries, neighbours, wanted), delta=wanted, neighbours=neighbours
            )
    if not by:
        raise ParameterError("methods must name at least one method.")
    return Totals(by, None if spent is None else _above(spent))


def _entries(items: Iterable[Any]) -> tuple[list[Entry], Neighbours]:
    entries = []
    for index, item in enumerate(items):
        if not isinstance(item, Entry | Guarantee):
            raise ParameterTypeError("items must be the entries of a ledger, or guarantees.")
        entries.append(Entry(index=index, label="", guarantee=item) if isinstance(item, Guarantee) else item)
    return entries, _same_neighbours(entry.guarantee for entry in entries)[1]


def _sum(entries: Iterable[Entry], neighbours: Neighbours) -> Guarantee:
    """What a ledger would say."""
    books = Books(neighbours)
    for entry in entries:
        books.add(entry)
    return books.spent


def _rho(entries: list[Entry], neighbours: Neighbours, known: KnownRho | None) -> tuple[Fraction, Fraction]:
    """The sum of ρ, and of the δ of those entries of which no ρ is known."""
    spent, failure = Account(neighbours), Account(neighbours)
    for entry in entries:
        rho = known(entry) if known else None
        if rho is None:
            # (ε, δ) is ε-private but for a share δ.
            failure.add(Fraction(entry.guarantee.delta), entry.group, entry.part)
            cost = Fraction(entry.guarantee.epsilon) ** 2 / 2
        else:
            cost = Fraction(_checks.non_negative(rho=rho))
        spent.add(cost, entry.group, entry.part)
    return spent.total, failure.total


def _rest(delta: float, failure: Fraction) -> float:
    """What is left of δ, rounded down."""
    left = Fraction(delta) - failure
    if left <= 0:
        raise ParameterError("delta must be above the sum of the δ that the releases already have.")
    return float(left) / _UP


def _epsilon_at(order: float, rho: float, delta: float) -> float:
    return order * rho + (-math.log(delta) - math.log(order)) / (order - 1) + math.log1p(-1 / order)


def _rough_order(rho: float, delta: float) -> float:
    """The best order for the simpler conversion, so that the result is never above ρ + 2√(ρ ln(1/δ))."""
    return 1 + min(1e100, math.sqrt(-math.log(delta) / rho))


def _by_distribution(entries: list[Entry], neighbours: Neighbours, delta: float) -> float:
    """ε by privacy-loss distributions; disjoint parts enter as one release with their total."""
    try:
        pld = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
        parameters = importlib.import_module("dp_accounting.pld.common").DifferentialPrivacyParameters
    except ImportError:
        raise MissingExtraError("Accounting by privacy-loss distributions", "accounting") from None
    groups: dict[Any, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.index if entry.group is None else entry.group, []).append(entry)
    costs = Counter(_sum(group, neighbours) for group in groups.values())
    simple = _sum(entries, neighbours)
    if simple.epsilon == 0:
        return 0.0
    # Losses are rounded up to this interval: the total is too high by 1 % of a release, or by more for hundreds.
    interval = max(simple.epsilon / (100 * len(groups) ** 2), simple.epsilon / _MOST_CELLS)
    whole = None
    for cost, times in costs.items():
        one = pld.from_privacy_parameters(parameters(cost.epsilon, cost.delta), value_discretization_interval=interval)
        many = one.self_compose(times) if times > 1 else one
        whole = many if whole is None else whole.compose(many)
    epsilon = float(whole.get_epsilon_for_delta(delta)) if whole is not None else 0.0
    best = min(epsilon * _UP, simple.epsilon if simple.delta <= delta else math.inf)
    if not math.isfinite(best):
        raise ParameterError("delta must be above the sum of the δ that the releases already have.")
    return best


def _above(exact: Fraction) -> float:
    """A double that is not below."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
