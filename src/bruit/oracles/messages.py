"""What oracles share whose report is the number of one message, drawn by a two-level law with sets.

Each value has a set of messages. A message of the own set has weight A, any other B, so a report is drawn by "a member
of the own set with weight A − B each, or any message at all with weight B each": one 64-bit word decides, and what is
done does not depend on the value.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import Codes, code_dtype
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.estimation.tally import Counts, Tally
from bruit.mechanism import message_numbers
from bruit.oracles.base import Oracle
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.law import TwoLevelLaw

if TYPE_CHECKING:
    from bruit.kernels.two_level import Weights

#: The most messages that a design may have: a tally then takes 32 MiB, and quotients are exact.
MESSAGE_LIMIT = 1 << 22
#: `matrix` writes size × messages fractions; above this number it would fill the memory.
MATRIX_LIMIT = 1 << 22
#: How many people or cells `simulate` draws at a time.
CHUNK = 1 << 20
#: From how many people for each member of a set a multinomial is cheaper than drawing them one by one.
MANY = 16


@dataclass(frozen=True, kw_only=True)
class MessageOracle(Oracle):
    """An oracle whose report is the number of a message: weight A inside the value's own set of messages, B outside."""

    @property
    @abstractmethod
    def _law(self) -> TwoLevelLaw:
        """The exact law: members of a value's set, and messages in all."""

    @property
    @abstractmethod
    def _covered(self) -> int:
        """How many messages lie in the set of at least one value."""

    @abstractmethod
    def _members(self, codes: Codes | Counts, numbers: Counts) -> Counts:
        """Member number `numbers[i]` of the set of value `codes[i]`, for each i."""

    @cached_property
    def guarantee(self) -> Guarantee:
        """ε = ln(A/B), rounded up, for one answer changed."""
        return Guarantee(epsilon=self._law.epsilon, neighbours="value")

    @property
    def guessability(self) -> float:
        """The best guess is any value whose set holds the message, or any value at all where no set does."""
        law, covered = self._law, self._covered
        weight = covered * law.inside + (law.outcomes - covered) * law.outside
        return float(Fraction(weight, law.total * self.size))

    @property
    def report_bytes(self) -> float:
        """One message number."""
        return code_dtype(self._cells()).itemsize

    def matrix(self) -> list[list[Fraction]]:
        """P(message | value), exactly: one row per value, one column per message."""
        law = self._law
        if self.size * law.outcomes > MATRIX_LIMIT:
            raise LimitError(
                f"matrix() is made for at most {MATRIX_LIMIT:,} entries, values times messages; "
                "guarantee and variance say what it would."
            )
        inside, outside = law.probability(inside=True), law.probability(inside=False)
        rows = [[outside] * law.outcomes for _ in range(self.size)]
        numbers = np.arange(law.members)
        for code, row in enumerate(rows):
            for message in self._members(np.full(law.members, code), numbers).tolist():
                row[message] = inside
        return rows

    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """A report is its own column."""
        return reports.astype(np.int64)

    def decode_steps(self, n: int) -> float:
        """About how many elementary steps it takes to count n reports and decode them by a fast transform."""
        return super().decode_steps(n) + self._cells() * math.log2(self._cells())

    def _weights(self) -> Weights:
        """The law, for the kernels."""
        from bruit.kernels import two_level

        return two_level.weights(self._law.inside, self._law.outside, self._law.members)

    def _words(self, entropy: Entropy, size: int) -> NDArray[np.uint64]:
        return memory.words_below(entropy, self._law.total, size)

    def _cells(self) -> int:
        return self._law.outcomes

    def _empty_reports(self, n: int) -> NDArray[Any]:
        return np.empty(n, code_dtype(self._cells()))

    def _check_reports(self, reports: Any) -> NDArray[Any]:
        return message_numbers(reports, self._cells())

    def _is_possible(self, tally: Tally) -> bool:
        """Each report counts once."""
        return tally.total == tally.n

    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        from bruit.kernels import counting, two_level

        if self._cells() > memory.BLOCK:
            large, _ = self._no_counts()
            return large, two_level.count(reports, large)
        counts = np.zeros((4, self._cells()), np.int64)
        refused = counting.histogram(reports, counts)
        return counts.sum(axis=0), refused

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        # A member of the own set with probability p₀ = (A − B)·members/Z; all others take any message.
        law = self._law
        kept = generator.binomial(people, float(Fraction((law.inside - law.outside) * law.members, law.total)))
        counts = np.zeros(law.outcomes, np.int64)

        def add_people(codes: Counts) -> None:
            """One message for each of few people."""
            for start in range(0, codes.size, CHUNK):
                some = codes[start : start + CHUNK]
                found = self._members(some, generator.integers(law.members, size=some.size))
                np.add.at(counts, found, 1)

        def add_values(codes: Counts) -> None:
            """A multinomial over the whole set of each value that many people have."""
            rows = max(1, CHUNK // law.members)
            for start in range(0, codes.size, rows):
                some = codes[start : start + rows]
                drawn = generator.multinomial(kept[some], np.full(law.members, 1 / law.members))
                numbers = np.tile(np.arange(law.members), some.size)
                np.add.at(counts, self._members(np.repeat(some, law.members), numbers), drawn.ravel())

        many = kept >= MANY * law.members
        add_values(np.flatnonzero(many))
        add_people(np.repeat(np.flatnonzero(~many), kept[~many]))
        others = int(people.sum() - kept.sum())
        return counts + generator.multinomial(others, np.full(law.outcomes, 1 / law.outcomes))
