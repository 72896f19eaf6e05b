"""Least squares over candidates: unlisted texts do not bias them, and what is stated of them holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import bruit
from bruit.errors import LimitError, ParameterError
from bruit.open_answers import RAPPOR, CandidateEstimate, HashedResponse
from bruit.open_answers.candidates import ENTRY_LIMIT, CellLaw, CohortCounts, fit

DESIGN = RAPPOR(epsilon=2.0, epoch_epsilon=4.0, bits=16, cohorts=32)
LISTED = {"bus": 8000, "tram": 4000}
UNLISTED = {f"unlisted {place}": 16 for place in range(500)}
ABSENT = [f"absent {place}" for place in range(20)]


def estimates(design: RAPPOR | HashedResponse, people: dict[str, int], runs: int) -> list[CandidateEstimate]:
    return [
        design.estimate(design.simulate(people, rng=run), [*LISTED, *(f"{text} {run}" for text in ABSENT)])
        for run in range(runs)
    ]


def without_the_column(design: RAPPOR, people: dict[str, int], rng: int) -> float:
    """The mean share of absent candidates where no column stands for unlisted texts."""
    counts = design.simulate(people, rng=rng)
    members, bits = design._cells(counts)
    law, candidates = design.cell_law, [*LISTED, *ABSENT]
    table = design.hash.table(design.encode(candidates).tolist())
    columns = np.zeros((len(candidates), design.cohorts, design.bits))
    np.put_along_axis(columns, table, 1.0, axis=2)
    response = (bits / members[:, None] - law.other) / law.gap
    weight = np.sqrt(np.repeat(members, design.bits))
    shares = np.linalg.lstsq(columns.reshape(len(candidates), -1).T * weight[:, None], response.ravel() * weight, None)
    return float(shares[0][2:].mean())


@pytest.mark.parametrize("design", [DESIGN, HashedResponse(epsilon=2.0, cohorts=64)], ids=["RAPPOR", "O-RR"])
def test_shares_are_unbiased_with_their_stated_errors_whatever_is_not_listed(design: RAPPOR | HashedResponse) -> None:
    answers = estimates(design, {**LISTED, **UNLISTED}, 40)
    truth = np.array([0.4, 0.2, *np.zeros(20)])
    scores = np.array([(answer.frequency - truth) / answer.standard_error for answer in answers])
    assert abs(scores.mean()) < 5.5 / np.sqrt(scores.size)
    assert abs(scores.var() - 1) < 6 * np.sqrt(2 / scores.size)
    rest = np.array([(answer.unlisted[0] - 0.4) / answer.unlisted[1] for answer in answers])
    assert abs(rest.mean()) < 5.5 / np.sqrt(40)
    assert 0.3 < rest.var() < 2.5
    assert 0.8 < np.mean([answer.dispersion for answer in answers]) < 1.2


def test_without_the_column_for_unlisted_texts_absent_candidates_get_their_share() -> None:
    people = {**LISTED, **UNLISTED}
    biased = np.mean([without_the_column(DESIGN, people, run) for run in range(5)])
    mended = np.mean([answer.frequency[2:].mean() for answer in estimates(DESIGN, people, 5)])
    assert biased > 0.008
    assert abs(mended) < 0.003


def test_a_frequent_text_that_is_not_listed_is_in_the_standard_errors() -> None:
    answers = estimates(DESIGN, {**LISTED, "forgotten": 80_000}, 30)
    absent = np.array([answer.frequency[2:] / answer.standard_error[2:] for answer in answers])
    assert min(answer.dispersion for answer in answers) > 2
    assert absent.var() < 1.5
    false = [bool((answer.p_values[2:] < 0.05).any()) for answer in answers]
    assert sum(false) <= 9, "a family-wise rate of .05 gives more than nine of thirty less than once in 10⁵"


@pytest.mark.audit("CMS", "RAPPOR")
@pytest.mark.parametrize(
    "design",
    [
        RAPPOR(epsilon=2.0, epoch_epsilon=4.0, bits=64, cohorts=32),
        RAPPOR(epsilon=2.0, epoch_epsilon=4.0),
        RAPPOR.count_mean_sketch(epsilon=4.0, buckets=256),
    ],
    ids=["small", "RAPPOR", "CMS"],
)
def test_candidates_that_share_cells_with_a_frequent_unlisted_text_are_not_named(design: RAPPOR) -> None:
    """In the cohorts where they do, no number of people helps. A normal tail is the control that names them."""
    runs, normal, false, covered, plain = 30, 0, 0, 0, 0
    for run in range(runs):
        people = {f"forgotten {run}": 400_000, **{f"listed {run} {place}": 100_000 for place in range(6)}}
        names = [*list(people)[1:], *(f"absent {run} {place}" for place in range(100))]
        answer = design.estimate(design.simulate(people, rng=run), names)
        single = special.ndtr(-answer.frequency[6:] / answer.standard_error[6:])
        normal += bool((single * len(names) < 0.05).any())
        false += bool((answer.p_values[6:] < 0.05).any())
        ends = answer.interval(simultaneous=True)
        truth = np.repeat([0.1, 0.0], [6, 100])
        covered += bool(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all())
        reach = special.ndtri(1 - 0.025 / len(names)) * answer.standard_error
        plain += bool((np.abs(answer.frequency - truth) <= reach).all())
        assert (answer.p_values[:6] < 0.001).all()
    assert normal >= 11, "the control"
    assert false <= 10, "a family-wise rate of .05 gives more than ten of thirty less than once in 10⁶"
    assert covered >= 20, "of thirty at .95, fewer come once in 10⁶"
    assert plain <= covered - 5, "the control: intervals by normal tails"


def test_p_values_and_simultaneous_intervals_are_for_the_whole_list() -> None:
    answer = estimates(DESIGN, {**LISTED, **UNLISTED}, 1)[0]
    assert (answer.p_values[:2] < 1e-6).all()
    assert answer.p_values.max() <= 1
    alone = DESIGN.estimate(DESIGN.simulate({**LISTED, **UNLISTED}, rng=0), ["bus"])
    assert alone.interval(0.95, simultaneous=True).tolist() == alone.interval(0.95).tolist()
    narrow, wide = (np.diff(answer.interval(0.95, simultaneous=together)).min() for together in (False, True))
    assert wide > narrow
    assert answer.interval(0.9)[0, 0] < answer.frequency[0] < answer.interval(0.9)[0, 1]


@pytest.mark.parametrize(
    "candidates",
    [[], "bus", ["bus", 3], ["Bus", " bus "], {"bus"}, [f"word {place}" for place in range(512)]],
    ids=["none", "a text", "a number", "spellings", "a set", "too many"],
)
def test_lists_that_no_estimate_has_are_refused(candidates: object) -> None:
    tally = DESIGN.simulate(LISTED, rng=1)
    with pytest.raises(ParameterError):
        DESIGN.estimate(tally, candidates)  # type: ignore[arg-type]


def test_candidates_that_share_all_cells_are_refused() -> None:
    design = RAPPOR(epsilon=2.0, epoch_epsilon=4.0, bits=4, cohorts=2)
    tally = design.simulate(LISTED, rng=1)
    with pytest.raises(ParameterError, match="told apart"):
        design.estimate(tally, [f"word {place}" for place in range(7)])


def test_more_work_than_there_is_memory_for_is_refused() -> None:
    many = ENTRY_LIMIT // (64 * 1024) + 1
    cells = CohortCounts(np.ones(64, np.int64), np.zeros((64, 1024), np.int64), CellLaw(0.5, 0.2))
    with pytest.raises(LimitError):
        fit(cells, np.zeros((many, 64, 1), np.int64))


def test_cohorts_without_people_count_for_nothing() -> None:
    tally = DESIGN.simulate({"bus": 10, "tram": 5}, rng=1)
    answer = DESIGN.estimate(tally, ["bus"])
    assert np.isfinite([*answer.frequency, *answer.standard_error, answer.dispersion]).all()
    assert DESIGN.simulate({}, rng=1).n == HashedResponse(epsilon=1.0).simulate({}, rng=1).n == 0


def test_the_table_has_every_candidate_and_what_is_not_listed() -> None:
    answer = DESIGN.estimate(DESIGN.simulate(LISTED, rng=1), ["tram", "bus"])
    body = answer.to_dict()
    assert [row["label"] for row in body["answers"]] == ["tram", "bus"]
    assert body["unlisted"] == answer.unlisted[0]
    text = str(answer)
    assert "simulated" in text
    assert "not listed" in text


def own_cells_only(law: CellLaw, cells: int) -> float:
    """n·Var of a rare text from its own cells, without those of others: the formula of the literature."""
    share, pair, h = law.share(cells), law.pair(cells), law.hashes
    noise = share * law.own * (1 - law.own) + (1 - share) * law.other * (1 - law.other)
    spread = share * (1 - share) / h + (1 - 1 / h) * (pair - share**2)
    return (noise / (h * law.gap**2) + spread) / (1 - share) ** 2


def test_least_squares_have_less_variance_than_a_texts_own_cells() -> None:
    paper = RAPPOR.as_published(f=0.5, p=0.5, q=0.75)
    assert round(own_cells_only(paper.cell_law, 128), 2) == 8.12
    assert round(paper.variance(0.0, 1), 2) == 7.99
    one_hash = RAPPOR(epsilon=2.0, epoch_epsilon=4.0)
    assert RAPPOR(epsilon=2.0, epoch_epsilon=4.0, hashes=2).variance(0.0, 1) > 2.5 * one_hash.variance(0.0, 1)


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
def test_the_variance_of_o_rr_is_that_of_hashing(epsilon: float) -> None:
    oracle = bruit.oracle("OLH", epsilon=epsilon, k=50)
    design = HashedResponse(epsilon=epsilon, cells=oracle.g)
    for share in (0.0, 0.3):
        assert abs(design.variance(share, 1) / oracle.typical_variance(share, 1) - 1) < 1e-6


def test_too_few_people_are_not_called_too_few_cohorts() -> None:
    design = RAPPOR(epsilon=2.0, epoch_epsilon=4.0, bits=8, cohorts=16)
    tally = design.tally(design.privatize(["bus"] * 3, rng=1))
    with pytest.raises(ParameterError, match="some cohorts are empty: name fewer, or ask more people"):
        design.estimate(tally, [f"text {place}" for place in range(60)])


def test_p_values_of_very_few_cells_are_said_to_be_too_small() -> None:
    few, many = (RAPPOR(epsilon=4.0, epoch_epsilon=4.0, cohorts=cohorts, bits=16) for cohorts in (2, 16))
    for design, is_said in ((few, True), (many, False)):
        answer = design.estimate(design.simulate({"tram": 10_000}, rng=1), ["bus", "bike"])
        assert any("p-values are too small" in note for note in answer.table().notes) is is_said


@pytest.mark.parametrize(("hashes", "cohorts"), [(8, 1024), (2, 2**14)])
def test_cohorts_that_would_take_minutes_to_test_are_refused(hashes: int, cohorts: int) -> None:
    with pytest.raises(LimitError, match="cohorts must be at most"):
        RAPPOR(epsilon=1.0, epoch_epsilon=2.0, hashes=hashes, cohorts=cohorts)
