"""Choosing a mechanism and a number of people by exact error."""

import math

import pytest

import bruit
from bruit.errors import BruitError, LimitError, ParameterError


@pytest.mark.parametrize(
    ("k", "epsilon", "people"), [(2, 1.0, 9_707), (2, 2.0, 2_603), pytest.param(10, 1.0, 29_730, id="needs SS")]
)
def test_the_number_of_people_for_two_points_is_the_known_one(k, epsilon, people):
    needed = bruit.people_needed(k=k, epsilon=epsilon, half_width=0.02, frequency=0.1)
    assert next(iter(needed.values())) == pytest.approx(people, rel=0.01)
    assert list(needed.values()) == sorted(needed.values())


def test_the_best_choice_has_the_least_error_by_each_criterion():
    for criterion in ("rare", "total", "frequency"):
        found = bruit.choose(k=64, epsilon=1.0, n=5000, frequency=0.2, criterion=criterion)
        errors = [row.error(criterion) for row in found]
        assert errors == sorted(errors)
        assert found.best is found[0].oracle
        assert len(found) == len(list(found)) > 1


def test_errors_are_those_of_the_oracle_itself():
    row = next(row for row in bruit.choose(k=7, epsilon=1.5, n=1234, frequency=0.3) if row.name == "GRR")
    oracle = bruit.oracle("GRR", epsilon=1.5, k=7)
    assert row.rare == pytest.approx(float(oracle.variance(0.0, 1234)))
    assert row.at_frequency == pytest.approx(float(oracle.variance(0.3, 1234)))
    assert row.guessability == float(oracle.p)
    assert row.votes_per_cheater == pytest.approx(float((1 - oracle.q) / (oracle.p - oracle.q)))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_grr_beats_oue_exactly_when_there_are_few_values(epsilon):
    border = 3 * math.exp(epsilon) + 2
    for k in (max(2, math.floor(border) - 1), math.ceil(border) + 1):
        first = bruit.choose(k=k, epsilon=epsilon, among=["GRR", "OUE"])[0].name
        assert first == ("GRR" if k < border else "OUE")


def test_an_oracle_that_cannot_serve_is_left_out_with_its_reason():
    found = bruit.choose(k=10**6, epsilon=11.0, among=["GRR", "PGR"])
    assert [row.name for row in found] == ["GRR"]
    assert "HR" in found.left_out["PGR"]
    with pytest.raises(LimitError):
        bruit.choose(k=10**6, epsilon=11.0, among=["PGR"])


def test_the_table_prints_frames_and_pages():
    found = bruit.choose(k=16, epsilon=1.0)
    assert max(map(len, repr(found).splitlines())) <= 100
    assert found.to_frame("polars").height == len(found)
    assert found._repr_html_().count("<tr>") == len(found) + 1


@pytest.mark.parametrize(
    "bad",
    [
        {"k": 1},
        {"epsilon": 0},
        {"n": 0},
        {"frequency": 2},
        {"frequency": "x"},
        {"frequency": [0.5, 0.5]},
        {"criterion": "magic"},
        {"criterion": "frequency"},
        {"among": ["magic"]},
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(BruitError):
        bruit.choose(**{"k": 16, "epsilon": 1.0, **bad})


@pytest.mark.parametrize("bad", [{"half_width": 0}, {"frequency": -1}, {"level": 1}, {"k": 1}])
def test_a_precision_that_cannot_be_is_refused(bad):
    with pytest.raises((BruitError, ParameterError)):
        bruit.people_needed(**{"k": 2, "epsilon": 1.0, "half_width": 0.02, "frequency": 0.1, **bad})
