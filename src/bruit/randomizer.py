"""What turns people's values into reports: a mechanism does it for a column, a plan for a record.

The seams are pure, and nothing goes around them: codes come from `encode`, reports from `randomize`, counts from
`count`. What holds for an array holds for a file and for Spark because it is the same call. The verbs are written on
the seams.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Randomness, Words
from bruit.errors import BruitError
from bruit.estimation.tally import Tally
from bruit.typing import SourceLike

__all__ = ["Randomizer"]


class Randomizer(ABC):
    """A mechanism or a plan, as engines, attacks, audits, models and collectors see it."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """32 hexadecimal digits that identify it; tallies carry it."""

    @property
    @abstractmethod
    def form(self) -> Any:
        """The dtype and bytes of a report; of a plan, of each column of reports, by name."""

    @abstractmethod
    def encode(self, values: Any) -> Any:
        """Codes of values: what `randomize` takes, and the only way to it. They are opaque."""

    @abstractmethod
    def randomize(self, codes: Any, words: Words) -> Any:
        """Reports of codes that `encode` gave; block i of these people uses up part i of the words."""

    @abstractmethod
    def valid(self, reports: Any) -> NDArray[np.bool_]:
        """Which reports a person can have sent, of reports in their form."""

    @abstractmethod
    def count(self, reports: Any) -> Tally:
        """The tally of reports in memory; what no person can have sent is refused, and never an error."""

    def privatize(self, values: SourceLike, rng: Randomness = None) -> Any:
        """Reports, one per person, in the order of the values.

        Parameters
        ----------
        values
            One entry per person, from the declared domain. One person is ``[value]``.
        rng
            None for secure randomness; a whole number for a reproducible stream (for studies: it is not private
            against anyone who has the number); or an `Entropy`.
        """
        return self.randomize(self.encode(values), Words.resolve(rng, "privatize", self.digest))

    def tally(self, reports: SourceLike) -> Tally:
        """Count reports. Whatever no person can have sent is counted as refused, and not in n.

        Parameters
        ----------
        reports
            An array as `privatize` gives it; or a list, an array of objects, or a column of pandas, polars or pyarrow,
            of which each entry is one report or one refusal. A NumPy array of another dtype or shape is an error.
        """
        tally = self.count(reports)
        if tally.refused and not tally.n:
            self._warn_of_answers(reports)
        return tally

    def _warn_of_answers(self, reports: Any) -> None:
        """Say so where all that was refused are labels, as `privatize` takes them. It is never an error."""
        if not isinstance(reports, list | tuple | np.ndarray) or not all(isinstance(entry, str) for entry in reports):
            return
        try:
            self.encode(reports)
        except BruitError:
            return
        warnings.warn(
            "None of these is a report, and all could be answers: make reports of them first, with privatize. A tally "
            "of answers counts nobody.",
            stacklevel=3,
        )
