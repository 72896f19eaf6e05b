"""One attribute of a collection with fakes: how it is reported truly, how it is faked, and how the two are told apart.

Three kinds of fakes:

- *a value as it is* (GRR): any value, or one by the prior; a true report tells the own value or any value;
- *noise on zeros* (SUE-z, OUE-z): bits as if no value had been set;
- *noise on a value* (SUE-r, OUE-r, SS): a random value goes through the mechanism as if it were somebody's. For subset
  selection that is any subset of ω values, all alike, by symmetry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from bruit.collection import bases, guarantees, prior
from bruit.collection.design import Chance
from bruit.collection.methods import ADAPTIVE
from bruit.domains import Attribute
from bruit.domains.domain import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.estimation.mixture import Mixture
from bruit.estimation.tally import Counts
from bruit.oracles import RandomizedResponse, SubsetSelection, UnaryEncoding
from bruit.privacy.law import WORD_BITS

Floats: TypeAlias = NDArray[np.float64]
#: What a fake is.
FakeKind: TypeAlias = Literal["value", "zeros", "noise"]

#: So many values are looked at one by one; of more that are alike, some.
_SOME = 1 << 12
#: The papers choose among these where the mechanism is to be the best for each attribute.
PUBLISHED = {"RS+FD": ("GRR", "OUE-z"), "RS+RFD": ("GRR", "OUE-r")}
#: With subset selection, which is never worse than the first.
CANDIDATES = {"RS+FD": ("GRR", "OUE-z", "SS"), "RS+RFD": ("GRR", "SUE-r", "OUE-r")}


class Drawn(NamedTuple):
    """Who was drawn for which attribute.

    `sampled` is the attribute that each person tells truly; `kept` the one whose own value is told as it is, by the law
    of randomised response, or none; `place` the number of the attribute in question.
    """

    sampled: NDArray[Any]
    kept: NDArray[Any]
    place: int

    @property
    def true(self) -> NDArray[np.bool_]:
        """Who tells the attribute in question truly."""
        return np.asarray(self.sampled == self.place)


@dataclass(frozen=True, eq=False)
class FakeColumn:
    """How one attribute is reported.

    Parameters
    ----------
    base
        The name in the brackets: GRR, OUE-z, …
    mechanism
        What a true answer goes through.
    fake
        What a fake is.
    weights
        The prior of the fakes in units of 2⁻⁶⁴; None for all values alike.
    """

    base: str
    mechanism: RandomizedResponse | UnaryEncoding | SubsetSelection
    fake: FakeKind
    weights: prior.Weights | None = None

    @property
    def exclusive(self) -> bool:
        """Whether each report supports exactly one value."""
        return isinstance(self.mechanism, RandomizedResponse)

    # Laws.

    @cached_property
    def prior(self) -> list[Fraction]:
        """The exact probability that a fake stands for each value."""
        size = self.mechanism.size
        if self.weights is None:
            return [Fraction(1, size)] * size
        return [Fraction(weight, 2**WORD_BITS) for weight in self.weights]

    @cached_property
    def prior_frequency(self) -> Floats:
        """The same as floats."""
        size = self.mechanism.size
        return np.full(size, 1 / size) if self.weights is None else prior.frequencies(self.weights)

    def support(self, shares: Floats | None = None) -> Floats:
        """φ(v): the probability that a fake report supports each value, or values that fakes have with these shares."""
        p, q = self.mechanism.p, self.mechanism.q
        shares = self.prior_frequency if shares is None else shares
        if self.fake == "value":
            return shares
        if self.fake == "zeros":
            return np.full(shares.size, float(q))
        return float(q) + float(p - q) * shares

    def mixture(self, d: int, shares: Floats | None = None) -> Mixture:
        """The law of support where one of d attributes is true; of all values, or of some as in `support`."""
        own, other = self._both()
        return Mixture(d, self.mechanism.p, self.mechanism.q, self.support(shares), own, other)

    def both_fake(self) -> Floats | float:
        """The probability that a fake report supports two given values, by pair."""
        if self.fake == "value":
            return 0.0
        own, other = self._both()
        if self.fake == "zeros":
            return float(other)
        share = self.prior_frequency
        return float(other) + float(own - other) * (share[:, None] + share[None, :])

    def _both(self) -> tuple[Fraction, Fraction]:
        """The probability that a true report supports two values, the own one and another, or two others."""
        p, q, found = self.mechanism.p, self.mechanism.q, self.mechanism
        if isinstance(found, UnaryEncoding):
            return p * q, q * q
        if isinstance(found, RandomizedResponse):
            return Fraction(0), Fraction(0)
        k, omega = found.size, found.omega
        pairs = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
        return p * Fraction(omega - 1, k - 1), pairs / ((k - 1) * (k - 2)) if k > 2 else Fraction(0)

    def extremes(self) -> guarantees.Extremes:
        """What this attribute can contribute to telling records apart."""
        found = self.mechanism
        p, q = found.p, found.q
        if isinstance(found, SubsetSelection):
            return guarantees.uniform_subset(p, found.omega, found.size)
        if self.fake == "zeros":
            return guarantees.noise_on_zeros(p, q)
        if self.fake == "noise":
            least = Fraction(1, found.size) if self.weights is None else Fraction(min(self.weights), 2**WORD_BITS)
            return guarantees.noise_on_value(p, q, least)
        if self.weights is None:
            return guarantees.uniform_value(p, q, found.size)
        return guarantees.prior_value(p, q, (Fraction(min(self.weights), 2**64), Fraction(max(self.weights), 2**64)))

    def likelihood_ratio(self, reports: Any, frequency: Any) -> Floats:
        """How much likelier each report is as a true one than as a fake, where values have these frequencies.

        It is Σₓ f(x)·P(report | x) / F(report): what whoever wants to find the sampled attribute would compare.
        """
        checked, shares = self.mechanism._check_reports(reports), np.asarray(frequency, float)
        p, q = float(self.mechanism.p), float(self.mechanism.q)
        if self.fake == "value":
            places = checked.astype(np.int64)
            return np.asarray((q + (p - q) * shares[places]) / self.prior_frequency[places])
        bits = np.unpackbits(checked, axis=1, count=self.mechanism.size, bitorder="little")
        ratio = float(self.mechanism._law.ratio)
        # The probability of a report is proportional to 1 + (ratio − 1)·(the mass of the values that it supports).
        true = 1 + (ratio - 1) * (bits @ shares)
        if self.fake == "zeros":
            return np.asarray(true * (1 - p) / (1 - q))
        return np.asarray(true / (1 + (ratio - 1) * (bits @ self.prior_frequency)))

    # What a person does, and what is drawn of people who do not exist.

    def randomize(self, codes: Codes, drawn: Drawn, entropy: Entropy, out: NDArray[Any]) -> None:
        """Write everybody's report on this attribute: true for those who were drawn for it, else fake.

        The same is drawn and written for everybody; whether this is the attribute decides only which of two numbers
        is kept.
        """
        if self.fake == "value":
            self._write_values(codes, drawn, entropy, out)
        elif self.fake == "zeros":
            self._write_bits(codes, drawn, entropy, out)
        else:
            values = np.where(drawn.true, codes, self._draw(codes.size, entropy)).astype(codes.dtype)
            self.mechanism._randomize(values, entropy, out)

    def simulate(self, size: int, generator: Chance) -> Counts:
        """Counts of so many fakes."""
        found = self.mechanism
        if self.fake == "zeros":
            return np.asarray(generator.binomial(size, float(found.q), found.size), np.int64)
        shares = self.prior_frequency
        drawn = generator.multinomial(size, shares / shares.sum())
        return np.asarray(drawn if self.fake == "value" else found._simulate(drawn, generator), np.int64)

    def _write_values(self, codes: Codes, drawn: Drawn, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import fake as kernel

        # Randomised response tells the own value, or any value at all: the second is a uniform fake by itself.
        k = self.mechanism.size
        kernel.values(codes, drawn.kept, drawn.place, fair_draws(entropy, k, codes.size), k, out)
        if self.weights is not None:
            out[:] = np.where(drawn.true, out, self._draw(codes.size, entropy))

    def _write_bits(self, codes: Codes, drawn: Drawn, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import fake as kernel

        found = self.mechanism
        assert isinstance(found, UnaryEncoding)  # noqa: S101 -- what "zeros" says
        # Everybody as somebody who has the value: all bits are drawn with q, and then the own one again.
        found._randomize(codes, entropy, out)
        chances = np.uint64(found._law.own), np.uint64(found._law.other)
        words = memory.block_words(entropy, codes.size)
        kernel.own_bits(codes, drawn.true, words, chances, 0xFF >> -found.size % 8, out)

    def _draw(self, size: int, entropy: Entropy) -> NDArray[Any]:
        """Random values, by the prior."""
        if self.weights is None:
            return entropy.integers(self.mechanism.size, size)
        # A value has as many words as its weight. The end of the last one is 2⁶⁴, which no word reaches.
        ends = np.cumsum(np.array(self.weights[:-1], np.uint64))
        return np.searchsorted(ends, entropy.words(size), side="right")


def fair_draws(entropy: Entropy, k: int, size: int) -> NDArray[np.uint32]:
    """32-bit words of which none would favour some of k values; those that would are drawn again."""
    from bruit.kernels import fake as kernel

    draws = np.empty(size, np.uint32)
    entropy.fill(draws)
    if kernel.unfair(draws, k):
        places = np.empty(size, np.int64)
        late = places[: kernel.unfair_places(draws, k, places)]
        while late.size:
            fresh = np.empty(late.size, np.uint32)
            entropy.fill(fresh)
            draws[late] = fresh
            late = places[: kernel.unfair_places(draws, k, places)]
    return draws


class FakePlace(NamedTuple):
    """Where a column stands: in RS+FD or RS+RFD, for this attribute, among d, with the prior of its fakes if any."""

    kind: str
    attribute: Attribute
    d: int
    weights: prior.Weights | None


def fake_column(place: FakePlace, base: str, epsilon: float, *, published: bool = False) -> FakeColumn:
    """The column that the name in the brackets asks for; ADP takes the one of least variance for a rare value."""
    if base == ADAPTIVE:
        names = (PUBLISHED if published else CANDIDATES)[place.kind]
        made = [fake_column(place, name, epsilon) for name in names]
        return min(made, key=lambda found: rare_variance(found, place.d))
    name, _, suffix = base.partition("-")
    settings = {"omega": best_omega(epsilon, place.attribute.size, place.d)} if name == "SS" else {}
    found: Any = bases.category(name, place.attribute, epsilon, **settings)
    fake: FakeKind = "value" if name == "GRR" else "zeros" if suffix == "z" else "noise"
    return FakeColumn(base, found, fake, place.weights)


def rare_variance(column: FakeColumn, d: int) -> float:
    """The mean over all values of the variance of a value that nobody has, with one person."""
    size = column.mechanism.size
    # Without a prior all values are alike, and some stand for all.
    shares = column.prior_frequency if column.weights is not None else np.full(min(size, _SOME), 1 / size)
    return float(column.mixture(d, shares).variance(np.zeros(shares.size), 1, "population").mean())


def best_omega(epsilon: float, k: int, d: int) -> int:
    """The size of subsets with the least variance for a rare value among fakes; without fakes it is another."""
    omega = np.arange(1, k) if k <= _SOME else _likely_omegas(epsilon, k, d)
    inside = omega * np.exp(epsilon)
    p = inside / (inside + k - omega)
    q = (omega - p) / (k - 1)
    share = (q + (d - 1) * omega / k) / d
    return int(omega[np.argmin(share * (1 - share) / (p - q) ** 2)])


def _likely_omegas(epsilon: float, k: int, d: int) -> NDArray[np.int64]:
    """The sizes next to where the variance as a function of ω is flat, and both ends: one of them is the best.

    With E = e^ε, m = k + ω(E − 1) and c = 1/(k − 1) + (d − 1)/k a report supports a rare value with probability
    r = (ω/d)(c − E/((k − 1)m)), and p − q is ω(k − ω)(E − 1)/((k − 1)m). So with t = ω/k the variance r(1 − r)/(p − q)²
    is proportional to u·v/(t(1 − t)²) with u = cm − E/(k − 1) and v = m − ωu/d, whose derivative has the roots of a
    polynomial.
    """
    m = k * Polynomial([1.0, math.expm1(epsilon)])
    u = (1 / (k - 1) + (d - 1) / k) * m - math.exp(epsilon) / (k - 1)
    product, divisor = u * (m - Polynomial([0.0, k / d]) * u), Polynomial([0.0, 1.0, -2.0, 1.0])
    roots = np.real((product.deriv() * divisor - product * divisor.deriv()).roots())
    near = np.floor(roots[(roots > 0) & (roots < 1)] * k)[:, None] + np.arange(-1, 3)
    return np.unique(np.clip(np.append(near, [1, k - 1]), 1, k - 1)).astype(np.int64)
