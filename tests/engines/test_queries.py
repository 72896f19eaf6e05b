"""Queries that are not run yet: the same rows as the table that they give, in a stream, and nothing told of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bruit import engines
from bruit.engines import batch as batching
from bruit.engines import bounding, queries
from bruit.errors import BruitError, DataError, ParameterError
from bruit.learning import LinearRegression
from bruit.releases import Count, Histogram, Person, Release

duckdb = pytest.importorskip("duckdb")

TABLE = pd.DataFrame(
    {"user": np.arange(900) % 70, "zone": np.array(["a", "b", "c"])[np.arange(900) % 3], "fare": np.arange(900) / 10}
)


def _sources(folder: Path) -> dict[str, Any]:
    path = folder / "it's.parquet"
    TABLE.to_parquet(path, index=False)
    with duckdb.connect(str(folder / "trips.db")) as connection:
        connection.register("table_of_trips", TABLE)
        connection.execute("CREATE TABLE trips AS SELECT * FROM table_of_trips")
    text = f"SELECT * FROM '{str(path).replace(chr(39), chr(39) * 2)}'"
    return {
        "lazy frame": pl.from_pandas(TABLE).lazy(),
        "scan": pl.scan_parquet(path).filter(pl.col("user") >= 0),
        "relation": duckdb.from_df(TABLE),
        "text": text,
        "query": engines.query("FROM trips", str(folder / "trips.db")),
    }


@pytest.mark.parametrize("kind", ["lazy frame", "scan", "relation", "text", "query"])
def test_a_query_gives_the_rows_of_its_table(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _sources(tmp_path)[kind]
    (batch,) = engines.batches(source, ["fare", "zone"])
    assert list(batch) == ["fare", "zone"]
    assert batch["fare"].tolist() == TABLE["fare"].tolist()
    assert batch["zone"].entries[batch["zone"].positions].tolist() == TABLE["zone"].tolist()
    statistics = [Count(epsilon=1.0), Histogram("zone", domain=["a", "b", "c"], epsilon=1.0)]
    for release in (
        Release(statistics),
        Release(statistics, {"zone": ["a", "b", "c"]}, Person("user", groups=2, rows_per_group=2)),
        Release(Count(epsilon=1.0, delta=1e-3), "zone", Person("user", groups=2, rows_per_group=1)),
    ):
        expected: Any = release.fold(TABLE, 3).reveal(design=release.digest)
        got: Any = release.fold(source, 3).reveal(design=release.digest)
        assert got == expected if isinstance(got, Mapping) else np.array_equal(got, expected)
        if release.person:  # read twice, through DuckDB
            with monkeypatch.context() as patch:
                patch.setattr(bounding, "MOST_ROWS", 500)
                got = release.fold(source, 3).reveal(design=release.digest)
                assert got == expected if isinstance(got, Mapping) else np.array_equal(got, expected)
    with pytest.raises(DataError, match="'nowhere'"):
        list(engines.batches(source, ["nowhere"]))


@pytest.mark.skipif(not hasattr(pl.LazyFrame, "collect_batches"), reason="this polars has no stream of batches")
def test_a_lazy_frame_comes_in_batches_and_is_never_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TABLE.to_parquet(tmp_path / "trips.parquet", index=False)
    lazy = pl.scan_parquet(tmp_path / "trips.parquet")
    monkeypatch.setattr(batching, "BATCH", 200)
    monkeypatch.setattr(pl.LazyFrame, "collect", lambda *_, **__: pytest.fail("collected"))
    assert [batching.rows(batch) for batch in engines.batches(lazy, ["fare"])] == [200, 200, 200, 200, 100]


def test_a_query_without_rows_has_columns() -> None:
    for source in ("SELECT 1 AS x WHERE false", pl.LazyFrame({"x": [1]}).filter(pl.col("x") > 1)):
        (batch,) = engines.batches(source)
        assert batch["x"].tolist() == []


def test_what_a_query_says_when_it_fails_is_not_shown() -> None:
    for source in (
        "SELECT CAST('secret' AS INTEGER) AS x",
        "SELECT secret FROM nowhere",
        pl.LazyFrame({"x": ["secret"]}).select(pl.col("x").cast(pl.Int64)),
    ):
        with pytest.raises(BruitError, match=r"could not be (run|collected)") as caught:
            list(engines.batches(source))
        error: Any = caught.value
        while error is not None:
            assert "secret" not in str(error)
            error = error.__context__


@pytest.mark.usefixtures("any_epsilon")
def test_models_learn_from_a_query() -> None:
    text = "SELECT range / 100 AS x, range / 50 AS y FROM range(100)"
    model = LinearRegression(epsilon=100.0, bounds={"x": (0, 1)}, target_bounds=(0, 2), rng=1)
    assert abs(model.fit(text, "y").coef_[0] - 2) < 0.2


@pytest.mark.parametrize("name", ["table.xlsx", "table.XLS", "table.ods"])
def test_a_workbook_is_refused_with_the_way_out(name: str) -> None:
    with pytest.raises(ParameterError, match=r"CSV UTF-8.*read_excel"):
        list(engines.batches(name))


def test_a_path_is_no_query() -> None:
    paths = ["select.csv", "from/table.parquet", "with data.csv", "from us.TSV.gz", "with", "-"]
    assert not any(map(engines.is_query, [*paths, Path("select x"), {}, [1]]))
    texts = ["select 1", "  WITH x AS (SELECT 1) FROM x", "FROM 'x.csv'"]
    assert all(map(engines.is_query, [*texts, engines.query("x")]))


def test_no_connection_of_ours_shows_a_progress_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = duckdb.connect
    connect(str(tmp_path / "empty.db")).close()

    def as_in_a_notebook(*arguments: Any, **options: Any) -> Any:
        connection = connect(*arguments, **options)
        connection.execute("SET enable_progress_bar = true")
        return connection

    monkeypatch.setattr(duckdb, "connect", as_in_a_notebook)
    bar = "SELECT current_setting('enable_progress_bar') AS bar"
    sources: list[Any] = [bar, engines.query(bar), engines.query(bar, str(tmp_path / "empty.db"))]
    for source in sources:
        (batch,) = engines.batches(source)
        assert batch["bar"].tolist() == [False]
    with queries.connect(":memory:", config={"threads": "1"}) as connection:
        assert connection.execute(bar).fetchall() == [(False,)]
    assert as_in_a_notebook().execute(bar).fetchall() == [(True,)]
    # Out of core, and wherever else there is a connection, it comes from there.
    text = "".join(path.read_text() for path in Path(engines.__file__).parent.rglob("*.py"))
    assert len(re.findall(r"duckdb\(?\)?\.(connect|sql|execute|query)\(", text)) == 1
