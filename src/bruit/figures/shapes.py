"""The shapes of an additive model as pictures: a curve or bars with bands for each column, and their importance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bruit import _checks
from bruit.figures import style
from bruit.learning import Shape
from bruit.tables import interval_of, number

#: How many labels, columns and panels are shown; of more, those that matter most.
MOST_BARS, MOST_ROWS, MOST_PANELS = 20, 30, 12
#: More classes than this share one colour each with another, and are not drawn.
_MOST_OUTPUTS = len(style.PALETTE)

#: A band is cut at this times the largest effect.
_CUT = 2.0
_CURVE, _ROW, _SURROUND, _LINE = 2.6, 0.31, 1.15, 0.22
_BANDS = "Bands: {0}s of the noise, point by point. All panels have the same scale; wide bands are cut."


def plot_shape(
    shape: Shape, level: float = 0.95, ax: Axes | None = None, *, limits: tuple[float, float] | None = None
) -> Axes:
    """Draw the effect of one column: a curve with a band over a number, a dot with an interval for each label.

    Parameters
    ----------
    shape
        A shape of a fitted model, as in ``model.shapes_["age"]``.
    level
        How often the band should cover the effect without noise, point by point.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.
    limits
        The ends of the axis of effects; by default they suit this column.

    Examples
    --------
    >>> import numpy as np
    >>> from bruit.learning import AdditiveClassifier
    >>> x = np.linspace(0, 10, 2000).reshape(-1, 1)
    >>> model = AdditiveClassifier(1.0, bounds=(0, 10), classes=[False, True], random_state=7).fit(x, x[:, 0] > 5)
    >>> plot_shape(model.shapes_["x0"]).get_xlabel()
    'x0'
    """
    _checks.probability(level=level)
    with style.applied(shape.name + "".join(map(str, (*shape.points, *shape.outputs)))):
        labels = _labels(shape)
        if ax is None:
            ax = style.new_axes(_CURVE if shape.ordered else _SURROUND + _ROW * len(labels))
        if shape.ordered:
            _draw_curve(ax, shape, level)
            ax.set_ylim(*(limits or common_limits([shape], level)))
        else:
            _draw_labels(ax, shape, labels, level)
            ax.set_xlim(*(limits or common_limits([shape], level)))
        style.describe(ax, _words(shape, level))
    return ax


def plot_shapes(shapes: Mapping[str, Shape], level: float = 0.95, *, title: str = "") -> Figure:
    """Draw the most important columns of a model in panels, two beside each other, all with the same scale.

    Parameters
    ----------
    shapes
        The shapes of a fitted model, ``model.shapes_``.
    level
        How often a band should cover the effect without noise, point by point.
    title
        What stands above all panels, before a line about bands and scale.
    """
    _checks.probability(level=level)
    ordered = sorted(shapes.values(), key=lambda shape: -shape.importance)[:MOST_PANELS]
    heights = [_CURVE if shape.ordered else _SURROUND + _ROW * len(_labels(shape)) for shape in ordered]
    rows = math.ceil(len(ordered) / 2)
    tall = [max(heights[2 * row : 2 * row + 2]) for row in range(rows)]
    ends = common_limits(ordered, level)
    heading = "\n".join([*title.splitlines(), _BANDS.format(interval_of(level))])
    text = "".join(str(point) for shape in ordered for point in (shape.name, *shape.points, *shape.outputs))
    with style.applied(heading + text):
        height = sum(tall) + _LINE * len(heading.splitlines())
        figure = Figure(figsize=(2 * style.WIDTH, height), layout="constrained")
        figure.suptitle(heading, x=0.01, ha="left", fontsize=style.TEXT)
        grid = figure.add_gridspec(rows, 2, height_ratios=tall)
        for place, shape in enumerate(ordered):
            ax = plot_shape(shape, level, figure.add_subplot(grid[place // 2, place % 2]), limits=ends)
            if not shape.ordered:  # labels keep their distance beside a taller panel
                ax.set_ylim((tall[place // 2] - _SURROUND) / _ROW - 0.4, -0.6)
    return figure


def plot_importances(importances: Mapping[str, float], ax: Axes | None = None) -> Axes:
    """Draw the importance of every column as a bar, the largest first.

    Parameters
    ----------
    importances
        The importance of each column by name, ``model.importances_``.
    ax
        matplotlib Axes to draw on.
    """
    ordered = sorted(importances.items(), key=lambda pair: -pair[1])[:MOST_ROWS]
    names, sizes = [name for name, _ in ordered], [size for _, size in ordered]
    with style.applied("".join(names)):
        ax = style.new_axes(_SURROUND + _ROW * len(names)) if ax is None else ax
        style.tidy(ax, grid="x")
        ax.barh(range(len(names)), sizes, height=0.6, color=style.BLUE, zorder=2)
        ax.set_yticks(range(len(names)), [style.readable(name) for name in names], parse_math=False)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlabel("mean size of the effect")
        said = "; ".join(f"{name} {number(round(size, 3))}" for name, size in ordered[:10])
        style.describe(ax, f"Importance of columns: {said}.")
    return ax


def _draw_curve(ax: Axes, shape: Shape, level: float) -> None:
    style.tidy(ax, grid="y")
    ax.axhline(0, color=style.MUTED, linewidth=0.8, zorder=1.5)
    points = np.array(shape.points[: shape.ordered], float)
    band = shape.interval(level)
    gaps = range(shape.ordered, len(shape.points))
    beside = points[-1] + 0.08 * (points[-1] - points[0])
    for output in range(min(len(shape.outputs), _MOST_OUTPUTS)):
        colour = style.PALETTE[output]
        low, high = band[: shape.ordered, output].T
        if np.isfinite(low).all():
            ax.fill_between(points, low, high, color=colour, alpha=0.2, linewidth=0, zorder=2)
        ax.plot(points, shape.effects[: shape.ordered, output], color=colour, linewidth=1.8, zorder=3)
        for gap in gaps:  # missing numbers stand beside the curve
            ax.vlines(beside, *band[gap, output], color=colour, linewidth=1.8, zorder=3)
            ax.plot([beside], [shape.effects[gap, output]], "o", color=colour, markersize=5, zorder=4)
    for gap in gaps:
        right, middle = beside + 0.02 * (points[-1] - points[0]), float(shape.effects[gap].mean())
        paper = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1}  # lines of the grid do not cross the word
        ax.text(right, middle, "missing", rotation=90, va="center", fontsize=style.TEXT - 2, bbox=paper)
    _name_outputs(ax, shape)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 6))))
    ax.set(xlabel=style.readable(shape.name, 40), ylabel=_score(shape, "\n"))


def _draw_labels(ax: Axes, shape: Shape, places: list[int], level: float) -> None:
    style.tidy(ax, grid="x")
    ax.axvline(0, color=style.MUTED, linewidth=0.8, zorder=1.5)
    band = shape.interval(level)
    outputs = min(len(shape.outputs), _MOST_OUTPUTS)
    for output in range(outputs):
        rows = np.arange(len(places)) + (output - (outputs - 1) / 2) * 0.6 / outputs
        low, high = band[places, output].T
        colour = style.PALETTE[output]
        if np.isfinite(low).all():
            ax.hlines(rows, low, high, color=colour, linewidth=1.8, zorder=3)
        ax.plot(shape.effects[places, output], rows, "o", color=colour, markersize=5, zorder=4)
    ax.set_yticks(range(len(places)), [style.readable(str(shape.points[place])) for place in places], parse_math=False)
    ax.set_ylim(len(places) - 0.4, -0.6)
    _name_outputs(ax, shape)
    ax.set_xlabel(f"{style.readable(shape.name, 40)}: {_score(shape)}")


def _name_outputs(ax: Axes, shape: Shape) -> None:
    if len(shape.outputs) > 1:
        for output, name in enumerate(shape.outputs[:_MOST_OUTPUTS]):
            ax.plot([], [], color=style.PALETTE[output], label=style.readable(name))
        ax.legend(frameon=False, fontsize=style.TEXT - 2)


def common_limits(shapes: Sequence[Shape], level: float) -> tuple[float, float]:
    """Ends of an axis for the effects of all these columns: bands that are far wider than all effects are cut."""
    bands = [shape.interval(level) for shape in shapes]
    reach = max([0.1, *(float(np.abs(shape.effects).max(initial=0)) for shape in shapes)])
    low = min([0.0, *(float(band.min(initial=0)) for band in bands)])
    high = max([0.0, *(float(band.max(initial=0)) for band in bands)])
    return max(low, -_CUT * reach) - 0.08 * reach, min(high, _CUT * reach) + 0.08 * reach


def _labels(shape: Shape) -> list[int]:
    """The labels that are shown, the largest effects of all in the order of the declaration."""
    sizes = np.abs(shape.effects).max(axis=1) if len(shape.points) else np.zeros(0)
    return sorted(np.argsort(-sizes, kind="stable")[:MOST_BARS].tolist())


def _score(shape: Shape, between: str = " ") -> str:
    """What an effect is added to, and of which class."""
    if shape.kind == "number":
        return "effect on the target"
    if len(shape.outputs) > 1:
        return f"effect on the score{between}(log-odds)"
    return f"effect on the log-odds{between}of {style.readable('class ' + shape.outputs[0]).splitlines()[0]}"


def _words(shape: Shape, level: float) -> str:
    effects = shape.effects[:, -1]
    low, high = int(np.argmin(effects)), int(np.argmax(effects))
    ends = [f"{number(round(float(effects[place]), 2))} at {_point(shape.points[place])}" for place in (low, high)]
    return f"Effect of {shape.name} on {shape.outputs[-1]}, from {ends[0]} to {ends[1]}, with {interval_of(level)}s."


def _point(point: object) -> str:
    return number(round(point, 2)) if isinstance(point, int | float) else str(point)
