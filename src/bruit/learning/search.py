"""What a search over parameters spends in all, known before its first fit.

A search of scikit-learn fits a model for each candidate and fold, and once more at the end. Each of these fits books
its ε. The sum should be known before a search, and a ledger that cannot pay for all should refuse at the start.

scikit-learn gives a model that it fits no way to ask for the search. So there are two steps. `search_cost` computes the
sum from the search. The searches here are those of scikit-learn that compute it, warn of it and try the ledger before
they begin. A search of scikit-learn's own is noticed by its clones, and the first one warns (``_base.py``).

Rejected: to look for the search on the call stack, which breaks with the next version and in other threads.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn import model_selection
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from bruit.errors import BudgetError, ParameterError, ParameterTypeError
from bruit.learning._base import PrivateModel, announced
from bruit.learning._validation import scikit_learn_errors
from bruit.learning.local_naive_bayes import LocalNaiveBayes
from bruit.learning.privatizer import LocalPrivatizer
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import pure_rho
from bruit.tables import Column, Table, Tabular, counted
from bruit.typing import ColumnLike, SourceLike

__all__ = ["GridSearchCV", "RandomizedSearchCV", "SearchCost", "search_cost"]

_ADVICE = (
    "Nothing was booked. Take fewer candidates, fewer folds, refit=False or a smaller epsilon, or a ledger with a "
    "larger budget."
)
_MODELS = (PrivateModel, LocalNaiveBayes, LocalPrivatizer)


class FitSpend(NamedTuple):
    """What some fits of one model book, each of them; without a ledger they are promised and not booked.

    Attributes
    ----------
    line
        The guarantee of one fit, as it is booked.
    fits
        How many fits book it.
    ledger
        Where, or None.
    """

    line: Line
    fits: int
    ledger: Any


@dataclass(frozen=True, repr=False)
class SearchCost(Tabular):
    """How many fits a search makes, and what they promise together.

    Attributes
    ----------
    fits
        The number of fits, that at the end included.
    how
        The same in words: candidates, folds, and the refit.
    spends
        What is booked. The refit counts as the dearest candidate.

    See `search_cost`.
    """

    fits: int
    how: str
    spends: tuple[FitSpend, ...]

    @property
    def guarantee(self) -> Guarantee:
        """What all fits promise together, at most: their ε and δ add, because folds overlap."""
        return sequential(spend.line.guarantee for spend in self.spends for _ in range(spend.fits))

    def check(self, ledger: Any = None) -> None:
        """Raise `BudgetError` if the ledgers of the models, or the one that is given, cannot pay for all fits.

        Nothing is booked.
        """
        ledgers = {id(spend.ledger): spend.ledger for spend in self.spends if spend.ledger is not None}
        for booked in [ledger] if ledger is not None else ledgers.values():
            wanted = [spend for spend in self.spends if ledger is not None or spend.ledger is booked]
            self._check(booked, [spend.line for spend in wanted for _ in range(spend.fits)])

    def _check(self, ledger: Any, lines: Sequence[Line]) -> None:
        if not hasattr(ledger, "check"):
            raise ParameterTypeError("A search books in a bruit.Ledger, and not in a part of one.")
        try:
            ledger.check(lines)
        except BudgetError as error:
            left = "; ".join(ledger.amounts)
            raise BudgetError(
                f"Budget exceeded: {self}. The ledger has {left}. {_ADVICE}",
                requested=error.requested,
                remaining=error.remaining,
                total=error.total,
            ) from None

    def table(self) -> Table:
        """What is booked: of each model how many fits, and the ε of each."""
        guarantees = [spend.line.guarantee for spend in self.spends]
        columns = [
            Column("model", [spend.line.label for spend in self.spends], kind="label", write=str),
            Column("fits", [spend.fits for spend in self.spends]),
            Column("epsilon", [guarantee.epsilon for guarantee in guarantees], "ε of each"),
        ]
        if any(guarantee.delta for guarantee in guarantees):
            columns.append(Column("delta", [guarantee.delta for guarantee in guarantees], "δ of each"))
        about = {"fits": self.fits, "guarantee": self.guarantee.to_dict()}
        return Table("What the search spends", columns, [f"{self}"], about, noun="spend")

    def __str__(self) -> str:
        return f"{counted(self.fits, 'fit')} ({self.how}), together {self.guarantee}"


def search_cost(
    search: Any, X: SourceLike, y: ColumnLike | None = None, *, cv: Any = None, groups: Any = None
) -> SearchCost:
    """What a search or a cross-validation spends in all, before it begins; nothing is fitted or booked.

    Parameters
    ----------
    search
        A `GridSearchCV` or `RandomizedSearchCV`, of bruit or of scikit-learn; or a model. Models of bruit may stand in
        a `Pipeline`.
    X, y, groups
        What it will be fitted with. They are asked for the number of folds, and for nothing else.
    cv
        The folds of a cross-validation around it, as `cross_val_score` takes them; None for a plain ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from bruit import Ledger
    >>> from bruit.learning import NaiveBayes
    >>> X, y = np.array([[0.1], [0.9]] * 50), np.array([0, 1] * 50)
    >>> model = NaiveBayes(bounds=(0, 1), classes=[0, 1], ledger=Ledger(epsilon=3.0))
    >>> search = model_selection.GridSearchCV(model, {"epsilon": [0.25, 0.5]}, cv=3)
    >>> cost = search_cost(search, X, y)
    >>> print(cost)
    7 fits (2 candidates × 3 folds, and the refit), together ε = 2.75 (central, one record added or removed)
    >>> cost.check()  # a ledger that cannot pay for all raises BudgetError
    """
    cost = _cost(search, X, y, groups)
    if cv is not None:
        cost = cost.times(_folds(cv, search, X, y, groups))
    if not cost.spends:
        raise ParameterError("There is no model of bruit here, so that nothing is spent.")
    return SearchCost(cost.fits, cost.how or "of a model", tuple(cost.spends))


class _PricedSearch:
    """A search that tells its cost, and tries the ledger with all of it, before the first fit."""

    def fit(self, X: SourceLike, y: ColumnLike | None = None, **params: Any) -> Any:
        """Run the search, or refuse it with `BudgetError` if the ledger cannot pay for all of its fits."""
        cost = search_cost(self, X, y, groups=params.get("groups"))
        cost.check()
        warnings.warn(f"Every fit of this search is booked: {cost}.", UserWarning, stacklevel=2)
        with announced():
            return super().fit(X, y, **params)  # type: ignore[misc] # that of scikit-learn


class GridSearchCV(_PricedSearch, model_selection.GridSearchCV):  # type: ignore[misc] # no types there
    """scikit-learn's grid search; it says what all fits spend, and refuses before the first if that is too much.

    Parameters are those of `sklearn.model_selection.GridSearchCV`. Its results are not private: `best_params_`,
    `cv_results_` and `best_score_` are facts about the records. The models that it fits are.
    """


class RandomizedSearchCV(_PricedSearch, model_selection.RandomizedSearchCV):  # type: ignore[misc] # no types there
    """scikit-learn's random search; it says what all fits spend, and refuses before the first if that is too much.

    Parameters are those of `sklearn.model_selection.RandomizedSearchCV`; `random_state` must be given, because the
    candidates decide what is spent. Its results are not private: `best_params_`, `cv_results_` and `best_score_` are
    facts about the records. The models that it fits are.
    """


class _Cost(NamedTuple):
    """How many fits there are, how that comes about, and what they book."""

    fits: int
    how: str
    spends: list[FitSpend]

    def times(self, folds: int) -> _Cost:
        """The same in each fold of a cross-validation."""
        how = f"{counted(folds, 'fold')} of {self.how}" if self.how else counted(folds, "fold")
        return _Cost(self.fits * folds, how, [spend._replace(fits=spend.fits * folds) for spend in self.spends])


def _cost(estimator: Any, X: Any, y: Any, groups: Any) -> _Cost:
    """What ``estimator.fit`` spends."""
    if isinstance(estimator, BaseSearchCV):
        return _cost_of_search(estimator, X, y, groups)
    if isinstance(estimator, Pipeline):
        steps = [_cost(step, X, y, groups) for _, step in estimator.steps if isinstance(step, BaseEstimator)]
        return _Cost(1, "", _merged(spend for step in steps for spend in step.spends))
    if isinstance(estimator, LocalPrivatizer):
        raise ParameterError(
            "A LocalPrivatizer spends at every transform, in scoring too, so that a search has no total. Randomise "
            "the records once, before the search, and search on what that gives."
        )
    if isinstance(estimator, PrivateModel | LocalNaiveBayes):
        return _Cost(1, "", [FitSpend(estimator._line(), 1, getattr(estimator, "ledger", None))])
    if any(isinstance(value, _MODELS) for value in estimator.get_params(deep=True).values()):
        raise ParameterTypeError(
            f"How often {type(estimator).__name__} fits a model is not known here: the cost is known of a model, a "
            "Pipeline, a GridSearchCV and a RandomizedSearchCV."
        )
    return _Cost(1, "", [])


def _cost_of_search(search: Any, X: Any, y: Any, groups: Any) -> _Cost:
    candidates = _candidates(search)
    folds = _folds(search.cv, search.estimator, X, y, groups)
    costs = [_cost(_with_parameters(search.estimator, candidate), X, y, groups) for candidate in candidates]
    spends = _merged(spend for cost in costs for spend in cost.times(folds).spends)
    fits, how = folds * sum(cost.fits for cost in costs), f"{counted(len(costs), 'candidate')} × {folds} folds"
    if search.refit is not False:
        fits, how = fits + max(cost.fits for cost in costs), f"{how}, and the refit"
        spends += _dearest([cost.spends for cost in costs])
    return _Cost(fits, how, spends)


def _candidates(search: Any) -> list[Mapping[str, Any]]:
    """The parameters that a search tries."""
    for known in (model_selection.GridSearchCV, model_selection.RandomizedSearchCV):
        if isinstance(search, known) and type(search)._run_search is known._run_search:
            break
    else:
        raise ParameterTypeError(
            f"Which candidates {type(search).__name__} tries is known only while it runs: use GridSearchCV or "
            "RandomizedSearchCV."
        )
    if isinstance(search, model_selection.GridSearchCV):
        return list(ParameterGrid(search.param_grid))
    if search.random_state is None:
        raise ParameterError(
            "A random search without random_state draws other candidates each time, so that their cost is not known: "
            "give it one, such as random_state=0."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer candidates than iterations: the search says so itself
        # A copy, so that a generator gives the search what it gives here.
        state = copy.deepcopy(search.random_state)
        return list(ParameterSampler(search.param_distributions, search.n_iter, random_state=state))


def _with_parameters(estimator: Any, candidate: Mapping[str, Any]) -> Any:
    with announced():
        return clone(estimator).set_params(**clone(dict(candidate), safe=False))


def _folds(cv: Any, estimator: Any, X: Any, y: Any, groups: Any) -> int:
    if isinstance(cv, Iterator):
        raise ParameterError("cv must be a number, a splitter or a list: an iterator of splits can be read only once.")
    with scikit_learn_errors():
        return int(check_cv(cv, y, classifier=is_classifier(estimator)).get_n_splits(X, y, groups))


def _merged(spends: Iterable[FitSpend]) -> list[FitSpend]:
    """Fits that book the same in the same ledger, together."""
    merged: dict[tuple[Line, int], FitSpend] = {}
    for spend in spends:
        key = (spend.line, id(spend.ledger))
        fits = spend.fits + (merged[key].fits if key in merged else 0)
        merged[key] = spend._replace(fits=fits)
    return list(merged.values())


def _dearest(candidates: Sequence[Sequence[FitSpend]]) -> list[FitSpend]:
    """What a refit books at most, in each ledger: the most ε and the most δ of any candidate."""
    if all(spends == candidates[0] for spends in candidates):
        return list(candidates[0])
    ledgers = {id(spend.ledger): spend.ledger for spends in candidates for spend in spends}
    dearest = []
    for key, ledger in ledgers.items():
        lines = [[spend.line for spend in spends if id(spend.ledger) == key] for spends in candidates]
        totals = [sequential(line.guarantee for line in own) for own in lines if own]
        most = Guarantee(
            epsilon=max(total.epsilon for total in totals),
            delta=max(total.delta for total in totals),
            neighbours=totals[0].neighbours,
        )
        rho = max(
            sum(pure_rho(line.guarantee.epsilon) if line.rho is None else line.rho for line in own) for own in lines
        )
        dearest.append(FitSpend(Line(most, "the refit, at most", rho if most.delta else None), 1, ledger))
    return dearest
