"""A released statistic as a picture: a dot and an interval per value, or a line with a band over many numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from bruit import _checks
from bruit.figures import style
from bruit.releases.result import Result
from bruit.tables import interval_of, number

#: How many rows a figure shows; of more values, the largest.
MOST_ROWS = 30
#: More numbers than this are drawn along an axis.
MOST_DOTS = 12
#: Up to this number of dates, each is a row.
_FEW = 4
#: How many values the alternative text reads out.
SAID_ROWS = 10

#: Kinds whose values are counts, which are drawn as bars.
_COUNTED = ("count", "histogram", "groups", "tables")

_ROW, _SURROUND, _LINES = 0.31, 1.15, 3.0


def plot_result(result: Result, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw released values with their intervals, which are about the noise alone.

    Values by name are rows, of more than 30 the largest, and counts have bars. Counts over time, or of more than 12
    numbers, are a line with a band.

    Parameters
    ----------
    result
        What was released.
    level
        How often an interval covers the truth.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> from bruit.releases import Histogram, release
    >>> sexes = release({"sex": ["F", "M", "F"]}, Histogram("sex", domain=["F", "M"], epsilon=1.0), rng=7)
    >>> ax = plot_result(sexes)
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
    ('histogram of sex', ['F', 'M'])
    """
    _checks.probability(level=level)
    values = np.asarray(result.values, float)
    ends = np.stack([values, values], axis=1) if result.ends is None else _ends(result, level)
    along = _numbers(result)
    names = [_name(own, result) for own in result.labels]
    with style.applied("".join(names) + _subject(result)):
        if along is not None:
            ax = style.new_axes(_LINES) if ax is None else ax
            _draw_line(ax, along, values, ends)
            ax.set(xlabel=str(result.statistic.get("column") or "value"), ylabel=result.name)
            if _is_time(result):
                _name_times(ax, names)
        else:
            places = _places(values)
            ax = style.new_axes(_SURROUND + _ROW * len(places)) if ax is None else ax
            _draw_rows(ax, places, values, ends, bars=result.statistic.get("kind") in _COUNTED)
            ax.set_yticks(range(len(places)), [style.readable(names[place]) for place in places], parse_math=False)
            ax.set_ylim(len(places) - 0.4, -0.6)
            ax.set_xlabel(_subject(result))
        style.describe(ax, _words(result, names, ends, level))
    return ax


def _ends(result: Result, level: float) -> NDArray[np.float64]:
    return np.asarray(result.interval(level), float).reshape(-1, 2)


def _numbers(result: Result) -> NDArray[np.float64] | None:
    """The labels as numbers, where there are many of them and no groups; the places of dates."""
    if _is_time(result):
        return np.arange(len(result), dtype=float)
    if len(result) <= MOST_DOTS or not all(isinstance(own, int | float) for own in result.labels):
        return None
    return np.array(result.labels, float)


def _is_time(result: Result) -> bool:
    """Whether the values are counts by day, week, month or hour."""
    domain = result.statistic.get("domain")
    is_dates = isinstance(domain, Mapping) and domain.get("kind") == "dates"
    return is_dates and len(result) > _FEW and not any(isinstance(own, tuple) for own in result.labels)


def _name_times(ax: Axes, names: list[str]) -> None:
    """Few dates below the axis, so that they fit a phone."""
    step = max(1, math.ceil(len(names) / 6))
    ax.set_xticks(range(0, len(names), step), names[::step], parse_math=False)
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))


def _places(values: NDArray[np.float64]) -> list[int]:
    if values.size <= MOST_ROWS:
        return list(range(values.size))
    return sorted(np.argsort(-values, kind="stable")[:MOST_ROWS].tolist())


def _draw_rows(ax: Axes, places: list[int], values: NDArray[Any], ends: NDArray[Any], *, bars: bool) -> None:
    rows = np.arange(len(places))
    style.tidy(ax, grid="x")
    if bars:
        ax.barh(rows, values[places], height=0.62, color=style.BLUE, alpha=0.25, linewidth=0, zorder=2)
    ax.axvline(0, color=style.MUTED, linewidth=1, zorder=1.5) if ends[places].min() <= 0 else None
    ax.hlines(rows, ends[places, 0], ends[places, 1], color=style.BLUE, linewidth=1.8, zorder=3)
    ax.plot(values[places], rows, color=style.BLUE, marker="o", markersize=5, linestyle="none", zorder=4)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(_tick))


def _draw_line(ax: Axes, along: NDArray[Any], values: NDArray[Any], ends: NDArray[Any]) -> None:
    style.tidy(ax, grid="y")
    ax.fill_between(along, ends[:, 0], ends[:, 1], color=style.BLUE, alpha=0.2, linewidth=0)
    ax.plot(along, values, color=style.BLUE, linewidth=1.6)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(_tick))


def _tick(value: float, _: int) -> str:
    return f"{value:,.10g}".replace("-", "−")


def _name(own: Any, result: Result) -> str:
    """A label; of one table, the cell alone."""
    if not isinstance(own, tuple):
        return str(own)
    is_single = len(result.statistic.get("tables") or ()) == 1 and "by" not in result.statistic
    return str(own[-1]) if is_single else ": ".join(map(str, own))


def _subject(result: Result) -> str:
    column = result.statistic.get("column")
    kind, by, groups = result.name.partition(" by ")
    return f"{kind}{'' if column is None else f' of {column}'}{by}{groups}"


def _words(result: Result, names: list[str], ends: NDArray[Any], level: float) -> str:
    """The picture in words."""
    rows = [
        f"{style.readable(name, 60)} {number(value)} ({number(float(low))} to {number(float(high))})"
        for name, value, (low, high) in zip(names[:SAID_ROWS], result, ends, strict=False)
    ]
    left = len(names) - len(rows)
    more = f"; and {left:,} more" if left else ""
    return " ".join(f"{_subject(result)} with {interval_of(level)}s: {'; '.join(rows)}{more}.".split())
