"""Executors in processes of their own, of which tasks are run a second time: the same rows of people count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit.releases import Count, Mean, Person, Release

ROWS = 10**6
ZONES = [f"z{i}" for i in range(20)]

_FOLD = """
import json, sys, time
from bruit.engines import spark
from bruit.releases import Release

release = Release.from_json(open(sys.argv[1]).read())
session = spark.session(
    "local-cluster[2,1,1024]",
    spark_executor_memory="1g",
    spark_speculation="true",
    spark_speculation_multiplier="1.0001",
    spark_speculation_quantile="0.1",
    spark_speculation_interval="10ms",
    spark_speculation_minTaskRuntime="1ms",
    spark_sql_shuffle_partitions="8",
    spark_local_dir=sys.argv[3],
)
session.sparkContext.setLogLevel("OFF")
executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
frame = spark.read(session, sys.argv[2]).repartition(8)
counts = release.fold(frame, 3).reveal(design=release.digest).tolist()
again = release.fold(frame, 3).reveal(design=release.digest).tolist()
print(json.dumps({"executors": executors, "counts": counts, "again": again}))
session.stop()
"""


@pytest.mark.audit
def test_two_executors_with_speculation_count_the_rows_that_count_in_memory_and_in_a_file(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    users = np.where(draw.random(ROWS) < 0.1, draw.integers(0, 500, ROWS), draw.integers(0, ROWS // 5, ROWS))
    table: dict[str, Any] = {"user": users, "zone": np.array(ZONES)[draw.integers(0, 20, ROWS)]}
    table["fare"] = draw.random(ROWS) * 100
    path = tmp_path / "trips.parquet"
    pq.write_table(pa.table(table), path)
    release = Release(
        [Count(epsilon=1.0), Mean("fare", bounds=(0, 100), epsilon=1.0)],
        {"zone": ZONES},
        Person("user", groups=3, rows_per_group=2),
    )
    expected = release.fold(table, 3).reveal(design=release.digest).tolist()
    assert release.fold(path, 3).reveal(design=release.digest).tolist() == expected
    (tmp_path / "release.json").write_text(release.to_json())
    command = [sys.executable, "-c", _FOLD, str(tmp_path / "release.json"), str(path), str(tmp_path)]
    result = subprocess.run(
        command, env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[-2000:]
    counted = json.loads(result.stdout.strip().splitlines()[-1])
    assert counted["executors"] == 2
    assert counted["counts"] == counted["again"] == expected
