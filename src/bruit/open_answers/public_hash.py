"""The public hash of open answers: which cells of a cohort a text sets.

A text is normalised, with at most 30 accents in a row, and its fingerprint is BLAKE2b of the whole of it in UTF-8:
8 bytes, with "bruit/text/1" for `person`. Each cohort has its own hash function of fingerprints: BLAKE2b of these 8
bytes, with the number of the cohort in 4 bytes as its key and "bruit/cohort/1" for `person`. Word j of the digest,
modulo m − j, says which of the cells that are left is the next. All numbers have their least byte first. The functions
are the same for everybody and part of the format of a report: they never change. Letters that a version of Unicode
adds may be normalised in another way by an older Python.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.domains.domain import column
from bruit.domains.open_text import normalised, seen, texts
from bruit.errors import DataTypeError, MissingError

Cells = NDArray[np.int64]

#: The version of both hashes, as documents state it.
HASH = "bruit-text/1"
#: The most cells that a text sets: the number of words in a digest.
HASHES_LIMIT = 8
_TEXT, _CELLS = b"bruit/text/1", b"bruit/cohort/1"


def fingerprint(text: str) -> int:
    """64 bits of a text; spellings of one answer have the same.

    >>> hex(fingerprint("Bus")), fingerprint(" BUS ") == fingerprint("bus")
    ('0xd0af712a33b8d997', True)
    """
    data = _normalised(text).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=_TEXT).digest(), "little")


def fingerprints(values: Any) -> Codes:
    """The fingerprints of a column of texts or numbers; one without a letter is missing, and refused."""
    entries = list(texts(column(values)))
    if None in entries:
        raise DataTypeError("values must be texts or numbers.")
    known = {text: _of(text) for text in set(entries) if text is not None}
    return np.array([known[text] for text in entries if text is not None], np.uint64)


def _of(text: str) -> int:
    if not _normalised(text):
        raise MissingError("Some values are missing or have no letter: leave these people out, or write a word for it.")
    return fingerprint(text)


def _normalised(text: str) -> str:
    """The whole text; what shows nothing goes first, because it would part a long run of marks into short ones."""
    return normalised(_checks.with_few_marks(seen(text)))


@dataclass(frozen=True)
class PublicHash:
    """For each cohort a public function from fingerprints to different cells.

    Parameters
    ----------
    cohorts
        How many functions there are.
    cells
        How many cells each has.
    hashes
        How many different cells a text sets.

    >>> PublicHash(cohorts=2, cells=16, hashes=3).cells_of(fingerprint("bus"), 1)
    [9, 12, 4]
    """

    cohorts: int
    cells: int
    hashes: int = 1

    def cells_of(self, code: int, cohort: int) -> list[int]:
        """The different cells of a fingerprint: word j of its digest says which of those that are left."""
        key = cohort.to_bytes(4, "little")
        digest = hashlib.blake2b(code.to_bytes(8, "little"), key=key, person=_CELLS).digest()
        chosen: list[int] = []
        for place in range(self.hashes):
            cell = int.from_bytes(digest[8 * place : 8 * place + 8], "little") % (self.cells - place)
            for other in sorted(chosen):
                cell += cell >= other
            chosen.append(cell)
        return chosen

    def of_people(self, codes: Codes, cohorts: NDArray[Any]) -> Cells:
        """The cells of each person's code in their cohort, a row each; a pair that occurs often is hashed once."""
        pairs = np.empty(codes.size, [("code", "<u8"), ("cohort", "<u8")])
        pairs["code"], pairs["cohort"] = codes, cohorts
        distinct, place = np.unique(pairs, return_inverse=True)
        cells = [self.cells_of(code, cohort) for code, cohort in distinct.tolist()]
        return np.array(cells, np.int64).reshape(-1, self.hashes)[place.reshape(-1)]

    def table(self, codes: Iterable[int]) -> Cells:
        """The cells of each code in every cohort: codes × cohorts × hashes."""
        return _table(self, tuple(codes))

    def differing(self, codes: Sequence[int]) -> int:
        """In how many cells the first of two codes differs from the second, at most over all cohorts."""
        first, second = self.table(codes)
        return max(len(set(own) - set(other)) for own, other in zip(first.tolist(), second.tolist(), strict=True))


@functools.lru_cache(maxsize=4)
def _table(public: PublicHash, codes: tuple[int, ...]) -> Cells:
    """Kept for the next tally, which has the same candidates."""
    rows = [[public.cells_of(code, cohort) for cohort in range(public.cohorts)] for code in codes]
    table = np.array(rows, np.int64).reshape(-1, public.cohorts, public.hashes)
    table.flags.writeable = False
    return table
