"""An opened survey while it is served: its page, how a body is read, and what reports add to its counters."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import documents
from bruit.collector import report_counters
from bruit.collector.store import REPORTS, Increments, Opened, StoredReport
from bruit.engines import report_parsing
from bruit.engines.report_parsing import Parsed
from bruit.errors import BruitError, DataError, FormatError, translated
from bruit.survey import Report, Survey
from bruit.survey.reading import parse

__all__ = ["Arrival", "Columns", "OpenSurvey", "document"]

#: By how much a device's clock may be ahead.
_CLOCKS = timedelta(hours=1)


class Arrival(NamedTuple):
    """A report that has the form of its survey, and what may be remembered of it."""

    report: Report
    entry: StoredReport


class Columns(NamedTuple):
    """Reports of several people in the form of their plan, and which of them a person can have sent."""

    reports: dict[str, NDArray[Any]]
    valid: NDArray[np.bool_]


class OpenSurvey:
    """An opened survey.

    Parameters
    ----------
    opened
        The survey as the store has it.
    insecure_demo
        Whether its page works over plain http from another machine too.

    Raises
    ------
    FormatError
        The document is no survey, or another one, or one that needs personal links and is opened without.
    """

    def __init__(self, opened: Opened, *, insecure_demo: bool = False) -> None:
        self.opened = opened
        with translated(BruitError, lambda error: FormatError(f"{opened.name} in the store is no survey. {error}")):
            survey = _read(opened.document)
        self.survey = replace(survey, opening=f"{opened.name} {opened.opening}") if opened.opening else survey
        self._insecure_demo = insecure_demo
        if self.survey.digest != opened.digest:
            raise FormatError(f"The survey {opened.name!r} in the store is not the one that was opened.")
        if self.survey.needs_links and not opened.links:
            raise FormatError(
                f"The survey {opened.name!r} is answered by personal links only, and is not opened with --links. If a "
                f"store has it: bruit survey delete {opened.name} --yes, then open it with --links."
            )

    @property
    def name(self) -> str:
        """Its name in addresses."""
        return self.opened.name

    @cached_property
    def page(self) -> bytes:
        """What a respondent gets."""
        if self.survey.channel == "codes":
            return self.survey.page(code=True)
        address = f"{self.name}/report"
        return self.survey.page(address=address, links=self.opened.links, insecure_demo=self._insecure_demo)

    def is_before(self, now: datetime | None = None) -> bool:
        """Whether it is not open yet."""
        return self.survey.opens is not None and (now or datetime.now(UTC)) < self.survey.opens

    def is_over(self, now: datetime | None = None) -> bool:
        """Whether its closing time has passed."""
        return self.survey.closes is not None and (now or datetime.now(UTC)) >= self.survey.closes

    # Reports.

    def read(self, body: bytes) -> Arrival:
        """A body that came from outside; an error unless the page can have written it, messages apart."""
        if self.survey.channel == "codes":
            raise DataError("This survey is answered by codes, which are handed in.")
        report = self.survey.body.parse(body)
        if self.survey.has_rounds:
            self._check_round(report.round)
            link = round_hash(report.link, report.round)
        else:
            link = link_hash(self.survey.link_of(report)) if self.opened.links else b""
        return Arrival(report, StoredReport(_hash(self._single(report)), _hash(body), link))

    def _single(self, report: Report) -> bytes:
        """What no two reports may have in common: the id; of a hint the id drawn with it, which is what is kept."""
        if self.survey.open_question is None:
            return report.id
        hint = self.columns([report]).reports[self.survey.open_question.name]
        return b"hint " + hint["id"].tobytes()

    def read_claim(self, body: bytes) -> StoredReport:
        """A body by which a device claims an epoch for its link; an error unless the page can have written it."""
        form = self.survey.claim_body
        claim = form.parse(body)
        rounds = form.rounds_of(claim.epoch)
        self._check_round(claim.round or rounds[0])
        # Before a memo is drawn no report of the epoch may have come, and before one is drawn from none of its round.
        unspent = tuple(round_hash(claim.link, number) for number in ([claim.round] if claim.round else rounds))
        same = _hash(form.fill(claim._replace(round=0)))
        return StoredReport(_hash(claim.id), same, epoch_hash(claim.link, claim.epoch), unspent)

    def _check_round(self, number: int) -> None:
        """Reports of past rounds may come late, and of the next one no earlier than clocks differ."""
        if number > self.survey.round_at(datetime.now(UTC) + _CLOCKS):
            raise DataError("A report must be of a round that has begun.")

    def columns(self, reports: Sequence[Report]) -> Columns:
        """The messages of several people, by column, and who of them can have sent theirs."""
        parsed: dict[str, Parsed] = {
            name: report_parsing.parse(form, [report.columns[name] for report in reports])
            for name, form in self.survey.plan.form.items()
        }
        arrays = {name: column.reports for name, column in parsed.items()}
        valid = np.asarray(self.survey.plan.valid(arrays))
        for column in parsed.values():
            valid = valid if column.readable is None else valid & column.readable
        return Columns(arrays, valid)

    def increments(self, reports: Sequence[Report], columns: Columns, places: Sequence[int]) -> Increments:
        """What the reports at these places add to the counters, by stratum, round and cell."""
        groups: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for place in places:
            groups[self.stratum(reports[place].public), reports[place].round].append(place)
        return dict(itertools.chain.from_iterable(self._group(key, rows, columns) for key, rows in groups.items()))

    def _group(
        self, key: tuple[int, int], rows: list[int], columns: Columns
    ) -> Iterator[tuple[tuple[int, int, int], int]]:
        tally = self.survey.plan.count({name: column[rows] for name, column in columns.reports.items()})
        yield (*key, REPORTS), tally.n
        for cell in np.flatnonzero(tally.counts).tolist():
            yield (*key, cell), int(tally.counts[cell])
        if self.survey.open_question is not None:
            yield from report_counters.increments(columns.reports[self.survey.open_question.name][rows], key[1])

    # Strata: what people answered to the questions that are sent in clear.

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(labels) for labels in self.survey.public.values())

    @property
    def strata(self) -> int:
        """How many combinations of public answers there are."""
        return math.prod(self._sizes)

    def stratum(self, public: Sequence[int]) -> int:
        """The number of a combination of public answers, given by their places."""
        number = 0
        for place, size in zip(public, self._sizes, strict=True):
            number = number * size + place
        return number

    def public(self, stratum: int) -> tuple[int, ...]:
        """The inverse of `stratum`."""
        places = []
        for size in reversed(self._sizes):
            stratum, place = divmod(stratum, size)
            places.append(place)
        return tuple(reversed(places))


#: The name of the survey file among the texts of an opened survey.
_SURVEY = "survey.toml"


def document(path: Path) -> str:
    """A survey file, with the texts of other languages that stand beside it, as one text for the store."""
    own = Survey.load(path).own_wording
    files = {_SURVEY: path, **{f"{language}.toml": path.parent / f"{language}.toml" for language in own}}
    return json.dumps({name: file.read_text(encoding="utf-8") for name, file in files.items()}, ensure_ascii=False)


def _read(text: str) -> Survey:
    """The inverse of `document`, in memory: the maker of the store chose the names in it, so none is a path."""
    files = documents.parsed(text, "survey")
    if not isinstance(files, dict) or not all(isinstance(content, str) for content in files.values()):
        raise FormatError("It must be texts by the names of their files.")
    with translated(UnicodeEncodeError, lambda _: FormatError("Its texts must be whole characters.")):
        contents = {name: content.encode() for name, content in files.items()}
    if _SURVEY not in contents:
        raise FormatError(f"It must have a text {_SURVEY}.")
    survey = parse(contents[_SURVEY], contents.get)
    if set(contents) != {_SURVEY, *(f"{language}.toml" for language in survey.own_wording)}:
        raise FormatError("It must have the texts of its languages, and no others.")
    return survey


def link_hash(token: str) -> bytes:
    """What is kept of a single-use link, or of what the asker shows."""
    return _hash(token.encode())


def round_hash(token: str, number: int) -> bytes:
    """What is kept of a personal link for one round; nothing shows that two of these are of one link."""
    return _hash(f"{token} round {number}".encode())


def epoch_hash(token: str, number: int) -> bytes:
    """What is kept of a personal link for the claim of one epoch."""
    return _hash(f"{token} epoch {number}".encode())


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
