"""Codes that people handed in, counted in a store as reports are, and each of them once.

The store keeps the hash of a code's id and of the whole code until the survey is closed, then neither. These hashes
are no secret: an id is short, so that a reader of the store can try all codes and read each single report, as a
reader of the file can. Nothing is kept of a submitter: of the codes of one submitter the one that the store knows
counts, or the first. So a file that grows can be collected again as long as it keeps its old rows.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bruit.collector.intake import MOST_TOGETHER, ReportGroup
from bruit.collector.open_survey import Arrival, OpenSurvey
from bruit.collector.store import CODE_MARK, Outcome, Store, StoredReport
from bruit.errors import ParameterError
from bruit.survey import CodeState
from bruit.survey.code_files import CodeFinding, CodeRow, find_codes

__all__ = ["Collected", "Place", "collect"]


class Place(NamedTuple):
    """Where a code stands that does not count, and the groups of four that are wrong, where they are known."""

    file: str
    number: int
    groups: tuple[int, ...] = ()


@dataclass
class Collected:
    """What became of the codes of some files.

    Parameters
    ----------
    counted
        New ones.
    before
        Those that were counted when files were collected before.
    twice
        Further copies of a code, by where they stand.
    mistyped
        Those that are no code.
    other_text, other_survey
        How many are of another text of this survey, and of another survey.
    set_aside
        Those whose id another code has: two people by chance, or somebody who changed a code.
    further
        Other codes of submitters of whom one counts.
    nameless
        Those without a submitter, where one is asked for.
    without
        How many rows have no code.
    """

    counted: int = 0
    before: int = 0
    twice: list[Place] = field(default_factory=list)
    mistyped: list[Place] = field(default_factory=list)
    other_text: int = 0
    other_survey: int = 0
    set_aside: list[Place] = field(default_factory=list)
    further: list[Place] = field(default_factory=list)
    nameless: list[Place] = field(default_factory=list)
    without: int = 0

    @property
    def in_store(self) -> int:
        """How many of these codes are counted now."""
        return self.counted + self.before


class _Code(NamedTuple):
    """A good code: where it stands, and what the store remembers of it."""

    row: CodeRow
    arrival: Arrival

    @property
    def place(self) -> Place:
        return Place(self.row.file, self.row.number)


def collect(
    store: Store, open_survey: OpenSurvey, rows: Iterable[CodeRow], *, per_submitter: bool = False
) -> Collected:
    """Count the codes of files.

    Parameters
    ----------
    store
        Where they are counted.
    open_survey
        The survey, as the store has it.
    rows
        The rows of the files.
    per_submitter
        Whether one code counts for each submitter.
    """
    check(open_survey)
    findings, without = find_codes(open_survey.survey.codes, rows)
    collected = Collected(without=without)
    codes = _distinct(_good(open_survey, findings, collected), collected)
    known = store.remembered(open_survey.name, [code.arrival.entry.id for code in codes])
    if per_submitter:
        codes = _of_submitters(codes, known, collected)
    new, again = [], set()
    for code in codes:
        ident, body = code.arrival.entry.id, code.arrival.entry.body
        if ident not in known:
            new.append(code)
        elif known[ident] != body:
            collected.set_aside.append(code.place)
        elif ident in again:  # two submitters handed in one code
            collected.twice.append(code.place)
        else:
            again.add(ident)
            collected.before += 1
    for start in range(0, len(new), MOST_TOGETHER):
        _commit(store, open_survey, new[start : start + MOST_TOGETHER], collected)
    return collected


def check(open_survey: OpenSurvey) -> None:
    """An error if a survey takes no codes."""
    if open_survey.opened.links:
        raise ParameterError(
            f"The survey {open_survey.name!r} was opened with --links: it takes reports with single-use links only, "
            "so that everybody counts once. Codes have none."
        )
    if open_survey.opened.closed:
        raise ParameterError(f"The survey {open_survey.name!r} is closed, and counts no code any more.")
    _ = open_survey.survey.codes


def _good(open_survey: OpenSurvey, findings: Sequence[CodeFinding], collected: Collected) -> list[_Code]:
    """Those that a person can have drawn; the others are only counted."""
    good = [finding for finding in findings if finding.reading.report is not None]
    reports = [finding.reading.report for finding in good if finding.reading.report is not None]
    valid = open_survey.columns(reports).valid.tolist() if reports else []
    codes = []
    for finding, report, is_valid in zip(good, reports, valid, strict=True):
        if is_valid:
            codes.append(_Code(finding.row, Arrival(report, _entry(report.id, finding.code))))
        else:
            collected.mistyped.append(Place(finding.row.file, finding.row.number))
    for row, _, reading in findings:
        if reading.state is CodeState.MISTYPED:
            collected.mistyped.append(Place(row.file, row.number, reading.groups))
        collected.other_text += reading.state is CodeState.OTHER_TEXT
        collected.other_survey += reading.state is CodeState.OTHER_SURVEY
    return codes


def _entry(ident: bytes, code: str) -> StoredReport:
    """What is remembered of a code until the survey is closed; ids of codes are told from others by their beginning."""
    digest = hashlib.sha256(b"code " + ident).digest()
    return StoredReport(CODE_MARK + digest[len(CODE_MARK) :], hashlib.sha256(code.encode()).digest())


def _distinct(codes: Sequence[_Code], collected: Collected) -> list[_Code]:
    """The same without copies that the same submitter, or nobody in particular, handed in."""
    seen = set()
    distinct = []
    for code in codes:
        key = (code.row.submitter, code.arrival.entry)
        if key in seen:
            collected.twice.append(code.place)
        else:
            seen.add(key)
            distinct.append(code)
    return distinct


def _of_submitters(codes: Sequence[_Code], known: dict[bytes, bytes], collected: Collected) -> list[_Code]:
    """One code of each submitter: one that was counted before, or the first."""
    by_submitter: defaultdict[str, list[_Code]] = defaultdict(list)
    for code in codes:
        if code.row.submitter:
            by_submitter[code.row.submitter].append(code)
        else:
            collected.nameless.append(code.place)
    chosen = []
    for own in by_submitter.values():
        before = [code for code in own if known.get(code.arrival.entry.id) == code.arrival.entry.body]
        counts = (before or own)[0]
        chosen.append(counts)
        collected.further += [code.place for code in own if code is not counts]
    return chosen


def _commit(store: Store, open_survey: OpenSurvey, codes: Sequence[_Code], collected: Collected) -> None:
    """Count new codes in one transaction."""
    group = ReportGroup(open_survey, [code.arrival for code in codes])
    (outcomes,) = store.commit([group.batch])
    for code, outcome in zip(codes, group.spread(outcomes), strict=True):
        if outcome is Outcome.COUNTED:
            collected.counted += 1
        elif outcome is Outcome.REPEATED:  # as above, and among new ones
            collected.twice.append(code.place)
        elif outcome is Outcome.OTHER_BYTES:
            collected.set_aside.append(code.place)
        else:
            raise ParameterError(f"The survey {open_survey.name!r} was closed or deleted while codes were collected.")
