"""Tables of counts by several columns at once, which agree in every margin that they share.

With a δ, what gets noise is not the tables but their *contrasts*: for every set A of attributes that lies in a wanted
table, the margin of A, centred along each of its attributes and multiplied by the number of its cells, which makes it
whole numbers. Each A has discrete Gaussian noise of its own size, and the sizes are those of the least variance summed
over all cells of all tables. A table is the sum of the parts of its subsets, so that all tables agree.

Without a δ every table has discrete Laplace noise, ε in equal shares, and the tables are then made to agree by least
squares, which is linear and biases nothing. Contrasts would not help: a record changes all cells of a contrast, and
pure ε pays for every one of them.

``tables.proof.md`` has the argument. Rejected: the table of all columns at once, whose cells are mostly noise, and
equal shares of ρ for every table (24.0 people per cell on Adult, and 21.1 made to agree, where contrasts have 17.4).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import special

from bruit import _checks, documents
from bruit.domains import Attribute, Schema
from bruit.domains.declare import column_name, counted_question
from bruit.domains.policy import POLICIES
from bruit.domains.schema import clean_tables
from bruit.engines import batch as batching
from bruit.entropy import Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError, in_column
from bruit.estimation import contrasts
from bruit.estimation.contrasts import Names
from bruit.estimation.tally import Counts, exact_total
from bruit.privacy.zcdp import epsilon_to_rho, pure_rho
from bruit.releases.draws import DrawnSums
from bruit.releases.laws import SumLaw
from bruit.releases.noise import MOST_SUM, DiscreteGaussian, DiscreteLaplace, Integers, Noise, cut
from bruit.releases.person import Contribution
from bruit.releases.result import Floats, Result
from bruit.releases.statistic import (
    CentralNeighbours,
    Statistic,
    codes_by,
    histogram_of,
    with_draw,
    with_noise,
    written_error,
)
from bruit.releases.widths import LEVEL, WidthLike
from bruit.tables import Column, Table, counted, decimals, digits, label

__all__ = ["Tables", "TablesResult"]

#: How many cells all tables have together, at most.
MOST_CELLS = 2**20
#: How many attributes a table has, and how many sets of attributes all tables have, at most.
MOST_NAMES, MOST_PARTS = 10, 4096
#: The most losses, over parts and ways in which a record may differ, that are computed in fractions.
MOST_FRACTIONS = 2**15
#: By how much a largest loss in double precision is enlarged; its roundings are below one part in 10¹².
_ROUNDINGS = 1e-9
#: How many microseconds it takes to make a subset of a table, a part, and a loss in fractions and in doubles, about.
_SUBSET_WORK, _PART_WORK, _FRACTION_WORK, _ROUNDED_WORK = 5, 40, 7, 0.25
#: Up to this number of attributes, all sets in which a replaced record may differ are tried; above, parts are bounded.
ENUMERATED = 10


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TablesResult(Result):
    """Tables that were released: a value for each cell, labelled by its table and its values.

    Examples
    --------
    >>> from bruit.releases import release
    >>> people = {"sex": ["F", "M"] * 50, "smokes": ["no", "no", "yes", "no"] * 25}
    >>> tables = Tables({"sex": ["F", "M"], "smokes": ["no", "yes"]}, epsilon=1.0, delta=1e-6)
    >>> result = release(people, tables, rng=7)
    >>> result.cells("sex", "smokes").shape, result.cells("sex").shape
    ((2, 2), (2,))
    """

    kind: ClassVar[str] = "tables"

    def cells(self, *names: str) -> Floats:
        """The counts by these attributes, an axis for each, in this order; of any that stand in one of the tables."""
        if "by" in self.statistic:
            raise ParameterError("These are the tables of several groups: look at values and labels.")
        wanted = _title(names)
        titles = [tuple(table) for table in self.statistic["tables"]]
        own = next((table for table in titles if set(names) <= set(table)), None)
        if own is None or len(set(names)) < len(names) or not names:
            raise ParameterError(f"None of the tables has {wanted}: there are {', '.join(map(_title, titles))}.")
        sizes = {item["name"]: Attribute.from_dict(item).size for item in self.statistic["attributes"]}
        before = sum(math.prod(sizes[name] for name in table) for table in titles[: titles.index(own)])
        shape = tuple(sizes[name] for name in own)
        table = self.values[before : before + math.prod(shape)].reshape(shape)
        margin = table.sum(axis=tuple(axis for axis, name in enumerate(own) if name not in names))
        kept = [name for name in own if name in names]
        return np.asarray(np.transpose(margin, [kept.index(name) for name in names]), np.float64)

    def attributes(self) -> dict[str, list[str]]:
        """The label of each cell by attribute, with nothing where a table does not have it.

        >>> from bruit.releases import release
        >>> tables = Tables({"sex": ["F", "M"], "smokes": ["no", "yes"]}, epsilon=1.0)
        >>> release({"sex": ["F"], "smokes": ["no"]}, tables, rng=7).attributes()
        {'sex': ['F', 'F', 'M', 'M'], 'smokes': ['no', 'yes', 'no', 'yes']}
        """
        if "by" in self.statistic:
            return {}
        known = {
            own.name: list(map(label, own.labels)) for own in map(Attribute.from_dict, self.statistic["attributes"])
        }
        cells: dict[str, list[str]] = {name: [] for name in known}
        for names in self.statistic["tables"]:
            for cell in itertools.product(*(known[name] for name in names)):
                place = dict(zip(names, cell, strict=True))
                for name, labels in cells.items():
                    labels.append(place.get(name, ""))
        return cells

    def table(self, level: float = 0.95) -> Table:
        """Every cell: columns group (the table), label (the cell), value, error, lower and upper."""
        plain = super().table(level)
        columns = [
            replace(column, write=decimals(1)) if column.name in ("value", "interval") else column
            for column in plain.columns
        ]
        return replace(plain, columns=columns)

    def _label_columns(self) -> list[Column]:
        """The table and the cell."""
        if "by" in self.statistic:
            return super()._label_columns()
        titles, cells = zip(*self.labels, strict=True)
        return [Column("group", titles, "table", "label", label), Column("label", cells, "cell", "label", label)]


@dataclass(frozen=True)
class Tables(Statistic):
    """How many records have each combination of values, for several tables that agree with each other.

    Parameters
    ----------
    attributes
        The columns and their values, declared without looking at the data: a schema, or a mapping from column to
        labels or a domain.
    tables
        The tables to publish, as in ``[("sex", "smokes"), ("sex",)]``; every pair by default.
    epsilon
        The most that all tables together may tell about one record.
    delta
        0 for Laplace noise; a small number for Gaussian noise, with a far smaller error where there are several tables.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``, which makes the number of records public.
    within
        In place of `epsilon`: half the width of the widest 95 % interval of a cell, for the least ε that gives it.

    Guarantee
    ---------
    With a δ, the parts have the ρ of (ε, δ) in all: for every set A of attributes a record moves the centred margin by
    Π(1 − 1/n), squared, and Σ_A Π(1 − 1/n)/2σ_A² ≤ ρ in exact fractions; a replaced record by what the worst choice of
    attributes that change gives. Without, a record is in one cell of each of T tables, and the scale is T/ε, or 2T/ε.

    Error
    -----
    Every cell of a table has the same variance, Σ_{A⊆S} σ_A²·Π_A(1 − 1/n)·Π_{S∖A} 1/n², known before anything is read:
    `error_of`.

    References
    ----------
    McKenna, Miklau, Hay and Machanavajjhala (2018), Optimizing error of high-dimensional statistical queries under
    differential privacy. Xiao, He, Zhang and Kifer (2023), An optimal and scalable matrix mechanism for noisy marginals
    under convex loss functions.

    Examples
    --------
    >>> tables = Tables({"a": ["0", "1"], "b": ["0", "1", "2"], "c": list("wxyz")}, epsilon=1.0, delta=1e-6)
    >>> [round(tables.error_of(*names), 2) for names in tables.tables]
    [7.1, 6.51, 5.79]
    """

    kind: ClassVar[str] = "tables"
    has_sums: ClassVar[bool] = True
    column: ClassVar[None] = None  # type: ignore[misc] # it reads several
    #: What a person contributes, where people have several rows; None for one row each.
    contribution: ClassVar[Contribution | None] = None

    attributes: Any
    _: KW_ONLY
    tables: Any = None
    epsilon: float = math.nan
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    within: InitVar[WidthLike | None] = None

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Which tables, and the policies of the columns."""
        return ("tables", *POLICIES)

    @classmethod
    def example(cls) -> str:
        """Two columns."""
        return "sex=F,M & smokes=no,yes"

    @classmethod
    def declared(cls, questions: Sequence[str], options: Mapping[str, Any]) -> Statistic:
        """The tables of the columns that questions declare; `tables` lists some, as in ``sex,smokes;sex,age``.

        A policy is a word for all columns, or a mapping with some columns' own, and under ``""`` that of the others.
        """
        if not questions:
            raise ParameterError(f"Tables need the columns that they count, as in {cls.example()}.")
        policies: dict[str, Any] = {name: options[name] for name in POLICIES if name in options}
        others = {name: value for name, value in options.items() if name not in cls.option_names()}
        columns = [counted_question(text, **_of_column(policies, column_name(text))) for text in questions]
        if len(dict(columns)) < len(columns):
            raise ParameterError("Tables declare a column twice: name each once.")
        return cls(dict(columns), tables=_chosen_tables(options.get("tables"), dict(columns)), **others)

    def __post_init__(self, within: WidthLike | None) -> None:
        schema = _clean_attributes(self.attributes)
        object.__setattr__(self, "attributes", tuple(schema.values()))
        object.__setattr__(self, "tables", clean_tables(self.tables, schema))
        self._settle(within)
        self._check_privacy()
        self._check_sizes()
        _ = self._noise

    def _check_sizes(self) -> None:
        cells = sum(map(self._cells, self.tables))
        if cells > MOST_CELLS:
            raise LimitError(f"Tables may have at most {MOST_CELLS:,} cells in all, these have {cells:,}.")
        if max(map(len, self.tables)) > MOST_NAMES or sum(2 ** len(names) for names in self.tables) > 8 * MOST_PARTS:
            raise LimitError(f"A table may have at most {MOST_NAMES} attributes, and a release some thousand tables.")
        if len(self._parts) > MOST_PARTS:
            raise LimitError(f"Tables may have at most {MOST_PARTS:,} sets of attributes: declare fewer.")
        documents.work(sum(2 ** len(names) for names in self.tables) * _SUBSET_WORK + len(self._parts) * _PART_WORK)

    # What is asked.

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {attribute.name: attribute.size for attribute in self.attributes}

    def _cells(self, names: Names) -> int:
        return math.prod(self._sizes[name] for name in names)

    def _shape(self, names: Names) -> tuple[int, ...]:
        return tuple(self._sizes[name] for name in names)

    @cached_property
    def _parts(self) -> list[Names]:
        """Every set of attributes that lies in a table, the empty one first."""
        every = {kept for names in self.tables for kept in contrasts.subsets(names)}
        order = {name: place for place, name in enumerate(self._sizes)}
        return sorted(every, key=lambda kept: (len(kept), [order[name] for name in kept]))

    @cached_property
    def _within(self) -> dict[Names, list[Names]]:
        """The tables that each part lies in."""
        within: dict[Names, list[Names]] = {kept: [] for kept in self._parts}
        for names in self.tables:
            for kept in contrasts.subsets(names):
                within[kept].append(names)
        return within

    @property
    def noise_name(self) -> str:
        """The law of the noise: Laplace, or with a δ Gaussian."""
        return "Gaussian" if self.delta else "Laplace"

    @property
    def title(self) -> str:
        """What is published, of which columns."""
        names = list(self._sizes)
        return f"tables of {', '.join(names[:4])}{' …' if len(names) > 4 else ''}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(batching.clean_name(name) for name in self._sizes)

    @cached_property
    def _largest(self) -> tuple[Names, ...]:
        """The tables that are part of no other: these are counted, and the others are margins of them."""
        return tuple(names for names in self.tables if self._within[names] == [names])

    @property
    def outcomes(self) -> int:
        """One value for each cell of each table."""
        return sum(map(self._cells, self.tables))

    @property
    def size(self) -> int:
        """One number for each cell of each table that is part of no other."""
        return sum(map(self._cells, self._largest))

    @cached_property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """One label for each cell: its table, and its values."""
        known = {attribute.name: [label(own) for own in attribute.labels] for attribute in self.attributes}
        return tuple(
            (_title(names), ", ".join(cell))
            for names in self.tables
            for cell in itertools.product(*(known[name] for name in names))
        )

    @property
    def rho(self) -> float:
        """The ρ of (ε, δ), which the noise of all parts does not exceed; of pure ε, that of ε."""
        return epsilon_to_rho(self.epsilon, self.delta) if self.delta else pure_rho(self.epsilon)

    # What is counted.

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """The code of each value."""
        return list(self._codes(batch).values())

    def _codes(self, batch: Mapping[str, Any]) -> dict[str, Integers]:
        codes = {}
        for attribute in self.attributes:
            with in_column(attribute.name):
                codes[attribute.name] = codes_by(attribute.domain, batch[batching.clean_name(attribute.name)])
        return codes

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """How many records are in each cell of each table."""
        codes = self._codes(batch)
        counts = []
        for names in self._largest:
            cells = np.ravel_multi_index([codes[name] for name in names], self._shape(names))
            counts.append(histogram_of(cells, self._cells(names)))
        return np.concatenate(counts)

    def for_people(self, contribution: Contribution) -> Statistic:
        """The same tables, with noise for all rows of a person: each moves every part by as much as the others may."""
        statistic: Tables = self._of_rows()
        object.__setattr__(statistic, "contribution", contribution)
        for name in ("_noise", "_deviations", "_errors"):
            statistic.__dict__.pop(name, None)
        _ = statistic._noise  # a scale beyond the limits is found here
        return statistic

    # The noise.

    @property
    def _rows(self) -> int:
        """By how many rows, added or removed, two neighbouring tables differ."""
        if self.contribution is not None:
            return self.contribution.times
        return 2 if self.public else 1

    @property
    def _squares(self) -> int:
        """By how much more than one row a person moves the square of a part, by the triangle inequality."""
        if self.contribution is None:
            return 1
        return self.contribution.squares * (4 if self.contribution.replaced else 1)

    @property
    def _public_total(self) -> bool:
        """Whether the number of records is public: under replace, unless people have several rows."""
        return self.public and self.contribution is None

    @cached_property
    def _noise(self) -> dict[Names, DiscreteGaussian] | DiscreteLaplace:
        """Of every part that is not public, with a δ; else of every cell of every table."""
        if not self.delta:
            return DiscreteLaplace.calibrate(self._rows * len(self._largest), self.epsilon)
        target = Fraction(epsilon_to_rho(self.epsilon, self.delta)) / self._squares
        weights, worst = self._rounded_proportion() if self._has_many_losses else self._exact_proportion()
        # σ² = weight·(largest loss at these weights)/ρ, so that the largest loss is ρ.
        factor = worst / target
        return {
            kept: DiscreteGaussian.at_least(self._cells(kept) ** 2 * weight * factor)
            for kept, weight in weights.items()
        }

    @property
    def _has_many_losses(self) -> bool:
        """Whether there are too many ways in which a record may differ for fractions of each."""
        enumerated = self._public_total and len(self._sizes) <= ENUMERATED
        return enumerated and 2 ** len(self._sizes) * len(self._parts) > MOST_FRACTIONS

    def _exact_proportion(self) -> tuple[dict[Names, Fraction], Fraction]:
        """The variance of every part up to a factor, and the largest loss at these variances."""
        ways = 2 ** len(self._sizes) if self._public_total and len(self._sizes) <= ENUMERATED else 1
        documents.work(ways * len(self._parts) * _FRACTION_WORK)
        losses = self._losses()
        parts = list(losses[0])
        table = np.array([[float(loss[kept]) for kept in parts] for loss in losses])
        weights = dict(zip(parts, _least_variance(table, list(map(self._importance, parts))), strict=True))
        return weights, max(_total_loss(loss, weights) for loss in losses)

    def _rounded_proportion(self) -> tuple[dict[Names, Fraction], Fraction]:
        """The same in double precision, with a loss that is enlarged by far more than all roundings."""
        parts = [kept for kept in self._parts if kept]
        ways = np.array(list(itertools.product((False, True), repeat=len(self._sizes)))[1:])
        documents.work(ways.shape[0] * len(parts) * _ROUNDED_WORK)
        changed = dict(zip(self._sizes, ways.T, strict=True))
        table = np.empty((ways.shape[0], len(parts)))
        for place, kept in enumerate(parts):
            own, product = 1.0, np.ones(ways.shape[0])
            for name in kept:
                share = 1 - 1 / self._sizes[name]
                own, product = own * share, product * np.where(changed[name], share - 1, share)
            table[:, place] = own - product
        variances = _least_variance(table, list(map(self._importance, parts)))
        worst = float((table @ np.array([1 / float(own) for own in variances])).max())
        return dict(zip(parts, variances, strict=True)), Fraction(worst * (1 + _ROUNDINGS))

    def _losses(self) -> list[dict[Names, Fraction]]:
        """What each part adds to ρ for σ² = 1: a mapping for every way in which a record may differ."""
        kept_share = {name: 1 - Fraction(1, size) for name, size in self._sizes.items()}
        if not self._public_total:
            return [
                {kept: math.prod((kept_share[name] for name in kept), start=Fraction(1, 2)) for kept in self._parts}
            ]
        parts = [kept for kept in self._parts if kept]

        @cache
        def loss(kept: Names, changed: Names) -> Fraction:
            # ‖C(e_u − e_v)‖²/2 = Π(1 − 1/n) − Π over changed ones (−1/n) · Π over others (1 − 1/n).
            own = math.prod((kept_share[name] for name in kept), start=Fraction(1))
            terms = (kept_share[name] - (1 if name in changed else 0) for name in kept)
            return own - math.prod(terms, start=Fraction(1))

        if len(self._sizes) > ENUMERATED:
            # The product is least where one attribute changes: every further one makes it smaller, or positive.
            return [{kept: max(loss(kept, (name,)) for name in kept) for kept in parts}]
        ways = [changed for changed in contrasts.subsets(tuple(self._sizes)) if changed]
        return [
            {kept: loss(kept, tuple(name for name in kept if name in changed)) for kept in parts} for changed in ways
        ]

    def _importance(self, kept: Names) -> float:
        """By how much the variance of all cells of all tables grows with that of a part."""
        return math.fsum(
            self._cells(names) * contrasts.cell_share(kept, self._sizes, names) for names in self._within[kept]
        )

    @property
    def spent(self) -> Fraction:
        """The exact ρ that the noise has, with a δ; the exact ε without. For checks: it is at most what was asked."""
        if isinstance(self._noise, DiscreteLaplace):
            return self._noise.loss(self._rows * len(self._largest))
        noise = {kept: own.sigma2 / self._cells(kept) ** 2 for kept, own in self._noise.items()}
        return max(_total_loss(loss, noise) for loss in self._losses()) * self._squares

    @cached_property
    def _deviations(self) -> dict[Names, float]:
        """The variance of the white noise of every part's margin, as it is published."""
        noises = self._noise
        return self._deviations_of(list(noises.values()) if isinstance(noises, dict) else [noises])

    def _deviations_of(self, noises: Sequence[Noise]) -> dict[Names, float]:
        """The same for other noises: one of each part that is not public, or of every table the same."""
        if isinstance(self._noise, dict):
            known = dict(zip(self._noise, noises, strict=True))
            return {
                kept: known[kept].variance / self._cells(kept) ** 2 if kept in known else 0.0 for kept in self._parts
            }
        # Least squares: a part is the mean over the tables that have it, by inverse variance; a public total is exact.
        largest = set(self._largest)
        weights = {
            kept: math.fsum(self._cells(kept) / self._cells(names) for names in self._within[kept] if names in largest)
            for kept in self._parts
        }
        return {
            kept: 0.0 if self._public_total and not kept else noises[0].variance / weight
            for kept, weight in weights.items()
        }

    def error_of(self, *names: str) -> float:
        """The standard deviation of every count by these attributes, known before anything is read.

        Parameters
        ----------
        *names
            Attributes that stand together in one of the tables; none for the number of records.
        """
        ordered = tuple(name for name in self._sizes if name in names)
        if len(ordered) < len(names) or ordered not in self._within:
            raise ParameterError(
                f"None of the tables has {_title(names)}: there are {', '.join(map(_title, self.tables))}."
            )
        return self._error_of(ordered)

    def _error_of(self, ordered: Names) -> float:
        return math.sqrt(contrasts.cell_variance(self._deviations, self._sizes, ordered))

    def expected_error(self, n: int | None = None) -> Floats:
        """The standard deviation of every cell, table by table; it does not depend on the data."""
        return self._errors

    @cached_property
    def _errors(self) -> Floats:
        return self._errors_of(self._deviations)

    def _errors_of(self, deviations: Mapping[Names, float]) -> Floats:
        """The standard deviation of every cell, for parts of these variances."""
        sizes = [self._cells(names) for names in self.tables]
        variances = [contrasts.cell_variance(deviations, self._sizes, names) for names in self.tables]
        return np.repeat(np.sqrt(variances), sizes)

    def describe_error(self, n: int) -> str:
        """The largest standard deviation of a cell."""
        return written_error(max(map(self._error_of, self.tables)))

    def half_width(self, n: int | None = None, level: float = LEVEL) -> float:
        """Half the width of the widest interval of a cell; it does not depend on the data."""
        return max(map(self._error_of, self.tables)) * _half_width(level, heavy=not self.delta)

    def plan(self) -> Table:
        """What to expect of every table: its cells, and the error of each."""
        errors = [self.error_of(*names) for names in self.tables]
        sizes = [self._cells(names) for names in self.tables]
        columns = [
            Column("table", [_title(names) for names in self.tables], kind="label", write=str),
            Column("cells", sizes),
            Column("error", errors, "error of a cell", write=digits(4)),
        ]
        mean = math.sqrt(math.fsum(size * error**2 for size, error in zip(sizes, errors, strict=True)) / sum(sizes))
        notes = [f"guarantee: {self.guarantee}", f"root mean square over {counted(sum(sizes), 'cell')}: {mean:.4g}"]
        title = f"Expected error of {counted(len(sizes), 'table')} of counts"
        return Table(title, columns, notes, {"rmse": mean}, noun="table")

    # What is published.

    def publish(self, counts: Counts, words: Words) -> Result:
        """The tables: sums of noisy parts, or noisy tables made to agree."""
        sums = self._noisy(self._tables_of(counts), words)
        return with_draw(self._of_sums(sums, not words.secure), self, sums)

    def of_sums(self, sums: Sequence[DrawnSums]) -> TablesResult:
        """The tables of noisy sums that were drawn before."""
        return self._of_sums(sums, simulated=False)

    def _of_sums(self, sums: Sequence[DrawnSums], simulated: bool) -> TablesResult:
        published = self._by_parts(sums) if isinstance(self._noise, dict) else self._agreed(sums)
        values = np.concatenate([published[names].ravel() for names in self.tables])
        noises = [own.noise for own in sums]
        error = self._errors_of(self._deviations_of(noises))
        heavy = any(noise.is_heavy for noise in noises)

        def ends(level: float) -> Floats:
            half = error * _half_width(level, heavy=heavy)
            return np.stack([values - half, values + half], axis=1)

        return TablesResult(
            name=self.name,
            values=values,
            labels=self.labels,
            standard_error=error,
            guarantee=self.guarantee,
            simulated=simulated,
            statistic=self.to_dict(),
            ends=ends,
            notes=("tables agree in every margin that they share; intervals are approximate",),
        )

    def _tables_of(self, counts: Counts) -> dict[Names, Any]:
        """The true counts of each table, in whole numbers of any size."""
        exact = np.asarray(counts)
        if exact.dtype != np.int64 or exact_total(exact) * self.size >= MOST_SUM:
            exact = exact.astype(object)
        ends = list(itertools.accumulate(self._cells(names) for names in self._largest))
        parts = np.split(exact, ends[:-1])
        return {names: part.reshape(self._shape(names)) for names, part in zip(self._largest, parts, strict=True)}

    def _noisy(self, tables: Mapping[Names, Any], words: Words) -> list[DrawnSums]:
        """The contrasts of every part that is not public, or without a δ the tables, with noise."""
        n = int(self._margin(tables, ())) if self._public_total else None
        noises: Any = self._noise
        if isinstance(noises, dict):
            own = dict(zip(self._parts, words.split(len(self._parts)), strict=True))
            exact = {kept: np.asarray(_scaled_contrast(self._margin(tables, kept))) for kept in noises}
        else:
            own = dict(zip(tables, words.split(len(tables)), strict=True))
            exact, noises = dict(tables), dict.fromkeys(tables, noises)
        flat = {names: cut(np.asarray(part).ravel()) for names, part in exact.items()}
        earlier = self.earlier or [None] * len(flat)
        return [
            DrawnSums(noises[names], with_noise(part, noises[names], own[names], before), n)
            for (names, part), before in zip(flat.items(), earlier, strict=True)
        ]

    def _by_parts(self, sums: Sequence[DrawnSums]) -> dict[Names, Floats]:
        noises: Any = self._noise
        parts: dict[Names, Any] = {(): np.asarray(float(sums[0].n or 0))} if self._public_total else {}
        for kept, (_, values, _) in zip(noises, sums, strict=True):
            noisy = values.astype(np.float64) / self._cells(kept)
            parts[kept] = contrasts.centred(noisy.reshape(self._shape(kept)))
        return {
            names: contrasts.spread({kept: parts[kept] for kept in contrasts.subsets(names)}, names, self._shape(names))
            for names in self.tables
        }

    def _agreed(self, sums: Sequence[DrawnSums]) -> dict[Names, Floats]:
        noisy = {
            names: own.values.astype(np.float64).reshape(self._shape(names))
            for names, own in zip(self._largest, sums, strict=True)
        }
        variances = {names: own.noise.variance for names, own in zip(self._largest, sums, strict=True)}
        total = float(sums[0].n or 0) if self._public_total else None
        agreed = contrasts.least_squares(noisy, variances, total)
        return {names: self._margin(agreed, names) for names in self.tables}

    def _margin(self, tables: Mapping[Names, Any], kept: Names) -> Any:
        """The margin of a table that has these attributes: all that do have the same."""
        names = next(names for names in self._within[kept] if self._within[names] == [names])
        others = tuple(axis for axis, name in enumerate(names) if name not in kept)
        return np.sum(tables[names], axis=others)

    def law(self, counts: Counts) -> tuple[SumLaw, ...]:
        """The noisy contrasts, or without a δ the noisy tables, of which everything published is computed."""
        tables, noises = self._tables_of(np.asarray(counts)), self._noise
        if isinstance(noises, dict):
            scaled = {kept: _scaled_contrast(self._margin(tables, kept)) for kept in self._parts if kept in noises}
            pairs = [(cut(np.asarray(part).ravel()), noises[kept]) for kept, part in scaled.items()]
            return tuple(SumLaw(tuple(sums.tolist()), (noise,) * sums.size) for sums, noise in pairs)
        flat = [cut(np.asarray(table).ravel()) for table in tables.values()]
        return tuple(SumLaw(tuple(sums.tolist()), (noises,) * sums.size) for sums in flat)

    def loss_between(self, first: Counts, second: Counts) -> Fraction | None:
        """The exact loss without a δ: the distance (L1) of all tables over the scale."""
        if not isinstance(self._noise, DiscreteLaplace):
            return None
        pairs = zip(cut(first), cut(second), strict=True)
        return sum(abs(int(ours) - int(theirs)) for ours, theirs in pairs) / self._noise.scale

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        delta = {"delta": self.delta} if self.delta else {}
        return {
            "kind": self.kind,
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "tables": [list(names) for names in self.tables],
            "epsilon": self.epsilon,
            **delta,
            "neighbours": self.neighbours,
        }


def _title(names: Iterable[str]) -> str:
    return " × ".join(names)


def _scaled_contrast(margin: Any) -> Any:
    """The margin centred along each axis and multiplied by the number of its cells: whole numbers."""
    table = np.asarray(margin)
    for axis, size in enumerate(table.shape):
        table = size * table - table.sum(axis=axis, keepdims=True)
    return table


def _half_width(level: float, *, heavy: bool) -> float:
    """In standard deviations: of a normal law, and for sums of Laplace noise at least that of one of them."""
    normal = float(special.ndtri(0.5 + level / 2))
    return max(normal, -math.log(1 - level) / math.sqrt(2)) if heavy else normal


def _least_variance(table: Floats, importance: Sequence[float]) -> list[Fraction]:
    """σ² of every part, up to a factor, of the least Σ importance·σ² for a given largest loss.

    With one loss Σ a/σ² that is √(a/importance). With several, their mean with weights that grow where the loss is
    largest; whatever comes out is a choice, and the guarantee does not rest on it.
    """
    many = table.size > MOST_FRACTIONS
    value = np.asarray(importance)
    shares = np.full(len(table), 1 / len(table))
    best, best_total = value, math.inf
    for _ in range(1 if len(table) == 1 else 40 if many else 300):
        variances = np.sqrt(np.maximum(shares @ table, 1e-12) / value)
        loads = table @ (1 / variances) if many else (table / variances).sum(axis=1)
        total = float(value @ variances) * float(loads.max())
        if total < best_total:
            best, best_total = variances, total
        shares = shares * (loads / loads.max()) ** 4
        shares /= shares.sum()
    return [_rounded(own) for own in best.tolist()]


def _rounded(value: float) -> Fraction:
    """A positive number with 24 binary digits, as a fraction."""
    mantissa, exponent = math.frexp(value)
    return Fraction(round(mantissa * 2**24)) * Fraction(2) ** (exponent - 24)


def _total_loss(loss: Mapping[Names, Fraction], variances: Mapping[Names, Fraction]) -> Fraction:
    """What all parts with noise of these variances add to ρ."""
    terms = [share / variances[kept] for kept, share in loss.items()]
    while len(terms) > 1:  # in pairs, because the sum of many has long numbers, which then occur few times
        terms = [sum(terms[place : place + 2], Fraction(0)) for place in range(0, len(terms), 2)]
    return terms[0] if terms else Fraction(0)


def _of_column(policies: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The policies of one column."""
    own = {
        policy: value.get(name, value.get("")) if isinstance(value, Mapping) else value
        for policy, value in policies.items()
    }
    return {policy: value for policy, value in own.items() if value is not None}


def _chosen_tables(tables: Any, columns: Mapping[str, Any]) -> list[tuple[str, ...]] | None:
    """The tables that a declaration names, as a text or as lists of columns; None for all pairs."""
    if tables is None:
        return None
    texts = [text.split(",") for text in tables.split(";")] if isinstance(tables, str) else tables
    rule = f"tables must name columns, as in {';'.join([','.join(list(columns)[:2]), next(iter(columns))])}."
    if not isinstance(texts, Sequence) or not all(isinstance(names, Sequence) for names in texts):
        raise ParameterTypeError(rule)
    chosen = [(names,) if isinstance(names, str) else tuple(names) for names in texts]
    if not all(isinstance(name, str) for names in chosen for name in names):
        raise ParameterTypeError(rule)
    cleaned = [tuple(batching.clean_name(name) for name in names if name.strip()) for names in chosen]
    for name in itertools.chain(*cleaned):
        if name not in columns:
            raise ParameterError(f"{rule}{_checks.suggestion(name, columns)}")
    return cleaned


def _clean_attributes(attributes: Any) -> Schema:
    rule = 'attributes must declare columns and their values, as in {"sex": ["F", "M"], "smokes": ["no", "yes"]}.'
    if isinstance(attributes, str) or not isinstance(attributes, Mapping | Sequence) or not attributes:
        raise ParameterTypeError(rule)
    if isinstance(attributes, Mapping):
        schema = attributes if isinstance(attributes, Schema) else Schema(attributes)
    else:
        schema = Schema([own if isinstance(own, Attribute) else Attribute.from_dict(own) for own in attributes])
    for name, attribute in schema.items():
        if attribute.domain.missing == "drop":
            raise ParameterError(f'{name!r} cannot drop missing values in a table: declare missing="category".')
        if attribute.size < 2:
            raise ParameterError(f"{name!r} must have two values or more to make a table.")
    return schema
