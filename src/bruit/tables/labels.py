"""Labels that a reader can tell apart: different ones are never written alike, however little room there is."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from bruit import _checks
from bruit.tables.text import chunks, clusters, escaped, shown, width

#: What stands for the part of a label that is left out.
GAP = "…"
#: Characters that are printed as nothing, although their category does not say so.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

Lines = tuple[str, ...]


def look(text: str) -> str:
    """What the eye sees of a text: texts with the same look cannot be told apart.

    >>> look("a\u00a0b") == look("a  b\u200b") == "a b"
    True
    """
    if text.isascii():
        return " ".join(text.split())
    normal = text if _checks.has_many_marks(text) else unicodedata.normalize("NFKC", text)
    kept = "".join(mark for mark in normal if not _is_unseen(mark))
    return " ".join(kept.split())


def _is_unseen(mark: str) -> bool:
    is_variation = "\ufe00" <= mark <= "\ufe0f" or "\U000e0100" <= mark <= "\U000e01ef"
    return unicodedata.category(mark) in ("Cf", "Cc") or mark in _BLANK or is_variation


def exact(text: str, *, spaces: bool = False) -> str:
    r"""A text that can be read back: whatever is not plainly visible is written by its number.

    With `spaces`, every space is too; otherwise those at the ends and beside another one.

    >>> exact("yes "), exact("a\u00a0b"), exact("a b", spaces=True)
    ('yes\\x20', 'a\\xa0b', 'a\\x20b')
    """
    marks = []
    for place, mark in enumerate(text):
        beside = text[place - 1 : place] in ("", " ") or text[place + 1 : place + 2] in ("", " ")
        if mark == " ":
            marks.append(escaped(mark) if spaces or beside else mark)
        else:
            marks.append(mark if _is_plain(mark) else escaped(mark))
    return "".join(marks)


def _is_plain(mark: str) -> bool:
    if mark.isascii():
        return mark.isprintable() and mark != "\\"
    is_alone = unicodedata.normalize("NFKC", mark) == mark and not "\u1100" <= mark <= "\u11ff"
    return mark.isprintable() and is_alone and unicodedata.category(mark)[0] != "M" and not _is_unseen(mark)


def distinct(texts: Iterable[str]) -> dict[str, str]:
    """How each text is written: readably, or exactly where another one would look the same."""
    written = {text: shown(text) for text in texts}
    for group in _alike(written, look):
        written.update({text: exact(text) for text in group})
    if _alike(written, look):
        written = {text: exact(text, spaces=True) for text in written}
    return written


def fitted(texts: Iterable[str], columns: int) -> dict[str, Lines]:
    """The lines of each text in a column of this width: shortened in the middle, or wrapped where that hides a
    difference.

    >>> fitted(["a long label: north", "a long label: south"], 9)
    {'a long label: north': ('a lo…orth',), 'a long label: south': ('a lo…outh',)}
    >>> fitted(["label A of them all", "label B of them all"], 9)
    {'label A of them all': ('lab…A…all',), 'label B of them all': ('lab…B…all',)}
    """
    lines: dict[str, Lines] = {text: (shortened(text, columns),) for text in texts}
    for group in _alike(lines, _look_of_lines):
        lines.update(_around(group, columns))
    for group in _alike(lines, _look_of_lines):
        lines.update({text: _wrapped(text, columns) for text in group})
    if _alike(lines, _look_of_lines):
        lines = {text: tuple(chunks(exact(text, spaces=True), columns)) for text in lines}
    return lines


def _look_of_lines(lines: Lines) -> str:
    return "\n".join(map(look, lines))


def _alike(written: Mapping[str, str] | Mapping[str, Lines], seen: Callable[..., str]) -> list[list[str]]:
    """Groups of different texts that look the same."""
    groups: dict[str, list[str]] = {}
    for text, form in written.items():
        groups.setdefault(seen(form), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def shortened(text: str, columns: int) -> str:
    """A text, with its middle left out where it does not fit.

    >>> shortened("a label that is too long", 11)
    'a lab… long'
    """
    if width(text) <= columns:
        return text
    marks = list(clusters(text))
    head = _fill(marks, (columns - 1) // 2)
    tail = _fill(marks[::-1], columns - 1 - width("".join(head)))
    return "".join([*head, GAP, *tail[::-1]])


def _around(group: Sequence[str], columns: int) -> dict[str, Lines]:
    """Long texts with the words in which they differ, or only the characters; nothing where that is too long."""
    parts = [list(clusters(text)) for text in group]
    head = _common(parts)
    tail = _common([marks[head:][::-1] for marks in parts])
    if min(map(width, group)) <= columns:
        return {}
    first = parts[0]
    words = head - _letters(first[:head][::-1]), tail - _letters(first[len(first) - tail :])
    return _cut(group, parts, *words, columns) or _cut(group, parts, head, tail, columns)


def _cut(group: Sequence[str], parts: list[list[str]], head: int, tail: int, columns: int) -> dict[str, Lines]:
    """The texts without most of their first `head` and last `tail` characters; nothing if that is not enough."""
    inner = ["".join(marks[head : len(marks) - tail]) for marks in parts]
    room = columns - 2 - max(map(width, inner))
    if room < 2:
        return {}
    begin = "".join(_gapped(parts[0][:head], room // 2))
    end = "".join(_gapped(parts[0][len(parts[0]) - tail :][::-1], room - room // 2)[::-1])
    return {text: (f"{begin}{own}{end}".replace(2 * GAP, GAP),) for text, own in zip(group, inner, strict=True)}


def _letters(marks: list[str]) -> int:
    """How many characters there are before a space."""
    return next((place for place, mark in enumerate(marks) if mark == " "), len(marks))


def _gapped(marks: list[str], columns: int) -> list[str]:
    """The first characters and a gap, or all of them where they fit into as much room."""
    return marks if width("".join(marks)) <= columns + 1 else [*_fill(marks, columns), GAP]


def _wrapped(text: str, columns: int) -> Lines:
    """The whole text over several lines, broken after a space where there is one in the second half of a line."""
    lines, line = [], ""
    for mark in clusters(text):
        if line and width(line + mark) > columns:
            place = line.rfind(" ") + 1
            end = place if place > len(line) // 2 else len(line)
            lines.append(line[:end])
            line = line[end:]
        line += mark
    return (*lines, line)


def _common(parts: list[list[str]]) -> int:
    """How many characters all texts begin with."""
    shortest = min(map(len, parts))
    return next((place for place in range(shortest) if len({marks[place] for marks in parts}) > 1), shortest)


def _fill(marks: list[str], columns: int) -> list[str]:
    """As many characters as fit."""
    kept: list[str] = []
    for mark in marks:
        columns -= width(mark)
        if columns < 0:
            break
        kept.append(mark)
    return kept
