"""Linear hashing: buckets bit by bit, and their collisions over all words."""

import itertools

import numpy as np
import pytest

from bruit.kernels import linear_hashing as kernel


def plain_bucket(word, code, t, bits):
    """Row i has the bits i to i + L − 1 of the word."""
    rows = [[word >> (i + j) & 1 for j in range(bits)] for i in range(t)]
    return sum((sum(row[j] & (code >> j) for j in range(bits)) % 2) << i for i, row in enumerate(rows))


def narrow(words, codes, t, bits):
    """A planted defect: a word of L bits, which leaves the last rows short."""
    return kernel.buckets(words & np.uint64((1 << bits) - 1), codes, t)


@pytest.mark.parametrize(("t", "bits"), [(1, 5), (3, 6), (7, 48)])
def test_a_bucket_is_the_product_of_matrix_and_code(t, bits):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << 54, 200, dtype=np.uint64)
    codes = rng.integers(0, 1 << bits, 200)
    expected = [plain_bucket(int(word), int(code), t, bits) for word, code in zip(words, codes, strict=True)]
    assert kernel.buckets(words, codes, t).tolist() == expected


def collisions(buckets, t, bits):
    """How often each pair of codes has one bucket, over all words of a full matrix."""
    words = np.arange(1 << (bits + t - 1), dtype=np.uint64)
    own = [buckets(words, np.full(words.size, code), t) for code in range(1 << bits)]
    return {int((first == second).sum()) for first, second in itertools.combinations(own, 2)}, words.size


@pytest.mark.parametrize(("t", "bits"), [(1, 4), (2, 4), (3, 4), (4, 3)])
def test_two_codes_collide_under_exactly_one_word_in_g(t, bits):
    counts, words = collisions(kernel.buckets, t, bits)
    assert counts == {words >> t}


def test_a_matrix_without_its_full_width_is_caught():
    counts, words = collisions(lambda words, codes, t: narrow(words, codes, t, 4), 3, 4)
    assert counts != {words >> 3}
