"""A regression as a picture: an odds ratio with its interval per term, on a scale of factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bruit import _checks
from bruit.analysis import Regression
from bruit.errors import ParameterError
from bruit.figures import style
from bruit.tables import interval_of, label

#: More rows than this cannot be read in one figure.
MOST_ROWS = 40
#: How many rows the alternative text reads out.
_TOLD_ROWS = 10


def plot_regression(regression: Regression, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the odds ratio of every term but the constant as a dot with its interval.

    Parameters
    ----------
    regression
        What `bruit.analysis.logistic` gives.
    level
        How often an interval should cover the truth.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> from bruit.analysis import logistic
    >>> clear = ["no", "yes", "no", "no", "yes", "yes"] * 20
    >>> ax = plot_regression(logistic(None, clear, {"age": [20, 30, 40, 50, 60, 25] * 20}))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['age']
    """
    _checks.probability(level=level)
    names, centres, ends = _rows(regression, level)
    if not 0 < len(names) <= MOST_ROWS:
        raise ParameterError(f"A figure shows 1 to {MOST_ROWS} terms, this regression has {len(names)}.")
    rows = np.arange(len(names))
    title = style.readable(f"{regression.name}: odds ratios, {interval_of(level)}", 60)
    with style.applied("".join([*names, title])):
        ax = style.new_axes(1.1 + 0.33 * len(names)) if ax is None else ax
        style.tidy(ax, grid="x")
        ax.set_xscale("log")
        ax.axvline(1, color=style.MUTED, linewidth=1, zorder=1.5)
        ax.hlines(rows, ends[:, 0], ends[:, 1], color=style.BLUE, linewidth=1.8, zorder=3)
        ax.plot(ends, rows, "|", color=style.BLUE, markersize=8, markeredgewidth=1.8, zorder=3)
        ax.plot(centres, rows, "o", color=style.BLUE, markersize=5, zorder=4)
        ax.set_yticks(rows, [style.readable(name, 28) for name in names], parse_math=False)
        ax.set_ylim(len(names) - 0.4, -0.6)
        _mark_factors(ax, float(ends.min()), float(ends.max()))
        ax.set_xlabel("factor of the odds")
        ax.set_title(title, loc="left")
        style.describe(ax, _words(regression, names, centres, ends, level))
    return ax


def _rows(regression: Regression, level: float) -> tuple[list[str], Any, Any]:
    """Names, odds ratios and their ends, without the constants."""
    several = len(regression.answers) > 2
    factors, ends = np.exp(regression.coefficients), np.exp(regression.interval(level))
    places = [(row, place) for row in range(len(factors)) for place in range(1, len(regression.terms))]
    names = [
        f"{label(regression.answers[row + 1])}: {regression.terms[place]}" if several else str(regression.terms[place])
        for row, place in places
    ]
    chosen = tuple(np.array(places, int).reshape(-1, 2).T)
    return names, factors[chosen], ends[chosen]


def _mark_factors(ax: Axes, low: float, high: float) -> None:
    """Marks at 1, 2 and 5 times powers of ten, or only at powers where there are many; none between."""
    wide = np.log10(high / low) > 3
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    if high / low < 4:
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(which="minor", length=0)


def _words(regression: Regression, names: list[str], centres: Any, ends: Any, level: float) -> str:
    rows = [
        f"{style.readable(name, 60)} {centre:.3g} ({low:.3g} to {high:.3g})"
        for name, centre, (low, high) in zip(names[:_TOLD_ROWS], centres, ends, strict=False)
    ]
    more = f"; and {len(names) - len(rows)} more" if len(names) > len(rows) else ""
    text = f"Odds ratios of {regression.name} with {interval_of(level)}s: {'; '.join(rows)}{more}."
    return " ".join(text.split())
