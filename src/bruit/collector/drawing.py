"""A result as a picture of its own: an SVG file with the question, the sentence and the bars, for slides and papers.

A browser turns the same file into a PNG. Text in SVG does not wrap by itself, so lines are broken here, by the width
that letters have on average.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bruit.collector.bars import Row
from bruit.collector.cards import ResultCard
from bruit.pages import fill

__all__ = ["drawing"]

#: The width of a picture, its margin, and how wide a letter is on average, as a part of the size of its font.
WIDTH, _MARGIN, _LETTER = 800, 40, 0.54
#: The size of each kind of line, and the space that it takes.
_SIZES = {"title": (15, 24), "text": (26, 34), "lead": (19, 28), "label": (17, 25), "soft": (13, 19)}
#: The space that values take beside a label, and that a bar takes.
_VALUES, _BAR = 230, 34


class TextLine(NamedTuple):
    """A line of text: its kind, its place and what it says."""

    kind: str
    y: int
    text: str


class PlacedRow(NamedTuple):
    """A row with the place of its values and of its bar."""

    y: int
    row: Row


def drawing(card: ResultCard, title: str, words: Mapping[str, str], language: str) -> str:
    """A card as SVG.

    Parameters
    ----------
    card
        The result of a question.
    title
        The title of the survey.
    words, language
        The texts of the page, and their language.
    """
    lines, bars, y = [], [], _MARGIN // 2
    for kind, text in (("title", title), ("text", card.text), ("lead", card.lead)):
        block = list(_lines(kind, text, y, _room()))
        lines += block
        y = (block[-1].y if block else y) + 12
    for row in card.rows:
        labels = list(_lines("label", row.label, y, _room() - _VALUES))
        lines += labels
        bars.append(PlacedRow(labels[-1].y, row))
        y = labels[-1].y + _BAR
    if bars:
        lines += [TextLine("end", y, card.rows[0].ends[0])]
        y += 8
    for text in filter(None, (card.reports, words["key"])):
        block = list(_lines("soft", text, y, _room()))
        lines += block
        y = block[-1].y
    return fill(
        "result.svg.j2",
        language=language,
        card=card,
        lines=lines,
        bars=bars,
        width=WIDTH,
        height=y + _MARGIN // 2,
        margin=_MARGIN,
        room=_room(),
        sizes={kind: size for kind, (size, _) in _SIZES.items()},
    )


def _room() -> int:
    return WIDTH - 2 * _MARGIN


def _lines(kind: str, text: str, y: int, room: int) -> Iterator[TextLine]:
    """A text in lines that fit, each below the other; the first one begins at y."""
    size, space = _SIZES[kind]
    for line in broken(text, room / (size * _LETTER)):
        y += space
        yield TextLine(kind, y, line)


def broken(text: str, most: float) -> list[str]:
    """A text in lines of at most this many letters, where wide ones count double; a longer word is cut.

    >>> broken("How many hours did you sleep last night?", 22)
    ['How many hours did you', 'sleep last night?']
    >>> broken("abcdefghij", 4)
    ['abcd', 'efgh', 'ij']
    """
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and _width(f"{lines[-1]} {word}") > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
        while _width(lines[-1]) > most and len(lines[-1]) > 1:
            cut = next(end for end in range(len(lines[-1]), 0, -1) if _width(lines[-1][:end]) <= most or end == 1)
            lines[-1:] = [lines[-1][:cut], lines[-1][cut:]]
    return lines


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
