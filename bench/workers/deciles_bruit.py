"""Nine deciles by bruit: every method, through its public face, with secure randomness."""

from __future__ import annotations

import json
import sys
from typing import Any

import deciles
import numpy as np
from deciles import DECILES, Method

from bruit import releases

METHODS = ("auto", "exponential", "approximate", "joint", "histogram")


def drawn(method: str, neighbours: str = "add-remove") -> Method:
    def prepare(values: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Any:
        options: Any = {"bounds": bounds, "epsilon": epsilon, "method": method, "neighbours": neighbours}
        return lambda: releases.release(values, releases.Quantiles(quantiles=DECILES, **options)).values

    return prepare


if __name__ == "__main__":
    neighbours = json.loads(sys.argv[1]).get("neighbours", "add-remove")
    deciles.main({f"bruit {method}": drawn(method, neighbours) for method in METHODS})
