"""What all local mechanisms share: each person's value becomes a report, reports become a tally.

A mechanism is a value: its fields are public and say everything that decides what a report means. It holds no state
and takes its randomness from the caller. Oracles (one category per person) and numbers (one number per person) build
on this.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import documents
from bruit.cards import Card, CardQuestion
from bruit.cards.question import MOST_VALUES, check_values, texts
from bruit.domains.codes import Codes, code_dtype
from bruit.domains.domain import Domain
from bruit.domains.policy import POLICIES, Policy, moved, written
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataError, DataTypeError, ParameterError
from bruit.estimation.tally import IMPOSSIBLE, Counts, Tally, check_design
from bruit.laws import Form, Law, Sets
from bruit.privacy.guarantee import Guarantee
from bruit.randomizer import Randomizer
from bruit.tables.facts import Described, declared
from bruit.typing import ColumnLike

__all__ = ["LocalMechanism"]

#: What reports estimate.
Gives: TypeAlias = Literal["frequency", "mean"]
#: What a fake is: a value as it is, noise as if no value had been set, or a random value through the mechanism.
FakeKind: TypeAlias = Literal["value", "zeros", "noise"]


class LocalMechanism(Described, Randomizer):
    """A value that turns people's values into reports, and reports into a tally."""

    #: The most values that a card has room for.
    CARD_VALUES: ClassVar[int] = MOST_VALUES

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """A mechanism; policies are its domain's, and the error about them has the call as it should be."""
        if not options.keys().isdisjoint(POLICIES):
            raise moved(options, cls._respelt(**options))
        return super().__new__(cls)

    @classmethod
    def _respelt(cls, **options: Any) -> str:
        """A call with policies as it should be."""
        policies = {name: options.get(name) for name in POLICIES}
        domain, others = cls._respelt_domain(**{name: options[name] for name in options if name not in POLICIES})
        inner = written(**{name: value for name, value in policies.items() if value != getattr(Policy, name)})
        before = written(epsilon=options.get("epsilon"))
        after = written(**{name: value for name, value in others.items() if name != "epsilon"})
        parts = [before, f"domain={domain}{', ' if inner else ''}{inner})", after]
        return f"{cls.__name__}({', '.join(part for part in parts if part)})"

    @classmethod
    def _respelt_domain(cls, **options: Any) -> tuple[str, dict[str, Any]]:
        """How a domain is written up to its policies, from the shorthands among the options, and the other options."""
        return "Categories(…", options

    @property
    @abstractmethod
    def name(self) -> str:
        """The literature's name, as documents and commands use it."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """What a person may answer."""

    @property
    def size(self) -> int:
        """How many values are told apart, one for missing values included where they are a category."""
        return self.domain.size

    def _facts(self) -> Mapping[str, Any]:
        """For a notebook: name, parameters, those of the domain, and what they promise."""
        facts = {"mechanism": self.name, **super()._facts()}
        facts.pop("domain", None)
        return {**facts, **declared(self.domain), "guarantee": self.guarantee}

    # What a person does.

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of the values: what `randomize` takes, and the only way to it.

        Codes are opaque, one per person: what is in them is known to this mechanism alone, and settled where it
        randomises. What happens to a value outside is what the domain declares.
        """
        return self.domain.encode(values)

    def row(self, codes: Codes) -> NDArray[np.int64]:
        """The row of `matrix` that each code stands for; of a number between two cells, that of the nearest."""
        return codes.astype(np.int64)

    def codes_of(self, rows: NDArray[Any]) -> Codes:
        """Codes of people who do not exist, and whose values are those of these rows of `matrix`."""
        return rows.astype(code_dtype(self.size))

    def randomize(self, codes: Codes, words: Words) -> NDArray[Any]:
        """Reports of codes that `encode` gave; block i of these people uses up part i of the words."""
        out = self._empty_reports(codes.size)

        def write(index: int, block: slice) -> None:
            self._randomize(codes[block], words.part(index).stream(), out[block])

        memory.each_block(codes.size, write)
        return out

    def card(self, name: str) -> Card:
        """What a person's device needs to answer a question that goes through this mechanism, in whole numbers.

        Parameters
        ----------
        name
            The name of the column of reports. `tally` counts that column.
        """
        return Card(self.digest, "one", (self.question(name),))

    def question(self, name: str, labels: Sequence[Any] | None = None) -> CardQuestion:
        """The question on a card: one text per code, from these labels or from the mechanism's own, and the law."""
        check_values(self.size, self.CARD_VALUES, name)
        return CardQuestion(name, texts(self._labels() if labels is None else labels), self.law)

    # What the collector does.

    def count(self, reports: Any) -> Tally:
        """The tally of reports; one that no person can have sent is refused."""
        parsed = report_parsing.parse(self.form, reports)
        kept = parsed.kept()
        # Counting draws nothing, so its blocks may be any size: large enough to outweigh a block's own counts.
        blocks = memory.blocks(len(kept), max(memory.BLOCK, 4 * self._cells()))
        parts = memory.in_order(lambda block: self._count(kept[block[1]]), blocks)
        counts, refused = functools.reduce(_add, parts, self._no_counts())
        n = len(kept) - refused
        return Tally(design=self.digest, counts=counts, n=n, refused=len(parsed.reports) - n)

    @cached_property
    def form(self) -> Form:
        """The dtype and bytes of a report."""
        return Form.of(self._empty_reports(0))

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports a person can have sent, of an array in the mechanism's form."""
        return np.array([self._count(reports[i : i + 1])[1] == 0 for i in range(len(reports))], np.bool_)

    def simulate(self, counts: Any, rng: Randomness = None) -> Tally:
        """A tally with the very law of `privatize` and `tally` on people of whom counts[v] have value v.

        Nobody is asked: the tally is drawn from its known law, and marked as simulated.
        """
        people = whole_counts(counts, self.size)
        generator = Entropy.resolve(rng, "simulate", self.digest).generator()
        drawn = self._simulate(people, generator)
        return Tally(design=self.digest, counts=drawn, n=int(people.sum()), simulated=True)

    @property
    @abstractmethod
    def law(self) -> Law:
        """The exact law, in whole numbers: every probability of a report follows from it."""

    @property
    def sets(self) -> Sets | None:
        """Which messages support a value; None where a message belongs to no value."""
        return self.law.sets

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is promised to each person: ε is the logarithm of the law's largest ratio, rounded up."""
        return Guarantee(epsilon=self.law.epsilon, neighbours="value")

    @property
    def metric(self) -> Guarantee | None:
        """What is promised of values a distance apart, where ε is per distance; None where it is of any two values."""
        return None

    def matrix(self) -> list[list[Fraction]]:
        """P(message | value), exactly, from the law: one row per value, one column per message."""
        self._check_matrix()
        return [self.law.row(code) for code in range(self.size)]

    def _check_matrix(self) -> None:
        """Refuse a matrix that is too large to be made; mechanisms whose messages are many have a limit."""

    @abstractmethod
    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The column of `matrix` that each report is."""

    @property
    @abstractmethod
    def report_bytes(self) -> float:
        """How many bytes one report takes, as `privatize` writes it."""

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; tallies carry it."""
        return documents.digest(self.to_dict())

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what a report means."""

    # What a report says of the values: what attacks, audits, fakes and models ask, whatever the mechanism is.

    #: What its reports estimate: the frequencies of categories, or the mean of a number.
    gives: ClassVar[Gives] = "frequency"
    #: What may be reported in place of a true report where attributes are faked; empty where nothing may.
    fakes: ClassVar[tuple[FakeKind, ...]] = ()

    def supports(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Which values each report supports: a row per report, a column per value. Callers take some at a time."""
        raise ParameterError(f"A report of {self.name} supports no value: its likelihood tells what it says of them.")

    def likelihood(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """How likely each report is under each value, up to a factor of its row: a row per report."""
        return self._probabilities[:, self.message(reports)].T

    def named(self, reports: NDArray[Any]) -> NDArray[np.int64] | None:
        """The code of the one value that each report names; None where a report is no value."""
        return None

    @property
    def score_names(self) -> Sequence[Any] | None:
        """What each column of `scores` is about: a value; None where there is one column, about the number."""
        return self._labels()

    def scores(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers whose mean, given the person's value, is 1 in that value's column and 0 in the others."""
        raise ParameterError(f"Reports of {self.name} have no unbiased scores.")

    @property
    def guessability(self) -> float:
        """How often the best guess from one report is right, when all values are equally likely beforehand."""
        return float(self._probabilities.max(axis=0).sum()) / self.size

    @cached_property
    def _probabilities(self) -> NDArray[np.float64]:
        """`matrix` as floats."""
        return np.array(self.matrix(), float)

    # What each mechanism fills in.

    @abstractmethod
    def _labels(self) -> Sequence[Any]:
        """What stands behind each code."""

    @abstractmethod
    def _empty_reports(self, n: int) -> NDArray[Any]:
        """Room for n reports."""

    @abstractmethod
    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        """Write the reports of one block."""

    @abstractmethod
    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        """Counts of one block of reports in the mechanism's form, and how many were refused."""

    @abstractmethod
    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        """Draw the counts of a tally."""

    def _cells(self) -> int:
        """How many counts a tally has."""
        return self.size

    def _no_counts(self) -> tuple[Counts, int]:
        return np.zeros(self._cells(), np.int64), 0

    def _check_tally(self, tally: Tally) -> None:
        check_design(tally, self.digest, self._cells())
        if not self._is_possible(tally):
            raise DataError(IMPOSSIBLE)

    def _is_possible(self, tally: Tally) -> bool:
        """Whether some reports have these counts: here, that no cell counts more than all."""
        return bool((tally.counts <= tally.n).all())


class MessageReports(LocalMechanism):
    """A mechanism whose report is the number of a message, as narrow as the messages allow."""

    @property
    def report_bytes(self) -> float:
        """One message."""
        return code_dtype(self._cells()).itemsize

    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """A report is its own column."""
        return reports.astype(np.int64)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Those that are messages."""
        return np.asarray(reports < self._cells())

    def _empty_reports(self, n: int) -> NDArray[Any]:
        return np.empty(n, code_dtype(self._cells()))

    def _is_possible(self, tally: Tally) -> bool:
        """Each report counts once."""
        return tally.total == tally.n

    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        from bruit.kernels import counting

        if self._cells() > memory.BLOCK:
            from bruit.kernels import two_level

            large, _ = self._no_counts()
            return large, two_level.count(reports, large)
        counts = np.zeros((4, self._cells()), np.int64)
        refused = counting.histogram(reports, counts)
        return counts.sum(axis=0), refused


def _add(first: tuple[Counts, int], second: tuple[Counts, int]) -> tuple[Counts, int]:
    return first[0] + second[0], first[1] + second[1]


def whole_counts(counts: Any, size: int) -> Counts:
    """How many people have each value, checked."""
    array = np.asarray(counts)
    if array.ndim != 1 or array.dtype.kind not in "ui":
        raise DataTypeError("counts must be a one-dimensional array of whole numbers, one per value.")
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise DataError("counts must be below 2⁶³.")
    if sum(array.tolist()) >= 2**63:
        raise DataError("counts must be below 2⁶³ in all.")
    if array.size != size or (array.size and int(array.min()) < 0):
        raise DataError(f"counts must have {size} entries, each 0 or above.")
    return array.astype(np.int64)
