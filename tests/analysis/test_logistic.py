"""Regression through a law: exact limits, unbiased scores, the same result from every source, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import bruit
from bruit.analysis import fitting, logistic
from bruit.analysis.channel import through
from bruit.collection.plan import without_public
from bruit.engines import report_parsing
from bruit.errors import DataError, DesignError, LimitError, MissingError, ParameterError
from bruit.oracles import oracle

N = 4_000


def people(seed: int = 1, n: int = N) -> tuple[dict[str, Any], Any, Any]:
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=n), rng.integers(0, 3, n)
    linear = -0.5 + 0.8 * x + 0.5 * (g == 1) - 0.4 * (g == 2)
    two = np.where(rng.random(n) < 1 / (1 + np.exp(-linear)), "yes", "no")
    weights = np.exp(np.column_stack([np.zeros(n), 0.3 + 0.5 * x, -0.2 - 0.4 * x]))
    three = np.array(["p", "q", "r"])[
        (rng.random(n)[:, None] > (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    ]
    return {"x": x, "g": np.array(["a", "b", "c"])[g]}, two, three


ON, TWO, THREE = people()
MODEL = np.column_stack([ON["x"], ON["g"] == "b", ON["g"] == "c"])


def exact(rows: Any, answers: Any) -> Any:
    """What scikit-learn gives without a penalty, against the first answer."""
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(rows, answers)
    table = np.column_stack([model.intercept_, model.coef_])
    return table if len(table) == 1 else table[1:] - table[0]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["moments", "likelihood"])
def test_answers_in_clear_give_what_ordinary_logistic_regression_gives(method: Any) -> None:
    assert logistic(None, TWO, ON, method=method).coefficients == pytest.approx(exact(MODEL, TWO), abs=1e-6)
    assert logistic(None, THREE, ON, method=method).coefficients == pytest.approx(exact(MODEL, THREE), abs=1e-5)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["moments", "likelihood"])
def test_a_large_epsilon_is_the_limit_of_clear_answers(method: Any) -> None:
    plan = bruit.Plan({"s": ["no", "yes"]}, epsilon=20.0)
    reports = plan.privatize({"s": TWO}, rng=1)
    fit, clear = logistic(plan, reports, ON, method=method), logistic(None, TWO, ON, method=method)
    assert fit.coefficients == pytest.approx(clear.coefficients, abs=1e-5)
    assert fit.standard_error == pytest.approx(clear.standard_error, rel=1e-4)


def test_standard_errors_of_clear_answers_by_likelihood_are_those_of_the_inverse_information() -> None:
    fit = logistic(None, TWO, ON, method="likelihood")
    rows = np.column_stack([np.ones(N), MODEL])
    m = 1 / (1 + np.exp(-rows @ fit.coefficients[0]))
    covariance = np.linalg.inv(rows.T @ (rows * (m * (1 - m))[:, None]))
    assert fit.covariance == pytest.approx(covariance, rel=1e-6)


@pytest.mark.audit("PGR", share=3)
@pytest.mark.parametrize("name", ["GRR", "OUE", "SUE", "SS", "HR", "PGR"])
def test_scores_are_unbiased_under_the_exact_law_and_add_up_to_one(name: str) -> None:
    mechanism = oracle(name, epsilon=1.0, k=4)
    channel = through(mechanism, mechanism.privatize(np.arange(200) % 4, rng=1))
    assert channel.scores.sum(axis=1) == pytest.approx(np.ones(200))
    messages = mechanism.message(
        report_parsing.parse(mechanism.form, mechanism.privatize(np.arange(200) % 4, rng=1)).reports
    )
    law, place = np.array(mechanism.matrix(), float), {int(y): row for row, y in enumerate(messages)}
    likelihood = law.T / law.T.sum(axis=1, keepdims=True) * 4
    scores = likelihood @ np.linalg.inv((channel.law / channel.law.mean(axis=0)) @ channel.law.T)  # type: ignore[operator]
    assert law @ scores == pytest.approx(np.eye(4), abs=1e-9)
    for y, row in place.items():  # what the channel gives each report is what the law says of its message
        assert channel.scores[row] == pytest.approx(scores[y], abs=1e-9)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["moments", "likelihood"])
@pytest.mark.parametrize("name", ["GRR", "OUE", "SS", "HR", "PGR", "OLH"])
def test_every_oracle_recovers_the_clear_coefficients_within_five_standard_errors(name: str, method: Any) -> None:
    plan = bruit.Plan({"s": ["p", "q", "r"]}, epsilon=3.0, method=name)
    fit = logistic(plan, plan.privatize({"s": THREE}, rng=2), {"x": ON["x"]}, method=method)
    clear = logistic(None, THREE, {"x": ON["x"]})
    assert (np.abs(fit.coefficients - clear.coefficients) < 5 * fit.standard_error).all()


@pytest.mark.audit
def test_reports_taken_for_answers_give_coefficients_that_are_far_too_small() -> None:
    plan = bruit.Plan({"s": ["no", "yes"]}, epsilon=1.0)
    reports = plan.privatize({"s": TWO}, rng=3)
    naive = logistic(None, np.array(["no", "yes"])[reports["s"]], ON)
    fit = logistic(plan, reports, ON)
    assert abs(naive.coefficient("x")) < 0.6 * 0.8
    assert fit.interval(1 - 1e-7)[0, 1, 0] < 0.8 < fit.interval(1 - 1e-7)[0, 1, 1]
    assert naive.interval(1 - 1e-7)[0, 1, 1] < 0.8


@pytest.mark.audit
def test_the_expected_information_of_two_answers_is_the_closed_form() -> None:
    mechanism = oracle("GRR", epsilon=1.0, k=2)
    p, q = float(mechanism.p), float(mechanism.q)  # type: ignore[attr-defined]
    m = np.linspace(0.01, 0.99, 25)
    r = q + (p - q) * m
    weights = fitting._expected(np.column_stack([1 - m, m]), np.array(mechanism.matrix(), float))
    assert weights[0, 0] == pytest.approx(((p - q) * m * (1 - m)) ** 2 / (r * (1 - r)))


@pytest.mark.audit
def test_the_bias_that_is_taken_off_is_that_of_a_few_people_by_enumeration() -> None:
    # One group, two answers: the estimate is a function of how many say yes, and its mean a finite sum.
    n, m = 400, 0.3
    mechanism = oracle("GRR", epsilon=2.0, k=2)
    p, q = float(mechanism.p), float(mechanism.q)  # type: ignore[attr-defined]
    counts = np.arange(n + 1)
    r = q + (p - q) * m
    law = stats.binom.pmf(counts, n, r)
    shares = (counts / n - q) / (p - q)
    inner = (shares > 0.02) & (shares < 0.98)  # the rest has a chance of less than 1e-9
    assert law[~inner].sum() < 1e-9
    logit = np.log(shares[inner] / (1 - shares[inner]))
    bias = float(law[inner] @ (logit - np.log(m / (1 - m))))
    rows, b = np.ones((n, 1)), np.array([[np.log(m / (1 - m))]])
    inverse = np.array([[1 / (n * m * (1 - m))]])
    covariance = np.array([[r * (1 - r) / (n * ((p - q) * m * (1 - m)) ** 2)]])
    assert fitting._bias(rows, b, inverse, covariance)[0, 0] == pytest.approx(bias, rel=0.1)
    through_law = fitting._bias(rows, b, covariance, covariance, np.array(mechanism.matrix(), float))
    assert through_law[0, 0] == pytest.approx(bias, rel=0.1)


@pytest.mark.audit
def test_a_sampled_attribute_is_regressed_on_the_people_who_reported_it() -> None:
    plan = bruit.Plan({"s": ["no", "yes"], "t": ["p", "q", "r"]}, epsilon=4.0, method="SMP[ADP]")
    reports = plan.privatize({"s": TWO, "t": THREE}, rng=4)
    fit = logistic(plan, reports, ON, answer="s")
    assert fit.n == int((reports["attribute"] == 0).sum())
    assert fit.interval(1 - 1e-7)[0, 1, 0] < 0.8 < fit.interval(1 - 1e-7)[0, 1, 1]


@pytest.mark.audit
def test_a_report_that_nobody_can_have_sent_is_left_out_with_its_person() -> None:
    plan = bruit.Plan({"s": ["no", "yes"]}, epsilon=2.0)
    reports = plan.privatize({"s": TWO}, rng=5)["s"].astype(object)
    bad = [0, 7, 100]
    for place, junk in zip(bad, (None, 9, "yes; drop table"), strict=True):
        reports[place] = junk
    fit = logistic(plan, {"s": reports.tolist()}, ON)
    kept = np.delete(np.arange(N), bad)
    clean = logistic(
        plan, {"s": reports[kept].astype(np.uint8)}, {name: np.asarray(own)[kept] for name, own in ON.items()}
    )
    assert (fit.n, fit.refused) == (N - 3, 3)
    assert fit.coefficients == pytest.approx(clean.coefficients)


@pytest.mark.audit
def test_arrays_frames_and_files_give_the_same_result(tmp_path: Path) -> None:
    plan = bruit.Plan({"s": ["no", "yes"]}, epsilon=2.0)
    frame = pd.DataFrame({**ON, "s": TWO})
    frame.to_csv(tmp_path / "people.csv", index=False)
    pl.from_pandas(frame[["x", "g"]]).write_parquet(tmp_path / "on.parquet")
    expected = None
    for kind in ("csv", "parquet"):
        plan.privatize(tmp_path / "people.csv", rng=6, to=tmp_path / f"r.{kind}")
        fit = logistic(plan, tmp_path / f"r.{kind}", tmp_path / "on.parquet")
        also = logistic(plan, str(tmp_path / f"r.{kind}"), tmp_path / "people.csv", columns=["x", "g"])
        expected = fit if expected is None else expected
        assert fit.coefficients == pytest.approx(expected.coefficients)
        assert also.coefficients == pytest.approx(expected.coefficients)
        assert fit.simulated == (kind == "parquet")  # CSV says nothing of itself
    memory = logistic(plan, plan.privatize({"s": TWO}, rng=6), frame[["x", "g"]])
    assert expected is not None
    assert memory.coefficients == pytest.approx(expected.coefficients)


def test_public_attributes_of_a_plan_are_its_predictors_whatever_else_stands_in_the_file(tmp_path: Path) -> None:
    plan = bruit.Plan({"s": ["no", "yes"], "g": ["a", "b", "c"]}, epsilon=2.0, public=["g"])
    reports = plan.privatize({"s": TWO, "g": ON["g"]}, rng=6)
    fit = logistic(plan, reports)
    assert fit.coefficients == pytest.approx(
        logistic(without_public(plan), {"s": reports["s"]}, {"g": ON["g"]}).coefficients
    )
    plan.privatize({"s": TWO, "g": ON["g"]}, rng=6, to=tmp_path / "r.csv")
    with (tmp_path / "r.csv").open("a") as file:
        file.write('junk\n1,"\n7,0\n')
    dirty = logistic(plan, tmp_path / "r.csv")
    assert dirty.coefficients == pytest.approx(fit.coefficients)
    assert (dirty.n, dirty.refused) == (N, 3)
    with pytest.raises(ParameterError, match="nothing to regress on"):
        logistic(without_public(plan), {"s": reports["s"]})


@pytest.mark.audit
def test_a_file_of_another_plan_is_refused(tmp_path: Path) -> None:
    plan, other = (bruit.Plan({"s": ["no", "yes"]}, epsilon=epsilon) for epsilon in (2.0, 1.0))
    plan.privatize({"s": TWO}, rng=6, to=tmp_path / "r.parquet")
    with pytest.raises(DesignError, match="another plan"):
        logistic(other, tmp_path / "r.parquet", ON)


@pytest.mark.audit
def test_references_and_baselines_change_signs_and_nothing_else() -> None:
    fit = logistic(None, TWO, ON)
    turned = logistic(None, TWO, ON, baseline="yes")
    assert turned.coefficients == pytest.approx(-fit.coefficients, abs=1e-7)
    assert [str(term) for term in logistic(None, TWO, ON, reference={"g": "c"}).terms][2:] == ["g = a", "g = b"]


@pytest.mark.audit
def test_numbers_in_texts_are_numbers_and_a_reference_makes_them_categories() -> None:
    codes = np.array(["1", "2", "3"])[np.unique(ON["g"], return_inverse=True)[1]]
    assert [str(term) for term in logistic(None, TWO, {"g": codes}).terms] == ["(intercept)", "g"]
    terms = logistic(None, TWO, {"g": codes}, reference={"g": 2}).terms
    assert [str(term) for term in terms] == ["(intercept)", "g = 1", "g = 3"]


@pytest.mark.audit
def test_the_table_has_a_row_per_coefficient_in_every_form() -> None:
    fit = logistic(None, THREE, ON)
    frame = fit.to_frame("pandas")
    assert list(frame["answer"]) == ["q"] * 4 + ["r"] * 4
    assert {"low", "high", "odds_ratio", "z", "p_value", "standard_error"} <= set(frame.columns)
    document = json.loads(fit.to_json())
    assert len(document["coefficients"]) == 8
    assert document["test"]["degrees"] == 6
    assert "<table>" in fit._repr_html_()
    assert "clear" in repr(fit)


@pytest.mark.audit
def test_a_wald_test_of_one_term_is_the_square_of_its_z() -> None:
    fit = logistic(None, TWO, ON)
    z = fit.coefficients[0, 1] / fit.standard_error[0, 1]
    assert fit.test("x").statistic == pytest.approx(z**2)
    assert fit.test("x").p_value == pytest.approx(float(fit.p_values[0, 1]))
    assert fit.test("g").degrees == 2
    with pytest.raises(ParameterError, match="predictors of this regression"):
        fit.test("y")


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["moments", "likelihood"])
def test_separation_is_named_with_its_predictor(method: Any) -> None:
    x = np.linspace(-1, 1, 200)
    with pytest.raises(DataError, match=r"separation.*'x'") as caught:
        logistic(None, np.where(x > 0, "yes", "no"), {"x": x, "z": np.sin(9 * x)}, method=method)
    assert "x" in caught.value.predictors  # type: ignore[attr-defined]


@pytest.mark.audit
def test_a_group_whose_reports_point_beyond_everybody_has_no_finite_estimate() -> None:
    mechanism = oracle("GRR", epsilon=1.0, labels=["no", "yes"])
    reports = np.array([0] * 30 + [1] * 50 + [0] * 50, np.uint8)
    with pytest.raises(DataError, match="separation"):
        logistic(mechanism, reports, {"g": ["a"] * 30 + ["b"] * 100})


@pytest.mark.audit
def test_predictors_that_make_each_other_up_are_named() -> None:
    with pytest.raises(DataError, match="'twice' is a combination"):
        logistic(None, TWO, {"x": ON["x"], "twice": 2 * ON["x"] + 1})
    with pytest.raises(DataError, match="same for everybody"):
        logistic(None, TWO, {"x": np.ones(N)})


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    ("on", "kind", "words"),
    [
        ({"x": [1.0, np.nan] * (N // 2)}, MissingError, "'x' has missing"),
        ({"g": ["a", None] * (N // 2)}, MissingError, "'g' has missing"),
        ({"g": ["a"] * N}, DataError, "two levels"),
        ({"g": [f"p{i}" for i in range(N)]}, LimitError, "more than 100 levels"),
        ({"x": [1.0] * (N - 1)}, DataError, "one row for each report"),
    ],
)
def test_bad_predictors_are_refused_by_rule_and_column(on: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        logistic(None, TWO, on)


def test_plans_that_hide_or_ask_for_numbers_are_refused() -> None:
    plan = bruit.Plan({"s": ["no", "yes"], "t": ["p", "q", "r"]}, epsilon=1.0, method="RS+FD[GRR]")
    reports = plan.privatize({"s": TWO, "t": THREE}, rng=1)
    with pytest.raises(ParameterError, match="hides which report is true"):
        logistic(plan, reports, ON, answer="s")
    number = bruit.Plan({"age": bruit.Grid(0, 10, cells=11)}, epsilon=1.0)
    with pytest.raises(ParameterError, match="is a number"):
        logistic(number, number.privatize({"age": [1] * N}, rng=1), ON, answer="age")
    with pytest.raises(ParameterError, match="answer must name one of"):
        logistic(bruit.Plan({"s": ["no", "yes"], "t": ["p", "q"]}, epsilon=1.0), {}, ON)


@pytest.mark.audit
def test_a_figure_shows_every_term_but_the_constant() -> None:
    ax = logistic(None, THREE, ON).plot()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        f"{answer}: {term}" for answer in "qr" for term in ("x", "g = b", "g = c")
    ]
