"""Records of people: what their design randomises and, beside it, public attributes that are sent in clear.

Public attributes divide the people into strata. A stratum is a combination of public values: a school, or a school and
a year. Who is in which stratum is no secret, so it costs nothing of ε, and within a stratum all of ε goes into the
answers. What is counted is one vector: how many people each stratum has, and then the counts of the design, stratum by
stratum; such vectors add like all others.
"""

from __future__ import annotations

import functools
import math
import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.collection.design import Design, Folded, Reports, people_of_columns, report_column
from bruit.domains import Attribute, Schema
from bruit.domains.codes import Codes, code_dtype
from bruit.domains.domain import in_memory
from bruit.engines import memory, report_parsing
from bruit.engines.report_parsing import together
from bruit.entropy import Words
from bruit.errors import DataError, DisclosureWarning, LimitError, ParameterError, ParameterTypeError
from bruit.estimation import Tally
from bruit.estimation.tally import IMPOSSIBLE, Counts, exact_total
from bruit.laws import Form
from bruit.tables import counted

#: The most strata, and the most counts of a tally that has strata.
MOST_STRATA = 1 << 16
MOST_CELLS = 1 << 22
#: A stratum with fewer people than this nearly names them.
FEW = 5
#: The least number of people for which strata with one person are looked for: one person's device is not warned.
ENOUGH_TO_TELL = 20

#: The codes of a stratum, one per public attribute.
Place: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Records:
    """A design and what is sent in clear beside its reports; where nothing is, one stratum holds everybody.

    Parameters
    ----------
    design
        What makes reports of the attributes that are asked privately.
    clear
        The public attributes, by name.
    """

    design: Design
    clear: Mapping[str, Attribute]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each public attribute has."""
        return tuple(attribute.size for attribute in self.clear.values())

    @property
    def size(self) -> int:
        """How many strata there are."""
        return math.prod(self.shape)

    def check(self) -> None:
        """An error if reports cannot be told apart from what is sent in clear, or there are too many strata."""
        taken = [name for name in self.clear if name in self.design.form]
        if taken:
            raise ParameterError(f"The reports of this plan have a column {taken[0]!r} already: rename the attribute.")
        for name, attribute in (*self.clear.items(), *(self.design.schema.items() if self.clear else ())):
            if attribute.domain.missing == "drop":
                raise ParameterError(
                    f"{name!r} drops missing values, which a record with public attributes cannot: "
                    'declare missing="category" or missing="refuse".'
                )
        if self.size > MOST_STRATA or (self.clear and self.cells > MOST_CELLS):
            raise LimitError(
                f"Public attributes make at most {MOST_STRATA:,} strata and {MOST_CELLS:,} counts, these make "
                f"{self.size:,} and {self.cells:,}: declare fewer or wider values."
            )

    # What a person does.

    def encode(self, table: Any) -> dict[str, Codes]:
        """Codes of every attribute, as the design reads them, and of what is sent in clear."""
        if not self.clear:
            return self.design.encode(table)
        rows = in_memory(table)
        return {**self.design.encode(rows), **self._encode_clear(rows)}

    def _encode_clear(self, rows: Any) -> dict[str, Codes]:
        """Codes of the public attributes."""
        columns = Schema(self.clear.values()).columns(rows)
        return {name: self.clear[name].encode(column) for name, column in columns.items()}

    def randomize(self, codes: Mapping[str, Codes], words: Words) -> Reports:
        """Reports of people with codes that `encode` gave; block i of them uses up part i of the words."""
        return self.beside(codes, self.design.randomize(self.private_codes(codes), words))

    def private_codes(self, codes: Mapping[str, Codes]) -> Mapping[str, Codes]:
        """The codes that are asked privately; everybody must have one in every column."""
        people_of_columns(codes)
        return {name: codes[name] for name in self.design.schema} if self.clear else codes

    def beside(self, codes: Mapping[str, Codes], reports: Reports) -> Reports:
        """Reports with the columns that are sent in clear beside them: the codes as they are."""
        return {**reports, **{name: np.array(codes[name], form.dtype) for name, form in self._clear_form.items()}}

    def kept(self, memos: Mapping[str, Any]) -> Reports:
        """The columns of memos that are sent in clear, as they were when the memos were drawn."""
        columns = {name: report_parsing.strict(form, memos[name]) for name, form in self._clear_form.items()}
        if any((column >= self.clear[name].size).any() for name, column in columns.items()):
            raise ParameterError("memos must be those that this plan gave.")
        return columns

    def empty_reports(self, n: int) -> Reports:
        """Room for what n people send."""
        clear = {name: np.empty(n, form.dtype) for name, form in self._clear_form.items()}
        return {**self.design.empty_reports(n), **clear}

    @property
    def form(self) -> dict[str, Form]:
        """The form of each column that is sent."""
        return {**self.design.form, **self._clear_form}

    @cached_property
    def _clear_form(self) -> dict[str, Form]:
        """The form of each column that is sent in clear."""
        return {name: Form(np.dtype(code_dtype(max(attribute.size, 2)))) for name, attribute in self.clear.items()}

    @property
    def columns(self) -> list[str]:
        """The columns of a table that are read."""
        attributes = (*self.design.schema.values(), *self.clear.values())
        return list(dict.fromkeys(attribute.column for attribute in attributes))

    @property
    def clear_columns(self) -> list[str]:
        """The columns of a table that are sent in clear."""
        return list(dict.fromkeys(attribute.column for attribute in self.clear.values()))

    def people_per_stratum(self, codes: Mapping[str, Codes]) -> Counts:
        """How many people each stratum has; nothing where nothing is sent in clear."""
        if not self.clear:
            return np.zeros(0, np.int64)
        return np.bincount(self._strata_of(codes), minlength=self.size).astype(np.int64)

    def people_per_stratum_of_table(self, table: Any) -> Counts:
        """The same of a table's rows."""
        return self.people_per_stratum(self._encode_clear(in_memory(table)))

    def check_sizes(self, sizes: Counts) -> None:
        """Say before anything is sent that what goes in clear singles people out; refuse if it names everybody."""
        people, alone = int(sizes.sum()), int((sizes == 1).sum())
        if people < ENOUGH_TO_TELL or not alone:
            return
        if alone == people:
            raise DataError(
                f"Everybody has a value of their own in {_listed(self.clear)}, which is sent in clear: it would "
                "name each person. Declare fewer, wider values, or do not make it public."
            )
        warnings.warn(
            f"Of {counted(people, 'person')}, {alone:,} have {_listed(self.clear)} for themselves "
            "alone. That is sent in clear, and anyone who knows that person's values knows whose report it is. Declare "
            "fewer, wider values if that matters.",
            DisclosureWarning,
            stacklevel=4,
        )

    # What the collector does.

    @property
    def cells(self) -> int:
        """How many counts a tally has."""
        return self.size * (1 + self.design.cells) if self.clear else self.design.cells

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Who can have sent their reports, and sent values in clear that are declared; of reports in their form."""
        return self.design.valid(reports) & self._declared(reports)

    def _declared(self, reports: Reports) -> NDArray[np.bool_]:
        """Who sent values in clear that are declared."""
        n = len(next(iter(reports.values())))
        fine = np.ones(n, np.bool_)
        for name, attribute in self.clear.items():
            fine &= np.asarray(reports[name]) < attribute.size
        return fine

    def count(self, reports: Any) -> Folded:
        """Counts of reports, stratum by stratum; a person of whom anything is impossible is refused."""
        if not self.clear:
            return self.design.count(reports)
        parsed = {name: report_parsing.parse(own, report_column(reports, name)) for name, own in self.form.items()}
        people_of_columns({name: column.reports for name, column in parsed.items()}, "The reports")
        rows, refused = together(parsed)
        blocks = memory.blocks(people_of_columns(rows), max(memory.BLOCK, 4 * self.cells))

        def work(block: tuple[int, slice]) -> Folded:
            return self._count({name: column[block[1]] for name, column in rows.items()})

        nothing = Folded(np.zeros(self.cells, np.int64), 0, refused)
        return functools.reduce(Folded.__add__, memory.in_order(work, blocks), nothing)

    def _count(self, reports: Reports) -> Folded:
        """Counts of one block of reports in their form."""
        fine = np.flatnonzero(self._declared(reports))
        stratum = self._strata_of({name: reports[name][fine] for name in self.clear})
        order = np.argsort(stratum, kind="stable")
        present, starts = np.unique(stratum[order], return_index=True)
        sizes = np.zeros(self.size, np.int64)
        counts = np.zeros((self.size, self.design.cells), np.int64)
        for place, rows in zip(present.tolist(), np.split(fine[order], starts[1:]), strict=bool(present.size)):
            folded = self.design._count({name: reports[name][rows] for name in self.design.form})
            sizes[place], counts[place] = folded.n, folded.counts
        counted_people = int(sizes.sum())
        n = len(next(iter(reports.values())))
        return Folded(np.concatenate([sizes, counts.ravel()]), counted_people, n - counted_people)

    def _strata_of(self, codes: Mapping[str, Codes]) -> NDArray[np.int64]:
        """The number of each person's stratum."""
        columns = [np.asarray(codes[name], np.int64) for name in self.clear]
        return np.asarray(np.ravel_multi_index(columns, self.shape), np.int64)

    def check_tally(self, tally: Tally) -> None:
        """Everybody counted is in one stratum."""
        if self.clear and (exact_total(tally.counts[: self.size]) != tally.n or exact_total(tally.counts) >= 2**63):
            raise DataError(IMPOSSIBLE)

    def sizes(self, tally: Tally) -> Counts:
        """How many people each stratum has, with one axis per public attribute."""
        return np.asarray(tally.counts[: self.size].reshape(self.shape))

    def sizes_by(self, tally: Tally, names: tuple[str, ...]) -> Counts:
        """How many people each group has, with an axis for each of these attributes, in this order."""
        axes = list(self.clear)
        others = tuple(place for place, name in enumerate(axes) if name not in names)
        kept = [name for name in axes if name in names]
        summed = self.sizes(tally).sum(axis=others)
        return np.asarray(np.transpose(summed, [kept.index(name) for name in names]))

    def divided(self, counts: Any) -> list[Any]:
        """What numbers of people say of every stratum: arrays that have the strata as their first axes."""
        if isinstance(counts, Mapping):
            columns = {name: self._divided(own) for name, own in counts.items()}
            return [{name: own[place] for name, own in columns.items()} for place in range(self.size)]
        return list(self._divided(counts))

    def _divided(self, counts: Any) -> NDArray[Any]:
        array = np.asarray(counts)
        if array.shape[: len(self.shape)] != self.shape or array.ndim == len(self.shape):
            raise DataError("counts must have one axis per public attribute first, as long as it has values.")
        return array.reshape(self.size, *array.shape[len(self.shape) :])

    def pooled(self, tally: Tally, kept: Mapping[str, int] | None = None) -> Tally:
        """The tally of some strata together, as the design alone would have made it: those with these codes."""
        if not self.clear:
            return tally
        where = tuple((kept or {}).get(name, slice(None)) for name in self.clear)
        cells = tally.counts[self.size :].reshape(*self.shape, -1)[where]
        sizes = self.sizes(tally)[where]
        return Tally(
            design=tally.design,
            counts=cells.reshape(-1, cells.shape[-1]).sum(axis=0),
            n=int(np.sum(sizes)),
            # Who was refused may have named any stratum, or none.
            refused=tally.refused if not kept else 0,
            simulated=tally.simulated,
        )


class SizeCounter:
    """How many people each stratum has, added up by several threads."""

    def __init__(self, records: Records) -> None:
        self.records, self._lock = records, threading.Lock()
        self.sizes = np.zeros(records.size if records.clear else 0, np.int64)

    def add(self, codes: Mapping[str, Codes]) -> None:
        """Count these people too."""
        sizes = self.records.people_per_stratum(codes)
        with self._lock:
            self.sizes += sizes

    def check(self) -> None:
        """As `Records.check_sizes`, of all who were counted."""
        self.records.check_sizes(self.sizes)


def _listed(names: Iterable[str]) -> str:
    return " and ".join(repr(name) for name in names)


def separate(schema: Any, public: Any) -> tuple[Any, dict[str, Attribute]]:
    """What is asked privately, and the attributes that are sent in clear: those that say so and those that are named.

    Parameters
    ----------
    schema
        A `Schema`, a mapping from name to domain, attribute or mechanism, or a list of attributes.
    public
        None; names of the schema; or a mapping from name to further attributes or domains.
    """
    declared = schema if isinstance(schema, Mapping) else Schema(schema)
    further = dict(Schema(_public(public)).items()) if isinstance(public, Mapping) and public else {}
    named = _named(public, declared)
    clear = {
        name: _as_public(name, value)
        for name, value in declared.items()
        if name in named or getattr(value, "public", False) is True
    }
    private = {name: value for name, value in declared.items() if name not in clear}
    if not private:
        raise ParameterError("A plan must ask something privately: not every attribute can be public.")
    both = set(further) & set(declared)
    if both:
        raise ParameterError(f"{min(both)!r} is declared twice: as public, and as an attribute that is asked for.")
    if not clear:
        return schema, further
    whole = isinstance(schema, Schema) or not isinstance(schema, Mapping)
    return Schema(private.values()) if whole else private, {**clear, **further}


def _public(public: Mapping[str, Any]) -> list[Attribute]:
    return [_as_public(name, value) for name, value in public.items()]


def _as_public(name: str, declared: Any) -> Attribute:
    if isinstance(declared, Attribute):
        return Attribute(name, declared.domain, public=True, column=declared.column)
    return Attribute(name, declared, public=True)


def _named(public: Any, declared: Mapping[str, Any]) -> set[str]:
    """The names among the attributes that are to be public."""
    if public is None or isinstance(public, Mapping):
        return set()
    if isinstance(public, str) or not isinstance(public, Iterable):
        raise ParameterTypeError('public must be a list of attributes, as in public=["school"].')
    names = set(public)
    if not names <= set(declared):
        raise ParameterError('public must name attributes of the schema, as in public=["school"].')
    return names
