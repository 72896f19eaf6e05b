"""What oracles share whose report is one bit per value, packed in bytes: unary encoding and subset selection."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.engines import memory
from bruit.errors import DataError, DataTypeError
from bruit.estimation import consistency
from bruit.estimation.estimate import Consistent
from bruit.oracles.base import SupportOracle
from bruit.privacy.law import BitsLaw, TwoLevelLaw
from bruit.tables import counted

Rows = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class PackedOracle(SupportOracle):
    """An oracle whose report is a row of bits, ``uint8`` in little bit order: value v is bit v & 7 of byte v >> 3.

    The bits beyond the last value are zero; a row where they are not was not made by an honest person.
    """

    @property
    def report_bytes(self) -> float:
        """One bit per value, in whole bytes."""
        return self._width

    def most_likely(self, reports: Any) -> Consistent:
        """The most likely frequencies given the reports, by EM on the true likelihood of this mechanism."""
        rows = self._honest_rows(self._check_reports(reports))
        if not len(rows):
            raise DataError("There is no valid report to estimate from.")
        frequency = consistency.em(lambda given: self._em_step(rows, given), self.size, n=len(rows))
        frequency.flags.writeable = False
        return Consistent(method="em", frequency=frequency, labels=self.domain.names)

    @property
    @abstractmethod
    def _law(self) -> BitsLaw | TwoLevelLaw:
        """The exact law; its ratio is how much likelier a set bit makes a value."""

    @abstractmethod
    def _honest_rows(self, rows: Rows) -> Rows:
        """The rows that an honest person can have sent."""

    @property
    def _width(self) -> int:
        """How many bytes a report has."""
        return (self.size + 7) // 8

    def _empty_reports(self, n: int) -> Rows:
        return np.empty((n, self._width), np.uint8)

    def _check_reports(self, reports: Any) -> Rows:
        try:
            array = np.asarray(reports)
        except ValueError:  # a ragged list
            array = np.empty((), object)
        if array.ndim == 1 and not array.size:
            return self._empty_reports(0)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != self._width:
            size = counted(self._width, "byte")
            raise DataTypeError(f"reports must be an array of uint8 with one row of {size} per person.")
        return array

    def _em_step(self, rows: Rows, frequency: consistency.Floats) -> tuple[consistency.Floats, float]:
        """Better frequencies, and the log-likelihood per report of those given, but for a constant."""
        from bruit.kernels import bits

        # P(y|v) is proportional to ρ^{y_v} with ρ the law's ratio, for the other bits cancel.
        boost = float(self._law.ratio - 1)

        def expect(_: int, block: slice) -> tuple[consistency.Floats, float, float]:
            weight = np.empty(self.size)
            return (weight, *bits.expect(rows[block], frequency, boost, weight))

        weights, inverses, likelihoods = zip(*memory.each_block(len(rows), expect), strict=True)
        better = frequency * (sum(inverses) + boost * np.sum(weights, axis=0))
        return better / better.sum(), sum(likelihoods) / len(rows)
