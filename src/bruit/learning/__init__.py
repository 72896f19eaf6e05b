"""Models that keep their ε, as scikit-learn estimators, and data made fit for any model by local noise.

They need scikit-learn: ``pip install 'bruit[learn]'``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bruit.learning.additive import AdditiveClassifier, AdditiveRegressor, Explanation, LogisticRegression, Shape
    from bruit.learning.declared_scaler import DeclaredScaler
    from bruit.learning.honest import honest_split, randomize_labels
    from bruit.learning.kmeans import KMeans
    from bruit.learning.linear_regression import LinearRegression
    from bruit.learning.local_naive_bayes import LocalNaiveBayes
    from bruit.learning.naive_bayes import NaiveBayes
    from bruit.learning.privatizer import LocalPrivatizer
    from bruit.learning.scores import Scores, private_cross_score, private_score
    from bruit.learning.search import GridSearchCV, RandomizedSearchCV, SearchCost, search_cost

__all__ = [
    "AdditiveClassifier",
    "AdditiveRegressor",
    "DeclaredScaler",
    "Explanation",
    "GridSearchCV",
    "KMeans",
    "LinearRegression",
    "LocalNaiveBayes",
    "LocalPrivatizer",
    "LogisticRegression",
    "NaiveBayes",
    "RandomizedSearchCV",
    "Scores",
    "SearchCost",
    "Shape",
    "honest_split",
    "private_cross_score",
    "private_score",
    "randomize_labels",
    "search_cost",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.util import find_spec

    from bruit.errors import MissingExtraError

    if find_spec("sklearn") is None:
        raise MissingExtraError("Learning", "learn")
    from bruit.learning import (
        additive,
        declared_scaler,
        honest,
        kmeans,
        linear_regression,
        local_naive_bayes,
        naive_bayes,
        privatizer,
        scores,
        search,
    )

    homes = (
        additive,
        declared_scaler,
        honest,
        kmeans,
        linear_regression,
        local_naive_bayes,
        naive_bayes,
        privatizer,
        scores,
        search,
    )
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
