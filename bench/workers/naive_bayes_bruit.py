"""Naive Bayes by bruit, with its defaults."""

from __future__ import annotations

from typing import Any

import naive_bayes_splits
import numpy as np

from bruit.learning import NaiveBayes


def model(epsilon: float, bounds: tuple[np.ndarray, np.ndarray], classes: np.ndarray) -> Any:
    return NaiveBayes(epsilon, bounds=bounds, classes=classes)


if __name__ == "__main__":
    naive_bayes_splits.main(model)
