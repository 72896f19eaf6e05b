"""A second draw refines a result: both are combined before clamping, booked, and of the same bytes, or refused."""

import itertools
import math
import os
import signal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bruit import documents, engines
from bruit.domains.interval import Interval
from bruit.entropy import Words
from bruit.errors import BudgetError, FormatError, LedgerError, ParameterError
from bruit.privacy import Ledger
from bruit.releases import Count, Histogram, Mean, Median, Person, Release, Result, Sum, Tables, Variance, publish_once
from bruit.releases.combined import CombinedNoise
from bruit.releases.kept import Once
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace
from bruit.releases.refining import Refinement, check_free, claim, refine_once
from bruit.releases.sources import SourceRecords

BOUNDS = {"bounds": (0, 100)}
DELTA = {"delta": 1e-6}
#: Every statistic that can be refined, with its noises.
STATISTICS = {
    "count": Count,
    "histogram": lambda **privacy: Histogram("sex", domain=["F", "M"], **privacy),
    "sum": lambda **privacy: Sum("age", **BOUNDS, **privacy),
    "mean": lambda **privacy: Mean("age", **BOUNDS, **privacy),
    "variance": lambda **privacy: Variance("age", **BOUNDS, **privacy),
    "tables": lambda **privacy: Tables({"sex": ["F", "M"], "smokes": ["no", "yes"]}, **privacy),
}


@pytest.fixture
def table(tmp_path):
    rows = [f"{20 + place % 60},{'FM'[place % 2]},{('no', 'yes')[place % 3 == 0]},{place // 3}" for place in range(600)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["age,sex,smokes,who", *rows]) + "\n")
    return path


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "t.ledger", epsilon=20.0, delta=1e-3)


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("by", [None, {"sex": ["F", "M"]}])
def test_a_second_draw_is_booked_and_both_are_combined(table, ledger, name, delta, by):
    privacy = {"epsilon": 0.5, **({"delta": delta} if delta else {})}
    release = Release(STATISTICS[name](**privacy), by=None if name in ("histogram", "tables") else by)
    first = publish_once(release, table, ledger)
    kept = refine_once(ledger, first.entry, table, 0.75)
    (before,), (after,) = first.result.values(), kept.result.values()
    assert (ledger.spent.epsilon, after.guarantee.epsilon, len(ledger)) == (1.25, 1.25, 2)
    assert ledger.spent.delta == after.guarantee.delta == 2 * delta
    assert (after.name, after.labels, after.simulated) == (before.name, before.labels, False)
    assert (after.standard_error < before.standard_error).all()
    assert "as exact as one draw of" in after.notes[-1]
    saved = Result.load(kept.path)
    assert saved.to_dict() == after.to_dict()
    assert len(saved.draws.draws) == (2 if delta else 1)
    again = refine_once(ledger, first.entry, table, 0.75)
    assert (again.is_new, again.entry, ledger.spent.epsilon) == (False, kept.entry, 1.25)
    more = refine_once(ledger, kept.entry, table, 0.25)
    assert more.is_new
    assert next(iter(more.result.values())).guarantee.epsilon == 1.5


def test_under_replace_the_number_of_records_is_the_public_one(table, ledger):
    public = Ledger.open(ledger.path.with_name("p.ledger"), epsilon=60.0, delta=1e-3, neighbours="replace")
    for name, delta in itertools.product(("mean", "variance", "sum", "tables"), (0.0, 1e-6)):
        privacy = {"epsilon": 4.0, "neighbours": "replace", **({"delta": delta} if delta else {})}
        first = publish_once(Release(STATISTICS[name](**privacy)), table, public, label=f"{name} {delta}")
        (after,) = refine_once(public, first.entry, table, 0.5).result.values()
        if name == "mean":
            assert abs(after.value - 49.5) < 5
        if name == "tables":
            assert after.cells("sex").sum() == pytest.approx(600)


def pairs(statistic, cells, refined, many):
    """The values, ends and truths of refined results of a table of equal groups."""
    table = {"g": np.repeat(np.arange(many), cells)}
    table["age"] = np.tile(np.linspace(10, 60, cells).round(), many)
    release = Release(statistic(0.5, **refined[0]), by={"g": list(range(many))})
    raw = release.fold(table)
    (first,) = release.publish(raw).values()
    refinement = Refinement(first, 0.7, **refined[1])
    second = refinement.release()
    (drawn,) = second.publish(second.fold(table)).values()
    return refinement.combined(drawn), table["age"][:cells]


#: Noises: the first draw, the second, and whether the second may depend on the first.
NOISES = {
    "dependent": ({}, {}),
    "laplace": ({}, {"gradual": False}),
    "gaussian": (DELTA, DELTA),
    "gaussian, laplace": (DELTA, {}),
}


def covered(noise, kind, many):
    """How many of the refined intervals cover the truth, and how many would at two thirds of their width."""
    made = {
        "count": lambda epsilon, **more: Count(epsilon=epsilon, **more),
        "sum": lambda epsilon, **more: Sum("age", **BOUNDS, epsilon=epsilon, **more),
        "mean": lambda epsilon, **more: Mean("age", **BOUNDS, epsilon=epsilon, **more),
    }[kind]
    result, ages = pairs(made, 40, NOISES[noise], many)
    truth = {"count": 40, "sum": ages.sum(), "mean": ages.mean()}[kind]
    ends = result.interval(0.95)
    middle, half = ends.mean(axis=1), np.diff(ends, axis=1)[:, 0] / 2
    inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return inside.sum(), (np.abs(middle - truth) <= half * 0.6).sum()


def at_least(many, share):
    """The number of successes below which a share is refuted at the level 10⁻⁷, and that above which it is."""
    return stats.binom.isf(1 - 1e-7, many, share), stats.binom.isf(1e-7, many, share)


@pytest.mark.parametrize("noise", NOISES)
def test_refined_intervals_cover_the_truth_and_narrower_ones_do_not(noise):
    inside, narrow = covered(noise, "sum", 1200)
    low, high = at_least(1200, 0.95)
    assert low <= inside <= high
    assert narrow < low


@pytest.mark.audit
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kind", ["count", "sum", "mean"])
def test_refined_intervals_cover_19_of_20_over_ten_thousand_pairs(noise, kind):
    many = 10_000
    inside, narrow = covered(noise, kind, many)
    # A count has few values: the least interval that holds 95 % may hold more.
    assert 0.94 * many <= inside <= (0.965 if kind == "count" else 0.96) * many
    assert narrow < 0.94 * many


@pytest.mark.parametrize("second", [DiscreteLaplace(Fraction(2)), DiscreteLaplace(Fraction(10, 7))], ids=str)
def test_the_exact_loss_of_an_independent_pair_is_the_sum_and_what_is_combined_loses_no_more(second):
    first = DiscreteLaplace(Fraction(3))
    combined = CombinedNoise.of([first, second])
    line = np.arange(-40, 41)
    logs = [np.array([noise.log_probability(int(value)) for value in range(-42, 43)]) for noise in (first, second)]
    here = logs[0][2:83, None] + logs[1][None, 2:83]
    there = logs[0][1:82, None] + logs[1][None, 1:82]
    loss = float(1 / first.scale + 1 / second.scale)
    assert np.abs(here - there).max() == pytest.approx(loss, rel=1e-12)
    # What is published is the combination: its law under both counts, of the pairs that give each outcome.
    outcome = combined.combine([np.repeat(line, line.size), np.tile(line, line.size)]).reshape(here.shape)
    sums = [[np.exp(law[outcome == value]).sum() for law in (here, there)] for value in range(-20, 21)]
    assert max(abs(math.log(a / b)) for a, b in sums) <= loss * (1 + 1e-9)


def test_sums_are_combined_before_they_are_clamped_and_a_twin_that_does_not_is_biased():
    noise = DiscreteGaussian(Fraction(400))
    combined = CombinedNoise.of([noise, noise])
    first, second = (noise.sample(4000, Words(seed)) for seed in (5, 6))  # of empty groups: the truth is 0
    deviation = combined.standard_error / math.sqrt(4000)
    assert abs(combined.combine([first, second]).mean()) < 5.5 * deviation
    twin = combined.combine([np.maximum(first, 0), np.maximum(second, 0)])
    assert abs(twin.mean()) > 30 * deviation


def test_a_refined_mean_at_a_bound_leans_less_than_the_mean_of_clamped_means():
    many, table = 1500, {}
    table["g"] = np.repeat(np.arange(many), 50)
    table["age"] = np.zeros(table["g"].size)
    release = Release(Mean("age", **BOUNDS, epsilon=0.5, **DELTA), by={"g": list(range(many))})
    (first,) = release.publish(release.fold(table)).values()
    refinement = Refinement(first, 0.5, **DELTA)
    (drawn,) = refinement.release().publish(refinement.release().fold(table)).values()
    twin = (first.values + drawn.values) / 2
    refined = refinement.combined(drawn).values
    # Clamped normal noise leans by σ/√(2π): of the mean of two draws σ is 1/√2 of that of one.
    beyond = twin - refined
    assert beyond.mean() > 5.5 * beyond.std() / math.sqrt(many)


def test_a_table_that_changed_between_the_draws_is_refused_before_anything_is_booked(table, ledger):
    first = publish_once(Release(Count(epsilon=0.5)), table, ledger)
    text = table.read_text()
    table.write_text(text.replace("20,F", "21,F", 1))
    before = ledger.path.read_bytes()
    with pytest.raises(ParameterError, match="changed"):
        refine_once(ledger, first.entry, table, 0.5)
    table.write_text(text)
    copy = table.with_name("copy.csv")
    copy.write_text(text)
    with pytest.raises(ParameterError, match="changed"):
        refine_once(ledger, first.entry, copy, 0.5)
    assert ledger.path.read_bytes() == before
    assert refine_once(ledger, first.entry, table, 0.5).is_new  # the same bytes again


def test_text_is_read_as_it_was(tmp_path, ledger):
    path = tmp_path / "semi.csv"
    path.write_text("age;sex\n31;F\n?;M\n40;F\n")
    source = engines.read(path, delimiter=";", missing=["?"])
    mean = Mean("age", bounds=Interval(0, 100, missing="drop"), epsilon=1.0)
    first = publish_once(Release(mean), source, ledger)
    assert refine_once(ledger, first.entry, path, 1.0).is_new


def refused(ledger, entry, table, match, error=ParameterError, **options):
    before = ledger.path.read_bytes()
    with pytest.raises(error, match=match):
        refine_once(ledger, entry, table, options.pop("epsilon", 0.5), **options)
    assert ledger.path.read_bytes() == before


def test_what_cannot_be_refined_is_refused_with_the_reason(table, ledger):
    median = publish_once(Release(Median("age", bounds=(0, 100), epsilon=0.5)), table, ledger)
    refused(ledger, median.entry, table, "no function of noisy sums")
    selected = Release([Count(epsilon=0.5, **DELTA), Sum("age", **BOUNDS, epsilon=0.5)], by="sex")
    groups = publish_once(selected, table, ledger)
    refused(ledger, groups.entry, table, "undeclared")
    refused(ledger, groups.entry + 1, table, "undeclared")
    seeded = publish_once(Release(Count(epsilon=0.3)), table, ledger, rng=7)
    refused(ledger, seeded.entry, table, "seed")
    frame = publish_once(Release(Count(epsilon=0.2)), {"age": [1, 2, 3]}, ledger)
    refused(ledger, frame.entry, table, "of which bytes")
    tables = publish_once(Release(STATISTICS["tables"](epsilon=1.0, **DELTA)), table, ledger)
    refused(ledger, tables.entry, table, "other sums", delta=0.0)
    refused(ledger, 99, table, "no result")
    small = Ledger.open(table.with_name("small.ledger"), epsilon=1.0)
    count = publish_once(Release(Count(epsilon=0.5)), table, small)
    refused(small, count.entry, table, "needs", BudgetError, epsilon=0.6)
    refused(small, count.entry, table.with_name("none.csv"), "changed")


def test_a_result_of_an_older_version_has_no_sums(table, ledger):
    first = publish_once(Release(Count(epsilon=0.5)), table, ledger)
    (result,) = first.result.values()
    body = {key: value for key, value in result.to_dict().items() if key != "draws"}
    first.path.write_text(documents.seal(Result.FORMAT, body))
    refused(ledger, first.entry, table, "older version")


def test_damaged_draws_are_no_result(table, ledger):
    (result,) = publish_once(Release(Count(epsilon=0.5)), table, ledger).result.values()
    for change in ({"draws": {"release": {}, "draws": [{}]}}, {"draws": 3}, {"draws": {"release": None, "draws": []}}):
        with pytest.raises(FormatError):
            Result.from_json(documents.seal(Result.FORMAT, {**result.to_dict(), **change}))


def test_a_result_is_refined_once_and_then_what_came_of_it(table, ledger):
    first = publish_once(Release(Count(epsilon=0.5)), table, ledger)
    kept = refine_once(ledger, first.entry, table, 0.25)
    refused(ledger, first.entry, table, f"in entry {kept.entry}: refine that one", epsilon=0.5)
    kept.path.unlink()  # a second draw may be the only one that depends on the first
    refused(ledger, first.entry, table, "Restore it", LedgerError, epsilon=0.25)


def test_a_ledger_that_was_put_back_books_what_was_drawn_and_no_other_amount(table, ledger):
    first = publish_once(Release(Count(epsilon=0.2)), table, ledger)
    old = ledger.path.read_bytes()
    kept = refine_once(ledger, first.entry, table, 3.0)
    ledger.path.write_bytes(old)
    ledger = Ledger.open(ledger.path)
    with pytest.raises(LedgerError, match="put back"):
        refine_once(ledger, first.entry, table, 0.01)
    assert ledger.spent.epsilon == 0.2
    again = refine_once(ledger, first.entry, table, 3.0)
    assert (again.is_new, ledger.spent.epsilon) == (False, 3.2)
    assert again.result["count"].to_dict() == kept.result["count"].to_dict()


def test_a_claim_is_void_only_while_it_has_neither_line_nor_file(table, ledger):
    first = publish_once(Release(Count(epsilon=0.2)), table, ledger).path.name
    with ledger.alone_with_results():
        claim(ledger, first, "count", "other.json")
    check_free(SourceRecords.of(ledger), ledger, first, "count", "mine.json")
    (ledger.results / "other.json").write_text("{}")
    with pytest.raises(LedgerError, match="refined before"):
        check_free(SourceRecords.of(ledger), ledger, first, "count", "mine.json")


def test_people_and_ledgers_in_rho_have_independent_draws_which_say_what_they_are_worth(table, ledger, tmp_path):
    people = Release(Count(epsilon=0.3), person=Person("who", rows=2))
    own = Ledger.open(tmp_path / "who.ledger", epsilon=5.0, neighbours="person-add-remove")
    first = publish_once(people, table, own)
    (after,) = refine_once(own, first.entry, table, 0.4).result.values()
    assert "as exact as one of ε = 0.5, and cost ε = 0.7" in after.notes[-1]
    assert len(after.draws.draws) == 2
    assert after.guarantee.neighbours == "person-add-remove"
    in_rho = Ledger.open(tmp_path / "rho.ledger", rho=1.0)
    kept = publish_once(Release(Sum("age", **BOUNDS, epsilon=0.3)), table, in_rho)
    (after,) = refine_once(in_rho, kept.entry, table, 0.4).result.values()
    assert len(after.draws.draws) == 2
    assert sum(entry.rho for entry in in_rho.entries) == pytest.approx(0.3**2 / 2 + 0.4**2 / 2)


def test_under_rho_two_gaussian_draws_are_as_good_as_one_of_the_sum():
    noise = DiscreteGaussian.calibrate(1, 0.2, 1e-6)
    both = CombinedNoise.of([noise, noise])
    assert both.variance == pytest.approx(noise.variance / 2, rel=1e-3)


POINTS = {
    "before the booking": (Once, "_book"),
    "after the booking": (Release, "publish"),
    "before the digest": (SourceRecords, "record"),
    "before the rename": (Once, "_name"),
    "before the claim": (SourceRecords, "claim"),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")
@pytest.mark.parametrize("point", POINTS)
def test_a_refinement_that_is_killed_is_finished_and_booked_once(table, ledger, point):
    first = publish_once(Release(Count(epsilon=0.5)), table, ledger)
    child = os.fork()
    if not child:
        owner, name = POINTS[point]
        setattr(owner, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        try:
            refine_once(ledger, first.entry, table, 0.25)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    kept = refine_once(ledger, first.entry, table, 0.25)
    assert (ledger.spent.epsilon, len(ledger)) == (0.75, 2)
    assert refine_once(ledger, first.entry, table, 0.25).result["count"].value == kept.result["count"].value
    assert not list(Path(ledger.results).glob(".*partial"))
