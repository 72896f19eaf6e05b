"""What is kept of many people: small sums of whole numbers that add up.

A `Tally` is made of reports, which are already private: print it, save it, send it. A `RawTally` holds facts
without noise: it shows nothing, cannot be saved, and only a release may look inside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.errors import BruitError, DataError, DataTypeError, DesignError, FormatError, LimitError, translated
from bruit.tables import Described

Counts = NDArray[np.int64]

_MAGIC = b"bruit.tally/1\n"
#: The most reports, and the largest count.
_MOST = 2**63 - 1
#: Why there is no estimate of a tally that counts nothing.
NO_REPORT = (
    "There is no valid report to estimate from. Answers that were not made private are no reports: make reports of "
    "them first (privatize)."
)
#: What is wrong with counts that no reports have.
IMPOSSIBLE = "This tally cannot have been made from reports of its design: its counts do not add up."
_BEYOND = "The sum of these tallies does not fit 64-bit integers."


def check_design(tally: Any, design: str, cells: int) -> None:
    """An error unless this is a tally of a design with this digest and this number of cells."""
    if not isinstance(tally, Tally):
        raise DataTypeError("estimate needs a Tally: make one with tally(reports).")
    if tally.design != design:
        raise DesignError(
            "This tally was made by another design: use the mechanism or plan that made its reports.",
            expected=design,
            actual=tally.design,
        )
    if tally.counts.size != cells:
        raise DesignError("This tally has another number of cells than its design.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally(Described):
    """Counts of reports, ready to be added to others of the same design and estimated from.

    Parameters
    ----------
    design
        The digest of the mechanism that made the reports; only tallies of one design add up.
    counts
        Whole numbers, one per cell; what a cell means is the mechanism's affair.
    n
        How many reports are counted.
    refused
        How many reports no honest person can have sent; they are not in `n`.
    simulated
        Whether any part of it was simulated rather than collected.

    Examples
    --------
    >>> one = Tally(design="d", counts=[3, 1], n=4)
    >>> both = one + Tally(design="d", counts=[0, 2], n=2, refused=1)
    >>> both.counts.tolist(), both.n, both.refused
    ([3, 3], 6, 1)
    >>> Tally.from_json(both.to_json()) == both == Tally.from_bytes(both.to_bytes())
    True
    """

    FORMAT = "bruit.tally/1"

    design: str
    counts: Counts
    n: int
    refused: int = 0
    simulated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", _frozen(self.counts))
        if (self.counts < 0).any():
            raise DataError("counts must be 0 or above.")
        object.__setattr__(self, "n", _checks.integer(low=0, high=_MOST, n=self.n))
        object.__setattr__(self, "refused", _checks.integer(low=0, high=_MOST, refused=self.refused))

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        _same_design(self, other)
        if max(self.n + other.n, self.refused + other.refused) > _MOST:
            raise LimitError(_BEYOND)
        return Tally(
            design=self.design,
            counts=_sum(self.counts, other.counts),
            n=self.n + other.n,
            refused=self.refused + other.refused,
            simulated=self.simulated or other.simulated,
        )

    @property
    def total(self) -> int:
        """The sum of all counts, exactly: in 64 bits that of forged ones would wrap around."""
        return exact_total(self.counts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self._header() == other._header() and _equal(self, other)

    def __hash__(self) -> int:
        return hash((self.design, self.n, self.counts.tobytes()))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {**self._header(), "counts": self.counts.tolist()}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Tally:
        """The inverse of `to_dict`."""
        rule = f"This is not a {cls.FORMAT} document: a field is missing or wrong."
        with translated((KeyError, TypeError, OverflowError, BruitError), lambda _: FormatError(rule)):
            if not isinstance(body["counts"], list):
                raise TypeError
            counts = [documents.whole_number(count, "A count") for count in body["counts"]]
            return cls(counts=np.array(counts, np.int64), **_read_header(body))

    def to_json(self) -> str:
        """The tally as a document; read it with `from_json`."""
        return documents.seal(self.FORMAT, self.to_dict())

    @classmethod
    def from_json(cls, text: str | bytes) -> Tally:
        """The inverse of `to_json`; damage is detected, forgery is not."""
        return cls.from_dict(documents.unseal(text, cls.FORMAT))

    def to_bytes(self) -> bytes:
        """A compact form: 8 bytes per cell after a short header, then a digest."""
        header = documents.canonical({**self._header(), "cells": self.counts.size}).encode()
        body = _MAGIC + header + b"\n" + self.counts.astype("<i8").tobytes()
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, blob: bytes) -> Tally:
        """The inverse of `to_bytes`."""
        body, stated = blob[:-32], blob[-32:]
        if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != stated:
            raise FormatError(f"These bytes are not a whole {cls.FORMAT}: they are cut short or damaged.")
        line, _, cells = body[len(_MAGIC) :].partition(b"\n")
        rule = f"These bytes are not a {cls.FORMAT}: a field is missing or wrong."
        with translated((KeyError, TypeError, ValueError, RecursionError, BruitError), lambda _: FormatError(rule)):
            header = documents.parsed(line, "header")
            counts = np.frombuffer(cells, "<i8")
            if counts.size != header["cells"]:
                raise ValueError
            return cls(counts=counts.astype(np.int64), **_read_header(header))

    def _header(self) -> dict[str, Any]:
        return {"design": self.design, "n": self.n, "refused": self.refused, "simulated": self.simulated}

    def _facts(self) -> dict[str, Any]:
        """For a notebook: how many reports there are; their counts are no picture of people's answers."""
        facts = {"reports": f"{self.n:,}", "refused": f"{self.refused:,}", "cells": f"{self.counts.size:,}"}
        return {**facts, "design": f"{self.design[:8]}…", **({"simulated": "yes"} if self.simulated else {})}

    def __repr__(self) -> str:
        mark = ", simulated" if self.simulated else ""
        cells = f"cells={self.counts.size:,}, design={self.design[:8]}…"
        return f"Tally(n={self.n:,}, refused={self.refused:,}, {cells}{mark})"


class RawTally:
    """Sums over raw records, without noise: it adds up, shows nothing, and only a release may open it.

    It has no JSON, no readable repr and cannot be pickled; what it holds must not reach a log or a file. Sums have no
    limit: where 64 bits do not hold them, they are Python's integers. An error would tell how large they are.

    Parameters
    ----------
    design
        The digest of the release that it is folded for.
    counts
        A vector of whole numbers; or a vector for each key, as a mapping, whose keys are as secret as the numbers; or a
        tuple of such, one for each part of a release.

    Examples
    --------
    >>> RawTally(design="d", counts=[3, 1]) + RawTally(design="d", counts=[1, 0])
    RawTally(redacted)
    """

    __slots__ = ("_counts", "_design")

    def __init__(self, *, design: str, counts: Any) -> None:
        self._design = design
        self._counts: Any = _raw_parts(counts)

    @property
    def design(self) -> str:
        """The digest of the release that it was folded for."""
        return self._design

    def __add__(self, other: object) -> RawTally:
        if not isinstance(other, RawTally):
            return NotImplemented
        _same_design(self, other)
        return RawTally(design=self._design, counts=_raw_sum(self._counts, other._counts))

    def reveal(self, *, design: str) -> Any:
        """The sums, for the release of that design only, after it has booked what it is about to spend."""
        if design != self._design:
            raise DesignError("This raw tally was folded for another release.", expected=design, actual=self._design)
        return self._counts

    @property
    def parts(self) -> tuple[RawTally, ...]:
        """A tally for each part of a release."""
        return tuple(RawTally(design=self._design, counts=counts) for counts in self._counts)

    @classmethod
    def joined(cls, tallies: Sequence[RawTally]) -> RawTally:
        """The tallies of the parts of a release as one."""
        return cls(design=tallies[0].design, counts=tuple(tally._counts for tally in tallies))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise DataTypeError("A RawTally holds facts without noise and is not pickled: release it where it was made.")

    def __repr__(self) -> str:
        return "RawTally(redacted)"


class KeyedCounts(Mapping[str, Counts]):
    """A vector of whole numbers for each key, kept as one matrix; it adds key by key.

    Parameters
    ----------
    keys
        Different texts.
    matrix
        A row for each key.

    >>> both = KeyedCounts(["a"], np.array([[1, 5]])) + KeyedCounts(["b", "a"], np.array([[1, 2], [1, 3]]))
    >>> {key: numbers.tolist() for key, numbers in both.items()}
    {'a': [2, 8], 'b': [1, 2]}
    """

    __slots__ = ("_matrix", "_places")

    def __init__(self, keys: Iterable[str], matrix: Any) -> None:
        self._places = {key: place for place, key in enumerate(keys)}
        self._matrix = np.asarray(matrix)

    @classmethod
    def of(cls, counts: Mapping[str, Any]) -> KeyedCounts:
        """The counts of a mapping from keys to vectors."""
        if isinstance(counts, KeyedCounts):
            return counts
        return cls(counts, np.array([np.asarray(numbers) for numbers in counts.values()]))

    def __getitem__(self, key: str) -> Counts:
        row: Counts = self._matrix[self._places[key]]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def column(self, place: int) -> dict[str, int]:
        """One number of each key."""
        return dict(zip(self._places, self._matrix[:, place].tolist(), strict=True)) if len(self) else {}

    def __add__(self, other: KeyedCounts) -> KeyedCounts:
        if not len(other):
            return self
        if not len(self):
            return other
        known = dict(self._places)
        places = [known.setdefault(key, len(known)) for key in other]
        kind = object if object in (self._matrix.dtype, other._matrix.dtype) else np.int64
        total = np.zeros((len(known), self._matrix.shape[1]), kind)
        total[: len(self)] = self._matrix
        sums = exact_sum(total[places], other._matrix.astype(kind, copy=False))
        total = total.astype(sums.dtype, copy=False)
        total[places] = sums
        return KeyedCounts(known, total)

    def __repr__(self) -> str:
        return "KeyedCounts(redacted)"


def exact_sum(first: Counts, second: Counts) -> Counts:
    """The sum of two vectors of whole numbers: of 64 bits where it fits, else of Python's integers.

    >>> exact_sum(np.array([2**62]), np.array([2**62])).tolist() == [2**63]
    True
    """
    total = first + second
    if total.dtype != object and _overflows(first, second, total):
        total = first.astype(object) + second.astype(object)
    return total


#: Up to this number of counts, adding one by one is as fast as NumPy.
_FEW = 256


def exact_total(counts: Counts) -> int:
    """The sum of whole numbers of any size.

    >>> exact_total(np.array([2**62, 2**62])) == 2**63
    True
    """
    if counts.dtype == object or counts.size <= _FEW:
        return sum(counts.tolist())
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def _raw_parts(counts: Any) -> Any:
    """Counts that never change: a vector, a vector for each key, or a tuple of them."""
    if isinstance(counts, tuple):
        return tuple(map(_raw_parts, counts))
    return KeyedCounts.of(counts) if isinstance(counts, Mapping) else _raw(counts)


def _raw_sum(first: Any, second: Any) -> Any:
    if isinstance(first, tuple):
        return tuple(map(_raw_sum, first, second))
    return first + second if isinstance(first, KeyedCounts) else exact_sum(first, second)


def _raw(counts: Any) -> Counts:
    """Counts that never change; those beyond 64 bits are objects."""
    array = np.asarray(counts)
    if array.dtype == np.uint64 and array.size and int(array.max()) >> 63:
        array = array.astype(object)
    if array.dtype != object or array.ndim != 1 or not all(isinstance(count, int) for count in array.tolist()):
        return _frozen(array)
    whole = array.copy()
    whole.flags.writeable = False
    return whole


def _frozen(counts: Any) -> Counts:
    array = np.asarray(counts)
    if array.ndim != 1 or array.dtype.kind not in "ui":
        raise DataTypeError("counts must be a one-dimensional array of whole numbers.")
    whole = np.array(array, np.int64)
    if array.dtype.kind == "u" and (whole < 0).any():
        raise LimitError("counts must be below 2⁶³.")
    whole.flags.writeable = False
    return whole


def _sum(first: Counts, second: Counts) -> Counts:
    """The sum, unless it leaves 64 bits."""
    total = first + second
    if _overflows(first, second, total):
        raise LimitError(_BEYOND)
    return total


def _overflows(first: Counts, second: Counts, total: Counts) -> bool:
    """Whether 64 bits did not hold a sum: two numbers of one sign overflow exactly when their sum has the other."""
    return bool((((first ^ total) & (second ^ total)) < 0).any())


def _same_design(first: Tally | RawTally, second: Tally | RawTally) -> None:
    if first.design != second.design:
        raise DesignError(
            "These tallies come from different designs and cannot be added: make both with the same mechanism or plan.",
            expected=first.design,
            actual=second.design,
        )


def _equal(first: Tally, second: Tally) -> bool:
    return bool(np.array_equal(first.counts, second.counts))


def _read_header(body: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(body["design"], str) or not isinstance(body["simulated"], bool):
        raise TypeError
    return {
        "design": body["design"],
        "n": documents.whole_number(body["n"], "n"),
        "refused": documents.whole_number(body["refused"], "refused"),
        "simulated": body["simulated"],
    }
