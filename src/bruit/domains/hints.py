"""What is probably wrong with values that break a rule, in words that show no value.

A hint says by how little a value differs from what was declared, and neither the value nor the label that it resembles:
that somebody has that label is not to be told either.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: How people write that a value is missing.
MISSING_MARKS = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "?", "-", "--", "."})
#: Limits: wrong entries that are looked at, different ones among them, and labels they are compared with.
_MOST_ROWS, _MOST_VALUES, _MOST_LABELS = 100_000, 200, 2000
#: Shorter labels, such as F and M, differ by one letter from anything.
_SHORTEST = 4

_COMMA = re.compile(r"\s*[+-]?[0-9][0-9. ]*,[0-9,]*\.?[0-9]*\s*")

_SENTENCES = {
    "missing": "Some are marks of a missing value, such as NA: declare the mark (--csv missing=NA; in Python, None).",
    "spaces": "Some differ from a declared label only by spaces: remove them, or declare the label as it is written.",
    "case": "Some differ from a declared label only by upper and lower case: write both alike.",
    "letter": "Some differ from a declared label only by one letter: is the label, or the data, misspelt?",
    "comma": "Some have a comma: write 1234.5, with a decimal point and nothing between thousands.",
}


def about_labels(values: Iterable[Any], labels: Sequence[Any]) -> str:
    """A sentence about values that are not among the labels, with a space before it; nothing where none fits."""
    texts = _texts(values)
    names = [label for label in labels if isinstance(label, str)]
    return _sentence(
        ("missing", any(map(_is_mark, texts))),
        ("spaces", _meet(texts, names, _squeezed)),
        ("case", _meet(texts, names, lambda text: _squeezed(text).casefold())),
        ("letter", any(one_letter_apart(text, name) for text in texts for name in names[:_MOST_LABELS])),
    )


def about_numbers(values: Iterable[Any]) -> str:
    """A sentence about values that are no numbers, with a space before it; nothing where none fits."""
    texts = _texts(values)
    return _sentence(("missing", any(map(_is_mark, texts))), ("comma", any(map(_COMMA.fullmatch, texts))))


def _sentence(*kinds: tuple[str, bool]) -> str:
    return next((f" {_SENTENCES[kind]}" for kind, applies in kinds if applies), "")


def _texts(values: Iterable[Any]) -> list[str]:
    """The different texts among the values, as many as are looked at."""
    texts = dict.fromkeys(value for value in itertools.islice(values, _MOST_ROWS) if isinstance(value, str))
    return list(texts)[:_MOST_VALUES]


def _is_mark(text: str) -> bool:
    return text.strip().casefold() in MISSING_MARKS


def _meet(texts: list[str], names: list[str], form: Any) -> bool:
    return not {form(text) for text in texts}.isdisjoint(map(form, names))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def one_letter_apart(text: str, name: str) -> bool:
    """Whether one letter more, less, changed or swapped with its neighbour makes one of the other."""
    if abs(len(text) - len(name)) > 1 or min(len(text), len(name)) < _SHORTEST - 1 or len(name) < _SHORTEST:
        return False
    same = next((place for place, pair in enumerate(zip(text, name, strict=False)) if pair[0] != pair[1]), None)
    if same is None:
        return len(text) != len(name)
    mine, yours = text[same:], name[same:]
    swapped = mine[:2] == yours[1::-1] and mine[2:] == yours[2:]
    return mine[1:] == yours[1:] or mine[1:] == yours or mine == yours[1:] or (len(mine) > 1 and swapped)
