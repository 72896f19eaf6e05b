"""An ε above 20 is refused wherever it is spent, one above 10 is warned of, and a ledger may have any budget."""

import warnings

import numpy as np
import pytest

from bruit import Ledger, _checks
from bruit.domains import Grid
from bruit.errors import LimitError, WeakPrivacyWarning
from bruit.learning import AdditiveClassifier, KMeans, LinearRegression, NaiveBayes
from bruit.releases import (
    AboveThreshold,
    ContinualCount,
    Count,
    Histogram,
    HistogramQuantiles,
    InverseSensitivity,
    LimitsGuide,
    Mean,
    Median,
    PowerBounds,
    Quantiles,
    Release,
    Sum,
    Tables,
    Variance,
    WeightedMean,
    WeightedSum,
)
from bruit.releases.statistic import Statistic

UNIT = {"bounds": (0, 1)}
WEIGHTED = {**UNIT, "weight": "w", "weight_bounds": (0, 1)}
STATISTICS = {
    "bounds": lambda e: PowerBounds("x", epsilon=e),
    "count": lambda e: Count(epsilon=e),
    "histogram": lambda e: Histogram("x", domain=["a", "b"], epsilon=e),
    "inverse sensitivity": lambda e: InverseSensitivity("x", statistic="median", bounds=Grid(0, 9), epsilon=e),
    "sum": lambda e: Sum("x", **UNIT, epsilon=e),
    "mean": lambda e: Mean("x", **UNIT, epsilon=e),
    "variance": lambda e: Variance("x", **UNIT, epsilon=e),
    "quantiles by histogram": lambda e: HistogramQuantiles("x", quantiles=[0.5], **UNIT, epsilon=e, cells=4),
    "quantiles": lambda e: Quantiles("x", quantiles=[0.5], **UNIT, epsilon=e, cells=4),
    "median": lambda e: Median("x", **UNIT, epsilon=e, cells=4),
    "tables": lambda e: Tables({"x": ["a", "b"], "y": ["c", "d"]}, epsilon=e),
    "weighted mean": lambda e: WeightedMean("x", **WEIGHTED, epsilon=e),
    "weighted sum": lambda e: WeightedSum("x", **WEIGHTED, epsilon=e),
}
ROWS = np.linspace(0, 1, 40).reshape(-1, 2)
CLASSES = np.resize([0, 1], len(ROWS))
SPENDERS = {
    **{name: lambda e, make=make: Release(make(e)) for name, make in STATISTICS.items()},
    "several statistics": lambda e: Release([Count(epsilon=e / 2), Sum("x", **UNIT, epsilon=e / 2)]),
    "groups": lambda e: Release(Count(epsilon=e, delta=1e-6), "x"),
    "statistics of groups": lambda e: Release([Count(epsilon=e / 2, delta=1e-6), Sum("x", **UNIT, epsilon=e / 2)], "g"),
    "above threshold": lambda e: AboveThreshold(threshold=10, epsilon=e),
    "continual": lambda e: ContinualCount(steps=8, epsilon=e, delta=1e-6),
    "guide": lambda e: LimitsGuide(Count(epsilon=1.0), "id", epsilon=e),
    "regression": lambda e: LinearRegression(e, **UNIT, target_bounds=(0, 1), rng=1).fit(ROWS, ROWS[:, 0]),
    "k-means": lambda e: KMeans(2, epsilon=e, **UNIT, rng=1).fit(ROWS),
    "naive Bayes": lambda e: NaiveBayes(e, **UNIT, classes=[0, 1], rng=1).fit(ROWS, CLASSES),
    "additive": lambda e: AdditiveClassifier(e, **UNIT, classes=[0, 1], rng=1).fit(ROWS, CLASSES),
    "publication": lambda e: publication(f"epsilon = {e}"),
}


def publication(amount):
    from bruit.publications.reading import read

    path = publication.folder / "plan.toml"
    path.write_text(
        f'title = "T"\ntable = "t.csv"\n{amount}\nledger = "l"\nbudget = {{ epsilon = 999.0 }}\n\n'
        '[[statistic]]\nname = "rows"\nkind = "count"\n'
    )
    return read(path)


@pytest.fixture(autouse=True)
def folder(tmp_path):
    publication.folder = tmp_path


def quietly(make, epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(epsilon)


def test_every_statistic_of_bruit_is_here():
    own = {kind for kind, of in Statistic.kinds.classes().items() if of.__module__.startswith("bruit.releases")}
    assert own == set(STATISTICS)
    assert all(isinstance(make(1.0), Statistic) for make in STATISTICS.values())


@pytest.mark.parametrize("name", SPENDERS)
def test_an_epsilon_above_20_is_refused_and_one_above_10_is_warned_of(name):
    with pytest.raises(LimitError, match=r"epsilon.* must .*20"):
        quietly(SPENDERS[name], 20.5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SPENDERS[name](15.0)
        said = [str(item.message) for item in caught if item.category is WeakPrivacyWarning]
    assert "ε = 15 protects hardly at all: somebody who guessed 50 % could become 99.99996 % sure." in said
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SPENDERS[name](9.5)
    assert not [item for item in caught if item.category is WeakPrivacyWarning]


def test_a_check_that_is_left_out_is_caught():
    """The twin: without the limit an ε of 1,000 passes, and its error is 0."""
    with _checks.any_epsilon():
        assert Release(Count(epsilon=1000.0)).statistics["count"].expected_error() < 1e-100


def test_many_statistics_are_refused_by_their_sum_unless_their_noise_adds_up_slowly():
    with pytest.raises(LimitError, match="of all statistics together"):
        Release({f"s{place}": Count(epsilon=5.0) for place in range(5)})
    Release({f"s{place}": Count(epsilon=1.0, delta=1e-6) for place in range(25)})  # ρ = 0.46 in all


def test_a_rho_above_that_of_the_largest_epsilon_is_refused():
    with pytest.raises(LimitError, match="rho must be at most 200"):
        publication("rho = 201.0")


def test_a_ledger_has_any_budget():
    assert Ledger(epsilon=1000.0).epsilon == 1000.0
