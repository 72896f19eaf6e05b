"""Classifiers that learn to tell the sampled attribute: XGBoost as in the papers, or any with fit and predict."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bruit.errors import MissingExtraError, ParameterError, ParameterTypeError

#: The name of the classifier of the papers.
XGBOOST = "xgboost"

_TREES = 100
#: What XGBoost had by default when the papers were written; today's defaults find less.
_SETTINGS = {
    "max_depth": 3,
    "learning_rate": 0.1,
    "objective": "multi:softmax",
    "tree_method": "hist",
    "nthread": 1,  # its threads wait for each other without sleeping: on shared cores two are fifty times slower
    "verbosity": 0,
}


@runtime_checkable
class Classifier(Protocol):
    """What scikit-learn calls a classifier: it learns labels from rows, and predicts them."""

    def fit(self, rows: Any, labels: Any, /) -> Any:
        """Learn from rows and their labels."""
        ...

    def predict(self, rows: Any, /) -> Any:
        """The labels of rows."""
        ...


@dataclass
class XGBoost:
    """Boosted trees with the settings that reproduce the papers: depth 3, learning rate 0.1, 100 rounds."""

    classes: int
    seed: int

    def fit(self, rows: NDArray[Any], labels: NDArray[Any]) -> None:
        """Learn from rows and their labels."""
        xgboost = _xgboost()
        settings = {**_SETTINGS, "num_class": self.classes, "seed": self.seed}
        self._trees = xgboost.train(settings, xgboost.DMatrix(rows, label=labels), num_boost_round=_TREES)

    def predict(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The labels of rows."""
        return np.asarray(self._trees.predict(_xgboost().DMatrix(rows)), np.int64)


def fresh(attacker: Any, classes: int, generator: np.random.Generator) -> Classifier:
    """A classifier that has learnt nothing yet; the caller's own one stays as it is."""
    if isinstance(attacker, str):
        if attacker != XGBOOST:
            raise ParameterError('attacker must be "bayes", "xgboost" or a classifier with fit and predict.')
        _xgboost()
        return XGBoost(classes, int(generator.integers(2**31)))
    if isinstance(attacker, type) or not isinstance(attacker, Classifier):
        raise ParameterTypeError('attacker must be "bayes", "xgboost" or a classifier with fit and predict.')
    return copy.deepcopy(attacker)


def name_of(attacker: Any) -> str:
    """The attacker in words."""
    return "XGBoost" if isinstance(attacker, str) else type(attacker).__name__


def _xgboost() -> Any:
    try:
        return import_module("xgboost")
    except ImportError:
        raise MissingExtraError("The XGBoost attacker", "attack") from None
