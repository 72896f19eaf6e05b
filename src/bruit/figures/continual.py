"""Counts over time as a picture: a line with its band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from bruit.errors import ParameterError
from bruit.figures import style
from bruit.releases import Result
from bruit.releases.continual import moment
from bruit.tables import counted, interval_of
from bruit.tables.labels import shortened

#: How long the name of a day below the axis is at most.
_LONGEST = 16


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
    names = [str(label) for label in result.labels]
    days = _places(names)
    with style.applied(result.name):
        ax = style.new_axes(4.0, 6.4) if ax is None else ax
        style.tidy(ax, grid="both")
        colour = style.PALETTE[0]
        if len(days) == 1:  # a band would have no width
            ax.vlines(days, ends[:, 0], ends[:, 1], color=colour, alpha=0.5, linewidth=1.6)
        ax.fill_between(days, ends[:, 0], ends[:, 1], color=colour, alpha=0.2, linewidth=0)
        marker = "o-" if len(days) <= 31 else "-"
        ax.plot(days, result.values.astype(float), marker, color=colour, markersize=4, linewidth=1.6)
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        written = [shortened(name, _LONGEST) for name in names]
        shown = _ticks(days, 5 if max(map(len, written)) <= len("2026-05-01") else 3)
        ax.set_xticks([days[place] for place in shown], [written[place] for place in shown])
        numbered = all(name.isdecimal() for name in names)
        ax.set(xlabel="day" if numbered else "", ylabel=f"{result.name}, {interval_of(level)}")
        ax.set_title(f"{result.name}, {counted(len(days), 'day')}", loc="left", pad=10)
        style.describe(ax, f"{result.name} of {counted(len(days), 'day')}, the last {result.values[-1]:,.0f}")
    return ax


def _places(names: Sequence[str]) -> Any:
    """Where days stand on an axis: by the calendar if all of them are dates, times or months, and else by their order.

    Days that are not in the order of the calendar stand in the order in which they were added.
    """
    moments = [moment(name) for name in names]
    kinds = {None if when is None else when[0] for when in moments}
    times = [when[1] for when in moments if when is not None]
    if len(kinds) == 1 and not kinds & {None, "number"} and times == sorted(times):
        return times
    return list(range(1, len(names) + 1))


def _ticks(days: Sequence[Any], most: int) -> list[int]:
    """The days whose names are shown: the first, the last, and others between that are not too near to one another."""
    if len(days) == 1:
        return [0]
    parts = np.array([(day - days[0]) / (days[-1] - days[0]) for day in days])
    shown = [0]
    for goal in np.linspace(0, 1, most)[1:-1]:
        place = int(np.argmin(abs(parts - goal)))
        if parts[place] - parts[shown[-1]] >= 1 / most and 1 - parts[place] >= 1 / most:
            shown.append(place)
    return [*shown, len(days) - 1]
