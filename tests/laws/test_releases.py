"""Every public release keeps the common laws of `bruit.testing`."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from bruit import releases, testing
from bruit.domains import Grid
from bruit.releases import (
    Bounds,
    Count,
    Histogram,
    HistogramQuantiles,
    InverseSensitivity,
    Mean,
    Median,
    Quantiles,
    Release,
    Statistic,
    Sum,
    Tables,
    Variance,
    WeightedMean,
    WeightedSum,
)
from bruit.releases.lengths import MeanLength

#: One design of every class; more of each stand in the tests of its own module.
RELEASES: list[Statistic] = [
    Bounds(epsilon=0.5),
    Count(epsilon=0.5),
    Histogram(domain=["a", "b", "c"], epsilon=1.0, neighbours="replace"),
    Sum(bounds=(-1, 5), epsilon=0.3),
    Sum(bounds=(-1, 5), epsilon=2.0, delta=1e-3),
    Mean(bounds=(0, 10), epsilon=2.0),
    Variance(bounds=(0, 10), epsilon=1.0, neighbours="replace"),
    HistogramQuantiles(bounds=(0, 10), cells=10, epsilon=1.0, quantiles=(0.5,)),
    Quantiles(bounds=Grid(0, 10), epsilon=1.0, quantiles=(0.3, 0.5), method="exponential"),
    Quantiles(bounds=(0, 10), epsilon=1.0, quantiles=(0.3, 0.8), cells=1000),
    Median(bounds=(0, 10), epsilon=1.0, cells=1000),
    InverseSensitivity(statistic=MeanLength(Grid(0, 10, cells=41)), bounds=(0, 10), epsilon=1.0),
]


@pytest.mark.audit("bounds", "mean0", "quantiles by histogram", "quantiles1", "sum0", "sum1", share=3)
@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_a_release_keeps_the_common_laws(release: Statistic) -> None:
    assert testing.check_release(release) is None


@pytest.mark.audit
def test_a_grouped_release_keeps_the_common_laws() -> None:
    release = Release(Count(epsilon=0.5), by={"group": ["F", "M"]})

    def fold(records: Any) -> Any:
        return release.fold({"group": records})

    assert testing.check_release(release, values=["F", "M"], fold=fold, attained=1 - 1e-8) is None


def test_every_public_release_is_among_those_that_are_checked() -> None:
    public = {
        item
        for item in vars(releases).values()
        if inspect.isclass(item) and issubclass(item, Statistic) and not inspect.isabstract(item)
    }
    elsewhere = {Tables, WeightedMean, WeightedSum}  # in tests/releases/test_tables.py and test_weighted.py
    assert public - elsewhere <= {type(release) for release in RELEASES}


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_a_release_keeps_the_common_laws_with_other_seeds(release: Statistic, seed: int) -> None:
    assert testing.check_release(release, rng=seed, trials=40_000) is None
