"""What every model of bruit.learning keeps: its ledger, its noise, its silence, and scikit-learn's conventions."""

from __future__ import annotations

import math
import pickle
import traceback
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bruit import Entropy, Grid, Ledger, Schema, learning
from bruit.errors import BudgetError, DataError, LedgerError, ParameterError, ParameterTypeError, RandomnessError
from bruit.learning import (
    AdditiveClassifier,
    AdditiveRegressor,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
)
from bruit.learning._base import PrivateModel
from bruit.learning._sums import SumNoise

#: Whether clustering is worth its ε on these few rows is not what is tested here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:At this ε noise hides"),
    pytest.mark.filterwarnings("ignore:At this ε there are too few"),
]

N = 301
_GENERATOR = np.random.default_rng(20)
Y = (np.arange(N) % 3 == 0).astype(np.int64)
X = np.column_stack([_GENERATOR.uniform(0, 1, N) + Y, 10 * _GENERATOR.uniform(0, 1, N) ** 2])
BOUNDS = ([0, 0], [2, 10])
NAMES = ("near", "far")

SETTINGS = {
    NaiveBayes: {"classes": [0, 1]},
    LinearRegression: {"target_bounds": (0, 1)},
    KMeans: {"n_clusters": 2},
    AdditiveClassifier: {"classes": [0, 1]},
    LogisticRegression: {"classes": [0, 1]},
    AdditiveRegressor: {"target_bounds": (0, 1)},
}
MODELS = pytest.mark.parametrize("model", list(SETTINGS), ids=lambda model: model.__name__)
#: The only model without a target.
SUPERVISED = [model for model in SETTINGS if model is not KMeans]


def made(model: type[PrivateModel], **settings) -> PrivateModel:
    return model(**{"epsilon": 1.0, "bounds": BOUNDS} | SETTINGS[model] | settings)


def fit(model: PrivateModel, X=X, y=Y) -> PrivateModel:
    return model.fit(X, y) if model._supervised else model.fit(X)


def facts(value, path: str = "") -> dict[str, object]:
    """Every number and text within a fitted model, by the path to it."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str | bytes | int | float | Fraction | None | np.generic):
        return {path: value}
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list | tuple | set | frozenset):
        inner = enumerate(value)
    else:
        inner = getattr(value, "__dict__", {}).items()
    return {key: fact for name, item in inner for key, fact in facts(item, f"{path}/{name}").items()}


def learnt(model: PrivateModel) -> dict[str, object]:
    """What a fit left behind, the names of the columns aside."""
    names = ("feature_names_in_", "_features", "terms_", "shapes_", "importances_")
    kept = {name: value for name, value in vars(model).items() if name not in {*model.get_params(), *names}}
    return {path: fact for path, fact in facts(kept).items() if "/names/" not in path}


@pytest.fixture
def noises(monkeypatch):
    """The noise of every vector that is released, as the fits draw it."""
    drawn: list[np.ndarray] = []
    draw = SumNoise.draw

    def recorded(self, sums, entropy):
        noisy = draw(self, sums, entropy)
        if len(noisy) > 1:  # single numbers are the same by chance now and then
            drawn.append(noisy - np.asarray(sums))
        return noisy

    monkeypatch.setattr(SumNoise, "draw", recorded)
    return drawn


def all_different(noises) -> bool:
    return len({noise.tobytes() for noise in noises}) == len(noises)


# Ledgers and noise.


@MODELS
def test_a_clone_has_the_very_ledger(model):
    ledger = Ledger(epsilon=3.0)
    assert clone(made(model, ledger=ledger)).ledger is ledger


@pytest.mark.audit("secure-KMeans")
@MODELS
@pytest.mark.parametrize("seed", [None, 0], ids=["secure", "seeded"])
def test_five_folds_book_five_fits_and_no_two_have_the_same_noise(model, seed, noises):
    ledger = Ledger(epsilon=100.0)
    cross_val_score(made(model, ledger=ledger, random_state=seed), X, Y, cv=5)
    assert len(ledger) == 5
    assert ledger.spent.epsilon == pytest.approx(5.0)
    assert len(noises) >= 5
    assert all_different(noises)


def test_the_same_noise_twice_would_be_seen(noises):
    for _ in range(2):
        fit(made(LinearRegression, rng=3))
    assert not all_different(noises)


@MODELS
def test_a_search_books_every_fit(model):
    ledger = Ledger(epsilon=100.0)
    search = GridSearchCV(made(model, ledger=ledger), {"epsilon": [0.5, 2.0]}, cv=3)
    with pytest.warns(UserWarning, match="is fitted by a search"):
        search.fit(X, Y)
    assert len(ledger) == 7
    assert ledger.spent.epsilon == pytest.approx(3 * 2.5 + search.best_params_["epsilon"])


@pytest.mark.audit
def test_processes_that_share_a_ledger_in_a_file_book_all(tmp_path):
    ledger = Ledger.open(tmp_path / "people.ledger", epsilon=100.0)
    for model in SETTINGS:
        cross_val_score(made(model, ledger=ledger), X, Y, cv=4, n_jobs=2)
    assert len(ledger) == 4 * len(SETTINGS)
    # A search that fits its budget exactly, with the processes that are there already.
    exact = Ledger.open(tmp_path / "exact.ledger", epsilon=3.5)
    search = learning.GridSearchCV(made(NaiveBayes, ledger=exact), {"epsilon": [0.7, 0.7]}, cv=2, n_jobs=2)
    with pytest.warns(UserWarning, match="Every fit of this search is booked: 5 fits") as caught:
        search.fit(X, Y)
    assert len(caught) == 1
    assert len(exact) == 5
    assert exact.remaining.epsilon == 0


@MODELS
def test_a_ledger_in_memory_does_not_travel(model):
    fitted = fit(made(model, ledger=Ledger(epsilon=3.0)))
    with pytest.raises(LedgerError):
        pickle.dumps(fitted)


@MODELS
def test_a_refused_budget_leaves_no_model_and_draws_nothing(model, noises):
    ledger, stream = Ledger(epsilon=1.5), Entropy(4)
    refused = fit(made(model, ledger=ledger, rng=3)).set_params(rng=stream)
    noises.clear()
    with pytest.raises(BudgetError):
        fit(refused)
    assert not noises
    assert np.array_equal(stream.words(4), Entropy(4).words(4))
    assert len(ledger) == 1
    with pytest.raises(NotFittedError):
        refused.predict(X)


@MODELS
def test_a_spend_is_booked_before_its_noise_is_drawn(model, monkeypatch):
    ledger = Ledger(epsilon=1.5)

    def killed(self, sums, entropy):
        raise KeyboardInterrupt

    monkeypatch.setattr(SumNoise, "draw", killed)
    with pytest.raises(KeyboardInterrupt):
        fit(made(model, ledger=ledger))
    assert len(ledger) == 1


@MODELS
def test_the_guarantee_is_what_was_booked(model):
    for neighbours in ("add-remove", "replace"):
        ledger = Ledger(epsilon=2.0, neighbours=neighbours)
        fitted = fit(made(model, ledger=ledger, neighbours=neighbours))
        assert [entry.guarantee for entry in ledger.entries] == [fitted.guarantee_]
        assert fitted.guarantee_.neighbours == neighbours
        assert fitted.guarantee_.epsilon <= 1.0


@MODELS
def test_a_seed_is_told_by_the_model_and_its_two_names_are_one(model):
    assert not fit(made(model)).simulated_
    one, other = fit(made(model, rng=7)), fit(made(model, random_state=7))
    assert one.simulated_
    assert learnt(one) == learnt(other)
    assert learnt(one) != learnt(fit(made(model, rng=8)))
    fit(made(model, random_state=np.random.RandomState(3)))
    with pytest.raises(RandomnessError):
        fit(made(model, rng=1, random_state=1))


# What is refused, and when.


class Unreadable:
    """A source that raises when anybody reads it."""

    def read(self, *_):
        raise AssertionError("the data were read")

    def __iter__(self):
        raise AssertionError("the data were read")

    __len__ = __array__ = __getitem__ = read


@MODELS
@pytest.mark.parametrize(
    "settings",
    [
        {"bounds": None},
        {"bounds": (1, 0)},
        {"epsilon": 0},
        {"epsilon": "1"},
        {"neighbours": "person"},
        {"rng": "seed"},
        {"rng": 1, "random_state": 1},
        {"ledger": 5},
    ],
    ids=str,
)
def test_what_is_missing_or_wrong_in_the_declaration_is_refused_before_any_data_is_read(model, settings):
    with pytest.raises((ParameterError, ParameterTypeError, RandomnessError)):
        fit(made(model, **settings), Unreadable(), "label")


@MODELS
def test_sample_weights_are_refused_with_the_reason_before_any_data_is_read(model):
    arguments = (Unreadable(), "label") if model in SUPERVISED else (Unreadable(),)
    with pytest.raises(ParameterError, match="would multiply what it can change"):
        made(model).fit(*arguments, sample_weight=np.ones(N))
    with pytest.raises(TypeError, match="unexpected keyword"):
        made(model).fit(*arguments, weight=np.ones(N))


def _with(value) -> np.ndarray:
    table = X.astype(object)
    table[7, 1] = value
    return table


@MODELS
@pytest.mark.parametrize("value", [math.nan, math.inf, "Vesoul", 12345.678j], ids=str)
def test_errors_about_the_data_show_none_of_it_and_book_nothing(model, value, tmp_path):
    ledger = Ledger(epsilon=10.0)
    table = {"near": X[:, 0], "far": _with(value)[:, 1], "label": Y}
    sources = [(_with(value), Y)]
    if not isinstance(value, complex):
        pd.DataFrame(table).to_csv(tmp_path / "people.csv", index=False)
        sources += [(table, "label"), (str(tmp_path / "people.csv"), "label")]
    for source, target in sources:
        with pytest.raises((DataError, TypeError)) as caught:
            fit(made(model, ledger=ledger, bounds=_two(model, source)), source, target)
        shown = _shown(caught.value)
        assert not any(word in shown for word in ("Vesoul", "12345", str(X[3, 1]), str(X[7, 0])))
    assert len(ledger) == 0


def _two(model, source):
    """Bounds by name for a model that reads every column of a table, the label too."""
    if model in SUPERVISED or isinstance(source, np.ndarray):
        return BOUNDS
    return Schema({"near": Grid(0.0, 2.0), "far": Grid(0.0, 10.0)})


def _shown(error: BaseException) -> str:
    """What a reader sees of an error: its words and those behind it, without the lines of code."""
    return "".join(line for line in traceback.format_exception(error) if not line.startswith("  File"))


@pytest.mark.parametrize("model", SUPERVISED, ids=lambda model: model.__name__)
@pytest.mark.parametrize("label", ["Vesoul", math.nan, None], ids=str)
def test_errors_about_the_target_show_none_of_it(model, label):
    target = Y.astype(object)
    target[5] = label
    for source, y in ((X, target), ({"near": X[:, 0], "far": X[:, 1], "label": target}, "label")):
        with pytest.raises((DataError, TypeError)) as caught:
            fit(made(model), source, y)
        assert "Vesoul" not in _shown(caught.value)


@MODELS
def test_errors_of_predictions_show_no_value(model):
    fitted = fit(made(model))
    for bad in ([12345.678, 1.0], [["Vesoul", 1.0]], [[12345.678j, 1.0]], [[math.nan, 12345.678]]):
        with pytest.raises((DataError, TypeError)) as caught:
            fitted.predict(bad)
        assert not any(word in _shown(caught.value) for word in ("Vesoul", "12345"))


# What is kept.


def _constant(model, table, target) -> dict[str, object]:
    """What is the same in ten fits, whatever the noise was."""
    runs = [learnt(fit(model(), table, target)) for _ in range(10)]
    return {path: runs[0][path] for path in runs[0] if all(run.get(path) == runs[0][path] for run in runs)}


def _exposed(model) -> set[str]:
    """Where a model keeps something that the noise does not change and the data do."""
    few = np.flatnonzero((Y == 0) | (X[:, 0] > 1.5))[:150]
    first, second = _constant(model, X, Y), _constant(model, X[few], Y[few])
    return {path for path, value in first.items() if path in second and second[path] != value}


@MODELS
def test_what_noise_does_not_change_the_data_do_not_change_either(model):
    assert _exposed(lambda: made(model)) == set()


def test_a_model_that_keeps_how_many_rows_it_saw_is_found_out():
    class Careless(NaiveBayes):
        def fit(self, X, y=None, **unsupported):
            super().fit(X, y, **unsupported)
            self.n_samples_ = len(X)
            return self

    assert _exposed(lambda: Careless(1.0, bounds=BOUNDS, classes=[0, 1])) == {"/n_samples_"}


@MODELS
def test_a_fitted_model_travels_and_predicts_the_same(model, tmp_path):
    ledger = Ledger.open(tmp_path / "people.ledger", epsilon=3.0)
    fitted = fit(made(model, ledger=ledger))
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict(X), fitted.predict(X))
    assert copy.guarantee_ == fitted.guarantee_
    assert copy.ledger.path == ledger.path


@MODELS
def test_pipelines_and_feature_names_are_as_scikit_learn_has_them(model):
    frame = pd.DataFrame(X, columns=NAMES)
    fitted = fit(made(model), frame)
    assert fitted.feature_names_in_.tolist() == list(NAMES)
    assert fitted.n_features_in_ == 2
    with pytest.raises(DataError, match="feature names should match"):
        fitted.predict(frame[["far", "near"]])
    assert len(make_pipeline(FunctionTransformer(), made(model)).fit(X, Y).predict(X)) == N


@MODELS
def test_columns_that_a_schema_declares_are_found_by_name_in_fit_and_in_predictions(model):
    schema = Schema({"near": Grid(0.0, 2.0), "far": Grid(0.0, 10.0)})
    frame = pd.DataFrame(X, columns=NAMES)
    straight = fit(made(model, bounds=schema, rng=1), frame)
    turned = fit(made(model, bounds=schema, rng=1), frame[["far", "near"]])
    assert np.array_equal(straight.predict(frame), turned.predict(frame[["far", "near"]]))
    array = fit(made(model, bounds=schema, rng=1), X)
    assert np.array_equal(straight.predict(frame), array.predict(X))


@MODELS
@pytest.mark.parametrize("order", [("near", "far"), ("far", "near")], ids=", ".join)
def test_a_schema_decides_which_columns_there_are_and_in_which_order(model, order, tmp_path):
    grids = {"near": Grid(0.0, 2.0), "far": Grid(0.0, 10.0)}
    schema = Schema({name: grids[name] for name in order})
    frame = pd.DataFrame(X, columns=NAMES).assign(other=7.0)
    table = frame.assign(label=Y)
    table.to_csv(tmp_path / "people.csv", index=False)
    supervised = model in SUPERVISED
    label = "label" if supervised else None
    sources = [
        (frame, Y),
        (pl.DataFrame({name: frame[name].to_numpy() for name in frame}), Y),
        (frame[list(order)].to_numpy(), Y),
        ({name: table[name].to_numpy() for name in table}, label),
        (str(tmp_path / "people.csv"), label),
    ]
    rows = frame[list(order)].to_numpy()
    wanted = None
    for source, y in sources:
        fitted = fit(made(model, bounds=schema, rng=1), source, y)
        assert fitted.feature_names_in_.tolist() == list(order)
        assert fitted.n_features_in_ == 2
        wanted = fitted.predict(rows) if wanted is None else wanted
        for asked in (frame, frame[["far", "other", "near"]], frame[list(order)], rows, dict(frame)):
            assert np.array_equal(fitted.predict(asked), wanted)


@pytest.mark.usefixtures("any_epsilon")
def test_coefficients_means_and_centres_stand_in_the_order_of_the_names():
    schema = Schema({"b": Grid(0, 1), "a": Grid(0, 1)})
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 4000), "b": np.full(4000, 0.3)})
    line = LinearRegression(50.0, bounds=schema, target_bounds=(0, 1), rng=1).fit(frame, frame["a"])
    slopes = dict(zip(line.feature_names_in_, line.coef_, strict=True))
    assert slopes["a"] > 0.9
    assert np.allclose(line.predict(frame[["b", "a"]].to_numpy()), frame["a"], atol=0.1)
    classes = NaiveBayes(50.0, bounds=schema, classes=[0, 1], rng=1).fit(frame, frame["a"] > 0.5)
    means = dict(zip(classes.feature_names_in_, classes.theta_.T, strict=True))
    assert np.allclose(means["b"], 0.3, atol=0.05)
    assert means["a"][1] - means["a"][0] > 0.4
    centres = KMeans(2, epsilon=50.0, bounds=schema, rng=1).fit(frame)
    assert np.allclose(
        dict(zip(centres.feature_names_in_, centres.cluster_centers_.T, strict=True))["b"], 0.3, atol=0.1
    )


def test_one_declared_column_of_a_frame_of_two_is_one_feature():
    frame = pd.DataFrame(X, columns=NAMES)
    model = LinearRegression(epsilon=1.0, bounds=Schema({"far": Grid(0.0, 10.0)}), target_bounds=(0, 1)).fit(frame, Y)
    assert model.n_features_in_ == 1 == model.coef_.size
    assert model.predict(frame).shape == (N,)
    with pytest.raises(DataError, match="2 features, but 1"):
        model.predict(X)


@MODELS
def test_data_of_no_or_one_dimension_are_refused_and_not_shown(model):
    schema = Schema({"near": Grid(0.0, 2.0), "far": Grid(0.0, 10.0)})
    fitted = fit(made(model, bounds=schema))
    for bad in (
        np.array(12345.678),
        np.array([12345.678, 1.0]),
        [12345.678, 1.0],
        np.zeros((2, 2, 2)),
        [[12345.678], [1, 2]],
    ):
        for call in (lambda bad=bad: fit(made(model, bounds=schema), bad), lambda bad=bad: fitted.predict(bad)):
            with pytest.raises(DataError, match="2D array") as caught:
                call()
            assert "12345" not in _shown(caught.value)


@pytest.mark.parametrize("model", SUPERVISED, ids=lambda model: model.__name__)
@pytest.mark.parametrize("bounds", [(0, 1), {"near": Grid(0.0, 2.0), "far": Grid(0.0, 10.0)}], ids=["pair", "schema"])
def test_a_target_that_is_missing_or_a_single_value_is_refused_and_not_shown(model, bounds):
    for y in (None, np.array(12345.678)):
        with pytest.raises((DataError, TypeError)) as caught:
            made(model, bounds=bounds).fit(X, y)
        assert "12345" not in _shown(caught.value)


@pytest.mark.parametrize("model", SUPERVISED, ids=lambda model: model.__name__)
def test_a_table_with_nothing_but_the_target_is_refused(model):
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(DataError, match="must have a column"):
        made(model, bounds=(0, 1), ledger=ledger).fit({"label": Y}, "label")
    assert len(ledger) == 0


@MODELS
def test_a_table_without_records_is_fitted_as_any_other_whatever_it_comes_as(model, tmp_path):
    label = "label" if model in SUPERVISED else None
    schema = Schema({"near": Grid(0.0, 2.0), "far": Grid(0.0, 10.0)})
    nobody = pd.DataFrame(X[:0], columns=NAMES)
    full = nobody.assign(label=Y[:0]) if label else nobody
    full.to_csv(tmp_path / "nobody.csv", index=False)
    full.to_parquet(tmp_path / "nobody.parquet")
    mapping = {name: full[name].to_numpy() for name in full}
    sources = [(X[:0], Y[:0]), (nobody, Y[:0]), (mapping, label), ([mapping], label)]
    sources += [(str(tmp_path / "nobody.csv"), label), (tmp_path / "nobody.parquet", label)]
    found = [
        learnt(fit(made(model, rng=4, bounds=bounds), *source)) for source in sources for bounds in (BOUNDS, schema)
    ]
    # The schema's model has the same sums and the same noise.
    assert all(each == found[0] for each in found)
    with pytest.raises(DataError, match=r"0 feature\(s\)"):
        fit(made(model, bounds=(0, 1)), np.empty((5, 0)), Y[:5])


@pytest.mark.usefixtures("any_epsilon")
@MODELS
@pytest.mark.parametrize("epsilon", [710.0, 800.0, 2000.0, 1e4, 1e6])
def test_a_huge_epsilon_is_fitted_after_it_is_booked(model, epsilon):
    ledger = Ledger(epsilon=epsilon)
    fitted = fit(made(model, epsilon=epsilon, bounds=(0, 10), ledger=ledger), X[:, :1])
    assert len(ledger) == 1
    assert np.isfinite(fitted.predict(X[:, :1])).all()


@MODELS
def test_bounds_too_near_to_be_told_apart_are_refused_before_any_data_is_read(model):
    with pytest.raises(ParameterError, match="too near"):
        fit(made(model, bounds=(0, 5e-324)), Unreadable(), "label")


# The same from anywhere.


@MODELS
def test_a_seed_gives_the_same_model_from_arrays_frames_mappings_files_and_batches(model, tmp_path):
    columns = {"near": X[:, 0], "far": X[:, 1]}
    supervised = model in SUPERVISED
    table = columns | ({"label": Y} if supervised else {})
    frame = pd.DataFrame(table)
    frame.to_parquet(tmp_path / "people.parquet")
    frame.to_csv(tmp_path / "people.csv", index=False)
    batches = [{name: column[start : start + 100] for name, column in table.items()} for start in range(0, N, 100)]
    label = "label" if supervised else None
    sources = [
        (X, Y),
        (X.tolist(), Y.tolist()),
        (pd.DataFrame(columns), pd.Series(Y)),
        (pl.DataFrame(columns), Y),
        (columns, Y if supervised else None),
        (table, label),
        (tmp_path / "people.parquet", label),
        (str(tmp_path / "people.csv"), label),
        (batches, label),
    ]
    if supervised:
        sources += [(frame, "label"), (pl.DataFrame(table), "label")]
    if model in {NaiveBayes, LinearRegression}:  # others read their data several times
        sources += [(iter(batches), "label")]
    found = [learnt(fit(made(model, rng=11), *source)) for source in sources]
    assert all(each == found[0] for each in found)
    named = Schema({"near": Grid(0.0, 2.0), "far": Grid(0.0, 10.0)})
    assert learnt(fit(made(model, rng=11, bounds=named), table, label)) == found[0]


@MODELS
def test_noise_does_not_depend_on_how_the_rows_are_ordered(model):
    backwards = fit(made(model, rng=2), X[::-1], Y[::-1])
    assert learnt(backwards) == learnt(fit(made(model, rng=2)))


def test_the_target_must_not_be_declared_as_a_feature():
    schema = Schema({"age": Grid(18, 90), "ill": ["no", "yes"]})
    table = {"age": [30, 60], "ill": ["no", "yes"]}
    with pytest.raises(ParameterError, match="'ill' is the target"):
        NaiveBayes(1.0, bounds=schema, classes=["no", "yes"]).fit(table, "ill")
