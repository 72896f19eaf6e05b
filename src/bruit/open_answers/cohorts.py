"""What RAPPOR and O-RR share: people in cohorts, each with its own public hash, and candidates named afterwards."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains.codes import Codes
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataError, DataTypeError, LimitError, ParameterError
from bruit.estimation.tally import IMPOSSIBLE, NO_REPORT, Counts, Tally, check_design
from bruit.laws import Form
from bruit.open_answers.candidates import CandidateEstimate, CellLaw, CohortCounts, fit
from bruit.open_answers.public_hash import PublicHash, fingerprint, fingerprints
from bruit.privacy.guarantee import Guarantee
from bruit.randomizer import Randomizer
from bruit.tables import Described
from bruit.typing import ColumnLike

#: The most cohorts: a report has two bytes for their number.
COHORT_LIMIT = 2**16
#: The most people of a text that are simulated.
MOST_SIMULATED = 10**15
#: A tally has about cohorts × cells counts of eight bytes.
COUNTS_LIMIT = 2**24
#: The most of cohorts × hashes²: p-values take some ten seconds then.
TRANSFORM_LIMIT = 2**15


class CohortMechanism(Described, Randomizer):
    """A mechanism for texts from no list: a report names a cohort, and says something of the cells of the text there.

    The cohort is drawn without a look at the text.
    """

    #: The literature's name.
    name: ClassVar[str]
    cohorts: int

    @property
    @abstractmethod
    def hash(self) -> PublicHash:
        """Which cells a text sets in each cohort."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one report tells."""

    @property
    @abstractmethod
    def cell_law(self) -> CellLaw:
        """How often a report counts in a cell that the text sets, and in any other."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what a report means."""

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; tallies carry it."""
        return documents.digest(self.to_dict())

    def _check_cohorts(self, cells: int, hashes: int = 1) -> None:
        object.__setattr__(self, "cohorts", _checks.integer(low=1, high=COHORT_LIMIT, cohorts=self.cohorts))
        most = most_cohorts(cells, hashes)
        if self.cohorts > most:
            raise LimitError(f"cohorts must be at most {most:,} here, got {self.cohorts:,}.")

    # What a person does.

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of texts, any texts: 64-bit fingerprints of them as they are normalised."""
        return fingerprints(values)

    def randomize(self, codes: Codes, words: Words) -> NDArray[Any]:
        """Reports of codes that `encode` gave; block i of these people uses up part i of the words."""
        return self._in_blocks(self._randomize, codes, words)

    def _in_blocks(self, draw: Any, rows: NDArray[Any], words: Words) -> NDArray[Any]:
        out = self.form.empty(len(rows))

        def write(index: int, block: slice) -> None:
            out[block] = draw(rows[block], words.part(index).stream())

        memory.each_block(len(rows), write)
        return out

    # What the collector does.

    def count(self, reports: Any) -> Tally:
        """The tally of reports; one that no person can have sent is refused."""
        known, refused = report_parsing.lawful(self.form, reports, self.valid)
        parts = memory.each_block(len(known), lambda _, block: self._count(known[block]))
        counts = functools.reduce(np.add, parts, np.zeros(self._counts, np.int64))
        return Tally(design=self.digest, counts=counts, n=len(known), refused=refused)

    def estimate(self, tally: Tally, candidates: Sequence[str]) -> CandidateEstimate:
        """The share of each candidate among all answers, and that of all other texts, by least squares.

        The share is that in the population which the people come from.

        Parameters
        ----------
        tally
            As `tally` or `simulate` gives it.
        candidates
            Different texts, at least one. Choose them without a look at these reports: p-values and intervals hold for
            a list that the reports did not choose.
        """
        self._check_tally(tally)
        if not tally.n:
            raise DataError(NO_REPORT)
        labels = _texts(candidates)
        people, counts = self._cells(tally)
        table = self.hash.table(fingerprint(text) for text in labels)
        return CandidateEstimate(
            labels=labels,
            fitted=fit(CohortCounts(people, counts, self.cell_law), table),
            n=tally.n,
            refused=tally.refused,
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=tally.simulated,
        )

    def simulate(self, people: Mapping[str, int], rng: Randomness = None) -> Tally:
        """A tally with the law of `privatize` and `tally` on people of whom people[text] answer with a text.

        Nobody is asked: the tally is drawn from its known law, and marked as simulated.
        """
        if not isinstance(people, Mapping):
            raise DataTypeError("people must be a mapping from texts to how many people answer with each.")
        labels = _texts(list(people), "people") if people else ()
        many = [_checks.integer(low=0, high=MOST_SIMULATED, people=count) for count in people.values()]
        generator = Entropy.resolve(rng, "simulate", self.digest).generator()
        table = self.hash.table(fingerprint(text) for text in labels)
        even = np.full(self.cohorts, 1 / self.cohorts)
        where = np.array([generator.multinomial(count, even) for count in many], np.int64)
        counts = self._simulate(where.reshape(-1, self.cohorts), table, generator)
        return Tally(design=self.digest, counts=counts, n=sum(many), simulated=True)

    def variance(self, frequency: float, n: int, candidates: int = 1) -> float:
        """The variance of the share of a candidate, where no other text is frequent.

        An approximation in the number of candidates: it takes their cells for evenly spread, and is up to a tenth too
        high where there is a candidate for every third cell.
        """
        share, people = _checks.fraction(frequency=frequency), _checks.integer(low=1, n=n)
        many = _checks.integer(low=1, high=self.cohorts * self.hash.cells - 1, candidates=candidates)
        return self.cell_law.variance(share, self.hash.cells) / people / (1 - (many - 1) / self._free)

    @property
    def _free(self) -> int:
        """How many candidates least squares can tell apart."""
        return self.cohorts * (self.hash.cells - 1)

    def _check_tally(self, tally: Tally) -> None:
        check_design(tally, self.digest, self._counts)
        people, counts = self._cells(tally)
        if sum(people.tolist()) != tally.n or (counts > people[:, None]).any():
            raise DataError(IMPOSSIBLE)

    # What each mechanism fills in.

    @cached_property
    @abstractmethod
    def form(self) -> Form:
        """The dtype and bytes of a report."""

    @property
    @abstractmethod
    def _counts(self) -> int:
        """How many counts a tally has."""

    @abstractmethod
    def _randomize(self, codes: Codes, entropy: Entropy) -> NDArray[Any]:
        """The reports of one block of people."""

    @abstractmethod
    def _count(self, reports: NDArray[Any]) -> Counts:
        """The counts of one block of valid reports."""

    @abstractmethod
    def _cells(self, tally: Tally) -> tuple[Counts, Counts]:
        """How many people each cohort has, and how many of them count in each cell: a row per cohort."""

    @abstractmethod
    def _simulate(self, where: Counts, table: Counts, generator: np.random.Generator) -> Counts:
        """The counts of a tally, from how many people of each text are in each cohort, and the cells of the texts."""


def _texts(candidates: Sequence[str], name: str = "candidates") -> tuple[str, ...]:
    """The candidates, which must be different texts."""
    if isinstance(candidates, str) or not isinstance(candidates, Sequence):
        raise ParameterError(f"{name} must be a list of texts.")
    labels = tuple(candidates)
    if not labels or not all(isinstance(text, str) for text in labels):
        raise ParameterError(f"{name} must be texts, at least one.")
    codes = fingerprints(list(labels)).tolist()
    if len(set(codes)) < len(labels):
        raise ParameterError(f"{name} must be different answers: two of these are spellings of one.")
    return labels


def most_cohorts(cells: int, hashes: int = 1) -> int:
    """The most cohorts, where each has this number of cells and a text sets this number of them."""
    return min(COHORT_LIMIT, COUNTS_LIMIT // cells, TRANSFORM_LIMIT // hashes**2)
