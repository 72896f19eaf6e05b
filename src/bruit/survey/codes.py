"""Codes: a report as a few letters and digits, which people hand in by whatever their class uses already.

A code is made of 32 letters and digits, five bits each, in groups of four. From left to right it has one character for
the title of the survey, two that mark its whole text, the payload, and four check characters.

**Payload.** One number: a random id, the answers that are sent in clear, and the report, each as a digit of its own
size. The id takes all the room that the others leave. The payload is as short as the id allows: ids of the expected
people, of 1,000 at least, meet less than .05 times on average. So one file makes one length.

**Check characters.** A Reed–Solomon code over the field of 32 elements, which has 31 places; hence the longest code.
Four of its characters refuse up to four wrong characters anywhere with certainty, and every swap of neighbours. They
also find one or two wrong characters, so that the group is known in which somebody mistyped. A constant is added to
them: without it, zeros could move from the beginning of a code to its end.

**Marks.** The mark of the text is a hash of the payload under a key that only this text has. It costs the ten bits of
an ordinary mark. But damage that passes the check characters has to guess it as well, and so has a code of another
text, fresh for each code. The mark of the title is in clear, and tells another survey from another text of this one.

Rounds are not for codes: a memo needs somebody who lets one device of a person have it, and that is the collector.
``codes.proof.md`` has the arguments.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit.errors import DataError, LimitError, ParameterError
from bruit.survey.body import ID_LENGTH, Report

if TYPE_CHECKING:
    from bruit.survey.survey import Survey

#: The letters and digits of a code: no I, L, O and U. A reader takes them for 1, 1, 0 and V, and small letters as well.
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: How many characters stand together.
GROUP = 4
#: The characters of the marks and of the check, and the most that a code has.
TITLE, TEXT, CHECK = 1, 2, 4
MOST = 31
#: For how many people ids are drawn at least, and how often two of them may meet on average.
PEOPLE = 1_000
MOST_COLLISIONS = 0.05
#: What is added to the check characters.
_CONSTANT = (25, 18, 7, 12)
_BITS = 5
_MARK_BITS = _BITS * TEXT
_READ = {**{letter: place for place, letter in enumerate(LETTERS)}, "O": 0, "I": 1, "L": 1, "U": LETTERS.index("V")}


class CodeState(Enum):
    """What a code is."""

    GOOD = "good"
    MISTYPED = "mistyped"
    OTHER_TEXT = "of another text of this survey"
    OTHER_SURVEY = "of another survey"


class CodeReading(NamedTuple):
    """What stands in a code.

    Attributes
    ----------
    state
        Whether it is a code of this survey, and what else it is.
    report
        The report of a good code; else None.
    groups
        The groups of four in which a mistyped code is wrong, from 1; empty where that cannot be known.
    """

    state: CodeState
    report: Report | None = None
    groups: tuple[int, ...] = ()


class CodeSlot(NamedTuple):
    """A part of the payload: whose it is, its name, and how many values it has."""

    role: str
    name: str
    size: int


@dataclass(frozen=True, eq=False)
class CodeForm:
    """The form of the codes of a survey.

    Parameters
    ----------
    survey
        The survey; without rounds.

    Guarantee
    ---------
    A code is a function of one report of the plan, the answers that are sent in clear, the survey, and an id that is
    drawn on its own. So ``plan.guarantee`` holds against everyone who sees it. ``codes.proof.md`` has the argument.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bruit.survey import Survey
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "survey.toml"
    ...     _ = path.write_text('''
    ... title = "Alcohol at school"
    ... epsilon = 1.0
    ... [[question]]
    ... name = "drinks"
    ... text = "Have you drunk alcohol this week?"
    ... kind = "yes-no"
    ... ''')
    ...     survey = Survey.load(path)
    >>> survey.codes.length, round(survey.codes.collisions(1_000), 3)
    (12, 0.03)
    >>> code = survey.answer_code({"drinks": "Yes"})
    >>> len(code), survey.codes.read(code.lower().replace("-", " ")).state.value
    (14, 'good')
    """

    survey: Survey

    def __post_init__(self) -> None:
        if self.survey.has_rounds:
            raise ParameterError(
                "A survey with rounds cannot be answered by codes: what a device draws from again needs a collector "
                "and personal links (bruit survey open FILE --links)."
            )
        if self.survey.is_assigned:
            raise ParameterError(
                "A survey in rotation is answered by personal links, which no code carries: leave assign out."
            )
        _ = self.length

    # The payload.

    @cached_property
    def slots(self) -> tuple[CodeSlot, ...]:
        """The parts of the payload behind the id: answers in clear, then the columns of the report."""
        clear = [CodeSlot("public", name, len(labels)) for name, labels in self.survey.public.items()]
        return (*clear, *(CodeSlot("report", name, size) for name, size in self._columns().items()))

    def _columns(self) -> dict[str, int]:
        """How many messages each column of a report may have."""
        card = self.survey.card
        sizes = [_messages(question) for question in card.questions]
        by_column = sizes if card.weights is None else [len(sizes), max(sizes)]  # one question is drawn, and named
        return dict(zip(card.columns, by_column, strict=True))

    @cached_property
    def states(self) -> int:
        """How many different contents there are besides the id."""
        return math.prod(slot.size for slot in self.slots)

    @cached_property
    def length(self) -> int:
        """How many characters every code of the survey has."""
        people = max(self.survey.expected or 0, PEOPLE)
        for length in range(TITLE + TEXT + CHECK + 1, MOST + 1):
            if self._ids(length) and _collisions(people, self._ids(length)) <= MOST_COLLISIONS:
                return length
        raise LimitError(
            f"The answers to this survey do not fit into a code of {MOST} characters: ask fewer questions, or with "
            "fewer labels."
        )

    def _ids(self, length: int) -> int:
        """How many ids there are in codes of this length."""
        return int(1 << _BITS * (length - TITLE - TEXT - CHECK)) // self.states

    @property
    def ids(self) -> int:
        """How many ids there are."""
        return self._ids(self.length)

    def collisions(self, people: int) -> float:
        """How many pairs of people have the same id on average.

        Parameters
        ----------
        people
            How many people there are.
        """
        return _collisions(people, self.ids)

    # The marks.

    @cached_property
    def title_mark(self) -> int:
        """The mark of the title: the same as long as the title in the first language is."""
        title = self.survey.title[self.survey.languages[0]]
        return hashlib.sha256(f"bruit.code title {title}".encode()).digest()[0] % len(LETTERS)

    @cached_property
    def key(self) -> tuple[int, int, int]:
        """The factor, the summand and the number of bits of the hash that marks the whole text."""
        bits = _BITS * (self.length - TITLE - TEXT - CHECK) + _MARK_BITS
        size = (bits + 7) // 8
        stream = hashlib.shake_256(f"bruit.code text {self.survey.digest}".encode()).digest(2 * size)
        factor, summand = (int.from_bytes(part, "big") % (1 << bits) for part in (stream[:size], stream[size:]))
        return factor, summand, bits

    def text_mark(self, payload: int) -> int:
        """The mark of the text in the code of a payload; 2-independent over keys, as multiply-shift hashing is."""
        factor, summand, bits = self.key
        return (factor * payload + summand) % (1 << bits) >> bits - _MARK_BITS

    # Codes.

    def write(self, ident: int, public: Sequence[int], columns: Mapping[str, str]) -> str:
        """A code in groups of four.

        Parameters
        ----------
        ident
            The id, below `ids`.
        public
            The places of the answers that are sent in clear.
        columns
            The randomised report: a text for each column.
        """
        forms = self.survey.card.columns
        values = [*public, *(forms[name].number(text) for name, text in columns.items())]
        payload = ident
        for slot, value in zip(self.slots, values, strict=True):
            payload = payload * slot.size + value
        head = [self.title_mark, *_digits(self.text_mark(payload), TEXT)]
        body = [*head, *_digits(payload, self.length - TITLE - TEXT - CHECK)]
        return grouped(spelt([*body, *check_digits(body)]))

    def draw(self, public: Sequence[int], columns: Mapping[str, str]) -> str:
        """The code of a report, with a new id.

        Parameters
        ----------
        public, columns
            As for `write`.
        """
        return self.write(_below(self.ids), public, columns)

    def read(self, text: str) -> CodeReading:
        """What a code says that came from outside, with or without spaces and hyphens.

        Parameters
        ----------
        text
            The code.
        """
        digits = digits_of(text)
        if digits is None or not TITLE + TEXT + CHECK < len(digits) <= MOST:
            return CodeReading(CodeState.MISTYPED)
        (sound,) = is_sound(np.array([digits], np.uint8))
        reading = self.reading(digits, bool(sound))
        if reading.report is None:
            return reading
        try:
            self.survey.parse(self.survey.body.fill(reading.report))
        except DataError:
            return CodeReading(CodeState.MISTYPED)
        return reading

    def reading(self, digits: Sequence[int], sound: bool) -> CodeReading:
        """The same from the numbers of its characters. Whether the law can give its messages, the plan must say.

        Parameters
        ----------
        digits
            The places of its characters in `LETTERS`.
        sound
            What `is_sound` says of them.
        """
        if not sound:
            return CodeReading(CodeState.MISTYPED, None, self._wrong_groups(digits))
        if digits[0] != self.title_mark:
            return CodeReading(CodeState.OTHER_SURVEY)
        payload = _number(digits[TITLE + TEXT : -CHECK])
        if len(digits) != self.length or _number(digits[TITLE : TITLE + TEXT]) != self.text_mark(payload):
            return CodeReading(CodeState.OTHER_TEXT)
        ident, state = divmod(payload, self.states)
        if ident >= self.ids:
            return CodeReading(CodeState.MISTYPED)
        return CodeReading(CodeState.GOOD, self._report(ident, state))

    def _report(self, ident: int, state: int) -> Report:
        """The report of a payload."""
        values: dict[tuple[str, str], int] = {}
        for role, name, size in reversed(self.slots):
            state, values[role, name] = divmod(state, size)
        forms = self.survey.card.columns
        columns = {name: form.text(values["report", name]) for name, form in forms.items()}
        public = tuple(values["public", name] for name in self.survey.public)
        return Report(ident.to_bytes(ID_LENGTH // 2, "big"), "", public, 1, columns)

    def _wrong_groups(self, digits: Sequence[int]) -> tuple[int, ...]:
        """The groups of a code with one or two wrong characters, if correcting them gives a code of this survey."""
        if len(digits) != self.length:
            return ()
        for errors in _errors(digits):
            mended = list(digits)
            for place, error in errors:
                mended[place] ^= error
            if self.reading(mended, True).state is CodeState.GOOD:
                return tuple(sorted({place // GROUP + 1 for place, _ in errors}))
        return ()

    def to_dict(self) -> dict[str, Any]:
        """What a page needs to write codes; numbers as texts."""
        factor, summand, bits = self.key
        return {
            "length": self.length,
            "title": self.title_mark,
            "key": [str(factor), str(summand), str(bits)],
            "ids": str(self.ids),
            "slots": [[role, name, str(size)] for role, name, size in self.slots],
        }


def spelt(digits: Sequence[int]) -> str:
    """The characters of a code, without hyphens.

    >>> spelt([0, 1, 31])
    '01Z'
    """
    return "".join(LETTERS[digit] for digit in digits)


def grouped(code: str) -> str:
    """A code in groups of four.

    >>> grouped("ABCDEFGHJKMN")
    'ABCD-EFGH-JKMN'
    """
    return "-".join(code[start : start + GROUP] for start in range(0, len(code), GROUP))


def digits_of(text: str) -> list[int] | None:
    """The numbers of the characters of a code, without spaces and hyphens; None where another character is among them.

    >>> digits_of("0o-1l z"), digits_of("?")
    ([0, 0, 1, 1, 31], None)
    """
    digits = [_READ.get(letter) for letter in text.upper() if not (letter.isspace() or letter in HYPHENS)]
    known = [digit for digit in digits if digit is not None]
    return known if len(known) == len(digits) else None


#: What may stand between the characters of a code: hyphens and dashes, the dot, and what marks invisible places.
HYPHENS = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212_.·\u00ad\u200b\ufeff"


# The field of 32 elements.


@cache
def _tables() -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """Powers of the generator by exponent, exponents by element, and products."""
    powers = np.zeros(62, np.uint8)
    element = 1
    for exponent in range(62):
        powers[exponent] = element
        element <<= 1
        element ^= 0x25 if element & 32 else 0  # x⁵ = x² + 1
    exponents = np.zeros(32, np.int64)
    exponents[powers[:31]] = np.arange(31)
    products = powers[exponents[:, None] + exponents[None, :]]
    products[0, :] = products[:, 0] = 0
    return powers, exponents, products


@cache
def _generator() -> tuple[int, ...]:
    """The coefficients of (x − α)(x − α²)(x − α³)(x − α⁴) below the leading one, the highest first."""
    powers, _, products = _tables()
    coefficients = [1]
    for root in range(1, CHECK + 1):
        shifted = [*coefficients, 0]
        for place, coefficient in enumerate(coefficients):
            shifted[place + 1] ^= int(products[coefficient, powers[root]])
        coefficients = shifted
    return tuple(coefficients[1:])


def check_digits(body: Sequence[int]) -> list[int]:
    """The check characters behind all others: the rest of a division by the generator, and the constant.

    Parameters
    ----------
    body
        The numbers of the other characters.
    """
    products, generator = _tables()[2], _generator()
    rest = [0] * CHECK
    for digit in body:
        first = digit ^ rest[0]
        rest = [after ^ int(products[first, factor]) for after, factor in zip([*rest[1:], 0], generator, strict=True)]
    return [own ^ constant for own, constant in zip(rest, _CONSTANT, strict=True)]


def syndromes(words: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The values of codes at the roots of the generator, a row for each; all 0 where the check characters fit.

    Parameters
    ----------
    words
        The numbers of their characters, a row for each code.
    """
    powers, _, products = _tables()
    roots = powers[1 : CHECK + 1]
    values = np.zeros((len(words), CHECK), np.uint8)
    plain = words.copy()
    plain[:, -CHECK:] ^= np.array(_CONSTANT, np.uint8)
    for column in plain.T:
        values = products[values, roots] ^ column[:, None]
    return values


def is_sound(words: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether the check characters of codes fit.

    Parameters
    ----------
    words
        The numbers of their characters, a row for each code.
    """
    return np.asarray(syndromes(words).max(axis=1, initial=0) == 0)


def _errors(digits: Sequence[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    """The wrong places and what is to be added there, if one or two are wrong."""
    powers, exponents, products = _tables()
    known = [int(value) for value in syndromes(np.array([list(digits)], np.uint8))[0]]
    locators = [int(powers[(len(digits) - 1 - place) % 31]) for place in range(len(digits))]

    def over(dividend: int, divisor: int) -> int:
        return int(powers[(exponents[dividend] - exponents[divisor]) % 31]) if dividend else 0

    def explains(errors: tuple[tuple[int, int], ...]) -> bool:
        values = [error for _, error in errors]
        for value in known:
            values = [int(products[own, locators[place]]) for own, (place, _) in zip(values, errors, strict=True)]
            if np.bitwise_xor.reduce(values) != value:
                return False
        return all(error for _, error in errors)

    for place, locator in enumerate(locators):
        single = ((place, over(known[0], locator)),)
        if explains(single):
            yield single
    for first, locator in enumerate(locators):
        for second in range(first + 1, len(locators)):
            other = locators[second]
            # S₁ = aX + bY and S₂ = aX² + bY² give b = (S₂ + S₁X) / (Y(X + Y)).
            numerator = known[1] ^ int(products[known[0], locator])
            last = over(numerator, int(products[other, locator ^ other]))
            rest = known[0] ^ int(products[last, other])
            pair = ((first, over(rest, locator)), (second, last))
            if explains(pair):
                yield pair


# Numbers.


def _messages(question: Any) -> int:
    """How many messages the form of a question of a card has room for, or its law, where these are numbers."""
    messages: int = 1 << 8 * question.form.size if question.form.is_bytes else question.law.messages
    return messages


def _digits(number: int, length: int) -> list[int]:
    """A number in base 32, the highest first."""
    return [number >> _BITS * place & 31 for place in reversed(range(length))]


def _number(digits: Sequence[int]) -> int:
    number = 0
    for digit in digits:
        number = number << _BITS | digit
    return number


def _below(limit: int) -> int:
    """A random number below a limit, all alike."""
    entropy, bits = Entropy(), (limit - 1).bit_length()
    while True:
        number = int.from_bytes(entropy.bytes((bits + 7) // 8), "big") & ((1 << bits) - 1)
        if number < limit:
            return number


def _collisions(people: int, ids: int) -> float:
    return people * (people - 1) / (2 * ids)
