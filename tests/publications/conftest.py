"""A small publication of people with several rows."""

import numpy as np
import pytest

PLAN = """
# A comment is no part of a publication.
title = "Visits"
table = "visits.csv"
epsilon = 1.0
delta = 1e-6
ledger = "visits.ledger"
budget = { epsilon = 2.0, delta = 1e-5 }
page = false

[person]
column = "visitor"
rows = 4
groups = 2
rows_per_group = 2

[[statistic]]
name = "visits"
kind = "count"

[[statistic]]
name = "zones"
kind = "count"
by = "zone=?"

[[statistic]]
name = "mean age"
kind = "mean"
of = "age=18..100"
by = ["sex=F,M"]
weight = 2

[[statistic]]
name = "quartiles"
kind = "quantiles"
of = "age=18..100:1"
"""


def visits(people=600):
    rng = np.random.default_rng(5)
    many = rng.integers(1, 8, people)
    visitor = np.repeat(np.arange(people), many)
    return {
        "visitor": visitor,
        "zone": np.array(list("ab"))[rng.integers(0, 2, visitor.size)],
        "age": np.repeat(rng.integers(18, 101, people), many),
        "sex": np.repeat(np.array(list("FM"))[rng.integers(0, 2, people)], many),
    }


@pytest.fixture
def plan(tmp_path):
    """The path of the file of a publication, with its table beside it."""
    table = visits()
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"
