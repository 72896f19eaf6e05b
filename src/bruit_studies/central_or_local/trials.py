"""Data and trials of the study `central-or-local`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.entropy import Entropy

if TYPE_CHECKING:
    from bruit.collection import Plan

Floats = NDArray[np.float64]

#: Zeros in these columns are missing values; the course puts the median of the others in their place.
ZERO_IS_MISSING = ("Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin")
LABEL, CLUSTERS = "Outcome", 3


class Data(NamedTuple):
    """Numbers by column, their declared bounds (two sequences), labels, and the names of the columns."""

    table: Floats
    bounds: tuple[tuple[float, ...], tuple[float, ...]]
    label: NDArray[np.int64]
    names: list[str]


@cache
def pima() -> Data:
    """The Pima diabetes data as the course prepares them."""
    from bruit import datasets

    data = datasets.load("diabetes")
    names = [name for name in data.schema if name != LABEL]
    columns = {name: np.asarray(data[name], float) for name in names}
    for name in ZERO_IS_MISSING:
        known = columns[name] > 0
        columns[name] = np.where(known, columns[name], np.median(columns[name][known]))
    label = np.asarray(data[LABEL], np.int64)
    return Data(np.column_stack(list(columns.values())), _bounds(data, names), label, names)


@cache
def iris() -> Data:
    """Fisher's flowers, without their species."""
    from bruit import datasets

    data = datasets.load("iris")
    names = [name for name in data.schema if name != "species"]
    return Data(np.column_stack([data[name] for name in names]), _bounds(data, names), np.zeros(0, np.int64), names)


@cache
def adult() -> Data:
    """The numbers of Adult, and whether income exceeds $50,000."""
    from bruit import datasets

    data = datasets.load("adult")
    names = [column.name for column in data.entry.columns if column.kind != "text"]
    label = np.array([income == ">50K" for income in data["income"]], np.int64)
    return Data(np.column_stack([np.asarray(data[name], float) for name in names]), _bounds(data, names), label, names)


def _bounds(data: Any, names: Sequence[str]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    domains = [data.schema[name].domain for name in names]
    return tuple(float(domain.low) for domain in domains), tuple(float(domain.high) for domain in domains)


@cache
def _plan(epsilon: float) -> Plan:
    """The staircase for each of eight attributes, ε each."""
    from bruit.learning import LocalPrivatizer

    people = pima()
    model = LocalPrivatizer(epsilon=epsilon, bounds=people.bounds, method="SPL[staircase]", unit="attribute")
    plan: Plan = model.fit(people.table).plan_
    return plan


def trial(*, part: str, epsilon: float, rng: Entropy) -> dict[str, float]:
    """One split of Pima and the accuracy of all models, or of logistic ones, or k-means on all of Iris."""
    learn = {"pima": _learn, "logistic": _logistic, "iris": _cluster}[part]
    with _checks.any_epsilon():  # the course has ε up to 100
        return learn(epsilon, rng)


def _learn(epsilon: float, rng: Entropy) -> dict[str, float]:
    from bruit.learning import LinearRegression, NaiveBayes, honest_split  # first: it tells what to install
    from bruit_studies.as_printed import VaidyaAsPrinted

    from sklearn import linear_model, model_selection, naive_bayes  # isort: skip

    X, bounds, y, _ = pima()
    state = int(rng.integers(2**31, 1)[0])
    train, test = model_selection.train_test_split(np.arange(y.size), test_size=0.2, random_state=state)
    share = epsilon / (X.shape[1] + 1)
    local = honest_split(X, y, _plan(share), classes=[0, 1], epsilon=share, random_state=state, rng=rng)
    clean, cleaned = (X[train], y[train], X[test]), (local.X_train, local.y_train, local.X_test)
    central: dict[str, Any] = {"epsilon": epsilon, "bounds": bounds, "rng": rng}
    models = {
        "gnb": (naive_bayes.GaussianNB(), clean),
        "stair_gnb": (naive_bayes.GaussianNB(), cleaned),
        "dp_gnb": (NaiveBayes(classes=[0, 1], **central), clean),
        "vaidya": (NaiveBayes(classes=[0, 1], method="vaidya", **central), clean),
        "lr": (linear_model.LinearRegression(), clean),
        "stair_lr": (linear_model.LinearRegression(), cleaned),
        "dp_lr": (LinearRegression(target_bounds=(0, 1), **central), clean),
        "functional": (LinearRegression(target_bounds=(0, 1), method="functional", **central), clean),
    }
    scores = {"majority": float(np.mean(y[test] == np.bincount(y[train]).argmax()))}
    for name, (model, (features, labels, questions)) in models.items():
        # As in the listing: a prediction below 0.5 counts as 0. Classes stay what they are.
        answers = np.asarray(model.fit(features, labels).predict(questions)) >= 0.5
        scores[name] = float(np.mean(answers == y[test]))
    printed = VaidyaAsPrinted(epsilon=epsilon, bounds=bounds).fit(X[train], y[train], 2, rng)
    scores["vaidya_printed"] = float(np.mean(printed.predict(X[test]) == y[test]))
    return scores | {"local_epsilon": local.train_guarantee.epsilon}


def _logistic(epsilon: float, rng: Entropy) -> dict[str, float]:
    """Logistic regression by the functional mechanism as printed, and without privacy."""
    import bruit.learning  # noqa: F401 -- first: it tells what to install
    from bruit_studies.as_printed import FunctionalLogisticAsPrinted

    from sklearn import linear_model, model_selection  # isort: skip

    X, bounds, y, _ = pima()
    state = int(rng.integers(2**31, 1)[0])
    train, test = model_selection.train_test_split(np.arange(y.size), test_size=0.2, random_state=state)
    printed = FunctionalLogisticAsPrinted(epsilon=epsilon, bounds=bounds)
    ordinary = linear_model.LogisticRegression(C=1e6, max_iter=1000).fit(printed.rows(X[train]), y[train])
    answers = {
        "majority": np.full(test.size, np.bincount(y[train]).argmax()),
        "logistic": ordinary.predict(printed.rows(X[test])),
        "functional_logistic": printed.predict(printed.fit(X[train], y[train], rng), X[test]),
    }
    return {name: float(np.mean(answer == y[test])) for name, answer in answers.items()}


@cache
def _ordinary() -> tuple[float, float]:
    """The sum of squared distances of Iris from the best three centres that are found, and from one."""
    from sklearn.cluster import KMeans

    flowers = iris().table
    best = KMeans(CLUSTERS, n_init=20, random_state=0).fit(flowers)
    return float(best.inertia_), float(((flowers - flowers.mean(axis=0)) ** 2).sum())


def _cluster(epsilon: float, rng: Entropy) -> dict[str, float]:
    from bruit.learning import KMeans

    flowers, bounds, *_ = iris()
    best, alone = _ordinary()
    distances = {"alone": alone / best}
    for method in ("joint", "lloyd"):
        model = KMeans(CLUSTERS, epsilon=epsilon, bounds=bounds, scale=False, method=method, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it tells that noise hides the clusters, which is measured
            distances[method] = -model.fit(flowers).score(flowers) / best
    return distances
