"""Randomised response: the kernel against a slow version, and the edges of its interface."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bruit
from bruit.domains import Categories, Scale
from bruit.engines import memory
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Words
from bruit.errors import (
    BruitError,
    DataTypeError,
    DesignError,
    FormatError,
    LimitError,
    ParameterError,
    ParameterTypeError,
)
from bruit.kernels import counting, randomized_response
from bruit.laws import Itself, TwoLevelLaw
from bruit.oracles import RandomizedResponse, from_dict


@pytest.mark.parametrize("k", [2, 3, 7, 128, 1024, 10**6])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
def test_the_kernel_agrees_with_sample_word_for_word(k, epsilon):
    law = TwoLevelLaw.calibrate(epsilon, Itself(values=k))
    keep, width = law.inside - law.outside, law.outside
    # Besides random words, both sides of every kind of border.
    borders = [keep + width * y + shift for y in (0, 1, k // 2, k - 1, k) for shift in (-1, 0, 1)]
    borders = [word for word in borders if 0 <= word < law.total] + [0, law.total - 1]
    words = np.concatenate([np.array(borders, np.uint64), Entropy(k).words(2000)])
    words = words[words <= np.uint64(law.total - 1)]
    codes = (np.arange(words.size) * 7919 % k).astype(np.min_scalar_type(k - 1))
    out = np.empty_like(codes)
    randomized_response.randomize(codes, words, np.uint64(keep), np.uint64(width), out)
    assert out.tolist() == [law.sample(int(code), iter([int(word)])) for code, word in zip(codes, words, strict=True)]


@given(st.integers(2, 6), st.integers(1, 9), st.integers(1, 20), st.data())
@settings(deadline=None, max_examples=60)
def test_every_word_of_a_small_law_gives_exactly_its_weights(k, outside, more, data):
    """Enumerates all words of a law small enough to do so: the counts are the weights."""
    law = TwoLevelLaw(inside=outside + more, outside=outside, sets=Itself(values=k))
    value = data.draw(st.integers(0, k - 1))
    words = np.arange(law.total, dtype=np.uint64)
    out = np.empty(law.total, np.uint8)
    codes = np.full(law.total, value, np.uint8)
    randomized_response.randomize(codes, words, np.uint64(more), np.uint64(outside), out)
    assert np.bincount(out, minlength=k).tolist() == [law.inside if y == value else law.outside for y in range(k)]


def test_words_beyond_the_total_are_drawn_again():
    """With a law whose total is 2⁶² three words in four are refused; what remains is uniform."""
    small = TwoLevelLaw(inside=2**61, outside=2**61 // 3, sets=Itself(values=4))
    words = memory.words_below(Entropy(3), small.total, 50_000)
    assert int(words.max()) < small.total
    counts = np.bincount((words // np.uint64(small.total // 16)).astype(int), minlength=17)[:16]
    assert ((counts - 3125) ** 2 / 3125).sum() < 60


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64])
def test_the_histogram_is_the_obvious_one_and_refuses_what_is_out_of_range(dtype):
    reports = Entropy(5).words(10_001).astype(dtype)
    counts = np.zeros((4, 7), np.int64)
    refused = counting.histogram(reports, counts)
    valid = [int(r) for r in reports if 0 <= int(r) < 7]
    assert counts.sum(axis=0).tolist() == np.bincount(valid, minlength=7).tolist()
    assert refused == reports.size - len(valid)


def test_two_coins_are_exactly_three_to_one():
    oracle = bruit.oracle("Warner", labels=["no", "yes"])
    assert oracle == RandomizedResponse.two_coins(labels=("no", "yes"))
    assert (oracle.p, oracle.q) == (Fraction(3, 4), Fraction(1, 4))
    assert oracle.guarantee.epsilon == math.log(3)
    answer = oracle.estimate(oracle.tally(np.repeat([0, 1], [600, 400])))
    assert answer.frequency[1] == pytest.approx(2 * 0.4 - 0.5)


def test_a_matrix_row_is_a_probability_law_in_fractions():
    oracle = RandomizedResponse(epsilon=0.7, k=5)
    rows = oracle.matrix()
    assert all(sum(row) == 1 for row in rows)
    assert rows[2][2] / rows[2][0] == oracle.law.ratio
    with pytest.raises(LimitError, match="p and q say the same"):
        RandomizedResponse(epsilon=1.0, k=2000).matrix()


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1", None, True, 1e-9, 21])
def test_a_bad_epsilon_is_refused(bad):
    with pytest.raises(BruitError, match="epsilon"):
        RandomizedResponse(epsilon=bad, k=3)


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, "3", None, True, 10**6 + 1])
def test_a_bad_k_is_refused(bad):
    with pytest.raises(BruitError):
        RandomizedResponse(epsilon=1.0, k=bad)


def test_the_domain_must_be_declared():
    with pytest.raises(ParameterError, match="must be declared"):
        RandomizedResponse(epsilon=1.0)


@pytest.mark.parametrize("reports", [0, None, np.array([0.5]), np.zeros((3, 3), int), np.array([True])])
def test_reports_of_a_wrong_type_or_shape_are_an_error(reports):
    with pytest.raises(DataTypeError):
        RandomizedResponse(epsilon=1.0, k=3).tally(reports)


def test_impossible_reports_are_counted_and_grow_nothing():
    oracle = RandomizedResponse(epsilon=1.0, k=3)
    tally = oracle.tally(np.array([0, 2, 3, 2**40, -1, -(2**60)], np.int64))
    assert (tally.n, tally.refused, tally.counts.tolist()) == (2, 4, [1, 0, 1])
    hostile = oracle.tally([0, 2**70, None, -1, "x", 1.5, 2])
    assert (hostile.n, hostile.refused) == (2, 5)
    for alone in ([0.5], ["a"], [[0]], [True]):
        assert (oracle.tally(alone).n, oracle.tally(alone).refused) == (0, 1)
    assert oracle.tally(np.array([0, 1, 2], ">u4")).n == 3


def test_estimating_needs_a_tally_of_the_very_design():
    first, second = RandomizedResponse(epsilon=1.0, k=3), RandomizedResponse(epsilon=1.1, k=3)
    with pytest.raises(DesignError, match="another design"):
        second.estimate(first.tally([0, 1]))
    with pytest.raises(DataTypeError, match="needs a Tally"):
        first.estimate([1, 2, 3])


def test_designs_that_differ_in_any_way_have_different_digests():
    designs = [
        RandomizedResponse(epsilon=1.0, k=3),
        RandomizedResponse(epsilon=1.0000001, k=3),
        RandomizedResponse(epsilon=1.0, k=4),
        RandomizedResponse(epsilon=1.0, labels=["a", "b", "c"]),
        RandomizedResponse(epsilon=1.0, labels=["a", "c", "b"]),
        RandomizedResponse(epsilon=1.0, domain=Categories(labels=["a", "b", "c"], missing="category")),
        RandomizedResponse.with_odds(3, 1, k=3),
        RandomizedResponse(epsilon=math.log(3), k=3),
    ]
    assert len({design.digest for design in designs}) == len(designs)
    assert len(set(designs)) == len(designs)


def test_a_design_survives_the_round_trip():
    for oracle in (
        RandomizedResponse(epsilon=0.1, domain=Categories(labels=["é", "b"], missing="category")),
        RandomizedResponse.two_coins(),
        RandomizedResponse(epsilon=0.1, domain=Categories(k=9, missing="drop")),
    ):
        again = from_dict(oracle.to_dict())
        assert again == oracle
        assert again.digest == oracle.digest
    for damaged in (
        {},
        None,
        {**oracle.to_dict(), "oracle": "XYZ"},
        {**oracle.to_dict(), "epsilon": -1},
        {**oracle.to_dict(), "w": 1},
    ):
        with pytest.raises(FormatError):
            from_dict(damaged)


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_reports_do_not_depend_on_the_number_of_threads(n, monkeypatch):
    oracle = RandomizedResponse(epsilon=1.0, k=300)
    values = np.arange(n) % 300
    made = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        made.append(oracle.privatize(values, rng=7))
    assert made[0].dtype == np.uint16
    assert (made[0] == made[1]).all()
    assert (made[0] == made[2]).all()
    assert oracle.tally(made[0]).n == n


def test_blocks_of_a_longer_source_are_the_same_as_of_the_whole():
    oracle = RandomizedResponse(epsilon=1.0, k=5)
    codes = (np.arange(3 * BLOCK) % 5).astype(np.uint8)
    whole, words = oracle.randomize(codes, Words(7)), Words(7)
    parts = [oracle.randomize(codes[i * BLOCK : (i + 1) * BLOCK], words.parts(i, 1)) for i in range(3)]
    assert (np.concatenate(parts) == whole).all()


def test_missing_answers_as_a_category_are_private_like_the_others():
    oracle = bruit.oracle("GRR", epsilon=1.0, domain=Categories(labels=["no", "yes"], missing="category"))
    assert oracle.size == 3
    assert oracle.guarantee.epsilon <= 1.0
    assert set(oracle.privatize(["no", None, "yes"] * 50, rng=1)) == {0, 1, 2}


@pytest.mark.parametrize(("name", "kind"), [("grr", "GRR"), ("kRR", "GRR"), ("DE", "GRR"), ("RR", "GRR")])
def test_oracles_are_found_by_any_of_their_names(name, kind):
    assert bruit.oracle(name, epsilon=1.0, k=2).name == kind


@pytest.mark.parametrize(
    "bad", [{"name": "XYZ"}, {"name": 3}, {"name": "GRR", "epsilon": None}, {"name": "Warner", "k": 3}]
)
def test_names_and_their_parameters_are_checked(bad):
    with pytest.raises(BruitError):
        bruit.oracle(**{"epsilon": 1.0, "k": 2, **bad})


@pytest.mark.parametrize("bad", [[1.5, 2], [1, 2, 3], [-1, 2], [[1, 2]], "ab", None])
def test_simulate_needs_one_whole_count_per_value(bad):
    with pytest.raises(BruitError):
        bruit.oracle("GRR", epsilon=1.0, k=2).simulate(bad)


def test_odds_and_epsilon_must_agree():
    with pytest.raises(ParameterError, match="with_odds"):
        RandomizedResponse(epsilon=1.0, k=2, odds=(3, 1))
    for bad in ((1, 1), (1, 2), (3, 0), (2**40, 1)):
        with pytest.raises(BruitError):
            RandomizedResponse.with_odds(*bad, k=2)


def test_a_policy_is_declared_with_the_domain_and_the_error_has_the_call_as_it_should_be() -> None:
    spelling = r"write RandomizedResponse\(epsilon=1.0, domain=Categories\(labels=\['a', 'b'\], missing='drop'\)\)\.$"
    with pytest.raises(ParameterTypeError, match=spelling):
        bruit.oracle("GRR", epsilon=1.0, labels=["a", "b"], missing="drop")
    with pytest.raises(ParameterTypeError, match=r"domain=Categories\(k=2, outside='other'\), odds=\(3, 1\)\)\.$"):
        RandomizedResponse.with_odds(3, 1, k=2, outside="other")
    with pytest.raises(ParameterError, match="once"):
        RandomizedResponse(epsilon=1.0, k=3, domain=Categories(k=2))
    with pytest.raises(ParameterTypeError, match="Categories"):
        RandomizedResponse(epsilon=1.0, domain=bruit.Grid(0, 9))
    scale = RandomizedResponse(epsilon=1.0, domain=Scale(labels=["no", "yes"], missing="category"))
    assert scale == RandomizedResponse(epsilon=1.0, domain=Categories(labels=["no", "yes"], missing="category"))
