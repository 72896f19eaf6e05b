"""Dates and times through every source, into a plan."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from bruit import Plan
from bruit.domains import Dates
from bruit.errors import DataTypeError

DAYS = [date(2023, 1, 1) + timedelta(days=place * 5 % 360) for place in range(300)] + [None]
PLAN = Plan({"when": Dates("2023-01-01", "2023-12-31", every="month", missing="category")}, epsilon=1.0)


def _sources(folder: Path) -> dict[str, Any]:
    table = pa.table({"when": pa.array(DAYS, pa.date32())})
    frame = pd.DataFrame({"when": pd.to_datetime(pd.Series(DAYS))})
    parquet.write_table(table, folder / "days.parquet")
    frame.to_parquet(folder / "times.parquet")
    pl.from_arrow(table).write_csv(folder / "days.csv")
    return {
        "list": {"when": DAYS},
        "numpy": {"when": np.array(DAYS, "M8[D]")},
        "pandas": frame,
        "polars": pl.from_arrow(table),
        "arrow": table,
        "parquet of dates": folder / "days.parquet",
        "parquet of times": folder / "times.parquet",
        "csv": folder / "days.csv",
    }


def test_every_source_of_dates_gives_the_same_reports(tmp_path: Path) -> None:
    expected = PLAN.privatize({"when": DAYS}, rng=7)["when"].tolist()
    for name, source in _sources(tmp_path).items():
        assert PLAN.privatize(source, rng=7)["when"].tolist() == expected, name


def test_times_with_a_zone_are_refused_without_being_shown() -> None:
    table = pa.table({"when": pa.array([datetime(1999, 9, 19, tzinfo=UTC)], pa.timestamp("s", "UTC"))})
    series = pl.from_arrow(table)["when"]
    frames = [table, table.to_pandas(), pl.from_arrow(table), {"when": table["when"]}, {"when": series}]
    for source in (*frames, *(iter([frame]) for frame in frames)):
        with pytest.raises(DataTypeError, match=r"must (hold|be) local times") as caught:
            PLAN.privatize(source)
        assert "1999" not in str(caught.value)
