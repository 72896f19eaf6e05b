"""A prior that is learnt is paid for, once, by those who were asked; and no value of it is ever zero."""

import itertools

import numpy as np
import pytest

import bruit
from bruit.collection import RSRFD, Plan, learnt_prior, prior
from bruit.errors import BudgetError, LedgerError, ParameterError, ParameterTypeError
from bruit.privacy import Ledger
from bruit.privacy.composition import sequential
from bruit.releases import Histogram, release
from bruit.rounding import log_ceiling

SCHEMA = {"a": ["x", "y"], "b": ["u", "v", "w"]}
PEOPLE = {"a": ["x"] * 900 + ["y"] * 100, "b": ["u"] * 1000}
EARLIER = Plan(SCHEMA, 0.5, "SMP[GRR]")


@pytest.fixture
def answers():
    return EARLIER.estimate(EARLIER.tally(EARLIER.privatize(PEOPLE, rng=7)))


@pytest.fixture
def ledger():
    return Ledger(epsilon=1.6, neighbours="person")


def test_a_learnt_prior_is_booked_once_for_all_attributes_of_its_plan(answers, ledger):
    prior = learnt_prior(answers, ledger=ledger, label="pilot")
    (entry,) = ledger.entries
    assert entry.guarantee == EARLIER.guarantee
    assert entry.label == "pilot"
    assert prior == learnt_prior(answers)
    assert min(min(shares) for shares in prior.values()) > 0


def test_who_is_asked_again_pays_for_both_rounds_and_other_people_for_one(answers, ledger):
    later = Plan(SCHEMA, 1.0, RSRFD("GRR", prior=learnt_prior(answers, ledger=ledger)))
    ledger.spend(later.guarantee, "the same people")
    both = sequential([EARLIER.guarantee, later.guarantee])
    assert ledger.spent == both
    others = Ledger(epsilon=1.0, neighbours="person")
    with others.parallel("two groups of people") as groups:
        prior = learnt_prior(answers, ledger=groups.part("pilot"))
        assert prior == learnt_prior(answers)
        groups.part("survey").spend(later.guarantee, "survey")
    assert others.spent == later.guarantee


def test_both_rounds_together_tell_the_same_person_apart_by_exactly_the_sum_of_their_epsilons(exact):
    """The whole law of both rounds: the reports of the first decide the prior, and so the law of the second."""
    schema = {"a": bruit.Categories(k=2), "b": bruit.Categories(k=2)}
    first = Plan(schema, 0.4, "SPL[GRR]")
    others = first.tally({name: np.array([0, 0, 0, 1, 1], np.uint8) for name in schema})
    joint = {record: {} for record in exact.law(first)}
    for told in itertools.product(range(2), repeat=2):
        own = first.tally({name: np.array([code], np.uint8) for name, code in zip(schema, told, strict=True)})
        prior = learnt_prior(first.estimate(own + others))
        second = Plan(schema, 1.0, RSRFD("GRR", prior=prior))
        for record, law in exact.law(second).items():
            for reports, chance in law.items():
                joint[record][told, reports] = exact.law(first)[record][told] * chance
    assert all(sum(law.values()) == 1 for law in joint.values())
    worst = max(
        joint[one][reports] / joint[other][reports]
        for one, other in itertools.permutations(joint, 2)
        for reports in joint[one]
    )
    both = sequential([first.guarantee, second.guarantee])
    assert log_ceiling(worst) == pytest.approx(both.epsilon, abs=1e-8)
    assert log_ceiling(worst) <= both.epsilon


def test_a_prior_that_the_ledger_refuses_is_not_handed_out(answers):
    ledger = Ledger(epsilon=0.4, neighbours="person")
    with pytest.raises(BudgetError):
        learnt_prior(answers, ledger=ledger)
    assert len(ledger) == 0
    with pytest.raises(LedgerError, match="neighbours"):
        learnt_prior(answers, ledger=Ledger(epsilon=5.0))


def test_estimates_of_separate_surveys_are_booked_with_their_sum(ledger):
    plans = {name: Plan({name: labels}, 0.3, "GRR") for name, labels in SCHEMA.items()}
    answers = {
        name: plan.estimate(plan.tally(plan.privatize({name: PEOPLE[name]}, rng=1)))[name]
        for name, plan in plans.items()
    }
    learnt_prior(answers, ledger=ledger)
    assert ledger.spent == sequential([plan.guarantee for plan in plans.values()])


def test_noisy_counts_of_a_release_make_a_prior_and_are_booked_where_they_are_released():
    ledger = Ledger(epsilon=1.0)
    counted = {
        name: release(PEOPLE[name], Histogram(epsilon=0.5, domain=labels), ledger=ledger, rng=1)
        for name, labels in SCHEMA.items()
    }
    assert ledger.spent.epsilon == 1.0
    prior = learnt_prior(counted, floor=0.03)
    assert prior["a"][0] == pytest.approx(0.97 * 0.9 + 0.015, abs=0.05)
    assert prior["b"] == pytest.approx([0.98, 0.01, 0.01], abs=0.05)
    assert min(min(shares) for shares in prior.values()) >= 0.01
    assert Plan(SCHEMA, 1.0, RSRFD("GRR", prior=prior)).guarantee.epsilon <= 1.0
    with pytest.raises(ParameterError, match="give the ledger to the release"):
        learnt_prior(counted, ledger=Ledger(epsilon=9.0))


def test_counts_that_noise_made_negative_teach_nothing_and_leave_no_zero():
    nobody = release([], Histogram(epsilon=0.01, domain=["x", "y", "z"]), rng=2)
    assert nobody.values.sum() <= 0
    assert learnt_prior({"a": nobody})["a"] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("wrong", [{}, None, [0.5, 0.5]])
def test_a_prior_needs_something_by_attribute(wrong):
    with pytest.raises(ParameterTypeError, match="mapping from attribute"):
        learnt_prior(wrong)


def test_frequencies_that_do_not_sum_to_one_are_refused_and_counts_are_not():
    schema = bruit.Schema({"sex": ["F", "M"]})
    with pytest.raises(ParameterError, match="must sum to 1"):
        prior.clean_prior({"sex": [0.5, 0.6]}, schema)
    with pytest.raises(ParameterError, match="lacks 'sex', has 'size'"):
        prior.clean_prior({"size": [0.5, 0.5]}, schema)
    assert sum(prior.clean_prior({"sex": [5, 6]}, schema)["sex"]) == 2**64
