"""Unary encoding: its kernels against slow versions, its law in exact numbers, and the edges of its interface."""

import json
import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import bruit
from bruit import audit, documents, testing
from bruit.domains import Categories
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Words
from bruit.errors import BruitError, DataError, DataTypeError, DesignError, LimitError, ParameterError
from bruit.kernels import bits
from bruit.kernels import unary_encoding as kernel
from bruit.oracles import bits as bit_oracles
from bruit.oracles.unary_encoding import UnaryEncoding

EPSILONS = [0.01, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 10.0, 20.0]
PROBABILITIES = st.one_of(
    st.integers(1, 2**64 - 1),
    # Borders: few digits, digits after the eighth only, all digits.
    st.sampled_from([1, 2, 2**55, 2**56 - 1, 2**56, 2**56 + 1, 2**63, 2**63 - 1, 2**64 - 1, 2**64 - 2**56]),
)
#: What a standard normal variable exceeds, by absolute value, with probability 10⁻⁸.
LIMIT = float(-special.ndtri(0.5e-8))


def _read(body):
    """The oracle that a document describes; the name is the kind."""
    kept = {key: body[key] for key in body if key not in ("oracle", "epsilon", "domain")}
    kept["kind"] = body["oracle"]
    return UnaryEncoding.from_settings(Categories.from_dict(body["domain"]), body["epsilon"], kept)


def _bits(reports, k):
    return np.unpackbits(reports, axis=1, count=k, bitorder="little")


def _rows(n, k, seed=1, share=0.3):
    chosen = Entropy(seed).words(n * k).reshape(n, k) < np.uint64(int(share * 2**64))
    return np.packbits(chosen, axis=1, bitorder="little").reshape(n, (k + 7) // 8), chosen


# The kernels.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", [2, 7, 8, 9, 16, 20, 63, 64, 65, 100, 128, 1000, 4099, 6000])
@pytest.mark.parametrize("n", [0, 1, 14, 15, 16, 130, 2001])
def test_counting_columns_is_the_obvious_sum(k, n):
    rows, chosen = _rows(n, k)
    counts = np.ones(k, np.int64)
    assert bits.count_columns(rows, k, counts) == 0
    assert (counts == 1 + chosen.sum(axis=0)).all()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", [16, 27, 128])
def test_byte_counters_never_overflow(k):
    """All bits set, in more rows than a byte and a flush can hold."""
    rows = np.packbits(np.ones((20_011, k), np.uint8), axis=1, bitorder="little")
    counts = np.zeros(k, np.int64)
    assert bits.count_columns(rows, k, counts) == 0
    assert (counts == 20_011).all()


@pytest.mark.audit
def test_counting_takes_rows_as_they_lie_in_memory():
    """Backwards, every other one, in the other order of axes, at an odd address, read only, and in small pieces."""
    rows, chosen = _rows(3001, 77)
    odd = np.empty(rows.size + 1, np.uint8)[1:].reshape(rows.shape)
    odd[:] = rows
    odd.flags.writeable = False
    for given_rows, expected in [
        (rows[::-1], chosen),
        (rows[::2], chosen[::2]),
        (np.asfortranarray(rows), chosen),
        (odd, chosen),
    ]:
        counts = np.zeros(77, np.int64)
        assert bits.count_columns(given_rows, 77, counts) == 0
        assert (counts == expected.sum(axis=0)).all()


@pytest.mark.audit
def test_rows_with_a_padding_bit_are_refused_in_every_chunk(monkeypatch):
    monkeypatch.setattr(bits, "_CHUNK", 1000)
    rows, chosen = _rows(1003, 77)
    bad = Entropy(5).words(1003) % np.uint64(3) == 0
    rows[bad, -1] |= np.uint8(1) << (Entropy(6).words(int(bad.sum())) % np.uint64(3) + np.uint64(5)).astype(np.uint8)
    counts = np.zeros(77, np.int64)
    assert bits.count_columns(rows, 77, counts) == bad.sum()
    assert (counts == chosen[~bad].sum(axis=0)).all()


@given(PROBABILITIES, st.integers(0, 5), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_drawing_bits_is_comparing_numbers_of_64_digits(probability, size, seed):
    words = Entropy(seed).words(bits.PLANES * size)
    lanes, tied = np.empty((2, size), np.uint64)
    undecided = bits.bernoulli(words, np.uint64(probability), lanes, tied)
    more = Entropy(seed + 1).words(undecided)
    bits.settle(more, np.uint64(probability), lanes, tied)
    assert lanes.tolist() == _slow_lanes(words.tolist(), more.tolist(), probability, size)


def _slow_lanes(words, more, probability, size):
    """Each lane's uniform number, digit by digit; 56 more digits from a further word where the first eight agree."""
    lanes, more = [0] * size, iter(more)
    for i in range(size):
        for lane in range(64):
            digits = [1 - (words[plane * size + i] >> lane & 1) for plane in range(bits.PLANES)]
            number = sum(digit << plane for plane, digit in enumerate(digits))
            tie = number == probability >> 56
            uniform = (number << 56) + (next(more) >> 8 if tie else 0)
            lanes[i] |= (uniform < probability) << lane
    assert next(more, None) is None
    return lanes


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("first", [0, 1, 68, 127, 128, 254, 255])
@pytest.mark.parametrize("rest", [0, 1, 2**55, 2**56 - 1])
def test_all_first_digits_give_exactly_the_probability(first, rest):
    """Enumerates the 256 possible first digits: as many are below as should be, and one is tied."""
    numbers = np.arange(256)
    words = np.empty((bits.PLANES, 4), np.uint64)
    for plane in range(bits.PLANES):
        zeros = (numbers >> plane & 1) == 0
        words[plane] = np.packbits(zeros, bitorder="little").view(np.uint64)
    lanes, tied = np.empty((2, 4), np.uint64)
    probability = np.uint64((first << 56) + rest)
    assert bits.bernoulli(words.reshape(-1), probability, lanes, tied) == 1
    assert np.flatnonzero(np.unpackbits(tied.view(np.uint8), bitorder="little")).tolist() == [first]
    assert np.flatnonzero(np.unpackbits(lanes.view(np.uint8), bitorder="little")).tolist() == list(range(first))
    # The tied lane: of 2⁶⁴ words the first rest·2⁸ set it, and no other.
    border = rest << 8
    for word in {0, max(border - 1, 0), border, 2**64 - 1}:
        again = lanes.copy()
        bits.settle(np.array([word], np.uint64), probability, again, tied)
        assert bool((again != lanes).any()) == (word < border)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", [2, 8, 13, 300])
def test_the_own_bit_is_overwritten_and_padding_is_cleared(k):
    n, own = 500, 2**63 + 12345
    drawn = Entropy(k).bytes(n * ((k + 7) // 8))
    rows = np.frombuffer(drawn, np.uint8).reshape(n, -1).copy()
    expected = _bits(rows, k)
    codes = (np.arange(n) * 7 % k).astype(np.uint16)
    words = Entropy(k + 1).words(n)
    words[:3] = [own - 1, own, 2**64 - 1]
    kernel.own_bits(codes, words, np.uint64(own), 0xFF >> -k % 8, rows)
    for person in range(n):
        expected[person, codes[person]] = int(words[person]) < own
    assert (np.unpackbits(rows, axis=1, bitorder="little")[:, k:] == 0).all()
    assert (_bits(rows, k) == expected).all()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("k", "n"), [(2, 5), (8, 40), (11, 33), (70, 9)])
def test_privatizing_is_the_obvious_loop_over_the_same_words(k, n, monkeypatch):
    """In slices: eight planes, one word per person, then one word for each tie."""
    monkeypatch.setattr(bit_oracles, "SLICE_WORDS", 100)
    oracle = UnaryEncoding(epsilon=1.0, k=k, kind="SUE")
    law, width = oracle.law, (k + 7) // 8
    codes = (np.arange(n) * 5 % k).astype(np.uint8)
    reports = oracle.randomize(codes, Words(9))
    entropy, step = Words(9).part(0).stream(), max(1, 100 // (width + 1))
    for start in range(0, n, step):
        rows = min(step, n - start)
        size = (rows * width + 7) // 8
        words = entropy.words(bits.PLANES * size + rows)
        lanes, tied = np.empty((2, size), np.uint64)
        more = entropy.words(bits.bernoulli(words, np.uint64(law.other), lanes, tied))
        slow = _slow_lanes(words.tolist(), more.tolist(), law.other, size)
        expected = _bits(np.array(slow, np.uint64).view(np.uint8)[: rows * width].reshape(rows, width), k)
        for person in range(rows):
            expected[person, codes[start + person]] = int(words[bits.PLANES * size + person]) < law.own
        assert (_bits(reports[start : start + rows], k) == expected).all()


# The law and its ε.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", ["OUE", "SUE"])
@pytest.mark.parametrize("k", [2, 3, 7, 128, 1024, 10**6])
def test_the_stated_epsilon_is_true_and_close_to_what_was_asked(kind, epsilon, k):
    oracle = UnaryEncoding(epsilon=epsilon, k=k, kind=kind)
    stated = oracle.guarantee.epsilon
    with mpmath.workdps(80):
        p, q = (mpmath.mpf(x.numerator) / x.denominator for x in (oracle.p, oracle.q))
        true = mpmath.log(p * (1 - q) / ((1 - p) * q))
        assert true <= mpmath.mpf(stated)
    assert epsilon * (1 - 1e-9) <= stated <= epsilon
    assert oracle.guarantee.neighbours == "value"


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", ["OUE", "SUE"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_enumeration_of_all_reports_finds_the_closed_form(kind, epsilon, k):
    oracle = UnaryEncoding(epsilon=epsilon, k=k, kind=kind)
    assert all(sum(row) == 1 for row in oracle.matrix())
    found = audit.exact(oracle)
    assert found.method == "enumeration"
    assert found.ratio == oracle.law.ratio
    assert found.holds
    assert audit.exact(UnaryEncoding(epsilon=epsilon, k=128, kind=kind)).ratio == oracle.law.ratio


@pytest.mark.audit
def test_the_probabilities_are_those_of_the_literature():
    for epsilon in EPSILONS:
        oue, sue = UnaryEncoding(epsilon=epsilon, k=9), UnaryEncoding(epsilon=epsilon, k=9, kind="SUE")
        assert oue.p == Fraction(1, 2)
        assert float(oue.q) == pytest.approx(1 / (math.exp(epsilon) + 1), rel=1e-9)
        assert sue.p == 1 - sue.q
        assert float(sue.q) == pytest.approx(1 / (math.exp(epsilon / 2) + 1), rel=1e-12)
        scale = math.exp(epsilon)
        assert oue.variance(0.0, 1) == pytest.approx(4 * scale / math.expm1(epsilon) ** 2, rel=1e-8)
        assert sue.variance(0.0, 1) == pytest.approx(math.sqrt(scale) / math.expm1(epsilon / 2) ** 2, rel=1e-8)


@pytest.mark.audit
@pytest.mark.parametrize(
    "oracle",
    [
        UnaryEncoding.with_probabilities(Fraction(3, 4), 0.3, k=5),
        pytest.param(UnaryEncoding(epsilon=1.0, k=2), marks=pytest.mark.audit),
        pytest.param(UnaryEncoding(epsilon=3.0, k=9), marks=pytest.mark.audit),
        pytest.param(UnaryEncoding(epsilon=0.5, k=3, kind="SUE"), marks=pytest.mark.audit),
        pytest.param(
            UnaryEncoding(epsilon=1.0, domain=Categories(labels=list("rgb"), missing="category")),
            marks=pytest.mark.audit,
        ),
    ],
    ids=lambda oracle: f"{oracle.name}-{oracle.epsilon:.3g}-{oracle.size}",
)
def test_the_common_laws_hold(oracle):
    """Law, guarantee, bias, variance, coverage, merging, documents, seeds, bad input, silence."""
    assert testing.check_oracle(oracle, read=_read) is None


@pytest.mark.audit("OUE-1.0", "OUE-3.0", share=3)
@pytest.mark.parametrize(("kind", "epsilon"), [("OUE", 1.0), ("SUE", 2.0), ("OUE", 3.0)])
def test_bits_of_many_values_have_their_probabilities_and_are_independent(kind, epsilon):
    oracle = UnaryEncoding(epsilon=epsilon, k=130, kind=kind)
    chosen = _bits(oracle.privatize(np.full(60_000, 77), rng=3), 130).astype(np.float32)
    # 8,515 comparisons, of which the most skewed is of about 130 pairs: 8.5 standard deviations are no chance.
    assert np.abs(_scores(chosen, oracle)).max() < 8.5
    # The controls: a little more private, a little less, and two bits that are the same.
    for factor in (0.85, 1.15):
        other = UnaryEncoding(epsilon=epsilon * factor, k=130, kind=kind)
        assert np.abs(_scores(chosen, other)).max() > 8.5
    chosen[:, 3] = chosen[:, 60]
    assert np.abs(_scores(chosen, oracle)).max() > 8.5


def _scores(chosen, oracle):
    """How many standard deviations every mean, and every product of two bits, is from what it should be."""
    n, k = chosen.shape
    means = np.full(k, float(oracle.q))
    means[77] = float(oracle.p)
    spread = np.sqrt(means * (1 - means))
    standard = (chosen - means.astype(np.float32)) / spread.astype(np.float32)
    products = (standard.T @ standard) / math.sqrt(n)
    np.fill_diagonal(products, standard.sum(axis=0, dtype=float) / math.sqrt(n))
    return products


# Simulated tallies.


def _tallies(oracle, counts, runs, seed):
    values = np.repeat(np.arange(oracle.size), counts)
    entropy = Entropy(seed)
    real = np.array([oracle.tally(oracle.privatize(values, rng=entropy)).counts for _ in range(runs)], float)
    return real, np.array([oracle.simulate(counts, rng=entropy).counts for _ in range(4 * runs)], float)


def _distance(first, second):
    """The largest standardised difference of means, of variances of cells and subset sums, and of correlations."""
    k, sizes = first.shape[1], 1 / len(first) + 1 / len(second)
    subsets = np.concatenate([np.eye(k), Entropy(4).words(8 * k).reshape(8, k) % np.uint64(2), np.ones((1, k))])
    one, two = first @ subsets.T, second @ subsets.T
    means = (one.mean(axis=0) - two.mean(axis=0)) / np.sqrt(two.var(axis=0) * sizes)
    variances = np.log(one.var(axis=0) / two.var(axis=0)) / np.sqrt(2 * sizes)
    upper = np.triu_indices(k, 1)
    pairs = (np.arctanh(np.corrcoef(data.T)[upper]) for data in (first, second))
    correlations = np.subtract(*pairs) / np.sqrt(sizes)
    return max(np.abs(part).max() for part in (means, variances, correlations))


def _check_simulation(oracle, counts, runs, seed):
    real, drawn = _tallies(oracle, counts, runs, seed)
    assert _distance(real, drawn) < LIMIT + 0.5
    # The controls: another ε, and the right cells without their independence (made to add up, as subsets would).
    other = UnaryEncoding(epsilon=oracle.epsilon * 1.2, k=oracle.size, kind=oracle.kind)
    assert _distance(real, _tallies(other, counts, runs, seed)[1]) > LIMIT + 0.5
    dependent = drawn - drawn.mean(axis=0)
    dependent -= dependent.mean(axis=1, keepdims=True)
    dependent *= drawn.std(axis=0) / dependent.std(axis=0)
    assert _distance(real, dependent + drawn.mean(axis=0)) > LIMIT + 0.5


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("kind", "epsilon"), [("OUE", 1.0), ("SUE", 3.0)])
def test_a_simulated_tally_has_the_joint_law_of_a_real_one(kind, epsilon):
    counts = np.array([1500, 700, 300, 200, 100, 100, 50, 50, 0, 0])
    _check_simulation(UnaryEncoding(epsilon=epsilon, k=10, kind=kind), counts, 400, seed=2)


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("kind", "epsilon"), [("OUE", 0.5), ("OUE", 2.0), ("SUE", 1.0)])
def test_a_simulated_tally_has_the_joint_law_of_a_real_one_in_many_runs(kind, epsilon, seed):
    counts = np.array([9000, 3000, 2000, 500, 300, 100, 50, 50, 0, 0, 0, 0])
    _check_simulation(UnaryEncoding(epsilon=epsilon, k=12, kind=kind), counts, 1000, seed=100 + seed)


# Estimates.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("target", ["people", "population"])
def test_estimates_from_real_reports_are_unbiased_vary_as_stated_and_are_covered(target):
    oracle, n, runs, k = UnaryEncoding(epsilon=1.5, k=6), 3000, 800, 6
    truth = np.array([0.5, 0.25, 0.15, 0.1, 0.0, 0.0])
    entropy = Entropy(8)
    generator = Entropy(9).generator()
    found, covered = np.empty((runs, k)), np.zeros(k)
    for run in range(runs):
        counts = (truth * n).astype(int) if target == "people" else generator.multinomial(n, truth)
        reports = oracle.privatize(np.repeat(np.arange(k), counts), rng=entropy)
        estimate = oracle.estimate(oracle.tally(reports), target)
        found[run] = estimate.frequency
        ends = estimate.interval(0.9)
        covered += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    stated = oracle.variance(truth, n, target)
    assert (np.abs(found.mean(axis=0) - truth) < LIMIT * np.sqrt(stated / runs)).all()
    ratio = found.var(axis=0, ddof=1) / stated
    assert (np.abs(np.log(ratio)) < LIMIT * math.sqrt(2 / runs)).all()
    assert (np.abs(covered / runs - 0.9) < LIMIT * math.sqrt(0.09 / runs) + 0.01).all()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("target", ["people", "population"])
def test_the_covariance_of_two_values_is_the_observed_one(target):
    oracle, n, runs = UnaryEncoding(epsilon=3.0, k=4, kind="SUE"), 2000, 20_000
    truth = np.array([0.6, 0.3, 0.1, 0.0])
    people = (truth * n).astype(np.int64)
    generator = Entropy(1).generator()
    drawn = np.empty((runs, 4))
    for run in range(runs):
        counts = people if target == "people" else generator.multinomial(n, truth)
        drawn[run] = oracle._simulate(counts, generator)
    model = oracle.estimate(oracle.simulate(people, rng=1)).model
    stated = model.covariance(truth, target)
    observed = np.cov(drawn.T) / (n * model.gap) ** 2
    scale = np.sqrt(np.outer(np.diag(stated), np.diag(stated)))
    assert (np.abs(observed - stated) / scale < LIMIT * math.sqrt(2 / runs)).all()
    assert (np.abs(stated[0, 1] / scale[0, 1]) > 0.1) == (target == "population")


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", ["OUE", "SUE"])
def test_the_most_likely_frequencies_are_those_of_em_on_the_whole_table(kind):
    oracle = UnaryEncoding(epsilon=1.0, k=5, kind=kind)
    reports = oracle.privatize(np.repeat(np.arange(5), [400, 100, 60, 40, 0]), rng=2)
    table = np.array([[float(entry) for entry in row] for row in oracle.matrix()])
    seen = np.bincount(oracle.message(reports), minlength=32)
    frequency = np.full(5, 0.2)
    for _ in range(20_000):
        frequency = frequency * (table @ (seen / (frequency @ table))) / seen.sum()
    found = oracle.most_likely(reports)
    assert found.method == "em"
    assert found.frequency.sum() == pytest.approx(1)

    def loss(f):
        return -(seen @ np.log(f @ table)) / seen.sum()

    assert loss(found.frequency) - loss(frequency) < 1e-6
    assert found.frequency == pytest.approx(frequency, abs=0.01)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", [3, 4, 13, 40])
def test_a_step_of_em_is_the_obvious_one(k):
    oracle = UnaryEncoding(epsilon=2.0, k=k)
    reports = oracle.privatize(np.arange(301) % k, rng=5)
    frequency = np.arange(1.0, k + 1)
    frequency /= frequency.sum()
    better, likelihood = oracle._em_step(reports, frequency)
    posterior = frequency * float(oracle.law.ratio) ** _bits(reports, k)
    total = posterior.sum(axis=1, keepdims=True)
    assert better == pytest.approx((posterior / total).mean(axis=0))
    assert likelihood == pytest.approx(np.log(total).mean())


def test_a_step_of_em_does_not_depend_on_the_number_of_threads(monkeypatch):
    oracle = UnaryEncoding(epsilon=2.0, k=12)
    reports = oracle.privatize(np.arange(3 * BLOCK + 5) ** 2 % 12, rng=5)
    steps = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        steps.append(oracle._em_step(reports, np.full(12, 1 / 12)))
    assert (steps[0][0] == steps[1][0]).all()
    assert steps[0][1] == steps[1][1]


@pytest.mark.audit
def test_the_most_likely_frequencies_leave_out_refused_reports_and_need_one_report():
    oracle = UnaryEncoding(epsilon=2.0, k=12)
    reports = oracle.privatize(np.arange(705) ** 2 % 12, rng=5)
    bad = reports | np.array([0, 0x80], np.uint8)
    mixed = np.concatenate([reports[:200], bad, reports[200:]])
    assert (oracle.most_likely(mixed).frequency == oracle.most_likely(reports).frequency).all()
    for nothing in (bad, reports[:0], []):
        with pytest.raises(DataError, match="no valid report"):
            oracle.most_likely(nothing)


# What an attacker and a planner are told.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", ["OUE", "SUE"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("k", [2, 5, 8])
def test_guessability_is_the_mean_of_the_best_guess_over_all_reports(kind, epsilon, k):
    oracle = UnaryEncoding(epsilon=epsilon, k=k, kind=kind)
    best = sum(max(column) for column in zip(*oracle.matrix(), strict=True)) / k
    assert oracle.guessability == pytest.approx(float(best), rel=1e-12)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", ["OUE", "SUE"])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
@pytest.mark.parametrize("k", [300, 10**6])
def test_guessability_of_many_values_is_the_formula_in_high_precision(kind, epsilon, k):
    oracle = UnaryEncoding(epsilon=epsilon, k=k, kind=kind)
    with mpmath.workdps(60):
        p, q = (mpmath.mpf(x.numerator) / x.denominator for x in (oracle.p, oracle.q))
        if k == 300:
            terms = (mpmath.binomial(k - 1, i - 1) * q ** (i - 1) * (1 - q) ** (k - i) / i for i in range(1, k + 1))
            shared = mpmath.fsum(terms)
        else:
            shared = (1 - (1 - q) ** k) / (k * q)
        exact = p * shared + (1 - p) * (1 - q) ** (k - 1) / k
        assert oracle.guessability == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.audit
def test_a_report_takes_one_bit_per_value():
    for k, size in [(2, 1), (8, 1), (9, 2), (10**6, 125_000)]:
        oracle = UnaryEncoding(epsilon=1.0, k=k)
        assert oracle.report_bytes == size
        assert oracle.privatize([0, k - 1], rng=1).shape == (2, size)
    assert UnaryEncoding(epsilon=1.0, domain=Categories(labels=list("abcdefgh"), missing="category")).report_bytes == 2


def test_a_message_is_the_number_that_its_bits_write():
    oracle = UnaryEncoding(epsilon=1.0, k=10)
    assert oracle.message(np.array([[5, 0], [0, 2], [255, 3]], np.uint8)).tolist() == [5, 512, 1023]
    row = oracle.matrix()[3]
    assert row[8] == oracle.p * (1 - oracle.q) ** 9
    assert row[1] == (1 - oracle.p) * oracle.q * (1 - oracle.q) ** 8
    large = UnaryEncoding(epsilon=1.0, k=11)
    for attempt in (large.matrix, lambda: large.message(np.zeros((1, 2), np.uint8))):
        with pytest.raises(LimitError, match="p and q say the same"):
            attempt()


# Reports from outside.


@pytest.mark.audit
def test_impossible_reports_are_counted_as_refused():
    oracle = UnaryEncoding(epsilon=1.0, k=11)
    tally = oracle.tally(np.array([[1, 0], [255, 7], [255, 255], [0, 8], [0, 128], [0, 4]], np.uint8))
    assert (tally.n, tally.refused) == (3, 3)
    assert tally.counts.tolist() == [2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    "reports",
    [
        np.zeros((3, 2), np.int64),
        np.zeros((3, 2), np.int8),
        np.zeros((3, 2), bool),
        np.zeros((3, 2)),
        np.zeros((3, 1), np.uint8),
        np.zeros((3, 3), np.uint8),
        np.zeros((0, 3), np.uint8),
        np.zeros(2, np.uint8),
        np.zeros((1, 3, 2), np.uint8),
        b"ab",
        None,
        0,
    ],
)
def test_reports_of_a_wrong_type_or_shape_are_an_error(reports):
    oracle = UnaryEncoding(epsilon=1.0, k=11)
    for verb in (oracle.tally, oracle.most_likely):
        with pytest.raises(DataTypeError, match="one row of 2 bytes"):
            verb(reports)


@pytest.mark.audit
def test_entries_of_a_list_are_one_report_or_one_refusal_each():
    oracle = UnaryEncoding(epsilon=1.0, k=11)
    tally = oracle.tally([[1, 0], b"ab", "ab", [0, 1, 2], [0, 300], None, 0])
    assert (tally.n, tally.refused, tally.counts.tolist()[:2]) == (1, 6, [1, 0])
    with pytest.raises(DataError, match="no valid report"):
        oracle.most_likely(["ab"])


@pytest.mark.audit
def test_no_reports_make_an_empty_tally():
    oracle = UnaryEncoding(epsilon=1.0, k=11)
    for nothing in ([], np.empty((0, 2), np.uint8), oracle.privatize(np.array([], int))):
        assert oracle.tally(nothing).n == 0


# Blocks, threads and memory.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("k", [5, 100])
def test_reports_and_tallies_do_not_depend_on_the_number_of_threads(n, k, monkeypatch):
    oracle = UnaryEncoding(epsilon=1.0, k=k)
    values = np.arange(n) % k
    made = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        reports = oracle.privatize(values, rng=7)
        made.append((reports, oracle.tally(reports)))
    assert all((reports == made[0][0]).all() and tally == made[0][1] for reports, tally in made)
    assert made[0][1].n == n
    assert (made[0][1].counts == _bits(made[0][0], k).sum(axis=0)).all()


@pytest.mark.audit
def test_blocks_of_a_longer_source_are_the_same_as_of_the_whole():
    oracle = UnaryEncoding(epsilon=1.0, k=20)
    codes = (np.arange(3 * BLOCK) % 20).astype(np.uint8)
    whole, words = oracle.randomize(codes, Words(7)), Words(7)
    parts = [oracle.randomize(codes[i * BLOCK : (i + 1) * BLOCK], words.parts(i, 1)) for i in range(3)]
    assert (np.concatenate(parts) == whole).all()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("k", "n", "mebibytes"), [(128, 10**6, 40), (10**6, 200, 60), (999_999, 200, 60)])
def test_memory_is_the_reports_and_little_more(k, n, mebibytes):
    """The reports are 15 and 24 MiB; of a million values, each array of counts is 8 MiB."""
    oracle = UnaryEncoding(epsilon=1.0, k=k)
    values = (np.arange(n) % k).astype(np.uint32)
    oracle.tally(oracle.privatize(values[:10]))
    tracemalloc.start()
    reports = oracle.privatize(values)
    tally = oracle.tally(reports)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < mebibytes * 2**20
    share = tally.counts.sum() / (n * (k - 1 + 0.5 / float(oracle.q)))
    assert abs(share - float(oracle.q)) < LIMIT * math.sqrt(0.25 / (n * k))


# Parameters and documents.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1", None, True, 1e-9, 21])
def test_a_bad_epsilon_is_refused(bad):
    with pytest.raises(BruitError, match="epsilon"):
        UnaryEncoding(epsilon=bad, k=3)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, "3", None, True, 10**6 + 1])
def test_a_bad_k_is_refused(bad):
    with pytest.raises(BruitError):
        UnaryEncoding(epsilon=1.0, k=bad)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("bad", ["oue", "GRR", None, 3])
def test_a_bad_kind_is_refused(bad):
    with pytest.raises(BruitError, match="kind"):
        UnaryEncoding(epsilon=1.0, k=3, kind=bad)


@pytest.mark.audit
def test_any_probabilities_are_rounded_to_the_private_side():
    oracle = UnaryEncoding.with_probabilities(Fraction(2, 3), Fraction(1, 3), k=4)
    assert oracle.name == "UE"
    assert Fraction(2, 3) - Fraction(1, 2**64) < oracle.p < Fraction(2, 3)
    assert Fraction(1, 3) < oracle.q < Fraction(1, 3) + Fraction(1, 2**64)
    assert math.log(4) * (1 - 1e-9) < oracle.guarantee.epsilon == oracle.epsilon
    assert oracle.epsilon <= math.nextafter(math.log(4), 2)
    floats = UnaryEncoding.with_probabilities(0.5, 0.25, k=4)
    assert (floats.p, floats.q) == (Fraction(1, 2), Fraction(1, 4))


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    ("p", "q"), [(0.5, 0.5), (0.3, 0.5), (1.0, 0.5), (0.5, 0.0), (1, 0), ("a", 0.1), (None, 0.1), (0.5, True), (2, 0.1)]
)
def test_probabilities_must_be_in_order(p, q):
    with pytest.raises(BruitError, match=r"\bp\b|\bq\b"):
        UnaryEncoding.with_probabilities(p, q, k=4)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("p", "q"), [(0.5, 1e-12), (0.5001, 0.5), (1 - 1e-12, 1e-6)])
def test_probabilities_beyond_the_limits_of_epsilon_are_refused(p, q):
    with pytest.raises(LimitError, match="epsilon"):
        UnaryEncoding.with_probabilities(p, q, k=4)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    "bad",
    [
        {"weights": (2**63, 2**62)},
        {"kind": "UE"},
        {"kind": "UE", "weights": (2**63, 2**62)},
        {"kind": "UE", "weights": (2**62, 2**63)},
        {"kind": "UE", "weights": (2**63, 0)},
        {"kind": "UE", "weights": (2**64, 1)},
        {"kind": "UE", "weights": (1.5, 1)},
        {"kind": "UE", "weights": 3},
    ],
)
def test_weights_must_be_those_of_epsilon_and_of_the_kind(bad):
    with pytest.raises(BruitError):
        UnaryEncoding(epsilon=1.0, k=3, **bad)


@pytest.mark.audit
def test_a_design_survives_the_round_trip():
    for oracle in (
        UnaryEncoding(epsilon=0.1, domain=Categories(labels=["é", "b"], missing="category")),
        UnaryEncoding(epsilon=0.1, domain=Categories(k=9, missing="drop"), kind="SUE"),
        UnaryEncoding.with_probabilities(0.7, 0.2, k=9),
    ):
        again = _read(json.loads(documents.canonical(oracle.to_dict())))
        assert again == oracle
        assert again.digest == oracle.digest


@pytest.mark.audit
def test_designs_that_differ_in_any_way_have_different_digests():
    designs = [
        UnaryEncoding(epsilon=1.0, k=3),
        UnaryEncoding(epsilon=1.0, k=3, kind="SUE"),
        UnaryEncoding(epsilon=1.0000001, k=3),
        UnaryEncoding(epsilon=1.0, k=4),
        UnaryEncoding(epsilon=1.0, labels=["a", "b", "c"]),
        UnaryEncoding.with_probabilities(0.75, 0.25, k=3),
        UnaryEncoding.with_probabilities(0.75, 0.26, k=3),
    ]
    assert len({design.digest for design in designs}) == len(set(designs)) == len(designs)
    with pytest.raises(DesignError, match="another design"):
        designs[1].estimate(designs[0].tally(designs[0].privatize([0, 1])))


def test_epsilon_and_probabilities_must_agree():
    oracle = UnaryEncoding.with_probabilities(0.75, 0.25, k=3)
    with pytest.raises(ParameterError, match="with_probabilities"):
        UnaryEncoding(epsilon=1.0, k=3, kind="UE", weights=oracle.weights)


@pytest.mark.parametrize(
    ("epsilon", "true", "variance"), [(1.0, 0.896, 4.807), (2.0, 1.636, 1.284), (4.0, 2.859, 0.285)]
)
def test_the_thresholded_histogram_has_its_true_epsilon_and_oue_is_better(
    epsilon: float, true: float, variance: float
) -> None:
    published = bruit.oracle("the", epsilon=epsilon, k=5)
    assert round(published.epsilon, 3) == true
    assert round(published.typical_variance(0.0, 1), 3) == variance
    for oue in (true, epsilon):
        assert bruit.oracle("OUE", epsilon=oue, k=5).typical_variance(0.0, 1) < variance
    with pytest.raises(ParameterError, match="OUE"):
        bruit.Plan({"smokes": ["no", "yes"]}, epsilon, "THE")
