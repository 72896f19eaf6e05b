"""Logistic regression with differential privacy: the additive classifier with straight shapes.

Rejected: noisy gradients and noisy moments with Newton steps, which were no better with δ and up to .1 of AUROC worse
without, on the tables measured.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils.validation import check_is_fitted

from bruit import _checks
from bruit.learning._features import Floats
from bruit.learning.additive.classes import ClassTables
from bruit.learning.additive.classifier import ClassModel
from bruit.learning.additive.columns import Cells
from bruit.learning.additive.explanation import points_of
from bruit.learning.additive.fitting import Fitted
from bruit.learning.additive.problem import Shapes
from bruit.tables import Column, Table, ends, interval_of
from bruit.typing import ColumnLike, FeatureBounds, SourceLike

__all__ = ["LogisticRegression"]


class KnotLine(NamedTuple):
    """A line for each output through a number's knots: its values at the bounds, and the error of their difference."""

    first: Floats
    last: Floats
    error: Floats


class LogisticRegression(ClassModel):
    """Classify records by a score that is linear in the numbers (DP logistic regression).

    Parameters
    ----------
    epsilon
        The most that the fitted model may tell about one record.
    bounds
        What the columns of X can be, declared: ``(low, high)`` for all, ``([…], […])`` for each, or a `Schema` of
        categories and grids. Numbers outside count as the nearest bound. A category has a coefficient for each of its
        declared labels.
    classes
        All classes that there can be, declared: texts, numbers or booleans, two at least.
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
    classes_
        The declared classes, in order.
    coef_, intercept_
        What 1 of a number, or a label, adds to the score, with a row for each class (one row for two classes), and the
        score where all numbers are 0.
    coef_errors_
        Standard deviations of the coefficients from the noise, computed as if shrinking did nothing.
    terms_
        What each coefficient belongs to.
    shapes_, importances_, n_records_, passes_
        As of `AdditiveClassifier`; the shape of a number is a line between its bounds.
    guarantee_, simulated_
        What the fit promises, and whether its noise came from a seed.

    Guarantee
    ---------
    That of `AdditiveClassifier`, whose releases are made with at most 8 knots; lines are drawn through noisy shapes.

    Error
    -----
    With much data the coefficients tend to those of lines through the shapes of an additive model. These are near the
    maximum of the likelihood, and not equal to it.

    References
    ----------
    Cox (1958), The regression analysis of binary sequences.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 10, 4000).reshape(-1, 1)
    >>> y = np.where(x[:, 0] + np.tile([-2, 2], 2000) > 5, "yes", "no")
    >>> model = LogisticRegression(epsilon=1.0, bounds=(0, 10), classes=["no", "yes"], random_state=7).fit(x, y)
    >>> model.predict([[1.0], [9.0]]).tolist(), bool(model.coef_[0, 0] > 0)
    (['no', 'yes'], True)
    >>> print(model.guarantee_)
    ε = 1 (central, one record added or removed)
    """

    _most_knots: ClassVar[int] = 8

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        bounds: FeatureBounds | None = None,
        classes: Any = None,
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
        self.classes = classes
        self.delta = delta
        self.neighbours = neighbours
        self.person = person
        self.rows = rows
        self.ledger = ledger
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike | str | None = None, **unsupported: Any) -> LogisticRegression:
        """Learn the coefficients, and book what that spends.

        X is a matrix, a frame or a mapping, and y its classes; or X is a file, a Spark DataFrame or a list of batches,
        and y the name of its target column. X is read several times.
        """
        self._learn_classes(X, y, unsupported)
        self._read_coefficients()
        return self

    def coefficients(self, level: float = 0.95) -> Table:
        """A table of all coefficients with intervals, which are about the noise alone."""
        check_is_fitted(self)
        reach = special.ndtri((1 + _checks.probability(level=level)) / 2) * self.coef_errors_
        band = np.stack([self.coef_ - reach, self.coef_ + reach], axis=-1)
        outputs = next(iter(self.shapes_.values())).outputs
        places = [(row, term) for term in range(len(self.terms_)) for row in range(len(outputs))]
        of = [Column("of", [outputs[row] for row, _ in places], kind="text", write=str)]
        columns = [
            Column("term", [self.terms_[term] for _, term in places], kind="label", write=str),
            *(of if len(outputs) > 1 else []),
            Column("coefficient", [float(self.coef_[place]) for place in places]),
            Column("interval", [tuple(band[place].tolist()) for place in places], parts=("low", "high"), write=ends),
        ]
        return Table("Coefficients", columns, [f"Intervals are {interval_of(level)}s, about the noise alone."])

    def _final(self, fitted: Fitted) -> Fitted:
        """Lines in place of the shapes of numbers; the middle of the classes' mean scores stays where it was."""
        columns = fitted.cells.columns
        effects, errors, sizes = (list[Floats](parts) for parts in fitted.shapes[:1] + fitted.shapes[2:4])
        at_knots = list(effects)
        for column in range(columns.numbers):
            line, knots = line_through(fitted, column), fitted.cells.ordered[column]
            points = fitted.cells.points(column)
            others = effects[column][knots:]
            at_knots[column] = np.vstack([line.first + np.outer(points, line.last - line.first), others])
            effects[column] = np.vstack([line.first, line.last, others])
            records = np.maximum(sizes[column][:knots], 0)
            # A centred line turns about its mean, so that the error of the slope is divided between its ends.
            middle = records @ points / max(float(records.sum()), 1e-9)
            errors[column] = np.vstack([middle * line.error, (1 - middle) * line.error, errors[column][knots:]])
            sizes[column] = np.append([records @ (1 - points), records @ points], sizes[column][knots:])
        counts, _ = ClassTables.of(fitted.tables, fitted.error)
        moved = counts.mean_scores(fitted.shapes.effects) - counts.mean_scores(at_knots)
        intercept = fitted.shapes.intercept + (0.0 if fitted.hidden else moved.mean(axis=0))
        shapes = Shapes(effects, np.asarray(intercept, np.float64), errors, sizes, {})
        return fitted._replace(cells=Cells.even(columns, 2), shapes=shapes, straight=True)

    def _read_coefficients(self) -> None:
        """Coefficients in the units of X, from lines between bounds."""
        shapes, columns = self._fitted.shapes, self._fitted.cells.columns
        width = columns.high - columns.low
        slopes, errors = list[Floats](), list[Floats]()
        level = shapes.intercept.copy()
        terms: list[str] = list(columns.names[: columns.numbers])
        for column in range(columns.numbers):
            first, last = shapes.effects[column][:2]
            slopes.append((last - first)[None] / width[column])
            errors.append(shapes.errors[column][:2].sum(axis=0, keepdims=True) / width[column])
            level += first - slopes[-1][0] * columns.low[column]
        for column in range(len(columns)):
            skipped = 2 if column < columns.numbers else 0
            slopes.append(shapes.effects[column][skipped:])
            errors.append(shapes.errors[column][skipped:])
            terms += [f"{columns.names[column]}={label}" for label in points_of(self._fitted, column)[skipped:]]
        self.coef_: NDArray[np.float64] = np.vstack(slopes).T
        self.coef_errors_: NDArray[np.float64] = np.vstack(errors).T
        self.intercept_ = level
        self.terms_ = tuple(terms)


def line_through(fitted: Fitted, column: int) -> KnotLine:
    """The line through a number's knots by least squares, with their noisy numbers of records as weights."""
    knots, points = fitted.cells.ordered[column], fitted.cells.points(column)
    effects, errors = (parts[column][:knots] for parts in (fitted.shapes.effects, fitted.shapes.errors))
    weights = np.maximum(fitted.shapes.sizes[column][:knots], 0) + fitted.error
    middle = weights @ points / weights.sum()
    share = weights * (points - middle)
    share = share / (share @ (points - middle))
    slope, level = share @ effects, weights @ effects / weights.sum()
    mixing = fitted.shapes.mixing.get(column)
    spread = np.sqrt(share**2 @ errors**2) if mixing is None else np.full(slope.size, np.linalg.norm(share @ mixing))
    return KnotLine(level - slope * middle, level + slope * (1 - middle), spread)
