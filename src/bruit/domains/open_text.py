"""Open answers: any short text, as people type it.

Two spellings of one answer are one code: case, accents that no sign stands for, what shows nothing, kinds of dashes and
apostrophes, and spaces around and between words do not count. A code holds the first letters of the text, 6 bits each,
the first letter highest. Longer texts that begin alike are one answer, also where a word ends there. So a prefix of a
text is a prefix of the bits of its code. Letters of other scripts and pictures have one sign together. A text of these
alone, or of marks such as a dash, says nothing, so it is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.categories import python_values, spelling
from bruit.domains.domain import DictionaryColumn, Domain, checked_codes, column
from bruit.domains.missing import is_missing
from bruit.domains.outside import Outside
from bruit.domains.policy import Read
from bruit.errors import BruitError, DataTypeError, FormatError, ParameterError, translated
from bruit.typing import ColumnLike

#: How many bits a letter takes.
LETTER_BITS = 6
#: The most letters of a code: 48 bits.
MOST_LETTERS = 8
#: What stands for each letter that has no sign of its own.
OTHER_SIGN = "�"
#: How many characters of a text are looked at: to put a long run of accents in order takes the square of its length.
_LOOKED_AT = 200
#: The sign of each of 64 numbers. The first ends a text, the second is every letter that has no sign of its own.
SIGNS = "\0" + OTHER_SIGN + " abcdefghijklmnopqrstuvwxyz0123456789-'./&" + "àáâäçèéêëíîïñóôöùúûü"
#: Letters that are written with others, apostrophes and dashes.
_SPELT_OUT = {
    **{"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i"},
    **dict.fromkeys("\u02bc\u2018\u2019\u201b\u2032`", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}
#: What shows nothing: the sign of an end, soft hyphens, joiners, fillers, marks of direction, variation selectors.
_UNSEEN = re.compile(
    "[\0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: Accents that stand by themselves because no letter has them.
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_CODE = {sign: code for code, sign in enumerate(SIGNS)}
#: The signs that alone are no answer: letters without a sign of their own, spaces, and marks such as a dash.
_NO_ANSWER = {_CODE[sign] for sign in f"{OTHER_SIGN} -'./&"}


def seen(text: str) -> str:
    """A text without what shows nothing."""
    return _UNSEEN.sub("", text)


def normalised(text: str) -> str:
    """A text as open answers are compared: what is seen of it, by NFKC, in lower case, with one space between words.

    Accents that no sign stands for do not count; letters of other scripts keep theirs.

    >>> normalised("  L’ÉCOLE   Maternelle "), normalised("İstanbul")
    ("l'école maternelle", 'istanbul')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen(text)).casefold())
    return " ".join("".join(map(_plain, _ACCENTS.sub("", folded))).split())


def _plain(letter: str) -> str:
    """The sign or the spelling of a letter; of one that has neither, those of the letter without its accents."""
    if letter in _CODE:
        return letter
    base = unicodedata.normalize("NFD", letter)[0]
    return _SPELT_OUT.get(base, base if base in _CODE else letter)


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenText(Domain):
    """Any text, of which the first letters count.

    Parameters
    ----------
    letters
        How many letters count, 8 at most. Texts that agree in them are one answer.
    missing
        ``"refuse"`` or ``"drop"``. A text is missing without a letter or digit of the Latin script among those that
        count.

    Examples
    --------
    >>> answers = OpenText()
    >>> codes = answers.encode(["Noise", " NOISE ", "homework", "homeworks"])
    >>> len(set(codes.tolist()))
    2
    >>> answers.decode(codes).tolist()
    ['noise', 'noise', 'homework', 'homework']
    """

    policies: ClassVar[tuple[Outside, ...]] = ("refuse",)
    gaps: ClassVar[str] = (
        "A text without a letter or digit of the Latin script is missing, too. Declare "
        'OpenText(missing="drop") to leave these people out.'
    )

    letters: int = MOST_LETTERS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "letters", _checks.integer(low=1, high=MOST_LETTERS, letters=self.letters))
        if self.missing == "category":
            raise ParameterError(f'missing must be "refuse" or "drop" of open answers. {self.gaps}')

    @property
    def bits(self) -> int:
        """How many bits a code has."""
        return LETTER_BITS * self.letters

    @property
    def declared(self) -> int:
        """How many codes there are: far too many to list."""
        return 1 << self.bits

    @property
    def declared_names(self) -> tuple[Any, ...]:
        """An error: the answers to an open question have no list."""
        raise ParameterError("The answers to an open question have no list: decode(codes) has the texts of some.")

    def read(self, values: ColumnLike) -> Read:
        """The values as codes; what is neither a text nor a number is outside."""
        if isinstance(values, DictionaryColumn):
            table = self._codes(column(values.entries) if len(values.entries) else np.empty(0, object))
            codes = np.append(table, _ABSENT)[values.positions]
        else:
            codes = self._codes(column(values))
        return Read(codes, codes == _ABSENT, codes == _OUTSIDE)

    def _codes(self, entries: NDArray[Any]) -> NDArray[np.int64]:
        known: dict[Any, int] = {}
        codes = np.empty(len(entries), np.int64)
        for place, text in enumerate(texts(entries)):
            if text not in known:
                known[text] = _OUTSIDE if text is None else self.code(text)
            codes[place] = known[text]
        return codes

    def code(self, text: str) -> int:
        """The code of a text, −2 where it has no letter or digit of the Latin script among those that count."""
        shown = seen(text).lstrip()[:_LOOKED_AT]
        signs = [_sign(letter) for letter in normalised(shown)[: self.letters].rstrip()]
        if not set(signs) - _NO_ANSWER:
            return _ABSENT
        signs += [0] * (self.letters - len(signs))
        return sum(sign << LETTER_BITS * place for place, sign in enumerate(reversed(signs)))

    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values are read as codes."""
        return values

    def refusal(self, read: Read) -> DataTypeError:
        """Values must be texts."""
        return DataTypeError("values must be texts or numbers.")

    def decode(self, codes: Any) -> NDArray[Any]:
        """The first letters of the texts behind codes; a code that is no text's shows an end as a space."""
        texts = np.empty(len(checked_codes(codes, self.size)), object)
        texts[:] = [self.text(int(code)) for code in np.asarray(codes).tolist()]
        return texts

    def text(self, code: int) -> str:
        """The first letters of the texts with a code."""
        places = range(LETTER_BITS * (self.letters - 1), -1, -LETTER_BITS)
        return (
            "".join(SIGNS[code >> place & (1 << LETTER_BITS) - 1] for place in places).rstrip("\0").replace("\0", " ")
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"kind": "open-text", "letters": self.letters, "missing": self.missing}

    @classmethod
    def from_dict(cls, body: Any) -> OpenText:
        """The inverse of `to_dict`."""
        rule = "An open answer must have its number of letters, and a policy for missing values."
        with translated((KeyError, TypeError, BruitError), lambda _: FormatError(rule)):
            return cls(letters=body["letters"], missing=body["missing"])


def texts(entries: NDArray[Any]) -> Iterator[str | None]:
    """The entries of a column as texts: empty where one is missing, None where it is neither text nor number.

    >>> list(texts(np.array([0.1, 3], np.float32)))
    ['0.1', '3']
    """
    for entry in python_values(entries):
        if is_missing(entry):
            yield ""
        else:
            yield spelling(entry) if isinstance(entry, str | int | float | np.generic) else None


def _sign(letter: str) -> int:
    """The number of the sign of a letter of a normalised text; all others have one together."""
    return _CODE.get(letter, _CODE[OTHER_SIGN])


#: What stands among codes for an entry that is no text, and for one without a letter.
_OUTSIDE, _ABSENT = -1, -2
