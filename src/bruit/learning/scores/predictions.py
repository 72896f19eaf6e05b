"""What a model says of records, as whole numbers of which each depends on its own record alone.

A product of matrices may round differently when a row is added to the batch. A probability at the edge of a cell would
then move other records to another cell. So the model is asked alone about a record whose whole numbers could change
within the rounding error, and about the first ones of every batch. It is asked about all records a second time, in
parts of half the batch, a quarter, and so on. A model whose answer about a record depends on the records beside it is
refused. Otherwise a model may be any object with `predict`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from bruit.errors import BruitError, DataError, ParameterError, translated
from bruit.learning._features import as_numbers
from bruit.learning.naive_bayes.classes import _codes, class_codes
from bruit.learning.scores.estimates import METRICS, NoisySums, Score
from bruit.learning.scores.sums import MOST_LOSS, STEPS, Counts, Floats, ScoreSums, cell_of

#: How much an answer may differ with the batch, in probability or in half widths of the target: doubles, and floats.
_ROUNDING, _ROUNDING_SINGLE = 1e-9, 1e-5
#: How many records of each batch are asked for alone, to notice a model that looks at the batch.
_PROBES = 4

RAISED = (
    "The model raised a {kind} on these records. Its message may show records and is left out: call the model yourself "
    "to see it. Nothing was booked."
)
_SHAPE = "The model must give {what} for every record, as finite numbers. Nothing was booked."
_TOGETHER = (
    "The model's answer about a record depends on the records beside it, or on chance. Its scores have no guarantee: "
    "one record could change those of all others. Nothing was booked."
)


class Predictions(NamedTuple):
    """What a model says of some records: numbers to compare, the code of its label, and how they may be rounded."""

    values: Floats
    labels: Counts
    rounding: float


class ScoreView(Protocol):
    """How answers and targets become whole numbers."""

    def answers(self, model: Any, rows: Any, many: int) -> Predictions:
        """What the model says of these records."""
        ...

    def tied(self, answers: Predictions) -> NDArray[np.bool_]:
        """Which records could have another label within the rounding error."""
        ...

    def unsure(self, answers: Predictions, targets: Any) -> NDArray[np.bool_]:
        """Which records could have other whole numbers within the rounding error."""
        ...

    def integers(self, answers: Predictions, targets: Any) -> dict[str, Counts]:
        """The whole numbers of each record."""
        ...

    def worst(self) -> Predictions:
        """What counts as the answer about one record, where there is none after a spend."""
        ...

    def targets(self, column: Any) -> Any:
        """The targets of some records; those that break a declared rule are refused."""
        ...

    def sums(self, neighbours: str) -> ScoreSums:
        """What is summed of the whole numbers."""
        ...

    def scores(self, noisy: NoisySums) -> list[Score]:
        """What the noisy sums say."""
        ...

    def describe(self) -> dict[str, Any]:
        """Plain values of what is declared."""
        ...


def outcomes(model: Any, rows: Any, targets: Any, view: ScoreView) -> dict[str, Counts]:
    """The whole numbers of some records, each as if the model had been asked for it alone."""
    together = view.answers(model, rows, len(targets))
    tied = view.tied(together)
    for part in _parts(len(targets)):
        _check_same(together, view.answers(model, rows_at(rows, part), part.size), part, tied)
    values, labels = together.values.copy(), together.labels.copy()
    places = np.flatnonzero(view.unsure(together, targets))
    for place in {*places.tolist(), *range(min(_PROBES, len(targets)))}:
        alone = view.answers(model, rows_at(rows, [place]), 1)
        _check_same(together, alone, np.array([place]), tied)
        values[place], labels[place] = alone.values[0], alone.labels[0]
    return view.integers(Predictions(values, labels, together.rounding), targets)


def settled(model: Any, rows: Any, targets: Any, view: ScoreView) -> dict[str, Counts]:
    """The same after a spend, where nothing is refused: a record without an answer has the worst one."""
    values, labels, rounding = together = _answers_or_worst(model, rows, len(targets), view)
    values, labels = values.copy(), labels.copy()
    for place in np.flatnonzero(view.unsure(together, targets)).tolist():
        alone = _answers_or_worst(model, rows_at(rows, [place]), 1, view)
        values[place], labels[place] = alone.values[0], alone.labels[0]
    return view.integers(Predictions(values, labels, rounding), targets)


def _answers_or_worst(model: Any, rows: Any, many: int, view: ScoreView) -> Predictions:
    """The answers about these records; where they fail together, each for itself."""
    try:
        return view.answers(model, rows, many)
    except BruitError:
        if many == 1:
            return view.worst()
    alone = [_answers_or_worst(model, rows_at(rows, [place]), 1, view) for place in range(many)]
    values, labels, roundings = zip(*alone, strict=True)
    return Predictions(np.concatenate(values), np.concatenate(labels), max(roundings))


def _parts(many: int) -> Iterator[Counts]:
    """All places once: every second one, every second one of those left, and so on."""
    step = 2
    while step // 2 <= many:
        yield np.arange(step // 2 - 1, many, step)
        step *= 2


def _check_same(together: Predictions, apart: Predictions, places: Counts, tied: NDArray[np.bool_]) -> None:
    """That the answers about these records are the same among other records, up to rounding."""
    near = np.abs(apart.values - together.values[places]) <= together.rounding
    same = (apart.labels == together.labels[places]) | tied[places]
    if not (near.all() and same.all()):
        raise DataError(_TOGETHER)


def check_length(rows: Any, many: int) -> None:
    """That there are as many rows as targets; how many is not said."""
    rule = "X and y must have one entry each for every record: they have inconsistent numbers of samples."
    with translated(Exception, lambda _: DataError(rule)):
        lengths = {len(column) for column in rows.values()} if isinstance(rows, Mapping) else {_num_samples(rows)}
    if lengths != {many}:
        raise DataError(rule)


def rows_at(rows: Any, places: Any) -> Any:
    """Some rows of a matrix, a frame, a list or a mapping of columns."""
    if isinstance(rows, Mapping):
        return {name: np.asarray(column)[places] for name, column in rows.items()}
    return _safe_indexing(rows, places)


@dataclass(frozen=True, eq=False)
class ClassView:
    """Probabilities or decisions of classes, and labels.

    Parameters
    ----------
    classes
        The declared classes, in order.
    method
        ``"predict_proba"``, ``"decision_function"``, or None for labels alone.
    positive
        The place of the class whose probability is ranked, or None.
    metrics
        What is asked of the model.
    """

    classes: NDArray[Any]
    method: str | None
    positive: int | None
    metrics: frozenset[str]

    def targets(self, column: Any) -> Counts:
        """The codes of the classes."""
        return class_codes(column, self.classes)

    def answers(self, model: Any, rows: Any, many: int) -> Predictions:
        """Probabilities in the order of the classes, or that of the positive one, and the code of the label."""
        labels = np.full(many, -1, np.int64)
        if "accuracy" in self.metrics or "log_loss" in self.metrics:
            said = _called(model, "predict", rows)
            with translated(Exception, lambda _: DataError(_SHAPE.format(what="a label"))):
                labels = _codes(np.asarray(said).reshape(many), self.classes)
        if self.method is None:
            return Predictions(np.empty((many, 0)), labels, 0.0)
        values = _called(model, self.method, rows)
        rounding = _ROUNDING_SINGLE if getattr(values, "dtype", None) in (np.float32, np.float16) else _ROUNDING
        if self.method == "decision_function":
            decision = _finite(values, many, 1, "a decision")
            sign = 1 if _codes(np.asarray(model.classes_), self.classes)[1] == self.positive else -1
            return Predictions(special.expit(sign * decision), labels, rounding)
        known = np.asarray(model.classes_)
        probabilities = _finite(values, many, known.size, "a probability of each class")
        columns = np.zeros((many, self.classes.size + 1))  # the last one is of classes that were not declared
        columns[:, _codes(known, self.classes)] = np.clip(probabilities, 0, 1)
        return Predictions(columns[:, :-1], labels, rounding)

    def tied(self, answers: Predictions) -> NDArray[np.bool_]:
        """Where two classes are nearly as likely."""
        values, rounding = answers.values, answers.rounding
        if not values.shape[1] or not {"accuracy", "log_loss"} & self.metrics:
            return np.zeros(len(values), bool)
        if values.shape[1] == 1:
            return np.asarray(np.abs(values[:, 0] - 0.5) <= rounding)
        second, first = np.partition(values, -2, axis=1)[:, -2:].T
        return np.asarray(first - second <= 2 * rounding)

    def unsure(self, answers: Predictions, targets: Counts) -> NDArray[np.bool_]:
        """Where two classes are nearly as likely, or a loss or a cell is near its edge."""
        values, rounding = answers.values, answers.rounding
        doubtful = self.tied(answers)
        if not values.shape[1]:
            return doubtful
        less, more = (
            self.integers(Predictions(values + shift, answers.labels, 0.0), targets) for shift in (-rounding, rounding)
        )
        for name in ("loss", "cell"):
            doubtful |= less[name] != more[name] if name in less else False
        return doubtful

    def integers(self, answers: Predictions, targets: Counts) -> dict[str, Counts]:
        """Whether a record is right, the steps of its loss, its cell, and whether it is positive."""
        rows: dict[str, Counts] = {"right": (answers.labels == targets).astype(np.int64)}
        if "log_loss" in self.metrics:
            own = answers.values[np.arange(len(targets)), targets]
            loss = -np.log(np.maximum(own, np.exp(-MOST_LOSS))) / MOST_LOSS
            rows["loss"] = np.clip(np.rint(loss * STEPS), 0, STEPS).astype(np.int64)
        if self.positive is not None and {"auroc", "calibration"} & self.metrics:
            stated = answers.values[:, 0 if self.method == "decision_function" else self.positive]
            rows["cell"] = cell_of(stated)
            rows["positive"] = (targets == self.positive).astype(np.int64)
        return rows

    def worst(self) -> Predictions:
        """No class, and no probability of any."""
        columns = {None: 0, "decision_function": 1}.get(self.method, self.classes.size)
        return Predictions(np.zeros((1, columns)), np.array([-1]), _ROUNDING)

    def sums(self, neighbours: str) -> ScoreSums:
        """Right and wrong, losses, and the table of ranks, as far as they are asked for."""
        return ScoreSums.of_classes(self.metrics)

    def scores(self, noisy: NoisySums) -> list[Score]:
        """The scores in a fixed order."""
        by_metric: dict[str, list[Callable[[], Score]]] = {
            "accuracy": [noisy.accuracy],
            "log_loss": [noisy.log_loss],
            "auroc": [noisy.auroc],
            "calibration": [noisy.brier, noisy.bias],
        }
        return [compute() for name in METRICS if name in self.metrics for compute in by_metric[name]]

    def describe(self) -> dict[str, Any]:
        """Classes, the ranked one, and metrics."""
        return {"classes": self.classes.tolist(), "positive": self.positive, "metrics": sorted(self.metrics)}


@dataclass(frozen=True)
class NumberView:
    """Predictions of a bounded number.

    Parameters
    ----------
    low, high
        The declared bounds of the target.
    """

    low: float
    high: float

    def targets(self, column: Any) -> Floats:
        """The targets, cut to their bounds, in −1..1."""
        return np.clip(self._scaled(as_numbers(column, "the target")), -1.0, 1.0)

    def _scaled(self, numbers: Floats) -> Floats:
        middle, half = self.low / 2 + self.high / 2, self.high / 2 - self.low / 2
        with np.errstate(over="ignore"):
            return np.asarray((numbers - middle) / half, np.float64)

    def answers(self, model: Any, rows: Any, many: int) -> Predictions:
        """Predictions in −1..1, or a little beyond."""
        values = _called(model, "predict", rows)
        rounding = _ROUNDING_SINGLE if getattr(values, "dtype", None) in (np.float32, np.float16) else _ROUNDING
        scaled = np.clip(self._scaled(_finite(values, many, 1, "a number")), -3.0, 3.0)
        return Predictions(scaled, np.zeros(many, np.int64), rounding)

    def tied(self, answers: Predictions) -> NDArray[np.bool_]:
        """Nowhere: there are no labels."""
        return np.zeros(len(answers.values), bool)

    def unsure(self, answers: Predictions, targets: Floats) -> NDArray[np.bool_]:
        """Where a squared error is near the edge of a step."""
        less, more = (
            self.integers(Predictions(answers.values + shift, answers.labels, 0.0), targets)["error"]
            for shift in (-answers.rounding, answers.rounding)
        )
        return np.asarray(less != more)

    def integers(self, answers: Predictions, targets: Floats) -> dict[str, Counts]:
        """The steps of the target and of the squared error, which is at most half the distance of the bounds."""
        error = np.minimum(np.square(answers.values[:, 0] - targets), 1.0)
        return {
            "target": np.rint(targets * STEPS).astype(np.int64),
            "error": np.rint(error * STEPS).astype(np.int64),
        }

    def worst(self) -> Predictions:
        """A number so far outside that the error is the greatest."""
        return Predictions(np.full((1, 1), 3.0), np.zeros(1, np.int64), _ROUNDING)

    def sums(self, neighbours: str) -> ScoreSums:
        """Targets and errors; the number of records where it is not public."""
        return ScoreSums.of_numbers(neighbours)

    def scores(self, noisy: NoisySums) -> list[Score]:
        """R² and the root of the mean squared error."""
        return [noisy.r2(), noisy.rmse(self.high / 2 - self.low / 2)]

    def describe(self) -> dict[str, Any]:
        """The bounds."""
        return {"low": self.low, "high": self.high}


def _called(model: Any, method: str, rows: Any) -> Any:
    """What a method of the model gives; its errors are translated, because they may show records."""

    def explained(error: Exception) -> BruitError:
        if isinstance(error, NotFittedError):
            return ParameterError("The model is not fitted: call its fit, or use private_cross_score.")
        return DataError(RAISED.format(kind=type(error).__name__))

    with translated(Exception, explained):
        return getattr(model, method)(rows)


def _finite(values: Any, many: int, columns: int, what: str) -> Floats:
    """A matrix of finite numbers of this shape."""
    with translated(Exception, lambda _: DataError(_SHAPE.format(what=what))):
        matrix = np.asarray(values, np.float64).reshape(many, columns)
    if not np.isfinite(matrix).all():
        raise DataError(_SHAPE.format(what=what))
    return matrix
