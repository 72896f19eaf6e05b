"""Subset selection (SS, ω-SM): report a set of ω values that holds the true one more often than not by chance.

With the best ω it is never worse than randomised response, which is the case ω = 1, nor than optimised unary encoding:
neither for a rare value nor in the sum of squared errors over all values. A report has k bits.

Sampling starts from independent bits with about the right mean, 64 at a time, and repairs the number of members one by
one. Rejected: drawing ω places one after the other, which is three times slower where ω is large, and shuffling, slower
still. A report is a set of bits and has no order that could tell which member is the true value.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import LimitError
from bruit.estimation.tally import Counts, Tally
from bruit.laws import Subset, TwoLevelLaw
from bruit.mechanism import whole_counts
from bruit.oracles.base import Joint, Masses
from bruit.oracles.packed import PackedOracle, Rows
from bruit.oracles.refreshing import decide

#: `matrix` writes one column per subset; above this number of subsets there is none.
MATRIX_LIMIT = 2048
#: How many bytes of reports `simulate` holds at a time.
BUFFER_REPORTS = 1 << 24
#: How many random words for bits, and random places for repairs, are drawn at a time: they stay in the cache.
BUFFER_WORDS = 1 << 15
BUFFER_PLACES = 1 << 14
#: No row starts from probabilities finer than this many binary digits.
MOST_PLANES = 8
#: What a random word costs in the time of one draw of a place, as measured.
WORD_COST = 0.5

#: Rows of bits in 64-bit words.
Lanes = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(PackedOracle):
    """Report ω of the k values: with probability p = ωe^ε/(ωe^ε + k − ω) the true one is among them.

    A report is the set as k bits, ``uint8`` in little bit order: value v is bit v & 7 of byte v >> 3, and the bits
    beyond the last value are zero.

    Parameters
    ----------
    epsilon, k, labels, domain
        As for every `Oracle`.
    omega
        How many values a report has, from 1 (randomised response) to one fewer than there are. 0 stands for the best:
        the neighbour of k/(e^ε + 1) with the least variance for a rare value.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). Each set with the true value has weight A, each other one B, with
    A/B ≤ e^ε in whole numbers and the same total for every value, so no report is more than A/B times likelier under
    one value than under another. ``subset_selection.proof.md`` has the argument.

    Error
    -----
    n·Var = q(1−q)/(p−q)² for a rare value, the least of all oracles here; about 4e^ε/(e^ε − 1)² when k is large.

    References
    ----------
    Ye, M., Barg, A. (2018), Optimal schemes for discrete distribution estimation under locally differential privacy.
    Wang, S. et al. (2016), Mutual information optimally local private discrete distribution estimation.

    Examples
    --------
    >>> oracle = SubsetSelection(epsilon=1.0, k=16)
    >>> oracle.omega
    4
    >>> reports = oracle.privatize([0, 0, 5, 2], rng=7)
    >>> reports.dtype, reports.shape
    (dtype('uint8'), (4, 2))
    >>> np.unpackbits(reports, axis=1).sum(axis=1).tolist()
    [4, 4, 4, 4]
    """

    omega: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        omega = _checks.integer(low=0, high=self.size - 1, omega=self.omega)
        object.__setattr__(self, "omega", omega or _best_omega(self.epsilon, self.size))

    name: ClassVar[str] = "SS"

    @property
    def p(self) -> Fraction:
        """The exact probability that the true value is in the report: ωA/(ωA + (k−ω)B)."""
        return self.law.members * self.law.probability(inside=True)

    @property
    def q(self) -> Fraction:
        """The exact probability that a given other value is: the members that are not the true one, evenly shared."""
        return _other(self.law)

    @property
    def joint(self) -> Joint:
        """From how many members are left for the two values."""
        k, omega, p = self.size, self.omega, self.p
        # Two values besides the true one: among ω − 1 members if that is in, among ω if not.
        pairs = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
        return p * Fraction(omega - 1, k - 1), pairs / ((k - 1) * (k - 2)) if k > 2 else Fraction(0)

    def masses(self, prior: Sequence[Fraction]) -> Masses:
        """The ω rarest values, or the ω most frequent."""
        rising = sorted(prior)
        return Masses(sum(rising[: self.omega], Fraction(0)), sum(rising[-self.omega :], Fraction(0)))

    @classmethod
    def faked_settings(cls, epsilon: float, size: int) -> dict[str, Any]:
        """The ω with the least mean variance over all values, however many attributes are fake.

        Reports support ω/k of equally frequent values, whether true or fake, so the mean is
        (ω/k)(1 − ω/k)·d²/(p − q)².
        """
        omega = np.arange(1, size)
        inside = omega * np.exp(epsilon)
        p = inside / (inside + size - omega)
        q = (omega - p) / (size - 1)
        share = omega / size
        return {"omega": int(omega[np.argmin(share * (1 - share) / (p - q) ** 2)])}

    @property
    def guessability(self) -> float:
        """The best guess is any member of the report, right with probability p/ω."""
        return float(self.law.probability(inside=True))

    def simulate_marginal(self, counts: Any, rng: Randomness = None) -> Tally:
        """A tally in which each count alone has its exact law, in a time that does not grow with the people.

        The counts are drawn independently, while those of real reports have the sum nω and so depend on each other: fit
        for one value at a time, not for sums, differences or consistent frequencies. `simulate` has the whole law.
        """
        people = whole_counts(counts, self.size)
        generator = Entropy.resolve(rng, "simulate_marginal", self.digest).generator()
        n = int(people.sum())
        drawn = generator.binomial(people, float(self.p)) + generator.binomial(n - people, float(self.q))
        return Tally(design=self.digest, counts=drawn, n=n, simulated=True)

    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The column of `matrix` that each report is, or −1 for a report that is none."""
        from bruit.kernels import subset_selection as kernel

        self._check_matrix()
        rows = np.ascontiguousarray(report_parsing.strict(self.form, reports))
        ranks = np.empty(len(rows), np.int64)
        kernel.rank(rows, _binomials(self.size, self.omega), ranks)
        return np.where(self.valid(rows), ranks, -1)

    @cached_property
    def law(self) -> TwoLevelLaw:
        """Any set with the true value, or any set."""
        # Sets with x are to those without as ω to k − ω, so this law of k outcomes has the p of the law of all subsets.
        return TwoLevelLaw.calibrate(self.epsilon, Subset(values=self.size, size=self.omega))

    @cached_property
    def _rows(self) -> SubsetRows:
        return SubsetRows(self.omega, self.size)

    def _settings(self) -> dict[str, Any]:
        return {"omega": self.omega}

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        law = self.law
        included = entropy.integers(law.total, codes.size) < np.uint64(law.members * law.inside)
        self._rows.draw(codes, included, entropy, out)

    def _refresh(self, memos: Rows, keep: Fraction, entropy: Entropy, out: Rows) -> None:
        """Any set of ω values is as likely as any other: it has the first value with chance ω/k."""
        kept = decide(keep, entropy.words(len(memos)), entropy)
        included = entropy.integers(self.size, len(memos)) < np.uint64(self.omega)
        self._rows.draw(np.zeros(len(memos), np.uint8), included, entropy, out)
        out[kept] = memos[kept]

    def valid(self, reports: Rows) -> NDArray[np.bool_]:
        """Those with ω members, and no bit beyond the last value."""
        from bruit.kernels import subset_selection as kernel

        valid = np.empty(len(reports), np.bool_)
        # Bits are counted in the widest words that rows consist of.
        words = np.ascontiguousarray(reports).view(f"u{math.gcd(self._width, 8)}")
        kernel.check_sizes(words, self.omega, valid)
        if self.size % 8:
            valid &= reports[:, -1] < (1 << self.size % 8)
        return valid

    def _is_possible(self, tally: Tally) -> bool:
        """Each report counts for ω values."""
        return super()._is_possible(tally) and tally.total == tally.n * self.omega

    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        from bruit.kernels import bits

        valid = self._valid_rows(reports)
        counts = np.zeros(self.size, np.int64)
        bits.count_columns(valid, self.size, counts)
        return counts, len(reports) - len(valid)

    # Simulating: by subsets where they are fewer than the people, else report by report.

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        held = np.count_nonzero(people)
        if self._has_matrix() and held * math.comb(self.size, self.omega) <= people.sum():
            return self._simulate_subsets(people, generator.multinomial)
        return self._simulate_reports(people, Words(int(generator.integers(2**63))))

    def _simulate_subsets(self, people: Counts, multinomial: Callable[..., Counts]) -> Counts:
        """One multinomial over all subsets per value."""
        subsets = self._subsets
        inside, outside = map(float, self._subset_probabilities())
        counts = np.zeros(self.size, np.int64)
        for value in np.flatnonzero(people):
            law = np.where(subsets[:, value], inside, outside)
            counts += multinomial(people[value], law / law.sum()) @ subsets
        return counts

    def _simulate_reports(self, people: Counts, words: Words) -> Counts:
        """Draw the reports, some at a time, and keep their counts only."""
        ends = np.concatenate([[0], np.cumsum(people)])
        step = max(1, min(memory.BLOCK, BUFFER_REPORTS // self._width))
        values = np.arange(self.size).astype(np.min_scalar_type(self.size - 1))

        def count(index: int) -> Counts:
            codes = np.repeat(values, np.diff(np.clip(ends, index * step, (index + 1) * step)))
            reports = self._empty_reports(codes.size)
            self._randomize(codes, words.part(index).stream(), reports)
            return self._count(reports)[0]

        chunks = range(-(-int(ends[-1]) // step))
        return functools.reduce(np.add, memory.in_order(count, chunks), np.zeros(self.size, np.int64))

    # All subsets, where they are few.

    def _has_matrix(self) -> bool:
        # There are at least as many subsets as values, so the binomial coefficient is not asked for when it is huge.
        return self.size <= MATRIX_LIMIT and math.comb(self.size, self.omega) <= MATRIX_LIMIT

    def _check_matrix(self) -> None:
        if not self._has_matrix():
            raise LimitError(f"matrix() is made for at most {MATRIX_LIMIT:,} subsets; p, q and omega say the same.")

    @cached_property
    def _subsets(self) -> NDArray[np.bool_]:
        """One row per subset, in the order of `matrix`, one column per value."""
        self._check_matrix()
        # Combinations of the values from the last down come with the largest number first.
        falling = list(itertools.combinations(range(self.size - 1, -1, -1), self.omega))
        subsets = np.zeros((len(falling), self.size), np.bool_)
        np.put_along_axis(subsets, np.array(falling[::-1]), True, axis=1)
        return subsets

    def _subset_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probabilities of one subset with the true value, and of one without."""
        with_own, without = math.comb(self.size - 1, self.omega - 1), math.comb(self.size - 1, self.omega)
        return self.p / with_own, (1 - self.p) / without


def _best_omega(epsilon: float, k: int) -> int:
    """Of the two neighbours of k/(e^ε + 1), the one whose exact law has the least variance for a rare value."""
    below = int(k / (math.exp(epsilon) + 1))
    near = {min(max(omega, 1), k - 1) for omega in (below, below + 1)}
    return min(sorted(near), key=lambda omega: _rare(TwoLevelLaw.calibrate(epsilon, Subset(values=k, size=omega))))


def _rare(law: TwoLevelLaw) -> Fraction:
    """n·Var* = q(1−q)/(p−q)²."""
    p, q = law.members * law.probability(inside=True), _other(law)
    return q * (1 - q) / (p - q) ** 2


def _other(law: TwoLevelLaw) -> Fraction:
    """The probability that a value that is not the true one is in the report: [p(ω−1) + (1−p)ω]/(k−1)."""
    return (law.members - law.members * law.probability(inside=True)) / (law.outcomes - 1)


def _binomials(k: int, omega: int) -> NDArray[np.int64]:
    """C(v, i) for v below k and i up to ω, by Pascal's rule; those that no rank needs stop at `MATRIX_LIMIT`."""
    table = np.zeros((k, omega + 1), np.int64)
    table[:, 0] = 1
    for value in range(1, k):
        table[value, 1:] = np.minimum(table[value - 1, 1:] + table[value - 1, :-1], MATRIX_LIMIT)
    return table


# Uniform subsets of a fixed size as rows of bits: independent bits first, then repairs. Whatever bits a row starts
# from, the law of the subset is the same; where to start decides the speed only.


class StartBits(NamedTuple):
    """What rows start from: independent bits, each set with probability ones/2^planes."""

    ones: int
    planes: int

    @classmethod
    def choose(cls, omega: int, k: int) -> StartBits:
        """The quickest for subsets of ω of k values: from no bit (0/1) or all (1/1) to 255/256.

        >>> StartBits.choose(34, 128), StartBits.choose(1, 128)
        (StartBits(ones=1, planes=2), StartBits(ones=0, planes=0))
        """
        starts = [cls(0, 0), cls(1, 0)]
        for planes in range(1, MOST_PLANES + 1):
            below = (omega << planes) // k
            starts += [cls(ones, planes) for ones in (below, below + 1) if ones % 2]
        return min(starts, key=lambda start: start.cost(omega, k))

    def cost(self, omega: int, k: int) -> float:
        """About how many draws of places a row takes, its random words included."""
        share = self.ones / (1 << self.planes)
        spread = math.sqrt(k * share * (1 - share))
        lacking = omega - k * share
        # The mean of what a nearly normal number of members lacks, and of what it has too much.
        few, many = _mean_excess(lacking, spread), _mean_excess(-lacking, spread)
        return few * k / (k - omega) + many * k / omega + WORD_COST * self.planes * ((k + 63) // 64)

    def rows(self, entropy: Entropy, size: int, words: int) -> Lanes:
        """Rows of words, to use before the next call; bits beyond the last value are not clean yet."""
        if not self.planes:
            return np.full((size, words), -self.ones % 2**64, np.uint64)
        planes = memory.block_words(entropy, self.planes * size * words).reshape(self.planes, size, words)
        rows: Lanes = planes[0]
        # From the last binary digit of the probability to the first: 1 halves the way to one, 0 the way to zero.
        for place in range(1, self.planes):
            join = np.bitwise_or if self.ones >> place & 1 else np.bitwise_and
            join(rows, planes[place], out=rows)
        return rows


@dataclass(frozen=True)
class SubsetRows:
    """Rows of k bits, ω of them set."""

    omega: int
    k: int

    @cached_property
    def start(self) -> StartBits:
        """What rows start from."""
        return StartBits.choose(self.omega, self.k)

    def draw(self, codes: Codes, included: NDArray[np.bool_], entropy: Entropy, out: NDArray[np.uint8]) -> None:
        """Write a uniform subset for each code: of those with it where it is to be included, else of those without."""
        words = (self.k + 63) // 64
        step = max(1, BUFFER_WORDS // (words * max(1, self.start.planes)))
        places = _Places(entropy)
        for first in range(0, codes.size, step):
            part = slice(first, first + step)
            rows = self.start.rows(entropy, codes[part].size, words)
            self._repair(rows, codes[part], included[part], places)
            out[part] = rows.astype("<u8", copy=False).view(np.uint8)[:, : out.shape[1]]

    def _repair(self, rows: Lanes, codes: Codes, included: NDArray[np.bool_], places: _Places) -> None:
        from bruit.kernels import subset_selection as kernel

        row = 0
        while True:
            row, places.used = kernel.repair(rows, codes, included, self.omega, self.k, places.draws, row, places.used)
            if row == codes.size:
                return
            places.refill()


class _Places:
    """Random numbers that name places, and how many of them were used."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self.draws = np.empty(BUFFER_PLACES, np.uint32)
        self.used = self.draws.size

    def refill(self) -> None:
        self._entropy.fill(self.draws)
        self.used = 0


def _mean_excess(mean: float, spread: float) -> float:
    """The mean of the positive part of a normal variable."""
    if spread == 0:
        return max(mean, 0.0)
    z = mean / spread
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return spread * density + mean * math.erfc(-z / math.sqrt(2)) / 2
