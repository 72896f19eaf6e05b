"""Scores with noise: what one record changes, what a model may say, intervals that cover, booking and silence."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics as exact
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression as PlainRegression
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from bruit import Entropy, Ledger
from bruit.errors import BudgetError, DataError, ParameterError, ParameterTypeError
from bruit.learning import LinearRegression, NaiveBayes, Scores, private_score
from bruit.learning._sums import SumNoise
from bruit.learning.scores.estimates import NoisySums
from bruit.learning.scores.intervals import half_width
from bruit.learning.scores.predictions import ClassView, NumberView, Predictions, _parts, outcomes
from bruit.learning.scores.request import ScoreRequest
from bruit.learning.scores.sums import (
    ANSWERS,
    CELLS,
    EDGES,
    ERRORS,
    LOSSES,
    RANKS,
    SIZE,
    STEPS,
    TARGETS,
    ScoreSums,
    cell_of,
)
from bruit.releases import PeopleWarning
from bruit.testing import check_after_booking, check_canary

_GENERATOR = np.random.default_rng(11)
X = _GENERATOR.normal(size=(3000, 2))
Y = (X[:, 0] + _GENERATOR.normal(size=3000) > 0.5).astype(int)
NUMBER = X @ [1.0, -0.5] + 0.5 * _GENERATOR.normal(size=3000)
MODEL = PlainLogistic().fit(X[:500], Y[:500])
LINE = PlainRegression().fit(X[:500], NUMBER[:500])
ALL = frozenset({"accuracy", "log_loss", "auroc", "calibration"})
VIEW = ClassView(np.array([0, 1]), "predict_proba", 1, ALL)
METRICS = [{"accuracy"}, {"auroc"}, {"accuracy", "log_loss"}, ALL]


def one_record(view, value, target, label=0):
    """The whole numbers of one record that a model says this of."""
    values = np.array([[1 - value, value]]) if isinstance(view, ClassView) else np.array([[value]])
    return view.integers(Predictions(values, np.array([label]), 0.0), np.array([target]))


# What one record changes


def class_vectors(sums: ScoreSums, view: ClassView):
    """The sums of every kind of record: both classes, both answers, losses and cells at their ends and between."""
    chances = [0.0, 0.3, 0.5, 1.0]
    return [sums.count(one_record(view, *kind)) for kind in product(chances, (0, 1), (0, 1))]


def number_vectors(sums: ScoreSums):
    """The sums of records with targets and predictions on a grid that has the worst pair."""
    view, grid = NumberView(-1.0, 1.0), np.linspace(-1, 1, 5)
    return [sums.count(one_record(view, guess, target)) for guess, target in product([-1.0, 0.25, 1.0], grid)]


def losses(noise: SumNoise, vectors, neighbours):
    empty = np.zeros_like(vectors[0])
    pairs = [(empty, other) for other in vectors] if neighbours == "add-remove" else product(vectors, vectors)
    return [noise.loss_between(*pair) for pair in pairs]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("metrics", METRICS, ids=lambda names: "+".join(sorted(names)))
def test_no_record_of_a_classifier_changes_more_than_epsilon_and_some_do_as_much(metrics, delta, neighbours):
    view = ClassView(np.array([0, 1]), "predict_proba", 1, frozenset(metrics))
    sums = view.sums(neighbours)
    noise = sums.noise(1.0, delta, neighbours, 1)
    most = max(losses(noise, class_vectors(sums, view), neighbours))
    allowed = Fraction(noise.rho) if delta else Fraction(1)
    assert allowed * Fraction(98, 100) < most <= allowed


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_no_record_of_a_regression_changes_more_than_epsilon_and_some_do_as_much(delta, neighbours):
    sums = ScoreSums.of_numbers(neighbours)
    noise = sums.noise(1.0, delta, neighbours, 1)
    most = max(losses(noise, number_vectors(sums), neighbours))
    allowed = Fraction(noise.rho) if delta else Fraction(1)
    assert allowed * Fraction(98, 100) < most <= allowed


def test_two_targets_differ_most_from_one_bound_to_half_of_the_other():
    steps = np.arange(-STEPS, STEPS + 1)
    change = np.abs(steps + STEPS) * (STEPS + np.abs(steps - STEPS))  # against −S, in units of S²
    assert Fraction(int(change.max()), STEPS**2) == TARGETS.norm[1] == Fraction(9, 4)
    assert steps[change.argmax()] == STEPS // 2
    coarse = np.linspace(-1, 1, 201)
    first, second = np.meshgrid(coarse, coarse)
    assert (np.abs(first - second) + np.abs(first**2 - second**2)).max() <= 2.25 + 1e-12
    assert ((first - second) ** 2 + (first**2 - second**2) ** 2).max() <= 4 + 1e-12


#: Norms with a defect: a factor forgotten, a part forgotten, a square forgotten.
DEFECTS = {
    "replace without 2": ("replace", 0.0, lambda sums: sums.sensitivity("add-remove", gaussian=False)),
    "replace without 2, squared": ("replace", 1e-6, lambda sums: sums.sensitivity("add-remove", gaussian=True)),
    "the table forgotten": ("add-remove", 0.0, lambda sums: sums.sensitivity("add-remove", gaussian=False) - 1),
    "the losses forgotten": (
        "add-remove",
        0.0,
        lambda sums: sums.sensitivity("add-remove", gaussian=False) - LOSSES.norm[0],
    ),
    "right and wrong forgotten": (
        "replace",
        0.0,
        lambda sums: sums.sensitivity("replace", gaussian=False) - ANSWERS.norm[1],
    ),
    "L2 in place of L1": ("add-remove", 0.0, lambda sums: sums.sensitivity("add-remove", gaussian=True)),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_norm_is_caught_by_the_enumeration(name):
    neighbours, delta, planted = DEFECTS[name]
    sums = VIEW.sums(neighbours)
    noise = SumNoise(sums.units, planted(sums), 1.0, delta)
    allowed = Fraction(noise.rho) if delta else Fraction(1)
    assert max(losses(noise, class_vectors(sums, VIEW), neighbours)) > allowed


@pytest.mark.parametrize("part", [SIZE, TARGETS, ERRORS], ids=lambda part: part.name)
def test_a_part_of_a_regression_that_is_forgotten_is_caught(part):
    sums = ScoreSums.of_numbers("add-remove")
    planted = sums.sensitivity("add-remove", gaussian=False) - part.norm[0]
    assert max(losses(SumNoise(sums.units, planted, 1.0), number_vectors(sums), "add-remove")) > 1


def test_a_person_with_several_rows_has_as_many_times_the_noise():
    request = ScoreRequest(epsilon=1.0, person="user", rows=3, neighbours="replace")
    sums = VIEW.sums(request.row_neighbours)
    noise = sums.noise(1.0, 0.0, request.row_neighbours, request.times)
    vectors = class_vectors(sums, VIEW)
    worst = max(vectors, key=lambda vector: noise.loss_between(np.zeros_like(vector), vector))
    other = max(vectors, key=lambda vector: noise.loss_between(worst, vector))
    assert Fraction(9, 10) < noise.loss_between(3 * worst, 3 * other) <= 1
    forgotten = sums.noise(1.0, 0.0, request.row_neighbours, 1)
    assert forgotten.loss_between(3 * worst, 3 * other) > 1


# The exact figures that noisy sums estimate


def noiseless(view, rows, size=None):
    sums = view.sums("add-remove")
    vector = sums.count(rows)
    zeros = np.zeros(len(sums.units))
    return {score.name: score for score in view.scores(NoisySums(sums.split(vector), sums.split(zeros), size, False))}


def test_without_noise_the_scores_are_those_of_scikit_learn():
    chances, labels = MODEL.predict_proba(X), MODEL.predict(X)
    scores = noiseless(VIEW, VIEW.integers(Predictions(chances, labels, 0.0), Y))
    assert scores["accuracy"].value == exact.accuracy_score(Y, labels)
    assert scores["log loss"].value == pytest.approx(exact.log_loss(Y, np.clip(chances, 0.01, 0.99)), abs=1e-4)
    assert scores["AUROC"].value == pytest.approx(exact.roc_auc_score(Y, chances[:, 1]), abs=5e-4)
    assert scores["Brier score"].value == pytest.approx(exact.brier_score_loss(Y, chances[:, 1]), abs=5e-4)
    assert scores["stated − observed"].value == pytest.approx(chances[:, 1].mean() - Y.mean(), abs=5e-4)


def test_without_noise_r2_is_that_of_scikit_learn():
    view = NumberView(-8.0, 8.0)
    guesses = LINE.predict(X)
    rows = view.integers(Predictions(guesses[:, None] / 8, np.zeros(len(X), int), 0.0), view.targets(NUMBER))
    scores = noiseless(view, rows)
    assert scores["R²"].value == pytest.approx(exact.r2_score(NUMBER, guesses), abs=2e-3)
    assert scores["RMSE"].value == pytest.approx(exact.root_mean_squared_error(NUMBER, guesses), abs=2e-2)


def test_the_error_of_auroc_is_that_of_the_formula():
    """Var = σ²[Σ(A_b − A)²/N₁² + Σ(B_b − A)²/N₀²], by a plain loop."""
    draw = np.random.default_rng(2)
    counts = draw.integers(5, 300, (2, CELLS)).astype(float)
    sums = NoisySums({"ranks": counts.ravel()}, {"ranks": np.full(2 * CELLS, 3.0)}, None, False)
    zero, one = counts.sum(axis=1)
    below = [(counts[0, :cell].sum() + counts[0, cell] / 2) / zero for cell in range(CELLS)]
    above = [(counts[1, cell + 1 :].sum() + counts[1, cell] / 2) / one for cell in range(CELLS)]
    value = sum(counts[1, cell] * below[cell] for cell in range(CELLS)) / one
    spread = sum((part - value) ** 2 for part in below) / one**2 + sum((part - value) ** 2 for part in above) / zero**2
    assert sums.auroc().value == pytest.approx(value)
    assert sums.auroc().error == pytest.approx(3 * math.sqrt(spread))


def test_cells_are_narrow_at_the_ends_and_every_probability_has_one():
    assert cell_of(np.array([0.0, 1.0, -0.1, 1.1])).tolist() == [0, CELLS - 1, 0, CELLS - 1]
    inside = (EDGES[1:] + EDGES[:-1]) / 2
    assert cell_of(inside).tolist() == list(range(CELLS))
    assert np.diff(EDGES)[0] < 0.002 < 0.03 < np.diff(EDGES).max() < 0.04


@pytest.mark.audit
@pytest.mark.parametrize(("shift", "most"), [(0.0, 4e-4), (2.0, 8e-4), (3.5, 2.5e-3)])
def test_cells_cost_little_of_an_auroc_and_equal_ones_much_where_a_class_is_rare(shift, most):
    """The table of the proof note, without noise."""
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(203_000, 3))
    target = (1.5 * rows[:, 0] + draw.normal(size=len(rows)) > shift).astype(int)
    chance = PlainLogistic().fit(rows[:3000], target[:3000]).predict_proba(rows[3000:])[:, 1]
    target = target[3000:]
    errors = []
    for cells in (cell_of(chance), np.minimum(chance * 64, 63).astype(int)):
        ranked = exact.roc_auc_score(target, cells)
        errors.append(ranked - exact.roc_auc_score(target, chance))
    assert -most < errors[0] < 0
    assert (errors[1] < -0.01) == (shift == 3.5), "the control"


# Intervals


def test_half_widths_are_quantiles_of_the_sum_of_the_noises():
    assert half_width(np.array([2.0]), 0.0, 0.99, gaussian=True) == pytest.approx(2 * 2.5758, rel=1e-4)
    assert half_width(np.array([3.0, 4.0]), 144.0, 0.95, gaussian=True) == pytest.approx(13 * 1.95996, rel=1e-4)
    # One Laplace law of standard deviation 1: P(|x| > h) = exp(−√2·h).
    assert half_width(np.array([1.0]), 0.0, 0.99, gaussian=False) == pytest.approx(
        math.log(100) / math.sqrt(2), rel=2e-3
    )
    draw = np.random.default_rng(4)
    mixed = draw.laplace(0, [1.0, 0.3], (400_000, 2)).sum(axis=1) + draw.normal(0, 0.5, 400_000)
    width = half_width(np.array([1.0, 0.3]) * math.sqrt(2), 0.25, 0.95, gaussian=False)
    assert np.mean(np.abs(mixed) <= width) == pytest.approx(0.95, abs=6 * math.sqrt(0.95 * 0.05 / 400_000))
    assert half_width(np.zeros(2), 0.0, 0.95, gaussian=False) == 0


def coverage(trials, size, settings, seed, factor=1.0):
    """How often the intervals of both kinds hold the scores of the rows, and of all rows they are drawn from.

    `factor` is by how much the intervals are made narrower: a control.
    """
    request = ScoreRequest(**settings)
    regression = "target_bounds" in settings
    view = request.view(LINE if regression else MODEL)
    sums = view.sums(request.row_neighbours)
    draw = np.random.default_rng(seed)
    answers = Predictions(LINE.predict(X)[:, None] / 8, np.zeros(len(X), int), 0.0) if regression else Predictions(
        MODEL.predict_proba(X), MODEL.predict(X), 0.0
    )  # fmt: skip
    rows = view.integers(answers, view.targets(NUMBER if regression else Y))
    truth = noiseless(view, rows)
    covered = {name: np.zeros(2) for name in truth}
    for _ in range(trials):
        places = draw.integers(0, len(X), size)
        taken = {name: numbers[places] for name, numbers in rows.items()}
        here = noiseless(view, taken)
        scores = request.release(view, sums.count(taken), size, None, int(draw.integers(1 << 60)))
        for score in scores.scores:
            for kind, right in enumerate((here, truth)):
                low, high = score.interval(0.95, sampled=kind == 1)
                middle, half = (low + high) / 2, (high - low) / 2 * factor
                covered[score.name][kind] += abs(right[score.name].value - middle) <= half
    return {name: counts / trials for name, counts in covered.items()}


SETTINGS = [
    {"epsilon": 0.5},
    {"epsilon": 1.0, "delta": 1e-6},
    {"epsilon": 1.0, "neighbours": "replace"},
    {"epsilon": 1.0, "target_bounds": (-8, 8)},
    {"epsilon": 1.0, "target_bounds": (-8, 8), "neighbours": "replace"},
]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_intervals_cover_the_score_of_the_rows_and_of_the_population(settings):
    """300 trials at 95 %: below .88 with chance under 10⁻⁶; controls of half the width cover .67 to .7."""
    for name, shares in coverage(300, 4000, settings, 7).items():
        assert (shares >= 0.88).all(), name
    narrow = coverage(300, 4000, settings, 7, factor=0.5)
    assert all((shares < 0.88).all() for shares in narrow.values())


@pytest.mark.audit
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_intervals_do_not_cover_far_too_much(settings):
    shares = np.array(list(coverage(1000, 4000, settings, 9).values()))
    assert (shares >= 0.915).all()  # five standard deviations below .95
    assert (shares <= 0.985).all()


def test_the_noise_at_half_an_epsilon_and_ten_thousand_records_is_as_stated():
    draw = np.random.default_rng(3)
    places = draw.integers(0, len(X), 10_000)
    stated = {"auroc": {"AUROC": 0.0025}, None: {"AUROC": 0.004, "accuracy": 0.002, "log loss": 0.008}}
    for metrics, most in stated.items():
        scores = private_score(MODEL, X[places], Y[places], epsilon=0.5, metrics=metrics, rng=3)
        for name, error in most.items():
            assert error / 2 < next(score.error for score in scores.scores if score.name == name) < error
    line = private_score(LINE, X[places], NUMBER[places], epsilon=0.5, target_bounds=(-5, 5), rng=3)
    assert 0.01 < line.scores[0].error < 0.03


def test_too_few_records_for_the_noise_have_the_widest_interval_and_a_note():
    scores = private_score(MODEL, X[:20], Y[:20], epsilon=0.1, rng=3)
    assert scores.interval("AUROC") == (0.0, 1.0)
    assert "too few records" in repr(scores)
    line = private_score(LINE, X[:20], NUMBER[:20], epsilon=0.1, target_bounds=(-5, 5), rng=1)
    assert line.interval("R²") == (-math.inf, 1.0)
    assert "−∞" in repr(line)


# Models of every kind


class Hard(BaseEstimator):
    """Labels, and nothing else."""

    def predict(self, rows):
        return np.asarray(rows)[:, 0] > 0.5


MODELS = {
    "logistic": (MODEL, 5),
    "pipeline": (make_pipeline(StandardScaler(), GaussianNB()), 5),
    "forest": (RandomForestClassifier(10, random_state=0), 5),
    "neighbours": (KNeighborsClassifier(4), 5),
    "calibrated": (CalibratedClassifierCV(LinearSVC(), cv=2), 5),
    "decision": (LinearSVC(), 2),
    "private": (NaiveBayes(2.0, bounds=(-3, 3), classes=[0, 1], random_state=0), 5),
}


@pytest.mark.parametrize("name", MODELS)
def test_any_classifier_has_the_scores_that_it_can_give(name):
    model, many = MODELS[name]
    model.fit(X[:300], Y[:300])
    scores = private_score(model, X[300:], Y[300:], epsilon=5.0, rng=1)
    assert len(scores.names) == many
    low, high = scores.interval("accuracy", 1 - 1e-7, about="rows")
    assert low <= exact.accuracy_score(Y[300:], model.predict(X[300:])) <= high
    stated = hasattr(model, "predict_proba")
    ranked = model.predict_proba(X[300:])[:, 1] if stated else model.decision_function(X[300:])
    assert scores["AUROC"] == pytest.approx(exact.roc_auc_score(Y[300:], ranked), abs=0.02)


def test_labels_alone_give_an_accuracy():
    scores = private_score(Hard(), X, Y == 1, epsilon=5.0, classes=[False, True], rng=1)
    assert scores.names == ("accuracy",)
    with pytest.raises(ParameterError, match="no table of ranks"):
        scores.roc()
    with pytest.raises(ParameterError, match="no table of ranks"):
        scores.plot()


def test_the_other_class_may_be_the_positive_one_and_of_many_one_is_named():
    other = private_score(MODEL, X, Y, epsilon=5.0, positive=0, rng=1)
    assert other["AUROC"] == pytest.approx(private_score(MODEL, X, Y, epsilon=5.0, rng=1)["AUROC"], abs=0.02)
    svc = LinearSVC().fit(X, Y)
    assert private_score(svc, X, Y, epsilon=5.0, positive=0, rng=1)["AUROC"] > 0.7
    names = np.array(["a", "b", "c"])[Y + (X[:, 1] > 1)]
    three = PlainLogistic().fit(X, names)
    assert private_score(three, X, names, epsilon=5.0, rng=1).names == ("accuracy", "log loss")
    named = private_score(three, X, names, epsilon=5.0, positive="c", rng=1)
    assert named["AUROC"] == pytest.approx(exact.roc_auc_score(names == "c", three.predict_proba(X)[:, 2]), abs=0.03)


def test_a_class_that_the_model_does_not_know_has_no_probability_and_is_never_right():
    late = np.where(X[:, 1] > 1.5, 2, Y)
    scores = private_score(MODEL, X, late, epsilon=5.0, classes=[0, 1, 2], rng=1)
    assert scores["accuracy"] == pytest.approx(exact.accuracy_score(late, MODEL.predict(X)), abs=0.02)


def test_frames_files_mappings_and_batches_give_the_same_scores(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})
    frame.to_parquet(tmp_path / "people.parquet")
    frame.to_csv(tmp_path / "people.csv", index=False)
    columns = {name: frame[name].to_numpy() for name in frame}
    sources = [
        (X, Y), (frame[["a", "b"]].to_numpy().tolist(), Y.tolist()), (columns, "y"), (frame, "y"),
        (pl.from_pandas(frame), "y"), (tmp_path / "people.parquet", "y"), (str(tmp_path / "people.csv"), "y"),
        ([{name: column[:1000] for name, column in columns.items()},
          {name: column[1000:] for name, column in columns.items()}], "y"),
        ({"a": X[:, 0], "b": X[:, 1]}, Y),
    ]  # fmt: skip
    values = {json.dumps(private_score(MODEL, *source, epsilon=1.0, rng=4).to_dict()) for source in sources}
    assert len(values) == 1
    named = PlainLogistic().fit(frame[["b", "a"]], Y)
    for source in ((frame[["b", "a"]], Y), (frame, "y"), (tmp_path / "people.csv", "y")):
        assert private_score(named, *source, epsilon=9.0, rng=4)["accuracy"] > 0.7
    with pytest.raises(DataError, match="'b'"):
        private_score(named, {"a": X[:, 0], "y": Y}, "y", epsilon=1.0)
    with pytest.raises(DataError, match="'z'"):
        private_score(named, frame, "z", epsilon=1.0)


def test_private_models_are_read_by_the_names_that_they_declare():
    table = {"age": 10 * X[:, 0] + 40, "smokes": np.where(X[:, 1] > 0, "yes", "no"), "ill": Y}
    declared = {"age": (0, 100), "smokes": ["no", "yes"]}
    model = NaiveBayes(5.0, bounds=declared, classes=[0, 1], random_state=1).fit(table, "ill")
    assert private_score(model, table, "ill", epsilon=5.0, rng=1)["accuracy"] > 0.6
    line = LinearRegression(5.0, bounds={"age": (0, 100)}, target_bounds=(-5, 5), random_state=1)
    line.fit({"age": table["age"], "y": NUMBER}, "y")
    scores = private_score(line, {"age": table["age"], "y": NUMBER}, "y", epsilon=5.0, target_bounds=(-5, 5), rng=1)
    assert scores["R²"] == pytest.approx(exact.r2_score(NUMBER, line.predict({"age": table["age"]})), abs=0.05)


def test_people_with_several_rows_count_with_as_many_as_declared():
    table = {"user": np.arange(len(X)) // 3, "a": X[:, 0], "b": X[:, 1], "y": Y}
    with pytest.warns(PeopleWarning):
        private_score(PlainLogistic().fit(np.column_stack([table["user"], X]), Y), table, "y", epsilon=1.0)
    scores = private_score(MODEL, table, "y", epsilon=5.0, person="user", rows=2, rng=1)
    assert str(scores.guarantee) == "ε = 5 (central, one person added or removed with all their rows)"
    assert "at most 2 rows" in repr(scores)
    assert scores["accuracy"] == pytest.approx(exact.accuracy_score(Y, MODEL.predict(X)), abs=0.05)
    with pytest.raises(ParameterError, match="Name the target"):
        private_score(MODEL, X, Y, epsilon=1.0, person="user", rows=2)


# Models that are hostile or wrong


class Odd(ClassifierMixin, BaseEstimator):
    """Says of the first record what a test wants it to say, if that record is there."""

    classes_ = np.array([0, 1])

    def __init__(self, odd=None):
        self.odd = odd

    def predict(self, rows):
        return self.predict_proba(rows).argmax(axis=1)

    def predict_proba(self, rows):
        rows = np.asarray(rows)
        return self.odd(rows) if self.odd else np.column_stack([1 - (rows[:, 0] > 0), rows[:, 0] > 0]).astype(float)


def raising(rows):
    raise RuntimeError(f"cannot take {rows[0, 0]}")


ODD = {
    "NaN": lambda rows: np.where(rows > 0, np.nan, 0.5),
    "infinity": lambda rows: np.full(rows.shape, np.inf),
    "texts": lambda rows: np.full(rows.shape, "maybe"),
    "one column": lambda rows: np.full((len(rows), 1), 0.5),
    "fewer rows": lambda rows: np.full((len(rows) - 1, 2), 0.5),
    "nothing": lambda rows: None,
    "an error": raising,
    "the batch": lambda rows: np.full(rows.shape, 0.5 + len(rows) % 7 / 100),
    "the mean of the batch": lambda rows: 0.5 + 0.01 * (rows - rows.mean(axis=0)),
}


@pytest.mark.parametrize("name", ODD)
def test_a_model_that_breaks_the_rules_is_refused_before_anything_is_booked(name):
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(DataError, match="Nothing was booked") as caught:
        private_score(Odd(ODD[name]), X, Y, epsilon=1.0, metrics=["auroc", "log_loss"], ledger=ledger)
    assert len(ledger) == 0
    assert caught.value.__context__ is None
    assert str(X[0, 0])[:6] not in str(caught.value)


class AboveMean(Odd):
    """Probabilities of each record, and labels that compare them with the mean of the batch."""

    def predict_proba(self, rows):
        return MODEL.predict_proba(rows)

    def predict(self, rows):
        decisions = MODEL.decision_function(rows)
        return (decisions > decisions.mean()).astype(int)


@pytest.mark.parametrize("metrics", [None, "accuracy", "log_loss"])
def test_labels_that_depend_on_the_batch_are_refused_though_probabilities_do_not(metrics):
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(DataError, match="Nothing was booked"):
        private_score(AboveMean(), X, Y, epsilon=1.0, metrics=metrics, ledger=ledger)
    assert len(ledger) == 0
    assert private_score(AboveMean(), X, Y, epsilon=1.0, metrics="auroc", rng=1)["AUROC"] > 0.7, "labels are not used"


class Tied(Odd):
    """Two classes that are as likely; rounding in a large batch decides for the other one."""

    def predict_proba(self, rows):
        chance = np.full(len(rows), 0.5 + (1e-13 if len(rows) > 100 else -1e-13))
        return np.column_stack([1 - chance, chance])


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_a_near_tie_is_no_reason_to_refuse_and_has_the_label_of_the_record_alone(metric):
    view = ClassView(np.array([0, 1]), "predict_proba", 1, frozenset({metric}))
    right = outcomes(Tied(), X[:110], Y[:110], view)["right"]
    assert np.array_equal(right, Y[:110] == 0)
    assert Tied().predict(X[:110]).all(), "the control: together they have the other label"


def filled_by_the_mean(rows):
    return np.where(np.isnan(rows), np.nanmean(rows, axis=0), rows)


def filled_by_the_commonest(rows):
    kinds, counts = np.unique(rows[~np.isnan(rows)].round(), return_counts=True)
    return np.where(np.isnan(rows), kinds[counts.argmax()] if kinds.size else 9.0, rows)


@pytest.mark.parametrize("fill", [filled_by_the_mean, filled_by_the_commonest])
@pytest.mark.parametrize("kind", ["classes", "a number"])
def test_gaps_that_are_filled_from_the_batch_are_refused_wherever_they_are(fill, kind):
    gaps = X.copy()
    gaps[10::3, 0] = np.nan
    model = make_pipeline(FunctionTransformer(fill), MODEL if kind == "classes" else LINE)
    settings = {} if kind == "classes" else {"target_bounds": (-8, 8)}
    target, ledger = Y if kind == "classes" else NUMBER, Ledger(epsilon=1.0)
    with pytest.raises(DataError, match="Nothing was booked"):
        private_score(model, gaps, target, epsilon=1.0, ledger=ledger, **settings)
    assert len(ledger) == 0
    constant = make_pipeline(FunctionTransformer(np.nan_to_num), MODEL if kind == "classes" else LINE)
    private_score(constant, gaps, target, epsilon=1.0, rng=1, **settings)


@pytest.mark.parametrize("many", [0, 1, 2, 3, 8, 13, 100])
def test_a_second_split_has_every_record_once_in_parts_that_halve(many):
    parts = list(_parts(many))
    assert sorted(place for part in parts for place in part.tolist()) == list(range(many))
    assert all(0 < part.size <= max(1, (many + 1) // 2) for part in parts)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(ParameterError, match="no classes_"):
        private_score(PlainLogistic(), X, Y, epsilon=1.0)
    with pytest.raises(ParameterError, match="not fitted"):
        private_score(PlainRegression(), X, Y, epsilon=1.0, target_bounds=(0, 1))


def test_probabilities_beyond_0_and_1_count_as_these():
    wild = Odd(lambda rows: np.column_stack([1 - 90 * rows[:, 0], 90 * rows[:, 0]]))
    assert 0.6 < private_score(wild, X, Y, epsilon=9.0, metrics="auroc", rng=1)["AUROC"] < 1


class Rounding(Odd):
    """A model whose answer is rounded in another way when it is asked for many records, as a matrix product may be."""

    def predict_proba(self, rows):
        rows = np.asarray(rows)
        chance = np.full(len(rows), EDGES[20] - 1e-13)
        if len(rows) > 100:
            chance += 2e-13
        return np.column_stack([1 - chance, chance])


def test_the_cell_of_a_record_does_not_depend_on_how_many_are_asked_for():
    seen = []
    for many in (90, 110):
        view = ClassView(np.array([0, 1]), "predict_proba", 1, frozenset({"auroc"}))
        seen.append(set(outcomes(Rounding(), X[:many], Y[:many], view)["cell"].tolist()))
    assert seen == [{19}, {19}]
    together = Rounding().predict_proba(X[:110])[:, 1]
    assert set(cell_of(together).tolist()) == {20}, "the control: together they are in another cell"


# The whole call, from records to the law of its release


def release_of(monkeypatch, model, rows, settings):
    """The noise and the exact sums of a call, with a fixed stream for the rows of people."""
    seen = []
    draw = SumNoise.draw
    with monkeypatch.context() as patched:
        patched.setattr(
            SumNoise, "draw", lambda noise, sums, entropy: seen.append((noise, sums)) or draw(noise, sums, entropy)
        )
        private_score(model, rows, "y", rng=Entropy(1), **settings)
    ((noise, sums),) = seen
    return noise, sums


def people(*records):
    """A table of people: who, a number of which the model says 1 if it is positive, and the truth."""
    users, numbers, targets = zip(*records, strict=True)
    return {"user": np.array(users), "a": np.array(numbers), "y": np.array(targets)}


class Sign(Odd):
    """Sure of 1 where the number is positive."""

    feature_names_in_ = np.array(["a"])


FEW = [(1, -1.0, 0), (2, 1.0, 1), (3, 1.0, 0)]
#: Neighbouring tables: a surely wrong record added, a right one replaced by a wrong one, and people with two rows each.
NEIGHBOURS = {
    "add-remove": (FEW, [*FEW, (4, 1.0, 0)], {}),
    "replace": ([*FEW, (4, -1.0, 0)], [*FEW, (4, -1.0, 1)], {"neighbours": "replace"}),
    "a person added": (FEW, [*FEW, (4, 1.0, 0), (4, 1.0, 0), (4, 1.0, 0)], {"person": "user", "rows": 2}),
    "a person replaced": (
        [*FEW, (4, -1.0, 0), (4, -1.0, 0)],
        [*FEW, (5, -1.0, 1), (5, -1.0, 1), (5, -1.0, 1)],
        {"person": "user", "rows": 2, "neighbours": "replace"},
    ),
}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_the_release_of_a_whole_call_loses_epsilon_between_neighbours_and_no_more(monkeypatch, name, delta):
    first, second, settings = NEIGHBOURS[name]
    options = {"epsilon": 1.0, "delta": delta, **settings}
    tables = [people(*records) for records in (first, second)]
    if "person" not in settings:
        tables = [{key: column for key, column in table.items() if key != "user"} for table in tables]
    (noise, before), (same, after) = (release_of(monkeypatch, Sign(), table, options) for table in tables)
    assert noise == same
    allowed = Fraction(noise.rho) if delta else Fraction(1)
    # In L2 a replaced person counts as 2r rows that all change the same sums, and rows of two people seldom do.
    least = Fraction(1, 2) if delta and name == "a person replaced" else Fraction(95, 100)
    assert allowed * least < noise.loss_between(before, after) <= allowed


def test_a_person_s_third_row_would_be_seen(monkeypatch):
    first, second, settings = NEIGHBOURS["a person added"]
    tables = [people(*records) for records in (first, second)]
    options = {"epsilon": 1.0, **settings, "rows": 3}
    (_, before), (_, after) = (release_of(monkeypatch, Sign(), table, options) for table in tables)
    noise, _ = release_of(monkeypatch, Sign(), tables[0], {"epsilon": 1.0, **settings})
    assert noise.loss_between(before, after) > 1


# Booking and silence


def test_one_booking_with_what_is_promised_and_none_without_budget():
    ledger = Ledger(epsilon=1.0)
    scores = private_score(MODEL, X, Y, epsilon=0.75, ledger=ledger)
    assert [entry.guarantee for entry in ledger.entries] == [scores.guarantee]
    assert not scores.simulated
    with pytest.raises(BudgetError):
        private_score(MODEL, X, Y, epsilon=0.75, ledger=ledger)
    assert len(ledger) == 1


def test_gaussian_noise_books_its_rho():
    ledger = Ledger(rho=1.0, delta=1e-6)
    private_score(MODEL, X, Y, epsilon=1.0, delta=1e-6, ledger=ledger)
    assert ledger.entries[0].rho is not None


@pytest.mark.parametrize("settings", [{}, {"delta": 1e-6}, {"metrics": "auroc"}], ids=str)
def test_after_the_booking_nothing_depends_on_the_records_but_through_the_noise(settings):
    tables = [([], []), ([[0.0, 0.0]], [1]), (X[:50], Y[:50]), (X, Y), (X, np.zeros(len(X), int))]
    check_after_booking(
        lambda table, ledger: private_score(
            MODEL,
            np.reshape(table[0], (-1, 2)),
            np.asarray(table[1], int),
            epsilon=1.0,
            ledger=ledger,
            rng=7,
            **settings,
        ),
        tables,
    )
    numbers = [(rows, np.asarray(target, float)) for rows, target in tables]
    if "metrics" not in settings:
        check_after_booking(
            lambda table, ledger: private_score(
                LINE, np.reshape(table[0], (-1, 2)), table[1], epsilon=1.0, target_bounds=(0, 1), ledger=ledger, rng=7,
                **settings,
            ),
            numbers,
        )  # fmt: skip


def test_sums_of_any_size_are_released():
    for factor in (10**12, 2**61 - 1):
        request = ScoreRequest(epsilon=1.0)
        vector = VIEW.sums("add-remove").count(one_record(VIEW, 0.3, 1)).astype(object) * factor
        scores = request.release(VIEW, vector, factor, None, 3)
        assert all(math.isfinite(score.value) for score in scores.scores)


def test_no_error_shows_a_value():
    check_canary(lambda column: private_score(MODEL, X[:3], column, epsilon=1.0, rng=1), good=[0, 1])
    check_canary(
        lambda column: private_score(LINE, X[:3], column, epsilon=1.0, target_bounds=(0, 1), rng=1), good=[0.5]
    )
    check_canary(lambda column: private_score(MODEL, {"a": column, "b": column}, column, epsilon=1.0), good=[0, 1])


def test_the_same_seed_gives_the_same_scores_and_other_records_other_noise():
    first, again = (private_score(MODEL, X, Y, epsilon=1.0, rng=5) for _ in range(2))
    assert first.to_json() == again.to_json()
    assert first.simulated
    fewer = private_score(MODEL, X[1:], Y[1:], epsilon=1.0, rng=5)
    exact_change = np.abs(first.ranks.counts - fewer.ranks.counts)
    assert exact_change.sum() > 2, "with the same noise one cell would differ by one"


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"epsilon": None}, ParameterError),
        ({"epsilon": -1.0}, ParameterError),
        ({"delta": 1.0}, ParameterError),
        ({"neighbours": "remove"}, ParameterError),
        ({"metrics": []}, ParameterError),
        ({"metrics": "f1"}, ParameterError),
        ({"positive": 7}, ParameterError),
        ({"classes": "01"}, ParameterTypeError),
        ({"rows": 3}, ParameterError),
        ({"target_bounds": (0, 1), "metrics": "auroc"}, ParameterError),
        ({"target_bounds": (1, 0)}, ParameterError),
        ({"target_bounds": "ab"}, ParameterTypeError),
        ({"ledger": 1.0}, ParameterTypeError),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_before_any_record_is_read(settings, error):
    with pytest.raises(error):
        private_score(MODEL, object(), "y", **{"epsilon": 1.0} | settings)


def test_a_regression_asks_for_its_bounds_and_a_decision_gives_no_log_loss():
    with pytest.raises(ParameterError, match="target_bounds"):
        private_score(LINE, X, NUMBER, epsilon=1.0)
    with pytest.raises(ParameterError, match="gives no log_loss"):
        private_score(LinearSVC().fit(X, Y), X, Y, epsilon=1.0, metrics="log_loss")


def test_undeclared_targets_and_rows_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="declared classes"):
        private_score(MODEL, X, Y + 1, epsilon=1.0)
    for target in ([*Y.tolist(), 1], Y[:-1]):
        for rows in (X, X.tolist(), pd.DataFrame(X), {"a": X[:, 0], "b": X[:, 1]}):
            with pytest.raises(DataError, match=r"one entry each|same number of rows|same length"):
                private_score(MODEL, rows, target, epsilon=1.0)
    with pytest.raises(DataError):
        private_score(MODEL, 3, Y, epsilon=1.0)


# The result


def test_a_result_shows_its_scores_and_says_what_the_intervals_are_about():
    scores = private_score(MODEL, X, Y, epsilon=1.0, rng=1)
    assert isinstance(scores, Scores)
    assert "cover the noise and the sampling" in " ".join(repr(scores).split())
    assert "noise alone" in repr(scores.table(about="rows"))
    wide, narrow = (np.diff(scores.interval("accuracy", about=about))[0] for about in ("population", "rows"))
    assert wide > narrow
    assert "<table>" in scores._repr_html_()
    assert list(scores.to_frame().columns) == ["score", "value", "error", "lower", "upper"]
    assert len(scores.roc().to_frame()) == CELLS - 1
    assert len(scores.calibration().to_frame()) == 8
    assert scores.interval("auroc") == scores.interval("AUROC")
    assert scores["log_loss"] == scores["log loss"]
    with pytest.raises(ParameterError):
        scores["F1"]
    with pytest.raises(ParameterError):
        scores.interval("accuracy", about="all")


def test_a_result_travels_and_holds_noisy_numbers_alone():
    scores = private_score(MODEL, X, Y, epsilon=1.0, rng=1)
    again = pickle.loads(pickle.dumps(scores))
    assert again.to_json() == scores.to_json()
    rows = VIEW.integers(Predictions(MODEL.predict_proba(X), MODEL.predict(X), 0.0), Y)
    assert not np.array_equal(scores.ranks.counts.ravel(), exact_ranks(rows))


def exact_ranks(rows):
    return ScoreSums((RANKS,)).count(rows)
