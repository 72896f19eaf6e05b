"""Sums and means of groups that nobody declared: of named groups, of one row of a person in each, booked at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bruit
from bruit import Ledger
from bruit.errors import BudgetError, DataTypeError, DesignError, ParameterError
from bruit.estimation.tally import RawTally
from bruit.releases import Count, Histogram, Mean, Median, Person, Release, Sum, Variance
from bruit.releases.noise import DiscreteLaplace

FARES = {
    "rider": [*range(300), *range(300), *range(20)],
    "zone": ["centre"] * 300 + ["north"] * 300 + [f"address {rider}" for rider in range(20)],
    "fare": [7] * 300 + [3] * 300 + [19] * 20,
}
RIDER = Person("rider", groups=2, rows_per_group=1)
SUM = Sum("fare", bounds=(0, 20), step=1.0, epsilon=1.0)


def release(person: Person | None = None, **statistics: Any) -> Release:
    return Release({"count": Count(epsilon=1.0, delta=1e-6), **(statistics or {"fares": SUM})}, "zone", person)


def test_each_group_has_its_people_and_its_sums() -> None:
    whole = release(fares=SUM, mean=Mean("fare", bounds=(0, 20), step=1.0, epsilon=1.0))
    counts = whole.fold(FARES).reveal(design=whole.digest)
    assert counts["centre"].tolist() == [300, 300, 2100, 300, 2100]
    assert counts["address 3"].tolist() == [1, 1, 19, 1, 19]
    assert len(counts) == 22


def test_one_row_of_a_person_counts_in_each_of_few_groups() -> None:
    table = {"rider": [1] * 8 + [2], "zone": ["a", "a", "a", "b", "c", "c", "d", "e", "a"], "fare": [1, 2, 3] * 3}
    whole = release(RIDER)
    for seed in range(10):
        counts = whole.fold(table, seed).reveal(design=whole.digest)
        assert sum(int(numbers[0]) for numbers in counts.values()) == 3  # two groups of the first, one of the second
        assert all(numbers[0] == numbers[1] for numbers in counts.values())


def test_named_groups_are_published_with_their_sums_and_booked_at_once() -> None:
    books = Ledger(epsilon=3.0, delta=1e-5, neighbours="person-add-remove")
    asked = [Count(epsilon=1.0, delta=1e-6), SUM, Variance("fare", bounds=(0, 20), epsilon=0.5)]
    results = bruit.release(FARES, asked, by="zone", person="rider", groups=2, ledger=books, rng=1)
    assert list(results) == ["count", "sum of fare", "variance of fare"]
    assert {result.labels for result in results.values()} == {("centre", "north")}
    assert abs(results["sum of fare"]["centre"] - 2100) < 30 * 40
    assert results["sum of fare"].interval().shape == (2, 2)
    assert [entry.label for entry in books.entries] == [
        "number of people by zone",
        "sum of fare by zone",
        "variance of fare by zone",
    ]
    assert (books.spent.epsilon, books.spent.delta) == (2.5, 1e-6)
    assert results["sum of fare"].guarantee.neighbours == "person-add-remove"
    assert "2 groups" in " ".join(results["sum of fare"].notes)
    with pytest.raises(BudgetError):
        bruit.release(FARES, asked, by="zone", person="rider", groups=2, ledger=books)
    assert len(books.entries) == 3


def test_the_noise_of_a_sum_hides_a_person_in_all_their_groups() -> None:
    whole = release(RIDER)
    noise, alone = whole.drawn["fares"].noise(), SUM.noise()
    assert isinstance(noise, DiscreteLaplace)
    assert isinstance(alone, DiscreteLaplace)
    # A person gives at most 20 steps to each of two groups.
    assert 2 * 20 / noise.scale <= 1
    mine = {"rider": [999] * 12, "zone": ["centre", "north", "a", "b", "c", "d"] * 2, "fare": [20] * 12}
    more = {name: [*column, *mine[name]] for name, column in FARES.items()}
    with_me, without = (whole.fold(table, 1).reveal(design=whole.digest) for table in (more, FARES))
    change = {label: numbers - without.get(label, 0) for label, numbers in with_me.items()}
    assert sum(abs(int(numbers[2])) for numbers in change.values()) / noise.scale <= 1
    assert sum(int(numbers[0]) for numbers in change.values()) == 2
    # The control: the noise for a row is not enough for a person.
    assert 2 * 20 / alone.scale > 1
    assert whole.guarantee.epsilon == 2
    assert whole.guarantee.delta == 1e-6


def test_where_no_group_is_named_the_results_are_empty_and_nothing_fails() -> None:
    whole = release(fares=SUM, mean=Mean("fare", bounds=(0, 20), epsilon=1.0))
    for table in ({"zone": ["a"], "fare": [3]}, {"zone": np.array([], str), "fare": np.array([], float)}):
        results = whole.publish(whole.fold(table), Ledger(epsilon=3.0, delta=1e-5), rng=1)
        assert [result.labels for result in results.values()] == [(), (), ()]
        assert results["fares"].interval().shape == (0, 2)
        assert "no values" in str(results["fares"])


def test_a_file_has_the_same_results_for_the_same_seed(tmp_path: Path) -> None:
    rows = zip(*FARES.values(), strict=True)
    (tmp_path / "fares.csv").write_text("\n".join([",".join(FARES), *(",".join(map(str, row)) for row in rows)]))
    for person in (None, RIDER):
        whole = release(person)
        results = [whole.publish(whole.fold(source, 1), rng=1) for source in (FARES, tmp_path / "fares.csv")]
        assert results[0]["fares"].values.tolist() == results[1]["fares"].values.tolist()
        assert results[0]["count"].labels == results[1]["count"].labels


def test_errors_come_before_the_booking_and_show_no_value() -> None:
    books = Ledger(epsilon=3.0, delta=1e-5)
    with pytest.raises(DataTypeError, match="Column 'fare'") as caught:
        bruit.release(
            {"zone": ["a"], "fare": ["4711x"]}, [Count(epsilon=1.0, delta=1e-6), SUM], by="zone", ledger=books
        )
    assert "4711" not in str(caught.value)
    assert not books.entries
    whole = release()
    with pytest.raises(DesignError):
        whole.publish(release(RIDER).fold(FARES, 1))
    with pytest.raises(DataTypeError):
        whole.publish({})  # type: ignore[arg-type]
    assert "4711" not in repr(whole.fold({"zone": ["4711"], "fare": [1]}))


@pytest.mark.parametrize(
    ("statistics", "words"),
    [
        ([SUM], "named by a Count"),
        ([Count(epsilon=1.0, delta=1e-6), Median("fare", bounds=(0, 20), epsilon=1.0)], "cannot be published"),
        ([Count(epsilon=1.0, delta=1e-6), Histogram("fare", domain=range(20), epsilon=1.0)], "cannot be published"),
        ([Count(epsilon=1.0, delta=1e-6), Sum("fare", bounds=(0, 1), epsilon=1.0, neighbours="replace")], "add-remove"),
        ([Count(epsilon=1.0), SUM], "δ"),
    ],
)
def test_what_cannot_be_published_of_such_groups_is_said(statistics: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        bruit.release(FARES, statistics, by="zone", rng=1)


def test_sums_of_many_batches_are_exact_beyond_64_bits() -> None:
    whole = release(spread=Variance("fare", bounds=(0, 20), epsilon=1.0))
    part = RawTally(design=whole.digest, counts={"a": np.array([1, 1, 1, 2**62])})
    total = (part + part + part).reveal(design=whole.digest)["a"].tolist()
    assert total == [3, 3, 3, 3 * 2**62]
    assert len(whole.publish(part + part + part, rng=7)["spread"].labels) <= 1


@pytest.mark.parametrize("name", ["Groups", "GroupStatistics", "GroupTally", "Bundle", "BundleTally"])
def test_an_old_name_answers_with_the_new_one(name: str) -> None:
    from bruit import releases

    with pytest.raises(ImportError, match=r"is gone: write (Release|RawTally)"):
        getattr(releases, name)
    with pytest.raises(AttributeError):
        _ = releases.Nonsense  # type: ignore[attr-defined]


def test_a_document_of_undeclared_groups_and_of_a_union_is_read_back() -> None:
    named = release(RIDER)
    union = Release.union([named, Release({"all": Count(epsilon=1.0)}, None, Person("rider", rows=1))])
    for whole in (named, union):
        again = Release.from_json(whole.to_json())
        assert again.digest == whole.digest
        first, second = (item.publish(item.fold(FARES, 3), rng=7) for item in (whole, again))
        assert {name: result.to_dict() for name, result in first.items()} == {
            name: result.to_dict() for name, result in second.items()
        }


def test_a_union_books_all_at_once_and_its_parts_have_noise_of_their_own() -> None:
    union = Release.union([Release({name: Count(epsilon=0.1)}, None) for name in ("first", "second")])
    books = Ledger(epsilon=0.2)
    results = union.publish(union.fold(FARES), books, rng=7, label="wave")
    assert [entry.label for entry in books.entries] == ["wave: first", "wave: second"]
    assert union.guarantee.epsilon == 0.2  # in decimals, as the ledger adds
    drawn = [
        [union.publish(union.fold(FARES), rng=seed)[name].value for seed in range(20)] for name in union.statistics
    ]
    assert drawn[0] != drawn[1]
    assert results["first"].statistic["label"] == "wave"
    with pytest.raises(ParameterError, match="each of its releases"):
        union.law(union.fold(FARES))
    with pytest.raises(ParameterError, match="different names"):
        Release.union([Release(Count(epsilon=0.1))] * 2)
    with pytest.raises(ParameterError, match="same person"):
        Release.union(
            [Release({"a": Count(epsilon=0.1)}), Release({"b": Count(epsilon=0.1)}, None, Person("r", rows=1))]
        )
