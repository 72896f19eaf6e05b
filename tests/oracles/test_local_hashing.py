"""Local hashing: the hash family, the kernels against slow versions, the law given the seed, and the edges."""

import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit import audit, testing
from bruit.domains import Categories
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Words
from bruit.errors import BruitError, DataError, DataTypeError, LimitError, ParameterError
from bruit.kernels import hash_family, randomized_response
from bruit.kernels import local_hashing as kernel
from bruit.oracles import RandomizedResponse
from bruit.oracles.local_hashing import LocalHashing
from bruit.oracles.local_hashing import lines as hash_lines
from bruit.oracles.local_hashing.pool import SeedPool

WORD = st.integers(0, 2**64 - 1)


def read(body):
    """The oracle that `to_dict` described."""
    settings = {key: body[key] for key in body if key not in ("oracle", "epsilon", "domain")}
    domain = Categories.from_dict(body["domain"])
    return LocalHashing.from_settings(domain, body["epsilon"], {"kind": body["oracle"], **settings})


def scrambled(code):
    """π, step by step, in whole numbers of any size."""
    word = (code + 0xA54FF53A) % 2**32
    for shift, factor in ((16, 0x6A09E667), (15, 0xBB67AE85), (17, 0x3C6EF373)):
        word = (word ^ word >> shift) * factor % 2**32
    return word ^ word >> 16


def bucket(a, b, code, g):
    """The bucket of a code, in whole numbers of any size."""
    return ((a * scrambled(code) + b) % 2**64 // 2**32) * g // 2**32


def words_of(k):
    return hash_family.scramble(np.arange(k)).astype(np.uint64)


# The hash family.


@pytest.mark.audit
def test_the_scrambled_codes_are_the_ones_that_the_format_has():
    first = [0xA943587D, 0xDA007423, 0x3AE60AB9, 0xF2B22AA9]
    assert hash_family.scramble([0, 1, 2, 3]).tolist() == first
    assert hash_family.scramble([10**6]).tolist() == [scrambled(10**6)]
    assert [scrambled(code) for code in range(4)] == first


def test_no_two_codes_have_the_same_word():
    assert np.unique(hash_family.scramble(np.arange(10**6 + 1))).size == 10**6 + 1


@pytest.mark.audit
def test_the_public_pool_is_the_one_that_the_format_has():
    seeds = SeedPool(3, 4).seeds
    assert seeds[0].tolist() == [0xC34F475079F75395, 0x0D19F0268EE3346E, 0xF1DED01E5C787797]
    assert seeds[1].tolist() == [0x4F4AC845B4DD832F, 0x3D428AB1226939E2, 0xB829D3C059A3C656]
    assert (SeedPool(1000, 7).seeds[:, :3] == seeds).all()


@pytest.mark.audit
@given(WORD, WORD, st.integers(0, 10**6), st.integers(2, 2**30))
@settings(deadline=None)
def test_the_bucket_is_the_one_of_the_definition(a, b, code, g):
    word = np.array([scrambled(code)], np.uint64)
    found = hash_family.bucket(np.array([a], np.uint64), np.array([b], np.uint64), word, g)
    assert found.tolist() == [bucket(a, b, code, g)]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("g", [2, 3, 4, 7, 1000, 2**16, 2**16 + 1, 10**6 + 3])
def test_bucket_sizes_are_those_of_the_definition(g):
    # ⌊h·g/2³²⌋ = j for h from ⌈j·2³²/g⌉ on.
    edges = [-(-(j << 32) // g) for j in range(g + 1)]
    sizes = Counter(np.diff(np.array(edges)).tolist())
    assert sizes == Counter({size: many for size, many in hash_family.bucket_sizes(g) if many})
    assert hash_family.agreement(g) == sum(many * Fraction(size, 2**32) ** 2 for size, many in sizes.items())
    rest = 2**32 % g
    assert hash_family.agreement(g) == Fraction(1, g) + Fraction(rest * (g - rest), g * 2**64)


@pytest.mark.audit
def test_two_codes_hash_independently_and_three_consecutive_words_do_not():
    """χ² of all pairs and triples of buckets, under many seeds; the control is words without the scrambling."""
    g, n = 4, 200_000
    a, b = Entropy(11).words(2 * n).reshape(2, n)

    def chi_square(words):
        cell = np.zeros(n, np.int64)
        for word in words:
            cell = cell * g + hash_family.bucket(a, b, np.uint64(word), g)
        mean = n / g ** len(words)
        return float(((np.bincount(cell, minlength=g ** len(words)) - mean) ** 2 / mean).sum())

    assert chi_square(hash_family.scramble([0, 1])) < 60  # 15 degrees of freedom
    assert chi_square([5, 6]) < 60
    assert chi_square(hash_family.scramble([0, 1, 2])) < 150  # 63 degrees of freedom
    assert chi_square([5, 6, 7]) > 10_000


# Kernels against slow versions.


@given(st.integers(2, 2**30), st.lists(st.tuples(WORD, WORD), min_size=1, max_size=9), st.data())
@settings(deadline=None, max_examples=200)
def test_a_line_supports_exactly_the_values_in_the_reported_bucket(g, seeds, data):
    """Buckets near both ends and near the own one, for any g: the last one must not wrap around."""
    k = 20
    near = [bucket(a, b, data.draw(st.integers(0, k - 1)), g) for a, b in seeds]
    moved = [data.draw(st.sampled_from([own, own + 1, own - 1, 0, g - 1])) % g for own in near]
    a, b = np.array(seeds, np.uint64).T
    reported = np.array(moved, np.uint32)
    counts, refused = hash_lines.count_support(a, b, reported, g, words_of(k))
    slow = [sum(bucket(*seed, v, g) == y for seed, y in zip(seeds, moved, strict=True)) for v in range(k)]
    assert (counts.tolist(), refused) == (slow, 0)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("g", [2, 3, 5, 2**30])
def test_hashes_on_both_sides_of_every_border_are_in_the_right_bucket(g):
    """With a = 0 the hash is b itself: borders are hit exactly."""
    buckets = sorted({0, 1, g // 2, g - 2, g - 1})
    edges = [-(-(j << 32) // g) for j in buckets] + [2**32 - 1]
    hashes = sorted({h for edge in edges for h in (edge - 1, edge, edge + 1) if 0 <= h < 2**32})
    pairs = [((h << 32) + low, y) for h in hashes for low in (0, 2**32 - 1) for y in buckets]
    b = np.array([pair[0] for pair in pairs], np.uint64)
    y = np.array([pair[1] for pair in pairs], np.uint32)
    word = words_of(1)
    found = [hash_lines.count_support(b[[i]] * 0, b[[i]], y[[i]], g, word)[0][0] for i in range(len(pairs))]
    assert found == [int((start >> 32) * g >> 32 == bucket) for start, bucket in pairs]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", [2, 5, 1023, 1024, 1025, 3000])
@pytest.mark.parametrize("n", [1, 3, 4, 6])
def test_tiles_and_leftovers_are_counted_once(k, n):
    g = 3
    a, b = Entropy(k).words(2 * n).reshape(2, n)
    y = np.arange(n).astype(np.uint8) % g
    counts, _ = hash_lines.count_support(a, b, y, g, words_of(k))
    own = hash_family.bucket(a, b, words_of(k)[:, None], g)
    assert (counts == (own == y).sum(axis=1)).all()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_the_own_bucket_is_the_one_of_the_definition(dtype):
    n, g, k = 500, 1000, 200
    seeds = Entropy(4).words(2 * n).reshape(2, n)
    codes = (np.arange(n) % k).astype(dtype)
    own = np.empty(n, np.uint32)
    kernel.buckets(codes, words_of(k), seeds, np.uint64(g), own)
    assert own.tolist() == [bucket(int(a), int(b), int(v), g) for a, b, v in zip(*seeds, codes, strict=True)]


@pytest.mark.audit
def test_a_step_of_em_is_the_obvious_one():
    oracle = LocalHashing(epsilon=1.0, k=6)
    reports = oracle.privatize(np.arange(300) % 5, rng=3)
    lines = hash_lines.lines_of(reports["a"], reports["b"], reports["bucket"], oracle.g)
    times = np.arange(300) % 3 + 1
    frequency = np.array([0.3, 0.2, 0.1, 0.1, 0.25, 0.05])
    better, likelihood = oracle._step(lines, times)(frequency)
    own = np.array([[bucket(int(r["a"]), int(r["b"]), v, oracle.g) for v in range(6)] for r in reports])
    table = np.where(own == reports["bucket"][:, None], float(oracle.p), float(oracle._other))
    chance = table @ frequency
    slow = frequency * (table * (times / chance)[:, None]).sum(axis=0) / times.sum()
    assert better == pytest.approx(slow, rel=1e-9)
    assert likelihood == pytest.approx((times * np.log(chance)).sum() / times.sum(), rel=1e-9)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("epsilon", "g"), [(20.0, 485_165_196), (20.0, 2**30), (5.0, 2**22)])
def test_randomised_response_is_exact_also_over_very_many_buckets(epsilon, g):
    """Borders of its kernel beyond the number of values that randomised response itself allows."""
    law = LocalHashing(epsilon=epsilon, k=5, kind="LH", g=g).law
    keep, width = law.inside - law.outside, law.outside
    borders = [keep + width * y + shift for y in (0, 1, g // 3, g // 2, g - 1, g) for shift in (-1, 0, 1)]
    words = [word for word in borders if 0 <= word < law.total] + [0, law.total - 1]
    words += [int(word) for word in Entropy(g).words(2000) if int(word) < law.total]
    out = np.empty(len(words), np.uint32)
    own = (np.arange(len(words)) * 7919 % g).astype(np.uint32)
    randomized_response.randomize(own, np.array(words, np.uint64), np.uint64(keep), np.uint64(width), out)
    slow = [int(x) if word < keep else (word - keep) // width for x, word in zip(own, words, strict=True)]
    assert out.tolist() == slow


# The law.

EPSILONS = [0.01, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 10.0, 20.0]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", ["OLH", "BLH"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_worst_ratio_is_below_the_stated_epsilon_and_that_below_what_was_asked(epsilon, kind):
    for k in (2, 3, 7, 128, 1024, 10**6):
        oracle = LocalHashing(epsilon=epsilon, k=k, kind=kind)
        found = audit.exact(oracle)
        stated = oracle.guarantee.epsilon
        assert found.holds
        assert found.method == "closed form"
        with mpmath.workdps(80):
            worst = mpmath.mpf(found.ratio.numerator) / found.ratio.denominator
            assert worst <= mpmath.exp(mpmath.mpf(stated)) <= mpmath.exp(mpmath.mpf(epsilon))
        assert stated >= epsilon * (1 - 1e-9)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("epsilon", "k", "pool"), [(0.5, 2, 5), (1.0, 7, 3), (5.0, 128, 2), (1.0, 1024, 1)])
def test_with_a_small_pool_the_whole_law_is_enumerated(epsilon, k, pool):
    oracle = LocalHashing(epsilon=epsilon, k=k, pool=pool)
    rows = oracle.matrix()
    assert all(sum(row) == 1 for row in rows)
    found = audit.exact(oracle)
    assert found.method == "enumeration"
    assert found.holds
    assert found.ratio == oracle.law.ratio
    a, b = (column.tolist() for column in oracle._pool.seeds)
    value = k // 2
    for seed in range(pool):
        own = seed * oracle.g + bucket(a[seed], b[seed], value, oracle.g)
        assert rows[value][own] == oracle.p / pool


def test_g_too_large_for_a_small_epsilon_is_beyond_the_limits():
    with pytest.raises(LimitError, match="g must be smaller"):
        LocalHashing(epsilon=0.001, k=10, kind="LH", g=2**30)
    assert LocalHashing(epsilon=20.0, k=10, kind="LH", g=2**30).guarantee.epsilon <= 20


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.5, 0.9, 1.0, 2.0, 3.3, 5.0])
def test_olh_takes_the_buckets_of_least_variance(epsilon):
    found = LocalHashing(epsilon=epsilon, k=10)
    rare = {g: LocalHashing(epsilon=epsilon, k=10, kind="LH", g=g) for g in range(2, 300)}
    star = {g: other.q * (1 - other.q) / (other.p - other.q) ** 2 for g, other in rare.items()}
    assert star[found.g] == min(star.values())
    assert abs(found.g - math.exp(epsilon) - 1) < 1
    e = math.exp(epsilon)
    assert float(star[found.g]) == pytest.approx((e + found.g - 1) ** 2 / ((found.g - 1) * (e - 1) ** 2), rel=1e-9)


def _relative(oracle, reports, codes):
    """The reported bucket counted from the own one."""
    g = oracle.g
    own = hash_family.bucket(reports["a"], reports["b"], oracle._words[codes], g)
    return (reports["bucket"].astype(np.int64) - own) % g


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("epsilon", "g"), [(0.5, 3), (1.0, 4), (3.0, 21), (4.0, 300)])
def test_given_its_own_seed_a_report_is_randomised_response(epsilon, g):
    """χ² of the bucket counted from the own one, against the law, and against laws with ε a tenth more and less."""
    oracle = LocalHashing(epsilon=epsilon, k=50, kind="LH", g=g)
    codes = np.arange(1_500_000) % 50
    reports = oracle.privatize(codes, rng=8)
    seen = np.bincount(_relative(oracle, reports, codes), minlength=g)

    def off(law):
        p, q = (float(law.probability(inside=inside)) for inside in (True, False))
        expected = codes.size * np.array([p] + [q] * (g - 1))
        return ((seen - expected) ** 2 / expected).sum() - (g - 1)

    limit = 8 * math.sqrt(2 * (g - 1)) + 40
    assert off(oracle.law) < limit
    for share in (0.9, 1.1):
        wrong = RandomizedResponse(epsilon=share * epsilon, k=g).law
        assert off(wrong) > limit


@pytest.mark.audit
def test_the_seed_does_not_depend_on_the_value():
    oracle = LocalHashing(epsilon=1.0, k=5)
    first = oracle.privatize(np.zeros(1000, np.uint8), rng=3)
    second = oracle.privatize(np.full(1000, 4, np.uint8), rng=3)
    assert (first["a"] == second["a"]).all()
    assert (first["b"] == second["b"]).all()
    assert (first["bucket"] != second["bucket"]).any()
    bits = np.unpackbits(np.ascontiguousarray(first["a"]).view(np.uint8)).mean()
    assert abs(bits - 0.5) < 0.012
    pooled = LocalHashing(epsilon=1.0, k=5, pool=7)
    first = pooled.privatize(np.zeros(70_000, np.uint8), rng=3)
    second = pooled.privatize(np.full(70_000, 4, np.uint8), rng=3)
    assert (first["seed"] == second["seed"]).all()
    counts = np.bincount(first["seed"], minlength=7)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 50


def test_words_beyond_the_total_are_drawn_again(monkeypatch):
    """With a law whose total is 2⁶² three words in four are refused; what remains follows the law."""
    oracle = LocalHashing(epsilon=1.0, k=9, kind="LH", g=4)
    small = type(oracle.law)(inside=2**61, outside=2**61 // 3, sets=oracle.sets)
    monkeypatch.setitem(oracle.__dict__, "law", small)
    codes = np.arange(60_000) % 9
    reports = oracle.randomize(codes.astype(np.uint8), Words(2))
    seen = np.bincount(_relative(oracle, reports, codes), minlength=4)
    expected = np.array([30_000, 10_000, 10_000, 10_000])
    assert ((seen - expected) ** 2 / expected).sum() < 45


def test_the_empirical_audit_comes_near_epsilon_and_catches_a_broken_twin():
    oracle = LocalHashing(epsilon=1.0, k=4)
    words = oracle._words

    def score(reports):
        hits = [hash_family.bucket(reports["a"], reports["b"], words[v], oracle.g) == reports["bucket"] for v in (0, 1)]
        return hits[0].astype(float) - hits[1]

    found = audit.empirical(oracle, 0, 1, trials=300_000, rng=5, score=score)
    assert 0.93 < found.epsilon_lower <= oracle.guarantee.epsilon
    loud = LocalHashing(epsilon=1.2, k=4, kind="LH", g=oracle.g)
    broken = audit.empirical(loud, 0, 1, trials=300_000, rng=5, score=score)
    assert not broken.passes(oracle.guarantee)


# The common laws.


@pytest.mark.audit
@pytest.mark.parametrize(
    "oracle",
    [
        LocalHashing(epsilon=0.5, k=3, kind="BLH"),
        pytest.param(LocalHashing(epsilon=1.0, k=16), marks=pytest.mark.audit),
        pytest.param(
            LocalHashing(epsilon=3.0, domain=Categories(labels=list("abcd"), missing="category")),
            marks=pytest.mark.audit,
        ),
        pytest.param(LocalHashing(epsilon=1.5, k=40, kind="LH", g=300), marks=pytest.mark.audit),
    ],
    ids=lambda oracle: f"{oracle.name}-{oracle.epsilon}-{oracle.k}",
)
def test_an_oracle_without_a_pool_keeps_the_common_laws(oracle):
    assert testing.check_oracle(oracle, read=read) is None


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("oracle", [LocalHashing(epsilon=1.0, k=16, pool=50), LocalHashing(epsilon=2.0, k=3, pool=7)])
def test_an_oracle_with_a_pool_keeps_the_laws_that_do_not_speak_of_the_choice_of_the_pool(oracle):
    assert testing.check_guarantee(oracle) is None
    assert testing.check_law(oracle) is None
    assert testing.check_simulate(oracle) is None
    assert testing.check_merge(oracle) is None
    assert testing.check_round_trip(oracle, read=read) is None
    assert testing.check_seeds(oracle) is None
    assert testing.check_bad_input(oracle) is None
    assert testing.check_silence(oracle) is None


# Bad input.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "XLH"},
        {"kind": None},
        {"kind": "LH"},
        {"kind": "LH", "g": 1},
        {"kind": "LH", "g": 2.5},
        {"kind": "LH", "g": 2**30 + 1},
        {"kind": "BLH", "g": 3},
        {"kind": "OLH", "g": 3},
        {"g": True},
        {"pool": 0},
        {"pool": -1},
        {"pool": 1.5},
        {"pool": "5"},
        {"pool": 2**26},
        {"epsilon": 0},
        {"k": 1},
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(BruitError):
        LocalHashing(**{"epsilon": 1.0, "k": 5, **bad})


@pytest.mark.audit
def test_the_message_about_buckets_says_what_to_do():
    with pytest.raises(ParameterError, match='use kind="LH"'):
        LocalHashing(epsilon=1.0, k=5, g=7)
    with pytest.raises(LimitError, match="Without a pool"):
        LocalHashing(epsilon=1.0, k=5, pool=2**26)
    with pytest.raises(LimitError, match="twin"):
        LocalHashing(epsilon=1.0, k=5).matrix()
    with pytest.raises(LimitError, match="twin"):
        LocalHashing(epsilon=1.0, k=5, pool=2000).message(np.empty(0))
    with pytest.raises(LimitError, match="p and q say the same"):
        LocalHashing(epsilon=1.0, k=2000, pool=2).matrix()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("pool", [None, 9])
def test_reports_of_a_wrong_type_or_shape_are_an_error(pool):
    oracle = LocalHashing(epsilon=1.0, k=3, pool=pool)
    good = oracle.privatize([0, 1], rng=1)
    other = LocalHashing(epsilon=1.0, k=3, pool=9 if pool is None else None).privatize([0, 1], rng=1)
    for bad in (other, good.reshape(2, 1), good[0], good["bucket"], None, "ab"):
        with pytest.raises(DataTypeError, match="fields"):
            oracle.tally(bad)
    for refused in ([1, 2], [[1], [2, 3, 4, 5]], other.tolist()):
        assert oracle.tally(refused).refused == 2
    assert oracle.tally(good).n == oracle.tally(good.tolist()).n == 2
    assert oracle.tally([]).n == 0
    assert oracle.tally(good[:0]).n == 0


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("g", "itemsize"), [(2, 17), (256, 17), (257, 18), (65_537, 20)])
def test_a_report_has_the_smallest_bucket_that_fits(g, itemsize):
    oracle = LocalHashing(epsilon=1.0, k=9, kind="LH", g=g)
    assert oracle.privatize([3], rng=1).dtype.itemsize == oracle.report_bytes == itemsize
    assert LocalHashing(epsilon=1.0, k=9, kind="LH", g=g, pool=5).report_bytes == itemsize - 12


@pytest.mark.audit
def test_impossible_reports_are_counted_and_grow_nothing():
    oracle = LocalHashing(epsilon=1.0, k=9)
    reports = oracle.privatize(np.arange(100) % 9, rng=1)
    bad = reports.copy()
    bad["bucket"][::10] = [4, 5, 255, 4, 100, 128, 7, 4, 254, 200]
    tally = oracle.tally(bad)
    kept = np.delete(reports, np.arange(0, 100, 10))
    assert (tally.n, tally.refused) == (90, 10)
    assert tally.counts.tolist() == oracle.tally(kept).counts.tolist()
    pooled = LocalHashing(epsilon=1.0, k=9, pool=10)
    reports = pooled.privatize(np.arange(100) % 9, rng=1)
    bad = reports.copy()
    bad["seed"][:3] = [10, 2**31, 2**32 - 1]
    bad["bucket"][3:5] = [4, 255]
    tally = pooled.tally(bad)
    assert (tally.n, tally.refused) == (95, 5)
    assert tally.counts.tolist() == pooled.tally(reports[5:]).counts.tolist()
    nothing = oracle.privatize([0, 1], rng=1)
    nothing["bucket"] = 9
    for verb in (oracle.most_likely, lambda reports: oracle.estimate(oracle.tally(reports))):
        with pytest.raises(DataError, match="no valid report"):
            verb(nothing)


@pytest.mark.audit
def test_reports_may_be_read_only_reversed_or_a_part():
    oracle = LocalHashing(epsilon=1.0, k=9)
    reports = oracle.privatize(np.arange(1000) % 9, rng=1)
    whole = oracle.tally(reports)
    assert oracle.tally(reports[::2]) + oracle.tally(reports[1::2]) == whole
    assert oracle.tally(reports[::-1]) == whole
    reports.flags.writeable = False
    assert oracle.tally(reports) == whole


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("pool", [None, 1000])
def test_reports_and_tallies_do_not_depend_on_the_number_of_threads(pool, monkeypatch):
    oracle = LocalHashing(epsilon=1.0, k=30, pool=pool)
    values = np.arange(3 * BLOCK + 5) % 30
    made = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        reports = oracle.privatize(values, rng=7)
        made.append((reports.tobytes(), oracle.tally(reports)))
    assert made[0] == made[1] == made[2]


@pytest.mark.audit
def test_designs_that_differ_in_any_way_have_different_digests():
    designs = [
        LocalHashing(epsilon=1.0, k=3),
        LocalHashing(epsilon=1.0, k=4),
        LocalHashing(epsilon=1.0, k=3, kind="BLH"),
        LocalHashing(epsilon=1.0, k=3, kind="LH", g=4),
        LocalHashing(epsilon=1.0, k=3, kind="LH", g=5),
        LocalHashing(epsilon=1.0, k=3, pool=5),
        LocalHashing(epsilon=1.0, k=3, pool=6),
    ]
    assert len({design.digest for design in designs}) == len(designs)
    for design in designs:
        assert read(design.to_dict()) == design
    assert LocalHashing(epsilon=1.0, k=3, g=4) == designs[0]
