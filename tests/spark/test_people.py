"""People with several rows in a DataFrame: the same rows count as in memory, whatever way Spark parts them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bruit.errors import MissingError
from bruit.learning import KMeans, NaiveBayes
from bruit.releases import Count, Histogram, Person, Release, Sum

ZONES = ["a", "b", "c"]


def _table() -> dict[str, Any]:
    draw = np.random.default_rng(5)
    users = [f"Zoe\N{COMBINING DIAERESIS}{u}" if i % 2 else f"Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}{u}" for i, u in
             enumerate(draw.integers(0, 60, 2000))]  # fmt: skip
    return {"user": users, "zone": draw.choice(ZONES, 2000).tolist()}


@pytest.mark.parametrize("partitions", [1, 3])
def test_spark_counts_the_rows_that_count_in_memory(frame_of: Any, partitions: int) -> None:
    release = Release(
        [Count(epsilon=1.0), Histogram("zone", domain=ZONES, epsilon=1.0)],
        {"zone": ZONES},
        Person("user", groups=2, rows_per_group=3, missing="drop"),
    )
    table = _table()
    table["user"][7] = None
    expected = release.fold(table, 3).reveal(design=release.digest)
    frame = frame_of(table, partitions)
    assert (release.fold(frame, 3).reveal(design=release.digest) == expected).all()
    assert (release.fold(frame.repartition(5), 3).reveal(design=release.digest) == expected).all()
    assert expected.sum() == 2 * 60 * 2 * 3


def test_spark_refuses_rows_of_nobody_and_takes_a_frame_without_rows(frame_of: Any) -> None:
    release = Release(Count(epsilon=1.0), person=Person("user", rows=3))
    with pytest.raises(MissingError, match="nobody"):
        release.fold(frame_of({"user": ["x", None], "zone": ["a", "b"]}), 3)
    empty = frame_of({"user": ["x"], "zone": ["a"]}).filter("zone = 'z'")
    assert release.fold(empty, 3).reveal(design=release.digest).tolist() == [0]


def test_groups_that_nobody_declared_are_the_same_as_in_memory(frame_of: Any) -> None:
    table = _table()
    for groups in (
        Release(Count(epsilon=1.0, delta=1e-3), "zone", Person("user", groups=2, rows_per_group=1)),
        Release(Count(epsilon=1.0, delta=1e-3), "zone"),
    ):
        expected = groups.fold(table, 3).reveal(design=groups.digest)
        assert groups.fold(frame_of(table), 3).reveal(design=groups.digest) == expected
        assert set(expected) == set(ZONES)


@pytest.mark.parametrize("person", [None, Person("user", groups=2, rows_per_group=1)])
def test_sums_of_groups_that_nobody_declared_are_the_same_as_in_memory(frame_of: Any, person: Person | None) -> None:
    table = _table() | {"fare": list(range(2000))}
    release = Release([Count(epsilon=1.0, delta=1e-3), Sum("fare", bounds=(0, 50), epsilon=1.0)], "zone", person)
    expected = release.fold(table, 3).reveal(design=release.digest)
    for frame in (frame_of(table), frame_of(table, 3)):
        sums = release.fold(frame, 3).reveal(design=release.digest)
        assert {zone: numbers.tolist() for zone, numbers in sums.items()} == {
            zone: numbers.tolist() for zone, numbers in expected.items()
        }
    results = [release.publish(release.fold(source, 3), rng=7) for source in (table, frame_of(table))]
    assert results[0]["sum of fare"].values.tolist() == results[1]["sum of fare"].values.tolist()
    nothing = release.fold(frame_of(table).limit(0), 3)
    assert release.publish(nothing, rng=7)["sum of fare"].labels == ()


@pytest.mark.audit
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_models_of_people_are_the_same_as_in_memory(frame_of: Any) -> None:
    draw = np.random.default_rng(5)
    table = {"user": draw.integers(0, 60, 600).tolist(), "age": draw.random(600).tolist()}
    table["ill"] = draw.integers(0, 2, 600).tolist()
    options: dict[str, Any] = {"epsilon": 1.0, "bounds": {"age": (0, 1)}, "person": "user", "rows": 3, "rng": 7}
    frame = frame_of(table)
    model = NaiveBayes(classes=[0, 1], **options)
    assert (model.fit(frame, "ill").theta_ == NaiveBayes(classes=[0, 1], **options).fit(table, "ill").theta_).all()
    centres = KMeans(2, iterations=1, **options).fit(frame).cluster_centers_
    assert (centres == KMeans(2, iterations=1, **options).fit(table).cluster_centers_).all()
