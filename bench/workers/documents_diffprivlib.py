"""The learning slides with the library that they use, in its own environment: rows of results as JSON.

The first argument is a folder with ``pima.npz``, ``iris.npz`` and ``adult.npz`` (X, y, low, high), the second JSON with
the ε and the number of runs of each part. Every run has a seed of its own, so that the same rows come out again.

Cleaning is as the slides on ε-LDP print it: the law of diffprivlib's staircase with the smallest and largest value of
each column, drawn again until it falls between them, whole numbers rounded; the label through randomised response;
ε/(d + 1) each.
Private models get no bounds, as in the listings, and in the columns named ``…_bounded`` the declared ones.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import diffprivlib.models as dp
import numpy as np
import sklearn
from diffprivlib import __version__
from diffprivlib.mechanisms import Binary, Staircase
from diffprivlib.utils import PrivacyLeakWarning
from scipy import stats
from sklearn import cluster, linear_model, model_selection, naive_bayes

Row = dict[str, Any]
CLUSTERS = 3


def seed_of(part: str, epsilon: float, repetition: int) -> int:
    """The seed of a run, by what it is."""
    return int(np.random.SeedSequence([len(part), round(epsilon * 1000), repetition]).generate_state(1)[0])


def staircase(epsilon: float, sensitivity: float, size: int, draw: np.random.Generator) -> np.ndarray:
    """Noise of the law of diffprivlib's `Staircase`, many at once: one by one takes half a minute where ε is small."""
    gamma = 1 / (1 + np.exp(epsilon / 2))
    sign = draw.choice([-1.0, 1.0], size)
    steps = draw.geometric(-np.expm1(-epsilon), size) - 1
    first = draw.random(size) < gamma / (gamma + (1 - gamma) * np.exp(-epsilon))
    place = draw.random(size)
    return sign * sensitivity * (steps + np.where(first, gamma * place, gamma + (1 - gamma) * place))


def check_law(size: int = 20_000) -> None:
    """Stop unless the noise above and diffprivlib's own have one law (two-sample Kolmogorov–Smirnov, 10⁻⁹)."""
    for epsilon in (0.3, 1.0, 3.0):
        theirs = Staircase(epsilon=epsilon, sensitivity=2.0, random_state=1)
        own = [theirs.randomise(0.0) for _ in range(size)]
        ours = staircase(epsilon, 2.0, size, np.random.default_rng(1))
        if stats.ks_2samp(own, ours).pvalue < 1e-9:
            raise SystemExit(f"The staircase at ε = {epsilon} has another law than diffprivlib's.")


def cleaned(X: np.ndarray, epsilon: float, seed: int) -> np.ndarray:
    """Every entry with staircase noise, drawn again until it is between the ends of its column."""
    draw, out = np.random.default_rng(seed), np.empty_like(X)
    for place, column in enumerate(X.T):
        low, high = float(column.min()), float(column.max())
        answers, outside = np.empty_like(column), np.arange(column.size)
        while outside.size:
            answers[outside] = column[outside] + staircase(epsilon, high - low, outside.size, draw)
            outside = outside[(answers[outside] < low) | (answers[outside] > high)]
        out[:, place] = np.round(answers) if (column == np.round(column)).all() else answers
    return out


def randomised(y: np.ndarray, epsilon: float, seed: int) -> np.ndarray:
    """Labels through randomised response."""
    coin = Binary(epsilon=epsilon, value0="0", value1="1", random_state=seed % 2**31)
    return np.array([int(coin.randomise(str(label))) for label in y.tolist()])


def pima(table: Any, epsilon: float, repetition: int) -> Row:
    """Accuracy on the same true labels of all models, of one split."""
    X, y, bounds = table["X"], table["y"], (table["low"], table["high"])
    seed = seed_of("pima", epsilon, repetition)
    train, test = model_selection.train_test_split(np.arange(y.size), test_size=0.2, random_state=seed)
    share = epsilon / (X.shape[1] + 1)
    reports, labels = cleaned(X, share, seed), randomised(y, share, seed)
    clean, local, features = (X, y), (reports, labels), (reports, y)
    private: dict[str, Any] = {"epsilon": epsilon, "random_state": seed % 2**31}
    models = {
        "gnb": (naive_bayes.GaussianNB(), clean),
        "dp_gnb": (dp.GaussianNB(**private), clean),
        "dp_gnb_bounded": (dp.GaussianNB(bounds=bounds, **private), clean),
        "stair_gnb": (naive_bayes.GaussianNB(), local),
        "lr": (linear_model.LinearRegression(), clean),
        "dp_lr": (dp.LinearRegression(**private), clean),
        "dp_lr_bounded": (dp.LinearRegression(bounds_X=bounds, bounds_y=(0, 1), **private), clean),
        "stair_lr": (linear_model.LinearRegression(), local),
        "stair_lr_true_labels": (linear_model.LinearRegression(), features),
    }
    row: Row = {"majority": float(np.mean(y[test] == np.bincount(y[train]).argmax()))}
    for name, (model, (rows, answers)) in models.items():
        guesses = np.asarray(model.fit(rows[train], answers[train]).predict(rows[test])) >= 0.5
        row[name] = float(np.mean(guesses == y[test]))
    return row


def iris(table: Any, epsilon: float, repetition: int) -> Row:
    """Squared distances from the centres over those of ordinary k-means, and whether labels are without noise."""
    X = table["X"]
    best = cluster.KMeans(CLUSTERS, n_init=20, random_state=0).fit(X).inertia_
    row: Row = {}
    for name, bounds in (("kmeans", None), ("kmeans_bounded", (table["low"], table["high"]))):
        model = dp.KMeans(n_clusters=CLUSTERS, epsilon=epsilon, bounds=bounds, random_state=repetition).fit(X)
        squares = ((X[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
        row[name] = float(squares.min(axis=1).sum() / best)
        row[f"{name}_labels"] = float(np.mean(model.labels_ == squares.argmin(axis=1)))
    return row


def adult(table: Any, epsilon: float, repetition: int) -> Row:
    """Accuracy of naive Bayes for the income of Adult, of one split."""
    X, y, bounds = table["X"], table["y"], (table["low"], table["high"])
    seed = seed_of("adult", epsilon, repetition)
    train, test = model_selection.train_test_split(np.arange(y.size), test_size=0.2, random_state=seed)
    private: dict[str, Any] = {"epsilon": epsilon, "random_state": seed % 2**31}
    models = {
        "gnb": naive_bayes.GaussianNB(),
        "dp_gnb": dp.GaussianNB(**private),
        "dp_gnb_bounded": dp.GaussianNB(bounds=bounds, **private),
    }
    row: Row = {"majority": float(np.mean(y[test] == np.bincount(y[train]).argmax()))}
    for name, model in models.items():
        row[name] = float(np.mean(model.fit(X[train], y[train]).predict(X[test]) == y[test]))
    return row


def listings(table: Any) -> Iterator[Row]:
    """What the printed lines do: the error that they stop with, or the warning that they give."""
    X, y = table["X"], table["y"]
    calls = {
        "GaussianNB as imported": lambda: dp.models.GaussianNB(epsilon=1.0),
        "LinearRegression as imported": lambda: dp.models.LinearRegression(epsilon=1.0),
        "GaussianNB without bounds": lambda: dp.GaussianNB(epsilon=1.0).fit(X, y),
        "LinearRegression without bounds": lambda: dp.LinearRegression(epsilon=1.0).fit(X, y),
        "KMeans without bounds": lambda: dp.KMeans(n_clusters=CLUSTERS, epsilon=1.0).fit(X),
    }
    for name, call in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                call()
                outcome = ""
            except AttributeError as error:
                outcome = f"{type(error).__name__}: {error}"
        leaks = [str(warning.message) for warning in caught if issubclass(warning.category, PrivacyLeakWarning)]
        yield {"part": "listing", "listing": name, "stops": outcome, "leaks": float(bool(leaks))}


def main() -> None:
    check_law()
    folder, jobs = Path(sys.argv[1]), json.loads(sys.argv[2])
    rows = list(listings(np.load(folder / "pima.npz")))
    for name, trial in (("pima", pima), ("iris", iris), ("adult", adult)):
        table = dict(np.load(folder / f"{name}.npz"))
        for epsilon in jobs[name]["epsilons"]:
            for repetition in range(jobs[name]["runs"]):
                row = trial(table, epsilon, repetition)
                rows.append({"part": f"diffprivlib {name}", "epsilon": epsilon, "repetition": repetition, **row})
            print(name, epsilon, file=sys.stderr, flush=True)
    print(json.dumps({"diffprivlib": __version__, "scikit-learn": sklearn.__version__, "rows": rows}))


if __name__ == "__main__":
    # diffprivlib gives its warning "always", whatever the filter says: it is counted in `listings`.
    warnings.showwarning = lambda *args, **kwargs: None
    main()
