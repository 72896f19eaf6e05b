"""A second draw of Laplace noise that depends on the first, so that both tell no more than the second alone.

Laplace noise of a large scale is Laplace noise of a smaller scale plus noise that is independent of it. This holds for
the two-sided geometric law on whole numbers, too. So a number that was published at ε₁ can be drawn again at ε > ε₁
given the first: the pair is as if the exact draw had come first, and the other had been made of it. The pair costs ε,
not ε₁ + ε. See ``refining.proof.md``.

The draw is exact: random digits and digits of the distribution are computed until they decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bruit.entropy import Entropy, Words
from bruit.errors import LimitError, ParameterError
from bruit.releases.noise import DiscreteLaplace, Integers

__all__ = ["GradualLaplace"]

#: Random words for a draw at first; each has 20 decimal digits.
_WORDS, _WORD_DIGITS = 2, 20
#: Digits that roundings may spoil. Scales are at most 2⁴⁰ and differ by 10⁻⁹ or more, so that no difference of numbers
#: near each other loses more than 25 digits.
_SPOILT = 50


class _Stretch(NamedTuple):
    """Neighbouring places whose probabilities fall by one ratio: what they have in all, and where they are.

    `rate` is the logarithm of the ratio, None for a single place. `portion` is the share of a finite stretch in the
    endless one that begins with it.
    """

    mass: Decimal
    rate: Decimal | None
    start: int
    direction: int
    portion: Decimal


@dataclass(frozen=True)
class GradualLaplace:
    """The law of a second noise given the first, whose scale is larger.

    With q = exp(−1/scale), the first noise is X + Z, where X is the second noise and Z is 0 with probability
    A = q₂(1 − q₁)²/q₁(1 − q₂)², and else has the law of the first. This is the law of X given X + Z.

    Parameters
    ----------
    first, second
        The noise of the earlier draw, and that of the later, whose scale is smaller.

    Examples
    --------
    >>> law = GradualLaplace(DiscreteLaplace(Fraction(4)), DiscreteLaplace(Fraction(2)))
    >>> round(sum(law.probability(x, 3) for x in range(-60, 60)), 12)
    1.0
    """

    first: DiscreteLaplace
    second: DiscreteLaplace

    def __post_init__(self) -> None:
        if not self.second.scale < self.first.scale:
            raise ParameterError("A second draw must have a smaller scale than the first.")

    def probability(self, value: int, first: int) -> float:
        """P(second noise = value | first noise), in double precision; for checks."""
        q1, q2 = (math.exp(-1 / float(noise.scale)) for noise in (self.first, self.second))
        c1, c2 = ((1 - q) / (1 + q) for q in (q1, q2))
        atom = q2 * (1 - q1) ** 2 / (q1 * (1 - q2) ** 2)
        same = atom * c2 / c1 * (q2 / q1) ** abs(first) if value == first else 0.0
        return float(same + (1 - atom) * c2 * q2 ** abs(value) * q1 ** (abs(first - value) - abs(first)))

    def draw(self, first: Integers, words: Words) -> Integers:
        """The second noise for each first noise."""
        entropy = words.stream()
        values = [self._draw(abs(noise), entropy) * (-1 if noise < 0 else 1) for noise in first.tolist()]
        return np.array(values, np.int64)

    def _draw(self, first: int, entropy: Entropy) -> int:
        """The second noise for a first one of 0 or more: the place where a uniform number falls, when digits decide."""
        number, words = 0, 0
        for more in (_WORDS, *(_WORDS << power for power in range(20))):
            for word in entropy.words(more).tolist():
                number, words = (number << 64) | word, words + 1
            with localcontext(_context(words)):
                stretches = self._stretches(first, words)
                low, high = (_place(stretches, Decimal(number + end) / 2 ** (64 * words)) for end in (0, 1))
            if low is not None and low == high:
                return low
        raise LimitError("No number of random digits has decided a draw.")  # the chance is below 2⁻¹⁰⁰⁰⁰⁰⁰

    def _stretches(self, first: int, words: int) -> list[_Stretch]:
        """The law given a first noise of 0 or more, in four stretches.

        −1, −2 … fall by q₁q₂, and 0 … first − 1 by q₂/q₁; then there is the atom at first; and first, first + 1 … fall
        by q₁q₂.
        """
        fall, steep, atom, unit = _masses(self.first.scale, self.second.scale, words)
        shrunk = (-fall * first).exp()
        rest, whole = 1 - (-steep).exp(), Decimal(1)
        return [
            _Stretch(unit * (-steep).exp() / rest, steep, -1, -1, whole),
            _Stretch(unit * (1 - shrunk) / (1 - (-fall).exp()), fall, 0, 1, 1 - shrunk),
            _Stretch(atom * shrunk, None, first, 0, whole),
            _Stretch(unit * shrunk / rest, steep, first, 1, whole),
        ]


def _context(words: int) -> Context:
    """Digits for as many random words, and those that roundings may spoil."""
    return Context(prec=_WORD_DIGITS * words + _SPOILT, Emin=-(10**12), Emax=10**12)


@lru_cache(maxsize=16)
def _masses(first: Fraction, second: Fraction, words: int) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """−ln(q₂/q₁), −ln(q₁q₂), the atom at a first noise of 0, and what another place at 0 has."""
    with localcontext(_context(words)):
        rate1, rate2 = (Decimal(scale.denominator) / Decimal(scale.numerator) for scale in (first, second))
        q1, q2 = (-rate1).exp(), (-rate2).exp()
        c1, c2 = (1 - q1) / (1 + q1), (1 - q2) / (1 + q2)
        atom = q2 * (1 - q1) ** 2 / (q1 * (1 - q2) ** 2)
        return rate2 - rate1, rate1 + rate2, atom * c2 / c1, (1 - atom) * c2


def _place(stretches: list[_Stretch], number: Decimal) -> int | None:
    """Where a number between 0 and 1 falls; None if it is nearer to the next place than the digits can tell."""
    error = Decimal(10) ** (_SPOILT - getcontext().prec)
    left = number
    for mass, rate, start, direction, portion in stretches:
        if abs(left - mass) <= error:
            return None
        if left > mass:
            left -= mass
            continue
        if rate is None:
            return start
        beyond = 1 - left / mass * portion
        if beyond <= error:
            return None
        steps = -beyond.ln() / rate
        nearest = steps.to_integral_value()
        if abs(steps - nearest) <= error / (mass * beyond * rate) and nearest > 0:
            return None
        return start + direction * int(steps.to_integral_value(ROUND_FLOOR))
    return None
