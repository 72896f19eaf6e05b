"""The house style: colours that everybody can tell apart, readable text, and nothing that is not data.

Settings hold only inside `applied`; matplotlib's own are never changed. The palette is Okabe and Ito's (2008), which
people with any common form of colour blindness can tell apart. Text is always ink, never a palette colour: several of
those are too pale to read on white.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal
from weakref import WeakKeyDictionary

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from bruit.tables import width as width_of

PAPER = "#ffffff"
INK = "#1f2328"
MUTED = "#5b6570"
GRID = "#dfe3e8"
BLUE = "#0072b2"
SKY = "#56b4e9"
GREEN = "#009e73"
ORANGE = "#e69f00"
VERMILLION = "#d55e00"
PURPLE = "#cc79a7"
#: The order in which series take colours.
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)

#: The colour of each oracle, the same in every figure; ADP chooses among them and has one of its own.
ORACLES = {
    "GRR": BLUE, "SUE": VERMILLION, "OUE": GREEN, "ADP": PURPLE, "OLH": ORANGE, "BLH": SKY, "SS": INK, "HR": MUTED,
    "PGR": "#882255",
}  # fmt: skip

#: The width of a figure in inches: a column of print, and still readable on a phone.
WIDTH = 4.8
#: Sizes of text, in points.
TEXT, TITLE = 10.5, 11.5
#: Dots per inch of a PNG file.
DPI = 200

_FONT = "DejaVu Sans"  # travels with matplotlib, so that every machine draws the same
_SETTINGS: dict[str, Any] = {
    "font.size": TEXT,
    "text.color": INK,
    "text.usetex": False,
    "text.parse_math": False,  # a label such as "$5 to $10" is not a formula
    "axes.titlesize": TITLE,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "axes.labelsize": TEXT,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": PAPER,
    "axes.unicode_minus": True,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "savefig.bbox": None,
    "legend.fontsize": TEXT,
    "legend.labelcolor": INK,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    # Text stays text: it can be searched, read aloud, and shown where this machine has no font for it.
    "svg.fonttype": "none",
    "svg.hashsalt": "bruit",
}

_texts: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


@contextmanager
def applied(text: str = "") -> Iterator[None]:
    """The house style within a block, with fonts that have the characters of `text` where any installed one does."""
    families, _ = fonts_for(text)
    with mpl.rc_context({**_SETTINGS, "font.family": [*families, "sans-serif"]}):
        yield


class ShownAxes(Axes):
    """Axes that a notebook shows as a picture when they are the last value of a cell."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        figure = whole(self)
        width = round(figure.get_figwidth() * 96)
        return png(figure), {"width": width, "alt": description(figure)}


def new_axes(height: float, width: float = WIDTH) -> Axes:
    """Axes on a figure of their own, of this size in inches, that belongs to no window."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot(axes_class=ShownAxes)


def whole(part: Any) -> Figure:
    """The figure that Axes stand on, or the figure itself if that is given."""
    while part.get_figure() is not part:
        part = part.get_figure()
    return part  # type: ignore[no-any-return]


def tidy(ax: Axes, *, grid: Literal["x", "y", "both"]) -> None:
    """A light grid along one axis or ``"both"``, no frame, no tick marks."""
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(False)
    ax.grid(True, axis=grid, color=GRID, linewidth=0.8)
    family = mpl.rcParams["font.family"]
    ax.tick_params(length=0, pad=6, labelsize=TEXT, labelcolor=INK, labelfontfamily=family)


def describe(ax: Axes, text: str) -> None:
    """Keep the words that stand for the picture where it cannot be seen."""
    _texts[ax] = text


def description(figure: Figure) -> str:
    """The words that stand for a figure: those of its axes, one after the other."""
    return " ".join(_texts[ax] for ax in figure.axes if ax in _texts)


def readable(label: Any, width: int = 24) -> str:
    """A label for a figure: at most two lines, with nothing in it that cannot be printed.

    >>> readable("a very long answer that nobody would ever want to read in full on an axis")
    'a very long answer that\\nnobody would ever want…'
    """
    text = "".join(c if c.isprintable() else " " for c in str(label))
    text = " ".join(text.split())
    if width_of(text) <= width:
        return text
    first = _cut(text, width)
    rest = text[len(first) :].strip()
    if width_of(rest) > width:
        rest = _cut(rest, width - 1).rstrip() + "…"
    return f"{first.rstrip()}\n{rest}"


def epsilon_text(epsilon: float) -> str:
    """ε to four digits, so that a requested ε shows as such although the stated one may be a little below.

    >>> epsilon_text(0.9999999999)
    'ε = 1'
    """
    return f"ε = {epsilon:.4g}"


def decimal_text(number: float, places: int = 1) -> str:
    """A number with this many decimals, a real minus sign, and no minus before zero.

    >>> decimal_text(-0.04), decimal_text(-1.26)
    ('0.0', '−1.3')
    """
    text = f"{number:.{places}f}"
    return text.replace("-", "−" if float(text) else "")


def png(figure: Figure, dpi: int = DPI) -> bytes:
    """The figure as a PNG file, the same bytes for the same figure."""
    buffer = io.BytesIO()
    metadata = {"Software": None, "Description": description(figure) or None}
    _render(figure, buffer, format="png", dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def pdf(figure: Figure) -> bytes:
    """The figure as a PDF file, the same bytes for the same figure."""
    buffer = io.BytesIO()
    metadata = {"Creator": None, "Producer": None, "CreationDate": None, "Title": description(figure) or None}
    _render(figure, buffer, format="pdf", metadata=metadata)
    return buffer.getvalue()


def svg(figure: Figure) -> str:
    """The figure as an SVG file, the same text for the same figure, with its description as title."""
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Type": None, "Format": None}
    title = description(figure)
    _render(figure, buffer, format="svg", metadata=metadata | ({"Title": title} if title else {}))
    return buffer.getvalue()


def _render(figure: Figure, buffer: Any, **options: Any) -> None:
    text = "".join(artist.get_text() for artist in figure.findobj(Text))
    with applied(text), warnings.catch_warnings():
        # One warning of our own below, instead of one per character and drawing.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        figure.savefig(buffer, **options)
    if options["format"] == "png" and fonts_for(text)[1]:
        warnings.warn(
            "No installed font has some characters of this figure: the PNG shows boxes in their place. "
            "Install a font that has them (the Noto fonts have most), or use the SVG.",
            stacklevel=3,
        )


def fonts_for(text: str) -> tuple[list[str], frozenset[str]]:
    """Families to draw a text with, tried in turn for each character, and the characters that none has."""
    return _fonts_for(frozenset(c for c in text if c.isprintable() and not c.isspace()))


@cache
def _fonts_for(needed: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    families = [_FONT]
    missing = needed - _characters(font_manager.findfont(_FONT), needed)
    for name, path in _other_fonts() if missing else ():
        covered = _characters(path, missing)
        if covered:
            families.append(name)
            missing -= covered
        if not missing:
            break
    return families, missing


def _characters(path: str, wanted: frozenset[str]) -> frozenset[str]:
    """Those of the wanted characters that a font file has."""
    try:
        charmap = font_manager.get_font(path).get_charmap()
    except (OSError, RuntimeError):  # gone since the list was made, or a format that matplotlib cannot open
        return frozenset()
    return frozenset(c for c in wanted if ord(c) in charmap)


def _other_fonts() -> list[tuple[str, str]]:
    """Installed upright fonts of ordinary weight, sans serif first; not those that draw a box for everything."""
    entries = [
        (entry.name, entry.fname)
        for entry in font_manager.fontManager.ttflist
        if entry.style == "normal" and entry.weight in (400, "normal", "regular") and "Last Resort" not in entry.name
    ]
    return sorted(entries, key=lambda entry: ("Sans" not in entry[0], entry))


def _cut(text: str, width: int) -> str:
    """The beginning of a text that fits, up to a space or hyphen if there is one in its second half."""
    end = 0
    while end < len(text) and width_of(text[: end + 1]) <= width:
        end += 1
    for place in range(end, end // 2, -1):
        if text[place - 1] in "-/ " or text[place : place + 1] == " ":
            return text[:place]
    return text[:end]
