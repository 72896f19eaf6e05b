"""Random sampling plus fake data (RS+FD, RS+RFD): one attribute at random is true, the others are fake, nobody tells.

Everybody reports on every attribute, and all reports on an attribute look alike. So their reader does not know
which one is true; what this costs is the noise of the fakes, and what it buys is that alone: a whole record is told
apart by the same e^ε as if it had been told which. ``guarantees.proof.md`` has the argument.

The published calibration, ε' = ln(d(e^ε − 1) + 1) inside for ε outside, speaks of one attribute and not of a person;
``RSFD(published=True)`` has it, with what it really guarantees.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.cards import CardQuestion
from bruit.collection import criterion, guarantees
from bruit.collection.composite import Table
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, ColumnDesign, Reports, Unit
from bruit.collection.fake_column import Drawn, FakeColumn, FakePlace, fake_bases, fake_column
from bruit.collection.mechanisms import ADAPTIVE
from bruit.collection.method import Method, Settled, Task
from bruit.collection.prior import Weights, clean_prior, prior_frequencies
from bruit.collection.sample import divided, some
from bruit.domains import Schema
from bruit.domains.codes import Codes, code_dtype
from bruit.engines import memory
from bruit.entropy import Entropy, Words
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation import Estimate, Tally, Target
from bruit.estimation.mixture import MixtureModel
from bruit.estimation.tally import Counts
from bruit.mechanism import FakeKind
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
        """For each attribute, the last word of its law, and how many words tell the true value; 0 if none does."""
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


@dataclass(frozen=True, eq=False, repr=False)
class RSFD(Method):
    """Random sampling plus fake data (RS+FD): one answer, drawn at random, is true, and the others are fakes.

    Parameters
    ----------
    base, mechanisms
        As for every `Method`. An oracle that is faked in several ways has ``-z`` or ``-r`` behind its name, for noise
        on zeros or on a random value.
    published
        The calibration of the papers, ε' = ln(d(e^ε − 1) + 1). That is not ε for a person: the guarantee of the plan is
        ε' for a person, and for one attribute what the sizes of all attributes make of it.

    Examples
    --------
    >>> import bruit, math
    >>> plan = bruit.Plan({"a": ["0", "1"], "b": ["0", "1"]}, math.log(2), RSFD("GRR", published=True))
    >>> [round(math.exp(plan.guarantees[unit].epsilon), 6) for unit in ("person", "attribute")]
    [3.0, 2.0]
    """

    kind: ClassVar[str] = "RS+FD"
    words: ClassVar[str] = (
        "each person answers one of the {d} questions, chosen by chance; the other answers are made up, and nobody is "
        "told which"
    )
    recalibrated: ClassVar[bool] = True
    #: What an oracle may be faked by.
    fakes: ClassVar[tuple[FakeKind, ...]] = ("zeros", "noise", "value")
    #: What ADP chooses from, the first of equals. The papers know two, and choose by the variance of a rare value.
    candidates: ClassVar[tuple[str, ...]] = ("GRR", "SS", "OUE-z", "SUE-z", "OUE-r", "SUE-r")
    published_candidates: ClassVar[tuple[str, ...]] = ("GRR", "OUE-z")

    @classmethod
    def bases(cls, oracles: Iterable[str], numbers: Iterable[str]) -> tuple[str, ...]:
        """Oracles, with each of their fakes."""
        return (*(base for name in oracles if name != "Warner" for base in fake_bases(name, cls.fakes)), ADAPTIVE)

    def settle(self, task: Task) -> Settled:
        """The design with the ε' that gives a person, an attribute or the papers their ε."""
        fakes = _FakeMaker(self, task, {})
        return Settled(self, fakes.settled(), task.epsilon, self._unit(task))

    def _unit(self, task: Task) -> Unit:
        """Whom ε speaks of: the papers' speaks of an attribute, at best."""
        return "attribute" if self.published else task.unit


@dataclass(frozen=True, eq=False, repr=False)
class RSRFD(RSFD):
    """Random sampling plus realistic fake data (RS+RFD): as RS+FD, with fakes that follow a prior.

    Parameters
    ----------
    base, mechanisms, published
        As for `RSFD`; noise on zeros follows no prior.
    prior
        The frequencies that the fakes of each attribute follow, none of them 0. It must be given.

    Examples
    --------
    >>> import bruit
    >>> prior = {"sex": [0.5, 0.5], "smokes": [0.8, 0.2]}
    >>> plan = bruit.Plan({"sex": ["F", "M"], "smokes": ["no", "yes"]}, 1.0, RSRFD("GRR", prior=prior))
    >>> plan.design.columns["smokes"].prior_frequency.tolist()
    [0.8, 0.2]
    """

    kind: ClassVar[str] = "RS+RFD"
    words: ClassVar[str] = (
        "each person answers one of the {d} questions, chosen by chance; the other answers are made up by a prior, and "
        "nobody is told which"
    )
    fakes: ClassVar[tuple[FakeKind, ...]] = ("noise", "value")
    candidates: ClassVar[tuple[str, ...]] = ("GRR", "OUE-r", "SUE-r")
    published_candidates: ClassVar[tuple[str, ...]] = ("GRR", "OUE-r")

    prior: Mapping[str, Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is None:
            raise ParameterError("RS+RFD needs a prior: the frequencies that the fakes of each attribute follow.")
        if not isinstance(self.prior, Mapping):
            raise ParameterTypeError("prior must be a mapping from attribute to the frequencies of its values.")
        self._become(prior={name: tuple(np.asarray(own, object).ravel().tolist()) for name, own in self.prior.items()})

    def settle(self, task: Task) -> Settled:
        """As RS+FD. ADP chooses for the prior, where frequencies are not known."""
        shares = clean_prior(self.prior, task.schema)
        expected = replace(task, known={**prior_frequencies(shares), **task.known})
        fakes = _FakeMaker(self, expected, shares)
        return Settled(replace(self, prior=shares), fakes.settled(), task.epsilon, self._unit(task))

    def known_frequencies(self) -> dict[str, Floats]:
        """The prior, of a method that has settled."""
        return prior_frequencies(self.prior)


class _Solved(NamedTuple):
    """A design with fakes, and the ε' of a true report."""

    epsilon: float
    design: Fake


class _FakeMaker:
    """Designs with fakes for one task, by the names of their mechanisms."""

    def __init__(self, method: RSFD, task: Task, shares: Mapping[str, Weights]) -> None:
        self.method, self.task = method, task
        self.names = {name: self._name(name) for name in task.schema}
        candidates = method.published_candidates if method.published else method.candidates
        self.places = {
            name: FakePlace(candidates, attribute, len(task.schema), task.frequencies[name], shares.get(name))
            for name, attribute in task.schema.items()
        }

    def settled(self) -> Fake:
        """The design with the ε' that was asked for, and the mechanisms of least error where ADP stands."""
        together = ADAPTIVE in self.names.values() and self.task.unit == "attribute" and not self.method.published
        return (self.best_together() if together else self.solve(self.names)).design

    def _name(self, attribute: str) -> str:
        """The name in the brackets; what ADP took, where a document states it."""
        name, stated = self.method.base_of(attribute), self.task.stated
        if name != ADAPTIVE or stated is None:
            return name
        return self.method.base_name(_stated_base(stated[attribute]) if attribute in stated else None)

    def design(self, names: Mapping[str, str], inner: float) -> Fake:
        """The design whose true reports have this ε'."""
        columns = {
            name: fake_column(place, names[name], inner, published=self.method.published)
            for name, place in self.places.items()
        }
        return Fake.of(self.task.schema, self.method.kind, columns)

    def solve(self, names: Mapping[str, str]) -> _Solved:
        """The design with the ε' that was asked for: ε for a person, the papers', or what gives one attribute ε."""
        epsilon = self.task.epsilon
        if self.method.published:
            inner = _checks.epsilon(inner_epsilon=math.log1p(len(self.task.schema) * math.expm1(epsilon)))
        else:
            inner = epsilon if self.task.unit == "person" else self._inner(names)
        return _Solved(inner, self.design(names, inner))

    def _inner(self, names: Mapping[str, str]) -> float:
        """The ε' that gives one attribute ε."""

        def ratio(trial: float) -> Fraction:
            return self.design(names, trial).ratio("attribute")

        stated, epsilon = self.task.stated, self.task.epsilon
        if stated is None:
            return guarantees.solve(ratio, epsilon)
        inner = _checks.epsilon(inner_epsilon=next((body.get("epsilon") for body in stated.values()), None))
        if not guarantees.solves(ratio, epsilon, inner):
            raise ParameterError("The ε of the mechanisms is not the one that gives an attribute this ε.")
        return inner

    def best_together(self) -> _Solved:
        """The best for ADP where ε' depends on the mechanisms of all attributes together.

        Tried are one mechanism for all, and the best for each attribute at the ε' of each of these. Nobody knows that
        nothing else is better; nothing that takes one mechanism for all is.
        """
        singles = criterion.able(self.method.candidates, lambda base: self.solve(self._with(base)))
        mixed = {tuple(self.design(self.names, single.epsilon).bases.items()) for single in singles}
        solved = [*singles, *(self.solve(dict(names)) for names in sorted(mixed))]
        return criterion.least(solved, lambda option: self._error(option.design))

    def _with(self, base: str) -> dict[str, str]:
        return {name: base if chosen == ADAPTIVE else chosen for name, chosen in self.names.items()}

    def _error(self, design: Fake) -> float:
        variances = {
            name: design.variance(name, frequency, 1, "population") for name, frequency in self.task.frequencies.items()
        }
        return criterion.plan_error(variances)


def _stated_base(body: Mapping[str, Any]) -> str:
    """The name in the brackets for a mechanism that a document describes; a unary encoding has its fakes behind it."""
    unary = body.get("oracle") in ("SUE", "OUE")
    suffix = {"zeros": "-z", "noise": "-r"}.get(str(body.get("fake")), "") if unary else ""
    return f"{body.get('oracle')}{suffix}"
