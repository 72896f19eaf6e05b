"""Hadamard response (HR): report one row of a block of a Hadamard matrix, chosen with the signs of the value's column.

The oracle for very many values: a report has log₂ of about 2k bits, drawing it takes constant time, and the collector
decodes all values by one fast transform. PGR has up to half its variance, and is to be preferred where it serves.

Values are laid out in B blocks of b − 1 columns, B and b powers of two. The textbook has the largest B below e^ε; here
it is chosen by exact error: the sum over all values of the variance, for people who are spread evenly over the values.
With all blocks full that sum does not depend on how people are spread, because a report is in exactly one block.
Rejected: the variance of a rare value in an empty block. It favours few blocks, and then a value that shares its block
with a frequent one pays for it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.entropy import Entropy
from bruit.errors import ParameterError
from bruit.estimation.hadamard import HadamardModel, block_sums, block_variance
from bruit.estimation.support import Floats, Target
from bruit.estimation.tally import Counts, Tally
from bruit.laws import Hadamard, TwoLevelLaw
from bruit.oracles.messages import MessageOracle

#: The most blocks: more than any domain has values.
BLOCKS_LIMIT = 1 << 20


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(MessageOracle):
    """Report a row of one block of Hadamard matrices, likelier by e^ε where the value's column has sign +.

    Value x has column c = x mod (b−1) + 1 of block x // (b−1). Message number j·b + y is row y of block j; it is in the
    set of x when j is the block of x and y & c has an even number of ones, which holds for b/2 rows.

    Parameters
    ----------
    epsilon, k, labels, domain
        As for every `Oracle`.
    blocks
        How many blocks there are, a power of two. 0 stands for the best, by the sum of the variances of all values.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). Each message in the value's set has weight A, each other one B, with
    A/B ≤ e^ε in whole numbers and the same total for every value, so no report is more than A/B times likelier under
    one value than under another. ``hadamard_response.proof.md`` has the argument.

    Error
    -----
    n·Var = (e^ε+2B−1)·[F(e^ε+1) + 2(1−F)]/(e^ε−1)² − f², where F is the share of people with a value in the same
    block: a value's variance depends on its neighbours. On average about twice that of subset selection at large ε.

    References
    ----------
    Acharya, J., Sun, Z., Zhang, H. (2019), Hadamard response: estimating distributions privately, efficiently, and with
    little communication.

    Examples
    --------
    >>> oracle = HadamardResponse(epsilon=3.0, k=100)
    >>> oracle.blocks, oracle.messages
    (8, 128)
    >>> reports = oracle.privatize([0, 0, 5, 2], rng=7)
    >>> reports.dtype, len(reports)
    (dtype('uint8'), 4)
    >>> oracle.guarantee.epsilon <= 3.0
    True
    """

    blocks: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        blocks = _checks.integer(low=0, high=BLOCKS_LIMIT, blocks=self.blocks)
        if blocks & (blocks - 1):
            raise ParameterError(f"blocks must be a power of two, or 0 for the best, got {blocks}.")
        object.__setattr__(self, "blocks", blocks or _best_blocks(self.epsilon, self.size))

    name: ClassVar[str] = "HR"

    @property
    def messages(self) -> int:
        """How many different reports there are."""
        return self.law.outcomes

    @property
    def votes_per_cheater(self) -> float:
        """By how many people's worth one dishonest report can raise a value of its choice: 1/s."""
        return float(1 / _signal(self.law))

    def scores(self, reports: NDArray[Any]) -> Floats:
        """±1/s by the sign of the row in the value's column, and 0 in another block."""
        held = self.supports(reports)
        block = reports.astype(np.int64)[:, None] // (self._width + 1) == np.arange(self.size) // self._width
        return np.asarray((2.0 * held - block) / float(_signal(self.law)))

    def variance(self, frequency: Any, n: int, target: Target = "population") -> NDArray[np.float64]:
        """The exact variance of the estimate of a value whose true frequency is given.

        Parameters
        ----------
        frequency
            The frequencies of all values: the variance of each depends on the sum over its block. Any other shape is
            read as separate values each of which is alone in its block; with one block all people are in it anyway.
        n
            How many people report.
        target
            ``"population"`` or ``"people"``.
        """
        share = np.asarray(frequency, float)
        signal, law = _signal(self.law), self.law
        floor = float(_rows(law, self.blocks) * law.probability(inside=False))
        reach = floor + float(signal) * self._block_share(share)
        return block_variance(share, reach, n, float(signal), target)

    def _block_share(self, frequency: Floats) -> Floats:
        """F: the share of people with a value in the same block."""
        if self.blocks == 1:
            return np.ones_like(frequency)
        if frequency.shape != (self.size,):
            return frequency
        return np.repeat(block_sums(frequency, self.blocks, self._width), self._width)[: self.size]

    @cached_property
    def law(self) -> TwoLevelLaw:
        """The rows with sign + in the value's block, or any row of any block."""
        return _law(self.epsilon, self.size, self.blocks)

    @property
    def _width(self) -> int:
        """How many values a block has room for."""
        return _rows(self.law, self.blocks) - 1

    @property
    def _covered(self) -> int:
        # Columns 1..m cover all rows from m = 3 on; 0, 1 or 2 of them leave b, b/2 or b/4 rows out.
        rows, (full, rest) = self._width + 1, divmod(self.size, self._width)
        return full * _covered_rows(rows, self._width) + _covered_rows(rows, rest)

    def _settings(self) -> dict[str, Any]:
        return {"blocks": self.blocks}

    def _members(self, codes: Codes | Counts, numbers: Counts) -> Counts:
        from bruit.kernels import hadamard_response as kernel

        messages = np.empty(codes.size, np.int64)
        kernel.members(codes, numbers, self._width, messages)
        return messages

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import hadamard_response as kernel

        kernel.randomize(codes, self._words(entropy, codes.size), self._weights(), self._width, out)

    def _model(self, tally: Tally) -> HadamardModel:
        law = self.law
        inside, outside = law.probability(inside=True), law.probability(inside=False)
        rows = tally.counts.reshape(self.blocks, -1)
        return HadamardModel(messages=rows, n=tally.n, size=self.size, inside=inside, outside=outside)


def _law(epsilon: float, size: int, blocks: int) -> TwoLevelLaw:
    """The law with b rows to a block, the least power of two with room for all values."""
    rows = 2
    while blocks * (rows - 1) < size:
        rows *= 2
    return TwoLevelLaw.calibrate(epsilon, Hadamard(rows=rows, blocks=blocks))


def _rows(law: TwoLevelLaw, blocks: int) -> int:
    return law.outcomes // blocks


def _signal(law: TwoLevelLaw) -> Fraction:
    """The mean of a report's sign for the person's own value: s = (A − B)·b/(2Z)."""
    return Fraction((law.inside - law.outside) * law.members, law.total)


def _covered_rows(rows: int, columns: int) -> int:
    """How many rows have sign + in at least one of the columns 1..m."""
    return rows - (rows >> columns) if columns < 3 else rows


@functools.lru_cache(maxsize=256)
def _best_blocks(epsilon: float, size: int) -> int:
    """The number of blocks with the least sum of variances for evenly spread people; the fewer of equals."""
    candidates = [1 << i for i in range((size - 1).bit_length() + 1)]
    return min(candidates, key=lambda blocks: _total_error(epsilon, size, blocks))


def _total_error(epsilon: float, size: int, blocks: int) -> Fraction:
    """Σ over the values of n·Var + f², exactly, when every value has frequency 1/size."""
    law = _law(epsilon, size, blocks)
    rows, signal = _rows(law, blocks), _signal(law)
    full, rest = divmod(size, rows - 1)
    # h = h₀ + s·F with F = m/size for a block of m values; each of them has it.
    shared = full * (rows - 1) ** 2 + rest**2
    return (size * rows * law.probability(inside=False) + signal * Fraction(shared, size)) / signal**2
