"""Nine deciles by PyDP: Google's tree of noisy counts, of height 4 with 16 branches, as Google's libraries have it."""

from __future__ import annotations

from typing import Any

import deciles
import numpy as np
from deciles import DECILES
from pydp._pydp._algorithms import QuantileTree


def tree(values: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Any:
    each = values.tolist()

    def work() -> Any:
        made = QuantileTree(bounds[0], bounds[1], 4, 16)
        for value in each:
            made.add_entry(value)
        return made.compute_quantiles(epsilon, 0.0, 1, 1, DECILES)

    return work


if __name__ == "__main__":
    deciles.main({"PyDP tree": tree})
