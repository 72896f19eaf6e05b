"""After a spend nothing depends on the data except through the noise, for everything public that spends."""

from __future__ import annotations

import inspect
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit import learning, releases, testing
from bruit.domains import Bins, Categories, Grid, Schema
from bruit.errors import DataError, LimitError
from bruit.learning import (
    AdditiveClassifier,
    AdditiveRegressor,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
)
from bruit.learning._base import PrivateModel
from bruit.learning.additive.model import HIDDEN
from bruit.learning.additive.regressor import LINE
from bruit.privacy import Ledger
from bruit.releases import (
    AboveThreshold,
    ContinualCount,
    Count,
    Histogram,
    HistogramQuantiles,
    InverseSensitivity,
    LengthFunction,
    LimitsGuide,
    Mean,
    Median,
    PowerBounds,
    Quantiles,
    Release,
    Statistic,
    Sum,
    Tables,
    Variance,
    WeightedMean,
    WeightedSum,
    publish_once,
)
from bruit.releases.lengths import MeanLength
from bruit_studies.as_printed import DecilesAsPrinted

NEIGHBOURS = ("add-remove", "replace")
DELTA = 1e-6


def _moments() -> list[Release]:
    wide, fine = {"bounds": (-3, 7), "epsilon": 1.0}, {"bounds": (0, 999_999), "step": 1.0, "epsilon": 9.0}
    far = {"bounds": (1e12, 1e12 + 1e5), "epsilon": 5.0}
    found: list[Release] = []
    for kind, neighbours, delta in itertools.product((Sum, Mean, Variance), NEIGHBOURS, (0.0, DELTA)):
        for declared in (wide, fine):
            found.append(kind(delta=delta, neighbours=neighbours, **declared))  # type: ignore[arg-type]
    return [*found, Sum(**far), Sum(neighbours="replace", **far)]  # type: ignore[arg-type]


def _quantiles() -> list[Release]:
    asked: dict[str, Any] = {"quantiles": (0.1, 0.123457, 0.5), "epsilon": 1.0}
    found: list[Release] = [
        Quantiles(bounds=bounds, neighbours=neighbours, method=method, cells=40, **asked)  # type: ignore[arg-type]
        for bounds, neighbours, method in itertools.product(
            ((0.0, 1.0), Grid(0, 9)), NEIGHBOURS, ("approximate", "exponential", "joint")
        )
    ]
    return found + [
        HistogramQuantiles(bounds=(0, 1), cells=30, neighbours=neighbours, noise=noise, **asked)  # type: ignore[arg-type]
        for neighbours, noise in itertools.product(NEIGHBOURS, ("tight", "dwork-roth"))
    ]


def _lengths(counts: Any) -> Any:
    return np.abs(np.arange(11) - int(counts[0] > 0))


RELEASES: list[Release] = [
    PowerBounds(epsilon=0.5),
    Count(epsilon=0.5),
    Count(epsilon=0.5, delta=DELTA),
    *(Histogram(domain=Bins([0, 1, 5]), epsilon=1.0, neighbours=neighbours) for neighbours in NEIGHBOURS),  # type: ignore[arg-type]
    Histogram(domain=["a", "b", "c"], epsilon=1.0, delta=DELTA),
    Histogram(domain=["a", "b", ...], epsilon=1.0),  # type: ignore[arg-type]
    Histogram(domain=Bins([0, 1, 5], outside="other"), epsilon=1.0),
    *_moments(),
    *_quantiles(),
    DecilesAsPrinted(bounds=(0, 1), epsilon=1.0, cells=20),
    InverseSensitivity(statistic=MeanLength(Grid(0, 10, cells=41)), bounds=(0, 10), epsilon=1.0),
    InverseSensitivity(statistic="median", bounds=Grid(0, 100), epsilon=1.0),
    InverseSensitivity(statistic="variance", bounds=Grid(0, 4000), epsilon=1.0),
    InverseSensitivity(statistic=LengthFunction(_lengths, Grid(0, 10), "first"), bounds=Grid(0, 10), epsilon=1.0),
]


@pytest.mark.audit("bounds add-remove", "mean add-remove", "quantiles add-remove", "quantiles replace0", share=3)
@pytest.mark.parametrize("release", RELEASES, ids=lambda release: f"{release.name} {release.guarantee.neighbours}")
def test_a_release_has_the_same_outcome_for_all_data(release: Release) -> None:
    assert testing.check_release_after_booking(release) is None


@pytest.mark.parametrize("of", [Count(epsilon=0.5), Variance("x", bounds=(0, 9), epsilon=1.0)], ids=lambda of: of.name)
def test_a_grouped_release_has_the_same_outcome_for_all_data(of: Statistic) -> None:
    release = Release(of, by={"group": ["F", "M"]})

    def fold(records: list[Any]) -> Any:
        table = {"group": [group for group, _ in records], "x": np.array([number for _, number in records], float)}
        return release.fold(table)

    assert testing.check_release_after_booking(release, values=[("F", 0), ("M", 9), ("F", 4)], fold=fold) is None


WEIGHTED = [
    kind("x", weight="w", bounds=(-3, 7), weight_bounds=(0, 5), epsilon=1.0, delta=delta, neighbours=neighbours)
    for kind, neighbours, delta in ((WeightedMean, "add-remove", 0.0), (WeightedSum, "replace", DELTA))
]


@pytest.mark.audit("weighted mean")
@pytest.mark.parametrize("release", WEIGHTED, ids=lambda release: release.name)
def test_a_weighted_release_has_the_same_outcome_for_all_data(release: Any) -> None:
    def fold(records: list[Any]) -> Any:
        columns = np.array(records, float).reshape(-1, 2)
        return release.fold({"x": columns[:, 0], "w": columns[:, 1]})

    values = [(-3.0, 5.0), (7.0, 5.0), (1e9, 0.3), (-1e9, 1e9)]
    assert testing.check_release_after_booking(release, values=values, fold=fold) is None


@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_tables_have_the_same_outcome_for_all_data(delta: float) -> None:
    release = Tables({"x": ["a", "b"], "y": [0, 1, 2]}, epsilon=1.0, delta=delta)

    def fold(records: list[Any]) -> Any:
        return release.fold({"x": [x for x, _ in records], "y": [y for _, y in records]})

    assert testing.check_release_after_booking(release, values=[("a", 0), ("b", 2), ("b", 1)], fold=fold) is None


ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [0.25, 0.75], [-5.0, 9.0]])
CLASSES = np.array(["no", "yes", "yes", "no"])
TARGETS = np.array([-1.0, 1.0, 0.1, 7.0])


def _models() -> list[tuple[Any, Any]]:
    shared: list[dict[str, Any]] = [
        {"epsilon": 1.0, "bounds": (0, 1), "random_state": 3, "neighbours": neighbours} for neighbours in NEIGHBOURS
    ]
    found: list[tuple[Any, Any]] = []
    for common in shared:
        found += [(NaiveBayes(classes=["no", "yes"], method=each, **common), CLASSES) for each in ("joint", "vaidya")]
        lines = [LinearRegression(target_bounds=(-1, 1), delta=delta, **common) for delta in (0.0, DELTA)]
        lines.append(LinearRegression(target_bounds=(-1, 1), method="functional", **common))
        found += [(line, TARGETS) for line in lines]
        found += [(AdditiveClassifier(classes=["no", "yes"], delta=delta, **common), CLASSES) for delta in (0.0, DELTA)]
        found += [(AdditiveClassifier(classes=["maybe", "no", "yes"], **common), CLASSES)]
        found += [(LogisticRegression(classes=["no", "yes"], **common), CLASSES)]
        found += [(AdditiveRegressor(target_bounds=(-1, 1), **common), TARGETS)]
        found += [(KMeans(2, delta=delta, **common), None) for delta in (0.0, DELTA)]
        found += [(KMeans(2, method="lloyd", iterations=3, **common), None)]
    return found


def _name(model: Any) -> str:
    return f"{type(model).__name__} {model.neighbours}" if isinstance(model, PrivateModel) else ""


@pytest.mark.audit("KMeans add-remove-0", "KMeans replace", share=3)
@pytest.mark.parametrize(("model", "target"), _models(), ids=_name)
def test_a_model_has_the_same_outcome_for_all_data(model: Any, target: Any) -> None:
    lost = learning.kmeans.model._LOST  # by noisy counts, one centre would do as well
    assert testing.check_model_after_booking(model, ROWS, target, by_noise=[lost, HIDDEN, LINE]) is None


def test_a_model_of_categories_has_the_same_outcome_for_all_data() -> None:
    schema = Schema({"a": Categories(labels=["x", "y"]), "b": Grid(0, 9)})
    model = NaiveBayes(epsilon=1.0, bounds=schema, classes=["no", "yes"], random_state=3)
    rows = np.array([["x", 0], ["y", 9], ["x", 4], ["y", 70]], object)
    assert testing.check_model_after_booking(model, rows, CLASSES) is None


@pytest.mark.parametrize("monotone", [False, True])
def test_a_session_has_the_same_outcome_for_all_answers(monotone: bool) -> None:
    alarm = AboveThreshold(epsilon=1.0, threshold=5, monotone=monotone)
    answers = [0, 1, 2**61, 2**61 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**40]
    tables = [[sign * answer] for answer in answers for sign in (1, -1)]
    tables += [np.array([2**61 + 1], np.int64), np.array([2**64 - 1], np.uint64), np.array([-(2**63)], np.int64)]

    def first(table: Any, ledger: Any) -> Any:
        session = alarm.start(ledger, rng=1)
        session.first(table)
        return session

    def ask(table: Any, ledger: Any) -> Any:
        return alarm.start(ledger, rng=1).ask(table[0])

    assert testing.check_after_booking(first, tables) is None
    assert testing.check_after_booking(ask, tables) is None


def test_groups_that_nobody_declared_have_the_same_outcome_for_all_data() -> None:
    groups = Release(Count(epsilon=1.0, delta=0.01), "zone")
    tables = [{"zone": zones} for zones in (["a"], ["a"] * 500, [f"z{i}" for i in range(300)], ["a"] * 40 + ["b"])]

    def publish(table: Any, ledger: Any) -> Any:
        return type(groups.publish(groups.fold(table), ledger, rng=1)["count"])

    assert testing.check_after_booking(publish, tables) is None


def test_sums_of_groups_that_nobody_declared_have_the_same_outcome_for_all_data() -> None:
    sums = {"sum": Sum("x", bounds=(-3, 7), epsilon=1.0), "mean": Mean("x", bounds=(-3, 7), epsilon=1.0)}
    whole = Release({"count": Count(epsilon=1.0, delta=0.01), **sums}, "zone")
    zones = ([], ["a"], ["a"] * 500, [f"z{i}" for i in range(300)], ["a"] * 40 + ["b"])
    tables = [{"zone": np.array(labels, str), "x": np.full(len(labels), 1e300)} for labels in zones]

    def publish(table: Any, ledger: Any) -> Any:
        return [type(result) for result in whole.publish(whole.fold(table), ledger, rng=1).values()]

    assert testing.check_after_booking(publish, tables) is None


def test_the_guide_to_bounds_has_the_same_outcome_for_all_data() -> None:
    guide = LimitsGuide(Count(epsilon=1.0), "user", {"zone": ["a", "b"]})
    tables = [{"user": users, "zone": ["a"] * len(users)} for users in ([], [1], [1] * 500, list(range(300)))]

    def publish(table: Any, ledger: Any) -> Any:
        return len(guide.publish(guide.fold(table), ledger, rng=1).errors)

    assert testing.check_after_booking(publish, tables) is None


def test_what_is_published_once_has_the_same_outcome_for_all_data(tmp_path: Path) -> None:
    release = Release({"people": Count(epsilon=0.5), "sum": Sum("x", bounds=(-3, 7), epsilon=0.5)})
    numbers = itertools.count()

    def publish(table: Any, notary: Any) -> Any:
        ledger = Ledger.open(tmp_path / f"{next(numbers)}.ledger", epsilon=1.0)
        kept = publish_once(release, table, ledger, 1)
        notary.book([line for line in release.lines() if len(ledger) == 2])
        return [type(result) for result in kept.result.values()]

    tables = [{"x": np.full(size, value)} for size, value in ((0, 0.0), (1, 1e300), (500, -1e300))]
    assert testing.check_after_booking(publish, tables) is None


def test_a_continual_series_has_the_same_outcome_for_all_counts() -> None:
    def publish(counts: Any, ledger: Any) -> Any:
        series = ContinualCount(steps=4, epsilon=1.0, delta=0.01).start(ledger=ledger, rng=1)
        return [len(series.add(count, rng=1)) for count in counts]

    counts = [[0, 0], [1, 10**12], [10**30, -(10**30)]]
    assert testing.check_after_booking(publish, counts) is None


def test_everything_public_that_spends_is_among_those_that_are_checked() -> None:
    names = [(package, name) for package in (releases, learning) for name in package.__all__]
    public = [item for item in itertools.starmap(getattr, names) if inspect.isclass(item)]
    spends = {item for item in public if issubclass(item, Statistic | PrivateModel) and not inspect.isabstract(item)}
    checked = (
        {type(release) for release in [*RELEASES, *WEIGHTED]}
        | {type(model) for model, _ in _models()}
        | {Median, Tables}
    )
    assert spends == checked - {DecilesAsPrinted}
    # What else takes a ledger: a transformer that randomises each record by itself, and sessions.
    takers = {item for item in public for method in vars(item).values() if "ledger" in _parameters(method)}
    assert {item.__name__ for item in takers - spends} == {
        "AboveThreshold",
        "LimitsGuide",
        "ContinualCount",
        "ContinualSeries",
        "LocalPrivatizer",
        "Release",
        "SearchCost",  # asks a ledger, and books nothing
        "Statistic",
    }


def _parameters(method: Any) -> list[str]:
    return list(inspect.signature(method).parameters) if inspect.isfunction(method) else []


# The control: a law that none of these passes.


class RaisesOnLargeSums(Count):
    def from_noisy(self, noisy: Any, noise: Any, n: Any, simulated: bool) -> Any:
        if int(self._exact[0]) > 2**41:  # type: ignore[attr-defined]
            raise LimitError("The sums of these data are beyond 2⁴¹.")
        return super().from_noisy(noisy, noise, n, simulated)

    def sums(self, counts: Any) -> Any:
        object.__setattr__(self, "_exact", counts)
        return super().sums(counts)


class RaisesBefore(Count):
    def prepare(self, counts: Any) -> Any:
        if not counts.any():
            raise DataError("There must be at least one record.")
        return counts


class Warns(Count):
    def sums(self, counts: Any) -> Any:
        if counts[0] == 3:
            warnings.warn("few records", stacklevel=1)
        return super().sums(counts)


class Prints(Count):
    def sums(self, counts: Any) -> Any:
        if counts[0] > 2**32:
            print("this takes a while")
        return super().sums(counts)


class SwitchesDtype(Count):
    def publish(self, counts: Any, entropy: Any) -> Any:
        found = super().publish(counts, entropy)
        if counts[0] > 2**53:
            object.__setattr__(found, "values", found.values.astype(float))
        return found


class _ReleasedTwice(Release):
    def publish(self, raw: Any, ledger: Any = None, *args: Any, **options: Any) -> Any:
        results = super().publish(raw, ledger, *args, **options)
        if raw.reveal(design=self.digest)[0]:
            ledger.spend(self.guarantee, "again")
        return results


class BooksTwice(Count):
    alone = property(_ReleasedTwice)  # type: ignore[assignment]


class AlwaysFails(Count):
    def prepare(self, counts: Any) -> Any:
        raise DataError("Never.")


class _NotBooked(Release):
    def publish(self, raw: Any, ledger: Any = None, *args: Any, **options: Any) -> Any:
        return super().publish(raw, None, *args, **options)


class NeverBooks(Count):
    alone = property(_NotBooked)  # type: ignore[assignment]


BROKEN: dict[type[Count], str] = {
    RaisesOnLargeSums: "fails after the spend was booked: LimitError",
    RaisesBefore: "error depends on the data",
    Warns: "warnings depends on the data",
    Prints: "output depends on the data",
    SwitchesDtype: "result depends on the data",
    BooksTwice: "booked depends on the data",
    AlwaysFails: "No table has a result",
    NeverBooks: "without booking",
}


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_the_law_notices_a_release_that(kind: type[Count]) -> None:
    with pytest.raises(AssertionError, match=BROKEN[kind]):
        testing.check_release_after_booking(kind(epsilon=1.0))


class RaisesOnManyRows(LinearRegression):
    def _book(self, guarantee: Any, sums: Any, features: Any) -> Any:
        entropy = super()._book(guarantee, sums, features)
        if max(map(abs, np.asarray(sums).tolist())) > 2**60:
            raise LimitError("The sums of these data are beyond 2⁶⁰.")
        return entropy


class WarnsOfMany(LinearRegression):
    def _book(self, guarantee: Any, sums: Any, features: Any) -> Any:
        if max(map(abs, np.asarray(sums).tolist())) > 2**60:
            warnings.warn("many rows", stacklevel=1)
        return super()._book(guarantee, sums, features)


@pytest.mark.parametrize(("kind", "complaint"), [(RaisesOnManyRows, "fails after"), (WarnsOfMany, "warnings")])
def test_the_law_notices_a_model_that(kind: Any, complaint: str) -> None:
    model = kind(epsilon=1.0, bounds=(0, 1), target_bounds=(-1, 1), random_state=3)
    with pytest.raises(AssertionError, match=complaint):
        testing.check_model_after_booking(model, ROWS, TARGETS)
    if kind is WarnsOfMany:
        testing.check_model_after_booking(model, ROWS, TARGETS, by_noise=["many rows"])
