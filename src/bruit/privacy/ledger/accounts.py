"""The arithmetic of a ledger: entries, and exact totals in the decimals that people write.

A total never shrinks, and neither does the cost of a part, so a group of disjoint parts needs to
remember only its worst part besides each part's own sum: booking takes the same time in a ledger
of ten entries and of ten thousand.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from bruit.errors import BruitError
from bruit.privacy.guarantee import Guarantee, Neighbours
from bruit.privacy.ledger.storage import damaged, read_entry
from bruit.privacy.zcdp import pure_rho
from bruit.rounding import decimal, down, up

#: The columns of a ledger, in the order in which a person reads them.
COLUMNS = ("index", "label", "epsilon", "delta", "rho", "group", "part", "result", "time")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release in a ledger.

    `rho` is the ρ-zCDP that the release proves of itself; None where only its (ε, δ) is known.
    `group` and `part` are set for a release on one of several disjoint parts; `result` is the name
    of the file, in the ledger's folder of results, in which the result is kept; `time` (UTC) is set
    for ledgers on disk.
    """

    index: int
    label: str
    guarantee: Guarantee
    rho: float | None = None
    group: str | None = None
    part: str | None = None
    result: str | None = None
    time: str | None = None

    @property
    def cost(self) -> Cost:
        """What it costs in zCDP: its ρ; where that is not known, ε²/2 but for a chance of δ."""
        if self.rho is not None:
            return Cost(self.rho, 0.0)
        return Cost(pure_rho(self.guarantee.epsilon), self.guarantee.delta)

    def row(self) -> dict[str, Any]:
        """Plain values, for a table or a file."""
        promise = {"epsilon": self.guarantee.epsilon, "delta": self.guarantee.delta}
        return {name: promise[name] if name in promise else getattr(self, name) for name in COLUMNS}


class Cost(NamedTuple):
    """A release in zCDP: ρ, but for a chance `failure`."""

    rho: float
    failure: float


class Account:
    """The exact total of one currency: ε, δ, ρ, or the chance that ρ does not hold."""

    def __init__(self) -> None:
        self.total = Fraction(0)
        self._parts: dict[tuple[str, str], Fraction] = {}
        self._worst: dict[str, Fraction] = {}

    def total_with(self, amount: Fraction, group: str | None, part: str | None) -> Fraction:
        """The total if `amount` were added."""
        if group is None or part is None:
            return self.total + amount
        worst = self._worst.get(group, Fraction(0))
        return self.total + max(self._part(group, part) + amount - worst, Fraction(0))

    def slack(self, group: str | None, part: str | None) -> Fraction:
        """What a part may cost before the total grows: what it lies below the worst part of its group."""
        if group is None or part is None:
            return Fraction(0)
        return self._worst.get(group, Fraction(0)) - self._part(group, part)

    def add(self, amount: Fraction, group: str | None, part: str | None) -> None:
        """Add `amount`, to a part of a group or to all."""
        # The total first: an interruption may then leave it too high, never too low.
        self.total = self.total_with(amount, group, part)
        if group is not None and part is not None:
            self._parts[group, part] = self._part(group, part) + amount
            self._worst[group] = max(self._worst.get(group, Fraction(0)), self._part(group, part))

    def _part(self, group: str, part: str) -> Fraction:
        return self._parts.get((group, part), Fraction(0))


class Books:
    """Entries and their totals, with the place in the file up to which they were read."""

    def __init__(self, neighbours: Neighbours) -> None:
        self.neighbours = neighbours
        self.entries: list[Entry] = []
        self.epsilon = Account()
        self.delta = Account()
        self.rho = Account()
        self.failure = Account()
        self.end = 0
        self.last = ""

    @property
    def spent(self) -> Guarantee:
        """The totals, rounded up."""
        return Guarantee(
            epsilon=up(self.epsilon.total),
            delta=min(up(self.delta.total), 1.0),  # above 1 only if a file was tampered with
            neighbours=self.neighbours,
        )

    def add(self, entry: Entry) -> None:
        """Book an entry that was checked to fit."""
        self.epsilon.add(decimal(entry.guarantee.epsilon), entry.group, entry.part)
        self.delta.add(decimal(entry.guarantee.delta), entry.group, entry.part)
        self.rho.add(decimal(entry.cost.rho), entry.group, entry.part)
        self.failure.add(decimal(entry.cost.failure), entry.group, entry.part)
        self.entries.append(entry)

    def read(self, line: bytes) -> None:
        """Check and book one line of a file."""
        number = len(self.entries) + 2  # people count lines from 1, and the header is the first
        body, digest = read_entry(line, number, self.last)
        self.add(self._entry(body, number))
        self.end += len(line)
        self.last = digest

    def _entry(self, body: dict[str, Any], number: int) -> Entry:
        known = set(body) == set(COLUMNS) and body["index"] == len(self.entries)
        if not known or not isinstance(body["label"], str) or not _is_place(body) or not _is_kept(body):
            raise damaged(number)
        try:
            guarantee = Guarantee(epsilon=body.pop("epsilon"), delta=body.pop("delta"), neighbours=self.neighbours)
        except BruitError:
            raise damaged(number) from None
        return Entry(guarantee=guarantee, **body)


def _is_place(body: dict[str, Any]) -> bool:
    """Whether an entry belongs to a part of a group, or to neither."""
    place = [body["group"], body["part"]]
    return place == [None, None] or all(isinstance(name, str) for name in place)


def _is_kept(body: dict[str, Any]) -> bool:
    """Whether ρ is a number or absent, and the result a plain file name or absent: files come from anywhere."""
    rho, result = body["rho"], body["result"]
    number = isinstance(rho, float | int) and not isinstance(rho, bool) and math.isfinite(rho) and rho >= 0
    return (rho is None or number) and (result is None or is_result_name(result))


def is_result_name(name: Any) -> bool:
    """Whether this names a .json file in the ledger's folder of results, and nothing elsewhere."""
    return isinstance(name, str) and re.fullmatch(r"[^\W_][\w-]{0,99}\.json", name) is not None


def shown_up(exact: Fraction, total: float) -> str:
    """A part of a budget in few digits, not below `exact`, and above the budget only if `exact` is.

    >>> shown_up(decimal(0.9999999999999999), 2.0), shown_up(Fraction(1, 3), 1.0)
    ('1.0', '0.333334')
    """
    unit = _unit(total)
    rounded = -(-exact // unit) * unit
    return repr(up(decimal(total) if exact <= decimal(total) < rounded else rounded))


def shown_down(exact: Fraction, total: float) -> str:
    """A part of a budget in few digits, not above `exact`."""
    return repr(down(exact if exact == decimal(total) else exact // _unit(total) * _unit(total)))


def _unit(total: float) -> Fraction:
    """The last digit that is shown: a millionth of the first digit of the budget."""
    return Fraction(10) ** (math.floor(math.log10(total)) - 6) if total else Fraction(1, 10**12)
