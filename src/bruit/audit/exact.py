"""The exact audit: the largest ratio of probabilities that a finite law holds, in integers.

For every message and every pair of values, P(message | first) / P(message | second) must not exceed e^ε. Where the law
is a table, all ratios are looked at; the table is brought to one denominator, so that they are ratios of whole numbers.
Where the table is too large to write down, the closed form of the law is used, and the result tells so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal, NamedTuple, Protocol

from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.privacy.guarantee import Guarantee, check_adds
from bruit.rounding import exp_floor, log_ceiling
from bruit.tables import Column, Table, Tabular


class Mechanism(Protocol):
    """What an exact audit needs: the table of probabilities, and what is promised."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised."""
        ...

    def matrix(self) -> list[list[Fraction]]:
        """P(message | value), one row per value."""
        ...


class Worst(NamedTuple):
    """Where the largest ratio is: the message that is so much likelier under the first value than under the second."""

    first: int
    second: int
    message: int


@dataclass(frozen=True, kw_only=True, repr=False)
class ExactAudit(Tabular):
    """What the exact audit of a mechanism found.

    Parameters
    ----------
    ratio
        The largest ratio of the probabilities of one message under two values; infinite if one of them is zero.
    stated
        The ε that the mechanism promises.
    requested
        The ε that it was made for, if it has one.
    worst
        The codes of two values and the message that attain the ratio; None where the closed form was used.
    method
        ``"enumeration"`` of all pairs and messages, or the ``"closed form"`` of the law.
    """

    ratio: Fraction | float
    stated: float
    requested: float | None
    worst: Worst | None
    method: Literal["enumeration", "closed form"]

    @property
    def epsilon(self) -> float:
        """The logarithm of the ratio, rounded up: the ε that the mechanism really has."""
        return log_ceiling(self.ratio) if isinstance(self.ratio, Fraction) else math.inf

    @property
    def holds(self) -> bool:
        """Whether ratio ≤ e^stated, compared in 80 digits."""
        if not isinstance(self.ratio, Fraction):
            return False
        if self.stated == 0:
            return self.ratio == 1
        # For whole numbers a ≤ b·e^ε exactly when a ≤ ⌊b·e^ε⌋.
        return self.ratio.numerator <= exp_floor(self.stated, self.ratio.denominator)

    def table(self) -> Table:
        """What was asked for, what is stated, and what was found: columns check, epsilon, verdict."""
        rows = [] if self.requested is None else [AuditRow("asked for", self.requested)]
        rows += [AuditRow("stated", self.stated), AuditRow(f"largest ratio ({self.method})", self.epsilon, self.holds)]
        where = [] if self.worst is None else ["worst at values {} and {}, message {}".format(*self.worst)]
        about = {
            "holds": self.holds,
            "ratio": str(self.ratio),
            "method": self.method,
            "worst": None if self.worst is None else self.worst._asdict(),
        }
        return checks_table("Exact audit", rows, notes=where, about=about)


class AuditRow(NamedTuple):
    """A row of an audit: what ε is about, its value, and whether the claim holds; None where nothing is checked."""

    name: str
    epsilon: float
    holds: bool | None = None

    @property
    def verdict(self) -> str:
        """In words."""
        return "" if self.holds is None else "holds" if self.holds else "DOES NOT HOLD"


def checks_table(title: str, rows: Sequence[AuditRow], *, notes: Sequence[str] = (), about: Mapping[str, Any]) -> Table:
    """The table of an audit."""
    columns = [
        Column("check", [row.name for row in rows], kind="text", write=str),
        Column("epsilon", [row.epsilon for row in rows], "ε", write=lambda epsilon: f"{epsilon:.12g}"),
        Column("verdict", [row.verdict for row in rows], kind="text", write=str),
    ]
    return Table(title, columns, notes, about, noun="check")


def exact(mechanism: Mechanism) -> ExactAudit:
    """The largest ratio that the law of a mechanism holds, next to the ε that it states.

    Parameters
    ----------
    mechanism
        Anything with `matrix()`, one row of exact fractions per value, and a `guarantee`.

    Examples
    --------
    >>> from bruit.oracles import RandomizedResponse
    >>> found = exact(RandomizedResponse.two_coins())
    >>> found.ratio, found.worst, found.holds
    (Fraction(3, 1), Worst(first=0, second=1, message=0), True)
    >>> exact(RandomizedResponse(epsilon=1.0, k=100_000)).method
    'closed form'
    """
    if not hasattr(mechanism, "matrix"):
        raise ParameterTypeError(
            f"An exact audit enumerates matrix(), which {type(mechanism).__name__} does not have: it is for oracles, "
            "numbers and plans."
        )
    promise = mechanism.guarantee
    check_adds([promise])
    if promise.delta:
        raise ParameterError("An exact audit is of pure guarantees (delta = 0); use audit.empirical for others.")
    # An ε per distance is not what was asked for between any two values.
    requested = None if getattr(mechanism, "metric", None) else getattr(mechanism, "epsilon", None)
    try:
        rows = mechanism.matrix()
    except LimitError:
        formula = _closed_form(mechanism)
        if formula is None:
            raise
        return ExactAudit(ratio=formula, stated=promise.epsilon, requested=requested, worst=None, method="closed form")
    ratio, worst = largest_ratio(rows)
    return ExactAudit(ratio=ratio, stated=promise.epsilon, requested=requested, worst=worst, method="enumeration")


def largest_ratio(rows: Sequence[Sequence[Fraction]]) -> tuple[Fraction | float, Worst]:
    """The largest P(message | first) / P(message | second) of a table, and where it is.

    >>> largest_ratio([[Fraction(1), Fraction(0)], [Fraction(1, 2), Fraction(1, 2)]])
    (inf, Worst(first=1, second=0, message=1))
    """
    best, worst = Fraction(0), Worst(0, 0, 0)
    for message, column in enumerate(zip(*_whole(rows), strict=True)):
        high, low = max(column), min(column)
        if high == 0:
            continue
        here = Worst(column.index(high), column.index(low), message)
        if low == 0:
            return math.inf, here
        # high/low > best, in whole numbers.
        if high * best.denominator > low * best.numerator:
            best, worst = Fraction(high, low), here
    return best, worst


def _whole(rows: Sequence[Sequence[Fraction]]) -> list[list[int]]:
    """The table times its common denominator; an error if it is not a table of probabilities."""
    # A table has k² entries but few different ones, often the same objects: each is looked at once.
    entries = {id(entry): entry for row in rows for entry in row}
    if not entries or not all(isinstance(entry, Rational) for entry in entries.values()):
        raise ParameterTypeError("matrix() must give rows of exact fractions, not of floats.")
    unit = math.lcm(*(entry.denominator for entry in entries.values()))
    whole = {key: entry.numerator * (unit // entry.denominator) for key, entry in entries.items()}
    table = [[whole[id(entry)] for entry in row] for row in rows]
    if len({len(row) for row in table}) != 1 or min(whole.values()) < 0 or any(sum(row) != unit for row in table):
        raise ParameterError("matrix() must give rows of one length, each of probabilities with sum 1.")
    return table


def _closed_form(mechanism: Any) -> Fraction | None:
    ratio = getattr(getattr(mechanism, "law", None), "ratio", None)
    return ratio if isinstance(ratio, Fraction) else None
