"""The law of independent bits: one for each value, the person's own set more often than the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bruit import _checks
from bruit.errors import ParameterError
from bruit.laws.law import Loss
from bruit.laws.sets import Subset
from bruit.laws.words import WORD_BITS, WORDS, Words
from bruit.rounding import NEGLIGIBLE_BITS, exp_floor


@dataclass(frozen=True, kw_only=True)
class BitsLaw(Loss):
    """Independent bits: the one of the value is set with probability p, each other with q; both in units of 2⁻⁶⁴.

    Unary encoding, and every bit that is flipped or not.

    Parameters
    ----------
    own, other
        p·2⁶⁴ and q·2⁶⁴, with 2⁶⁴ > own > other > 0.
    sets
        How many values there are: a message is the set of values whose bit is set.

    Guarantee
    ---------
    Two values differ in two bits only. A report with the one set and the other not is p(1−q)/((1−p)q) times likelier
    under the first value than under the second, and no report does worse: ε is the logarithm of that ratio.

    Examples
    --------
    >>> law = BitsLaw.calibrate(1.0, Subset(values=3), own=Fraction(1, 2))
    >>> law.p, round(float(law.q), 6)
    (Fraction(1, 2), 0.268941)
    >>> bin(law.sample(0, iter([2**63 - 1, 2**63, 0])))
    '0b101'
    """

    shape: ClassVar[str] = "bits"

    own: int
    other: int
    sets: Subset

    def __post_init__(self) -> None:
        _checks.integer(low=1, high=WORDS - 2, other=self.other)
        _checks.integer(low=self.other + 1, high=WORDS - 1, own=self.own)
        if self.sets.size:
            raise ParameterError("Bits that are drawn each by itself make subsets of any size: leave size out.")

    @classmethod
    def calibrate(cls, epsilon: float, sets: Subset, *, own: Fraction | None = None) -> BitsLaw:
        """The law nearest to ε from below: with this p (optimised unary encoding has ½), or with p = 1 − q if none.

        q is rounded up, which is the private side.
        """
        unit = WORDS
        if own is None:
            # q = 1/(e^{ε/2} + 1), computed in units of 2⁻¹²⁸ and rounded up.
            other = -(-unit * unit * unit // (exp_floor(epsilon / 2, unit * unit) + unit * unit))
            return cls(own=unit - other, other=other, sets=sets)
        weight = round(own * unit)
        # (1−q)/q ≤ e^ε·(1−p)/p, so q ≥ p/(p + e^ε·(1−p)).
        rest = exp_floor(epsilon, (unit - weight) * unit)
        other = -(-unit * weight * unit // (weight * unit + rest))
        return cls(own=weight, other=other, sets=sets)

    @property
    def p(self) -> Fraction:
        """The exact probability that the value's own bit is set."""
        return Fraction(self.own, WORDS)

    @property
    def q(self) -> Fraction:
        """The exact probability that any other bit is set."""
        return Fraction(self.other, WORDS)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one report under two values, exactly."""
        return self.p * (1 - self.q) / ((1 - self.p) * self.q)

    def keep_chance(self, report: BitsLaw) -> Fraction:
        """How often a bit of this law is kept, and else a fair coin tossed, for the bits to have the law `report`.

        Above 1 where no chance does. p must be ½ in both laws, or 1 − q in both.
        """
        half = Fraction(1, 2)
        keep = (half - report.q) / (half - self.q)
        if half + keep * (self.p - half) != report.p:
            raise ParameterError("Bits that are tossed again have another p than these: p must be ½, or 1 − q.")
        return keep

    def repeated_ratio(self, keep: Fraction, rounds: int) -> Fraction:
        """The largest ratio between the probabilities of several reports of one row under two values, exactly."""
        if keep == 1:
            return self.ratio
        # Nearer to the ratio of the memo than one part in 2⁵⁰⁰: that one, which is above; the power would fill memory.
        odds = (1 + keep) / (1 - keep)
        digits = odds.numerator.bit_length() - odds.denominator.bit_length() - 1
        if rounds * digits > WORD_BITS + NEGLIGIBLE_BITS:
            return self.ratio
        # All reports have the true bit set and the other clear.
        same, flipped = ((1 + keep) / 2) ** rounds, ((1 - keep) / 2) ** rounds
        own_set, other_set = (x * same + (1 - x) * flipped for x in (self.p, self.q))
        own_clear, other_clear = ((1 - x) * same + x * flipped for x in (self.p, self.q))
        return own_set * other_clear / (other_set * own_clear)

    def round_ratio(self, keep: Fraction) -> Fraction:
        """The largest ratio between the probabilities of one report of any two memos: every bit differs."""
        ratio: Fraction = ((1 + keep) / (1 - keep)) ** self.sets.values
        return ratio

    def refresh_weight(self, keep: Fraction) -> int:
        """How many of all words turn a bit of a memo over: (1 − keep)/2 in units of 2⁻⁶⁴, rounded up."""
        return math.ceil((1 - keep) / 2 * WORDS)

    def refresh(self, memo: int, weight: int, words: Words) -> int:
        """A report of a memo: for each bit a word, in their order, which turns it over if it is below the weight."""
        flips = sum(1 << value for value in range(self.sets.values) if next(words) < weight)
        return memo ^ flips

    def row(self, code: int | None) -> list[Fraction]:
        """P(message | value) for all messages, exactly; of bits of which none is anybody's own where `code` is None."""
        # The probability depends on the true bit and on how many others are set.
        rest = self.sets.values - (code is not None)
        others = [self.q**ones * (1 - self.q) ** (rest - ones) for ones in range(rest + 1)]
        if code is None:
            return [others[message.bit_count()] for message in self.sets.messages()]
        by_bit = [[chance * other for other in others] for chance in (1 - self.p, self.p)]
        own_bits = ((message, message >> code & 1) for message in self.sets.messages())
        return [by_bit[own][message.bit_count() - own] for message, own in own_bits]

    def sample(self, code: int | None, words: Words) -> int:
        """The message of one person: one word for the bit of each value, in their order; set if it is below p or q.

        Where `code` is None no bit is anybody's own: noise on zeros.
        """
        message = 0
        for value in range(self.sets.values):
            if next(words) < (self.own if value == code else self.other):
                message |= 1 << value
        return message
