"""What is shown of groups leaves no few people over when it is subtracted from what else is shown."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import pytest

from bruit.collector.gate import Gate

LEAST = 10


def blocks(answers: dict, gate: Gate, place: int) -> list[set]:
    """The groups of a question that are shown, and the rest, as sets of strata that anybody answered."""
    parts: defaultdict = defaultdict(set)
    for stratum, number in answers.items():
        if number:
            parts[stratum[place] if stratum[place] in gate.groups[place] else None].add(stratum)
    return list(parts.values())


def follows(answers: dict, gate: Gate) -> set[int]:
    """How many answers the difference of a group and any groups of a question has, where these are in it or around it;
    and of a group and the strata of it that are shown.
    """

    def size(strata) -> int:
        return sum(answers[stratum] for stratum in strata)

    everybody = {stratum for stratum, number in answers.items() if number}
    partitions = [[everybody], *(blocks(answers, gate, place) for place in range(len(gate.groups)))]
    differences = {size(block) for partition in partitions for block in partition}
    for first, second in itertools.permutations(partitions, 2):
        for block in first:
            for number in range(1, len(second) + 1):
                for some in itertools.combinations(second, number):
                    union = set().union(*some)
                    if union <= block or block <= union:
                        differences.add(abs(size(block) - size(union)))
    for partition in partitions:
        differences |= {size(block - gate.strata) for block in partition}
    return differences


@pytest.mark.parametrize("questions", [1, 2, 3])
def test_few_people_do_not_follow_by_subtraction(questions) -> None:
    chance = random.Random(questions)
    shown = 0
    for _ in range(60):
        strata = itertools.product(range(4), *[range(3)] * (questions - 1))
        sizes = [0, 0, 0, 1, 4, 12, 30] if chance.random() < 0.7 else [0, 11, 25]
        answers = {stratum: chance.choice(sizes) for stratum in strata}
        if sum(answers.values()) >= LEAST:
            gate = Gate(answers, LEAST)
            assert not set(range(1, LEAST)) & follows(answers, gate)
            shown += sum(map(len, gate.groups)) + len(gate.strata)
    assert shown > 100


def test_the_check_sees_a_group_that_is_hidden_alone() -> None:
    answers = {(0,): 12, (1,): 13, (2,): 1}
    gate = Gate(answers, LEAST)
    assert gate.groups == [{1}]
    assert 1 not in follows(answers, gate)
    gate.groups = [{0, 1}]
    assert 1 in follows(answers, gate)


def test_classes_within_schools_are_not_shown_where_one_pupil_is_left_over() -> None:
    """School 0 has classes 0, 1 and 2, of which the last has one pupil; school 1 has class 3, with few, and 4."""
    answers = {(0, 0): 20, (0, 1): 19, (0, 2): 1, (1, 3): 9, (1, 4): 30}
    gate = Gate(answers, LEAST)
    assert gate.groups == [{0, 1}, set()]
    assert not set(range(1, LEAST)) & follows(answers, gate)


def test_groups_with_enough_answers_are_all_shown() -> None:
    answers = {(first, second): 10 for first in range(3) for second in range(4)}
    gate = Gate(answers, LEAST)
    assert gate.groups == [{0, 1, 2}, {0, 1, 2, 3}]
    assert gate.strata == set(answers)
    assert Gate({(): 12}, LEAST).strata == {()}
