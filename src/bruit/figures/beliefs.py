"""What an ε buys, as a picture: what somebody believed before a report, against the most they can believe after it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes

from bruit.errors import ParameterError, ParameterTypeError
from bruit.figures import style
from bruit.privacy.guarantee import Guarantee, check_adds
from bruit.tables import at_most

#: Curves beyond this many cannot be told apart.
MOST_CURVES = 6

# Evenly spaced in log-odds: the curves turn sharply near 0 and 1.
_PRIORS = 1 / (1 + np.exp(-np.linspace(-14, 14, 160)))
#: How near two labels may stand, as shares of the width and height of the axes.
_ROOM = (0.17, 0.05)
#: How near to the edges of the axes a label may stand.
_EDGES = (0.09, 0.91), (0.03, 0.96)


def plot_beliefs(guarantees: Guarantee | Iterable[Guarantee], ax: Axes | None = None) -> Axes:
    """Draw the greatest belief that a report can lead to, for every belief held before it.

    Parameters
    ----------
    guarantees
        One or several, without δ, all of the same neighbours; one curve each.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> ax = plot_beliefs([Guarantee(epsilon=e, neighbours="value") for e in (0.5, 1, 2)])
    >>> ax.get_xlabel()
    'belief before (%)'
    """
    curves = _curves(guarantees)
    with style.applied():
        ax = style.new_axes(4.75) if ax is None else ax
        style.tidy(ax, grid="both")
        _draw(ax, curves)
        _label_curves(ax, curves)
        _explain(ax, curves[0])
        style.describe(ax, _words(curves))
    return ax


def _curves(guarantees: Guarantee | Iterable[Guarantee]) -> list[Guarantee]:
    """The guarantees, smallest ε first."""
    curves = [guarantees] if isinstance(guarantees, Guarantee) else list(guarantees)
    if not all(isinstance(item, Guarantee) for item in curves):
        raise ParameterTypeError("guarantees must be Guarantee values, such as a mechanism's own.")
    if not 1 <= len(curves) <= MOST_CURVES:
        raise ParameterError(f"guarantees must be 1 to {MOST_CURVES}, got {len(curves)}: more curves cannot be read.")
    check_adds(curves)
    if len({item.neighbours for item in curves}) > 1:
        raise ParameterError("guarantees must speak of the same neighbours to be compared.")
    return sorted(curves, key=lambda item: item.epsilon)


def _draw(ax: Axes, curves: list[Guarantee]) -> None:
    percent = 100 * _PRIORS
    for guarantee, colour in zip(curves, style.PALETTE, strict=False):
        greatest = [100 * guarantee.belief(prior)[1] for prior in _PRIORS.tolist()]
        # The band between the line "nothing learnt" and the curve is all that a report can add.
        ax.fill_between(percent, percent, greatest, color=style.BLUE, alpha=0.08, linewidth=0)
        ax.plot(percent, greatest, color=colour, linewidth=2.2)
    ax.plot([0, 100], [0, 100], color=style.MUTED, linewidth=1.2, linestyle=(0, (4, 3)))


def _label_curves(ax: Axes, curves: list[Guarantee]) -> None:
    """Write ε on each curve, near the diagonal where they are farthest apart, and clear of the other labels."""
    taken: list[tuple[float, float]] = []
    for guarantee in curves:
        spots = [_spot(guarantee.epsilon, shift) for shift in (0.0, 1.2, -1.2, 2.4, -2.4, 4.8, 6.0)]
        spot = next((spot for spot in spots if _is_free(spot, taken)), spots[0])
        taken.append(spot)
        ax.text(
            100 * spot[0],
            100 * spot[1],
            style.epsilon_text(guarantee.epsilon),
            ha="center",
            va="center",
            fontweight="bold",
            bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.5},
        )


def _spot(epsilon: float, shift: float) -> tuple[float, float]:
    """A point of the curve: without a shift, the one that lies farthest from "nothing learnt"."""
    points = (_logistic(shift - epsilon / 2), _logistic(shift + epsilon / 2))
    x, y = (min(max(point, low), high) for point, (low, high) in zip(points, _EDGES, strict=True))
    return x, y


def _logistic(log_odds: float) -> float:
    return 0.5 + 0.5 * math.tanh(log_odds / 2)


def _is_free(spot: tuple[float, float], taken: list[tuple[float, float]]) -> bool:
    width, height = _ROOM
    return all(abs(spot[0] - x) > width or abs(spot[1] - y) > height for x, y in taken)


def _explain(ax: Axes, first: Guarantee) -> None:
    source = "One report" if first.local else "The release"
    ax.set_title(f"{source} can lift a belief up to its curve", loc="left", pad=10)
    ax.set_xlabel("belief before (%)")
    ax.set_ylabel("greatest belief after (%)")
    ax.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
    ax.set_xticks(range(0, 101, 20))
    ax.set_yticks(range(0, 101, 20))
    ax.text(70, 66, "nothing learnt", rotation=45, ha="center", va="center", color=style.MUTED)


def _words(curves: list[Guarantee]) -> str:
    points = "; ".join(
        f"{style.epsilon_text(item.epsilon)}: from 10 % to {at_most(item.belief(0.1)[1])}, "
        f"from 50 % to {at_most(item.belief(0.5)[1])}"
        for item in curves
    )
    source = "a report" if curves[0].local else "the release"
    rule = f"the greatest belief that somebody can hold after seeing {source}, by the belief before"
    return f"Curves of {rule}. {points}."
