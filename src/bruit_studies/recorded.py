"""Results that were made once and travel with bruit, because to make them again takes hours or what is not here.

They are rows of a study like those of its trials, in ``_recorded/NAME.csv``; the first line, after ``#``, says how they
were made, and the page says it too. A trial that is run here takes the place of a recorded one.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from bruit import documents
from bruit.errors import FormatError
from bruit_studies.results import StudyResults, as_column

#: Columns that hold texts; all others are numbers.
TEXTS = ("part", "attacker", "data", "calibration", "method", "fakes", "prior", "knowledge", "listing", "stops")
#: What a trial is known by, with its repetition; the other columns are what it measured.
_KEYS = (
    "part", "attacker", "data", "calibration", "method", "fakes", "prior", "knowledge", "epsilon", "synthetic", "share",
    "people", "width", "repetition",
)  # fmt: skip


@cache
def read(name: str) -> StudyResults | None:
    """The recorded rows of a study, or None where it has none."""
    file = resources.files("bruit_studies") / "_recorded" / f"{name}.csv"
    if not file.is_file():
        return None
    first, *lines = file.read_text(encoding="utf-8").splitlines()
    if not first.startswith("# "):
        raise FormatError(f"The recorded results of {name!r} must begin with a line that says how they were made.")
    header, *rows = csv.reader(lines)
    cells = zip(*rows, strict=True)
    return StudyResults(name, {key: _column(key, column) for key, column in zip(header, cells, strict=True)})


@cache
def about(name: str) -> str:
    """How the recorded rows of a study were made; nothing where it has none."""
    file = resources.files("bruit_studies") / "_recorded" / f"{name}.csv"
    return file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") if file.is_file() else ""


def write(path: str | os.PathLike[str], how: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Rows as a file that `read` reads; numbers to six digits, what a row lacks is left empty."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    with documents.replacing(Path(path)) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {how}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(row.get(name, "")) for name in names] for row in rows)


def joined(results: StudyResults) -> StudyResults:
    """Results with the recorded rows of their study, except those of trials that were made here."""
    rows = read(results.study)
    if rows is None:
        return results
    own = set(_keys(results, rows))
    kept = [key not in own for key in _keys(rows, rows)]
    size = len(results)
    columns = {}
    for name in dict.fromkeys([*results.columns, *rows.columns]):
        first = _or_missing(results, name, size)
        second = _or_missing(rows, name, len(rows))
        columns[name] = as_column([*first, *(value for value, keep in zip(second, kept, strict=True) if keep)])
    return StudyResults(results.study, columns, results.size, results.seed, results.trials, results.skipped)


def _keys(results: StudyResults, recorded: StudyResults) -> list[tuple[Any, ...]]:
    """What each row is about, by the columns that recorded rows have."""
    names = [name for name in _KEYS if name in recorded.columns]
    return list(zip(*(_or_missing(results, name, len(results)) for name in names), strict=True))


def _or_missing(results: StudyResults, name: str, size: int) -> list[Any]:
    if name not in results.columns:
        return ["" if name in TEXTS else None] * size
    values: list[Any] = results.columns[name].tolist()
    return [None if value != value else value for value in values]  # noqa: PLR0124 -- NaN


def _column(name: str, cells: Iterable[str]) -> Any:
    return as_column([*cells] if name in TEXTS else [float(cell) if cell else None for cell in cells])


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
