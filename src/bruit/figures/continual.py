"""Counts over time as a picture: a line with its band."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from bruit.errors import ParameterError
from bruit.figures import style
from bruit.releases import Result
from bruit.tables import counted, interval_of

#: How many days have their date below the axis, at most.
_TICKS = 5


def plot_continual(result: Result, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw running totals or daily counts with their intervals as a band.

    Parameters
    ----------
    result
        What `ContinualSeries.totals` or `ContinualSeries.daily` gives.
    level
        How often an interval covers the truth.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> from bruit.releases import ContinualCount
    >>> series = ContinualCount(steps=30, epsilon=1.0, delta=1e-6).start(rng=7)
    >>> for day in range(1, 4):
    ...     _ = series.add(100, f"2026-05-0{day}", rng=7)
    >>> plot_continual(series.totals()).get_ylabel()
    'running total, 95 % interval'
    """
    if not isinstance(result, Result) or result.statistic.get("kind") != "continual-count" or not len(result):
        raise ParameterError("result must be the totals or the daily counts of a ContinualSeries with a day or more.")
    ends = np.asarray(result.interval(level)).reshape(-1, 2)
    days, dated = _days(result.labels)
    with style.applied(result.name):
        ax = style.new_axes(4.0, 6.4) if ax is None else ax
        style.tidy(ax, grid="both")
        colour = style.PALETTE[0]
        ax.fill_between(days, ends[:, 0], ends[:, 1], color=colour, alpha=0.2, linewidth=0)
        marker = "o-" if len(days) <= 31 else "-"
        ax.plot(days, result.values.astype(float), marker, color=colour, markersize=4, linewidth=1.6)
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        if dated:
            shown = days[:: -(-len(days) // _TICKS)]
            ax.set_xticks(shown, [day.isoformat() for day in shown])
        ax.set(xlabel="" if dated else "day", ylabel=f"{result.name}, {interval_of(level)}")
        ax.set_title(f"{result.name}, {counted(len(days), 'day')}", loc="left", pad=10)
        style.describe(ax, f"{result.name} of {counted(len(days), 'day')}, the last {result.values[-1]:,.0f}")
    return ax


def _days(labels: tuple[Any, ...]) -> tuple[Any, bool]:
    """The days on an axis: dates where all of them are, and else their places."""
    try:
        return [date.fromisoformat(str(label)) for label in labels], True
    except ValueError:
        return np.arange(1, len(labels) + 1), False
