"""Random sampling plus fake data (RS+FD, RS+RFD): one attribute at random is true, the others are fake, nobody tells.

Everybody reports on every attribute, and all reports on an attribute look alike. So whoever reads them does not know
which one is true; what this costs is the noise of the fakes, and what it buys is that alone: a whole record is told
apart by the same e^ε as if it had been told which. ``guarantees.proof.md`` has the argument.

The published calibration, ε' = ln(d(e^ε − 1) + 1) inside for ε outside, speaks of one attribute and not of a person;
`Plan.as_published` has it, with what it really guarantees.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.cards import CardQuestion
from bruit.collection import guarantees
from bruit.collection.columns import ColumnDesign
from bruit.collection.composite import Table
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, Reports, Unit
from bruit.collection.fake_column import Drawn, FakeColumn
from bruit.collection.sample import divided, some
from bruit.domains import Schema
from bruit.domains.codes import Codes, code_dtype
from bruit.engines import memory
from bruit.entropy import Entropy, Words
from bruit.estimation import Estimate, Tally, Target
from bruit.estimation.mixture import MixtureModel
from bruit.estimation.tally import Counts
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

    hides: ClassVar[bool] = True
    is_tested: ClassVar[bool] = False  # nobody knows which reports are true

    kind: str
    columns: Mapping[str, FakeColumn]

    @classmethod
    def of(cls, schema: Schema, kind: str, columns: Mapping[str, FakeColumn]) -> Fake:
        """The design with these columns."""
        return cls(schema, {name: column.mechanism for name, column in columns.items()}, kind, columns)

    @property
    def card_kind(self) -> str:
        """One question is drawn and asked, the others are made up."""
        return self.kind

    def question(self, name: str) -> CardQuestion:
        """The question about an attribute, and how it is faked."""
        column = self.columns[name]
        return replace(super().question(name), fake=column.fake, prior=column.weights)

    def chance(self, name: str) -> float:
        """One attribute in d is true."""
        return 1 / self.d

    def ends(self, name: str) -> tuple[int, int]:
        """What fakes are least and most often; the outer codes where all values are alike."""
        shares = self.columns[name].prior
        low, high = shares.index(min(shares)), shares.index(max(shares))
        return (low, high) if low != high else super().ends(name)

    def log_odds(
        self, reports: Mapping[str, NDArray[Any]], first: Mapping[str, int], second: Mapping[str, int]
    ) -> Floats:
        """From Σ over the attributes of P(report | value)/P(report | fake), to which P(reports | record) is equal."""
        sums = []
        for record in (first, second):
            own = {name: np.eye(1, column.mechanism.size, record[name])[0] for name, column in self.columns.items()}
            sums.append(sum(column.likelihood_ratio(reports[name], own[name]) for name, column in self.columns.items()))
        return np.asarray(np.log(sums[0]) - np.log(sums[1]))

    def _row(self, true: Table, laws: list[Table]) -> Iterator[Fraction]:
        """One attribute, any with the same chance, is true."""
        fakes = [column.fake_row(law) for column, law in zip(self.columns.values(), laws, strict=True)]
        for places in itertools.product(*(range(len(row)) for row in fakes)):
            fake = [row[place] for row, place in zip(fakes, places, strict=True)]
            yield sum(
                (true[j][place] * math.prod(fake[:j]) * math.prod(fake[j + 1 :]) for j, place in enumerate(places)),
                Fraction(0),
            ) / len(fakes)

    @property
    def bases(self) -> dict[str, str]:
        """The mechanism of each attribute and its fakes, by the name that stands in brackets."""
        return {name: column.base for name, column in self.columns.items()}

    def ratio(self, unit: Unit) -> Fraction:
        """The largest for a person, or for the attribute that is told apart best."""
        extremes = [column.extremes() for column in self.columns.values()]
        if unit == "person":
            return guarantees.person_ratio(extremes)
        return guarantees.attribute_ratio(extremes)

    def attribute_ratios(self) -> dict[str, Fraction]:
        """The largest for each attribute."""
        extremes = [column.extremes() for column in self.columns.values()]
        return dict(zip(self.columns, guarantees.attribute_ratios(extremes), strict=True))

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """Frequencies, after what the fakes and the noise have added is taken off."""
        part, column = self._part(name, tally), self.columns[name]
        support = column.mechanism.support(part)
        model = MixtureModel(support, part.n, column.mixture(self.d), column.exclusive, column.both_fake())
        return Estimate(
            model=model,
            n=part.n,
            refused=part.refused,
            labels=self.schema[name].labels,
            target=target,
            guarantee=guarantee,
            mechanism=f"{self.kind}[{column.base}]",
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
        for name, column in self.columns.items():
            true = column.mechanism._simulate(chosen[name], generator)
            parts.append(true + column.simulate(n - int(chosen[name].sum()), generator))
        return np.concatenate(parts)

    def _describe(self, name: str) -> dict[str, Any]:
        return {**super()._describe(name), "fake": self.columns[name].fake}

    # What a person does.

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        self.randomize_knowing(codes, words, out)

    def randomize_knowing(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> NDArray[Any]:
        """Write the reports of one block, and return which attribute each person told truly: attacks learn from it."""
        n = len(next(iter(out.values())))
        *own, choice = words.split(self.d + 1)
        chance = choice.stream()
        sampled = chance.integers(self.d, n).astype(code_dtype(self.d + 1))
        kept = self._kept(sampled, chance)
        for place, (name, column) in enumerate(self.columns.items()):
            column.randomize(codes[name], Drawn(sampled, kept, place), own[place].stream(), out[name])
        return sampled

    @cached_property
    def _laws(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """For each attribute, the last word of its law, and how many words tell the own value; 0 if none does."""
        last, limits = [], []
        for column in self.columns.values():
            law: Any = column.mechanism.law if column.fake == "value" else None
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
