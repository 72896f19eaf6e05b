"""Fold and map: order, errors, and files that are whole or absent."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from bruit import engines
from bruit.engines import BATCH
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Words
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError, RandomnessError
from bruit.oracles import RandomizedResponse

SUFFIXES = [".parquet", ".csv"]


def pass_on(batch: dict[str, Any], words: Words) -> dict[str, Any]:
    return batch


def numbers(count: int) -> dict[str, Any]:
    return {"x": (np.arange(count) % 251).astype(np.uint8)}


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def first_words(batch: dict[str, Any], words: Words) -> dict[str, Any]:
    """A random word of every block of people."""
    return {"w": np.concatenate([words.part(block).stream().words(1) for block in range(BATCH // BLOCK)])}


def test_the_blocks_of_a_source_have_the_parts_of_its_words_in_order() -> None:
    results: list[Any] = []
    engines.map(numbers(3 * BATCH + 1), results, first_words, rng=Words(5))
    whole = Words(5)
    expected = [int(whole.part(block).stream().words(1)[0]) for block in range(16)]
    assert np.concatenate([batch["w"] for batch in results]).tolist() == expected


def test_a_seed_repeats_the_words_of_a_map_and_nothing_else_does() -> None:
    def drawn(rng: Any) -> tuple[int, ...]:
        results: list[Any] = []
        engines.map(numbers(BATCH + 1), results, first_words, rng=rng)
        return tuple(np.concatenate([batch["w"] for batch in results]).tolist())

    assert drawn(7) == drawn(7)
    entropy = Entropy(7)
    others = [drawn(7), drawn(8), drawn(None), drawn(None), drawn(entropy), drawn(entropy)]
    assert len(set(others)) == len(others)
    assert len({word for words in others for word in words}) == 8 * len(others)


def test_the_words_of_a_batch_are_used_once_and_for_its_own_people_only() -> None:
    oracle = RandomizedResponse(epsilon=1.0, k=251)

    def twice(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        return {"a": oracle.randomize(batch["x"], words), "b": oracle.randomize(batch["x"], words)}

    def more(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        return {"a": oracle.randomize(np.tile(batch["x"], 2), words)}

    def divided(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        own = words.split(2)
        return {"a": oracle.randomize(batch["x"], own[0]), "b": oracle.randomize(batch["x"], own[1])}

    with pytest.raises(RandomnessError, match="used once"):
        engines.map(numbers(10), [], twice)
    with pytest.raises(RandomnessError, match="4 blocks"):
        engines.map(numbers(2 * BATCH), [], more)
    results: list[Any] = []
    engines.map(numbers(2 * BATCH), results, divided)
    columns = [batch[name].tobytes() for batch in results for name in "ab"]
    assert len(set(columns)) == 4
    words = Words(3)
    engines.map(numbers(10), [], pass_on, rng=words)
    with pytest.raises(RandomnessError, match="used once"):
        engines.map(numbers(10), [], pass_on, rng=words)


def test_a_whole_number_of_batches_has_no_empty_one_at_the_end() -> None:
    assert engines.fold(numbers(2 * BATCH), lambda batch: [len(batch["x"])]) == [BATCH, BATCH]


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        results.append(engines.fold(numbers(5 * BATCH + 9), lambda batch: [int(batch["x"].sum())]))
    assert results[0] == results[1]
    assert len(results[0]) == 6


def test_a_function_may_leave_rows_out_and_the_rows_written_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    written = engines.map(numbers(BATCH + 100), path, lambda batch, words: {"x": batch["x"][::2]})
    assert written == (BATCH + 100) // 2 == pq.read_metadata(path).num_rows


def test_a_function_is_a_sink_too() -> None:
    seen: list[int] = []
    engines.map(numbers(10), lambda made: seen.append(len(made["x"])), pass_on)
    assert seen == [10]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_source_without_rows_gives_a_file_with_columns_alone(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    assert engines.map(numbers(0), path, pass_on) == 0
    (batch,) = engines.batches(path)
    assert list(batch) == ["x"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_error_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"old")

    def fail_late(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        if batch["x"][0]:
            raise RuntimeError("late")
        return batch

    with pytest.raises(RuntimeError, match="late"):
        engines.map(numbers(3 * BATCH), path, fail_late)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [path.name]


def test_an_error_in_the_source_leaves_no_file(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_bytes(b"x,y\n" + b"1,2\n" * 2_000_000 + b"1\n")
    with pytest.raises(ValueError, match="2 cells"):
        engines.map(source, tmp_path / "out.csv", lambda batch, words: {"x": batch["x"].positions})
    assert names(tmp_path) == ["in.csv"]


def test_a_writer_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = pq.ParquetWriter.write_batch
    calls: list[int] = []

    def full(self: Any, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        write(self, *arguments)

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    with pytest.raises(OSError, match="No space left"):
        engines.map(numbers(3 * BATCH), tmp_path / "out.parquet", pass_on)
    assert names(tmp_path) == []


def run(code: str, folder: Path, **options: Any) -> subprocess.Popen[str]:
    program = "import numpy as np\nfrom bruit import engines\n" + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_disk_that_is_full_half_way_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    code = f"""
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    source = {{"x": np.random.default_rng(1).integers(0, 2**62, 4 * engines.BATCH)}}
    try:
        engines.map(source, "out{suffix}", lambda batch, words: batch)
    except OSError:
        print("refused")
    """
    with run(code, tmp_path) as process:
        out, err = process.communicate(timeout=120)
    assert out == "refused\n", err
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_kill_half_way_leaves_nothing_under_the_final_name(tmp_path: Path, suffix: str) -> None:
    code = f"""
    import time
    def work(batch, words):
        if batch["x"][0] == 4:  # one thread only: two would write into each other's line
            print("half way", flush=True)
        if batch["x"][0] >= 4:
            time.sleep(60)
        return batch
    engines.map({{"x": np.repeat(np.arange(20, dtype=np.uint8), engines.BATCH)}}, "out{suffix}", work)
    """
    with run(code, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half way\n"
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    (left,) = names(tmp_path)  # what was written so far
    assert left.endswith(".partial")


BAD_RESULTS: dict[str, tuple[Any, type[Exception]]] = {
    "no dictionary": ([1], DataTypeError),
    "no columns": ({}, DataTypeError),
    "texts": ({"x": np.array(["secret"])}, DataTypeError),
    "objects in records": ({"x": np.array([("secret",)], [("a", object)])}, DataTypeError),
    "wide numbers": ({"x": np.zeros((1, 2))}, DataTypeError),
    "different lengths": ({"x": np.zeros(1), "y": np.zeros(2)}, DataError),
}


@pytest.mark.parametrize("case", BAD_RESULTS)
def test_a_result_that_no_file_holds_is_refused(case: str) -> None:
    made, kind = BAD_RESULTS[case]
    with pytest.raises(kind) as caught:
        engines.map(numbers(1), [], lambda batch, words: made)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_batch_must_give_the_same_columns(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(DataTypeError, match="same columns and dtypes"):
        engines.map(
            numbers(2 * BATCH),
            tmp_path / f"out{suffix}",
            lambda batch, words: {"x": np.zeros(1, "u1" if batch["x"][0] else "u2")},
        )
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("sink", "kind"),
    [
        ("out.xlsx", ParameterError),
        ("gone/out.csv", ParameterError),
        (7, ParameterTypeError),
    ],
)
def test_a_sink_that_cannot_be_written_is_refused_before_any_work(
    sink: Any, kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    calls: list[int] = []
    with pytest.raises(kind):
        engines.map(numbers(1), sink, lambda batch, words: calls.append(1))
    assert calls == []


def test_metadata_must_be_texts() -> None:
    with pytest.raises(ParameterTypeError, match="text to text"):
        engines.map(numbers(1), [], pass_on, metadata={"n": 1})  # type: ignore[dict-item]


@pytest.mark.audit
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    code = """
    import pyarrow as pa, pyarrow.parquet as pq
    table = pa.table({"x": [f"text {i}" for i in range(2**20)]})
    with pq.ParquetWriter("t.parquet", table.schema) as writer:
        for _ in range(8):
            writer.write_table(table)
    del table
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    sizes = []
    watched = engines.read("t.parquet", progress=lambda done, total: sizes.append(resident()))
    engines.fold(watched, lambda batch: 0)
    print(max(sizes[16:]) - max(sizes[:16]))
    """
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc")
    with run(code, tmp_path) as process:
        out, err = process.communicate(timeout=120)
    assert out, err
    assert int(out) < 100 << 20  # all texts of the second half would take over 200 MiB
