"""From how many people on an estimate beats the uniform guess: a known figure, simulations, and the sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bruit import Plan
from bruit.collection import RSRFD, SMP, TAB, Method, people_to_beat_uniform
from bruit.collection.uniform_guess import MOST_NAMED, few_people, reference, zipf
from bruit.domains import Grid

FIVE = {f"a{j}": list("vwxyz") for j in range(5)}


def test_five_attributes_of_five_values_take_757_people() -> None:
    assert set(people_to_beat_uniform(Plan(FIVE, 1.0, "SMP[GRR]")).values()) == {757}


@pytest.mark.parametrize("method", [Method.named("SMP[GRR]"), SMP("GRR", assign="rotation"), Method.named("SPL[OUE]")])
def test_with_that_many_simulated_people_both_are_equally_far_from_the_truth(method: Method) -> None:
    plan, runs = Plan(FIVE, 2.0, method), 500
    n = people_to_beat_uniform(plan)["a0"] or 0
    off = 5.5 * math.sqrt(2 / (4 * 5 * runs))
    assert abs(distance_ratio(plan, n, runs) - 1) < off
    assert distance_ratio(plan, n * 3 // 2, runs) < 1 - off  # the control


def distance_ratio(plan: Plan, n: int, runs: int) -> float:
    """The mean squared error of estimates over that of the guess, with this number of simulated people."""
    shares, generator, errors = zipf(5), np.random.default_rng(3), []
    for run in range(runs):
        people = {name: generator.multinomial(n, shares) for name in FIVE}
        answers = plan.estimate(plan.simulate(people, rng=run))
        errors.append(np.mean([np.sum((answers[name].frequency - shares) ** 2) for name in FIVE]))
    return float(np.mean(errors) / np.sum((shares - 0.2) ** 2))


def test_drawing_costs_d_minus_one_people_and_rotation_none() -> None:
    drawn, rotated = (
        people_to_beat_uniform(Plan(FIVE, 1.0, method)) for method in ("SMP[GRR]", SMP("GRR", assign="rotation"))
    )
    assert (drawn["a0"] or 0) - (rotated["a0"] or 0) == 4


def test_even_answers_are_never_beaten_and_means_are_left_out() -> None:
    plan = Plan({"sex": ["F", "M"], "age": Grid(17, 90)}, 1.0)
    assert people_to_beat_uniform(plan, {"sex": [0.5, 0.5]}) == {"sex": None}
    assert people_to_beat_uniform(plan, {"sex": [0.9, 0.1]})["sex"] < people_to_beat_uniform(plan)["sex"]  # type: ignore[operator]
    assert few_people(Plan({"age": Grid(17, 90)}, 1.0), 1) == []


def test_the_frequencies_of_a_prior_are_taken_where_there_is_one() -> None:
    prior = {"sex": [0.5, 0.5], "smokes": [0.9, 0.1]}
    plan = Plan({"sex": ["F", "M"], "smokes": ["no", "yes"]}, 1.0, RSRFD("GRR", prior=prior))
    assert reference(plan) == "prior"
    assert people_to_beat_uniform(plan)["sex"] is None
    (line,) = few_people(plan, 10)
    assert "an estimate of smokes is further" in line
    assert "answers that follow the prior" in line


@pytest.mark.parametrize("method", ["SMP[ADP]", "SMP2[GRR]", "SPL[ADP]", "RS+FD[GRR]", TAB("GRR")])
def test_every_method_has_a_number_and_more_epsilon_takes_fewer(method: str | Method) -> None:
    schema = {"a": ["0", "1"], "b": ["0", "1", "2"], "c": ["0", "1"]}
    few, many = (people_to_beat_uniform(Plan(schema, epsilon, method)) for epsilon in (4.0, 1.0))
    assert all(1 <= (few[name] or 0) < (many[name] or 0) for name in schema)


def test_the_sentence_says_for_whom_until_when_and_nothing_with_enough_people() -> None:
    plan = Plan({"work": list("vwxyz"), "sex": ["F", "M"]}, 1.0, "SMP[GRR]")
    assert few_people(plan, 60) == [
        "With 60 people an estimate of work is further from the truth than guessing that all answers are alike, until "
        "about 302 people answer; of sex, until about 84 people answer. That is for answers that follow Zipf's law "
        "(1, 1/2, 1/3, …); more even answers need more people."
    ]
    assert few_people(plan, 302) == []
    assert "sex" not in few_people(plan, 301)[0]


def test_many_attributes_are_counted_and_not_all_listed() -> None:
    alike = Plan({f"a{j}": ["0", "1"] for j in range(40)}, 1.0, "SMP[GRR]")
    assert f"a{MOST_NAMED - 2} or {40 - MOST_NAMED + 1} others is further" in few_people(alike, 5)[0]
    unlike = Plan({f"a{j}": [str(v) for v in range(j + 2)] for j in range(12)}, 1.0, "SMP[GRR]")
    assert "; and so on for 5 smaller numbers." in few_people(unlike, 5)[0]
