"""Memos that follow changes: what holds between which histories, by enumeration of all of them."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

import bruit
from bruit.errors import BruitError, ParameterError
from bruit.oracles import Memory, Repeated


def panel(name="GRR", first=0.5, epoch=1.0, k=3):
    return Repeated(bruit.oracle(name, epsilon=first, k=k), epoch, follow_changes=True)


def pattern(history):
    return tuple(history[i] == history[j] for i, j in itertools.combinations(range(len(history)), 2))


def loss(design, first, second, k):
    """The largest log ratio between the probabilities of the reports of two histories, by the definition, for GRR."""
    keep, rounds = float(design.keep), len(first)
    rows = np.array([[float(p) for p in design.memo.law.row(code)] for code in range(k)])

    def table(history):
        chances = np.zeros((k,) * rounds)
        values = sorted(set(history))
        for memos in itertools.product(range(k), repeat=len(values)):
            weight = math.prod(rows[value, memo] for value, memo in zip(values, memos, strict=True))
            memo_of = dict(zip(values, memos, strict=True))
            joint = np.array(weight)
            for value in history:
                report = np.full(k, (1 - keep) / k)
                report[memo_of[value]] += keep
                joint = np.multiply.outer(joint, report)
            chances += joint
        return chances

    return float(np.log(table(first) / table(second)).max())


def test_the_claim_of_the_literature_holds_for_equal_patterns_and_fails_for_others():
    # Large kappa: the memo is mostly shown, so that a change is seen.
    design, k, rounds = panel("GRR", 0.9, 1.0), 3, 3
    histories = list(itertools.product(range(k), repeat=rounds))
    equal, others = 0.0, 0.0
    for first, second in itertools.permutations(histories, 2):
        largest = loss(design, first, second, k)
        if pattern(first) == pattern(second):
            values = len(set(first))
            assert largest <= design.same_changes(values).epsilon + 1e-12
            equal = max(equal, largest)
        else:
            others = max(others, largest)
        assert largest <= design.after(rounds).epsilon + 1e-12
    # "At most k times the epsilon of an epoch" is false where the patterns differ, and the guarantee does not say it.
    assert others > 3 * design.memo.guarantee.epsilon > equal
    assert design.same_changes(3).neighbours == "same-changes"
    assert "equal at the same pairs of rounds" in str(design.same_changes(3))
    assert design.after(rounds).neighbours == "person"


def test_one_report_is_one_of_the_oracle():
    design = panel()
    assert design.after(1).epsilon == design.oracle.guarantee.epsilon
    assert design.after(4).epsilon == pytest.approx(2 * design.after(2).epsilon)
    assert "epoch" not in design.guarantees
    with pytest.raises(ParameterError, match="say how many rounds"):
        design.over(2)


@pytest.mark.parametrize("name", ["OUE", "SUE"])
def test_bits_of_any_two_memos_are_told_apart_by_every_bit(name):
    design = panel(name)
    keep = design.keep
    assert design.after(2).epsilon == pytest.approx(2 * 3 * math.log((1 + keep) / (1 - keep)))


def test_what_would_show_every_change_is_refused():
    with pytest.raises(ParameterError, match="not for hashing"):
        panel("OLH")
    with pytest.raises(ParameterError, match="above the epsilon of one report"):
        panel("GRR", 1.0, 1.0)


def test_the_design_is_read_back_and_is_another_than_without():
    design = panel()
    assert Repeated.from_dict(design.to_dict()) == design
    assert design.digest != Repeated(design.oracle, design.epoch).digest


def test_a_memory_keeps_a_memo_for_every_value_and_takes_the_old_one_again(tmp_path):
    design = panel("GRR", 4.0, 20.0, 40)
    memory = Memory.create(tmp_path / "memory", design)
    values = [3, 3, 8, 3, 8]
    reports = [memory.report(value, round=number) for number, value in enumerate(values)]
    memos = memory._read()[""]["0"]["memo"]
    assert set(memos) == {"3", "8"}
    assert memory.report(8, round=0).tobytes() == reports[0].tobytes()
    assert set(memory._read()[""]["0"]["memo"]) == {"3", "8"}
    people = [f"p{i}" for i in range(200)]
    first = memory.reports([5] * 200, people, round=9)
    memory.reports([6] * 100 + [5] * 100, people, round=10)
    sizes = [len(history["0"]["memo"]) for name, history in memory._read().items() if name]
    assert sizes == [2] * 100 + [1] * 100
    assert design.oracle.tally(first).n == 200
    with pytest.raises(BruitError):
        memory.report(None, round=11)


@pytest.mark.parametrize("name", ["GRR", "OUE"])
def test_a_difference_of_people_who_all_change_has_the_variance_stated_and_not_that_of_a_memo_that_stays(name):
    design = panel(name, 0.9, 1.0)
    values = np.repeat([0, 1], 200)
    scores = {"followed": [], "kept": []}
    for trial in range(200):
        memos = [design.memoize(own, rng=2 * trial + place) for place, own in enumerate((values, values[::-1]))]
        reports = [design.answer(own, rng=1000 + 2 * trial + place) for place, own in enumerate(memos)]
        followed = design.series([design.oracle.tally(own) for own in reports])
        kept = dataclasses.replace(followed, follow_changes=False)
        for key, series in (("followed", followed), ("kept", kept)):
            change = series.difference(0, 1, target="people")
            scores[key].append(change.frequency[0] / change.standard_error[0])
    assert 0.75 < np.std(scores["followed"]) < 1.3
    assert np.std(scores["kept"]) > 1.5  # control: memos that stay have far less


def test_the_mean_of_rounds_that_follow_changes_is_never_stated_surer_than_if_nobody_changed():
    design = panel("GRR", 0.9, 1.0)
    same = Repeated(design.oracle, 1.0)
    tallies = [design.oracle.simulate([200, 150, 50], rng=number) for number in range(4)]
    followed, kept = design.series(tallies), same.series(tallies)
    assert followed.mean().variance == pytest.approx(kept.mean().variance, rel=0.15)
    assert (followed.difference(0, 1).variance > 2 * kept.difference(0, 1).variance).all()
