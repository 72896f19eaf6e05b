"""Additive regressor with differential privacy: one shape for each column, or a line where there are few records.

Rejected: shapes at any number of records. Below the limit in ``target.py`` a line is better on the tables measured, and
the noisy number of records decides which of the two is fitted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from bruit.entropy import Entropy
from bruit.learning._base import Counts, with_targets
from bruit.learning._features import FeatureRows, Features, Floats, as_numbers
from bruit.learning._validation import scikit_learn_errors
from bruit.learning.additive.columns import Cells, ShapeColumns
from bruit.learning.additive.explanation import Explanation
from bruit.learning.additive.fitting import Fitted, Fitting, Reader, Size
from bruit.learning.additive.model import AdditiveModel
from bruit.learning.additive.problem import Shapes
from bruit.learning.additive.releases import FOR_SIZE
from bruit.learning.additive.target import TargetProblem, as_targets, halves
from bruit.learning.linear_regression.model import Layout, line_layout, target_ends
from bruit.learning.linear_regression.products import Products
from bruit.typing import Bounds, ColumnLike, FeatureBounds, SourceLike

__all__ = ["AdditiveRegressor"]

#: Warned where a line is fitted; computed from the noisy number of records.
LINE = (
    "At this ε there are too few records for shapes, by their noisy number: the fit is that of LinearRegression, with "
    "all but a hundredth of the budget. `passes_` is 0, and the shapes are straight."
)


@dataclass(frozen=True, eq=False)
class _LineSums:
    """Counts what a line needs, from targets that come as halves in steps."""

    layout: Layout
    ends: tuple[float, float]

    def __call__(self, rows: FeatureRows, target: Any) -> Counts:
        """The sums of some rows."""
        return self.layout.count(rows, as_targets(target, *self.ends))


class AdditiveRegressor(RegressorMixin, AdditiveModel):  # type: ignore[misc] # scikit-learn carries no types
    """Predict a bounded number by a curve or bars for each column that add up (DP generalised additive model).

    Parameters
    ----------
    epsilon
        The most that the fitted model may tell about one record.
    bounds
        What the columns of X can be, declared: ``(low, high)`` for all, ``([…], […])`` for each, or a `Schema` of
        categories and grids. Numbers outside count as the nearest bound.
    target_bounds
        The same for the target: a pair of numbers.
    delta
        0 for pure ε with Laplace noise; above 0 for Gaussian noise.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.
    person, rows
        Where people have several rows: the column that says whose row it is, and how many rows of a person count; or a
        `Person`. X is then a table that has this column, and `bounds` names the columns that are learned from. Without
        a person the guarantee speaks of a record.
    ledger
        A `Ledger` that each fit books ε in.
    rng, random_state
        None for secure noise; an int for a study that can be repeated.

    Attributes
    ----------
    shapes_
        The `Shape` of each column, by name, in the units of the target.
    intercept_
        The prediction for an average record, as an array of one number.
    importances_
        The mean size of each column's effect, by name, over the noisy numbers of records; of a line, over its bounds.
    n_records_
        The number of records, with noise unless it is public.
    passes_
        1 where shapes were fitted, 0 where the fit is that of `LinearRegression`.
    guarantee_, simulated_
        What the fit promises, and whether its noise came from a seed.

    Guarantee
    ---------
    A record adds 1 and its target, scaled to −1..1, to cells whose weights sum to 1 in every column: 2K in L1 for K
    columns, √(2K) in L2. In the pass its residual is at most 1.5 and depends on this record and on released numbers
    alone. All sums are whole numbers; discrete noise is added once to each, and the shares sum to ε, or to the ρ of ε
    and δ. Which of the two fits is made follows from the noisy number of records.

    Error
    -----
    A sum of a cell has noise of standard deviation about 7·K/ε records at the bound of the target, for Laplace noise.
    Shapes are fitted from 4,200·K/ε records on (Gaussian noise at δ = 10⁻⁶: about 4,500·√K/ε).

    References
    ----------
    Hastie and Tibshirani (1990), Generalized additive models.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 10, 50_000).reshape(-1, 1)
    >>> model = AdditiveRegressor(epsilon=1.0, bounds=(0, 10), target_bounds=(0, 30), random_state=7)
    >>> model = model.fit(x, (x[:, 0] - 5) ** 2)
    >>> bool(abs(model.predict([[5.0]])[0]) < 1), bool(abs(model.predict([[9.0]])[0] - 16) < 1)
    (True, True)
    >>> print(model.guarantee_)
    ε = 1 (central, one record added or removed)
    """

    _gaps = False
    _kind = "number"

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        bounds: FeatureBounds | None = None,
        target_bounds: Bounds | None = None,
        delta: float = 0.0,
        neighbours: Literal["add-remove", "replace"] = "add-remove",
        person: Any = None,
        rows: int | None = None,
        ledger: Any = None,
        rng: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon: Any = epsilon  # fit asks for it: there is no usual one
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.delta = delta
        self.neighbours = neighbours
        self.person = person
        self.rows = rows
        self.ledger = ledger
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike | str | None = None, **unsupported: Any) -> AdditiveRegressor:
        """Learn the shapes, or a line, and book what that spends.

        X is a matrix, a frame or a mapping, and y its targets; or X is a file, a Spark DataFrame or a list of batches,
        and y the name of its target column. X is read several times.
        """
        features = self._declared(unsupported)
        self._warn_of_people(X)
        low, high = target_ends(self.target_bounds)
        fitted = self._learn(X, y, features, TargetProblem(), partial(_target_codes, low=low, high=high))
        self._keep(fitted, ("target",), high / 2 - low / 2, low / 2 + high / 2)
        if fitted.straight:
            warnings.warn(LINE, UserWarning, stacklevel=2)
        return self

    def explain(self, X: SourceLike) -> Explanation:
        """What each prediction is made of: that for an average record, and the effect of every column.

        They add up to the prediction before it is cut to the target bounds.
        """
        check_is_fitted(self)
        low, high = target_ends(self.target_bounds)
        return self._explained(X, high / 2 - low / 2)

    def predict(self, X: SourceLike) -> Floats:
        """The prediction for each row, cut to the declared target bounds."""
        check_is_fitted(self)
        low, high = target_ends(self.target_bounds)
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        return np.asarray(np.clip(middle + half * self._scored(X)[:, 0], low, high), np.float64)

    def score(self, X: SourceLike, y: ColumnLike | str, sample_weight: Any = None) -> float:
        """R², the share of the targets' variance that is predicted; of X and y themselves, without noise.

        y may be the name of a column of X, as in `fit`.
        """
        check_is_fitted(self)
        X, y = with_targets(X, y, self._features.names)
        predicted = self.predict(X)
        with scikit_learn_errors():
            return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _declared(self, unsupported: Mapping[str, Any] = MappingProxyType({})) -> Features:
        """The declared columns, after all parameters were checked."""
        features = super()._declared(unsupported)
        target_ends(self.target_bounds)
        return features

    def _design(self) -> dict[str, Any]:
        """Plain values of the parameters that decide the noise."""
        return super()._design() | {"target": list(target_ends(self.target_bounds))}

    def _other(self, features: Features, fitting: Fitting) -> Callable[[Size, Reader, Entropy], Fitted | None]:
        """The line that is fitted where there are few records."""
        ends, promise = target_ends(self.target_bounds), fitting.promise
        part = Fraction(1) if promise.replaced else 1 - FOR_SIZE
        layout = line_layout(
            len(fitting.columns),
            features=features,
            target=ends,
            method=Products,
            promise=(promise.epsilon, promise.delta, self._row_neighbours, promise.times, part),
            intercept=True,
        )

        def line(size: Size, read: Reader, entropy: Entropy) -> Fitted | None:
            if size.ratio >= fitting.problem.least[promise.gaussian]:
                return None
            noisy = layout.noise.draw(read(_LineSums(layout, ends)), entropy)
            return _straight(fitting.columns, size, *layout.line(noisy), ends)

        return line

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # of small data, at the default ε
        return tags


def _straight(columns: ShapeColumns, size: Size, coef: Floats, intercept: float, ends: tuple[float, float]) -> Fitted:
    """A line as shapes with two knots, for a target scaled to −1..1; its errors are not known, and so infinite."""
    low, high = ends
    half = high / 2 - low / 2
    slopes = coef[: columns.numbers] * (columns.high - columns.low) / half
    level = (intercept + coef[: columns.numbers] @ columns.low - (low / 2 + high / 2)) / half
    sizes = [len(labels) for labels in columns.labels]
    labels = np.split(coef[columns.numbers :] / half, np.cumsum(sizes)[:-1]) if sizes else []
    effects = [np.array([[0.0], [slope]]) for slope in slopes] + [own[:, None] for own in labels]
    records = [np.full(len(effect), size.records / len(effect)) for effect in effects]
    errors = [np.full(effect.shape, np.inf) for effect in effects]
    shapes = Shapes(effects, np.array([level]), errors, records, {})
    cells = Cells.even(columns, 2)
    return Fitted(TargetProblem(), cells, shapes, size.records, False, False, [], 0.0, straight=True)


def _target_codes(target: Any, low: float, high: float) -> Any:
    """Half of each target in steps, which tells targets apart as far as the model can."""
    return halves(as_numbers(target, "the target"), low, high)
