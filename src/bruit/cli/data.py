"""`bruit data`: the real data sets that come along, and what they are."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit.cli import _options, console
from bruit.tables import Column, Table, counted

if TYPE_CHECKING:
    from bruit.datasets import Dataset


def data(
    name: Annotated[str | None, typer.Argument(help="A data set to describe; all are listed without one.")] = None,
    column: Annotated[
        list[str] | None, typer.Option("--column", "-c", help="Only this column; may be repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it as a .csv file; - for standard output.")
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(help="For acs_employment: a .csv file of yours with its columns, as of another state."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the data sets, describe one, or write it to a file."""
    from bruit import datasets

    if name is None:
        _list(as_json)
        return
    dataset = datasets.load(name, path=path)
    columns = list(column) if column else list(dataset.columns)
    if output is not None:
        _write(dataset, columns, output)
    elif as_json:
        console.print_json(_described(dataset))
    else:
        console.show(dataset.describe())


def _list(as_json: bool) -> None:
    from bruit import datasets

    entries = datasets.entries()
    if as_json:
        console.print_json({name: _facts(entry) for name, entry in entries.items()})
        return
    columns = [
        Column("name", list(entries), kind="label", write=str),
        Column("licence", [entry.licence for entry in entries.values()], kind="text", write=str),
        Column("bundled", ["yes" if entry.bundled else "no" for entry in entries.values()], "comes along", "text", str),
        Column("rows", [entry.rows for entry in entries.values()]),
        Column("columns", [len(entry.columns) for entry in entries.values()]),
    ]
    console.show(Table("", columns, ["bruit data NAME describes one; bruit data NAME -o FILE.csv writes it."]))


def _facts(entry: Any) -> dict[str, Any]:
    return {
        "rows": entry.rows,
        "columns": len(entry.columns),
        "licence": entry.licence,
        "source": entry.source,
        "bundled": entry.bundled,
    }


def _described(dataset: Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "rows": len(dataset),
        "columns": list(dataset.columns),
        "licence": dataset.licence,
        "source": dataset.source,
        "checksum": dataset.checksum,
        "schema": dataset.schema.to_list(),
    }


def _write(dataset: Dataset, columns: list[str], output: Path) -> None:
    from bruit import documents

    if str(output) == "-":
        _write_rows(dataset, columns, sys.stdout)
        sys.stdout.flush()
        return
    _options.check_file(output, "--output", (".csv",))
    with documents.replacing(output) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        _write_rows(dataset, columns, file)
    console.note(f"{counted(len(dataset), 'row')} written to {output}")


def _write_rows(dataset: Dataset, columns: list[str], file: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(dataset[name].tolist() for name in columns), strict=True))
