"""`sample` draws the very law that `row` states, and the kernels draw the law of `sample`."""

from __future__ import annotations

import inspect
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from bruit.entropy import Entropy
from bruit.kernels import distance as distance_kernel
from bruit.laws import (
    BitsLaw,
    ClampedLaw,
    DistanceLaw,
    Hadamard,
    Hash,
    Itself,
    LeaningLaw,
    MixedLaw,
    Projective,
    Subset,
    TwoLevelLaw,
    Window,
)
from bruit.laws import words as word_module
from bruit.laws.words import below, uniform, weighted
from bruit.numbers import BoundedLaplace, Staircase
from bruit.oracles import HadamardResponse, LocalHashing, ProjectiveGeometry, SubsetSelection, UnaryEncoding

#: How often a comparison may fail a sampler that is right.
ALARM = 1e-8

weights = st.tuples(st.integers(1, 5), st.integers(1, 9))
one_word_sets = st.one_of(
    st.builds(Itself, values=st.integers(2, 6)),
    st.builds(Window, values=st.integers(2, 6), width=st.integers(1, 6)),
    st.builds(Hadamard, rows=st.sampled_from([2, 4, 8]), blocks=st.integers(1, 3)),
    st.builds(Projective, prime=st.sampled_from([2, 3, 5]), dimension=st.integers(2, 3)),
)


def _two_level(levels, sets):
    outside, more = levels
    return TwoLevelLaw(inside=outside + more, outside=outside, sets=sets)


def law_of_all_words(law, code, words, draws):
    """The exact law of `sample` where every sequence of so many words is equally likely.

    Without a skipped word a message takes exactly `draws` words, and after a skipped word everything is as before it:
    so the sequences that suffice have the law of the message.
    """
    seen = Counter()
    for sequence in itertools.product(range(words), repeat=draws):
        source = iter(sequence)
        try:
            message = law.sample(code, source)
        except StopIteration:
            continue
        assert next(source, None) is None, "a word was left over"
        seen[message] += 1
    return {message: Fraction(count, seen.total()) for message, count in seen.items()}


def row_of(law, code, messages):
    return dict(zip(messages, law.row(code), strict=True))


@given(weights, one_word_sets, st.data())
@settings(deadline=None, max_examples=150)
def test_all_words_of_a_small_two_level_law_give_its_row(levels, sets, data):
    law = _two_level(levels, sets)
    code = data.draw(st.integers(0, sets.capacity - 1))
    assert law_of_all_words(law, code, law.total + 3, 1) == row_of(law, code, sets.messages())


@given(st.integers(1, 5), st.integers(0, 7), st.integers(2, 6), st.data())
@settings(deadline=None, max_examples=60)
def test_all_words_of_a_small_leaning_law_give_its_row(least, slope, cells, data):
    law = LeaningLaw(least=least, slope=slope, cells=cells)
    code = data.draw(st.integers(0, cells - 1))
    assert law_of_all_words(law, code, law.total + 3, 1) == row_of(law, code, range(2))


@given(weights, st.integers(2, 5), st.integers(1, 5), weights, st.data())
@settings(deadline=None, max_examples=60)
def test_all_words_of_a_small_mixed_law_give_its_row(levels, cells, width, coin, data):
    window = _two_level(levels, Window(values=cells, width=width))
    law = MixedLaw(window=window, coin=LeaningLaw(least=coin[0], slope=coin[1], cells=cells))
    code = data.draw(st.integers(0, cells - 1))
    assert law_of_all_words(law, code, law.total + 3, 1) == row_of(law, code, range(law.messages))


@pytest.mark.parametrize("word_count", [32, 61])
@pytest.mark.parametrize("law", [DistanceLaw((5, 3, 1)), DistanceLaw((4, 3, 2, 1, 1), 2), ClampedLaw((5, 2, 3))])
def test_all_words_of_a_small_distance_law_give_its_row(law, word_count, monkeypatch):
    """With fewer words in all than 2⁶⁴, every one can be tried."""
    monkeypatch.setattr(word_module, "WORDS", word_count)
    for code in range(law.rows):
        assert law_of_all_words(law, code, word_count, 1) == row_of(law, code, range(law.points))


@pytest.mark.parametrize(("values", "size"), [(2, 1), (4, 1), (3, 2), (4, 2), (4, 3), (5, 3)])
def test_all_words_of_small_subsets_give_their_row(values, size, monkeypatch):
    monkeypatch.setattr(word_module, "WORDS", 13)
    law = TwoLevelLaw(inside=3, outside=1, sets=Subset(values=values, size=size))
    assert law.total <= 13
    for code in range(values):
        assert law_of_all_words(law, code, 13, size) == row_of(law, code, law.sets.messages())


def test_a_drawn_subset_tells_nothing_about_which_member_was_first(monkeypatch):
    """Every member of a report is as likely to be the own value; and a message is a number, which has no order."""
    monkeypatch.setattr(word_module, "WORDS", 13)
    law = TwoLevelLaw(inside=3, outside=1, sets=Subset(values=4, size=3))
    drawn = [law_of_all_words(law, code, 13, 3) for code in range(4)]
    for message in law.sets.messages():
        members = [code for code in range(4) if message >> code & 1]
        assert len(members) == 3
        assert len({drawn[code][message] for code in members}) == 1


@pytest.mark.parametrize("buckets", [2, 3])
def test_all_words_of_a_small_pool_of_functions_give_its_row(buckets, monkeypatch):
    seeds = tuple((a, b) for a, b in Entropy(4).words(10).reshape(5, 2).tolist())
    monkeypatch.setattr(word_module, "WORDS", 17)
    law = TwoLevelLaw(inside=5, outside=2, sets=Hash(buckets=buckets, pool=seeds))
    for code in range(6):
        assert law_of_all_words(law, code, 17, 2) == row_of(law, code, law.sets.messages())


def test_given_the_two_words_of_its_function_a_message_is_randomised_response():
    law = TwoLevelLaw(inside=5, outside=2, sets=Hash(buckets=3))
    for code, seed in enumerate(Entropy(5).words(12).reshape(6, 2).tolist()):
        own = law.sets.bucket(code, *seed)
        messages = [law.sample(code, iter([word, *seed])) for word in range(law.total)]
        assert {message % 2**128 for message in messages} == {seed[0] + (seed[1] << 64)}
        assert Counter(message >> 128 for message in messages) == {b: 5 if b == own else 2 for b in range(3)}


@pytest.mark.parametrize("code", [0, 2, None])
def test_all_words_of_a_few_bits_give_their_row(code):
    """A bit depends on a word only by which of three stretches it is in: each is tried with its exact length."""
    law = BitsLaw.calibrate(1.0, Subset(values=3), own=Fraction(1, 2))
    stretches = [(0, law.other), (law.other, law.own), (law.own, 2**64)]
    seen = Counter()
    for sequence in itertools.product(stretches, repeat=3):
        edges = {law.sample(code, iter(words)) for words in itertools.product(*[(a, b - 1) for a, b in sequence])}
        (message,) = edges
        seen[message] += np.prod([Fraction(b - a, 2**64) for a, b in sequence])
    assert dict(seen) == dict(enumerate(law.row(code)))


@given(st.integers(1, 2**64), st.data())
@settings(deadline=None, max_examples=200)
def test_every_number_below_a_bound_has_the_same_number_of_words(choices, data):
    """In whole numbers: a number has the words of one stretch, less the first one where that is skipped."""
    number = data.draw(st.integers(0, choices - 1))
    first, last = -(-(number << 64) // choices), (((number + 1) << 64) - 1) // choices
    edges = {word for word in (first, first + 1, last - 1, last) if first <= word <= last}
    kept = {word for word in edges if _taken(choices, word)}
    assert {uniform(choices, iter([word])) for word in kept} <= {number}
    assert edges - kept <= {first}
    assert last - first + 1 - len(edges - kept) == 2**64 // choices


def _taken(choices, word):
    try:
        uniform(choices, iter([word]))
    except StopIteration:
        return False
    return True


def test_words_at_or_past_the_total_are_skipped():
    law = TwoLevelLaw(inside=3, outside=1, sets=Itself(values=2))
    assert below(4, iter([4, 2**64 - 1, 3])) == 3
    assert law.sample(0, iter([2**64 - 1, 4, 3])) == law.sample(0, iter([3])) == 1
    with pytest.raises(StopIteration):
        law.sample(0, iter([4, 5]))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
@settings(deadline=None, max_examples=60)
def test_a_place_is_drawn_as_often_as_its_weight_says(shares):
    total = sum(shares)
    middle = [((2 * number + 1) << 63) // total for number in range(total)]
    assert Counter(weighted(shares, iter([word])) for word in middle) == dict(enumerate(shares))


def test_prior_weights_that_take_all_words_skip_none():
    shares = [2**63, 2**62, 2**62]
    words = [0, 2**63 - 1, 2**63, 2**63 + 2**62 - 1, 2**63 + 2**62, 2**64 - 1]
    assert [weighted(shares, iter([word])) for word in words] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("law", [BitsLaw, ClampedLaw, DistanceLaw, LeaningLaw, MixedLaw, TwoLevelLaw])
def test_a_sampler_is_short_enough_to_be_read(law):
    assert len(inspect.getsource(law.sample).splitlines()) <= 15


# Kernels that take one word for a person.


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("kind", [HadamardResponse, ProjectiveGeometry])
@pytest.mark.parametrize("k", [2, 12, 300])
def test_a_kernel_of_messages_agrees_with_sample_word_for_word(kind, k, epsilon):
    oracle = kind(epsilon=epsilon, k=k)
    law = oracle.law
    step, outside = law.inside - law.outside, law.outside
    kept = step * law.members
    borders = [0, step, kept, kept + outside, kept + outside * (law.outcomes - 1), law.total]
    words = [word + shift for word in borders for shift in (-1, 0, 1) if 0 <= word + shift < law.total]
    words = np.array(words + [word for word in Entropy(k).words(600).tolist() if word < law.total], np.uint64)
    codes = (np.arange(words.size) * 7919 % k).astype(np.uint16)
    oracle.__dict__["_words"] = lambda _, size: words
    out = np.empty(words.size, np.uint32)
    oracle._randomize(codes, Entropy(0), out)
    assert out.tolist() == [law.sample(int(c), iter([int(w)])) for c, w in zip(codes, words, strict=True)]


@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("kind", [BoundedLaplace, Staircase])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_kernel_of_distances_agrees_with_sample_word_for_word(kind, epsilon, clamped):
    """Edges of shares, where words are skipped, and random words; a skipped word has the next one in its place."""
    law = kind(epsilon=epsilon, bounds=(0.0, 1.0), cells=33, clamped=clamped).law
    tables = law.tables
    fixed = distance_kernel.prepare(tables.cumulative, tables.left, tables.totals)
    random_words = Entropy(7).words(200).tolist()
    skipped = 0
    for code in (0, 1, 16, 32):
        total = law.total(code)
        shares = [0, 1, law.weights[0], int(tables.left[code]) - 1, int(tables.left[code]), total // 2, total - 1]
        edges = [-(-(share << 64) // total) + shift for share in shares for shift in (-1, 0, 1)]
        words = np.array([word for word in edges if 0 <= word < 2**64] + random_words, np.uint64)
        out, places = np.empty(words.size, np.uint16), np.empty(words.size, np.int64)
        late = distance_kernel.randomize(
            np.full(words.size, code), words, *fixed, tables.stride, law.points, out, places
        )
        again = set(places[:late].tolist())
        skipped += late
        for place, word in enumerate(words.tolist()):
            if place in again:
                with pytest.raises(StopIteration):
                    law.sample(code, iter([word]))
            else:
                assert law.sample(code, iter([word])) == out[place]
    assert skipped


class Given:
    """A stream of words that are known beforehand."""

    def __init__(self, words):
        self.left = np.array(words, np.uint64)

    def fill(self, out):
        out[:], self.left = self.left[: out.size], self.left[out.size :]


@pytest.mark.parametrize("g", [2, 3, 300])
def test_local_hashing_without_a_pool_agrees_with_sample_word_for_word(g):
    """A block takes the words of all choices first, then those of all functions: each person has one and two."""
    oracle = LocalHashing(epsilon=2.0, k=50, kind="LH", g=g)
    words = [word for word in Entropy(g).words(700).tolist() if word < oracle.law.total][:600]
    codes = np.arange(200, dtype=np.uint8) % 50
    out = oracle._empty_reports(200)
    oracle._randomize(codes, Given(words), out)
    choices, a, b = np.array(words, object).reshape(3, 200)
    messages = [oracle.law.sample(int(c), iter(chosen)) for c, *chosen in zip(codes, choices, a, b, strict=True)]
    size = int(oracle.report_bytes)
    assert out.tobytes() == b"".join(message.to_bytes(size, "little") for message in messages)


# Kernels that use words in another way: their reports have the law of `sample`.


def chi_square(counts, probabilities):
    """The probability of counts as far from these probabilities as they are."""
    expected = counts.sum() * np.array([float(p) for p in probabilities])
    assert expected.min() > 20
    return special.chdtrc(len(counts) - 1, ((counts - expected) ** 2 / expected).sum())


OTHER_KERNELS = {
    "SS": lambda epsilon: SubsetSelection(epsilon=epsilon, k=6, omega=3),
    "SS, one member": lambda epsilon: SubsetSelection(epsilon=epsilon, k=6, omega=1),
    "OUE": lambda epsilon: UnaryEncoding(epsilon=epsilon, k=4),
    "SUE": lambda epsilon: UnaryEncoding(epsilon=epsilon, k=4, kind="SUE"),
    "OLH": lambda epsilon: LocalHashing(epsilon=epsilon, k=6, kind="LH", g=3, pool=5),
    "BLH": lambda epsilon: LocalHashing(epsilon=epsilon, k=6, kind="BLH", pool=5),
}


@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_a_kernel_has_the_law_of_sample_and_not_one_with_another_epsilon(name):
    make = OTHER_KERNELS[name]
    oracle = make(1.0)
    messages = list(oracle.sets.messages())
    for code in (0, oracle.size - 1):
        reports = oracle.privatize(np.full(200_000, code), rng=code)
        counts = np.bincount(oracle.message(reports), minlength=len(messages))
        assert chi_square(counts, oracle.law.row(code)) > ALARM
        for epsilon in (0.9, 1.1):
            assert chi_square(counts, make(epsilon).law.row(code)) < ALARM


@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_sample_has_the_law_of_its_row_with_true_words(name):
    """The control is the row of another value."""
    oracle = OTHER_KERNELS[name](1.0)
    messages = {message: place for place, message in enumerate(oracle.sets.messages())}
    words = iter(Entropy(11).words(200_000).tolist())
    counts = np.bincount([messages[oracle.law.sample(1, words)] for _ in range(20_000)], minlength=len(messages))
    assert chi_square(counts, oracle.law.row(1)) > ALARM
    assert chi_square(counts, oracle.law.row(2)) < ALARM
