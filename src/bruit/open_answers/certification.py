"""Which codes are certified: those with more support than their limit, as long as their shares fit into everybody.

Someone who chooses the id of a report can choose a function under which one report supports very many codes. Some
dozens of such reports lift thousands of codes above their limits. Their shares then add up to more than all people,
which honest reports hardly ever do. If so, all limits are raised, by the least number of forged reports that brings the
sum down to what is usual. What still exceeds them is shown. ``heavy_hitters.proof.md`` has the argument.

Rejected: an error, because a few forged reports would then hide all answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

#: Shares of honest reports add up to more than one by the least shares of this many false names at most.
MOST_FALSE_NAMES = 3
#: They add up to more by this many standard deviations of their sum at most, too; usually by this many.
DEVIATIONS, USUAL = 6.0, 2.0

Whole = NDArray[np.int64]


@dataclass
class Certification:
    """Certified codes, collected part by part; the order of the parts makes no difference.

    Parameters
    ----------
    n
        How many reports certify.
    p, q
        How often a report supports the person's own code, and any given other.
    limit
        The largest of the limits.
    """

    n: int
    p: float
    q: float
    limit: int
    codes: Whole = field(default_factory=lambda: np.empty(0, np.int64), init=False)
    support: Whole = field(default_factory=lambda: np.empty(0, np.int64), init=False)
    excess: Whole = field(default_factory=lambda: np.empty(0, np.int64), init=False)
    #: By how many reports all limits are raised.
    raised: int = field(default=0, init=False)

    def add(self, codes: Whole, support: Whole, excess: Whole) -> None:
        """Certify codes whose support exceeds their limits by this much; above 0, or they are left out."""
        self.codes, self.support, self.excess = (
            np.append(known, more) for known, more in
            ((self.codes, codes), (self.support, support), (self.excess, excess))
        )  # fmt: skip
        if self.raised or self._total(0) > self._most(MOST_FALSE_NAMES, DEVIATIONS):
            self.raised = self._least()
        kept = self.excess > self.raised
        self.codes, self.support, self.excess = self.codes[kept], self.support[kept], self.excess[kept]

    def _least(self) -> int:
        """The least number of reports, from what the limits are raised by on, that makes the sum what it should be."""
        low, high = self.raised - 1, int(self.excess.max(initial=self.raised))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._total(middle) <= self._most(0, USUAL, middle) else (middle, high)
        return max(high, 1)

    def _total(self, raised: int) -> float:
        """The sum of the shares of what exceeds the raised limits, less what as many reports lift each of them by."""
        support = self.support[self.excess > raised]
        return float(support.sum() - support.size * (raised + self.n * self.q)) / self._gap

    def _most(self, false_names: int, deviations: float, raised: int = 0) -> float:
        """The most that the sum may be: one, the least shares of some false names, and deviations of the sum."""
        many = int((self.excess > raised).sum())
        variance = self.n * (self.p * (1 - self.p) + many * self.q * (1 - self.q))
        least = max(0.0, self.limit + 1 - self.n * self.q)
        return 1 + (false_names * least + deviations * math.sqrt(variance)) / self._gap

    @property
    def _gap(self) -> float:
        """By how much more reports support a code that everybody has."""
        return max(1, self.n) * (self.p - self.q)
