"""One question per person: the attribute's own mechanism, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bruit.collection.columns import ColumnDesign
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, Folded, Reports, Unit, variance_of
from bruit.domains.codes import Codes
from bruit.entropy import Words
from bruit.estimation import Tally, Target
from bruit.estimation.tally import Counts
from bruit.privacy.guarantee import Guarantee


@dataclass(frozen=True, eq=False)
class Single(ColumnDesign):
    """The one attribute through its mechanism; a person's record is the one answer."""

    @property
    def card_kind(self) -> str:
        """One question is asked."""
        return "one"

    def ratio(self, unit: Unit) -> Fraction:
        """That of the mechanism, whoever is asked about."""
        (mechanism,) = self.mechanisms.values()
        return mechanism.law.ratio

    def randomize(self, codes: Mapping[str, Codes], words: Words) -> Reports:
        """What the mechanism reports by itself."""
        ((name, mechanism),) = self.mechanisms.items()
        return {name: mechanism.randomize(codes[name], words)}

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """What the mechanism finds by itself."""
        mechanism = self.mechanisms[name]
        return self._labelled(name, mechanism.estimate(self._part(name, tally), target))

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """That of the mechanism."""
        return variance_of(self.mechanisms[name], frequency, target) / n

    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """The mechanism's own law."""
        ((name, mechanism),) = self.mechanisms.items()
        return mechanism._simulate(people[name], generator)

    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """A table of one attribute is its marginal."""
        return self.simulate({next(iter(self.mechanisms)): table}, generator)

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        ((name, mechanism),) = self.mechanisms.items()
        mechanism._randomize(codes[name], words.stream(), out[name])

    def _count(self, reports: Reports) -> Folded:
        ((name, mechanism),) = self.mechanisms.items()
        counts, refused = mechanism._count(reports[name])
        return Folded(counts, len(reports[name]) - refused, refused)
