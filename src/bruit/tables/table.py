"""The one table that every result gives: for a terminal, a notebook, a data frame, JSON and CSV.

Programs get every row and every column with full precision. People get the rows that fit, with rounded numbers that are
never cut, and labels that they can tell apart.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from bruit import _checks, documents
from bruit.errors import MissingExtraError, ParameterError
from bruit.tables import layout
from bruit.tables.cells import visible, write_cell
from bruit.tables.layout import Kind, TextColumn
from bruit.tables.text import html_text, number, plural, shown, wrap

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a line of a table on a terminal is.
Role = Literal["title", "heading", "row", "note"]

#: How many rows a table shows that is not asked for more.
SHOWN_ROWS = 20

Values: TypeAlias = "Sequence[Any] | NDArray[Any]"

_BACKENDS = ("pandas", "polars", "pyarrow")
#: Keys of the document that a table is.
_RESERVED = {"format", "digest", "title", "notes"}


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its values for programs, and how people read them.

    Parameters
    ----------
    name
        Its name for programs; the empty text for a column that only people get.
    values
        One value per row; with `parts`, one tuple per row.
    heading
        What stands above it, the name by default.
    kind
        ``"label"`` (names a row), ``"text"`` or ``"number"``.
    write
        From a value to what is shown of it.
    parts
        Names of the parts of each value, which become columns of their own for programs: the ends of an interval.
    hidden
        Whether only programs get it.
    """

    name: str
    values: Values
    heading: str | None = None
    kind: Kind = "number"
    write: Callable[[Any], str] = number
    parts: tuple[str, ...] = ()
    hidden: bool = False

    def data(self) -> dict[str, list[Any]]:
        """The columns that programs get, as plain values."""
        values = [_plain(value) for value in self.values]
        if self.parts:
            return {name: [value[place] for value in values] for place, name in enumerate(self.parts)}
        return {self.name: values} if self.name else {}

    def arrays(self) -> dict[str, Any]:
        """The same as `data`; arrays of numbers as they are, so that a frame keeps their types."""
        values: Any = self.values
        if getattr(values, "dtype", None) in (None, "O") or not self.name:
            return self.data()
        return {name: values[:, place] for place, name in enumerate(self.parts)} if self.parts else {self.name: values}

    def cells(self, places: Sequence[int]) -> TextColumn:
        """The texts of some rows."""
        texts = [self.write(self.values[place]) for place in places]
        return TextColumn(self.name if self.heading is None else self.heading, texts, self.kind)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows with a title, notes, and what is known about all of them.

    Parameters
    ----------
    title
        What the table shows, in one line.
    columns
        All of the same length.
    notes
        What a reader must know, one line each.
    about
        Plain values that hold for the whole table, for programs.
    noun
        What a row is, in the singular: its plural names the rows in JSON.
    order
        The places of all rows, those that matter most first; they are shown where not all rows are.
    rest
        What the other rows are then: ``"more"``, ``"less frequent"``.
    empty
        What is said where there are no rows.

    Examples
    --------
    >>> answers = Column("answer", ["no", "yes"], kind="label", write=str)
    >>> table = Table("Answers", [answers, Column("share", [0.7, 0.3])])
    >>> print(table)
    Answers
    answer  share
    no        0.7
    yes       0.3
    >>> print(table.to_csv(), end="")
    answer,share
    no,0.7
    yes,0.3
    """

    FORMAT = "bruit.result/1"

    title: str
    columns: Sequence[Column]
    notes: Sequence[str] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    noun: str = "row"
    order: Sequence[int] | None = None
    rest: str = "more"
    empty: str = ""

    def __post_init__(self) -> None:
        names = [name for column in self.columns for name in column.parts or (column.name,) if name]
        if not names or len(set(names)) < len(names):
            raise ParameterError("A table must have columns, with names that are different from each other.")
        if len({len(column.values) for column in self.columns}) > 1:
            raise ParameterError("The columns of a table must have the same length.")
        if {*self.about} & {*_RESERVED, plural(self.noun)}:
            raise ParameterError("What is known about a table must not be named as a part of its document.")

    @classmethod
    def of(cls, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1) -> Table:
        """A table of texts, row by row: the first column names the rows, `texts` are not numbers.

        >>> print(Table.of("", ["method", "error"], [["GRR", "0.1"], ["OUE", "0.02"]]))
        method  error
        GRR       0.1
        OUE      0.02
        """
        if any(len(row) != len(headings) for row in rows):
            raise ParameterError(f"Every row must have {len(headings)} cells, one per column.")
        kinds = cast(list[Kind], ["label", *["text"] * (texts - 1), *["number"] * (len(headings) - texts)])
        cells = zip(*rows, strict=True) if rows else [()] * len(headings)
        return cls(
            title, [Column(name, own, None, kind, str) for name, own, kind in zip(headings, cells, kinds, strict=True)]
        )

    def __len__(self) -> int:
        return len(self.columns[0].values)

    def cells(self, places: Sequence[int] | None = None) -> list[TextColumn]:
        """What people see of each column, in some rows or all."""
        wanted = range(len(self)) if places is None else places
        return [column.cells(wanted) for column in self.columns if not column.hidden]

    def data(self) -> dict[str, list[Any]]:
        """All columns as plain values, by name."""
        return {name: values for column in self.columns for name, values in column.data().items()}

    def lines(
        self, width: int | None = 80, rows: int | None = SHOWN_ROWS, hint: str = ""
    ) -> Iterator[tuple[Role, str]]:
        """The lines of the table, each with what it is; for `text`, and for a terminal that styles them."""
        places = self._places(rows)
        yield from (("title", line) for line in wrap(shown(self.title), width) if self.title)
        if places:
            for is_heading, line in layout.set_columns(self.cells(places), width):
                yield "heading" if is_heading else "row", line
        for note in (*self._left_out(len(places), hint), *self.notes):
            yield from (("note", line) for line in wrap(shown(note), width))

    def text(self, width: int | None = 80, rows: int | None = SHOWN_ROWS, hint: str = "") -> str:
        """The table for a terminal or a file of text.

        Parameters
        ----------
        width
            The most columns that a line takes, if the numbers allow it; None for no limit, so that each row is a line.
        rows
            How many rows are shown; None for all.
        hint
            How to get at the others, for the line that says how many are left out.
        """
        return "\n".join(line for _, line in self.lines(width, rows, hint))

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame of all rows: pandas, polars or pyarrow, the first that is installed unless named."""
        return frame({name: values for column in self.columns for name, values in column.arrays().items()}, backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what is known about the table, and its rows."""
        data = self.data()
        rows = [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
        return {"title": self.title, **self.about, plural(self.noun): rows, "notes": list(self.notes)}

    def to_json(self) -> str:
        """The table as a document of format ``bruit.result/1``."""
        return documents.seal(self.FORMAT, self.to_dict(), indent=2)

    def to_csv(self) -> str:
        """All rows as CSV, with a first line of names; a text that a spreadsheet would compute has an apostrophe."""
        data, file = self.data(), io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(write_cell, data))
        writer.writerows(map(_csv_cell, row) for row in zip(*data.values(), strict=True))
        return file.getvalue()

    def to_latex(self) -> str:
        """All rows as a LaTeX ``tabular`` with the lines of booktabs; texts stand left, numbers right.

        It needs the package booktabs, and an engine that reads UTF-8.

        >>> print(Table.of("", ["method", "share"], [["RS+FD", "5 %"]]).to_latex(), end="")
        \\begin{tabular}{lr}
        \\toprule
        method & share \\\\
        \\midrule
        RS+FD & 5 \\% \\\\
        \\bottomrule
        \\end{tabular}
        """
        cells = self.cells()
        rows = zip(*(column.texts for column in cells), strict=True)
        lines = [" & ".join(map(_latex, row)) + r" \\" for row in rows]
        head = " & ".join(_latex(column.heading) for column in cells) + r" \\"
        sides = "".join("r" if column.kind == "number" else "l" for column in cells)
        rules = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *lines, r"\bottomrule"]
        return "\n".join([*rules, r"\end{tabular}"]) + "\n"

    def __repr__(self) -> str:
        return self.text(shutil.get_terminal_size().columns, hint="to_frame() has all")

    def _repr_html_(self) -> str:
        places = self._places(SHOWN_ROWS)
        shown_columns = self.cells(places)
        heads = "".join(_cell("th", cells.heading, cells.kind) for cells in shown_columns)
        texts = [cells.written for cells in shown_columns]
        kinds = [cells.kind for cells in shown_columns]
        body = "".join(
            f"<tr>{''.join(_cell('td', text, kind) for text, kind in zip(row, kinds, strict=True))}</tr>"
            for row in zip(*texts, strict=True)
        )
        captions = [self.title, *self._left_out(len(places), "to_frame() has all"), *self.notes]
        caption = "<br>".join(html_text(shown(text)) for text in captions if text)
        return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def _places(self, rows: int | None) -> list[int]:
        """The rows to show: all in their order, or those that matter most."""
        if rows is None or rows >= len(self):
            return list(range(len(self)))
        return list(self.order or range(len(self)))[:rows]

    def _left_out(self, kept: int, hint: str) -> list[str]:
        hidden = len(self) - kept
        if not len(self):
            return [self.empty or f"There are no {plural(self.noun)}."]
        if not hidden:
            return []
        noun = self.noun if hidden == 1 else plural(self.noun)
        return [f"and {hidden:,} {self.rest} {noun}" + (f" ({hint})" if hint else "")]


class Tabular:
    """What gives a table, and so shows itself as one.

    A class that has `table` gets the rest: `to_frame`, `to_dict`, `to_json`, `to_csv`, and how it prints. Options go to
    `table`.
    """

    if TYPE_CHECKING:
        table: Callable[..., Table]

    def to_frame(self, backend: str | None = None, **options: Any) -> Any:
        """A data frame of all rows: pandas, polars or pyarrow, the first that is installed unless named."""
        return self.table(**options).to_frame(backend)

    def to_dict(self, *options: Any, **named: Any) -> dict[str, Any]:
        """Plain values, for documents and programs."""
        return self.table(*options, **named).to_dict()

    def to_json(self, *options: Any, **named: Any) -> str:
        """The result as a document of format ``bruit.result/1``."""
        return self.table(*options, **named).to_json()

    def to_csv(self, *options: Any, **named: Any) -> str:
        """All rows as CSV, with a first line of names."""
        return self.table(*options, **named).to_csv()

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def frame(columns: Mapping[str, Values], backend: str | None = None) -> Any:
    """A pandas, polars or pyarrow frame; by default of the first that is installed, which pyarrow always is."""
    import narwhals

    chosen = next(name for name in _BACKENDS if importlib.util.find_spec(name)) if backend is None else backend
    _checks.one_of(_BACKENDS, backend=chosen)
    if not importlib.util.find_spec(chosen):
        raise MissingExtraError(f"A {chosen} frame", chosen)
    return narwhals.from_dict(columns, backend=cast(Any, chosen)).to_native()


#: What LaTeX reads as a command, and how it is written as itself.
_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in visible(text))


def _csv_cell(value: Any) -> Any:
    """A number or nothing as it is, anything else as a text that no program computes."""
    return value if value is None or isinstance(value, int | float) else write_cell(str(value))


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers of NumPy as Python's, NaN and infinities as nothing."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1:
        return tuple(_plain(part) for part in value)
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(tag: str, text: str, kind: Kind) -> str:
    if kind == "number":
        return f'<{tag} style="text-align:right;white-space:nowrap">{html_text(text)}</{tag}>'
    return f'<{tag} style="text-align:left;overflow-wrap:anywhere"><bdi>{html_text(text)}</bdi></{tag}>'
