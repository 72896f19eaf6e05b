"""An estimate as a picture: a dot and an interval per value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend_handler import HandlerLine2D, HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import ParameterError, ParameterTypeError, translated
from bruit.estimation import Estimate
from bruit.figures import style
from bruit.tables import interval_of, label, wrap
from bruit.tables import width as width_of
from bruit.tables.labels import distinct, fitted

Order = Literal["frequency", "declared"]
Floats = NDArray[np.float64]

#: How many rows a figure shows; of more values, the most frequent ones.
MOST_ROWS = 30
#: How many rows the alternative text reads out.
TOLD_ROWS = 10
#: How many characters a line of a label has.
_LABEL_WIDTH = 24

# In inches: heights, then the widths of a character of a label and of the title, and of the key on one line.
_LINE_HEIGHT, _ROW_GAP, _SURROUND = 0.19, 0.12, 1.0
_LABEL_COLUMN, _TITLE_COLUMN, _KEY_WIDTH = 0.083, 0.093, 2.85


def plot_estimate(
    estimate: Estimate, truth: Any = None, level: float = 0.95, ax: Axes | None = None, *, order: Order | None = None
) -> Axes:
    """Draw the estimated share of every value as a dot with its interval.

    Nothing is clipped: an unbiased share may lie a little below 0. Of more than 30 values the most frequent are shown,
    and the title says so.

    Parameters
    ----------
    truth
        True shares, from 0 to 1, drawn as open diamonds: one per value in the declared order, or a mapping from labels.
    level
        How often an interval should cover the truth.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.
    order
        ``"frequency"`` (largest first) or ``"declared"``; None takes the first for labels that are texts and the second
        for numbers.

    Examples
    --------
    >>> import bruit
    >>> oracle = bruit.oracle("GRR", epsilon=2.0, labels=["no", "yes"])
    >>> answer = oracle.estimate(oracle.tally(oracle.privatize(["no"] * 700 + ["yes"] * 300, rng=7)))
    >>> ax = plot_estimate(answer, truth=[0.7, 0.3])
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
    ('share of people (%)', ['no', 'yes'])
    """
    _checks.probability(level=level)
    shares = None if truth is None else _true_shares(truth, estimate.labels)
    places = _places(estimate, order)
    names = _row_names([estimate.labels[place] for place in places])
    room = _room(names)
    title = "\n".join(_title_lines(estimate, int(room / _TITLE_COLUMN)))
    key_rows = 1 if shares is None or room >= _KEY_WIDTH else 2
    with style.applied("".join([*names, title])):
        ax = style.new_axes(_height(names, title.count("\n") + key_rows)) if ax is None else ax
        _draw(ax, estimate, places, shares, level)
        _name_rows(ax, names)
        ax.set_xlabel("share of people (%)")
        ax.set_title(title, loc="left", pad=8 + 18 * key_rows)
        _add_key(ax, level, has_truth=shares is not None, rows=key_rows)
        style.describe(ax, _words(estimate, places, shares, level))
    return ax


def _draw(ax: Axes, estimate: Estimate, places: list[int], truth: Floats | None, level: float) -> None:
    rows = np.arange(len(places))
    ends = 100 * estimate.interval(level)[places]
    style.tidy(ax, grid="x")
    ax.axvline(0, color=style.MUTED, linewidth=1, zorder=1.5)
    if truth is not None:
        ax.plot(100 * truth[places], rows, **_DIAMOND)
    ax.hlines(rows, ends[:, 0], ends[:, 1], **_INTERVAL)
    ax.plot(ends, rows, **_END)
    ax.plot(100 * estimate.frequency[places], rows, **_DOT)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))


def _row_names(labels: list[Any]) -> list[str]:
    """Labels on two lines or three, different ones differently."""
    texts = [label(own) for own in labels]
    written = distinct(texts)
    lines = fitted(written.values(), 2 * _LABEL_WIDTH - 2)
    return ["\n".join(part for line in lines[written[text]] for part in wrap(line, _LABEL_WIDTH)) for text in texts]


def _name_rows(ax: Axes, names: list[str]) -> None:
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)  # the first row stands on top


def _add_key(ax: Axes, level: float, *, has_truth: bool, rows: int) -> None:
    line = Line2D([], [], **{**_END, "linestyle": "-"})
    handles: list[Any] = [(line, Line2D([], [], **_DOT)), Line2D([], [], **_DIAMOND)]
    words = [f"estimate, {interval_of(level)}", "truth"]
    shown = 2 if has_truth else 1
    ax.legend(
        handles[:shown],
        words[:shown],
        handler_map={tuple: HandlerTuple(ndivide=1), line: HandlerLine2D(numpoints=2)},
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=1 if rows > 1 else 2,
        frameon=False,
        borderaxespad=0.2,
        borderpad=0,
        handlelength=1.6,
        handletextpad=0.6,
        columnspacing=1.4,
    )


_INTERVAL: dict[str, Any] = {"color": style.BLUE, "linewidth": 1.8, "zorder": 3}
_END: dict[str, Any] = {**_INTERVAL, "marker": "|", "markersize": 8, "markeredgewidth": 1.8, "linestyle": "none"}
_DOT: dict[str, Any] = {"color": style.BLUE, "marker": "o", "markersize": 5, "linestyle": "none", "zorder": 4}
# Behind the interval and larger than its ends, so that neither hides the other where intervals are short.
_DIAMOND: dict[str, Any] = {
    "marker": "D",
    "markersize": 8.5,
    "markerfacecolor": style.PAPER,
    "markeredgecolor": style.VERMILLION,
    "markeredgewidth": 1.4,
    "linestyle": "none",
    "zorder": 2,
}


def _title_lines(estimate: Estimate, width: int) -> list[str]:
    """Mechanism, ε and number of people, in as many lines as the width needs."""
    notes = [estimate.mechanism, style.epsilon_text(estimate.guarantee.epsilon), f"n = {estimate.n:,}"]
    notes += ["simulated"] if estimate.simulated else []
    lines = [notes[0]]
    for note in notes[1:]:
        longer = f"{lines[-1]} · {note}"
        lines[-1:] = [longer] if width_of(longer) <= width else [lines[-1], note]
    if estimate.name != "value":
        lines[:0] = style.readable(estimate.name, width).split("\n")
    if len(estimate.labels) > MOST_ROWS:
        lines += [f"{MOST_ROWS} most frequent of {len(estimate.labels):,}"]
    return lines


def _room(names: list[str]) -> float:
    """The inches that a figure of our own leaves to the right of its labels."""
    widest = max(width_of(line) for name in names for line in name.split("\n"))
    return style.WIDTH - 0.15 - _LABEL_COLUMN * widest


def _height(names: list[str], extra: int) -> float:
    lines = 1 + max(name.count("\n") for name in names)
    return _SURROUND + extra * _LINE_HEIGHT + len(names) * (lines * _LINE_HEIGHT + _ROW_GAP)


def _places(estimate: Estimate, order: Order | None) -> list[int]:
    """The values to show, from top to bottom."""
    if order is not None:
        _checks.one_of(get_args(Order), order=order)
    places = estimate.top(MOST_ROWS)
    if order is None:
        texts = any(isinstance(label, str) for label in estimate.labels)
        order = "frequency" if texts and not estimate.ordered else "declared"
    if order == "declared":
        return sorted(places)
    return sorted(places, key=lambda place: -estimate.frequency[place])


def _true_shares(truth: Any, labels: tuple[Any, ...]) -> Floats:
    rule = f"truth must have {len(labels)} shares from 0 to 1: one per value, or a mapping from every label."
    if isinstance(truth, Mapping):
        if set(truth) != set(labels):
            raise ParameterError(rule)
        truth = [truth[label] for label in labels]
    with translated((TypeError, ValueError), lambda _: ParameterTypeError(rule)):
        shares = np.asarray(truth, float)
    if shares.shape != (len(labels),) or not ((shares >= 0) & (shares <= 1)).all():
        raise ParameterError(rule)
    return shares


def _words(estimate: Estimate, places: list[int], truth: Floats | None, level: float) -> str:
    """The picture in words."""
    ends = 100 * estimate.interval(level)
    rows = [
        f"{style.readable(estimate.labels[i], 60)} {style.decimal_text(100 * estimate.frequency[i])} % "
        f"({style.decimal_text(ends[i, 0])} to {style.decimal_text(ends[i, 1])}{_truth_words(truth, i)})"
        for i in places[:TOLD_ROWS]
    ]
    left = len(estimate.labels) - len(rows)
    more = f"; and {left:,} more {'value' if left == 1 else 'values'}" if left else ""
    heading = ", ".join(_title_lines(estimate, 80)).replace(" · ", ", ")
    text = f"Estimated shares of people with {interval_of(level)}s, {heading}: {'; '.join(rows)}{more}."
    return " ".join(text.split())


def _truth_words(truth: Floats | None, place: int) -> str:
    return "" if truth is None else f", truth {100 * truth[place]:.1f}"
