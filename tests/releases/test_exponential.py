"""The exponential mechanism in whole numbers."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from bruit.entropy import Entropy
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from bruit.releases.exponential import BITS, Exponential, below
from bruit.rounding import exp_ceiling, exp_floor, log_ceiling

STEPS = [Fraction(1, 2), Fraction(1, 18), Fraction(3), Fraction(20), Fraction(1, 4000)]


def worst(choice: Exponential, pairs: list[tuple[list[int], list[int]]]) -> Fraction:
    """The largest ratio of probabilities over pairs of scores, either way."""
    found = Fraction(1)
    for first, second in pairs:
        for p, q in zip(choice.law(first), choice.law(second), strict=True):
            found = max(found, p / q, q / p)
    return found


def test_the_ratio_of_two_laws_is_that_of_their_cells() -> None:
    choice = Exponential.calibrate(1.3)
    for first, second in itertools.product(([0, 3, 1], [2, 2, 2], [9, 0, 0]), repeat=2):
        assert choice.ratio(first, second) == worst(choice, [(first, second)])


def holds(ratio: Fraction, epsilon: float) -> bool:
    return ratio.numerator <= exp_floor(epsilon, ratio.denominator)


@pytest.mark.parametrize("step", STEPS)
def test_neighbouring_weights_differ_by_at_most_e_to_the_step_in_high_precision(step: Fraction) -> None:
    weights = Exponential(step).weights(10**6)
    with mpmath.workdps(120):
        bound = mpmath.exp(mpmath.mpf(step.numerator) / step.denominator)
        assert all(a <= b * bound for a, b in itertools.pairwise(weights))
    # and they fall by nearly that factor while they are large
    assert weights[0] == 2**BITS
    assert weights[1] <= weights[0] * exp_ceiling(step, 2**192) // 2**192 + 1


@pytest.mark.parametrize("step", STEPS)
def test_weights_settle_near_one_over_the_step_and_never_at_zero(step: Fraction) -> None:
    weights = Exponential(step).weights(10**7)
    assert len(weights) < 10**7
    assert all(a > b >= 1 for a, b in itertools.pairwise(weights))
    assert weights[-1] <= 1 / step + 2


def test_the_factor_is_never_below_the_true_one() -> None:
    with mpmath.workdps(120):
        for step in STEPS:
            true = mpmath.exp(-mpmath.mpf(step.numerator) / step.denominator) * 2**192
            assert true <= exp_ceiling(step, 2**192) <= true + 2


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.3])
def test_every_pair_of_scores_that_one_record_can_make_keeps_its_epsilon(epsilon: float) -> None:
    choice = Exponential.calibrate(epsilon)
    pairs = []
    for first in itertools.product(range(4), repeat=3):
        for change in itertools.product((-1, 0, 1), repeat=3):
            second = [s + c for s, c in zip(first, change, strict=True)]
            if min(second) >= 0:
                pairs.append((list(first), second))
    assert holds(worst(choice, pairs), epsilon)


def test_the_loss_is_attained_so_that_the_calibration_is_tight() -> None:
    choice = Exponential.calibrate(1.0)
    # One cell becomes better and all others worse; the one had nearly no weight.
    ratio = worst(choice, [([40, 0, 0, 0], [39, 1, 1, 1])])
    assert 0.999 < log_ceiling(ratio) <= 1.0


def test_scores_of_greater_sensitivity_need_smaller_steps() -> None:
    pair = [([40, 0, 0], [37, 3, 3])]
    assert holds(worst(Exponential.calibrate(1.0, sensitivity=3), pair), 1.0)
    assert not holds(worst(Exponential.calibrate(1.0), pair), 1.0)


def test_scores_that_all_move_one_way_may_use_twice_the_step() -> None:
    choice = Exponential.calibrate(1.0, monotone=True)
    up = [
        (list(first), [s + c for s, c in zip(first, change, strict=True)])
        for first in itertools.product((0, 1, 30), repeat=3)
        for change in itertools.product((0, 1), repeat=3)
    ]
    assert holds(worst(choice, up), 1.0)
    assert not holds(worst(choice, [([40, 0, 0], [39, 1, 1])]), 1.0)


def test_weights_rounded_down_break_the_promise() -> None:
    weights = [2**BITS]
    while len(weights) < 300:
        weights.append(weights[-1] * exp_ceiling(Fraction(1, 2), 2**192) >> 192)
    ratios = [Fraction(a, b) for a, b in itertools.pairwise(weights) if b]
    assert not holds(max(ratios), 0.5)


@pytest.mark.parametrize("widths", [None, [1, 5, 0, 2]])
def test_choices_follow_the_declared_law_and_no_other(widths: list[int] | None) -> None:
    choice, scores, entropy = Exponential.calibrate(1.0), [2, 0, 1, 5], Entropy(11)
    n = 15_000
    counts = Counter(choice.choose(scores, entropy, widths) for _ in range(n))
    law = np.array([float(p) for p in choice.law(scores, widths)])
    seen = np.array([counts[place] for place in range(4)])
    possible = law > 0
    assert seen[~possible].sum() == 0
    assert stats.chisquare(seen[possible], law[possible] * n).pvalue > 1e-6
    # a law with 25 % more for one cell is told apart
    other = law[possible] * np.where(np.arange(possible.sum()) == 0, 1.25, 1)
    assert stats.chisquare(seen[possible], other / other.sum() * n).pvalue < 1e-6


def test_levels_and_cells_have_the_same_law() -> None:
    choice, entropy = Exponential.calibrate(2.0), Entropy(3)
    n = 20_000
    drawn = Counter(choice.draw([1, 2], entropy) for _ in range(n))
    law = [float(p) for p in choice.law([0, 1, 1])]
    seen = [drawn[0, 0], drawn[1, 0], drawn[1, 1]]
    assert sum(seen) == n
    assert stats.chisquare(seen, np.array(law) * n).pvalue > 1e-6


@pytest.mark.parametrize("bound", [1, 2, 3, 2**64 + 3, 3 * 2**100])
def test_whole_numbers_below_any_bound_are_equally_likely(bound: int) -> None:
    entropy, n = Entropy(5), 6000
    drawn = [below(bound, entropy) for _ in range(n)]
    assert all(0 <= each < bound for each in drawn)
    thirds = Counter(3 * each // bound for each in drawn)
    if bound % 3 == 0:
        assert stats.chisquare([thirds[0], thirds[1], thirds[2]]).pvalue > 1e-6


def test_a_million_cells_of_two_scores_are_drawn_from_without_listing_them() -> None:
    score, offset = Exponential.calibrate(1.0).draw([10**30, 1], Entropy(1))
    assert score == 0
    assert 0 <= offset < 10**30


def test_bad_parameters_and_data_are_refused() -> None:
    choice = Exponential.calibrate(1.0)
    with pytest.raises(ParameterError):
        Exponential(Fraction(0))
    with pytest.raises(ParameterTypeError):
        Exponential("1")  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        Exponential.calibrate(1.0, sensitivity=0)
    for scores in ([], [0.5], [[1]]):
        with pytest.raises(DataTypeError):
            choice.choose(scores, Entropy(1))
    with pytest.raises(DataError):
        choice.choose([-1, 2], Entropy(1))
    with pytest.raises(DataError):
        choice.choose([1, 2], Entropy(1), [0, 0])
    with pytest.raises(DataError):
        choice.choose([1, 2], Entropy(1), [1])
