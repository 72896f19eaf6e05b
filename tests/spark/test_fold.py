"""A fold on Spark gives what the memory engine gives, whatever the partitions are."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bruit
from bruit import Plan, engines
from bruit.engines import batch
from bruit.errors import BruitError, DataError, DataTypeError, ParameterTypeError
from bruit.estimation.tally import RawTally

Frames = Callable[..., Any]

ORACLES = ["GRR", "SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR"]


@pytest.mark.audit("BLH", "HR", "OUE", "PGR", "SS", "SUE", share=3)
@pytest.mark.parametrize("name", ORACLES)
def test_the_tally_of_the_same_reports_is_the_same(spark: Any, name: str, tmp_path: Any) -> None:
    oracle = bruit.oracle(name, epsilon=1.0, k=9)
    people = {"x": np.random.default_rng(1).integers(0, 9, 5000)}
    plan = Plan({"x": oracle})
    plan.privatize(people, to=tmp_path / "r.parquet", rng=3)
    expected = plan.tally(plan.privatize(people, rng=3))
    assert replace(plan.tally(tmp_path / "r.parquet"), simulated=False) == expected
    assert plan.tally(_readable(spark, tmp_path / "r.parquet")) == expected


def _readable(spark: Any, path: Any) -> Any:
    return spark.read.parquet(str(path)).repartition(3)


@pytest.mark.audit
def test_sums_counts_and_columns_do_not_depend_on_partitions(frame_of: Frames, answers: dict[str, Any]) -> None:
    def count(batch: dict[str, Any]) -> Any:
        rows = len(batch["age"])
        return np.array([rows, batch["age"].sum(), np.bincount(batch["sex"].positions).size])[:2]

    expected = engines.fold(answers, count).tolist()
    for partitions in (1, 4, 7):
        assert engines.fold(frame_of(answers, partitions), count).tolist() == expected


def test_empty_and_skewed_partitions_change_nothing(spark: Any, frame_of: Frames) -> None:
    lonely = frame_of({"x": list(range(50))}, 1).union(frame_of({"x": [7]}, 5))
    assert engines.fold(lonely, lambda batch: int(batch["x"].sum())) == sum(range(50)) + 7
    empty = lonely.filter("x < 0")
    assert engines.fold(empty, lambda batch: (len(batch["x"]), str(batch["x"].dtype))) == (0, "int64")


@pytest.mark.audit
def test_gaps_are_gaps_and_declared_texts_too(frame_of: Frames) -> None:
    frame = frame_of({"t": ["a", None, "?", "a", ""], "i": [1, None, 3, 4, 5], "f": [0.5, None, 1.5, 2.5, 3.5]}, 2)

    def gaps(batch: dict[str, Any]) -> Any:
        numbers = batch["i"]
        missing = (numbers.positions < 0).sum() if hasattr(numbers, "positions") else 0
        return np.array([(batch["t"].positions < 0).sum(), missing, np.isnan(batch["f"]).sum()])

    assert engines.fold(engines.read(frame, missing=("", "?")), gaps).tolist() == [2, 1, 1]


@pytest.mark.audit
def test_names_that_confuse_spark_are_read_by_their_place(spark: Any) -> None:
    frame = spark.createDataFrame([(1, 2, 3, 4)], ["a.b", "A", "a", "c`d"])
    found = engines.fold(frame, lambda batch: {name: int(batch[name][0]) for name in batch})
    assert found == {"a.b": 1, "A": 2, "a": 3, "c`d": 4}
    assert engines.fold(frame, lambda batch: int(batch["a"][0]), columns=["a"]) == 3
    with pytest.raises(DataError, match="must have a column 'b'"):
        engines.fold(frame, len, columns=["b"])
    twice = frame.toDF("x", "x", "y", "z")
    with pytest.raises(DataError, match="several"):
        engines.fold(twice, len, columns=["x"])
    assert engines.fold(twice, lambda batch: int(batch["y"][0]), columns=["y"]) == 3


@pytest.mark.audit
def test_kinds_that_no_answer_has_are_refused_before_anything_runs(spark: Any) -> None:
    frame = spark.sql("SELECT current_date() AS day, array(1) AS list, CAST(1.5 AS DECIMAL(4, 2)) AS money")
    for name in ("day", "list"):
        with pytest.raises(DataTypeError, match=f"{name!r} must hold"):
            engines.fold(frame, len, columns=[name])
    assert engines.fold(frame, lambda batch: float(batch["money"].sum()), columns=["money"]) == 1.5


def test_an_error_of_ours_arrives_as_itself_and_another_without_its_words(frame_of: Frames) -> None:
    frame = frame_of({"x": ["secret 17", "b"]}, 1)
    categories = bruit.Categories(labels=["a", "b"])
    with pytest.raises(DataError, match="values must be") as ours:
        engines.fold(frame, lambda batch: categories.encode(batch["x"]).sum())
    assert "17" not in str(ours.value)
    assert ours.value.__context__ is None

    def fails(batch: dict[str, Any]) -> int:
        raise ValueError(f"bad value {batch['x'].entries[0]}")

    with pytest.raises(BruitError, match="failed with ValueError") as other:
        engines.fold(frame, fails)
    assert "17" not in str(other.value)
    assert other.value.__context__ is None
    assert other.value.__cause__ is None


@pytest.mark.audit
def test_a_raw_tally_travels_and_stays_redacted(frame_of: Frames) -> None:
    frame = frame_of({"x": [1, 2, 3, 4]}, 2)
    found = engines.fold(frame, lambda batch: RawTally(design="d", counts=[int(batch["x"].sum())]))
    assert repr(found) == "RawTally(redacted)"
    assert found.reveal(design="d").tolist() == [10]
    large = engines.fold(
        frame, lambda batch: RawTally(design="d", counts=[2**62]) + RawTally(design="d", counts=[2**62])
    )
    assert large.reveal(design="d").tolist() == [2 * 2**63]


@pytest.mark.audit
def test_a_function_that_cannot_travel_is_refused(frame_of: Frames) -> None:
    held = threading.Lock()
    with pytest.raises(ParameterTypeError, match="sent to other machines"):
        engines.fold(frame_of({"x": [1]}, 1), lambda batch: held.locked())


@pytest.mark.audit
def test_rows_do_not_come_to_the_driver(frame_of: Frames) -> None:
    with pytest.raises(DataTypeError, match="stay where they are"):
        next(engines.batches(frame_of({"x": [1]}, 1)))


@pytest.mark.audit
def test_progress_tells_tasks(frame_of: Frames) -> None:
    def slow(batch: dict[str, Any]) -> int:
        import time

        time.sleep(0.5)
        return batch["x"].size

    seen: list[tuple[int, int | None]] = []
    watched = engines.read(frame_of({"x": [1, 2, 3]}, 3), progress=lambda *state: seen.append(state))
    assert engines.fold(watched, slow) == 3
    assert seen
    assert all(total is not None and 0 <= done <= total for done, total in seen)


@pytest.mark.audit
def test_quantiles_means_histograms_and_groups_are_released_as_from_memory(
    frame_of: Frames, answers: dict[str, Any]
) -> None:
    frame = frame_of(answers, 3)
    for asked in (
        lambda data: bruit.releases.release(
            data, bruit.releases.Quantiles("height", bounds=(100, 250), epsilon=1.0, quantiles=[0.1, 0.5]), rng=4
        ),
        lambda data: bruit.releases.release(
            data, bruit.releases.Mean("age", bounds=(0, 100), epsilon=1.0), by={"sex": ["F", "M", "X"]}, rng=4
        ),
        lambda data: bruit.releases.release(
            data, bruit.releases.Histogram("sex", epsilon=1.0, domain=["F", "M", "X"]), rng=4
        ),
        lambda data: bruit.releases.release(data, bruit.releases.Count(epsilon=1.0), rng=4),
    ):
        assert asked(frame).values.tolist() == asked(answers).values.tolist()


@pytest.mark.audit
def test_pyspark_is_not_imported_to_see_that_something_is_no_dataframe() -> None:
    code = "import sys; from bruit import engines; engines.fold({'x': [1]}, len); assert 'pyspark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_batch_is_as_long_as_in_memory(spark: Any) -> None:
    frame = spark.range(0, 2 * batch.BATCH + 5, 1, 1)
    found = engines.fold(frame, lambda found: [batch.rows(found)])
    assert found == [batch.BATCH, batch.BATCH, 5]


@pytest.mark.audit
def test_bytes_of_different_lengths_are_no_reports(spark: Any) -> None:
    frame = spark.createDataFrame([(b"ab",), (b"abc",)], "x binary").coalesce(1)
    with pytest.raises(DataTypeError, match="same number of bytes"):
        engines.fold(frame, len)
