"""From a width to ε: intervals are as wide as asked, no wider, for the least ε."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from bruit.errors import ParameterError, ParameterTypeError
from bruit.releases import Count, Histogram, Mean, Median, Person, Quantiles, Release, Sum, Tables, Variance
from bruit.releases.declared import Declaration, declared_release, read_declaration
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace
from bruit.releases.widths import LEVEL, Within, least_epsilon

#: A width that follows the grid is the next step below what is asked, or at least this part of it.
NEAR = 0.98


def mass_beyond(noise, half: int) -> float:
    """P(|noise| > half) by adding up probabilities."""
    return 1 - math.fsum(math.exp(noise.log_probability(value)) for value in range(-half, half + 1))


def random_cases(seed: int, many: int):
    """Counts, histograms, sums and tables with widths, neighbours and δ at random."""
    rng = np.random.default_rng(seed)
    for place in range(many):
        delta = [0.0, 1e-6][int(rng.integers(2))]
        neighbours = ["add-remove", "replace"][int(rng.integers(2))]
        width = float(np.exp(rng.uniform(np.log(3), np.log(3000))))
        privacy = {"delta": delta, "neighbours": neighbours}
        kind = place % 4
        if kind == 0:
            yield Count(within=width, delta=delta), 1.0, width
        elif kind == 1:
            yield Histogram("x", domain=[*"abcde"], within=width, **privacy), 1.0, width
        elif kind == 2:
            high = int(rng.integers(1, 200))
            statistic = Sum("x", bounds=(0, high), step=1, within=width * high, **privacy)
            yield statistic, 1.0, width * high
        else:
            sizes = rng.integers(2, 5, size=int(rng.integers(2, 4)))
            attributes = {f"c{i}": list(map(str, range(size))) for i, size in enumerate(sizes)}
            yield Tables(attributes, within=width, **privacy), 0.0, width


@pytest.mark.audit("200")
@pytest.mark.parametrize("many", [24, 200])
def test_widths_of_random_statistics_are_met_and_not_wasted(many):
    for statistic, step, width in random_cases(7, many):
        half = statistic.half_width()
        assert half <= width
        assert half >= NEAR * width or half + step > width
        worse = type(statistic)(**{**vars_of(statistic), "epsilon": statistic.epsilon * (1 - 1e-6)})
        assert worse.half_width() > width, "a smaller ε would do"


def vars_of(statistic) -> dict:
    return {name: getattr(statistic, name) for name in type(statistic).parameters()}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_width_of_a_count_is_that_of_the_exact_law(delta):
    for width in (3, 17, 50, 200):
        noise = Count(within=width, delta=delta).noise()
        assert isinstance(noise, DiscreteGaussian if delta else DiscreteLaplace)
        assert mass_beyond(noise, width) <= 1 - LEVEL + 1e-9
        assert mass_beyond(noise, width - 1) > 1 - LEVEL


def test_a_width_by_the_normal_law_would_be_missed():
    """Control: ε from 1.96 standard deviations gives Laplace intervals that are wider than asked."""
    epsilon = 1.96 * math.sqrt(2) / 50
    assert Count(epsilon=epsilon).half_width() > 50


def test_what_is_published_has_the_interval_that_was_asked():
    count = Count(within=50)
    result = count.release(count.fold([1.0] * 100), rng=7)
    low, high = result.interval()
    assert (high - low) / 2 == 50
    assert "within" not in result.statistic
    assert count == Count(epsilon=count.epsilon)


def test_the_noise_of_people_is_part_of_the_width():
    person = Person("user", rows=10)
    release = Release(Count(within=50), person=person)
    assert release.drawn["count"].half_width() == 50
    assert release.guarantee.epsilon == pytest.approx(10 * Count(within=50).epsilon, rel=0.1)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_mean_of_a_stated_number_of_records_is_as_exact_as_asked_wherever_it_lies(neighbours):
    mean = Mean("age", bounds=(0, 100), within=Within(0.5, n=1000), neighbours=neighbours)
    widths = []
    for value in (0.0, 1.0, 20.0, 50.0, 99.0):
        raw = mean.fold({"age": [value] * 1000})
        noise = mean.noise(1000)
        exact = mean.from_noisy(mean.sums(raw.reveal(design=mean.digest)), noise, 1000 if mean.public else None, True)
        low, high = exact.interval()
        widths.append(max(high - value, value - low))
    assert max(widths) <= 0.5 * (1 + 1e-3)
    assert max(widths) > 0.49
    with pytest.raises(ParameterError, match="number of records"):
        Mean("age", bounds=(0, 100), within=0.5)


def test_variances_take_a_number_of_records():
    variance = Variance("age", bounds=(0, 100), within=Within(20, n=10_000))
    assert variance.half_width(10_000) == pytest.approx(20)


def test_quantiles_take_ranks_or_a_share_and_refuse_the_unit_of_their_values():
    median = Median("age", bounds=(0, 120), within="50 ranks")
    assert 0.98 * 50 < median.half_width() <= 50
    share = Quantiles("age", quantiles=[0.25, 0.5], bounds=(0, 120), within=Within(0.01, "share", n=5000))
    assert float(np.max(share.rank_error())) <= 50
    with pytest.raises(ParameterError, match="depends on the data"):
        Median("age", bounds=(0, 120), within=5)
    with pytest.raises(ParameterError, match="needs their number"):
        Median("age", bounds=(0, 120), within="2 %")


def test_a_count_refuses_ranks_two_answers_and_none():
    with pytest.raises(ParameterError, match="unit of its values"):
        Count(within="50 ranks")
    with pytest.raises(ParameterTypeError, match="epsilon or within"):
        Count(within=50, epsilon=1.0)
    with pytest.raises(ParameterTypeError, match="needs epsilon"):
        Histogram("sex", domain=["F", "M"])
    with pytest.raises(ParameterTypeError, match="a number, or"):
        Count(within="narrow")
    with pytest.raises(ParameterError, match="out of reach"):
        Sum("income", bounds=(0, 1e6), within=3)


def test_undeclared_groups_have_no_width():
    with pytest.raises(ParameterError, match="threshold"):
        Release(Count(within=50, delta=1e-6), by="zone")
    with pytest.raises(ParameterError, match="threshold"):
        declared_release([read_declaration("count: within=50")], delta=1e-6, by={"zone": None})


def test_several_widths_take_their_least_total():
    both = [read_declaration("count: within=50"), read_declaration("histogram: sex=F,M within=20")]
    release = declared_release(both)
    alone = Count(within=50).epsilon + Histogram("sex", domain=["F", "M"], within=20).epsilon
    assert release.guarantee.epsilon == pytest.approx(alone)


@pytest.mark.parametrize("widths", [(50, 20), (500, 10), (40, 41)])
def test_the_total_of_gaussian_widths_is_within_one_per_cent_of_the_best_split_of_delta(widths):
    declarations = [Declaration("count", (), {"within": width}) for width in widths]
    named = [Declaration("histogram", (f"c{i}=a,b",), item.options) for i, item in enumerate(declarations)]
    ours = declared_release(named, delta=1e-6).guarantee.epsilon

    def total(share: float) -> float:
        parts = (share * 1e-6, (1 - share) * 1e-6)
        return sum(Count(within=width, delta=part).epsilon for width, part in zip(widths, parts, strict=True))

    best = optimize.minimize_scalar(total, bounds=(0.001, 0.999), method="bounded", options={"xatol": 1e-4}).fun
    assert ours <= 1.01 * best
    assert total(0.001) > 1.01 * best or total(0.999) > 1.01 * best  # control: a bad split would be seen


def test_statistics_without_a_width_share_what_is_left():
    mixed = [
        read_declaration("count: within=50"),
        Declaration("mean", ["age=0..120"]),
        Declaration("sum", ["age=0..1"]),
    ]
    release = declared_release(mixed, epsilon=1.0)
    count, mean, total = release.statistics.values()
    assert count.epsilon == Count(within=50).epsilon
    assert mean.epsilon == total.epsilon == pytest.approx((1 - count.epsilon) / 2)
    assert release.guarantee.epsilon <= 1


def test_what_is_out_of_reach_comes_with_what_could_be_had():
    with pytest.raises(ParameterError, match=r"need ε = 1\.283, and there is 0\.5.*count within 7, histogram"):
        declared_release(
            [read_declaration("count: within=2"), read_declaration("histogram: sex=F,M within=20")], epsilon=0.5
        )


def test_the_search_finds_the_step_of_any_falling_function():
    for edge in (1e-6, 0.003, 0.7, 19.0):
        found = least_epsilon(1.0, lambda epsilon, edge=edge: 0.5 if epsilon >= edge else 2.0)
        assert edge <= found <= edge * (1 + 2e-8)
        assert Fraction(repr(found)).limit_denominator(10**18)
