"""The true ε of noise that is drawn again until it is within bounds, against the nominal ε, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from bruit import _checks
from bruit.figures import style
from bruit.numbers import Staircase
from bruit.numbers.staircase_noise import resampled_epsilon

Floats: TypeAlias = NDArray[np.float64]

#: Where the exact whole-number law is computed too.
MARKS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)


def plot_leak(*, epsilons: Sequence[float] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the true ε of staircase noise drawn again until it is within the bounds, against the ε it is charged.

    The line is the formula; the points are exact whole-number laws, as `Staircase.as_printed` has them. Laplace noise
    drawn again lies on the diagonal: what it is charged is true.

    Parameters
    ----------
    epsilons
        Where to compute it, in increasing order; from 0.05 to 5 by default.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> plot_leak(epsilons=[0.5, 1.0]).get_ylabel()
    'true ε'
    """
    nominal = np.linspace(0.05, 5.0, 100) if epsilons is None else np.asarray(epsilons, float)
    for value in nominal:
        _checks.epsilon(epsilons=float(value))
    true = np.array([resampled_epsilon(float(value)) for value in nominal])
    with style.applied():
        ax = style.new_axes(4.0) if ax is None else ax
        style.tidy(ax, grid="both")
        _draw(ax, nominal, true)
        ax.set(xlabel="nominal ε, as charged", ylabel="true ε", xlim=(0, None), ylim=(0, None))
        ax.set_title("Drawing again until it fits", loc="left", pad=10)
        style.describe(ax, _words(nominal, true))
    return ax


def _draw(ax: Axes, nominal: Floats, true: Floats) -> None:
    ax.fill_between(nominal, nominal, true, color=style.VERMILLION, alpha=0.15, linewidth=0)
    ax.plot(nominal, true, color=style.VERMILLION, linewidth=2, label="staircase")
    marks = [mark for mark in MARKS if nominal.min() <= mark <= nominal.max()]
    exact = [Staircase.as_printed(mark).guarantee.epsilon for mark in marks]
    ax.plot(marks, exact, "o", color=style.VERMILLION, markersize=5, label="staircase, exact law")
    ax.plot(nominal, nominal, color=style.BLUE, linewidth=2, linestyle=(0, (5, 1.5)), label="Laplace: as charged")
    ax.legend(loc="upper left", frameon=False, borderaxespad=0.3, handlelength=2.6)


def _words(nominal: Floats, true: Floats) -> str:
    share = true / nominal - 1
    place = int(np.argmin(np.abs(nominal - 1)))
    at_one = f"At a nominal ε of {nominal[place]:.2g} the true one is {true[place]:.3f}"
    return (
        "True ε against nominal ε of staircase noise that is drawn again until the result is within the bounds. "
        f"{at_one}; over the range shown it is {share.min():.0%} to {share.max():.0%} larger. "
        "For Laplace noise the two are equal."
    )
