"""The two-level law: one weight for the messages that support the person's value, a smaller one for all others.

A law is a table of whole-number weights. Sampling compares random integers with them, so the probabilities are ratios
of two integers and nothing else; ε is the logarithm of the largest ratio, computed in 80 digits and rounded up.
The argument is in ``two_level.proof.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bruit import _checks
from bruit.errors import LimitError
from bruit.laws.law import Loss
from bruit.laws.sets import Sets
from bruit.laws.words import WORDS, Words, below
from bruit.rounding import NEGLIGIBLE_BITS, exp_floor


@dataclass(frozen=True, kw_only=True)
class TwoLevelLaw(Loss):
    """Two weights: one for the outcomes in the value's own set, a smaller one for all others.

    Randomised response is the case where a value's set is itself alone. Subset selection, projective geometry and the
    square wave are others.

    Parameters
    ----------
    inside, outside
        The weights A ≥ B ≥ 1.
    sets
        Which outcomes the set of a value has, and what they stand for.

    Guarantee
    ---------
    Every value has the same total weight Z, so P(y|x)/P(y|x') is a ratio of two weights: at most A/B, and
    ε = ln(A/B). It is attained when some outcome is in the set of x and not of x'.

    Examples
    --------
    The two coins of Warner's survey: tell the truth three times out of four.

    >>> from bruit.laws import Itself
    >>> law = TwoLevelLaw(inside=3, outside=1, sets=Itself(values=2))
    >>> law.row(0), [law.sample(0, iter([word])) for word in range(4)]
    ([Fraction(3, 4), Fraction(1, 4)], [0, 0, 0, 1])
    >>> round(law.epsilon, 6)
    1.098612
    """

    shape: ClassVar[str] = "two_level"

    inside: int
    outside: int
    sets: Sets

    def __post_init__(self) -> None:
        _checks.integer(low=1, outside=self.outside)
        _checks.integer(low=self.outside, inside=self.inside)
        _checks.integer(low=1, high=self.outcomes - 1, members=self.members)
        if self.total > WORDS:
            raise LimitError("The weights of a law must have a sum of 2⁶⁴ at most: no word reaches the rest.")

    @classmethod
    def calibrate(cls, epsilon: float, sets: Sets, *, words: int = WORDS) -> TwoLevelLaw:
        """The law nearest to ε from below whose total weight is just under `words`."""
        # B = ⌊words / (members·e^ε + others)⌋ brings the total as near as it goes, so that one word nearly always
        # decides. The bracket is computed in units of 2⁻⁶⁴, rounded up.
        others = sets.outcomes - sets.members
        bracket = exp_floor(epsilon, sets.members * WORDS) + 1 + others * WORDS
        outside = words * WORDS // bracket
        return cls(inside=exp_floor(epsilon, outside), outside=outside, sets=sets)

    @classmethod
    def scale(cls, inside: int, outside: int, sets: Sets) -> TwoLevelLaw:
        """The law with exactly these odds, its weights multiplied to bring the total just under 2⁶⁴."""
        plain = cls(inside=inside, outside=outside, sets=sets)
        factor = WORDS // plain.total
        return cls(inside=inside * factor, outside=outside * factor, sets=sets)

    @property
    def members(self) -> int:
        """How many outcomes a value's set has."""
        return self.sets.members

    @property
    def outcomes(self) -> int:
        """How many outcomes there are in all."""
        return self.sets.outcomes

    @property
    def messages(self) -> int:
        """How many messages there are, where each outcome is one."""
        return self.outcomes

    @property
    def total(self) -> int:
        """The sum of all weights, the same for every value."""
        return self.inside * self.members + self.outside * (self.outcomes - self.members)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one outcome under two values, exactly."""
        return Fraction(self.inside, self.outside)

    def keep_chance(self, report: TwoLevelLaw) -> Fraction:
        """How often a message of this law is kept, and else any drawn, for the outcome to have the law `report`.

        Above 1 where no chance does: `report` then tells more than this law.
        """
        # (1−λ)·A/Z + λ/K = A₁/Z₁, with A/Z − 1/K = (K−s)(A−B)/(KZ) on both sides.
        gap, other = self.inside - self.outside, report.inside - report.outside
        return Fraction(other * self.total, gap * report.total)

    def repeated_ratio(self, keep: Fraction, rounds: int) -> Fraction:
        """The largest ratio between the probabilities of `reports` reports of one message under two values.

        Exactly; where it is nearer to A/B than one part in 2⁵⁰⁰, A/B, which is above it.
        """
        if keep == 1:
            return self.ratio
        # (A·E + Z)/(B·E + Z), E = R^T − 1 and R = 1 + K(1−λ)/λ; of subsets A, B and Z count per outcome, so scale E.
        messages = self.sets.alphabet
        base = 1 + messages * keep / (1 - keep)
        digits = base.numerator.bit_length() - base.denominator.bit_length() - 1
        # E ≥ 2^(digits·T) − 1, and the ratio is A/B less at most one part in A·E/Z; the power would fill the memory.
        if rounds * digits > messages.bit_length() + NEGLIGIBLE_BITS:
            return self.ratio
        excess = (base**rounds - 1) * Fraction(self.outcomes, messages)
        return (self.inside * excess + self.total) / (self.outside * excess + self.total)

    def round_ratio(self, keep: Fraction) -> Fraction:
        """The largest ratio between the probabilities of one report of any two memos: 1 + K(1 − λ)/λ."""
        return 1 + self.sets.alphabet * keep / (1 - keep)

    def refresh_weight(self, keep: Fraction) -> int:
        """How many of all words draw any message in place of a memo: 1 − keep in units of 2⁻⁶⁴, rounded up."""
        return math.ceil((1 - keep) * WORDS)

    def refresh(self, memo: int, weight: int, words: Words) -> int:
        """A report of a memo: any message if the next word is below the weight, else the memo."""
        return self.sets.fresh(memo, words) if next(words) < weight else memo

    def probability(self, *, inside: bool) -> Fraction:
        """The exact probability of one outcome inside or outside the value's set."""
        return Fraction(self.inside if inside else self.outside, self.total)

    def row(self, code: int) -> list[Fraction]:
        """P(message | value) for all messages, exactly."""
        held = [self.sets.supports(message, code) for message in self.sets.messages()]
        # A member with weight A − B for each outcome of the set, or any message with weight B for each outcome.
        own = Fraction((self.inside - self.outside) * self.members, self.total * sum(held))
        any_message = Fraction(self.outside * self.outcomes, self.total * len(held))
        return [any_message + own if inside else any_message for inside in held]

    def choose(self, word: int) -> tuple[bool, int]:
        """Whether a word below the total chooses a member of the value's set, and which member, or which of all."""
        step = self.inside - self.outside
        kept = step * self.members
        return (True, word // step) if word < kept else (False, (word - kept) // self.outside)

    def sample(self, code: int, words: Words) -> int:
        """The message of one person: the next word below the total decides, and then those that the sets need."""
        inside, number = self.choose(below(self.total, words))
        return self.sets.member(code, number, words) if inside else self.sets.other(number, words)
