"""Estimates from counts of messages: a value is supported by the messages of its set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.estimation import consistency
from bruit.estimation.support import Floats, SupportModel
from bruit.estimation.tally import Counts

#: How many entries of a table of support are held at a time.
COVARIANCE_CELLS = 1 << 22


@dataclass(frozen=True)
class MessageModel(SupportModel):
    """Counts of messages, each of which supports the values whose set it is in.

    Parameters
    ----------
    counts, n, p, q, both_own, both_other
        As in `SupportModel`.
    messages
        How often each message was reported.
    inside, outside
        The exact probabilities of a message in the value's own set, and of any other.
    value_sums, message_sums
        The sums over the messages of each value's set, and over the values that each message supports.
    supports
        Which values each of some messages supports: a row per message.
    """

    messages: Counts = field(kw_only=True)
    inside: Fraction = field(kw_only=True)
    outside: Fraction = field(kw_only=True)
    value_sums: Callable[[Floats], Floats] = field(kw_only=True)
    message_sums: Callable[[Floats], Floats] = field(kw_only=True)
    supports: Callable[[NDArray[Any]], NDArray[np.bool_]] = field(kw_only=True)

    def most_likely(self) -> Floats:
        """By EM: see `em_step`."""
        return consistency.em(self.em_step, self.counts.size, n=self.n)

    def em_step(self, frequency: Floats) -> tuple[Floats, float]:
        """One step of EM on the true channel, and the log-likelihood per report."""
        outside, gap = float(self.outside), float(self.inside - self.outside)
        # Rounding may leave a sum of nothing a little below zero.
        share = np.maximum(self._share(frequency), outside)
        weight = self.messages / (self.n * share)
        own = np.maximum(self.value_sums(weight), 0.0)
        better = frequency * (outside * weight.sum() + gap * own)
        likelihood = float(self.messages @ np.log(share)) / self.n
        return better / better.sum(), likelihood

    def _share(self, frequency: Floats) -> Floats:
        """How likely each message is where the frequencies are these."""
        return float(self.outside) + float(self.inside - self.outside) * self.message_sums(frequency)

    def _both(self, frequency: Floats) -> Floats:
        """How likely a report supports both values of a pair: Σ over the messages that do."""
        k, points = frequency.size, self.messages.size
        share, both = self._share(frequency), np.zeros((k, k))
        step = max(1, COVARIANCE_CELLS // k)
        for start in range(0, points, step):
            some = np.arange(start, min(start + step, points))
            held = self.supports(some).astype(float)
            both += (held.T * share[some]) @ held
        return both
