"""The score of a fitted model on held-out records, released with noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from bruit import engines
from bruit.engines import batch as batching
from bruit.errors import DataError, ParameterError, translated
from bruit.estimation.tally import exact_sum
from bruit.learning._base import Counts, PrivateModel, _beside, _is_source, _is_table, is_mapping, seed_of
from bruit.learning.scores.predictions import ScoreView, check_length, outcomes, rows_at
from bruit.learning.scores.request import ScoreRequest, check_ledger
from bruit.learning.scores.result import Scores
from bruit.releases.person import Person, warn_of_people
from bruit.tables.table import frame
from bruit.typing import Bounds, ColumnLike, SourceLike

__all__ = ["private_score"]

#: How many records a model is asked for at once.
_BLOCK = 1 << 13
_NAME_TARGET = 'Name the target column of a table, as in private_score(model, "people.parquet", "income", …).'


def private_score(
    model: Any,
    X: SourceLike,
    y: ColumnLike | str,
    *,
    epsilon: float,
    classes: Any = None,
    target_bounds: Bounds | None = None,
    positive: Any = None,
    metrics: Any = None,
    delta: float = 0.0,
    neighbours: Literal["add-remove", "replace"] = "add-remove",
    person: Any = None,
    rows: int | None = None,
    ledger: Any = None,
    rng: Any = None,
) -> Scores:
    """Say how good a fitted model is on held-out records, with noise (DP accuracy, log loss, AUROC, ROC, R²).

    Parameters
    ----------
    model
        Any fitted model of scikit-learn's kind, private or not: a classifier with `predict_proba`, with a decision of
        two classes, or with `predict` alone; or a regression.
    X, y
        Held-out records: a matrix or frame and its targets; or a table, file or batches and the name of the target.
        They must not have been used to fit the model.
    epsilon
        The most that the scores may tell about one held-out record.
    classes
        All classes that there can be; by default those of the model.
    target_bounds
        For a regression: what the target can be, a pair of numbers. Targets outside count as the nearest bound.
    positive
        The class whose probability is ranked, for AUROC and calibration; by default the second of two.
    metrics
        Some of ``"accuracy"``, ``"log_loss"``, ``"auroc"`` and ``"calibration"``; by default all that the model can
        give. Fewer metrics have less noise.
    delta
        0 for pure ε with Laplace noise; above 0 for Gaussian noise under zCDP.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.
    person, rows
        Where people have several rows: the column that says whose row it is, and how many rows of a person count; or
        a `Person`. X is then a table, and y a name.
    ledger
        A `Ledger` that ε is booked in, once.
    rng
        None for secure noise; a whole number for a study that can be repeated.

    Returns
    -------
    Scores
        Values, intervals, tables and a picture. An interval is about the score on new records like these, unless you
        say ``about="rows"``: then it is about these records, and covers the noise alone.

    Guarantee
    ---------
    A record is right or wrong, has one bounded loss and is in one of 80 cells: it changes whole numbers by a bounded
    amount, for which discrete noise is added once. All scores are computed from the noisy numbers. The model is taken
    as public: what its own fit told is not part of this ε. Errors of the model on some record, numbers that are not
    finite, and targets that were not declared are refused before anything is booked; that they were refused is visible
    and not covered. The answer about a record must depend on that record alone. The model is asked about every record
    twice, among others, and refused if answers differ. A dependence that neither split shows is assumed away; see
    ``private_score.proof.md``.

    Error
    -----
    At ε = 0.5 and 10,000 records the noise of AUROC alone has a standard deviation of about .002, of the default four
    metrics .003, and of R² .02. Losses count as at most ln 100, and errors of a regression as at most half the distance
    of `target_bounds`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> draw = np.random.default_rng(0)
    >>> X = draw.normal(size=(12_000, 2))
    >>> y = (X[:, 0] + draw.normal(size=12_000) > 0).astype(int)
    >>> model = LogisticRegression().fit(X[:2000], y[:2000])
    >>> scores = private_score(model, X[2000:], y[2000:], epsilon=1.0, rng=7)
    >>> low, high = scores.interval("accuracy")
    >>> low < 0.75 < high, scores.names
    (True, ('accuracy', 'log loss', 'AUROC', 'Brier score', 'stated − observed'))
    """
    request = ScoreRequest(
        epsilon=epsilon,
        classes=classes,
        target_bounds=target_bounds,
        positive=positive,
        metrics=metrics,
        delta=delta,
        neighbours=neighbours,
        person=person,
        rows=rows,
    )
    seed_of(rng, None, draw=False)
    check_ledger(ledger)
    view = request.view(model)
    if request.who is None and _is_table(X):
        warn_of_people(X)
    counted = ScoreTotal(view, request.row_neighbours)
    for own, target in _records(model, X, y, request.who, rng):
        counted.add(model, own, target)
    return request.release(view, counted.sums, counted.size, ledger, rng)


#: From a model, rows, targets and a view to the whole numbers of each record.
Count = Callable[[Any, Any, Any, ScoreView], dict[str, Counts]]


class ScoreTotal:
    """The sums of scored records, and how many there were.

    `count` gives the whole numbers of records: `outcomes`, which may refuse the model, or `settled` after a spend.
    """

    def __init__(self, view: ScoreView, neighbours: str, count: Count = outcomes) -> None:
        self._view = view
        self._count = count
        self._layout = view.sums(neighbours)
        self.sums: Counts = np.zeros(len(self._layout.units), np.int64)
        self.size = 0

    def add(self, model: Any, rows: Any, target: Any) -> None:
        """Score some records."""
        targets = self._view.targets(target)
        check_length(rows, len(targets))
        for first in range(0, len(targets), _BLOCK):
            places = np.arange(first, min(first + _BLOCK, len(targets)))
            counted = self._layout.count(self._count(model, rows_at(rows, places), targets[places], self._view))
            self.sums = exact_sum(self.sums, counted)
        self.size += len(targets)


def _records(model: Any, X: Any, y: Any, person: Person | None, rng: Any) -> Iterator[tuple[Any, Any]]:
    """Rows as the model takes them, and their targets."""
    if person is not None:
        if not isinstance(y, str) or not (_is_table(X) or _is_source(X, y)):
            raise ParameterError(_NAME_TARGET)
        columns = person.bounded(X, rng=seed_of(rng, None))
        columns.pop(person.column)
        yield _separated(model, columns, y)
    elif is_mapping(X) and not isinstance(y, str):
        yield _separated(model, *_beside(X, y))
    elif _is_source(X, y):
        if not isinstance(y, str):
            raise ParameterError(_NAME_TARGET)
        for batch in engines.batches(X):
            yield _separated(model, batch, y)
    else:
        yield _array(X), y


def _separated(model: Any, columns: Mapping[str, Any], target: str) -> tuple[Any, Any]:
    """Columns as the model takes them, and the target among them."""
    if target not in columns:
        raise DataError(f"The table must have a column {target!r}, the target.")
    others = {name: batching.values_of(column) for name, column in columns.items() if name != target}
    return model_rows(model, others), columns[target]


def model_rows(model: Any, columns: Mapping[str, Any]) -> Any:
    """Columns by name as this model takes them: a mapping, a frame with the names it was fitted with, or a matrix."""
    if isinstance(model, PrivateModel):
        return columns
    names: Iterable[str] | None = getattr(model, "feature_names_in_", None)
    if names is None:
        with translated(Exception, lambda _: DataError("The columns of a table must hold one kind of numbers.")):
            return np.column_stack([np.asarray(column) for column in columns.values()])
    missing = [str(name) for name in names if name not in columns]
    if missing:
        raise DataError(f"The table must have a column {missing[0]!r}, which the model was fitted with.")
    return frame({str(name): np.asarray(columns[name]) for name in names})


def _array(X: Any) -> Any:
    """A matrix or frame as it is; lists as a matrix."""
    if isinstance(X, list | tuple):
        with translated(Exception, lambda _: DataError("X must have one row per record, and one column per feature.")):
            return np.asarray(X)
    return X
