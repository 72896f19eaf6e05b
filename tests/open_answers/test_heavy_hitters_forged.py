"""Forged reports: an id of somebody's choice can support any number of texts at once, which is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.domains import OpenText
from bruit.errors import DataError
from bruit.open_answers import HeavyHitters

DESIGN = HeavyHitters(4.0, domain=OpenText(letters=3))


def forged(ids):
    """Reports with these ids and bucket 0."""
    reports = DESIGN.form.empty(len(ids))
    reports["id"] = ids
    return reports


def test_reports_whose_function_has_no_bits_are_refused_and_fill_no_memory() -> None:
    honest = DESIGN.privatize(["noise"] * 500, rng=1)
    with pytest.raises(DataError, match="not drawn by their law"):
        DESIGN.estimate(np.concatenate([honest, forged(np.arange(500, 600))]))
    with pytest.raises(DataError, match="not drawn by their law"):
        DESIGN.estimate(forged(1000 + 1024 * np.arange(5)))


@pytest.mark.parametrize("count", [24, 30, 60, 594])
def test_a_few_forged_functions_among_thousands_of_honest_ones_invent_no_dozens_of_answers(count) -> None:
    """Each of them supports every code in bucket 0, and lifts all shares alike; noise does the rest."""
    design = HeavyHitters(2.0, domain=OpenText(letters=6))
    honest = design.privatize(["noise"] * 1_200 + ["litter"] * 900 + ["buses"] * 600 + ["lights"] * 300, rng=count)
    assert "noise" in design.estimate(honest).texts
    with pytest.raises(DataError, match="more texts than people can have given"):
        design.estimate(np.concatenate([honest, forged(430 + np.arange(count))]))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 20, 200])
def test_honest_reports_are_decoded_however_few_they_are(n) -> None:
    for seed in range(10):
        assert DESIGN.estimate(DESIGN.privatize(["noise"] * n, rng=seed)).n == n


def test_as_many_answers_as_there_can_be_are_shown() -> None:
    """Texts of equal share, each far above the limit."""
    texts = [f"{letter}xy" for letter in "abcdefghijkl"]
    answers = DESIGN.estimate(DESIGN.privatize(texts * 2_000, rng=3))
    assert sorted(answers.texts) == texts
