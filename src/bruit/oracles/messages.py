"""What oracles share whose report is the number of one message, drawn by a two-level law with sets.

Each value has a set of messages. A message of the value's set has weight A, any other B. So a report is a member of
the value's set with weight A − B each, or any message with weight B each. One 64-bit word decides, and what is done
does not depend on the value.

Everything follows from the law, by tables of the sets: an oracle of few values needs nothing else. Those with many
values replace the tables by kernels and transforms.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.estimation.messages import MessageModel
from bruit.estimation.tally import Counts, Tally
from bruit.laws import TwoLevelLaw
from bruit.mechanism import MessageReports
from bruit.oracles.base import Masses, Oracle, SupportOracle
from bruit.oracles.refreshing import refresh_messages, simulate_messages

if TYPE_CHECKING:
    from bruit.kernels.two_level import Weights

#: The most messages that a design may have: a tally then takes 32 MiB, and quotients are exact.
MESSAGE_LIMIT = 1 << 22
#: `matrix` writes size × messages fractions; above this number it would fill the memory.
MATRIX_LIMIT = 1 << 22
#: The most pairs of a value and a message of its set that are written down.
MEMBER_LIMIT = 1 << 26
#: How many people or cells `simulate` draws at a time.
CHUNK = 1 << 20
#: From how many people for each member of a set a multinomial is cheaper than drawing them one by one.
MANY = 16


@dataclass(frozen=True, kw_only=True)
class MessageOracle(MessageReports, Oracle):
    """An oracle whose report is the number of a message: weight A inside the value's own set of messages, B outside."""

    @property
    @abstractmethod
    def law(self) -> TwoLevelLaw:
        """The exact law: members of a value's set, and messages in all."""

    @property
    def _covered(self) -> int:
        """How many messages lie in the set of at least one value."""
        return int(np.unique(self._member_table).size)

    def _members(self, codes: Codes | Counts, numbers: Counts) -> Counts:
        """Member number `numbers[i]` of the set of value `codes[i]`, for each i."""
        return np.asarray(self._member_table[codes, numbers])

    @cached_property
    def _member_table(self) -> Counts:
        """The members of each value's set, one row per value."""
        self._check_members()
        sets, numbers = self.law.sets, range(self.law.members)
        rows = [[sets.member(code, number, iter(())) for number in numbers] for code in range(self.size)]
        return np.array(rows, np.int64)

    def _check_members(self) -> None:
        many = self.size * self.law.members
        if many > MEMBER_LIMIT:
            raise LimitError(
                f"Which values a message of {self.name} supports is written down for at most {MEMBER_LIMIT:,} values "
                f"times members of a set, here {many:,}; `guessability` tells how often a guess is right."
            )

    @cached_property
    def _supported(self) -> tuple[Counts, Counts]:
        """The sets turned round: the values that message y supports stand from place starts[y] to starts[y + 1]."""
        self._check_members()
        members = self.law.members
        values = np.repeat(np.arange(self.size), members)
        messages = self._members(values, np.tile(np.arange(members), self.size))
        order = np.argsort(messages, kind="stable")
        return values[order], np.searchsorted(messages[order], np.arange(self._cells() + 1))

    def supports(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The values that have the reported message in their set."""
        values, starts = self._supported
        held = np.zeros((len(reports), self.size), np.bool_)
        for row, message in zip(held, reports.tolist(), strict=True):
            row[values[starts[message] : starts[message + 1]]] = True
        return held

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        law, words = self.law, self._words(entropy, codes.size)
        step, outside = np.uint64(law.inside - law.outside), np.uint64(law.outside)
        kept = step * np.uint64(law.members)
        inside = words < kept
        own = self._members(codes, np.where(inside, words // step, 0).astype(np.int64))
        out[:] = np.where(inside, own, ((words - kept) // outside).astype(np.int64))

    def _refresh(self, memos: NDArray[Any], keep: Fraction, entropy: Entropy, out: NDArray[Any]) -> None:
        """Any message is as likely as any other, those in no value's set included."""
        refresh_messages(memos, self._cells(), keep, entropy, out)

    def simulate_rounds(
        self, memo: Self, people: Counts, keep: Fraction, rounds: int, generator: np.random.Generator
    ) -> list[Counts]:
        """By how many people have each memo, in a time that does not grow with the people."""
        return simulate_messages(memo._simulate(people, generator), keep, rounds, generator)

    @property
    def guessability(self) -> float:
        """The best guess is any value whose set holds the message, or any value at all where no set does."""
        law, covered = self.law, self._covered
        weight = covered * law.inside + (law.outcomes - covered) * law.outside
        return float(Fraction(weight, law.total * self.size))

    def _check_matrix(self) -> None:
        if self.size * self.law.outcomes > MATRIX_LIMIT:
            raise LimitError(
                f"matrix() is made for at most {MATRIX_LIMIT:,} entries, values times messages; "
                "guarantee and variance say what it would."
            )

    def decode_steps(self, n: int) -> float:
        """About how many elementary steps it takes to count n reports and decode them by a fast transform."""
        return super().decode_steps(n) + self._cells() * math.log2(self._cells())

    def _weights(self) -> Weights:
        """The law, for the kernels."""
        from bruit.kernels import two_level

        return two_level.weights(self.law.inside, self.law.outside, self.law.members)

    def _words(self, entropy: Entropy, size: int) -> NDArray[np.uint64]:
        return memory.words_below(entropy, self.law.total, size)

    def _cells(self) -> int:
        return self.law.outcomes

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        # A member of the value's set with probability p₀ = (A − B)·members/Z; all others take any message.
        law = self.law
        kept = generator.binomial(people, float(Fraction((law.inside - law.outside) * law.members, law.total)))
        counts = np.zeros(law.outcomes, np.int64)

        def add_people(codes: Counts) -> None:
            """One message for each of few people."""
            for start in range(0, codes.size, CHUNK):
                some = codes[start : start + CHUNK]
                np.add.at(counts, self._members(some, generator.integers(law.members, size=some.size)), 1)

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


@dataclass(frozen=True, kw_only=True)
class SetOracle(MessageOracle, SupportOracle):
    """An oracle that is its law: a message of the value's own set has weight A, any other B.

    Any two values must share as many messages as any other two. Then a report supports the true value with probability
    p and every other with the same q, and estimates, variances, attacks, fakes and cards follow. A class that extends
    this adds a name and a law.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``): the weights have the same total for every value, so no report is more
    than A/B times likelier under one value than under another.

    Error
    -----
    n·Var = q(1−q)/(p−q)² for a rare value.

    Examples
    --------
    The seven points and lines of the Fano plane: a value's set has three messages, and two values share one.

    >>> from bruit.laws import Listed
    >>> class Fano(SetOracle):
    ...     name = "FANO"
    ...
    ...     @property
    ...     def law(self):
    ...         lines = tuple(tuple(sorted((value + step) % 7 for step in (1, 2, 4))) for value in range(7))
    ...         return TwoLevelLaw.calibrate(self.epsilon, Listed(7, lines))
    >>> oracle = Fano(epsilon=1.0, k=7)
    >>> oracle.shared, round(float(oracle.p), 3), round(float(oracle.q), 3)
    (1, 0.671, 0.388)
    """

    @cached_property
    def shared(self) -> int:
        """How many messages two values share, whichever they are."""
        table = np.zeros((self.size, self._cells()), np.int32)
        np.put_along_axis(table, self._member_table, 1, axis=1)
        overlaps = np.unique((table @ table.T)[~np.eye(self.size, dtype=bool)])
        if overlaps.size > 1:
            raise ParameterError(
                f"Any two values of {self.name} must share as many messages as any other two: "
                f"here it is from {overlaps.min()} to {overlaps.max()}."
            )
        return int(overlaps[0])

    @cached_property
    def p(self) -> Fraction:
        """The exact probability of a message in the true value's set."""
        return self.law.members * self.law.probability(inside=True)

    @cached_property
    def q(self) -> Fraction:
        """The exact probability of a message in a given other value's set."""
        law, shared = self.law, self.shared
        return Fraction(law.inside * shared + law.outside * (law.members - shared), law.total)

    def masses(self, prior: Sequence[Fraction]) -> Masses:
        """From the prior mass that each message supports, where it supports some values and not all."""
        many = self._message_sums(np.ones(self.size, np.int64))
        mixed = np.flatnonzero((many > 0) & (many < self.size))
        unit = math.lcm(*{share.denominator for share in prior})
        weights = [share.numerator * (unit // share.denominator) for share in prior]
        # In digits of 32 bits, of which more than there are values add up exactly.
        total: NDArray[Any] = np.zeros(mixed.size, object)
        for shift in range(0, unit.bit_length(), 32):
            digits = np.array([weight >> shift & 0xFFFFFFFF for weight in weights], np.int64)
            total = total + (self._message_sums(digits)[mixed].astype(object) << shift)
        return Masses(Fraction(int(total.min()), unit), Fraction(int(total.max()), unit))

    def support(self, tally: Tally) -> Counts:
        """How many reports lie in the set of each value."""
        return self._value_sums(tally.counts)

    def _value_sums(self, messages: NDArray[Any]) -> NDArray[Any]:
        """The sum over the messages of each value's set."""
        return np.asarray(messages[self._member_table].sum(axis=1))

    def _message_sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """The sum over the values that each message supports."""
        sums = np.zeros(self._cells(), values.dtype)
        np.add.at(sums, self._member_table, values[:, None])
        return sums

    def _model(self, tally: Tally) -> MessageModel:
        return MessageModel(
            self.support(tally),
            tally.n,
            self.p,
            self.q,
            messages=tally.counts,
            inside=self.law.probability(inside=True),
            outside=self.law.probability(inside=False),
            value_sums=self._value_sums,
            message_sums=self._message_sums,
            supports=self.supports,
        )
