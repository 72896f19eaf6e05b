"""Files and tables of reports, which anybody may have made: one row is one report or one refusal.

A table of answers is trusted: its cells may be quoted, its rows may be over several lines, and what is wrong with a row
may stop it. Reports are read by other code. In CSV a row ends with a line feed and with nothing else (a carriage return
directly before it is tolerated, because writers on Windows add it), quotes join nothing, and a line that is longer than
any report is skipped. A row of which a cell is no report, or that has another number of cells than the header, is
refused; all other rows count. So the reports that are counted and those that are refused are as many as the rows.

What remains an error concerns a file as a whole, and no single row can bring it about: it is not there or not readable
(no CSV or Parquet, cut short, a damaged archive), it has no header, or the header lacks a column or has it twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.engines import arrays, report_parsing, running, sources
from bruit.engines import batch as batching
from bruit.engines.batch import BATCH
from bruit.engines.report_parsing import Parsed, Rows, together
from bruit.errors import DataError, DataTypeError
from bruit.laws import Form

Forms = Mapping[str, Form]
Result = TypeVar("Result")

#: Bytes of text that are read at a time; a line may have as many, or twice what a row of reports takes.
BLOCK = 1 << 20
#: Bytes of reports that are counted at a time.
MOST_BYTES = 1 << 26


def fold(source: Any, forms: Forms, function: Callable[[Rows], Result]) -> Result:
    """What `function` makes of the reports in a source, added up.

    Parameters
    ----------
    source
        As for `bruit.engines.fold`; how its texts are read is not asked for, because reports have one form.
    forms
        The form of each column of reports, by name; other columns are not looked at.
    function
        Takes some people's reports and returns something that adds.
    """
    table = sources.Source.of(source)
    if sources.is_spark(table.data):
        from bruit.engines import spark

        return spark.fold_reports(table, function, forms)  # type: ignore[no-any-return]
    total, parts = pieces(table.data, forms)
    return running.added(parts, lambda rows: (rows.people, function(rows)), total, table.progress)


def pieces(source: Any, forms: Forms) -> tuple[int | None, Iterator[Rows]]:
    """How many rows a source has, where that is known, and the reports in it, a piece at a time.

    A source is what `bruit.engines.batches` reads.
    """
    wanted = {batching.clean_name(name): form for name, form in forms.items()}
    if isinstance(source, Mapping):
        rows = _mapping(source, wanted)
        return rows.people, iter([rows])
    file = sources.file(source, sources.USUAL)
    if file is None:
        opened = _frame(source, wanted) or (None, _items(source, wanted))
    elif file.parquet:
        from bruit.engines import parquet

        opened = parquet.reports(file.source, wanted, _rows_at_a_time(wanted))
    else:
        opened = None, _lines(file, wanted)
    return opened[0], gathered(opened[1], wanted)


def gathered(parts: Iterable[Rows], forms: Forms) -> Iterator[Rows]:
    """The same rows in fewer pieces, for a tally has its price whatever it counts; at least one piece."""
    most, waiting, count = _rows_at_a_time(forms), [Rows({name: form.empty(0) for name, form in forms.items()}, 0)], 0
    for rows in parts:
        waiting.append(rows)
        count += rows.people
        if count >= most:
            yield _joined(waiting)
            waiting, count = [], 0
    if waiting:
        yield _joined(waiting)


def _rows_at_a_time(forms: Forms) -> int:
    return max(1, min(BATCH, MOST_BYTES // sum(form.size for form in forms.values())))


def _joined(parts: list[Rows]) -> Rows:
    filled = [part for part in parts if part.people] or parts[:1]
    if len(filled) == 1:
        return filled[0]
    reports = {name: np.concatenate([part.reports[name] for part in filled]) for name in filled[0].reports}
    return Rows(reports, sum(part.refused for part in filled))


# Tables in memory.


def _mapping(source: Mapping[str, Any], forms: Forms) -> Rows:
    names = list(source)
    chosen = batching.choose(names, list(forms))
    columns = {name: report_parsing.parse(forms[name], source[names[place]]) for name, place in chosen.items()}
    if len({len(column.reports) for column in columns.values()}) > 1:
        raise DataError("The columns of a table must have the same number of rows.")
    return together(columns)


def _frame(source: Any, forms: Forms) -> tuple[int, Iterator[Rows]] | None:
    """The rows of a frame, or None if the source is no frame."""
    frame = arrays.as_frame(source)
    if frame is None:
        return None
    chosen, narrow = arrays.selected(frame, list(forms))
    total, step = len(narrow), _rows_at_a_time(forms)

    def rows(start: int) -> Rows:
        part = narrow[start : start + step]
        names = zip(chosen, part.columns, strict=True)
        return together({name: _series(forms[name], part[there]) for name, there in names})

    return total, (rows(start) for start in range(0, total, step))


def _series(form: Form, series: Any) -> Parsed:
    """A column of a frame; one of Python objects entry by entry, for Arrow does not know what they are."""
    if str(series.dtype) == "Object":
        return report_parsing.parse(form, series.to_list())
    from bruit.engines import arrow

    return arrow.series_reports(form, series)


def _items(source: Any, forms: Forms) -> Iterator[Rows]:
    """The rows of mappings or frames that come one after the other."""
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise DataTypeError(sources.WHAT)
    return _each_piece(source, forms)


def _each_piece(items: Iterable[Any], forms: Forms) -> Iterator[Rows]:
    for item in items:
        if isinstance(item, Mapping):
            yield _mapping(item, forms)
            continue
        frame = _frame(item, forms)
        if frame is None:
            raise DataTypeError(sources.WHAT)
        yield from frame[1]


# Text.


def _lines(file: sources.File, forms: Forms) -> Iterator[Rows]:
    """The rows of a text; its header is read at once."""
    from bruit.engines import csv

    path = file.source if isinstance(file.source, str) else "The input"
    with csv.errors(path, file.text):
        stream = csv.Stream(file.source, file.text, packed=file.packed)
        header, _ = stream.header_of_reports()
        chosen = batching.choose(header, list(forms), hint=csv.hint)
    most = max(BLOCK, 2 * (len(header) + sum(form.most_text for form in forms.values())))
    slots = np.full(len(header), -1, np.int64)
    slots[list(chosen.values())] = np.arange(len(chosen))

    def rows() -> Iterator[Rows]:
        with csv.errors(path, file.text), contextlib.closing(stream):
            for block, skipped in _blocks(stream, most):
                rows = _rows(block, Lines(ord(file.text.delimiter), slots, most), forms)
                yield rows._replace(refused=rows.refused + skipped)

    return rows()


def _blocks(stream: Any, most: int) -> Iterator[tuple[bytes, int]]:
    """Whole lines, each with its end, and how many lines were left out because they are longer than `most` bytes."""
    rest, skipping = b"", False
    while block := stream.read(most):
        if skipping:
            _, end, block = block.partition(b"\n")
            skipping = not end
        whole, end, rest = (rest + block).rpartition(b"\n")
        skipping = skipping or len(rest) > most
        yield whole + end, int(len(rest) > most)
        rest = b"" if skipping else rest
    if rest:  # a last line without its end; a return there stands before none
        yield rest + (b"\r\n" if rest.endswith(b"\r") else b"\n"), 0


class Lines(NamedTuple):
    """What lines are like: what stands between cells, which cells are wanted, and how many bytes there are at most."""

    delimiter: int
    slots: NDArray[np.int64]
    most: int


def _rows(block: bytes, line: Lines, forms: Forms) -> Rows:
    """The reports in a block of lines."""
    from bruit.kernels import report_text as kernel

    data = np.frombuffer(block, np.uint8)
    lines, fit = kernel.count_lines(data, line.delimiter, line.slots.size, line.most)
    starts, ends = np.empty((2, len(forms), fit), np.int64)
    kernel.find_cells(data, *line, starts, ends)
    columns = {
        name: report_parsing.parse_cells(form, data, starts[i], ends[i]) for i, (name, form) in enumerate(forms.items())
    }
    return together(columns, lines - fit)
