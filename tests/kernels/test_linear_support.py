"""Linear support: counts of support against a plain count, and the transform against its definition."""

import itertools

import numpy as np
import pytest

from bruit.kernels import linear_hashing
from bruit.kernels import linear_support as kernel


def parity(number):
    return int(number).bit_count() % 2


@pytest.mark.parametrize(("t", "step"), [(1, 1), (2, 3), (3, 5)])
def test_support_is_a_count_of_the_reports_whose_bucket_is_that_of_the_code(t, step):
    rng = np.random.default_rng(2)
    words = rng.integers(0, 1 << 54, 300, dtype=np.uint64)
    reported = rng.integers(0, 1 << t, 300).astype(np.uint8)
    prefixes = rng.integers(0, 1 << 6, 4).astype(np.uint64)
    table = kernel.table(300, t, step)
    kernel.support(words, reported, t, prefixes, table)
    for column, rest in itertools.product(range(4), range(1 << step)):
        code = np.full(300, int(prefixes[column]) << step | rest)
        assert table[rest, column] == (linear_hashing.buckets(words, code, t) == reported).sum()
    kernel.support(words[:0], reported[:0], t, prefixes, table)
    assert not table.any()
    assert (kernel.table(300, 7, 0).dtype, kernel.table(1 << 25, 7, 0).dtype) == (np.int32, np.int64)


@pytest.mark.parametrize("levels", [1, 2, 5, 13, 14, 15])
def test_the_transform_is_that_of_signs(levels):
    size = 1 << levels
    table = np.random.default_rng(levels).integers(-9, 10, (size, kernel.TOGETHER)).astype(np.int32)
    expected = table.astype(np.int64)
    for level in range(levels):
        pairs = expected.reshape(-1, 2, 1 << level, kernel.TOGETHER)
        expected = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(size, -1)
    flat = table.ravel()
    kernel.transform(flat, kernel.TOGETHER)
    assert (flat.reshape(size, -1) == expected).all()
    v = 5 % size
    signs = np.array([1 - 2 * parity(u & v) for u in range(size)])
    assert (expected[v] == (signs[:, None] * table_of(levels)).sum(axis=0)).all()


def table_of(levels):
    return np.random.default_rng(levels).integers(-9, 10, (1 << levels, kernel.TOGETHER)).astype(np.int32)
