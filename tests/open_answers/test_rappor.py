"""RAPPOR: what it draws, what any number of reports tells, and what a collector reads."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit.errors import BruitError, DataError, DesignError, FormatError, ParameterError
from bruit.estimation import Tally
from bruit.laws.words import WORDS
from bruit.open_answers import RAPPOR
from bruit.open_answers.rappor import _bernoulli
from bruit.open_answers.two_steps import TwoSteps
from bruit.rounding import log_ceiling

PAPER = RAPPOR.as_published(f=0.5, p=0.5, q=0.75)
SMALL = RAPPOR(epsilon=1.0, epoch_epsilon=2.0, bits=6, hashes=2, cohorts=3)


# What is promised, by enumeration.


def rows(steps: TwoSteps, bits: int, filters: list[tuple[int, ...]], rounds: int, redrawn: bool = False) -> list:
    """P(all reports | filter) in whole numbers: a row per filter, an entry per history of reports."""
    messages = list(itertools.product((0, 1), repeat=bits))

    def chance(row: tuple[int, ...], weights: list[int]) -> int:
        return math.prod(weight if bit else WORDS - weight for bit, weight in zip(row, weights, strict=True))

    refresh = [
        [chance(report, [(steps.added, steps.shown)[b] for b in memo]) for report in messages] for memo in messages
    ]
    table = []
    for own in filters:
        memos = [chance(memo, [steps.own if bit in own else steps.other for bit in range(bits)]) for memo in messages]
        if redrawn:
            single = [sum(w * line[y] for w, line in zip(memos, refresh, strict=True)) for y in range(len(messages))]
            table.append([math.prod(h) for h in itertools.product(single, repeat=rounds)])
        else:
            table.append(
                [
                    sum(w * math.prod(line[y] for y in history) for w, line in zip(memos, refresh, strict=True))
                    for history in itertools.product(range(len(messages)), repeat=rounds)
                ]
            )
    return table


def worst(table: list[list[int]]) -> Fraction:
    """The largest ratio between two rows."""
    columns = list(zip(*table, strict=True))
    return max(Fraction(max(column), min(column)) for column in columns)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
@pytest.mark.parametrize("steps", [TwoSteps.calibrate(1.0, 2.0), PAPER.steps], ids=["by epsilon", "paper"])
def test_the_epsilon_of_several_reports_is_that_of_all_histories(steps: TwoSteps, rounds: int) -> None:
    ratio = worst(rows(steps, 2, [(0,), (1,)], rounds))
    assert ratio == steps.ratio(rounds)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_bits_that_no_text_or_every_text_sets_change_nothing(rounds: int) -> None:
    steps = TwoSteps.calibrate(0.5, 1.0)
    assert worst(rows(steps, 3, [(0,), (1,), (2,)], rounds)) == steps.ratio(rounds)
    filters = list(itertools.combinations(range(4), 2))
    if rounds == 1:
        assert worst(rows(steps, 4, filters, rounds)) == steps.ratio(rounds) ** 2
        assert worst(rows(steps, 4, [(0, 1), (1, 2)], rounds)) == steps.ratio(rounds)


def test_a_memo_that_is_drawn_again_tells_more_than_is_stated() -> None:
    steps = TwoSteps.calibrate(1.0, 1.5)
    for rounds in (2, 3):
        assert worst(rows(steps, 2, [(0,), (1,)], rounds, redrawn=True)) > steps.ratio(rounds)
    assert worst(rows(steps, 2, [(0,), (1,)], 3, redrawn=True)) > steps.memo_ratio


def test_the_papers_epsilons_are_reproduced() -> None:
    assert [round(PAPER.after(rounds).epsilon, 4) for rounds in (1, 2, 4)] == [1.0743, 2.017, 3.2888]
    assert round(PAPER.guarantees["epoch"].epsilon, 3) == 4.394
    assert PAPER.after(1) == PAPER.guarantee == PAPER.guarantees["report"]


@pytest.mark.parametrize("hashes", [1, 2, 3, 8])
@pytest.mark.parametrize(("epsilon", "epoch"), [(1.0, 2.0), (0.3, 0.3), (2.0, 9.0)])
def test_no_report_and_no_epoch_tells_more_than_was_asked_for(hashes: int, epsilon: float, epoch: float) -> None:
    design = RAPPOR(epsilon=epsilon, epoch_epsilon=epoch, hashes=hashes)
    assert epsilon * (1 - 1e-9) <= design.guarantee.epsilon <= epsilon
    assert epoch * (1 - 1e-9) <= design.guarantees["epoch"].epsilon <= epoch
    assert design.after(5000) == design.guarantees["epoch"]
    assert design.after(4096).epsilon <= epoch
    assert design.over(3).epsilon >= 3 * design.guarantees["epoch"].epsilon


def test_two_texts_that_share_bits_in_every_cohort_are_told_apart_less() -> None:
    design = RAPPOR(epsilon=2.0, epoch_epsilon=4.0, bits=4, hashes=2, cohorts=1)
    words = [f"word {place}" for place in range(40)]
    ratio = design.steps.ratio(3)
    stated = {design.between("bus", word, rounds=3).epsilon for word in words}
    assert stated == {0.0, log_ceiling(ratio), log_ceiling(ratio**2)}
    assert design.between("Bus", " bus").epsilon == 0.0
    assert log_ceiling(ratio**2) == design.after(3).epsilon


# What is drawn.


def agrees(design: RAPPOR, rng: int, n: int = 30_000) -> bool:
    """Whether memos and reports of one text have the declared chances, of each bit and of each pair of bits."""
    memos = design.memoize(["bus"] * n, rng=rng)
    reports = design.answer(memos, rng=rng)
    own = np.zeros((design.cohorts, design.bits), bool)
    np.put_along_axis(own, design.hash.table(design.encode(["bus"]).tolist())[0], True, axis=1)
    own = own[memos[:, 0].astype(int)]
    memo, report = (
        np.unpackbits(rows[:, 2:], axis=1, count=design.bits, bitorder="little").astype(bool)
        for rows in (memos, reports)
    )
    steps = design.steps
    return all(
        _near(events, weight / WORDS)
        for events, weight in (
            (memo[own], steps.own),
            (memo[~own], steps.other),
            (report[memo], steps.shown),
            (report[~memo], steps.added),
            (report[memo & own], steps.shown),
            (report[~memo & own], steps.added),
            (memo[:, 0] & memo[:, 1], _pair(own, steps)),
        )
    )


def _pair(own: np.ndarray, steps: TwoSteps) -> float:
    chances = np.where(own, steps.own / WORDS, steps.other / WORDS)
    return float((chances[:, 0] * chances[:, 1]).mean()) * WORDS


def _near(events: np.ndarray, chance: float) -> bool:
    return bool(abs(events.mean() - chance) <= 5.5 * math.sqrt(chance * (1 - chance) / events.size) + 1e-12)


@pytest.mark.parametrize("design", [SMALL, RAPPOR.as_published(f=0.5, p=0.25, q=1.0, bits=9, hashes=1, cohorts=2)])
def test_memos_and_reports_have_the_declared_chances(design: RAPPOR) -> None:
    assert agrees(design, rng=1)


@dataclass(frozen=True, kw_only=True)
class NeverCleared(RAPPOR):
    """The defect of a published client: an own bit is set in every memo."""

    def _memos(self, codes, entropy):  # type: ignore[no-untyped-def]
        memos = super()._memos(codes, entropy)
        cohorts = memos[:, 0].astype(int)
        for row, cells in zip(memos, self.hash.of_people(codes, cohorts), strict=True):
            for cell in cells:
                row[2 + (cell >> 3)] |= 1 << (cell & 7)
        return memos


def test_a_client_that_never_clears_an_own_bit_is_found_out() -> None:
    assert not agrees(NeverCleared(epsilon=1.0, epoch_epsilon=2.0, bits=6, hashes=2, cohorts=3), rng=1)


def test_chances_of_nought_and_one_are_certain() -> None:
    for weight, byte in ((0, 0), (WORDS, 0xFF)):
        out = np.full(9, 7, np.uint8)
        _bernoulli(weight, Entropy(1), out)
        assert set(out.tolist()) == {byte}


def test_cohorts_are_alike_and_stay_with_the_memo() -> None:
    memos = SMALL.memoize(["bus"] * 6000, rng=3)
    reports = SMALL.answer(memos, rng=4)
    assert np.array_equal(memos[:, :2], reports[:, :2])
    many = np.bincount(memos[:, 0], minlength=3)
    assert abs(many - 2000).max() < 6 * math.sqrt(2000)


def test_one_report_is_a_memo_that_is_used_once() -> None:
    tallies = [
        SMALL.tally(SMALL.privatize(["bus"] * 20_000, rng=1)),
        SMALL.simulate({"bus": 20_000}, rng=2),
    ]
    first, second = (SMALL._cells(tally)[1] / SMALL._cells(tally)[0][:, None] for tally in tallies)
    assert np.abs(first - second).max() < 6 * math.sqrt(2 * 0.25 / 6400)
    assert tallies[1].simulated


# What the collector does.


def test_a_tally_does_not_depend_on_how_reports_are_split() -> None:
    reports = SMALL.privatize([f"word {place % 7}" for place in range(1000)], rng=1)
    assert SMALL.tally(reports[:300]) + SMALL.tally(reports[300:]) == SMALL.tally(reports)
    counts = SMALL.tally(reports).counts.reshape(3, 7)
    bits = np.unpackbits(reports[:, 2:], axis=1, count=6, bitorder="little")
    for cohort in range(3):
        assert counts[cohort].tolist() == [
            int((reports[:, 0] == cohort).sum()),
            *bits[reports[:, 0] == cohort].sum(axis=0).tolist(),
        ]


def test_hostile_reports_are_refused_and_honest_ones_count() -> None:
    honest = SMALL.privatize(["bus"] * 5, rng=1)
    hostile = [
        b"\x03\x00\x00",
        b"\x00\x01\x00",
        b"\x00\x00\x40",
        b"\x00\x00",
        b"",
        None,
        "zz",
        7,
        [0, 0, 256],
        object(),
    ]
    tally = SMALL.tally([*hostile, *honest])
    assert (tally.n, tally.refused) == (5, len(hostile))
    assert np.array_equal(tally.counts, SMALL.tally(honest).counts)
    assert SMALL.tally([row.tobytes().hex() for row in honest]) == SMALL.tally(honest)


def test_a_tally_that_no_reports_have_is_refused() -> None:
    tally = SMALL.tally(SMALL.privatize(["bus"] * 5, rng=1))
    counts = tally.counts.copy()
    counts[1] = 9
    for changed in (
        Tally(design=tally.design, counts=counts, n=5),
        Tally(design=tally.design, counts=tally.counts, n=6),
        Tally(design=tally.design, counts=np.zeros_like(counts), n=0),
    ):
        with pytest.raises(DataError):
            SMALL.estimate(changed, ["bus"])
    with pytest.raises(DesignError):
        SMALL.estimate(PAPER.tally(PAPER.privatize(["bus"], rng=1)), ["bus"])


def test_memos_of_another_design_are_refused() -> None:
    with pytest.raises(BruitError):
        PAPER.answer(SMALL.memoize(["bus"], rng=1))
    forged = SMALL.memoize(["bus"], rng=1)
    forged[0, 0] = 3
    with pytest.raises(ParameterError):
        SMALL.answer(forged)


# Identity.


@pytest.mark.parametrize("design", [SMALL, PAPER])
def test_a_document_reads_back_and_damage_is_refused(design: RAPPOR) -> None:
    body = design.to_dict()
    assert RAPPOR.from_dict(body) == design
    assert RAPPOR.from_dict(body).digest == design.digest
    for key, value in {"bits": 1.5, "hash": "md5", "cohorts": 0, "epsilon": -1, "weights": ["1", "2"]}.items():
        with pytest.raises(FormatError):
            RAPPOR.from_dict({**body, key: value})
    for damaged in (None, [], {key: body[key] for key in body if key != "bits"}):
        with pytest.raises(FormatError):
            RAPPOR.from_dict(damaged)


@pytest.mark.parametrize(
    "parameters",
    [
        {"epoch_epsilon": 0.5},
        {"hashes": 9},
        {"bits": 3, "hashes": 2},
        {"cohorts": 2**16 + 1},
        {"bits": 2**16 + 1},
        {"cohorts": 2**16, "bits": 2**12},
        {"weights": (1, 2, 3, 4)},
        {"weights": (3, 2, 2, 1)},
        {"weights": 7},
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        RAPPOR(**{"epsilon": 1.0, "epoch_epsilon": 2.0, **parameters})  # type: ignore[arg-type]


@pytest.mark.parametrize(("bits", "hashes"), [(128, 1), (128, 2), (16, 2)])
@pytest.mark.audit
def test_the_stated_variance_is_that_of_simulated_collections(bits: int, hashes: int) -> None:
    design = RAPPOR.as_published(f=0.5, p=0.5, q=0.75, bits=bits, hashes=hashes, cohorts=64)
    people = {f"word {place}": 20 for place in range(1000)}
    candidates = [f"other {place}" for place in range(100)]
    shares = np.array([design.estimate(design.simulate(people, rng=run), candidates).frequency for run in range(200)])
    assert abs((shares**2).mean() / design.variance(0.0, 20_000, 100) - 1) < 0.03


@pytest.mark.parametrize(("epsilon", "variance"), [(1.0, 3.923), (4.0, 0.182)])
def test_the_count_mean_sketch_has_its_epsilon_and_variance(epsilon: float, variance: float) -> None:
    design = RAPPOR.count_mean_sketch(epsilon=epsilon, buckets=1024)
    assert epsilon * (1 - 1e-9) <= design.guarantee.epsilon <= epsilon
    assert design.guarantee == design.guarantees["epoch"]
    assert round(design.variance(0.0, 1), 3) == variance
    memos = design.memoize(["bus"] * 10, rng=1)
    assert np.array_equal(design.answer(memos, rng=2), memos)
