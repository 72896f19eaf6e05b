"""O-RR: its law, what a collector reads, and what least squares save."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from bruit.errors import DataError, FormatError, ParameterError
from bruit.estimation import Tally
from bruit.laws import Itself, TwoLevelLaw
from bruit.open_answers import HashedResponse
from bruit.rounding import log_ceiling

SMALL = HashedResponse(epsilon=1.0, cells=4, cohorts=3)


def keeps(design: HashedResponse, law: TwoLevelLaw, n: int = 30_000) -> bool:
    """Whether reports of one text are in its cell as often as a law says, and in others alike."""
    cohort, cell = np.divmod(design.privatize(["bus"] * n, rng=1).astype(int), design.cells)
    own = design.hash.table(design.encode(["bus"]).tolist())[0, :, 0][cohort]
    chance = float(law.probability(inside=True))
    even = np.bincount((cell - own)[cell != own] % design.cells, minlength=design.cells)[1:]
    spread = np.abs(even - even.mean()).max() / math.sqrt(even.mean())
    near = abs((cell == own).mean() - chance) < 5.5 * math.sqrt(chance * (1 - chance) / n)
    cohorts = np.bincount(cohort, minlength=design.cohorts)
    return bool(near and spread < 6 and np.abs(cohorts - n / design.cohorts).max() < 6 * math.sqrt(n / design.cohorts))


def test_reports_have_the_declared_law_and_a_wrong_one_is_found_out() -> None:
    assert keeps(SMALL, SMALL.law)
    assert not keeps(SMALL, TwoLevelLaw.calibrate(1.15, Itself(values=4)))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 5.0])
def test_the_epsilon_is_that_of_the_whole_numbers(epsilon: float) -> None:
    design = HashedResponse(epsilon=epsilon, cohorts=8)
    rows = [design.law.row(cell) for cell in range(min(4, design.cells))]
    ratio = max(max(Fraction(a, b) for a, b in zip(rows[0], row, strict=True)) for row in rows)
    assert epsilon * (1 - 1e-9) <= log_ceiling(ratio) == design.guarantee.epsilon <= epsilon


def test_hostile_reports_are_refused_and_parts_add_up() -> None:
    honest = SMALL.privatize(["bus", "tram"] * 50, rng=1)
    tally = SMALL.tally([12, -1, 300, None, "x", 2.5, *honest.tolist()])
    assert (tally.n, tally.refused) == (100, 6)
    assert SMALL.tally(honest[:30]) + SMALL.tally(honest[30:]) == SMALL.tally(honest)
    with pytest.raises(DataError):
        SMALL.estimate(Tally(design=SMALL.digest, counts=tally.counts, n=99), ["bus"])


def test_a_simulated_tally_has_the_law_of_reports() -> None:
    people = {"bus": 12_000, "tram": 6000}
    real = SMALL.tally(SMALL.privatize([text for text, many in people.items() for _ in range(many)], rng=1))
    drawn = SMALL.simulate(people, rng=2)
    assert np.abs(real.counts - drawn.counts).max() < 6 * math.sqrt(2 * 3000)
    assert drawn.n == real.n


def test_a_document_reads_back_and_damage_is_refused() -> None:
    body = SMALL.to_dict()
    assert HashedResponse.from_dict(body) == SMALL
    for damaged in (None, {}, {**body, "cells": 1}, {**body, "hash": "x"}, {**body, "cohorts": 2**30}):
        with pytest.raises(FormatError):
            HashedResponse.from_dict(damaged)
    with pytest.raises(ParameterError):
        HashedResponse(epsilon=1.0, cells=1)


def plain_and_squares(runs: int, people: int, listed: int) -> tuple[float, float]:
    """n·Var of a rare candidate by counting its own cells only, and by least squares; shares are as 1/rank²."""
    design = HashedResponse(epsilon=2.0, cells=8, cohorts=16)
    law, plain, squares = design.cell_law, [], []
    shares = 1 / np.arange(1, listed + 1) ** 2
    counts = np.floor(people * shares / shares.sum()).astype(int)
    counts[0] += people - counts.sum()
    for run in range(runs):
        words = [f"{run} {place}" for place in range(listed)]
        tally = design.simulate(dict(zip(words, counts.tolist(), strict=True)), rng=run)
        table = design.hash.table(design.encode(words).tolist())[-1, :, 0]
        support = tally.counts.reshape(16, 8)[np.arange(16), table].sum() / people
        plain.append((support - 1 / 8) / (law.own - 1 / 8))
        squares.append((design.estimate(tally, words).frequency - counts / people)[listed // 2 :])
    return people * float(np.var(plain)), people * float(np.mean(np.square(squares)))


@pytest.mark.audit
def test_least_squares_remove_what_a_pool_adds() -> None:
    plain, squares = plain_and_squares(runs=500, people=1000, listed=40)
    assert plain > 3.5 * squares
    stated = HashedResponse(epsilon=2.0, cells=8, cohorts=16).variance(0.0, 1, 40)
    assert 0.85 < squares / stated < 1.03, "the formula takes no text for frequent: these are, and are explained"


def test_the_default_number_of_cohorts_fits_every_epsilon() -> None:
    assert HashedResponse(epsilon=2.0).cohorts == 1024
    large = HashedResponse(epsilon=12.0)
    assert 1 <= large.cohorts < 1024
    assert HashedResponse.from_dict(large.to_dict()) == large
