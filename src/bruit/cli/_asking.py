"""From the options of `bruit release` to the release that they ask for, and from its file to what it folds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

from bruit import _checks
from bruit.cli import _answers
from bruit.errors import DataError, ParameterError, translated

if TYPE_CHECKING:
    from bruit.domains import Bins, Categories
    from bruit.engines import TextOptions
    from bruit.engines.sources import Progress
    from bruit.estimation.tally import RawTally
    from bruit.releases import Release

#: What can be released, by the option that asks for it.
STATISTICS = ("count", "histogram", "sum", "mean", "variance", "quantiles")
#: A range of quantiles has at most so many.
MOST_QUANTILES = 1000

_NUMBER = re.compile(r"[0-9]*\.?[0-9]+|[0-9]+/[0-9]+")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options that say what is released; those that were not given are None."""

    statistic: str
    epsilon: float
    neighbours: str
    column: str | None
    quantiles: str | None
    bounds: tuple[float, float] | None
    cells: int | None
    step: float | None
    values: str | None
    method: str | None
    missing: str | None
    by: str | None
    groups: str | None

    def release(self) -> Release:
        """The release, after the options were checked against each other."""
        from bruit.releases import Grouped

        _refuse_idle(self)
        if self.column is None and self.statistic != "count":
            raise ParameterError(f"--column must be given: the column that --{self.statistic} is about.")
        alone = _MAKERS[self.statistic](self)
        if self.by is None:
            return alone
        return Grouped(of=alone, by=self.by, groups=tuple(_answers.declared(self._groups, "--groups")))

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return list(dict.fromkeys(name for name in (self.column, self.by) if name is not None))

    @property
    def title(self) -> str:
        """What a ledger writes down, unless it is told otherwise."""
        what = self.statistic if self.column is None else f"{self.statistic} of {self.column}"
        return what if self.by is None else f"{what} by {self.by}"

    @property
    def policy(self) -> Any:
        """What is done with missing values."""
        from bruit.domains import Missing

        return _checks.one_of(get_args(Missing), **{"--missing": self.missing or "refuse"})

    @property
    def within(self) -> tuple[float, float]:
        """The bounds, which must be there."""
        if self.bounds is None:
            raise ParameterError(
                "The bounds must be declared, as in --bounds 0 100: reading them from the data would publish the "
                "smallest and the largest record without noise. Take what the numbers can be; those outside count as "
                "the nearest bound."
            )
        return self.bounds

    @property
    def _groups(self) -> str:
        if self.groups is None:
            raise ParameterError(
                "The groups must be declared, as in --groups north,south: reading them from the data would tell which "
                "groups occur, and that is not covered by any noise."
            )
        return self.groups


def fold(asked: Asked, release: Release, file: Any, text: TextOptions, progress: Progress) -> RawTally:
    """What the release needs of a file or of a Spark DataFrame, in constant memory."""
    from bruit import engines

    if not asked.columns:
        return release.fold(file, text=text, progress=progress)

    def work(batch: dict[str, Any]) -> RawTally:
        _refuse_gaps(asked, batch)
        return release.fold(iter([batch]), asked.column)

    found: RawTally = engines.fold(file, work, columns=asked.columns, text=text, progress=progress)
    return found


def _refuse_gaps(asked: Asked, batch: dict[str, Any]) -> None:
    """A gap that is not provided for is an error, with the option that helps."""
    from bruit.engines.batch import clean_name

    by, strict = clean_name(asked.by or ""), asked.policy == "refuse" and asked.statistic != "count"
    for name, cells in batch.items():
        if (name == by or strict) and _answers.has_gaps(cells):
            raise DataError(f"Column {name!r}: {_GROUPLESS if name == by else _GAPS}")


_GAPS = "some records have no value. Add --missing drop to leave these records out."
_GROUPLESS = "some records have no value, and so belong to none of the groups: mend the data first."


def quantiles(given: str) -> list[float]:
    """The list after --quantiles: numbers with commas between them, or first:last:step.

    >>> quantiles("0.25,0.5,0.75")
    [0.25, 0.5, 0.75]
    >>> quantiles("0.1:0.9:0.1")
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    words = given.replace(" ", "").split(":" if ":" in given else ",")
    wrong = "--quantiles must be numbers from 0 to 1, as in 0.25,0.5,0.75, or first:last:step, as in 0.1:0.9:0.1."
    if not all(_NUMBER.fullmatch(word) for word in words) or (":" in given and len(words) != 3):
        raise ParameterError(wrong)
    with translated(ZeroDivisionError, lambda _: ParameterError(wrong)):
        numbers = [Fraction(word) for word in words]
    found = _range(*numbers) if ":" in given else numbers
    if any(number > 1 for number in found):
        raise ParameterError(wrong)
    return [float(number) for number in found]


def _range(first: Fraction, last: Fraction, step: Fraction) -> list[Fraction]:
    if not step or first > last:
        raise ParameterError("--quantiles first:last:step must go upwards, as 0.1:0.9:0.1 does.")
    many = (last - first) // step + 1
    if many > MOST_QUANTILES:
        raise ParameterError(f"--quantiles must be at most {MOST_QUANTILES:,} numbers.")
    return [first + place * step for place in range(many)]


def edges(bounds: tuple[float, float], cells: int) -> list[float]:
    """The edges of equal cells, in the decimals that a person would write.

    >>> edges((0.0, 1.0), 4), edges((0.0, 0.3), 3)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.1, 0.2, 0.3])
    """
    from bruit.errors import LimitError

    many = _checks.integer(low=1, **{"--cells": cells})
    if many > _checks.K_LIMITS[1]:
        raise LimitError(f"--cells must be at most {_checks.K_LIMITS[1]:,}.")
    first, last = (Fraction(repr(_checks.finite(**{"--bounds": bound}))) for bound in bounds)
    if not first < last:
        raise ParameterError(f"--bounds must be increasing, got {bounds[0]:g} and {bounds[1]:g}.")
    return [float(first + (last - first) * place / many) for place in range(many + 1)]


def _refuse_idle(asked: Asked) -> None:
    """An option that would do nothing is a misunderstanding."""
    used = {
        "quantiles": ("quantiles", "bounds", "method", "step", "missing", "cells"),
        "histogram": ("values", "bounds", "cells", "missing"),
        "count": (),
    }.get(asked.statistic, ("bounds", "step", "missing"))
    for name in ("values", "bounds", "cells", "step", "method", "missing"):
        if getattr(asked, name) is not None and name not in used:
            raise ParameterError(f"--{name} is of no use with --{asked.statistic}: leave it out.")
    if asked.groups is not None and asked.by is None:
        raise ParameterError("--groups needs --by, the column that says which group a record is in.")


def _count(asked: Asked) -> Release:
    from bruit.releases import Count

    return Count(epsilon=asked.epsilon, neighbours=asked.neighbours)  # type: ignore[arg-type]


def _histogram(asked: Asked) -> Release:
    from bruit.releases import Histogram

    return Histogram(domain=_domain(asked), epsilon=asked.epsilon, neighbours=asked.neighbours)  # type: ignore[arg-type]


def _domain(asked: Asked) -> Categories | Bins:
    from bruit.domains import Bins, Categories

    if (asked.values is None) == (asked.bounds is None):
        raise ParameterError(
            "The values to count must be declared: --values lists categories, --bounds and --cells describe numbers. "
            "Reading them from the data would tell which values occur, and that is not covered by any noise."
        )
    if asked.values is not None:
        if asked.cells is not None:
            raise ParameterError("--cells is for numbers, with --bounds: leave it out.")
        return Categories(labels=tuple(_answers.declared(asked.values)), missing=asked.policy)
    if asked.cells is None:
        raise ParameterError("--cells must be given: how many equal cells the bounds are cut into, for example 10.")
    return Bins(tuple(edges(asked.within, asked.cells)), missing=asked.policy)


def _moment(asked: Asked) -> Release:
    from bruit.releases import Mean, Sum, Variance

    kind: Any = {"sum": Sum, "mean": Mean, "variance": Variance}[asked.statistic]
    options = {"bounds": asked.within, "step": asked.step, "missing": asked.policy}
    release: Release = kind(epsilon=asked.epsilon, neighbours=asked.neighbours, **options)
    return release


def _quantiles(asked: Asked) -> Release:
    from bruit.releases import Quantiles
    from bruit.releases.quantiles import METHODS

    if asked.method == "histogram":
        return _by_histogram(asked)
    _checks.one_of((*METHODS, "histogram"), **{"--method": asked.method or "auto"})
    if asked.cells is not None:
        raise ParameterError("--cells is for --method histogram; round with --step instead.")
    return Quantiles(
        quantiles=tuple(quantiles(str(asked.quantiles))),
        bounds=asked.within if asked.step is None else _grid(asked),
        epsilon=asked.epsilon,
        neighbours=asked.neighbours,  # type: ignore[arg-type]
        method=asked.method or "auto",  # type: ignore[arg-type]
        missing=asked.policy,
    )


def _by_histogram(asked: Asked) -> Release:
    from bruit.releases import HistogramQuantiles

    if asked.step is not None or asked.policy != "refuse":
        raise ParameterError("--method histogram takes neither --step nor --missing: cut the bounds with --cells.")
    return HistogramQuantiles(
        quantiles=tuple(quantiles(str(asked.quantiles))),
        bounds=asked.within,
        epsilon=asked.epsilon,
        neighbours=asked.neighbours,  # type: ignore[arg-type]
        steps=1000 if asked.cells is None else asked.cells,
    )


def _grid(asked: Asked) -> Any:
    """The multiples of the step between the bounds."""
    from bruit.domains import Grid

    low, high = (Fraction(repr(_checks.finite(**{"--bounds": bound}))) for bound in asked.within)
    step = Fraction(repr(_checks.positive(**{"--step": asked.step})))
    many = (high - low) / step
    if many.denominator != 1 or many < 1:
        raise ParameterError("--bounds must be increasing, and a whole number of --step apart.")
    return Grid(float(low), float(high), cells=int(many) + 1, missing=asked.policy)


_MAKERS = {
    "count": _count,
    "histogram": _histogram,
    "sum": _moment,
    "mean": _moment,
    "variance": _moment,
    "quantiles": _quantiles,
}
