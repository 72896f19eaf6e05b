"""Variances are those at the nearest possible frequencies: never 0, never negative, whatever the reports are."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bruit
from bruit import numbers
from bruit.domains import Scale
from bruit.errors import DataError, ParameterError
from bruit.estimation import Tally
from bruit.estimation.possible import nearest_possible
from bruit.estimation.support import SupportModel
from bruit.oracles import LocalHashing, Repeated

from ..plans import planned

TARGETS = ("population", "people")
ORACLES = ("Warner", "GRR", "SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR")
METHODS = (
    *("SPL[GRR]", "SPL[OUE]", "SMP[OLH]", "SMP[HR]", "SMP2[OUE]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+RFD[GRR]"),
    *("TAB[GRR]", "TAB[OUE]", "TAB[SS]", "TAB[HR]", "TAB[PGR]"),
)
NUMBERS = ("laplace", "staircase", "duchi", "piecewise", "hybrid", "square-wave")
#: How far below 0 rounding may leave the least eigenvalue of a matrix, relative to its largest entry.
ROUNDING = 1e-9
#: True shares among which the worst coverage is looked for.
SHARES = np.linspace(0, 1, 201)
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "intervals_of_estimates.md"


def fault(answer: Any) -> str:
    """What is wrong with the errors that an estimate states; nothing if all can be true."""
    variance = np.atleast_1d(answer.variance)
    if not (np.isfinite(variance).all() and (variance > 0).all()):
        return "variance"
    if not hasattr(answer, "model") or not hasattr(answer, "frequency"):
        return ""
    for method in ("wald", "wilson"):
        lower, upper = answer.interval(method=method).T
        if not (lower < upper).all():
            return method
    try:
        matrix = answer.covariance()
    except ParameterError:
        return ""
    if not np.array_equal(np.diagonal(matrix), variance):
        return "diagonal"
    return "" if np.linalg.eigvalsh(matrix).min() > -ROUNDING * np.abs(matrix).max() else "covariance"


# Oracles.


def tallies(oracle: Any, n: int, most: int) -> Iterator[Tally]:
    """All tallies of n reports where there are few, else all reports equal and some at random."""
    cells = oracle._cells()
    if (n + 1) ** cells <= most:
        rows: Any = itertools.product(range(n + 1), repeat=cells)
    else:
        rng = np.random.default_rng(1)
        equal = n * np.eye(cells, dtype=int)[:: max(1, cells // 5)]
        drawn = rng.multinomial(n, np.full(cells, 1 / cells), size=5)
        apart = rng.integers(0, n + 1, size=(5, cells))
        rows = [*equal, *drawn, *apart, np.zeros(cells, int), np.full(cells, n)]
    for row in rows:
        yield Tally(design=oracle.digest, n=n, refused=0, counts=np.array(row, np.int64))


def oracles(name: str, sizes: tuple[int, ...], epsilons: tuple[float, ...]) -> Iterator[Any]:
    for k, epsilon in itertools.product((2,) if name == "Warner" else sizes, epsilons):
        yield bruit.oracle(name, epsilon=epsilon, k=k)
        if name == "OLH" and epsilon <= 8:
            yield LocalHashing(epsilon=epsilon, k=k, pool=2)


def estimates(name: str, sizes: Any, epsilons: Any, people: Any, most: int) -> Iterator[Any]:
    for oracle, n, target in itertools.product(oracles(name, sizes, epsilons), people, TARGETS):
        for tally in tallies(oracle, n, most):
            try:
                yield oracle.estimate(tally, target)
            except DataError:  # no reports have these counts
                continue


def faults(answers: Iterator[Any]) -> set[str]:
    kinds = [fault(answer) for answer in answers]
    assert len(kinds) > 5
    return set(kinds) - {""}


def test_two_equal_reports_have_the_error_of_the_nearest_possible_share() -> None:
    oracle = bruit.oracle("GRR", epsilon=2.0, labels=["No", "Yes"])
    answer = oracle.estimate(oracle.tally(np.array([0, 0], np.uint8)))
    p = float(oracle.p)
    expected = np.sqrt(p * (1 - p) / (2 * (2 * p - 1) ** 2))
    assert round(expected, 3) == 0.301
    assert answer.frequency.round(3).tolist() == [1.157, -0.157]
    assert np.allclose(answer.standard_error, expected, rtol=1e-12)
    assert np.allclose(answer.to_frame()["standard_error"], expected, rtol=1e-12)
    assert np.allclose(answer.covariance(), expected**2 * np.array([[1, -1], [-1, 1]]), rtol=1e-9)
    other = oracle.estimate(oracle.tally(np.array([1, 1], np.uint8)))
    assert np.allclose((answer - other).standard_error, expected * np.sqrt(2), rtol=1e-12)
    assert round(float(np.sqrt(oracle.variance(np.array([0.5]), 2)[0])), 2) == 0.46


@pytest.mark.parametrize("name", ORACLES)
def test_no_tally_of_an_oracle_has_a_standard_error_of_zero(name) -> None:
    assert not faults(estimates(name, (2, 3), (2.0,), (1, 2), 30))


@pytest.mark.audit
@pytest.mark.parametrize("name", ORACLES)
def test_no_tally_of_an_oracle_has_a_standard_error_of_zero_at_any_budget(name) -> None:
    assert not faults(estimates(name, (2, 3, 5, 9), (0.1, 0.5, 2.0, 8.0, 20.0), (1, 2, 3, 7), 300))


@pytest.mark.parametrize("module", ["support", "hadamard", "mixture", "product"])
def test_the_law_catches_a_model_that_takes_the_estimate_itself(module, monkeypatch) -> None:
    """The planted twin: the formula at the estimate, as it was."""
    monkeypatch.setattr(f"bruit.estimation.{module}.nearest_possible", lambda frequency, least=0.0: frequency)
    by_module: dict[str, Any] = {
        "support": lambda: estimates("GRR", (2,), (2.0,), (1, 2), 30),
        "hadamard": lambda: estimates("HR", (3,), (0.5,), (1, 2), 30),
        "mixture": lambda: plan_estimates("RS+FD[GRR]", (2.0,), (1, 2), 2),
        "product": lambda: plan_estimates("SPL[GRR]", (2.0,), (1, 2), 2),
    }
    assert "variance" in faults(by_module[module]())


def test_estimates_in_range_keep_their_variance_to_the_last_bit() -> None:
    for name, target in itertools.product(("GRR", "SUE", "OUE", "OLH", "SS"), TARGETS):
        oracle = bruit.oracle(name, epsilon=1.0, k=6)
        answer = oracle.estimate(oracle.simulate([40, 20, 5, 0, 0, 0], rng=3), target)
        formula = oracle.variance(answer.frequency, answer.n, target)
        inside = (answer.frequency >= 0) & (answer.frequency <= 1)
        assert 0 < inside.sum() < 6
        assert np.array_equal(answer.variance[inside], formula[inside])


# Plans of several attributes, numbers, rounds.


def test_a_margin_of_equal_reports_has_the_error_of_the_nearest_possible_share() -> None:
    """One table, all reports in one cell: each margin is that of a share of 1 or of 0, whatever the cells say."""
    for target in TARGETS:
        plan = bruit.Plan({"a": ["x", "y", "z"], "c": ["u", "v"]}, 2.0, "TAB[GRR]")
        single = plan.tally(plan.privatize({"a": ["x"], "c": ["u"]}, rng=1))
        answer = plan.estimate(single + single, target)["a"]
        (part,) = answer.model.parts
        possible = np.zeros(part.shape)
        possible[int(answer.frequency.argmax()), 0] = 1
        expected = np.diagonal(part.margin_covariance(possible.ravel(), target))
        assert answer.frequency.max() > 1
        assert np.allclose(answer.variance, expected, rtol=1e-9)


SCHEMA = {"a": ["x", "y", "z"], "b": Scale(labels=["no", "hardly", "yes"]), "c": ["u", "v"]}
PEOPLE = {"a": ["x", "y", "z", "x"], "b": ["no", "yes", "hardly", "yes"], "c": ["u", "v", "u", "u"]}
PRIOR = {"a": [0.5, 0.3, 0.2], "b": [0.2, 0.3, 0.5], "c": [0.9, 0.1]}


class Stated:
    """A contrast, as something that states a variance."""

    def __init__(self, contrast: Any) -> None:
        self.variance = np.square(contrast.standard_error)


def plan_estimates(method: str, epsilons: Any, people: Any, seeds: int) -> Iterator[Any]:
    """What follows from few reports, drawn and all equal: attributes, means, tables, cells and differences."""
    for epsilon, n, seed, target in itertools.product(epsilons, people, range(seeds), TARGETS):
        plan = planned(SCHEMA, epsilon, method, **({"prior": PRIOR} if "RFD" in method else {}))
        some = {name: values[:n] for name, values in PEOPLE.items()}
        reports = plan.privatize(some, rng=seed)
        single = plan.tally(plan.privatize({name: values[:1] for name, values in PEOPLE.items()}, rng=seed))
        tally = single
        for _ in range(n - 1):
            tally += single
        yield from parts(plan.estimate(plan.tally(reports), target))
        yield from parts(plan.estimate(tally, target))
        if "SPL" in method:
            yield plan.table(reports, "a", "c", target=target).cells


def parts(answers: Any) -> Iterator[Any]:
    """Attributes, means, cells and differences; some have no answer for so few reports."""
    calls = [
        *(lambda name=name: answers[name] for name in SCHEMA),
        lambda: Stated(answers["b"].mean()),
        lambda: answers.table("a", "c").cells,
        lambda: Stated(answers.table("a", "c").difference(a="x", c=("u", "v"))),
    ]
    for call in calls:
        with contextlib.suppress(DataError, ParameterError):
            yield call()


@pytest.mark.parametrize("method", METHODS)
def test_no_plan_states_a_standard_error_of_zero(method) -> None:
    assert not faults(plan_estimates(method, (2.0,), (1, 2), 2))


@pytest.mark.audit
@pytest.mark.parametrize("method", [*METHODS, "SPL[SS]", "SPL[OLH]", "SMP[GRR]", "SMP[PGR]", "SMP2[GRR]", "TAB[OLH]"])
def test_no_plan_states_a_standard_error_of_zero_at_any_budget(method) -> None:
    assert not faults(plan_estimates(method, (0.5, 2.0, 6.0), (1, 2, 3, 4), 6))


@pytest.mark.parametrize("method", NUMBERS)
def test_no_mean_of_a_number_has_a_standard_error_of_zero(method) -> None:
    number = numbers.number(method, epsilon=2.0, bounds=(0, 10))
    for n, value, target in itertools.product((1, 2, 5), (0, 5, 10), TARGETS):
        tally = number.tally(number.privatize([value], rng=n))
        answer = number.estimate(sum((tally for _ in range(n - 1)), tally), target)
        assert fault(answer) == ""


@pytest.mark.parametrize("name", ["GRR", "OUE"])
def test_no_mean_or_difference_of_rounds_has_a_standard_error_of_zero(name) -> None:
    panel = Repeated(bruit.oracle(name, epsilon=1.0, k=3), epoch=2.0)
    for people, target in itertools.product(([1, 0, 0], [0, 3, 0], [2, 1, 1]), TARGETS):
        series = panel.simulate([people, people[::-1]], rounds=2, rng=1)
        for contrast in (series.mean(target=target), *(series.difference(0, i, target=target) for i in (1, 2))):
            assert fault(contrast) == ""


# By enumeration.


def test_a_stated_variance_is_off_by_less_than_that_at_the_estimate() -> None:
    """The root of the mean square of stated/true − 1, at the nearest possible share and at the estimate itself.

    GRR, k = 2, ε = 2, and all are at a true share of 1:

    ==========  =====  =====  =====  =====
    n               1      2     10     50
    ==========  =====  =====  =====  =====
    at itself    1.00   1.09   0.69   0.33
    nearest      0.00   0.63   0.43   0.22
    ==========  =====  =====  =====  =====

    The mean of stated/true is 1 − 1/n at the estimate itself. At the nearest share it is 1.00, 1.29, 1.24 and 1.12:
    too large rather than too small.
    """
    wanted = {1: (1.0, 0.0), 2: (1.09, 0.63), 10: (0.69, 0.43), 50: (0.33, 0.22)}
    for oracle in (bruit.oracle(name, epsilon=epsilon, k=2) for name in ("GRR", "OUE") for epsilon in (0.5, 2.0, 3.0)):
        p, q = float(oracle.p), float(oracle.q)
        for n, share in itertools.product(range(1, 51), (0.0, 0.05, 0.95, 1.0)):
            weight = stats.binom.pmf(np.arange(n + 1), n, q + share * (p - q))
            raw = (np.arange(n + 1) / n - q) / (p - q)
            true = oracle.variance(np.array([share]), n)[0]
            errors = [
                float(np.sqrt(weight @ (oracle.variance(at, n) / true - 1) ** 2)) for at in (raw, nearest_possible(raw))
            ]
            assert errors[1] <= errors[0] + 1e-12
            if oracle.name == "GRR" and oracle.epsilon == pytest.approx(2.0) and share == 1 and n in wanted:
                assert errors == pytest.approx(wanted[n], abs=0.005)


def coverage(oracle: Any, n: int, method: Any) -> np.ndarray:
    """How often an interval for the population covers, for each share: the count of a value is binomial."""
    counts = np.arange(n + 1)
    lower, upper = SupportModel(counts, n, oracle.p, oracle.q).interval(0.95, method, "population")
    weight = stats.binom.pmf(counts[:, None], n, float(oracle.q) + SHARES * float(oracle.p - oracle.q))
    inside = (lower[:, None] <= SHARES + 1e-12) & (upper[:, None] >= SHARES - 1e-12)
    return (weight * inside).sum(axis=0)


def test_the_page_states_the_worst_coverage_of_few_reports() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| n | default | `clopper-pearson` | `wald` |")
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
    stated = {int(row[0]): row[1:] for row in ([cell.strip() for cell in line.strip("|").split("|")] for line in rows)}
    assert set(stated) == {1, 2, 3, 5, 10, 20, 30, 50}
    laws = [
        bruit.oracle(name, epsilon=epsilon, k=2 if name == "GRR" else 10)
        for name, epsilon in itertools.product(("GRR", "SUE", "OUE", "OLH"), (0.5, 1.0, 2.0, 3.0))
    ]
    for n, row in stated.items():
        for method, cell in zip(("wilson", "clopper-pearson", "wald"), row, strict=True):
            assert cell == f"{min(coverage(law, n, method).min() for law in laws):.2f}", (n, method)
