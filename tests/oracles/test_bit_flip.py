"""dBitFlipPM: the ε of all pairs of histories by enumeration, its sampler, its estimate, and reports made by others."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import bruit
from bruit.errors import BruitError, DataError, DesignError, FormatError, ParameterError
from bruit.oracles import DBitFlip, Memory


def design(held=2, buckets=3, k=3, epsilon=1.0):
    return DBitFlip(epsilon=epsilon, held=held, buckets=buckets, k=k)


# Enumeration: all sets of held buckets, all pairs of histories of values, all reports. From the definition.


def memo_chance(own, bits, kind):
    """P(bits | the memo of a kind): its place among the held buckets, or None for all others."""
    p, q = own.law.p, own.law.q
    chances = [p if place == kind else q for place in range(len(bits))]
    return math.prod(chance if bit else 1 - chance for bit, chance in zip(bits, chances, strict=True))


def kinds_of(own, held, history):
    places = {bucket: place for place, bucket in enumerate(held)}
    return tuple(places.get(int(own.bucket_of(np.array([value]))[0])) for value in history)


def pattern(history):
    return tuple(history.index(entry) for entry in history)


def law_of(own, kinds, *, redrawn=False):
    """P(all reports) of a history of kinds; impossible reports are left out."""
    shown = list(range(len(kinds))) if redrawn else pattern(kinds)
    memos = sorted(set(shown))
    law = {}
    for drawn in itertools.product(itertools.product((0, 1), repeat=own.held), repeat=len(memos)):
        chance = math.prod(memo_chance(own, bits, kinds[memo]) for bits, memo in zip(drawn, memos, strict=True))
        reports = tuple(drawn[memos.index(memo)] for memo in shown)
        law[reports] = law.get(reports, 0) + chance
    return law


def loss(first, second):
    """The largest loss over all reports, both ways."""
    if set(first) != set(second):
        return math.inf
    ratio = max(max(first[y] / second[y], second[y] / first[y]) for y in first)
    return math.log(ratio)


def losses(own, rounds, **rule):
    """Every set of held buckets and pair of histories of values: their kinds, and the largest loss."""
    for held in itertools.combinations(range(own.buckets), own.held):
        known = {}
        for values in itertools.product(range(own.domain.size), repeat=rounds):
            known.setdefault(kinds_of(own, held, values), []).append(values)
        laws = {kinds: law_of(own, kinds, **rule) for kinds in known}
        for first, second in itertools.combinations_with_replacement(laws, 2):
            yield held, (known[first], known[second]), (first, second), loss(laws[first], laws[second])


def check(own, rounds):
    """What the design states is what the enumeration has, to the last digit but rounding."""
    worst = {"alike": 0.0, "stays": 0.0, "any": 0.0}
    for _, histories, kinds, largest in losses(own, rounds):
        worst["any"] = max(worst["any"], largest)
        if pattern(kinds[0]) == pattern(kinds[1]):
            worst["alike"] = max(worst["alike"], largest)
        else:
            assert largest == math.inf
        stays = [any(len(set(values)) == 1 for values in own_kind) for own_kind in histories]
        if all(stays):
            worst["stays"] = max(worst["stays"], largest)
    assert worst["any"] == pytest.approx(own.loss(rounds), rel=1e-12)
    assert worst["alike"] == pytest.approx(own.same_moves(rounds), rel=1e-12)
    assert worst["stays"] == pytest.approx(own.unchanged(rounds).epsilon, rel=1e-12)


DESIGNS = [(1, 2, 2), (2, 2, 2), (1, 2, 3), (2, 2, 3), (1, 3, 3), (2, 3, 3), (3, 3, 3)]


@pytest.mark.parametrize(("held", "buckets", "k"), DESIGNS)
def test_the_epsilon_of_rounds_is_the_largest_loss_over_all_subsets_and_pairs_of_histories(held, buckets, k):
    for rounds in (1, 2, 3, 4):
        check(design(held, buckets, k), rounds)


def test_moves_that_look_alike_cost_d_times_epsilon_and_not_once_more():
    assert [round(design(2, 4, 4).same_moves(rounds), 9) for rounds in (1, 2, 3, 4)] == [1, 2, 2, 2]
    check(design(2, 4, 4), 3)
    assert [round(design(1).same_moves(rounds), 9) for rounds in (1, 2, 3)] == [1, 2, 2]
    assert round(DBitFlip.as_published(epsilon=1.0, held=1, k=3).same_moves(9), 9) == 1
    assert round(design(3).same_moves(9), 9) == 3


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 9.0])
@pytest.mark.parametrize("held", [1, 2, 5])
def test_one_report_has_the_epsilon_asked_for_and_no_more(held, epsilon):
    own = design(held, 8, 8, epsilon)
    ratio = (own.law.p / own.law.q) ** min(held, 2)
    assert epsilon * (1 - 1e-9) <= own.guarantee.epsilon <= epsilon
    numerator, denominator = (Decimal(part) for part in ratio.as_integer_ratio())
    with localcontext(prec=60):
        assert Decimal(own.guarantee.epsilon) >= (numerator / denominator).ln()
    assert own.law.p == 1 - own.law.q


class StatesEpsilonForOneBit(DBitFlip):
    """The published claim: the bits of two held buckets for one, stated at the whole ε."""

    @property
    def guarantee(self):
        return bruit.privacy.Guarantee(epsilon=2 * super().guarantee.epsilon, neighbours="value")


def test_one_bit_stated_at_twice_its_epsilon_is_caught():
    own = StatesEpsilonForOneBit.as_published(epsilon=1.0, held=1, k=3)
    assert own.law.epsilon == pytest.approx(1.0)  # the ε of two of its bits, which nobody has
    with pytest.raises(AssertionError):
        check(own, 1)


def test_memos_redrawn_in_every_round_are_caught():
    own = design()
    forgetful = max(
        largest
        for _, _, kinds, largest in losses(own, 3, redrawn=True)
        if all(len(set(history)) == 1 for history in kinds)
    )
    assert forgetful == pytest.approx(3.0)
    assert forgetful > own.unchanged(3).epsilon + 1


# The sampler.


def outcomes(own, reports):
    """The number of each report among all that there are."""
    held, bits = own.held_buckets(reports), own.bits(reports)
    subsets = {subset: place for place, subset in enumerate(itertools.combinations(range(own.buckets), own.held))}
    places = np.array([subsets[tuple(row)] for row in held.tolist()])
    return places * 2**own.held + bits @ (1 << np.arange(own.held))


def exact(own, value):
    """P(report | value), in the order of `outcomes`."""
    subsets = list(itertools.combinations(range(own.buckets), own.held))
    law = []
    for held in subsets:
        (kind,) = kinds_of(own, held, (value,))
        rows = [tuple(message >> place & 1 for place in range(own.held)) for message in range(2**own.held)]
        law += [memo_chance(own, bits, kind) / Fraction(len(subsets)) for bits in rows]
    assert sum(law) == 1
    return np.array(law, float)


@pytest.mark.parametrize(("held", "buckets", "k"), [(1, 3, 3), (2, 4, 8), (3, 3, 4), (5, 6, 6)])
def test_reports_and_stored_memos_have_the_exact_law(held, buckets, k):
    own, n = design(held, buckets, k), 40_000
    value = k - 1
    stored = own.answer(own.start(n, rng=3), [value] * n)
    for reports in (own.privatize([value] * n, rng=5), stored):
        counts = np.bincount(outcomes(own, reports), minlength=len(exact(own, value)))
        assert stats.chisquare(counts, exact(own, value) * n).pvalue > 1e-7
        assert stats.chisquare(counts, exact(own, 0) * n).pvalue < 1e-9  # the control: another value


class HoldsItsOwnBucket(DBitFlip):
    """The held buckets are drawn from the value: its own one is always among them."""

    def randomize(self, codes, words):
        first, second = words.split(2)
        reports = super().randomize(codes, first)
        again = super().randomize(codes, second)
        missed = (self.held_buckets(reports) != self.bucket_of(codes)[:, None]).all(axis=1)
        return np.where(missed[:, None], again, reports)


def test_held_buckets_that_depend_on_the_value_are_caught():
    for kind, least in ((DBitFlip, 1e-7), (HoldsItsOwnBucket, None)):
        own = kind(epsilon=1.0, held=2, k=6)
        table = [np.bincount(outcomes(own, own.privatize([v] * 20_000, rng=v)) // 4, minlength=15) for v in (0, 5)]
        pvalue = stats.chi2_contingency(table).pvalue
        assert pvalue > least if least else pvalue < 1e-9


def test_reports_stay_while_the_value_stays_in_its_bucket_and_show_that_it_moved():
    own, n = design(2, 4, 8), 5000
    people = own.start(n, rng=1)
    first, same, other = (own.answer(people, [value] * n) for value in (0, 1, 7))
    assert (first == same).all()
    assert (own.held_buckets(first) == own.held_buckets(other)).all()  # which links all reports of a person
    moved = (first != other).any(axis=1)
    hidden = (own.held_buckets(first)[:, :, None] != np.array([0, 3])).all(axis=(1, 2))
    assert not moved[hidden].any()  # neither bucket is held
    assert 0.3 < moved[~hidden].mean() < 1


# The estimate.


def test_the_variances_are_the_known_ones():
    assert design(1, 10, 10).typical_variance(0.0, 1) == pytest.approx(9.2, abs=0.05)
    assert DBitFlip.as_published(epsilon=1.0, held=1, k=10).typical_variance(0.0, 1) == pytest.approx(39.2, abs=0.05)
    root = math.sqrt(math.e)
    for held in (2, 5, 10):
        wanted = 10 / held * root / (root - 1) ** 2
        assert design(held, 10, 10).typical_variance(0.0, 1) == pytest.approx(wanted, rel=1e-9)
        at_30 = design(held, 10, 10).typical_variance(0.3, 10**6, "people") * 10**6
        assert at_30 == pytest.approx(wanted + 0.21 * (10 / held - 1), rel=1e-5)


@pytest.mark.parametrize("held", [1, 3])
def test_the_scores_of_a_bucket_that_nobody_is_in_have_the_stated_variance(held):
    own, n = design(held, 10, 10), 300_000
    reports = own.privatize(np.zeros(n, np.int64), rng=2)
    bits = own.bits(reports)[own.held_buckets(reports) == 4]
    scores = (bits - float(own.law.q)) / float(own.law.p - own.law.q)
    assert scores.var() * n / len(bits) == pytest.approx(own.typical_variance(0.0, 1), rel=0.03)
    assert abs(scores.mean()) < 6 * scores.std() / math.sqrt(len(bits))
    assert len(bits) == pytest.approx(n * held / 10, rel=0.03)


def test_dividing_by_the_holders_is_unbiased_and_better_than_by_all():
    own, n, share, trials = design(2, 10, 10, 8.0), 1000, 0.6, 800
    values = np.repeat([0, 1], [600, 400])
    ours, published, inside = [], [], []
    for trial in range(trials):
        reports = own.privatize(values, rng=trial)
        answer = own.estimate(own.tally(reports), target="people")
        ours.append(answer.frequency[0])
        score = (own.bits(reports) - float(own.law.q)) / float(own.law.p - own.law.q)
        published.append(score[own.held_buckets(reports) == 0].sum() * 5 / n)
        lower, upper = answer.interval(0.95)[0]
        inside.append(lower <= share <= upper)
    stated = own.typical_variance(share, n, "people")
    assert abs(np.mean(ours) - share) < 6 * math.sqrt(stated / trials)
    assert np.var(ours) == pytest.approx(stated, rel=0.28)
    assert np.var(published) > 1.8 * stated  # f where f(1 − f) stands
    assert stats.binomtest(sum(inside), trials, 0.95).pvalue > 1e-7


def test_an_estimate_has_the_labels_of_its_buckets_and_their_intervals():
    own = DBitFlip(epsilon=4.0, held=2, buckets=2, labels=["bus", "car", "bike"])
    answer = own.estimate(own.tally(own.privatize(["bus"] * 300 + ["bike"] * 700, rng=1)))
    assert answer.labels == ("bus–car", "bike")
    assert abs(answer.frequency[1] - 0.7) < 0.2
    for target, method in itertools.product(("population", "people"), ("wilson", "wald")):
        rows = own.estimate(own.tally(own.privatize(["bus"] * 300, rng=1)), target).interval(method=method)
        assert (rows[:, 0] < rows[:, 1]).all()
    assert answer.interval(method="clopper-pearson").shape == (2, 2)
    assert answer.consistent().frequency.sum() == pytest.approx(1)
    for wrong in (answer.covariance, lambda: answer.consistent("em")):
        with pytest.raises(ParameterError):
            wrong()
    with pytest.raises(ParameterError, match="population"):
        own.estimate(own.tally(own.privatize(["bus"] * 9, rng=1)), "people").interval(method="clopper-pearson")
    assert DBitFlip(epsilon=1.0, held=1, buckets=3, k=7).bucket_names == ("0–2", "3–4", "5–6")


def test_every_value_is_in_the_bucket_that_its_name_says():
    own = DBitFlip(epsilon=1.0, held=1, buckets=5, k=13)
    buckets = own.bucket_of(np.arange(13))
    for bucket, name in enumerate(own.bucket_names):
        first, last = map(int, name.split("–"))
        assert np.flatnonzero(buckets == bucket).tolist() == list(range(first, last + 1))


# The edges of the interface.


def row(own, held, bits=0):
    places = np.array(held, "<u2").view(np.uint8).tolist()
    return np.array([bits, *places], np.uint8)


def test_reports_that_nobody_can_have_made_are_refused_and_counted():
    own = design(2, 5, 5)
    honest = own.privatize([0, 1, 2, 3, 4] * 20, rng=1)
    hostile = {
        "a position beyond the buckets": row(own, [0, 5]),
        "one far beyond": row(own, [3, 65535]),
        "a position twice": row(own, [3, 3]),
        "positions that do not ascend": row(own, [3, 1]),
        "a bit beyond the last": row(own, [1, 3], 4),
        "a subset of three": row(own, [1, 2, 3]),
        "a subset of one": row(own, [1]),
        "text": "hello",
        "nothing": None,
        "numbers that are no bytes": [1, 300, 0, 0, 0],
    }
    tally = own.tally([*hostile.values(), *honest])
    assert (tally.n, tally.refused) == (100, len(hostile))
    assert (tally.counts == own.tally(honest).counts).all()
    assert own.valid(honest).all()
    again = own.tally([bytes(report) for report in honest] + [report.tobytes().hex() for report in honest])
    assert (again.n, again.refused) == (200, 0)


def test_tallies_add_up_and_those_of_others_are_refused():
    own = design(2, 4, 4)
    reports = own.privatize([0, 1, 2, 3] * 30, rng=1)
    assert own.tally(reports[:50]) + own.tally(reports[50:]) == own.tally(reports)
    with pytest.raises(DesignError):
        own.estimate(design(2, 4, 5).tally(reports[:0]))
    tally = own.tally(reports)
    for counts in (tally.counts[::-1], tally.counts + 1, np.minimum(tally.counts, 1)):
        with pytest.raises(DataError):
            own.estimate(bruit.estimation.Tally(design=own.digest, counts=counts, n=tally.n))
    with pytest.raises(DesignError):
        own.estimate(bruit.estimation.Tally(design=own.digest, counts=[1, 2], n=1))
    with pytest.raises(DataError, match="no valid report"):
        own.estimate(own.tally(reports[:0]))
    with pytest.raises(DataError, match="Nobody here holds"):
        own.estimate(own.tally(reports[:1]))


def test_a_memory_keeps_the_memos_and_no_value(tmp_path):
    own = DBitFlip(epsilon=1.0, held=2, buckets=2, labels=["bus", "car", "bike"])
    memory = Memory.create(tmp_path / "memory", own)
    first = memory.report("bus", round=1)
    assert (memory.report("car", round=2) == first).all()  # one bucket
    memory.report("bike", round=3)
    stored = memory._read()[""]["0"]["memo"]
    assert isinstance(stored, str)
    assert len(stored) == 2 * own.stored_bytes
    assert own.tally(memory.reports(["bus", "car"], ["Ada", "Bob"], round=2)).n == 2
    with pytest.raises(ParameterError, match="no epochs"):
        memory.report("bus", round=4, epoch=1)
    body = bruit.documents.unseal(bruit.documents.read_state(tmp_path / "memory"), "bruit.memory/1")
    body["people"][""]["0"]["memo"] = "ff" * own.stored_bytes
    (tmp_path / "memory").write_text(bruit.documents.seal("bruit.memory/1", body))
    with pytest.raises(FormatError, match="damaged"):
        memory.report("bus", round=5)


def test_a_design_survives_its_document():
    own = DBitFlip(epsilon=1.0, held=2, buckets=2, labels=["bus", "car", "bike"])
    assert DBitFlip.from_dict(own.to_dict()) == own
    assert DBitFlip(epsilon=1.0, held=2, buckets=2, domain=own.domain).digest == own.digest
    settings = own.to_dict()["bit_flip"]
    for bad in ({}, None, {"bit_flip": 3}, *({"bit_flip": {**settings, name: -1}} for name in (*settings, "other"))):
        with pytest.raises(FormatError):
            DBitFlip.from_dict(bad)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"held": 0}, "held must"),
        ({"held": 4}, "held must"),
        ({"held": 65, "k": 100}, "held must"),
        ({"buckets": 4}, "buckets must"),
        ({"buckets": 1}, "buckets must"),
        ({"buckets": False}, "buckets must"),
        ({"epsilon": 0}, "epsilon must"),
        ({"epsilon": 11.0, "held": 1}, "at most 10"),
        ({"k": 1}, "k must"),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_its_reason(settings, rule):
    with pytest.raises(BruitError, match=rule):
        DBitFlip(**{"epsilon": 1.0, "held": 2, "k": 3, **settings})


def test_more_reports_than_one_are_refused_an_epsilon_with_what_holds():
    own = design()
    assert own.after(1).epsilon == own.unchanged(10**9).epsilon == own.guarantees["unchanged"].epsilon
    assert own.after(1).neighbours == "person"
    with pytest.raises(ParameterError, match=r"is infinite. unchanged.12."):
        own.after(12)
    for wrong in (own.after, own.loss, own.unchanged, own.same_moves):
        with pytest.raises(BruitError):
            wrong(0)


def test_the_name_says_what_to_write():
    for call in (
        lambda: bruit.panel("dBitFlipPM", epsilon=1.0, epoch_epsilon=2.0, k=3),
        lambda: bruit.panel("dbitflippm", epsilon=1.0, epoch_epsilon=2.0, k=3),
        lambda: bruit.oracle("dBitFlipPM", epsilon=1.0, k=3),
        lambda: bruit.oracles.one_report("dBitFlipPM", epsilon=1.0, epoch_epsilon=2.0, k=3),
    ):
        with pytest.raises(ParameterError, match=r"bruit.oracles.DBitFlip"):
            call()


def test_what_is_not_stored_here_is_refused_without_its_value():
    own = design()
    people = own.start(3, rng=1)
    broken = people.copy()
    broken["held"][0, 0] = 77
    for bad in (broken, people["memos"]):
        with pytest.raises(ParameterError) as caught:
            own.answer(bad, [1, 2, 0])
        assert "77" not in str(caught.value)
    with pytest.raises(DataError, match="a value for every person"):
        own.answer(people, [1, 2])
    assert len(own.start(0)) == 0
    reports = own.select(people, own.encode([1, 2, 0]))
    reports[0, -1] = 9
    with pytest.raises(ParameterError, match="memos must be those"):
        own.report(reports, bruit.entropy.Words(1))
