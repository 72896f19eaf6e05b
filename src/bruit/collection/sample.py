"""Sampling an attribute (SMP): each person reports one attribute, drawn at random, with all of ε, and tells which.

Which one it is says nothing about the person, so the guarantee is that of the one report. Per attribute there are n/d
reports at ε instead of n at ε/d, which is better wherever ε/d is small.

Reports have two columns: ``attribute``, the number of the attribute in the schema, and ``report``. Where all mechanisms
report whole numbers, ``report`` is a whole number; otherwise it is a row of bytes as wide as the widest report, and
narrower ones stand at its start with zeros behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.collection import rotation
from bruit.collection.composite import AttributeReports, Table
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, Design, Folded, Reports, Unit, people_in, variance_of
from bruit.collection.method import Method, Settled, Task
from bruit.domains import Schema
from bruit.domains.codes import Codes, code_dtype
from bruit.entropy import Entropy, Words
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation import Estimate, Tally, Target
from bruit.estimation.sampled import SampledModel, SampledScores, drawn_share, harmonic_reports
from bruit.estimation.tally import IMPOSSIBLE, Counts, exact_total
from bruit.oracles import Repeated
from bruit.privacy.guarantee import Guarantee

#: The two columns of reports.
ATTRIBUTE, REPORT = "attribute", "report"
#: NumPy's hypergeometric law goes no further.
MOST_PEOPLE = 999_999_999
#: How attributes are assigned, where people do not draw them.
Assignment: TypeAlias = Literal["rotation"]
#: The largest weight of an attribute, so that their sum is far below 2⁶⁴.
MOST_WEIGHT = 2**32


@dataclass(frozen=True, eq=False)
class Sample(Design):
    """One attribute of each person through its own mechanism.

    Parameters
    ----------
    schema, mechanisms
        As for every `Design`.
    weights
        How often each attribute is drawn, in whole numbers.
    """

    weights: Mapping[str, int]

    @property
    def card_kind(self) -> str:
        """One question is drawn and asked."""
        return "SMP"

    def ratio(self, unit: Unit) -> Fraction:
        """The largest of all ratios, for one attribute as for a person: a report is about one attribute."""
        return max(mechanism.law.ratio for mechanism in self.mechanisms.values())

    @property
    def cells(self) -> int:
        """How many people reported on each attribute, and then the counts of each."""
        return self.d + super().cells

    def reported(self, name: str, tally: Tally) -> int:
        """How many people reported on an attribute."""
        return int(tally.counts[list(self.schema).index(name)])

    def check(self, tally: Tally) -> None:
        """Everybody counted reported on one attribute."""
        if exact_total(tally.counts[: self.d]) != tally.n:
            raise DataError(IMPOSSIBLE)
        super().check(tally)

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """What the attribute's own mechanism finds, of those who reported on it."""
        if not self.reported(name, tally):
            raise DataError(f"Nobody reported on {name!r}: there is nothing to estimate it from.")
        answer = self._own_answer(name, tally, target, guarantee, "SMP")
        share = drawn_share(answer.n, tally.n)
        if isinstance(answer, Estimate):
            return replace(answer, model=SampledModel(answer.model, share))
        return replace(answer, model=SampledScores.of(answer.model, share))

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """That of the attribute's own mechanism, on average over how many people report on it."""
        return self.variance_of_some(name, frequency, n, self.chance(name), target)

    def variance_of_some(self, name: str, frequency: Any, n: int, chance: float, target: Target) -> Floats:
        """The same where everybody reports on the attribute with this probability."""
        return self._variance_of_reports(name, frequency, n, harmonic_reports(n, chance), target)

    def _variance_of_reports(self, name: str, frequency: Any, n: int, reports: float, target: Target) -> Floats:
        """The same with as many reports on the attribute."""
        mechanism = self.mechanisms[name]
        whole = variance_of(mechanism, frequency, "population")
        if target == "people":
            share = drawn_share(reports, n)
            whole = (1 - share) * variance_of(mechanism, frequency, "people") + share * whole
        return whole / reports

    def chance(self, name: str) -> float:
        """How often an attribute is drawn."""
        return self.weights[name] / sum(self.weights.values())

    @property
    def draws(self) -> tuple[int, ...]:
        """The weights, in the order of the schema."""
        return tuple(self.weights.values())

    def by_attribute(self, reports: Mapping[str, NDArray[Any]]) -> Iterator[AttributeReports]:
        """The people who reported on each attribute."""
        for place, name in enumerate(self.schema):
            people = np.flatnonzero(reports[ATTRIBUTE] == place)
            yield AttributeReports(name, people, self._own_reports(self._forms[name], reports[REPORT][people]))

    def _columns(self, widths: list[int]) -> int:
        return sum(widths)

    def _row(self, true: Table, laws: list[Table]) -> Iterator[Fraction]:
        total = sum(self.weights.values())
        for weight, row in zip(self.weights.values(), true, strict=True):
            yield from (Fraction(weight, total) * probability for probability in row)

    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """Who reports on an attribute is a random part of the people; attributes share only how many they are."""
        sizes = self._sizes(int(next(iter(people.values())).sum()), generator)
        chosen = {name: some(people[name], int(size), generator) for name, size in zip(self.schema, sizes, strict=True)}
        return self._simulate_chosen(chosen, generator)

    def _sizes(self, n: int, generator: Chance) -> Counts:
        """How many of n people report on each attribute."""
        return np.asarray(generator.multinomial(n, [self.chance(name) for name in self.schema]), np.int64)

    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """Every cell of the table is divided among the attributes."""
        chosen = of_attributes(table, self.schema, lambda cells: self._divided(cells, generator))
        return self._simulate_chosen(chosen, generator)

    def _divided(self, cells: Counts, generator: Chance) -> Counts:
        """How many people of each cell report on each attribute."""
        return np.asarray(generator.multinomial(cells, [self.chance(name) for name in self.schema]), np.int64)

    def _simulate_chosen(self, chosen: Mapping[str, Counts], generator: Chance) -> Counts:
        sizes = np.array([chosen[name].sum() for name in self.schema], np.int64)
        parts = [mechanism._simulate(chosen[name], generator) for name, mechanism in self.mechanisms.items()]
        return np.concatenate([sizes, *parts])

    # Reports.

    @cached_property
    def _forms(self) -> dict[str, NDArray[Any]]:
        """What no report of each mechanism looks like."""
        return {name: mechanism._empty_reports(0) for name, mechanism in self.mechanisms.items()}

    @cached_property
    def _width(self) -> int:
        """How many bytes the widest report has; 0 where all are whole numbers."""
        if all(form.ndim == 1 and form.dtype.kind == "u" for form in self._forms.values()):
            return 0
        return max(_row_bytes(form) for form in self._forms.values())

    @cached_property
    def _dtype(self) -> np.dtype[Any]:
        """The dtype of reports that are whole numbers."""
        return np.result_type(*(form.dtype for form in self._forms.values()))

    def empty_reports(self, n: int) -> Reports:
        """Room for the reports of n people."""
        report = np.zeros((n, self._width), np.uint8) if self._width else np.empty(n, self._dtype)
        return {ATTRIBUTE: np.empty(n, code_dtype(max(self.d, 2))), REPORT: report}

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        # An attribute has as many numbers as its weight; one number per person, all equally likely.
        ends = np.cumsum([self.weights[name] for name in self.schema]).astype(np.uint64)
        *own, choice = words.split(self.d + 1)
        drawn = choice.stream().integers(int(ends[-1]), len(out[ATTRIBUTE]))
        out[ATTRIBUTE][:] = np.searchsorted(ends, drawn, side="right")
        self._report(codes, own, out)

    def _report(self, codes: Mapping[str, Codes], own: list[Words], out: Reports) -> None:
        """Write the reports of people whose attributes are written."""
        for place, (name, mechanism) in enumerate(self.mechanisms.items()):
            rows = np.flatnonzero(out[ATTRIBUTE] == place)
            reports = mechanism._empty_reports(rows.size)
            mechanism._randomize(codes[name][rows], own[place].stream(), reports)
            self._write(rows, reports, out)

    def refresh(self, memos: Reports, repeated: Mapping[str, Repeated], words: Words) -> Reports:
        """The same attribute as in the memo, and what its own mechanism makes of the rest."""
        out = self.empty_reports(len(memos[ATTRIBUTE]))
        out[ATTRIBUTE][:] = memos[ATTRIBUTE]
        for part, own in zip(self.by_attribute(memos), words.split(self.d), strict=True):
            self._write(part.people, repeated[part.name].report(part.reports, own), out)
        return out

    def _write(self, people: NDArray[np.int64], reports: NDArray[Any], out: Reports) -> None:
        """Put the reports of some people, in the form of their own mechanism, among all."""
        if self._width:
            out[REPORT][people, : _row_bytes(reports)] = _as_rows(reports)
        else:
            out[REPORT][people] = reports

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Those whose report is one of the attribute that they name."""
        fine = np.zeros(len(reports[ATTRIBUTE]), np.bool_)
        for place, (name, mechanism) in enumerate(self.mechanisms.items()):
            rows = np.flatnonzero(reports[ATTRIBUTE] == place)
            if self._width:
                rows = rows[~reports[REPORT][rows, _row_bytes(self._forms[name]) :].any(axis=1)]
            fine[rows] = mechanism.valid(self._own_reports(self._forms[name], reports[REPORT][rows]))
        return fine

    def _count(self, reports: Reports) -> Folded:
        sizes = np.zeros(self.d, np.int64)
        parts = []
        for place, (name, mechanism) in enumerate(self.mechanisms.items()):
            rows = np.flatnonzero(reports[ATTRIBUTE] == place)
            own = self._own_reports(self._forms[name], reports[REPORT][rows])
            counts, refused = mechanism._count(own)
            sizes[place] = len(own) - refused
            parts.append(counts)
        counted = int(sizes.sum())
        return Folded(np.concatenate([sizes, *parts]), counted, len(reports[ATTRIBUTE]) - counted)

    def _own_reports(self, form: NDArray[Any], reports: NDArray[Any]) -> NDArray[Any]:
        """Reports in the form of their own mechanism; rows with anything behind the report are left out."""
        if not self._width:
            return reports
        width = _row_bytes(form)
        return _from_rows(reports[~reports[:, width:].any(axis=1), :width], form)


@dataclass(frozen=True, eq=False)
class Rotation(Sample):
    """One attribute of each person, of which balanced shares are assigned at random: ``rotation.proof.md``.

    Parameters
    ----------
    schema, mechanisms, weights
        As for `Sample`; all attributes alike.
    sizes
        How many people report on each attribute, where that is settled already: for simulations.
    """

    sizes: Counts | None = None
    repeats: ClassVar[bool] = False
    needs_list: ClassVar[bool] = True

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """The mean over the two numbers of people who may report on the attribute; of one of fewer people than d."""
        return rotation.mean_over_sizes(
            n, self.d, lambda reports: self._variance_of_reports(name, frequency, n, reports, target)
        )

    def _sizes(self, n: int, generator: Chance) -> Counts:
        _check_simulated(n)
        return rotation.sizes(n, self.d, generator) if self.sizes is None else self.sizes

    def _divided(self, cells: Counts, generator: Chance) -> Counts:
        sizes, left, columns = self._sizes(int(cells.sum()), generator), cells, []
        for size in sizes:
            columns.append(generator.multivariate_hypergeometric(left, size, method="marginals"))
            left = left - columns[-1]
        return np.stack(columns, axis=1)

    def simulated_strata(self, strata: Sequence[Any], rng: Entropy, digest: str) -> list[Tally]:
        """All people are assigned together, so that shares are balanced over all strata and random in each."""
        people = [people_in(self._people(counts)) for counts in strata]
        generator = rng.generator()
        left, tallies = self._sizes(sum(people), generator), []
        for n, counts in zip(people, strata, strict=True):
            sizes = generator.multivariate_hypergeometric(left, n, method="marginals")
            left = left - sizes
            tallies.append(replace(self, sizes=sizes).simulated(counts, rng, digest))
        return tallies

    def _begin(self, words: Words, out: Reports) -> Words:
        chosen, of_blocks = words.split(2)
        out[ATTRIBUTE][:] = rotation.assignment(len(out[ATTRIBUTE]), self.d, chosen.stream())
        return of_blocks

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        self._report(codes, words.split(self.d), out)


@dataclass(frozen=True, eq=False, repr=False)
class SMP(Method):
    """Sample one attribute: each person answers one question, drawn at random, and tells which.

    Parameters
    ----------
    base, mechanisms, published
        As for every `Method`.
    weights
        How often each attribute is drawn, in whole numbers; all alike by default.
    assign
        ``"rotation"`` to assign attributes at random in balanced shares, for few people: only where the list of all
        people is made private at once, as an array or a file. By default each person draws.

    Examples
    --------
    >>> import bruit
    >>> plan = bruit.Plan({"sex": ["F", "M"], "smokes": ["no", "yes"]}, 1.0, SMP(weights={"sex": 1, "smokes": 3}))
    >>> str(plan.method), plan.design.chance("smokes")
    ('SMP[ADP]', 0.75)
    >>> plan = bruit.Plan({"sex": ["F", "M"], "smokes": ["no", "yes"]}, 1.0, SMP(assign="rotation"))
    >>> reports = plan.privatize({"sex": ["F"] * 6, "smokes": ["no"] * 6})
    >>> int((reports["attribute"] == 0).sum())
    3
    """

    kind: ClassVar[str] = "SMP"
    words: ClassVar[str] = "each person answers one of the {d} questions, chosen by chance, with all of ε"

    weights: Mapping[str, int] | None = field(default=None, kw_only=True)
    assign: Assignment | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.assign is not None:
            _checks.one_of(get_args(Assignment), assign=self.assign)
            if self.weights is not None:
                raise ParameterError("Attributes in rotation have equal shares: give weights or assign, and not both.")

    def in_words(self, d: int) -> str:
        """What is done with the d questions of a person."""
        if self.assign is None:
            return super().in_words(d)
        return f"each person answers one of the {d} questions, assigned at random in equal shares, with all of ε"

    def settle(self, task: Task) -> Settled:
        """Every attribute at all of ε."""
        drawn = clean_weights(self.weights, task.schema)
        chosen = {name: self.mechanism(task, name, task.epsilon) for name in task.schema}
        method = replace(self, weights=None if self.weights is None else drawn)
        design = Sample if self.assign is None else Rotation
        return Settled(method, design(task.schema, chosen, drawn), task.epsilon, task.unit)


def clean_weights(weights: Any, schema: Schema) -> dict[str, int]:
    """Whole-number weights of all attributes: equal ones if none are given."""
    if weights is None:
        return dict.fromkeys(schema, 1)
    if not isinstance(weights, Mapping):
        raise ParameterTypeError("weights must be a mapping from attribute to a whole number, 1 or above.")
    if set(weights) != set(schema):
        raise ParameterError("weights must name every attribute of the schema, and no other.")
    return {name: _checks.integer(low=1, high=MOST_WEIGHT, weight=weights[name]) for name in schema}


def some(people: Counts, size: int, generator: Chance) -> Counts:
    """How often each value occurs in a sample of people drawn without replacement."""
    if int(people.sum()) > MOST_PEOPLE:
        raise LimitError(f"From marginals at most {MOST_PEOPLE:,} people are simulated: give the joint table.")
    return np.asarray(generator.multivariate_hypergeometric(people, size, method="marginals"), np.int64)


def _check_simulated(n: int) -> None:
    if n > MOST_PEOPLE:
        raise LimitError(f"At most {MOST_PEOPLE:,} people are simulated in rotation: leave {rotation.OPTION} out.")


def divided(table: Counts, schema: Schema, chances: list[float], generator: Chance) -> dict[str, Counts]:
    """People of a joint table, each drawn for one attribute: how many have each value of it, among those drawn."""
    return of_attributes(table, schema, lambda cells: np.asarray(generator.multinomial(cells, chances), np.int64))


def of_attributes(table: Counts, schema: Schema, split_cells: Callable[[Counts], Counts]) -> dict[str, Counts]:
    """The same of people of whom `split_cells` says how many of each cell report on each attribute."""
    cells = table.ravel()
    held = np.flatnonzero(cells)
    split = split_cells(cells[held])
    where = np.unravel_index(held, table.shape)
    return {
        name: np.bincount(where[place], weights=split[:, place], minlength=table.shape[place]).astype(np.int64)
        for place, name in enumerate(schema)
    }


def _row_bytes(reports: NDArray[Any]) -> int:
    """How many bytes one report has."""
    return reports.shape[1] if reports.ndim == 2 else reports.dtype.itemsize


def _as_rows(reports: NDArray[Any]) -> NDArray[np.uint8]:
    """Reports as rows of bytes, whole numbers with the least byte first."""
    if reports.ndim == 2:
        return reports
    plain = reports if reports.dtype.names else reports.astype(reports.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(plain).view(np.uint8).reshape(len(reports), reports.dtype.itemsize)


def _from_rows(rows: NDArray[np.uint8], form: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `_as_rows`."""
    if form.ndim == 2:
        return rows
    plain = np.ascontiguousarray(rows).view(form.dtype.newbyteorder("<")).reshape(len(rows))
    return plain.astype(form.dtype, copy=False)
