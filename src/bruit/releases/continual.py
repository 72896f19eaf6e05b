"""Counts over time: a running total and a daily series, published day after day for the price of one release.

Fresh noise for each day's total would cost a budget each day, and a total of noisy days has an error that
grows with their number. Here each published number is made of all days so far with falling weights, and the total is
computed from those numbers: with 1,024 days the largest standard deviation is 3.3 at ρ = ½, where a binary tree has
10.5 and a total of noisy days 32 (square-root factorisation; Fichtenberger, Henzinger and Upadhyay 2023). Weights and
noise are whole numbers. See ``continual.proof.md``.

Rejected: the total of the true counts plus correlated real noise, which has the same law on paper and shows the counts
in its low digits.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.entropy import Randomness, Words
from bruit.errors import (
    BruitError,
    DataTypeError,
    FormatError,
    LedgerError,
    LimitError,
    ParameterError,
    ParameterTypeError,
    translated,
)
from bruit.privacy.booking import Charge, LedgerLike, booked
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.zcdp import epsilon_to_rho
from bruit.releases.noise import DiscreteGaussian
from bruit.releases.person import MOST_ROWS
from bruit.releases.result import Result
from bruit.releases.statistic import CENTRAL, CentralNeighbours
from bruit.tables import counted

__all__ = ["ContinualCount", "ContinualSeries"]

Floats = NDArray[np.float64]

#: Weights are multiples of 2 to minus this.
_BITS = 20
#: The most days that a series may have.
MOST_STEPS = 2**14
#: Counts of a day are cut to this.
MOST_COUNT = 2**40
#: How many bytes the key has by which files are hashed, and how many a hash has.
_KEY_BYTES, _HASH_BYTES = 32, 16
_HASH = re.compile(rf"(?:[0-9a-f]{{{2 * _HASH_BYTES}}})?")
_KEY = re.compile(rf"[0-9a-f]{{{2 * _KEY_BYTES}}}")
_HOLDS = (
    "The true number of each day, without noise, what was published of it, and keyed hashes of the files that were "
    "counted. Keep this file secret: it is for the one who publishes the series, and is needed for the next day."
)


@dataclass(frozen=True, kw_only=True)
class ContinualCount:
    """How many events there are up to each day, and on each day, published as days go by.

    Parameters
    ----------
    steps
        How many days there will be at most; the noise is made for all of them.
    epsilon, delta
        The most that all days together may tell; δ is far below one over the number of people.
    neighbours
        ``"add-remove"`` (one event more or less, on any day) or ``"replace"`` (one event moved to another day).
    rows
        Where people have several events: how many of a person there are at most, over all days together. You see to
        that; the guarantee is then about a person.

    Guarantee
    ---------
    An event of day j changes what is drawn for day t by the weight of t − j, a whole number. The noise is discrete
    Gaussian, for the sum of the squares of all weights; days may be chosen in view of what was published before. All
    that is shown is computed from the noisy numbers.

    Error
    -----
    `total_error` has the standard deviation of the running total of each day: for the last of T days about
    (0.32·ln T + 1.07)/√2ρ. `daily_error` has that of single days, at most 1.13·√(0.32·ln T + 1.07)/√2ρ.

    References
    ----------
    Fichtenberger, Henzinger and Upadhyay (2023), Constant matters: fine-grained error bound on differentially private
    continual observation.

    Examples
    --------
    >>> from bruit.privacy.zcdp import rho_to_epsilon
    >>> counts = ContinualCount(steps=1024, epsilon=rho_to_epsilon(0.5, 1e-6), delta=1e-6)
    >>> round(float(counts.total_error[-1]), 2)
    3.27
    >>> series = counts.start(rng=7)
    >>> for day in range(3):
    ...     _ = series.add(100, rng=7)
    >>> bool(abs(series.totals().values[-1] - 300) < 20)
    True
    """

    steps: int
    epsilon: float
    delta: float
    neighbours: CentralNeighbours = "add-remove"
    rows: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _checks.integer(low=1, high=MOST_STEPS, steps=self.steps))
        object.__setattr__(self, "epsilon", _checks.spent_epsilon(epsilon=self.epsilon))
        _checks.warn_of_weak(self.epsilon)
        object.__setattr__(self, "delta", _checks.probability(delta=self.delta))
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        if self.rows is not None:
            object.__setattr__(self, "rows", _checks.integer(low=1, high=MOST_ROWS, rows=self.rows))
        _ = self.noise  # what cannot be drawn exactly is refused here

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight of an event after 0, 1, … days: 2²⁰ times the coefficients of 1/√(1 − z), rounded."""
        weights, top, bottom = [], 1, 1
        for lag in range(self.steps):
            weights.append((2 * (top << _BITS) + bottom) // (2 * bottom))
            top, bottom = top * (2 * lag + 1), bottom * (2 * lag + 2)
            shift = max(0, bottom.bit_length() - 256)  # 256 bits are far more than what is rounded to
            top, bottom = top >> shift, bottom >> shift
        return tuple(weights)

    @property
    def change2(self) -> int:
        """The square of the Euclidean norm of what neighbours change."""
        events = (self.rows or 1) * (2 if self.neighbours == "replace" else 1)
        return events**2 * sum(weight**2 for weight in self.weights)

    @cached_property
    def noise(self) -> DiscreteGaussian:
        """The noise on the number of each day."""
        return DiscreteGaussian.calibrate(self.change2, self.epsilon, self.delta)

    @property
    def rho(self) -> float:
        """The ρ-zCDP of all days together: that of (ε, δ)."""
        return epsilon_to_rho(self.epsilon, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """What all days together promise."""
        neighbours: Any = self.neighbours if self.rows is None else f"person-{self.neighbours}"
        return Guarantee(epsilon=self.epsilon, delta=self.delta, neighbours=neighbours)

    @cached_property
    def _inverse(self) -> Floats:
        """The coefficients of one over the series of weights: they take the days apart again."""
        weights = np.array(self.weights, np.float64)
        inverse = np.zeros(self.steps)
        inverse[0] = 1 / weights[0]
        for lag in range(1, self.steps):
            inverse[lag] = -(weights[1 : lag + 1] @ inverse[lag - 1 :: -1][:lag]) / weights[0]
        return inverse

    @cached_property
    def total_error(self) -> Floats:
        """The standard deviation of the running total of each day."""
        return np.asarray(self.noise.standard_error * np.sqrt(np.cumsum(np.cumsum(self._inverse) ** 2)), np.float64)

    @cached_property
    def daily_error(self) -> Floats:
        """The standard deviation of the count of each day."""
        return np.asarray(self.noise.standard_error * np.sqrt(np.cumsum(self._inverse**2)), np.float64)

    def start(
        self,
        path: str | os.PathLike[str] | None = None,
        ledger: LedgerLike | None = None,
        rng: Randomness = None,
        *,
        label: str | None = None,
    ) -> ContinualSeries:
        """Book the whole series, once, and begin it.

        Parameters
        ----------
        path
            The file that keeps the series between days, for its owner alone (mode 600): it holds true counts. Without
            one the series lasts as long as the program.
        ledger
            The ledger to book in. Without one nothing is booked.
        rng
            A whole number for a reproducible series, which is marked as simulated; each `add` then takes it, too.
        label
            What the ledger writes down; public.
        """
        secure = Words.resolve(rng, "continual", self.digest).secure
        name = f"{(label or 'running total')[:180]} ({secrets.token_hex(4)})"
        key = secrets.token_hex(_KEY_BYTES)
        state = _State(self, name, not secure, ledger is None, days=[], counts=[], noisy=[], files=[], key=key)
        file = None if path is None else documents.state_file(path)
        series = ContinualSeries(state, file)
        if file is not None:
            with documents.alone_with(file):
                if os.path.lexists(file):
                    raise ParameterError("This file exists, and may hold a series: take another name, or open it.")
                series._write(state)
        if ledger is not None:
            try:
                series.book(ledger)
            except BruitError:  # refused: nothing is spent, and nothing stays
                if file is not None and not series.booked:
                    file.unlink(missing_ok=True)
                raise
        return series

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        rows = {} if self.rows is None else {"rows": self.rows}
        privacy = {"epsilon": self.epsilon, "delta": self.delta, "neighbours": self.neighbours}
        return {"kind": "continual-count", "steps": self.steps, **privacy, **rows}

    @classmethod
    def from_dict(cls, body: Any) -> ContinualCount:
        """The inverse of `to_dict`."""
        rule = "A continual count must have steps, epsilon, delta and neighbours."
        with translated((KeyError, TypeError, AttributeError), lambda _: FormatError(rule)):
            return cls(**{name: value for name, value in body.items() if name != "kind"})

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this value."""
        return documents.digest(self.to_dict())


@dataclass(frozen=True)
class _State:
    """What is kept between days. Its repr shows nothing of the counts.

    `files` has a hash of the file of each day under the secret `key`, or nothing for a day without a file.
    """

    design: ContinualCount
    label: str
    simulated: bool
    booked: bool
    days: list[str]
    counts: list[int]
    noisy: list[int]
    files: list[str]
    key: str

    def __repr__(self) -> str:
        return "_State(redacted)"

    def to_json(self) -> str:
        body = {
            "holds": _HOLDS,
            "design": self.design.to_dict(),
            "label": self.label,
            "simulated": self.simulated,
            "booked": self.booked,
            "days": self.days,
            "counts": list(map(str, self.counts)),
            "noisy": list(map(str, self.noisy)),
            "files": self.files,
            "key": self.key,
        }
        return documents.seal(ContinualSeries.FORMAT, body, indent=2)

    @classmethod
    def from_json(cls, text: bytes) -> _State:
        body = documents.unseal(text, ContinualSeries.FORMAT)
        rule = "This series was damaged: it must have days, counts and noisy numbers, as many of each."
        with translated((KeyError, TypeError, AttributeError), lambda _: FormatError(rule)):
            counts, noisy = (
                [documents.whole_number(item, "A count") for item in body[name]] for name in ("counts", "noisy")
            )
            days = [str(day) for day in body["days"]]
            # A series of an earlier version has no files: its days may have had any, and its key is drawn now.
            files = [str(item) for item in body.get("files", [""] * len(days))]
            key = str(body.get("key", secrets.token_hex(_KEY_BYTES)))
            state = cls(
                ContinualCount.from_dict(body["design"]),
                str(body["label"]),
                bool(body["simulated"]),
                bool(body["booked"]),
                days,
                counts,
                noisy,
                files,
                key,
            )
        if not len(days) == len(counts) == len(noisy) == len(files) <= state.design.steps:
            raise FormatError(rule)
        if not all(map(_HASH.fullmatch, files)) or not _KEY.fullmatch(key):
            raise FormatError("This series was damaged: its key and the hashes of its files must be hexadecimal.")
        return state


class ContinualSeries:
    """A series that goes on: what `ContinualCount.start` begins and `ContinualSeries.open` finds again.

    It has state and is not copied or pickled. With a file, several programs may share it; the noisy number of a day is
    drawn once, and is on the disk before anything of it is shown.
    """

    FORMAT = "bruit.continual/1"

    def __init__(self, state: _State, path: Path | None) -> None:
        self._state = state
        self._path = path
        self._lock = threading.RLock()
        self._process = os.getpid()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ContinualSeries:
        """The series that a file keeps. It spends nothing.

        Parameters
        ----------
        path
            The file that `ContinualCount.start` wrote.
        """
        file = documents.state_file(path)
        return cls(_read(file, Path(path)), file)

    @property
    def design(self) -> ContinualCount:
        """The value that started it."""
        return self._state.design

    @property
    def guarantee(self) -> Guarantee:
        """What all days together promise, also those to come."""
        return self.design.guarantee

    @property
    def days(self) -> tuple[str, ...]:
        """The days that were added."""
        return tuple(self._state.days)

    @property
    def simulated(self) -> bool:
        """Whether its noise comes from a seed."""
        return self._state.simulated

    @property
    def booked(self) -> bool:
        """Whether the series was booked, or needs no booking."""
        return self._state.booked

    def book(self, ledger: LedgerLike) -> None:
        """Book the series, unless this ledger has it already: after a kill between booking and writing that down."""
        with self._alone() as state:
            if state.booked:
                return
            known = {entry.label for entry in getattr(ledger, "entries", ())}
            if state.label not in known:
                booked(Charge(self.guarantee, state.label, self.design.rho), ledger)
            self._keep(state, booked=True)

    def add(
        self,
        count: Any,
        day: Any = None,
        rng: Randomness = None,
        *,
        file: str | os.PathLike[str] | None = None,
        anyway: bool = False,
    ) -> Result:
        """Add a day, draw its noisy number, once, and give the running total up to it.

        Parameters
        ----------
        count
            How many events the day has: a whole number.
        day
            What the day is called, as in ``"2026-05-01"`` or a `datetime.date`; by default its number. A day before one
            that was added is refused.
        rng
            None for secure noise; the whole number with which a simulated series was started.
        file
            The file in which these events were counted. A file whose bytes are those of another day is refused; one
            that has no event may come again.
        anyway
            Whether to add the day also if it is before another one, or its file is that of another day.
        """
        number = _whole(count)
        with self._alone() as state:
            name = _day(day, len(state.days))
            self._check(state, name)
            contents = "" if file is None or not number else _hash(Path(file), state.key)
            if not anyway:
                _check_order(state, name, named=day is not None)
                _check_file(state, contents)
            place = len(state.days)
            words = Words.resolve(rng, "continual", f"{self.design.digest} {state.label[-10:]} {place}")
            if words.secure == state.simulated:
                if state.simulated:
                    raise ParameterError(
                        "This series was started with a seed, and every day needs the same: add --seed 7 (rng=7 in "
                        "Python), with its number."
                    )
                raise ParameterError(
                    "This series was started without a seed, and every day goes without: leave --seed out."
                )
            counts = [*state.counts, min(max(number, -MOST_COUNT), MOST_COUNT)]
            exact = sum(weight * past for weight, past in zip(self.design.weights, reversed(counts), strict=False))
            drawn = exact + int(self.design.noise.sample(1, words)[0])
            days, files = [*state.days, name], [*state.files, contents]
            self._keep(state, days=days, counts=counts, noisy=[*state.noisy, drawn], files=files)
            return self.totals(last=1)

    def totals(self, *, last: int | None = None) -> Result:
        """The running totals with their error and intervals, of all days or of the last ones.

        Parameters
        ----------
        last
            How many days; all by default.
        """
        with self._lock:
            return self._result("running total", np.cumsum(self._daily()), self.design.total_error, last)

    def daily(self, *, last: int | None = None) -> Result:
        """The counts of single days with their error and intervals; they add up to the running total.

        Parameters
        ----------
        last
            How many days; all by default.
        """
        with self._lock:
            return self._result("daily count", self._daily(), self.design.daily_error, last)

    def plot(self, *, daily: bool = False, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the running totals, or the days, with their intervals as a band.

        Parameters
        ----------
        daily
            Whether to draw single days.
        level
            How often an interval covers the truth.
        ax
            matplotlib Axes to draw on.
        """
        from bruit.figures import plot_continual

        return plot_continual(self.daily() if daily else self.totals(), level=level, ax=ax)

    def _daily(self) -> Floats:
        """The estimated count of each day: what is published, taken apart."""
        noisy = np.array([float(number) for number in self._state.noisy])
        return np.convolve(noisy, self.design._inverse[: noisy.size])[: noisy.size] if noisy.size else noisy

    def _result(self, name: str, values: Floats, errors: Floats, last: int | None) -> Result:
        first = 0 if last is None else max(0, values.size - _checks.integer(low=1, last=last))
        shown, spread = values[first:], errors[first : values.size]

        def ends(level: float) -> Any:
            half = NormalDist().inv_cdf((1 + level) / 2) * spread
            return np.stack([shown - half, shown + half], axis=1)

        left = self.design.steps - values.size
        notes = [f"day {values.size:,} of {self.design.steps:,}: {counted(left, 'day')} may follow at no further cost"]
        if self.design.rows:
            notes.append(f"of each person at most {counted(self.design.rows, 'event')} in all days, as declared")
        return Result(
            name=name,
            values=shown,
            labels=self.days[first:],
            standard_error=spread,
            guarantee=self.guarantee,
            simulated=self.simulated,
            statistic=self.design.to_dict(),
            ends=ends,
            notes=tuple(notes),
        )

    def _check(self, state: _State, name: str) -> None:
        """A day that cannot be added is refused; no rule here depends on counts."""
        if not state.booked:
            raise LedgerError("This series was not booked: book it first, with series.book(ledger).")
        for day in state.days:
            if day == name or (moment(day) is not None and moment(day) == moment(name)):
                raise ParameterError(
                    f"The day {day!r} was added already, and its number is drawn once. It is shown by bruit continual "
                    "show, or by totals() and daily() in Python."
                )
        if len(state.days) >= self.design.steps:
            raise LimitError(f"All {self.design.steps:,} days of this series are used: start another one.")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[_State]:
        """The state as it is now, while no other thread or program changes it."""
        with self._lock:
            if self._path is not None:
                with documents.alone_with(self._path):
                    yield _read(self._path, self._path)
                return
            if os.getpid() != self._process:
                raise LedgerError(
                    "A series without a file cannot go on after a fork: the noise of a day would be drawn in both "
                    "processes. Keep it in a file, with start(path=…)."
                )
            yield self._state

    def _keep(self, state: _State, **changes: Any) -> None:
        self._write(_State(**{**vars(state), **changes}))

    def _write(self, state: _State) -> None:
        if self._path is not None:
            documents.write_secret(self._path, state.to_json() + "\n")
        self._state = state

    def __copy__(self) -> ContinualSeries:
        return self

    def __deepcopy__(self, memo: object) -> ContinualSeries:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        raise DataTypeError("A series holds true counts and is not pickled: keep it in a file, and open that.")

    def __repr__(self) -> str:
        note = ", simulated" if self.simulated else ""
        return f"<ContinualSeries: {len(self.days)} of {counted(self.design.steps, 'day')}, {self.guarantee}{note}>"


def _read(file: Path, name: Path) -> _State:
    rule = f"There is no series {str(name)!r}, or it may not be read: bruit continual start begins one."
    with translated(OSError, lambda _: FormatError(rule)):
        text = documents.read_state(file)
    return _State.from_json(text)


def _whole(count: Any) -> int:
    if isinstance(count, bool | np.bool_) or not isinstance(count, int | np.integer):
        raise DataTypeError("The count of a day must be a whole number.")
    return int(count)


def moment(name: str) -> tuple[str, Any] | None:
    """When a day is, by its name: a date, a time, a month or a number, with which of these it is; None for others.

    >>> moment("2026-05-01") == moment("20260501"), moment("2026-05")[0], moment("monday")
    (True, 'month', None)
    """
    with contextlib.suppress(ValueError):
        return "date", date.fromisoformat(name)
    with contextlib.suppress(ValueError):
        time = datetime.fromisoformat(name)
        return ("time", time) if time.tzinfo is None else ("time with a zone", time.astimezone(UTC))
    with contextlib.suppress(ValueError):
        return "month", date.fromisoformat(f"{name}-01")
    return ("number", int(name)) if re.fullmatch(r"[+-]?[0-9]{1,18}", name) else None


def _check_order(state: _State, name: str, *, named: bool) -> None:
    """Refuse a day before one that was added, where names say so; a day without a name is the next."""
    this = moment(name) if named else None
    for day in state.days:
        other = moment(day)
        if this is not None and other is not None and other[0] == this[0] and other[1] > this[1]:
            raise ParameterError(
                f"The day {name!r} is before {day!r}, which was added already, and totals are in the order in which "
                "days are added. If that is meant, add it with --anyway (anyway=True in Python)."
            )


def _check_file(state: _State, contents: str) -> None:
    """Refuse the file of another day."""
    if contents and contents in state.files:
        day = state.days[state.files.index(contents)]
        raise ParameterError(
            f"This file was added already, for the day {day!r}: its bytes are the same. If these are other events, "
            "add it with --anyway (anyway=True in Python)."
        )


def _hash(path: Path, key: str) -> str:
    """A hash of the bytes of a file, or of the files of a folder, which tells nothing without the key."""
    digest = hashlib.blake2b(key=bytes.fromhex(key), digest_size=_HASH_BYTES)
    rule = f"The file {str(path)!r} cannot be read again, to tell whether it was added before."
    with translated(OSError, lambda _: ParameterError(rule)):
        for part in sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]:
            with part.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "blake2b").digest())
    return digest.hexdigest()


def _day(day: Any, place: int) -> str:
    if day is None:
        return str(place + 1)
    if isinstance(day, date):
        return day.isoformat()
    if not isinstance(day, str | int) or isinstance(day, bool) or not str(day).strip() or not str(day).isprintable():
        raise ParameterTypeError('day must be a text such as "2026-05-01", a date or a whole number.')
    return unicodedata.normalize("NFC", str(day).strip())
