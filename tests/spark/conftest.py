"""One Spark session for the whole run, where pyspark and Java are; elsewhere these tests are not collected."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bruit.engines import spark as engine

#: Without pyspark or Java there is nothing to collect here; `make test` says which one is not there.
collect_ignore_glob = [] if importlib.util.find_spec("pyspark") and shutil.which("java") else ["test_*.py"]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two cores, and one more attempt for a task that fails."""
    folder = tmp_path_factory.mktemp("spark")
    found = engine.session(
        "local[2,2]",
        spark_driver_host="localhost",
        spark_driver_bindAddress="127.0.0.1",
        spark_local_dir=str(folder),
        spark_sql_warehouse_dir=str(folder / "warehouse"),
        spark_sql_shuffle_partitions="2",
        # A run of a minute: what compiles best and collects best is not done by the time it ends.
        spark_driver_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    )
    found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()


@pytest.fixture(scope="session")
def frame_of(spark: Any) -> Callable[..., Any]:
    """A DataFrame of columns, in so many partitions of equal length, in their order."""

    def made(columns: dict[str, Any], partitions: int = 3) -> Any:
        table = pa.table(columns)
        rows = spark.sparkContext.parallelize(table.to_pylist(), partitions)
        kinds = ", ".join(f"`{field.name}` {_KINDS[str(field.type)]}" for field in table.schema)
        return spark.createDataFrame(rows.map(lambda row: tuple(row.values())), kinds)

    return made


_KINDS = {"string": "string", "int64": "bigint", "double": "double", "bool": "boolean", "null": "void"}


@pytest.fixture
def answers() -> dict[str, Any]:
    """Some people, with gaps."""
    draw = np.random.default_rng(5)
    sex = draw.choice(["F", "M", "X"], 3000).tolist()
    age = draw.integers(17, 91, 3000).tolist()
    return {"sex": sex, "age": age, "height": (150 + draw.random(3000) * 50).tolist()}
