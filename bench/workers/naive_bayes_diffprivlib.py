"""Gaussian naive Bayes by diffprivlib, as it is."""

from __future__ import annotations

from typing import Any

import naive_bayes_splits
import numpy as np
from diffprivlib.models import GaussianNB


def model(epsilon: float, bounds: tuple[np.ndarray, np.ndarray], classes: np.ndarray) -> Any:
    return GaussianNB(epsilon=epsilon, bounds=bounds)  # it reads the classes from the data


if __name__ == "__main__":
    naive_bayes_splits.main(model)
