"""Rounds of a panel as pictures: the frequencies with their bands, and the ε of a person over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from bruit import _checks
from bruit.errors import ParameterError
from bruit.figures import style
from bruit.oracles import Series
from bruit.tables import counted, interval_of

#: How many values are drawn at most, those with the largest frequencies.
MOST_VALUES = 6


def plot_series(series: Series, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the frequencies of each round with their intervals as bands; a line stands where an epoch begins.

    Parameters
    ----------
    series
        The rounds. At most six values are drawn: those with the largest mean.
    level
        How often an interval covers the truth.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> import bruit
    >>> from bruit.oracles import Repeated
    >>> panel = Repeated(bruit.oracle("GRR", epsilon=1.0, labels=["bus", "car"]), epoch=2.0)
    >>> plot_series(panel.simulate([[600, 400], [500, 500]], rounds=3, rng=7)).get_xlabel()
    'round'
    """
    if not isinstance(series, Series):
        raise ParameterError("series must be a Series, as Repeated.series or plan.panel.series gives it.")
    ends, rounds = series.interval(level), np.array(series.rounds)
    order = np.argsort(-series.frequency.mean(axis=0), kind="stable")[:MOST_VALUES]
    labels = series.labels or ()
    with style.applied("".join(str(label) for label in labels)):
        ax = style.new_axes(4.0, 6.4) if ax is None else ax
        style.tidy(ax, grid="both")
        for colour, value in zip(style.PALETTE, order, strict=False):
            ax.fill_between(rounds, ends[:, value, 0], ends[:, value, 1], color=colour, alpha=0.18, linewidth=0)
            line = series.frequency[:, value]
            ax.plot(rounds, line, "o-", color=colour, markersize=4, linewidth=2, label=style.readable(labels[value]))
        for place in np.flatnonzero(np.diff(series.epochs)):
            ax.axvline((rounds[place] + rounds[place + 1]) / 2, color=style.MUTED, linewidth=1, linestyle=(0, (4, 3)))
        _whole_ticks(ax)
        ax.set(xlabel="round", ylabel=f"frequency, {interval_of(level)}")
        what = series.name or series.oracle.name
        ax.set_title(f"{style.readable(what)}, {counted(len(rounds), 'round')}", loc="left", pad=10)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0)
        style.describe(ax, _words(series, order))
    return ax


def plot_loss(panel: Any, *, rounds: int, epochs: int = 1, ax: Axes | None = None) -> Axes:
    """Draw the ε of a person after each round, beside the sum that reports without memos would cost.

    Parameters
    ----------
    panel
        A `Repeated` oracle or a plan with rounds.
    rounds, epochs
        How many rounds an epoch has, and how many epochs there are.
    ax
        As for `plot_series`.

    Examples
    --------
    >>> import bruit
    >>> from bruit.oracles import Repeated
    >>> plot_loss(Repeated(bruit.oracle("GRR", epsilon=1.0, k=3), epoch=2.0), rounds=6, epochs=2).get_ylabel()
    'ε of a person, all reports so far'
    """
    rounds = _checks.integer(low=1, high=512, rounds=rounds)
    epochs = _checks.integer(low=1, high=64, epochs=epochs)
    within = np.array([panel.after(number).epsilon for number in range(1, rounds + 1)])
    memoised = np.concatenate([epoch * within[-1] + within for epoch in range(epochs)])
    numbers = np.arange(1, memoised.size + 1)
    if "epoch" not in panel.guarantees:
        raise ParameterError(
            "With follow_changes there is no ε of an epoch to draw: after(T) says what T reports cost."
        )
    limit = panel.guarantees["epoch"].epsilon
    with style.applied():
        ax = style.new_axes(4.0) if ax is None else ax
        style.tidy(ax, grid="both")
        redrawn = within[0] * numbers
        ax.plot(numbers, redrawn, color=style.VERMILLION, linewidth=2, linestyle=(0, (5, 1.5)), label="fresh noise")
        ax.step(numbers, memoised, color=style.BLUE, linewidth=2, where="post", label="with a memo")
        for epoch in range(1, epochs + 1):
            ax.axhline(epoch * limit, color=style.MUTED, linewidth=1, linestyle=(0, (1, 2)))
        top = min(float(redrawn[-1]), 2.5 * float(memoised[-1]))
        ax.set(xlabel="round", ylabel="ε of a person, all reports so far", ylim=(0, top), xlim=(1, None))
        _whole_ticks(ax)
        ax.set_title(f"{counted(epochs, 'epoch')} of {counted(rounds, 'round')}", loc="left", pad=10)
        ax.legend(loc="upper right", frameon=False)
        style.describe(
            ax,
            f"ε of a person after each of {memoised.size} rounds. With a memo it is {memoised[-1]:.3g} at the end, "
            f"and at most {limit:.3g} in each epoch; with fresh noise it would be {redrawn[-1]:.3g}.",
        )
    return ax


def _whole_ticks(ax: Axes) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _words(series: Series, order: Any) -> str:
    labels = series.labels or ()
    values = "; ".join(
        f"{labels[value]} {series.frequency[0, value]:.3f} to {series.frequency[-1, value]:.3f}" for value in order
    )
    return f"Frequencies over {counted(len(series.tallies), 'round')}, first to last: {values}."
