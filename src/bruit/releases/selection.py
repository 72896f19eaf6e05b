"""The laws that name undeclared groups of many people, and say how many (partition selection with counts).

A list of groups that is read from the data tells which groups occur, and a group of one person tells that this person
is there. So a group is named only if its number of people, with noise, is above a threshold; the noise is a geometric
law cut at ±k, in whole numbers, and a group of one person passes with probability δ at most. See
``selection.proof.md``.

Rejected: "at least k" in place of "more than k", which misses a whole atom of the noise (one library states δ = .0049
and has .0134); and a threshold on rows, which somebody with many rows passes alone.
"""

from __future__ import annotations

import functools
import heapq
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bruit import documents
from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.privacy.zcdp import rho_to_delta
from bruit.releases.noise import DiscreteGaussian
from bruit.rounding import exp_ceiling

__all__ = ["GaussianSelection", "SelectionNoise", "selection_noise"]

Integers = NDArray[np.int64]

#: The most bits that the total of all weights has.
_TOTAL_BITS = 63
#: The largest threshold.
MOST_THRESHOLD = 2**22
_TOO_SMALL = "So small an ε and δ need a threshold of millions of people: use larger ones."
#: Binary digits of the factor by which weights fall.
_UNIT_BITS = 192
#: By how much tails that are computed in double precision are enlarged.
_MARGIN = 1e-6
#: Tails are summed up to this number of standard deviations.
_REACH = 20
#: A smaller δ is beyond these sums, whose margin is for what they leave out.
_LEAST_DELTA = 1e-30
#: Changes of up to this number of counts are computed; beyond, they are bounded.
_SUMMED = 100
#: Numbers of groups nearer to each other than a thousandth of all are not told apart.
_STRETCHES = 1000
#: How many microseconds one δ of Gaussian noise takes, about.
_DELTA_WORK = 80
#: Thresholds are estimated for no smaller ε; from there on they depend on δ alone.
_LEAST_EPSILON = 1e-250
#: Beyond this ε, Gaussian noise has nothing to offer, and e^ε is no double.
_MOST_EPSILON = 700
#: How many σ are tried, one percent apart, and the largest one.
_SIGMAS = 40
_MOST_SIGMA = 2.0**12


@dataclass(frozen=True)
class SelectionNoise:
    """Geometric noise on −k..k, in whole-number weights, for a number of people that one person changes by 1.

    Parameters
    ----------
    epsilon, delta
        What each group may cost, exact.

    Guarantee
    ---------
    Weights fall from 0 outwards by at most e^−ε from one number to the next, and the last one is at most δ of all. So a
    number with this noise is (ε, δ)-private for a change of 1, with δ the share of the last weight (`true_delta`).

    Examples
    --------
    >>> noise = SelectionNoise(Fraction(1), Fraction(1, 10**6))
    >>> noise.threshold, noise.true_delta <= Fraction(1, 10**6)
    (14, True)
    """

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weights of 0, 1, …, k; a number and its negative have the same."""
        about = self._about()
        if about > 1.05 * MOST_THRESHOLD:
            raise LimitError(_TOO_SMALL)
        documents.work(about / 2)
        bits = _TOTAL_BITS - 2
        while self._surely_too_many(bits):
            bits -= 1
        while True:
            weights = self._weights(bits)
            if weights is not None:
                return weights
            bits -= 1

    def _about(self) -> float:
        """The threshold of weights that are not rounded, which is near the true one."""
        epsilon, delta = max(float(self.epsilon), _LEAST_EPSILON), float(self.delta)
        step = -math.expm1(-epsilon)
        # e^−εk = δ(1 + e^−ε)/(1 − e^−ε + 2δe^−ε), which is near 1 or near 0.
        rest = step + 2 * delta * (1 - step)
        if step * (1 - delta) < rest / 2:
            return -math.log1p(-step * (1 - delta) / rest) / epsilon
        return (self._log_delta - math.log(2 - step) + math.log(rest)) / epsilon

    @property
    def _log_delta(self) -> float:
        """ln(1/δ), of any δ."""
        return math.log(self.delta.denominator) - math.log(self.delta.numerator)

    def _least_threshold(self, bits: int) -> float:
        """The threshold of weights from 2^bits on is at least this.

        W_i ≥ 2^bits·e^−εi, and the last weight is at most δ of a total below 2⁶³.
        """
        tail = self._log_delta - (_TOTAL_BITS - bits) * math.log(2)
        return max(0.0, tail * (1 - _MARGIN) / max(float(self.epsilon), _LEAST_EPSILON))

    def _surely_too_many(self, bits: int) -> bool:
        """Whether weights from 2^bits on are too many for the total.

        They are if 1 + 2Σe^−εi is, which they exceed; or if δ of the total is less than 2^bits and than 1/(1 − e^−ε),
        below which rounding up leaves a weight as it is.
        """
        epsilon, least = max(float(self.epsilon), _LEAST_EPSILON), math.floor(self._least_threshold(bits))
        both = -2 * math.expm1(-epsilon * least) / math.expm1(min(epsilon, _MOST_EPSILON)) if least else 0.0
        if (
            min(2.0**bits, -1 / math.expm1(-epsilon) - 1) * (1 - _MARGIN)
            > math.exp(-self._log_delta) * 2.0**_TOTAL_BITS
        ):
            return bits > 0
        return bits > 0 and (1 + both) * (1 - _MARGIN) >= 2.0 ** (_TOTAL_BITS - bits)

    def _weights(self, bits: int) -> tuple[int, ...] | None:
        """Weights from 2^bits on; None if their total does not fit."""
        factor = exp_ceiling(self.epsilon, 1 << _UNIT_BITS)
        weights = [1 << bits]
        total = weights[0]
        while weights[-1] * self.delta.denominator > self.delta.numerator * total:
            following = -((-weights[-1] * factor) >> _UNIT_BITS)  # rounded up
            if following == weights[-1]:
                return self._with_equal(weights, total)
            weights.append(following)
            total += 2 * weights[-1]
            if total >> _TOTAL_BITS:
                return None
            if len(weights) > MOST_THRESHOLD:
                raise LimitError(_TOO_SMALL)
        return tuple(weights)

    def _with_equal(self, weights: list[int], total: int) -> tuple[int, ...] | None:
        """The weights, where all that follow are like the last one; None if their total does not fit."""
        last = weights[-1]
        numerator, denominator = self.delta.numerator, self.delta.denominator
        needed = -(-(last * denominator - numerator * total) // (2 * last * numerator))
        fitting = ((1 << _TOTAL_BITS) - 1 - total) // (2 * last)
        allowed = MOST_THRESHOLD - len(weights)
        if needed <= min(fitting, allowed):
            return (*weights, *[last] * needed)
        if fitting <= allowed:
            return None
        raise LimitError(_TOO_SMALL)

    @property
    def threshold(self) -> int:
        """k: a group is named if its number of people with noise is above it."""
        return len(self.weights) - 1

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return 2 * sum(self.weights) - self.weights[0]

    @property
    def true_delta(self) -> Fraction:
        """The chance that a group of one person is named."""
        return Fraction(self.weights[-1], self.total)

    @cached_property
    def _ends(self) -> NDArray[np.uint64]:
        law = [*self.weights[:0:-1], *self.weights]
        return np.cumsum(np.array(law, np.uint64), dtype=np.uint64)

    def chance(self, people: int) -> Fraction:
        """The probability that a group of this size is named."""
        least = self.threshold + 1 - people  # the least noise that lifts it above
        if least > self.threshold:
            return Fraction(0)
        above = sum(self.weights[abs(value)] for value in range(max(least, -self.threshold), self.threshold + 1))
        return Fraction(above, self.total)

    @property
    def reach(self) -> int:
        """The largest noise there is."""
        return self.threshold

    def log_probability(self, value: int) -> float:
        """The logarithm of P(value)."""
        inside = abs(value) <= self.threshold
        return math.log(self.weights[abs(value)]) - math.log(self.total) if inside else -math.inf

    @cached_property
    def standard_error(self) -> float:
        """The standard deviation of the noise."""
        squares = 2 * sum(value**2 * weight for value, weight in enumerate(self.weights))
        return math.sqrt(Fraction(squares, self.total))

    def half_width(self, level: float) -> int:
        """The least h for which |noise| ≤ h with probability `level` or more."""
        inside = self.weights[0]
        for value, weight in enumerate(self.weights[1:]):
            if inside >= level * self.total:
                return value
            inside += 2 * weight
        return self.threshold

    def draw(self, size: int, entropy: Entropy) -> Integers:
        """`size` independent draws."""
        places = np.searchsorted(self._ends, entropy.integers(self.total, size), side="right")
        noise: Integers = places.astype(np.int64) - self.threshold
        return noise


@dataclass(frozen=True)
class GaussianSelection:
    """Discrete Gaussian noise and a threshold, for people in several groups.

    Parameters
    ----------
    sigma2
        The parameter σ² of the noise.
    threshold
        A group is named if its number of people with noise is above it.

    Guarantee
    ---------
    Of κ groups in which a person counts, j are of this person alone, and are named with probability δ' each; the
    others differ by 1, which Gaussian noise hides but for δ_G. Together they lose more than ε with probability
    1 − (1 − δ')^j·(1 − δ_G) at most, for the worst j. The tails are computed in double precision, with a margin of one
    part in a million (idealised numerics).

    Examples
    --------
    >>> gaussian = GaussianSelection.calibrate(1.0, 1e-6, 10)
    >>> gaussian.threshold, gaussian.worst_delta(1.0, 10) <= 1e-6
    (70, True)
    """

    sigma2: Fraction
    threshold: int

    @classmethod
    def calibrate(cls, epsilon: float, delta: float, groups: int) -> GaussianSelection | None:
        """The noise of least threshold, among some, for (ε, δ) and κ groups; None where it has none to offer."""
        least = _least_sigma(epsilon, delta, groups) if delta >= _LEAST_DELTA and epsilon <= _MOST_EPSILON else None
        if least is None:
            return None
        best: GaussianSelection | None = None
        for step in range(_SIGMAS):
            sigma2 = Fraction(math.ceil(64 * (least * (1 + step / 100)) ** 2), 64)
            # Groups of one person alone allow this δ' at most, by which thresholds grow with σ.
            floor = cls._passing(sigma2, -math.expm1(math.log1p(-delta) / groups))
            if floor is None or (best is not None and floor.threshold >= best.threshold):
                break
            allowed = _allowed(float(sigma2), epsilon, delta, groups)
            own = None if allowed is None else cls._passing(sigma2, allowed)
            if own is not None and (best is None or own.threshold < best.threshold):
                best = own
        return best

    @classmethod
    def _passing(cls, sigma2: Fraction, allowed: float) -> GaussianSelection | None:
        """The least threshold that a group of one person passes with at most this probability."""
        tail = _tails(float(sigma2))
        passing = np.flatnonzero(tail * (1 + _MARGIN) <= allowed)
        return cls(sigma2, int(passing[0])) if passing.size else None

    def worst_delta(self, epsilon: float, groups: int) -> float:
        """The δ for ε and κ groups, for the worst number of groups of one person alone."""
        single = float(_tails(float(self.sigma2))[self.threshold]) * (1 + _MARGIN)
        others = [_gaussian_delta(float(self.sigma2), groups - alone, epsilon) for alone in range(groups + 1)]
        return max(-math.expm1(alone * math.log1p(-single) + math.log1p(-other)) for alone, other in enumerate(others))

    @cached_property
    def noise(self) -> DiscreteGaussian:
        """The law of the noise."""
        return DiscreteGaussian(self.sigma2)

    @property
    def reach(self) -> int:
        """Noise beyond this has less than e⁻⁷⁰⁰ of the mass."""
        return math.ceil(38 * math.sqrt(self.sigma2))

    def log_probability(self, value: int) -> float:
        """The logarithm of P(value), in double precision."""
        return self.noise.log_probability(value)

    @property
    def standard_error(self) -> float:
        """The standard deviation of the noise."""
        return self.noise.standard_error

    def half_width(self, level: float) -> float:
        """The least h for which |noise| ≤ h with probability `level` or more."""
        return self.noise.half_width(level)

    def draw(self, size: int, entropy: Entropy) -> Integers:
        """`size` independent draws."""
        return self.noise.draw(size, entropy)


def _tails(sigma2: float) -> NDArray[np.float64]:
    """P(X ≥ t) for t = 0, 1, …, of discrete Gaussian noise of standard deviation 3 or more."""
    values = np.arange(int(_REACH * math.sqrt(sigma2)) + 2)
    law = np.exp(-(values**2) / (2 * sigma2)) / math.sqrt(2 * math.pi * sigma2)
    tails: NDArray[np.float64] = np.cumsum(law[::-1])[::-1]
    return tails


def _gaussian_delta(sigma2: float, groups: int, epsilon: float) -> float:
    """The δ at ε of discrete Gaussian noise on several numbers that change by 1, from above.

    The loss is (2S ± d)/2σ², where S is the sum of d draws. For σ ≥ 3 that sum has the discrete Gaussian law of dσ²
    within one part in 10³⁰. For many numbers the bound of zCDP is taken.
    """
    if groups == 0:
        return 0.0
    if groups > _SUMMED:
        return rho_to_delta(groups / (2 * sigma2), epsilon)
    tails = _tails(groups * sigma2)
    centre = epsilon * sigma2
    first, second = (_above(tails, centre + side * groups / 2) for side in (-1, 1))
    return max(0.0, first * (1 + _MARGIN) - math.exp(epsilon) * second * (1 - _MARGIN))


def _above(tails: NDArray[np.float64], bound: float) -> float:
    """P(S > bound) from P(S ≥ 0), P(S ≥ 1), …."""
    least = math.floor(bound) + 1
    if least <= 0:
        return 1.0 - (float(tails[1 - least]) if 1 - least < tails.size else 0.0)
    return float(tails[least]) if least < tails.size else 0.0


def _allowed(sigma2: float, epsilon: float, delta: float, groups: int) -> float | None:
    """The largest δ' with (1 − δ')^j ≥ (1 − δ)/(1 − δ_G) for every j of κ groups; None where δ_G alone exceeds δ.

    δ_G falls as j grows, so that from j = a to b the logarithm of 1 − δ' is at most that of a divided by b. Stretches
    with the largest such bounds are halved until none is above the best j; short ones among many groups count as their
    bound, which is on the private side.
    """

    @functools.cache
    def left(alone: int) -> float:
        documents.work(_DELTA_WORK)
        return math.log1p(-delta) - math.log1p(-min(delta, _gaussian_delta(sigma2, groups - alone, epsilon)))

    if _gaussian_delta(sigma2, groups, epsilon) > delta:
        return None
    best = max(left(1), left(groups) / groups)
    stretches = [(-left(1) / groups, 1, groups)]
    while stretches:
        below, first, last = heapq.heappop(stretches)
        if -below * (1 - 10 * _MARGIN) <= best or last - first <= 1:
            continue
        if last - first <= groups // _STRETCHES:
            best = -below
            continue
        middle = (first + last) // 2
        best = max(best, left(middle) / middle)
        heapq.heappush(stretches, (-left(first) / middle, first, middle))
        heapq.heappush(stretches, (-left(middle) / last, middle, last))
    return -math.expm1(best)


def _least_sigma(epsilon: float, delta: float, groups: int) -> float | None:
    """The least σ, from 3 on, whose noise hides changes of 1 in all groups; None if it is far beyond use."""
    low, high = 3.0, 3.0
    while _gaussian_delta(high**2, groups, epsilon) > delta:
        low, high = high, 2 * high
        if high > _MOST_SIGMA:
            return None
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if _gaussian_delta(middle**2, groups, epsilon) <= delta else (middle, high)
    return high


@functools.lru_cache(maxsize=64)
def selection_noise(epsilon: float, delta: float, groups: int) -> SelectionNoise | GaussianSelection:
    """The law with the smaller threshold: geometric noise at a share for each group, or Gaussian noise for all."""
    gaussian = None if groups == 1 else GaussianSelection.calibrate(epsilon, delta, groups)
    geometric = SelectionNoise(Fraction(epsilon) / groups, Fraction(delta) / groups)
    if gaussian is not None and geometric._about() > 1.1 * gaussian.threshold + 2:
        return gaussian
    try:
        threshold = geometric.threshold
    except LimitError:
        if gaussian is None:
            raise
        return gaussian
    return geometric if gaussian is None or threshold <= gaussian.threshold else gaussian
