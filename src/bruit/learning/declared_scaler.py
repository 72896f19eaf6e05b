"""A scaler by declared bounds, for pipelines: it learns nothing, so that it keeps no fact about the data.

scikit-learn's scalers keep the least, the greatest or the mean record exactly, and whoever gets the fitted pipeline
gets that too. Here the bounds are declared, as for every model of bruit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array

from bruit.errors import ParameterTypeError
from bruit.learning._base import is_mapping
from bruit.learning._features import Features, Floats, column_of
from bruit.learning._notebook import ReadableDocstring
from bruit.learning._validation import scikit_learn_errors, validated
from bruit.typing import ColumnLike, FeatureBounds, SourceLike

__all__ = ["DeclaredScaler"]


class DeclaredScaler(ReadableDocstring, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scale numbers from their declared bounds to 0..1, without learning anything from the data.

    Parameters
    ----------
    bounds
        What the columns can be, declared: ``(low, high)`` for all, ``([…], […])`` for each, or a `Schema` of grids or
        a mapping such as ``{"age": (0, 100)}``. With names, these columns are taken from a frame in the declared order,
        and others are left out.
    clip
        True (default): numbers outside count as the nearest bound. False: they lie outside 0..1.

    Guarantee
    ---------
    It keeps the number of columns and their names, which are public, and nothing else. `transform` needs no `fit`. A
    model behind it has the bounds 0 and 1.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from bruit.learning import NaiveBayes
    >>> model = make_pipeline(
    ...     DeclaredScaler(bounds=([0, 0], [100, 5000])),
    ...     NaiveBayes(epsilon=1.0, bounds=(0, 1), classes=["no", "yes"], random_state=7),
    ... )
    >>> rows = [[30, 900], [70, 4500]] * 500
    >>> model.fit(rows, ["no", "yes"] * 500).predict([[65, 4000]]).tolist()
    ['yes']
    >>> DeclaredScaler(bounds=(0, 50)).transform([[25], [60]]).tolist()
    [[0.5], [1.0]]
    """

    def __init__(self, bounds: FeatureBounds | None = None, *, clip: bool = True) -> None:
        self.bounds = bounds
        self.clip = clip

    def fit(self, X: SourceLike, y: ColumnLike | None = None) -> DeclaredScaler:
        """Check the bounds, and keep how many columns there are and their names."""
        features = self._declared()
        features.width(self._matrix(X, features, reset=True).shape[1])
        return self

    def transform(self, X: SourceLike) -> Floats:
        """The rows with each column scaled to 0..1."""
        features = self._declared()
        matrix = self._matrix(X, features, reset=False)
        low, half = _low_and_half(features, matrix.shape[1])
        scaled = (matrix / 2 - low / 2) / half  # halves, because high − low may be beyond all floats
        return np.clip(scaled, 0.0, 1.0) if self.clip else np.asarray(scaled, np.float64)

    def inverse_transform(self, X: SourceLike) -> Floats:
        """Rows in 0..1 in the units of the bounds."""
        features = self._declared()
        with scikit_learn_errors():
            matrix = check_array(X, dtype=np.float64)
        low, half = _low_and_half(features, matrix.shape[1])
        return np.asarray(low + 2 * half * matrix, np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns: as declared, or as they came in."""
        names = self._declared().names
        return super().get_feature_names_out(input_features) if names is None else np.array(names, object)

    def _declared(self) -> Features:
        if not isinstance(self.clip, bool | np.bool_):
            raise ParameterTypeError("clip must be True or False.")
        return Features.declared(self.bounds)

    def _matrix(self, X: Any, features: Features, *, reset: bool) -> Floats:
        """The numbers of X; declared columns by name, where names are declared."""
        if features.names is None:
            return np.asarray(validated(self, X, dtype=np.float64, reset=reset), np.float64)
        named = {name: column_of(X, name) for name in features.names} if is_mapping(X) else features.table(X)
        matrix = features.of_columns(named)
        if reset:
            self.n_features_in_ = len(features.names)
            self.feature_names_in_ = np.array(features.names, object)
        return matrix.numbers

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def _low_and_half(features: Features, columns: int) -> tuple[Floats, Floats]:
    low, high = features.ends(columns)
    return low, high / 2 - low / 2
