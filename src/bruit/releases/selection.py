"""Groups that nobody declared: which of them have many people, and how many (partition selection with counts).

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
import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents, engines
from bruit.domains.categories import spelling
from bruit.domains.domain import DictionaryColumn
from bruit.domains.missing import MISSING_LABEL, is_missing
from bruit.engines import batch as batching
from bruit.engines.bounding import Bounded, Sorting, draw_key, fold_people
from bruit.engines.identity import words_of_text
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataTypeError, DesignError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation.tally import exact_sum
from bruit.privacy.booking import LedgerLike, Spend, booked
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import rho_to_delta
from bruit.releases.laws import NamedLaw
from bruit.releases.noise import DiscreteGaussian, cut
from bruit.releases.person import Person
from bruit.releases.prospects import Prospect, prospect_table
from bruit.releases.result import Result, Results, labelled, named_by
from bruit.releases.statistic import CENTRAL, CentralNeighbours
from bruit.rounding import exp_ceiling
from bruit.tables import Table, counted, number
from bruit.typing import SourceLike

__all__ = ["GaussianSelection", "GroupTally", "Groups", "SelectionNoise"]

Integers = NDArray[np.int64]

#: The total of all weights has at most so many bits.
_TOTAL_BITS = 63
#: The largest threshold.
MOST_THRESHOLD = 2**22
_TOO_SMALL = "So small an ε and δ need a threshold of millions of people: use larger ones."
#: Binary digits of the factor by which weights fall.
_UNIT_BITS = 192
#: By how much tails that are computed in double precision are enlarged.
_MARGIN = 1e-6
#: Tails are summed up to so many standard deviations.
_REACH = 20
#: A smaller δ is beyond these sums, whose margin is for what they leave out.
_LEAST_DELTA = 1e-30
#: Changes of up to so many numbers are computed, and bounded beyond.
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
        """The probability that a group of so many people is named."""
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
    def error(self) -> float:
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
    def error(self) -> float:
        """The standard deviation of the noise."""
        return self.noise.error

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
    """The δ at ε of discrete Gaussian noise on so many numbers that change by 1, from above.

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


def booked_counts(
    what: Spend, raw: Any, ledger: LedgerLike | None, rng: Randomness, label: str | None
) -> tuple[dict[str, Any], Words]:
    """What a tally of groups holds, and the words for its noise, once all is booked."""
    counts = checked_counts(what, raw)
    return counts, booked(what, ledger, rng, label)


def checked_counts(what: Spend, raw: Any) -> dict[str, Any]:
    """What a tally of groups holds, if it is of this release."""
    if not isinstance(raw, GroupTally):
        raise DataTypeError("publish needs a GroupTally: make one with fold(data).")
    return raw.reveal(design=what.digest)


def _added(first: Any, second: Any) -> Any:
    """The sum of two numbers, or of two vectors of them, of any size."""
    return exact_sum(first, second) if isinstance(first, np.ndarray) else first + second


class GroupTally:
    """How many people are in each group, or several numbers of each, without noise.

    It adds up, shows nothing, and only a release opens it.
    """

    __slots__ = ("_counts", "_design")

    def __init__(self, *, design: str, counts: Mapping[str, Any]) -> None:
        self._design = design
        self._counts = dict(counts)

    def __add__(self, other: object) -> GroupTally:
        if not isinstance(other, GroupTally):
            return NotImplemented
        if other._design != self._design:
            raise DesignError(
                "These tallies were folded for different releases.", expected=self._design, actual=other._design
            )
        counts = dict(self._counts)
        for label, count in other._counts.items():
            counts[label] = _added(counts[label], count) if label in counts else count
        return GroupTally(design=self._design, counts=counts)

    def reveal(self, *, design: str) -> dict[str, Any]:
        """The numbers, for the release of that design only."""
        if design != self._design:
            raise DesignError("This tally was folded for another release.", expected=design, actual=self._design)
        return dict(self._counts)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise DataTypeError("A GroupTally holds facts without noise and is not pickled: release it where it was made.")

    def __repr__(self) -> str:
        return "GroupTally(redacted)"


class Groups:
    """How many people each group has, for the groups that have many; nobody needs to know which groups there are.

    ``bruit.release(table, Count(epsilon=1.0, delta=1e-6), by="zone")`` makes one.

    Parameters
    ----------
    by
        The column, or columns, whose values are the groups. A missing value is a group.
    epsilon, delta
        The most that the result may tell about a person; δ is the chance that a group of one person is named.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.
    person
        A `Person` with `groups`, where people have several rows; of each, one row in a group counts. Without one, a row
        is a person.

    Guarantee
    ---------
    A person is in at most κ groups (2κ count under ``"replace"``). Each has geometric noise and a threshold for
    (ε/κ, δ/κ), exact in whole numbers; or all have Gaussian noise and a threshold (`GaussianSelection`), where that
    names smaller groups, from about three groups on. Order and number of the groups in the result follow from the
    named groups alone.

    Error
    -----
    A group of k + 1 people is named with a chance just above one half, where k is `threshold`: 14 at ε = 1, δ = 10⁻⁶,
    one group per person, and 70 for ten groups. Geometric noise is never beyond ±k. Only numbers above k are shown, so
    those near it lean upwards.

    References
    ----------
    Desfontaines, Voss, Gipson and Mandayam (2022), Differentially private partition selection.

    Examples
    --------
    >>> groups = Groups("zone", epsilon=1.0, delta=1e-6)
    >>> result = groups.publish(groups.fold({"zone": ["a"] * 500 + ["b"]}), rng=7)["count"]
    >>> result.labels, abs(result["a"] - 500) <= groups.noise.threshold
    (('a',), True)
    """

    #: What a seed is mixed with.
    verb = "groups"

    def __init__(
        self,
        by: str | Sequence[str],
        *,
        epsilon: float,
        delta: float,
        neighbours: CentralNeighbours = "add-remove",
        person: Person | None = None,
    ) -> None:
        columns = [by] if isinstance(by, str) else list(by)
        if not columns or not all(isinstance(name, str) and name for name in columns):
            raise ParameterTypeError('by must name columns, as in by="zone".')
        self._by = tuple(map(batching.clean_name, columns))
        self._neighbours = _checks.one_of(CENTRAL, neighbours=neighbours)
        self._epsilon = _checks.spent_epsilon(epsilon=epsilon)
        _checks.warn_of_weak(self._epsilon)
        self._delta = _checks.non_negative(delta=delta)
        if not 0 < self._delta < 1:
            raise ParameterError(
                "Groups that are not declared need a δ, the chance that a group of one person is named: take one far "
                'below one over the number of people, such as 1e-6; or declare them, as in by={"zone": ["a", "b"]}.'
            )
        self._person = _one_row_in_each(person)
        _ = self.noise  # what cannot be drawn is refused here

    @property
    def person(self) -> Person | None:
        """Who is protected with all their rows, where people have several."""
        return self._person

    @property
    def by(self) -> tuple[str, ...]:
        """The columns whose values are the groups."""
        return self._by

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys([*self._by, *([] if self._person is None else [self._person.column])]))

    @property
    def guarantee(self) -> Guarantee:
        """What the result promises."""
        neighbours: Any = self._neighbours if self._person is None else f"person-{self._neighbours}"
        return Guarantee(epsilon=self._epsilon, delta=self._delta, neighbours=neighbours)

    @cached_property
    def noise(self) -> SelectionNoise | GaussianSelection:
        """The noise on the number of people of a group, and its threshold: the law that names the smaller groups."""
        return selection_noise(self._epsilon, self._delta, self._times)

    @property
    def _times(self) -> int:
        """How many groups change between neighbours, at most."""
        return self.most_groups * (2 if self._neighbours == "replace" else 1)

    @property
    def most_groups(self) -> int:
        """In how many groups a person counts, at most."""
        return 1 if self._person is None else _most_groups(self._person)

    @property
    def threshold(self) -> int:
        """A group is named if its number of people, with noise, is above this."""
        return self.noise.threshold

    def fold(self, source: SourceLike | engines.Source, rng: Randomness = None) -> GroupTally:
        """How many people each group has; as `Release.fold`."""
        whole = engines.Source.of(source)
        if self._person is None:
            return self.tally_of(engines.fold(whole, self.tally_batch, columns=self.columns))
        (counts,) = fold_people(whole, [self.bounded(self._person, rng)], self.columns)
        return self.tally_of(counts)

    def bounded(self, person: Person, rng: Randomness = None) -> Bounded:
        """The rows of people that count, by a key that is drawn, and what is counted of them."""
        sort = functools.partial(self.sorting, {}, itertools.count())
        return person.job(draw_key(rng, self.digest), sort, self.tally_batch)

    def tally_batch(self, batch: dict[str, Any]) -> Counter[str]:
        """The people of a batch of rows that all count, by group."""
        codes, labels = self.sorted_rows(batch)
        counts = np.bincount(codes, minlength=len(labels)).tolist()
        return Counter({label: count for label, count in zip(labels, counts, strict=True) if count})

    def tally_of(self, counts: Mapping[str, int]) -> GroupTally:
        """Counts of people as a tally of these groups, which shows nothing."""
        return GroupTally(design=self.digest, counts=counts)

    def check(self, raw: GroupTally) -> None:
        """Refuse what `publish` would refuse; nothing is spent."""
        checked_counts(self, raw)

    def publish(
        self, raw: GroupTally, ledger: LedgerLike | None = None, rng: Randomness = None, *, label: str | None = None
    ) -> Results:
        """The named groups with their noisy numbers, in the order of their labels; as `Release.publish`."""
        counts, words = booked_counts(self, raw, ledger, rng, label)
        simulated = not words.secure
        return Results({"count": labelled(self.result(*self.named(counts, words), simulated), label)})

    def named(self, counts: Mapping[str, int], words: Words) -> tuple[list[str], Integers]:
        """The labels of the groups that are named, in order, and their numbers of people with noise."""
        labels = sorted(counts)
        noisy = cut([counts[name] for name in labels]) + self.noise.draw(len(labels), words.stream())
        named = np.flatnonzero(noisy > self.threshold)
        return [labels[place] for place in named], noisy[named]

    def prospect(self, name: str) -> Prospect:
        """The error to expect, and how many people a group needs to be named."""
        noise = self.noise
        error = f"± {number(float(f'{noise.error:.3g}'))}, above {counted(noise.threshold, self._noun)}"
        return Prospect(name, "selection", self._epsilon, self._delta, None, error)

    def prospects(self, n: int | None = None) -> Table:
        """The same as a table, as `Release.prospects`; the error of a count does not depend on `n`."""
        return prospect_table([self.prospect(self._name)], self.guarantee, 1, self._person)

    def law(self, raw: GroupTally) -> dict[str, NamedLaw]:
        """The law of each group that has people, by its label; for audits, and as secret as the table."""
        return {label: NamedLaw(count, self.noise) for label, count in sorted(raw.reveal(design=self.digest).items())}

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books."""
        return [Line(self.guarantee, (label or self._name)[:200], None)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what is published."""
        person = {} if self._person is None else {"person": self._person.to_dict()}
        privacy = {"epsilon": self._epsilon, "delta": self._delta, "neighbours": self._neighbours}
        return {"kind": "groups", "by": list(self._by), **privacy, **person}

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this release; its tallies carry it."""
        return documents.digest(self.to_dict())

    def __repr__(self) -> str:
        return f"<Groups: {self._name}, more than {counted(self.threshold, self._noun)}; {self.guarantee}>"

    @property
    def _noun(self) -> str:
        """What is counted: people, where they are named, and else rows, each of which is somebody."""
        return "record" if self._person is None else "person"

    @property
    def _name(self) -> str:
        return named_by("count" if self._person is None else "number of people", self._by)

    def result(self, labels: list[str], values: Integers, simulated: bool) -> Result:
        """The result of named groups with noisy numbers."""
        noise = self.noise

        def ends(level: float) -> Any:
            half = noise.half_width(level)
            return np.stack([values - half, values + half], axis=1)

        notes = [
            f"groups above {counted(noise.threshold, self._noun)} with noise are named; counts near that lean upwards"
        ]
        if self._person is not None:
            notes.append(self._person.describe())
        return Result(
            name=self._name,
            values=values,
            labels=tuple(labels),
            error=np.array(noise.error),
            guarantee=self.guarantee,
            simulated=simulated,
            statistic=self.to_dict(),
            ends=ends,
            notes=tuple(notes),
        )

    def sorting(self, known: dict[str, int], numbers: Iterator[int], batch: dict[str, Any]) -> Sorting:
        """The group of each row, by a number that its label has in every batch, and a word of each group."""
        codes, labels = self.sorted_rows(batch)
        # Batches are sorted by several threads: each label gets a number that no other has, and keeps the first one.
        table = np.array([known.setdefault(label, next(numbers)) for label in labels], np.int64)
        words = np.array([words_of_text(label)[0] for label in labels], np.uint64)
        return Sorting(table[codes] if table.size else codes, words[codes] if words.size else codes, [])

    def sorted_rows(self, batch: dict[str, Any]) -> tuple[Integers, list[str]]:
        """The group of each row, and the labels of the groups; of several columns, with commas between them."""
        codes, labels = _texts(batch[self._by[0]])
        for name in self._by[1:]:
            more, others = _texts(batch[name])
            pairs, codes = np.unique(codes * len(others) + more, return_inverse=True)
            labels = [f"{labels[pair // len(others)]}, {others[pair % len(others)]}" for pair in pairs.tolist()]
        known: dict[str, int] = {}
        table = np.array([known.setdefault(label, len(known)) for label in labels], np.int64)
        return (table[codes] if table.size else codes.astype(np.int64)), list(known)


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


def _one_row_in_each(person: Person | None) -> Person | None:
    """A person of whom one row in a group counts, because thresholds count people."""
    if person is None:
        return None
    if person.rows_per_group not in (None, 1) or (person.groups is None and person.rows is None):
        raise ParameterError(
            "Groups that are not declared are named by their number of people: say in how many groups a person "
            f"counts, groups=3, and leave rows_per_group at 1, as in Person({person.column!r}, groups=3, "
            "rows_per_group=1)."
        )
    return Person(person.column, person.rows, person.groups, 1, person.missing)


def _most_groups(person: Person) -> int:
    return min(bound for bound in (person.groups, person.rows) if bound is not None)


def _texts(column: Any) -> tuple[Integers, list[str]]:
    """The code of each row, and the texts behind codes, in normal form C; a gap is a text of its own."""
    if isinstance(column, DictionaryColumn):
        entries, positions = column.entries.tolist(), column.positions.astype(np.int64)
    else:
        if column.ndim != 1 or column.dtype.kind not in "buifOUM":
            raise DataTypeError("Groups must be texts or numbers.")
        if column.dtype.kind in "OU":
            entries, positions = column.tolist(), np.arange(column.size)
        else:
            distinct, positions = np.unique(column, return_inverse=True)
            entries = distinct.tolist()
    texts = [MISSING_LABEL if is_missing(value) else unicodedata.normalize("NFC", spelling(value)) for value in entries]
    return np.where(positions < 0, len(texts), positions).astype(np.int64), [*texts, MISSING_LABEL]
