"""The kernel of distance laws gives each outcome exactly its weight in words."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.kernels import distance as kernel
from bruit.laws.distance import ClampedLaw, DistanceLaw


def outcomes(law, row, words):
    """What the kernel makes of these words for one value, and which it wants drawn again."""
    tables = law.tables
    fixed = kernel.prepare(tables.cumulative, tables.left, tables.totals)
    codes = np.full(len(words), row, np.uint8)
    out, places = np.empty(len(words), np.uint16), np.empty(len(words), np.int64)
    late = kernel.randomize(codes, np.array(words, np.uint64), *fixed, tables.stride, law.points, out, places)
    return out.tolist(), set(places[:late].tolist())


def word_of(share, total):
    """A word that is accepted and stands for this share: one in the middle of its range."""
    return ((2 * share + 1) << 63) // total


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=9).map(tuple), st.booleans())
def test_every_share_of_a_small_law_gives_exactly_the_weights(weights, clamped):
    law = ClampedLaw(weights) if clamped else DistanceLaw(weights)
    for row in range(law.rows):
        total = law.total(row)
        found, late = outcomes(law, row, [word_of(share, total) for share in range(total)])
        assert not late
        counted = Counter(found)
        assert [counted[y] for y in range(law.points)] == [p * total for p in law.row(row)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3), st.lists(st.integers(1, 40), min_size=7, max_size=7).map(tuple))
def test_values_that_are_a_stride_apart_have_their_own_rows(stride, weights):
    law = DistanceLaw(weights, stride)
    for row in range(law.rows):
        total = law.total(row)
        counted = Counter(outcomes(law, row, [word_of(share, total) for share in range(total)])[0])
        assert [counted[y] for y in range(law.points)] == [p * total for p in law.row(row)]


@pytest.mark.parametrize("total", [3, 5, 1000, 2**32 + 1, 2**54 - 3, 2**63 + 9, 2**64 - 1])
def test_the_words_that_are_drawn_again_leave_the_same_number_for_every_share(total):
    """Exactly 2⁶⁴ mod total words are refused: in whole numbers, at the edges of the shares."""
    law = DistanceLaw((total - 1, 1))
    refused = int(kernel.prepare(*law.tables[1:4])[3][0])
    assert refused == 2**64 % total
    for share in {0, 1, total // 3, total - 2, total - 1}:
        first, last = -(-(share << 64) // total), (((share + 1) << 64) - 1) // total
        edges = sorted({w for w in (first, first + 1, last - 1, last) if first <= w <= last})
        _, late = outcomes(law, 0, edges)
        expected = {i for i, word in enumerate(edges) if word * total % 2**64 < refused}
        assert late == expected
        accepted = last - first + 1 - (first * total % 2**64 < refused)
        assert accepted == 2**64 // total


def test_rejection_is_rare_for_every_row():
    law = DistanceLaw.calibrate(1.0, lambda nominal: np.exp(nominal * np.arange(64)[::-1] / 63))
    refused = kernel.prepare(*law.tables[1:4])[3]
    assert refused.max() < 2**54
