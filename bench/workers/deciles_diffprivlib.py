"""Nine deciles by diffprivlib: the exponential mechanism for each, with a ninth of ε."""

from __future__ import annotations

from typing import Any

import deciles
import numpy as np
from deciles import DECILES
from diffprivlib.tools import quantile


def independent(values: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Any:
    return lambda: quantile(values, DECILES, epsilon=epsilon, bounds=bounds)


if __name__ == "__main__":
    deciles.main({"diffprivlib": independent})
