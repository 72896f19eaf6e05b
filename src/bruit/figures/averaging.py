"""What averaging many reports of a person achieves, as a picture."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from bruit.attacks import Averaging
from bruit.figures import style
from bruit.tables import counted, percent


def plot_averaging(attack: Averaging, *, ax: Axes | None = None) -> Axes:
    """Draw how often a person's value is named after each round: with fresh noise, with a memo, and the memo's limit.

    Parameters
    ----------
    attack
        What `bruit.attacks.averaging` gives.
    ax
        matplotlib Axes to draw on; without them a figure is made, which a notebook shows.

    Examples
    --------
    >>> import bruit
    >>> from bruit.attacks import averaging
    >>> from bruit.oracles import Repeated
    >>> panel = Repeated(bruit.oracle("GRR", epsilon=1.0, k=3), epoch=2.0)
    >>> plot_averaging(averaging(panel, rounds=[1, 4], n=60, rng=7)).get_xlabel()
    'rounds'
    """
    redrawn = [result.accuracy for result in attack.redrawn]
    memoised = [result.accuracy for result in attack.memoised]
    with style.applied():
        ax = style.new_axes(4.0, 6.8) if ax is None else ax
        style.tidy(ax, grid="both")
        ax.plot(attack.rounds, redrawn, "o--", color=style.VERMILLION, linewidth=2, markersize=5, label="fresh noise")
        ax.plot(attack.rounds, memoised, "o-", color=style.BLUE, linewidth=2, markersize=5, label="with a memo")
        ax.axhline(attack.limit, color=style.INK, linewidth=1, linestyle=(0, (4, 3)), label="limit of a memo")
        ax.axhline(attack.baseline, color=style.MUTED, linewidth=1, linestyle=(0, (1, 2)), label="blindly")
        ax.set(xscale="log", xlabel="rounds", ylabel="values named rightly", ylim=(0, 1.04))
        ax.set_xticks(attack.rounds, [str(number) for number in attack.rounds])
        ax.minorticks_off()
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        ax.set_title(f"Averaging the reports of {counted(attack.n, 'person')}", loc="left", pad=10)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0)
        last = attack.rounds[-1]
        style.describe(
            ax,
            f"How often a value is named from {counted(last, 'round')}: {percent(redrawn[-1])} with fresh noise, "
            f"{percent(memoised[-1])} with a memo, of which the limit is {percent(attack.limit)}.",
        )
    return ax
