"""What travels between driver and workers: small, exact, and nothing that may not."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bruit
from bruit import Plan, engines
from bruit.engines import spark
from bruit.engines.spark import pickling, tasks
from bruit.entropy import Entropy, Words
from bruit.errors import DataTypeError, RandomnessError
from bruit.estimation.tally import RawTally, Tally

Frames = Callable[..., Any]

CELLS, OCCUPIED = 1 << 20, 100


def grid_counts(batch: dict[str, Any]) -> RawTally:
    return RawTally(design="d", counts=np.bincount(batch["x"], minlength=CELLS))


@pytest.mark.audit
def test_a_grid_costs_eight_bytes_per_occupied_cell(frame_of: Frames) -> None:
    cells = np.random.default_rng(1).choice(CELLS, OCCUPIED, replace=False)
    frame = frame_of({"x": np.repeat(cells, 3)}, 1)
    job = tasks.Job(pickling.function(grid_counts), {"x": "x"}, frozenset())

    def work(found: Any) -> Any:
        return tasks.folded(job, found)

    ((blob,),) = frame.mapInArrow(work, tasks.PART_SCHEMA).collect()
    assert 8 * OCCUPIED < len(blob) < 8 * OCCUPIED + 400
    found = pickling.received(blob).reveal(design="d")
    assert np.flatnonzero(found).tolist() == sorted(cells.tolist())
    assert found.size == CELLS
    assert found.sum() == 3 * OCCUPIED


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    "array",
    [
        np.zeros(1000, np.int64),
        np.zeros(0, np.int64),
        np.arange(1000),
        np.eye(40, dtype=np.int64),
        np.eye(40, dtype=np.uint8),
        np.asfortranarray(np.arange(12, dtype=np.uint64).reshape(3, 4)),
        np.bincount([900], weights=[2.0**40]).astype(np.int64),
        -np.eye(30, dtype=np.int64),
        np.bincount([999]).astype(np.uint64) * np.uint64(2**64 - 1),
        np.bincount([99]).astype(">i4"),
        np.arange(1000)[::2],
        np.array(5),
    ],
)
def test_whole_numbers_arrive_as_they_were(array: Any) -> None:
    found = pickling.received(pickling.result({"sums": array}))["sums"]
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert np.array_equal(found, array)
    assert found.flags.writeable


def test_what_is_not_whole_numbers_travels_as_ever() -> None:
    sums = {"f": np.array([0.5, np.nan]), "t": np.array(["a", None], object), "m": np.ma.array([1, 2], mask=[0, 1])}
    found = pickling.received(pickling.result(sums))
    assert found["f"].tobytes() == sums["f"].tobytes()
    assert found["t"].tolist() == ["a", None]
    assert found["m"].mask.tolist() == [False, True]


def test_a_tally_of_an_oracle_takes_eight_bytes_per_value_or_less_and_stays_frozen() -> None:
    for counts, most in ((np.arange(1000), 8000), (np.bincount([7], minlength=1000), 8)):
        tally = Tally(design="d" * 64, counts=counts, n=int(counts.sum()))
        blob = pickling.result(tally)
        assert len(blob) < most + 500
        found = pickling.received(blob)
        assert found == tally
        assert not found.counts.flags.writeable


@pytest.mark.audit
def test_raw_sums_travel_back_only_and_are_shown_nowhere(
    frame_of: Frames, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    raw = RawTally(design="d", counts=[271828])
    with caplog.at_level(logging.DEBUG):
        found = pickling.received(pickling.result([raw]))
        logging.getLogger("test").warning("%s", found)
        frame = frame_of({"x": [271828, 271828]}, 2)
        total = engines.fold(frame, lambda batch: RawTally(design="d", counts=batch["x"]))
    assert repr(found) == "[RawTally(redacted)]"
    assert repr(total) == "RawTally(redacted)"
    assert total.reveal(design="d").tolist() == [543656]
    written = capfd.readouterr()
    for number in ("271828", "543656"):
        assert number not in caplog.text + written.out + written.err
    for one in (raw, found[0], total):
        with pytest.raises(DataTypeError, match="not pickled"):
            pickle.dumps(one)
    with pytest.raises(DataTypeError, match="not pickled"):
        engines.fold(frame, lambda batch: (raw, batch["x"].sum())[1])


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("stream", [Entropy(), Entropy(7), Words(), Words(7)], ids=repr)
def test_a_function_that_holds_a_stream_is_not_sent_and_no_stream_comes_back(
    frame_of: Frames, tmp_path: Path, stream: Any
) -> None:
    """Every task, and every retry, would draw the same from its copy."""
    frame = frame_of({"x": [1, 2]}, 1)
    with pytest.raises(RandomnessError, match="pickled"):
        pickling.result(stream)

    def directly(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        return {"n": batch["x"], "drawn": np.full(len(batch["x"]), bool(stream))}

    with pytest.raises(RandomnessError, match="pickled"):
        engines.map(frame, tmp_path / "n.parquet", directly)
    with pytest.raises(RandomnessError, match="pickled"):
        engines.fold(frame, lambda batch: (stream, batch["x"].sum())[1])
    assert list(tmp_path.iterdir()) == []


def test_the_key_of_a_job_travels_out_only() -> None:
    key = Words().task_key()
    function, there = pickling.received(pickling.function((len, key)))
    assert function is len
    assert there.to_bytes() == key.to_bytes()
    with pytest.raises(RandomnessError, match="by the engine alone"):
        pickling.result(key)


def test_a_job_uses_its_words_up(frame_of: Frames) -> None:
    words, frame = Words(), frame_of({"x": [1, 2]}, 1)

    def work(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        return {"n": batch["x"]}

    assert spark.mapped(engines.Source(frame), work, words).columns == ["n"]
    with pytest.raises(RandomnessError, match="used once"):
        spark.mapped(engines.Source(frame), work, words)


@pytest.mark.audit
def test_within_a_task_words_are_used_once(frame_of: Frames, tmp_path: Path) -> None:
    oracle = bruit.oracle("GRR", epsilon=1.0, k=4)

    def twice(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        return {name: oracle.randomize(batch["x"], words) for name in ("a", "b")}

    with pytest.raises(RandomnessError, match="used once"):
        engines.map(frame_of({"x": [1, 2]}, 1), tmp_path / "n.parquet", twice)


@pytest.mark.audit
def test_a_key_does_not_stand_in_the_plan_that_spark_shows(frame_of: Frames) -> None:
    oracle = bruit.oracle("GRR", epsilon=1.0, k=4)
    reports = Plan({"x": oracle}).privatize(frame_of({"x": [1, 2]}, 1), rng=3)
    shown = reports._jdf.queryExecution().toString()
    key = Words.resolve(3, "privatize", oracle.digest).task_key().to_bytes()[1:]
    assert "MapInArrow" in shown
    assert key.hex() not in shown.lower()
    assert repr(key) not in shown
