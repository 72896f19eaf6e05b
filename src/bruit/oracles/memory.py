"""What a person keeps between rounds: memos and the reports that were sent, in a file that is whole or absent.

A memo is *stored*, never derived again: it is drawn from the value at the first report of an epoch and kept whatever
the value becomes. It is on the disk before the first report leaves, and so is every report, so that a retry sends the
same bytes. A reader of the file learns what all reports of its epochs could tell, and no more. Where a design follows
changes, the file tells the value of nearly every round: it has the values, or the memos of all values beside the
reports that show them. In any case it is the person's own, and is written for its owner alone.

People are kept by the keys that `bruit.engines.identity` gives them, as in releases: one person there has
one memo in an epoch here.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains.domain import HALVES, DictionaryColumn
from bruit.engines import identity
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, DesignError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.privacy.guarantee import Guarantee
from bruit.tables import counted

#: The format of the file.
FORMAT = "bruit.memory/1"
#: Memos or reports of people: an array, or one for each column of a plan.
Rows: TypeAlias = Any
#: What a memory says whose people are known by their keys, and since when.
_KNOWN_BY = "bruit.identity/1"
#: How a number or boolean was spelt in memories that do not say so; as a text it is another person.
_SPELT_BEFORE = re.compile(r"-?(0|[1-9][0-9]{0,15})\.0|True|False")
_NO_PANEL = "panel must be a Repeated oracle, a LongitudinalHashing or DBitFlip design, or a plan with rounds."
_DAMAGED = "This memory was damaged: it has a memo or report that its design does not have."


class Remembering(Protocol):
    """What a memory is for: a `Repeated` oracle, or a plan with rounds."""

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that identify it."""
        ...

    @property
    def form(self) -> Any:
        """The form of a memo or report; of a plan, of each column."""
        ...

    @property
    def guarantees(self) -> Mapping[str, Guarantee]:
        """What is promised; of an epoch too."""
        ...

    def epoch_of(self, round: int, epoch: int | None = None) -> int:
        """The epoch that a round is in."""
        ...

    def encode(self, values: Any) -> Any:
        """Codes of values or records."""
        ...

    def remember(self, codes: Any, words: Words) -> Rows:
        """Memos of codes."""
        ...

    def report(self, memos: Rows, words: Words) -> Rows:
        """Reports of memos."""
        ...

    def valid(self, reports: Rows) -> NDArray[np.bool_]:
        """Which memos or reports there can be."""
        ...


class Asking(Protocol):
    """What asks the same people again: a plan with rounds."""

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that identify it."""
        ...

    @property
    def panel(self) -> Remembering:
        """What its people do."""
        ...


class Memory:
    """The memos of one or several people in a file, for one design.

    Parameters
    ----------
    path
        The file, which `create` has made.
    panel
        The design: a `Repeated` oracle, a `LongitudinalHashing` or `DBitFlip` design, or a plan with rounds. A memory
        of another is refused.

    Guarantee
    ---------
    What the design promises, as long as the file is kept: one memo for each person and epoch. A memory that is lost is
    replaced by `create`, and the new memos of an epoch that had begun cost once more the ε of an epoch.

    Examples
    --------
    >>> import tempfile, bruit
    >>> from bruit.collection import Repeat
    >>> from bruit.oracles import Repeated
    >>> panel = Repeated(bruit.oracle("GRR", epsilon=1.0, labels=["bus", "car", "bike"]), epoch=2.0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> memory = Memory.create(folder.name + "/memory.json", panel)
    >>> report = memory.report("car", epoch=0, round=1)
    >>> bool(memory.report("bike", epoch=0, round=1) == report)
    True
    >>> plan = bruit.Plan({"travels": ["bus", "car", "bike"]}, 1.0, repeat=Repeat(12, epochs=4, epoch_epsilon=2.0))
    >>> memory = Memory.create(folder.name + "/plan.json", plan)
    >>> reports = memory.reports({"travels": ["bus", "car"]}, ["Ada", "Bob"], round=13)
    >>> len(reports["travels"]), memory.rounds(epoch=2, person="Ada")
    (2, 1)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], panel: Remembering | Asking) -> None:
        self.path = Path(path)
        self._file = documents.state_file(path)
        self.panel = _checked(panel)
        self._read()

    @classmethod
    def create(cls, path: str | os.PathLike[str], panel: Remembering | Asking) -> Self:
        """A new memory, empty; a file that is there already is not replaced."""
        _checked(panel)
        file = documents.state_file(path)
        with documents.alone_with(file):
            if os.path.lexists(file):
                raise ParameterError(f"{Path(path).name} exists: open it with Memory(path, panel).")
            _write(file, panel.digest, {})
        return cls(path, panel)

    def report(
        self, value: Any, *, round: int, epoch: int | None = None, person: str = "", rng: Randomness = None
    ) -> Rows:
        """The report of one person in one round: an array of one row. The same round gives the same report again.

        Parameters
        ----------
        value
            The value of the person, or for a plan the record, as ``{"smokes": "yes"}``; looked at in the first report
            of an epoch only, unless the design follows changes. Then its reader learns the values:
            it has them, or for `LongitudinalHashing`, `DBitFlip` and `LongitudinalMean` every memo and every report.
        round
            The number of the round: within the epoch, or for a plan counted from 1 through all epochs.
        epoch
            The number of the epoch, which is public, 0 by default; a plan says it itself.
        person
            Whose memo it is, where a file has those of several people.
        rng
            As for `Oracle.privatize`; a number gives other words for every person, epoch and round.
        """
        values = {name: [item] for name, item in value.items()} if isinstance(value, Mapping) else [value]
        return self.reports(values, [person], round=round, epoch=epoch, rng=rng)

    def reports(
        self, values: Any, people: Sequence[str], *, round: int, epoch: int | None = None, rng: Randomness = None
    ) -> Rows:
        """The reports of several people in one round, in their order; the file is read and written once.

        Parameters
        ----------
        values
            One value per person; for a plan, columns by name.
        people
            Whose memos they are: texts, which must be of different people. Two ways of writing é are one person; see
            `bruit.releases.Person`.
        round, epoch, rng
            As for `report`.
        """
        epoch = self.panel.epoch_of(round, epoch)
        names = _keys(people)
        with documents.alone_with(self._file):
            histories = self._read()
            names = histories.names_of(names)
            if len(set(names)) < len(names):
                raise DataError("Somebody is named twice: a person has one report in a round.")
            kept = [
                histories.setdefault(name, {}).setdefault(str(epoch), {"memo": None, "reports": {}}) for name in names
            ]
            late = [place for place, history in enumerate(kept) if str(round) not in history["reports"]]
            if late:
                memos = self._memos(values, names, kept, late, when=(epoch, round), rng=rng)
                words = self._words(rng, "report", [names[place] for place in late], epoch, round)
                for place, row in zip(late, _texts(self.panel.report(memos, words)), strict=True):
                    kept[place]["reports"][str(round)] = row
                _write(self._file, self.panel.digest, histories)
            return self._rows([history["reports"][str(round)] for history in kept], self.panel.form)

    def _memos(
        self, values: Any, names: list[str], kept: list[dict[str, Any]], late: list[int], *, when: Any, rng: Randomness
    ) -> Rows:
        """The memos that those show who have not reported; what is missing is drawn."""
        stored_form = getattr(self.panel, "memo_form", None)
        if stored_form is None and getattr(self.panel, "follow_changes", False):
            return self._rows(self._followed(values, names, kept, late, when=when, rng=rng), self.panel.form)
        self._draw_memos(values, names, kept, when[0], rng)
        texts = [kept[place]["memo"] for place in late]
        if stored_form is None:
            return self._rows(texts, self.panel.form)
        selecting: Any = self.panel
        return selecting.select(self._rows(texts, stored_form), self.panel.encode(_some(values, late, len(names))))

    def _draw_memos(
        self, values: Any, names: list[str], kept: list[dict[str, Any]], epoch: int, rng: Randomness
    ) -> None:
        """Memos for those who have none, from their values alone."""
        first = [place for place, history in enumerate(kept) if history["memo"] is None]
        if not first:
            return
        codes = self.panel.encode(_some(values, first, len(names)))
        columns = codes.values() if isinstance(codes, Mapping) else [codes]
        if any(len(column) != len(first) for column in columns):
            raise DataError("A memo needs a value: one is missing, and missing values are dropped.")
        words = self._words(rng, "memo", [names[place] for place in first], epoch, 0)
        for place, row in zip(first, _texts(self.panel.remember(codes, words)), strict=True):
            kept[place]["memo"] = row

    def _followed(
        self, values: Any, names: list[str], kept: list[dict[str, Any]], late: list[int], *, when: Any, rng: Randomness
    ) -> list[Any]:
        """The memos of the current values of those who have not reported; a value that is new to a person draws one."""
        encoded = self.panel.encode(_some(values, late, len(names)))
        (codes,) = encoded.values() if isinstance(encoded, Mapping) else (encoded,)
        if len(codes) != len(late):
            raise DataError("A memo needs a value: one is missing, and missing values are dropped.")
        keys = [str(int(code)) for code in codes]
        for place in late:
            kept[place]["memo"] = kept[place]["memo"] or {}
        new = [row for row, place in enumerate(late) if keys[row] not in kept[place]["memo"]]
        if new:
            words = self._words(rng, "memo", [names[late[row]] for row in new], *when)
            drawn = dict.fromkeys(encoded, codes[new]) if isinstance(encoded, Mapping) else codes[new]
            for row, text in zip(new, _texts(self.panel.remember(drawn, words)), strict=True):
                kept[late[row]]["memo"][keys[row]] = text
        return [kept[place]["memo"][key] for place, key in zip(late, keys, strict=True)]

    def _words(self, rng: Randomness, verb: str, people: list[str], epoch: int, round: int) -> Words:
        return Words.resolve(rng, documents.canonical([verb, people, epoch, round]), self.panel.digest)

    def rounds(self, *, epoch: int = 0, person: str = "") -> int:
        """In how many rounds of an epoch a person has reported; `after` of the design says what they cost."""
        histories = self._read()
        (name,) = histories.names_of(_keys([person]))
        kept = histories.get(name, {}).get(str(epoch))
        return len(kept["reports"]) if kept else 0

    def _read(self) -> _Histories:
        epoch = self.panel.guarantees.get("epoch")
        cost = "once more what the reports so far do" if epoch is None else f"ε = {epoch.epsilon:g} once more"
        lost = (
            f"There is no memory at {self.path.name}. Make one with Memory.create; if one was lost, the new memos of "
            f"an epoch that had begun cost {cost}."
        )
        with translated(FileNotFoundError, lambda _: ParameterError(lost)):
            body = documents.unseal(documents.read_state(self._file), FORMAT)
        if body.get("design") != self.panel.digest:
            raise DesignError(
                "This memory belongs to another design: open it with the panel that made it.",
                expected=self.panel.digest,
                actual=str(body.get("design")),
            )
        people = body.get("people")
        if not isinstance(people, dict) or not all(_is_history(history) for history in people.values()):
            raise FormatError(_DAMAGED)
        return _Histories(people, by_key=body.get("names") == _KNOWN_BY)

    def _rows(self, texts: list[Any], form: Any) -> Rows:
        """Memos or reports of this form, from their bytes."""
        with translated((ValueError, TypeError, KeyError), lambda _: FormatError(_DAMAGED)):
            if isinstance(form, Mapping):
                rows: Rows = {name: _array(own, [text[name] for text in texts]) for name, own in form.items()}
            else:
                rows = _array(form, texts)
        if not self.panel.valid(rows).all():
            raise FormatError(_DAMAGED)
        return rows

    def __repr__(self) -> str:
        return f"Memory({self.path.name!r}, design {self.panel.digest[:8]})"


class _Histories(dict[str, Any]):
    """What a file keeps of people, by their keys.

    Parameters
    ----------
    people
        Histories by name, as they stand in the file.
    by_key
        Whether the file says that names are keys. Another one was written by an earlier version, which spelt the number
        3.0 of a mixed column "3.0" and True "True". Such a name is found by the number and by the text from then on:
        which of the two it was cannot be told, and a second memo would cost ε once more.
    """

    def __init__(self, people: Mapping[str, Any], *, by_key: bool) -> None:
        super().__init__(zip(_keys(people), people.values(), strict=True))
        self.by_key = by_key or not any(map(_SPELT_BEFORE.fullmatch, people))
        shared = [count for count in Counter(map(self._form, _keys(people))).values() if count > 1]
        if shared:
            raise DataError(
                f"{sum(shared)} names in this memory are spellings of {counted(len(shared), 'person')}, as é in two "
                "Unicode forms, or 3 and 3.0. They may have several memos in an epoch, and each costs the ε of an "
                "epoch. Keep this file, count that in, and begin the next epoch with Memory.create under another name."
            )
        self._stored = {self._form(name): name for name in self}

    def names_of(self, keys: list[str]) -> list[str]:
        """The names under which people are kept, or will be."""
        return [self._stored.get(self._form(key), key) for key in keys]

    def _form(self, name: str) -> str:
        """What is the same of all names that may be of one person."""
        if self.by_key or not _SPELT_BEFORE.fullmatch(name):
            return name
        return name.lower() if name in ("True", "False") else identity.key(int(name.removesuffix(".0")))


def _keys(people: Iterable[Any]) -> list[str]:
    """The keys of people who are named by texts."""
    names = list(people)
    if not all(isinstance(name, str) for name in names):
        raise ParameterTypeError("person must be a text.")
    if not _checks.is_whole("".join(names)):
        raise DataError(f"person: {HALVES}")
    return identity.text_keys(names)


def _checked(panel: Any) -> Remembering:
    """The design, if it is one that people with memos can use; of a plan, its panel."""
    if hasattr(type(panel), "panel"):
        with translated(ParameterError, lambda _: ParameterTypeError(_NO_PANEL)):
            panel = panel.panel
    if getattr(panel, "follow_changes", False):
        return panel  # type: ignore[no-any-return]
    if "epoch" not in getattr(panel, "guarantees", ()) or not hasattr(panel, "epoch_of"):
        raise ParameterTypeError(_NO_PANEL)
    return panel  # type: ignore[no-any-return]


def _array(form: Any, texts: list[str]) -> NDArray[Any]:
    """Rows of one column from their bytes, which are as many as the form says."""
    rows = form.empty(len(texts))
    data = [bytes.fromhex(text) for text in texts]
    if any(len(row) != rows.nbytes // max(len(texts), 1) for row in data):
        raise ValueError
    return np.frombuffer(b"".join(data), rows.dtype).reshape(rows.shape)


def _texts(rows: Rows) -> list[Any]:
    """The bytes of each row in hexadecimal digits; of a plan, by column."""
    if not isinstance(rows, Mapping):
        return [row.tobytes().hex() for row in rows]
    columns = {name: _texts(column) for name, column in rows.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _some(values: Any, places: list[int], people: int) -> Any:
    """The values of some people."""
    if isinstance(values, DictionaryColumn):
        return DictionaryColumn(values.entries, values.positions[places])
    if isinstance(values, Mapping) or hasattr(values, "columns"):
        return {name: _some(values[name], places, people) for name in values}
    if len(values) != people:
        raise DataError("There must be a value for every person.")
    if isinstance(values, np.ndarray):
        return values[places]
    known = list(values)
    return [known[place] for place in places]


def _is_history(history: Any) -> bool:
    """Whether this is what a person's epochs are kept as: a memo and the reports by round."""
    return isinstance(history, dict) and all(
        isinstance(kept, dict) and "memo" in kept and isinstance(kept.get("reports"), dict) for kept in history.values()
    )


def _write(path: Path, design: str, people: dict[str, Any]) -> None:
    """The whole file written again, for its owner alone, in place of the old one when it is finished."""
    names = {"names": _KNOWN_BY} if getattr(people, "by_key", True) else {}
    documents.write_secret(path, documents.seal(FORMAT, {"design": design, **names, "people": people}))
