"""The exact loss between any two histories of buckets, where every bucket has one memo and reports refresh it.

Given the memos' law, the probability of reports depends on how often each bucket reports each message, and on nothing
else. Two histories that give the same reports have two such tables with the same column sums. The largest
numerator has a closed form; the least denominator is found over all tables, bucket by bucket, in whole numbers.
``longitudinal_hashing.proof.md`` has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TypeAlias

from bruit.laws import TwoLevelLaw

#: How often each message is reported.
Counts: TypeAlias = tuple[int, ...]

#: The most steps of a search: about a second.
STEP_LIMIT = 100_000


@dataclass(frozen=True)
class BucketHistories:
    """Reports of buckets with one memo each: what any two histories of buckets cost.

    Parameters
    ----------
    law
        What the memo of a bucket is drawn by: its own bucket with weight A, each other with B.
    keep
        How often a report shows the memo; else any bucket, all equally likely.
    """

    law: TwoLevelLaw
    keep: Fraction

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
        return self.law.outcomes

    @cached_property
    def round_ratio(self) -> Fraction:
        """R: the largest ratio between one report of two memos."""
        return self.law.round_ratio(self.keep)

    def is_searched(self, rounds: int) -> bool:
        """Whether the ratio of this number of rounds is exact; else it is a bound."""
        return (self.buckets - 1) * math.comb(rounds + 2 * self.buckets, rounds) <= STEP_LIMIT

    @cached_property
    def searched_rounds(self) -> int:
        """The most rounds whose ratio is exact."""
        rounds = 1
        while self.is_searched(rounds + 1):
            rounds += 1
        return rounds

    def largest_ratio(self, rounds: int) -> Fraction:
        """The largest ratio between the probabilities of all reports under two histories of buckets.

        Exact up to `searched_rounds`; beyond, the lesser of two bounds.
        """
        known = min(rounds, self.searched_rounds)
        ratio = max(self._ratio(column_sums) for column_sums in _partitions(known, self.buckets))
        if known == rounds:
            return ratio
        stepwise: Fraction = ratio * self.round_ratio ** (rounds - known)
        return min(stepwise, self._slope_bound(rounds))

    def _slope_bound(self, rounds: int) -> Fraction:
        """R^(T − ⌈T/g⌉)·(Z/B)^g: some message is reported by each bucket as often as its mean."""
        spread = rounds - -(-rounds // self.buckets)
        bound: Fraction = self.round_ratio**spread * Fraction(self.law.total, self.law.outside) ** self.buckets
        return bound

    def _ratio(self, column_sums: Counts) -> Fraction:
        """The ratio where each message is reported this often: each by its own bucket, over the least table."""
        base, inside = self.round_ratio, self.law.probability(inside=True)
        most = math.prod((1 + inside * (base**count - 1) for count in column_sums), start=Fraction(1))
        return most / self._least(0, column_sums)

    def _least(self, bucket: int, column_sums: Counts) -> Fraction:
        """The least product of the buckets from this one on, which share these reports."""
        key = (bucket, column_sums)
        if key not in self._memory:
            if bucket == self.buckets - 1:
                self._memory[key] = self._chance(bucket, column_sums)
            else:
                self._memory[key] = min(
                    self._chance(bucket, row) * self._least(bucket + 1, rest) for row, rest in _rows(column_sums)
                )
        return self._memory[key]

    @cached_property
    def _memory(self) -> dict[tuple[int, Counts], Fraction]:
        return {}

    def _chance(self, bucket: int, row: Counts) -> Fraction:
        """Σ_m P(m | bucket)·R^{n_m}: the probability of the reports of a bucket, in units of (λ/g)^n."""
        inside, outside = (self.law.probability(inside=own) for own in (True, False))
        return sum(
            ((inside if own == bucket else outside) * self.round_ratio**count for own, count in enumerate(row)),
            start=Fraction(0),
        )


def _partitions(total: int, parts: int, most: int | None = None) -> Iterator[Counts]:
    """All counts with this sum, the largest first: by symmetry no other order is needed."""
    most = total if most is None else most
    if parts == 1:
        if total <= most:
            yield (total,)
        return
    for first in range(min(total, most), -1, -1):
        for rest in _partitions(total - first, parts - 1, first):
            yield (first, *rest)


def _rows(column_sums: Counts) -> Iterator[tuple[Counts, Counts]]:
    """All ways for one bucket to take a share of the reports, and what it leaves."""
    for row in product(*(range(count + 1) for count in column_sums)):
        yield row, tuple(count - taken for count, taken in zip(column_sums, row, strict=True))
