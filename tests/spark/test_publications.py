"""A publication of a Spark frame is the publication of its rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bruit.privacy import Ledger
from bruit.publications import Publication, publish

PLAN = """
title = "Visits"
table = "visits"
rho = 0.5
ledger = "visits.ledger"
budget = { rho = 1.0 }
page = false
[person]
column = "visitor"
rows = 2
rows_per_group = 1
[[statistic]]
name = "visits by sex"
kind = "count"
by = "sex=F,M"
[[statistic]]
name = "mean age"
kind = "mean"
of = "age=18..100"
[[statistic]]
name = "median age"
kind = "median"
of = "age=18..100:1"
"""


def test_a_spark_frame_is_published_as_its_rows_are(frame_of: Callable[..., Any], tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    table = {
        "visitor": draw.integers(0, 200, 600).tolist(),
        "age": draw.integers(18, 101, 600).tolist(),
        "sex": draw.choice(["F", "M"], 600).tolist(),
    }
    values = []
    for name, source in (("memory", table), ("spark", frame_of(table))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.toml").write_text(PLAN)
        published = publish(tmp_path / name / "plan.toml", source, rng=7)
        values.append([result.values.tolist() for result in published.results.values()])
        remaining = Ledger.open(tmp_path / name / "visits.ledger").remaining_rho
        assert remaining is not None
        assert abs(remaining - 0.5) < 1e-6
    assert values[0] == values[1]


SUMS = """
[[statistic]]
name = "visits by zone"
kind = "count"
by = "zone=?"
groups = 2
[[statistic]]
name = "ages by zone"
kind = "mean"
of = "age=18..100"
by = "zone=?"
groups = 2
"""


def test_sums_of_undeclared_groups_are_those_of_the_rows_and_named_alike(
    frame_of: Callable[..., Any], tmp_path: Path
) -> None:
    text = PLAN.replace("rho = 0.5", "rho = 0.5\ndelta = 1e-6").replace("1.0 }", "1.0, delta = 1e-5 }") + SUMS
    draw = np.random.default_rng(5)
    table = {
        "visitor": draw.integers(0, 400, 2000).tolist(),
        "age": draw.integers(18, 101, 2000).tolist(),
        "sex": draw.choice(["F", "M"], 2000).tolist(),
        "zone": draw.choice(["centre", "nord", "süd"], 2000).tolist(),
    }
    values = []
    for name, source in (("memory", table), ("spark", frame_of(table, 3))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.toml").write_text(text)
        published = publish(Publication.load(tmp_path / name / "plan.toml"), source, rng=7)
        assert published["ages by zone"].labels == published["visits by zone"].labels == ("centre", "nord", "süd")
        values.append([result.values.tolist() for result in published.results.values()])
    assert values[0] == values[1]
