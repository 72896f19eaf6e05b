"""What oracles share whose report is one bit per value, packed in bytes: unary encoding and subset selection."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.engines import memory, report_parsing
from bruit.errors import DataError
from bruit.estimation import consistency
from bruit.estimation.estimate import Consistent
from bruit.estimation.tally import NO_REPORT
from bruit.laws import BitsLaw, TwoLevelLaw
from bruit.oracles.base import SupportOracle

Rows = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class PackedOracle(SupportOracle):
    """An oracle whose report is a row of bits, ``uint8`` in little bit order: value v is bit v & 7 of byte v >> 3.

    The bits beyond the last value are zero; a row where they are not was made by no person.
    """

    def supports(self, reports: Rows) -> NDArray[np.bool_]:
        """Those whose bit is set."""
        return np.unpackbits(reports, axis=1, count=self.size, bitorder="little").view(np.bool_)

    @property
    def report_bytes(self) -> float:
        """One bit per value, in whole bytes."""
        return self._width

    def most_likely(self, reports: Any) -> Consistent:
        """The most likely frequencies given the reports, by EM on the true likelihood of this mechanism."""
        rows = self._valid_rows(report_parsing.parse(self.form, reports).kept())
        if not len(rows):
            raise DataError(NO_REPORT)
        frequency = consistency.em(lambda frequency: self._em_step(rows, frequency), self.size, n=len(rows))
        frequency.flags.writeable = False
        return Consistent(method="em", frequency=frequency, labels=self.domain.names)

    @property
    @abstractmethod
    def law(self) -> BitsLaw | TwoLevelLaw:
        """The exact law; its ratio is how much likelier a set bit makes a value."""

    def _valid_rows(self, rows: Rows) -> Rows:
        """The rows that a person can have sent; `rows` itself if all are so."""
        valid = self.valid(rows)
        return rows if valid.all() else rows[valid]

    @property
    def _width(self) -> int:
        """How many bytes a report has."""
        return (self.size + 7) // 8

    def _empty_reports(self, n: int) -> Rows:
        return np.empty((n, self._width), np.uint8)

    def _em_step(self, rows: Rows, frequency: consistency.Floats) -> tuple[consistency.Floats, float]:
        """Better frequencies, and the log-likelihood per report of those before, but for a constant."""
        from bruit.kernels import bits

        # P(y|v) is proportional to ρ^{y_v} with ρ the law's ratio, for the other bits cancel.
        boost = float(self.law.ratio - 1)

        def expect(_: int, block: slice) -> tuple[consistency.Floats, float, float]:
            weight = np.empty(self.size)
            return (weight, *bits.expect(rows[block], frequency, boost, weight))

        weights, inverses, likelihoods = zip(*memory.each_block(len(rows), expect), strict=True)
        better = frequency * (sum(inverses) + boost * np.sum(weights, axis=0))
        return better / better.sum(), sum(likelihoods) / len(rows)
