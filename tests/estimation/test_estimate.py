"""Estimates: unbiased, with exact variance, readable, and never clipped in silence."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bruit
from bruit.errors import BruitError, DataError, LimitError, ParameterError

ORACLE = bruit.oracle("GRR", epsilon=1.0, labels=["<a>", "b", "c", "d"])
TRUE = np.array([400, 300, 300, 0])
ANSWER = ORACLE.estimate(ORACLE.simulate(TRUE, rng=5))


def test_the_estimate_is_the_formula():
    p, q = float(ORACLE.p), float(ORACLE.q)
    tally = ORACLE.simulate(TRUE, rng=5)
    assert ANSWER.frequency == pytest.approx((tally.counts / 1000 - q) / (p - q))
    assert ANSWER.frequency.sum() == pytest.approx(1)
    assert ANSWER.counts == pytest.approx(ANSWER.frequency * 1000)


def test_the_count_form_of_the_course_is_the_same_estimate():
    e, k, n = np.e, 4, 1000
    tally = ORACLE.simulate(TRUE, rng=5)
    course = ((k - 1 + e) * tally.counts - n) / (e - 1)
    assert course == pytest.approx(ANSWER.counts, rel=1e-9)


def test_the_two_targets_differ_by_the_drawing_of_the_people():
    people = ORACLE.variance([0.0, 0.3, 1.0], n=50, target="people")
    population = ORACLE.variance([0.0, 0.3, 1.0], n=50, target="population")
    assert population - people == pytest.approx([0, 0.3 * 0.7 / 50, 0])


@pytest.mark.parametrize("target", ["population", "people"])
def test_the_covariance_is_the_one_observed(target):
    generator = np.random.default_rng(1)
    runs = []
    for seed in range(3000):
        people = generator.multinomial(1000, TRUE / 1000) if target == "population" else TRUE
        runs.append(ORACLE.estimate(ORACLE.simulate(people, rng=seed), target).frequency)
    observed = np.cov(np.array(runs).T)
    stated = ORACLE.estimate(ORACLE.simulate(TRUE * 1000, rng=0), target).covariance() * 1000
    deviation = np.abs(observed - stated) / np.sqrt(np.outer(np.diag(stated), np.diag(stated)))
    assert deviation.max() < 6 * np.sqrt(2 / 3000)
    assert np.abs(stated.sum(axis=1)).max() < 1e-9


def test_nothing_is_clipped_unless_asked():
    answers = [ORACLE.estimate(ORACLE.simulate(TRUE, rng=seed)) for seed in range(20)]
    assert min(answer.frequency[3] for answer in answers) < 0
    assert min(answer.interval()[:, 0].min() for answer in answers) < 0
    clipped = ANSWER.interval(clip=True)
    assert clipped.min() >= 0
    assert clipped.max() <= 1


def test_simultaneous_intervals_are_wider_and_cover_together():
    assert (np.diff(ANSWER.interval(simultaneous=True)) > np.diff(ANSWER.interval())).all()
    generator = np.random.default_rng(2)
    covered = 0
    for seed in range(1000):
        people = generator.multinomial(1000, TRUE / 1000)
        ends = ORACLE.estimate(ORACLE.simulate(people, rng=seed)).interval(0.9, simultaneous=True)
        covered += bool(((ends[:, 0] <= TRUE / 1000) & (ends[:, 1] >= TRUE / 1000)).all())
    assert covered / 1000 > 0.9 - 5.5 * np.sqrt(0.09 / 1000)


def test_people_intervals_are_shorter_because_only_the_noise_varies():
    oracle = bruit.oracle("Warner", epsilon=4.0)
    tally = oracle.simulate([500, 500], rng=1)
    people, population = (np.diff(oracle.estimate(tally, target).interval()) for target in ("people", "population"))
    assert (people < 0.5 * population).all()


def test_intervals_from_the_variance_at_zero_cover_far_too_seldom():
    """The control: population intervals built on Var* (f = 0) cover 41 % instead of 95 % (Warner, ε = 4, f = ½)."""
    oracle = bruit.oracle("Warner", epsilon=4.0)
    half = 1.96 * np.sqrt(oracle.variance(0.0, 1000))
    generator = np.random.default_rng(3)
    hits = [
        abs(oracle.estimate(oracle.simulate(generator.multinomial(1000, [0.5, 0.5]), rng=seed)).frequency[0] - 0.5)
        < half
        for seed in range(2000)
    ]
    assert np.mean(hits) == pytest.approx(0.41, abs=0.06)


def test_clopper_pearson_speaks_of_a_population_only():
    tally = ORACLE.simulate(TRUE, rng=5)
    assert (np.diff(ANSWER.interval(method="clopper-pearson")) >= np.diff(ANSWER.interval())).all()
    with pytest.raises(ParameterError, match='for target="people" use "wilson"'):
        ORACLE.estimate(tally, "people").interval(method="clopper-pearson")


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_of_each_library_has_one_row_per_value(backend, kind):
    frame = ANSWER.to_frame(backend)
    assert isinstance(frame, kind)
    assert frame.shape == (4, 5)
    assert isinstance(ANSWER.to_frame(), pd.DataFrame)
    assert ANSWER.consistent().to_frame(backend).shape == (4, 2)


def test_the_table_for_notebooks_escapes_its_labels():
    page = ANSWER._repr_html_()
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    assert page.count("<tr>") == 5


def test_the_repr_fits_a_terminal_and_shows_the_most_frequent_of_many():
    oracle = bruit.oracle("GRR", epsilon=5.0, k=1000)
    counts = np.zeros(1000, int)
    counts[777] = 10_000
    text = repr(oracle.estimate(oracle.simulate(counts, rng=1)))
    assert max(map(len, text.splitlines()[1:])) <= 80
    assert text.splitlines()[2].startswith("777")
    assert "\nand 980 less frequent values (to_frame() has all)\n" in text


def test_the_document_carries_the_guarantee_and_the_target():
    document = json.loads(ANSWER.to_json())
    assert document["format"] == "bruit.result/1"
    assert document["guarantee"]["neighbours"] == "value"
    assert document["simulated"] is True
    assert len(document["values"]) == 4


def test_an_empty_tally_gives_no_estimate():
    with pytest.raises(DataError, match="no valid report"):
        ORACLE.estimate(ORACLE.tally([]))
    with pytest.raises(DataError, match="no valid report"):
        ORACLE.estimate(ORACLE.tally([99, 100]))


def test_bad_parameters_are_refused():
    tally = ORACLE.simulate(TRUE, rng=5)
    for bad in (
        lambda: ORACLE.estimate(tally, "everyone"),
        lambda: ANSWER.interval(1.0),
        lambda: ANSWER.interval("95"),
        lambda: ANSWER.interval(method="exact"),
        lambda: ANSWER.consistent("magic"),
        lambda: ANSWER.to_frame("excel"),
        lambda: ANSWER.consistent()["unknown"],
    ):
        with pytest.raises(BruitError):
            bad()


def test_a_covariance_matrix_that_would_fill_the_memory_is_refused():
    oracle = bruit.oracle("GRR", epsilon=1.0, k=5000)
    with pytest.raises(LimitError, match="4,096"):
        oracle.estimate(oracle.simulate(np.ones(5000, int), rng=1)).covariance()


def test_no_variance_is_negative_where_a_count_is_zero():
    oracle = bruit.oracle("GRR", epsilon=0.001, k=10**6)
    answer = oracle.estimate(oracle.tally([3]))
    assert answer.variance.min() >= 0


def test_a_tally_whose_counts_do_not_add_up_is_refused():
    forged = bruit.Tally(design=ORACLE.digest, counts=[3000, 1, 0, 0], n=4)
    with pytest.raises(DataError, match="do not add up"):
        ORACLE.estimate(forged)


def test_a_single_report_gives_an_honest_interval():
    ends = ORACLE.estimate(ORACLE.tally([0])).interval()
    assert np.isfinite(ends).all()
    assert (np.diff(ends) > 1).all()
