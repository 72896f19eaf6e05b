"""Publish once: one draw for one booking, kept in a file beside the ledger, whatever is killed when.

A result is known by the name of its file, which its lines in the ledger have. It is saved before anything of it is
shown. What tells that a draw was not shown yet is a hidden file, the *reservation*, which stands beside the final name
from before the booking until the draw takes that name. A kill can fall at any instant:

- before the booking: nothing is spent, and the next run begins again;
- after the booking: the reservation is there. If the draw is in it, whole, it gets its name; else the next run draws
  again under the same booking, for nothing of the first draw was shown;
- after the rename: the next run shows what is kept.

Without reservation and file, a booking tells of a result that somebody removed: it may have been shown, and is never
drawn again under this booking. A file without its lines is of a ledger that was put back to an older copy; they are
booked again. See ``kept.proof.md``.

Rejected: a line of the ledger as the mark of what was shown. It doubles the lines of every ledger, and the rename is
a mark already.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bruit import documents, engines
from bruit.engines.csv_options import TextOptions
from bruit.entropy import Entropy, Randomness
from bruit.errors import BruitError, FormatError, LedgerError, translated
from bruit.privacy import Entry, Ledger
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.releases.limits import LimitsChoice, LimitsGuide
from bruit.releases.person import warn_of_people
from bruit.releases.release import Release
from bruit.releases.result import Result, Results
from bruit.releases.sources import SourceMark, SourceRecords, place_of
from bruit.typing import SourceLike

__all__ = ["Kept", "KeptRelease", "Once", "publish_once", "read_result"]

#: How many characters of a title stand in the name of a file.
_TITLE = 40
#: How many digits of a digest know a release and its table.
_DIGITS = 16


class Once:
    """One draw for one booking, in one file beside the ledger, whatever is killed when.

    Parameters
    ----------
    ledger
        A ledger in a file.
    name
        The name of the file of the result.
    lines
        What is booked, the same list in every run.
    read
        Reads the content of the file; what is not this result raises `FormatError`.
    closing
        The label of one more line, of ε = 0, that is booked when the draw is on the disk; nothing for no such line.
    copy
        Another file that has the same content once the result was shown.
    """

    def __init__(
        self,
        ledger: Ledger,
        name: str,
        lines: Sequence[Line],
        read: Callable[[bytes], object],
        *,
        closing: str = "",
        copy: Path | None = None,
    ) -> None:
        if ledger.results is None:
            raise LedgerError("What is published once needs a ledger in a file: Ledger.open(path, epsilon=...).")
        self.ledger = ledger
        self.name = name
        self.path = ledger.results / name
        self._lines = list(lines)
        self._read = read
        self._closing = closing
        self._copy = copy

    @property
    def entries(self) -> list[Entry]:
        """The lines of this result in the ledger, without the closing one."""
        return [entry for entry in self._named() if not self._is_closing(entry)]

    @property
    def is_finished(self) -> bool:
        """Whether a run would show what is kept, or finish what is drawn, and spend and draw nothing."""
        return self.path.exists() or self._is_copied() or (bool(self.entries) and self._drawn() is not None)

    @property
    def is_unfinished(self) -> bool:
        """Whether it is booked, and nothing was shown: a run would draw, and spend nothing more."""
        return bool(self.entries) and not self.path.exists() and bool(documents.unfinished(self.path))

    @property
    def missing_lines(self) -> list[Line]:
        """The lines that are not booked yet: all, or none, or the last ones of a write that was cut short."""
        return self._lines[len(self.entries) :]

    def saved(self) -> Path | None:
        """The file of an earlier run, finished and booked where that is wanting; None if there was no such run."""
        if not (self.entries or self.path.exists() or self._is_copied()):
            return None
        with self.ledger.alone_with_results():
            return self.saved_alone()

    def run(self, draw: Callable[[], str]) -> bool:
        """Book, draw and save, unless an earlier run did; whether this one has drawn.

        Whatever can fail must be checked before. `draw` gives the content of the file.
        """
        with self.ledger.alone_with_results():
            return self.run_alone(draw)

    def saved_alone(self) -> Path | None:
        """As `saved`; the caller holds the lock of the folder of results."""
        if self.path.exists():
            with translated(FormatError, lambda error: FormatError(f"{self.name}: {error} Restore it from a copy.")):
                self._read(self.path.read_bytes())
        elif self._is_copied() and self._copy is not None:
            self._restore(self._copy)
        elif not self.entries:
            return None
        elif (drawn := self._drawn()) is not None:
            self._name(drawn)
        elif documents.unfinished(self.path):
            return None
        else:
            raise LedgerError(
                f"{self.name} is in the ledger as published, and the file was removed from {self.path.parent.name}. "
                "Restore it from a copy: drawing it again would tell more than was booked."
            )
        self._book()
        self._close()
        documents.remove_unfinished(self.path)
        return self.path

    def run_alone(self, draw: Callable[[], str]) -> bool:
        """As `run`; the caller holds the lock of the folder of results."""
        try:
            if self.saved_alone() is not None:
                return False
            reservation = self._reserve()
            self._book()
            reservation.write_text(draw(), encoding="utf-8", newline="\n")
            documents.sync(reservation)
            self._close()
            self._name(reservation)
        except BaseException:
            self._clear()
            raise
        return True

    def _reserve(self) -> Path:
        """The hidden file, for its owner alone, that is there as long as nothing was shown; older ones go."""
        older = documents.unfinished(self.path)
        reservation = documents.partial_name(self.path)
        documents.create_secret(reservation, "")
        documents.sync(reservation.parent)
        for partial in older:
            partial.unlink(missing_ok=True)
        return reservation

    def _name(self, drawn: Path) -> None:
        """Give the result its name, by which others find it; those who may read the ledger may read it."""
        drawn.replace(self.path)
        documents.sync(self.path.parent)
        if self.ledger.path is not None:
            self.path.chmod(self.ledger.path.stat().st_mode & 0o777)

    def _restore(self, copy: Path) -> None:
        """Give the file back from its copy. A hidden name of its own: a kill here must leave no reservation."""
        hidden = self.path.with_name(f".{self.name}.restored")
        hidden.write_bytes(copy.read_bytes())
        documents.sync(hidden)
        hidden.replace(self.path)
        documents.sync(self.path.parent)

    def _clear(self) -> None:
        """After a refusal: what was reserved and is not booked goes, and so does an empty folder."""
        with suppress(OSError, BruitError):
            if not self.entries:
                documents.remove_unfinished(self.path)
            self.path.parent.rmdir()  # only an empty one

    def _drawn(self) -> Path | None:
        """The hidden file that has a whole draw."""
        return next((partial for partial in documents.unfinished(self.path) if self._is_whole(partial)), None)

    def _is_copied(self) -> bool:
        """Whether the copy stands in for the file. Of a copy without lines nobody knows whose draw it is."""
        return self._copy is not None and bool(self.entries) and self._is_whole(self._copy)

    def _is_whole(self, path: Path) -> bool:
        try:
            self._read(path.read_bytes())
        except (OSError, FormatError):
            return False
        return True

    def _named(self) -> list[Entry]:
        return [entry for entry in self.ledger.entries if entry.result == self.name]

    def _is_closing(self, entry: Entry) -> bool:
        return bool(self._closing) and entry.guarantee.epsilon == 0

    def _book(self) -> None:
        lines = self.missing_lines
        if lines:
            self.ledger.keeping(self.name).book(lines)

    def _close(self) -> None:
        """Book the closing line, which costs nothing, before anybody can see the result."""
        if self._closing and not any(map(self._is_closing, self._named())):
            nothing = Guarantee(epsilon=0.0, neighbours=self.ledger.neighbours)
            self.ledger.keeping(self.name).book([Line(nothing, self._closing)])


@dataclass(frozen=True)
class Kept:
    """A result that is kept beside its ledger. It may be shown as often as you like.

    Parameters
    ----------
    result
        The results by name, or the `LimitsChoice` of a guide.
    path
        The file that has it.
    entry
        Its number in the ledger, by which ``bruit result`` shows it.
    date
        When it was booked, in UTC. Rows that came since are not in it.
    is_new
        Whether it was drawn by this call, and not before.
    """

    result: Any
    path: Path
    entry: int
    date: str
    is_new: bool


class KeptRelease:
    """A release of one table that is published once: the same release of the same table shows what is kept.

    Parameters
    ----------
    release
        A `Release`, or another value that folds and publishes, such as a `LimitsGuide`.
    ledger
        The ledger in a file.
    source
        The name of the table: a path, which is known by its place as seen from the ledger, or any other text.
    label
        What the ledger writes down; public.
    """

    def __init__(self, release: Any, ledger: Ledger, source: str, label: str | None = None) -> None:
        self.release = release
        self.ledger = ledger
        self.label = label
        self.identity = _identity(release, source, ledger)
        self._source = source
        self._mark: SourceMark | None = None
        self._file = re.compile(rf".*-{self.identity}(?:-([0-9]{{1,6}}))?\.json")

    def find(self) -> Kept | None:
        """What an earlier run published; None if a run would draw."""
        once = self._target(again=False)
        return self._kept(once) if once.is_finished and once.saved() else None

    @property
    def earlier(self) -> Entry | None:
        """The first line of what `find` gives, if the ledger has it; no file is touched."""
        once = self._target(again=False)
        return once.entries[0] if once.is_finished and once.entries else None

    @property
    def is_unfinished(self) -> bool:
        """Whether it is booked, and was stopped before its result was saved."""
        return self._target(again=False).is_unfinished

    def check(self, *, again: bool = False) -> None:
        """Refuse what the ledger would refuse now, before a large table is read; nothing is booked."""
        folder = self.ledger.results
        if folder is not None and folder.exists() and not folder.is_dir():
            raise FormatError(f"{folder.name} must be the folder of results, and is none: move it away.")
        lines = self._target(again=again).missing_lines
        if lines:
            self.ledger.check(lines)

    def watch(self, text: TextOptions | None = None) -> None:
        """Note of which bytes the table is, before it is read, so that the result can be refined later.

        Only a table in one file can be. `text` is how its text is read.
        """
        if self.ledger.results is not None and isinstance(self.release, Release) and self.release.has_sums:
            self._mark = SourceRecords.of(self.ledger).mark(self._source, text or TextOptions())

    def publish(self, raw: Any, rng: Randomness = None, *, again: bool = False, level: float = 0.95) -> Kept:
        """Book and draw, unless that was done before; the result is saved before this returns.

        Parameters
        ----------
        raw
            What the release has folded.
        rng
            As in `Release.publish`.
        again
            Whether to pay for one more draw, beside those that are kept. One that was stopped is drawn first.
        level
            The level whose intervals are kept besides the usual ones.
        """
        self.release.check(raw)
        if not isinstance(rng, Entropy):  # a bad seed is refused before anything is spent
            Entropy.resolve(rng, self.release.verb, self.release.digest)

        drawn: list[Any] = []

        def draw() -> str:
            if self._mark is not None:
                SourceRecords.of(self.ledger).record(once.name, self._mark if rng is None else None)
            drawn.append(self.release.publish(raw, rng=rng, label=self.label))
            return document(drawn[0], level) + "\n"

        with self.ledger.alone_with_results():
            once = self._target(again=again)
            self._tidy()
            is_new = once.run_alone(draw)
            return self._kept(once, drawn[0] if is_new else None)

    def _kept(self, once: Once, drawn: Any = None) -> Kept:
        first = once.entries[0]
        result = read_result(once.path.read_bytes()) if drawn is None else drawn
        return Kept(result, once.path, first.index, first.time or "", is_new=drawn is not None)

    def _target(self, *, again: bool) -> Once:
        """The draw that a run is about: one that was stopped, the newest that is kept, or else the next."""
        names = self._names()
        last = max(names, default=0)
        for number in sorted(names, reverse=True):
            once = self._once(names[number])
            if once.is_unfinished or (once.is_finished and not again):
                return once
            if again:
                break
        return self._once(self._next_name(last + 1))

    def _names(self) -> dict[int, str]:
        """The files of this release by their number, of the ledger and of its folder."""
        folder = self.ledger.results
        files = [file.name for file in folder.iterdir()] if folder is not None and folder.is_dir() else []
        matches = [
            self._file.fullmatch(name) for name in (*files, *(item.result or "" for item in self.ledger.entries))
        ]
        return {int(match[1] or 1): match[0] for match in matches if match}

    def _tidy(self) -> None:
        """Remove what kills before a booking have reserved; the caller holds the lock of the folder."""
        known = {entry.result for entry in self.ledger.entries}
        for partial in Path(self.ledger.results or "").glob(f".*-{self.identity}*.json.*.partial"):
            if partial.name[1:].rpartition(".partial")[0].rpartition(".")[0] not in known:
                partial.unlink(missing_ok=True)

    def _next_name(self, number: int) -> str:
        title = self.label or ", ".join(line.label for line in self.release.lines())
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower())[:_TITLE].strip("-") or "result"
        return f"{slug}-{self.identity}{'' if number == 1 else f'-{number}'}.json"

    def _once(self, name: str) -> Once:
        return Once(self.ledger, name, self.release.lines(self.label), read_result)


def publish_once(
    release: Release | LimitsGuide,
    source: SourceLike | engines.Source,
    ledger: Ledger,
    rng: Randomness = None,
    *,
    label: str | None = None,
    again: bool = False,
) -> Kept:
    """Publish a release of a table and keep the result beside the ledger; if that was done before, show it.

    A call that was killed after its booking is made good by the same call: it draws under the booking it finds.

    Parameters
    ----------
    release
        What is published.
    source
        The table, as in `Release.fold`. A path is known by its place as seen from the ledger; a table in memory has no
        name of its own, and is told apart by `label`.
    ledger
        A ledger in a file: ``Ledger.open(path, epsilon=…)``.
    rng
        As in `Release.publish`.
    label
        What the ledger writes down; public.
    again
        Whether to pay for new noise though there is a result, as for new rows.

    Examples
    --------
    >>> import tempfile
    >>> from bruit.releases import Count
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger.open(f"{folder}/people.ledger", epsilon=1.0)
    ...     first, second = (publish_once(Release(Count(epsilon=0.25)), [3, 1, 4], ledger) for _ in range(2))
    >>> first.is_new, second.is_new, first.result["count"].to_dict() == second.result["count"].to_dict()
    (True, False, True)
    """
    table = source.data if isinstance(source, engines.Source) else source
    name = os.fspath(table) if isinstance(table, str | os.PathLike) else label or ""
    once = KeptRelease(release, ledger, str(name), label)
    kept = None if again else once.find()
    if kept is not None:
        return kept
    once.check(again=again)
    if isinstance(table, str | os.PathLike):
        once.watch(source.text if isinstance(source, engines.Source) else None)
    if release.person is None:
        warn_of_people(source)
    return once.publish(release.fold(source, rng), rng, again=again)


def document(result: Any, level: float = 0.95) -> str:
    """The text that keeps a result: of one statistic, of several, or of a guide."""
    if not isinstance(result, Results):
        return str(result.to_json())
    return (next(iter(result.values())) if len(result) == 1 else result).to_json(level)


def read_result(text: bytes) -> Results | LimitsChoice:
    """The inverse of `document`."""
    if Results.FORMAT.encode() in text[:100]:
        return Results.from_json(text)
    if b'"guide": {' in text[:1000]:
        return LimitsChoice.from_json(text)
    result = Result.from_json(text)
    return Results({result.name: result})


def _identity(release: Any, source: str, ledger: Ledger) -> str:
    """16 digits of what is published of which table; in the name of its file they say that it was paid for.

    A file is known by its place as seen from the ledger, so that both may move together.
    """
    return documents.digest({"release": release.digest, "source": place_of(source, ledger.path)})[:_DIGITS]
