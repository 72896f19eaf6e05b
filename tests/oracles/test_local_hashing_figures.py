"""The figures that local hashing promises: its error, its joint law, the cost of a pool, and how well one guesses."""

import math

import numpy as np
import pytest
from scipy import special

from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.kernels import hash_family
from bruit.oracles.local_hashing import LocalHashing
from bruit.oracles.local_hashing import lines as hash_lines

#: Limits in standard deviations, passed by chance less than once in 10⁷.
Z = 5.6


def tallies(oracle, counts, runs, rng, *, simulated=False):
    """Counts of support of many collections, each from new reports of the same people."""
    entropy = Entropy(rng)
    if simulated:
        return np.array([oracle.simulate(counts, rng=entropy).counts for _ in range(runs)], float)
    codes = np.repeat(np.arange(oracle.size), counts).astype(np.uint8)
    made = (oracle.tally(oracle.privatize(codes, rng=entropy)).counts for _ in range(runs))
    return np.array(list(made), float)


def ratio_limits(runs):
    """What the ratio of an observed to a true variance stays between."""
    tail = special.ndtr(-Z)
    return [float(special.chdtri(runs - 1, p)) / (runs - 1) for p in (1 - tail, tail)]


# Real reports, one value at a time.


@pytest.fixture(scope="module", params=[("OLH", 1.0), ("BLH", 2.0)], ids=lambda kind: kind[0])
def collections(request):
    """An oracle, its people, and the counts of many real collections."""
    kind, epsilon = request.param
    oracle = LocalHashing(epsilon=epsilon, k=12, kind=kind)
    counts = np.array([800, 500, 300, 150, 100, 60, 40, 25, 15, 7, 3, 0])
    return oracle, counts, tallies(oracle, counts, 3000, 41)


def test_real_estimates_are_unbiased(collections):
    oracle, counts, seen = collections
    truth = counts / counts.sum()
    found = (seen / counts.sum() - float(oracle.q)) / float(oracle.p - oracle.q)
    error = np.sqrt(oracle.variance(truth, 2000, "people") / len(seen))
    assert (np.abs(found.mean(axis=0) - truth) < Z * error).all()


def test_real_estimates_vary_as_stated(collections):
    oracle, counts, seen = collections
    found = (seen / 2000 - float(oracle.q)) / float(oracle.p - oracle.q)
    low, high = ratio_limits(len(seen))
    ratio = found.var(axis=0, ddof=1) / oracle.variance(counts / 2000, 2000, "people")
    assert ((low < ratio) & (ratio < high)).all()
    # The control: three tenths fewer people would be noticed, and as many more.
    for people in (1400, 2600):
        wrong = found.var(axis=0, ddof=1) / oracle.variance(counts / 2000, people, "people")
        assert not ((low < wrong) & (wrong < high)).any()


def test_intervals_of_real_collections_cover_at_their_level(collections):
    oracle, counts, seen = collections
    truth = counts / 2000
    hits = np.zeros(truth.size)
    for row in seen:
        tally = oracle.simulate(counts, rng=0)
        real = type(tally)(design=tally.design, counts=row.astype(np.int64), n=2000)
        lower, upper = oracle.estimate(real, "people").interval(0.9).T
        hits += (lower <= truth) & (truth <= upper)
    slack = Z * math.sqrt(0.09 / len(seen)) + 0.01
    assert (np.abs(hits / len(seen) - 0.9) < slack).all()


def test_covariances_are_those_stated(collections):
    oracle, counts, seen = collections
    estimate = oracle.estimate(oracle.simulate(counts, rng=0))
    stated = estimate.model.covariance(counts / 2000, "people")
    found = np.cov((seen / 2000 - float(oracle.q)) / float(oracle.p - oracle.q), rowvar=False)
    spread = np.sqrt(np.outer(np.diag(stated), np.diag(stated)) / len(seen))
    apart = np.abs(found - stated)[np.triu_indices(12, 1)]
    assert (apart < 6 * spread[np.triu_indices(12, 1)]).all()


def test_how_often_two_values_are_supported_together():
    """The two joint probabilities, one proved and one idealised, against reports; twice them would be noticed."""
    oracle = LocalHashing(epsilon=1.0, k=40)
    n = 400_000
    reports = oracle.privatize(np.zeros(n, np.uint8), rng=12)
    a, b = reports["a"].copy(), reports["b"].copy()
    hit = [hash_family.bucket(a, b, word, oracle.g) == reports["bucket"] for word in oracle._words]
    model = oracle.estimate(oracle.tally(reports)).model
    for first in range(6):
        for second in range(first + 1, 40):
            joint = float(model.both_other if first else model.both_own)
            seen = (hit[first] & hit[second]).mean()
            error = math.sqrt(joint * (1 - joint) / n)
            assert abs(seen - joint) < 6 * error
            assert abs(seen - 2 * joint) > 6 * error


# All values together.


def _dependence(seen, variance):
    """How far counts are from independent, in standard deviations: sums over subsets, and all correlations together."""
    runs, k = seen.shape
    subsets = [np.arange(k), np.arange(1, k), np.arange(0, k, 2), np.arange(k // 2), np.arange(k // 3, k)]
    sums = [seen[:, some].sum(axis=1).var(ddof=1) / variance[some].sum() - 1 for some in subsets]
    scaled = (seen - seen.mean(axis=0)) / np.sqrt(variance)
    off = (scaled.T @ scaled / (runs - 1))[np.triu_indices(k, 1)]
    pairs = (runs * (off**2).sum() - off.size) / math.sqrt(2 * off.size)
    return np.abs(sums).max() / math.sqrt(2 / runs), float(pairs)


def _joint(k, g, counts, runs, rng, *, plain=False, simulated=False):
    oracle = LocalHashing(epsilon=1.0, k=k, kind="LH", g=g)
    if plain:
        oracle.__dict__["_words"] = np.arange(k, dtype=np.uint64)
    seen = tallies(oracle, counts, runs, rng, simulated=simulated)
    p, q = float(oracle.p), float(oracle.q)
    return _dependence(seen, counts * p * (1 - p) + (counts.sum() - counts) * q * (1 - q))


def _people(k):
    """Nearly all have one value: what its hash has in common with the others' then shows most."""
    counts = np.ones(k, np.int64)
    counts[0] = 1000 - k + 1
    return counts


@pytest.mark.audit
def test_the_joint_law_is_that_of_independent_hashes():
    k, runs = 64, 5000
    for g in (2, 4, 9):
        sums, pairs = _joint(k, g, _people(k), runs, 31)
        assert sums < Z
        assert pairs < Z
    sums, pairs = _joint(k, 4, _people(k), runs, 31, simulated=True)
    assert sums < Z
    assert pairs < Z
    # The control: without the scrambling of codes, the same tests do notice.
    sums, pairs = _joint(k, 4, _people(k), runs, 31, plain=True)
    assert sums > Z
    assert pairs > Z


@pytest.mark.audit
@pytest.mark.parametrize("k", [16, 100, 250])
@pytest.mark.parametrize("g", [2, 4, 20])
def test_the_joint_law_is_that_of_independent_hashes_in_many_runs(k, g):
    even = np.full(k, 1000 // k)
    for counts in (_people(k), even):
        sums, pairs = _joint(k, g, counts, 20_000, k * g)
        assert sums < Z
        assert pairs < Z
    # The control; two buckets are symmetric, and words in a row show nothing there.
    noticed = max(_joint(k, g, _people(k), 20_000, k * g, plain=True)) > 2 * Z
    assert noticed == (g > 2)


@pytest.mark.audit
def test_simulated_tallies_are_not_told_from_real_ones_in_a_thousand_runs():
    k, runs = 100, 1000
    oracle = LocalHashing(epsilon=1.0, k=k)
    counts = np.round(20_000 / (1 + np.arange(k)) ** 1.2).astype(np.int64)
    real, drawn = tallies(oracle, counts, runs, 5), tallies(oracle, counts, runs, 6, simulated=True)
    wrong = tallies(oracle, np.roll(counts, 1), runs, 7, simulated=True)
    generator = np.random.default_rng(3)
    weights = np.vstack([np.eye(k), np.ones(k), generator.random((20, k)) < 0.5, generator.normal(size=(20, k))])

    def apart(first, second):
        one, two = first @ weights.T, second @ weights.T
        means = np.abs(one.mean(axis=0) - two.mean(axis=0)) / np.sqrt((one.var(axis=0) + two.var(axis=0)) / runs)
        spreads = np.abs(np.log(one.var(axis=0) / two.var(axis=0))) / math.sqrt(4 / runs)
        return max(means.max(), spreads.max())

    assert apart(real, drawn) < 6.2
    assert apart(real, wrong) > 6.2


# A pool of seeds.


def _with_other_seeds(oracle, entropy):
    """Replace the public pool by another, as if it had been chosen differently."""
    oracle._pool.__dict__["seeds"] = entropy.words(2 * oracle.pool).reshape(2, -1)
    return oracle


def _pooled(oracle, truth, n, target, runs, rng):
    """Estimates over many choices of the pool; people fixed, or drawn anew."""
    entropy = Entropy(rng)
    generator = entropy.generator()
    for _ in range(runs):
        counts = generator.multinomial(n, truth) if target == "population" else np.round(truth * n).astype(np.int64)
        tally = _with_other_seeds(oracle, entropy).simulate(counts, rng=entropy)
        yield oracle.estimate(tally, target)


@pytest.mark.audit
@pytest.mark.parametrize("target", ["people", "population"])
@pytest.mark.parametrize(("n", "pool"), [(3000, 50), (4, 1)])
def test_the_variance_over_the_choice_of_the_pool_is_the_stated_one(n, pool, target):
    truth = np.array([0.5, 0.25, 0.25, 0.0])
    oracle = LocalHashing(epsilon=2.0, k=4, kind="LH", g=2, pool=pool)
    runs = 4000
    found = np.array([estimate.frequency for estimate in _pooled(oracle, truth, n, target, runs, 51)])
    stated = oracle.variance(truth, n, target)
    assert (np.abs(found.mean(axis=0) - truth) < Z * np.sqrt(stated / runs)).all()
    ratio = found.var(axis=0, ddof=1) / stated
    low, high = ratio_limits(runs)
    assert ((low < ratio) & (ratio < high)).all()
    # The control: the variance without the pool's part is too small.
    alone = LocalHashing(epsilon=2.0, k=4, kind="LH", g=2).variance(truth, n, target)
    assert (found.var(axis=0, ddof=1) / alone > high).any()
    # For one value by itself the worst is stated.
    assert (oracle.variance(0.0, n, target) >= stated[3]).all()
    assert (stated - alone <= oracle.pool_error**2).all()


@pytest.mark.audit
def test_covariances_over_the_choice_of_the_pool_are_the_stated_ones():
    truth = np.array([0.4, 0.35, 0.25])
    oracle = LocalHashing(epsilon=3.0, k=3, kind="LH", g=2, pool=20)
    estimates = list(_pooled(oracle, truth, 5000, "people", 4000, 52))
    found = np.cov([estimate.frequency for estimate in estimates], rowvar=False)
    stated = estimates[0].model.covariance(truth, "people")
    spread = np.sqrt(np.outer(np.diag(stated), np.diag(stated)) * 2 / len(estimates))
    assert (np.abs(found - stated) < Z * spread)[np.triu_indices(3, 1)].all()
    assert (found[np.triu_indices(3, 1)] > Z * spread[np.triu_indices(3, 1)]).all()


@pytest.mark.audit
def test_intervals_cover_over_the_choice_of_the_pool():
    truth = np.array([0.5, 0.2, 0.2, 0.1, 0.0])
    oracle = LocalHashing(epsilon=2.0, k=5, pool=40)
    hits, without = np.zeros(5), np.zeros(5)
    runs = 3000
    for estimate in _pooled(oracle, truth, 4000, "population", runs, 53):
        lower, upper = estimate.interval(0.9).T
        hits += (lower <= truth) & (truth <= upper)
        model = estimate.model
        lower, upper = super(type(model), model).interval(0.9, "wilson", "population")
        without += (lower <= truth) & (truth <= upper)
    assert (np.abs(hits / runs - 0.9) < 0.05).all()
    # The control: intervals that ignore the pool cover too seldom.
    assert (without / runs < 0.8).all()
    with pytest.raises(ParameterError, match="pool"):
        estimate.interval(0.9, "clopper-pearson")
    wald = estimate.interval(0.9, "wald")
    assert wald[:, 1] - wald[:, 0] == pytest.approx(2 * 1.6448536 * estimate.standard_error)


def test_what_nobody_has_is_cut_over_the_choice_of_the_pool():
    truth = np.array([0.6, 0.4] + [0.0] * 10)
    oracle = LocalHashing(epsilon=2.0, k=12, pool=40)
    kept = without = 0
    for estimate in _pooled(oracle, truth, 4000, "population", 300, 54):
        kept += bool(estimate.consistent("base-cut").frequency[2:].any())
        model = estimate.model
        without += bool((estimate.frequency[2:] > super(type(model), model).absent_limit(0.95)).any())
    assert kept < 45  # one in twenty, within 5.6 standard deviations
    assert without > 100  # the control


def test_a_pool_five_times_as_large_as_the_crowd_costs_little():
    truth = np.full(20, 0.05)
    alone, pooled = (LocalHashing(epsilon=1.0, k=20, pool=pool).variance(truth, 1000) for pool in (None, 5000))
    assert (pooled / alone < 1.02).all()
    assert LocalHashing(epsilon=1.0, k=20).pool_error == 0


def test_counters_decode_to_what_the_reports_themselves_support():
    oracle = LocalHashing(epsilon=2.0, k=33, pool=5000)
    reports = oracle.privatize(np.arange(4000) % 20, rng=6)
    a, b = oracle._pool.seeds[:, reports["seed"].astype(np.int64)]
    slow, refused = hash_lines.count_support(a, b, reports["bucket"], oracle.g, oracle._words)
    assert refused == 0
    assert oracle.support(oracle.tally(reports)).tolist() == slow.tolist()


# Guesses, and the most likely frequencies.


@pytest.mark.parametrize(
    ("epsilon", "k", "kind", "g"), [(1.0, 3, "OLH", 0), (2.0, 10, "LH", 30), (3.0, 50, "OLH", 0), (4.0, 4, "BLH", 0)]
)
def test_the_best_guess_is_right_as_often_as_stated(epsilon, k, kind, g):
    oracle = LocalHashing(epsilon=epsilon, k=k, kind=kind, g=g)
    n = 300_000
    codes = np.arange(n) % k
    reports = oracle.privatize(codes, rng=9)
    guess, found = np.zeros(n, np.int64), np.zeros(n, bool)
    for v, word in enumerate(oracle._words):
        hit = hash_family.bucket(reports["a"], reports["b"], word, oracle.g) == reports["bucket"]
        guess[hit & ~found] = v
        found |= hit
    share, stated = float((guess == codes).mean()), oracle.guessability
    assert abs(share - stated) < Z * math.sqrt(stated * (1 - stated) / n)
    assert stated <= math.exp(epsilon) / (math.exp(epsilon) + k - 1) + 1e-12


@pytest.mark.parametrize("pool", [None, 20_000])
def test_the_most_likely_frequencies_are_likelier_than_any_other_we_have(pool):
    oracle = LocalHashing(epsilon=1.0, k=10, pool=pool)
    counts = np.array([1500, 700, 400, 200, 100, 60, 30, 10, 0, 0])
    reports = oracle.privatize(np.repeat(np.arange(10), counts), rng=2)
    best = oracle.most_likely(reports)
    assert best.method == "em"
    assert best.frequency.sum() == pytest.approx(1)
    assert best.frequency.min() >= 0
    estimate = oracle.estimate(oracle.tally(reports))
    if pool is None:
        lines = hash_lines.lines_of(reports["a"], reports["b"], reports["bucket"], oracle.g)
        step = oracle._step(lines, np.ones(reports.size, np.int64))
        with pytest.raises(ParameterError, match="most_likely"):
            estimate.consistent("em")
    else:
        step = oracle._step(*oracle._pool.lines(oracle.tally(reports).counts))
        assert (estimate.consistent("em").frequency == best.frequency).all()
    likelihood = [step(some)[1] for some in (best.frequency, estimate.consistent().frequency, counts / counts.sum())]
    assert likelihood[0] == max(likelihood)
    assert np.abs(best.frequency - counts / counts.sum()).max() < 0.15


def test_a_search_beyond_its_limit_is_not_begun_or_is_given_up(monkeypatch):
    oracle = LocalHashing(epsilon=1.0, k=1000)
    reports = oracle._empty_reports(100_001)
    reports["bucket"] = 0
    with pytest.raises(LimitError, match="norm-sub"):
        oracle.most_likely(reports)
    small = LocalHashing(epsilon=1.0, k=4)
    reports = small.privatize(np.arange(50) % 4, rng=1)
    monkeypatch.setattr(hash_lines, "EM_LEAST_STEPS", 1)
    monkeypatch.setattr(hash_lines, "EM_LIMIT", 5 * 200)
    with pytest.raises(LimitError, match="not found within 1,000 hashes"):
        small.most_likely(reports)
