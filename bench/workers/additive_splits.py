"""The worker's side of `learning/additive.py`: AUROC of a model on each split, for every ε.

It runs inside every environment, so it may use the standard library, numpy and scikit-learn only. A model is a function
of ε, the job and a seed that returns something with `fit` and `predict_proba`.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

Model = Callable[[float, dict[str, Any], int], Any]


def main(model: Model, prepared: Callable[[np.ndarray, dict[str, Any]], np.ndarray]) -> None:
    """Do the job of the first argument and print what came out."""
    warnings.simplefilter("ignore")
    job = json.loads(sys.argv[1])
    with np.load(job["file"]) as file:
        X, y = prepared(file["X"], job), file["y"]
        splits = [(file[f"first{draw}"], file[f"second{draw}"]) for draw in range(job["draws"])]
    scores: dict[str, list[float]] = {}
    for epsilon in job["epsilons"]:
        scores[f"{epsilon:g}"] = [
            float(
                roc_auc_score(
                    y[second], model(epsilon, job, draw).fit(X[first], y[first]).predict_proba(X[second])[:, 1]
                )
            )
            for draw, (first, second) in enumerate(splits)
        ]
    print(json.dumps(scores))
