"""No command shows a value of the files that it is handed, on standard output or standard error."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from bruit.cli.app import app
from bruit.collection import Plan
from bruit.domains import Categories, Schema
from bruit.errors import DataError
from bruit.testing import check_canary

WORDS = ["no", "yes", "no"]
NUMBERS = [0.0, 0.25, 1.0]
CODES = [0, 1]

#: What is asked, and what a file that is accepted holds.
COMMANDS: dict[str, list[Any]] = {
    "privatize {file} x=no,yes -e 1 -o out.csv --force": WORDS,
    "privatize {file} x=0..1 -e 1 -o out.parquet --force": NUMBERS,
    "privatize {file} x=? -e 1 -o out.csv --force": WORDS,
    "privatize {file} --plan several.json -o out.csv --force": WORDS,
    "estimate {file} --plan plan.json": CODES,
    "attack {file} --plan several.json": CODES,
    "release {file} --count -e 1": WORDS,
    "release {file} --histogram x=no,yes -e 1": WORDS,
    "release {file} --mean x=0..1 -e 1": NUMBERS,
    "release {file} --median x=0..1 -e 1": NUMBERS,
    "release {file} --bounds x -e 1": NUMBERS,
    "release {file} --mean x=0..1 --weight x=0..1 -e 1": NUMBERS,
    "release {file} --count --by x=no,yes -e 1": WORDS,
    "bounds {file} --person x -e 1": WORDS,
}
#: The same where the data stand in the place of something else, by mistake.
MISTAKES: dict[str, list[Any]] = {
    "privatize good.csv x=@{file} -e 1 -o out.csv --force": WORDS,
    "privatize good.csv --plan {file} -o out.csv --force": WORDS,
    "estimate good.csv --plan {file}": WORDS,
    "plan schema.json --method 'RS+RFD[GRR]' -e 1 --prior {file}": WORDS,
    "ledger show {file}": WORDS,
    "ledger sign {file} --key {file} -o head.json": WORDS,
    "ledger check {file} {file} --key {file}": WORDS,
    "release good.csv --count -e 1 --ledger {file}": WORDS,
}


def _as_csv(rows: list[list[Any]], path: Path) -> None:
    _without_names([["x", "y"], *rows], path)


def _without_names(rows: list[list[Any]], path: Path) -> None:
    """The first person's answers stand where the names of the columns should."""
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        csv.writer(file).writerows(rows)


def _in_another_encoding(rows: list[list[Any]], path: Path) -> None:
    lines = ["x,y", *(f"{value}é,{other}" for value, other in rows)]
    path.write_bytes("\n".join(lines).encode("latin-1", "replace"))


def _as_parquet(rows: list[list[Any]], path: Path) -> None:
    first, second = zip(*rows, strict=True)
    pq.write_table(pa.table({"x": pa.array(first), "y": pa.array(second)}), path)


FILES: dict[str, Callable[[list[list[Any]], Path], None]] = {
    "table.csv": _as_csv,
    "unnamed.csv": _without_names,
    "latin.csv": _in_another_encoding,
    "table.parquet": _as_parquet,
}


@pytest.fixture
def commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str, str, list[Any]], Callable[[Any], str]]:
    """From a command and a kind of file to a verb that takes a column and gives all that the command shows."""
    monkeypatch.chdir(tmp_path)
    _as_csv([[word, "no"] for word in WORDS], Path("good.csv"))
    schema = Schema({"x": ["no", "yes"], "y": ["no", "yes"]})
    Path("schema.json").write_text(schema.to_json())
    Path("several.json").write_text(Plan(schema, 1.0, "RS+FD[GRR]").to_json())
    Path("plan.json").write_text(Plan({"x": ["no", "yes"]}, 1.0).to_json())

    program = typer.main.get_command(app)

    def make(command: str, file: str, good: list[Any]) -> Callable[[Any], str]:
        arguments, seen = shlex.split(command.format(file=file)), set[bytes]()

        def verb(column: Any) -> str:
            values = list(column) if hasattr(column, "__len__") else [column]
            try:
                FILES[file]([[value, good[0]] for value in values], Path(file))
            except Exception:  # such a file there cannot be
                return ""
            content = Path(file).read_bytes()
            if content in seen:  # an array and a list give the same file
                return ""
            seen.add(content)
            with pytest.raises(SystemExit) as ended:
                program(arguments)
            return f"{ended.value.code} {''.join(capfd.readouterr())}"

        return verb

    return make


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("file", ["table.csv", "table.parquet"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_good_file(command: str, file: str, commands: Any) -> None:
    good = COMMANDS[command]
    assert commands(command, file, good)(good * 30).startswith("0 ")


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_value_escapes_from_a_command(command: str, file: str, commands: Any) -> None:
    assert check_canary(commands(command, file, COMMANDS[command]), COMMANDS[command]) is None


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("file", ["table.csv", "latin.csv"])
@pytest.mark.parametrize("command", MISTAKES)
def test_no_value_escapes_where_data_stand_in_the_place_of_something_else(
    command: str, file: str, commands: Any
) -> None:
    assert check_canary(commands(command, file, MISTAKES[command]), MISTAKES[command]) is None


def test_a_command_that_shows_a_value_is_seen(commands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def tells(self: Categories, positions: Any, entries: Any, look_up: Any) -> Any:
        raise DataError(f"values must be declared, and {entries} are not.")

    monkeypatch.setattr(Categories, "_pick", tells)
    with pytest.raises(AssertionError, match=r"a text, alone.*shown by"):
        check_canary(commands(next(iter(COMMANDS)), "table.csv", WORDS), WORDS)
