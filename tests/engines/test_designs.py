"""Reports of a table are those of the mechanism: the engines take codes from the mechanism's own encoding."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import engines, numbers
from bruit.engines import memory
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
    expected = mechanism.privatize(VALUES, rng=3)
    for source in sources(tmp_path, VALUES):
        assert engines.privatize(source, mechanism, column="x", rng=3)["x"].tolist() == expected.tolist()


def test_a_mean_between_two_cells_is_the_mean_that_people_have():
    """With the two bounds for cells, everybody at 0.8 was reported at −1."""
    mechanism = numbers.number("duchi", epsilon=2.0, bounds=(-1.0, 1.0), cells=2, rounding="stochastic")
    reports = engines.privatize({"x": np.full(100_000, 0.8)}, mechanism, column="x", rng=5)
    answer = mechanism.estimate(engines.tally(reports, mechanism, column="x"))
    assert abs(answer.mean - 0.8) < 6 * np.sqrt(answer.variance)  # false alarm below 1e-8
    assert abs(answer.mean + 1.0) > 100 * np.sqrt(answer.variance)


def test_blocks_of_a_large_table_round_by_their_own_words(tmp_path):
    mechanism = numbers.number("duchi", epsilon=20.0, bounds=(0.0, 1.0), cells=2, rounding="stochastic")
    values = np.full(2 * memory.BLOCK + 5, 0.5)
    reports = engines.privatize({"x": values}, mechanism, column="x", rng=1)["x"]
    assert (reports == mechanism.privatize(values, rng=1)).all()
    assert (reports[: memory.BLOCK] != reports[memory.BLOCK : 2 * memory.BLOCK]).any()


def test_numbers_outside_the_bounds_are_refused_or_clipped_as_asked():
    for rounding in ("nearest", "stochastic"):
        mechanism = numbers.number("laplace", epsilon=1.0, bounds=(0, 9), missing="drop", rounding=rounding)
        with pytest.raises(DataError, match="bounds"):
            mechanism.encode([3, 10.5])
        codes = mechanism.encode([3, 10.5, -2, None], clip=True)
        assert mechanism.row(codes).tolist() == [3, 9, 0]
        assert (mechanism.codes_of(np.array([3, 9, 0])) == codes).all()
