"""Kernels with a NumPy version for small arrays: both give the same bits, and the size alone chooses."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit.kernels import counting, randomized_response
from bruit.kernels._compile import FEW, compiled_beyond_few
from bruit.oracles import RandomizedResponse

LAWS = [(0.7, 2), (1.1, 3), (4.0, 17), (0.01, 300), (2.0, 70_000)]


def boundaries(oracle: RandomizedResponse) -> np.ndarray:
    """Words at which another outcome begins, those before and after them, and random ones, all below the total."""
    law = oracle.law
    keep, outcomes = law.inside - law.outside, range(0, oracle.size, max(1, oracle.size // 50))
    starts = [0, keep, law.total, *(keep + outcome * law.outside for outcome in outcomes)]
    words = {start + step for start in starts for step in (-1, 0, 1)} | set(Entropy(8).words(200).tolist())
    return np.array([word for word in sorted(words) if 0 <= word < law.total], np.uint64)


@pytest.mark.parametrize(("epsilon", "k"), LAWS)
def test_few_reports_are_those_of_the_compiled_kernel(epsilon, k):
    oracle = RandomizedResponse(epsilon=epsilon, k=k)
    words = boundaries(oracle)
    codes = oracle.codes_of(np.arange(words.size) * 7919 % k)
    weights = np.uint64(oracle.law.inside - oracle.law.outside), np.uint64(oracle.law.outside)
    few, many = np.empty_like(codes), np.empty_like(codes)
    randomized_response.randomize.simple(codes, words, *weights, few)
    randomized_response.randomize.compiled()(codes, words, *weights, many)
    assert few.tolist() == many.tolist()
    nudged = np.empty_like(codes)
    randomized_response.randomize.simple(codes, words, *weights[:1], weights[1] + np.uint64(1), nudged)
    assert nudged.tolist() != many.tolist()  # the control: a weight that is off by one is seen


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int64])
def test_few_counts_are_those_of_the_compiled_kernel(dtype):
    codes = Entropy(5).words(3000).astype(dtype)
    codes[:40] = np.arange(40) % 9
    few, many = np.zeros((4, 7), np.int64), np.zeros((4, 7), np.int64)
    refused = counting.histogram.simple(codes, few), counting.histogram.compiled()(codes, many)
    assert refused[0] == refused[1]
    assert few.sum(axis=0).tolist() == many.sum(axis=0).tolist()


def test_the_size_alone_chooses():
    kernel = compiled_beyond_few(lambda values: "few")(lambda values: values.size)
    assert kernel(np.zeros(FEW)) == "few"
    assert kernel(np.zeros(FEW + 1)) == FEW + 1


def test_a_seed_gives_the_same_reports_on_both_sides_of_the_limit():
    oracle = RandomizedResponse(epsilon=1.1, k=5)
    values = np.arange(FEW + 1) % 5
    assert oracle.privatize(values, rng=3)[:FEW].tolist() == oracle.privatize(values[:FEW], rng=3).tolist()
