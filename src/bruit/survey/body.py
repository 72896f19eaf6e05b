"""The body of a report: what a page sends, byte by byte, and the only thing that is read.

A body is fixed texts with slots between them. The page fills the slots, so that it writes no JSON of its own, and who
reads a body compares it with the same fixed texts, so that nothing hostile is ever parsed. All bodies of a survey have
the same length: zeros in ``pad`` make up for answers with fewer digits, and for a link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from bruit.errors import DataError
from bruit.laws import Form

#: The most characters of a single-use link, and what they are.
LINK_LENGTH = 32
LINK = f"[A-Za-z0-9_-]{{0,{LINK_LENGTH}}}"
#: Hexadecimal digits of the random number of a report.
ID_LENGTH = 32

Role: TypeAlias = Literal["epoch", "id", "link", "pad", "public", "report", "round"]


class Report(NamedTuple):
    """What one person sent.

    Attributes
    ----------
    id
        16 random bytes that the page drew, so that a report that is sent again is known.
    link
        The token of a single-use link, or nothing.
    public
        The places of the answers that are sent in clear, in the order of the survey's questions.
    round
        Which round it is for, from 1.
    columns
        The randomised report: a text for each column of the plan.
    """

    id: bytes
    link: str
    public: tuple[int, ...]
    round: int
    columns: dict[str, str]


class Slot(NamedTuple):
    """A place in a body: whose it is, what may stand there, and how many characters it has at most."""

    role: Role
    name: str
    pattern: str
    most: int


@dataclass(frozen=True)
class Body:
    """The form of every report of a survey.

    Parameters
    ----------
    survey
        The identity of the survey, 64 hexadecimal digits.
    columns
        The columns of a randomised report and the form of each.
    public
        How many answers each question has that is sent in clear.
    rounds
        How many rounds there are.
    """

    survey: str
    columns: Mapping[str, Form]
    public: Mapping[str, int]
    rounds: int = 1

    @cached_property
    def parts(self) -> tuple[str | Slot, ...]:
        """Fixed texts and slots, in turn; together they are JSON with sorted keys, no spaces and ASCII only."""
        slots = {
            "id": Slot("id", "", f"[0-9a-f]{{{ID_LENGTH}}}", ID_LENGTH),
            "link": Slot("link", "", LINK, LINK_LENGTH),
            "pad": Slot("pad", "", "0*", 0),
            "public": {name: _number("public", name, size - 1) for name, size in self.public.items()},
            "report": {name: _message(name, form) for name, form in self.columns.items()},
            "round": _number("round", "", self.rounds),
        }
        return tuple(_joined([*_written({**slots, "survey": self.survey})]))

    @cached_property
    def length(self) -> int:
        """How many bytes every body has."""
        return sum(len(part) if isinstance(part, str) else part.most for part in self.parts)

    def fill(self, report: Report) -> bytes:
        """The body of a report, as the page writes it."""
        places = dict(zip(self.public, report.public, strict=True))
        texts = [part if isinstance(part, str) else _content(part, report, places) for part in self.parts]
        pad = "0" * (self.length - sum(map(len, texts)))
        pieces = [
            pad if isinstance(part, Slot) and part.role == "pad" else text
            for part, text in zip(self.parts, texts, strict=True)
        ]
        return "".join(pieces).encode("ascii")

    def parse(self, body: Any) -> Report:
        """The report that a body is; an error for all else. Whether its messages can be, the plan must say."""
        if not isinstance(body, bytes) or len(body) != self.length:
            raise DataError(f"A report of this survey must have exactly {self.length:,} bytes.")
        match = self._pattern.fullmatch(body)
        if match is None:
            raise DataError("A report of this survey must be as its page writes it.")
        texts = {(slot.role, slot.name): text.decode() for slot, text in zip(self._slots, match.groups(), strict=True)}
        places = tuple(int(texts["public", name]) for name in self.public)
        number = int(texts["round", ""])
        known = all(place < size for place, size in zip(places, self.public.values(), strict=True))
        if not known or not 1 <= number <= self.rounds:
            raise DataError("A report of this survey must have places and a round that the survey has.")
        columns = {name: texts["report", name] for name in self.columns}
        return Report(bytes.fromhex(texts["id", ""]), texts["link", ""], places, number, columns)

    @cached_property
    def _slots(self) -> list[Slot]:
        return [part for part in self.parts if isinstance(part, Slot)]

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        texts = [re.escape(part) if isinstance(part, str) else f"({part.pattern})" for part in self.parts]
        return re.compile("".join(texts).encode("ascii"))


def _number(role: Role, name: str, largest: int) -> Slot:
    """Decimal digits without leading zeros."""
    most = len(str(largest))
    return Slot(role, name, f"0|[1-9][0-9]{{0,{most - 1}}}", most)


def _message(name: str, form: Form) -> Slot:
    """A message of a column: digits, or two hexadecimal digits for each byte."""
    if form.is_bytes:
        return Slot("report", name, f"[0-9a-f]{{{2 * form.size}}}", 2 * form.size)
    return _number("report", name, (1 << 8 * form.size) - 1)


def _written(value: Any) -> list[str | Slot]:
    """A value as JSON; every slot and every other text stands in quotes."""
    if isinstance(value, Slot):
        return ['"', value, '"']
    if isinstance(value, str):
        return [json.dumps(value)]
    parts: list[str | Slot] = ["{"]
    for place, name in enumerate(sorted(value)):
        parts += ["," * (place > 0) + json.dumps(name) + ":", *_written(value[name])]
    return [*parts, "}"]


def _joined(parts: list[str | Slot]) -> list[str | Slot]:
    """The same with fixed texts that follow each other as one."""
    joined: list[str | Slot] = [""]
    for part in parts:
        last = joined[-1]
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        else:
            joined.append(part)
    return joined


def _content(slot: Slot, report: Report, places: Mapping[str, int]) -> str:
    texts = {"id": report.id.hex(), "link": report.link, "pad": "", "round": str(report.round)}
    if slot.role == "public":
        return str(places[slot.name])
    return report.columns[slot.name] if slot.role == "report" else texts[slot.role]


# Rounds.


class Memo(NamedTuple):
    """What a device keeps of a person for one epoch.

    Attributes
    ----------
    columns
        The memo: a text for each column of a report.
    public
        The places of the answers that are sent in clear, which are those of the first round of the epoch.
    """

    columns: dict[str, str]
    public: tuple[int, ...]


class DeviceClaim(NamedTuple):
    """What a device sends before it draws: that it is the one device of this link in this epoch.

    Attributes
    ----------
    id
        16 random bytes, by which the device is known if it sends the same again.
    link
        The person's own link.
    epoch
        The epoch, from 1.
    round
        The round, counted through all epochs, that a report of the memo is to be drawn for; 0 before a memo is drawn.
    """

    id: bytes
    link: str
    epoch: int
    round: int = 0


@dataclass(frozen=True)
class ClaimBody:
    """The form of every claim of a survey.

    Parameters
    ----------
    survey
        The identity of the survey.
    epochs, rounds
        How many epochs there are, and how many rounds each has.
    length
        How many bytes it has: as many as a report.
    """

    survey: str
    epochs: int
    rounds: int
    length: int

    @cached_property
    def parts(self) -> tuple[str | Slot, ...]:
        """Fixed texts and slots, as those of a report."""
        slots = {
            "epoch": _number("epoch", "", self.epochs),
            "id": Slot("id", "", f"[0-9a-f]{{{ID_LENGTH}}}", ID_LENGTH),
            "link": Slot("link", "", LINK, LINK_LENGTH),
            "pad": Slot("pad", "", "0*", 0),
            "round": _number("round", "", self.epochs * self.rounds),
        }
        return tuple(_joined(_written({**slots, "survey": self.survey})))

    def fill(self, claim: DeviceClaim) -> bytes:
        """The body of a claim, as the page writes it."""
        numbers = {"epoch": str(claim.epoch), "round": str(claim.round)}
        texts = {**numbers, "id": claim.id.hex(), "link": claim.link, "pad": ""}
        pieces = [part if isinstance(part, str) else texts[part.role] for part in self.parts]
        place = [isinstance(part, Slot) and part.role == "pad" for part in self.parts].index(True)
        pieces[place] = "0" * (self.length - sum(map(len, pieces)))
        return "".join(pieces).encode("ascii")

    def parse(self, body: Any) -> DeviceClaim:
        """The claim that a body is; an error for all else."""
        match = self._pattern.fullmatch(body) if isinstance(body, bytes) and len(body) == self.length else None
        epoch, number = (0, 0) if match is None else (int(match["epoch"]), int(match["round"]))
        if match is None or not 1 <= epoch <= self.epochs or number not in (0, *self.rounds_of(epoch)):
            raise DataError("A claim of this survey must be as its page writes it.")
        return DeviceClaim(bytes.fromhex(match["id"].decode()), match["link"].decode(), epoch, number)

    def rounds_of(self, epoch: int) -> range:
        """The rounds of an epoch, counted through all epochs."""
        return range((epoch - 1) * self.rounds + 1, epoch * self.rounds + 1)

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        texts = [
            re.escape(part) if isinstance(part, str) else f"(?P<{part.role}>{part.pattern})" for part in self.parts
        ]
        return re.compile("".join(texts).encode("ascii"))
