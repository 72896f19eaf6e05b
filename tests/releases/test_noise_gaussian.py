"""Gaussian noise on counts and moments: (ε, δ) from its law, errors, intervals, books and manners."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from bruit import releases
from bruit.errors import BudgetError, LimitError, ParameterError, ParameterTypeError
from bruit.privacy import Ledger
from bruit.privacy.accounting import total
from bruit.privacy.zcdp import epsilon_to_rho, rho_to_epsilon
from bruit.releases import Count, DiscreteGaussian, Histogram, Mean, Release, Sum, Variance, ratio
from bruit.releases.noise import DiscreteLaplace
from bruit.testing import check_release

PROMISES = [(1e-6, 1e-300), (0.01, 1e-6), (0.1, 1e-9), (1.0, 1e-6), (1.0, 0.05), (3.0, 1e-3), (20.0, 1e-12)]
MOMENTS = [Sum, Mean, Variance]


@pytest.mark.parametrize("change2", [1, 2, 13**2, 2**38, 2**56])
@pytest.mark.parametrize(("epsilon", "delta"), PROMISES[1:])
def test_sigma_is_the_least_for_its_rho_and_never_below(change2: int, epsilon: float, delta: float) -> None:
    rho = Fraction(epsilon_to_rho(epsilon, delta))
    noise = DiscreteGaussian.calibrate(change2, epsilon, delta)
    assert Fraction(change2) / (2 * noise.sigma2) <= rho
    assert Fraction(change2) / (2 * noise.sigma2) > rho * Fraction(999_997, 1_000_000)


def delta_of(shift: tuple[int, ...], sigma2: Fraction, epsilon: float, reach: int) -> Any:
    """The exact δ at this ε: Σ max(0, P(x) − e^ε·P(x − shift)), by the definition of the law, over |x| ≤ reach."""
    with mpmath.workdps(30):
        weight = {
            x: mpmath.exp(-mpmath.mpf(x * x) * sigma2.denominator / (2 * sigma2.numerator))
            for x in range(-2 * reach, 2 * reach + 1)
        }
        mass, factor, found = mpmath.fsum(weight.values()) ** len(shift), mpmath.exp(epsilon), mpmath.mpf(0)
        for x in itertools.product(range(-reach, reach + 1), repeat=len(shift)):
            ours = mpmath.fprod(weight[each] for each in x)
            theirs = mpmath.fprod(weight[each - moved] for each, moved in zip(x, shift, strict=True))
            found += max(mpmath.mpf(0), ours - factor * theirs)
        return found / mass


@pytest.mark.parametrize(
    ("release", "shift"),
    [
        (Count(epsilon=1.0, delta=1e-3), (1,)),
        (Histogram(domain=["a", "b"], epsilon=1.0, delta=1e-3), (1,)),
        (Histogram(domain=["a", "b"], epsilon=3.0, delta=0.02, neighbours="replace"), (1, -1)),
        (Sum(bounds=(0, 5), step=1, epsilon=2.0, delta=1e-4), (5,)),
        (Sum(bounds=(-2, 1), step=1, epsilon=2.0, delta=1e-4, neighbours="replace"), (3,)),
        (Mean(bounds=(0, 2), step=1, epsilon=4.0, delta=0.01), (1, 1)),
        (Mean(bounds=(0, 2), step=1, epsilon=4.0, delta=0.01), (2, 0)),
    ],
)
def test_the_exact_delta_is_at_most_the_promised_one_and_half_the_variance_would_not_do(
    release: Any, shift: tuple[int, ...]
) -> None:
    noise = release.noise(4)
    reach = math.ceil(12 * noise.standard_error) + max(shift)
    assert sum(each**2 for each in shift) <= release.change(release.neighbours, 4).l2_squared
    assert delta_of(shift, noise.sigma2, release.epsilon, reach) <= release.delta
    if sum(each**2 for each in shift) == release.change(release.neighbours, 4).l2_squared:
        assert delta_of(shift, noise.sigma2 / 2, release.epsilon, reach) > release.delta


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", MOMENTS)
def test_the_euclidean_sensitivity_bounds_every_change_of_small_data_sets(kind: Any, neighbours: str) -> None:
    m, n = 3, 3
    release = kind(bounds=(0, m), epsilon=1.0, delta=1e-6, neighbours=neighbours, step=1)
    sums = {
        codes: release.sums(release.count({"values": np.array(codes, np.float64)}))
        for codes in np.ndindex(*[m + 1] * n)
    }
    worst = 0
    for codes, found in sums.items():
        for value in range(m + 1):
            if neighbours == "add-remove":
                other = release.sums(release.count({"values": np.array([*codes, value], np.float64)}))
            else:
                other = sums[value, *codes[1:]]
            worst = max(worst, int(((found - other) ** 2).sum()))
    assert worst == release.change(release.neighbours, n).l2_squared


@pytest.mark.audit
@pytest.mark.parametrize(
    "release",
    [
        Count(epsilon=1.0, delta=1e-3),
        Histogram(domain=["a", "b", "c"], epsilon=1.0, delta=0.05, neighbours="replace"),
        Mean(bounds=(0, 10), epsilon=2.0, delta=1e-3),
        Variance(bounds=(0, 10), epsilon=2.0, delta=1e-3, neighbours="replace"),
    ],
    ids=lambda release: release.name,
)
def test_a_release_with_gaussian_noise_keeps_the_common_laws(release: Any) -> None:
    assert check_release(release) is None


@pytest.mark.audit
def test_the_common_laws_notice_gaussian_noise_that_is_far_too_small() -> None:
    class Quiet(Count):
        def noise(self, n: int | None = None) -> Any:
            return DiscreteGaussian(Fraction(1, 5))

    with pytest.raises(AssertionError, match="told apart"):
        check_release(Quiet(epsilon=1.0, delta=1e-3))


X = np.concatenate([np.linspace(-3, 10, 3000), np.full(1000, 9.5)])
TRUTH = {Sum: X.sum(), Mean: X.mean(), Variance: X.var()}


@pytest.mark.audit("Mean-add-remove", share=3)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", MOMENTS)
def test_results_vary_as_stated_and_intervals_cover(kind: Any, neighbours: str) -> None:
    release = kind(bounds=(-3, 10), epsilon=1.0, delta=1e-6, neighbours=neighbours)
    raw, runs, level = release.fold(X), 1200, 0.9
    found = [release.release(raw, rng=seed) for seed in range(runs)]
    values, error = np.array([each.value for each in found]), np.mean([each.standard_error[0] for each in found])
    assert abs(values.mean() - TRUTH[kind]) < 6 * error / math.sqrt(runs) + 0.02 * error
    assert values.std() == pytest.approx(error, rel=0.12)
    assert error <= release.expected_error(len(X)) * 1.001
    ends = np.array([each.interval(level) for each in found])
    covered = ((ends[:, 0] <= TRUTH[kind]) & (TRUTH[kind] <= ends[:, 1])).mean()
    assert abs(covered - level) < 5.5 * math.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_interval_of_a_mean_covers_with_few_records_too(share: float) -> None:
    release = Mean(bounds=(0, 1), epsilon=0.5, delta=1e-6)
    raw = release.fold(np.full(4, share))
    ends = np.array([release.release(raw, rng=seed).interval(0.9) for seed in range(800)])
    covered = ((ends[:, 0] <= share + 1e-9) & (share - 1e-9 <= ends[:, 1])).mean()
    assert covered >= 0.9 - 5.5 * math.sqrt(0.09 / 800)


def test_the_tail_of_two_normal_variables_is_that_of_a_sample() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 400_000))
    for u in (0.0, 0.1, 0.5, 0.8, 1.0):
        for above, below in ((3.0, 1.0), (0.5, 0.5), (-2.0, 1.0)):
            seen = (np.abs((1 - u) * x - u * y) >= abs((1 - u) * above - u * below)).mean()
            assert ratio.normal_tail(np.array(u), above, below, 1.0) == pytest.approx(seen, abs=0.005)


def test_delta_is_booked_and_refused_where_the_budget_has_none() -> None:
    ledger = Ledger(epsilon=1.0, delta=1e-5)
    found = releases.release([1.0, 2.0], releases.Mean(bounds=(0, 3), epsilon=0.5, delta=1e-6), ledger=ledger, rng=1)
    assert (found.guarantee.epsilon, found.guarantee.delta) == (0.5, 1e-6)
    assert (ledger.spent.epsilon, ledger.spent.delta) == (0.5, 1e-6)
    pure = Ledger(epsilon=1.0)
    with pytest.raises(BudgetError):
        releases.release([1, 2], releases.Count(epsilon=0.5, delta=1e-6), ledger=pure)
    assert len(pure) == 0


def test_groups_cost_the_epsilon_and_the_delta_of_one() -> None:
    ledger = Ledger(epsilon=1.0, delta=1e-5)
    table = {"x": [1.0, 2.0, 3.0], "g": ["a", "b", "a"]}
    for kind in (Sum, Variance):
        statistic = kind("x", bounds=(0, 3), epsilon=0.5, delta=1e-6)
        releases.release(table, statistic, by={"g": ["a", "b"]}, ledger=ledger, rng=1)
    assert (ledger.spent.epsilon, ledger.spent.delta) == (1.0, 2e-6)
    assert Release(Count(epsilon=1.0, delta=1e-6), by={"g": ["a", "b"]}).guarantee.delta == 1e-6


def test_many_gaussian_releases_amount_to_less_than_many_laplace_ones_of_the_same_error() -> None:
    gaussian = Histogram(domain=["a", "b"], epsilon=1.0, delta=1e-6)
    laplace = Histogram(domain=["a", "b"], epsilon=math.sqrt(2) / gaussian.standard_error)
    assert laplace.standard_error == pytest.approx(gaussian.standard_error, rel=0.01)
    assert gaussian.rho < 0.6 * laplace.rho
    many = [gaussian.guarantee] * 50
    assert rho_to_epsilon(50 * gaussian.rho, 1e-5) < total(many, 1e-4).best.epsilon


@pytest.mark.parametrize(
    "release", [Count(epsilon=1.0), Histogram(domain=["a", "b"], epsilon=1.0), Mean(bounds=(0, 1), epsilon=1.0)]
)
def test_without_delta_nothing_changes_and_with_one_the_document_says_so(release: Any) -> None:
    assert isinstance(release.noise(), DiscreteLaplace)
    assert "delta" not in release.to_dict()
    other = type(release)(**{**vars_of(release), "delta": 1e-6})
    assert isinstance(other.noise(), DiscreteGaussian)
    assert other.to_dict()["delta"] == 1e-6
    assert other.digest != release.digest
    assert other.loss_between(np.array([1, 1]), np.array([1, 1])) is None


def vars_of(release: Any) -> dict[str, Any]:
    return {name: getattr(release, name) for name in (field.name for field in dataclasses.fields(release))}


@pytest.mark.parametrize(
    ("delta", "error"), [(-1e-6, ParameterError), (1.0, ParameterError), ("0", ParameterTypeError)]
)
def test_a_delta_that_promises_nothing_is_refused(delta: Any, error: type[Exception]) -> None:
    for kind, options in ((Count, {}), (Histogram, {"domain": ["a", "b"]}), (Sum, {"bounds": (0, 1)})):
        with pytest.raises(error, match="delta"):
            kind(epsilon=1.0, delta=delta, **options)


def test_noise_beyond_the_limits_is_refused_at_once() -> None:
    with pytest.raises(LimitError):
        Sum(bounds=(0, 1), epsilon=1e-6, delta=1e-9)
    with pytest.raises(LimitError):
        Count(epsilon=1e-200, delta=1e-300)
