"""Reports of a table are those of the mechanism: a plan takes codes from the mechanism's own encoding."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import Plan, numbers
from bruit.domains import Grid
from bruit.engines import memory
from bruit.entropy import Words
from bruit.errors import DataError

VALUES = np.linspace(-1.0, 1.0, 301)


def sources(folder, values):
    """The same numbers from memory and from files."""
    (folder / "x.csv").write_text("x\n" + "".join(f"{value!r}\n" for value in values.tolist()))
    pq.write_table(pa.table({"x": values}), folder / "x.parquet")
    frames = [frame({"x": values}) for frame in (pd.DataFrame, pl.DataFrame, pa.table)]
    return [{"x": values}, {"x": values.tolist()}, *frames, folder / "x.csv", folder / "x.parquet"]


@pytest.mark.parametrize("name", numbers.NAMES)
def test_chance_settles_the_rounding_of_a_number_from_every_source(name, tmp_path):
    mechanism = numbers.number(name, epsilon=4.0, bounds=(-1.0, 1.0), cells=6, rounding="stochastic")
    plan = Plan({"x": mechanism})
    expected = mechanism.randomize(mechanism.encode(VALUES), Words.resolve(3, "privatize", plan.digest))
    for source in sources(tmp_path, VALUES):
        assert plan.privatize(source, rng=3)["x"].tolist() == expected.tolist()


def test_a_mean_between_two_cells_is_the_mean_that_people_have():
    """With the two bounds for cells, everybody at 0.8 was reported at −1."""
    mechanism = numbers.number("duchi", epsilon=2.0, bounds=(-1.0, 1.0), cells=2, rounding="stochastic")
    plan = Plan({"x": mechanism})
    answer = plan.estimate(plan.tally(plan.privatize({"x": np.full(100_000, 0.8)}, rng=5)))["x"]
    assert abs(answer.mean - 0.8) < 6 * np.sqrt(answer.variance)  # false alarm below 1e-8
    assert abs(answer.mean + 1.0) > 100 * np.sqrt(answer.variance)


def test_blocks_of_a_large_table_round_by_their_own_words(tmp_path):
    mechanism = numbers.number("duchi", epsilon=20.0, bounds=(0.0, 1.0), cells=2, rounding="stochastic")
    values = np.full(2 * memory.BLOCK + 5, 0.5)
    reports = Plan({"x": mechanism}).privatize({"x": values}, rng=1)["x"]
    (tmp_path / "x.csv").write_text("x\n" + "0.5\n" * values.size)
    assert (reports == Plan({"x": mechanism}).privatize(tmp_path / "x.csv", rng=1)["x"]).all()
    assert (reports[: memory.BLOCK] != reports[memory.BLOCK : 2 * memory.BLOCK]).any()


def test_numbers_outside_the_bounds_are_refused_or_clamped_as_declared():
    for rounding in ("nearest", "stochastic"):
        mechanism = numbers.number("laplace", epsilon=1.0, domain=Grid(0, 9, missing="drop"), rounding=rounding)
        with pytest.raises(DataError, match="bounds"):
            mechanism.encode([3, 10.5])
        mechanism = dataclasses.replace(mechanism, domain=Grid(0, 9, missing="drop", outside="clamp"))
        codes = mechanism.encode([3, 10.5, -2, None])
        assert mechanism.row(codes).tolist() == [3, 9, 0]
        assert (mechanism.codes_of(np.array([3, 9, 0])) == codes).all()
