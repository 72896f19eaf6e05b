"""That one hostile report is one refusal: it stops nothing, takes no other report with it, and does not count twice."""

from __future__ import annotations

import gzip
import io
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import engines
from bruit.collection import Plan
from bruit.engines.reports import BLOCK
from bruit.entropy import Randomness
from bruit.estimation import Tally
from bruit.laws import Form
from bruit.testing._evidence import Mechanism, crowd, require, stream

Record: TypeAlias = dict[str, Any]

#: The column of a mechanism's reports.
COLUMN = "report"
#: How many honest people report.
PEOPLE = 24

#: What may stand where a report is expected; texts, bytes and numbers stand in columns of their type too.
ITEMS: tuple[Any, ...] = (
    *(None, True, False, -1, 2**31, 2**63, 2**64, 10**30, 2.5, -0.5, math.nan, math.inf, 1j),
    *("", "x", "-1", "+1", " 1", "1 ", "1.0", "1e0", "0x1", "1,1", "1\n1", '"1', "\uff11", "0" * 5000, "zz" * 8),
    *(b"", b"\0", b"1", b"\xff\xfe", b"\xff" * 5000),
    *([], [1, 2], [None], (), (1, 2), (300,) * 3, {}, {"a": 1}, frozenset(), object(), np.datetime64("2031-07-31")),
    *(np.array([1, 2]), np.array(1), np.array([[1]]), np.float32(0.5), np.bool_(True), np.array([0.5])),
)

#: What may stand in a file between the lines of honest people; it may be several lines.
LINES: tuple[bytes, ...] = (
    *(b"", b"\r", b'"', b'"1', b'1"', b'""', b"'1'", b" 1", b"1 ", b"-1", b"+1", b"1.0", b"1e0", b"0x1", b"#1"),
    *(b"1,1", b",", b",,,,,,", b"1;1", b"1\t1", b"1\r1", b"1\r", b"\r1", b"\n", b"1\n", b"\r\n", b"\n\r\n"),
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf1", b"\xc3", b"9" * 18, b"9" * 40, b"f" * 5000, b"NULL", b"=1+1", b"report"),
    *(b'"1\n0\n1', b'"1,\n', b"0" * (BLOCK + 1), b"\r" * 70_000),
)


def check_hostile_reports(
    design: Mechanism | Plan, *, items: Iterable[Any] = ITEMS, lines: Iterable[bytes] = LINES, rng: Randomness = 0
) -> None:
    """Whatever stands among honest reports, these all count and every row is one report or one refusal.

    In memory, in CSV (a file, a packed file, a stream) and in Parquet, n + refused is the number of rows, and the tally
    is that of the honest reports plus that of the hostile rows alone.

    Parameters
    ----------
    design
        A mechanism, or a plan.
    items
        What stands where a report is expected: anything, in lists and arrays of objects. Those that are texts, bytes or
        numbers stand in Parquet files too.
    lines
        What stands in CSV files between the lines of honest people.
    rng
        Randomness of the honest reports.

    Examples
    --------
    >>> from bruit.oracles import RandomizedResponse
    >>> check_hostile_reports(RandomizedResponse(epsilon=1.0, k=4), items=["x", b"1", None], lines=[b'"1', b"1\\r1"])
    """
    case = _Case.of(design, rng)
    hostile = list(items)
    _check_memory(case, hostile)
    with tempfile.TemporaryDirectory() as folder:
        _check_text(case, Path(folder), list(lines))
        _check_parquet(case, Path(folder), hostile)


class _Case(NamedTuple):
    """A design, the columns of its reports, and honest reports with their tally."""

    design: Any
    forms: Mapping[str, Form]
    honest: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, design: Mechanism | Plan, rng: Randomness) -> _Case:
        if isinstance(design, Plan):
            return cls(design, design.form, design.privatize(_table(design), rng=rng))
        entropy = stream(rng, "check_hostile_reports", design)
        return cls(design, {COLUMN: design.form}, {COLUMN: design.privatize(crowd(design, PEOPLE), rng=entropy)})

    def in_memory(self, columns: Mapping[str, Any]) -> Tally:
        tally: Tally = self.design.tally(columns if isinstance(self.design, Plan) else columns[COLUMN])
        return tally

    def in_file(self, source: Any) -> Tally:
        plan = self.design if isinstance(self.design, Plan) else Plan({COLUMN: self.design})
        return plan.tally(source)

    def records(self) -> list[Record]:
        """One mapping from column to report for each honest person."""
        return [dict(zip(self.honest, row, strict=True)) for row in zip(*self.honest.values(), strict=True)]


def _table(plan: Plan) -> dict[str, NDArray[Any]]:
    """Answers without gaps."""
    table = {}
    for name, attribute in plan.schema.items():
        table[name] = attribute.domain.decode(np.arange(PEOPLE) % attribute.domain.declared)
    return table


def _require_all(where: str, count: Callable[[list[Any]], Tally], honest: list[Any], hostile: list[Any]) -> None:
    """Honest rows with hostile ones before, among and behind them count as both do alone."""
    middle = len(honest) // 2
    mixed = [*hostile, *honest[:middle], *hostile, *honest[middle:], *hostile]
    alone, theirs, together = (_counted(where, count, rows) for rows in (honest, hostile, mixed))
    require(alone.n == len(honest), f"Honest reports {where} are refused.")
    same = together == alone + theirs + theirs + theirs
    require(same, f"Honest reports {where} do not count as they do without hostile ones beside them.")


def _counted(where: str, count: Callable[[list[Any]], Tally], rows: list[Any]) -> Tally:
    try:
        tally = count(rows)
    except Exception as error:
        raise AssertionError(f"Hostile reports {where} raise {type(error).__name__}.") from error
    everyone = tally.n + tally.refused == len(rows)
    require(everyone, f"Rows {where} are lost or count twice: n and refused are not their number.")
    return tally


# In memory.


def _check_memory(case: _Case, items: list[Any]) -> None:
    honest = case.records()
    for name in case.forms:
        hostile = [{**honest[0], name: item} for item in items]
        _require_all("in a list", lambda rows: case.in_memory(_columns(rows, case, list)), honest, hostile)
        _require_all("in objects", lambda rows: case.in_memory(_columns(rows, case, _objects)), honest, hostile)


def _columns(rows: list[Record], case: _Case, make: Callable[[list[Any]], Any]) -> dict[str, Any]:
    return {name: make([row[name] for row in rows]) for name in case.forms}


def _objects(items: list[Any]) -> NDArray[Any]:
    array = np.empty(len(items), object)
    for place, item in enumerate(items):
        array[place] = item
    return array


# Text.


def _check_text(case: _Case, folder: Path, lines: list[bytes]) -> None:
    path = folder / "honest.csv"
    engines.map(case.honest, path, lambda batch, _: batch)
    written = path.read_bytes().split(b"\n")[:-1]
    people = len(case.records())
    header, honest = b"\n".join(written[:-people]), written[-people:]  # a name may go over lines
    dirty = [line + b"\n" for piece in lines for line in piece.split(b"\n")]
    for where, end, count in _ways_to_read(case, folder):
        read = partial(_read_lines, header, count)
        _require_all(where, read, [line + end for line in honest], dirty)
    unended = header + b"\n" + b"\n".join([*honest, b'"1\r'])
    _counted("in a file whose last line has no end", lambda _: case.in_file(io.BytesIO(unended)), [*honest, b'"1\r'])


def _read_lines(header: bytes, count: Callable[[bytes], Tally], lines: list[bytes]) -> Tally:
    return count(header + b"\n" + b"".join(lines))


def _ways_to_read(case: _Case, folder: Path) -> Iterator[tuple[str, bytes, Callable[[bytes], Tally]]]:
    """Where a text is read from, how its honest lines end, and what counts it."""

    def written(name: str, data: bytes) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    yield "in a stream", b"\r\n", lambda text: case.in_file(io.BytesIO(text))
    yield "in a CSV file", b"\n", lambda text: case.in_file(written("t.csv", text))
    yield "in a packed file", b"\n", lambda text: case.in_file(written("t.csv.gz", gzip.compress(text, 1)))


# Parquet.


def _check_parquet(case: _Case, folder: Path, items: list[Any]) -> None:
    honest = case.records()
    for name in case.forms:
        for kind in ("bytes", "text") if case.forms[name].is_bytes else ("integers", "floats", "text"):
            hostile = [{**honest[0], name: item} for item in _of_kind(kind, items)]

            def count(rows: list[Record], kind: str = kind, name: str = name) -> Tally:
                path = folder / "t.parquet"
                _write(path, {column: _cells(rows, column, case, kind if column == name else "") for column in rows[0]})
                return case.in_file(path)

            _require_all(f"in a Parquet file of {kind}", count, honest, hostile)


def _of_kind(kind: str, items: Iterable[Any]) -> list[Any]:
    """Those that a column of such values can hold, among them nothing at all."""
    types: dict[str, type] = {"bytes": bytes, "text": str, "integers": int, "floats": float}
    fit: list[Any] = [item for item in items if type(item) is types[kind]]
    return [*(item for item in fit if kind != "integers" or -(2**63) <= item < 2**63), None]


def _cells(rows: Sequence[Record], name: str, case: _Case, kind: str) -> tuple[str, list[Any]]:
    """A column of a file: the kind of its values, and these."""
    form = case.forms[name]
    chosen = kind or ("bytes" if form.is_bytes else "integers")
    return chosen, [_cell(row[name], chosen) for row in rows]


def _cell(item: Any, kind: str) -> Any:
    """An honest report as such a column holds it; what is hostile stands there as it is."""
    if not isinstance(item, np.generic | np.ndarray):
        return item
    if item.dtype.kind != "u" or item.ndim:
        return item.tobytes() if kind == "bytes" else item.tobytes().hex()
    return {"integers": int, "floats": float, "text": str}[kind](item)


def _write(path: Path, columns: Mapping[str, tuple[str, list[Any]]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"bytes": pa.binary(), "text": pa.string(), "integers": pa.int64(), "floats": pa.float64()}
    pq.write_table(pa.table({name: pa.array(cells, types[kind]) for name, (kind, cells) in columns.items()}), path)
