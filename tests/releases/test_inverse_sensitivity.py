"""Inverse sensitivity: lengths against brute force, their sensitivity, the guarantee by enumeration, and manners."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bruit.domains import Grid
from bruit.entropy import Entropy
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation import RawTally
from bruit.kernels import extreme_variance
from bruit.privacy.ledger import Ledger
from bruit.releases import InverseSensitivity, release
from bruit.releases import lengths as closed
from bruit.releases.lengths import Axis, LengthFunction, MeanLength, QuantileLength, VarianceLength
from bruit.rounding import exp_floor, log_ceiling

Table = tuple[int, ...]


def tables(records: int, cells: int) -> Iterator[Table]:
    for chosen in itertools.combinations_with_replacement(range(cells), records):
        yield tuple(chosen.count(cell) for cell in range(cells))


def replaced(counts: Table) -> Iterator[Table]:
    for old, new in itertools.permutations(range(len(counts)), 2):
        if counts[old]:
            yield tuple(count - (place == old) + (place == new) for place, count in enumerate(counts))


def values_of(counts: Table) -> list[int]:
    return [cell for cell, count in enumerate(counts) for _ in range(count)]


def within(values: list[int], changes: int, options: list[Fraction]) -> Iterator[list[Fraction]]:
    """All data that so many changes lead to."""
    for places in itertools.combinations(range(len(values)), changes):
        for new in itertools.product(options, repeat=changes):
            changed = [Fraction(value) for value in values]
            for place, value in zip(places, new, strict=True):
                changed[place] = value
            yield changed


def variance_of(values: list[Fraction]) -> Fraction:
    n = len(values)
    return Fraction(sum(value**2 for value in values), n) - Fraction(sum(values), n) ** 2


def reach(counts: Table, statistic: Any, fine: int = 1) -> list[tuple[Fraction, Fraction]]:
    """The least and the greatest value of a statistic after 0, 1, … changes, by trying all."""
    values, top = values_of(counts), len(counts) - 1
    options = [Fraction(step, fine) for step in range(top * fine + 1)]
    found = []
    for changes in range(len(values) + 1):
        all_values = [statistic(data) for data in within(values, changes, options)]
        found.append((min(all_values), max(all_values)))
    return found


def brute_lengths(counts: Table, axis: Axis, radius: Fraction, statistic: Any, fine: int = 1) -> list[int]:
    found = []
    ends = reach(counts, statistic, fine)
    for place in range(axis.cells):
        point = axis.point(place)
        hits = (k for k, (low, high) in enumerate(ends) if high >= point - radius and low <= point + radius)
        found.append(next(hits, len(ends)))
    return found


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 10), Fraction(1), Fraction(0)])
def test_the_length_of_a_quantile_is_the_number_of_changes(share: Fraction) -> None:
    for records in (1, 2, 3):
        rank = min(max(math.ceil(share * records), 1), records)
        for counts in tables(records, 4):
            lengths = closed.quantile(np.array(counts), share)
            for target in range(4):
                options = [Fraction(cell) for cell in range(4)]
                needed = next(
                    changes
                    for changes in range(records + 1)
                    if any(sorted(data)[rank - 1] == target for data in within(values_of(counts), changes, options))
                )
                assert lengths[target] == needed


@pytest.mark.parametrize("radius", [Fraction(1, 4), Fraction(1, 2), Fraction(1)])
def test_the_length_of_a_mean_is_the_number_of_changes(radius: Fraction) -> None:
    axis = Axis(Fraction(0), Fraction(1, 2), 7)
    for records in (1, 2, 3):
        for counts in tables(records, 4):
            brute = brute_lengths(counts, axis, radius, lambda data: Fraction(sum(data), len(data)))
            assert closed.mean(np.array(counts), axis, radius).tolist() == brute


@pytest.mark.parametrize("radius", [Fraction(1, 8), Fraction(1, 3)])
def test_the_length_of_a_variance_is_the_number_of_changes(radius: Fraction) -> None:
    axis = Axis(Fraction(0), Fraction(1, 4), 10)
    for records in (1, 2, 3):
        for counts in tables(records, 4):
            # With two records kept their mean may be a half, and no finer.
            brute = brute_lengths(counts, axis, radius, variance_of, fine=2)
            assert closed.variance(np.array(counts), axis, radius, 99).tolist() == brute


def test_extreme_variances_are_those_of_brute_force() -> None:
    for counts in tables(4, 4):
        largest, smallest = np.empty(5, np.int64), np.empty(5, np.int64)
        extreme_variance.extremes(np.array(values_of(counts)), 3, largest, smallest)
        for changes, (_, high) in enumerate(reach(counts, variance_of)):
            assert largest[changes] == 16 * high
        kept = values_of(counts)
        for changes in range(4):
            spreads = (
                variance_of([Fraction(v) for v in window]) * (4 - changes) ** 2
                for window in itertools.combinations(kept, 4 - changes)
            )
            assert smallest[changes] == min(spreads)
        assert smallest[4] == 0


def spread(values: list[int]) -> int:
    """n² times the variance."""
    return len(values) * sum(value * value for value in values) - sum(values) ** 2


def greedy_path(values: list[int], top: int, best: Any) -> list[int]:
    """n² times the variance after 0, 1, … changes, each the best at that moment."""
    found = [spread(values)]
    for _ in values:
        options = ([*values[:i], new, *values[i + 1 :]] for i in range(len(values)) for new in range(top + 1))
        values = best(options, key=spread)
        found.append(spread(values))
    return found


@functools.cache
def greedy_variance(counts: Table) -> tuple[int, ...]:
    """How many greedy changes bring the variance within reach of each result: not a length."""
    values, top = values_of(counts), len(counts) - 1
    n, axis, radius = len(values), *GREEDY
    up, down = greedy_path(values, top, max), greedy_path(values, top, min)
    found = []
    for place in range(axis.cells):
        low, high = (n * n * (axis.point(place) + side) for side in (-radius, radius))
        hits = (k for k in range(n + 1) if up[k] >= low and down[k] <= high)
        found.append(next(hits, n + 1))
    return tuple(found)


GREEDY = Axis(Fraction(0), Fraction(1, 8), 51), Fraction(1, 16)


def most_change(lengths: Any, records: int, cells: int) -> int:
    known = {counts: np.array(lengths(counts)) for counts in tables(records, cells)}
    return max(int(abs(known[counts] - known[other]).max()) for counts in known for other in replaced(counts))


@pytest.mark.parametrize("records", [1, 2, 3, 4, 7])
def test_one_replaced_record_changes_every_length_by_at_most_one(records: int) -> None:
    fine, radius = Axis(Fraction(0), Fraction(1, 7), 22), Fraction(1, 14)
    square = Axis(Fraction(0), Fraction(9, 80), 21)
    kinds = {
        "quantile": lambda counts: closed.quantile(np.array(counts), Fraction(1, 3)),
        "mean": lambda counts: closed.mean(np.array(counts), fine, radius),
        "variance": lambda counts: closed.variance(np.array(counts), square, Fraction(9, 160), 99),
        "capped": lambda counts: np.minimum(closed.variance(np.array(counts), square, Fraction(9, 160), 2), 2),
        "smooth": lambda counts: closed.smooth(closed.quantile(np.array(counts), Fraction(1, 2)), 1),
    }
    for name, lengths in kinds.items():
        assert most_change(lengths, records, 4) <= 1, name


def test_greedy_lengths_of_a_variance_change_by_two() -> None:
    assert most_change(greedy_variance, 4, 6) >= 2
    assert most_change(lambda counts: closed.variance(np.array(counts), *GREEDY, 99), 4, 6) == 1


@pytest.mark.parametrize("rho", [0.0, 1.0])
@pytest.mark.parametrize(
    "statistic",
    [QuantileLength(0.3), MeanLength(Grid(0, 3, cells=7)), VarianceLength(Grid(0.0, 2.25, cells=10)), "median"],
)
def test_every_release_keeps_its_epsilon_on_all_small_data(statistic: Any, rho: float) -> None:
    epsilon = 1.5
    release = InverseSensitivity(statistic=statistic, bounds=Grid(0, 3), epsilon=epsilon, smoothing=rho)
    worst = Fraction(1)
    for records in range(1, 5):
        laws = {
            counts: release.choice.law(release.lengths(np.array(counts, np.int64))) for counts in tables(records, 4)
        }
        for counts, law in laws.items():
            for other in replaced(counts):
                worst = max(worst, *(p / q for p, q in zip(law, laws[other], strict=True)))
    assert worst.numerator <= exp_floor(epsilon, worst.denominator)
    assert log_ceiling(worst) > 0.1 * epsilon


def test_the_loss_is_attained_where_nearly_all_results_come_nearer() -> None:
    release = InverseSensitivity(statistic=QuantileLength(0.5), bounds=Grid(0, 5000), epsilon=1.0)
    counts = np.zeros(5001, np.int64)
    counts[[0, 1, 5000]] = [20, 3, 20]
    other = counts.copy()
    other[[0, 5000]] += [-1, 1]
    first, second = (release.choice.law(release.lengths(each)) for each in (counts, other))
    loss = log_ceiling(max(max(p / q, q / p) for p, q in zip(first, second, strict=True)))
    assert 0.9 < loss <= 1.0


def test_greedy_lengths_would_break_the_promise() -> None:
    known = {counts: greedy_variance(counts) for counts in tables(4, 6)}
    choice = InverseSensitivity(statistic="mean", bounds=(0, 1), epsilon=8.0).choice
    worst = Fraction(1)
    for counts, lengths in known.items():
        law = choice.law(lengths)
        for other in replaced(counts):
            if max(abs(a - b) for a, b in zip(lengths, known[other], strict=True)) > 1:
                worst = max(worst, *(p / q for p, q in zip(law, choice.law(known[other]), strict=True)))
    assert worst.numerator > exp_floor(8.0, worst.denominator)


def test_smoothing_takes_the_least_length_within_the_radius() -> None:
    lengths = np.array([5, 4, 3, 9, 0, 7, 8], np.int64)
    assert closed.smooth(lengths, 0).tolist() == lengths.tolist()
    assert closed.smooth(lengths, 1).tolist() == [4, 3, 3, 0, 0, 0, 7]
    assert closed.smooth(lengths, 50).tolist() == [0] * 7


@pytest.mark.parametrize(("statistic", "true"), [("mean", 50.0), ("variance", 833.3), ("median", 50.0)])
def test_results_are_near_the_truth_on_much_data(statistic: str, true: float) -> None:
    data = np.linspace(0, 100, 20_001)
    release = InverseSensitivity(statistic=statistic, bounds=(0, 100), epsilon=1.0)
    raw = release.fold(data)
    found = np.array([release.release(raw, rng=seed).value for seed in range(20)])
    # Twenty changed records move the mean by .1 at most, the variance by 5, the median by .2; and half a result's step.
    assert (abs(found - true) < {"mean": 0.2, "variance": 8.0, "median": 0.4}[statistic]).all()


def test_a_median_of_dense_data_is_nearer_than_noise_for_the_worst_data() -> None:
    data = np.random.default_rng(1).normal(50, 1, 2001).clip(0, 100)
    release = InverseSensitivity(statistic="median", bounds=(0, 100), epsilon=1.0)
    raw = release.fold(data)
    errors = [abs(release.release(raw, rng=seed).value - np.median(data)) for seed in range(20)]
    assert max(errors) < 0.1


@pytest.mark.parametrize("statistic", ["mean", "variance", "median"])
@pytest.mark.parametrize("data", [[], [3.0], [0.0, 10.0], [4.0] * 5])
def test_few_records_or_none_give_a_result_within_the_bounds(statistic: str, data: list[float]) -> None:
    release = InverseSensitivity(statistic=statistic, bounds=(0, 10), epsilon=1.0)
    raw = release.fold(np.array(data))
    for seed in range(5):
        assert 0 <= release.release(raw, rng=seed).value <= (25 if statistic == "variance" else 10)


def test_any_statistic_works_by_its_length_function() -> None:
    # Whether there are at least three records at the top: the answers no (0) and yes (1).
    def lengths(counts: np.ndarray) -> list[int]:
        top = int(counts[-1])
        return [max(0, top - 2), max(0, 3 - top)]

    statistic = LengthFunction(lengths, Grid(0, 1), "three at the top")
    release = InverseSensitivity(statistic=statistic, bounds=Grid(0, 4), epsilon=4.0)
    raw = release.fold([4] * 40)
    assert {release.release(raw, rng=seed).value for seed in range(10)} == {1.0}
    wrong = InverseSensitivity(
        statistic=LengthFunction(lambda counts: [0.5], Grid(0, 1), "wrong"), bounds=Grid(0, 4), epsilon=1.0
    )
    with pytest.raises(DataError):
        wrong.release(wrong.fold([1]))


def test_results_lie_on_the_declared_outputs() -> None:
    outputs = Grid(-5.0, 5.0, cells=21)
    release = InverseSensitivity(statistic=MeanLength(outputs), bounds=(-5, 5), epsilon=1.0)
    raw = release.fold(np.linspace(-5, 5, 400))
    found = {release.release(raw, rng=seed).value for seed in range(20)}
    assert found <= set(outputs.points.tolist())
    assert 0.0 in found


def test_a_release_is_booked_and_its_guarantee_is_for_replace() -> None:
    ledger = Ledger(epsilon=1.0, neighbours="replace")
    found = release([1, 2, 3], InverseSensitivity(bounds=(0, 4), epsilon=0.5, statistic="mean"), ledger=ledger, rng=1)
    assert ledger.spent.epsilon == 0.5
    assert (found.guarantee.neighbours, found.simulated) == ("replace", True)
    named = InverseSensitivity("x", bounds=(0, 4), epsilon=0.5, statistic="mean")
    assert named.fold({"x": [1, 2, 3]}).reveal(design=named.digest).sum() == 3


def test_folding_in_parts_changes_nothing() -> None:
    release = InverseSensitivity(statistic="variance", bounds=(0, 1), epsilon=1.0)
    data = np.random.default_rng(1).random(500)
    halves = release.fold(data[:100]) + release.fold(data[100:])
    assert release.release(halves, rng=1).value == release.release(release.fold(data), rng=1).value


def _raises(counts: Any) -> Any:
    raise ZeroDivisionError("of the caller's")


@pytest.mark.parametrize(
    ("statistic", "cells", "records", "error"),
    [
        ("variance", 1001, 2**21, LimitError),
        ("mean", 11, 2**40 + 1, LimitError),
        (LengthFunction(_raises, Grid(0, 1), "raises"), 3, 1, ZeroDivisionError),
        (LengthFunction(lambda counts: [-1, 0], Grid(0, 1), "negative"), 3, 1, DataError),
    ],
)
def test_what_can_fail_does_so_before_anything_is_booked(
    statistic: Any, cells: int, records: int, error: type[Exception]
) -> None:
    release = InverseSensitivity(statistic=statistic, bounds=Grid(0, cells - 1), epsilon=1.0)
    ledger = Ledger(1.0, neighbours="replace")
    counts = np.zeros(cells, np.int64)
    counts[-1] = records
    with pytest.raises(error):
        release.release(RawTally(design=release.digest, counts=counts), ledger)
    assert len(ledger) == 0


def test_draws_come_from_lengths_alone() -> None:
    release = InverseSensitivity(statistic="median", bounds=Grid(0, 3), epsilon=2.0)
    counts, n = np.array([1, 0, 2, 1]), 4000
    law = np.array([float(p) for p in release.choice.law(release.lengths(counts))])
    entropy = Entropy(3)
    seen = np.bincount([release.choice.choose(release.lengths(counts), entropy) for _ in range(n)], minlength=4)
    assert (abs(seen / n - law) < 6 * np.sqrt(law * (1 - law) / n)).all()


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError):
        InverseSensitivity(statistic="mode", bounds=(0, 1), epsilon=1.0)
    with pytest.raises(ParameterTypeError):
        InverseSensitivity(statistic=3, bounds=(0, 1), epsilon=1.0)
    with pytest.raises(ParameterError):
        InverseSensitivity(statistic="mean", bounds=None, epsilon=1.0)
    with pytest.raises(ParameterError):
        InverseSensitivity(statistic="mean", bounds=Grid(0, 3, missing="drop"), epsilon=1.0)
    with pytest.raises(ParameterError):
        InverseSensitivity(statistic="mean", bounds=(0, 1), epsilon=1.0, smoothing=-1)
    with pytest.raises(ParameterError):
        QuantileLength(0.5, outputs=Grid(0, 1))
    with pytest.raises(LimitError):
        closed.variance(np.full(1024, 2**20), Axis(Fraction(0), Fraction(1), 2), Fraction(1), 5)
