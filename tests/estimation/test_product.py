"""The product estimator for SPL: unbiased with its exact variance and covariance, by enumeration."""

from __future__ import annotations

import itertools
from statistics import mean

import numpy as np
import pytest

from bruit.estimation.product import ProductModel, Side
from bruit.oracles import LocalHashing, RandomizedResponse, SubsetSelection, UnaryEncoding

TRUTH = {
    (2, 3): np.array([[0.2, 0.3, 0.1], [0.25, 0.05, 0.1]]),
    (4, 2): np.array([[0.1, 0.2], [0.05, 0.15], [0.3, 0.1], [0.02, 0.08]]),
}


def law(oracle) -> tuple[np.ndarray, np.ndarray]:
    """P(message | value), and which values each message supports."""
    matrix = np.array([[float(p) for p in row] for row in oracle.matrix()])
    if isinstance(oracle, RandomizedResponse):
        return matrix, np.eye(oracle.k)
    if isinstance(oracle, UnaryEncoding):
        return matrix, np.array([[message >> value & 1 for value in range(oracle.k)] for message in range(2**oracle.k)])
    sets = list(itertools.combinations(range(oracle.k), oracle.omega))
    return None, np.array([[float(value in own) for value in range(oracle.k)] for own in sets])


def oracles(shape) -> list:
    made_of = [RandomizedResponse(epsilon=1.0, k=shape[0]), UnaryEncoding(epsilon=0.8, k=shape[1])]
    return [made_of, [UnaryEncoding(epsilon=1.0, k=shape[0]), RandomizedResponse(epsilon=0.5, k=shape[1])]]


def moments(pair, truth) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, covariance for the population, and covariance for these people, of one person's product: enumerated."""
    parts = []
    for oracle in pair:
        matrix, support = law(oracle)
        parts.append((matrix, (support - float(oracle.q)) / float(oracle.p - oracle.q)))
    (left, g), (right, h) = parts
    cells = truth.size
    products = np.einsum("mu,nv->mnuv", g, h).reshape(len(g), len(h), cells)
    mean, square, given_record = np.zeros(cells), np.zeros((cells, cells)), np.zeros((cells, cells))
    for (a, b), share in np.ndenumerate(truth):
        weight = np.einsum("m,n->mn", left[a], right[b])
        own = np.einsum("mn,mnc->c", weight, products)
        second = np.einsum("mn,mnc,mnd->cd", weight, products, products)
        mean += share * own
        square += share * second
        given_record += share * (second - np.outer(own, own))
    return mean, square - np.outer(mean, mean), given_record


@pytest.mark.parametrize("shape", list(TRUTH))
@pytest.mark.parametrize("which", [0, 1])
def test_the_product_is_unbiased_and_its_variance_and_covariance_are_exact(shape, which) -> None:
    truth, pair = TRUTH[shape], oracles(shape)[which]
    mean, population, people = moments(pair, truth)
    assert np.allclose(mean, truth.ravel(), atol=1e-12)
    sides = tuple(Side(oracle.p, oracle.q, oracle.joint) for oracle in pair)
    model = ProductModel(np.zeros(shape, np.int64), np.zeros(shape[0]), np.zeros(shape[1]), 1, sides)
    for target, exact in (("population", population), ("people", people)):
        assert np.allclose(model.variance(truth.ravel(), target), np.diagonal(exact), rtol=1e-9)
        assert np.allclose(model.covariance(truth.ravel(), target), exact, rtol=1e-9, atol=1e-12)


def test_a_variance_that_forgets_the_rows_is_seen() -> None:
    truth, pair = TRUTH[2, 3], oracles((2, 3))[0]
    _, population, _ = moments(pair, truth)
    (own, other), (own_too, other_too) = (Side(oracle.p, oracle.q, oracle.joint).squares for oracle in pair)
    wrong = truth * own * own_too + (1 - truth) * other * other_too - truth**2
    assert not np.allclose(wrong.ravel(), np.diagonal(population), rtol=0.01)


def test_subset_selection_has_the_joint_support_that_the_covariance_needs() -> None:
    assert SubsetSelection(epsilon=1.0, k=5).joint is not None


#: So many surveys are the diagonal of one model.
BATCH = 250
#: Shares of a cell, of its row and of its column: cells that nobody has, rare ones and common ones.
CELLS = [(0.0, 0.05, 0.05), (0.01, 0.05, 0.1), (0.05, 0.2, 0.1), (0.25, 0.5, 0.5), (0.9, 0.95, 0.94)]


def surveys(pair, cell, n: int, target: str, runs: int, seed: int) -> tuple[list[ProductModel], float]:
    """One cell in many surveys of n people, each a place on the diagonal of a model, and its true share."""
    (p, q), (own, other) = ((float(oracle.p), float(oracle.q)) for oracle in pair)
    both, row, column = cell
    kinds = np.array([both, row - both, column - both, 1 - row - column + both])
    # Who supports both values, the first alone, the second alone, neither; for each kind of person.
    law = np.array(
        [[s * t, s * (1 - t), (1 - s) * t, (1 - s) * (1 - t)] for s, t in itertools.product((p, q), (own, other))]
    )
    rng = np.random.default_rng(seed)
    sizes = np.round(n * kinds).astype(int)
    sizes[3] = n - sizes[:3].sum()
    if target == "people":
        counts = sum(rng.multinomial(size, row, size=runs) for size, row in zip(sizes, law, strict=True))
        both = sizes[0] / n
    else:
        counts = rng.multinomial(n, kinds @ law, size=runs)
    sides = tuple(Side(oracle.p, oracle.q, oracle.joint) for oracle in pair)
    models = []
    for part in np.split(counts, range(BATCH, runs, BATCH)):
        own, first, second, _ = part.T
        models.append(ProductModel(np.diag(own), own + first, own + second, n, sides))
    return models, float(both)


def diagonals(models, values) -> np.ndarray:
    return np.concatenate([values(model).reshape(model.both.shape).diagonal() for model in models])


def coverage(models, truth: float, target: str, method: str) -> float:
    low = diagonals(models, lambda model: model.interval(0.95, method, target)[0])
    high = diagonals(models, lambda model: model.interval(0.95, method, target)[1])
    return float(np.mean((low <= truth) & (truth <= high)))


@pytest.mark.parametrize("target", ["population", "people"])
@pytest.mark.parametrize(
    ("runs", "people", "epsilons", "low", "high"),
    [
        (600, (300,), (1.0, 4.0), 0.91, 0.985),
        pytest.param(10_000, (300, 3000), (0.5, 1.0, 2.0, 4.0), 0.94, 0.96, marks=pytest.mark.audit),
    ],
)
def test_an_interval_covers_as_often_as_it_says_for_rare_and_for_common_cells(
    target, runs, people, epsilons, low, high
) -> None:
    for make, n, epsilon in itertools.product((RandomizedResponse, UnaryEncoding), people, epsilons):
        pair = [make(epsilon=epsilon, k=4), make(epsilon=epsilon, k=6)]
        rates = []
        for seed, cell in enumerate(CELLS):
            models, truth = surveys(pair, cell, n, target, runs, seed)
            rates.append(coverage(models, truth, target, "wilson"))
            values = diagonals(models, lambda model: model.frequency())
            assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(runs)
        print(f"{make.__name__} ε = {epsilon:g}, n = {n}, {target}: {np.round(rates, 4)}")
        # The law of few reports is coarse: a single cell has more room than all cells together.
        assert low <= mean(rates) <= high
        assert low - 0.01 <= min(rates)
        assert max(rates) <= high + 0.02


def test_standard_errors_at_the_estimate_itself_would_miss_a_rare_cell() -> None:
    """The control: the formula at an estimate below 0, with its estimated margins, is 0 or below half of the time."""
    pair = [UnaryEncoding(epsilon=4.0, k=4), UnaryEncoding(epsilon=4.0, k=6)]
    models, truth = surveys(pair, CELLS[0], 300, "population", 600, 1)
    (own, other), (own_too, other_too) = (side.squares for side in models[0].sides)
    values = diagonals(models, lambda model: model.frequency())
    first, second = (
        np.concatenate([(getattr(model, name) / model.n - float(side.q)) / float(side.p - side.q) for model in models])
        for name, side in zip(("first", "second"), models[0].sides, strict=True)
    )
    variance = values * (own - other) * (own_too - other_too) + first * (own - other) * other_too
    variance += second * other * (own_too - other_too) + other * other_too - values**2
    half = 1.96 * np.sqrt(np.maximum(variance, 0.0) / 300)
    assert np.mean((values - half <= truth) & (truth <= values + half)) < 0.6


def few_reports(pair, n: int, seed: int) -> ProductModel:
    """The supports of n people at random; all alike where the seed is 0."""
    rng = np.random.default_rng(seed)
    held = [rng.integers(0, 2, size=(n if seed else 1, oracle.k)).repeat(1 if seed else n, axis=0) for oracle in pair]
    sides = tuple(Side(oracle.p, oracle.q, oracle.joint) for oracle in pair)
    return ProductModel(held[0].T @ held[1], held[0].sum(axis=0), held[1].sum(axis=0), n, sides)


@pytest.mark.parametrize("target", ["population", "people"])
def test_no_reports_give_a_cell_a_variance_of_zero_or_below(target) -> None:
    for epsilon, n, seed in itertools.product((0.5, 2.0, 8.0), (1, 2, 5, 40), range(4)):
        pair = [UnaryEncoding(epsilon=epsilon, k=3), LocalHashing(epsilon=epsilon, k=4)]
        model = few_reports(pair, n, seed)
        raw = model.frequency()
        assert (model.variance(raw, target) > 0).all()
        for method in ("wilson", "wald"):
            lower, upper = model.interval(0.95, method, target)
            assert (lower < upper).all()
