"""Cross-validation of private models whose scores are booked once.

Every record is in the test of one fold and in the training of all others. Its fold is drawn for itself, so that the
folds of other records do not depend on it.
"""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from bruit import _checks
from bruit.entropy import Entropy
from bruit.errors import BruitError, DataError, ParameterError, translated
from bruit.learning._base import PrivateModel, announced, seed_of
from bruit.learning.naive_bayes.classes import declared_classes
from bruit.learning.pipelines import exact_steps, unknown_steps
from bruit.learning.scores.predictions import RAISED, check_length, rows_at, settled
from bruit.learning.scores.request import ScoreRequest, check_ledger
from bruit.learning.scores.result import Scores
from bruit.learning.scores.score import ScoreTotal, _array
from bruit.learning.search import FitSpend, _cost
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee
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

    Whatever a record can break is refused before the first fit, as in `private_score`: the model is fitted to all
    records and scored on them once, without booking, and thrown away. After the first booking no record is refused: one
    that the model has no answer about counts as wrong, with the greatest loss and the least probability.

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
    whole = _whole(spends, request, folds)
    view = request.view(_with_classes(fitted))
    request.noise(view)
    seed = seed_of(rng, None)
    rows, targets = _array(X), _targets(y)
    check_length(rows, len(targets))
    fold_of = _folds(len(targets), folds, seed)
    _rehearse(fitted, rows, targets, fold_of, ScoreTotal(view, request.row_neighbours))
    total = ScoreTotal(view, request.row_neighbours, settled)
    for fold in range(folds):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        own = _fitted(fitted, rows_at(rows, train), targets[train])
        total.add(own, rows_at(rows, test), targets[test])
    scores = request.release(view, total.sums, total.size, ledger, rng)
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
    for part in _private_parts(copied):
        if part.ledger is None and ledger is not None:
            part.set_params(ledger=ledger)
    return copied


def _private_parts(model: Any) -> list[PrivateModel]:
    """The private models within a model, itself among them."""
    return [part for part in (model, *model.get_params(deep=True).values()) if isinstance(part, PrivateModel)]


def _with_classes(model: Any) -> Any:
    """A copy that is not fitted and has the classes that it declares, for a view before the first fit."""
    with announced():
        copied = clone(model)
    last = copied.steps[-1][1] if isinstance(copied, Pipeline) else copied
    if getattr(last, "classes", None) is not None:
        last.classes_ = declared_classes(last.classes)
    return copied


def _rehearse(model: Any, rows: Any, targets: Any, fold_of: NDArray[np.int64], total: ScoreTotal) -> None:
    """Fit and score on all records, book nothing, and throw all away: what a record can break is refused here.

    The noise is secure. Warnings are not shown, because they may depend on noisy sums that are not booked.
    """
    with announced():
        copied = clone(model)
    for part in _private_parts(copied):
        part.set_params(ledger=None, rng=None, random_state=None)
    everything = rows_at(rows, np.arange(len(targets)))
    with warnings.catch_warnings(), translated(Exception, _explained):
        warnings.simplefilter("ignore")
        total.add(_fitted(copied, everything, targets), everything, targets)
        if np.unique(fold_of).size < 2:  # one fit is of no records
            _fitted(copied, rows_at(rows, np.arange(0)), targets[:0])


def _explained(error: Exception) -> BruitError:
    """The error of a step in words that show no record; ours show none."""
    return error if isinstance(error, BruitError) else DataError(RAISED.format(kind=type(error).__name__))


def _whole(spends: list[FitSpend], request: ScoreRequest, folds: int) -> Guarantee:
    """What a record loses; refused if fits and scores do not protect the same."""
    fit = sequential(spend.line.guarantee for spend in spends)
    return sequential([*[fit] * (folds - 1), request.guarantee])


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
