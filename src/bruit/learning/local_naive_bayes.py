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
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from bruit import _checks, documents
from bruit.collection import Method, Plan
from bruit.domains import Categories, Schema
from bruit.domains.codes import Codes
from bruit.entropy import Entropy, Words
from bruit.errors import DataError, ParameterError
from bruit.estimation.tally import Tally
from bruit.learning._base import check_epsilon, is_mapping, seed_of, with_targets
from bruit.learning._features import FeatureRows, Features, column_of
from bruit.learning._notebook import ReadableDocstring
from bruit.learning._validation import scikit_learn_errors
from bruit.learning.naive_bayes.classes import class_codes, declared_classes
from bruit.privacy.ledger import Line
from bruit.typing import ColumnLike, FeatureBounds, SourceLike

Floats = NDArray[np.float64]
#: More cells than this no number of reports could fill.
MOST_CELLS = 1024


class LocalNaiveBayes(ReadableDocstring, ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn carries no types
    """Classify records of categories and numbers, learnt from private reports of class and feature (LDP naive Bayes).

    Parameters
    ----------
    epsilon
        The most that the reports of one person may tell about the whole record, class and features.
    bounds
        Each column by name, declared: its labels, or the bounds of a number, as in ``{"smokes": ["no", "yes"], "age":
        (17, 90)}``, or a `Schema`. Numbers outside count as the nearest bound.
    cells
        How many parts of equal width the range of a number is cut into; a person reports the part that it is in.
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
    A column of k labels or cells and C classes is estimated as one attribute of C·k values: see ``plan_.variance``.
    More cells follow a number more closely, and each has more noise.

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
        epsilon: float | None = None,
        *,
        bounds: FeatureBounds | None = None,
        classes: Any = None,
        method: str = "SMP[ADP]",
        cells: int = 5,
        rng: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon: Any = epsilon  # fit asks for it: there is no usual one
        self.bounds = bounds
        self.classes = classes
        self.method = method
        self.cells = cells
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike | str) -> Self:
        """Let every person report, and learn from the tally of the reports; once for each person, or ε adds up.

        y holds the classes, or is the name of their column in X.
        """
        features, classes = self._declared(), declared_classes(self.classes)
        X, y = with_targets(X, y, features.names)
        plan = self._plan(features, classes.size)
        codes = class_codes(y, classes)
        columns = self._read(X, features)
        if len(codes) != len(next(iter(columns.values()))):
            raise DataError("There must be one class for each row.")
        sizes = _sizes(features, self.cells)
        pairs = plan.encode({name: codes * sizes[name] + column for name, column in columns.items()})
        seed = seed_of(self.rng, self.random_state)
        tally = plan.count(plan.randomize(pairs, self._words(plan, pairs, seed)))
        self.classes_, self._features, self.plan_, self.guarantee_ = classes, features, plan, plan.guarantee
        self._cells = self.cells
        self.simulated_ = not (seed is None or (isinstance(seed, Entropy) and seed.secure))
        self.n_features_in_ = len(columns)
        self._learn(plan, tally)
        return self

    def predict(self, X: SourceLike) -> NDArray[Any]:
        """The likeliest class of each row."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
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

    def predict_proba(self, X: SourceLike) -> Floats:
        """The probability of each class, for each row."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(np.exp(joint - special.logsumexp(joint, axis=1, keepdims=True)))

    def predict_joint_log_proba(self, X: SourceLike) -> Floats:
        """The logarithm of prior × likelihood, for each row and class."""
        check_is_fitted(self)
        columns = self._read(X, self._features, self._cells)
        logs = [np.log(self.tables_[name])[:, codes].T for name, codes in columns.items()]
        return np.asarray(np.log(self.class_prior_) + np.sum(logs, axis=0))

    def _declared(self) -> Features:
        features = Features.declared(self.bounds, categorical=True)
        check_epsilon(self)
        _checks.epsilon(epsilon=self.epsilon)
        _checks.integer(low=2, high=MOST_CELLS, cells=self.cells)
        if features.names is None:
            raise ParameterError(
                'This model takes columns by name, as in bounds={"smokes": ["no", "yes"], "age": (17, 90)}.'
            )
        return features

    def _line(self) -> Line:
        """What a fit asks of each person, whatever the data are."""
        plan = self._plan(self._declared(), declared_classes(self.classes).size)
        return Line(plan.guarantee, type(self).__name__)

    def _plan(self, features: Features, classes: int) -> Plan:
        schema = Schema({name: Categories(k=classes * size) for name, size in _sizes(features, self.cells).items()})
        if len(schema) == 1:
            # There is nothing to choose: the one pair has its mechanism, and all of ε.
            return Plan(schema, self.epsilon, Method.of(self.method).base)
        return Plan(schema, self.epsilon, self.method)

    def _read(self, X: Any, features: Features, cells: int | None = None) -> dict[str, Codes]:
        """The codes of every column, by name: of its label, or of the cell that its number is in."""
        names = features.names or ()
        table = {name: column_of(X, name) for name in names} if is_mapping(X) else features.table(X)
        rows = features.of_columns(table)
        labels: Any = iter(rows.codes)
        numbers: Any = iter(_in_cells(features, rows, cells or self.cells).T)
        return {name: next(labels if place in features.categories else numbers) for place, name in enumerate(names)}

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
        for name, size in _sizes(self._features, self._cells).items():
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


def _sizes(features: Features, cells: int) -> dict[str, int]:
    """How many labels or cells each column has, by name."""
    categories = features.categories
    return {name: categories[place].size if place in categories else cells
            for place, name in enumerate(features.names or ())}  # fmt: skip


def _in_cells(features: Features, rows: FeatureRows, cells: int) -> NDArray[np.int64]:
    """The cell of each number between its bounds; a column per numeric column."""
    low, high = features.low, features.high
    # Divided before they are subtracted: bounds may be as far apart as floats go.
    share = (np.clip(rows.numbers, low, high) / 2 - low / 2) / (high / 2 - low / 2)
    return np.minimum((share * cells).astype(np.int64), cells - 1)
