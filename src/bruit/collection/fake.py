"""Random sampling plus fake data (RS+FD, RS+RFD): one attribute at random is true, the others are fake, nobody tells.

Everybody reports on every attribute, and all reports on an attribute look alike. So whoever reads them does not know
which one is true; what this costs is the noise of the fakes, and what it buys is that alone: a whole record is told
apart by the same e^ε as if it had been told which. ``guarantees.proof.md`` has the argument.

The published calibration, ε' = ln(d(e^ε − 1) + 1) inside for ε outside, speaks of one attribute and not of a person;
`Plan.as_published` has it, with what it really guarantees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.collection import bases, guarantees
from bruit.collection.columns import ColumnDesign
from bruit.collection.design import Answer, Chance, Floats, Reports, Unit
from bruit.collection.fake_column import Drawn, FakeColumn
from bruit.collection.sample import divided, some
from bruit.domains import Schema
from bruit.domains.domain import Codes, code_dtype
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.estimation import Estimate, Tally, Target
from bruit.estimation.mixture import MixtureModel
from bruit.estimation.tally import Counts
from bruit.oracles import RandomizedResponse
from bruit.privacy.guarantee import Guarantee


@dataclass(frozen=True, eq=False)
class Fake(ColumnDesign):
    """One attribute of each person through its mechanism, fakes for the others.

    Parameters
    ----------
    schema, mechanisms
        As for every `Design`.
    kind
        RS+FD or RS+RFD.
    columns
        What is reported on each attribute, truly and as a fake.
    """

    kind: str
    columns: Mapping[str, FakeColumn]

    @classmethod
    def of(cls, schema: Schema, kind: str, columns: Mapping[str, FakeColumn]) -> Fake:
        """The design with these columns."""
        return cls(schema, {name: found.mechanism for name, found in columns.items()}, kind, columns)

    def ratio(self, unit: Unit) -> Fraction:
        """The largest for a person, or for the attribute that is told apart best."""
        return fake_ratio(self.columns.values(), unit)

    def attribute_ratios(self) -> dict[str, Fraction]:
        """The largest for each attribute."""
        extremes = [found.extremes() for found in self.columns.values()]
        return dict(zip(self.columns, guarantees.attribute_ratios(extremes), strict=True))

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """Frequencies, after what the fakes and the noise have added is taken off."""
        part, found = self._part(name, tally), self.columns[name]
        model = MixtureModel(part.counts, part.n, found.mixture(self.d), found.exclusive, found.both_fake())
        return Estimate(
            model=model,
            n=part.n,
            refused=part.refused,
            labels=bases.labels(self.schema[name]),
            target=target,
            guarantee=guarantee,
            mechanism=f"{self.kind}[{found.base}]",
            simulated=part.simulated,
            name=name,
        )

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """That of the estimate from true and fake reports."""
        return self.columns[name].mixture(self.d).variance(np.asarray(frequency, float), n, target)

    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """Who tells an attribute truly is a random part of the people; attributes share only how many they are."""
        n = int(next(iter(people.values())).sum())
        sizes = generator.multinomial(n, [1 / self.d] * self.d)
        chosen = {name: some(people[name], int(size), generator) for name, size in zip(self.schema, sizes, strict=True)}
        return self._simulate_chosen(chosen, n, generator)

    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """Every cell of the table is divided among the attributes; given that, all reports are independent."""
        chosen = divided(table, self.schema, [1 / self.d] * self.d, generator)
        return self._simulate_chosen(chosen, int(table.sum()), generator)

    def _simulate_chosen(self, chosen: Mapping[str, Counts], n: int, generator: Chance) -> Counts:
        parts = []
        for name, found in self.columns.items():
            true = found.mechanism._simulate(chosen[name], generator)
            parts.append(true + found.simulate(n - int(chosen[name].sum()), generator))
        return np.concatenate(parts)

    def _describe(self, name: str) -> dict[str, Any]:
        return {**super()._describe(name), "fake": self.columns[name].fake}

    # What a person does.

    def _randomize(self, codes: Mapping[str, Codes], entropy: Entropy, out: Reports) -> None:
        self.randomize_knowing(codes, entropy, out)

    def randomize_knowing(self, codes: Mapping[str, Codes], entropy: Entropy, out: Reports) -> NDArray[Any]:
        """Write the reports of one block, and return which attribute each person told truly: attacks learn from it."""
        n = len(next(iter(out.values())))
        chance = entropy.child(self.d)
        sampled = chance.integers(self.d, n).astype(code_dtype(self.d + 1))
        kept = self._kept(sampled, chance)
        for place, (name, found) in enumerate(self.columns.items()):
            found.randomize(codes[name], Drawn(sampled, kept, place), entropy.child(place), out[name])
        return sampled

    @cached_property
    def _laws(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """For each attribute, the last word of its law, and how many words tell the own value; 0 if none does."""
        last, limits = [], []
        for found in self.mechanisms.values():
            law = found._law if isinstance(found, RandomizedResponse) else None
            last.append(2**64 - 1 if law is None else law.total - 1)
            limits.append(0 if law is None else law.inside - law.outside)
        return np.array(last, np.uint64), np.array(limits, np.uint64)

    def _kept(self, sampled: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        """The attribute whose own value each person tells as it is, by randomised response; d where none."""
        from bruit.kernels import fake as kernel

        last, limits = self._laws
        kept = np.empty_like(sampled)
        if not limits.any():
            kept[:] = self.d
            return kept
        words = memory.block_words(entropy, sampled.size)
        places = np.empty(words.size, np.int64)
        late = places[: kernel.beyond(words, sampled, last, places)]
        while late.size:
            words[late] = entropy.words(late.size)
            late = late[words[late] > last[sampled[late]]]
        kernel.keep(words, sampled, limits, self.d, kept)
        return kept


def fake_ratio(columns: Any, unit: Unit) -> Fraction:
    """The largest ratio of a collection with these columns."""
    extremes = [found.extremes() for found in columns]
    if unit == "person":
        return guarantees.person_ratio(extremes)
    return guarantees.attribute_ratio(extremes)
