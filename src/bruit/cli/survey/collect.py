"""`bruit survey collect`: count the codes that people handed in."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit.cli import console
from bruit.cli.survey import _store
from bruit.cli.survey.results import show
from bruit.errors import ParameterError
from bruit.tables import counted

if TYPE_CHECKING:
    from bruit.collector import Store
    from bruit.collector.collecting import Collected, Place
    from bruit.collector.open_survey import OpenSurvey
    from bruit.survey.code_files import CodeRow

#: How many places of codes that do not count are named.
_MOST_PLACES = 20


def collect(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The survey.", show_default=False)],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CODES",
            help="Files with codes: .csv, .txt or .xlsx; - or none reads standard input.",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            help="Keep what is counted, and add to it when more codes come: a .sqlite file.", show_default=False
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Its name in the store; the name of the file by default.", show_default=False)
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Count one code per submitter; this column says who it is.", show_default=False
        ),
    ] = None,
) -> None:
    """Count the codes that people handed in, wherever they stand in the files, and each of them once.

    Without --store the estimates are shown and nothing is kept. With it a file that grows may be collected any number
    of times. bruit survey results then shows the estimates, and bruit survey close deletes what is kept of codes.
    """
    if store is None and name is not None:
        raise ParameterError("--name is the name in a store: give --store, too, as in --store surveys.sqlite.")
    rows = [row for file in files or [Path("-")] for row in _rows(file, per)]
    if store is not None:
        _collect(store, path, _store.clean_name(name or path.stem), rows, per, kept=True)
        return
    with tempfile.TemporaryDirectory(prefix="bruit-codes-") as folder:
        _collect(f"{folder}/{_store.DEFAULT}", path, "survey", rows, per, kept=False)


def _collect(address: str, path: Path, name: str, rows: list[CodeRow], per: str | None, *, kept: bool) -> None:
    from bruit.collector.collecting import check
    from bruit.collector.collecting import collect as count
    from bruit.collector.open_survey import OpenSurvey
    from bruit.collector.results import results
    from bruit.survey import Survey

    keeper = _store.opened(address, new=True)
    try:
        known = keeper.survey(name)
        if known is not None:
            check(OpenSurvey(known))
        _ = Survey.load(path).codes  # an error where it takes none, before it is kept
        _store.keep(keeper, path, name)
        open_survey = _store.open_survey(keeper, name)
        collected = count(keeper, open_survey, rows, per_submitter=per is not None)
        _report(collected, keeper, open_survey, per)
        if kept:
            _next(collected, keeper, open_survey, address)
            return
        keeper.close(name, whole=True if keeper.totals(name).answered >= open_survey.survey.shown_from else None)
        show(results(keeper, _store.open_survey(keeper, name)), path.stem, kept=False)
        console.note(f"Nothing of this is kept. --store {path.stem}.sqlite keeps it, and adds codes that come later.")
    finally:
        keeper.disconnect()


def _rows(file: Path, per: str | None) -> list[CodeRow]:
    """The rows of a file, or of standard input."""
    from bruit.survey.code_files import ENDINGS, MOST_BYTES, read_rows

    if str(file) == "-":
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
        return read_rows("standard input", data, per)
    if file.suffix.lower() not in ENDINGS:
        raise ParameterError(f"CODES must be files that end with {', '.join(ENDINGS)}; save the list as one of these.")
    with file.open("rb") as content:
        return read_rows(file.name, content.read(MOST_BYTES + 1), per)


def _report(collected: Collected, keeper: Store, open_survey: OpenSurvey, per: str | None) -> None:
    """What became of the codes, and how many people are counted of those that are expected."""
    answered, expected = keeper.totals(open_survey.name).answered, open_survey.survey.expected
    size = "" if expected is None else f" of {counted(expected, 'person')}"
    console.say(f"Counted: {counted(answered, 'answer')}{size}; new: {counted(collected.counted, 'code')}.", "bold")
    for line in _lines(collected, per):
        console.say(f"  {line}")
    if expected is not None and answered > expected:
        console.warn(f"more answers than people: {answered:,}, and the survey says people = {expected:,}.")
    if per is None:
        console.note(
            "That everybody counts once is not assured: nobody knows who handed in a code. If the file has a column "
            "that says who did, --per COLUMN counts one code of each."
        )


def _next(collected: Collected, keeper: Store, open_survey: OpenSurvey, address: str) -> None:
    """What to do before and after closing."""
    name, waiting = open_survey.name, keeper.waiting(open_survey.name)
    if collected.mistyped:
        console.warn("have mistyped codes corrected and collect the file again before you close: closing is final.")
    if waiting and waiting < keeper.totals(name).answered:
        console.note(
            f"{counted(waiting, 'answer')} came after the last step of {open_survey.survey.shown_from} and are not in "
            "the results yet. bruit survey close --all includes them."
        )
    console.say(f"Next, once all codes are in: bruit survey close {name} --store {address}", style="dim", whole=True)


def _lines(collected: Collected, per: str | None) -> Iterator[str]:
    """All that was not counted, by its reason, with where it stands where somebody may look."""
    places = {
        "counted once though it came again": collected.twice,
        f"further codes of the same {per}, not counted": collected.further,
        f"codes without {per}, not counted": collected.nameless,
        "mistyped": collected.mistyped,
        "set aside, because another code with the same id came first": collected.set_aside,
    }
    yield from (f"{reason}: {len(rows):,} ({_places(rows)})" for reason, rows in places.items() if rows)
    numbers = {
        "of another survey": collected.other_survey,
        "of another text of this survey, as an earlier one": collected.other_text,
        "rows without a code": collected.without,
    }
    yield from (f"{reason}: {number:,}" for reason, number in numbers.items() if number)


def _places(places: list[Place]) -> str:
    """Where codes stand, and which groups of four are wrong."""
    texts = []
    for file, number, groups in places[:_MOST_PLACES]:
        wrong = f" group {' and '.join(map(str, groups))}" if groups else ""
        texts.append(f"{file} row {number}{wrong}")
    more = len(places) - len(texts)
    return ", ".join(texts) + (f" and {more:,} more" if more else "")
