"""Naive Bayes with differential privacy: noisy counts, sums and squares of each class, released once.

The laws are computed from the noisy sums in ``estimates.py``; ``naive_bayes.proof.md`` has the sensitivities.

Rejected: equal noise for counts, sums and squares (a count divides all sums of its class and deserves less noise, and
squares, whose variances can be shared between classes, bear more); drawing class means to their common mean (it cost
accuracy at small ε).
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from bruit import _checks
from bruit.errors import DataError
from bruit.learning._base import Counts, PrivateModel, with_targets
from bruit.learning._features import FeatureRows, Features, Floats
from bruit.learning._likelihood import Laws, joint_log_likelihood
from bruit.learning._validation import scikit_learn_errors
from bruit.learning.naive_bayes.classes import class_codes, declared_classes
from bruit.learning.naive_bayes.estimates import joint_laws, vaidya_laws
from bruit.learning.naive_bayes.sums import JointSums, layout
from bruit.typing import ColumnLike, FeatureBounds, SourceLike

__all__ = ["NaiveBayes"]

_LAWS = {"joint": joint_laws, "vaidya": vaidya_laws}


class NaiveBayes(ClassifierMixin, PrivateModel):  # type: ignore[misc] # scikit-learn carries no types
    """Classify records by their categories and numbers, each taken by itself (DP naive Bayes, GaussianNB).

    Parameters
    ----------
    epsilon
        The most that the fitted model may tell about one record.
    bounds
        What the columns of X can be, declared: ``(low, high)`` for all, ``([…], […])`` for each, or a `Schema` of
        categories and grids. Numbers outside count as the nearest bound.
    classes
        All classes that there can be, declared: texts, numbers or booleans.
    method
        ``"joint"`` (default): count, sums and squares of a class released together. ``"vaidya"``: the algorithm of
        Vaidya et al., with a share ε/(d + 1) for the classes and for each of d columns, its sensitivities corrected.
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
    classes_
        The declared classes, in order.
    class_prior_, class_count_
        The estimated share of each class, and the noisy count behind it.
    theta_, var_
        Mean and variance of each number (columns) in each class (rows), in the units of X. The variance includes what
        the noise adds to the uncertainty of the mean.
    tables_
        For each categorical column, by name, the share of each category (columns) in each class (rows).
    noise_
        Standard deviations of the noise, with numbers scaled to −1..1: ``"counts"``, ``"tables"``, ``"sums"`` and
        ``"squares"``.
    guarantee_, simulated_
        What the fit promises, and whether its noise came from a seed.

    Guarantee
    ---------
    One record belongs to one class and changes its sums by a bounded amount in L1, computed in whole numbers and
    attained (``"vaidya"``: approached); discrete Laplace noise for that amount, or twice that for ``"replace"``, is
    added once, and all that is fitted is computed from the noisy sums.

    Error
    -----
    With a numbers and b categorical columns and n records in a class, the noise of sums gives means (in half-ranges) a
    standard error of √2·(u + b + 1.25·a)/(εn), where u is (a + b)^0.4, rounded: 3.2/(εn) for one number, 2.2·a/(εn) for
    ten, near 1.8·a/(εn) for hundreds; twice that for ``"replace"``. The noise of the count adds up to 1/u of it, for
    means at a bound. `noise_` has the exact values; where they are not small against the distance of the classes,
    predictions are guesses.

    References
    ----------
    Vaidya, Shafiq, Basu and Hong (2013), Differentially private naive Bayes classification.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.concatenate([np.linspace(0, 6, 1000), np.linspace(4, 10, 1000)]).reshape(-1, 1)
    >>> y = np.repeat(["low", "high"], 1000)
    >>> model = NaiveBayes(epsilon=1.0, bounds=(0, 10), classes=["low", "high"], random_state=7).fit(x, y)
    >>> model.predict([[1.0], [9.0]]).tolist()
    ['low', 'high']
    >>> print(model.guarantee_)
    ε = 1 (central, one record added or removed)
    """

    _categorical = True

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        bounds: FeatureBounds | None = None,
        classes: Any = None,
        method: Literal["joint", "vaidya"] = "joint",
        neighbours: Literal["add-remove", "replace"] = "add-remove",
        person: Any = None,
        rows: int | None = None,
        ledger: Any = None,
        rng: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon: Any = epsilon  # fit asks for it: there is no usual one
        self.bounds = bounds
        self.classes = classes
        self.method = method
        self.neighbours = neighbours
        self.person = person
        self.rows = rows
        self.ledger = ledger
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike | str | None = None, **unsupported: Any) -> NaiveBayes:
        """Learn the laws of each class, and book what that spends.

        X is a matrix or a frame, and y its classes; or X is a file, a mapping or batches, and y the name of its
        target column.
        """
        features = self._declared(unsupported)
        self._warn_of_people(X)
        classes, method = declared_classes(self.classes), self.method

        def count(rows: FeatureRows, target: Any) -> Counts:
            codes = class_codes(target, classes)
            if len(codes) != len(rows.numbers):
                raise DataError("There must be one class for each row.")
            columns = rows.numbers.shape[1] + len(rows.codes)
            return _layout(method, classes, features, columns).count(rows, codes, *features.ends(columns))

        read = self._fold(X, y, features, count, partial(class_codes, classes=classes))
        design = _layout(method, classes, features, read.columns)
        noise = design.noise(self.epsilon, self._row_neighbours, self._times)
        sums = design.released(read.sums)
        guarantee = self._promised()
        entropy = self._book(guarantee, sums, features)
        parts, errors = design.parts(noise.draw(sums, entropy)), design.errors(noise)
        self.classes_ = classes
        self.class_count_ = parts.counts
        self.noise_ = errors._asdict()
        self._learn(features, read.columns, _LAWS[method](parts, errors))
        self._promise(guarantee, features, entropy)
        return self

    def predict(self, X: SourceLike) -> NDArray[Any]:
        """The likeliest class of each row."""
        best: NDArray[Any] = self.predict_joint_log_proba(X).argmax(axis=1)
        classes: NDArray[Any] = self.classes_[best]
        return classes

    def score(self, X: SourceLike, y: ColumnLike | str, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted; of X and y themselves, without noise.

        y may be the name of a column of X, as in `fit`.
        """
        check_is_fitted(self)
        X, y = with_targets(X, y, self._features.names)
        predicted = self.predict(X)
        with scikit_learn_errors():
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def predict_joint_log_proba(self, X: SourceLike) -> Floats:
        """The logarithm of prior × likelihood, for each row and class."""
        check_is_fitted(self)
        rows = self._rows(X)
        low, high = self._features.ends(self._columns)
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        scaled = np.clip((rows.numbers - middle) / half, -1, 1)
        joint = joint_log_likelihood(FeatureRows(scaled, rows.codes), self._laws)
        return np.asarray(joint - np.log(half).sum(), np.float64)

    def predict_log_proba(self, X: SourceLike) -> Floats:
        """The logarithm of the probability of each class, for each row."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - special.logsumexp(joint, axis=1, keepdims=True), np.float64)

    def predict_proba(self, X: SourceLike) -> Floats:
        """The probability of each class, for each row."""
        return np.exp(self.predict_log_proba(X))

    def _declared(self, unsupported: Any = MappingProxyType({})) -> Features:
        """The declared columns, after all parameters were checked."""
        features = super()._declared(unsupported)
        declared_classes(self.classes)
        _checks.one_of(_LAWS, method=self.method)
        return features

    def _learn(self, features: Features, columns: int, laws: Laws) -> None:
        """Keep the laws, scaled to −1..1 as predictions use them, and in the units of X as people read them."""
        low, high = features.ends(columns)
        half = high / 2 - low / 2
        self._columns, self._laws = columns, laws
        self.class_prior_ = laws.prior
        self.theta_ = low / 2 + high / 2 + half * laws.mean
        with np.errstate(over="ignore"):  # bounds beyond 10¹⁵⁴ have no finite variance
            self.var_ = half * half * laws.variance
        names = features.names or ()
        self.tables_ = {
            names[place]: table for place, table in zip(sorted(features.categories), laws.tables, strict=True)
        }

    def _design(self) -> dict[str, Any]:
        """Plain values of the parameters that decide the noise."""
        classes = declared_classes(self.classes).tolist()
        return super()._design() | {"method": self.method, "classes": classes}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of small data, at the default ε
        tags.non_deterministic = self.rng is None and self.random_state is None
        return tags


def _layout(method: str, classes: NDArray[Any], features: Features, columns: int) -> JointSums:
    cells = tuple(domain.size for _, domain in sorted(features.categories.items()))
    return layout(method, classes.size, cells, features.width(columns))
