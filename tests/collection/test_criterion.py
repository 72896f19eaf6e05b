"""ADP takes the mechanism of least error by the criterion that methods are ranked by: it never loses to its parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bruit
from bruit.collection import RSFD, RSRFD, SMP, Method, Plan
from bruit.collection.criterion import MANY
from bruit.errors import LimitError
from bruit.numbers import number

#: What the comparison of two sums of floats may miss.
ROUNDING = 1 + 2e-9

#: Everything that may stand in the brackets for categories, by kind.
PARTS = {
    "SPL": ("GRR", "SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR"),
    "SMP": ("GRR", "SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR"),
    **{method.kind: method.candidates for method in (RSFD, RSRFD)},
}


def _schema(shape):
    return {f"a{j}": bruit.Categories(k=k) for j, k in enumerate(shape)}


def _shares(shape, steepness):
    """Frequencies that fall as a power of the rank."""
    weights = [np.arange(1.0, k + 1) ** -steepness for k in shape]
    return {f"a{j}": each / each.sum() for j, each in enumerate(weights)}


def _ranked(kind, shape, epsilon, **options):
    named = [f"{kind}[{base}]" for base in ("ADP", *PARTS[kind])]
    rows = bruit.compare(_schema(shape), epsilon, methods=named, **options)
    return {row.method: row.variance for row in rows}


def _loses_to(variances, kind):
    own = variances[f"{kind}[ADP]"]
    return [method for method, variance in variances.items() if own > variance * ROUNDING]


def test_four_attributes_of_a_bank_where_adp_lost_to_randomised_response():
    """Marital status, education, housing and loan: ± .0501 where RS+FD[GRR] had ± .0426."""
    variances = _ranked("RS+FD", (3, 4, 2, 2), 3.0)
    assert 1.96 * variances["RS+FD[ADP]"] ** 0.5 == pytest.approx(0.0426, abs=1e-4)
    assert _loses_to(variances, "RS+FD") == []


@pytest.mark.audit
@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("shape", [(2, 2), (3, 4, 2, 2), (7, 2), (5, 31, 2, 12), (2, 3, 74), (300, 2)], ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 0.6, 1.0, 1.2, 3.0, 6.0])
def test_adp_never_loses_to_a_plan_with_one_mechanism(kind, shape, epsilon):
    for options in _populations(kind, shape):
        assert _loses_to(_ranked(kind, shape, epsilon, **options), kind) == []


@pytest.mark.audit
@pytest.mark.parametrize("kind", ["RS+FD", "RS+RFD"])
@pytest.mark.parametrize("shape", [(2, 2), (3, 4, 2, 2), (2, 3, 40)], ids=str)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_adp_never_loses_where_epsilon_speaks_of_an_attribute(kind, shape, epsilon):
    """There ε' of a true report depends on the mechanisms of all attributes together."""
    for options in _populations(kind, shape):
        assert _loses_to(_ranked(kind, shape, epsilon, unit="attribute", **options), kind) == []


def _populations(kind, shape):
    """Nothing known, known frequencies, and priors that are right and wrong."""
    known = {"frequencies": _shares(shape, 1.5)}
    if kind != "RS+RFD":
        return [{}, known]
    return [{"prior": _shares(shape, s)} for s in (0.0, 1.0, 3.0)] + [{"prior": _shares(shape, 2.0), **known}]


@pytest.mark.audit
@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(sorted(PARTS)),
    shape=st.lists(st.integers(2, 40), min_size=2, max_size=5),
    epsilon=st.floats(0.05, 10.0),
    steepness=st.tuples(st.floats(0.0, 3.0), st.floats(0.0, 3.0)),
)
def test_adp_never_loses_whatever_the_sizes_the_budget_and_the_prior(kind, shape, epsilon, steepness):
    options = {"frequencies": _shares(shape, steepness[0])}
    if kind == "RS+RFD":
        options["prior"] = _shares(shape, steepness[1])
    assert _loses_to(_ranked(kind, shape, epsilon, **options), kind) == []


def test_the_rule_of_the_papers_loses_by_this_criterion():
    """The control: the same comparison sees a choice by the variance of a rare value."""
    schema, frequencies = _schema((3, 4, 2, 2)), None
    chosen = Plan(schema, 3.0, RSFD(published=True)).design.bases
    plan = Plan(schema, 3.0, RSFD(mechanisms=chosen))
    single = Plan(schema, 3.0, "RS+FD[GRR]")
    own, best = (np.mean([v.mean() for v in p.variance(1, frequencies).values()]) for p in (plan, single))
    assert own > 1.3 * best


@pytest.mark.parametrize("method", ["SPL[ADP]", "SMP[ADP]", "RS+FD[ADP]"])
@pytest.mark.parametrize("shape", [(3, 4, 2, 2), (2, 3, 74), (9, 20)], ids=str)
def test_as_published_chooses_among_the_papers_two_by_the_variance_of_a_rare_value(method, shape):
    plan = Plan(_schema(shape), 1.0, Method.named(method, published=True))
    candidates = ("GRR", "OUE-z") if method.startswith("RS") else ("GRR", "OUE")
    for j, k in enumerate(shape):
        rare = np.zeros(k)
        errors = {}
        for base in candidates:
            other = Plan(_schema(shape), 1.0, Method.named(method, mechanisms={f"a{j}": base}, published=True))
            errors[base] = other.variance(1, {f"a{j}": rare})[f"a{j}"].mean()
        assert plan.design.bases[f"a{j}"] == min(errors, key=errors.get)


@pytest.mark.parametrize("cells", [2, 3, 10, 64, 256])
@pytest.mark.parametrize("epsilon", [0.3, 0.8, 2.0, 3.0, 8.0, 12.0])
def test_for_a_number_adp_has_the_least_variance_in_the_worst_case(cells, epsilon):
    schema = {"x": bruit.Grid(-1.0, 1.0, cells=cells), "y": ["0", "1"]}
    own = _worst(Plan(schema, epsilon, "SMP[ADP]").mechanisms["x"])
    for name in ("hybrid", "piecewise", "duchi", "square-wave"):
        assert own <= ROUNDING * _worst(number(name, epsilon=epsilon, bounds=(-1.0, 1.0), cells=cells))


def _worst(mechanism):
    """The largest variance of a report's score, over the cells that a person may have."""
    return max(mechanism.variance(np.eye(1, mechanism.cells, cell)[0], 1, "people") for cell in range(mechanism.cells))


def test_hybrid_is_not_the_least_on_a_coarse_grid():
    """The control: what ADP took for every number lost to its own part, 1.3 times at 3 cells and ε = 3."""
    names = ("hybrid", "piecewise")
    hybrid, piecewise = (_worst(number(name, epsilon=3.0, bounds=(-1.0, 1.0), cells=3)) for name in names)
    assert hybrid > 1.3 * piecewise


def test_a_mechanism_that_cannot_serve_is_left_out_of_the_choice(monkeypatch):
    plan = Plan(_schema((2, 12)), 1.0, "SMP[ADP]")
    assert plan.design.bases == {"a0": "GRR", "a1": "SS"}

    def refuses(self):
        raise LimitError("too many")

    monkeypatch.setattr(bruit.oracles.SubsetSelection, "__post_init__", refuses)
    again = Plan(_schema((2, 12)), 1.0, "SMP[ADP]")
    assert again.design.bases == {"a0": "GRR", "a1": "PGR"}


def test_reports_that_would_not_fit_into_memory_are_not_chosen():
    """On 20,000 values a report of subset selection takes 2,500 bytes; projective geometry takes 2 or 4."""
    for epsilon in (0.1, 1.0, 5.0):
        plan = Plan({"town": bruit.Categories(k=20_000), "sex": ["F", "M"]}, epsilon, "SMP[ADP]")
        wide = Plan(plan.schema, epsilon, "SMP[SS]")
        own, best = (each.variance(1)["town"].mean() for each in (plan, wide))
        assert plan.mechanisms["town"].report_bytes <= 8
        assert own < 1.03 * best
    assert Plan(plan.schema, 1.0, SMP(published=True)).mechanisms["town"].name == "OUE"


def test_the_choice_for_known_frequencies_is_written_into_the_plan():
    schema, shares = _schema((6, 3)), _shares((6, 3), 3.0)
    options = {"methods": ["RS+RFD[ADP]"], "prior": _shares((6, 3), 1.0)}
    plan = bruit.compare(schema, 2.0, frequencies=shares, **options).best
    assert plan.method.mechanisms == plan.design.bases
    assert Plan.from_json(plan.to_json()) == plan
    assert bruit.compare(schema, 2.0, **options).best.method.mechanisms is None


@pytest.mark.parametrize("kind", ["SMP", "RS+FD"])
def test_without_a_prior_the_choice_does_not_depend_on_the_frequencies(kind):
    """The sum over the values changes by Σf² alone, by the same amount for every mechanism but HR."""
    shape = (5, 31)
    even, uneven = _shares(shape, 0.0), _shares(shape, 2.0)
    for base in PARTS[kind]:
        plan = Plan(_schema(shape), 2.0, f"{kind}[{base}]")
        d = 2 if kind == "SMP" else 1  # of the people, half report on an attribute
        for name, shares in uneven.items():
            change = MANY * (plan.variance(MANY, uneven)[name].sum() - plan.variance(MANY, even)[name].sum())
            if base != "HR":
                assert change == pytest.approx(-d * ((shares**2).sum() - 1 / shares.size), rel=1e-6)
