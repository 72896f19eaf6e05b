"""The law of two steps: the ratio of several reports, and what is asked for is not passed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from bruit.errors import ParameterError
from bruit.laws.words import WORDS
from bruit.open_answers.two_steps import TwoSteps


@pytest.mark.parametrize(("report", "memo"), [(1.0, 2.0), (2.0, 4.0), (0.5, 0.5), (0.01, 8.0), (3.0, 3.1)])
def test_calibrated_steps_have_the_epsilon_that_is_asked_for_and_never_more(report: float, memo: float) -> None:
    steps = TwoSteps.calibrate(report, memo)
    assert report * (1 - 1e-9) <= math.log(steps.ratio(1)) <= report
    assert memo * (1 - 1e-9) <= math.log(steps.memo_ratio) <= memo
    assert steps.p == Fraction(1, 2)


def test_more_reports_tell_more_and_never_more_than_the_memo() -> None:
    steps = TwoSteps.calibrate(1.0, 2.0)
    ratios = [steps.ratio(rounds) for rounds in (1, 2, 4, 8, 16, 64, 4096)]
    assert ratios == sorted(ratios)
    assert ratios[-1] <= steps.memo_ratio


def test_a_ratio_of_many_digits_is_rounded_up() -> None:
    steps = TwoSteps.as_published(0.5, 0.5, 0.75)
    for rounds in (8, 20):
        own_set, other_set = (
            x * steps.shown**rounds + (WORDS - x) * steps.added**rounds for x in (steps.own, steps.other)
        )
        own_clear, other_clear = (
            x * (WORDS - steps.shown) ** rounds + (WORDS - x) * (WORDS - steps.added) ** rounds
            for x in (steps.own, steps.other)
        )
        exact = Fraction(own_set * other_clear, other_set * own_clear)
        assert exact <= steps.ratio(rounds) <= exact * (1 + Fraction(1, 2**900))


@pytest.mark.parametrize(("f", "p", "q"), [(0.0, 0.5, 0.75), (1.0, 0.5, 0.75), (0.5, 0.75, 0.5), (0.5, 0.5, 1.5)])
def test_published_parameters_that_promise_nothing_are_refused(f: float, p: float, q: float) -> None:
    with pytest.raises(ParameterError):
        TwoSteps.as_published(f, p, q)


def test_a_memo_that_is_shown_as_it_is_has_its_own_ratio() -> None:
    steps = TwoSteps.as_published(0.5, 0.0, 1.0)
    assert steps.ratio(1) == steps.ratio(7) == steps.memo_ratio
