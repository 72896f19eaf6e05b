"""Linear regression with differential privacy: least squares from noisy sums of products.

The sums that least squares needs are released once, with noise; the rest is computed from them. See ``products.py``
for what is summed, and ``linear_regression.proof.md``.

Rejected: cutting predictions to the declared target bounds (a linear function is promised); a ridge in place of the
floor (the same accuracy, and it shrinks directions that the data know well); rows all made to have one norm (less noise
still, but rows in the middle, which tell least about slopes, would weigh most).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from bruit import _checks
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError, translated
from bruit.learning._base import Counts, PrivateModel, with_targets
from bruit.learning._features import FeatureRows, Features, Floats, as_numbers
from bruit.learning._sums import SumNoise
from bruit.learning._validation import scikit_learn_errors
from bruit.learning.linear_regression.objective import Objective
from bruit.learning.linear_regression.products import FunctionalProducts, Products, fitting, middle_and_half
from bruit.typing import Bounds, ColumnLike, FeatureBounds, SourceLike

__all__ = ["LinearRegression"]

_METHODS = {"sufficient": Products, "functional": FunctionalProducts}
#: Eigenvalues are floored at this times σ√D; the noise of D columns has eigenvalues up to 2σ√D.
_FLOOR = 1.5
#: Zhang et al. add four standard deviations of the noise as a ridge.
_RIDGE = 4.0
#: All categories together have at most so many labels: the sums are those of all pairs of columns.
_MOST_LABELS = 1_000

_DECLARE_TARGET = (
    "target_bounds must be declared before any data is read, as in target_bounds=(0, 100): the least and the greatest "
    "that the target can be. Reading them from the data would publish two records without noise. Targets outside count "
    "as the nearest bound."
)


class LinearRegression(RegressorMixin, PrivateModel):  # type: ignore[misc] # scikit-learn carries no types
    """Least squares for a bounded target, from noisy sums (DP linear regression, functional mechanism).

    Parameters
    ----------
    epsilon
        The most that the fitted model may tell about one record.
    bounds
        What the columns of X can be, declared: ``(low, high)`` for all, ``([…], […])`` for each, or a `Schema` of
        grids and categories. Numbers outside count as the nearest bound. A category is a column of zeros and ones for
        each of its declared labels.
    target_bounds
        The same for the target: a pair of numbers.
    method
        ``"sufficient"`` (default): noisy sums of products, their eigenvalues floored at the noise's level.
        ``"functional"``: the functional mechanism as printed, with Δ = 2(1 + D)² for rows of D entries, the intercept
        among them.
    fit_intercept
        Whether the line has a constant. Without it bounds are taken as even around 0.
    delta
        0 for pure ε with Laplace noise; above 0 for Gaussian noise, with ``"sufficient"`` only.
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
    coef_, intercept_
        The line, in the units of X and y: first the numbers, then the labels of every category.
    terms_
        What each coefficient belongs to.
    noise_
        Standard deviations of the noise, with columns and target scaled to −1..1: ``"squares"`` and ``"products"`` of
        columns, ``"targets"`` for products with the target.
    guarantee_, simulated_
        What the fit promises, and whether its noise came from a seed.

    Guarantee
    ---------
    One record changes the sums by a bounded amount in L1 (L2 for Gaussian noise), attained and computed in whole
    numbers; discrete noise for that amount is added once, and all that is fitted is computed from the noisy sums. With
    delta above 0 the conversion from zCDP is done in double precision.

    Error
    -----
    Where noise drowns the data, predictions shrink towards the middle of `target_bounds`; they are not cut to the
    bounds. Rows far from the middle of `bounds` weigh less (least squares with weights), so with much data the
    line tends to the weighted one, which is the same where the relation is linear.

    References
    ----------
    Zhang, Zhang, Xiao, Yang and Winslett (2012), Functional mechanism: regression analysis under differential privacy.
    Wang (2018), Revisiting differentially private linear regression.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 10, 2000).reshape(-1, 1)
    >>> model = LinearRegression(epsilon=1.0, bounds=(0, 10), target_bounds=(0, 30), random_state=7)
    >>> model = model.fit(x, 3 + 2 * x[:, 0])
    >>> bool(abs(model.predict([[5.0]])[0] - 13) < 0.5)
    True
    >>> print(model.guarantee_)
    ε = 1 (central, one record added or removed)
    """

    _categorical = True
    _lists_are_bounds = True

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        bounds: FeatureBounds | None = None,
        target_bounds: Bounds | None = None,
        method: Literal["sufficient", "functional"] = "sufficient",
        fit_intercept: bool = True,
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
        self.method = method
        self.fit_intercept = fit_intercept
        self.delta = delta
        self.neighbours = neighbours
        self.person = person
        self.rows = rows
        self.ledger = ledger
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike | str | None = None, **unsupported: Any) -> LinearRegression:
        """Learn the line, and book what that spends.

        X is a matrix or a frame, and y its targets; or X is a file, a mapping or batches, and y the name of its
        target column.
        """
        features = self._declared(unsupported)
        self._warn_of_people(X)
        layout_of = self._layouts(features)
        known: dict[int, Layout] = {}  # by the number of columns, which is public and first seen in the data

        def count(rows: FeatureRows, target: Any) -> Counts:
            columns = rows.numbers.shape[1] + len(rows.codes)
            if columns not in known:
                known[columns] = layout_of(columns)
            return known[columns].count(rows, as_numbers(target, "the target"))

        read = self._fold(X, y, features, count, _target_bits)
        layout = known.get(read.columns) or layout_of(read.columns)  # other machines may have counted
        guarantee = self._promised(self.delta)
        entropy = self._book(guarantee, read.sums, features)
        noisy = layout.noise.draw(read.sums, entropy)
        self.coef_, self.intercept_ = layout.line(noisy)
        self.terms_ = terms(features, read.columns, read.names)
        self.noise_ = layout.levels
        self._promise(guarantee, features, entropy)
        return self

    def predict(self, X: SourceLike) -> Floats:
        """The line at the rows of X; not cut to the declared target bounds."""
        return np.asarray(with_indicators(self._rows(X), self._features) @ self.coef_ + self.intercept_, np.float64)

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
        _checks.one_of(_METHODS, method=self.method)
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ParameterTypeError("fit_intercept must be True or False.")
        if _checks.fraction(delta=self.delta) == 1:
            raise ParameterError("delta must be below 1: at 1 nothing is promised.")
        if self.delta and self.method == "functional":
            raise ParameterError('method="functional" is for delta = 0: use method="sufficient" with a delta.')
        return features

    def _layouts(self, features: Features) -> Callable[[int], Layout]:
        """The layout of so many columns; the model itself, with its ledger, does not go where rows are counted."""
        return partial(
            line_layout,
            features=features,
            target=target_ends(self.target_bounds),
            method=_METHODS[self.method],
            promise=(float(self.epsilon), float(self.delta), self._row_neighbours, self._times),
            intercept=bool(self.fit_intercept),
        )

    def _design(self) -> dict[str, Any]:
        """Plain values of the parameters that decide the noise."""
        extra = {"method": self.method, "intercept": bool(self.fit_intercept), "delta": float(self.delta)}
        return super()._design() | extra | {"target": list(target_ends(self.target_bounds))}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # of small data, at the default ε
        tags.non_deterministic = self.rng is None and self.random_state is None
        return tags


class Layout:
    """What is summed for so many columns, its noise, and the line that noisy sums give; all public."""

    def __init__(self, features: Features, products: Products, noise: SumNoise, middle: Floats, half: Floats) -> None:
        self.features = features
        self.products = products
        self.noise = noise
        self.middle = middle
        self.half = half

    def count(self, rows: FeatureRows, target: Floats) -> Counts:
        """The sums of some rows."""
        if len(target) != len(rows.numbers):
            raise DataError("There must be one target for each row.")
        return self.products.count(with_indicators(rows, self.features), target, self.middle, self.half)

    @cached_property
    def levels(self) -> dict[str, float]:
        """Standard deviations of the noise, with everything scaled to −1..1."""
        sigma = {unit: noise.standard_error / self.products.steps**2 for unit, noise in self.noise.by_unit.items()}
        units, width = self.noise.units, self.products.width
        # The triangle starts with the square of the first entry and, where there are two, goes on with a product.
        return {"squares": sigma[units[0]], "products": sigma[units[min(1, width - 1)]], "targets": sigma[units[-1]]}

    def line(self, noisy: Counts) -> tuple[Floats, float]:
        """Coefficients and constant in the units of X and y."""
        weights = self._weights(noisy)
        slopes = weights[1:] if self.products.intercept else weights
        coef = slopes * self.half[-1] / self.half[:-1]
        if not self.products.intercept:
            return coef, 0.0
        return coef, float(self.middle[-1] + weights[0] * self.half[-1] - coef @ self.middle[:-1])

    def _weights(self, noisy: Counts) -> Floats:
        """The coefficients of the row of steps, whose entries and target lie in −1..1."""
        matrix, vector = self.products.unpacked(noisy)
        width = self.products.width
        if isinstance(self.products, FunctionalProducts):
            # With x = u/√D the coefficients ω of x are √D times those of u.
            ridge = _RIDGE * self.levels["squares"] / width
            objective = Objective(matrix / width, -2 * vector / np.sqrt(width))
            return np.asarray(objective.trimmed_minimiser(ridge) / np.sqrt(width), np.float64)
        floor = max(_FLOOR * self.levels["products"] * np.sqrt(width), width / self.products.steps)
        return np.asarray(Objective(matrix, -2 * vector).floored_minimiser(floor), np.float64)


def line_layout(
    columns: int,
    *,
    features: Features,
    target: tuple[float, float],
    method: type[Products],
    promise: tuple[Any, ...],
    intercept: bool,
) -> Layout:
    """The layout of so many declared columns; the promise is what `Products.noise` takes."""
    low, high = (np.append(*ends) for ends in zip(features.ends(columns), target, strict=True))
    middle, half = middle_and_half(low, high, intercept)
    sizes = [domain.size for _, domain in sorted(features.categories.items())]
    if sum(sizes) > _MOST_LABELS:
        raise LimitError(f"The categories have more than {_MOST_LABELS:,} labels: declare fewer, or leave columns out.")
    # Indicators, 0 or 1, stand after the numbers.
    middle = np.insert(middle, middle.size - 1, np.zeros(sum(sizes)))
    half = np.insert(half, half.size - 1, np.ones(sum(sizes)))
    kinds = {"columns": middle.size - 1, "indicators": sum(sizes), "categories": len(sizes)}
    products, noise = fitting(method, promise, **kinds, intercept=intercept, euclidean=promise[1] > 0)
    return Layout(features, products, noise, middle, half)


def with_indicators(rows: FeatureRows, features: Features) -> Floats:
    """The numbers of each row, and 1 for the label that it has in each categorical column, 0 for the others."""
    if not rows.codes:
        return rows.numbers
    domains = [domain for _, domain in sorted(features.categories.items())]
    places = [codes[:, None] == np.arange(domain.size) for codes, domain in zip(rows.codes, domains, strict=True)]
    return np.hstack([rows.numbers, *places]).astype(np.float64, copy=False)


def terms(features: Features, columns: int, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """What each coefficient belongs to: a number by its name, a label as ``column=label``."""
    every = tuple(names) if names is not None else tuple(f"x{place}" for place in range(columns))
    numbers = [every[place] for place in range(columns) if place not in features.categories]
    labels = [
        f"{every[place]}={label}" for place, domain in sorted(features.categories.items()) for label in domain.names
    ]
    return (*numbers, *labels)


def _target_bits(target: Any) -> Any:
    """Whole numbers that tell targets apart."""
    return (as_numbers(target, "the target") + 0.0).view(np.int64)


def target_ends(bounds: Any) -> tuple[float, float]:
    """Two finite numbers, the first the lesser."""
    if bounds is None:
        raise ParameterError(_DECLARE_TARGET)
    rule = "target_bounds must be a pair of numbers (low, high)."
    unusable = "target_bounds must be finite and increasing: low below high."
    beyond = translated(OverflowError, lambda _: ParameterError(unusable))
    with beyond, translated((TypeError, ValueError), lambda _: ParameterTypeError(rule)):
        low, high = (float(end) for end in bounds)
    if not (np.isfinite(high - low) and low < high):
        raise ParameterError(unusable)
    return low, high
