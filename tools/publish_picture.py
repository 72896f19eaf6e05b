"""Draw docs/figures/publish.svg for the first page: ages of real people, as they are and as released.

Run ``python tools/publish_picture.py``. The noise has a seed, so that the picture stays the same.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

import bruit
from bruit import datasets
from bruit.domains import Bins
from bruit.figures import save, style
from bruit.releases import Histogram

PICTURE = Path(__file__).parents[1] / "docs" / "figures" / "publish"
PEOPLE, EPSILON, SEED = 1000, 0.2, 7
EDGES = (15, 25, 35, 45, 55, 65, 75, 95)


def picture() -> str:
    """Draw it; the text that stands for it."""
    ages = np.asarray(datasets.load("adult")["age"])[:PEOPLE]
    counts = Histogram(domain=Bins(EDGES), epsilon=EPSILON)
    result = bruit.release(ages, counts, rng=SEED)
    low, high = np.asarray(result.interval(0.95)).T
    true = np.histogram(np.clip(ages, EDGES[0], EDGES[-1] - 1), EDGES)[0]
    names = [f"{first}–{last - 1}" for first, last in itertools.pairwise(EDGES[:-1])] + [f"{EDGES[-2]}+"]
    with style.applied():
        ax = style.new_axes(3.9)
        style.tidy(ax, grid="y")
        places = np.arange(len(names))
        ax.bar(places, true, color=style.GRID, width=0.7, label="without noise, never shown")
        ax.errorbar(places, result.values, [result.values - low, high - result.values], fmt="o", color=style.PALETTE[0],
                    linewidth=2, markersize=6, label="published, with 95 % intervals")  # fmt: skip
        ax.set_xticks(places, names, fontsize=10)
        ax.set(xlabel="age", ylabel="people", ylim=(min(0, low.min()) - 5, 1.45 * high.max()))
        ax.set_title(f"Ages of {PEOPLE:,} people, published at ε = {EPSILON:g}", loc="left", pad=10)
        ax.legend(frameon=False, loc="upper right")
        pairs = zip(names, result.values, true, strict=True)
        listed = "; ".join(f"{name}: {value:g} published, {count} true" for name, value, count in pairs)
        style.describe(ax, f"Bars of how many of {PEOPLE:,} people have each age, and the published numbers. {listed}.")
    return save(ax, PICTURE, endings=[".svg"])


if __name__ == "__main__":
    print(picture())
