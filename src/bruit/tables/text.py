"""Text as a terminal shows it: how wide it is, where it may be broken, and how numbers and counts are written."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

_JOINER = "\N{ZERO WIDTH JOINER}"
_JOINERS = (_JOINER, "\N{ZERO WIDTH NON-JOINER}")
_EMOJI = "\N{VARIATION SELECTOR-16}"
_MARK = "\N{LEFT-TO-RIGHT MARK}"
#: Bounds of belief this near to a round number, in units of the last place shown, are taken for it.
_HAIR = 1e-9
#: Floats from here on are written without decimals, and from the next on with a power of ten.
_LARGE, _HUGE = 1e6, 1e15
#: Words that stay on the line of their neighbours: signs between numbers.
_SIGNS = frozenset("=≤≥≈±×…–")


def clusters(text: str) -> Iterator[str]:
    """The characters that a reader sees, each with the marks that stand on it.

    >>> list(clusters("e\u0301a")) == ["e\u0301", "a"]
    True
    """
    start = 0
    for place in range(1, len(text)):
        if not _joins(text, start, place):
            yield text[start:place]
            start = place
    if text:
        yield text[start:]


def _joins(text: str, start: int, place: int) -> bool:
    """Whether the character at a place belongs to the cluster that begins at `start`."""
    before, mark = text[place - 1], text[place]
    if mark.isascii():
        return False
    if unicodedata.category(mark) in ("Mn", "Me") or mark in _JOINERS or before == _JOINER:
        return True
    # Skin tones, the second half of a flag, and the vowels and ends of decomposed Hangul.
    flag = _is_flag(mark) and place == start + 1 and _is_flag(before)
    return flag or "\U0001f3fb" <= mark <= "\U0001f3ff" or "\u1160" <= mark <= "\u11ff"


def _is_flag(mark: str) -> bool:
    return "\U0001f1e6" <= mark <= "\U0001f1ff"


def width(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, marks on others none.

    >>> width("é"), width("e\u0301"), width("日本"), width("שלום")
    (1, 1, 4, 4)
    """
    return len(text) if text.isascii() else sum(map(_width, clusters(text)))


def _width(cluster: str) -> int:
    first = cluster[0]
    if unicodedata.category(first) in ("Mn", "Me", "Cf"):
        return 0
    wide = unicodedata.east_asian_width(first) in "WF" or _EMOJI in cluster or (len(cluster) > 1 and _is_flag(first))
    return 2 if wide else 1


def shown(value: Any) -> str:
    r"""A text from outside on one line, without characters that could steer a terminal or that nobody sees.

    >>> shown("two\nlines"), shown("\x1b[2J"), shown("é"), shown("a\u200bb")
    ('two\\nlines', '\\x1b[2J', 'é', 'a\\u200bb')
    """
    text = str(value)
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(mark: str) -> str:
    if mark.isprintable() or mark in _JOINERS:  # without joiners, Persian and Hindi words fall apart
        return mark
    return " " if unicodedata.category(mark) == "Zs" else escaped(mark)


def html_text(text: str) -> str:
    """A text as HTML writes it, for what a notebook shows. Whole pages are made by `bruit.pages`.

    >>> html_text("<b>&")
    '&lt;b&gt;&amp;'
    """
    return html.escape(text)


def escaped(mark: str) -> str:
    """A character by its number."""
    return f"\\x{ord(mark):02x}" if mark == " " else mark.encode("unicode_escape").decode()


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """A text in a cell of this width, to the left or to the right of it.

    After letters that are written from right to left stands a mark that keeps the numbers that follow in their order.
    """
    space = " " * (columns - width(text))
    if not text.isascii() and any(unicodedata.bidirectional(mark) in ("R", "AL", "AN") for mark in text):
        text += _MARK
    return space + text if right else text + space


def wrap(text: str, columns: int | None) -> list[str]:
    """Lines of at most this width, broken at spaces, and within a word only where it is wider than a line.

    >>> wrap("a share of r = 37.00 % of all", 16)
    ['a share of', 'r = 37.00 % of', 'all']
    """
    if columns is None or width(text) <= columns:
        return [text]
    lines: list[str] = []
    for word in _words(text):
        pieces = chunks(word, columns)
        if lines and width(f"{lines[-1]} {pieces[0]}") <= columns:
            lines[-1] += f" {pieces.pop(0)}"
        lines += pieces
    return lines


def _words(text: str) -> list[str]:
    """Words, with signs and their numbers in one."""
    words: list[str] = []
    for word in text.split(" "):
        if words and (word.startswith("%") or word in _SIGNS or words[-1].rpartition(" ")[2] in _SIGNS):
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


def longest_word(text: str) -> int:
    """The width of the widest part that `wrap` does not break."""
    return max(map(width, _words(text)))


def chunks(text: str, columns: int) -> list[str]:
    """Lines of at most this width, broken anywhere but within a character; joined, they are the text."""
    lines = [""]
    room = columns
    for cluster in clusters(text):
        size = _width(cluster)
        if size > room and lines[-1]:
            lines.append("")
            room = columns
        lines[-1] += cluster
        room -= size
    return lines


def plural(noun: str) -> str:
    """The plural of a noun.

    >>> plural("report"), plural("entry"), plural("person"), plural("epoch")
    ('reports', 'entries', 'people', 'epochs')
    """
    if noun.endswith("person"):
        return noun.removesuffix("person") + "people"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    hisses = noun.endswith(("s", "x", "ch", "sh")) and not noun.endswith("epoch")
    return noun + ("es" if hisses else "s")


def counted(number: int, noun: str) -> str:
    """How many there are of something.

    >>> counted(1, "report"), counted(2000, "report"), counted(0, "entry")
    ('1 report', '2,000 reports', '0 entries')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def interval_of(level: float) -> str:
    """What an interval that covers at this level is called.

    >>> interval_of(0.95), interval_of(0.999)
    ('95 % interval', '99.9 % interval')
    """
    return f"{100 * level:.10g} % interval"


def percent(share: float, places: int = 1) -> str:
    """A share as a percentage.

    >>> percent(0.7311), percent(0.00002)
    ('73.1 %', '0.002 %')
    """
    number = 100 * share
    if number and abs(number) < 0.5 * 10**-places:
        return f"{number:.1g} %"
    return f"{number:.{places}f} %"


def at_most(share: float, places: int = 0) -> str:
    """A share that is not exceeded, as a percentage that is rounded up.

    >>> at_most(0.7311), at_most(0.7311, 1), at_most(0.75)
    ('74 %', '73.2 %', '75 %')
    """
    unit = 10**places
    return f"{min(math.ceil(100 * unit * share - _HAIR), 100 * unit) / unit:.{places}f} %"


def at_least(share: float, places: int = 0) -> str:
    """A share that is reached, as a percentage that is rounded down.

    >>> at_least(0.2689), at_least(0.25)
    ('26 %', '25 %')
    """
    unit = 10**places
    return f"{math.floor(100 * unit * share + _HAIR) / unit:.{places}f} %"


def label(value: Any) -> str:
    """A label as a person would write it: a whole number without a point, the parts of a tuple with a dot between.

    >>> label(17.0), label(0.25), label("x"), label(("F", 3))
    ('17', '0.25', 'x', 'F · 3')
    """
    if isinstance(value, tuple):
        return " · ".join(map(label, value))
    plain = value.item() if hasattr(value, "item") else value
    return str(int(plain)) if isinstance(plain, float) and plain.is_integer() else str(plain)


def decimals(places: int) -> Callable[[Any], str]:
    """How to write numbers with this many decimals, and pairs of them as the ends of an interval.

    >>> decimals(2)(0.125), decimals(2)((-1, 0.5))
    ('0.12', '-1.00 … 0.50')
    """
    return _or_pair(lambda value: f"{value:,.{places}f}")


def upwards(places: int) -> Callable[[Any], str]:
    """How to write a number that promises a limit: with this many decimals, the last one rounded up.

    >>> upwards(3)(1.95905), upwards(3)(1.0), upwards(3)(1.0 + 1e-12), upwards(3)(1.00001)
    ('1.960', '1.000', '1.000', '1.001')
    """
    return lambda value: f"{math.ceil((value - _HAIR) * 10**places) / 10**places:,.{places}f}"


def digits(many: int) -> Callable[[Any], str]:
    """How to write numbers with this many significant digits, and pairs of them as the ends of an interval.

    >>> digits(3)(0.00123456), digits(5)((38.0, 39.25))
    ('0.00123', '38 … 39.25')
    """
    return _or_pair(lambda value: f"{value:.{many}g}")


def _or_pair(write: Callable[[Any], str]) -> Callable[[Any], str]:
    def text(value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, tuple | list) or getattr(value, "ndim", 0) == 1:
            return "" if value[0] is None else " … ".join(map(write, value))
        return "" if math.isnan(value) else write(value)

    return text


def ends(value: Any) -> str:
    """The two ends of an interval, each as `number` writes it."""
    return " … ".join(map(number, value))


def place_of(half: float) -> float:
    """The power of ten that numbers with an interval of ± half are rounded to.

    >>> place_of(90), place_of(36), place_of(1.1)
    (10.0, 10.0, 0.1)
    """
    return float(10.0 ** math.floor(math.log10(half / 2)))


def rounded(value: float, half: float) -> str:
    """A number with the digits that an interval of ± half supports.

    >>> rounded(6968.0, 88.0), rounded(14.5659, 1.07), rounded(3, 0), [rounded(end, 50) for end in (955, 1005, 1055)]
    ('6,970', '14.6', '3', ['960', '1,010', '1,060'])
    """
    plain = value.item() if hasattr(value, "item") else value
    if not (math.isfinite(half) and half > 0 and math.isfinite(plain)):
        return number(plain)
    place = place_of(half)
    if isinstance(plain, int) and place <= 1:
        return number(plain)
    # Halves go up, so that a number and its ends keep their distance: 1,010 (960 … 1,060), and not 1,000.
    text = f"{math.floor(plain / place + 0.5) * place:,.{max(0, -round(math.log10(place)))}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def number(value: Any) -> str:
    """A number as a person reads it: whole ones in full, others to six digits; nothing where there is none.

    >>> number(1234567), number(1234567.8), number(0.123456789), number(float("nan"))
    ('1,234,567', '1,234,568', '0.123457', '')
    """
    plain = value.item() if hasattr(value, "item") else value
    if plain is None or math.isnan(plain):
        return ""
    if isinstance(plain, int):
        return f"{plain:,}"
    return f"{plain:,.0f}" if _LARGE <= abs(plain) < _HUGE else f"{plain:,.6g}"


def typeset(text: str) -> str:
    """A text for a page: real minus signs, none before what rounds to 0, and numbers on the line of their sign.

    >>> typeset("from -0.3 to 41% at ε = 1"), typeset("-0.05 to -0.0")
    ('from −0.3 to 41\\xa0% at ε\\xa0=\\xa01', '−0.05 to 0.0')
    """
    text = re.sub(r"(?<![\w.])[-−](0(?:\.0+)?)(?!\d|\.\d)", r"\1", text)
    text = re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)
    text = re.sub(r"(?<=\d) ?%", "\N{NO-BREAK SPACE}%", text)
    return text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
