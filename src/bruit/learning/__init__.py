"""Models that keep their ε, as scikit-learn estimators, and data made fit for any model by local noise.

They need scikit-learn: ``pip install 'bruit[learn]'``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bruit.learning.kmeans import KMeans
    from bruit.learning.linear_regression import LinearRegression
    from bruit.learning.naive_bayes import NaiveBayes
    from bruit.learning.privatizer import LocalPrivatizer, honest_split

__all__ = ["KMeans", "LinearRegression", "LocalPrivatizer", "NaiveBayes", "honest_split"]

_HOME = {
    "KMeans": "kmeans",
    "LinearRegression": "linear_regression",
    "LocalPrivatizer": "privatizer",
    "NaiveBayes": "naive_bayes",
    "honest_split": "privatizer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.util import find_spec

    from bruit.errors import MissingExtraError

    if find_spec("sklearn") is None:
        raise MissingExtraError("Learning", "learn")
    return getattr(import_module(f"bruit.learning.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
