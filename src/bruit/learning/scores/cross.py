"""Cross-validation of private models whose scores are booked once.

Every record is in the test of one fold and in the training of all others. Its fold is drawn for itself, so that the
folds of other records do not depend on it.
"""

from __future__ import annotations

import functools
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from bruit import _checks
from bruit.entropy import Entropy
from bruit.errors import DataError, ParameterError, translated
from bruit.estimation.tally import exact_sum
from bruit.learning._base import PrivateModel, announced, seed_of
from bruit.learning.pipelines import exact_steps, unknown_steps
from bruit.learning.scores.predictions import check_length, rows_at
from bruit.learning.scores.request import ScoreRequest, check_ledger
from bruit.learning.scores.result import Scores
from bruit.learning.scores.score import ScoreTotal, _array
from bruit.learning.search import FitSpend, _cost
from bruit.privacy.composition import sequential
from bruit.typing import ColumnLike, SourceLike

__all__ = ["private_cross_score"]

_NOT_PRIVATE = (
    "Cross-validation fits {model} on the records that are scored, and a model without privacy carries them into the "
    "scores of all folds. Use models of bruit, with steps that have declared parameters before them; or private_score "
    "on records that the model did not see."
)
_UNKNOWN = (
    "{steps} before the model may look at all records at once: then one record changes what the model learns from the "
    "others, and no fit has its guarantee. Use steps of scikit-learn or bruit, numpy's functions of one number, or "
    "transform the records before, each for itself."
)


def private_cross_score(
    model: Any, X: SourceLike, y: ColumnLike, *, folds: int = 5, ledger: Any = None, rng: Any = None, **options: Any
) -> Scores:
    """Score a private model by cross-validation: fit it on all folds but one, score it on that one, and add up.

    Parameters
    ----------
    model
        A model of bruit that is not fitted yet, or a `Pipeline` that ends in one and has steps with declared parameters
        before it. Steps are of scikit-learn or bruit; a `FunctionTransformer` has no function, or a ufunc of numpy.
    X, y
        The records, in memory: a matrix, a frame or a mapping, and their targets.
    folds
        How many folds. A record's fold is drawn for itself, so that folds differ a little in size.
    ledger
        Where the scores are booked, and the fits too unless the model has a ledger of its own.
    rng
        None for secure noise and folds; a whole number for a study that can be repeated.
    **options
        `epsilon` of the scores, and `classes`, `target_bounds`, `positive`, `metrics`, `delta` and `neighbours`, as in
        `private_score`.

    Guarantee
    ---------
    The scores of all folds cost `epsilon` once: a record is in the test of one fold, and changes one record's worth of
    one table (parallel composition). The fits cost their own ε each, because a record is in the training of all folds
    but one. In all a record loses at most (folds − 1) times the ε of a fit, plus `epsilon`: that is `total`. The ledger
    books every fit, one more than that.

    Examples
    --------
    >>> from bruit import Ledger
    >>> from bruit.learning import NaiveBayes
    >>> X, y = np.array([[1.0], [9.0]] * 2000), np.array([0, 1] * 2000)
    >>> budget = Ledger(epsilon=3.0)
    >>> model = NaiveBayes(epsilon=0.5, bounds=(0, 10), classes=[0, 1], random_state=1)
    >>> scores = private_cross_score(model, X, y, folds=4, epsilon=0.5, ledger=budget, rng=1)
    >>> round(scores["accuracy"], 2), budget.spent.epsilon, scores.total.epsilon
    (1.0, 2.5, 2.0)
    """
    _checks.integer(low=2, high=100, folds=folds)
    check_ledger(ledger)
    request = _request(options)
    if request.who is not None:
        raise ParameterError("Cross-validation protects a row: where people have several rows, use private_score.")
    if exact_steps(model) or not _is_private(model):
        raise ParameterError(_NOT_PRIVATE.format(model=type(model).__name__))
    if unknown := unknown_steps(model):
        raise ParameterError(_UNKNOWN.format(steps=" and ".join(dict.fromkeys(unknown))))
    fitted = _with_ledger(model, ledger)
    spends = _cost(fitted, X, y, None).times(folds).spends
    _check_ledgers(spends, ledger, request)
    seed = seed_of(rng, None)
    rows, targets = _array(X), _targets(y)
    check_length(rows, len(targets))
    fold_of = _folds(len(targets), folds, seed)
    totals = []
    for fold in range(folds):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        own = _fitted(fitted, rows_at(rows, train), targets[train])
        view = request.view(own)
        totals.append(ScoreTotal(view, request.row_neighbours))
        totals[-1].add(own, rows_at(rows, test), targets[test])
    sums = functools.reduce(exact_sum, [total.sums for total in totals])
    scores = request.release(view, sums, sum(total.size for total in totals), ledger, rng)
    fit = sequential(spend.line.guarantee for spend in spends)
    whole = sequential([*[fit] * (folds - 1), request.guarantee])
    note = f"{folds} folds; with the fits a record loses at most {whole}"
    return replace(scores, total=whole, notes=(*scores.notes, note))


def _request(options: dict[str, Any]) -> ScoreRequest:
    unknown = sorted(set(options) - {field.name for field in fields(ScoreRequest)})
    if unknown:
        raise TypeError(f"private_cross_score() got an unexpected keyword argument {unknown[0]!r}")
    return ScoreRequest(**{"epsilon": None, **options})


def _is_private(model: Any) -> bool:
    return isinstance(model.steps[-1][1] if isinstance(model, Pipeline) else model, PrivateModel)


def _with_ledger(model: Any, ledger: Any) -> Any:
    """A copy whose models book here, unless they have a ledger of their own."""
    with announced():
        copied = clone(model)
    if ledger is not None:
        steps = [step for _, step in copied.steps] if isinstance(copied, Pipeline) else [copied]
        for step in steps:
            if isinstance(step, PrivateModel) and step.ledger is None:
                step.set_params(ledger=ledger)
    return copied


def _check_ledgers(spends: list[FitSpend], ledger: Any, request: ScoreRequest) -> None:
    """Refuse before the first fit what a ledger cannot pay; each fit and the scores are booked when they are made."""
    ledgers = {id(spend.ledger): spend.ledger for spend in spends} | {id(ledger): ledger}
    for own in ledgers.values():
        lines = [spend.line for spend in spends if spend.ledger is own for _ in range(spend.fits)]
        if hasattr(own, "check"):
            own.check([*lines, *(request.charge.lines() if own is ledger else [])])


def _folds(many: int, folds: int, seed: Entropy | int | None) -> NDArray[np.int64]:
    """The fold of each record, drawn for itself; a seed gives the folds of a study again."""
    stream = Entropy.resolve(seed, "folds", "private_cross_score")
    return np.asarray(stream.integers(folds, many), np.int64)


def _fitted(model: Any, rows: Any, targets: Any) -> Any:
    with announced():
        return clone(model).fit(rows, targets)


def _targets(y: Any) -> NDArray[Any]:
    if isinstance(y, str):
        raise ParameterError("Give the targets themselves, one per row: a cross-validation reads records from memory.")
    with translated(Exception, lambda _: DataError("y must have one target per record.")):
        targets = np.asarray(y)
    if targets.ndim != 1:
        raise DataError("y should be a 1d array: one target per record.")
    return targets
