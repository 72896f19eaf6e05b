"""One wording for every bad parameter: what it must be, and what was given.

Only public parameters pass through here. Data never do, because these messages show what was given.
Each check takes one keyword, whose name is the parameter's name in the message, and returns the clean value.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import math
import operator
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

from bruit.errors import BruitError, LimitError, ParameterError, ParameterTypeError, WeakPrivacyWarning

Choice = TypeVar("Choice", bound=str)
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

#: ε for which every law meets its promise of one part in 10⁹ with 64-bit weights.
EPSILON_LIMITS = (0.001, 20.0)
#: An ε above this is warned of where it is spent.
WEAK_EPSILON = 10.0
#: A sum of shares may be greater than their total by roundings.
_HAIR = 1e-9
_ANY_EPSILON: ContextVar[bool] = ContextVar("any_epsilon", default=False)
#: Domain sizes for which the same holds.
K_LIMITS = (2, 1_000_000)


def positive(**parameter: Any) -> float:
    """A finite number above 0."""
    return _real(parameter, "a finite number above 0", lambda number: math.isfinite(number) and number > 0)


def non_negative(**parameter: Any) -> float:
    """A finite number, 0 or above."""
    return _real(parameter, "a finite number, 0 or above", lambda number: math.isfinite(number) and number >= 0)


def finite(**parameter: Any) -> float:
    """Any finite number."""
    return _real(parameter, "a finite number", math.isfinite)


def probability(**parameter: Any) -> float:
    """A number strictly between 0 and 1."""
    return _real(parameter, "a number between 0 and 1", lambda number: 0 < number < 1)


def fraction(**parameter: Any) -> float:
    """A number from 0 to 1, both included."""
    return _real(parameter, "a number from 0 to 1", lambda number: 0 <= number <= 1)


def integer(*, low: int | None = None, high: int | None = None, **parameter: Any) -> int:
    """A whole number, between `low` and `high` where they are given."""
    name, value = _single(parameter)
    number = whole(value)
    if number is not None and (low is None or number >= low) and (high is None or number <= high):
        return number
    kind = ParameterTypeError if number is None else ParameterError
    raise kind(f"{name} must be {_integer_rule(low, high)}, got {_shown(value)}.")


def whole(value: Any) -> int | None:
    """A whole number as a plain int, and None for anything else, booleans too."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def epsilon(**parameter: Any) -> float:
    """An ε within the limits of the exact laws."""
    name, value = _single(parameter)
    number = positive(**parameter)
    low, high = EPSILON_LIMITS
    if not low <= number <= high:
        raise LimitError(
            f"{name} must lie in {low}..{high:g}, got {_shown(value)}: beyond these limits the integer law "
            "cannot meet its ε to one part in 10⁹."
        )
    return number


def spent_epsilon(*, of: str = "", **parameter: Any) -> float:
    """An ε that a release, a model or a publication spends: above 0, and at most that of the exact laws.

    `of` says what spends it, where a sum is checked.
    """
    number = positive(**parameter)
    name, high = next(iter(parameter)), EPSILON_LIMITS[1]
    if number > high * (1 + _HAIR) and not _ANY_EPSILON.get():
        raise LimitError(
            f"{name}{of} must be at most {high:g}, got {_shown(number)}: above that nobody is protected. Most releases "
            "take 0.1 to 1. The budget of a ledger may be larger."
        )
    return number


def spent_rho(**parameter: Any) -> float:
    """A ρ that is spent: above 0, and at most what ε = 20 implies, ε²/2 = 200."""
    number = positive(**parameter)
    name, high = next(iter(parameter)), EPSILON_LIMITS[1]
    if number > high**2 / 2 and not _ANY_EPSILON.get():
        raise LimitError(
            f"{name} must be at most {high**2 / 2:g}, got {_shown(number)}: that is the ρ of ε = {high:g}, and above "
            "it nobody is protected."
        )
    return number


def warn_of_weak(epsilon: float) -> None:
    """Warn of an ε above 10, in words that anybody understands.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_weak(15.0)
    >>> print(caught[0].message)
    ε = 15 protects hardly at all: somebody who guessed 50 % could become 99.99996 % sure.
    """
    if epsilon > WEAK_EPSILON and not _ANY_EPSILON.get():
        doubt = 100 * math.exp(-epsilon) / (1 + math.exp(-epsilon))
        places = max(2, -math.floor(math.log10(doubt)))
        sure = math.floor((100 - doubt) * 10**places) / 10**places
        warnings.warn(
            f"ε = {epsilon:g} protects hardly at all: somebody who guessed 50 % could become {sure:.{places}f} % sure.",
            WeakPrivacyWarning,
            stacklevel=3,
        )


@contextlib.contextmanager
def any_epsilon() -> Iterator[None]:
    """Within the block an ε has no upper limit: for studies that repeat published figures, and for tests of limits."""
    token = _ANY_EPSILON.set(True)
    try:
        yield
    finally:
        _ANY_EPSILON.reset(token)


def domain_size(**parameter: Any) -> int:
    """A number of categories within the limits of the exact laws."""
    name, value = _single(parameter)
    low, high = K_LIMITS
    number = integer(low=low, **parameter)
    if number > high:
        raise LimitError(
            f"{name} must be at most {high:,}, got {_shown(value)}: beyond this limit the integer law "
            "cannot meet its ε to one part in 10⁹."
        )
    return number


def is_whole(text: str) -> bool:
    """Whether a text has no half characters: a surrogate without its pair, which no file can hold.

    >>> is_whole("Zoë"), is_whole("\\ud83d")
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:  # it holds the text, and goes no further
        return False
    return True


def whole_text(**parameter: Any) -> str:
    """A text without half characters."""
    name, value = _single(parameter)
    if not isinstance(value, str):
        raise ParameterTypeError(f"{name} must be a text, got {_shown(value)}.")
    if not is_whole(value):
        raise ParameterError(f"{name} must be whole Unicode: it has half of a surrogate pair. Mend its encoding.")
    return value


def one_of(choices: Iterable[Choice], **parameter: Any) -> Choice:
    """One of a few words."""
    name, value = _single(parameter)
    known = tuple(choices)
    if isinstance(value, str) and value in known:
        return known[known.index(value)]
    words = ", ".join(repr(choice) for choice in known)
    kind = ParameterError if isinstance(value, str) else ParameterTypeError
    raise kind(f"{name} must be one of {words}, got {_shown(value)}.{suggestion(value, known)}")


def normal_form(text: str) -> str:
    """A declared text in Unicode normal form C; one with long runs of marks is refused, for they are slow to sort.

    >>> normal_form("e\u0301")
    'é'
    """
    if text.isascii():
        return text
    if has_many_marks(text):
        raise LimitError(f"A text may have at most {_MOST_MARKS} combining marks in a row.")
    return unicodedata.normalize("NFC", text)


def has_many_marks(text: str) -> bool:
    """Whether a text has a run of combining marks that takes long to put in order."""
    marks = 0
    for character in text:
        marks = marks + 1 if _is_mark(character) else 0
        if marks > _MOST_MARKS:
            return True
    return False


def with_few_marks(text: str) -> str:
    """A text without the marks of a run that are too many, so that it is put in order quickly.

    >>> len(with_few_marks("a" + 1000 * "\u0301")), with_few_marks("e\u0301te")
    (31, 'éte')
    """
    if text.isascii() or not has_many_marks(text):
        return text
    kept, marks = [], 0
    for character in text:
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def _is_mark(character: str) -> bool:
    """Whether a character is a combining mark, or is taken apart into some."""
    return unicodedata.combining(character) > 0 or character in _MADE_OF_MARKS


#: The characters that are no marks themselves and that NFKC takes apart into marks.
_MADE_OF_MARKS = frozenset("\u0f73\u0f75\u0f81\uff9e\uff9f")
#: As many marks in a row as Unicode's stream-safe text has; sorting them takes the square of their number.
_MOST_MARKS = 30


def known_keys(keys: Iterable[Any], known: Iterable[str], where: str = "") -> None:
    """Keys of a file that a person writes; an unknown one is an error that says which there are.

    >>> known_keys(["titel"], ["title", "table"])
    Traceback (most recent call last):
    bruit.errors.ParameterError: 'titel' is no key here. Did you mean 'title'? There are title, table.
    """
    names = list(known)
    for key in keys:
        if key not in names:
            raise ParameterError(
                f"{where}{_shown(key)} is no key here.{suggestion(key, names)} There are {', '.join(names)}."
            )


def renamed(
    new: Mapping[str, str],
) -> Callable[[Callable[Arguments, Returned]], Callable[Arguments, Returned]]:
    """A function that answers an option which it had once, or has by another name, with what to write."""

    def decorate(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
        @functools.wraps(function)
        def checked(*arguments: Arguments.args, **options: Arguments.kwargs) -> Returned:
            for name in options:
                if name in new:
                    raise ParameterTypeError(f"There is no option {name!r}: write {new[name]}.")
            return function(*arguments, **options)

        return checked

    return decorate


def suggestion(name: Any, known: Iterable[Any]) -> str:
    """A question after a wrong name: the known one that is most like it, with a space before; nothing if none is.

    >>> suggestion("maritall", ["age", "marital"]), suggestion("zebra", ["age", "marital"])
    (" Did you mean 'marital'?", '')
    """
    spelt = {_folded(other): other for other in known if isinstance(other, str)}
    if not isinstance(name, str):
        return ""
    word = _folded(name)
    close = difflib.get_close_matches(word, spelt, n=3, cutoff=_ALIKE)
    # Of names that are as close, the one that begins alike: GRR for GR, and not PGR.
    close.sort(key=lambda other: (difflib.SequenceMatcher(None, other, word).ratio(), other[:1] == word[:1]))
    return f" Did you mean {_shown(spelt[close[-1]])}?" if close else ""


def _folded(name: str) -> str:
    """A name without what people confuse most: its case, spaces around it, and what joins its words."""
    return re.sub(r"[\s_-]", "_", name.strip().casefold())


#: How alike two names must be for one to be suggested in place of the other.
_ALIKE = 0.66


#: What Python would turn into a number, and no person would.
_NO_NUMBERS = (bool, str, bytes)


def _single(parameter: dict[str, Any]) -> tuple[str, Any]:
    ((name, value),) = parameter.items()
    return name, value


def _real(parameter: dict[str, Any], rule: str, holds: Callable[[float], bool]) -> float:
    """The parameter as a float that obeys the rule; text and booleans are not numbers, however convertible."""
    name, value = _single(parameter)
    kind: type[BruitError] = ParameterTypeError
    if not isinstance(value, _NO_NUMBERS):
        try:
            number = float(value)
            if holds(number):
                return number
            kind = ParameterError
        except OverflowError:
            kind = ParameterError
        except (TypeError, ValueError):
            pass
    raise kind(f"{name} must be {rule}, got {_shown(value)}.")


def _integer_rule(low: int | None, high: int | None) -> str:
    if low is not None and high is not None:
        return f"a whole number in {low}..{high}"
    if low is not None:
        return f"a whole number, {low} or above"
    return "a whole number"


def _shown(value: Any) -> str:
    """`value` for a message: short, and only if it is a plain parameter, never an array."""
    if value is None or isinstance(value, bool | int | float | str | Fraction):
        text = repr(value) if isinstance(value, str) else str(value)
        return text if len(text) <= 40 else text[:37] + "..."
    return f"a {type(value).__name__}"
