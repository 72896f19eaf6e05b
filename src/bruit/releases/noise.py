"""Exact noise in whole numbers: discrete Laplace, discrete Gaussian and staircase.

No float takes part in a draw: scales are rational, random words are compared with integers, and outcomes are integers.
So the law is the declared one to the last digit, and floating-point attacks on Laplace noise have nothing to hold on
to. The argument is in ``noise.proof.md``.

Rejected: inverting a distribution function in double precision (holes in the outcomes tell the true value), and tables
of the distribution (exact only with digits on demand, and useless for large scales).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.engines import memory
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import LimitError, ParameterTypeError
from bruit.kernels import noise as kernels
from bruit.privacy.zcdp import epsilon_to_rho

if TYPE_CHECKING:
    from bruit.releases.ratio import Tail

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Noise"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: The largest scale.
MOST_SCALE = 2**40
#: How far the exact ε of calibrated noise may be below the one asked.
SLACK = Fraction(1, 10**9)
#: Sums are cut to this, without noise and with it.
MOST_SUM = kernels.MOST // 2
#: From here on σ is a whole number, which costs less than one part in a million; below, σ² is a simple fraction.
_WHOLE_SIGMA = 2**20
#: How many bits the kernel keeps for the numerator of a scale, and for products of two numbers.
_TOP_BITS = 56
_PRODUCT_BITS = 62
#: How many random words a kernel is given at a time.
_WORDS = 1 << 14


class Noise(ABC):
    """A symmetric law on the whole numbers that can be drawn from exactly."""

    def draw(self, size: int, rng: Randomness = None) -> Integers:
        """`size` independent draws.

        Parameters
        ----------
        size
            How many.
        rng
            None for secure noise; a whole number for reproducible draws; or an `Entropy`.
        """
        return self.sample(size, Words.resolve(rng, "draw", repr(self)))

    @abstractmethod
    def sample(self, size: int, words: Words) -> Integers:
        """`size` independent draws."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of one draw."""

    @property
    def standard_error(self) -> float:
        """The standard deviation of one draw."""
        return math.sqrt(self.variance)

    @abstractmethod
    def log_odds(self, first: int, second: int) -> Fraction | float:
        """The logarithm of P(first)/P(second), exact where it is a fraction."""

    @abstractmethod
    def log_probability(self, value: int) -> float:
        """The logarithm of P(value), in double precision."""

    @abstractmethod
    def half_width(self, level: float) -> float:
        """The least h for which |noise| ≤ h with probability `level` or more."""

    @abstractmethod
    def cumulative(self, values: Any) -> Floats:
        """P(noise ≤ value) of whole numbers, in double precision."""

    @property
    def is_heavy(self) -> bool:
        """Whether its tails are those of the Laplace law, and not of the normal law."""
        return True

    def ratio_law(self) -> tuple[float, Tail]:
        """The scale of the noise and its tail, for intervals of a share of two noisy sums: as `ratio.interval`."""
        from bruit.releases import ratio

        return self.standard_error, ratio.laplace_tail if self.is_heavy else ratio.normal_tail


class KernelNoise(Noise):
    """Noise that a kernel draws."""

    def sample(self, size: int, words: Words) -> Integers:
        """`size` independent draws; block i of them uses up part i of the words."""
        out = np.empty(_checks.integer(low=0, size=size), np.int64)
        kernel, parameters = self._kernel()
        memory.each_block(size, lambda index, block: _fill(out[block], words.part(index).stream(), kernel, parameters))
        return out

    @abstractmethod
    def _kernel(self) -> tuple[Callable[..., tuple[int, int]], tuple[Any, ...]]:
        """The kernel that draws, and its parameters."""


@dataclass(frozen=True)
class DiscreteLaplace(KernelNoise):
    """Two-sided geometric noise: P(x) ∝ exp(−|x|/scale).

    Parameters
    ----------
    scale
        A positive rational number, at most 2⁴⁰, whose numerator has at most 56 bits. A draw beyond 2⁶² is cut to it.

    Guarantee
    ---------
    Added to a whole number that one record changes by at most Δ, it is (Δ/scale)-differentially private; added to
    several numbers that change by at most Δ in all (L1), too.

    Error
    -----
    The variance is 2q/(1 − q)² with q = exp(−1/scale), just under 2·scale².

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy.

    Examples
    --------
    >>> noise = DiscreteLaplace.calibrate(sensitivity=1, epsilon=0.5)
    >>> noise.scale, round(noise.standard_error, 3)
    (Fraction(2, 1), 2.799)
    >>> noise.draw(5).dtype
    dtype('int64')
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _rational(scale=self.scale))
        if self.scale > MOST_SCALE or self.scale.numerator >> _TOP_BITS or self.scale.denominator >> _PRODUCT_BITS:
            raise LimitError(
                "scale must be at most 2⁴⁰, with a numerator of at most 56 bits: round it up to a simpler fraction."
            )

    @classmethod
    def calibrate(cls, sensitivity: int, epsilon: float) -> DiscreteLaplace:
        """The noise for a sensitivity in whole numbers, whose `loss` is at most ε, and ε within one part in 10⁹."""
        return cls._calibrated(_checks.integer(low=1, sensitivity=sensitivity), _checks.positive(epsilon=epsilon))

    @classmethod
    @lru_cache(maxsize=256)
    def _calibrated(cls, change: int, epsilon: float) -> DiscreteLaplace:
        scale = change / simplest_fraction(Fraction(epsilon) * (1 - SLACK), Fraction(epsilon))
        if scale > MOST_SCALE or scale.numerator >> _TOP_BITS:
            raise LimitError(
                f"Noise for a sensitivity of {change:,} steps at this ε is beyond what is exact here: "
                "use a coarser grid or a larger ε."
            )
        return cls(scale)

    def loss(self, sensitivity: int) -> Fraction:
        """The exact privacy loss for this sensitivity."""
        return sensitivity / self.scale

    @property
    def variance(self) -> float:
        """The variance of one draw."""
        rate = 1 / float(self.scale)
        # Nothing here overflows: for a large rate the exponential is 0, and so is what noise there is.
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2

    def log_odds(self, first: int, second: int) -> Fraction:
        """The exact logarithm of P(first)/P(second)."""
        return (abs(second) - abs(first)) / self.scale

    def log_probability(self, value: int) -> float:
        """The logarithm of P(value), in double precision."""
        rate = 1 / float(self.scale)
        return math.log(math.tanh(rate / 2)) - abs(value) * rate

    def half_width(self, level: float) -> float:
        """The least h for which |noise| ≤ h with probability `level` or more."""
        rate = 1 / float(self.scale)
        # P(|X| > h) = 2 exp(−rate·(h + 1)) / (1 + exp(−rate)).
        beyond = math.log(2 / ((1 - level) * (1 + math.exp(-rate)))) / rate - 1
        return float(max(0, math.ceil(beyond - 1e-12)))

    def cumulative(self, values: Any) -> Floats:
        """P(noise ≤ value): 1 − qˣ⁺¹/(1 + q) from 0 on, and q⁻ˣ/(1 + q) below."""
        rate, places = 1 / float(self.scale), np.asarray(values, np.float64)
        beyond = np.exp(-rate * np.where(places < 0, -places, places + 1)) / (1 + math.exp(-rate))
        return np.where(places < 0, beyond, 1 - beyond)

    def ratio_law(self) -> tuple[float, Tail]:
        """The scale, and the tail of the Laplace law."""
        from bruit.releases import ratio

        return float(self.scale), ratio.laplace_tail

    def _kernel(self) -> tuple[Callable[..., tuple[int, int]], tuple[Any, ...]]:
        return kernels.laplace, (self.scale.numerator, self.scale.denominator)


@dataclass(frozen=True)
class DiscreteGaussian(KernelNoise):
    """Gaussian noise on the whole numbers: P(x) ∝ exp(−x²/2σ²).

    Parameters
    ----------
    sigma2
        σ², a positive rational number. σ may be any whole number up to 2⁴⁰; otherwise the numerator of σ² must
        have at most 54 bits or so.

    Guarantee
    ---------
    Added to a whole number that one record changes by at most Δ, it is Δ²/(2σ²)-zCDP; added to several numbers whose
    changes have Euclidean norm at most Δ, too. It is not pure ε.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy.

    Examples
    --------
    >>> noise = DiscreteGaussian(Fraction(25, 4))
    >>> round(noise.standard_error, 6)
    2.5
    """

    sigma2: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma2", _rational(sigma2=self.sigma2))
        scale, centre = self._proposal
        first, second = scale * centre.denominator, 2 * centre.numerator
        largest = (kernels.MOST_SCALES + 1) * first + second
        if scale > MOST_SCALE or (largest * max(first, second) // min(first, second)) >> _PRODUCT_BITS:
            raise LimitError(
                "sigma2 must be the square of a whole number up to 2⁴⁰, or a fraction whose numerator has "
                "at most 54 bits: round it up to a simpler one."
            )

    @classmethod
    @lru_cache(maxsize=256)
    def calibrate(cls, change2: int, epsilon: float, delta: float) -> DiscreteGaussian:
        """The noise for (ε, δ) on sums whose changes have a squared Euclidean norm of at most `change2`.

        σ² is at least change2/2ρ, where ρ is that of (ε, δ), rounded down; nothing but ρ is a double.

        >>> round(DiscreteGaussian.calibrate(1, 1.0, 1e-6).standard_error, 2)
        4.53
        """
        return cls.at_least(Fraction(change2) / (2 * Fraction(epsilon_to_rho(epsilon, delta))))

    @classmethod
    def at_least(cls, least: Fraction) -> DiscreteGaussian:
        """The noise whose σ² is this, rounded up by one part in 10⁹ or 10⁶ to a number that is drawn from exactly."""
        if least > MOST_SCALE**2:
            raise LimitError(
                f"Gaussian noise with a σ of {math.isqrt(math.ceil(least)):,} steps is beyond what is exact here: use "
                "a coarser grid, fewer values or a larger ε."
            )
        if least < _WHOLE_SIGMA**2:
            return cls(simplest_fraction(least, least * (1 + SLACK)))
        sigma = math.isqrt(math.ceil(least) - 1) + 1
        return cls(Fraction(sigma**2))

    @cached_property
    def _proposal(self) -> tuple[int, Fraction]:
        """The scale t of the Laplace proposals, near σ, and σ²/t."""
        scale = math.isqrt(self.sigma2.numerator // self.sigma2.denominator)
        if scale * scale != self.sigma2:
            scale += 1
        return scale, self.sigma2 / scale

    @cached_property
    def _mass(self) -> tuple[float, float]:
        """Σ exp(−x²/2σ²) and the variance; for σ of 3 or more both are those of the integral, within 10⁻⁷⁰."""
        spread = float(self.sigma2)
        if spread > 9:
            return math.sqrt(2 * math.pi * spread), spread
        terms = [math.exp(-x * x / (2 * spread)) for x in range(1, 130)]
        mass = 1 + 2 * math.fsum(terms)
        return mass, 2 * math.fsum((x + 1) ** 2 * term for x, term in enumerate(terms)) / mass

    @property
    def variance(self) -> float:
        """The variance of one draw: σ², or less for small σ."""
        return self._mass[1]

    def log_odds(self, first: int, second: int) -> Fraction:
        """The exact logarithm of P(first)/P(second)."""
        return (Fraction(second) ** 2 - Fraction(first) ** 2) / (2 * self.sigma2)

    def log_probability(self, value: int) -> float:
        """The logarithm of P(value), in double precision."""
        return -float(Fraction(value) ** 2 / (2 * self.sigma2)) - math.log(self._mass[0])

    def half_width(self, level: float) -> float:
        """The least h for which |noise| ≤ h with probability `level` or more, within one unit for large σ."""
        from scipy import special

        sigma = math.sqrt(float(self.sigma2))
        if sigma > 1000:
            return float(math.ceil(-special.ndtri((1 - level) / 2) * sigma))
        inside, h = math.exp(self.log_probability(0)), 0
        while inside < level and h < 50 * sigma + 10:
            h += 1
            inside += 2 * math.exp(self.log_probability(h))
        return float(h)

    @property
    def is_heavy(self) -> bool:
        """The tails are those of the normal law."""
        return False

    def cumulative(self, values: Any) -> Floats:
        """P(noise ≤ value): a sum; for σ above 1000 the integral, which differs by less than 10⁻⁸."""
        places, sigma = np.asarray(values, np.float64), math.sqrt(float(self.sigma2))
        if sigma > 1000:
            from scipy import special

            return np.asarray(special.ndtr((places + 0.5) / sigma))
        most = math.ceil(12 * sigma) + 2
        line = np.arange(-most, most + 1)
        sums = np.cumsum(np.exp(-(line**2) / (2 * float(self.sigma2))) / self._mass[0])
        return np.asarray(np.minimum(sums[np.clip(places, -most, most).astype(np.int64) + most], 1.0))

    def _kernel(self) -> tuple[Callable[..., tuple[int, int]], tuple[Any, ...]]:
        scale, centre = self._proposal
        return kernels.gaussian, (scale, centre.as_integer_ratio())


def cut(sums: Any) -> Integers:
    """Whole numbers of any size, cut to ±2⁶¹; two vectors are no further apart afterwards, entry by entry.

    >>> cut([3, -(10**30)]).tolist() == [3, -(2**61)]
    True
    """
    exact = sums if isinstance(sums, np.ndarray) else np.array(sums, object)
    if exact.dtype == np.uint64:
        exact = np.minimum(exact, np.uint64(MOST_SUM))
    if exact.dtype != object:
        exact = exact.astype(np.int64, copy=False)
    whole: Integers = np.minimum(np.maximum(exact, -MOST_SUM), MOST_SUM).astype(np.int64, copy=False)
    return whole


def add(sums: Any, noise: Integers) -> Integers:
    """Whole numbers, cut to ±2⁶¹, with noise, cut again: the same as cutting the sum with noise that knows no bounds.

    Sums beyond are cut and not refused, because an error would tell without noise how large they are.
    """
    return cut(cut(sums) + noise)


def simplest_fraction(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator in low..high, both positive and included.

    >>> simplest_fraction(Fraction(31, 100), Fraction(34, 100))
    Fraction(1, 3)
    """
    (over, under), (top, bottom) = low.as_integer_ratio(), high.as_integer_ratio()
    floors = []
    while (whole := -(-over // under)) * bottom > top:
        # Both lie strictly between two whole numbers: the same question for the reciprocals of what is left.
        floors.append(whole - 1)
        over, under, top, bottom = bottom, top - floors[-1] * bottom, under, over - floors[-1] * under
    numerator, denominator = whole, 1
    for floor in reversed(floors):
        numerator, denominator = floor * numerator + denominator, numerator
    return Fraction(numerator, denominator)


def _rational(**parameter: Any) -> Fraction:
    """A positive rational number; floats are taken at their exact value."""
    ((name, value),) = parameter.items()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | np.integer | np.floating):
        raise ParameterTypeError(f"{name} must be a positive rational number: an int or a Fraction.")
    _checks.positive(**parameter)
    return Fraction(value if isinstance(value, Fraction) else value.item() if isinstance(value, np.generic) else value)


def _fill(out: Integers, entropy: Entropy, kernel: Callable[..., tuple[int, int]], parameters: tuple[Any, ...]) -> None:
    """Draw into `out`, with as many words as it takes."""
    words = entropy.words(min(_WORDS, 64 + 12 * out.size))
    done = 0
    while done < out.size:
        done, used = kernel(words, done, out, *parameters)
        if done < out.size:
            words = _refilled(words, used, entropy)


def _refilled(words: NDArray[np.uint64], used: int, entropy: Entropy) -> NDArray[np.uint64]:
    """The words that were not used, and new ones behind them; twice as many if one draw needs more than all."""
    left = words[used:]
    fresh = entropy.words(used if used else words.size)
    return np.concatenate([left, fresh])
