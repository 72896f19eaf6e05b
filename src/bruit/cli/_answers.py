"""The list of possible answers that a command is given, and the answers of a file as texts to compare with it."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bruit.cli import console
from bruit.errors import DataError, FormatError, ParameterError, translated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bruit.collection import Plan
    from bruit.domains import Attribute
    from bruit.domains.domain import DictionaryColumn
    from bruit.engines import TextOptions

#: Above this many distinct values, a column is not a list of categories.
MOST_VALUES_FROM_DATA = 10_000


def declared(values: str, option: str = "--values") -> list[str]:
    """The list after an option, or the lines of a file."""
    labels = _lines(Path(values[1:])) if values.startswith("@") else _cells(values, option)
    if len(labels) < 2:
        raise ParameterError(f"{option} must list two or more {_listed(option)}.")
    return labels


def _listed(option: str) -> str:
    return 'answers, as in "no,yes"' if option == "--values" else 'groups, as in "north,south"'


def _cells(values: str, option: str) -> list[str]:
    rule = f"{option} must be one line of texts with commas between them."
    with translated(csv.Error, lambda _: ParameterError(rule)):
        return next(csv.reader([values], skipinitialspace=True), [])


def _lines(path: Path) -> list[str]:
    rule = f"{path} must be encoded in UTF-8, with one answer per line."
    with translated(UnicodeDecodeError, lambda _: FormatError(rule)):
        text = path.read_text(encoding="utf-8-sig")
    return [line for line in text.split("\n") if line]


def found(file: str, column: str, text: TextOptions) -> list[str]:
    """The answers that occur in the data, with a warning about what that discloses."""
    from bruit import engines

    if file == "-":
        raise ParameterError("--values-from-data reads the data twice, and standard input can be read once.")

    def distinct(batch: dict[str, Any]) -> _Distinct:
        (cells,) = batch.values()
        return _Distinct.of(as_texts(cells))

    with console.progress("read the values") as report:
        seen: _Distinct = engines.fold(file, distinct, columns=[column], text=text, progress=report)
    if len(seen.values) < 2:
        raise DataError("The column must have two or more different answers: declare all possible ones with --values.")
    console.warn(
        f"the list of {len(seen.values)} answers was read from the data. That they occur is disclosed, even if one "
        "person alone gave it, and the guarantee does not cover it. Declare them with --values when it matters."
    )
    return _sorted(seen.values)


class _Distinct:
    """The set of different texts of a column; such sets add."""

    def __init__(self, values: frozenset[str]) -> None:
        if len(values) > MOST_VALUES_FROM_DATA:
            raise ParameterError(
                f"The column has more than {MOST_VALUES_FROM_DATA:,} different entries: it is not a list of categories."
            )
        self.values = values

    @classmethod
    def of(cls, cells: DictionaryColumn) -> _Distinct:
        import numpy as np

        used = np.unique(cells.positions[cells.positions >= 0])
        return cls(frozenset(cells.entries[used].tolist()))

    def __add__(self, other: _Distinct) -> _Distinct:
        return _Distinct(self.values | other.values)


def _sorted(values: Iterable[str]) -> list[str]:
    """In the order of numbers if all are numbers: one list for a CSV file and for a Parquet file of the same."""
    texts = sorted(values)
    numbers = all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) for text in texts)
    return sorted(texts, key=float) if numbers else texts


def readable(plan: Plan, batch: dict[str, Any]) -> dict[str, Any]:
    """The columns that a plan asks for; a gap that it refuses is an error with the option that helps."""
    return {name: _readable(plan, attribute, batch[name]) for name, attribute in plan.schema.items()}


def _readable(plan: Plan, attribute: Attribute, cells: Any) -> Any:
    domain = attribute.domain
    if domain.missing == "refuse" and has_gaps(cells):
        raise DataError(
            f"Column {attribute.name!r}: some answers are missing, and the plan refuses such data. {_way_out(plan)}"
        )
    return cells


def has_gaps(cells: Any) -> bool:
    """Whether a column has missing entries."""
    import numpy as np

    from bruit.domains.domain import DictionaryColumn

    if isinstance(cells, DictionaryColumn):
        return bool((cells.positions < 0).any())
    return cells.dtype.kind == "f" and bool(np.isnan(cells).any())


def _way_out(plan: Plan) -> str:
    """What can be done about gaps."""

    if plan.d > 1:
        return "Plan with --missing category to count them as answers of their own."
    leave_out = "Add --missing drop to leave these people out"
    if plan.mechanism.gives == "frequency":
        return f"{leave_out}, or --missing category to count them as an answer of their own."
    return f"{leave_out}."


def as_texts(cells: Any) -> DictionaryColumn:
    """A column as the texts that spell its values, gaps as gaps."""
    import numpy as np

    from bruit.domains.categories import spelling
    from bruit.domains.domain import DictionaryColumn
    from bruit.domains.domain import column as checked

    if isinstance(cells, DictionaryColumn):
        values, positions = list(cells.entries), cells.positions
    else:
        distinct, positions = np.unique(checked(cells), return_inverse=True)
        values = list(distinct)
        if distinct.dtype.kind == "f":  # NaN is sorted last, and is a gap
            positions = np.where(np.isnan(cells), -1, positions)
    texts = np.empty(len(values), object)
    texts[:] = list(map(spelling, values))
    return DictionaryColumn(texts, positions)
