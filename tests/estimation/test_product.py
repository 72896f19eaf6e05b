"""The product estimator for SPL: unbiased with its exact variance and covariance, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bruit.estimation.product import ProductModel, Side
from bruit.oracles import RandomizedResponse, SubsetSelection, UnaryEncoding

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
