"""Publish a file once: book, draw, save, and show it ever after.

A publication is known in its ledger by its digest, which is in the name of the file that keeps it. All that is paid for
is in that file; what readers get is made of it, and can be made again. `Once` says what happens after a kill. A copy
in the folder for readers stands in for a file that was removed. The last line of a publication in the ledger, of ε = 0,
tells those who read the ledger that it is out. See ``publishing.proof.md``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bruit import documents, engines
from bruit.entropy import Entropy, Randomness
from bruit.errors import FormatError, MissingExtraError, ParameterError
from bruit.privacy import Ledger
from bruit.privacy.ledger import Line
from bruit.publications.publication import Publication
from bruit.publications.published import Published
from bruit.releases.kept import Once
from bruit.releases.person import warn_of_people
from bruit.releases.result import Results
from bruit.typing import SourceLike

__all__ = ["publish"]

#: The document in the folder for readers.
DOCUMENT = "results.json"
#: What stands before the title in the last line of a publication.
SAVED = "published: "


def publish(
    publication: Publication | str | os.PathLike[str],
    source: SourceLike | None = None,
    rng: Randomness = None,
    *,
    progress: Callable[[int, int | None], object] | None = None,
) -> Published:
    """Publish what a file says, once; if that was done before, show what was published and spend nothing.

    Parameters
    ----------
    publication
        A `Publication`, or the path of its TOML file.
    source
        The table, for one that is not in the file that the publication names: a frame, a mapping, a path.
    rng
        None for secure noise; a whole number for studies, whose results are marked as simulated.
    progress
        Called with the number of rows done, and of all rows where that is known.

    Returns
    -------
    Published
        The results, with their date and the folder of their files.
    """
    plan = publication if isinstance(publication, Publication) else Publication.load(publication)
    _check_extra(plan)
    ledger = plan.open_ledger(start=_has(plan.folder / plan.output, plan.digest))
    _check_output(plan)
    saved = None if ledger is None else _once(plan, ledger).saved()
    published = _drawn(plan, source, rng, progress) if saved is None else Published.load(saved)
    return replace(published, folder=_write_files(plan, published))


def result_name(plan: Publication) -> str:
    """The name of the file in which a publication is saved, beside its ledger."""
    return f"publication-{plan.digest}.json"


def is_published(plan: Publication) -> bool:
    """Whether a publication is in its ledger as published, so that to run it again shows it and spends nothing."""
    ledger = plan.open_ledger(start=False)
    return ledger is not None and _once(plan, ledger).is_finished


def check(plan: Publication) -> None:
    """Refuse what `publish` would refuse before it reads the table; nothing is written, and nothing is spent."""
    _check_extra(plan)
    _check_output(plan)
    _refuse_early(plan, plan.open_ledger(start=False))


def _once(plan: Publication, ledger: Ledger) -> Once:
    """The one draw of a publication."""

    def read(text: bytes) -> Published:
        published = Published.from_json(text)
        if published.digest != plan.digest:
            raise FormatError(f"{result_name(plan)} beside the ledger is another publication: restore it from a copy.")
        return published

    copy = plan.folder / plan.output / DOCUMENT
    return Once(ledger, result_name(plan), _lines(plan), read, closing=f"{SAVED}{plan.title}", copy=copy)


def _drawn(plan: Publication, source: Any, rng: Randomness, progress: Any) -> Published:
    """Read the table, then book, draw and save, alone with the folder of results.

    A ledger that is not there is started when the table has been read: what is refused before that leaves no file.
    """
    release = plan.release
    _refuse_early(plan, plan.open_ledger(start=False))
    if not isinstance(rng, Entropy):  # a bad seed must be found before anything is spent
        Entropy.resolve(rng, "publication", plan.digest)
    if release.person is None:
        warn_of_people(_source(plan, source, None))
    tally = release.fold(_source(plan, source, progress), rng)
    release.check(tally)
    once = _once(plan, plan.open_ledger())  # type: ignore[arg-type] # it is started here

    fresh: list[Published] = []

    def draw() -> str:
        drawn = release.publish(tally, rng=rng)
        results = Results({request.name: drawn[request.name] for request in plan.requests})
        date = once.entries[0].time or ""
        fresh.append(Published(plan.title, date, plan.digest, plan.guarantee, plan.to_dict(), results, is_new=True))
        return fresh[0].to_json() + "\n"

    return fresh[0] if once.run(draw) else Published.load(once.path)  # by another program, meanwhile


def _lines(plan: Publication) -> list[Line]:
    """A line for each statistic, in an order that follows from the digest."""
    lines = sorted(plan.release.lines(), key=lambda line: line.label)
    return [line._replace(label=f"{plan.title}: {line.label}"[:200]) for line in lines]


def _refuse_early(plan: Publication, ledger: Ledger | None) -> None:
    """What the ledger would refuse is refused before a large file is read; the ledger itself has the last word."""
    if ledger is None:
        ledger = plan.planned_ledger()
    booked = any(entry.result == result_name(plan) for entry in ledger.entries)
    if not booked:
        ledger.check(_lines(plan))


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


def _check_output(plan: Publication) -> None:
    """That the folder for readers is free, or has this publication."""
    folder = plan.folder / plan.output
    if not folder.parent.is_dir():
        raise ParameterError(f"The folder {plan.output.parent} for output does not exist.")
    if not os.path.lexists(folder) or _has(folder, plan.digest):
        return
    raise ParameterError(
        f'{plan.output} exists and is not this publication: name another folder, as in output = "{plan.output}-2".'
    )


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
    if _has(folder, plan.digest):
        return folder
    ledger: Any = plan.open_ledger()
    with ledger.alone_with_results():  # or one run would take what another is at work on for what a kill left
        if not _has(folder, plan.digest):
            _write_folder(plan, published, folder)
    return folder


def _write_folder(plan: Publication, published: Published, folder: Path) -> None:
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

            documents.write_text(partial / "index.html", page(published))
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    documents.sync(folder.parent)
