"""Sums, means and variances: exact sums, exact sensitivities, stated errors and intervals that cover."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit import releases
from bruit.domains import Grid, Interval
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.privacy import Ledger
from bruit.releases import Mean, Release, Sum, Variance, ratio
from bruit.releases.statistic import Change
from bruit.testing import check_release

KINDS = [Sum, Mean, Variance]
BOUNDS = [(0, 1), (-3, 10), (5.5, 7.25), (-100.0, -99.0)]


def made(kind: Any, neighbours: str = "add-remove", **others: Any) -> Any:
    return kind(**{"bounds": (-3, 10), "epsilon": 1.0, "neighbours": neighbours, **others})


@pytest.mark.audit
@pytest.mark.parametrize(
    "bounds", [BOUNDS[0], *(pytest.param(bounds, marks=pytest.mark.audit) for bounds in BOUNDS[1:])]
)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_moment_keeps_the_common_laws_and_attains_its_epsilon(kind: Any, neighbours: Any, bounds: Any) -> None:
    # The variance under replace is rounded up, and its change is attained by two far groups and one who moves.
    # Under add-remove each of its three sums is rounded, which is bounded by three units in two million.
    rounded = {"add-remove": 1 - 2e-6, "replace": 0.999}
    attained = rounded[neighbours] if kind is Variance else 1 - 1e-8
    release = kind(bounds=bounds, epsilon=0.8, neighbours=neighbours)
    assert check_release(release, attained=attained) is None


@pytest.mark.audit
def test_a_grouped_mean_keeps_the_common_laws() -> None:
    release = Release(Mean("x", bounds=(0, 1), epsilon=0.5), by={"g": ["F", "M"]})

    def fold(records: Any) -> Any:
        pairs = isinstance(records, list) and all(isinstance(record, tuple) and len(record) == 2 for record in records)
        if not pairs or not all(isinstance(x, float) and isinstance(g, str) for x, g in records):
            raise DataError("records must be pairs.")
        columns = list(zip(*records, strict=True)) if records else [[0.0][:0], []]
        return release.fold({"x": np.array(columns[0], np.float64), "g": list(columns[1])})

    values = [(0.0, "F"), (1.0, "F"), (0.5, "M"), (1.0, "M")]
    assert check_release(release, values=values, fold=fold, attained=1 - 1e-8) is None


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_common_laws_notice_half_the_noise(kind: Any, neighbours: str) -> None:
    def halved(self: Any, neighbours: Any, n: int | None = None) -> Change:
        half = max(1, kind.change(self, neighbours, n).l1 // 2)
        return Change(half, half**2)

    with pytest.raises(AssertionError, match="below the exact loss"):
        check_release(made(type("Half", (kind,), {"change": halved}), neighbours))


def test_the_common_laws_notice_a_mean_whose_count_has_no_noise() -> None:
    class CountInTheClear(Mean):
        def sums(self, counts: Any) -> Any:
            return np.array([counts[1] * 2, counts[0] * self.grid.width])

    with pytest.raises(AssertionError, match="below the exact loss"):
        check_release(made(CountInTheClear))


# The greatest change, by brute force over every small data set on a coarse grid.


def _every_change(kind: Any, neighbours: str, m: int, n: int) -> int:
    """The largest L1 change of the sums over all data sets of n steps in 0..m and all their neighbours."""
    release = kind(bounds=(0, m), epsilon=1.0, neighbours=neighbours, step=1)
    sums: dict[tuple[int, ...], Any] = {}

    def of(codes: tuple[int, ...]) -> Any:
        if codes not in sums:
            sums[codes] = release.sums(release.count({"values": np.array(codes, np.float64)}))
        return sums[codes]

    worst = 0
    for codes in np.ndindex(*[m + 1] * n):
        for value in range(m + 1):
            other = (*codes, value) if neighbours == "add-remove" else (value, *codes[1:])
            worst = max(worst, int(np.abs(of(codes) - of(other)).sum()))
    return worst


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_sensitivity_is_the_greatest_change_of_all_small_data_sets(kind: Any, neighbours: str) -> None:
    for m, n in ((1, 1), (2, 3), (3, 4), (5, 2)):
        release = kind(bounds=(0, m), epsilon=1.0, neighbours=neighbours, step=1)
        assert _every_change(kind, neighbours, m, n) == release.change(release.neighbours, n).l1 or (kind, n) == (
            Variance,
            1,
        )
    assert _every_change(Variance, "replace", 3, 1) == 0


@given(st.lists(st.floats(-3, 10), min_size=1, max_size=30), st.floats(-3, 10), st.integers(0, 29))
@settings(max_examples=200, deadline=None)
def test_replacing_a_record_changes_the_variance_by_no_more_than_stated(x: list[float], new: float, place: int) -> None:
    release = made(Variance, "replace")
    y = list(x)
    y[place % len(x)] = new
    change = abs(
        int(release.sums(release.count({"values": np.array(x)}))[0])
        - int(release.sums(release.count({"values": np.array(y)}))[0])
    )
    assert change <= release.change(release.neighbours, len(x)).l1


# Error and unbiasedness.

X = np.concatenate([np.linspace(-3, 10, 3000), np.full(1000, 9.5)])
TRUTH = {Sum: X.sum(), Mean: X.mean(), Variance: X.var()}


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_right_on_average_and_vary_as_stated(kind: Any, neighbours: str) -> None:
    release = made(kind, neighbours)
    raw = release.fold(X)
    found = [release.release(raw, rng=seed) for seed in range(2000)]
    values = np.array([each.value for each in found])
    error = np.mean([each.standard_error[0] for each in found])
    # Rounding to steps and dividing by a noisy count may shift by far less than the noise.
    assert abs(values.mean() - TRUTH[kind]) < 6 * error / math.sqrt(2000) + 0.02 * error
    assert values.std() == pytest.approx(error, rel=0.15)
    beforehand = release.expected_error(len(X))
    assert error <= beforehand * 1.001
    if kind is Sum or neighbours == "replace":
        assert error == pytest.approx(beforehand, rel=1e-9)


@pytest.mark.audit("0.8", "0.95-Mean-add-remove", share=3)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_cover_the_truth_as_often_as_they_say(kind: Any, neighbours: str, level: float) -> None:
    release = made(kind, neighbours)
    raw = release.fold(X)
    runs = 1200
    ends = np.array([release.release(raw, rng=seed).interval(level) for seed in range(runs)])
    covered = ((ends[:, 0] <= TRUTH[kind]) & (TRUTH[kind] <= ends[:, 1])).mean()
    limit = 5.5 * math.sqrt(level * (1 - level) / runs)
    assert covered >= level - limit
    # Only the approximate interval of the variance may be on the safe side.
    assert covered <= level + limit + (0.06 if kind is Variance and neighbours == "add-remove" else 0.0)


@pytest.mark.audit
@pytest.mark.parametrize("n", [1, 4, 40])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_interval_of_a_mean_covers_with_few_records_too(n: int, share: float) -> None:
    release = Mean(bounds=(0, 1), epsilon=0.5)
    raw = release.fold(np.full(n, share))
    ends = np.array([release.release(raw, rng=seed).interval(0.9) for seed in range(800)])
    covered = ((ends[:, 0] <= share + 1e-9) & (share - 1e-9 <= ends[:, 1])).mean()
    assert covered >= 0.9 - 5.5 * math.sqrt(0.09 / 800)


@pytest.mark.audit
def test_a_mean_takes_half_the_variance_of_a_centred_sum_over_a_count() -> None:
    # In units of width/(n·ε): the two sums give (1 − u)² + u² times two; centred sum and count at scale 2/ε each
    # give 2·(1 + z²), z = 2u − 1, which is 4·((1 − u)² + u²).
    release = Mean(bounds=(0, 1), epsilon=1.0)
    for u in (0.0, 0.2, 0.5):
        raw = release.fold(np.full(20_000, u))
        spread = np.array([release.release(raw, rng=seed).value for seed in range(1500)]).std() * 20_000
        share = (1 - u) ** 2 + u**2
        kept = 0.584 if u == 0 else 1.0  # at a bound, half the results are clipped to it
        assert spread == pytest.approx(kept * math.sqrt(2 * share), rel=0.15)
        assert 2 * (1 + (2 * u - 1) ** 2) == pytest.approx(2 * (2 * share))


def test_the_slope_of_the_variance_is_never_above_one() -> None:
    # Of all mixtures of (1−u)², 2u(1−u), u²: two points and their weights are enough to look at.
    u, v, w = np.meshgrid(*[np.linspace(0, 1, 41)] * 3)
    b0, b1, b2 = (
        w * f(u) + (1 - w) * f(v) for f in (lambda x: (1 - x) ** 2, lambda x: 2 * x * (1 - x), lambda x: x**2)
    )
    share = b0 * b2 - b1**2 / 4
    slope = np.sqrt((b2 - 2 * share) ** 2 + (b1 / 2 + 2 * share) ** 2 + (b0 - 2 * share) ** 2)
    assert slope.max() <= 1 + 1e-12


def test_the_three_sums_of_the_variance_give_back_count_mean_and_variance() -> None:
    release = made(Variance)
    b = release.sums(release.count({"values": X})).astype(float)
    m, step, unit = release.grid.width, float(release.grid.step), release._unit(None)
    assert abs(b.sum() - X.size * m**2 / unit) <= 1.5
    assert (b[1] / 2 + b[2]) / b.sum() * m * step - 3 == pytest.approx(X.mean(), abs=step)
    assert (b[0] * b[2] - b[1] ** 2 / 4) / b.sum() ** 2 * (m * step) ** 2 == pytest.approx(X.var(), rel=1e-4)


# Corner cases.


@pytest.mark.parametrize("kind", [Mean, Variance])
def test_without_records_the_result_is_within_the_bounds_under_add_remove(kind: Any) -> None:
    release = made(kind)
    raw = release.fold(np.empty(0))
    most = 10 if kind is Mean else (13 / 2) ** 2
    for seed in range(50):
        found = release.release(raw, rng=seed)
        low, high = found.interval()
        assert (-3 if kind is Mean else 0) <= low <= high <= most + 1e-9
        assert math.isfinite(found.value)
        assert math.isfinite(found.standard_error[0])


@pytest.mark.parametrize("kind", KINDS)
def test_without_records_replace_is_refused_before_anything_is_spent(kind: Any) -> None:
    ledger = Ledger(epsilon=1.0, neighbours="replace")
    release = made(kind, "replace")
    with pytest.raises(DataError, match="at least one record"):
        release.release(release.fold(np.empty(0)), ledger)
    assert len(ledger) == 0


def test_numbers_outside_the_bounds_count_as_the_nearest() -> None:
    release = made(Mean)
    counts = [release.fold(x).reveal(design=release.digest).tolist() for x in ([-3, 10], [-99, 1e300], [-math.inf, 11])]
    assert counts[0] == counts[1] == counts[2]


def test_missing_values_are_refused_or_dropped_as_declared() -> None:
    with pytest.raises(DataError, match="missing"):
        made(Mean).fold([1.0, math.nan])
    dropping = made(Mean, bounds=Interval(-3, 10, missing="drop"))
    assert dropping.fold([1.0, math.nan]).reveal(design=dropping.digest)[0] == 1
    with pytest.raises(ParameterError, match="none may be dropped"):
        made(Mean, "replace", bounds=Interval(-3, 10, missing="drop"))
    with pytest.raises(ParameterError, match="missing"):
        made(Mean, bounds=Grid(-3, 10, missing="category"))
    with pytest.raises(ParameterTypeError, match=r"bounds=Interval\(low=-3.0, high=10.0, missing='drop'"):
        made(Mean, missing="drop")


@pytest.mark.parametrize(
    ("bounds", "kind"),
    [
        (None, ParameterError),
        ((1, 0), ParameterError),
        ((0, 0), ParameterError),
        ((0, math.inf), ParameterError),
        ("01", ParameterTypeError),
        ((0, 1, 2), ParameterTypeError),
        (5, ParameterTypeError),
        (("0", 1), ParameterTypeError),
    ],
)
@pytest.mark.parametrize("moment", KINDS)
def test_bounds_must_be_declared_and_make_sense(moment: Any, bounds: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="must be"):
        moment(bounds=bounds, epsilon=1.0)


def test_the_message_about_bounds_says_why() -> None:
    with pytest.raises(ParameterError, match="would publish the smallest"):
        Mean(bounds=None, epsilon=1.0)


def test_the_error_of_a_mean_needs_the_number_of_records() -> None:
    with pytest.raises(ParameterError, match="depends on the number of records"):
        _ = made(Mean).standard_error
    assert made(Sum).standard_error == made(Sum).expected_error(5)


def test_whole_numbers_and_multiples_of_the_step_are_exact() -> None:
    release = Sum(bounds=(-1000, 100_000), epsilon=1.0)
    assert release.sums(release.count({"values": np.arange(-1000, 100_000, 77)}))[0] * float(release.grid.step) == sum(
        range(-1000, 100_000, 77)
    )
    cents = Grid.of((0.07, 1), cells=1000, step=0.01)
    assert (cents.first, cents.first + cents.width) == (7, 100)


def test_steps_are_powers_of_two_and_reach_beyond_the_bounds() -> None:
    for bounds in BOUNDS:
        grid = Grid.of(bounds, cells=2**19)
        assert math.frexp(grid.step)[0] == 0.5
        assert 2**18 <= grid.width <= 2**19 + 2
        assert grid.low <= bounds[0] < bounds[1] <= grid.high
    with pytest.raises(LimitError):
        Grid.of((0, 1), cells=1000, step=1e-9)


def test_a_tiny_epsilon_is_refused_at_once_and_far_bounds_are_not() -> None:
    assert Sum(bounds=(1e12, 1e12 + 1), epsilon=0.001).standard_error == pytest.approx(math.sqrt(2) * 1e15, rel=1e-5)
    with pytest.raises(LimitError):
        Sum(bounds=(0, 1), epsilon=1e-7)
    with pytest.raises(LimitError, match="finite"):
        Sum(bounds=(0, 1e300), epsilon=1.0)
    with pytest.raises(LimitError):
        Variance(bounds=(0, 1), epsilon=1e-6, neighbours="replace")


def test_sums_of_squares_over_very_many_records_do_not_overflow() -> None:
    release = Variance(bounds=(0, 1), epsilon=1.0, neighbours="replace")
    raw = release.fold([0.0, 1.0])
    for _ in range(30):
        raw = raw + raw
    assert release.release(raw, rng=1).value == pytest.approx(0.25, abs=1e-6)


def times(raw: Any, many: int) -> Any:
    """The raw tally of so many copies of the records."""
    if many == 1:
        return raw
    double = times(raw + raw, many // 2)
    return double + raw if many % 2 else double


def test_a_variance_of_2_305_848_zeros_is_released_like_that_of_one_fewer() -> None:
    release = Variance(bounds=(0, 999_999), step=1.0, epsilon=1.0)
    zero = release.fold([0.0])
    for n in (2_305_847, 2_305_848, 9_300_000, 10**12, 10**19, 10**30):
        ledger = Ledger(1.0)
        assert release.release(times(zero, n), ledger, 1).value == pytest.approx(0, abs=1e7)
        assert len(ledger) == 1


def test_sums_far_from_zero_are_right_for_very_many_records() -> None:
    release = Sum(bounds=(1e12, 1e12 + 1e5), epsilon=4.5)
    one = release.fold([1e12 + 7e4])
    for n in (1, 2**19, 2**20, 2**22, 10**9, 2**40):
        found = release.release(times(one, n), rng=1)
        assert abs(found.value - n * (1e12 + 7e4)) < 20 * release.standard_error
        assert found.standard_error[0] == pytest.approx(math.sqrt(2) * 1e12 / 4.5, rel=1e-5)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [None, 1.0])
def test_moments_of_2_to_the_40_records_are_exact_and_those_of_more_are_cut_or_refused(
    kind: Any, neighbours: Any, step: float | None
) -> None:
    release = kind(bounds=(0, 999_999), step=step, epsilon=1.0, neighbours=neighbours)
    raw = times(release.fold([0.0, 999_999.0, 250_000.0, 250_000.0]), 2**38)
    truth = {Sum: 2**38 * 1_499_999.0, Mean: 374_999.75, Variance: 140_624_937_500.1875}[kind]
    assert release.release(raw, rng=1).value == pytest.approx(truth, rel=1e-4)
    if neighbours == "add-remove":
        assert np.isfinite(release.release(times(raw, 2**20), rng=1).value)
    else:
        ledger = Ledger(1.0, neighbours="replace")
        with pytest.raises(LimitError, match="2⁴⁰"):
            release.release(times(raw, 2), ledger)
        assert len(ledger) == 0


def test_a_unit_changes_no_sensitivity_by_more_than_it_says() -> None:
    release = Variance(bounds=(0, 2**14), step=1.0, epsilon=1.0)
    unit, m = release._unit(None), 2**14
    assert (unit, release.change(release.neighbours).l1) == (2**7, 2**21 + 2)
    generator = np.random.default_rng(3)
    for code in [0, m, *generator.integers(0, m + 1, 2000).tolist()]:
        others = generator.integers(0, m + 1, 5).astype(float)
        before, after = (release.sums(release.count({"values": x})) for x in (others, np.append(others, code)))
        assert np.abs(before - after).sum() <= release.change(release.neighbours).l1


def test_means_by_group_see_their_own_records() -> None:
    table = {"x": [1.0] * 5000 + [9.0] * 5000, "g": ["a"] * 5000 + ["b"] * 5000}
    found = releases.release(table, releases.Mean("x", bounds=(0, 10), epsilon=1.0), by={"g": ["a", "b", "c"]}, rng=3)
    assert found["a"] == pytest.approx(1, abs=0.1)
    assert found["b"] == pytest.approx(9, abs=0.1)
    assert found.interval().shape == (3, 2)
    assert len(found.notes) == 2


def test_the_tail_of_two_laplace_variables_is_that_of_a_sample() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.laplace(size=(2, 400_000))
    for u in (0.0, 0.1, 0.4999999, 0.5, 0.8, 1.0):
        for above, below in ((3.0, 1.0), (0.5, 0.5), (-2.0, 1.0)):
            seen = (np.abs((1 - u) * x - u * y) >= abs((1 - u) * above - u * below)).mean()
            assert ratio.laplace_tail(np.array(u), above, below, 1.0) == pytest.approx(seen, abs=0.005)


def test_a_share_that_no_value_explains_gives_the_nearest_bound() -> None:
    assert ratio.interval(-1e6, 3e6, 1.0, 0.95).tolist() == [0.0, 0.0]
    assert ratio.interval(3e6, -1e6, 1.0, 0.95).tolist() == [1.0, 1.0]
    assert ratio.interval(0.0, 0.0, 1.0, 0.95).tolist() == [0.0, 1.0]


@given(st.floats(-3, 10), st.sampled_from(KINDS))
@settings(max_examples=50, deadline=None)
def test_the_loss_for_one_record_is_at_most_epsilon(value: float, kind: Any) -> None:
    release = made(kind)
    empty, one = (release.fold(np.array(x)).reveal(design=release.digest) for x in ([], [value]))
    assert release.loss_between(empty, one) <= Fraction(1)


@pytest.mark.usefixtures("any_epsilon")
def test_a_variance_that_would_not_be_finite_is_refused_before_anything_is_booked() -> None:
    with pytest.raises(LimitError, match="bounds"):
        Variance(bounds=(0, 1e200), epsilon=1.0)
    value = releases.release([0.0, 1e140], Variance(bounds=(0, 1e140), epsilon=20.0), rng=7).value
    assert math.isfinite(value)
