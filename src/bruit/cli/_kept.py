"""What `bruit release`, `limits` and `result` share: a result is drawn once, saved, and shown again for nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bruit import documents
from bruit.cli import _options, console
from bruit.errors import BruitError

if TYPE_CHECKING:
    from bruit.privacy import Ledger
    from bruit.releases import Results
    from bruit.releases.kept import Kept, KeptRelease


class Shown(NamedTuple):
    """A result, with what is said beside it."""

    result: Any
    #: Where it is: beside the ledger, and in the file that was asked for.
    files: list[Path]
    #: The command that shows it again, and spends nothing; nothing if it is saved nowhere.
    again: str
    #: What is left of the budget.
    remarks: list[str]


def drawn_once(
    once: KeptRelease | None,
    draw: Callable[[], Any],
    output: Path | None,
    content: Callable[[Any], bytes],
    show: Callable[[Any], object],
) -> Shown:
    """The result that is kept, or that is drawn now, saved before it is shown.

    `draw` gives a `Kept` where there is a ledger, and else a result. What cannot be written to `output` is shown whole.
    """
    result, kept = None, None
    try:
        with _writing(output) as copy:
            kept, result = _both(draw())
            copy(content(result))
    except BaseException:
        _salvage(once, result, show)
        raise
    return shown(once, kept, result, output)


def _both(drawn: Any) -> tuple[Kept | None, Any]:
    from bruit.releases.kept import Kept

    return (drawn, drawn.result) if isinstance(drawn, Kept) else (None, drawn)


def shown(once: KeptRelease | None, kept: Kept | None, result: Any, output: Path | None) -> Shown:
    """A result with its files and the command that shows it again; one of an earlier day says so."""
    if once is None or kept is None:
        saved = output is not None and output.suffix.lower() == ".json"
        return Shown(result, [output] if output else [], _command(output) if saved else "", [])
    if not kept.is_new:
        console.note(
            f"published before, on {kept.date[:16].replace('T', ' ')} UTC: nothing was spent. Rows that came since are "
            "not in it. Add --again to pay for new noise, as for new rows."
        )
    files = [kept.path, *([output] if output else [])]
    remarks = [f"ledger: {amount}" for amount in once.ledger.amounts[:1]]
    return Shown(result, files, _command(once.ledger.path, kept.entry), remarks)


def foreseen(once: KeptRelease, *, again: bool) -> str:
    """For a dry run: that a run would spend nothing, for what is kept or was stopped; nothing if it would spend."""
    if once.is_unfinished:
        return "It is booked, and was stopped before its result was saved: a run draws it, and spends nothing more."
    entry = None if again else once.earlier
    if entry is None:
        return ""
    return (
        f"It was published before, on {(entry.time or '')[:10]}: a run would show it, as "
        f"{_command(once.ledger.path, entry.index)} does, and spend nothing. --again pays for new noise."
    )


def _command(path: Path | None, *numbers: int) -> str:
    return shlex.join(["bruit", "result", str(near(Path(path or ""))), *map(str, numbers)])


def near(path: Path) -> Path:
    """A path as a person would write it, from the working folder where it is below that."""
    with suppress(ValueError, OSError):
        return path.relative_to(Path.cwd())
    return path


def _salvage(once: KeptRelease | None, result: Any, show: Callable[[Any], object]) -> None:
    """What is drawn and could not be written as asked is shown; what is booked and was stopped is said."""
    if result is not None:
        show(result)
        console.warn("this result is paid for and could not be written as asked. It is shown whole: keep it.")
        return
    with suppress(BruitError):
        if once is not None and once.is_unfinished:
            console.warn(
                "the spend is booked, and there is no result yet: the same command draws it, and spends nothing more."
            )


@contextmanager
def _writing(path: Path | None) -> Iterator[Callable[[bytes], object]]:
    """A function that writes a file, whole or not at all; a folder that cannot be written to is found at once."""
    if path is None:
        yield lambda content: None
        return
    with documents.replacing(path) as partial:
        partial.touch()
        yield partial.write_bytes


def keeping(whole: Any, books: Ledger | None, source: str, label: str | None = None) -> KeptRelease | None:
    """The release with the results that are kept of it; None without a ledger."""
    from bruit.releases.kept import KeptRelease

    return None if books is None else KeptRelease(whole, books, source, label)


def check_result_file(path: Path) -> None:
    """That a result can be written to a file of this kind."""
    from bruit.engines import written

    _options.check_file(path, "--output", (".json", *written.ENDINGS))
    written.check_ending(path.with_suffix(".csv") if path.suffix.lower() == ".json" else path)


def file_bytes(results: Results, path: Path | None, level: float = 0.95) -> bytes:
    """What goes into the file that was asked for: a document, or a table of all values."""
    from bruit.engines.written import table_bytes
    from bruit.releases.kept import document

    ending = "" if path is None else path.suffix.lower()
    if ending in ("", ".json"):
        return document(results, level).encode() + b"\n"
    return table_bytes(results.table(level), ending)


def tell(results: Results, rows: int, level: float = 0.95, *, again: str = "", remarks: Sequence[str] = ()) -> None:
    """Show the first rows, or all if `rows` is 0; `again` is the command that shows the others for nothing."""
    tables = [result.table(level) for result in results.values()]
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *remarks])
    console.show(*tables, rows=rows, hint="the next command shows all, and spends nothing" if again else "")
    if again and any(0 < rows < len(result) for result in results.values()):
        console.say(f"  {again}", "dim", whole=True)
