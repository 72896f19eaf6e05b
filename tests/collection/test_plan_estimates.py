"""Estimates of every method are unbiased, their stated variance is the observed one, and intervals cover."""

import itertools
import math

import numpy as np
import pytest

import bruit
from bruit.collection import Method, Plan
from bruit.entropy import Entropy
from bruit.errors import DataError, ParameterError
from bruit.estimation import Estimate, Tally
from bruit.estimation.mixture import MixtureModel

SHAPE = (2, 3, 5)
TRUTH = {"a0": np.array([0.8, 0.2]), "a1": np.array([0.6, 0.3, 0.1]), "a2": np.array([0.5, 0.3, 0.15, 0.05, 0.0])}
METHODS = [
    "SPL[GRR]",
    "SPL[ADP]",
    "SMP[GRR]",
    "SMP[OUE]",
    "SMP[HR]",
    "SMP[ADP]",
    "RS+FD[GRR]",
    "RS+FD[SUE-z]",
    "RS+FD[OUE-z]",
    "RS+FD[SUE-r]",
    "RS+FD[OUE-r]",
    "RS+FD[SS]",
    "RS+FD[ADP]",
    "RS+RFD[GRR]",
    "RS+RFD[SUE-r]",
    "RS+RFD[OUE-r]",
    "RS+RFD[ADP]",
]


def _people(n, target, rounds, seed):
    """Codes of `rounds` collections of n people: the same people each time, or drawn anew."""
    generator = np.random.default_rng(seed)
    if target == "people":
        found = {
            name: np.repeat(np.arange(truth.size), np.round(truth * n).astype(int)) for name, truth in TRUTH.items()
        }
        # The attributes have something to do with each other: half of the people are sorted by both.
        for place, name in enumerate(found):
            generator.shuffle(found[name][place * n // 4 :])
        return {name: np.tile(codes, rounds) for name, codes in found.items()}
    return {name: generator.choice(truth.size, n * rounds, p=truth) for name, truth in TRUTH.items()}


def _collect(plan, n, target, rounds, seed=5):
    """One tally for each of many collections, by real reports."""
    reports = plan.privatize(_people(n, target, rounds, seed), rng=seed)
    parts = ({name: column[start : start + n] for name, column in reports.items()} for start in range(0, n * rounds, n))
    return [plan.tally(part) for part in parts]


def _check(plan, tallies, target, limit, band):
    """Means within `limit` standard errors of the truth, and variances within the band around the stated ones.

    The stated variance is the formula at the true frequencies; with SMP it is given how many reported on an attribute,
    and the variance over all collections is the mean of that, because the estimate is unbiased given it.
    """
    estimates = [plan.estimate(tally, target) for tally in tallies]
    for name, truth in TRUTH.items():
        answers = [each[name] for each in estimates]
        found = np.array([answer.frequency for answer in answers])
        stated = np.mean([answer.model.variance(truth, target) for answer in answers], axis=0)
        off = (found.mean(axis=0) - truth) / np.sqrt(stated / len(tallies))
        assert np.abs(off).max() < limit, (name, off)
        ratio = found.var(axis=0) / stated
        assert band[0] < ratio.min(), (name, ratio)
        assert ratio.max() < band[1], (name, ratio)


@pytest.mark.audit
@pytest.mark.parametrize("target", ["people", "population"])
@pytest.mark.parametrize("method", METHODS)
def test_estimates_are_unbiased_and_vary_as_stated(make, method, target):
    plan = make(method, SHAPE, 1.5)
    _check(plan, _collect(plan, 200, target, 500), target, 5.8, (0.6, 1.5))


@pytest.mark.audit
@pytest.mark.parametrize("target", ["people", "population"])
@pytest.mark.parametrize("method", METHODS)
def test_over_thirty_thousand_collections_variances_are_within_five_per_cent(make, method, target):
    plan = make(method, SHAPE, 1.5)
    _check(plan, _collect(plan, 200, target, 30_000), target, 5.5, (0.95, 1.05))


@pytest.mark.parametrize("method", ["SMP[ADP]", "RS+FD[GRR]", "RS+FD[OUE-r]", "RS+RFD[GRR]", "SPL[SS]"])
def test_a_stated_variance_is_not_that_of_another_design(make, method):
    """The control: the same collections do not pass for ones made with another ε."""
    plan = make(method, SHAPE, 1.5)
    tallies = _collect(plan, 200, "people", 300)
    for other in (make(method, SHAPE, 0.9), make(method, SHAPE, 2.5)):
        moved = [Tally(design=other.digest, counts=tally.counts, n=tally.n) for tally in tallies]
        with pytest.raises((AssertionError, DataError)):  # sets of another size do not even add up
            _check(other, moved, "people", 5.8, (0.6, 1.5))


@pytest.mark.audit
@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[ADP]", "RS+FD[ADP]", "RS+FD[OUE-r]", "RS+RFD[GRR]"])
def test_simulated_tallies_have_the_law_of_real_ones(make, method):
    """From the joint table and from marginals: the same means and variances, attribute by attribute."""
    plan, n, rounds = make(method, SHAPE, 1.5), 200, 500
    people = _people(n, "people", 1, 5)
    table = np.zeros(SHAPE, int)
    np.add.at(table, tuple(people.values()), 1)
    marginals = {name: np.bincount(codes, minlength=TRUTH[name].size) for name, codes in people.items()}
    entropy = Entropy(9)
    for counts in (table, marginals):
        tallies = [plan.simulate(counts, rng=entropy) for _ in range(rounds)]
        assert all(tally.simulated and tally.n == n for tally in tallies)
        _check(plan, tallies, "people", 5.8, (0.6, 1.5))


@pytest.mark.audit
def test_a_joint_table_keeps_what_attributes_have_to_do_with_each_other():
    """Two equal attributes: who is drawn for one is not drawn for the other, which marginals cannot tell."""
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 8.0, "SMP[GRR]")
    table, entropy = np.array([[50, 0], [0, 50]]), Entropy(4)

    def covariance(counts):
        cells = np.array([plan.simulate(counts, rng=entropy).counts for _ in range(2500)], float)
        # Reports of value 0 on the first attribute, and on the second.
        return float(np.cov(cells[:, 2], cells[:, 4])[0, 1])

    real = {"a": np.repeat(["0", "1"], 50), "b": np.repeat(["0", "1"], 50)}
    cells = np.array([plan.tally(plan.privatize(real, rng=entropy)).counts for _ in range(1000)], float)
    observed = float(np.cov(cells[:, 2], cells[:, 4])[0, 1])
    assert observed == pytest.approx(-12.5, abs=3)
    assert covariance(table) == pytest.approx(-12.5, abs=1.5)
    assert covariance({"a": [50, 50], "b": [50, 50]}) == pytest.approx(-6.25, abs=1.5)


@pytest.mark.audit("RS+FD[OUE-z]", "RS+RFD", "SMP", share=3)
@pytest.mark.parametrize("target", ["people", "population"])
@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[OUE]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+RFD[OUE-r]"])
def test_intervals_cover_at_their_level(make, method, target):
    plan, n, rounds = make(method, SHAPE, 2.0), 1000, 400
    tallies = _collect(plan, n, target, rounds)
    kinds = ["wilson", "wald"] + (["clopper-pearson"] if target == "population" else [])
    for kind, name in itertools.product(kinds, TRUTH):
        ends = np.array([plan.estimate(tally, target)[name].interval(0.9, kind) for tally in tallies])
        inside = ((ends[..., 0] <= TRUTH[name]) & (TRUTH[name] <= ends[..., 1])).mean(axis=0)
        # 400 collections: 0.90 ± 5.5 × 0.015; Clopper–Pearson covers more often.
        assert inside.min() > 0.81, (kind, name, inside)
        assert inside.max() < (0.985 if kind != "clopper-pearson" else 1.01), (kind, name, inside)


def test_numbers_are_estimated_by_their_own_mechanisms():
    schema = {"sex": ["F", "M"], "age": bruit.Grid(0, 20), "income": bruit.Grid(0.0, 1.0, cells=64)}
    generator = np.random.default_rng(3)
    n, rounds = 400, 300
    ages = generator.integers(0, 21, n)
    people = {"sex": np.repeat(["F", "M"], n // 2), "age": ages, "income": ages / 40}
    for method, bases in [
        ("SMP[ADP]", None),
        ("SPL[ADP]", None),
        ("SMP[GRR]", {"age": "piecewise", "income": "duchi"}),
    ]:
        plan = Plan(schema, 3.0, Method.named(method, mechanisms=bases))
        many = {name: np.tile(column, rounds) for name, column in people.items()}
        reports = plan.privatize(many, rng=6)
        tallies = [
            plan.tally({name: column[start : start + n] for name, column in reports.items()})
            for start in range(0, n * rounds, n)
        ]
        for name, truth in (("age", ages.mean()), ("income", (np.round(ages / 40 * 63) / 63).mean())):
            answers = [plan.estimate(tally, "people")[name] for tally in tallies]
            means = np.array([answer.mean for answer in answers])
            stated = np.mean([answer.variance for answer in answers])
            assert abs(means.mean() - truth) < 5.8 * math.sqrt(stated / rounds)
            assert 0.55 < means.var() / stated < 1.6
            assert np.mean([answer.interval(0.9)[0] <= truth <= answer.interval(0.9)[1] for answer in answers]) > 0.8
        assert isinstance(plan.estimate(tallies[0])["sex"], Estimate)


def test_cells_of_a_grid_are_categories_among_fakes():
    plan = Plan({"sex": ["F", "M"], "age": bruit.Grid(0, 4, missing="category")}, 4.0, "RS+FD[GRR]")
    reports = plan.privatize({"sex": ["F"] * 3000, "age": [2] * 2000 + [None] * 1000}, rng=1)
    answer = plan.estimate(plan.tally(reports))["age"]
    assert answer.labels == (0.0, 1.0, 2.0, 3.0, 4.0, "(missing)")
    assert answer.frequency[[2, 5]].tolist() == pytest.approx([2 / 3, 1 / 3], abs=0.15)


@pytest.mark.parametrize("target", ["people", "population"])
@pytest.mark.parametrize(
    "method", ["RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[SUE-r]", "RS+FD[SS]", "RS+RFD[GRR]", "RS+RFD[OUE-r]"]
)
def test_the_covariance_is_that_of_the_written_law(make, exact, method, target):
    """From the exact law of one attribute's column: P(message | value), mixed with the fakes."""
    plan = make(method, (2, 4), 1.0)
    frequency = np.array([0.4, 0.3, 0.2, 0.1])
    table = exact.law(plan)
    mechanism = plan.mechanisms["a1"]
    supports = _supports(mechanism)
    rows = np.zeros((4, len(supports)))
    for (_, own), law in table.items():
        for (_, message), chance in law.items():
            rows[own, message] += float(chance) / 2  # the two values of the other attribute, alike
    means = rows @ supports
    second = np.einsum("xy,yu,yv->xuv", rows, supports, supports)
    if target == "people":
        covariance = np.einsum("x,xuv->uv", frequency, second - means[:, :, None] * means[:, None, :])
    else:
        whole = frequency @ means
        covariance = np.einsum("x,xuv->uv", frequency, second) - np.outer(whole, whole)
    model = plan.design.answer(
        "a1", plan.simulate({"a0": [50, 50], "a1": [40, 30, 20, 10]}), target, plan.guarantee
    ).model
    assert isinstance(model, MixtureModel)
    assert model.covariance(frequency, target) == pytest.approx(
        covariance / (100 * model.law.gap**2), rel=1e-9, abs=1e-12
    )


def _supports(mechanism):
    """Which values each message supports."""
    messages = len(mechanism.matrix()[0])
    if messages == mechanism.size and mechanism.name == "GRR":
        return np.eye(mechanism.size)
    likely = np.array([[float(entry) for entry in row] for row in mechanism.matrix()])
    if messages == 2**mechanism.size:
        return np.array([[y >> v & 1 for v in range(mechanism.size)] for y in range(messages)])
    return (likely == likely.max()).T.astype(float)


@pytest.mark.parametrize("method", ["RS+FD[GRR]", "RS+RFD[GRR]"])
def test_the_most_likely_frequencies_are_those_of_the_highest_likelihood(make, method):
    plan = make(method, (2, 5), 1.0)
    answer = plan.estimate(plan.simulate({"a0": [200, 100], "a1": [250, 50, 0, 0, 0]}, rng=3))["a1"]
    found = answer.consistent("em").frequency
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    law, counts = answer.model.law, answer.model.counts

    def likelihood(frequency):
        return counts @ np.log(law.other + law.gap * frequency)

    generator = np.random.default_rng(1)
    for _ in range(300):
        away = generator.dirichlet(np.ones(5))
        for step in (1e-3, 1e-1, 1.0):
            assert likelihood(found) >= likelihood((1 - step) * found + step * away) - 1e-9


def test_likelihoods_of_bits_are_not_guessed_from_counts(make):
    answer = make("RS+FD[OUE-z]", (2, 5)).estimate(make("RS+FD[OUE-z]", (2, 5)).simulate(np.full((2, 5), 9), rng=3))[
        "a1"
    ]
    with pytest.raises(ParameterError, match="not known from counts"):
        answer.consistent("em")
    for method in ("norm-sub", "clip", "norm", "norm-cut", "norm-mul", "base-cut"):
        assert answer.consistent(method).frequency.shape == (5,)


def test_what_nobody_has_is_seldom_kept_by_base_cut(make):
    plan = make("RS+RFD[GRR]", (2, 5), 1.0)
    kept = 0
    for seed in range(60):
        answer = plan.estimate(plan.simulate({"a0": [500, 500], "a1": [1000, 0, 0, 0, 0]}, rng=seed))["a1"]
        kept += bool((answer.frequency[1:] > answer.model.absent_limit(0.95)[1:]).any())
    assert kept <= 15  # 60 × 0.05 at most expected: 3


def test_variance_before_collecting_is_the_variance_of_the_estimate(make):
    for method in ("SPL[GRR]", "SMP[GRR]", "RS+FD[GRR]", "RS+RFD[GRR]"):
        plan = make(method, SHAPE, 1.0)
        for target in ("people", "population"):
            stated = plan.variance(1000, TRUTH, target)
            answers = plan.estimate(
                plan.simulate({name: np.round(1000 * truth).astype(int) for name, truth in TRUTH.items()}, rng=2),
                target,
            )
            for name, truth in TRUTH.items():
                model = answers[name].model
                exact = model.variance(truth, target) * (
                    answers[name].n / (1000 / 3) if method.startswith("SMP") else 1
                )
                assert stated[name] == pytest.approx(exact, rel=0.05)


def test_an_attribute_that_nobody_reported_is_an_error_only_when_asked_for():
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, "SMP[GRR]")
    answers = plan.estimate(plan.tally({"attribute": [0, 0], "report": [0, 1]}))
    assert answers["a"].n == 2
    with pytest.raises(DataError, match="Nobody reported on 'b'"):
        answers["b"]
    with pytest.raises(KeyError):
        answers["c"]
    assert list(answers) == ["a", "b"]
    assert len(answers) == 2
