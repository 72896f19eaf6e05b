"""1BitMean over rounds: one report is Duchi's, the ε of any two histories by enumeration, and the sampler."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import bruit
from bruit.collection import LongitudinalMean
from bruit.errors import BruitError, DataError, FormatError, ParameterError
from bruit.numbers import Duchi, Piecewise
from bruit.oracles import Memory
from bruit.rounding import log_ceiling


def design(report=1.0, memo=2.0, cells=3):
    return LongitudinalMean(Duchi(epsilon=report, bounds=(0, cells - 1)), memo)


# Enumeration in fractions: all thresholds, all pairs of histories of cells, all reports.


def chance(own, history, reports, *, redrawn=False, new_threshold=False):
    """P(reports | history) by the definition; planted: memos or thresholds drawn again in every round."""
    keep, law, cells = own.keep, own.memo_law, own.number.cells
    rows = [law.row(side) for side in range(2)]

    def shown(memo, y):
        return keep * (memo == y) + (1 - keep) / 2

    def given(sides):
        rounds = list(zip(sides, reports, strict=True))
        groups = [[pair] for pair in rounds] if redrawn else [[p for p in rounds if p[0] == s] for s in set(sides)]
        return math.prod(
            sum(rows[group[0][0]][memo] * math.prod(shown(memo, y) for _, y in group) for memo in range(2))
            for group in groups
        )

    thresholds = range(cells - 1)
    drawn = (
        itertools.product(thresholds, repeat=len(history))
        if new_threshold
        else ((u,) * len(history) for u in thresholds)
    )
    laws = [given([int(cell > u) for cell, u in zip(history, us, strict=True)]) for us in drawn]
    return sum(laws, start=Fraction(0)) / len(laws)


def largest(own, histories, rounds, **planted):
    ratios = []
    for reports in itertools.product(range(2), repeat=rounds):
        chances = [chance(own, history, reports, **planted) for history in histories]
        ratios.append(max(chances) / min(chances))
    return max(ratios)


@pytest.mark.parametrize(("cells", "rounds"), [(2, 1), (2, 2), (2, 4), (3, 1), (3, 2), (3, 3), (3, 4)])
def test_the_epsilon_of_rounds_is_the_largest_loss_over_all_pairs_of_histories(cells, rounds):
    own = design(cells=cells)
    histories = list(itertools.product(range(cells), repeat=rounds))
    assert own.after(rounds).epsilon == log_ceiling(largest(own, histories, rounds))
    constant = [(cell,) * rounds for cell in range(cells)]
    assert own.unchanged(rounds).epsilon == log_ceiling(largest(own, constant, rounds))
    assert own.unchanged(rounds).epsilon <= own.guarantees["unchanged"].epsilon <= 2.0
    for history in constant:
        others = [history, *((*history[:-1], cell) for cell in range(cells))]
        assert log_ceiling(largest(own, others, rounds)) <= own.one_round.epsilon


def test_one_report_is_a_report_of_duchi_to_the_last_digit():
    own = design(cells=5)
    for cell in range(5):
        assert [chance(own, (cell,), (y,)) for y in range(2)] == own.number.law.row(cell)
    assert own.after(1).epsilon == own.guarantees["report"].epsilon == own.number.guarantee.epsilon


def test_memos_redrawn_in_every_round_are_caught():
    own = design()
    constant = [(cell,) * 4 for cell in range(3)]
    assert log_ceiling(largest(own, constant, 4, redrawn=True)) == pytest.approx(4.0)
    assert largest(own, constant, 4, redrawn=True) > 2 * own.memo_law.ratio


def test_a_threshold_redrawn_in_every_round_is_caught():
    own = design(1.9, 2.0)
    constant = [(cell,) * 4 for cell in range(3)]
    assert largest(own, constant, 4) <= own.memo_law.ratio
    assert largest(own, constant, 4, new_threshold=True) > 2 * own.memo_law.ratio


# The sampler.


def test_what_is_stored_and_shown_has_the_law_of_the_definition():
    own = design(cells=5)
    people = own.start(50_000, rng=3)
    thresholds = np.bincount(people["threshold"], minlength=4)
    assert stats.chisquare(thresholds).pvalue > 1e-7
    upper = int(people["memos"][:, 1].sum())
    assert stats.binomtest(upper, 50_000, float(own.memo_law.row(1)[1])).pvalue > 1e-7
    assert stats.binomtest(upper, 50_000, float(own.memo_law.row(0)[1])).pvalue < 1e-9  # the control: the other side
    memos = own.select(people, own.encode(np.full(50_000, 2)))
    assert (memos == people["memos"][np.arange(50_000), (people["threshold"] < 2).astype(int)]).all()
    same = int((own.answer(people, np.full(50_000, 2), rng=8) == memos).sum())
    kept = float(own.keep + (1 - own.keep) / 2)
    assert stats.binomtest(same, 50_000, kept).pvalue > 1e-7
    assert stats.binomtest(same, 50_000, kept - 0.05).pvalue < 1e-9


def test_reports_have_the_variance_of_the_papers_and_the_memo_does_not_average_out():
    own = LongitudinalMean(Duchi(epsilon=1.0, bounds=(0.0, 1.0), cells=101), 2.0)
    middle = np.zeros(101)
    middle[50] = 1.0
    people, values = own.start(200_000, rng=1), np.full(200_000, 0.5)
    numbers = [own.number.decode(own.answer(people, values, rng=number)) for number in range(4)]
    # (e + 1)²/(4(e − 1)²) at ε = 1: exact for a number in the middle, of two equally likely outputs.
    assert own.variance(middle, 1, 1, "people") == pytest.approx(1.171, rel=0.002)
    assert numbers[0].var() == pytest.approx(1.171, rel=0.03)
    of_four = own.variance(middle, 1, 4, "people")
    assert np.mean(numbers, axis=0).var() == pytest.approx(of_four, rel=0.03)
    assert of_four > 1.4 * 1.171 / 4  # reports drawn afresh would have a quarter
    assert abs(np.mean(numbers) - 0.5) < 6 * math.sqrt(of_four / 200_000)


def test_estimates_follow_the_numbers():
    own = design(cells=25)
    people = own.start(20_000, rng=5)
    for number, value in enumerate((6, 18, 6)):
        answer = own.number.estimate(own.number.tally(own.answer(people, [value] * 20_000, rng=number)))
        assert abs(answer.mean - value) < 6 * answer.standard_error


# The edges of the interface.


def test_a_memory_keeps_the_threshold_and_the_memos_and_no_number(tmp_path):
    own = design(cells=25)
    memory = Memory.create(tmp_path / "memory", own)
    first = memory.report(6, round=1)
    memory.report(18, round=2)
    assert memory.report(20, round=1).tobytes() == first.tobytes()
    assert len(memory._read()[""]["0"]["memo"]) == 2 * own.stored_bytes == 8
    with pytest.raises(ParameterError, match="no epochs"):
        memory.report(6, round=3, epoch=1)


def test_a_design_survives_its_document():
    own = design(cells=7)
    assert LongitudinalMean.from_dict(own.to_dict()) == own
    assert own.digest != design(memo=2.5, cells=7).digest
    for bad in ({}, None, {"longitudinal_mean": Piecewise(epsilon=1.0, bounds=(0, 9)).to_dict(), "memo_epsilon": 2.0}):
        with pytest.raises(FormatError):
            LongitudinalMean.from_dict(bad)


@pytest.mark.parametrize(
    ("number", "memo", "rule"),
    [
        (Piecewise(epsilon=1.0, bounds=(0, 9)), 2.0, "Duchi"),
        (Duchi(epsilon=1.0, bounds=(0, 9), rounding="stochastic"), 2.0, "nearest"),
        (Duchi(epsilon=1.0, bounds=(0, 9)), 1.0, "give every crossing away"),
        (Duchi(epsilon=1.0, bounds=(0, 9)), 0.0, "memo_epsilon"),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_its_reason(number, memo, rule):
    with pytest.raises(BruitError, match=rule):
        LongitudinalMean(number, memo)


def test_what_is_not_stored_here_is_refused():
    own = design()
    people = own.start(2, rng=1)
    with pytest.raises(DataError, match="a value for every person"):
        own.answer(people, [1])
    people["threshold"][0] = 2
    with pytest.raises(ParameterError, match="at the start"):
        own.answer(people, [1, 2])
    with pytest.raises(BruitError):
        own.answer(own.start(1), [9])


@pytest.mark.parametrize(("name", "rule"), [("1BitMean", "LongitudinalMean"), ("dBitFlipPM", "DBitFlip")])
def test_names_of_the_telemetry_paper_are_answered_with_what_to_write(name, rule):
    with pytest.raises(ParameterError, match=rule):
        bruit.panel(name, epsilon=1.0, epoch_epsilon=2.0, k=3)
