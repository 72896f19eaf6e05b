"""What a release draws from: the whole law of its outcomes, given the sums of a table, for an auditor.

A statistic's `law` takes counts without noise and gives the laws of what is drawn, which are independent of each other.
Nothing is drawn and nothing is booked: a law knows the data, and is as secret as they are. Compare those of two tables
that differ in one record: `loss` is the largest logarithm of a ratio of probabilities, either way.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bruit.errors import ParameterError
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace, Noise
from bruit.rounding import log_ceiling

if TYPE_CHECKING:
    from bruit.releases.selection import GaussianSelection, SelectionNoise

__all__ = ["ChoiceLaw", "FirstAboveLaw", "NamedLaw", "OutcomeLaw", "Stretch", "SumLaw", "TreeLaw"]

#: How many scales of noise on the threshold are summed over; what is beyond has less than e⁻¹²⁰ of the mass.
_SCALES = 120


class _Secret:
    """A law has the data in it, and shows nothing of them."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: redacted>"


class OutcomeLaw(Protocol):
    """What all laws can tell: how likely an outcome is, and how far another law of the same kind is."""

    def log_probability(self, outcome: Any) -> float:
        """The logarithm of the probability of an outcome."""
        ...

    def loss(self, other: Any) -> Fraction | float | None:
        """The largest logarithm of a ratio of probabilities, either way; None where it is not known."""
        ...


@dataclass(frozen=True, repr=False)
class SumLaw(_Secret):
    """Whole-number sums with independent noise on each.

    Parameters
    ----------
    sums
        The sums without noise, cut to ±2⁶¹ as they are before noise is added.
    noises
        The noise on each of them.

    Examples
    --------
    >>> from bruit.releases import Count
    >>> (five,), (six,) = (Count(epsilon=0.5).law([n]) for n in (5, 6))
    >>> five.loss(six), five.log_odds([9], six)
    (Fraction(1, 2), Fraction(-1, 2))
    """

    sums: tuple[int, ...]
    noises: tuple[Noise, ...]

    def log_probability(self, outcome: Sequence[int]) -> float:
        """The logarithm of the probability of noisy sums, in double precision."""
        return math.fsum(noise.log_probability(int(y) - s) for y, s, noise in self._beside(outcome))

    def log_odds(self, outcome: Sequence[int], other: SumLaw) -> Fraction | float:
        """The logarithm of how much likelier noisy sums are here than under another law; exact where noise has it."""
        self._check(other)
        odds = [
            noise.log_odds(int(y) - s, int(y) - t)
            for (y, s, noise), t in zip(self._beside(outcome), other.sums, strict=True)
        ]
        return sum(odds, Fraction(0))

    def loss(self, other: SumLaw) -> Fraction | float:
        """Σ |difference|/scale, exact, for Laplace noise; infinite for Gaussian noise, which has `rho`."""
        self._check(other)
        total = Fraction(0)
        for ours, theirs, noise in zip(self.sums, other.sums, self.noises, strict=True):
            if isinstance(noise, DiscreteLaplace):
                total += abs(ours - theirs) / noise.scale
            elif ours != theirs:
                return math.inf
        return total

    def rho(self, other: SumLaw) -> Fraction:
        """Σ difference²/2σ², exact: the ρ-zCDP between the two tables, for Gaussian noise."""
        self._check(other)
        if not all(isinstance(noise, DiscreteGaussian) for noise in self.noises):
            raise ParameterError("Only sums with Gaussian noise have a ρ of their own: use loss.")
        pairs = zip(self.sums, other.sums, self.noises, strict=True)
        return sum((Fraction((s - t) ** 2) / (2 * noise.sigma2) for s, t, noise in pairs), Fraction(0))  # type: ignore[attr-defined]

    def _beside(self, outcome: Sequence[int]) -> list[tuple[int, int, Noise]]:
        if len(outcome) != len(self.sums):
            raise ParameterError(f"An outcome of this law is {len(self.sums)} whole numbers.")
        return list(zip(outcome, self.sums, self.noises, strict=True))

    def _check(self, other: SumLaw) -> None:
        if self.noises != other.noises:
            raise ParameterError("Two laws are compared that have different noise: they are not of the same release.")


class Stretch(NamedTuple):
    """Consecutive places, both ends included, that all have the same weight."""

    first: int
    last: int
    weight: int


@dataclass(frozen=True, repr=False)
class ChoiceLaw(_Secret):
    """A choice among places with whole-number weights.

    Parameters
    ----------
    stretches
        All places, in order.
    """

    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, weights: Iterable[int]) -> ChoiceLaw:
        """The law of places 0, 1, … with these weights."""
        return cls(tuple(Stretch(place, place, weight) for place, weight in enumerate(weights)))

    @cached_property
    def total(self) -> int:
        """The sum of all weights."""
        return sum((last - first + 1) * weight for first, last, weight in self.stretches)

    @cached_property
    def _firsts(self) -> list[int]:
        return [stretch.first for stretch in self.stretches]

    def probability(self, outcome: int) -> Fraction:
        """The exact probability of a place."""
        return Fraction(self._weight(outcome), self.total)

    def log_probability(self, outcome: int) -> float:
        """The logarithm of the probability of a place."""
        chance = self.probability(outcome)
        return math.log(chance.numerator) - math.log(chance.denominator) if chance else -math.inf

    def ratio(self, other: ChoiceLaw) -> Fraction:
        """The largest ratio of the probabilities of one place, either way, exact."""
        starts = sorted({*self._firsts, *other._firsts})
        odds = [self.probability(place) / other.probability(place) for place in starts]
        return max(*odds, 1 / min(odds))

    def loss(self, other: ChoiceLaw) -> Fraction:
        """The logarithm of `ratio`, rounded up."""
        return Fraction(log_ceiling(self.ratio(other)))

    def _weight(self, place: int) -> int:
        index = bisect.bisect_right(self._firsts, place) - 1
        inside = index >= 0 and place <= self.stretches[index].last
        return self.stretches[index].weight if inside else 0


@dataclass(frozen=True, repr=False)
class TreeLaw(_Secret):
    """Several places that are drawn one after the other, each in the part that those before leave to it.

    Parameters
    ----------
    law_of_first
        The law of the first place.
    place
        Which of the places, in increasing order of their quantiles, is drawn first.
    size
        How many there are.
    after
        From the first place to the laws of those before it and of those behind it; None where there is none.
    """

    law_of_first: ChoiceLaw
    place: int
    size: int
    after: Callable[[int], tuple[TreeLaw | None, TreeLaw | None]]

    def probability(self, outcome: Sequence[int]) -> Fraction:
        """The exact probability of all places, in increasing order of their quantiles."""
        if len(outcome) != self.size:
            raise ParameterError(f"An outcome of this law is {self.size} places.")
        first = int(outcome[self.place])
        chance = self.law_of_first.probability(first)
        parts = outcome[: self.place], outcome[self.place + 1 :]
        if not chance:
            return chance
        for law, part in zip(self.after(first), parts, strict=True):
            if law is not None:
                chance *= law.probability(part)
        return chance

    def log_probability(self, outcome: Sequence[int]) -> float:
        """The logarithm of the probability of all places."""
        chance = self.probability(outcome)
        return math.log(chance.numerator) - math.log(chance.denominator) if chance else -math.inf

    def loss(self, other: TreeLaw) -> None:
        """None: the worst of all vectors of places has no closed form; compare `probability` at outcomes."""
        return


@dataclass(frozen=True, repr=False)
class FirstAboveLaw(_Secret):
    """The first of some answers that is above a threshold, noise on both: the sparse vector technique.

    Parameters
    ----------
    answers
        The answers without noise.
    threshold
        The threshold without noise.
    threshold_noise, answer_noise
        The noise on the threshold, drawn once, and on each answer.

    Examples
    --------
    >>> from bruit.releases import AboveThreshold
    >>> alarm = AboveThreshold(epsilon=1.0, threshold=0, monotone=True)
    >>> here, there = alarm.law([-5, 0, 5]), alarm.law([-5, 1, 6])
    >>> bool(here.loss(there) <= 1), round(float(np.exp(here.log_probabilities).sum()), 9)
    (True, 1.0)
    """

    answers: tuple[int, ...]
    threshold: int
    threshold_noise: DiscreteLaplace
    answer_noise: DiscreteLaplace

    @cached_property
    def log_probabilities(self) -> NDArray[np.float64]:
        """The logarithm of the probability of each answer to be the first above, and last of none; double precision."""
        reach = math.ceil(_SCALES * float(self.threshold_noise.scale))
        shifts = np.arange(-reach, reach + 1)
        rate = 1 / float(self.threshold_noise.scale)
        passed = np.log(math.tanh(rate / 2)) - rate * np.abs(shifts)  # at first, the law of the threshold alone
        logs = []
        for answer in self.answers:
            below, above = _log_tails(self.threshold + shifts - answer, self.answer_noise)
            logs.append(_log_sum(passed + above))
            passed = passed + below
        return np.array([*logs, _log_sum(passed)])

    def log_probability(self, outcome: int | None) -> float:
        """The logarithm of the probability that this answer is the first above; None for none."""
        return float(self.log_probabilities[-1 if outcome is None else outcome])

    def loss(self, other: FirstAboveLaw) -> float:
        """The largest difference of two such logarithms, in double precision."""
        return float(np.abs(self.log_probabilities - other.log_probabilities).max())


@dataclass(frozen=True, repr=False)
class NamedLaw(_Secret):
    """Whether a group is named, and the number that stands beside it.

    Parameters
    ----------
    people
        How many people are in the group.
    noise
        The noise, and the threshold that the noisy number must pass.
    """

    people: int
    noise: SelectionNoise | GaussianSelection

    def log_probability(self, outcome: int | None) -> float:
        """The logarithm of the probability of a published number; None for a group that is not named."""
        if outcome is not None:
            return self.noise.log_probability(outcome - self.people) if outcome > self.noise.threshold else -math.inf
        most = self.noise.threshold - self.people  # the largest noise that keeps it unnamed
        values = range(-self.noise.reach, min(most, self.noise.reach) + 1)
        unnamed = math.fsum(math.exp(self.noise.log_probability(value)) for value in values)
        return math.log(unnamed) if unnamed else -math.inf

    def loss(self, other: NamedLaw) -> None:
        """None: one outcome of each side may be impossible on the other, which is what δ is for."""
        return


def _log_tails(bounds: NDArray[np.int64], noise: DiscreteLaplace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ln P(noise < bound) and ln P(noise ≥ bound)."""
    rate = 1 / float(noise.scale)
    # P(X ≥ b) = e^(−rate·b)/(1 + e^(−rate)) for b ≥ 1, and P(X < b) = e^(rate·(b − 1))/(1 + e^(−rate)) for b ≤ 0.
    shared = -math.log1p(math.exp(-rate))
    high = shared - rate * np.maximum(bounds, 1)
    low = shared + rate * (np.minimum(bounds, 0) - 1)
    below = np.where(bounds >= 1, np.log1p(-np.exp(high)), low)
    above = np.where(bounds >= 1, high, np.log1p(-np.exp(low)))
    return below, above


def _log_sum(logs: NDArray[np.float64]) -> float:
    largest = logs.max()
    return float(largest + math.log(np.exp(logs - largest).sum()))
