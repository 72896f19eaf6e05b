"""Counts and histograms: what they cost, how much they err, and what they refuse."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import releases
from bruit.domains import Bins, Categories, Grid
from bruit.entropy import Entropy
from bruit.errors import (
    BudgetError,
    DataError,
    DataTypeError,
    LedgerError,
    ParameterError,
    ParameterTypeError,
)
from bruit.privacy import Ledger
from bruit.releases import Count, Histogram, Release, Result
from bruit.releases.statistic import Change
from bruit.testing import check_release

RELEASES: list[Any] = [
    Count(epsilon=0.1),
    Count(epsilon=3.0),
    Histogram(domain=["a", "b", "c"], epsilon=1.0),
    Histogram(domain=["a", "b", "c"], epsilon=1.0, neighbours="replace"),
    Histogram(domain=Bins([0, 1, 5]), epsilon=0.3),
    Histogram(domain=Grid(0, 9), epsilon=0.3, neighbours="replace"),
    Histogram(domain=Categories(labels=(1, 2), missing="category"), epsilon=0.7),
]


@pytest.mark.audit
@pytest.mark.parametrize(
    "release",
    [*RELEASES[::3], *(pytest.param(r, marks=pytest.mark.audit) for i, r in enumerate(RELEASES) if i % 3)],
    ids=repr,
)
def test_a_release_of_counts_keeps_the_common_laws_and_attains_its_epsilon(release: Any) -> None:
    assert check_release(release, attained=1 - 1e-8) is None


@pytest.mark.audit
def test_a_grouped_histogram_keeps_the_common_laws() -> None:
    release = Release(Histogram("value", domain=["x", "y"], epsilon=0.5), by={"group": ["F", "M"]})
    values = list(itertools.product(["x", "y"], ["F", "M"]))

    def fold(records: Any) -> Any:
        if not isinstance(records, list) or not all(isinstance(record, tuple) for record in records):
            raise DataError("records must be pairs.")
        columns = zip(*records, strict=True) if records else ((), ())
        return release.fold(dict(zip(["value", "group"], map(list, columns), strict=True)))

    assert check_release(release, values=values, fold=fold, attained=1 - 1e-8) is None


@pytest.mark.parametrize(
    "broken",
    [
        type("HalfTheNoise", (Histogram,), {"change": lambda self, neighbours, n=None: Change(1, 1)}),
        type("Twice", (Histogram,), {"count": lambda self, batch: 2 * Histogram.count(self, batch)}),
    ],
)
def test_the_common_laws_notice_noise_for_too_small_a_sensitivity(broken: Any) -> None:
    with pytest.raises(AssertionError, match="below the exact loss"):
        check_release(broken(domain=["a", "b"], epsilon=1.0, neighbours="replace"))


def test_noise_is_exact_and_the_same_whatever_the_count() -> None:
    release = Count(epsilon=1.0)
    few, many = release.fold([1] * 3), release.fold(np.zeros(300_000))
    for seed in range(20):
        noise = {release.release(raw, rng=seed).value - n for raw, n in ((few, 3), (many, 300_000))}
        assert len(noise) == 1


@pytest.mark.parametrize(("neighbours", "scale"), [("add-remove", 2), ("replace", 4)])
def test_the_scale_is_the_sensitivity_over_epsilon(neighbours: Any, scale: int) -> None:
    assert Histogram(domain=["a", "b"], epsilon=0.5, neighbours=neighbours).noise().scale == scale


def test_an_interval_covers_the_true_count_as_often_as_it_says() -> None:
    release = Histogram(domain=Categories(k=500), epsilon=0.2)
    raw = release.fold(np.arange(500))
    for level in (0.5, 0.95):
        ends = np.concatenate([release.release(raw, rng=seed).interval(level) for seed in range(40)])
        covered = ((ends[:, 0] <= 1) & (ends[:, 1] >= 1)).mean()
        limit = 5.5 * math.sqrt(level * (1 - level) / len(ends))
        step = math.exp(release.noise().log_probability(int(release.noise().half_width(level)))) * 2
        assert level - limit <= covered <= level + limit + step


def test_a_release_of_one_value_gives_a_plain_number_and_a_plain_pair() -> None:
    found = releases.release([1, 2, 3], releases.Count(epsilon=1.0), rng=1)
    low, high = found.interval()
    assert isinstance(found.value, int)
    assert low < found.value < high
    assert found.interval(0.99)[0] <= low
    with pytest.raises(ParameterError, match="use values"):
        _ = releases.release(["a"], releases.Histogram(epsilon=1.0, domain=["a", "b"]), rng=1).value


SOURCES = {
    "a list": lambda x, path: (x.tolist(), None),
    "an array": lambda x, path: (x, None),
    "a generator of arrays": lambda x, path: (iter([x[:10], x[10:]]), None),
    "a pandas series": lambda x, path: (pd.Series(x), None),
    "a polars series": lambda x, path: (pl.Series(x), None),
    "a mapping": lambda x, path: ({"x": x}, "x"),
    "a pandas frame": lambda x, path: (pd.DataFrame({"x": x}), "x"),
    "a polars frame": lambda x, path: (pl.DataFrame({"x": x}), "x"),
    "a csv file": lambda x, path: (_written(x, path / "x.csv"), "x"),
    "a parquet file": lambda x, path: (_written(x, path / "x.parquet"), "x"),
    "frames one by one": lambda x, path: ([pd.DataFrame({"x": part}) for part in np.array_split(x, 3)], "x"),
}


def _written(x: np.ndarray, path: Path) -> Path:
    frame = pd.DataFrame({"x": x})
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
    return path


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_raw_tally(source: str, tmp_path: Path) -> None:
    x = np.arange(100) % 7
    data, column = SOURCES[source](x, tmp_path)
    release = Histogram(column, domain=Grid(0, 6), epsilon=1.0)
    assert release.fold(data).reveal(design=release.digest).tolist() == np.bincount(x).tolist()


@pytest.mark.parametrize("source", ["a mapping", "a pandas frame", "a csv file", "a parquet file", "frames one by one"])
def test_rows_of_a_table_are_counted_with_and_without_a_column(source: str, tmp_path: Path) -> None:
    data, column = SOURCES[source](np.arange(100), tmp_path)
    for name in (None, column) if source != "frames one by one" else (column,):
        release = Count(name, epsilon=1.0)
        assert release.fold(data).reveal(design=release.digest).tolist() == [100]


def test_a_table_without_a_column_is_refused() -> None:
    with pytest.raises(ParameterError, match="name the column"):
        releases.release({"x": [1]}, releases.Histogram(epsilon=1.0, domain=["a", "b"]))


def test_the_number_of_records_is_public_under_replace() -> None:
    with pytest.raises(ParameterError, match="public"):
        Release(Count(epsilon=1.0, neighbours="replace"))


def test_values_and_groups_must_be_declared() -> None:
    with pytest.raises(ParameterError, match="must be declared"):
        releases.release(["a"], releases.Histogram(epsilon=1.0, domain=None))
    with pytest.raises(ParameterError, match="need a δ"):
        Release(Count(epsilon=1.0), by="g")
    with pytest.raises(ParameterError, match="need a δ"):
        releases.release({"g": ["a"]}, releases.Count(epsilon=1.0), by="g")
    with pytest.raises(ParameterTypeError, match="declare the groups"):
        releases.release({"g": ["a"]}, releases.Count(epsilon=1.0), by=7)


def test_a_label_that_is_not_declared_is_refused_without_being_shown() -> None:
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(DataError) as caught:
        releases.release(["a", "s3cret"], releases.Histogram(epsilon=1.0, domain=["a", "b"]), ledger=ledger)
    assert "s3cret" not in str(caught.value)
    assert len(ledger) == 0


def test_numbers_outside_bins_count_in_the_nearest() -> None:
    release = Histogram(domain=Bins([0, 1, 5]), epsilon=1.0)
    raw = release.fold([-3, 0, 0.99, 1, 4.9, 5, 99, math.inf])
    assert raw.reveal(design=release.digest).tolist() == [3, 5]


def test_bins_follow_their_policy_for_missing_values_and_refuse_bad_edges() -> None:
    assert Bins([0, 1, 2], missing="category").encode([0.5, math.nan, 1.5]).tolist() == [0, 2, 1]
    assert Bins([0, 1, 2], missing="drop").encode([0.5, math.nan, 1.5]).tolist() == [0, 1]
    assert Bins([0, 1, 2], missing="category").decode([2]).tolist() == ["(missing)"]
    with pytest.raises(DataError, match="missing"):
        Bins([0, 1]).encode([math.nan])
    with pytest.raises(DataError, match="declared bounds"):
        Bins([0, 1]).encode([2.0])
    with pytest.raises(DataError, match="codes"):
        Bins([0, 1]).decode([5])
    for edges, kind in (([1], ParameterError), ([1, 1], ParameterError), ("12", ParameterTypeError)):
        with pytest.raises(kind):
            Bins(edges)


# Groups.


def _table() -> dict[str, Any]:
    return {"sex": ["F", "M", "F", "F"], "x": [1, 2, 3, 4]}


def test_groups_cost_as_much_as_one_and_are_booked_as_one_line() -> None:
    ledger = Ledger(epsilon=1.0)
    found = releases.release(_table(), releases.Count(epsilon=0.4), by={"sex": ["F", "M", "X"]}, ledger=ledger, rng=1)
    assert found.labels == ("F", "M", "X")
    assert found.guarantee.epsilon == ledger.spent.epsilon == 0.4
    assert [entry.label for entry in ledger.entries] == ["count by sex"]


def test_a_grouped_release_gives_each_group_its_own_noise_and_its_own_records() -> None:
    release = Release(Count(epsilon=0.1), by={"sex": ["F", "M"]})
    raw = release.fold(_table())
    assert raw.reveal(design=release.digest).tolist() == [3, 1]
    noise = np.array([release.publish(raw, rng=seed)["count"].values - [3, 1] for seed in range(200)])
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.4
    assert not np.array_equal(noise[:, 0], noise[:, 1])


def test_a_histogram_by_group_has_pairs_as_labels_and_columns_for_both() -> None:
    found = releases.release(
        _table(), releases.Histogram("x", epsilon=1.0, domain=Bins([0, 2, 5])), by={"sex": ["F", "M"]}, rng=3
    )
    assert found.labels[0] == ("F", "[0, 2)")
    assert list(found.to_frame("pandas").columns) == ["group", "label", "value", "error", "lower", "upper"]
    assert "\nF      [0, 2) " in repr(found)


@pytest.mark.usefixtures("any_epsilon")
def test_groups_of_two_columns_are_their_combinations() -> None:
    table = {"sex": ["F", "M", "F", "F"], "town": ["x", "y", "x", "y"]}
    found = releases.release(table, Count(epsilon=20.0), by={"sex": ["F", "M"], "town": ["x", "y"]}, rng=1)
    assert found.labels == ("F, x", "F, y", "M, x", "M, y")
    assert found.values.tolist() == [2, 1, 0, 1]


def test_groups_under_replace_are_refused() -> None:
    with pytest.raises(ParameterError, match="may change its group"):
        Release(Histogram(domain=["a", "b"], epsilon=1.0, neighbours="replace"), by={"sex": ["F", "M"]})


def test_a_record_of_another_group_is_refused() -> None:
    with pytest.raises(DataError):
        releases.release(_table(), releases.Count(epsilon=1.0), by={"sex": ["F", "X"]})


@pytest.mark.parametrize("wrong", [Count, "count", Release(Count(epsilon=1.0), by={"g": ["a", "b"]})])
def test_groups_are_of_a_release_of_one_group(wrong: Any) -> None:
    with pytest.raises(ParameterTypeError):
        Release(wrong, by={"g": ["a", "b"]})


# Ledger.


def test_a_release_is_booked_under_its_label() -> None:
    ledger = Ledger(epsilon=1.0)
    releases.release([1, 2], releases.Count(epsilon=0.25), ledger=ledger)
    releases.release({"x": ["a"]}, releases.Histogram("x", epsilon=0.25, domain=["a", "b"]), ledger=ledger)
    releases.release([1, 2], releases.Count(epsilon=0.25), ledger=ledger, label="visits in May")
    assert [entry.label for entry in ledger.entries] == ["count", "histogram of x", "visits in May"]
    with pytest.raises(BudgetError):
        releases.release([1, 2], releases.Count(epsilon=0.5), ledger=ledger)
    assert ledger.spent.epsilon == 0.75


def test_a_ledger_for_other_neighbours_refuses() -> None:
    with pytest.raises(LedgerError, match="replace"):
        releases.release([1], releases.Count(epsilon=0.5), ledger=Ledger(epsilon=1.0, neighbours="replace"))


def test_a_part_of_a_ledger_can_be_spent_from() -> None:
    ledger = Ledger(epsilon=1.0)
    with ledger.parallel("by region") as parts:
        for region in ("north", "south"):
            releases.release(_table(), releases.Count(epsilon=0.5), by={"sex": ["F", "M"]}, ledger=parts.part(region))
    assert ledger.spent.epsilon == 0.5


# The result.


def test_a_result_can_be_read_by_people_and_programs() -> None:
    found = releases.release(["a", "b"], releases.Histogram(epsilon=1.0, domain=["a", "b"]), rng=1)
    assert repr(found).startswith("Released histogram, simulated\n")
    assert repr(found).endswith("\nguarantee: ε = 1 (central, one record added or removed)")
    assert found._repr_html_().count("<tr>") == 3
    assert found.to_dict()["values"][0]["label"] == "a"
    assert len(found) == 2
    assert list(found) == found.values.tolist()
    assert found["a"] == found.values[0]
    with pytest.raises(ParameterError, match="labels"):
        found["c"]
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 3


def test_a_long_result_shows_its_first_rows() -> None:
    found = releases.release(np.arange(30), releases.Histogram(epsilon=1.0, domain=Categories(k=30)), rng=1)
    assert "\nand 10 more values (to_frame() has all)\n" in repr(found)


def test_a_result_without_interval_says_so() -> None:
    found = releases.release([1], releases.Count(epsilon=1.0), rng=1)
    bare = Result(
        name="thing", values=np.array([1.0, 2.0]), labels=("a", "b"), standard_error=np.array(np.nan),
        guarantee=found.guarantee, simulated=False, statistic={},
    )  # fmt: skip
    with pytest.raises(ParameterError, match="no interval"):
        bare.interval()
    assert bare.to_dict()["values"][0] == {"label": "a", "value": 1.0, "error": None}
    assert "interval" not in repr(bare)
    with pytest.raises(ParameterError, match="one label"):
        Result(
            name="thing", values=np.array([1.0]), labels=("a", "b"), standard_error=np.array(0.0),
            guarantee=found.guarantee, simulated=False, statistic={},
        )  # fmt: skip


def test_only_a_raw_tally_can_be_released() -> None:
    with pytest.raises(DataTypeError, match="fold"):
        Count(epsilon=1.0).release([3], rng=1)  # type: ignore[arg-type]


def test_a_secure_stream_is_not_marked_and_a_seeded_one_is() -> None:
    assert not releases.release([1], releases.Count(epsilon=1.0)).simulated
    assert not releases.release([1], releases.Count(epsilon=1.0), rng=Entropy()).simulated
    assert releases.release([1], releases.Count(epsilon=1.0), rng=Entropy(1)).simulated


def test_the_exact_loss_is_within_one_part_in_a_billion_of_what_is_stated() -> None:
    for epsilon in (0.1, 0.3, 1 / 3, 0.7, 2.0):
        loss = Count(epsilon=epsilon).noise().loss(1)
        assert Fraction(epsilon) * (1 - Fraction(1, 10**9)) <= loss <= Fraction(epsilon)
        assert Count(epsilon=epsilon).guarantee.epsilon == epsilon


COLUMNS: dict[str, Any] = {
    "whole numbers": pa.array([1, 2, 2, 1, 2]),
    "whole numbers with gaps": pa.array([1, 2, 2, None, 1, 2]),
    "whole numbers as floats": pa.array([1.0, 2.0, 2.0, None, 1.0, 2.0]),
    "texts": pa.array(["1", "2", "2", "1", "2"]),
    "a dictionary": pa.array([1, 2, 2, 1, 2]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_labels_that_are_texts_count_the_numbers_of_a_file_that_they_spell(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"rooms": COLUMNS[kind]})
    pq.write_table(table, path)
    domain = Categories(labels=["1", "2"], missing="category")
    asked = Histogram("rooms", domain=domain, epsilon=1.0)
    gaps = COLUMNS[kind].null_count
    for source in (path, table, table.to_pandas(), pl.from_arrow(table)):
        raw = asked.fold(source)
        assert raw.reveal(design=asked.digest).tolist() == [2, 3, gaps]
    by_group = Release(Count(epsilon=1.0), by={"rooms": ["1", "2"]})
    if not gaps:
        assert by_group.fold(path).reveal(design=by_group.digest).tolist() == [2, 3]
        assert releases.release(path, Histogram("rooms", domain=["1", "2"], epsilon=1.0), rng=1).labels == ("1", "2")
