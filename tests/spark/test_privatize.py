"""Reports of a DataFrame: the same for the same seed, one randomisation per person whatever Spark runs again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bruit
from bruit import Plan, engines
from bruit.domains import Categories
from bruit.engines import spark as engine
from bruit.engines.batch import BATCH
from bruit.engines.spark import tasks
from bruit.entropy import TaskKey, Words
from bruit.errors import DataError, DataTypeError, ParameterError

Frames = Callable[..., Any]

SCHEMA = bruit.Schema({"sex": ["F", "M", "X"], "age": bruit.Grid(17, 90)})
GRR = bruit.oracle("GRR", epsilon=1.0, k=1000)


def collected(frame: Any) -> dict[str, Any]:
    """The columns of a small DataFrame, in its order."""
    rows = frame.collect()
    return {name: [row[name] for row in rows] for name in frame.columns}


def as_spark_keeps(reports: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, column in reports.items():
        rows = engines.batch.as_bytes(column)
        found[name] = [bytes(row) for row in rows] if rows.ndim == 2 else rows.tolist()
    return found


@pytest.mark.audit("SPL[OUE]", share=3)
@pytest.mark.parametrize("method", ["SPL[OUE]", "RS+FD[GRR]", "SMP[OLH]"])
def test_one_partition_and_a_seed_give_the_reports_of_the_memory_engine(
    frame_of: Frames, answers: dict[str, Any], method: str
) -> None:
    plan = bruit.Plan(SCHEMA, epsilon=2.0, method=method)
    expected = plan.privatize(answers, rng=11)
    assert as_spark_keeps(plan.privatize(answers, rng=11)) == as_spark_keeps(expected)
    reports = plan.privatize(frame_of(answers, 1), rng=11)
    assert collected(reports) == as_spark_keeps(expected)
    assert plan.tally(reports) == plan.tally(expected)


@pytest.mark.audit
def test_several_partitions_and_a_seed_give_the_reports_of_their_blocks(frame_of: Frames) -> None:
    people = np.random.default_rng(2).integers(0, 1000, 3000)
    words = Words.resolve(5, "privatize", Plan({"x": GRR}).digest)
    expected = [GRR.randomize(part, words.parts(place << 40, 4)) for place, part in enumerate(np.split(people, 3))]
    frame = frame_of({"x": people}, 3)
    found = collected(Plan({"x": GRR}).privatize(frame, rng=5))["x"]
    assert found == np.concatenate(expected).tolist()
    assert collected(Plan({"x": GRR}).privatize(frame, rng=5))["x"] == found


def test_a_secure_key_is_drawn_for_each_call_and_replayed_within_one(frame_of: Frames) -> None:
    frame = frame_of({"x": [3] * 300}, 3)
    first, second = (Plan({"x": GRR}).privatize(frame) for _ in range(2))
    found = collected(first)["x"]
    assert collected(first)["x"] == found
    assert collected(second)["x"] != found
    parts = [found[:100], found[100:200], found[200:]]  # the same answers in three partitions
    assert parts[0] != parts[1] != parts[2] != parts[0]


def test_tasks_that_run_several_partitions_or_one_of_them_twice_repeat_no_noise(spark: Any, frame_of: Frames) -> None:
    reports = Plan({"x": GRR}).privatize(frame_of({"x": [3] * 300}, 3))
    found = collected(reports)["x"]
    # One task for all partitions: the number of the task is the same, and that of the partition is not.
    assert collected(reports.coalesce(1))["x"] == found
    # Every partition runs in several tasks: each person still has one report.
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    pairs = reports.crossJoin(frame_of({"y": [0, 1, 2]}, 3))
    assert "CartesianProduct" in pairs._jdf.queryExecution().executedPlan().toString()
    assert sorted(collected(pairs.filter("y = 2"))["x"]) == sorted(found)
    assert sorted(collected(pairs)["x"]) == sorted(3 * found)
    spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def attempts(folder: Path, kill: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Pass batches on and keep a copy of what was seen; the first attempt of every task ends when all is out."""

    def work(found: Iterator[Any]) -> Iterator[Any]:
        import os
        import signal

        from pyspark import TaskContext

        task = TaskContext.get()
        seen = []
        for batch in found:
            seen += batch.column("x").to_pylist()
            yield batch
        place = folder / f"{task.partitionId()}-{task.attemptNumber()}"
        place.write_text(repr(seen))
        if task.attemptNumber() == 0:
            if kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("the first attempt fails after its output is there")

    return work


def seen_by_attempt(folder: Path) -> list[dict[str, str]]:
    return [{path.name.split("-")[0]: path.read_text() for path in folder.glob(f"*-{attempt}")} for attempt in range(2)]


@pytest.mark.audit("True", share=3)
@pytest.mark.parametrize("kill", [False, True])
def test_a_task_that_dies_after_its_output_gives_the_same_reports_again(
    frame_of: Frames, tmp_path: Path, kill: bool
) -> None:
    frame = frame_of({"x": np.random.default_rng(3).integers(0, 1000, 400)}, 2)
    reports = Plan({"x": GRR}).privatize(frame)
    found = collected(reports.mapInArrow(attempts(tmp_path, kill), reports.schema))
    first, second = seen_by_attempt(tmp_path)
    assert len(first) == 2
    assert first == second
    assert len(found["x"]) == 400


@pytest.mark.audit
def test_without_a_replayed_key_such_a_task_gives_other_reports(frame_of: Frames, tmp_path: Path) -> None:
    """The control: what the test above sees is there to be seen."""
    frame = frame_of({"x": [3] * 400}, 2)
    oracle = GRR

    def fresh(found: Iterator[Any]) -> Iterator[Any]:
        for batch in found:
            made = oracle.privatize(batch.column("x").to_numpy(), rng=None)
            yield pa.RecordBatch.from_pydict({"x": pa.array(made.astype(np.int64))})

    reports = frame.mapInArrow(fresh, "x bigint")
    collected(reports.mapInArrow(attempts(tmp_path, False), reports.schema))
    first, second = seen_by_attempt(tmp_path)
    assert first.keys() == second.keys()
    assert first != second


@pytest.mark.audit
def test_written_reports_hold_one_randomisation_even_if_tasks_fail_and_noise_is_fresh(
    frame_of: Frames, tmp_path: Path
) -> None:
    frame = frame_of({"x": [3] * 300}, 3)
    oracle, folder = GRR, tmp_path / "reports.parquet"

    def failing(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        from pyspark import TaskContext

        made = {"x": oracle.privatize(batch["x"])}
        if TaskContext.get() and TaskContext.get().attemptNumber() == 0:
            raise RuntimeError("after the reports were made")
        return made

    assert engines.map(frame.repartition(2), folder, failing) == 300
    assert Plan({"x": oracle}).tally(folder).n == 300
    with pytest.raises(ParameterError, match="exists already"):
        engines.map(frame, folder, failing)


def test_rows_that_may_come_in_another_order_are_not_randomised_lazily(spark: Any, frame_of: Frames) -> None:
    frame = frame_of({"x": [1, 2, 3], "y": [1, 2, 3]}, 2)
    for shuffled in (
        frame.repartition(2),
        frame.orderBy("x"),
        frame.join(frame.withColumnRenamed("y", "z"), "x"),
        frame.limit(2),
        frame.groupBy("x").count(),
        frame.filter("rand() < 0.5"),
        frame.mapInArrow(lambda found: found, "x bigint"),
        spark.createDataFrame(frame.repartition(2).rdd, "x bigint, y bigint"),
    ):
        with pytest.raises(ParameterError, match="another order"):
            Plan({"x": GRR}).privatize(shuffled)
    for ordered in (frame.filter("x > 1"), frame.union(frame), frame.coalesce(1), frame.cache(), frame.select("x")):
        assert Plan({"x": GRR}).privatize(ordered).columns == ["x"]
    frame.unpersist()


def test_other_rows_in_the_same_place_get_other_noise(frame_of: Frames) -> None:
    """As when files are cut otherwise: position alone would give two people the same noise."""
    key = Words().task_key()
    seeded = Words(7).task_key()

    def noise(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        word = words.stream().words(1) >> np.uint64(1)
        return {"n": np.full(batch["x"].size, word.astype(np.int64)[0])}

    def drawn(values: list[int], key: TaskKey) -> list[int]:
        """As if the files behind one job were cut otherwise in between."""
        words: Any = SimpleNamespace(task_key=lambda: key)
        return collected(engine.mapped(engines.Source(frame_of({"x": values}, 1)), noise, words))["n"]

    assert drawn([1, 2], key) == drawn([1, 2], key)
    assert drawn([1, 2], key) != drawn([2, 1], key)
    assert drawn([1, 2], seeded) == drawn([2, 1], seeded)  # by place alone, as in memory


@pytest.mark.audit
def test_batches_differ_in_their_content_whenever_a_value_a_name_or_a_kind_does() -> None:
    def of(**columns: Any) -> int:
        (batch,) = engines.batches(columns)
        return tasks.content(batch)

    same = [of(x=np.array([1, 2])), of(x=np.array([1, 2]))]
    assert same[0] == same[1]
    others = [of(y=np.array([1, 2])), of(x=np.array([1, 2], np.int32)), of(x=np.array([2, 1])), of(x=["1", "2"])]
    others += [of(x=["1", None]), of(x=["1", ""]), of(x=["12", ""]), of(x=np.array([1.0, 2.0])), of(x=[1, None])]
    assert len({same[0], *others}) == 1 + len(others)


@pytest.mark.audit
def test_blocks_of_one_partition_are_numbered_on(spark: Any) -> None:
    people = np.arange(BATCH + 3) % 1000
    frame = spark.range(0, BATCH + 3, 1, 1).selectExpr("id % 1000 AS x")
    reports = Plan({"x": GRR}).privatize(frame, rng=5).toPandas()["x"]
    assert np.array_equal(reports, Plan({"x": GRR}).privatize({"x": people}, rng=5)["x"])


@pytest.mark.audit
def test_estimates_from_spark_have_the_law_that_is_stated(spark: Any) -> None:
    oracle = bruit.oracle("OUE", epsilon=1.0, k=4)
    people = 400_000
    frame = spark.range(0, people, 1, 3).selectExpr("CASE WHEN id % 10 < 6 THEN 0 ELSE 1 + id % 3 END AS x")
    truth = np.bincount(np.where(np.arange(people) % 10 < 6, 0, 1 + np.arange(people) % 3), minlength=4) / people
    plan = Plan({"x": oracle})
    answer = plan.estimate(plan.tally(plan.privatize(frame)), "people")["x"]
    assert answer.n == people
    error = (answer.frequency - truth) / np.sqrt(answer.variance)
    assert (abs(error) < 6).all()  # false alarm below 1e-8


@pytest.mark.audit
def test_empty_partitions_and_gaps_are_randomised_as_in_memory(frame_of: Frames, tmp_path: Path) -> None:
    oracle = bruit.oracle("GRR", epsilon=1.0, domain=Categories(labels=["a", "b"], missing="category"))
    frame = frame_of({"x": ["a", None, "b", None]}, 4).filter("x IS NULL")
    reports = Plan({"x": oracle}).privatize(frame)
    assert Plan({"x": oracle}).tally(reports).n == 2
    strict = bruit.oracle("GRR", epsilon=1.0, labels=["a", "b"])
    with pytest.raises(DataError, match="missing"):
        Plan({"x": strict}).privatize(frame, to=tmp_path / "never.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.audit
def test_what_cannot_be_written_is_refused(frame_of: Frames, tmp_path: Path) -> None:
    frame = frame_of({"x": [1]}, 1)
    for sink in ("-", tmp_path / "r.csv", [], tmp_path / "absent" / "r.parquet"):
        with pytest.raises(ParameterError):
            Plan({"x": GRR}).privatize(frame, to=sink)
    with pytest.raises(DataTypeError, match="unsigned 64-bit"):
        engines.map(frame, tmp_path / "u.parquet", lambda batch, words: {"u": batch["x"].astype(np.uint64)})
    with pytest.raises(DataTypeError, match="give a Spark DataFrame to a Plan"):
        GRR.privatize(frame)
