"""O-RR: randomised response over the cells of a cohort's public hash, for texts whose candidates are named afterwards.

A person is in a cohort, drawn at random, whose public hash puts any text into one of g cells. The report is the cohort
and the cell, after randomised response. It is local hashing with a pool of C functions, on the fingerprint of a text.

Least squares over the candidates remove what a pool otherwise adds, that candidates share cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import BruitError, FormatError, translated
from bruit.estimation.tally import Counts, Tally
from bruit.laws import Form, Itself, TwoLevelLaw
from bruit.open_answers.candidates import CellLaw
from bruit.open_answers.cohorts import CohortMechanism, most_cohorts
from bruit.open_answers.public_hash import HASH, PublicHash
from bruit.privacy.guarantee import Guarantee
from bruit.rounding import exp_floor

#: The most cells of a cohort.
CELLS_LIMIT = 2**16
#: How many cohorts there are by default.
DEFAULT_COHORTS = 1024


@dataclass(frozen=True, kw_only=True)
class HashedResponse(CohortMechanism):
    """Report any text once, in few bits; the collector names candidates afterwards (O-RR).

    A report is one whole number: cohort · cells + cell.

    Parameters
    ----------
    epsilon
        The most that one report may tell.
    cells
        g, how many cells a hash function has; 0 takes about e^ε + 1, which is best.
    cohorts
        C, how many public hash functions there are; 0 takes 1,024, or as many as there may be. More cost the collector
        memory, and tell more candidates apart.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). The cohort is drawn without a look at the text. Given it, the report
    is randomised response over g cells with whole weights. ``hashed_response.proof.md`` has the argument.

    Error
    -----
    n·Var is that of OLH for a rare text, 4e^ε/(e^ε − 1)² with the best g, times about 1/(1 − S/(C(g−1))) with S
    candidates.

    References
    ----------
    Kairouz, P., Bonawitz, K., Ramage, D. (2016), Discrete distribution estimation under local privacy.

    Examples
    --------
    >>> design = HashedResponse(epsilon=2.0)
    >>> design.cells, design.form.size
    (8, 2)
    >>> tally = design.tally(design.privatize(["bus"] * 600 + ["tram"] * 400, rng=7))
    >>> design.estimate(tally, ["Bus", "tram"]).frequency.round(1).tolist()
    [0.6, 0.4]
    """

    name: ClassVar[str] = "O-RR"

    epsilon: float
    cells: int = 0
    cohorts: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        known = _checks.integer(low=0, high=CELLS_LIMIT, cells=self.cells)
        best = min(CELLS_LIMIT, exp_floor(self.epsilon, 1) + 1)
        object.__setattr__(self, "cells", _checks.integer(low=2, cells=known or best))
        if _checks.integer(low=0, cohorts=self.cohorts) == 0:
            object.__setattr__(self, "cohorts", min(DEFAULT_COHORTS, most_cohorts(self.cells)))
        self._check_cohorts(self.cells)

    @cached_property
    def law(self) -> TwoLevelLaw:
        """Given the cohort, the cell of the text or any other."""
        return TwoLevelLaw.calibrate(self.epsilon, Itself(values=self.cells))

    @cached_property
    def hash(self) -> PublicHash:
        """Which cell a text has in each cohort."""
        return PublicHash(self.cohorts, self.cells)

    @cached_property
    def form(self) -> Form:
        """The dtype of a report."""
        return Form.integers(self._counts)

    @property
    def guarantee(self) -> Guarantee:
        """What one report tells: the logarithm of the law's ratio, rounded up."""
        return Guarantee(epsilon=self.law.epsilon, neighbours="value")

    @property
    def cell_law(self) -> CellLaw:
        """How often the cell of the text is reported, and any other."""
        own, other = (float(self.law.probability(inside=inside)) for inside in (True, False))
        return CellLaw(own, other, exclusive=True)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Those whose cohort exists."""
        return np.asarray(reports < self._counts)

    @property
    def _counts(self) -> int:
        return self.cohorts * self.cells

    def _randomize(self, codes: Codes, entropy: Entropy) -> NDArray[Any]:
        from bruit.kernels import randomized_response as kernel

        law, cohorts = self.law, entropy.integers(self.cohorts, codes.size)
        own = self.hash.of_people(codes, cohorts)[:, 0].astype(np.uint32)
        drawn = np.empty(codes.size, np.uint32)
        words = memory.words_below(entropy, law.total, codes.size)
        kernel.randomize(own, words, np.uint64(law.inside - law.outside), np.uint64(law.outside), drawn)
        return (cohorts * np.uint64(self.cells) + drawn).astype(self.form.dtype)

    def _count(self, reports: NDArray[Any]) -> Counts:
        return np.bincount(reports.astype(np.int64), minlength=self._counts)

    def _cells(self, tally: Tally) -> tuple[Counts, Counts]:
        table = tally.counts.reshape(self.cohorts, self.cells)
        return table.sum(axis=1), table

    def _simulate(self, where: Counts, table: Counts, generator: np.random.Generator) -> Counts:
        keep = self.law.probability(inside=True) - self.law.probability(inside=False)
        kept = generator.binomial(where, float(keep))
        even = np.full(self.cells, 1 / self.cells)
        counts = generator.multinomial((where - kept).sum(axis=0), even)
        for many, cells in zip(kept, table[:, :, 0], strict=True):
            counts[np.arange(self.cohorts), cells] += many
        return np.asarray(counts, np.int64).reshape(-1)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        sizes = {"cells": self.cells, "cohorts": self.cohorts}
        return {"open_answers": self.name, "hash": HASH, "epsilon": self.epsilon, **sizes}

    @classmethod
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`."""
        rule = "This document does not describe O-RR that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            if body["open_answers"] != cls.name or body["hash"] != HASH:
                raise ValueError
            return cls(epsilon=body["epsilon"], cells=body["cells"], cohorts=body["cohorts"])
