"""What figures of studies share: axes with a title, curves with bands, levels, and names beside the lines.

It loads matplotlib when a function is called, so that a study can import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit_studies.results import Curve, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: Inches; wider figures would have too small text on a phone.
WIDTH, HEIGHT = 5.6, 3.9
#: Line styles, for curves beyond the number of colours, and for a second meaning.
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
#: Marks, so that curves can be told apart without colours.
MARKS = ("o", "s", "^", "D", "v", "P")
#: Mark and line style of each way of asking for several attributes; one attribute alone has a plain line.
_WAYS: dict[str, tuple[str, Any]] = {
    "": ("", "-"),
    "SPL": ("s", DASHES[1]),
    "SMP": ("^", (0, (7, 1.5, 1.5, 1.5))),
    "RS+FD": ("o", "-"),
    "RS+RFD": ("D", DASHES[2]),
}


def axes(title: str, *, x: str, y: str, log: str = "", width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Axes on a figure of their own. `x` and `y` are labels with units; `log` names the axes that are logarithmic."""
    from bruit.figures import style

    ax = style.new_axes(height, width)
    dress(ax, title, x=x, y=y, log=log)
    return ax


def panels(count: int, *, width: float = WIDTH, height: float = 3.3) -> list[Axes]:
    """Axes of this size below each other on one figure, to `dress`; beside each other they would be too small to read
    on a phone.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * count), layout="constrained")
    return list(figure.subplots(count, 1, squeeze=False)[:, 0])


def dress(ax: Axes, title: str, *, x: str, y: str, log: str = "") -> None:
    """Title, labels, scales and a light grid."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    from bruit.figures import style

    style.tidy(ax, grid="both")
    ax.set(xlabel=x, ylabel=y)
    ax.set_title(title, loc="left", pad=10)
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        if name in log:
            ax.set(**{f"{name}scale": "log"})
            axis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
            axis.set_minor_formatter(NullFormatter())
    ax.tick_params(which="minor", length=0)


def curves(ax: Axes, named: Mapping[str, Curve], *, first: int = 0, dashes: Sequence[Any] = DASHES) -> None:
    """Means with their 95 % bands, from the colour of place `first` on; line styles in turn."""
    for turn, (name, means) in enumerate(named.items()):
        curve(ax, means, name, first + turn, dashes=dashes[turn % len(dashes)])


def curve(ax: Axes, means: Curve, label: str, place: int, *, dashes: Any = "-") -> None:
    """The mean with its 95 % band; `place` chooses colour and mark."""
    line(ax, means.x, means.mean, label, place, dashes=dashes, mark=MARKS[place % len(MARKS)])
    band(ax, means, place)


def methods(ax: Axes, named: Mapping[str, Curve], *, short: str = "") -> None:
    """Means with their 95 % bands of methods such as ``"RS+FD[SUE-z]"``; `short` is left out of their names."""
    for method, means in named.items():
        look = look_of(method)
        ax.plot(means.x, means.mean, label=method.removeprefix(short), linewidth=1.8, markersize=4.5, **look)
        if _everywhere(means):
            shade(ax, means.x, means.low, means.high, look["color"])


def look_of(method: str) -> dict[str, Any]:
    """How a method is drawn in every figure: the colour says the oracle, marks and dashes the way of asking.

    >>> [look_of(name)["marker"] for name in ("RS+FD[GRR]", "SMP[GRR]", "GRR")]
    ['o', '^', '']
    """
    from bruit.figures import style

    way, _, base = method.removesuffix("]").rpartition("[")
    oracle, _, fakes = base.partition("-")
    dashes = DASHES[1] if fakes == "r" else _WAYS[way][1]
    return {"color": style.ORACLES[oracle], "linestyle": dashes, "marker": _WAYS[way][0]}


def spreads(ax: Axes, named: Mapping[str, Curve], *, places: Sequence[int] = ()) -> None:
    """Means with bands of one standard deviation of a run, as the slides ask for; line styles in turn.

    Colours are taken in turn, or by `places`, where figures are compared.
    """
    for place, (name, means) in zip(places or range(len(named)), named.items(), strict=True):
        line(ax, means.x, means.mean, name, place, dashes=DASHES[place % 3], mark=MARKS[place % len(MARKS)])
        if _everywhere(means):
            shade(ax, means.x, means.mean - means.sd, means.mean + means.sd, colour(place), alpha=0.15)


def band(ax: Axes, means: Curve, place: int) -> None:
    """The 95 % intervals of means, at every place or at none."""
    if _everywhere(means):
        shade(ax, means.x, means.low, means.high, colour(place))


def shade(ax: Axes, x: NDArray[Any], low: NDArray[Any], high: NDArray[Any], colour: str, *, alpha: float = 0.2) -> None:
    """A band between two lines."""
    ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)


def _everywhere(means: Curve) -> bool:
    """Whether every place has an interval: a band at some places only would mislead. One run alone has none."""
    return bool(((means.count > 1) | (means.high > means.low)).all())


def line(
    ax: Axes, x: NDArray[Any], y: NDArray[Any], label: str, place: int, *, dashes: Any = "-", mark: str = ""
) -> None:
    """A line in the colour of its place."""
    ax.plot(x, y, color=colour(place), linestyle=dashes, linewidth=1.8, marker=mark, markersize=4.5, label=label)


def intervals(ax: Axes, named: Mapping[str, Summary], place: int, label: str) -> None:
    """A mean with its 95 % interval on a line of its own per name, from the bottom up; `place` is that of `label`."""
    for row, summary in enumerate(named.values()):
        ax.plot([summary.low, summary.high], [row, row], color=colour(place), linewidth=3, alpha=0.4)
        mark: dict[str, Any] = {"marker": MARKS[place], "markersize": 6, "linestyle": ""}
        ax.plot(summary.mean, row, color=colour(place), label="_" if row else label, **mark)
    ax.set_yticks(range(len(named)), list(named))


def colour(place: int) -> str:
    """The colour of a place in the palette."""
    from bruit.figures import style

    return style.PALETTE[place % len(style.PALETTE)]


def reference(ax: Axes, y: float, text: str = "", *, left: bool = False, below: bool = False) -> None:
    """A level line, such as a baseline, with its name at an end, above the line or below."""
    from bruit.figures import style

    ax.axhline(y, color=style.MUTED, linewidth=1.2, linestyle=(0, (4, 2)), zorder=1)
    ax.annotate(
        text,
        (0.02 if left else 0.99, y),
        xycoords=("axes fraction", "data"),
        xytext=(0, -11 if below else 3),
        textcoords="offset points",
        ha="left" if left else "right",
        color=style.MUTED,
        fontsize=style.TEXT - 1,
    )


def note(ax: Axes, text: str) -> None:
    """A few words at the lower right, such as a level below what the axis shows."""
    from bruit.figures import style

    look: dict[str, Any] = {"color": style.MUTED, "fontsize": style.TEXT - 1}
    ax.annotate(text, (0.98, 0.03), xycoords="axes fraction", ha="right", va="bottom", **look)


def ticks(ax: Axes, marks: Sequence[float], axis: str = "x") -> None:
    """Plain numbers at these places, and at no other."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    which = ax.xaxis if axis == "x" else ax.yaxis
    which.set_ticks(list(marks))
    which.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    which.set_minor_locator(NullLocator())
    which.set_minor_formatter(NullFormatter())


def finish(ax: Axes, text: str, *, x: Sequence[float] = (), y: Sequence[float] = ()) -> Axes:
    """Ticks where they are given, names beside the lines, and the words that stand for the picture; call it last."""
    for marks, axis in ((x, "x"), (y, "y")):
        if len(marks):
            ticks(ax, marks, axis)
    name_lines(ax)
    return describe(ax, text)


def name_lines(ax: Axes) -> None:
    """The name of every labelled line at its right end, spread so that none hides another."""
    from matplotlib.lines import Line2D

    from bruit.figures import style

    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    ends = np.array([_end(ax, line) for line in lines])
    inches = style.whole(ax).get_figheight() * ax.get_position().height
    for line, (x, y), place in zip(lines, ends, _spread(ends[:, 1], 1.3 * style.TEXT / 72 / inches), strict=True):
        # The text is ink, which everybody can read; a piece of line in its colour leads to it.
        colour, dashes = line.get_color(), line.get_linestyle()
        lead = Line2D(
            [x, 1.02, 1.05], [y, place, place], transform=ax.transAxes, color=colour, linewidth=1, linestyle=dashes
        )
        lead.set_clip_on(False)
        lead.set_alpha(0.8)
        ax.add_artist(lead)
        ax.annotate(
            str(line.get_label()),
            (1.06, place),
            xycoords="axes fraction",
            va="center",
            fontsize=style.TEXT,
            annotation_clip=False,
        )


def describe(ax: Axes, text: str) -> Axes:
    """Keep the words that stand for the picture, and give the Axes back."""
    from bruit.figures import style

    style.describe(ax, text)
    return ax


def power(value: float) -> str:
    """A mark of a logarithmic axis, in plain text that every reader of the file has.

    >>> power(0.01), power(1e-7)
    ('0.01', '10⁻⁷')
    """
    exponent = round(np.log10(value)) if value > 0 else 0
    if abs(exponent) <= 3 or not np.isclose(value, 10.0**exponent):
        return f"{value:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _end(ax: Axes, line: Line2D) -> tuple[float, float]:
    """The last finite point of a line, as a share of the axes; kept within them."""
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    last = np.flatnonzero(np.isfinite(x) & np.isfinite(y))[-1]
    end = ax.transAxes.inverted().transform(ax.transData.transform((x[last], y[last])))
    return float(np.clip(end[0], 0, 1)), float(np.clip(end[1], 0, 1))


def _spread(wanted: NDArray[Any], gap: float) -> NDArray[Any]:
    """Places as near as can be to those wanted, at least `gap` apart: equal shares of each crowd's excess."""
    order = np.argsort(wanted, kind="stable")
    crowds: list[list[float]] = []  # mean of the wanted first places, and how many stand there
    for rank, place in enumerate(wanted[order]):
        crowds.append([place - rank * gap, 1])
        while len(crowds) > 1 and crowds[-2][0] > crowds[-1][0]:
            (mean, count), (before, others) = crowds.pop(), crowds.pop()
            crowds.append([(mean * count + before * others) / (count + others), count + others])
    flat = np.repeat([mean for mean, _ in crowds], [int(count) for _, count in crowds])
    places = flat + gap * np.arange(len(wanted))
    # Within the axes, if there is room: first pushed up from the lower edge, then down from the upper one.
    steps = gap * np.arange(len(wanted))
    places = np.maximum(places, steps)
    places = np.minimum(places, max(1.0, steps[-1]) - steps[::-1])
    out = np.empty(len(wanted))
    out[order] = places
    return out
