"""A published number in a sentence: rounded to what its error supports, never finer, never misleading."""

import numpy as np
import pytest

from bruit.publications.sentences import reading_table, sentence
from bruit.releases import Count, Histogram, Mean, Quantiles, Tables, release
from bruit.tables import place_of, rounded


def test_rounding_moves_a_number_by_less_than_a_quarter_of_its_interval():
    rng = np.random.default_rng(1)
    for half in 10 ** rng.uniform(-4, 6, 300):
        value = float(rng.normal() * 1000 * half)
        shown = float(rounded(value, half).replace(",", "").replace("−", "-"))
        assert abs(shown - value) <= half / 4 * (1 + 1e-6)
        assert place_of(half) <= half / 2


def test_a_count_is_told_with_give_or_take():
    result = release([1.0] * 7000, Count(epsilon=0.05), rng=3)
    assert sentence(result).startswith("About ")
    assert "give or take 60." in sentence(result)
    assert rounded(6968, 88) == "6,970"
    assert rounded(0.004, 90) == "0"


def test_several_numbers_are_told_by_the_largest_and_the_smallest():
    table = {"zone": ["a"] * 900 + ["b"] * 300, "fare": [10.0] * 900 + [20.0] * 300}
    counts = release(table, Histogram("zone", domain=["a", "b"], epsilon=1.0), rng=3)
    assert sentence(counts).startswith("Most for a: about 9")
    assert "Fewest for b: about 30" in sentence(counts)
    means = release(table, Mean("fare", bounds=(0, 50), epsilon=1.0), by={"zone": ["a", "b"]}, rng=3)
    assert sentence(means).startswith("Highest for b:")
    quartiles = release(table, Quantiles("fare", quantiles=[0.25, 0.5], bounds=(0, 50), epsilon=1.0), rng=3)
    assert sentence(quartiles).startswith("0.25: about ")


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_table_of_two_columns_is_a_grid(delta):
    people = {"sex": ["F", "M"] * 500, "smokes": ["no", "no", "yes", "no"] * 250}
    result = release(people, Tables({"sex": ["F", "M"], "smokes": ["no", "yes"]}, epsilon=1.0, delta=delta), rng=7)
    grid = reading_table(result)
    assert [column.heading for column in grid.columns] == ["sex", "no", "yes"]
    assert len(grid) == 2
    assert "give or take" in grid.title
