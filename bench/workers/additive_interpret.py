"""DP-EBM by interpret, as it is, with the declared bounds of numbers."""

from __future__ import annotations

from typing import Any

import additive_splits
import numpy as np
from interpret.privacy import DPExplainableBoostingClassifier


def prepared(X: np.ndarray, job: dict[str, Any]) -> np.ndarray:
    """Categories as texts; numbers within their bounds."""
    columns: list[Any] = []
    for column, (low, high), labels in zip(X.T, job["ends"], job["labels"], strict=True):
        columns.append(column.astype(int).astype(str).astype(object) if labels else np.clip(column, low, high))
    return np.array(columns, object).T


def model(epsilon: float, job: dict[str, Any], seed: int) -> Any:
    """The δ of the job, and defaults elsewhere."""
    bounds = {place: tuple(ends) for place, ends in enumerate(job["ends"]) if not job["labels"][place]}
    return DPExplainableBoostingClassifier(
        feature_types=["nominal" if labels else "continuous" for labels in job["labels"]],
        epsilon=epsilon,
        delta=job["delta"],
        privacy_bounds=bounds,
        random_state=seed,
        n_jobs=1,
    )


if __name__ == "__main__":
    additive_splits.main(model, prepared)
