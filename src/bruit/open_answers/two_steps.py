"""Bits that are randomised once for good and once more in every report: the law of RAPPOR, in whole numbers.

The first step is the permanent randomised response (PRR), whose bits are the memo. The second is the instantaneous one
(IRR). ``rappor.proof.md`` has the argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from bruit import _checks
from bruit.errors import ParameterError
from bruit.laws import BitsLaw, Subset
from bruit.laws.words import WORDS

#: How many binary digits of a ratio are computed with; it is rounded up.
_DIGITS = 1024


@dataclass(frozen=True)
class TwoSteps:
    """Four chances in units of 2⁻⁶⁴.

    Parameters
    ----------
    own, other
        How often a memo has a bit set that the text sets, and one that it does not set; own > other.
    shown, added
        How often a report shows a set bit of the memo, and how often it sets a clear one; shown > added.

    >>> steps = TwoSteps.as_published(f=0.5, p=0.5, q=0.75)
    >>> steps.p, steps.q, round(2 * math.log(steps.ratio(1)), 4), round(2 * math.log(steps.memo_ratio), 3)
    (Fraction(11, 16), Fraction(9, 16), 1.0743, 4.394)
    """

    own: int
    other: int
    shown: int
    added: int

    def __post_init__(self) -> None:
        _checks.integer(low=1, high=WORDS - 2, other=self.other)
        _checks.integer(low=self.other + 1, high=WORDS - 1, own=self.own)
        _checks.integer(low=0, high=WORDS - 1, added=self.added)
        _checks.integer(low=self.added + 1, high=WORDS, shown=self.shown)

    @classmethod
    def calibrate(cls, report: float, memo: float) -> Self:
        """The steps that give a pair of bits these ε: own bits are set half of the time, and both flips alike."""
        half, pair = Fraction(1, 2), Subset(values=2)
        first = BitsLaw.calibrate(memo, pair, own=half)
        keep = min(first.keep_chance(BitsLaw.calibrate(report, pair, own=half)), Fraction(1))
        flip = first.refresh_weight(keep)
        return cls(first.own, first.other, WORDS - flip, flip)

    @classmethod
    def as_published(cls, f: float, p: float, q: float) -> Self:
        """The paper's f, p and q: a memo bit is random with chance f; a clear one is reported set with p, a set one q.

        Chances are rounded towards each other.
        """
        f, p, q = (_checks.fraction(**{name: chance}) for name, chance in {"f": f, "p": p, "q": q}.items())
        if not 0 < f < 1:
            raise ParameterError("f must be above 0 and below 1: with 0 the memo is the text, with 1 it is noise.")
        if p >= q:
            raise ParameterError(f"p must be below q, got {p:g} and {q:g}.")
        flip = math.ceil(Fraction(f) / 2 * WORDS)
        return cls(WORDS - flip, flip, math.floor(Fraction(q) * WORDS), math.ceil(Fraction(p) * WORDS))

    @property
    def p(self) -> Fraction:
        """How often a report has a bit set that the text sets, exactly."""
        return self._report(self.own)

    @property
    def q(self) -> Fraction:
        """How often a report has any other bit set, exactly."""
        return self._report(self.other)

    def _report(self, memo: int) -> Fraction:
        return Fraction(memo * self.shown + (WORDS - memo) * self.added, WORDS**2)

    @property
    def memo_ratio(self) -> Fraction:
        """The largest ratio that a memo gives of two bits, one of either text."""
        return Fraction(self.own * (WORDS - self.other), (WORDS - self.own) * self.other)

    def ratio(self, rounds: int) -> Fraction:
        """The largest ratio that this number of reports of one memo gives of two bits, one of either text.

        In all reports the one bit is set and the other clear. Exact where `rounds` is small, else rounded up.
        """
        above = self._set(self.own, rounds) * self._clear(self.other, rounds)
        below = self._set(self.other, rounds) * self._clear(self.own, rounds)
        excess = max(0, below.bit_length() - _DIGITS)
        if not excess:
            return Fraction(above, below)
        return min(Fraction((above >> excess) + 1, below >> excess), self.memo_ratio)

    def _set(self, memo: int, rounds: int) -> int:
        """The weight of a bit that is set in all reports."""
        return int(memo * self.shown**rounds + (WORDS - memo) * self.added**rounds)

    def _clear(self, memo: int, rounds: int) -> int:
        """The weight of a bit that is clear in all reports."""
        return int(memo * (WORDS - self.shown) ** rounds + (WORDS - memo) * (WORDS - self.added) ** rounds)
