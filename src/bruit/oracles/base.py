"""What all frequency oracles share: one category per person, and the same verbs.

A new oracle is a frozen dataclass that adds its exact law, how it randomises a block of codes, how it counts a block
of reports, and the model to estimate with.
"""

from __future__ import annotations

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import Categories, Missing
from bruit.domains.categories import Label
from bruit.domains.domain import Codes
from bruit.engines import memory
from bruit.entropy import Entropy, Randomness
from bruit.errors import DataError, DataTypeError, DesignError, ParameterError
from bruit.estimation.estimate import Consistent, Estimate
from bruit.estimation.support import Model, SupportModel, Target, support_variance
from bruit.estimation.tally import Counts, Tally
from bruit.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True)
class Oracle(ABC):
    """A mechanism by which each person reports one category privately, and frequencies are estimated.

    Parameters
    ----------
    epsilon
        The most that one report may tell, from 0.001 to 20.
    k
        How many categories there are; values are then codes 0..k−1.
    labels
        The categories themselves, instead of k; values are then labels, and only labels.
    missing
        What to do with a missing value: ``"refuse"``, ``"drop"`` or ``"category"``.
    """

    epsilon: float
    k: int = 0
    labels: Sequence[Label] | None = None
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        if self.labels is None and not self.k and not isinstance(self.k, bool):
            _checks.integer(k=self.k)
            raise ParameterError("The domain must be declared: k (2 or above), or labels.")
        domain = Categories(labels=self.labels, k=self.k, missing=self.missing)  # type: ignore[arg-type]
        object.__setattr__(self, "k", domain.k)
        object.__setattr__(self, "labels", domain.labels)

    @property
    @abstractmethod
    def name(self) -> str:
        """The literature's name, as `bruit.oracle` takes it."""

    # What a person does.

    def privatize(self, values: Any, rng: Randomness = None) -> NDArray[Any]:
        """Reports, one per person, in the order of the values.

        Parameters
        ----------
        values
            One entry per person: codes 0..k−1, or labels where the oracle has them. One person is ``[value]``.
        rng
            None for secure randomness; a whole number for a reproducible stream (for studies: it is not private
            against whoever knows the number); or an `Entropy`.
        """
        codes = self.domain.encode(values)
        return self.privatize_codes(codes, Entropy.resolve(rng, "privatize", self.digest))

    def privatize_codes(self, codes: Codes, entropy: Entropy, first_block: int = 0) -> NDArray[Any]:
        """Reports of codes that are already checked; block i of these people uses child `first_block` + i."""
        out = self._empty_reports(codes.size)

        def randomize(index: int, block: slice) -> None:
            self._randomize(codes[block], entropy.child(first_block + index), out[block])

        memory.each_block(codes.size, randomize)
        return out

    # What the collector does.

    def tally(self, reports: Any) -> Tally:
        """Count reports. One that no honest person can have sent is counted as refused, and not in n."""
        checked = self._check_reports(reports)
        parts = memory.each_block(len(checked), lambda _, block: self._count(checked[block]))
        counts, refused = functools.reduce(_add, parts, self._no_counts())
        return Tally(design=self.digest, counts=counts, n=len(checked) - refused, refused=refused)

    def estimate(self, tally: Tally, target: Target = "population") -> Estimate:
        """Unbiased frequencies with variance and intervals, from a tally of this very design."""
        self._check_tally(tally)
        return Estimate(
            model=self._model(tally) if tally.n else _NOTHING,
            n=tally.n,
            refused=tally.refused,
            labels=self.domain.names,
            target=target,
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=tally.simulated,
        )

    def most_likely(self, reports: Any) -> Consistent:
        """The most likely frequencies given the reports, by EM on the true likelihood of this mechanism."""
        return self.estimate(self.tally(reports)).consistent("em")

    # What whoever plans a survey does.

    def simulate(self, counts: Any, rng: Randomness = None) -> Tally:
        """A tally with the very law of `privatize` and `tally` on people of whom counts[v] have value v.

        Nobody is asked: the tally is drawn from its known law, and marked as simulated.
        """
        people = _whole_counts(counts, self.size)
        generator = Entropy.resolve(rng, "simulate", self.digest).generator()
        drawn = self._simulate(people, generator)
        return Tally(design=self.digest, counts=drawn, n=int(people.sum()), simulated=True)

    @abstractmethod
    def variance(self, frequency: Any, n: int, target: Target = "population") -> NDArray[np.float64]:
        """The exact variance of the estimate of a value whose true frequency is given."""

    @property
    @abstractmethod
    def guessability(self) -> float:
        """How often the best guess from one report is right, when all values are equally likely beforehand."""

    @property
    @abstractmethod
    def report_bytes(self) -> float:
        """How many bytes one report takes, as `privatize` writes it."""

    @property
    @abstractmethod
    def votes_per_cheater(self) -> float:
        """By how many people's worth one dishonest report can raise a value of its choice."""

    def decode_steps(self, n: int) -> float:
        """About how many elementary steps it takes to count n reports and decode them."""
        return n * self.report_bytes + self._cells()

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised to each person, computed from the law that is sampled."""

    @abstractmethod
    def matrix(self) -> list[list[Fraction]]:
        """P(message | value), exactly: one row per value, one column per message."""

    @abstractmethod
    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The column of `matrix` that each report is."""

    # Identity.

    @cached_property
    def domain(self) -> Categories:
        """The declared categories."""
        return Categories(labels=self.labels, k=self.k, missing=self.missing)  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        """How many values are told apart: k, and one more where missing values are a category."""
        return self.domain.size

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; tallies carry it."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what a report means."""
        return {"oracle": self.name, "epsilon": self.epsilon, "domain": self.domain.to_dict(), **self._settings()}

    @classmethod
    def from_settings(cls, domain: Categories, epsilon: float, settings: dict[str, Any]) -> Self:
        """The inverse of `to_dict`, after the domain and ε were read."""
        labels = domain.labels
        k = 0 if labels is not None else domain.k
        return cls(epsilon=epsilon, k=k, labels=labels, missing=domain.missing, **settings)

    # What each oracle fills in.

    def _settings(self) -> dict[str, Any]:
        """Parameters of this oracle beyond ε and the domain."""
        return {}

    @abstractmethod
    def _empty_reports(self, n: int) -> NDArray[Any]:
        """Room for n reports."""

    @abstractmethod
    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        """Write the reports of one block."""

    @abstractmethod
    def _check_reports(self, reports: Any) -> NDArray[Any]:
        """Reports as an array; an error for a wrong dtype or shape."""

    @abstractmethod
    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        """Counts of one block of reports, and how many were refused."""

    @abstractmethod
    def _model(self, tally: Tally) -> Model:
        """The model to estimate with."""

    @abstractmethod
    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        """Draw the counts of a tally."""

    def _cells(self) -> int:
        """How many counts a tally has."""
        return self.size

    def _no_counts(self) -> tuple[Counts, int]:
        return np.zeros(self._cells(), np.int64), 0

    def _check_tally(self, tally: Tally) -> None:
        if not isinstance(tally, Tally):
            raise DataTypeError("estimate needs a Tally: make one with tally(reports).")
        if tally.design != self.digest:
            raise DesignError(
                "This tally was made by another design: use the mechanism or plan that made its reports.",
                expected=self.digest,
                found=tally.design,
            )
        if tally.counts.size != self._cells():
            raise DesignError("This tally has another number of cells than its design.")


@dataclass(frozen=True, kw_only=True)
class SupportOracle(Oracle):
    """An oracle whose report supports the person's own value with probability p and any other with q."""

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The exact probability that a report supports the person's own value."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The exact probability that a report supports a given other value."""

    @property
    def votes_per_cheater(self) -> float:
        """By how many people's worth one dishonest report can raise a value of its choice: (1 − q)/(p − q)."""
        return float((1 - self.q) / (self.p - self.q))

    def variance(self, frequency: Any, n: int, target: Target = "population") -> NDArray[np.float64]:
        """The exact variance of the estimate of a value whose true frequency is given."""
        return support_variance(np.asarray(frequency, float), n, self.p, self.q, target)

    def _model(self, tally: Tally) -> Model:
        return SupportModel(self._support(tally), tally.n, self.p, self.q)

    def _support(self, tally: Tally) -> Counts:
        """How many reports support each value: the counts themselves, unless the tally counts messages."""
        return tally.counts


#: Stands for the model of a tally without reports; `Estimate` refuses before it is looked at.
_NOTHING: Any = None


def _add(first: tuple[Counts, int], second: tuple[Counts, int]) -> tuple[Counts, int]:
    return first[0] + second[0], first[1] + second[1]


def _whole_counts(counts: Any, size: int) -> Counts:
    array = np.asarray(counts)
    if array.ndim != 1 or array.dtype.kind not in "ui":
        raise DataTypeError("counts must be a one-dimensional array of whole numbers, one per value.")
    if array.size != size or (array.size and operator.lt(int(array.min()), 0)):
        raise DataError(f"counts must have {size} entries, each 0 or above.")
    return array.astype(np.int64)
