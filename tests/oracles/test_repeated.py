"""The same people again: the law of one report, the exact ε of several, the sampler, and what a fresh memo costs."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bruit
from bruit import audit
from bruit.entropy import Words
from bruit.errors import BruitError, FormatError, ParameterError
from bruit.laws import LeaningLaw, Listed, TwoLevelLaw
from bruit.laws.words import WORDS, bernoulli
from bruit.oracles import Oracle, RandomizedResponse, Repeated, SetOracle, SubsetSelection, UnaryEncoding
from bruit.oracles.refreshing import decide, refresh_messages
from bruit.rounding import log_ceiling

NAMES = ["GRR", "SUE", "OUE", "SS", "PGR", "HR", "OLH", "BLH"]
SMALL = [
    *[Repeated(RandomizedResponse(epsilon=0.5, k=k), 1.5) for k in (2, 3, 4)],
    Repeated(SubsetSelection(epsilon=0.4, k=4, omega=2), 2.0),
    *[Repeated(UnaryEncoding(epsilon=0.7, k=k, kind=kind), 1.1) for k in (2, 3) for kind in ("SUE", "OUE")],
]


def _name(panel):
    return f"{panel.oracle.name}-{panel.oracle.k}"


def channel(panel):
    """P(report | memo) for all pairs, written out from the words of the definition."""
    size = len(panel.oracle.matrix()[0])
    if isinstance(panel.oracle, UnaryEncoding):
        flip = (1 - panel.keep) / 2
        k = panel.oracle.k
        return [
            [flip ** (m ^ y).bit_count() * (1 - flip) ** (k - (m ^ y).bit_count()) for y in range(size)]
            for m in range(size)
        ]
    return [[panel.keep * (m == y) + (1 - panel.keep) / size for y in range(size)] for m in range(size)]


@pytest.mark.parametrize("panel", SMALL, ids=_name)
def test_one_report_is_a_report_of_the_oracle_to_the_last_digit(panel):
    step, memo = channel(panel), panel.memo.matrix()
    for row, wanted in zip(memo, panel.oracle.matrix(), strict=True):
        reported = [sum(row[m] * step[m][y] for m in range(len(row))) for y in range(len(row))]
        assert reported == wanted
    assert panel.after(1) == panel.oracle.guarantee


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
@pytest.mark.parametrize("panel", SMALL, ids=_name)
def test_the_epsilon_of_several_reports_is_the_worst_of_all_sequences(panel, rounds):
    step, memo = channel(panel), panel.memo.matrix()
    worst = Fraction(1)
    for reports in combinations_with_replacement(range(len(step)), rounds):
        chances = [math.prod((row[y] for y in reports), start=Fraction(1)) for row in step]
        likelihoods = [sum(p * chance for p, chance in zip(row, chances, strict=True)) for row in memo]
        worst = max(worst, max(likelihoods) / min(likelihoods))
    assert panel._law.repeated_ratio(panel.keep, rounds) == worst
    assert panel.after(rounds).epsilon == log_ceiling(worst)


@given(st.sampled_from(NAMES), st.floats(0.01, 5), st.floats(0.001, 5), st.integers(2, 300))
@settings(deadline=None, max_examples=60)
def test_no_realised_epsilon_is_above_the_requested_or_far_below(name, first, more, k):
    panel = Repeated(bruit.oracle(name, epsilon=first, k=k), first + more)
    series = [panel.after(rounds).epsilon for rounds in (1, 2, 5, 40)]
    assert series == sorted(series)
    assert first * (1 - 1e-9) <= series[0] <= first
    assert panel.epoch * (1 - 1e-9) <= panel.guarantees["epoch"].epsilon <= panel.epoch
    assert series[-1] <= panel.guarantees["epoch"].epsilon
    assert 0 < panel.keep < 1


def test_two_reports_may_cost_more_than_twice_one():
    panel = Repeated(RandomizedResponse(epsilon=1.0, k=100), 4.0)
    assert round(panel.after(2).epsilon, 3) == 2.415
    assert panel.after(10**9) == panel.guarantees["epoch"]


@pytest.mark.parametrize("name", ["GRR", "SS"])
def test_many_reports_are_stated_from_above_and_at_once(name):
    """The formula itself, with all its digits, on both sides of where the limit stands for it."""
    panel = Repeated(bruit.oracle(name, epsilon=1.0, k=60), 2.0)
    law, messages = panel.memo.law, panel.memo.law.sets.alphabet
    base = 1 + messages * panel.keep / (1 - panel.keep)
    limits = 0
    for rounds in (1, 2, 5, 10, 50, 150, 300):
        excess = (base**rounds - 1) * Fraction(law.outcomes, messages)
        exact = (law.inside * excess + law.total) / (law.outside * excess + law.total)
        stated = law.repeated_ratio(panel.keep, rounds)
        assert exact <= stated <= exact * (1 + Fraction(1, 2**500))
        limits += stated != exact
    assert 0 < limits < 7
    assert panel.after(4096) == panel.guarantees["epoch"]


def test_epochs_add_up_and_speak_of_the_whole_history():
    panel = Repeated(RandomizedResponse(epsilon=0.1, k=3), 0.3)
    whole = panel.over(7)
    assert whole.neighbours == "person"
    assert Fraction(whole.epsilon) >= 7 * Fraction(panel.guarantees["epoch"].epsilon)
    assert whole.epsilon <= math.nextafter(2.1, 3)
    assert panel.over(7, rounds=1).epsilon < whole.epsilon


def test_different_histories_stay_within_the_sum_of_their_epochs():
    """Two epochs of two reports each, all histories of two values: brute force over all reports."""
    panel = Repeated(RandomizedResponse(epsilon=0.5, k=2), 1.0)
    step, memo = channel(panel), panel.memo.matrix()
    pairs = [(y, z) for y in range(2) for z in range(2)]
    epoch = [[sum(row[m] * step[m][y] * step[m][z] for m in range(2)) for y, z in pairs] for row in memo]
    worst = max(
        (epoch[a][i] * epoch[b][j]) / (epoch[c][i] * epoch[d][j])
        for a, b, c, d in [(a, b, c, d) for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)]
        for i in range(4)
        for j in range(4)
    )
    assert log_ceiling(worst) <= panel.over(2, rounds=2).epsilon <= panel.over(2).epsilon
    assert log_ceiling(worst) > 1.9 * panel.after(2).epsilon  # the control: one epoch does not cover two


def test_a_memo_derived_from_the_current_value_would_break_the_guarantee():
    """The control for storing: with one memo per value, a change of value shows as a change of reports."""
    panel = Repeated(RandomizedResponse(epsilon=0.18, k=3), 0.19)
    step, memo = channel(panel), panel.memo.matrix()

    def likelihood(history, reports):
        total = Fraction(0)
        for memos in [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]:
            prior = math.prod((memo[value][memos[value]] for value in range(3)), start=Fraction(1))
            total += prior * math.prod(
                (step[memos[value]][y] for value, y in zip(history, reports, strict=True)), start=Fraction(1)
            )
        return total

    constant, changing = likelihood((0, 0, 0), (0, 0, 0)), likelihood((0, 1, 2), (0, 0, 0))
    assert math.log(constant / changing) > 5 * panel.over(1).epsilon


# The sampler.


class Script:
    """Words in a fixed order, in place of a keystream."""

    def __init__(self, words):
        self.left = list(words)

    def words(self, size):
        taken, self.left = self.left[:size], self.left[size:]
        return np.array(taken, np.uint64)

    def fill(self, out):
        out[:] = self.words(out.size)


def test_a_chance_with_any_denominator_is_met_exactly():
    third = WORDS // 3
    assert bernoulli(Fraction(1, 3), iter([third, third, third - 1]))
    assert not bernoulli(Fraction(1, 3), iter([third, third + 1]))
    words = np.array([0, third - 1, third, third, third + 1], np.uint64)
    chosen = decide(Fraction(1, 3), words, Script([0, *[7] * 1023, WORDS - 1, *[7] * 1023]))
    assert chosen.tolist() == [True, True, True, False, False]
    assert decide(Fraction(1), words, Script([])).all()


def test_one_word_keeps_or_refreshes_and_what_it_leaves_is_drawn_by_more():
    keep, choices = Fraction(2, 7), 5
    kept, width = WORDS * 2 // 7, WORDS * 5 // 7 // 5
    total = kept + choices * width
    assert total < WORDS
    words = [0, kept - 1, kept, kept + width - 1, kept + width, total - 1, total, total]
    # The first late word keeps, by one word of 1024; the second draws the fourth choice by its second word.
    more = [0, *[7] * 1023, WORDS - 1, WORDS * 7 // 10, *[7] * 1022]
    out = np.empty(8, np.uint8)
    refresh_messages(np.full(8, 4, np.uint8), choices, keep, Script([*words, *more]), out)
    assert out.tolist() == [4, 4, 0, 0, 1, 4, 4, 3]
    # The chances of the words add up to the whole law.
    late = (keep * WORDS - kept) / (WORDS - total)
    assert Fraction(kept, WORDS) + Fraction(WORDS - total, WORDS) * late == keep
    assert Fraction(width, WORDS) + Fraction(WORDS - total, WORDS) * (1 - late) / choices == (1 - keep) / choices


def test_a_chance_that_almost_always_keeps_still_refreshes_rightly():
    keep = 1 - Fraction(1, WORDS)
    out = np.empty(2, np.uint8)
    refresh_messages(np.array([3, 3], np.uint8), 4, keep, Script([5, WORDS - 1, *[WORDS // 2] * 1024]), out)
    assert out.tolist() == [3, 2]


PANELS = [
    Repeated(RandomizedResponse(epsilon=0.5, k=5), 1.5),
    Repeated(SubsetSelection(epsilon=0.6, k=5, omega=2), 1.5),
    Repeated(UnaryEncoding(epsilon=0.7, k=3, kind="SUE"), 1.6),
    Repeated(UnaryEncoding(epsilon=0.7, k=3), 1.6),
    Repeated(bruit.oracle("PGR", epsilon=0.8, k=7), 2.0),
    Repeated(bruit.oracle("HR", epsilon=0.8, k=7), 2.0),
]


def _misfit(panel, law, n=60_000):
    """The p-value of what `report` makes of one memo, against a row of the channel."""
    memos = np.repeat(panel.memoize([1], rng=3), n, axis=0)
    reports = panel.oracle.message(panel.answer(memos, rng=5))
    counts = np.bincount(reports, minlength=len(law))
    return stats.chisquare(counts, np.array(law, float) * n).pvalue


@pytest.mark.parametrize("panel", PANELS, ids=_name)
def test_reports_of_one_memo_have_the_law_of_the_definition(panel):
    memo = int(panel.oracle.message(panel.memoize([1], rng=3))[0])
    assert _misfit(panel, channel(panel)[memo]) > 1e-7


@pytest.mark.parametrize("panel", PANELS, ids=_name)
def test_a_chance_off_by_five_percent_is_seen(panel):
    """The control of the test above."""
    memo = int(panel.oracle.message(panel.memoize([1], rng=3))[0])
    law = channel(panel)[memo]
    leaning = [p * Fraction(95, 100) + (y == memo) * Fraction(5, 100) for y, p in enumerate(law)]
    assert _misfit(panel, leaning) < 1e-9


@pytest.mark.parametrize("name", ["OLH", "BLH"])
@pytest.mark.parametrize("pool", [None, 50])
def test_hashing_keeps_the_function_and_refreshes_the_bucket(name, pool):
    panel = Repeated(bruit.oracle(name, epsilon=1.0, k=30, pool=pool), 2.5)
    memos = panel.memoize(np.arange(30_000) % 30, rng=1)
    reports = panel.answer(memos, rng=2)
    for field in set(memos.dtype.names) - {"bucket"}:
        assert (reports[field] == memos[field]).all()
    same = float(panel.keep + (1 - panel.keep) / panel.oracle.g)
    agreeing = int((reports["bucket"] == memos["bucket"]).sum())
    assert stats.binomtest(agreeing, 30_000, same).pvalue > 1e-7
    assert stats.binomtest(agreeing, 30_000, same - 0.05).pvalue < 1e-9


# Figures of the literature, and the construction that was published.


def test_memoised_randomised_response_has_the_variance_of_one_report():
    panel = Repeated(RandomizedResponse(epsilon=1.0, k=50), 2.0)
    n = 2_000
    values = np.arange(n) % 25  # half of the values are nobody's
    squares = []
    for seed in range(800):
        reports = panel.answer(panel.memoize(values, rng=seed), rng=seed)
        squares.append(n * panel.oracle.estimate(panel.oracle.tally(reports)).frequency[25:] ** 2)
    assert panel.oracle.variance(np.array([0.0]), 1)[0] == pytest.approx(17.18, rel=0.001)
    # The mean of 20 000 squares of nearly normal numbers has a deviation of 1 %.
    assert np.mean(squares) == pytest.approx(17.18, rel=0.05)


def test_the_published_construction_wastes_most_of_it():
    """L-GRR as printed: the second law from a formula that is right for two values only."""

    def published(k, whole, first):
        second = (math.exp(whole + first) - 1) / (math.exp(whole) - math.exp(first))
        p1, p2 = math.exp(whole) / (math.exp(whole) + k - 1), second / (second + k - 1)
        q1, q2 = (1 - p1) / (k - 1), (1 - p2) / (k - 1)
        p = p1 * p2 + (1 - p1) * q2
        q = q1 * p2 + (1 - q1) * q2
        return math.log(p / q), q * (1 - q) / (p - q) ** 2

    epsilon, variance = published(50, 2.0, 1.0)
    assert (round(epsilon, 3), round(variance, 1)) == (0.286, 448.8)
    assert published(2, 2.0, 1.0)[0] == pytest.approx(1.0)
    exact = Repeated(RandomizedResponse(epsilon=1.0, k=50), 2.0).oracle.variance(np.array([0.0]), 1)[0]
    assert variance > 26 * exact


@pytest.mark.audit
def test_memoised_subset_selection_is_as_good_as_subset_selection():
    panel = Repeated(SubsetSelection(epsilon=2.0, k=24), 5.0)
    assert panel.oracle.variance(np.array([0.0]), 1)[0] == pytest.approx(0.585, rel=0.001)
    assert panel.memo.omega == panel.oracle.omega
    n, values, squares = 400, np.arange(400) % 12, []
    for seed in range(1700):
        reports = panel.answer(panel.memoize(values, rng=seed), rng=seed)
        squares.append(n * panel.oracle.estimate(panel.oracle.tally(reports)).frequency[12:] ** 2)
    # The mean of 20 400 squares of nearly normal numbers has a deviation of 1 %.
    assert np.mean(squares) == pytest.approx(0.585, rel=0.05)


# Audits over rounds.


def eight_rounds(panel, *, redraw):
    """Reports of eight rounds of one value; with `redraw`, by a twin that forgets its memo."""

    def sample(value, trials, entropy):
        codes = panel.oracle.encode([value] * trials)
        memos = panel.remember(codes, Words.resolve(entropy, "memos", panel.digest))
        columns = []
        for _ in range(8):
            if redraw:
                memos = panel.remember(codes, Words.resolve(entropy, "memos", panel.digest))
            columns.append(panel.report(memos, Words.resolve(entropy, "reports", panel.digest)))
        return np.column_stack(columns)

    return sample


def _balance(reports):
    return (np.asarray(reports) == 0).sum(axis=1) - (np.asarray(reports) == 1).sum(axis=1)


def test_an_audit_over_eight_rounds_passes_the_memo_and_catches_a_twin_that_redraws_it():
    panel = Repeated(RandomizedResponse(epsilon=0.7, k=4), 1.0)
    settings = {"trials": 40_000, "level": 1 - 1e-7, "rng": 11, "score": _balance}
    memoised = audit.empirical(eight_rounds(panel, redraw=False), 0, 1, **settings)
    redrawn = audit.empirical(eight_rounds(panel, redraw=True), 0, 1, **settings)
    assert memoised.passes(panel.guarantees["epoch"])
    assert memoised.epsilon_lower > 0.7  # the rounds do tell more than one report
    assert not redrawn.passes(panel.guarantees["epoch"])


# The edges of the interface.


def test_without_room_to_refresh_every_report_is_the_memo():
    for name in NAMES:
        panel = Repeated(bruit.oracle(name, epsilon=1.0, k=6), 1.0)
        memos = panel.memoize([0, 1, 5], rng=1)
        assert (panel.answer(memos) == memos).all()
        assert panel.after(9) == panel.guarantees["report"] == panel.guarantees["epoch"]


@pytest.mark.parametrize("name", NAMES)
def test_a_design_survives_its_document_and_seeds_repeat(name):
    panel = Repeated(bruit.oracle(name, epsilon=1.0, labels=["a", "b", "c"]), 2.0)
    again = Repeated.from_dict(panel.to_dict())
    assert again == panel
    assert again.digest == panel.digest != Repeated(panel.oracle, 2.5).digest
    memos = panel.memoize(["a", "c"] * 40, rng=1)
    assert (again.memoize(["a", "c"] * 40, rng=1) == memos).all()
    assert (panel.answer(memos, rng=2) == again.answer(memos, rng=2)).all()
    assert (panel.answer(memos, rng=2) != panel.answer(memos, rng=3)).any()
    assert (panel.answer(memos) != panel.answer(memos)).any()


def test_odds_of_one_report_may_be_exact():
    panel = Repeated(RandomizedResponse.two_coins(labels=("no", "yes")), 2.0)
    assert panel.after(1).epsilon == math.log(3)


@pytest.mark.parametrize(
    ("oracle", "epoch", "rule"),
    [
        (RandomizedResponse(epsilon=1.0, k=3), 0.9, "epoch must be at least"),
        (RandomizedResponse(epsilon=1.0, k=3), math.inf, "epoch"),
        (UnaryEncoding.with_probabilities(0.7, 0.2, k=3), 5.0, "use OUE or SUE"),
        ("GRR", 2.0, "oracle must be an Oracle"),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_its_reason(oracle, epoch, rule):
    with pytest.raises(BruitError, match=rule):
        Repeated(oracle, epoch)


def test_an_oracle_that_cannot_draw_evenly_is_refused(monkeypatch):
    monkeypatch.setattr(RandomizedResponse, "_refresh", Oracle._refresh)
    with pytest.raises(ParameterError, match="GRR has no way to draw a message evenly"):
        Repeated(RandomizedResponse(epsilon=1.0, k=3), 2.0)


def test_an_oracle_that_is_its_sets_can_be_repeated():
    class Fano(SetOracle):
        name = "FANO"

        @property
        def law(self):
            lines = tuple(tuple(sorted((value + step) % 7 for step in (1, 2, 4))) for value in range(7))
            return TwoLevelLaw.calibrate(self.epsilon, Listed(7, lines))

    panel = Repeated(Fano(epsilon=1.0, k=7), 2.0)
    assert panel.after(1) == panel.oracle.guarantee
    assert _misfit(panel, channel(panel)[int(panel.memoize([1], rng=3)[0])]) > 1e-7


def test_a_law_of_another_shape_is_refused(monkeypatch):
    law = LeaningLaw(least=1, slope=1, cells=3)
    monkeypatch.setattr(RandomizedResponse, "law", property(lambda self: law))
    with pytest.raises(ParameterError, match="neither two levels nor bits"):
        Repeated(RandomizedResponse(epsilon=1.0, k=3), 2.0)


@pytest.mark.parametrize("bad", [np.array([9], np.uint8), np.array([0.5]), np.array([[1, 1]], np.uint8)])
def test_what_is_no_memo_is_refused_without_its_value(bad):
    panel = Repeated(RandomizedResponse(epsilon=1.0, k=3), 2.0)
    with pytest.raises(BruitError) as caught:
        panel.answer(bad)
    assert "9" not in str(caught.value)


@pytest.mark.parametrize("bad", [{}, {"repeated": {}, "epoch": 1.0}, None, {"repeated": 1}])
def test_a_document_that_is_none_is_refused(bad):
    with pytest.raises(FormatError):
        Repeated.from_dict(bad)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True])
def test_a_bad_number_of_rounds_is_refused(bad):
    panel = Repeated(RandomizedResponse(epsilon=1.0, k=3), 2.0)
    with pytest.raises(BruitError, match="rounds"):
        panel.after(bad)
