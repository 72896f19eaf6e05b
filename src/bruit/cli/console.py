"""What commands share: where they print, how they show progress, and how they end.

Results go to standard output, everything else (progress, notes, errors) to standard error, so that a result can be
piped.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import warnings as _warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn

from bruit import errors
from bruit.tables import shown, wrap
from bruit.tables.cells import STEERING

if TYPE_CHECKING:
    from rich.console import Console

    from bruit.tables import Table
    from bruit.tables.table import Role

#: Characters that steer a terminal; JSON has its own way for the first 32, so that its own line ends stay.
_STEERING = re.compile(f"(?![\x00-\x1f])[{STEERING}]")
#: A progress bar appears only for work that takes longer than this, in seconds.
PATIENCE = 0.5


class Exit(IntEnum):
    """How a command ends."""

    OK = 0
    FAILED = 1
    USAGE = 2
    DATA = 3
    FILE = 4
    BUDGET = 5
    EXTRA = 6
    DEFECT = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    PIPE = 141
    TERMINATED = 143


#: What each exit code says; the page of the command line shows this table.
MEANINGS = {
    Exit.OK: "The work is done.",
    Exit.FAILED: "The work is done and the answer is no: an audit found that a claim does not hold, or a study failed.",
    Exit.USAGE: "An option cannot be what was given.",
    Exit.DATA: "The data break a rule; the message names the rule and shows no value.",
    Exit.FILE: "A file is absent, damaged, made by another plan, or cannot be written.",
    Exit.BUDGET: "A ledger refused, and nothing was spent.",
    Exit.EXTRA: "An optional dependency is not installed.",
    Exit.DEFECT: "A defect of bruit. With the variable `BRUIT_DEBUG=1` it shows where, and perhaps data.",
    Exit.HUNG_UP: "The terminal was closed (SIGHUP); nothing half-written is left.",
    Exit.INTERRUPTED: "It was interrupted (Ctrl-C); nothing half-written is left.",
    Exit.PIPE: "The reader of the output stopped reading, as `head` does.",
    Exit.TERMINATED: "It was asked to end (SIGTERM); nothing half-written is left.",
}


def exit_code(error: BaseException) -> Exit:
    """The exit code for an error; one that no command may end with is a defect of the program."""
    table: list[tuple[type[BaseException] | tuple[type[BaseException], ...], Exit]] = [
        (BrokenPipeError, Exit.PIPE),
        ((errors.DataError, errors.DataTypeError), Exit.DATA),
        ((errors.FormatError, errors.DesignError), Exit.FILE),
        ((errors.BudgetError, errors.LedgerError), Exit.BUDGET),
        (errors.MissingExtraError, Exit.EXTRA),
        (errors.StudyError, Exit.FAILED),
        (errors.BruitError, Exit.USAGE),
        (OSError, Exit.FILE),
        (KeyboardInterrupt, Exit.INTERRUPTED),
    ]
    return next((code for kind, code in table if isinstance(error, kind)), Exit.DEFECT)


def _screen(*, stderr: bool = False, quiet: bool = False) -> Console:
    """A console that prints labels, names and paths as they are: no text is read as markup or emoji."""
    from rich.console import Console

    screen = Console(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)
    screen.on_broken_pipe = _broken_pipe  # type: ignore[method-assign]
    return screen


def _broken_pipe() -> NoReturn:
    """Rich would end the program with code 1, which means something else here."""
    raise BrokenPipeError


def out(*, quiet: bool = False) -> Console:
    """Where results go; a quiet one prints nothing."""
    return _screen(quiet=quiet)


def err() -> Console:
    """Where everything else goes."""
    return _screen(stderr=True)


def note(text: str) -> None:
    """A remark that is not a result."""
    err().print(readable(text), style="dim", soft_wrap=True)


def warn(text: str) -> None:
    """A remark that a person should not miss."""
    err().print(f"Warning: {readable(text)}", style="yellow", soft_wrap=True)


def readable(text: str) -> str:
    """A text of several lines without characters that could steer a terminal: a path or a name may hold them."""
    return "\n".join(map(shown, text.split("\n")))


@contextmanager
def warnings() -> Iterator[None]:
    """Within the block, what is warned of what is disclosed is said as a remark."""
    with _warnings.catch_warnings(record=True) as caught:
        _warnings.simplefilter("always", errors.DisclosureWarning)
        yield
    for warning in caught:
        warn(str(warning.message))


@contextmanager
def weak_privacy() -> Iterator[None]:
    """Within the block, a warning of a large ε is said as a remark, each once."""
    said: set[str] = set()

    def show(message: Any, category: type[Warning], *place: Any, **options: Any) -> None:
        if not issubclass(category, errors.WeakPrivacyWarning):
            before(message, category, *place, **options)
        elif str(message) not in said:
            said.add(str(message))
            warn(str(message))

    with _warnings.catch_warnings():
        before = _warnings.showwarning
        _warnings.showwarning = show
        _warnings.simplefilter("always", errors.WeakPrivacyWarning)
        yield


def print_json(document: str | dict[str, Any] | list[Any]) -> None:
    """A result for a program: exactly one JSON value on standard output, without colours.

    JSON leaves some characters that steer a terminal as they are; they are written by their number, the same value.
    """
    text = document if isinstance(document, str) else json.dumps(document, indent=2, ensure_ascii=False)
    sys.stdout.write(_STEERING.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text) + "\n")
    sys.stdout.flush()


def width() -> int | None:
    """How many columns a line of a result may take: those of the terminal or of the variable COLUMNS; else no limit.

    So a pipe gets each row of a table on one line, and whole.
    """
    screen = out()
    return screen.width if screen.is_terminal or os.environ.get("COLUMNS", "").isdigit() else None


def show(*tables: Table, rows: int = 0, hint: str = "", on: Console | None = None, most: int | None = None) -> None:
    """Print tables with an empty line between them: at most `rows` rows of each (0: all), no wider than `most`."""
    screen = on or out()
    limits = [limit for limit in (width(), most) if limit is not None]
    for place, table in enumerate(tables):
        if place:
            screen.print()
        for role, line in table.lines(min(limits, default=None), rows or None, hint):
            screen.print(line, style=_STYLES[role], markup=False, highlight=False, emoji=False, soft_wrap=True)


#: How each part of a table is set on a terminal.
_STYLES: dict[Role, str] = {"title": "", "heading": "bold", "row": "", "note": "dim"}


def say(text: str, style: str = "", *, whole: bool = False) -> None:
    """Print a paragraph of a result, broken at spaces where the terminal ends; a path or a command is kept whole."""
    for line in wrap(shown(text), None if whole else width()):
        out().print(line, style=style, soft_wrap=True)


@contextmanager
def progress(what: str, unit: str = "rows") -> Iterator[Callable[[int, int | None], None]]:
    """A callable (rows done, rows in all or None) that draws a bar on a terminal once the work proves long."""
    screen = err()
    if not screen.is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn(what),
        BarColumn(),
        TextColumn(f"{{task.fields[rows]}} {unit}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
    )
    task = bar.add_task(what, total=None, rows="0")
    begun = time.monotonic()

    def report(done: int, total: int | None) -> None:
        if not bar.live.is_started and time.monotonic() - begun > PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=total, rows=f"{done:,}")

    try:
        yield report
    finally:
        bar.stop()
