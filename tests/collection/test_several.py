"""A plan for several attributes: valid from birth, one document, compact reports, tallies that add."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bruit
from bruit import documents
from bruit.collection import RSFD, RSRFD, SMP, SPL, Method, Plan, learnt_prior
from bruit.collection.prior import weights
from bruit.collection.sample import Sample
from bruit.errors import BruitError, DataError, DataTypeError, DesignError, FormatError, LimitError, ParameterError
from bruit.estimation import Tally

from ..plans import planned

SCHEMA = {"sex": ["F", "M"], "age": bruit.Grid(17, 90), "degree": ["none", "school", "college"]}
PLAIN = {"sex": ["F", "M"], "town": bruit.Categories(k=300), "degree": ["none", "school", "college"]}
PRIOR = {"sex": [0.5, 0.5], "town": range(1, 301), "degree": [0.2, 0.5, 0.3]}
PEOPLE = {"sex": ["F", "M", "M", "F"], "town": [0, 299, 7, 7], "degree": ["none", "school", "school", "college"]}

PLANS = {
    "split": lambda: Plan(PLAIN, 1.0, "SPL[ADP]"),
    "budgets": lambda: Plan(PLAIN, 1.0, SPL("OUE", budgets={"sex": 0.2, "town": 0.5, "degree": 0.3})),
    "attributes": lambda: Plan(PLAIN, 1.0, "SPL[GRR]", unit="attribute"),
    "sample": lambda: Plan(PLAIN, 1.0, "SMP[ADP]"),
    "codes": lambda: Plan(PLAIN, 1.0, SMP("GRR", weights={"sex": 1, "town": 3, "degree": 2})),
    "hashes": lambda: Plan(PLAIN, 1.0, SMP("OLH", mechanisms={"sex": "GRR", "degree": "HR"})),
    "fakes": lambda: Plan(PLAIN, 1.0, "RS+FD[GRR]"),
    "bits": lambda: Plan(PLAIN, 1.0, "RS+FD[OUE-z]", unit="attribute"),
    "mixed": lambda: Plan(PLAIN, 2.0, RSFD(mechanisms={"sex": "GRR", "town": "SS", "degree": "SUE-r"})),
    "prior": lambda: Plan(PLAIN, 1.0, RSRFD("GRR", prior=PRIOR)),
    "noise": lambda: Plan(PLAIN, 1.0, RSRFD("OUE-r", prior=PRIOR)),
    "published": lambda: Plan(PLAIN, 1.0, RSFD(published=True)),
}


@pytest.fixture(params=PLANS)
def plan(request):
    return PLANS[request.param]()


def test_a_plan_survives_the_round_trip(plan):
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.digest == plan.digest
    assert again.to_json() == plan.to_json()
    assert again.mechanisms == plan.mechanisms
    assert [own.epsilon for own in again.mechanisms.values()] == [own.epsilon for own in plan.mechanisms.values()]


def test_all_plans_have_different_digests():
    made = [make() for make in PLANS.values()]
    assert len({found.digest for found in made}) == len(made)
    assert len(set(made)) == len(made)


def test_a_person_can_read_a_plan(plan):
    document = json.loads(plan.to_json())
    assert document["format"] == "bruit.plan/1"
    assert document["method"] == str(plan.method)
    assert list(document["mechanisms"]) == ["sex", "town", "degree"]
    assert document["guarantee"] == plan.guarantee.to_dict()
    assert document["guarantee_of_an_attribute"] == plan.guarantees["attribute"].to_dict()
    assert document["calibration"] == ("published" if plan.method.published else "exact")


@pytest.mark.parametrize(
    "change",
    [
        {"guarantee": {"epsilon": 0.1, "delta": 0.0, "neighbours": "person"}},
        {"epsilon": 2.0},
        {"epsilon": "1"},
        {"unit": "household"},
        {"unit": "attribute"},
        {"calibration": "published"},
        {"mechanisms": {}},
        {"mechanisms": 3},
        {"method": "RS+FD[OUE-z]"},
        {"method": "RS+FD[]"},
        {"prior": {"sex": [1, 1]}},
        {"mechanisms": {"sex": "SS"}},
        {"mechanisms": []},
        {"budgets": {"sex": 1.0}},
        {"weights": 7},
        {"attributes": []},
    ],
)
def test_a_plan_that_contradicts_itself_is_refused_even_with_a_right_digest(change):
    body = json.loads(PLANS["fakes"]().to_json())
    body = {key: value for key, value in body.items() if key not in ("format", "digest")}
    with pytest.raises(FormatError):
        Plan.from_json(documents.seal("bruit.plan/1", {**body, **change}))


def test_a_damaged_prior_is_refused():
    body = json.loads(PLANS["prior"]().to_json())
    body = {key: value for key, value in body.items() if key not in ("format", "digest")}
    for bad in (["x", "y"], [0, 2**53], ["0", str(2**64)], None, [1], [[1, 1]]):
        with pytest.raises(FormatError):
            Plan.from_json(documents.seal("bruit.plan/1", {**body, "prior": {**body["prior"], "sex": bad}}))


# Reports and tallies.


def _reports(plan, n=500, seed=3):
    generator = np.random.default_rng(1)
    people = {name: generator.integers(0, found.size, n) for name, found in plan.schema.items()}
    return plan.privatize(plan.schema.decode(people), rng=seed)


def test_tallies_add_however_reports_are_split_and_survive_being_written(plan):
    reports = _reports(plan)
    whole = plan.tally(reports)
    assert (whole.n, whole.refused) == (500, 0)
    for place in (0, 1, 333, 500):
        parts = [
            plan.tally({name: column[cut] for name, column in reports.items()})
            for cut in (slice(None, place), slice(place, None))
        ]
        assert parts[0] + parts[1] == whole
    assert Tally.from_json(whole.to_json()) == whole == Tally.from_bytes(whole.to_bytes())
    assert plan.estimate(whole)["degree"].labels == ("none", "school", "college")


def test_estimating_needs_a_tally_of_the_very_plan(plan):
    other = Plan({**PLAIN, "sex": ["M", "F"]}, 1.0, "SMP[GRR]")
    with pytest.raises(DesignError, match="another plan"):
        plan.estimate(other.tally(_reports(other)))
    with pytest.raises(DataTypeError, match="needs a Tally"):
        plan.estimate([1, 2])
    with pytest.raises(DesignError, match="another number of cells"):
        plan.estimate(Tally(design=plan.digest, counts=[1, 2], n=3))
    forged = Tally(design=plan.digest, counts=np.full(plan.design.cells, 5), n=2)
    with pytest.raises(DataError, match="do not add up"):
        plan.estimate(forged)


def test_reports_take_the_least_room_that_holds_them():
    forms = {name: make().records.empty_reports(0) for name, make in PLANS.items()}
    assert {name: column.dtype for name, column in forms["fakes"].items()} == {
        "sex": np.uint8,
        "town": np.uint16,
        "degree": np.uint8,
    }
    assert forms["bits"]["town"].shape == (0, 38)
    assert {name: (column.dtype, column.shape) for name, column in forms["codes"].items()} == {
        "attribute": (np.uint8, (0,)),
        "report": (np.uint16, (0,)),
    }
    assert forms["sample"]["report"].shape == (0, 38)
    assert forms["hashes"]["report"].shape == (0, 17)


def test_a_person_with_any_impossible_report_is_refused_once():
    plan = PLANS["fakes"]()
    tally = plan.tally({"sex": [0, 2, 9, 1], "town": [299, 300, 5, 5], "degree": [0, 0, 0, 3]})
    assert (tally.n, tally.refused) == (1, 3)
    assert tally.counts.sum() == 3
    hostile = plan.tally({"sex": [0, None], "town": [None, 1], "degree": [2**70, 2]})
    assert (hostile.n, hostile.refused) == (0, 2)


def test_impossible_rows_of_bits_are_refused_too():
    plan = PLANS["mixed"]()
    reports = _reports(plan)
    assert plan.tally(reports).refused == 0
    reports["town"][:10] ^= 1  # a subset with one member more or fewer
    reports["degree"][5:20] |= 0x80  # a bit beyond the last value
    reports["sex"][19:21] = 2
    tally = plan.tally(reports)
    assert (tally.n, tally.refused) == (479, 21)


def test_impossible_reports_on_one_attribute_are_refused():
    plan = PLANS["codes"]()
    tally = plan.tally({"attribute": [0, 0, 1, 2, 3, 255], "report": [1, 2, 299, 2, 0, 0]})
    assert (tally.n, tally.refused) == (3, 3)
    assert tally.counts[:3].tolist() == [1, 1, 1]
    plan = PLANS["hashes"]()
    rows = np.zeros((3, 17), np.uint8)
    rows[1, 1] = 1  # something behind a report of one byte
    assert plan.tally({"attribute": [0, 0, 0], "report": rows}).refused == 1


@pytest.mark.parametrize(
    ("name", "reports"),
    [
        ("fakes", {"sex": [0], "town": [1]}),
        ("fakes", {"sex": [0, 1], "town": [1], "degree": [1]}),
        ("fakes", {"sex": np.array([0.5]), "town": [1], "degree": [1]}),
        ("bits", {name: np.array([[0]]) for name in ("sex", "town", "degree")}),
        ("codes", {"attribute": [0]}),
        ("codes", {"attribute": [0, 1], "report": [1]}),
        ("sample", {"attribute": [0], "report": np.array([1])}),
        ("codes", [1, 2]),
        ("codes", None),
    ],
)
def test_reports_of_a_wrong_form_are_an_error(name, reports):
    with pytest.raises((DataError, DataTypeError)):
        PLANS[name]().tally(reports)


@pytest.mark.parametrize(
    ("name", "reports"),
    [
        ("fakes", {"sex": [0.5], "town": [1], "degree": [1]}),
        ("fakes", {"sex": [0], "town": ["x"], "degree": [None]}),
        ("bits", {"sex": [[0, 0]], "town": [[0]], "degree": [[0]]}),
        ("sample", {"attribute": [0], "report": [1]}),
        ("codes", {"attribute": ["x"], "report": [1]}),
    ],
)
def test_an_entry_of_a_list_that_is_no_report_refuses_the_person(name, reports):
    tally = PLANS[name]().tally(reports)
    assert (tally.n, tally.refused) == (0, 1)


def test_no_people_are_no_reports(plan):
    nobody = plan.privatize({name: [] for name in PLAIN})
    assert {len(column) for column in nobody.values()} == {0}
    assert plan.tally(nobody).n == 0
    with pytest.raises(DataError):
        plan.estimate(plan.tally(nobody))["sex"]


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_any_table_gives_the_same_reports(plan, frame):
    first, second = plan.privatize(PEOPLE, rng=1), plan.privatize(frame(PEOPLE), rng=1)
    assert {name: column.tolist() for name, column in first.items()} == {
        name: column.tolist() for name, column in second.items()
    }


def test_columns_must_be_there_and_of_one_length_and_values_are_not_shown():
    plan = PLANS["fakes"]()
    with pytest.raises(DataError, match="as many entries"):
        plan.privatize({**PEOPLE, "sex": ["F"]})
    with pytest.raises(DataError, match="column 'town'"):
        plan.privatize({"sex": ["F"], "degree": ["none"]})
    with pytest.raises(DataError) as caught:
        plan.privatize({**PEOPLE, "degree": ["s3cr3t"] * 4})
    assert "s3cr3t" not in str(caught.value)


# What may be asked.


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("spl[grr]", "SPL[GRR]"), (" SMP [ adp ] ", "SMP[ADP]"), ("rs+fd[OUE-Z]", "RS+FD[OUE-z]"), ("GRR", "GRR")],
)
def test_a_method_is_read_in_any_case_and_written_in_one(text, canonical):
    assert str(Method.named(text)) == canonical


@pytest.mark.parametrize(
    "text", ["", "SPL", "SPL[]", "SPL[x]", "RS+FD[OUE]", "RS+RFD[SS]", "ABC[GRR]", "SPL[GRR", 3, None]
)
def test_a_method_that_is_none_is_refused(text):
    with pytest.raises(BruitError):
        Plan(PLAIN, 1.0, text)


@pytest.mark.parametrize(
    "bad",
    [
        {"method": "GRR"},
        {"method": "hybrid"},
        {"method": "SPL[GRR]", "epsilon": None},
        {"method": "SPL[GRR]", "epsilon": 0.002},
        {"method": "SPL[GRR]", "unit": "household"},
        {"method": "SPL[GRR]", "budgets": {"sex": 1.0}},
        {"method": "SPL[GRR]", "budgets": {"sex": 0.5, "town": 0.5, "degree": 0.5}},
        {"method": "SPL[GRR]", "budgets": {"sex": 1.5, "town": -0.7, "degree": 0.2}},
        {"method": "SPL[GRR]", "budgets": 3},
        {"method": "SMP[GRR]", "budgets": {"sex": 0.5, "town": 0.3, "degree": 0.2}},
        {"method": "SMP[GRR]", "weights": {"sex": 1}},
        {"method": "SMP[GRR]", "weights": {"sex": 1, "town": 0, "degree": 1}},
        {"method": "SMP[GRR]", "weights": {"sex": 1, "town": 0.5, "degree": 1}},
        {"method": "SMP[GRR]", "weights": [1, 1, 1]},
        {"method": "SMP[hybrid]"},
        {"method": "SMP[GRR]", "mechanisms": {"sex": "hybrid"}},
        {"method": "SMP[GRR]", "mechanisms": {"height": "GRR"}},
        {"method": "SMP[GRR]", "mechanisms": {"sex": "XYZ"}},
        {"method": "SMP[GRR]", "mechanisms": {"sex": 3}},
        {"method": "SMP[GRR]", "mechanisms": "GRR"},
        {"method": "RS+FD[GRR]", "prior": PRIOR},
        {"method": "RS+FD[GRR]", "mechanisms": {"sex": "OUE"}},
        {"method": "RS+RFD[GRR]"},
        {"method": "RS+RFD[GRR]", "prior": {"sex": [1, 1]}},
        {"method": "RS+RFD[GRR]", "prior": {**PRIOR, "sex": [1, 1, 1]}},
        {"method": "RS+RFD[GRR]", "prior": {**PRIOR, "sex": [1, -1]}},
        {"method": "RS+RFD[GRR]", "prior": {**PRIOR, "sex": [1, math.nan]}},
        {"method": "RS+RFD[GRR]", "prior": {**PRIOR, "sex": ["a", "b"]}},
        {"method": "RS+RFD[GRR]", "prior": 3},
    ],
)
def test_a_plan_is_valid_from_birth(bad):
    with pytest.raises(BruitError):
        planned(**{"schema": PLAIN, "epsilon": 1.0, **bad})


def test_what_belongs_to_several_attributes_is_refused_for_one():
    for method, settings in [("SPL[GRR]", {}), ("RS+FD[GRR]", {}), ("GRR", {"weights": {"q": 1}})]:
        with pytest.raises(ParameterError):
            planned({"q": ["a", "b"]}, 1.0, method, **settings)
    with pytest.raises(LimitError, match="at most"):
        Plan({f"a{j}": ["0", "1"] for j in range(1025)}, 10.0, "SMP[GRR]")


def test_a_zero_in_a_prior_is_refused_with_the_reason():
    with pytest.raises(ParameterError, match="discloses"):
        Plan(PLAIN, 1.0, RSRFD("GRR", prior={**PRIOR, "degree": [0.5, 0.5, 0.0]}))


def test_missing_values_may_be_a_category_but_not_dropped():
    with pytest.raises(ParameterError, match='missing="category"'):
        Plan({**PLAIN, "sex": bruit.Categories(labels=["F", "M"], missing="drop")}, 1.0, "SMP[GRR]")
    plan = Plan({**PLAIN, "sex": bruit.Categories(labels=["F", "M"], missing="category")}, 1.0, "RS+FD[GRR]")
    assert plan.tally(plan.privatize({**PEOPLE, "sex": ["F", None, None, "M"]})).n == 4
    with pytest.raises(ParameterError, match="no category for missing numbers"):
        Plan({"a": ["0", "1"], "b": bruit.Grid(0, 9, missing="category")}, 1.0, "SMP[ADP]")


# Budgets, priors, mechanisms.


def test_parts_of_a_budget_never_add_up_to_more_than_it():
    for d in (2, 3, 7, 49):
        schema = {f"a{j}": ["0", "1"] for j in range(d)}
        plan = Plan(schema, 1.0, "SPL[GRR]")
        assert sum(Fraction(found.epsilon) for found in plan.mechanisms.values()) <= 1
        assert plan.guarantee.epsilon <= 1.0
    parts = {"sex": 0.1, "town": 0.2, "degree": 0.7 + 1e-16}
    plan = Plan(PLAIN, 1.0, SPL("GRR", budgets=parts))
    assert sum(map(Fraction, plan.method.budgets.values())) <= 1
    assert plan.method.budgets == pytest.approx(parts)
    assert Plan(PLAIN, 1.0, "SPL[GRR]", unit="attribute").guarantee.epsilon == pytest.approx(3.0)
    own = Plan(PLAIN, 1.0, SPL("GRR", budgets={"sex": 0.1, "town": 1.0, "degree": 0.7}), unit="attribute")
    assert own.guarantees["attribute"].epsilon == pytest.approx(1.0)


@pytest.mark.parametrize(
    "given",
    [[1, 1], [0.1, 0.2, 0.7], [1e-300, 1.0], [1, 2**70], [Fraction(1, 3), Fraction(2, 3)], [0.1] * 10, range(1, 999)],
)
def test_a_prior_is_rounded_to_whole_numbers_that_add_up_and_are_never_zero(given):
    found = weights(given, len(given))
    assert sum(found) == 2**64
    assert min(found) >= 1
    total = sum(map(Fraction, given))
    assert max(
        abs(Fraction(w, 2**64) - Fraction(share) / total) for w, share in zip(found, given, strict=True)
    ) <= Fraction(len(given), 2**64)
    assert weights(found, len(found)) == found


def test_a_prior_may_be_learnt_from_an_earlier_collection():
    earlier = Plan(PLAIN, 2.0, "SMP[GRR]")
    generator = np.random.default_rng(1)
    people = {name: generator.integers(0, found.size, 3000) for name, found in earlier.schema.items()}
    answers = earlier.estimate(earlier.tally(earlier.privatize(earlier.schema.decode(people), rng=2)))
    prior = learnt_prior(answers, floor=0.05)
    assert min(map(min, prior.values())) > 0
    assert all(sum(shares) == pytest.approx(1) for shares in prior.values())
    assert Plan(PLAIN, 1.0, RSRFD("GRR", prior=prior)).guarantee.epsilon <= 1.0
    numbers = Plan(SCHEMA, 1.0, "SMP[ADP]")
    with pytest.raises(BruitError, match="not of a mean"):
        learnt_prior(
            numbers.estimate(numbers.simulate({"sex": [50, 50], "age": [100] + [0] * 73, "degree": [100, 0, 0]}))
        )


def test_the_adaptive_choice_has_the_least_variance_of_its_candidates():
    schema = {f"a{k}": bruit.Categories(k=k) for k in (2, 3, 5, 9, 30, 200)}
    for kind, candidates in {
        "SPL": ("GRR", "OUE", "SS"),
        "SMP": ("GRR", "OUE", "SS"),
        "RS+FD": ("GRR", "OUE-z", "SS"),
    }.items():
        rare = {name: np.zeros(found.size) for name, found in Plan(schema, 1.0, "SMP[GRR]").schema.items()}
        best = Plan(schema, 1.0, f"{kind}[ADP]").variance(1000, rare)
        others = [Plan(schema, 1.0, f"{kind}[{name}]").variance(1000, rare) for name in candidates]
        for name in schema:
            assert best[name].mean() == min(other[name].mean() for other in others)


def test_the_papers_choose_between_two_only():
    schema = {f"a{k}": bruit.Categories(k=k) for k in (2, 5, 9, 200)}
    for method, names in {"SPL[ADP]": {"GRR", "OUE"}, "SMP[ADP]": {"GRR", "OUE"}, "RS+FD[ADP]": {"GRR", "OUE"}}.items():
        assert {
            mechanism.name for mechanism in Plan(schema, 1.0, Method.named(method, published=True)).mechanisms.values()
        } == names
        assert "SS" in {mechanism.name for mechanism in Plan(schema, 1.0, method).mechanisms.values()}


def test_numbers_have_mechanisms_of_their_own_where_none_is_faked():
    assert Plan(SCHEMA, 1.0, "SMP[ADP]").mechanisms["age"].name == "hybrid"
    assert Plan(SCHEMA, 1.0, SPL("GRR", mechanisms={"age": "square-wave"})).mechanisms["age"].name == "square-wave"
    assert Plan(SCHEMA, 1.0, "SMP[OUE]").mechanisms["age"].size == 74
    assert Plan(SCHEMA, 1.0, "RS+FD[GRR]").mechanisms["age"].size == 74
    plan = Plan({"a": bruit.Grid(0, 1), "b": bruit.Grid(0, 9)}, 1.0, "SMP[Hybrid]")
    assert {found.name for found in plan.mechanisms.values()} == {"hybrid"}
    for made in (plan, Plan(SCHEMA, 1.0, "SMP[ADP]")):
        assert Plan.from_json(made.to_json()) == made


def test_one_number_may_be_asked_for_as_well():
    plan = Plan({"age": bruit.Grid(17, 90)}, 2.0, "Hybrid")
    reports = plan.privatize({"age": [40] * 2000 + [60] * 2000}, rng=4)
    answer = plan.estimate(plan.tally(reports))["age"]
    assert answer.name == "age"
    assert answer.mean == pytest.approx(50, abs=5)
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.guarantee.epsilon == plan.guarantees["attribute"].epsilon <= 2.0
    assert [own.name for own in plan.mechanisms.values()] == ["hybrid"]
    assert plan.simulate([100] + [0] * 73).simulated
    with pytest.raises(ParameterError, match="asks for a number"):
        Plan({"sex": ["F", "M"]}, 1.0, "laplace")


# Simulating.


def test_simulating_needs_whole_counts_of_the_same_people(plan):
    even = {"sex": [30, 30], "town": [1] * 60 + [0] * 240, "degree": [20, 20, 20]}
    tally = plan.simulate(even, rng=1)
    assert (tally.n, tally.simulated, tally.design) == (60, True, plan.digest)
    assert plan.simulate(even, rng=1) == tally
    assert plan.estimate(tally)["sex"].simulated
    for bad in (
        {"sex": [30, 30]},
        {**even, "sex": [30, 31]},
        {**even, "sex": [60]},
        {**even, "sex": [-1, 61]},
        [1, 2],
        3,
    ):
        with pytest.raises(BruitError):
            plan.simulate(bad)
    table = np.zeros((2, 300, 3), int)
    table[0, 5, 1] = 40
    assert plan.simulate(table, rng=1).n == 40


def test_a_joint_table_that_would_fill_the_memory_is_refused():
    plan = Plan({f"a{j}": bruit.Categories(k=100) for j in range(4)}, 1.0, "SMP[GRR]")
    with pytest.raises(ParameterError, match="marginals"):
        plan.simulate(np.zeros((1,)))


def test_more_people_than_the_law_of_drawing_allows_are_refused_from_marginals():
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, "RS+FD[GRR]")
    half = 10**9
    with pytest.raises(LimitError, match="joint table"):
        plan.simulate({"a": [half, half], "b": [half, half]})
    assert plan.simulate(np.full((2, 2), half), rng=1).n == 4 * half


def test_a_plan_prints_what_it_guarantees():
    text = repr(PLANS["published"]())
    assert "RS+FD[ADP]" in text
    assert "person" in text
    assert isinstance(PLANS["sample"]().design, Sample)
    answers = PLANS["fakes"]().estimate(PLANS["fakes"]().tally(_reports(PLANS["fakes"]())))
    assert "RS+FD[GRR]" in repr(answers)
