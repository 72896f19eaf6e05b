"""Unary encoding (UE): SUE, the symmetric one, also called basic RAPPOR, and OUE, the optimised one.

A value becomes a row of k bits with its own bit set, and every bit is drawn anew: the own one is 1 with probability p,
each other with q. The error does not grow with k, but the report does: ⌈k/8⌉ bytes.

Bits are drawn 64 at a time, by comparing the binary digits of q with random words; all bits of a row are drawn so, and
then the own bit is overwritten from a word of its own. Rejected: skipping from one set bit to the next by a geometric
law, which is quicker for small q, but has probabilities (1−q)^j that are no multiples of 2⁻⁶⁴.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import Categories
from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError, ParameterTypeError, translated
from bruit.estimation.tally import Counts
from bruit.laws import BitsLaw, Subset
from bruit.laws.words import WORD_BITS, WORDS
from bruit.mechanism import FakeKind
from bruit.oracles.base import Joint, Masses
from bruit.oracles.packed import PackedOracle, Rows
from bruit.oracles.refreshing import decide

#: Which p and q: ½ and the best q; symmetric, p = 1 − q; or any two.
Kind = Literal["OUE", "SUE", "UE"]

#: `matrix` has a column for each of 2^k reports; above this k it would fill the memory.
MATRIX_LIMIT = 10
#: Random words drawn at a time, so that they stay in a near cache; one row of 10⁶ bits takes twice as many.
SLICE_WORDS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(PackedOracle):
    """Report one bit per value: one's own is 1 with probability p, each other with the smaller probability q.

    Parameters
    ----------
    epsilon, k, labels, domain
        As for every `Oracle`.
    kind
        ``"OUE"``, the optimised one: p = ½ and q = 1/(e^ε + 1). ``"SUE"``, the symmetric one, basic RAPPOR:
        p = 1 − q and q = 1/(e^{ε/2} + 1). ``"UE"``: any p and q, made by `with_probabilities`.
    weights
        For ``"UE"``: p and q in units of 2⁻⁶⁴.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). Two values differ in the law of two bits only, so no report is more
    than p(1−q)/((1−p)q) times likelier under one value than under another, and a report with the one bit set and the
    other not attains it. ``unary_encoding.proof.md`` has the argument.

    Error
    -----
    n·Var = 4e^ε/(e^ε − 1)² for a rare value with OUE, √e^ε/(√e^ε − 1)² with SUE, whatever k is.

    References
    ----------
    Erlingsson, Ú., Pihur, V., Korolova, A. (2014), RAPPOR: randomized aggregatable privacy-preserving ordinal response.
    Wang, T., Blocki, J., Li, N., Jha, S. (2017), Locally differentially private protocols for frequency estimation.

    Examples
    --------
    >>> oracle = UnaryEncoding(epsilon=1.0, k=20)
    >>> reports = oracle.privatize([0, 0, 19, 2], rng=7)
    >>> reports.dtype, reports.shape
    (dtype('uint8'), (4, 3))
    >>> oracle.p, round(float(oracle.q), 3)
    (Fraction(1, 2), 0.269)
    >>> oracle.guarantee.epsilon <= 1.0
    True
    """

    fakes: ClassVar[tuple[FakeKind, ...]] = ("zeros", "noise")

    kind: Kind = "OUE"
    weights: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.one_of(get_args(Kind), kind=self.kind)
        if (self.kind == "UE") != (self.weights is not None):
            raise ParameterError('weights belong to kind "UE", and only to it: use UnaryEncoding.with_probabilities.')
        if self.weights is not None:
            object.__setattr__(self, "weights", _clean_weights(self.weights))
            if self.epsilon != self.law.epsilon:
                raise ParameterError(
                    "epsilon must be what p and q give: use UnaryEncoding.with_probabilities, which computes it."
                )

    @classmethod
    def with_probabilities(cls, p: Fraction | float, q: Fraction | float, **values: Any) -> Self:
        """These probabilities in units of 2⁻⁶⁴, p rounded down and q up; ε follows. Values: k, labels or domain.

        >>> oracle = UnaryEncoding.with_probabilities(Fraction(3, 4), Fraction(1, 4), k=5)
        >>> oracle.name, oracle.epsilon == math.log(9)
        ('UE', True)
        """
        own, other = _exact(p=p), _exact(q=q)
        unit = 2**WORD_BITS
        weights = math.floor(own * unit), math.ceil(other * unit)
        if not 0 < weights[1] < weights[0] < unit:
            raise ParameterError("p and q must be probabilities with 0 < q < p < 1, apart by 2⁻⁶⁴ or more.")
        # ε does not depend on how many values there are.
        epsilon = BitsLaw(own=weights[0], other=weights[1], sets=Subset(values=2)).epsilon
        return cls(epsilon=epsilon, kind="UE", weights=weights, **values)

    @classmethod
    def from_settings(cls, domain: Categories, epsilon: float, settings: dict[str, Any]) -> Self:
        """The inverse of `to_dict`, after the domain and ε were read; documents hold the weights as texts."""
        if "weights" in settings:
            weights = tuple(documents.whole_number(weight, "A weight") for weight in settings["weights"])
            settings = {**settings, "weights": weights}
        return super().from_settings(domain, epsilon, settings)

    @property
    def name(self) -> str:
        """OUE, SUE, or UE for other probabilities."""
        return self.kind

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

    @cached_property
    def law(self) -> BitsLaw:
        """The own bit with p, each other with q."""
        sets = Subset(values=self.size)
        if self.weights is not None:
            return BitsLaw(own=self.weights[0], other=self.weights[1], sets=sets)
        return BitsLaw.calibrate(self.epsilon, sets, own=Fraction(1, 2) if self.kind == "OUE" else None)

    def _settings(self) -> dict[str, Any]:
        return {} if self.weights is None else {"weights": list(self.weights)}

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        # A row takes one word for each of its bytes and one for the own bit.
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

    def at_epsilon(self, epsilon: float) -> Self:
        """The same kind at another ε; probabilities that somebody chose have no ε to change."""
        if self.kind == "UE":
            raise ParameterError("UE has the p and q that were chosen, at no other ε: use OUE or SUE.")
        return replace(self, epsilon=epsilon)

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
        """So many bytes of bits, each set with exactly this chance."""
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


def _exact(**parameter: Any) -> Fraction:
    """A probability as the very fraction that was given."""
    ((name, value),) = parameter.items()
    _checks.probability(**parameter)
    with translated((TypeError, ValueError), lambda _: ParameterTypeError(f"{name} must be a Fraction or a float.")):
        return Fraction(value)


def _clean_weights(weights: Any) -> tuple[int, int]:
    if not isinstance(weights, tuple | list) or len(weights) != 2:
        raise ParameterError("weights must be two whole numbers, p and q in units of 2⁻⁶⁴.")
    other = _checks.integer(low=1, high=2**WORD_BITS - 2, other=weights[1])
    own = _checks.integer(low=other + 1, high=2**WORD_BITS - 1, own=weights[0])
    return own, other
