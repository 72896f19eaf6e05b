"""Oracles that report one independent bit per value, all from the law of the bits.

Bits are drawn 64 at a time, by comparing the binary digits of q with random words; all bits of a row are drawn so, and
then the true bit is overwritten from a word of its own. Rejected: skipping from one set bit to the next by a geometric
law, which is quicker for small q, but has probabilities (1−q)^j that are no multiples of 2⁻⁶⁴.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.estimation.tally import Counts
from bruit.laws import BitsLaw
from bruit.laws.words import WORDS
from bruit.mechanism import FakeKind
from bruit.oracles.base import Joint, Masses
from bruit.oracles.packed import PackedOracle, Rows
from bruit.oracles.refreshing import decide

#: `matrix` has a column for each of 2^k reports; above this k it would fill the memory.
MATRIX_LIMIT = 10
#: Random words drawn at a time, so that they stay in a near cache; one row of 10⁶ bits takes twice as many.
SLICE_WORDS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class BitOracle(PackedOracle):
    """An oracle whose report is one bit per value, each drawn by itself: a subclass adds a name and the law.

    A report is a row of ``uint8`` in little bit order: value v is bit v & 7 of byte v >> 3, and the bits beyond the
    last value are zero.

    Parameters
    ----------
    epsilon, k, labels, domain
        As for every `Oracle`.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``), with the ε of the law: two values differ in the law of two bits only.
    ``unary_encoding.proof.md`` has the argument, for any p and q.

    Error
    -----
    n·Var = q(1−q)/(p−q)² for a rare value, whatever k is.

    Examples
    --------
    >>> from functools import cached_property
    >>> from bruit.laws import Subset
    >>> class Thirds(BitOracle):
    ...     name = "THIRDS"
    ...
    ...     @cached_property
    ...     def law(self):
    ...         return BitsLaw.calibrate(self.epsilon, Subset(values=self.size), own=Fraction(2, 3))
    >>> oracle = Thirds(epsilon=1.0, k=20)
    >>> round(float(oracle.p), 3), round(float(oracle.q), 3), oracle.guarantee.epsilon <= 1.0
    (0.667, 0.424, True)
    """

    fakes: ClassVar[tuple[FakeKind, ...]] = ("zeros", "noise")

    @property
    @abstractmethod
    def law(self) -> BitsLaw:
        """The exact law: the true bit with p, each other with q."""

    @property
    def p(self) -> Fraction:
        """The exact probability that the bit of one's own value is set."""
        return self.law.p

    @property
    def q(self) -> Fraction:
        """The exact probability that the bit of a given other value is set."""
        return self.law.q

    @property
    def joint(self) -> Joint:
        """Bits are independent."""
        return self.p * self.q, self.q * self.q

    def masses(self, prior: Sequence[Fraction]) -> Masses:
        """The rarest value's bit alone is set, or all bits but that one."""
        return Masses(min(prior), 1 - min(prior))

    @property
    def guessability(self) -> float:
        """The best guess is any value whose bit is set, and any value at all if none is."""
        # With i − 1 other bits set the guess is right with chance 1/i, and E[1/(1 + Bin(k−1, q))] = (1 − (1−q)^k)/(kq).
        p, q, k = float(self.p), float(self.q), self.size
        clear = math.log1p(-q)
        right = p * -math.expm1(k * clear) / (k * q)
        return right + float(1 - self.p) * math.exp((k - 1) * clear) / k

    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The number that the bits of a report write: value v counts 2^v."""
        self._check_matrix()
        return reports.astype(np.int64) @ (1 << 8 * np.arange(reports.shape[1]))

    def _check_matrix(self) -> None:
        if self.size > MATRIX_LIMIT:
            raise LimitError(
                f"matrix() and message() are made for at most {MATRIX_LIMIT} values; p and q say the same."
            )

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        # A row takes one word for each of its bytes and one for the true bit.
        step = max(1, SLICE_WORDS // (out.shape[1] + 1))
        for start in range(0, codes.size, step):
            self._randomize_slice(codes[start : start + step], entropy, out[start : start + step])

    def _randomize_slice(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import bits
        from bruit.kernels import unary_encoding as kernel

        other, own = np.uint64(self.law.other), np.uint64(self.law.own)
        lanes = np.empty((out.size + 7) // 8, np.uint64)
        tied = np.empty_like(lanes)
        words = memory.block_words(entropy, bits.PLANES * lanes.size + codes.size)
        undecided = bits.bernoulli(words, other, lanes, tied)
        bits.settle(entropy.words(undecided), other, lanes, tied)
        out[:] = lanes.view(np.uint8)[: out.size].reshape(out.shape)
        kernel.own_bits(codes, words[bits.PLANES * lanes.size :], own, 0xFF >> -self.size % 8, out)

    def _refresh(self, memos: Rows, keep: Fraction, entropy: Entropy, out: Rows) -> None:
        """Each bit is kept or becomes a fair coin, by itself: it is flipped with chance (1 − keep)/2."""
        step = max(1, SLICE_WORDS // out.shape[1])
        for start in range(0, len(memos), step):
            part = slice(start, start + step)
            flips = self._flips((1 - keep) / 2, entropy, out[part].size).reshape(out[part].shape)
            flips[:, -1] &= 0xFF >> -self.size % 8
            np.bitwise_xor(memos[part], flips, out=out[part])

    def simulate_rounds(
        self, memo: Self, people: Counts, keep: Fraction, rounds: int, generator: np.random.Generator
    ) -> list[Counts]:
        """By how many memos have each bit set; given the memos, bits are flipped independently."""
        has, flip = memo._simulate(people, generator), float((1 - keep) / 2)
        lacks = people.sum() - has
        return [generator.binomial(has, 1 - flip) + generator.binomial(lacks, flip) for _ in range(rounds)]

    @staticmethod
    def _flips(chance: Fraction, entropy: Entropy, size: int) -> NDArray[np.uint8]:
        """Bytes of bits, each set with exactly this chance."""
        from bruit.kernels import bits

        lanes = np.empty((size + 7) // 8, np.uint64)
        tied = np.empty_like(lanes)
        words = memory.block_words(entropy, bits.PLANES * lanes.size)
        undecided = bits.bernoulli(words, np.uint64(math.floor(chance * WORDS)), lanes, tied)
        # A tied bit is set with the chance that the digits after the first eight write.
        chosen = decide(chance * 2**bits.PLANES % 1, entropy.words(undecided), entropy)
        bits.settle(np.where(chosen, np.uint64(0), np.uint64(WORDS - 1)), np.uint64(1), lanes, tied)
        return lanes.view(np.uint8)[:size]

    def valid(self, reports: Rows) -> NDArray[np.bool_]:
        """Those without a bit beyond the last value."""
        return np.asarray(reports[:, -1] <= 0xFF >> -self.size % 8)

    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        from bruit.kernels import bits

        counts = np.zeros(self.size, np.int64)
        return counts, bits.count_columns(reports, self.size, counts)

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        # Bits are independent given the people, so the counts of the values are too.
        others = people.sum() - people
        own = generator.binomial(people, float(self.p))
        return np.asarray(own + generator.binomial(others, float(self.q)))
