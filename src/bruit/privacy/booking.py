"""Whatever spends is booked here: first the spend, then there are words for its noise.

Releases, models, series, reports at their source are a `Spend`, and call `booked`. Results that are kept beside their
ledger (``releases/kept.py``) book by themselves, because a file must be reserved before. A bad seed, a
label that no ledger takes and a budget that does not suffice are errors before anything is booked; after it nothing is
left that could fail. It stands in `privacy`, because collections and releases both spend, and neither imports the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bruit.entropy import Entropy, Randomness, Words
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line

__all__ = ["Charge", "LedgerLike", "Spend", "booked"]


class LedgerLike(Protocol):
    """What a spend is booked in: a `Ledger`, one `Part` of it, or a `Booking`."""

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> object:
        """Book one spend before its noise is drawn, or refuse it."""
        ...

    def book(self, lines: Sequence[Line]) -> object:
        """Book several spends at once, or refuse them all."""
        ...


class Spend(Protocol):
    """What costs a part of a budget."""

    @property
    def verb(self) -> str:
        """What is done; a seed is mixed with it."""
        ...

    @property
    def digest(self) -> str:
        """The digits that identify what spends; a seed is mixed with them."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """What all of it promises."""
        ...

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books, with this label or its own."""
        ...


@dataclass(frozen=True)
class Charge:
    """A spend that is one line of a ledger.

    Parameters
    ----------
    guarantee
        What is promised.
    label
        What the ledger writes down; public.
    rho
        The ρ-zCDP that it proves of itself.
    verb, digest
        What a seed is mixed with; nothing where the caller has the words for the noise.
    """

    guarantee: Guarantee
    label: str
    rho: float | None = None
    verb: str = ""
    digest: str = ""

    def lines(self, label: str | None = None) -> list[Line]:
        """The line, with this label or its own."""
        return [Line(self.guarantee, label or self.label, self.rho)]


def booked(what: Spend, ledger: LedgerLike | None, rng: Randomness | Words = None, label: str | None = None) -> Words:
    """Book a spend, or be refused; then give the words for its noise.

    Parameters
    ----------
    what
        What spends.
    ledger
        The ledger to book in, or a part of it; None books nothing.
    rng
        None for secure noise, a whole number for reproducible noise, or an `Entropy`. `Words` are given back as they
        are, for those who draw their noise from words of their own.
    label
        What the ledger writes down, in place of the spend's own label.

    Examples
    --------
    >>> from bruit.privacy import Ledger
    >>> ledger = Ledger(epsilon=1.0)
    >>> words = booked(Charge(Guarantee(epsilon=0.25, neighbours="add-remove"), "count"), ledger, 7)
    >>> words.secure, ledger.spent.epsilon
    (False, 0.25)
    """
    lines = what.lines(label)
    if rng is not None and not isinstance(rng, Entropy | Words):  # a bad seed is refused before anything is spent
        rng = Entropy.resolve(rng, what.verb, what.digest)
    if ledger is not None:
        ledger.book(lines)
    return rng if isinstance(rng, Words) else Words.resolve(rng, what.verb, what.digest)
