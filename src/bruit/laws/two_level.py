"""The exact law of a mechanism, in integers, and the ε that follows from it.

A law is a table of whole-number weights. Sampling compares random integers with them, so the probabilities are ratios
of two integers and nothing else; ε is the logarithm of the largest ratio, computed in 80 digits and rounded up.
The argument is in ``two_level.proof.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from bruit import _checks

#: The number of random bits that decide one outcome.
WORD_BITS = 64

_EXACT = Context(prec=80)
# exp and ln of the decimal module are correctly rounded; this covers their last digit many times over.
_MARGIN = Decimal(10) ** -70


def exp_floor(epsilon: float, times: int) -> int:
    """⌊times · e^ε⌋, never above the true value.

    >>> exp_floor(1.0, 10**15)
    2718281828459045
    """
    power = _EXACT.exp(Decimal(epsilon))
    product = _EXACT.multiply(power, Decimal(times))
    below = _EXACT.multiply(product, _EXACT.subtract(Decimal(1), _MARGIN))
    return int(below.to_integral_value(ROUND_FLOOR))


def log_ceiling(ratio: Fraction) -> float:
    """The least double that is at or above ln(ratio), for a ratio of 1 or more.

    >>> log_ceiling(Fraction(3)) == math.log(3)
    True
    """
    quotient = _EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    if ratio == 1:
        return 0.0
    # A relative error of the quotient is an absolute error of its logarithm: add it back.
    above = _EXACT.add(_EXACT.ln(quotient), _MARGIN)
    nearest = float(above)
    return nearest if Decimal(nearest) >= above else math.nextafter(nearest, math.inf)


@dataclass(frozen=True, kw_only=True)
class BitsLaw:
    """Independent bits: the one of the value is set with probability p, each other with q; both in units of 2⁻⁶⁴.

    Unary encoding, and every bit that is flipped or not.

    Parameters
    ----------
    own, other
        p·2⁶⁴ and q·2⁶⁴, with 2⁶⁴ > own > other > 0.

    Guarantee
    ---------
    Two values differ in two bits only. A report with the one set and the other not is p(1−q)/((1−p)q) times likelier
    under the first value than under the second, and no report does worse: ε is the logarithm of that ratio.

    Examples
    --------
    >>> law = BitsLaw.calibrate(1.0, own=Fraction(1, 2))
    >>> law.p, round(float(law.q), 6)
    (Fraction(1, 2), 0.268941)
    """

    own: int
    other: int

    def __post_init__(self) -> None:
        _checks.integer(low=1, high=2**WORD_BITS - 2, other=self.other)
        _checks.integer(low=self.other + 1, high=2**WORD_BITS - 1, own=self.own)

    @classmethod
    def calibrate(cls, epsilon: float, *, own: Fraction | None = None) -> BitsLaw:
        """The law nearest to ε from below: with this p (optimised unary encoding has ½), or with p = 1 − q if none.

        q is rounded up, which is the private side.
        """
        unit = 2**WORD_BITS
        if own is None:
            # q = 1/(e^{ε/2} + 1), computed in units of 2⁻¹²⁸ and rounded up.
            other = -(-unit * unit * unit // (exp_floor(epsilon / 2, unit * unit) + unit * unit))
            return cls(own=unit - other, other=other)
        weight = round(own * unit)
        # (1−q)/q ≤ e^ε·(1−p)/p, so q ≥ p/(p + e^ε·(1−p)).
        rest = exp_floor(epsilon, (unit - weight) * unit)
        other = -(-unit * weight * unit // (weight * unit + rest))
        return cls(own=weight, other=other)

    @property
    def p(self) -> Fraction:
        """The exact probability that the value's own bit is set."""
        return Fraction(self.own, 2**WORD_BITS)

    @property
    def q(self) -> Fraction:
        """The exact probability that any other bit is set."""
        return Fraction(self.other, 2**WORD_BITS)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one report under two values, exactly."""
        return self.p * (1 - self.q) / ((1 - self.p) * self.q)

    @property
    def epsilon(self) -> float:
        """The privacy loss, rounded up."""
        return log_ceiling(self.ratio)


@dataclass(frozen=True, kw_only=True)
class TwoLevelLaw:
    """Two weights: one for the outcomes in the value's own set, a smaller one for all others.

    Randomised response is the case where a value's set is itself alone. Subset selection, projective geometry and the
    square wave are others.

    Parameters
    ----------
    inside, outside
        The weights A ≥ B ≥ 1.
    members
        How many outcomes a value's set has.
    outcomes
        How many outcomes there are in all.

    Guarantee
    ---------
    Every value has the same total weight Z, so P(y|x)/P(y|x') is a ratio of two weights: at most A/B, and
    ε = ln(A/B). It is attained when some outcome is in the set of x and not of x'.

    Examples
    --------
    The two coins of Warner's survey: tell the truth three times out of four.

    >>> law = TwoLevelLaw(inside=3, outside=1, members=1, outcomes=2)
    >>> law.probability(inside=True), law.probability(inside=False)
    (Fraction(3, 4), Fraction(1, 4))
    >>> law.epsilon == math.log(3)
    True
    """

    inside: int
    outside: int
    members: int
    outcomes: int

    def __post_init__(self) -> None:
        _checks.integer(low=1, outside=self.outside)
        _checks.integer(low=self.outside, inside=self.inside)
        _checks.integer(low=2, outcomes=self.outcomes)
        _checks.integer(low=1, high=self.outcomes - 1, members=self.members)

    @classmethod
    def calibrate(cls, epsilon: float, *, members: int, outcomes: int) -> TwoLevelLaw:
        """The law nearest to ε from below whose total weight is just under 2⁶⁴."""
        # B = ⌊2⁶⁴ / (members·e^ε + others)⌋ brings the total as near to 2⁶⁴ as it goes, so that one
        # word nearly always decides. The bracket is computed in units of 2⁻⁶⁴, rounded up.
        unit = 2**WORD_BITS
        bracket = exp_floor(epsilon, members * unit) + 1 + (outcomes - members) * unit
        outside = unit * unit // bracket
        inside = exp_floor(epsilon, outside)
        return cls(inside=inside, outside=outside, members=members, outcomes=outcomes)

    @classmethod
    def scale(cls, inside: int, outside: int, *, members: int, outcomes: int) -> TwoLevelLaw:
        """The law with exactly these odds, its weights multiplied to bring the total just under 2⁶⁴."""
        plain = cls(inside=inside, outside=outside, members=members, outcomes=outcomes)
        factor = max(1, 2**WORD_BITS // plain.total)
        return cls(inside=inside * factor, outside=outside * factor, members=members, outcomes=outcomes)

    @property
    def total(self) -> int:
        """The sum of all weights, the same for every value."""
        return self.inside * self.members + self.outside * (self.outcomes - self.members)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one outcome under two values, exactly."""
        return Fraction(self.inside, self.outside)

    @property
    def epsilon(self) -> float:
        """The privacy loss ln(A/B), rounded up."""
        return log_ceiling(self.ratio)

    def probability(self, *, inside: bool) -> Fraction:
        """The exact probability of one outcome inside or outside the value's set."""
        return Fraction(self.inside if inside else self.outside, self.total)
