"""What designs share in which everybody reports on every attribute: a column of reports per attribute."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.collection.design import Design, Folded, Reports
from bruit.domains.codes import Codes
from bruit.entropy import Words
from bruit.oracles import Repeated


@dataclass(frozen=True, eq=False)
class ColumnDesign(Design):
    """A design whose reports are a column per attribute, under the attribute's own name."""

    def empty_reports(self, n: int) -> Reports:
        """Room for the reports of n people."""
        return {name: mechanism._empty_reports(n) for name, mechanism in self.mechanisms.items()}

    @abstractmethod
    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        """Write the reports of one block of people."""

    def refresh(self, memos: Reports, repeated: Mapping[str, Repeated], words: Words) -> Reports:
        """Each column by itself."""
        own = words.split(self.d)
        return {name: repeated[name].report(memos[name], part) for name, part in zip(self.schema, own, strict=True)}

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Those of whom every report is possible."""
        return np.asarray(
            np.all([mechanism.valid(reports[name]) for name, mechanism in self.mechanisms.items()], axis=0)
        )

    def _count(self, reports: Reports) -> Folded:
        n = len(next(iter(reports.values())))
        parts = [mechanism._count(reports[name]) for name, mechanism in self.mechanisms.items()]
        if not any(refused for _, refused in parts):
            return Folded(np.concatenate([counts for counts, _ in parts]), n, 0)
        # Seldom: find the people with an impossible report, and count the others.
        fine = self.valid(reports)
        kept = [mechanism._count(reports[name][fine])[0] for name, mechanism in self.mechanisms.items()]
        return Folded(np.concatenate(kept), int(fine.sum()), n - int(fine.sum()))
