"""What a design says of the reports of one person: attacks and audits ask it, whatever the design is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.cards import CardQuestion
from bruit.domains import Schema
from bruit.engines import memory
from bruit.errors import LimitError

if TYPE_CHECKING:
    from bruit.collection.mechanisms import Mechanism

Floats: TypeAlias = NDArray[np.float64]
#: Exact probabilities, a row per record or value.
Table: TypeAlias = list[list[Fraction]]

#: The most probabilities of reports, given a record, that are written down.
TABLE_LIMIT = 8_000
#: How many likelihoods are held at a time.
CHUNK = 1 << 22


class AttributeReports(NamedTuple):
    """The reports on one attribute: its name, who reported on it, and their reports in its mechanism's form."""

    name: str
    people: NDArray[np.int64]
    reports: NDArray[Any]


class Composite:
    """Several mechanisms as one: every attribute is reported truly, unless a subclass says otherwise."""

    schema: Schema
    mechanisms: Mapping[str, Mechanism]
    #: Whether the reports hide which attribute is true.
    hides: ClassVar[bool] = False
    #: Whether a report can be made again from a memo, in every round of an epoch.
    repeats: ClassVar[bool] = True
    #: Whether reports are drawn for the list of all people at once, and not for each person alone.
    needs_list: ClassVar[bool] = False

    #: What a table of attributes is estimated from: a tally, the reports themselves, or None where none can be had.
    tables_from: ClassVar[Literal["tally", "reports"] | None] = None
    #: Whether every count of a tally has a chance that is known between bounds, so that a tally can be tested.
    is_tested: ClassVar[bool] = True

    @property
    def card_kind(self) -> str | None:
        """How a card says what a device does with the questions; None where no card can say it."""
        return None

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """What a person may report on, by the name of its mechanism: an attribute, or the attributes of a table."""
        return {name: (name,) for name in self.schema}

    @property
    def counted_tables(self) -> tuple[tuple[str, ...], ...]:
        """The tables that a tally tells about."""
        return ()

    @property
    def draws(self) -> tuple[int, ...] | None:
        """How often each attribute is drawn, in whole numbers; None where none is drawn."""
        return None

    @property
    def questions(self) -> tuple[str, ...]:
        """What a person's device asks, in order."""
        return tuple(self.schema)

    def mechanism_name(self, name: str) -> str:
        """What an answer to an attribute goes through, for people to read."""
        return self.mechanisms[name].name

    def gives(self, name: str) -> str:
        """What is estimated of an attribute: ``"frequency"`` or ``"mean"``."""
        return self.mechanisms[name].gives

    def codes_of(self, name: str, codes: NDArray[Any]) -> Any:
        """Plain codes of an attribute as this design reads them."""
        return self.mechanisms[name].codes_of(codes)

    def question(self, name: str) -> CardQuestion:
        """The question about an attribute, for a card."""
        return self.mechanisms[name].question(name, self.schema[name].labels)

    def chance(self, name: str) -> float:
        """How often an attribute is reported truly."""
        return 1.0

    def guessability(self, name: str) -> float:
        """How often a value is guessed where all are alike: a true report helps, anything else leaves any value."""
        mechanism, chance = self.mechanisms[name], self.chance(name)
        return chance * mechanism.guessability + (1 - chance) / mechanism.size

    def by_attribute(self, reports: Mapping[str, NDArray[Any]]) -> Iterator[AttributeReports]:
        """The reports on each attribute, in the order of the schema; with fakes, true and fake ones."""
        for name in self.schema:
            yield AttributeReports(name, np.arange(len(reports[name])), reports[name])

    def ends(self, name: str) -> tuple[int, int]:
        """Two codes of an attribute that are as far apart as codes can be."""
        return 0, self.mechanisms[name].size - 1

    def attribute_ratios(self) -> dict[str, Fraction]:
        """For each attribute, the largest ratio between the probabilities of the same reports when it alone changes."""
        return {name: mechanism.law.ratio for name, mechanism in self.mechanisms.items()}

    def log_odds(
        self, reports: Mapping[str, NDArray[Any]], first: Mapping[str, int], second: Mapping[str, int]
    ) -> Floats:
        """Ln P(reports | first) − ln P(reports | second) for every person; records are codes by attribute."""
        total = np.zeros(len(next(iter(reports.values()))))
        for name, people, own in self.by_attribute(reports):
            mechanism = self.mechanisms[name]
            for _, block in memory.blocks(len(own), max(1, CHUNK // mechanism.size)):
                weight = mechanism.likelihood(own[block])
                total[people[block]] += np.log(weight[:, first[name]]) - np.log(weight[:, second[name]])
        return total

    def records(self) -> Iterator[tuple[int, ...]]:
        """The codes of every record, in the order of the rows of `matrix`."""
        return itertools.product(*(range(mechanism.size) for mechanism in self.mechanisms.values()))

    def matrix(self) -> Table:
        """P(reports | record), exactly, one row per record: the laws of all attributes multiplied out."""
        laws = [mechanism.matrix() for mechanism in self.mechanisms.values()]
        widths = [len(law[0]) for law in laws]
        if math.prod(len(law) for law in laws) * self._columns(widths) > TABLE_LIMIT:
            raise LimitError(f"matrix() of a plan is made for at most {TABLE_LIMIT:,} entries, records times reports.")
        return [
            list(self._row([law[code] for law, code in zip(laws, record, strict=True)], laws))
            for record in self.records()
        ]

    def _columns(self, widths: list[int]) -> int:
        """How many different reports of a person there are, from how many each attribute has."""
        return math.prod(widths)

    def _row(self, true: Table, laws: list[Table]) -> Iterator[Fraction]:
        """The probabilities of all reports of a record, from the row of each attribute's law."""
        return (math.prod(combination, start=Fraction(1)) for combination in itertools.product(*true))
