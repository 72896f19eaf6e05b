"""Data, mechanisms and trials of numeric cleaning."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit_studies.central_or_local.trials import pima

if TYPE_CHECKING:
    from bruit.numbers import Number

Floats = NDArray[np.float64]

LAPLACE, PRINTED, STAIRCASE = "laplace", "staircase as printed", "staircase"
MECHANISMS = (LAPLACE, PRINTED, STAIRCASE, "laplace clamped", "staircase clamped")
#: Fine enough that rounding to a cell changes nothing that a model could see.
CELLS = 1024
#: Columns that are not whole numbers.
REAL = ("BMI", "DiabetesPedigreeFunction")
#: The figures of the listing: without noise, and one run at ε = 1.
CLEAN = {"accuracy": 0.7857142857142857, "f1": 0.6373626373626374}
RUN = {"accuracy": 0.6038961038961039, "f1": 0.11594202898550726}


@cache
def diabetes() -> tuple[Floats, NDArray[np.int64], NDArray[np.bool_]]:
    """Features as the listing prepares them, the outcome, and which features are whole numbers."""
    people = pima()
    return people.table, people.label, np.array([name not in REAL for name in people.names])


def names() -> tuple[str, ...]:
    """The names of the features."""
    return tuple(pima().names)


def majority() -> float:
    """The share of people whose outcome is the more frequent one."""
    return float(max(np.mean(diabetes()[1]), 1 - np.mean(diabetes()[1])))


@cache
def mechanism_of(name: str, epsilon: float) -> Number:
    """On the unit interval, to which every column is brought."""
    from bruit.numbers import BoundedLaplace, Staircase

    if name == PRINTED:
        return Staircase.as_printed(epsilon, cells=CELLS)
    kind, _, clamped = name.partition(" ")
    mechanism = BoundedLaplace if kind == "laplace" else Staircase
    return mechanism(epsilon=epsilon, bounds=(0.0, 1.0), cells=CELLS, clamped=bool(clamped))


def _cleaned(name: str, epsilon: float, rng: Entropy) -> Floats:
    """All features through the mechanism, each between its least and greatest value; whole numbers are rounded."""
    features, _, whole = diabetes()
    low, high = features.min(axis=0), features.max(axis=0)
    mechanism = mechanism_of(name, epsilon)
    reports = mechanism.decode(mechanism.privatize(((features - low) / (high - low)).ravel(), rng))
    noisy = low + reports.reshape(features.shape) * (high - low)
    rounded: Floats = np.where(whole, np.round(noisy), noisy)
    return rounded


def trial(*, protocol: str, rng: Entropy, epsilon: float = 0.0) -> list[dict[str, Any]]:
    """One row per mechanism, all with the same randomised labels and the same split.

    ``"printed"``: everything is randomised and then split with seed 0, so that the test labels are noisy too.
    ``"honest"``: a new split, and true test labels. ``"clean"``: no noise, seed 0;
    ``"clean anew"``: no noise, a new split.
    """
    from bruit.learning import randomize_labels  # first: it tells what to install

    features, outcome, _ = diabetes()
    state = int(rng.integers(2**31, 1)[0]) if protocol in ("honest", "clean anew") else 0
    if protocol.startswith("clean"):
        return [{"mechanism": "none"} | _scores(features, outcome, outcome, state)]
    labels = randomize_labels(outcome, epsilon=epsilon, classes=[0, 1], rng=rng)
    truth = outcome if protocol == "honest" else labels
    return [{"mechanism": name} | _scores(_cleaned(name, epsilon, rng), labels, truth, state) for name in MECHANISMS]


def _scores(features: Floats, learnt: Any, truth: Any, state: int) -> dict[str, float]:
    """Naive Bayes on 80 % of people, measured on the others."""
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB

    train, test = train_test_split(np.arange(len(truth)), test_size=0.2, random_state=state)
    predicted, true = GaussianNB().fit(features[train], learnt[train]).predict(features[test]), truth[test]
    hits, named = int(np.sum(predicted & true)), int(predicted.sum() + true.sum())
    return {"accuracy": float(np.mean(predicted == true)), "f1": 2 * hits / named if named else 0.0}
