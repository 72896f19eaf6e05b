"""Logistic regression by diffprivlib, as it is: numbers scaled to 0..1, categories as one-hot columns."""

from __future__ import annotations

from typing import Any

import additive_splits
import numpy as np
from diffprivlib.models import LogisticRegression


def prepared(X: np.ndarray, job: dict[str, Any]) -> np.ndarray:
    """Every entry in 0..1."""
    columns = []
    for column, (low, high), labels in zip(X.T, job["ends"], job["labels"], strict=True):
        if labels:
            columns.append(np.eye(labels)[column.astype(int)])
        else:
            columns.append(np.clip((column - low) / (high - low), 0, 1)[:, None])
    return np.hstack(columns)


def model(epsilon: float, job: dict[str, Any], seed: int) -> Any:
    """The norm of a row is at most the root of the number of columns."""
    return LogisticRegression(epsilon=epsilon, data_norm=float(np.sqrt(len(job["ends"]))), random_state=seed)


if __name__ == "__main__":
    additive_splits.main(model, prepared)
