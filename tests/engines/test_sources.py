"""One table through every engine: the same batches, the same tallies, the same seeded reports."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import engines
from bruit.domains import Categories, Grid
from bruit.domains.domain import DictionaryColumn
from bruit.engines import BATCH
from bruit.engines.memory import BLOCK
from bruit.entropy import Words
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from bruit.oracles import oracle

#: Texts that CSV must quote, texts that are not ASCII, and spaces that must stay.
LABELS = ("yes", "no", "a,b", 'say "é"', "two\nlines", " padded ")
ROWS = BATCH + BLOCK + 4321
COLUMNS = ("answer", "code", "flag")


def make_table() -> dict[str, list[Any]]:
    generator = np.random.default_rng(5)
    texts = np.array([*LABELS, None], object)
    return {
        "answer": texts[generator.integers(0, len(texts), ROWS)].tolist(),
        "unused": ["secret"] * ROWS,
        "code": generator.integers(0, 9, ROWS).tolist(),
        "flag": (generator.random(ROWS) < 0.3).tolist(),
    }


@pytest.fixture(scope="module")
def table() -> dict[str, list[Any]]:
    return make_table()


@pytest.fixture(scope="module")
def folder(table: dict[str, list[Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in every kind of file."""
    folder = tmp_path_factory.mktemp("files")
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes(), 1))
    arrow = pa.table(table)
    pq.write_table(arrow, folder / "t.parquet", row_group_size=100_000)
    large = arrow.schema.set(0, pa.field("answer", pa.large_string()))
    pq.write_table(arrow.cast(large), folder / "plain.parquet", use_dictionary=False)
    place = arrow.schema.get_field_index("answer")
    encoded = arrow.set_column(place, "answer", arrow["answer"].dictionary_encode())
    pq.write_table(encoded, folder / "categorical.parquet", row_group_size=70_001)
    (folder / "parts" / "deep").mkdir(parents=True)
    pq.write_table(arrow[:150_000], folder / "parts" / "1.parquet")
    pq.write_table(arrow[:0], folder / "parts" / "2.parquet")
    pq.write_table(arrow[150_000:], folder / "parts" / "deep" / "3.parquet")
    (folder / "parts" / "_SUCCESS.parquet").write_bytes(b"not to be read")
    return folder


def arrays(table: dict[str, list[Any]], folder: Path) -> Any:
    return {name: np.array(values, object if name == "answer" else None) for name, values in table.items()}


def lists(table: dict[str, list[Any]], folder: Path) -> Any:
    return table


def pandas_frame(table: dict[str, list[Any]], folder: Path) -> Any:
    return pd.DataFrame(table)


def pandas_categorical(table: dict[str, list[Any]], folder: Path) -> Any:
    return pd.DataFrame(table).astype({"answer": "category"})


def pandas_objects(table: dict[str, list[Any]], folder: Path) -> Any:
    return pd.DataFrame(table, dtype=object)


def polars_frame(table: dict[str, list[Any]], folder: Path) -> Any:
    return pl.DataFrame(table)


def polars_categorical(table: dict[str, list[Any]], folder: Path) -> Any:
    return pl.DataFrame(table).with_columns(pl.col("answer").cast(pl.Categorical))


def arrow_table(table: dict[str, list[Any]], folder: Path) -> Any:
    whole = pa.table(table)
    return pa.concat_tables([whole[:1000], whole[1000:1000], whole[1000:]])


def arrow_reader(table: dict[str, list[Any]], folder: Path) -> Any:
    return pa.table(table).to_reader(max_chunksize=77_777)


def csv_path(table: dict[str, list[Any]], folder: Path) -> Any:
    return str(folder / "t.csv")


def csv_packed(table: dict[str, list[Any]], folder: Path) -> Any:
    return folder / "t.csv.gz"


def csv_stream(table: dict[str, list[Any]], folder: Path) -> Any:
    return io.BytesIO((folder / "t.csv").read_bytes())


def parquet(table: dict[str, list[Any]], folder: Path) -> Any:
    return folder / "t.parquet"


def parquet_address(table: dict[str, list[Any]], folder: Path) -> Any:
    return (folder / "t.parquet").as_uri()


def parquet_plain(table: dict[str, list[Any]], folder: Path) -> Any:
    return folder / "plain.parquet"


def parquet_categorical(table: dict[str, list[Any]], folder: Path) -> Any:
    return folder / "categorical.parquet"


def parquet_folder(table: dict[str, list[Any]], folder: Path) -> Any:
    return folder / "parts"


def iterable_of_mappings(table: dict[str, list[Any]], folder: Path) -> Any:
    starts = range(0, ROWS, 99_999)
    return ({name: values[start : start + 99_999] for name, values in table.items()} for start in starts)


def iterable_of_batches(table: dict[str, list[Any]], folder: Path) -> Any:
    return list(engines.batches(folder / "t.parquet"))


def iterable_of_frames(table: dict[str, list[Any]], folder: Path) -> Any:
    return (piece for piece in pl.DataFrame(table).iter_slices(50_000))


ENGINES: list[Callable[[dict[str, list[Any]], Path], Any]] = [
    arrays,
    lists,
    pandas_frame,
    pandas_categorical,
    pandas_objects,
    polars_frame,
    polars_categorical,
    arrow_table,
    arrow_reader,
    csv_path,
    csv_packed,
    csv_stream,
    parquet,
    parquet_address,
    parquet_plain,
    parquet_categorical,
    parquet_folder,
    iterable_of_mappings,
    iterable_of_batches,
    iterable_of_frames,
]

DOMAINS = {
    "answer": Categories(labels=LABELS, missing="category"),
    "code": Categories(k=9),
    "flag": Categories(labels=(False, True)),
}
SURVEY = oracle("GRR", epsilon=1.0, domain=Categories(labels=LABELS, missing="category"))


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.__name__)
def source(request: pytest.FixtureRequest, table: dict[str, list[Any]], folder: Path) -> Any:
    return request.param(table, folder)


@pytest.fixture(scope="module")
def expected(table: dict[str, list[Any]]) -> dict[str, Any]:
    codes = {name: domain.encode(table[name]) for name, domain in DOMAINS.items()}
    counts = np.concatenate([np.bincount(codes[name], minlength=DOMAINS[name].size) for name in COLUMNS])
    return {"counts": counts, "reports": SURVEY.privatize(table["answer"], rng=11)}


@pytest.mark.audit(share=3)
def test_every_engine_gives_the_same_counts_and_the_same_seeded_reports(source: Any, expected: dict[str, Any]) -> None:
    counts: list[np.ndarray] = []
    seen: list[tuple[int, int | None]] = []

    def work(batch: dict[str, Any], words: Words) -> dict[str, Any]:
        assert list(batch) == list(COLUMNS)
        codes = {name: domain.encode(batch[name]) for name, domain in DOMAINS.items()}
        counts.append(np.concatenate([np.bincount(codes[name], minlength=DOMAINS[name].size) for name in COLUMNS]))
        return {"report": SURVEY.randomize(codes["answer"], words)}

    out: list[dict[str, Any]] = []
    written = engines.map(
        engines.read(source, progress=lambda done, total: seen.append((done, total))),
        out,
        work,
        columns=COLUMNS,
        rng=Words.resolve(11, "privatize", SURVEY.digest),
    )
    assert written == ROWS
    np.testing.assert_array_equal(np.concatenate([made["report"] for made in out]), expected["reports"])
    np.testing.assert_array_equal(np.sum(counts, axis=0), expected["counts"])
    assert [len(made["report"]) for made in out] == [BATCH, ROWS - BATCH]
    assert [done for done, _ in seen] == [BATCH, ROWS]
    assert {total for _, total in seen} <= {ROWS, None}


def test_text_comes_as_entries_and_positions_and_the_rest_as_arrays(folder: Path) -> None:
    batch = next(iter(engines.batches(folder / "t.parquet")))
    assert isinstance(batch["answer"], DictionaryColumn)
    assert {type(entry) for entry in batch["answer"].entries} == {str}
    assert batch["code"].dtype == np.int64
    assert batch["flag"].dtype == bool


def test_a_fold_adds_the_results_of_batches_in_their_order(folder: Path) -> None:
    pieces = engines.fold(folder / "t.parquet", lambda batch: [batch["code"]], columns=["code"])
    assert [len(piece) for piece in pieces] == [BATCH, ROWS - BATCH]
    np.testing.assert_array_equal(np.concatenate(pieces), make_table()["code"])


def test_standard_input_is_read_as_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\na\nb\na\n")))
    (batch,) = engines.batches("-", ["x"])
    assert batch["x"].entries[batch["x"].positions].tolist() == ["a", "b", "a"]


def test_progress_of_batches_counts_the_rows_that_were_handed_out() -> None:
    seen: list[tuple[int, int | None]] = []
    table = {"x": np.zeros(BATCH + 1)}
    for _ in engines.batches(engines.read(table, progress=lambda *state: seen.append(state))):
        pass
    assert seen == [(BATCH, BATCH + 1), (BATCH + 1, BATCH + 1)]


EMPTY: dict[str, Any] = {
    "mapping": {"x": [], "y": np.empty(0, int)},
    "frame": pl.DataFrame({"x": pl.Series([], dtype=pl.String), "y": pl.Series([], dtype=pl.Int64)}),
    "table": pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.int64())}),
    "csv": io.BytesIO(b"x,y\n"),
    "iterable": [],
}


@pytest.mark.parametrize("kind", EMPTY)
def test_a_source_without_rows_is_one_empty_batch_with_its_columns(kind: str) -> None:
    def count(batch: dict[str, Any]) -> int:
        assert list(batch) == ["x", "y"]
        encoded = Categories(labels=("a", "b")).encode(batch["x"]).size + Grid(0, 9).encode(batch["y"]).size
        return 1 + encoded

    assert engines.fold(EMPTY[kind], count, columns=["x", "y"]) == 1


def test_missing_numbers_and_booleans_stay_exact() -> None:
    big = 2**60 + 1
    frames = [
        {"n": [1, None, big], "b": [True, None, False]},
        pd.DataFrame({"n": pd.array([1, None, big], "Int64"), "b": pd.array([True, None, False], "boolean")}),
        pl.DataFrame({"n": [1, None, big], "b": [True, None, False]}),
        pa.table({"n": [1, None, big], "b": [True, None, False]}),
    ]
    for frame in frames:
        (batch,) = engines.batches(frame)
        assert batch["n"].entries.tolist() == [1, big]
        assert batch["n"].positions.tolist() == [0, -1, 1]
        assert Categories(labels=(False, True), missing="category").encode(batch["b"]).tolist() == [1, 2, 0]


def test_missing_floats_are_nan() -> None:
    for frame in ({"x": np.array([1.5, np.nan])}, pl.DataFrame({"x": [1.5, None]}), pd.DataFrame({"x": [1.5, None]})):
        (batch,) = engines.batches(frame)
        np.testing.assert_array_equal(batch["x"], [1.5, np.nan])


def test_a_whole_number_and_a_boolean_that_are_equal_stay_apart() -> None:
    (batch,) = engines.batches({"x": [1, True, "1", None, float("nan")]})
    assert batch["x"].positions.tolist() == [0, 1, 2, -1, -1]
    assert [type(entry) for entry in batch["x"].entries] == [int, bool, str]


def test_reports_of_bytes_pass_through() -> None:
    reports = np.arange(12, dtype=np.uint8).reshape(4, 3)
    (batch,) = engines.batches({"r": reports})
    np.testing.assert_array_equal(batch["r"], reports)


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow", "mapping"])
def test_the_empty_text_is_a_text_outside_csv_and_other_missing_texts_count_everywhere(name: str) -> None:
    values = {"x": ["", "?", "a", None]}
    made = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "mapping": dict}[name](values)
    (batch,) = engines.batches(engines.read(made, missing=("", "?")))
    assert batch["x"].entries.tolist() == ["", "a"]
    assert batch["x"].positions.tolist() == [0, -1, 1, -1]


def test_column_names_are_compared_in_one_unicode_form() -> None:
    typed = "e\N{COMBINING ACUTE ACCENT}ge"
    for source in ({typed: [1]}, pl.DataFrame({typed: [1]}), io.BytesIO(f"{typed}\n1\n".encode())):
        (batch,) = engines.batches(source, ["\N{LATIN SMALL LETTER E WITH ACUTE}ge"])
        assert list(batch) == ["\N{LATIN SMALL LETTER E WITH ACUTE}ge"]


def test_a_missing_column_is_named_and_names_that_there_are_are_listed(source: Any) -> None:
    # The first line of a CSV file may be somebody's row, so it is not shown.
    with pytest.raises(DataError, match=r"column 'age'. (There are 'answer', 'unused', 'code', 'flag'|.* 4 cells)"):
        engines.fold(source, lambda batch: 0, columns=["code", "age"])


def test_a_column_that_stands_twice_is_refused_only_if_it_is_asked_for() -> None:
    def source() -> io.BytesIO:
        return io.BytesIO(b"x,y,x\n1,2,3\n")

    (batch,) = engines.batches(source(), ["y"])
    assert batch["y"].entries.tolist() == ["2"]
    with pytest.raises(DataError, match="one column 'x'"):
        engines.batches(source(), ["x"])


BAD: dict[str, tuple[Any, type[Exception]]] = {
    "another suffix": ("data.xlsx", ParameterError),
    "an unknown address": ("nowhere://data.parquet", ParameterError),
    "no file": ("gone.parquet", DataError),
    "no CSV file": ("gone.csv", DataError),
    "a number": (7, DataTypeError),
    "bytes": (b"x", DataTypeError),
    "a list of values": (["secret"], DataTypeError),
    "a lazy frame whose query fails": (pl.LazyFrame({"x": ["secret"]}).cast(pl.Int64), DataError),
    "a file in text mode": (io.StringIO("x\n1\n"), DataTypeError),
    "names that are no texts": (pd.DataFrame({0: [1]}), DataTypeError),
    "columns of different lengths": ({"x": [1], "y": [1, 2]}, DataError),
    "no columns": ({}, DataError),
    "nothing at all": ([], DataError),
    "a scalar": ({"x": 1}, DataTypeError),
    "a text": ({"x": "secret"}, DataTypeError),
    "two dimensions": ({"x": np.zeros((2, 2))}, DataTypeError),
    "ragged lists": ({"x": [[1], [1, 2]]}, DataTypeError),
    "bytes in a column": ({"x": [b"secret"]}, DataTypeError),
    "complex numbers": ({"x": np.array([1j])}, DataTypeError),
    "durations": (pl.DataFrame({"x": [1]}).select(pl.col("x").cast(pl.Duration)), DataTypeError),
    "different kinds in a frame": (pd.DataFrame({"x": [1, "secret"]}), DataTypeError),
    "objects": ({"x": [object(), "secret"]}, DataTypeError),
    "lists and texts in a frame": (pd.DataFrame({"x": [["secret"], "y"]}), DataTypeError),
    "half a character in a frame": (pd.DataFrame({"x": ["\ud800secret"]}, dtype=object), DataError),
    "whole numbers beyond 64 bits": (pd.DataFrame({"x": [2**70, 1]}), DataTypeError),
    "128-bit numbers": (pl.DataFrame({"x": [2**70, 1]}), DataTypeError),
    "objects in polars": (pl.DataFrame({"x": [object()]}), DataTypeError),
    "a name that stands twice in pandas": (pd.DataFrame([[1, 2]], columns=["secret", "secret"]), DataError),
    "a name that stands twice in pyarrow": (pa.table([[1], [2]], names=["secret", "secret"]), DataError),
    "bytes of different sizes": ([{"x": np.zeros((1, 2), "u1")}, {"x": np.zeros((1, 3), "u1")}], DataTypeError),
    "bytes and numbers": ([{"x": np.zeros((1, 2), "u1")}, {"x": np.zeros(1, "u1")}], DataTypeError),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_is_refused_without_showing_data(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, kind = BAD[case]
    with pytest.raises(kind) as caught:
        engines.fold(source, lambda batch: 0)
    error: BaseException | None = caught.value
    while error is not None:  # what led to it is not kept either: pyarrow quotes values
        assert type(error).__module__ == "bruit.errors"
        assert "secret" not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    ("columns", "kind"), [("x", ParameterTypeError), ([], ParameterError), (3, ParameterTypeError)]
)
def test_columns_must_be_a_list_of_names(columns: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="columns must"):
        engines.batches({"x": [1]}, columns)


def test_arrays_are_read_without_loading_arrow() -> None:
    import subprocess

    code = (
        "import sys; from bruit import engines;"
        "engines.fold({'x': ['a', None]}, lambda b: 1); assert 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_stands_behind_a_gap_is_not_read() -> None:
    """NumPy reads the number behind a mask, and behind a null of Arrow."""
    masked = np.ma.array([7, 2, 7], mask=[True, False, True])
    for column in (masked, pa.array([None, 2, None])):
        (batch,) = engines.batches({"x": column})
        assert batch["x"].entries.tolist() == [2]
        assert batch["x"].positions.tolist() == [-1, 0, -1]
