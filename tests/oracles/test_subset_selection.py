"""Subset selection: the law by enumeration, the kernels against slow versions, the joint law, and the edges."""

import itertools
import math
import tracemalloc
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from bruit import audit, testing
from bruit.domains import Categories
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Words
from bruit.errors import BruitError, DataError, DataTypeError, LimitError, ParameterError
from bruit.kernels import subset_selection as kernel
from bruit.oracles import RandomizedResponse
from bruit.oracles.subset_selection import MATRIX_LIMIT, StartBits, SubsetRows, SubsetSelection, _binomials
from bruit.testing._evidence import frequencies
from bruit.testing._evidence import people as people_of

EPSILONS = [0.01, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 10.0, 20.0]
SIZES = [2, 3, 7, 128, 1024, 10**6]
#: What a standard normal exceeds, in either direction, with probability 8·10⁻¹¹.
Z_LIMIT = 6.5


def _read(body):
    settings = {key: body[key] for key in body if key not in ("oracle", "epsilon", "domain")}
    return SubsetSelection.from_settings(Categories.from_dict(body["domain"]), body["epsilon"], settings)


def _bits(reports, k):
    return np.unpackbits(reports, axis=1, bitorder="little")[:, :k]


def _packed(rows):
    return np.packbits(np.atleast_2d(rows), axis=1, bitorder="little")


# The law.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_stated_epsilon_is_true_of_the_integers_and_hardly_below_what_was_asked(epsilon, k):
    oracle = SubsetSelection(epsilon=epsilon, k=k)
    law, stated = oracle.law, oracle.guarantee.epsilon
    with mpmath.workdps(80):
        exact = mpmath.log(mpmath.mpf(law.inside) / law.outside)
        assert mpmath.mpf(stated) >= exact
    assert epsilon * (1 - 1e-9) <= stated <= epsilon
    assert law.total <= 2**64
    assert oracle.p == Fraction(law.members * law.inside, law.total)
    assert audit.exact(oracle).holds


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("k", "omega"), [(2, 1), (3, 1), (3, 2), (5, 2), (6, 3), (7, 5), (9, 1), (9, 8)])
def test_the_closed_forms_are_those_of_the_table_of_all_subsets(k, omega):
    """Probabilities of one value, of two values, and the worst ratio, by enumeration in whole numbers."""
    oracle = SubsetSelection(epsilon=1.3, k=k, omega=omega)
    rows = oracle.matrix()
    subsets = [set(y) for y in sorted(itertools.combinations(range(k), omega), key=lambda y: sum(1 << v for v in y))]
    assert all(sum(row) == 1 for row in rows)
    assert {len(row) for row in rows} == {math.comb(k, omega)}

    def chance(x, *values):
        return sum(entry for entry, y in zip(rows[x], subsets, strict=True) if y.issuperset(values))

    assert {chance(x, x) for x in range(k)} == {oracle.p}
    assert {chance(x, v) for x in range(k) for v in range(k) if v != x} == {oracle.q}
    model = oracle._model(oracle.tally(oracle.privatize([0], rng=1)))
    assert {chance(x, x, v) for x in range(k) for v in range(k) if v != x} == {model.both_own}
    for x, u, v in itertools.permutations(range(k), 3):
        assert chance(x, u, v) == model.both_other
    assert audit.exact(oracle).ratio == oracle.law.ratio
    assert oracle.guessability == pytest.approx(float(sum(max(column) for column in zip(*rows, strict=True)) / k))


def _repaired(bits, own, goal, k):
    """The exact law of the repaired set, from exact bits: while there are too many or too few, a uniform one flips."""
    others = frozenset(bits) - {own}
    if len(others) == goal:
        return {others: Fraction(1)}
    can = others if len(others) > goal else set(range(k)) - others - {own}
    law = Counter()
    for place in can:
        for result, chance in _repaired(others ^ {place}, own, goal, k).items():
            law[result] += chance / len(can)
    return law


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("k", "omega"), [(2, 1), (3, 1), (4, 2), (5, 2), (4, 3)])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(1, 4), Fraction(5, 8)])
def test_bits_and_repairs_give_exactly_the_law_whatever_the_bits_start_from(k, omega, share):
    """The sampler's steps, enumerated in fractions: the result is the table, for every value."""
    oracle = SubsetSelection(epsilon=0.8, k=k, omega=omega)
    subsets = [frozenset(np.flatnonzero(row).tolist()) for row in oracle._subsets]
    for own in (0, k - 1):
        law = Counter()
        for bits in itertools.product([0, 1], repeat=k):
            start = math.prod(share if bit else 1 - share for bit in bits)
            members = [v for v in range(k) if bits[v]]
            for included, chance in ((True, oracle.p), (False, 1 - oracle.p)):
                for others, way in _repaired(members, own, omega - included, k).items():
                    law[others | ({own} if included else set())] += start * chance * way
        assert [law[y] for y in subsets] == oracle.matrix()[own]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", [2, 3, 7, 100, 128, 1000, 10**6 + 1])
def test_every_place_keeps_the_same_number_of_draws(k):
    """⌊d·k/2³²⌋ with the refusal of the least low halves, counted by arithmetic at the borders of each place."""
    unfair, share = 2**32 % k, 2**32 // k
    for place in {0, 1, k // 3, k // 2, k - 2, k - 1}:
        first, after = -(-(place << 32) // k), -(-((place + 1) << 32) // k)
        # Low halves grow by k from draw to draw, so only the first of a place can be below `unfair` < k.
        refused = sum(1 for d in range(first, min(first + 2, after)) if d * k % 2**32 < unfair)
        assert after - first - refused == share


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    ("k", "omega", "start"),
    [
        (3, 1, StartBits(0, 0)),
        (3, 2, StartBits(1, 0)),
        (5, 2, StartBits(3, 3)),
        (6, 3, StartBits(1, 2)),
        (6, 2, StartBits(1, 0)),
        (9, 2, StartBits(7, 4)),
    ],
)
def test_reports_follow_the_table_from_any_start_and_not_a_neighbouring_law(k, omega, start):
    """χ² over all subsets; laws whose ε is 10 % more and 10 % less are rejected by the same sample."""
    oracle = SubsetSelection(epsilon=1.0, k=k, omega=omega)
    oracle._rows.__dict__["start"] = start
    n = 400_000
    reports = oracle.privatize(np.full(n, k // 2), rng=5)
    seen = np.bincount(oracle.message(reports), minlength=math.comb(k, omega))
    p_values = []
    for epsilon in (1.0, 1.1, 0.9):
        law = np.array(SubsetSelection(epsilon=epsilon, k=k, omega=omega).matrix()[k // 2], float)
        p_values.append(special.chdtrc(seen.size - 1, ((seen - n * law) ** 2 / (n * law)).sum()))
    assert p_values[0] > 1e-7
    assert max(p_values[1:]) < 1e-9


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("k", "epsilon"), [(64, 1.0), (65, 0.5), (130, 1.0), (200, 3.0), (1030, 0.3)])
def test_in_large_domains_places_and_pairs_are_as_frequent_as_stated(k, epsilon):
    """All single places, and neighbours across word borders, for a value in the middle and at the end."""
    oracle, n = SubsetSelection(epsilon=epsilon, k=k), 60_000
    model = oracle._model(oracle.tally(oracle.privatize([0], rng=1)))
    for own in (k // 2, k - 1):
        members = _bits(oracle.privatize(np.full(n, own), rng=own), k)
        assert (members.sum(axis=1) == oracle.omega).all()
        stated = np.full(k, float(oracle.q))
        stated[own] = float(oracle.p)
        error = (members.mean(axis=0) - stated) / np.sqrt(stated * (1 - stated) / n)
        assert np.abs(error).max() < Z_LIMIT
        pairs = (members[:, :-1] & members[:, 1:]).mean(axis=0)
        both = np.full(k - 1, float(model.both_other))
        both[max(own - 1, 0) : own + 1] = float(model.both_own)
        assert (np.abs(pairs - both) < Z_LIMIT * np.sqrt(both * (1 - both) / n) + 1e-12).all()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    "oracle",
    [
        pytest.param(SubsetSelection(epsilon=1.0, k=6, omega=4), marks=pytest.mark.audit),
        pytest.param(SubsetSelection(epsilon=1.0, k=2), marks=pytest.mark.audit),
        pytest.param(
            SubsetSelection(epsilon=1.0, domain=Categories(labels=list("abcd"), missing="category")),
            marks=pytest.mark.audit,
        ),
    ],
    ids=lambda oracle: f"{oracle.epsilon}-{oracle.size}-{oracle.omega}",
)
def test_the_common_laws_hold(oracle):
    assert testing.check_oracle(oracle, read=_read) is None


@pytest.mark.audit
def test_a_twin_that_does_not_leave_out_the_own_value_is_caught(monkeypatch):
    """A published mistake: drawing among all subsets where the value is not included; its ε is above the stated one."""
    oracle, draw = SubsetSelection(epsilon=1.0, k=6, omega=2), SubsetRows.draw

    def broken(self, codes, included, entropy, out):
        any_code = entropy.integers(self.k, codes.size).astype(codes.dtype)
        any_included = entropy.integers(self.k, codes.size) < self.omega
        draw(self, np.where(included, codes, any_code), included | any_included, entropy, out)

    assert testing.check_law(oracle) is None
    monkeypatch.setattr(SubsetRows, "draw", broken)
    with pytest.raises(AssertionError, match="do not follow matrix"):
        testing.check_law(oracle)


@pytest.mark.audit
@pytest.mark.parametrize(
    ("epsilon", "k", "omega"), [(1.0, 16, 0), (0.2, 12, 0), (0.5, 5, 0), (math.log(3), 10, 5), (5.0, 9, 0), (8.0, 7, 3)]
)
def test_the_common_laws_hold_in_more_domains(epsilon, k, omega):
    assert testing.check_oracle(SubsetSelection(epsilon=epsilon, k=k, omega=omega), read=_read) is None


# The choice of ω.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 13, 30, 64])
def test_no_other_omega_has_less_variance_for_a_rare_value(k):
    for epsilon in (0.05, 0.3, 0.7, 1.0, 1.7, 3.0, 6.0):
        best = SubsetSelection(epsilon=epsilon, k=k)
        rare = [float(SubsetSelection(epsilon=epsilon, k=k, omega=w).variance(0.0, 1)) for w in range(1, k)]
        assert float(best.variance(0.0, 1)) <= min(rare) * (1 + 1e-9)


def _total(p, q, k):
    """n·Σ Var for given people: the frequencies have sum one, so it does not depend on them."""
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0])
def test_neither_randomised_response_nor_unary_encoding_is_better_in_the_rare_or_the_total_error(epsilon):
    power = math.exp(epsilon)
    for k in range(2, 513):
        oracle, other = SubsetSelection(epsilon=epsilon, k=k), RandomizedResponse(epsilon=epsilon, k=k)
        rare = [float(other.variance(0.0, 1)), 4 * power / (power - 1) ** 2]
        assert float(oracle.variance(0.0, 1)) <= min(rare) * (1 + 1e-9)
        total = [_total(float(other.p), float(other.q), k), _total(0.5, 1 / (power + 1), k)]
        assert _total(float(oracle.p), float(oracle.q), k) <= min(total) * (1 + 1e-9)


def test_the_total_error_for_given_people_is_the_same_for_all_frequencies():
    oracle = SubsetSelection(epsilon=1.0, k=20)
    for frequency in (np.full(20, 0.05), np.eye(20)[3], frequencies(20)):
        total = float(oracle.variance(frequency, 100, "people").sum())
        assert total == pytest.approx(_total(float(oracle.p), float(oracle.q), 20) / 100)
        more = float(oracle.variance(frequency, 100).sum()) - total
        assert more == pytest.approx((1 - (frequency**2).sum()) / 100, abs=1e-15)


@pytest.mark.audit
def test_for_one_very_frequent_value_randomised_response_can_be_better():
    """The stated exception: at f = 1, ε = 3.2, k = 50 its variance is 1.84 times that of the better of GRR and OUE."""
    oracle, power = SubsetSelection(epsilon=3.2, k=50), math.exp(3.2)
    others = [
        float(RandomizedResponse(epsilon=3.2, k=50).variance(1.0, 1)),
        0.25 / (0.5 - 1 / (power + 1)) ** 2,
    ]
    assert float(oracle.variance(1.0, 1)) / min(others) == pytest.approx(1.84, abs=0.01)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.0])
def test_one_member_is_randomised_response(epsilon):
    oracle, other = SubsetSelection(epsilon=epsilon, k=12, omega=1), RandomizedResponse(epsilon=epsilon, k=12)
    assert (oracle.p, oracle.q) == (other.p, other.q)
    assert oracle.matrix() == other.matrix()
    assert oracle.guarantee == other.guarantee
    assert oracle.guessability == other.guessability


# Kernels against slow versions.


def _slow(row, code, included, omega, k, draws):
    """The obvious loop over one row, with lists; None if the draws do not suffice."""
    others = [bool(bit) for bit in row[:k]]
    goal, own = omega - included, code
    others[own] = False
    while sum(others) != goal:
        wrong = sum(others) > goal
        if not draws:
            return None
        draw = draws.pop(0)
        if draw * k % 2**32 < 2**32 % k:
            continue
        place = draw * k >> 32
        if place != own and others[place] == wrong:
            others[place] = not wrong
    others[own] = bool(included)
    return others


@given(st.integers(2, 200), st.integers(1, 40), st.integers(0, 2**32), st.data())
@settings(deadline=None, max_examples=80)
def test_repairs_are_the_obvious_loop_wherever_the_draws_run_out(k, buffer, seed, data):
    omega = data.draw(st.integers(1, k - 1))
    entropy, n, words = Entropy(seed), 5, (k + 63) // 64
    start = StartBits.choose(omega, k)
    rows = start.rows(entropy, n, words)
    codes = (entropy.words(n) % np.uint64(k)).astype(np.min_scalar_type(k - 1))
    included = entropy.words(n) % np.uint64(2) == 1
    draws = np.empty(400 * k, np.uint32)
    entropy.fill(draws)
    # Borders of the places and of the refused draws, besides random ones.
    draws[: 2 * min(k, 50)] = [max((v << 32) // k + shift, 0) for v in range(min(k, 50)) for shift in (0, 1)]
    before = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    row, at = 0, 0
    while row < n:
        piece = draws[at : at + buffer]
        row, used = kernel.repair(rows, codes, included, omega, k, piece, row, 0)
        at += used
    after = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    pending = draws.tolist()
    expected = [_slow(before[i], int(codes[i]), int(included[i]), omega, k, pending) for i in range(n)]
    assert None not in expected
    assert after[:, :k].astype(bool).tolist() == expected
    assert not after[:, k:].any()
    assert len(pending) == draws.size - at


@pytest.mark.audit
@given(st.integers(1, 300), st.integers(0, 2**32), st.data())
@settings(deadline=None, max_examples=60)
def test_sizes_and_padding_are_checked_as_by_the_obvious_count(extra, seed, data):
    k = 1 + extra
    omega = data.draw(st.integers(1, k - 1))
    oracle = SubsetSelection(epsilon=1.0, k=k, omega=omega)
    good = oracle.privatize(np.arange(20) % k, rng=seed)
    noise = Entropy(seed).words(20 * 40).view(np.uint8)[: 20 * good.shape[1]].reshape(20, -1)
    mixed = np.concatenate([good, noise, np.zeros_like(good[:1]), np.full_like(good[:1], 255)])
    whole = np.unpackbits(mixed, axis=1, bitorder="little")
    honest = (whole.sum(axis=1) == omega) & ~whole[:, k:].any(axis=1)
    assert honest[:20].all()
    tally = oracle.tally(mixed)
    assert tally.refused == int((~honest).sum())
    assert tally.n == int(honest.sum())
    assert tally.counts.tolist() == whole[honest][:, :k].sum(axis=0).tolist()


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("k", "omega"), [(2, 1), (6, 3), (12, 2), (16, 4), (20, 19), (300, 1)])
def test_messages_number_the_subsets_in_the_order_of_their_bits(k, omega):
    oracle = SubsetSelection(epsilon=1.0, k=k, omega=omega)
    subsets = oracle._subsets
    numbers = [sum(1 << v for v in np.flatnonzero(row).tolist()) for row in subsets]
    assert numbers == sorted(numbers)
    reports = _packed(subsets)
    assert oracle.message(reports).tolist() == list(range(len(subsets)))
    assert oracle.message(np.zeros_like(reports[:2])).tolist() == [-1, -1]


@pytest.mark.audit
def test_binomials_are_those_of_the_formula_up_to_the_limit():
    table = _binomials(30, 6)
    assert table.tolist() == [[min(math.comb(v, i), MATRIX_LIMIT) if i else 1 for i in range(7)] for v in range(30)]


@pytest.mark.audit("1-1000000", share=3)
@pytest.mark.parametrize(("omega", "k"), [(1, 2), (1, 10**6), (2, 128), (34, 128), (64, 128), (120, 128), (127, 128)])
def test_rows_start_near_the_wanted_number_of_members(omega, k):
    start = StartBits.choose(omega, k)
    rows = start.rows(Entropy(1), 400, (k + 63) // 64)
    members = _bits(rows.view(np.uint8), k).sum() / 400
    share = start.ones / 2**start.planes
    assert abs(members - k * share) <= Z_LIMIT * math.sqrt(k * share * (1 - share) / 400)
    assert abs(k * share - omega) <= max(0.15 * k, 20)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("k", "omega"), [(1000, 999), (1000, 1), (1000, 990), (10**5, 10**5 - 3)])
def test_extreme_sizes_take_few_draws(k, omega):
    """Where nearly all values are members, rows start full and few leave: no long search for the last free place."""
    assert StartBits.choose(omega, k).cost(omega, k) < 40
    reports = SubsetSelection(epsilon=1.0, k=k, omega=omega).privatize([0, 1, k - 1], rng=3)
    assert _bits(reports, k).sum(axis=1).tolist() == [omega] * 3


# The joint law of the counts.

PEOPLE = np.array([500, 300, 120, 60, 20, 0, 0, 0, 0, 0, 0, 0])


def _projections(counts):
    """Single cells, sums over groups, and differences of cells, in one row per run."""
    k = counts.shape[1]
    groups = [np.arange(k) < k // 2, np.arange(k) % 2 == 0, np.arange(k) < 3]
    return np.column_stack([counts, *(counts[:, g].sum(axis=1) for g in groups), counts[:, :-1] - counts[:, 1:]])


def _apart(first, second):
    """The largest deviation between two samples of counts, in means, variances and correlations, in standard errors."""
    one, two = _projections(first), _projections(second)
    sizes = 1 / len(one) + 1 / len(two)
    means = np.abs(one.mean(axis=0) - two.mean(axis=0)) / np.sqrt(one.var(axis=0) * sizes)
    spreads = np.abs(np.log(one.var(axis=0) / two.var(axis=0))) / np.sqrt(2 * sizes)
    pairs = np.triu_indices(first.shape[1], 1)
    correlations = [np.arctanh(np.corrcoef(counts.T)[pairs]) for counts in (first, second)]
    return max(means.max(), spreads.max(), np.abs(correlations[0] - correlations[1]).max() / math.sqrt(sizes))


def _joint(runs):
    """Counts of simulated tallies by both ways, by the marginal way, and of real reports."""
    oracle, entropy = SubsetSelection(epsilon=1.0, k=12), Entropy(11)
    values = np.repeat(np.arange(12), PEOPLE)
    ways = {
        "subsets": lambda: oracle._simulate_subsets(PEOPLE, entropy.generator().multinomial),
        "reports": lambda: oracle._simulate_reports(PEOPLE, Words.resolve(entropy, "test", "")),
        "marginal": lambda: oracle.simulate_marginal(PEOPLE, rng=entropy).counts,
        "real": lambda: oracle.tally(oracle.privatize(values, rng=entropy)).counts,
    }
    return {name: np.array([way() for _ in range(runs)], float) for name, way in ways.items()}


def _check_joint(runs):
    drawn = _joint(runs)
    assert _apart(drawn["subsets"], drawn["real"]) < Z_LIMIT
    assert _apart(drawn["reports"], drawn["real"]) < Z_LIMIT
    # The control: cell by cell the marginal way is right, but sums over groups vary too much.
    assert _apart(drawn["marginal"], drawn["real"]) > Z_LIMIT
    single = np.abs(np.log(drawn["marginal"].var(axis=0) / drawn["real"].var(axis=0))) / math.sqrt(4 / runs)
    assert single.max() < Z_LIMIT
    assert (drawn["subsets"].sum(axis=1) == 3 * PEOPLE.sum()).all()
    return drawn["real"]


@pytest.mark.audit
def test_simulated_tallies_have_the_joint_law_of_real_ones_and_marginal_ones_do_not():
    _check_joint(800)


@pytest.mark.audit
def test_simulated_tallies_have_the_joint_law_of_real_ones_in_many_runs():
    _check_joint(5_000)


@pytest.mark.audit
def test_the_stated_covariance_is_the_observed_one_for_these_people_and_for_a_population():
    oracle, runs, n = SubsetSelection(epsilon=1.0, k=5), 4_000, 1_000
    truth, generator = np.array([0.5, 0.3, 0.2, 0.0, 0.0]), Entropy(3).generator()
    for target in ("people", "population"):
        found = []
        for _ in range(runs):
            counts = (truth * n).astype(int) if target == "people" else generator.multinomial(n, truth)
            found.append(oracle.estimate(oracle.simulate(counts, rng=int(generator.integers(2**60)))).frequency)
        model = oracle.estimate(oracle.simulate((truth * n).astype(int), rng=1)).model
        stated = model.covariance(truth, target)
        observed = np.cov(np.array(found).T)
        spread = np.sqrt((np.outer(np.diag(stated), np.diag(stated)) + stated**2) / runs)
        assert (np.abs(observed - stated) < Z_LIMIT * spread).all()
        assert np.abs(stated.sum()) < 1e-9 * np.trace(stated) + 1e-12


def test_real_estimates_are_unbiased_and_vary_and_cover_as_stated_with_many_values():
    """Beyond the size of `matrix`, through the very reports: k = 128, both targets."""
    oracle, runs, n = SubsetSelection(epsilon=1.0, k=128), 500, 2_000
    truth = frequencies(128)
    generator = Entropy(5).generator()
    people = np.repeat(np.arange(128), people_of(oracle, n))
    for target in ("people", "population"):
        true = np.bincount(people, minlength=128) / n if target == "people" else truth
        found, hits = [], np.zeros(128)
        for run in range(runs):
            values = people if target == "people" else generator.choice(128, n, p=truth)
            answer = oracle.estimate(oracle.tally(oracle.privatize(values, rng=run)), target)
            found.append(answer.frequency)
            ends = answer.interval(0.95)
            hits += (ends[:, 0] <= true) & (true <= ends[:, 1])
        found = np.array(found)
        stated = oracle.variance(true, n, target)
        assert np.abs((found.mean(axis=0) - true) / np.sqrt(stated / runs)).max() < Z_LIMIT
        ratio = found.var(axis=0, ddof=1) / stated
        assert np.abs(ratio - 1).max() < Z_LIMIT * math.sqrt(2 / runs) + 0.05
        assert abs(ratio.mean() - 1) < 0.05
        assert abs(hits.mean() / runs - 0.95) < 0.01
        assert np.allclose(found.sum(axis=1), 1)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("people", [[0, 0, 0], [1, 0, 0], [0, 0, 10**9]])
def test_simulating_any_number_of_people_keeps_their_number(people):
    oracle = SubsetSelection(epsilon=1.0, k=3, omega=2)
    for tally in (oracle.simulate(people, rng=1), oracle.simulate_marginal(people, rng=1)):
        assert tally.simulated
        assert tally.n == sum(people)
    assert oracle.simulate(people, rng=1).counts.sum() == 2 * sum(people)


def test_simulating_report_by_report_does_not_depend_on_threads_or_chunks(monkeypatch):
    oracle, counts = SubsetSelection(epsilon=1.0, k=40), np.full(40, 5_000)
    made = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        made.append(oracle.simulate(counts, rng=7))
    assert made[0] == made[1] == made[2]
    assert made[0].counts.sum() == oracle.omega * 200_000


# The most likely frequencies.


def test_the_most_likely_frequencies_are_those_of_em_on_the_table():
    oracle = SubsetSelection(epsilon=1.0, k=6)
    reports = oracle.privatize(np.repeat(np.arange(6), [300, 200, 50, 0, 0, 10]), rng=4)
    seen = np.bincount(oracle.message(reports), minlength=math.comb(6, oracle.omega))
    channel = np.array([[float(entry) for entry in row] for row in oracle.matrix()])
    frequency, likelihood = np.full(6, 1 / 6), -np.inf
    for _ in range(10_000):
        mixed = frequency @ channel
        new = seen @ np.log(mixed) / seen.sum()
        if new - likelihood < 1e-9:
            break
        better = frequency * (channel @ (seen / mixed))
        frequency, likelihood = better / better.sum(), new
    found = oracle.most_likely(reports)
    assert found.method == "em"
    assert np.allclose(found.frequency, frequency, atol=1e-5)
    assert abs(found.frequency.sum() - 1) < 1e-12
    assert abs(found.frequency[0] - 300 / 560) < 0.2


@pytest.mark.audit
def test_refused_reports_have_no_part_in_the_most_likely_frequencies():
    oracle = SubsetSelection(epsilon=2.0, k=20)
    reports = oracle.privatize(np.arange(300) % 7, rng=4)
    bad = np.full((50, 3), 255, np.uint8)
    mixed = oracle.most_likely(np.concatenate([bad, reports]))
    assert (mixed.frequency == oracle.most_likely(reports).frequency).all()
    with pytest.raises(DataError, match="no valid report"):
        oracle.most_likely(bad)


# The edges.


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("bad", [-1, 5, 2.5, "2", None, True])
def test_a_bad_omega_is_refused(bad):
    with pytest.raises(BruitError, match="omega"):
        SubsetSelection(epsilon=1.0, k=5, omega=bad)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("bad", [0, -1, math.nan, "1", None, True, 1e-9, 21])
def test_a_bad_epsilon_is_refused(bad):
    with pytest.raises(BruitError, match="epsilon"):
        SubsetSelection(epsilon=bad, k=3)


@pytest.mark.audit
def test_what_is_beyond_the_limits_says_what_to_do_instead():
    with pytest.raises(LimitError, match="p, q and omega say the same"):
        SubsetSelection(epsilon=1.0, k=128).matrix()
    with pytest.raises(LimitError):
        SubsetSelection(epsilon=1.0, k=10**6).message(np.zeros((1, 125_000), np.uint8))
    with pytest.raises(ParameterError):
        SubsetSelection(epsilon=1.0, k=10**6 + 1)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    "reports",
    [
        *[0, None],
        *[np.zeros(shape, np.uint8) for shape in [(2, 3), (2, 2, 2), (4,), (4, 0)]],
        np.zeros((2, 2), np.int64),
    ],
)
def test_reports_of_a_wrong_type_or_shape_are_an_error(reports):
    with pytest.raises(DataTypeError, match="uint8"):
        SubsetSelection(epsilon=1.0, k=12).tally(reports)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("reports", [[1], [[0.5, 1.0]], [["a", "b"]], [[True, True]], [[255, 0, 0]]])
def test_an_entry_of_a_list_that_is_no_report_is_refused(reports):
    tally = SubsetSelection(epsilon=1.0, k=12).tally(reports)
    assert (tally.n, tally.refused) == (0, 1)


def test_reports_may_lie_anywhere_in_memory():
    """Backwards, in every other row or column, read-only, or at an odd address: the tally is the same."""
    oracle = SubsetSelection(epsilon=1.0, k=128)
    reports = oracle.privatize(np.arange(999) % 128, rng=1)
    tally = oracle.tally(reports)
    wide = np.zeros((999, 40), np.uint8)
    wide[:, ::2][:, :16] = reports
    odd = np.empty(reports.size + 1, np.uint8)[1:].reshape(reports.shape)
    odd[:] = reports
    locked = reports.copy()
    locked.flags.writeable = False
    for same in (reports[::-1], np.asfortranarray(reports), wide[:, ::2][:, :16], odd, locked):
        assert oracle.tally(same) == tally
        assert np.allclose(
            oracle._em_step(same, np.full(128, 1 / 128))[1], oracle._em_step(reports, np.full(128, 1 / 128))[1]
        )
    assert oracle.tally([]).n == 0


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("n", [0, 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5])
def test_reports_do_not_depend_on_the_number_of_threads(n, monkeypatch):
    oracle = SubsetSelection(epsilon=1.0, k=70)
    made = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        made.append(oracle.privatize(np.arange(n) % 70, rng=7))
    assert made[0].shape == (n, 9)
    assert (made[0] == made[1]).all()
    assert (made[0] == made[2]).all()
    assert oracle.tally(made[0]).n == n


@pytest.mark.audit
def test_a_million_people_need_little_more_memory_than_their_reports():
    oracle, values = SubsetSelection(epsilon=1.0, k=128), np.arange(10**6, dtype=np.uint8) % 128
    oracle.tally(oracle.privatize(values[:10], rng=1))
    tracemalloc.start()
    try:
        reports = oracle.privatize(values, rng=1)
        oracle.tally(reports)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20


def test_designs_survive_the_round_trip_and_differ_in_their_digests():
    designs = [
        SubsetSelection(epsilon=1.0, k=16),
        SubsetSelection(epsilon=1.0, k=16, omega=3),
        SubsetSelection(epsilon=1.0, k=15, omega=4),
        SubsetSelection(epsilon=1.1, k=16, omega=4),
        SubsetSelection(epsilon=1.0, domain=Categories(labels=["a", "b", "c"], missing="category")),
        SubsetSelection(epsilon=1.0, labels=["a", "b", "c"]),
    ]
    assert [_read(design.to_dict()) for design in designs] == designs
    assert len({design.digest for design in designs}) == len(designs)
    # The best ω is written down, so that a later version with another rule reads the same design.
    assert designs[0].to_dict()["omega"] == 4 == designs[0].omega
    assert SubsetSelection(epsilon=1.0, k=16, omega=4) == designs[0]


@pytest.mark.audit
def test_rows_of_one_place_to_choose_from_end():
    """k = 2: the only other value is the own one's opposite; nothing is searched for in vain."""
    rows = SubsetRows(1, 2)
    codes, out = np.array([0, 1, 0, 1], np.uint8), np.empty((4, 1), np.uint8)
    rows.draw(codes, np.array([True, True, False, False]), Entropy(1), out)
    assert out[:, 0].tolist() == [1, 2, 2, 1]
