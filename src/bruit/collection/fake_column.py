"""One attribute of a collection with fakes: how it is reported truly, how it is faked, and how the two are told apart.

Three kinds of fakes, of which a mechanism's `fakes` says which it has:

- *a value as it is* (GRR): any value, or one by the prior; a true report tells the true value or any value;
- *noise on zeros* (SUE-z, OUE-z): bits as if no value had been set;
- *noise on a value* (SUE-r, OUE-r, SS, and every other oracle that supports values with p and q): a random value goes
  through the mechanism as if it were somebody's.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.collection import criterion, guarantees, mechanisms, prior
from bruit.collection.composite import Table
from bruit.collection.criterion import Floats
from bruit.collection.design import Chance
from bruit.collection.mechanisms import ADAPTIVE
from bruit.domains import Attribute
from bruit.domains.codes import Codes
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy
from bruit.estimation.mixture import Mixture
from bruit.estimation.tally import Counts
from bruit.laws.words import WORD_BITS
from bruit.mechanism import FakeKind
from bruit.oracles.base import Oracle, SupportOracle

#: How many entries of a table of support are held at a time.
CHUNK = 1 << 22
#: What stands behind the name of an oracle that is faked in several ways.
SUFFIXES: dict[str, FakeKind] = {"-z": "zeros", "-r": "noise", "-v": "value"}


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
    mechanism: SupportOracle
    fake: FakeKind
    weights: prior.Weights | None = None

    @property
    def exclusive(self) -> bool:
        """Whether each report supports exactly one value."""
        return self.fake == "value"

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

    def support(self) -> Floats:
        """φ(v): the probability that a fake report supports each value."""
        p, q = self.mechanism.p, self.mechanism.q
        if self.fake == "value":
            return self.prior_frequency
        if self.fake == "zeros":
            return np.full(self.mechanism.size, float(q))
        return float(q) + float(p - q) * self.prior_frequency

    def mixture(self, d: int) -> Mixture:
        """The law of support where one of d attributes is true."""
        return Mixture(d, self.mechanism.p, self.mechanism.q, self.support(), self.mechanism.joint)

    def both_fake(self) -> Floats | float | None:
        """The probability that a fake report supports two given values, by pair; None where it is not known."""
        if self.fake == "value":
            return 0.0
        if self.mechanism.joint is None:
            return None
        own, other = self.mechanism.joint
        if self.fake == "zeros":
            return float(other)
        share = self.prior_frequency
        return float(other) + float(own - other) * (share[:, None] + share[None, :])

    def extremes(self) -> guarantees.Extremes:
        """What this attribute can contribute to telling records apart."""
        p, q = self.mechanism.p, self.mechanism.q
        if self.fake == "zeros":
            return guarantees.noise_on_zeros(p, q)
        if self.fake == "value" and self.weights is not None:
            return guarantees.prior_value(p, q, (min(self.prior), max(self.prior)))
        return guarantees.noise_on_value(self.mechanism.law.ratio, self.mechanism.masses(self.prior))

    def fake_row(self, law: Table) -> list[Fraction]:
        """The probability of every message as a fake, from the rows of the mechanism's matrix."""
        if self.fake == "value":
            return self.prior
        if self.fake == "zeros":
            bits: Any = self.mechanism.law
            row: list[Fraction] = bits.row(None)
            return row
        return [
            sum((share * p for share, p in zip(self.prior, message, strict=True)), Fraction(0))
            for message in zip(*law, strict=True)
        ]

    def likelihood_ratio(self, reports: Any, frequency: Any) -> Floats:
        """How much likelier each report is as a true one than as a fake, where values have these frequencies.

        It is Σₓ f(x)·P(report | x) / F(report): what an attacker who looks for the sampled attribute compares.
        """
        checked, shares = report_parsing.strict(self.mechanism.form, reports), np.asarray(frequency, float)
        ratios = np.empty(len(checked))
        for _, block in memory.blocks(len(checked), max(1, CHUNK // self.mechanism.size)):
            ratios[block] = self._likelihood_ratio(checked[block], shares)
        return ratios

    def _likelihood_ratio(self, reports: NDArray[Any], shares: Floats) -> Floats:
        p, q = float(self.mechanism.p), float(self.mechanism.q)
        if self.fake == "value":
            places = reports.astype(np.int64)
            return np.asarray((q + (p - q) * shares[places]) / self.prior_frequency[places])
        held = self.mechanism.supports(reports)
        ratio = float(self.mechanism.law.ratio)
        # The probability of a report is proportional to 1 + (ratio − 1)·(the mass of the values that it supports).
        true = 1 + (ratio - 1) * (held @ shares)
        if self.fake == "zeros":
            return np.asarray(true * (1 - p) / (1 - q))
        return np.asarray(true / (1 + (ratio - 1) * (held @ self.prior_frequency)))

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
        """Counts of this number of fakes."""
        mechanism = self.mechanism
        if self.fake == "zeros":
            return np.asarray(generator.binomial(size, float(mechanism.q), mechanism.size), np.int64)
        shares = self.prior_frequency
        drawn = generator.multinomial(size, shares / shares.sum())
        return np.asarray(drawn if self.fake == "value" else mechanism._simulate(drawn, generator), np.int64)

    def _write_values(self, codes: Codes, drawn: Drawn, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import fake as kernel

        # Randomised response tells the true value, or any value at all: the second is a uniform fake by itself.
        k = self.mechanism.size
        kernel.values(codes, drawn.kept, drawn.place, fair_draws(entropy, k, codes.size), k, out)
        if self.weights is not None:
            out[:] = np.where(drawn.true, out, self._draw(codes.size, entropy))

    def _write_bits(self, codes: Codes, drawn: Drawn, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import fake as kernel

        # Everybody as somebody who has the value: all bits are drawn with q, and then the true one again.
        self.mechanism._randomize(codes, entropy, out)
        law: Any = self.mechanism.law
        chances = np.uint64(law.own), np.uint64(law.other)
        words = memory.block_words(entropy, codes.size)
        kernel.own_bits(codes, drawn.true, words, chances, 0xFF >> -self.mechanism.size % 8, out)

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
    """Where a column stands: for this attribute, among d.

    `frequency` is what its values are expected to have, `weights` the prior of its fakes if there is one. `candidates`
    are what ADP chooses from.
    """

    candidates: tuple[str, ...]
    attribute: Attribute
    d: int
    frequency: Floats
    weights: prior.Weights | None


def fake_column(place: FakePlace, base: str, epsilon: float, *, published: bool = False) -> FakeColumn:
    """The column that the name in the brackets stands for; ADP takes the one of least error."""
    if base == ADAPTIVE:
        return _best_column(place, epsilon, published=published)
    name, fake = fake_of(base)
    settings = Oracle.kinds[name].kind.faked_settings(epsilon, place.attribute.size)
    oracle: Any = mechanisms.category(name, place.attribute, epsilon, **settings)
    return FakeColumn(base, oracle, fake, place.weights)


def fake_bases(name: str, kinds: Container[FakeKind]) -> list[str]:
    """The names of an oracle with each of its fakes that are among these kinds."""
    fakes = Oracle.kinds[name].kind.fakes
    if len(fakes) == 1:
        return [name]
    return [name + suffix for suffix, fake in SUFFIXES.items() if fake in fakes and fake in kinds]


def fake_of(base: str) -> tuple[str, FakeKind]:
    """The oracle that a name in the brackets stands for, and its fakes.

    >>> fake_of("OUE-z"), fake_of("SS")
    (('OUE', 'zeros'), ('SS', 'noise'))
    """
    if base in Oracle.kinds:
        return base, Oracle.kinds[base].kind.fakes[0]
    return base[:-2], SUFFIXES[base[-2:]]


def _best_column(place: FakePlace, epsilon: float, *, published: bool) -> FakeColumn:
    criterion.choosing(place.candidates, place.attribute.size)
    columns = criterion.able(place.candidates, lambda name: fake_column(place, name, epsilon))
    frequency = np.zeros(place.attribute.size) if published else place.frequency

    def error(column: FakeColumn) -> float:
        return criterion.attribute_error(column.mixture(place.d).variance(frequency, 1, "population"))

    return min(columns, key=error) if published else criterion.least(columns, error)
