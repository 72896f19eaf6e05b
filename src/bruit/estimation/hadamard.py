"""The estimator of Hadamard response: one Walsh–Hadamard transform of the counts of messages per block of values.

With W(v) = Σ_y ± C(y), the sign of message y under the value's column and 0 outside its block, a report adds +1 or −1
to W(v) if it is in the block. Its mean is s for a person with value v and 0 for anybody else, so f̂ = W/(n·s). How often
a report falls in the block depends on the share F of people with a value of that block: h = h₀ + s·F. So there is no
single q, and the variance of a value depends on its whole block.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import LimitError, ParameterError
from bruit.estimation import consistency, intervals
from bruit.estimation.possible import nearest_possible
from bruit.estimation.support import COVARIANCE_LIMIT, Floats, IntervalMethod, Target
from bruit.estimation.tally import Counts


def block_sums(frequency: Floats, blocks: int, width: int) -> Floats:
    """The sum of the frequencies in each block of `width` values; the last ones may be short or empty."""
    return np.asarray(_in_blocks(frequency, blocks, width).sum(axis=1))


def block_variance(frequency: Floats, reach: Floats, n: int, signal: float, target: Target) -> Floats:
    """The exact variance of f̂ where the true frequency is f and a report falls in the block with probability h.

    For the population, [h − s²f²] / (n s²); for these n people, [h − s²f] / (n s²): less by f(1−f)/n.
    """
    own = frequency**2 if target == "population" else frequency
    return (reach / signal**2 - own) / n


@dataclass(frozen=True)
class HadamardModel:
    """Counts of messages and the law behind them.

    Parameters
    ----------
    messages
        Counts of messages, one row per block.
    n
        How many reports there are.
    size
        How many values there are; value v has column v mod (b−1) + 1 of block v // (b−1).
    inside, outside
        The exact probabilities of a message in the value's own set, and of any other.
    """

    messages: Counts
    n: int
    size: int
    inside: Fraction
    outside: Fraction

    @property
    def width(self) -> int:
        """How many values a block has room for."""
        return int(self.messages.shape[1]) - 1

    @property
    def signal(self) -> float:
        """The mean of a report's sign for the person's own value: s = (A − B)·b/(2Z)."""
        return float((self.inside - self.outside) * (self.width + 1) / 2)

    @cached_property
    def sums(self) -> Counts:
        """W(v), in integers."""
        return self._spread(self.messages)

    def frequency(self) -> Floats:
        """f̂ = W / (n·s)."""
        return self.sums / (self.n * self.signal)

    def reach(self, slack: float = 0.0) -> Floats:
        """For each value, the observed share of reports in its block, drawn to one half as by `slack` more reports."""
        if len(self.messages) == 1:
            return np.ones(self.size)
        share = (self.messages.sum(axis=1) + slack / 2) / (self.n + slack)
        return np.repeat(share, self.width)[: self.size]

    def variance(self, frequency: Floats, target: Target) -> Floats:
        """See `block_variance`, with the observed share of reports in the block, or the nearest possible.

        The share is far nearer to the truth than what the sum of all estimated frequencies of a block would give. It
        cannot be below h₀, that of a block whose values nobody has.
        """
        reach = nearest_possible(self.reach(), least=self._reach_of(np.zeros(self.size)))
        return block_variance(nearest_possible(frequency), reach, self.n, self.signal, target)

    def _reach_of(self, share: Floats) -> Floats:
        """The share of reports in a block where this share of the people has a value of it: h₀ + s·F."""
        if len(self.messages) == 1:
            return np.ones_like(share)
        return np.asarray(float(self.outside * (self.width + 1)) + self.signal * share)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """Ends in frequencies, not clipped to 0..1: all f that a z-test at this level would not reject.

        ``"wilson"`` solves (f̂ − f)² = z²·(h/s² − f²)/n for the population, z²·(h/s² − f)/n for the people; it is
        Wilson's interval itself where there is one block.
        """
        if method == "clopper-pearson":
            raise ParameterError(
                'method "clopper-pearson" needs a binomial count, which Hadamard response does not have: use "wilson".'
            )
        raw = self.frequency()
        if method == "wald":
            return intervals.wald(raw, self.variance(raw, target), level)
        squared = intervals.normal_quantile(level) ** 2
        # h = h₀ + s·F is not below s·f.
        reach = nearest_possible(self.reach(squared), least=self.signal * nearest_possible(raw))
        c, noise = squared / self.n, reach / self.signal**2
        if target == "people":
            half = np.sqrt(np.maximum(c * (c / 4 - raw + noise), 0.0))
            return raw - c / 2 - half, raw - c / 2 + half
        half = np.sqrt(np.maximum(c * ((1 + c) * noise - raw**2), 0.0))
        return (raw - half) / (1 + c), (raw + half) / (1 + c)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """Cov(f̂ᵤ, f̂ᵥ) for all pairs: the product of two columns' signs is the sign of a third, their exclusive or.

        In one block E[sign·sign] = s·f(w), with w the value of that third column; across blocks it is 0.
        """
        if self.size > COVARIANCE_LIMIT:
            raise LimitError(
                f"A covariance matrix is made for at most {COVARIANCE_LIMIT:,} values, this has {self.size:,}."
            )
        matrix = -np.outer(frequency, frequency) if target == "population" else np.zeros((self.size, self.size))
        for start in range(0, self.size, self.width):
            here = slice(start, min(start + self.width, self.size))
            columns = np.arange(1, here.stop - start + 1)
            third = np.zeros(self.width + 1)
            third[columns] = frequency[here]
            matrix[here, here] += third[columns[:, None] ^ columns] / self.signal
        matrix /= self.n
        # With fewer reports in a block than its frequencies need, this would be the covariance of no law.
        needed = np.repeat(self._reach_of(block_sums(frequency, len(self.messages), self.width)), self.width)
        reach = np.maximum(self.reach(), needed[: self.size])
        np.fill_diagonal(matrix, block_variance(frequency, reach, self.n, self.signal, target))
        return matrix

    def absent_limit(self, level: float) -> Floats:
        """The binomial quantile: for a value that nobody has, the signs of the reports in its block are fair coins."""
        in_block = self.messages.sum(axis=1)
        heads = intervals.exceeded_limit(in_block, 0.5, (1 - level) / self.size)
        limit = (2 * heads - in_block) / (self.n * self.signal)
        return np.repeat(limit, self.width)[: self.size]

    def most_likely(self) -> Floats:
        """By EM: see `em_step`."""
        return consistency.em(self.em_step, self.size, n=self.n)

    def em_step(self, frequency: Floats) -> tuple[Floats, float]:
        """One step of EM on the true channel, and the log-likelihood per report; both ways are such transforms."""
        from bruit.kernels import hadamard_response as kernel

        outside, gap = float(self.outside), float(self.inside - self.outside)
        # Σ of f over the values whose set holds a message: (F ± …)/2, the signs of a row being those of a column.
        own = np.zeros(self.messages.shape)
        own[:, 1:] = _in_blocks(frequency, len(self.messages), self.width)
        mass = own.sum(axis=1, keepdims=True)
        kernel.transform(own)
        share = outside + gap * np.maximum(own + mass, 0.0) / 2
        weight = self.messages / (self.n * share)
        in_block = np.repeat(weight.sum(axis=1), self.width)[: self.size]
        better = frequency * (outside * weight.sum() + gap * (in_block + self._spread(weight)) / 2)
        likelihood = float((self.messages * np.log(share)).sum()) / self.n
        return better / better.sum(), likelihood

    def _spread(self, messages: NDArray[Any]) -> NDArray[Any]:
        """Σ_y ± messages(y) for each value."""
        from bruit.kernels import hadamard_response as kernel

        rows = messages.copy()
        kernel.transform(rows)
        return rows[:, 1:].reshape(-1)[: self.size]


def _in_blocks(frequency: Floats, blocks: int, width: int) -> Floats:
    """The frequencies in one row per block, filled up with zeros."""
    whole = np.zeros(blocks * width)
    whole[: frequency.size] = frequency
    return whole.reshape(blocks, width)
