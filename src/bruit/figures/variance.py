"""The error of every oracle against ε, as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import LimitError
from bruit.figures import style
from bruit.oracles import NAMES, oracle
from bruit.tables import counted

#: Line styles, so that curves of one colour can be told apart.
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))


def plot_variance(
    *,
    k: int,
    n: int,
    epsilons: Sequence[float] | None = None,
    among: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw Var*, the variance of the estimate of a rare value, against ε, one curve per oracle.

    Parameters
    ----------
    k, n
        The number of values and of people.
    epsilons
        Where to compute it; 40 points from 0.1 to 5 by default.
    among
        Names of oracles; all by default.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> plot_variance(k=128, n=100_000, among=["GRR"], epsilons=[0.5, 1, 2]).get_xlabel()
    'ε'
    """
    _checks.domain_size(k=k)
    _checks.integer(low=1, n=n)
    points = np.geomspace(0.1, 5, 40) if epsilons is None else np.asarray(epsilons, float)
    curves = {name: _curve(name, k, n, points) for name in among or [name for name in NAMES if name != "Warner"]}
    curves = {name: curve for name, curve in curves.items() if np.isfinite(curve).any()}
    with style.applied():
        ax = style.new_axes(4.2, 6.4) if ax is None else ax
        style.tidy(ax, grid="both")
        _draw(ax, points, curves)
        ax.set(xscale="log", yscale="log", xlabel="ε", ylabel="Var*, variance for a rare value")
        ax.set_title(f"k = {k:,} values, {counted(n, 'person')}", loc="left", pad=10)
        _mark_epsilons(ax, points)
        style.describe(ax, _words(k, n, points, curves))
    return ax


def _curve(name: str, k: int, n: int, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Var* at every ε; not a number where the oracle cannot serve."""
    return np.array([_variance(name, k, n, float(epsilon)) for epsilon in points])


def _variance(name: str, k: int, n: int, epsilon: float) -> float:
    try:
        return oracle(name, epsilon=epsilon, k=k).typical_variance(0.0, n)
    except LimitError:
        return math.nan


def _draw(ax: Axes, points: NDArray[np.float64], curves: dict[str, NDArray[np.float64]]) -> None:
    for place, (name, curve) in enumerate(curves.items()):
        # An oracle of somebody else has no colour of its own: it takes one in turn.
        colour = style.ORACLES.get(name, style.PALETTE[place % len(style.PALETTE)])
        dashes = _DASHES[place // len(style.PALETTE) % len(_DASHES)]
        ax.plot(points, curve, color=colour, linestyle=dashes, linewidth=2, label=name)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0, handlelength=2.6)


def _mark_epsilons(ax: Axes, points: NDArray[np.float64]) -> None:
    marks = [mark for mark in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if points.min() <= mark <= points.max()]
    ax.set_xticks(marks, [f"{mark:g}" for mark in marks])
    ax.minorticks_off()


def _words(k: int, n: int, points: NDArray[np.float64], curves: dict[str, NDArray[np.float64]]) -> str:
    middle = int(np.argmin(np.abs(points - 1)))
    values = "; ".join(f"{name} {curve[middle]:.2g}" for name, curve in curves.items() if np.isfinite(curve[middle]))
    where = f"against ε for {k:,} values and {counted(n, 'person')}"
    return f"Variance for a rare value {where}. At ε = {points[middle]:.2g}: {values}."
