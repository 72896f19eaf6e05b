"""Who a person is: the one rule from what a table says to the key of a person.

Memories, releases, undeclared groups, guides, models, DuckDB and Spark all ask this module, so that two spellings are
one person for all of them or for none. The key of

- a text is the text in Unicode's normal form C, with nothing else changed: "007" is not "7", " 7" is not "7", "Ada" is
  not "ada", "3.0" is not "3";
- a whole number is its decimal digits, after a minus where it is below 0: 3, 3.0 and "3" are one person, and so are 0
  and −0.0;
- a boolean is "true" or "false": True and "true" are one person, and "True" is another;
- a date is its text, as "2026-01-31".

None, NaN, NaT and pandas' NA are nobody. A value that may stand for several people is refused: a float with a fraction,
a float so large that its type does not tell whole numbers apart (from 2¹¹ in 16 bits, 2²⁴ in 32, 2⁵³ in 64), a time of
a column that is read to the second, and bytes. So is a text that is not whole Unicode.

The key of a key is the key itself, so that what keeps keys may be asked by key.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.domains.categories import spelling
from bruit.domains.domain import DictionaryColumn, check_whole
from bruit.domains.missing import is_missing
from bruit.engines.batch import EXACT_DOUBLE, RoundedFloat, exact_below
from bruit.errors import DataError, DataTypeError

#: Whole numbers beyond this many digits are known by their text.
_DIGITS = 18
_WHOLE = re.compile(rf"0|-?[1-9][0-9]{{0,{_DIGITS - 1}}}")
_KNOWN_BY = "A person must be known by a whole number or a text."


class Keys(NamedTuple):
    """Keys, of which several may be equal and None is nobody, and which of them each row has; −1 is nobody too."""

    entries: list[str | None]
    positions: NDArray[Any]

    def of_rows(self) -> list[str | None]:
        """The key of each row."""
        table = [*self.entries, None]
        return [table[place] for place in self.positions.tolist()]


def key(value: Any) -> str:
    """The key of one value that is not missing, of a column that `keys` would take.

    >>> key(3), key(3.0), key("3"), key("3.0"), key(True), key("Jose\N{COMBINING ACUTE ACCENT}") == key("José")
    ('3', '3', '3', '3.0', 'true', True)
    """
    return unicodedata.normalize("NFC", spelling(value))


def text_keys(names: Iterable[str]) -> list[str]:
    """The keys of texts."""
    texts = list(names)
    check_whole(texts)
    return [key(text) for text in texts]


def keys(column: Any) -> Keys:
    """The keys of a batch's column; a column that may take two people for one is refused.

    >>> keys(np.array([7, 3, 7])).of_rows()
    ['7', '3', '7']
    """
    check(column)
    if isinstance(column, DictionaryColumn):
        entries, positions = column.entries.tolist(), column.positions
    elif column.dtype.kind in "OU":
        entries, positions = column.tolist(), np.arange(column.size)
    else:
        distinct, positions = np.unique(column, return_inverse=True)
        entries = (distinct.astype(np.float64) if column.dtype.kind == "f" else distinct).tolist()
    check_whole(entries)
    return Keys([None if is_missing(value) else key(value) for value in entries], positions)


class People(NamedTuple):
    """Which person each row belongs to, −1 where there is none, and two words by which each person is hashed."""

    codes: NDArray[np.int64]
    words: NDArray[np.uint64]


def people(column: Any) -> People:
    """The people of a column, told apart exactly.

    >>> visitors = people(np.array([7, 3, 7]))
    >>> visitors.codes.tolist(), len(visitors.words)
    ([1, 0, 1], 2)
    """
    if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "iu":
        # As `keys` would tell them apart, without a text for each number.
        distinct, codes = np.unique(column, return_inverse=True)
        return People(codes.astype(np.int64), _words_of_numbers(distinct))
    entries, positions = keys(column)
    known: dict[str, int] = {}
    numbers = [-1 if entry is None else known.setdefault(entry, len(known)) for entry in entries]
    table = np.append(np.array(numbers, np.int64), -1)
    words = np.array([words_of_text(entry) for entry in known], np.uint64).reshape(-1, 2)
    return People(table[positions], words)


def words_of_text(text: str) -> tuple[int, int]:
    """The two words by which a text is hashed; a whole number is hashed as such."""
    if _WHOLE.fullmatch(text):
        return int(text) % 2**64, 0
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _words_of_numbers(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    words = np.zeros((numbers.size, 2), np.uint64)
    words[:, 0] = numbers.astype(np.int64).view(np.uint64)  # one too large for 64 bits with a sign is among the long
    limit = 10**_DIGITS
    # Compared in the type of the column, where the limit fits; narrow types have no such numbers.
    if numbers.dtype.itemsize == 8:
        long = (numbers >= limit) | (numbers <= -limit if numbers.dtype.kind == "i" else False)
        for place in np.flatnonzero(long):
            words[place] = words_of_text(str(int(numbers[place])))
    return words


def column_words(column: Any) -> NDArray[np.uint64]:
    """Two words for each row of a column, which tell its values apart; 3 and "3" have the same, a gap has zeros."""
    if isinstance(column, DictionaryColumn):
        values, places = column.entries.tolist(), column.positions
    else:
        distinct, places = np.unique(column, return_inverse=True)
        values = distinct.tolist()
    words = [(0, 0) if is_missing(value) else words_of_text(key(value)) for value in values]
    out: NDArray[np.uint64] = np.array([*words, (0, 0)], np.uint64)[places]
    return out


def check(column: Any) -> None:
    """Refuse a column whose kind or whose floats may take two people for one."""
    if isinstance(column, DictionaryColumn):
        _check_floats(column.entries.tolist())
        return
    if column.ndim != 1 or column.dtype.kind not in "buifOUM":
        raise DataTypeError(_KNOWN_BY)
    if column.dtype.kind == "M" and np.datetime_data(column.dtype)[0] != "D":
        raise DataTypeError(f"{_KNOWN_BY} Times are read to the second, where different people look the same.")
    if column.dtype.kind == "f":
        _check_numbers(column, exact_below(column.dtype))
    if column.dtype.kind == "O":
        _check_floats(column.tolist())


def _check_floats(values: list[Any]) -> None:
    """The same of floats among other values, where those of narrow types are marked."""
    if any(isinstance(value, RoundedFloat) for value in values):
        raise _rounded()
    _check_numbers(np.array([value for value in values if isinstance(value, float)]), EXACT_DOUBLE)


def _check_numbers(numbers: NDArray[Any], limit: float) -> None:
    present = numbers[~np.isnan(numbers)]
    if (np.abs(present) >= limit).any():
        raise _rounded()
    if (present != np.floor(present)).any():
        raise DataError(
            f"{_KNOWN_BY} These are numbers with digits behind the point, which may have lost their last ones, so that "
            "different people look the same. Read the column as text."
        )


def _rounded() -> DataError:
    return DataError(
        f"{_KNOWN_BY} These are floats of 2⁵³ and beyond (of 32 bits, 2²⁴; of 16 bits, 2¹¹), which have lost their "
        "last digits, so that different people look the same. Read the column as text."
    )
