"""A statistic from outside: the most frequent value, by the exponential mechanism on counts."""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from bruit.privacy.zcdp import bounded_range_rho
from bruit.releases import Exponential, Statistic
from bruit.rounding import log_ceiling


@dataclass(frozen=True)
class MostFrequent(Statistic):
    """The most frequent value of a column."""

    kind: ClassVar[str] = "most frequent value"
    column: str | None = None
    _: KW_ONLY
    domain: Any
    epsilon: float
    neighbours: Any = "add-remove"
    size = property(lambda self: self.domain.size)
    rho = property(lambda self: bounded_range_rho(self.epsilon))
    # One record more raises one count and no other: all scores move the same way. A replaced one moves two.
    choice = property(lambda self: Exponential.calibrate(self.epsilon, monotone=not self.public))

    def row_codes(self, batch):
        return [self.domain.encode(self.values(batch)).astype(np.int64)]

    def count(self, batch):
        return np.bincount(self.row_codes(batch)[0], minlength=self.size)

    def publish(self, counts, words):
        place = self.choice.choose(np.minimum(counts.max() - counts, 2**40).astype(np.int64), words.stream())
        return self._result([self.domain.names[place]], simulated=not words.secure)

    def loss_between(self, first, second):
        return Fraction(log_ceiling(self.choice.ratio(first.max() - first, second.max() - second)))
