"""How good a model is, as two pictures: its ROC curve and its calibration, with the bands of noise and sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from bruit import _checks
from bruit.errors import ParameterError
from bruit.figures import style
from bruit.tables import interval_of

if TYPE_CHECKING:
    from bruit.learning.scores import Scores
    from bruit.learning.scores.estimates import RankTable

_HEIGHT = 3.2


def plot_scores(scores: Scores, level: float = 0.95, axes: Any = None, *, sampled: bool = True) -> Any:
    """Draw the ROC curve and the calibration of a model side by side, with a band around each.

    Parameters
    ----------
    scores
        What `bruit.learning.private_score` gives, with AUROC or calibration.
    level
        How often the band covers the truth, point by point.
    axes
        Two matplotlib Axes to draw on; without them a figure is made, which a notebook shows.
    sampled
        Whether the band covers the sampling of held-out records too, or the noise alone.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from bruit.learning import private_score
    >>> y = [0, 1] * 500
    >>> model = DummyClassifier().fit([[0]] * 1000, y)
    >>> curve, bars = plot_scores(private_score(model, [[0]] * 1000, y, epsilon=1.0, rng=7))
    >>> curve.get_xlabel(), bars.get_xlabel()
    ('false positives', 'stated probability')
    """
    _checks.probability(level=level)
    if scores.ranks is None:
        raise ParameterError("There is no table of ranks to draw: ask private_score for auroc or calibration.")
    with style.applied():
        if axes is None:
            first: Axes = style.new_axes(_HEIGHT, 2 * style.WIDTH * 0.72)
            figure: Figure = style.whole(first)
            first.remove()
            grid = figure.add_gridspec(1, 2)
            axes = [figure.add_subplot(grid[0, place], axes_class=style.ShownAxes) for place in (0, 1)]
        curve, bars = axes
        _draw_roc(curve, scores, scores.ranks, level, sampled)
        _draw_calibration(bars, scores.ranks, level, sampled)
    return np.array([curve, bars], object)


def _draw_roc(ax: Axes, scores: Scores, ranks: RankTable, level: float, sampled: bool) -> None:
    roc = ranks.roc()
    ends = roc.ends(level, sampled=sampled)
    _prepare(ax, "false positives", "true positives")
    ax.fill_between(roc.along, ends[:, 0], ends[:, 1], color=style.BLUE, alpha=0.2, linewidth=0)
    ax.plot([0, *roc.along, 1], [0, *roc.up, 1], color=style.BLUE, linewidth=1.8, zorder=3)
    value = f", AUROC {scores['AUROC']:.3f}" if "AUROC" in scores.names else ""
    ax.set_title(f"ROC{value}", loc="left")
    half = float(np.interp(0.1, [0, *roc.along, 1], [0, *roc.up, 1]))
    style.describe(
        ax, f"ROC curve{value} with {interval_of(level)}s: at 10 % false positives, {half:.0%} true positives."
    )


def _draw_calibration(ax: Axes, ranks: RankTable, level: float, sampled: bool) -> None:
    curve = ranks.calibration()
    ends = curve.ends(level, sampled=sampled)
    known = np.isfinite(curve.up)
    _prepare(ax, "stated probability", "observed share")
    ax.vlines(curve.along[known], ends[known, 0], ends[known, 1], color=style.BLUE, linewidth=1.8, zorder=3)
    ax.plot(curve.along[known], curve.up[known], "o-", color=style.BLUE, markersize=5, linewidth=1, zorder=4)
    ax.set_title("Calibration", loc="left")
    points = "; ".join(
        f"{x:.2f} stated, {y:.2f} observed" for x, y in zip(curve.along[known], curve.up[known], strict=True)
    )
    style.describe(ax, f"Calibration with {interval_of(level)}s: {points or 'noise hides all of it'}.")


def _prepare(ax: Axes, along: str, up: str) -> None:
    style.tidy(ax, grid="both")
    ax.plot([0, 1], [0, 1], color=style.MUTED, linewidth=1, zorder=1.5)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=along, ylabel=up)
    ax.xaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    ax.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
