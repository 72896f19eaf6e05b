"""Reports of open answers, which stay single: no list of answers bounds their counts, so that no tally holds them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import DesignError


@dataclass(frozen=True, eq=False, repr=False)
class OpenReports:
    """Reports of one design that a person can have sent, and how many others there were.

    Parameters
    ----------
    design
        The digest of the design that made them.
    rows
        The reports.
    refused
        How many no person can have sent.
    simulated
        Whether any of them were simulated.
    """

    design: str
    rows: NDArray[Any]
    refused: int = 0
    simulated: bool = False

    @property
    def n(self) -> int:
        """How many reports there are."""
        return len(self.rows)

    def __add__(self, other: object) -> OpenReports:
        if not isinstance(other, OpenReports):
            return NotImplemented
        other.check(self.design)
        rows = np.concatenate([self.rows, other.rows])
        return OpenReports(self.design, rows, self.refused + other.refused, self.simulated or other.simulated)

    def distinct(self) -> OpenReports:
        """The first report of each id; others are copies of it, or forged, and are refused.

        Two people draw one id with a chance of n²/2⁶⁵. Copies would break the independence that certifies answers.
        """
        _, first = np.unique(self.rows["id"], return_index=True)
        return replace(self, rows=self.rows[np.sort(first)], refused=self.refused + self.n - first.size)

    def check(self, design: str) -> None:
        """An error if another design made them."""
        if self.design != design:
            raise DesignError("These reports are of another design: use theirs.", expected=design, actual=self.design)

    def __repr__(self) -> str:
        return f"OpenReports(n={self.n}, refused={self.refused}, design={self.design!r})"
