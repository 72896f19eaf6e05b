"""What was compared as a picture: a dot per oracle or method, the least error on top."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bruit.figures import style
from bruit.oracles.choosing import Ranking
from bruit.tables import width as width_of
from bruit.tables import wrap
from bruit.tables.labels import shortened

#: How many rows a figure shows, and how many of them the alternative text reads out.
MOST_ROWS, TOLD_ROWS = 30, 10
#: Errors that differ by more than this factor are drawn on a logarithmic axis.
_WIDE = 8.0
#: How many characters a name has.
_NAME_WIDTH = 36
# In inches: heights, then the widths of the figure, of a character of a name and of the title.
_ROW_HEIGHT, _LINE_HEIGHT, _SURROUND = 0.3, 0.19, 1.1
_WIDTH, _NAME_COLUMN, _TITLE_COLUMN = 6.4, 0.083, 0.093


def plot_ranking(ranking: Ranking[Any], *, ax: Axes | None = None) -> Axes:
    """Draw the half-width of the 95 % interval that each oracle or method would have, in the order of the ranking.

    Of more than 30 rows the best are shown, and the title says so.

    Parameters
    ----------
    ranking
        What `choose` or `compare` gives.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> import bruit
    >>> ax = plot_ranking(bruit.choose(k=50, epsilon=1.0, among=["GRR", "OUE"]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['OUE', 'GRR']
    """
    table = ranking.table()
    rows = min(len(ranking), MOST_ROWS)
    names = [shortened(name, _NAME_WIDTH) for name in table.cells(range(rows))[0].written]
    widths = [100 * float(width) for width in table.data()["half_width"][:rows]]
    more = f"; the best {rows} of {len(ranking):,}" if rows < len(ranking) else ""
    room = _WIDTH - 0.15 - _NAME_COLUMN * max(map(width_of, names))
    title = "\n".join(wrap(f"{table.title}{more}", int(room / _TITLE_COLUMN)))
    with style.applied("".join([*names, title, *table.notes])):
        height = _SURROUND + rows * _ROW_HEIGHT + _LINE_HEIGHT * title.count("\n")
        ax = style.new_axes(height, _WIDTH) if ax is None else ax
        style.tidy(ax, grid="x")
        _draw(ax, names, widths)
        marked = [note for note in table.notes if note.startswith("✗")]
        ax.set_xlabel("\n".join(["95 % interval ± (percentage points)", *marked]))
        ax.set_title(title, loc="left", pad=10)
        style.describe(ax, _words(table.title, names, widths, len(ranking)))
    return ax


def _draw(ax: Axes, names: list[str], widths: list[float]) -> None:
    rows = range(len(names))
    least, greatest = min(widths), max(widths) or 1.0
    if 0 < _WIDE * least < greatest:
        # A bar has no length on an axis without zero: dots only.
        low = least / 1.3
        ax.set_xscale("log")
        ax.set_xlim(low, greatest * (greatest / low) ** 0.16)
        ax.xaxis.set_major_locator(FixedLocator(_marks(low, greatest)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda mark, _: f"{mark:g}"))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        ax.hlines(rows, 0, widths, color=style.BLUE, linewidth=1.4, zorder=2)
        ax.set_xlim(0, 1.16 * greatest)  # with room for what stands to the right of the last dot
    ax.plot(widths, rows, color=style.BLUE, marker="o", markersize=6, linestyle="none", zorder=3)
    for row, width in enumerate(widths):
        text = ax.annotate(f"± {_three(width)}", (width, row), (8, 0), textcoords="offset points", va="center")
        text.set(color=style.MUTED, bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.5})
    ax.set_yticks(list(rows), names, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)  # the first row stands on top


def _three(width: float) -> str:
    """Three digits, zeros at the end too."""
    return f"{width:#.3g}".removesuffix(".")


def _marks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two numbers; only powers where those are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [step * 10.0**power for power in powers for step in (1, 2, 5) if low <= step * 10.0**power <= high]
    return marks if len(marks) <= 8 else [mark for mark in marks if math.isclose(math.log10(mark) % 1, 0, abs_tol=1e-9)]


def _words(title: str, names: list[str], widths: list[float], size: int) -> str:
    """The picture in words."""
    texts = [f"{name} ± {_three(width)}" for name, width in zip(names, widths, strict=True)][:TOLD_ROWS]
    more = f"; and {size - len(texts):,} more" if size > len(texts) else ""
    return f"{title}. 95 % intervals in percentage points: {'; '.join(texts)}{more}."
