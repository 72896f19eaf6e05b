"""The laws behind means and distributions: kernels against slow versions, and every weight in whole numbers."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.engines.memory import words_below
from bruit.entropy import Entropy
from bruit.kernels import window
from bruit.laws import LeaningLaw, MixedLaw, TwoLevelLaw, Window
from bruit.numbers.affine import channel


def _small_window(outside, more, cells, width):
    return TwoLevelLaw(inside=outside + more, outside=outside, sets=Window(values=cells, width=width))


small_windows = st.builds(_small_window, st.integers(1, 5), st.integers(1, 9), st.integers(2, 6), st.integers(1, 7))


def _coin_for(law, least, slope):
    return LeaningLaw(least=least, slope=slope, cells=law.sets.values)


def _drawn(law, cell):
    """How often each message comes when every word of a small law is used once."""
    words = np.arange(law.total, dtype=np.uint64)
    out = np.empty(law.total, np.uint8)
    channel(law).randomize(np.full(law.total, cell, np.uint16), words, out)
    return np.bincount(out, minlength=law.messages)


@given(small_windows, st.integers(1, 9), st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_every_word_of_a_small_law_gives_exactly_its_weights(law, least, slope):
    """Enumerates all words: the counts are the weights, for the window, the coin and both together."""
    coin = _coin_for(law, least, slope)
    for each in (law, coin, MixedLaw(window=law, coin=coin)):
        for cell in range(law.sets.values):
            counts = _drawn(each, cell)
            assert [Fraction(int(count), each.total) for count in counts] == each.row(cell)
            assert counts.min() >= 1


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
@pytest.mark.parametrize(("cells", "width"), [(2, 1), (5, 3), (256, 131), (4096, 4000)])
def test_the_kernels_agree_with_sample_word_for_word(epsilon, cells, width):
    sets = Window(values=cells, width=width)
    slide = TwoLevelLaw.calibrate(epsilon, sets)
    lean = LeaningLaw.calibrate(epsilon, cells=cells)
    mixed = MixedLaw.calibrate(epsilon, sets, coin_words=2**63)
    for law in (slide, lean, mixed):
        # Besides random words, both sides of the borders at which something else begins.
        kept = (slide.inside - slide.outside) * width
        borders = [border + shift for border in (kept, lean.least, mixed.coin.total) for shift in (-1, 0, 1)]
        words = [0, law.total - 1, *(word for word in borders if 0 <= word < law.total)]
        words = np.concatenate([np.array(words, np.uint64), words_below(Entropy(cells), law.total, 2000)])
        codes = (np.arange(words.size) * 7919 % cells).astype(np.uint16)
        out = np.empty(words.size, np.uint16)
        channel(law).randomize(codes, words, out)
        assert out.tolist() == [law.sample(int(c), iter([int(w)])) for c, w in zip(codes, words, strict=True)]


@given(small_windows, st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**31))
@settings(deadline=None, max_examples=60)
def test_multiplying_with_a_law_is_multiplying_with_its_matrix(law, least, slope, seed):
    rng = np.random.default_rng(seed)
    coin = _coin_for(law, least, slope)
    for each in (law, coin, MixedLaw(window=law, coin=coin)):
        table = np.array([[float(p) for p in each.row(cell)] for cell in range(law.sets.values)])
        share, score = rng.random(law.sets.values), rng.normal(size=each.messages)
        assert np.allclose(channel(each).table(), table, rtol=1e-12)
        assert np.allclose(channel(each).forward(share), share @ table, rtol=1e-9, atol=1e-12)
        assert np.allclose(channel(each).backward(score), table @ score, rtol=1e-9, atol=1e-12)


@given(small_windows, st.integers(1, 9), st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_scores_have_the_cell_as_their_mean_exactly(law, least, slope):
    """In fractions: the mean of the message is affine in the cell, and the scores undo that very map."""
    coin = _coin_for(law, least, slope)
    for each in (law, coin):
        means = [sum(y * p for y, p in enumerate(each.row(cell))) for cell in range(law.sets.values)]
        (slope,) = {after - before for before, after in pairwise(means)}
        undone = [(y - means[0]) / slope for y in range(each.messages)]
        assert np.allclose(channel(each).scores(), [float(score) for score in undone], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 0.61, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("cells", [2, 3, 100, 4096])
@pytest.mark.parametrize("words", [2**64, 2**64 // 7])
def test_a_calibrated_law_is_just_below_its_epsilon_and_its_words(epsilon, cells, words):
    for law in (
        LeaningLaw.calibrate(epsilon, cells=cells, words=words),
        TwoLevelLaw.calibrate(epsilon, Window(values=cells, width=max(1, cells // 3)), words=words),
    ):
        with mpmath.workdps(60):
            exact = mpmath.log(mpmath.mpf(law.ratio.numerator) / law.ratio.denominator)
            assert exact <= law.epsilon <= epsilon
        assert law.epsilon > epsilon * (1 - 1e-9)
        assert words * (1 - 1e-6) < law.total <= words


def test_words_at_or_above_the_total_are_drawn_again():
    total = 2**62
    words = words_below(Entropy(3), total, 40_000)
    assert int(words.max()) < total
    counts = np.bincount((words // np.uint64(total // 16)).astype(int), minlength=16)
    assert ((counts - 2500) ** 2 / 2500).sum() < 65


def test_sums_over_windows_are_never_negative_by_rounding():
    """Shares from 10⁻³⁰⁰ to 1 in a fine grid: a difference of two running sums could go wrong, and does not."""
    share = 10.0 ** np.linspace(-300, 0, 4000)
    for order in (share, share[::-1].copy()):
        out = np.empty(4099)
        window.spread(order, 100, 1.0, 0.0, out)
        assert out.min() >= 0


def test_a_simulated_window_has_the_mean_and_variance_of_its_law():
    """Cells with more people than the window has messages and cells with fewer take different ways."""
    law = channel(TwoLevelLaw.calibrate(1.5, Window(values=8, width=5)))
    people = np.array([1000, 0, 3, 4, 5, 2, 300, 1])
    generator = np.random.default_rng(5)
    drawn = np.array([law.simulate(people, generator) for _ in range(10_000)])
    table = law.table()
    mean, variance = people @ table, people @ (table * (1 - table))
    assert (drawn.sum(axis=1) == people.sum()).all()
    assert np.abs((drawn.mean(axis=0) - mean) / np.sqrt(variance / 10_000)).max() < 5.5
    assert np.abs(drawn.var(axis=0) / variance - 1).max() < 0.09
