"""What Hadamard response and projective geometry response share: the law with sets, tallies, simulation, likelihood."""

from __future__ import annotations

import functools
import math
import tracemalloc
from dataclasses import fields

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit import audit, testing
from bruit.domains import Categories
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy
from bruit.errors import BruitError, DataError, DataTypeError, DesignError, LimitError
from bruit.estimation import Tally
from bruit.kernels import two_level
from bruit.laws import Itself, TwoLevelLaw, Window
from bruit.oracles.hadamard_response import HadamardResponse
from bruit.oracles.projective_geometry import ProjectiveGeometry

KINDS = [HadamardResponse, ProjectiveGeometry]
SMALL = [
    HadamardResponse(epsilon=1.0, k=5),
    HadamardResponse(epsilon=3.0, k=16),
    HadamardResponse(epsilon=2.0, k=10, blocks=4),
    ProjectiveGeometry(epsilon=1.0, k=12),
    ProjectiveGeometry(epsilon=3.0, k=16),
    ProjectiveGeometry(epsilon=0.5, k=7),
]
EPSILONS = [0.01, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 10.0, 20.0]

each_small = pytest.mark.parametrize("oracle", SMALL, ids=lambda o: f"{o.name}-{o.epsilon:g}-{o.k}-{o.messages}")
each_kind = pytest.mark.parametrize("kind", KINDS)


def read(kind, body):
    """The oracle that `to_dict` described."""
    rest = {key: body[key] for key in body if key not in ("oracle", "epsilon", "domain")}
    return kind.from_settings(Categories.from_dict(body["domain"]), body["epsilon"], rest)


def frequencies(size):
    """Unequal frequencies, the last of them zero."""
    weights = 1.0 / (1 + np.arange(size))
    weights[-1] = 0
    return weights / weights.sum()


# The law.


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
@pytest.mark.parametrize(("members", "outcomes"), [(1, 3), (16, 32), (121, 364), (1 << 19, 1 << 20), (1, 1 << 22)])
def test_a_word_chooses_by_exact_quotients(members, outcomes, epsilon):
    """Besides random words, both sides of every kind of border."""
    law = TwoLevelLaw.calibrate(epsilon, Window(values=outcomes - members + 1, width=members))
    step, width = law.inside - law.outside, law.outside
    borders = [step * m + shift for m in (0, 1, members // 2, members - 1, members) for shift in (-1, 0, 1)]
    borders += [
        step * members + width * y + shift for y in (1, outcomes // 2, outcomes - 1, outcomes) for shift in (-1, 0, 1)
    ]
    words = [word for word in borders if 0 <= word < law.total] + [0, law.total - 1]
    words += [word for word in Entropy(outcomes).words(500).tolist() if word < law.total]
    weights = two_level.weights(law.inside, law.outside, law.members)
    assert [two_level.choose(np.uint64(word), weights) for word in words] == [law.choose(word) for word in words]


@given(st.sampled_from(SMALL), st.integers(1, 9), st.integers(1, 20), st.data())
@settings(deadline=None, max_examples=60)
def test_every_word_of_a_small_law_gives_exactly_its_weights(oracle, outside, more, data):
    """Enumerates all words of a law small enough to do so: the counts are the weights."""
    real = oracle.law
    law = TwoLevelLaw(inside=outside + more, outside=outside, sets=real.sets)
    value = data.draw(st.integers(0, oracle.k - 1))
    codes, words = np.full(law.total, value, np.uint8), np.arange(law.total, dtype=np.uint64)
    twin = type(oracle)(**{field.name: getattr(oracle, field.name) for field in fields(oracle)})
    twin.__dict__["law"] = law
    twin.__dict__["_words"] = lambda _, size: words
    out = np.empty(law.total, np.uint8)
    twin._randomize(codes, Entropy(0), out)
    inside = real.probability(inside=True)
    row = oracle.matrix()[value]
    assert np.bincount(out, minlength=law.outcomes).tolist() == [
        law.inside if entry == inside else law.outside for entry in row
    ]


@each_small
def test_words_beyond_the_total_are_drawn_again(oracle, monkeypatch):
    """With a law whose total is 2⁶² three words in four are refused; what remains is uniform below the total."""
    small = TwoLevelLaw(inside=2**61, outside=2**61 // 3, sets=Itself(values=4))
    monkeypatch.setitem(oracle.__dict__, "law", small)
    words = oracle._words(Entropy(3), 50_000)
    assert int(words.max()) < small.total
    counts = np.bincount((words // np.uint64(small.total // 16)).astype(int), minlength=17)[:16]
    assert ((counts - 3125) ** 2 / 3125).sum() < 60


@pytest.mark.parametrize("k", [2, 3, 7, 128, 1024, 10**6])
@pytest.mark.parametrize("epsilon", EPSILONS)
@each_kind
def test_the_worst_ratio_is_below_the_stated_epsilon_and_that_below_what_was_asked(kind, epsilon, k):
    if kind is ProjectiveGeometry and k == 10**6 and epsilon == 10.0:
        with pytest.raises(LimitError, match="HR takes this domain"):
            kind(epsilon=epsilon, k=k)
        return
    oracle = kind(epsilon=epsilon, k=k)
    ratio = audit.exact(oracle).ratio if k <= 7 else oracle.law.ratio
    stated = oracle.guarantee.epsilon
    with mpmath.workdps(80):
        worst = mpmath.mpf(ratio.numerator) / ratio.denominator
        assert worst <= mpmath.exp(mpmath.mpf(stated)) <= mpmath.exp(mpmath.mpf(epsilon))
    assert stated >= epsilon * (1 - 1e-9)
    assert oracle.messages <= 2**22


@each_kind
def test_a_matrix_is_exact_where_it_is_small_and_the_audit_uses_the_closed_form_where_not(kind):
    oracle = kind(epsilon=1.0, k=50)
    assert all(sum(row) == 1 for row in oracle.matrix())
    assert audit.exact(oracle).method == "enumeration"
    large = kind(epsilon=1.0, k=100_000)
    with pytest.raises(LimitError, match="matrix"):
        large.matrix()
    assert audit.exact(large).method == "closed form"
    assert audit.exact(large).holds


@each_small
def test_guessability_is_the_success_of_the_best_guess(oracle):
    columns = zip(*oracle.matrix(), strict=True)
    assert oracle.guessability == pytest.approx(float(sum(max(column) for column in columns) / oracle.size), rel=1e-12)


@pytest.mark.parametrize(
    "oracle",
    [pytest.param(oracle, marks=pytest.mark.audit) for oracle in (SMALL[1], SMALL[2], SMALL[3])],
    ids=lambda o: f"{o.name}-{o.blocks if o.name == 'HR' else o.prime}",
)
def test_an_oracle_keeps_the_common_laws(oracle):
    assert testing.check_oracle(oracle, read=functools.partial(read, type(oracle))) is None


# Reports and tallies.


@each_kind
@pytest.mark.parametrize("reports", [0, None, np.zeros((3, 3), int), np.array([0.5]), np.array([True])])
def test_reports_of_a_wrong_type_or_shape_are_an_error(kind, reports):
    for k in (3, 100_000):
        with pytest.raises(DataTypeError):
            kind(epsilon=1.0, k=k).tally(reports)


@each_kind
@pytest.mark.parametrize("reports", [[0.5], ["a"], [[0]], [True]])
def test_an_entry_of_a_list_that_is_no_report_is_refused(kind, reports):
    for k in (3, 100_000):
        tally = kind(epsilon=1.0, k=k).tally(reports)
        assert (tally.n, tally.refused) == (0, 1)


@each_kind
@pytest.mark.parametrize("k", [3, 100_000])
def test_impossible_reports_are_counted_and_grow_nothing(kind, k):
    oracle = kind(epsilon=1.0, k=k)
    last = oracle.messages - 1
    tally = oracle.tally(np.array([0, last, last + 1, 2**40, -1, -(2**60), 2**63 - 1], np.int64))
    assert (tally.n, tally.refused, tally.counts[0], tally.counts[last]) == (2, 5, 1, 1)
    assert tally.counts.size == oracle.messages
    assert oracle.tally(np.array([2**64 - 1], np.uint64)).refused == 1
    assert oracle.tally([]).n == 0


@each_kind
def test_a_large_tally_is_the_obvious_one_however_it_is_split(kind):
    oracle = kind(epsilon=1.0, k=70_000)
    assert oracle.messages > BLOCK
    reports = oracle.privatize(np.arange(150_000) % 70_000, rng=5)
    whole = oracle.tally(reports)
    assert whole.counts.tolist() == np.bincount(reports, minlength=oracle.messages).tolist()
    assert oracle.tally(reports[:1000]) + oracle.tally(reports[1000:]) == whole


@each_kind
@pytest.mark.parametrize("n", [0, 1, BLOCK + 1, 3 * BLOCK + 5])
def test_reports_do_not_depend_on_the_number_of_threads(kind, n, monkeypatch):
    oracle = kind(epsilon=1.0, k=300)
    made = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        made.append(oracle.privatize(np.arange(n) % 300, rng=7))
    assert made[0].dtype == np.uint16
    assert (made[0] == made[1]).all()
    assert (made[0] == made[2]).all()
    assert oracle.tally(made[0]).n == n


@each_small
def test_a_design_survives_the_round_trip_and_differs_from_others(oracle):
    again = read(type(oracle), oracle.to_dict())
    assert again == oracle
    assert again.digest == oracle.digest
    assert oracle.estimate(again.tally([0, 1])).n == 2
    with pytest.raises(DesignError, match="another design"):
        type(oracle)(epsilon=oracle.epsilon + 0.1, k=oracle.k).estimate(oracle.tally([0, 1]))


@each_kind
def test_a_tally_whose_counts_do_not_add_up_is_refused(kind):
    oracle = kind(epsilon=1.0, k=5)
    forged = np.zeros(oracle.messages, np.int64)
    forged[0] = 5
    with pytest.raises(DataError, match="add up"):
        oracle.estimate(Tally(design=oracle.digest, counts=forged, n=9))


@each_kind
def test_missing_answers_as_a_category_are_one_value_more(kind):
    oracle = kind(epsilon=1.0, domain=Categories(labels=["no", "yes"], missing="category"))
    assert oracle.size == 3
    assert oracle.estimate(oracle.tally(oracle.privatize(["no", None, "yes"] * 50, rng=1))).frequency.size == 3


@each_kind
def test_a_million_people_take_little_memory(kind):
    oracle = kind(epsilon=1.0, k=128)
    values = (np.arange(10**6) % 128).astype(np.uint8)
    oracle.privatize(values[:10], rng=1)
    tracemalloc.start()
    try:
        reports = oracle.privatize(values, rng=1)
        oracle.tally(reports)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20


# Simulation.


def _subset_sums(counts, masks):
    return counts @ masks.T.astype(float)


def _distinguished(first, second, limit=6.0):
    """Whether any column differs in mean or variance by more than chance."""
    sizes = 1 / len(first) + 1 / len(second)
    spread, other = first.var(axis=0, ddof=1), second.var(axis=0, ddof=1)
    means = np.abs(first.mean(axis=0) - second.mean(axis=0)) / np.sqrt(spread * sizes)
    # The logarithm of a sample variance has variance (kurtosis − 1)/runs.
    kurtosis = ((first - first.mean(axis=0)) ** 4).mean(axis=0) / spread**2
    variances = np.abs(np.log(other / spread)) / np.sqrt((kurtosis - 1) * sizes)
    return bool((means > limit).any() or (variances > limit).any())


def _joint(oracle, n, runs, seed):
    """Single cells, sums over random subsets and differences of pairs, real and simulated."""
    entropy = Entropy(seed)
    people = np.random.default_rng(seed).multinomial(n, frequencies(oracle.size))
    values = np.repeat(np.arange(oracle.size), people)
    real = np.array([oracle.tally(oracle.privatize(values, rng=entropy)).counts for _ in range(runs)])
    simulated = np.array([oracle.simulate(people, rng=entropy).counts for _ in range(2 * runs)])
    masks = np.random.default_rng(seed).integers(0, 2, (30, oracle.messages))
    masks = masks[np.ptp(masks, axis=1) > 0]  # all messages together are always n
    pairs = np.eye(oracle.messages, dtype=int) - np.roll(np.eye(oracle.messages, dtype=int), 1, axis=1)
    return real, simulated, np.concatenate([np.eye(oracle.messages, dtype=int), masks, pairs])


def _check_joint(oracle, n, runs, seed):
    real, simulated, masks = _joint(oracle, n, runs, seed)
    assert (simulated.sum(axis=1) == n).all()
    assert not _distinguished(_subset_sums(simulated, masks), _subset_sums(real, masks))
    # The control has the law of every single cell, but cells that know nothing of each other.
    generator = np.random.default_rng(seed)
    apart = np.column_stack([generator.permutation(column) for column in simulated.T])
    assert not _distinguished(apart, real)
    assert _distinguished(_subset_sums(apart, masks), _subset_sums(real, masks))


@pytest.mark.audit(share=3)
@each_small
def test_simulated_tallies_have_the_joint_law_of_real_ones(oracle):
    _check_joint(oracle, n=3000, runs=250, seed=11)


@each_kind
def test_few_people_are_simulated_by_the_same_law(kind):
    """With fewer people than a set has members they are drawn one by one."""
    _check_joint(kind(epsilon=1.0, k=100), n=1500, runs=300, seed=12)


@pytest.mark.audit
@each_small
def test_many_simulated_tallies_have_the_joint_law_of_real_ones(oracle):
    for seed in (1, 2, 3):
        _check_joint(oracle, n=20_000, runs=1000, seed=seed)


@each_kind
def test_simulating_a_large_domain_takes_all_people(kind):
    oracle = kind(epsilon=2.0, k=50_000)
    people = np.zeros(50_000, np.int64)
    people[[0, 7, 49_999]] = [3_000_000, 5, 2]
    tally = oracle.simulate(people, rng=1)
    assert tally.n == tally.counts.sum() == 3_000_007
    assert oracle.estimate(tally).frequency[0] == pytest.approx(1, abs=0.02)


# Estimates: everything follows from the matrix and from f̂ being linear in the counts of messages.


def _coefficients(oracle):
    """What one report of each message adds to n·f̂, one row per value."""
    rows = []
    for message in range(oracle.messages):
        rows.append(oracle.estimate(oracle.tally([message])).frequency)
    return np.array(rows).T


@each_small
@pytest.mark.parametrize("target", ["population", "people"])
def test_means_variances_and_covariances_are_those_of_the_matrix(oracle, target):
    n, truth = 1000, frequencies(oracle.size)
    law = np.array([[float(entry) for entry in row] for row in oracle.matrix()])
    add = _coefficients(oracle)
    means = add @ law.T
    np.testing.assert_allclose(means, np.eye(oracle.size), atol=1e-9)
    second = (add * (truth @ law)) @ add.T
    minus = np.outer(truth, truth) if target == "population" else (means * truth) @ means.T
    exact = (second - minus) / n
    np.testing.assert_allclose(oracle.variance(truth, n, target), np.diag(exact), rtol=1e-9)
    # A tally whose counts are as expected: the observed share of each block is the true one.
    counts = np.rint(truth @ law * 10**12).astype(np.int64)
    model = oracle._model(Tally(design=oracle.digest, counts=counts, n=int(counts.sum())))
    stated = model.covariance(truth, target) * (int(counts.sum()) / n)
    np.testing.assert_allclose(stated, exact, rtol=1e-6, atol=1e-12)


@each_small
def test_a_step_of_em_is_the_one_of_the_matrix(oracle):
    law = np.array([[float(entry) for entry in row] for row in oracle.matrix()])
    tally = oracle.simulate(np.arange(oracle.size) * 10, rng=3)
    now = frequencies(oracle.size)
    mixture = now @ law
    better = now * (law @ (tally.counts / mixture)) / tally.n
    found, likelihood = oracle._model(tally).em_step(now)
    np.testing.assert_allclose(found, better, rtol=1e-9, atol=1e-15)
    assert likelihood == pytest.approx(float(tally.counts @ np.log(mixture)) / tally.n, rel=1e-12)


@each_small
def test_the_most_likely_frequencies_are_frequencies_near_the_truth(oracle):
    truth = frequencies(oracle.size)
    values = np.repeat(np.arange(oracle.size), np.rint(truth * 40_000).astype(int))
    found = oracle.most_likely(oracle.privatize(values, rng=4)).frequency
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    error = np.sqrt(oracle.variance(truth, values.size, "people"))
    assert (np.abs(found - truth) < 6 * error).all()


@pytest.mark.audit(share=3)
@each_small
@pytest.mark.parametrize("target", ["population", "people"])
def test_intervals_cover_as_often_as_they_say(oracle, target):
    n, runs, truth = 3000, 1500, frequencies(oracle.size)
    generator, entropy = np.random.default_rng(8), Entropy(8)
    people = generator.multinomial(n, truth)
    hits = np.zeros(oracle.size)
    for _ in range(runs):
        asked = people if target == "people" else generator.multinomial(n, truth)
        wanted = people / n if target == "people" else truth
        ends = oracle.estimate(oracle.simulate(asked, rng=entropy), target).interval(0.95)
        hits += (ends[:, 0] <= wanted) & (wanted <= ends[:, 1])
    assert 0.94 < hits.mean() / runs < 0.96
    assert (np.abs(hits / runs - 0.95) < 0.03).all()


@pytest.mark.audit
@each_small
def test_base_cut_keeps_no_absent_value_as_often_as_it_says_and_not_much_more_often(oracle):
    """Half of the values are absent; that one of them is kept must happen in at most 20 % of the runs."""
    runs, entropy = 2000, Entropy(3)
    people = np.zeros(oracle.size, np.int64)
    people[: oracle.size // 2] = 300
    wrong = 0
    for _ in range(runs):
        kept = oracle.estimate(oracle.simulate(people, rng=entropy)).consistent("base-cut", level=0.8).frequency
        wrong += bool((kept[oracle.size // 2 :] > 0).any())
    assert 0.02 < wrong / runs < 0.2 + 6 * math.sqrt(0.16 / runs)


@each_kind
def test_bad_settings_are_refused(kind):
    field = "blocks" if kind is HadamardResponse else "prime"
    for bad in (-1, 6, 1.0, "2", None, True, 2**30):
        with pytest.raises(BruitError, match=field):
            kind(epsilon=1.0, k=10, **{field: bad})
