"""A question as one line of text: ``smokes=no,yes``, ``age=17..90``, ``when=2023-01-01..2023-12-31/month``.

The command line and files of questions use this spelling. What has no room on a line stands in a file of its own, one
label per line: ``town=@towns.txt``. A label with a comma, or one that reads like a range, is quoted:
``size="1..2","3 and more"``. Answers in an order have < between them: ``agree=no<hardly<yes``. A question with several
choices has them in brackets: ``sports=[run,swim]``. Three points at the end of a list stand for all other values:
``town=Bern,Basel,...``. ``smokes=?`` leaves the domain to be read from the data, which
discloses it.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, get_args

from bruit import _checks
from bruit.domains.bins import Bins
from bruit.domains.categories import Categories
from bruit.domains.choices import MultiChoice
from bruit.domains.dates import Dates, Period
from bruit.domains.domain import Domain
from bruit.domains.grid import Grid
from bruit.domains.missing import Missing
from bruit.domains.outside import Outside, check_outside, with_outside
from bruit.domains.scale import Scale
from bruit.errors import BruitError, DataError, FormatError, ParameterError, translated

#: How questions are spelt, for help texts and messages.
SPELLING = "smokes=no,yes, age=17..90, share=0..1:0.01, when=2023-01-01..2023-12-31/month or town=@towns.txt"

# Every pattern reads a text in one way only, so that the time to match grows with its length alone.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_DATE = r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?(?:T[0-9]{2}:[0-9]{2})?"
_NUMBERS = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:/(?P<cells>[0-9]{{1,9}})|:(?P<step>{_NUMBER}))?")
_DATES = re.compile(rf"({_DATE})\.\.({_DATE})(?:/(?P<every>[a-z]+))?")
_NAME = re.compile(
    r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^="]*[^="\s]))\s*(?P<equals>=?)\s*(?P<rest>.*)', re.DOTALL
)
#: What stands for all other values, behind a list.
_AND_OTHERS = ",..."
#: Spellings of a range that people try.
_DASHED = re.compile(rf"({_NUMBER})\s*(?:-|–|to|:|\.|…|\.{{3,}})\s*({_NUMBER})")


class QuestionSpelling(NamedTuple):
    """A column and the domain of its answers; None where the domain is to be read from the data."""

    name: str
    domain: Domain | None


def question(text: str, missing: Missing = "refuse", outside: Outside | None = None) -> QuestionSpelling:
    """The column and the domain that a text declares.

    Parameters
    ----------
    text
        As in the examples.
    missing
        The policy for missing values, for every kind of domain.
    outside
        The policy for values outside, for domains that can follow it and do not end in three points.

    Examples
    --------
    >>> question("smokes=no,yes").domain.labels
    ('no', 'yes')
    >>> question("age=17..90").domain.size, question("share=0..1:0.25").domain.points.tolist()
    (74, [0.0, 0.25, 0.5, 0.75, 1.0])
    >>> question("when=2023-01-01..2023-12-31/month").domain.size
    12
    >>> question("agree=no<hardly<yes").domain.to_dict()["kind"]
    'scale'
    >>> question("town=Bern,Basel,...").domain.names
    ('Bern', 'Basel', 'other')
    >>> question("smokes=?")
    QuestionSpelling(name='smokes', domain=None)
    """
    _checks.one_of(get_args(Missing), missing=missing)
    parts = _NAME.fullmatch(text.lstrip())
    if parts is None or not parts["equals"]:
        raise ParameterError(_unreadable(text))
    name = parts["plain"] or parts["quoted"].replace('""', '"')
    domain = _domain(name, parts["rest"].strip(), missing)
    return QuestionSpelling(name, domain if domain is None or domain.outside else with_outside(domain, outside))


def column_name(text: str) -> str:
    """The column that a text is about, whether it declares values or not.

    >>> column_name("age=0..120"), column_name("income")
    ('age', 'income')
    """
    parts = _NAME.fullmatch(text.lstrip())
    if parts is None:
        return text.strip()
    return str(parts["plain"] or parts["quoted"].replace('""', '"'))


class NumberQuestion(NamedTuple):
    """A column of numbers: its bounds, and the number of cells or the step where one is declared."""

    name: str
    bounds: tuple[float, float]
    cells: int | None
    step: float | None


def number_question(text: str) -> NumberQuestion:
    """The column and the bounds that a text declares, as in ``age=17..90``, ``share=0..1:0.01`` or ``age=0..120/12``.

    >>> number_question("share=0..1:0.01")
    NumberQuestion(name='share', bounds=(0, 1), cells=None, step=0.01)
    """
    parts = _NAME.fullmatch(text.lstrip())
    if parts is None or not parts["equals"]:
        raise ParameterError(
            f"The bounds of {text.strip()!r} must be declared: write {text.strip() or 'age'}=0..100, with what the "
            "numbers can be. Reading them from the data would publish the smallest and the largest record."
        )
    name, rest = parts["plain"] or parts["quoted"].replace('""', '"'), parts["rest"].strip()
    numbers = _NUMBERS.fullmatch(rest)
    if numbers is None:
        raise ParameterError(f"{name} must have a range of numbers: {_suggestion(name, rest, 'age=17..90')}")
    low, high = (_number(end) for end in numbers.group(1, 2))
    if not low < high:
        raise ParameterError(f"{name}={rest} must go upwards: write {name}={numbers[2]}..{numbers[1]}.")
    cells, step = numbers["cells"], numbers["step"]
    return NumberQuestion(name, (low, high), cells and int(cells), step and float(step))  # type: ignore[arg-type]


def weights_question(text: str) -> tuple[str, tuple[float, float]]:
    """The column of weights and their bounds, which begin at 0, as in ``stands_for=0..5``.

    >>> weights_question("stands_for=0..5")
    ('stands_for', (0, 5))
    """
    name, bounds, cells, step = number_question(text)
    if bounds[0] != 0 or cells is not None or step is not None:
        raise ParameterError(f"Weights go from 0 to the largest that a record can have: write {name}=0..{bounds[1]}.")
    return name, bounds


def counted_question(text: str, missing: Missing = "refuse", outside: Outside | None = None) -> tuple[str, Any]:
    """The column and the values that are counted of it: categories, dates, a grid, or bins as in ``age=0..100/4``.

    >>> counted_question("age=0..100/4")[1].size
    4
    """
    if re.search(r"\.\.[^,]*/[0-9]+$", text) and not re.search(r"[0-9]-[0-9]", text):
        bins = number_question(text)
        return bins.name, Bins.even(bins.bounds, bins.cells or 1, missing=missing, outside=outside)
    name, domain = question(text, missing, outside)
    if domain is None:
        raise ParameterError(
            f"The values of {name!r} must be declared, as in {name}=no,yes: reading them from the data would tell "
            "which values occur, and that is not covered by any noise."
        )
    if outside == "other":
        check_outside(outside, domain.policies)
    return name, domain


def questions(
    texts: Iterable[str], missing: Missing = "refuse", outside: Outside | None = None
) -> dict[str, Domain | None]:
    """The domains that several texts declare, by column.

    >>> list(questions(["sex=F,M", "age=17..90"]))
    ['sex', 'age']
    """
    domains: dict[str, Domain | None] = {}
    for text in texts:
        name, domain = question(text, missing, outside)
        if name in domains:
            raise ParameterError(f"Each column must be declared once, and {name!r} stands there twice.")
        domains[name] = domain
    return domains


def _domain(name: str, rest: str, missing: Missing) -> Domain | None:
    if rest == "?":
        return None
    if rest.endswith(_AND_OTHERS):
        return _open(name, rest.removesuffix(_AND_OTHERS), missing)
    if rest.startswith("@"):
        return Categories(labels=tuple(_lines(name, Path(rest[1:]))), missing=missing)
    numbers, dates = _NUMBERS.fullmatch(rest), _DATES.fullmatch(rest)
    if dates is not None:
        return _dates(name, dates, missing)
    return _categories(name, rest, missing) if numbers is None else _grid(name, numbers, missing)


def _open(name: str, rest: str, missing: Missing) -> Categories:
    """A list of values, and all others as one more."""
    if _NUMBERS.fullmatch(rest) or _DATES.fullmatch(rest) or "<" in rest or rest.startswith("[") or not rest:
        raise ParameterError(f"Three points stand behind a list of values, as in {name}=a,b{_AND_OTHERS}")
    labels = _lines(name, Path(rest[1:])) if rest.startswith("@") else _labels(name, rest, 1)
    return Categories(labels=tuple(labels), missing=missing, outside="other")


def _categories(name: str, rest: str, missing: Missing) -> Any:
    """Answers with commas between them, in an order with <, or several choices in brackets."""
    if rest.startswith("[") and rest.endswith("]"):
        return MultiChoice(tuple(_labels(name, rest[1:-1])))
    steps = [step.strip() for step in rest.split("<")]
    if len(steps) > 1 and all(steps) and not set(rest) & {",", '"'}:
        return Scale(labels=tuple(steps), missing=missing)
    return Categories(labels=tuple(_labels(name, rest)), missing=missing)


def _grid(name: str, parts: re.Match[str], missing: Missing) -> Grid:
    low, high = (_number(text) for text in parts.group(1, 2))
    if not low < high:
        raise ParameterError(f"{name}={parts[0]} must go upwards: write {name}={parts[2]}..{parts[1]}.")
    if parts["step"] is None:
        return Grid(low, high, cells=int(parts["cells"] or 0), missing=missing)
    first, last, step = (_exact(name, text) for text in (parts[1], parts[2], parts["step"]))
    steps = (last - first) / step if step > 0 else Fraction(1, 2)
    if steps.denominator != 1:
        raise ParameterError(
            f"{name}={parts[0]}: the step after the colon must divide the range evenly, as in {name}=0..1:0.01."
        )
    return Grid(low, high, cells=int(steps) + 1, missing=missing)


def _dates(name: str, parts: re.Match[str], missing: Missing) -> Dates:
    every = parts["every"] or "day"
    if every not in get_args(Period):
        periods = ", ".join(get_args(Period))
        raise ParameterError(
            f"{name}={parts[0]} must end in one of {periods}, as in {name}={parts[1]}..{parts[2]}/month."
        )
    return Dates(parts[1], parts[2], every=every, missing=missing)  # type: ignore[arg-type]


def _number(text: str) -> float:
    """A whole number as such, because a grid between whole numbers has a cell for each."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,15}", text) else _checks.finite(bound=float(text))


def _exact(name: str, text: str) -> Fraction:
    """A number as it is written. Its powers of ten are those of doubles: others take any time to compute."""
    number, mantissa = float(text), re.split("[eE]", text)[0]
    vanishes = number == 0 and re.search("[1-9]", mantissa) is not None
    if len(text) > _MOST_DIGITS or not math.isfinite(number) or vanishes:
        raise ParameterError(f"{name} must have numbers of at most {_MOST_DIGITS} characters, from 1e-307 to 1e308.")
    return Fraction(text)


#: More characters than any number has that a double can hold apart from its neighbours.
_MOST_DIGITS = 40


def _labels(name: str, rest: str, least: int = 2) -> list[str]:
    rule = (
        f"{name} must list its answers with commas between them, and quote an answer that has a comma: "
        f'{name}=no,"yes, often".'
    )
    with translated(csv.Error, lambda _: ParameterError(rule)):
        labels = next(csv.reader([rest], skipinitialspace=True, strict=True), [])
    if len(labels) >= least and all(labels):
        return labels
    raise ParameterError(f"{name} must have two answers or more, or a range: {_suggestion(name, rest)}")


def _suggestion(name: str, rest: str, spelling: str = SPELLING) -> str:
    """The spelling that was probably meant, or the general one."""
    dashed = _DASHED.fullmatch(rest)
    if dashed is not None:
        return f"write {name}={dashed[1]}..{dashed[2]}."
    parts = [part for part in re.split(r"[;|/,]", rest) if part.strip()]
    if len(parts) > 1 and spelling == SPELLING:
        return f"write {name}={','.join(part.strip() for part in parts)}."
    return f"write as in {spelling}."


def _unreadable(text: str) -> str:
    name, colon, rest = text.partition(":")
    if colon and name.strip() and rest.strip():
        return f"A question needs = between its column and its answers: write {name.strip()}={rest.strip()}."
    if text.strip() and "=" not in text:
        return (
            f"The answers of {text.strip()!r} must be declared: write as in {SPELLING}, "
            f"or {text.strip()}=? to read them from the data, which discloses them. For any short text there is bruit "
            "privatize --open-ended."
        )
    return f"A question must be written as in {SPELLING}."


def _lines(name: str, path: Path) -> list[str]:
    with translated((OSError, UnicodeDecodeError), lambda error: _unread(error, name, path)):
        text = path.read_text(encoding="utf-8-sig")
    labels = [line.removesuffix("\r") for line in text.split("\n")]  # no other mark ends a line
    labels = [label for label in labels if label]
    if len(labels) < 2:
        raise FormatError(f"{str(path)!r} must have two lines or more, one answer on each.")
    return labels


def _unread(error: Exception, name: str, path: Path) -> BruitError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"There is no file {str(path)!r} with the answers of {name!r}.")
    return FormatError(f"{str(path)!r} must be a text in UTF-8, with one answer per line.")
