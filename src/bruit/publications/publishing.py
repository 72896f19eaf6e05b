"""Publish once: book, draw, save by one rename, and show it ever after.

A publication is known in its ledger by its digest, which is the name of the file in which it is saved. All that is
paid for is in that file; what readers get is made of it, and can be made again. A kill can fall at any instant:

- before the booking: nothing is spent, and the next run begins anew;
- after the booking and before the closing line, of ε = 0: what was drawn is in a file that its owner alone may read,
  under a temporary name. The next run removes it and draws anew under the same booking, alone with the folder;
- after the closing line: the next run gives the finished file its name, if it has none, and shows it.

With the closing line a file that is absent was removed, and drawing anew would show two draws for one booking; it is
refused. A file without its lines is of a ledger that was put back to an older copy; they are booked again. See
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
from bruit.privacy import Entry, Ledger
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
    ledger = plan.open_ledger(start=_has(plan.folder / plan.output, plan.digest))
    _check_output(plan)
    before = None if ledger is None else _before(plan, ledger)
    published = before or _drawn(plan, source, rng, progress)
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
    _refuse_early(plan, plan.open_ledger(start=False))


def _before(plan: Publication, ledger: Ledger) -> Published | None:
    """What an earlier run published; None at the first run, which reads its table before it is alone."""
    known = _own_entries(plan, ledger) or _kept(plan, ledger).exists() or _has(plan.folder / plan.output, plan.digest)
    if not known:
        return None
    with ledger.alone_with_results():
        return _saved(plan, ledger)


def _saved(plan: Publication, ledger: Ledger) -> Published | None:
    """What is saved already, and booked where the ledger has lost it, by a run that is alone.

    A file that is finished and has no name yet gets it, and a copy in the folder for readers stands in for one that was
    removed.
    """
    path = _kept(plan, ledger)
    if _is_marked(plan, ledger):
        _finish(plan, path)
    published = _loaded(plan, path)
    if published is not None:
        _book(plan, ledger)
        _mark(plan, ledger)
        return published
    if not _is_marked(plan, ledger):
        return None
    raise LedgerError(
        f"This publication is in the ledger as published, and its file {path.name} was removed from "
        f"{path.parent.name}. Restore it, or {plan.output / DOCUMENT}, from a copy: drawing it again would tell more "
        "than was booked."
    )


def _loaded(plan: Publication, path: Path) -> Published | None:
    if not path.exists():
        if not _has(plan.folder / plan.output, plan.digest):
            return None
        copy = Published.load(plan.folder / plan.output / DOCUMENT)
        documents.write_text(path, copy.to_json() + "\n")
    published = Published.load(path)
    if published.digest != plan.digest:
        raise FormatError(f"{path.name} beside the ledger is another publication: restore it from a copy.")
    return published


def _finish(plan: Publication, path: Path) -> None:
    """Name what was finished when a kill came: with the closing line, a temporary file holds the only draw."""
    for partial in documents.unfinished(path):
        if not path.exists() and _is_document(partial, plan.digest):
            partial.replace(path)
            documents.sync(path.parent)
        partial.unlink(missing_ok=True)


def _kept(plan: Publication, ledger: Ledger) -> Path:
    folder = ledger.results
    if folder is None:
        raise ParameterError("A publication needs a ledger in a file.")
    return folder / result_name(plan)


def _drawn(plan: Publication, source: Any, rng: Randomness, progress: Any) -> Published:
    """Read the table, then book, draw and save, alone with the folder of results.

    A ledger that is not there is started when the table has been read: what is refused before that leaves no file.
    """
    bundle = plan.bundle
    _refuse_early(plan, plan.open_ledger(start=False))
    if not isinstance(rng, Entropy):  # a bad seed must be found before anything is spent
        Entropy.resolve(rng, "publication", plan.digest)
    if not any(part.person for part in bundle.parts):
        warn_of_people(_source(plan, source, None))
    tally = bundle.fold(_source(plan, source, progress), rng)
    bundle.check(tally)
    ledger: Any = plan.open_ledger()
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
        with documents.replacing(path) as partial:
            documents.create_secret(partial, published.to_json() + "\n")
            documents.sync(partial)
            _mark(plan, ledger)
        if ledger.path is not None:  # it was shown to nobody; now whoever may read the ledger may read it
            path.chmod(ledger.path.stat().st_mode & 0o777)
    return published


def _book(plan: Publication, ledger: Ledger) -> None:
    """Book the lines that are not booked yet: all, or after a kill none, or the last ones of a write cut short."""
    booked = sum(not _is_closing(entry) for entry in _own_entries(plan, ledger))
    lines = _lines(plan)[booked:]
    if lines:
        ledger.keeping(result_name(plan)).book(lines)


def _lines(plan: Publication) -> list[Line]:
    """A line for each statistic, in an order that follows from the digest."""
    lines = sorted(plan.bundle.lines(), key=lambda line: line.label)
    return [line._replace(label=f"{plan.title}: {line.label}"[:200]) for line in lines]


def _is_marked(plan: Publication, ledger: Ledger) -> bool:
    return any(map(_is_closing, _own_entries(plan, ledger)))


def _is_closing(entry: Entry) -> bool:
    return entry.label.startswith(SAVED) and entry.guarantee.epsilon == 0


def _own_entries(plan: Publication, ledger: Ledger) -> list[Entry]:
    return [entry for entry in ledger.entries if entry.result == result_name(plan)]


def _mark(plan: Publication, ledger: Ledger) -> None:
    """Write into the ledger that the publication is finished, which costs nothing, before anybody can see it."""
    if not _is_marked(plan, ledger):
        nothing = Guarantee(epsilon=0.0, neighbours=ledger.neighbours)
        ledger.keeping(result_name(plan)).book([Line(nothing, f"{SAVED}{plan.title}")])


def _refuse_early(plan: Publication, ledger: Ledger | None) -> None:
    """What the ledger would refuse is refused before a large file is read; the ledger itself has the last word."""
    if ledger is None:
        ledger = plan.planned_ledger()
    if not _own_entries(plan, ledger):
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
