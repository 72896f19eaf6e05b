"""An open question in files: declared by `bruit privatize --open-ended`, estimated by `bruit estimate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bruit.cli import _options, console
from bruit.errors import BruitError, ParameterError
from bruit.tables import counted, percent

if TYPE_CHECKING:
    from bruit.domains import OpenText


def stands_at(path: Path) -> bool:
    """Whether this is the document of an open question, or reports that one stands beside."""
    from bruit.collection import files

    try:
        return files.is_open_question(files.read_plan(path))
    except (BruitError, OSError):  # the reader of plans says what is wrong
        return False


def refuse(options: Mapping[str, object]) -> None:
    """An error about the first option that is set, and means nothing there."""
    for name, value in options.items():
        if value:
            raise ParameterError(f"{name} does not go with an open question: leave it out.")


def load(path: Path) -> Any:
    """The question in a document, or in the one beside reports."""
    from bruit.collection import OpenQuestion

    return OpenQuestion.load(path)


def question(columns: list[str] | None, epsilon: float | None, domain: OpenText) -> Any:
    """The question that the options of a command declare."""
    from bruit.collection import OpenQuestion
    from bruit.open_answers import HeavyHitters

    if columns is None or len(columns) != 1 or "=" in columns[0]:
        raise ParameterError("--open-ended takes the name of one column, as in bruit privatize people.csv why.")
    return OpenQuestion(columns[0], HeavyHitters(epsilon, domain=domain))  # type: ignore[arg-type] # it checks it


def outlook(mechanism: Any, people: int) -> str:
    """What these people's reports will be worth, before anybody reads them."""
    from bruit.open_answers.frequent_answers import RARER

    least = mechanism.least_share(people)
    shown = "no answer is" if least is None else f"an answer of {percent(least)} of the people is"
    few = "" if least is not None else " That is too few: ask more people, or declare a list of answers."
    letters = f"The first {mechanism.domain.letters} letters count; {RARER}."
    return f"With {counted(people, 'report')} {shown} shown nine times in ten.{few} {letters}"


def gathered(path: Path, sources: list[Path], progress: Any) -> tuple[Any, Any]:
    """The question, and the reports in files."""
    known = load(path)
    return known, known.gather(*sources, opened=lambda source: _options.read(str(source), {}, progress))


def show(known: Any, reports: Any, level: float, *, rows: int, as_json: bool) -> None:
    """The certified answers."""
    table = known.estimate(reports).table(level)
    if as_json:
        console.print_json(table.to_json())
    else:
        console.show(table, rows=rows, hint="--show 0 shows all")
