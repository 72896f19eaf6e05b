"""The sparse vector technique: its exact loss, its law, its error, and that a session is had only once."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.entropy import Entropy
from bruit.errors import (
    BudgetError,
    DataTypeError,
    LedgerError,
    ParameterError,
    ParameterTypeError,
    RandomnessError,
)
from bruit.privacy import Ledger
from bruit.releases.above_threshold import AboveThreshold

ROUNDING = 1 + 1e-12  # of the enumeration in double precision
REACH = 45  # scales to each side beyond which noise has a probability below 10⁻¹⁹


def cdf(scale, points):
    """P(noise ≤ point) for discrete Laplace noise, from its definition."""
    ratio = math.exp(-1 / scale)
    points = np.asarray(points, float)
    right = 1 - ratio ** (np.maximum(points, 0) + 1) / (1 + ratio)
    left = ratio ** (-np.minimum(points, 0)) / (1 + ratio)
    return np.where(points >= 0, right, left)


def outcomes(design, answers, times=None):
    """The probability of each outcome by enumeration over the noisy threshold: one per answer, then "none".

    `times` repeats an answer, so that long streams of equal answers are cheap; then only the outcomes at the first of
    each run are given.
    """
    s1, s2 = float(design.threshold_noise.scale), float(design.answer_noise.scale)
    times = np.ones(len(answers), int) if times is None else np.asarray(times)
    width = int(REACH * max(s1, s2)) + 10
    z = np.arange(-width, width + 1)
    ratio = math.exp(-1 / s1)
    weight = (1 - ratio) / (1 + ratio) * ratio ** np.abs(z)
    reached = np.ones_like(weight)
    found = []
    for answer, count in zip(answers, times, strict=True):
        # It is passed over when answer + noise < threshold + z.
        passed = cdf(s2, design.threshold + z - answer - 1)
        found.append(float(np.sum(weight * reached * cdf(s2, -(design.threshold + z - answer)))))
        reached = reached * passed**count
    return np.array([*found, float(np.sum(weight * reached))])


def loss(design, changes, lasts, k=2000):
    """The privacy loss at "found after k answers that move by `changes`", where the last moves by `lasts`."""
    low = design.threshold
    one = outcomes(design, [low, low], [k, 1])[1]
    other = outcomes(design, [low + changes, low + lasts], [k, 1])[1]
    return abs(math.log(one / other))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("sensitivity", [1, 10])
def test_the_noise_for_monotone_answers_is_tight(epsilon, sensitivity):
    design = AboveThreshold(epsilon=epsilon, threshold=100, sensitivity=sensitivity, monotone=True)
    worst = loss(design, sensitivity, 0)
    assert 0.98 * epsilon <= worst <= float(design.loss) * ROUNDING
    assert Fraction(epsilon) >= design.loss


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_noise_for_all_other_answers_is_tight_too(epsilon):
    design = AboveThreshold(epsilon=epsilon, threshold=100)
    assert 0.98 * epsilon <= loss(design, 1, -1) <= float(design.loss) * ROUNDING
    assert Fraction(epsilon) >= design.loss


def test_monotone_noise_on_answers_that_move_apart_loses_half_as_much_again():
    design = AboveThreshold(epsilon=1.0, threshold=0, monotone=True)
    assert loss(design, 1, -1) > 1.44  # the control: the condition on the answers is needed
    assert loss(design, 1, -1, k=100_000) == pytest.approx(1.5, abs=1e-3)


@pytest.mark.parametrize("monotone", [False, True])
def test_no_outcome_on_any_small_pair_of_streams_loses_more_than_stated(monotone):
    design = AboveThreshold(epsilon=0.7, threshold=2, monotone=monotone)
    ways = [(0, 1), (-1, 0)] if monotone else [(-1, 0, 1)]
    streams = np.array(np.meshgrid(*[[0, 2, 5]] * 3)).reshape(3, -1).T
    for way in ways:
        for change in np.array(np.meshgrid(*[way] * 3)).reshape(3, -1).T:
            for stream in streams:
                ratio = outcomes(design, stream) / outcomes(design, stream + change)
                assert np.abs(np.log(ratio)).max() <= design.guarantee.epsilon + 1e-9


def test_counts_below_a_share_of_the_number_of_records_lose_1_plus_q_halves():
    # 10·count − n for counts below growing bounds, as one record leaves: the first move by +1, the last by −9.
    design = AboveThreshold(epsilon=1.0, threshold=0, sensitivity=10, monotone=True)
    assert loss(design, 1, -9, k=100_000) == pytest.approx((1 + 0.1) / 2, abs=1e-3)


def test_the_loss_is_the_exact_sum_over_the_scales_that_are_drawn():
    other = AboveThreshold(epsilon=0.3, threshold=0, sensitivity=3)
    s1, s2 = other.threshold_noise.scale, other.answer_noise.scale
    assert other.loss == 3 / s1 + 6 / s2 <= Fraction(0.3)
    assert s2 == 2 * s1
    monotone = AboveThreshold(epsilon=0.3, threshold=0, sensitivity=3, monotone=True)
    assert monotone.loss == 6 / s1
    assert Fraction(0.3) * (1 - Fraction(1, 10**9)) <= monotone.loss <= Fraction(0.3)
    assert monotone.guarantee.epsilon == other.guarantee.epsilon == 0.3


@pytest.mark.audit
def test_sessions_have_the_enumerated_law():
    design = AboveThreshold(epsilon=1.0, threshold=3, monotone=True)
    answers = [0, 4, 1, 6, 2]
    entropy, counts = Entropy(11), np.zeros(6)
    for _ in range(20_000):
        found = design.start(rng=entropy).first(answers)
        counts[5 if found is None else found] += 1
    expected = outcomes(design, answers) * counts.sum()
    assert expected.sum() == pytest.approx(counts.sum())
    assert chi_squared(counts, expected) < 45  # 5 degrees of freedom: beyond it with probability 10⁻⁸
    wrong = outcomes(AboveThreshold(epsilon=1.1, threshold=3, monotone=True), answers) * counts.sum()
    assert chi_squared(counts, wrong) > 45  # the control


def chi_squared(counts, expected):
    return float(np.sum((counts - expected) ** 2 / expected))


@pytest.mark.parametrize("monotone", [False, True])
def test_answers_are_misjudged_by_more_than_alpha_less_often_than_beta(monotone):
    k, beta, runs = 100, 0.2, 2000
    design = AboveThreshold(epsilon=1.0, threshold=500, monotone=monotone)
    alpha = design.accuracy(k, beta)
    entropy = Entropy(5)
    # The hardest stream: all answers but the last just below T − α, the last just above T + α.
    stream = np.array([500 - alpha - 1] * (k - 1) + [500 + alpha + 1])
    failures = sum(design.start(rng=entropy).first(stream) != k - 1 for _ in range(runs))
    assert failures / runs <= beta
    # The control: with a margin of a third of it, the same stream is misjudged more often.
    near = np.array([500 - alpha // 3] * (k - 1) + [500 + alpha // 3])
    assert sum(design.start(rng=entropy).first(near) != k - 1 for _ in range(runs)) / runs > beta


def test_the_error_stated_is_no_greater_than_the_one_in_the_book():
    for epsilon in (0.01, 0.1, 1.0):
        for k in (1, 10, 10_000):
            for beta in (0.5, 0.05, 1e-6):
                book = 8 * (math.log(k) + math.log(2 / beta)) / epsilon
                assert AboveThreshold(epsilon=epsilon, threshold=0).accuracy(k, beta) <= book


def test_asking_one_by_one_or_in_pieces_or_from_a_stream_gives_the_same():
    design = AboveThreshold(epsilon=0.05, threshold=600)
    answers = list(range(0, 1500))
    whole = design.start(rng=3)
    single, pieces, stream = design.start(rng=3), design.start(rng=3), design.start(rng=3)
    index = whole.first(answers)
    assert [single.ask(answer) for answer in answers[: index + 1]] == [False] * index + [True]
    found = [pieces.first(np.array(answers[i : i + 7])) for i in range(0, index + 1, 7)]
    assert found[-1] == index
    assert set(found[:-1]) == {None}
    source = iter(answers)
    assert stream.first(source) == index
    assert next(source) == index + 1  # nothing was read beyond the answer
    assert single.index == pieces.index == stream.index == index
    assert single.answered == index + 1


def test_a_stream_without_an_answer_above_leaves_the_session_open():
    session = AboveThreshold(epsilon=1.0, threshold=10_000).start(rng=1)
    assert session.first([1, 2, 3]) is None
    assert session.first([]) is None
    assert (session.closed, session.answered, session.index) == (False, 3, None)
    assert session.ask(20_000)
    assert session.closed


def test_a_session_says_above_only_once():
    session = AboveThreshold(epsilon=1.0, threshold=0).start(rng=1)
    assert session.first([10_000]) == 0
    for attempt in (lambda: session.ask(0), lambda: session.first([0, 1])):
        with pytest.raises(LedgerError, match="closed") as caught:
            attempt()
        assert isinstance(caught.value, RuntimeError)


def test_starting_books_the_guarantee_before_anything_is_drawn():
    ledger = Ledger(epsilon=1.0)
    design = AboveThreshold(epsilon=0.6, threshold=0)
    design.start(ledger=ledger, label="first busy day")
    assert ledger.entries[0].label == "first busy day"
    assert ledger.spent.epsilon == design.guarantee.epsilon
    with pytest.raises(BudgetError):
        design.start(ledger=ledger)
    with pytest.raises(RandomnessError):
        AboveThreshold(epsilon=0.1, threshold=0).start(ledger=ledger, rng="dice")
    assert len(ledger) == 1


def test_asking_costs_nothing_more():
    ledger = Ledger(epsilon=1.0)
    session = AboveThreshold(epsilon=0.5, threshold=10_000).start(ledger=ledger)
    spent = ledger.spent
    session.first(range(100))
    assert ledger.spent == spent == session.guarantee


def test_a_ledger_for_other_neighbours_refuses():
    with pytest.raises(LedgerError, match="add-remove"):
        AboveThreshold(epsilon=0.5, threshold=0, neighbours="replace").start(ledger=Ledger(epsilon=1.0))


def test_a_session_cannot_be_had_twice():
    session = AboveThreshold(epsilon=1.0, threshold=0).start()
    assert copy.copy(session) is session
    assert copy.deepcopy({"a": session})["a"] is session
    with pytest.raises(LedgerError, match="pickled"):
        pickle.dumps(session)


def test_a_forked_process_cannot_go_on_with_a_session(monkeypatch):
    session = AboveThreshold(epsilon=1.0, threshold=1000).start()
    assert not session.ask(0)
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)  # what a child process sees
    with pytest.raises(LedgerError, match="fork"):
        session.ask(0)


def test_threads_that_share_a_session_get_one_above_in_all():
    session = AboveThreshold(epsilon=0.5, threshold=50).start(rng=2)
    heard: list[bool] = []

    def work():
        try:
            for _ in range(2000):
                heard.append(session.ask(50))
        except LedgerError:
            pass

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert heard.count(True) == 1
    assert session.answered == len(heard)


def test_one_seed_gives_one_session_and_two_calls_of_one_entropy_differ():
    design = AboveThreshold(epsilon=0.01, threshold=1000)
    answers = np.arange(3000)
    assert design.start(rng=4).first(answers) == design.start(rng=4).first(answers)
    entropy = Entropy(4)
    assert len({design.start(rng=entropy).first(answers) for _ in range(8)}) > 4
    assert design.start(rng=4).simulated
    assert not design.start().simulated


@pytest.mark.parametrize("bad", [0.5, "7", None, np.float64(3.0), [3]])
def test_an_answer_that_is_no_whole_number_is_refused_without_being_shown(bad):
    session = AboveThreshold(epsilon=1.0, threshold=0).start()
    with pytest.raises(DataTypeError, match="whole numbers") as caught:
        session.ask(bad)
    assert str(bad) not in str(caught.value)
    assert session.answered == 0


def test_answers_of_any_size_are_compared_and_none_is_an_error():
    design = AboveThreshold(epsilon=1.0, threshold=0)
    session = design.start()
    for answer in (-(2**61), -(2**61) - 1, -(2**63), -(10**40)):
        assert not session.ask(answer)
        assert session.first([answer, answer]) is None
    assert session.first(np.array([-(2**63)])) is None
    assert session.answered == 13
    with pytest.raises(DataTypeError):
        session.first(np.zeros((2, 2), int))
    for answer in (2**61, 2**61 + 1, 2**64, 10**40, np.uint64(2**64 - 1)):
        assert design.start().ask(answer)
    assert design.start().first(np.array([2**64 - 1], np.uint64)) == 0


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=6), st.integers(-8, 8), st.sampled_from([0, -5]))
@settings(max_examples=300, deadline=None)
def test_cut_answers_change_as_the_loss_assumes(changes: list[int], cut_at: int, low: int):
    """Changes of size 5 at most, or within a range of 5, are that after a cut of the answers, too."""
    changes = [min(max(change, low), low + 5) for change in changes] if low else changes
    before = [cut_at + place - 3 for place in range(len(changes))]
    moved = [min(after, cut_at) - min(first, cut_at) for first, after in
             zip(before, map(sum, zip(before, changes, strict=True)), strict=True)]  # fmt: skip
    assert max(map(abs, moved)) <= 5
    if max(changes) - min(changes) <= 5:
        assert max(moved) - min(moved) <= 5


def test_nothing_of_the_data_or_the_noise_shows_in_a_session():
    session = AboveThreshold(epsilon=1.0, threshold=1000).start(rng=3)
    session.first([123, 456])
    assert repr(session) == "<AboveThresholdSession: asked: 2, ε = 1 (central, one record added or removed), simulated>"
    session.ask(99_999)
    assert "99" not in repr(session)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"epsilon": 0}, ParameterError),
        ({"epsilon": "1"}, ParameterTypeError),
        ({"threshold": 0.5}, ParameterTypeError),
        ({"threshold": 2**62}, ParameterError),
        ({"sensitivity": 0}, ParameterError),
        ({"neighbours": "value"}, ParameterError),
        ({"epsilon": 1e-14}, ParameterError),
    ],
)
def test_bad_parameters_are_refused_at_birth(change, error):
    with pytest.raises(error):
        AboveThreshold(**({"epsilon": 1.0, "threshold": 0} | change))


def test_the_digest_tells_designs_apart():
    designs = [
        AboveThreshold(epsilon=1.0, threshold=0),
        AboveThreshold(epsilon=1.0, threshold=1),
        AboveThreshold(epsilon=1.0, threshold=0, sensitivity=2),
        AboveThreshold(epsilon=1.0, threshold=0, monotone=True),
        AboveThreshold(epsilon=1.0, threshold=0, neighbours="replace"),
    ]
    assert len({design.digest for design in designs}) == len(designs)
    assert designs[0] == AboveThreshold(epsilon=1, threshold=0)


@pytest.mark.parametrize(("neighbours", "times"), [("add-remove", 3), ("replace", 6)])
@pytest.mark.parametrize("monotone", [True, False])
def test_people_with_several_rows_are_hidden_as_if_answers_changed_for_each_row(
    neighbours: Any, times: int, monotone: bool
) -> None:
    people = AboveThreshold(epsilon=1.0, threshold=50, monotone=monotone, neighbours=neighbours, rows=3)
    records = AboveThreshold(epsilon=1.0, threshold=50, monotone=monotone, sensitivity=times)
    assert people.threshold_noise == records.threshold_noise
    assert people.answer_noise == records.answer_noise
    assert 1 - Fraction(1, 10**8) < people.loss <= 1
    assert people.guarantee.neighbours == f"person-{neighbours}"
    books = Ledger(epsilon=1.0)
    with pytest.raises(LedgerError):
        people.start(books)
    assert not books.entries
