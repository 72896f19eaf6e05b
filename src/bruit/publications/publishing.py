"""Publish a file once: book, draw, save, and show it ever after.

A publication is known in its ledger by its digest, which is in the name of the file that keeps it. All that is paid for
is in that file; what readers get is made of it, and can be made again. `Once` says what happens after a kill. A copy
in the folder for readers stands in for a file that was removed. The last line of a publication in the ledger, of ε = 0,
tells those who read the ledger that it is out. See ``publishing.proof.md``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bruit import documents, engines
from bruit.entropy import Entropy, Randomness
from bruit.errors import FormatError, LedgerError, MissingExtraError, ParameterError
from bruit.estimation.tally import RawTally
from bruit.privacy import Ledger
from bruit.publications.bill import DOCUMENT, Bill, bill_of, file_of
from bruit.publications.publication import Publication
from bruit.publications.published import Published
from bruit.releases import refining
from bruit.releases.kept import Once
from bruit.releases.person import warn_of_people
from bruit.releases.release import Release
from bruit.releases.result import Results
from bruit.releases.sources import SourceMark, SourceRecords
from bruit.typing import SourceLike

__all__ = ["publish"]

#: What a folder for readers has.
FILES_FOR_READERS = {DOCUMENT, "results.csv", "results.parquet", "index.html"}
#: What stands before the title in the last line of a publication.
SAVED = "published: "


def publish(
    publication: Publication | str | os.PathLike[str],
    source: SourceLike | None = None,
    rng: Randomness = None,
    *,
    again: Collection[str] = (),
    progress: Callable[[int, int | None], object] | None = None,
) -> Published:
    """Publish what a file says, once; if that was done before, show what was published and spend nothing.

    Of a file that was changed, only what is new is drawn and booked. A statistic that was published before, as the file
    declares it now, is kept with its date. One whose share the file has raised is refined, for the difference.

    Parameters
    ----------
    publication
        A `Publication`, or the path of its TOML file.
    source
        The table, for one that is not in the file that the publication names: a frame, a mapping, a path.
    rng
        None for secure noise; a whole number for studies, whose results are marked as simulated.
    again
        Names of statistics that are drawn and paid for again, as for new rows.
    progress
        Called with the number of rows done, and of all rows where that is known.

    Returns
    -------
    Published
        The results, with their date and the folder of their files.
    """
    plan = publication if isinstance(publication, Publication) else Publication.load(publication)
    _check_extra(plan)
    ledger = plan.open_ledger(start=_is_saved(plan))
    bill = bill_of(plan, ledger, again)
    _check_output(bill, ledger)
    saved = None if ledger is None else _once(bill, ledger).saved()
    published = _drawn(bill, source, rng, progress) if saved is None else Published.load(saved)
    return replace(published, folder=_write_files(plan, published))


def _is_saved(plan: Publication) -> bool:
    """Whether a publication is in the folder of results, though its ledger may be lost."""
    path = documents.state_file(plan.folder / plan.ledger)
    return (path.with_name(f"{path.name}.results") / file_of(plan.digest)).exists()


def is_published(bill: Bill) -> bool:
    """Whether a publication is in its ledger as published, so that to run it again shows it and spends nothing."""
    ledger = bill.plan.open_ledger(start=False)
    return ledger is not None and _once(bill, ledger).is_finished


def check(bill: Bill) -> None:
    """Refuse what `publish` would refuse before it reads the table; nothing is written, and nothing is spent."""
    ledger = bill.plan.open_ledger(start=False)
    _check_extra(bill.plan)
    _check_output(bill, ledger)
    _refuse_early(bill, ledger)


def _once(bill: Bill, ledger: Ledger) -> Once:
    """The one draw of what is new in a publication."""

    def read(text: bytes) -> Published:
        published = Published.from_json(text)
        if published.digest != bill.digest:
            raise FormatError(f"{bill.file} beside the ledger is another publication: restore it from a copy.")
        return published

    copy = bill.plan.folder / bill.plan.output / DOCUMENT
    return Once(ledger, bill.file, bill.lines, read, closing=f"{SAVED}{bill.plan.title}", copy=copy)


def _is_booked(bill: Bill, ledger: Ledger) -> bool:
    return any(entry.result == bill.file for entry in ledger.entries)


def _drawn(bill: Bill, source: Any, rng: Randomness, progress: Any) -> Published:
    """Read the table, then book, draw and save, alone with the folder of results.

    A ledger that is not there is started when the table has been read: what is refused before that leaves no file.
    Where every statistic is kept, nothing is read.
    """
    plan, release = bill.plan, bill.release
    _refuse_early(bill, plan.open_ledger(start=False))
    if not isinstance(rng, Entropy):  # a bad seed must be found before anything is spent
        Entropy.resolve(rng, "publication", bill.digest)
    _refined_draws(bill)
    mark = _marked(bill, source, rng)
    tally = None if release is None else _folded(plan, release, source, rng, progress)
    if bill.refined:
        refining.check_current(mark)
    ledger: Any = plan.open_ledger()  # it is started here
    once = _once(bill, ledger)

    fresh: list[Published] = []

    def draw() -> str:
        if mark is not None:
            SourceRecords.of(ledger).record(once.name, mark if rng is None else None)
        drawn = {} if release is None else dict(release.publish(tally, rng=rng))  # type: ignore[arg-type]
        drawn |= {name: refinement.combined(drawn[name]) for name, refinement in bill.refined.items()}
        known = {**{name: result for name, (result, _) in bill.kept.items()}, **drawn}
        results = Results({request.name: known[request.name] for request in plan.requests})
        date = (once.entries[0].time if once.entries else None) or datetime.now(UTC).isoformat(timespec="seconds")
        origins = bill.origins(date)
        fresh.append(
            Published(plan.title, date, bill.digest, bill.guarantee, plan.to_dict(), results, None, True, origins)
        )
        return fresh[0].to_json() + "\n"

    with ledger.alone_with_results():
        for earlier, statistic in _refined_draws(bill):
            refining.claim(ledger, earlier, statistic, once.name)
        is_new = once.run_alone(draw)
    return fresh[0] if is_new else Published.load(once.path)  # by another program, meanwhile


def _refined_draws(bill: Bill) -> list[tuple[str, str]]:
    """The file and the name of each draw that is refined; two second draws of one first draw are refused."""
    draws = [(file_of(bill.kept[name][1].publication), item.first_name) for name, item in bill.refined.items()]
    if len(set(draws)) < len(draws):
        raise LedgerError("Two statistics would refine one draw: leave one of them out, or draw it with --again.")
    return draws


def _marked(bill: Bill, source: Any, rng: Randomness) -> SourceMark | None:
    """The file of the table with the digest of its bytes; what is refined must have been drawn of the same bytes."""
    plan = bill.plan
    records = SourceRecords.beside(plan.folder / plan.ledger)
    is_read = source is None and bill.release is not None and bill.release.has_sums
    mark = records.mark(plan.folder / plan.table, engines.read("", **plan.csv).text) if is_read else None
    if bill.refined:
        if rng is not None:
            raise ParameterError("A draw from a seed refines nothing: leave the seed out.")
        refining.check_mark(records, [file_of(bill.kept[name][1].publication) for name in bill.refined], mark)
    return mark


def _folded(plan: Publication, release: Release, source: Any, rng: Randomness, progress: Any) -> RawTally:
    """What the new statistics need of the table."""
    if release.person is None:
        warn_of_people(_source(plan, source, None))
    tally = release.fold(_source(plan, source, progress), rng)
    release.check(tally)
    return tally


def _refuse_early(bill: Bill, ledger: Ledger | None) -> None:
    """What the ledger would refuse is refused before a large file is read; the ledger itself has the last word."""
    if ledger is None:
        ledger = bill.plan.planned_ledger()
    if not _is_booked(bill, ledger) and bill.lines:
        ledger.check(bill.lines)


def _source(plan: Publication, source: Any, progress: Any) -> Any:
    table = source if source is not None else plan.folder / plan.table
    if isinstance(table, engines.Source):
        return table
    return engines.read(str(table) if isinstance(table, Path) else table, **plan.csv, progress=progress)


def _check_extra(plan: Publication) -> None:
    """That the page can be made, before anything is spent."""
    if plan.page:
        try:
            import bruit.figures  # noqa: F401
        except ImportError:
            raise MissingExtraError("The page of a publication (page = false leaves it out)", "figures") from None


def _check_output(bill: Bill, ledger: Ledger | None) -> None:
    """That the folder for readers is free, or has this publication or an earlier one of the same ledger."""
    plan = bill.plan
    folder = plan.folder / plan.output
    if not folder.parent.is_dir():
        raise ParameterError(f"The folder {plan.output.parent} for output does not exist.")
    if folder.is_symlink():
        raise ParameterError(f"{plan.output} for output is a link: name the folder itself.")
    _check_copy(bill, ledger)
    if not os.path.lexists(folder) or _has(folder, bill.digest) or _has_earlier(folder, ledger):
        return
    raise ParameterError(
        f'{plan.output} exists and is not this publication: name another folder, as in output = "{plan.output}-2".'
    )


def _check_copy(bill: Bill, ledger: Ledger | None) -> None:
    """A copy of which the ledger has neither line nor file is of a ledger that was lost, or of another one."""
    folder = bill.plan.folder / bill.plan.output
    is_known = ledger is not None and (_is_booked(bill, ledger) or _once(bill, ledger).path.exists())
    if not is_known and _has(folder, bill.digest):
        raise LedgerError(
            f"{bill.plan.output} has this publication, and the ledger has nothing of it: restore the ledger and its "
            "folder of results, or move the folder away if it is of another table."
        )


def _has_earlier(folder: Path, ledger: Ledger | None) -> bool:
    """Whether a folder has nothing but a publication that a ledger knows, which the next one may replace."""
    if ledger is None or not {path.name for path in folder.iterdir()} <= FILES_FOR_READERS:
        return False
    known = {entry.result for entry in ledger.entries}
    try:
        return f"publication-{Published.load(folder / DOCUMENT).digest}.json" in known
    except (OSError, FormatError):
        return False


def _has(folder: Path, digest: str) -> bool:
    return _is_document(folder / DOCUMENT, digest)


def _is_document(path: Path, digest: str) -> bool:
    try:
        return Published.load(path).digest == digest
    except (OSError, FormatError):
        return False


def _write_files(plan: Publication, published: Published) -> Path:
    """The folder for readers, which appears whole: document, tables and page, all made of what is saved."""
    folder = plan.folder / plan.output
    if _has(folder, published.digest):
        return folder
    ledger: Any = plan.open_ledger()
    with ledger.alone_with_results():  # or one run would take what another is at work on for what a kill left
        if not _has(folder, published.digest):
            _write_folder(plan, published, folder, replaces=_has_earlier(folder, ledger) if folder.is_dir() else False)
    return folder


def _write_folder(plan: Publication, published: Published, folder: Path, *, replaces: bool) -> None:
    for unfinished in documents.unfinished(folder):
        shutil.rmtree(unfinished, ignore_errors=True)
    partial = documents.partial_name(folder)
    partial.mkdir()
    try:
        documents.write_text(partial / DOCUMENT, published.to_json() + "\n")
        table = published.table()
        for name in ("results.csv", "results.parquet"):
            engines.write_table(table, partial / name)
        if plan.page:
            from bruit.publications.page import page

            descriptions = {request.name: request.description for request in plan.requests if request.description}
            documents.write_text(partial / "index.html", page(published, descriptions))
        if replaces:  # a kill between the two leaves no folder, and the next run makes it again
            folder.rename(documents.partial_name(folder))
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    for replaced in documents.unfinished(folder):
        shutil.rmtree(replaced, ignore_errors=True)
    documents.sync(folder.parent)
