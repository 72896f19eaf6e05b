"""The commands of a page run in order, on small files with the names it uses.

A command ends with 0, or with the refusal that the page shows. What cannot run here is listed with its reason. A table
in TOML gets the name that the page's commands use, and tables that its examples in Python write are there, too.
"""

from __future__ import annotations

import csv
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prose import kind, pages
from test_doc_commands import SHELLS, commands
from test_docs import _unregistered, blocks, run

#: How commands begin that are not run, and why.
NOT_RUN = {
    "bruit survey open": "it serves until it is stopped",
    "bruit survey links": "it needs the store of a survey that was opened",
    "bruit survey demo": "it serves until it is stopped, or checks a whole survey",
    "bruit survey export": "it needs the store of a survey that was opened",
    "bruit survey collect": "it needs the codes of a class; tests/survey/test_class_by_codes.py runs it",
    "bruit survey close": "it needs the codes of a class; tests/survey/test_class_by_codes.py runs it",
    "bruit survey results": "it needs the codes of a class; tests/survey/test_class_by_codes.py runs it",
    "bruit survey handouts": "tests/survey/test_class_by_codes.py runs it",
    "bruit tour": "tests/cli/test_tour.py runs it",
    "bruit study": "it takes minutes; tests/cli/test_study.py runs it",
    "bruit analyse compliance": "it needs the reports of two groups; tests/cli/test_analyse.py runs it",
    "bruit analyse regress reports.parquet --table": "it needs reports of a table; tests/cli/test_analyse.py runs it",
    "bruit estimate why.parquet": "it takes seconds; tests/cli/test_open_question.py decodes shorter answers",
    "bruit release -": "it reads standard input",
    "bruit release nyc_green_taxi": "its file is large, and not kept",
}
#: Files that the examples of a page may write for its commands.
TABLES = {".csv", ".toml", ".txt", ".parquet"}
PAGES = [page for page, text in pages().items() if kind(page) in ("tutorials", "how-to") and commands(text)]


class Outcome(NamedTuple):
    """How a command ended."""

    command: str
    code: int
    output: str


def _write(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that pages name and do not make themselves."""
    from typer.testing import CliRunner

    from bruit.cli.app import app

    folder = tmp_path_factory.mktemp("samples")
    assert CliRunner().invoke(app, ["data", "adult", "-o", str(folder / "adult.csv")]).exit_code == 0
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        header, *people = csv.reader(file)
    race = header.index("race")
    (folder / "races.txt").write_text("\n".join(sorted({person[race] for person in people})) + "\n")
    people = [
        person for person in people if person[race] in ("White", "Black")
    ]  # the others are too few for a regression
    few = [header.index(name) for name in ("age", "sex", "race")]
    _write(folder / "adult.csv", header, people[:3000])
    for name, count in (("people", 3000), ("some", 500)):
        _write(folder / f"{name}.csv", [header[place] for place in few], [[p[i] for i in few] for p in people[:count]])
    for month in ("january", "february"):
        _write(
            folder / f"{month}.csv", ["id", "smokes"], [[number, ("no", "yes")[number % 2]] for number in range(300)]
        )
    zones = ["north", "south", "east", "west"]
    trips = [[number % 150, number % 150, zones[number % 4]] for number in range(600)]
    _write(folder / "trips.csv", ["user", "rider", "zone"], trips)
    (folder / "zones.txt").write_text("\n".join(zones) + "\n")
    _write(folder / "monday.csv", ["visitor"], [[number] for number in range(120)])
    _write(folder / "answers.csv", ["smokes"], [["yes"], ["no"]] * 50)
    _write(folder / "positions.csv", ["position"], [[number / 2] for number in range(100)])
    for name in ("reasons", "more"):
        _write(folder / f"{name}.csv", ["why"], [["homework"], ["noise"]] * 50)
    names = ["news", "sport", "tech"]
    (folder / "pages.txt").write_text("\n".join(names) + "\n")
    views = {
        "visitor": [i % 200 for i in range(800)],
        "page": [names[i % 3] for i in range(800)],
        "day": [i % 14 for i in range(800)],
    }
    _write(folder / "views.csv", list(views), [list(row) for row in zip(*views.values(), strict=True)])
    pq.write_table(pa.table(views), folder / "views.parquet")
    visits = [[i % 400, zones[i % 3], 20 + i % 60, 10.0] for i in range(1200)]
    _write(folder / "visits-2026-05.csv", ["visitor", "wing", "age", "spent"], visits)
    answers = ["sex=Female,Male", "income=<=50K,>50K", f"race=@{folder / 'races.txt'}"]
    for name, questions in {"march": answers[:1], "june": answers[:1], "reports": answers}.items():
        method = ["--method", "RS+FD[GRR]"] if name == "reports" else []
        words = ["privatize", str(folder / "adult.csv"), *questions, "-e", "2", *method]
        assert CliRunner().invoke(app, [*words, "-o", str(folder / f"{name}.parquet")]).exit_code == 0
    assert CliRunner().invoke(app, ["ledger", "new", str(folder / "survey.ledger"), "--epsilon", "1"]).exit_code == 0
    for name in ("class", "classe"):
        assert CliRunner().invoke(app, ["survey", "new", str(folder / f"{name}.toml")]).exit_code == 0
    return folder


def name_of_toml(text: str) -> str:
    """The file that the commands of a page read a table in TOML from."""
    names = re.findall(r"\S+\.toml", " ".join(command for _, command in commands(text)))
    return str(names[0]) if names else "survey.toml"


def written(text: str) -> set[str]:
    """The files that the commands of a page write."""
    names = re.findall(r"(?:-o|survey new|ledger new) (\S+)", " ".join(command for _, command in commands(text)))
    return set(names)


def outcomes(text: str) -> Iterator[Outcome]:
    """Run the commands of a page in the present folder, and say how each ended."""
    from typer.testing import CliRunner

    from bruit.cli.app import app

    for block in blocks(text):
        if block.language == "toml" and "[[" in block.body:
            Path(name_of_toml(text)).write_text(block.body, encoding="utf-8")
        elif block.language in SHELLS:
            for _, command in commands(f"```text\n{block.body}```\n"):
                if not command.startswith(tuple(NOT_RUN)):
                    result = CliRunner().invoke(app, shlex.split(command)[1:], env={"COLUMNS": "100", "NO_COLOR": "1"})
                    sent = re.search(rf"{re.escape(command)}\s*>\s*(\S+)", block.body)
                    if sent:
                        Path(sent[1]).write_text(result.stdout, encoding="utf-8")
                    yield Outcome(command, result.exit_code, result.output)


def unexpected(text: str) -> list[Outcome]:
    """The commands of a page that end otherwise than it says."""
    shown = re.sub(r"\s+", " ", text)
    return [ending for ending in outcomes(text) if ending.code and not _is_shown(ending.output, shown)]


def _is_shown(output: str, shown: str) -> bool:
    """Whether a page has the first sentence of a refusal."""
    lines = [line.strip(" │╭╰─") for line in output.splitlines() if line.strip(" │╭╰─")]
    first = re.split(r"(?<=[.:])\s", " ".join(lines).removeprefix("bruit: "))[0]
    return len(first) > 10 and re.sub(r"\s+", " ", first) in shown


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").mkdir()
    monkeypatch.chdir(tmp_path / "examples")
    with _unregistered():
        run(Path(page), pages()[page])
    (tmp_path / "page").mkdir()
    tables = [path for path in (tmp_path / "examples").iterdir() if path.suffix in TABLES]
    for path in [*samples.iterdir(), *tables]:
        if path.name.removesuffix(".plan.json") not in written(pages()[page]):
            shutil.copy(path, tmp_path / "page" / path.name)
    monkeypatch.chdir(tmp_path / "page")
    assert unexpected(pages()[page]) == []


def test_most_commands_are_run() -> None:
    every = [command for page in PAGES for _, command in commands(pages()[page])]
    assert sum(not command.startswith(tuple(NOT_RUN)) for command in every) >= 0.6 * len(every)


def test_a_command_that_ends_otherwise_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert unexpected("```text\nbruit choose --k 4 -e 1\n```\n") == []
    gone = "```text\nbruit release gone.csv --count -e 1\n```\n"
    (ending,) = unexpected(gone)
    assert ending.code
    assert unexpected(gone + ending.output) == []
