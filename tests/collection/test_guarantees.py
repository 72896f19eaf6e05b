"""What a plan guarantees is the worst ratio over all pairs of records, found by writing the whole law down."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.collection import RSFD, RSRFD, Plan, guarantees
from bruit.collection.guarantees import Extremes, Odds
from bruit.rounding import exp_floor, log_ceiling

SHAPES = [(2, 2), (2, 3), (3, 4), (2, 2, 3)]
FAKES = [
    "RS+FD[GRR]",
    "RS+FD[SUE-z]",
    "RS+FD[OUE-z]",
    "RS+FD[SUE-r]",
    "RS+FD[OUE-r]",
    "RS+FD[SS]",
    "RS+FD[ADP]",
    "RS+FD[PGR]",
]
WITH_PRIOR = ["RS+RFD[GRR]", "RS+RFD[SUE-r]", "RS+RFD[OUE-r]", "RS+RFD[ADP]", "RS+RFD[SS]", "RS+RFD[PGR]"]
PLAIN = ["SPL[GRR]", "SPL[OUE]", "SPL[SS]", "SPL[ADP]", "SMP[GRR]", "SMP[SUE]", "SMP[SS]", "SMP[HR]", "SMP[ADP]"]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("unit", ["person", "attribute"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("method", [*PLAIN, *FAKES, *WITH_PRIOR])
def test_the_guarantee_is_the_worst_ratio_over_all_pairs_of_records(make, exact, method, shape, unit):
    plan = make(method, shape)
    assert log_ceiling(exact.worst_ratio(plan, unit)) == plan.guarantees[unit].epsilon


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("epsilon", [0.2, 3.0])
@pytest.mark.parametrize("method", [*FAKES, *WITH_PRIOR])
def test_it_is_so_for_an_attribute_at_epsilon_and_as_published_too(make, exact, method, epsilon):
    for plan in (make(method, (2, 4), epsilon, unit="attribute"), make(method, (2, 4), epsilon, published=True)):
        for unit in ("person", "attribute"):
            assert log_ceiling(exact.worst_ratio(plan, unit)) == plan.guarantees[unit].epsilon


@pytest.mark.parametrize(
    "bases",
    [
        {"a0": "GRR", "a1": "OUE-z", "a2": "SUE-r"},
        {"a0": "SS", "a1": "OUE-r", "a2": "GRR"},
        {"a0": "SUE-z", "a1": "SS", "a2": "OUE-z"},
    ],
)
def test_mixed_mechanisms_have_the_worst_ratio_too(make, exact, bases):
    plan = make("RS+FD[ADP]", (2, 3, 3), mechanisms=bases)
    assert {name: column.base for name, column in plan.design.columns.items()} == bases
    for unit in ("person", "attribute"):
        assert log_ceiling(exact.worst_ratio(plan, unit)) == plan.guarantees[unit].epsilon


def test_unequal_budgets_and_weights_have_the_worst_ratio_too(make, exact):
    split = make("SPL[GRR]", (2, 3), budgets={"a0": 0.3, "a1": 0.7})
    sampled = make("SMP[OUE]", (2, 3), weights={"a0": 1, "a1": 5})
    for plan, unit in itertools.product((split, sampled), ("person", "attribute")):
        assert log_ceiling(exact.worst_ratio(plan, unit)) == plan.guarantees[unit].epsilon
    assert split.guarantee.epsilon <= 1.0
    assert split.guarantees["attribute"].epsilon <= 0.7


def test_a_law_adds_up_to_one_for_every_record(make, exact):
    for method in ("SPL[GRR]", "SMP[OUE]", "RS+FD[OUE-r]", "RS+RFD[GRR]"):
        assert {sum(row.values()) for row in exact.law(make(method, (2, 3))).values()} == {Fraction(1)}


def test_the_example_that_a_reader_can_check_by_hand(exact):
    """d = 2, k = 2, published ε = ln 2: inside ε' = ln 3, so a true report is right 3 times out of 4, a fake 1 in 2.

    Report (0, 0) from record (0, 0): ½(¾·½ + ½·¾) = 3/8. From (1, 1): ½(¼·½ + ½·¼) = 1/8. The ratio is 3, not 2.
    """
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, epsilon=math.log(2), method=RSFD("GRR", published=True))
    table = exact.law(plan)
    assert float(table[0, 0][0, 0]) == pytest.approx(3 / 8, abs=1e-15)
    assert float(table[1, 1][0, 0]) == pytest.approx(1 / 8, abs=1e-15)
    assert float(table[1, 0][0, 0]) == pytest.approx(2 / 8, abs=1e-15)
    assert math.exp(plan.guarantee.epsilon) == pytest.approx(3, abs=1e-12)
    assert math.exp(plan.guarantees["attribute"].epsilon) == pytest.approx(2, abs=1e-12)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", [*PLAIN, *FAKES, *WITH_PRIOR])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("unit", ["person", "attribute"])
def test_what_is_stated_never_passes_what_was_asked_and_wastes_next_to_nothing(make, method, epsilon, unit):
    plan = make(method, (2, 7, 20), epsilon, unit=unit)
    stated = plan.guarantees[unit].epsilon
    assert epsilon * (1 - 1e-9) <= stated <= epsilon


def test_with_attributes_of_one_size_the_published_figure_is_that_of_one_attribute(make):
    for method in ("RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[SUE-z]", "RS+FD[SS]"):
        plan = make(method, (5, 5, 5, 5), published=True)
        assert plan.guarantees["attribute"].epsilon == pytest.approx(1.0, abs=1e-9)
        assert plan.guarantee.epsilon == pytest.approx(math.log(4 * (math.e - 1) + 1), abs=1e-9)


def test_zeros_with_the_same_probabilities_hold_the_published_figure_whatever_the_sizes(make):
    plan = make("RS+FD[OUE-z]", (2, 9, 30), published=True)
    assert plan.guarantees["attribute"].epsilon == pytest.approx(1.0, abs=1e-9)
    assert make("RS+FD[OUE-r]", (3, 3), published=True).guarantees["attribute"].epsilon > 1.1


def test_the_published_figures_of_a_survey_of_eighteen_attributes(make):
    """On ACSEmployment's sizes at nominal 1 the age attribute gets 2.08 and the person 3.46."""
    sizes = [92, 25, 5, 2, 2, 9, 4, 5, 5, 4, 2, 18, 2, 2, 3, 9, 3, 6]
    plan = make("RS+FD[GRR]", sizes, published=True)
    assert plan.guarantees["attribute"].epsilon == pytest.approx(2.08, abs=0.03)
    assert plan.guarantee.epsilon == pytest.approx(3.46, abs=0.01)


def test_a_prior_near_zero_brings_an_attribute_to_what_the_person_has():
    shares = [{"a": [1.0, 1.0], "b": [1.0, small]} for small in (1.0, 1e-2, 1e-6, 1e-12)]
    found = [
        Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, RSRFD("GRR", prior=prior)).guarantees["attribute"].epsilon
        for prior in shares
    ]
    assert found == sorted(found)
    assert found[0] < 0.63
    assert found[-1] == pytest.approx(1.0, abs=1e-6)


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=4), min_size=1, max_size=4)
)
@settings(deadline=None, max_examples=80)
def test_the_search_for_the_worst_reports_of_a_person_finds_what_trying_all_of_them_finds(drawn):
    attributes = [
        Extremes(reports := tuple(Odds(Fraction(low + more), Fraction(low)) for low, more in each), reports[0].least)
        for each in drawn
    ]
    tried = max(
        sum(odds.most for odds in chosen) / sum(odds.least for odds in chosen)
        for chosen in itertools.product(*(extremes.reports for extremes in attributes))
    )
    assert guarantees.person_ratio(attributes) == tried


def test_an_inner_epsilon_is_the_largest_that_holds(make):
    plan = make("RS+FD[GRR]", (2, 3, 9), 1.0, unit="attribute")

    def attribute_at(inner):
        return make("RS+FD[GRR]", (2, 3, 9), inner).design.ratio("attribute")

    assert attribute_at(plan.mechanisms["a0"].epsilon) <= Fraction(exp_floor(1.0, 2**100), 2**100)
    assert log_ceiling(attribute_at(plan.mechanisms["a0"].epsilon * (1 + 1e-12))) > 1.0
