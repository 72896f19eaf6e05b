"""What a search costs is known before it begins, and a ledger that cannot pay for all of it refuses at the start."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 # makes the class below importable
from sklearn.model_selection import HalvingGridSearchCV, LeaveOneGroupOut, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bruit import Ledger
from bruit.errors import BudgetError, DataError, ParameterError, ParameterTypeError
from bruit.learning import (
    GridSearchCV,
    KMeans,
    LinearRegression,
    LocalNaiveBayes,
    LocalPrivatizer,
    NaiveBayes,
    RandomizedSearchCV,
    search_cost,
)
from bruit.learning._base import watched_fit

X = np.random.default_rng(1).uniform(0, 1, (60, 2))
Y = (X[:, 0] > 0.5).astype(int)
WARNED = pytest.mark.filterwarnings("ignore:Every fit of this search is booked:UserWarning")
#: One of each kind, with what scikit-learn's conventions call a parameter that changes ε.
MODELS = {
    "NaiveBayes": lambda **options: NaiveBayes(bounds=(0, 1), classes=[0, 1], **options),
    "LinearRegression": lambda **options: LinearRegression(bounds=(0, 1), target_bounds=(0, 1), **options),
    "LinearRegression with δ": lambda **options: LinearRegression(
        bounds=(0, 1), target_bounds=(0, 1), delta=1e-6, **options
    ),
    "KMeans": lambda **options: KMeans(2, bounds=(0, 1), **options),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def bayes(ledger=None, **options):
    return NaiveBayes(bounds=(0, 1), classes=[0, 1], ledger=ledger, **{"epsilon": 0.5, **options})


def grid(ledger, kind=GridSearchCV, **options):
    """Two candidates of ε = 0.5, three folds and the refit: ε = 3.5 in all."""
    return kind(bayes(ledger), {"method": ["joint", "vaidya"]}, **{"cv": 3, **options})


def quietly(search):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return search.fit(X, Y)


def test_scikit_learns_search_books_six_fits_and_fails_at_the_refit_and_ours_books_none():
    ledger = Ledger(epsilon=3.0)
    with pytest.raises(BudgetError):
        quietly(grid(ledger, model_selection.GridSearchCV))
    assert len(ledger) == 6

    ledger = Ledger(epsilon=3.0)
    with pytest.raises(BudgetError) as caught:
        grid(ledger).fit(X, Y)
    assert len(ledger) == 0
    message = str(caught.value)
    assert "7 fits (2 candidates × 3 folds, and the refit), together ε = 3.5" in message
    assert "3.0 remain" in message
    for remedy in ("Nothing was booked", "fewer candidates", "fewer folds", "refit=False", "larger budget"):
        assert remedy in message
    assert (caught.value.requested, caught.value.remaining, caught.value.total) == (3.5, 3.0, 3.0)


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_search_that_cannot_be_paid_books_nothing_whoever_runs_its_fits(jobs, tmp_path):
    poor = Ledger.open(tmp_path / "poor.ledger", epsilon=3.4)
    with pytest.raises(BudgetError):
        grid(poor, n_jobs=jobs).fit(X, Y)
    assert len(poor) == 0


def test_a_search_that_can_be_paid_warns_of_its_total_and_runs_whole():
    # With processes of their own: see `test_processes_that_share_a_ledger_in_a_file_book_all`.
    ledger = Ledger(epsilon=3.5)
    with pytest.warns(UserWarning, match="Every fit of this search is booked: 7 fits .* ε = 3.5") as caught:
        grid(ledger).fit(X, Y)
    assert len(caught) == 1
    assert len(ledger) == 7
    assert ledger.remaining.epsilon == 0


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_search_of_scikit_learn_warns_before_anything_is_booked(jobs, tmp_path):
    ledger = Ledger.open(tmp_path / "people.ledger", epsilon=20.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="search_cost"):
            grid(ledger, model_selection.GridSearchCV, n_jobs=jobs).fit(X, Y)
    assert len(ledger) == 0


def test_the_warning_of_a_search_comes_once_with_what_remains_in_a_pipeline_too():
    ledger = Ledger(epsilon=20.0)
    with pytest.warns(UserWarning, match=r"NaiveBayes is fitted by a search.*20\.0 remain.*search_cost") as caught:
        grid(ledger, model_selection.GridSearchCV).fit(X, Y)
    assert len(caught) == 1
    assert len(ledger) == 7
    pipeline = make_pipeline(FunctionTransformer(), bayes(ledger))
    with pytest.warns(UserWarning, match="is fitted by a search") as caught:
        model_selection.GridSearchCV(pipeline, {"naivebayes__epsilon": [0.25, 0.5]}, cv=2).fit(X, Y)
    assert len(caught) == 1


class Watcher:
    """Sees the releases of a fit, and changes nothing."""

    def released(self, _, noisy):
        return noisy


def test_what_is_no_search_does_not_warn_of_one():
    ledger = Ledger(epsilon=20.0)
    copied = clone(bayes(ledger)).fit(X, Y)
    cross_val_score(bayes(ledger), X, Y, cv=3)
    quietly(grid(None, model_selection.GridSearchCV))
    watched_fit(copied, X, Y, Watcher(), 1)
    search_cost(grid(ledger), X, Y)


@each_model
@WARNED
def test_the_cost_is_what_is_booked_for_every_model_candidate_and_number_of_folds(make):
    for options in ({"cv": 2}, {"cv": 3, "refit": False}, {"cv": LeaveOneGroupOut()}):
        ledger = Ledger(epsilon=1000.0, delta=0.1)
        search = GridSearchCV(make(ledger=ledger), {"epsilon": [10.0, 10.0]}, **options)
        groups = np.arange(60) % 4 if "LeaveOneGroupOut" in repr(options) else None
        cost = search_cost(search, X, Y, groups=groups)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of how good the model is
            search.fit(X, Y, groups=groups)
        assert cost.fits == len(ledger)
        assert cost.guarantee.epsilon == ledger.spent.epsilon
        assert cost.guarantee.delta == pytest.approx(ledger.spent.delta)
        (spend,) = {spend.line for spend in cost.spends}
        assert {(entry.guarantee, entry.label, entry.rho) for entry in ledger.entries} == {
            (spend.guarantee, spend.label, entry.rho if spend.rho is None else spend.rho) for entry in ledger.entries
        }


@WARNED
def test_the_refit_counts_as_the_dearest_candidate_and_is_never_dearer():
    ledger = Ledger(epsilon=100.0)
    search = GridSearchCV(bayes(ledger), {"epsilon": [0.5, 2.0, 1.0]}, cv=2)
    cost = search_cost(search, X, Y)
    assert cost.fits == 7
    assert cost.guarantee.epsilon == 2 * 3.5 + 2.0
    search.fit(X, Y)
    assert ledger.spent.epsilon <= cost.guarantee.epsilon


def test_a_ledger_in_rho_is_tried_with_the_rho_of_every_fit():
    def search(ledger):
        model = LinearRegression(bounds=(0, 1), target_bounds=(0, 1), ledger=ledger)
        return GridSearchCV(model, {"epsilon": [1.0, 2.0], "delta": [0.0, 1e-6]}, cv=2)

    rich = Ledger(rho=50.0)
    with pytest.warns(UserWarning, match="9 fits"):
        search(rich).fit(X, Y)
    poor = Ledger(rho=0.9 * (50.0 - rich.remaining_rho))
    with pytest.raises(BudgetError, match=r"ρ = 0\.0 of"):
        search(poor).fit(X, Y)
    assert len(poor) == 0


@WARNED
def test_models_in_a_pipeline_and_several_of_them_are_counted():
    ledger, other = Ledger(epsilon=100.0), Ledger(epsilon=2.0)
    centres = KMeans(2, epsilon=1.0, bounds=(0, 1), ledger=other)
    pipeline = make_pipeline(centres, NaiveBayes(0.5, bounds=(0, 2), classes=[0, 1], ledger=ledger))
    cost = search_cost(GridSearchCV(pipeline, {"naivebayes__epsilon": [0.5, 1.0]}, cv=2), X, Y)
    assert cost.fits == 5
    assert cost.guarantee.epsilon == 5 * 1.0 + 2 * 0.5 + 2 * 1.0 + 1.0
    with pytest.raises(BudgetError):
        cost.check()
    cost.check(Ledger(epsilon=9.0))


def test_a_step_that_the_grid_replaces_is_counted_with_its_own_cost():
    ledger = Ledger(epsilon=10.0)
    pipeline = make_pipeline(FunctionTransformer(), GaussianNB())
    search = GridSearchCV(pipeline, {"gaussiannb": [GaussianNB(), bayes(ledger), bayes(ledger, epsilon=2.0)]}, cv=2)
    assert search_cost(search, X, Y).guarantee.epsilon == 2 * 0.5 + 2 * 2.0 + 2.0


def test_a_cross_validation_and_a_search_within_one_are_counted():
    ledger = Ledger(epsilon=100.0)
    assert search_cost(bayes(ledger), X, Y).fits == 1
    cost = search_cost(bayes(ledger), X, Y, cv=5)
    cross_val_score(bayes(ledger), X, Y, cv=5)
    assert cost.fits == len(ledger) == 5
    nested = search_cost(grid(ledger), X, Y, cv=4)
    assert nested.fits == 28
    assert "4 folds of 2 candidates × 3 folds, and the refit" in str(nested)


@WARNED
@pytest.mark.parametrize("seed", [0, np.random.RandomState(5)], ids=["number", "generator"])
def test_a_random_search_is_counted_with_the_candidates_that_it_draws(seed):
    ledger = Ledger(epsilon=100.0)
    search = RandomizedSearchCV(
        bayes(ledger), {"epsilon": [0.5, 1.0, 2.0, 4.0]}, n_iter=2, cv=2, random_state=seed, refit=False
    )
    cost = search_cost(search, X, Y)
    search.fit(X, Y)
    assert cost.guarantee.epsilon == ledger.spent.epsilon
    with pytest.raises(ParameterError, match="random_state=0"):
        search_cost(search.set_params(random_state=None), X, Y)


def test_people_who_report_themselves_are_asked_once_a_fit():
    model = LocalNaiveBayes(1.0, bounds={"a": ["no", "yes"]}, classes=[0, 1])
    cost = search_cost(GridSearchCV(model, {"epsilon": [1.0]}, cv=2), {"a": ["no"]}, Y)
    assert (cost.fits, cost.guarantee.neighbours) == (3, "person")
    assert cost.guarantee.epsilon == pytest.approx(3.0, rel=1e-9)
    cost.check()  # it has no ledger


@pytest.mark.parametrize(
    ("search", "error", "message"),
    [
        (lambda: GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}), ParameterError, "no model of bruit"),
        (lambda: GridSearchCV(BaggingClassifier(bayes()), {"n_estimators": [3]}), ParameterTypeError, "How often Bagg"),
        (lambda: HalvingGridSearchCV(bayes(), {"epsilon": [1.0, 2.0]}), ParameterTypeError, "only while it runs"),
        (lambda: grid(None, cv=iter([])), ParameterError, "only once"),
        (
            lambda: GridSearchCV(make_pipeline(LocalPrivatizer(1.0, bounds=(0, 1)), GaussianNB()), {}),
            ParameterError,
            "Randomise the records once",
        ),
        (lambda: GridSearchCV(bayes(epsilon=None), {"method": ["joint"]}), ParameterError, "epsilon must be declared"),
    ],
)
def test_what_has_no_known_cost_is_refused_with_the_reason(search, error, message):
    with pytest.raises(error, match=message):
        search_cost(search(), X, Y)


def test_a_part_of_a_ledger_is_refused_and_books_nothing():
    ledger = Ledger(epsilon=10.0)
    with ledger.parallel("by region") as parts, pytest.raises(ParameterTypeError, match="not in a part"):
        grid(parts.part("north")).fit(X, Y)
    assert len(ledger) == 0


def test_a_cost_is_a_table_and_holds_no_value_of_the_data():
    secret = np.array(["<script>Vesoul"] * 30 + ["Paris"] * 30)
    model = NaiveBayes(0.5, bounds=(0, 1), classes=["<script>Vesoul", "Paris"])
    cost = search_cost(GridSearchCV(model, {"epsilon": [0.5, 1.0]}, cv=3), X + 12345.678, secret)
    shown = repr(cost) + str(cost) + cost._repr_html_() + cost.to_json()
    assert not any(word in shown for word in ("Vesoul", "Paris", "12345"))
    assert cost.to_frame("pandas")["fits"].tolist() == [3, 3, 1]
    with pytest.raises(DataError) as caught:
        search_cost(GridSearchCV(model, {}, cv=3), X, "Vesoul")
    assert "Vesoul" not in str(caught.value)
