"""The noise of several draws of the same sums, combined by inverse variance, and the law of what is left.

Each draw adds noise of its own to the same whole numbers. Their mean, weighted by inverse variances, has the least
noise of all weighted means. Weights are whole multiples of 1/101. The mean is rounded to a whole number, which never
meets a tie, because 101 is odd. So what is left is symmetric noise on whole numbers, and its law is the convolution of
the laws of all draws. See ``refining.proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bruit.entropy import Words
from bruit.errors import ParameterError
from bruit.releases.noise import DiscreteLaplace, Floats, Integers, Noise, cut

__all__ = ["CombinedNoise"]

#: Weights are multiples of one over this odd number: the variance is within 0.1 % of the least.
WHOLE = 101
#: A law is computed as far as this number of standard deviations of each draw; beyond it is less than 10⁻¹⁷.
_REACH = 30
#: The most places on which a law is computed.
_PLACES = 2**18
#: The step and the number of terms of the integral over frequencies; beyond _FAR deviations a tail counts as none.
_STEP, _TERMS, _FAR = 2 * math.pi / 45, 512, 20.0


@dataclass(frozen=True)
class CombinedNoise(Noise):
    """The noise that is left in the rounded weighted mean of several draws.

    Parameters
    ----------
    noises
        The noise of each draw.
    weights
        The weight of each draw, in parts of 101.

    Error
    -----
    The variance is 1/Σ(1/variance) of the draws, within 0.1 %, and at most 1/12 more for rounding to whole numbers.

    Examples
    --------
    >>> first, second = DiscreteLaplace.calibrate(1, 0.1), DiscreteLaplace.calibrate(1, 0.1)
    >>> both = CombinedNoise.of([first, second])
    >>> both.weights, round(first.standard_error, 2), round(both.standard_error, 2)
    ((51, 50), 14.14, 10.0)
    """

    noises: tuple[Noise, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.noises) != len(self.weights) or sum(self.weights) != WHOLE or min(self.weights) < 0:
            raise ParameterError(f"weights must be whole numbers from 0 that sum to {WHOLE}, one for each noise.")

    @classmethod
    def of(cls, noises: Sequence[Noise]) -> CombinedNoise:
        """The combination with the weights of inverse variances, rounded by largest remainders."""
        return cls._weighted(tuple(noises))

    @classmethod
    @lru_cache(maxsize=64)
    def _weighted(cls, noises: tuple[Noise, ...]) -> CombinedNoise:
        precisions = [1 / max(noise.variance, 1e-300) for noise in noises]
        shares = [Fraction(own) * WHOLE / sum(map(Fraction, precisions)) for own in precisions]
        weights = [math.floor(share) for share in shares]
        order = sorted(range(len(shares)), key=lambda place: weights[place] - shares[place])
        for place in order[: WHOLE - sum(weights)]:
            weights[place] += 1
        return cls(noises, tuple(weights))

    def combine(self, draws: Sequence[Integers]) -> Integers:
        """The weighted mean of noisy sums, rounded to whole numbers; none is ever half-way between two."""
        total: Any = sum(
            weight * np.asarray(draw).astype(object) for weight, draw in zip(self.weights, draws, strict=True)
        )
        return cut(np.asarray((2 * total + WHOLE) // (2 * WHOLE), object))

    def sample(self, size: int, words: Words) -> Integers:
        """`size` independent draws of what is left of all noises."""
        own = words.split(len(self.noises))
        return self.combine([noise.sample(size, part) for noise, part in zip(self.noises, own, strict=True)])

    @property
    def is_heavy(self) -> bool:
        """Whether any of the draws has Laplace noise."""
        return any(noise.is_heavy for noise in self.noises)

    @cached_property
    def _parts(self) -> list[tuple[Noise, int]]:
        """The draws that have a weight."""
        return [pair for pair in zip(self.noises, self.weights, strict=True) if pair[1]]

    @cached_property
    def _spread(self) -> float:
        """The variance of the weighted mean before it is rounded."""
        return math.fsum((weight / WHOLE) ** 2 * noise.variance for noise, weight in self._parts)

    @cached_property
    def _law(self) -> tuple[Floats, int]:
        """The probabilities of 101 times the mean, at multiples of an odd width from the middle on, and this width.

        The width is 1, and the law exact up to doubles, if the places suffice. Else a multiple stands for all whole
        numbers that are nearest to it.
        """
        reaches = [weight * (_REACH * noise.standard_error + 2) for noise, weight in self._parts]
        width = 2 * math.floor(sum(reaches) / _PLACES) + 1
        laws = [
            _binned(noise, weight, width, reach) for (noise, weight), reach in zip(self._parts, reaches, strict=True)
        ]
        size = sum(law.size for law in laws) - len(laws) + 1
        fast = 1 << size.bit_length()
        product = np.ones(fast // 2 + 1, np.complex128)
        for law in laws:
            product *= np.fft.rfft(law, fast)
        whole = np.fft.irfft(product, fast)[:size]
        middle = whole.size // 2
        return np.maximum((whole[middle:] + whole[middle::-1]) / 2, 0.0), width

    @cached_property
    def variance(self) -> float:
        """The variance of one draw, rounding included."""
        law, width = self._law
        if width > 1:
            return self._spread + 1 / 12
        rounded = (2 * np.arange(law.size) + WHOLE) // (2 * WHOLE)
        return float(2 * (law * rounded.astype(np.float64) ** 2).sum())

    def log_probability(self, value: int) -> float:
        """The logarithm of P(value), in double precision; within the width of a place for large noise."""
        law, width = self._law
        low, high = (-(-(2 * abs(value) * WHOLE + side * WHOLE) // (2 * width)) for side in (-1, 1))
        places = np.abs(np.arange(low, high))
        return math.log(max(float(law[places[places < law.size]].sum()), 1e-300))

    def log_odds(self, first: int, second: int) -> float:
        """The logarithm of P(first)/P(second)."""
        return self.log_probability(first) - self.log_probability(second)

    def half_width(self, level: float) -> float:
        """The least h for which |noise| ≤ h with probability `level` or more; for large noise, a little more.

        Each of k draws is off by less than half the width of a place, so that k half widths are added: less than a
        thousandth of the standard deviation.
        """
        law, width = self._law
        inside = 2 * np.cumsum(law) - law[0]
        place = min(int(np.searchsorted(inside, level * (1 - 1e-12))), law.size - 1)
        reach = place * width + len(self._parts) * (width // 2)
        # |mean| < h + 1/2 holds as soon as 101 times the mean is at most (101·(2h + 1) − 1)/2.
        return float(max(0, math.ceil(Fraction(2 * reach + 1 - WHOLE, 2 * WHOLE))))

    def cumulative(self, values: Any) -> Floats:
        """P(noise ≤ value) of whole numbers, in double precision; for large noise, to a thousandth of a deviation."""
        law, width = self._law
        beyond = np.append(np.cumsum(law[::-1])[::-1], 0.0)
        places = np.asarray(values, np.float64)
        # P(noise > value) for a value from 0 on is P(101 times the mean > 101·(value + 1/2)).
        far = np.where(places < 0, -places - 1, places)
        first = np.clip(np.floor(WHOLE * (2 * far + 1) / (2 * width)) + 1, 0, law.size).astype(np.int64)
        return np.asarray(np.where(places < 0, beyond[first], 1 - beyond[first]), np.float64)

    def ratio_law(self) -> tuple[float, Any]:
        """The scale, and the tail of a weighted difference of two sums that both have this noise."""
        if not self.is_heavy:
            return super().ratio_law()
        return math.sqrt(self._spread), self._ratio_tail

    def _ratio_tail(self, share: Any, above: float, below: float, scale: float) -> Floats:
        """P(|(1 − u)·X − u·Y| ≥ |(1 − u)·above − u·below|), as an integral of the characteristic function.

        1 − P = (2/π)·∫ sin(d·t)/t · φ((1 − u)·t)·φ(u·t) dt by the trapezoidal rule, in standard deviations.
        """
        shares = np.atleast_1d(np.asarray(share, np.float64))
        deviation = scale * np.hypot(shares, 1 - shares)
        distance = np.abs((1 - shares) * above - shares * below) / deviation
        numbers = np.arange(1, _TERMS + 1)
        line = _STEP * numbers
        times = line / deviation[:, None]
        law = self._transform(times * shares[:, None]) * self._transform(times * (1 - shares[:, None]))
        near = np.minimum(distance, _FAR)
        inside = (
            _STEP * near + 2 * (np.sin(near[:, None] * line) / np.arange(1, _TERMS + 1) * law).sum(axis=1)
        ) / math.pi
        tail = np.where(distance >= _FAR, 0.0, np.clip(1 - inside, 0.0, 1.0))
        return tail.reshape(np.shape(share))

    def _transform(self, times: Floats) -> Floats:
        """The characteristic function of the weighted mean, its noises as continuous ones."""
        law = np.ones_like(times)
        for noise, weight in self._parts:
            if isinstance(noise, DiscreteLaplace):
                law = law / (1 + (times * (weight / WHOLE * float(noise.scale))) ** 2)
            else:
                law = law * np.exp(-((times * (weight / WHOLE)) ** 2) * noise.variance / 2)
        return law


def _binned(noise: Noise, weight: int, width: int, reach: float) -> Floats:
    """The probabilities that weight times a noise is nearest to each multiple of an odd width, up to a reach."""
    most = math.ceil(reach / width) + 1
    upper = np.arange(-most - 1, most + 1) * width + width // 2
    return np.diff(noise.cumulative(np.floor_divide(upper, weight)))
