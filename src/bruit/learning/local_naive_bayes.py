"""Naive Bayes from reports of people who trust nobody: class and feature go through an oracle together.

Rejected: to randomise class and features each by themselves and to learn from the reports as if they were records. The
tables that are learnt so are mixed with the uniform law, and the more so the smaller ε is.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bruit import _checks, documents
from bruit.collection import Plan, methods
from bruit.domains import Categories, Schema
from bruit.domains.codes import Codes
from bruit.entropy import Entropy, Words
from bruit.errors import DataError, ParameterError
from bruit.estimation.tally import Tally
from bruit.learning._base import is_mapping, seed_of
from bruit.learning._features import Features, Rows, column_of
from bruit.learning.naive_bayes.classes import class_codes, declared_classes
from bruit.typing import ColumnLike, FeatureBounds, SourceLike

Floats = NDArray[np.float64]


class LocalNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn carries no types
    """Classify records of categories, learnt from private reports of class and feature (LDP naive Bayes).

    Parameters
    ----------
    epsilon
        The most that the reports of one person may tell about the whole record, class and features.
    bounds
        The labels of each column, declared, as in ``{"smokes": ["no", "yes"]}``, or a `Schema` of categories.
    classes
        All classes that there can be, declared.
    method
        How several pairs are asked for, as for `Plan`: ``"SMP[ADP]"`` (default) asks each person for one feature, drawn
        at random, with the class; ``"SPL[ADP]"`` for all of them, with a part of ε each.
    rng, random_state
        None for secure noise; an int for a study that can be repeated.

    Attributes
    ----------
    plan_, guarantee_, simulated_
        The plan of the pairs, what it promises to a person, and whether its noise came from a seed.
    joint_, joint_error_
        For each column, by name, the unbiased share of people of each class (rows) and label (columns), and its
        standard error; shares may be negative. Not a number for a column that nobody was asked for.
    class_prior_, tables_
        What predictions use: the share of each class, and for each column the shares of labels in each class. They are
        made of `joint_` by the nearest table without negative entries, and have a small share of every label, so that
        they are biased.

    Guarantee
    ---------
    ε-LDP for a whole record (neighbours ``"person"``), class and features: a record is turned into one pair of class
    and label per column, and nothing leaves a person but what the plan reports of these pairs. The plan's guarantee,
    from its integer laws, is for any change of all pairs. What is learnt is computed from the tally alone.

    Error
    -----
    A column of k labels and C classes is estimated as one attribute of C·k values: see ``plan_.variance``.

    References
    ----------
    Yilmaz, E., Al-Rubaie, M., Chang, J. M. (2019), Locally differentially private naive Bayes classification.

    Examples
    --------
    >>> import numpy as np
    >>> wet = np.repeat([0, 1], 5000)
    >>> sky = np.where(np.arange(10_000) % 10 == 0, 1 - wet, wet)
    >>> labels = np.array(["blue", "grey"])
    >>> model = LocalNaiveBayes(1.0, bounds={"sky": ["blue", "grey"]}, classes=["dry", "wet"], random_state=3)
    >>> model = model.fit({"sky": labels[sky]}, np.array(["dry", "wet"])[wet])
    >>> model.predict({"sky": ["grey", "blue"]}).tolist()
    ['wet', 'dry']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: FeatureBounds | None = None,
        classes: Any = None,
        method: str = "SMP[ADP]",
        rng: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.classes = classes
        self.method = method
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike) -> Self:
        """Let every person report, and learn from the tally of the reports; once for each person, or ε adds up."""
        features, classes = self._declared(), declared_classes(self.classes)
        plan = self._plan(features, classes.size)
        codes = class_codes(y, classes)
        rows = self._read(X, features)
        if len(codes) != len(rows.codes[0]):
            raise DataError("There must be one class for each row.")
        pairs = plan.encode(_pairs(features, rows, codes))
        seed = seed_of(self.rng, self.random_state)
        tally = plan.count(plan.randomize(pairs, self._words(plan, pairs, seed)))
        self.classes_, self._features, self.plan_, self.guarantee_ = classes, features, plan, plan.guarantee
        self.simulated_ = not (seed is None or (isinstance(seed, Entropy) and seed.secure))
        self.n_features_in_ = len(features.categories)
        self._learn(plan, tally)
        return self

    def predict(self, X: SourceLike) -> NDArray[Any]:
        """The likeliest class of each row."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        classes: NDArray[Any] = self.classes_[best]
        return classes

    def predict_proba(self, X: SourceLike) -> Floats:
        """The probability of each class, for each row."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(np.exp(joint - special.logsumexp(joint, axis=1, keepdims=True)))

    def predict_joint_log_proba(self, X: SourceLike) -> Floats:
        """The logarithm of prior × likelihood, for each row and class."""
        check_is_fitted(self)
        rows = self._read(X, self._features)
        tables = zip(self.tables_.values(), rows.codes, strict=True)
        logs = [np.log(table)[:, codes].T for table, codes in tables]
        return np.asarray(np.log(self.class_prior_) + np.sum(logs, axis=0))

    def _declared(self) -> Features:
        features = Features.declared(self.bounds, categorical=True)
        _checks.epsilon(epsilon=self.epsilon)
        if features.names is None or len(features.categories) < len(features.names):
            raise ParameterError("This model takes categories only: declare the labels of every column in bounds.")
        return features

    def _plan(self, features: Features, classes: int) -> Plan:
        schema = Schema({name: Categories(k=classes * size) for name, size in _sizes(features).items()})
        if len(schema) == 1:
            # There is nothing to choose: the one pair has its mechanism, and all of ε.
            return Plan(schema, self.epsilon, methods.parse(self.method).base)
        return Plan(schema, self.epsilon, self.method)

    def _read(self, X: Any, features: Features) -> Rows:
        names = features.names or ()
        return features.of_columns({name: column_of(X, name) for name in names} if is_mapping(X) else features.table(X))

    def _words(self, plan: Plan, pairs: dict[str, Codes], seed: Entropy | int | None) -> Words:
        """New words; those from a seed are mixed with the table, as in all models, so that folds have their own."""
        if seed is None or isinstance(seed, Entropy):
            return Words.resolve(seed, "fit", plan.digest)
        data = {name: codes.tolist() for name, codes in pairs.items()}
        return Words.resolve(seed, "fit", documents.digest({"plan": plan.digest, "data": documents.digest(data)}))

    def _learn(self, plan: Plan, tally: Tally) -> None:
        self.joint_: dict[str, Floats] = {}
        self.joint_error_: dict[str, Floats] = {}
        nearest: dict[str, Floats] = {}
        answers = plan.estimate(tally)
        for name, size in _sizes(self._features).items():
            shape = (self.classes_.size, size)
            if not plan.design.reported(name, tally):
                # Nobody was asked for this column, which happens among few people: nothing is known of it.
                self.joint_[name], self.joint_error_[name] = np.full(shape, np.nan), np.full(shape, np.inf)
                nearest[name] = np.full(shape, 1 / (shape[0] * size))
                continue
            answer = answers[name]
            self.joint_[name] = answer.frequency.reshape(shape)
            self.joint_error_[name] = np.sqrt(answer.variance).reshape(shape)
            # Half a person for each pair: a label that nobody reports excludes no class.
            nearest[name] = answer.consistent().frequency.reshape(shape) + 0.5 / tally.n
        shares = np.mean([table.sum(axis=1) for table in nearest.values()], axis=0)
        self.class_prior_ = shares / shares.sum()
        self.tables_ = {name: table / table.sum(axis=1, keepdims=True) for name, table in nearest.items()}


def _sizes(features: Features) -> dict[str, int]:
    """How many labels each column has, by name."""
    names = features.names or ()
    return {names[place]: domain.size for place, domain in sorted(features.categories.items())}


def _pairs(features: Features, rows: Rows, classes: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """For each column the pair of class and label as one number."""
    columns = zip(_sizes(features).items(), rows.codes, strict=True)
    return {name: classes * size + codes for (name, size), codes in columns}
