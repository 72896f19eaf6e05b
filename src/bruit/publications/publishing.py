"""Publish once: book, draw, save by one rename, and show it ever after.

A publication is known in its ledger by its digest, which is the name of the file in which it is saved. All that is
paid for is in that file; what readers get is made of it, and can be made again. A kill can fall at any instant:

- before the booking: nothing is spent, and the next run begins anew;
- after the booking and before the rename: what was drawn was shown to nobody. The next run removes what is unfinished
  and draws anew under the same booking, alone with the folder of results;
- after the rename: the next run shows what is saved.

Before anything is shown, the ledger gets a last line for it, of ε = 0. With that line a file that is absent was not
lost by a kill but removed, and drawing anew would show two draws for one booking; it is refused. See
``publishing.proof.md``.
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
from bruit.errors import FormatError, LedgerError, MissingExtraError, ParameterError
from bruit.privacy import Ledger
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.publications.publication import Publication
from bruit.publications.published import Published
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
    plan = publication if isinstance(publication, Publication) else Publication.open(publication)
    _check_extra(plan)
    ledger: Any = plan.open_ledger()
    _check_output(plan)
    before = _saved(plan, ledger)
    published = before or _drawn(plan, ledger, source, rng, progress)
    folder = _write_files(plan, published)
    return replace(published, folder=folder, is_new=before is None and published.is_new)


def result_name(plan: Publication) -> str:
    """The name of the file in which a publication is saved, beside its ledger."""
    return f"publication-{plan.digest}.json"


def is_published(plan: Publication) -> bool:
    """Whether a publication is in its ledger as published, so that to run it again shows it and spends nothing."""
    ledger = plan.open_ledger(start=False)
    return ledger is not None and _is_marked(plan, ledger)


def check(plan: Publication) -> None:
    """Refuse what `publish` would refuse before it reads the table; nothing is written, and nothing is spent."""
    _check_extra(plan)
    _check_output(plan)
    ledger = plan.open_ledger(start=False)
    if ledger is None:
        ledger = Ledger(neighbours=plan.guarantee.neighbours, **(plan.budget or {}))
    _refuse_early(plan, ledger)


def _saved(plan: Publication, ledger: Ledger) -> Published | None:
    """What is saved already; a copy in the folder for readers stands in for a file that was removed."""
    path = _kept(plan, ledger)
    if path.exists():
        published = Published.load(path)
        if published.digest != plan.digest:
            raise FormatError(f"{path.name} beside the ledger is another publication: restore it from a copy.")
        _mark(plan, ledger)
        return published
    if not _is_marked(plan, ledger):
        return None
    copy = plan.folder / plan.output / DOCUMENT
    if copy.exists():
        published = Published.load(copy)
        if published.digest == plan.digest:
            documents.write_text(path, published.to_json() + "\n")
            return published
    raise LedgerError(
        f"This publication is in the ledger as published, and its file {path.name} was removed from "
        f"{path.parent.name}. Restore it, or {plan.output / DOCUMENT}, from a copy: drawing it again would tell more "
        "than was booked."
    )


def _kept(plan: Publication, ledger: Ledger) -> Path:
    folder = ledger.results
    if folder is None:
        raise ParameterError("A publication needs a ledger in a file.")
    return folder / result_name(plan)


def _drawn(plan: Publication, ledger: Ledger, source: Any, rng: Randomness, progress: Any) -> Published:
    """Read the table, then book, draw and save, alone with the folder of results."""
    bundle = plan.bundle
    _refuse_early(plan, ledger)
    if not isinstance(rng, Entropy):  # a bad seed must be found before anything is spent
        Entropy.resolve(rng, "publication", plan.digest)
    if not any(part.person for part in bundle.parts):
        warn_of_people(_source(plan, source, None))
    tally = bundle.fold(_source(plan, source, progress), rng)
    bundle.check(tally)
    path = _kept(plan, ledger)
    with ledger.alone_with_results():
        before = _saved(plan, ledger)  # by another program, meanwhile
        if before is not None:
            return before
        for partial in documents.unfinished(path):
            partial.unlink(missing_ok=True)
        _book(plan, ledger)
        drawn = bundle.publish(tally, rng=rng)
        results = Results({request.name: drawn[request.name] for request in plan.requests})
        date = next(entry.time or "" for entry in ledger.entries if entry.result == path.name)
        published = Published(plan.title, date, plan.digest, plan.guarantee, plan.to_dict(), results, is_new=True)
        documents.write_text(path, published.to_json() + "\n")
        _mark(plan, ledger)
    return published


def _book(plan: Publication, ledger: Ledger) -> None:
    """Book the lines that are not booked yet: all, or after a kill none, or the last ones of a write cut short."""
    booked = sum(entry.result == result_name(plan) for entry in ledger.entries)
    lines = _lines(plan)[booked:]
    if lines:
        ledger.keeping(result_name(plan)).book(lines)


def _lines(plan: Publication) -> list[Line]:
    """A line for each statistic, in an order that follows from the digest."""
    lines = sorted(plan.bundle.lines(), key=lambda line: line.label)
    return [line._replace(label=f"{plan.title}: {line.label}"[:200]) for line in lines]


def _is_marked(plan: Publication, ledger: Ledger) -> bool:
    own = [entry for entry in ledger.entries if entry.result == result_name(plan)]
    return any(entry.label.startswith(SAVED) and entry.guarantee.epsilon == 0 for entry in own)


def _mark(plan: Publication, ledger: Ledger) -> None:
    """Write into the ledger that the publication is saved, which costs nothing, before it is shown."""
    if not _is_marked(plan, ledger):
        nothing = Guarantee(epsilon=0.0, neighbours=ledger.neighbours)
        ledger.keeping(result_name(plan)).book([Line(nothing, f"{SAVED}{plan.title}")])


def _refuse_early(plan: Publication, ledger: Ledger) -> None:
    """What the ledger would refuse is refused before a large file is read; the ledger itself has the last word."""
    if not any(entry.result == result_name(plan) for entry in ledger.entries):
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
            import bruit.figures.page  # noqa: F401
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
    try:
        return Published.load(folder / DOCUMENT).digest == digest
    except (OSError, FormatError):
        return False


def _write_files(plan: Publication, published: Published) -> Path:
    """The folder for readers, which appears whole: document, tables and page, all made of what is saved."""
    folder = plan.folder / plan.output
    if _has(folder, plan.digest):
        return folder
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
    return folder
