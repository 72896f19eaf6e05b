"""How a table is set in columns of text: numbers are always whole, labels and headings give way.

Where the width is too small for all columns, headings of numbers are broken into lines, then labels become shorter, and
then the table is set in parts below each other, each with the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bruit.tables.labels import Lines, distinct, fitted, shortened
from bruit.tables.text import longest_word, padded, shown, width, wrap

#: What a column holds: names of rows, other texts, or numbers.
Kind = Literal["label", "text", "number"]
#: What stands between columns.
_SPACE = "  "
#: A column of texts that is made smaller keeps so much while headings can be broken instead, and so much in any case.
_COMFORTABLE, _LEAST = 24, 8


@dataclass(frozen=True)
class TextColumn:
    """A column as text: its heading and one text per row."""

    heading: str
    texts: Sequence[str]
    kind: Kind

    @cached_property
    def written(self) -> list[str]:
        """The texts as they may be shown, different ones differently."""
        texts = [str(text) for text in self.texts]
        if self.kind != "label":
            return list(map(shown, texts))
        known = distinct(texts)
        return [known[text] for text in texts]

    @cached_property
    def title(self) -> str:
        """The heading as it may be shown."""
        return shown(self.heading)

    @cached_property
    def natural(self) -> int:
        """The width that nothing is broken in."""
        return max(width(self.title), self._widest)

    def least(self, room: int) -> int:
        """The width below which the column is not made smaller, while a text may keep so much room."""
        if self.kind == "number":
            return max(longest_word(self.title), self._widest)
        words = max(map(longest_word, [self.title, *self.written])) if self.kind == "text" else 0
        return min(self.natural, max(room, min(words, _COMFORTABLE)))

    def lines(self, columns: int) -> list[Lines]:
        """The lines of each cell at this width."""
        if self.kind == "label":
            known = fitted(self.written, columns)
            return [known[text] for text in self.written]
        if self.kind == "number":
            return [(text,) for text in self.written]
        return [tuple(wrap(text, columns)) for text in self.written]

    def heading_lines(self, columns: int) -> list[str]:
        """The lines of the heading at this width; the name of a row's column is shortened instead."""
        return [shortened(self.title, columns)] if self.kind == "label" else wrap(self.title, columns)

    @cached_property
    def _widest(self) -> int:
        return max(map(width, self.written), default=0)


def set_columns(columns: Sequence[TextColumn], room: int | None) -> Iterator[tuple[bool, str]]:
    """Lines of the table, each with whether it belongs to a heading."""
    widths = _widths(columns, room)
    if widths is not None:
        yield from _panel(columns, widths)
        return
    for place, part in enumerate(_parts(columns, room or 0)):
        if place:
            yield False, ""
        yield from _panel(part, _widths(part, room) or [cells.least(_LEAST) for cells in part])


def _widths(columns: Sequence[TextColumn], room: int | None) -> list[int] | None:
    """A width for each column that together fit; None if they do not."""
    natural = [cells.natural for cells in columns]
    if room is None or _total(natural) <= room:
        return natural
    broken = [cells.least(_LEAST) if cells.kind == "number" else cells.natural for cells in columns]
    for numbers, kept in ((natural, _COMFORTABLE), (broken, _COMFORTABLE), (broken, _LEAST)):
        least = [number if c.kind == "number" else c.least(kept) for c, number in zip(columns, numbers, strict=True)]
        if _total(least) <= room:
            return _widened(least, numbers, room - _total(least))
    return None


def _widened(least: list[int], wanted: list[int], spare: int) -> list[int]:
    """The widths with what is left over, first to the columns that want least more."""
    widths = list(least)
    hungry = sorted(range(len(least)), key=lambda place: wanted[place] - least[place])
    for done, place in enumerate(hungry):
        more = min(wanted[place] - least[place], spare // (len(hungry) - done))
        widths[place] += more
        spare -= more
    return widths


def _parts(columns: Sequence[TextColumn], room: int) -> list[list[TextColumn]]:
    """The columns in parts that fit, each with the names of the rows first and at least one other column."""
    names = [cells for cells in columns if cells.kind == "label"] or [columns[0]]
    parts: list[list[TextColumn]] = []
    for cells in columns:
        if any(cells is name for name in names):
            continue
        if not parts or _widths([*parts[-1], cells], room) is None:
            parts.append([*names])
        parts[-1].append(cells)
    return parts or [names]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_SPACE) * (len(widths) - 1)


def _panel(columns: Sequence[TextColumn], widths: Sequence[int]) -> Iterator[tuple[bool, str]]:
    """Heading and rows of some columns."""
    rights = [cells.kind == "number" for cells in columns]
    headings = [cells.heading_lines(size) for cells, size in zip(columns, widths, strict=True)]
    tallest = max(map(len, headings))
    for heading in zip(*([""] * (tallest - len(lines)) + lines for lines in headings), strict=True):
        yield True, _line(heading, widths, rights)
    for row in zip(*(cells.lines(size) for cells, size in zip(columns, widths, strict=True)), strict=True):
        for place in range(max(map(len, row))):
            yield False, _line([lines[place] if place < len(lines) else "" for lines in row], widths, rights)


def _line(texts: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> str:
    cells = [padded(text, size, right=right) for text, size, right in zip(texts, widths, rights, strict=True)]
    return _SPACE.join(cells).rstrip(" ")
