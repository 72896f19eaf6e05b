"""The risk that a plan shows beforehand is what the attacks achieve on such people."""

import math

import numpy as np
import pytest

from bruit.attacks import draw_people, guess, reidentification, risks, sampled_attribute
from bruit.collection import Plan
from bruit.domains import Categories, Grid, Schema
from bruit.errors import ParameterError, ParameterTypeError

from ..plans import planned

SCHEMA = Schema({"a": ["0", "1"], "b": Categories(k=3), "c": Categories(k=12)})
UNEVEN = {"a": [0.8, 0.2], "b": [0.1, 0.3, 0.6], "c": [0.45] + [0.05] * 11}
N = 20_000


def made(method, epsilon=2.0, schema=SCHEMA, **settings):
    return planned(schema, epsilon, method, **({"prior": UNEVEN} if "RFD" in method else {}), **settings)


def near(rate, achieved, error=0.0):
    """Within 5.5 standard errors of two independent figures."""
    spread = math.sqrt(achieved * (1 - achieved) / N + error**2)
    return abs(rate - achieved) < 5.5 * spread


@pytest.mark.parametrize("method", ["RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[SS]", "RS+RFD[GRR]", "RS+RFD[OUE-r]"])
def test_the_sampled_attribute_is_found_as_often_as_the_attack_finds_it(method):
    plan = made(method)
    shown, alike = [risk for risk in risks(plan, UNEVEN) if risk.attack.startswith("sampled")]
    achieved = sampled_attribute(plan, draw_people(plan.schema, UNEVEN, N, rng=1), rng=2)
    assert shown.baseline == alike.baseline == achieved.baseline
    # The attacker who has to estimate the frequencies is a little worse off than one who knows them.
    assert near(shown.rate, achieved.accuracy, shown.standard_error + 0.001)
    assert alike.rate >= shown.rate - 5.5 * (shown.standard_error + alike.standard_error)


@pytest.mark.parametrize(
    "method", ["SPL[GRR]", "SMP[OUE]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+RFD[GRR]", "RS+RFD[SUE-r]"]
)
@pytest.mark.parametrize("frequencies", [None, UNEVEN], ids=["even", "uneven"])
def test_a_value_is_guessed_as_often_as_the_best_guess_from_all_reports_is_right(method, frequencies):
    """Against the posterior written down for a small plan: every value of the attribute, given all reports."""
    plan = made(method)
    people = plan.schema.encode(draw_people(plan.schema, frequencies or {}, N, rng=3))
    reports = plan.privatize(plan.schema.decode(people), rng=4)
    shares = {
        name: np.array((frequencies or {}).get(name, [1 / found.size] * found.size))
        for name, found in plan.schema.items()
    }
    for risk in risks(plan, frequencies)[: len(plan.schema)]:
        place = list(plan.schema).index(risk.attribute)
        guesses = posterior(plan, reports, shares, place).argmax(axis=1)
        assert near(risk.rate, float(np.mean(guesses == people[risk.attribute])), risk.standard_error)
        assert risk.baseline == shares[risk.attribute].max()
        assert (risk.standard_error == 0) == (frequencies is None)


def posterior(plan, reports, shares, place):
    """P(value of one attribute | reports), up to a factor of each row, straight from the definition of each method."""
    name = list(plan.schema)[place]
    own, size = shares[name], plan.schema[name].size
    if plan.method.kind == "SPL":
        return own * plan.mechanisms[name].likelihood(reports[name])
    if plan.method.kind == "SMP":
        weight = np.ones((len(reports["attribute"]), size))
        true = reports["attribute"] == place
        told = plan.design._own_reports(plan.design._forms[name], reports["report"][true])
        weight[true] = plan.mechanisms[name].likelihood(told)
        return own * weight
    ratio = np.stack(
        [plan.design.columns[name].likelihood_ratio(reports[name], np.eye(size)[value]) for value in range(size)],
        axis=1,
    )
    others = sum(
        column.likelihood_ratio(reports[other], shares[other])
        for other, column in plan.design.columns.items()
        if other != name
    )
    return own * (ratio + others[:, None])


def test_uniform_fakes_hide_the_sampled_attribute_of_uniform_people_and_of_nobody_else():
    shown, alike = [risk for risk in risks(made("RS+FD[GRR]")) if risk.attack.startswith("sampled")]
    assert shown.rate == pytest.approx(1 / 3)
    assert alike.rate > 1 / 3 + 5.5 * alike.standard_error
    everybody = {name: np.zeros(N, np.int64) for name in SCHEMA}
    plan = made("RS+FD[GRR]")
    achieved = sampled_attribute(plan, SCHEMA.decode(everybody), rng=5)
    assert near(alike.rate, achieved.accuracy, alike.standard_error + 0.002)


def test_one_question_and_numbers_have_risks_too():
    plan = Plan({"age": Grid(17, 90)}, 1.0, "square-wave")
    value, *found = risks(plan)
    people = np.random.default_rng(1).integers(17, 91, N)
    assert near(value.rate, guess(next(iter(plan.mechanisms.values())), people, rng=1).accuracy)
    assert [risk.baseline for risk in found] == [0.001, 0.01]


def test_re_identification_is_that_of_one_survey_among_as_many_people():
    plan = made("SPL[GRR]", 9.0)
    one, ten = risks(plan, n=500)[-2:]
    found = reidentification([plan], draw_people(plan.schema, {}, 500, rng=9), rng=1)
    for risk, result in ((one, found[1]), (ten, found[10])):
        assert risk.baseline == result.baseline
        assert abs(risk.rate - result.accuracy) < 5.5 * math.sqrt(2 * result.accuracy * (1 - result.accuracy) / 500)


def test_the_same_plan_has_the_same_figures():
    assert risks(made("RS+FD[GRR]")) == risks(made("RS+FD[GRR]"))


def test_missing_values_of_a_category_of_their_own_are_people_like_others():
    schema = Schema({"a": Categories(labels=("x", "y"), missing="category"), "b": Categories(k=2)})
    first, *_ = risks(Plan(schema, 1.0, "SMP[GRR]"))
    assert first.baseline == pytest.approx(1 / 3)


def test_wrong_questions_are_refused():
    with pytest.raises(ParameterTypeError, match=r"bruit\.Plan"):
        risks(SCHEMA)
    with pytest.raises(ParameterError, match="name attributes"):
        risks(made("SPL[GRR]"), {"z": [1.0]})
    with pytest.raises(ParameterError, match="n must be"):
        risks(made("SPL[GRR]"), n=1)
