"""The guide to bounds: its guarantee, its profile, and that the bound it chooses is near the best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bruit import Ledger
from bruit.errors import DesignError, LedgerError, ParameterError, ParameterTypeError
from bruit.releases import BoundsGuide, Count, Person, Release, choose_bounds
from bruit.releases.bounds_guide import falling_tail

ZONES = 265
BY = {"zone": list(range(ZONES))}


def heavy_tail(people: int = 20_000) -> dict[str, Any]:
    """People in 1 to 102 of 265 zones (median 1, 90 % up to 5, 99 % up to 25), of which some are popular."""
    draw = np.random.default_rng(1)
    many = np.minimum(np.floor(draw.random(people) ** (-1 / 1.43)), 102).astype(int)
    scores = -0.9 * np.log(np.arange(1, ZONES + 1)) + draw.gumbel(size=(people, ZONES)).astype(np.float32)
    places = np.argsort(-scores, axis=1)
    first = np.arange(ZONES) < many[:, None]
    return {"user": np.repeat(np.arange(people), many), "zone": places[first]}


def errors(table: dict[str, Any], guide: BoundsGuide) -> dict[int, float]:
    """The root mean square error of the counts under each bound."""
    truth = np.bincount(table["zone"], minlength=ZONES)
    out = {}
    for bound in guide.candidates:
        release = Release(guide.count, BY, guide.bounded(bound))
        kept = release.fold(table, 1).reveal(design=release.digest)
        (statistic,) = release._drawn.values()
        out[bound] = float(np.sqrt(((truth - kept) ** 2).mean() + statistic.error**2))
    return out


@pytest.mark.audit
@pytest.mark.parametrize(("delta", "epsilon"), [(0.0, 0.1), (1e-6, 0.2)])
def test_on_a_heavy_tail_the_bound_of_the_guide_is_within_a_fifth_of_the_best(delta: float, epsilon: float) -> None:
    # The rules of the guide were tuned on this table; docs/people.md has its figures on others.
    table = heavy_tail()
    guide = BoundsGuide(Count(epsilon=1.0, delta=delta), "user", BY, epsilon=epsilon)
    real, raw = errors(table, guide), guide.fold(table, 1)
    best = min(real.values())
    ratios = [real[guide.publish(raw, rng=seed).best.bound] / best for seed in range(40)]
    # With Gaussian noise one run in thirty takes the next bound but one, whose error is 1.2007 times the least.
    assert sum(ratio <= 1.2 for ratio in ratios) >= (40 if delta == 0 else 37)
    assert max(ratios) <= 1.21
    # The control: a bound that a quantile of groups per person would give.
    assert real[6] / best > 1.9


def test_the_least_error_is_found_among_few_people_too() -> None:
    table = heavy_tail(2_000)
    guide = BoundsGuide(Count(epsilon=1.0), "user", BY, epsilon=1.0)
    real, raw = errors(table, guide), guide.fold(table, 1)
    chosen = [guide.publish(raw, rng=seed).best.bound for seed in range(5)]
    assert max(real[bound] for bound in chosen) <= 1.2 * min(real.values())


def test_a_person_is_in_one_cell_of_the_profile_and_in_one_group() -> None:
    guide = BoundsGuide(Count(epsilon=1.0), "user", {"zone": ["a", "b", "c", "d"]}, epsilon=1.0)
    assert guide.candidates == (1, 2, 3, 4)
    table = {"user": [1, 1, 1, 2, 3, 3], "zone": ["a", "a", "b", "c", "a", "d"]}
    without = {name: [column[place] for place in (3,)] for name, column in table.items()}
    counts, fewer = (guide.fold(data, 1).reveal(design=guide.digest) for data in (table, without))
    assert counts[:4].tolist() == [1, 2, 0, 0]
    assert counts[4:].sum() == 3
    assert fewer.tolist() == [1, 0, 0, 0, 0, 0, 1, 0]
    # Adding two people changes each half by two, which costs ¾ε and ¼ε each.
    change = np.abs(counts - fewer)
    assert (change[:4].sum(), change[4:].sum()) == (2, 2)
    assert guide.noise.loss(1) + guide._group_noise.loss(1) <= 1
    rows = BoundsGuide(Count(epsilon=1.0), "user", epsilon=1.0, most=2)
    assert rows.fold(table, 1).reveal(design=rows.digest).tolist() == [1, 2]
    assert rows.noise.loss(1) <= 1 < rows.noise.loss(1) * (1 + 1e-6)


def test_it_is_booked_before_noise_is_drawn_and_refused_by_a_ledger_of_rows() -> None:
    table = {"user": [1, 1, 2], "zone": [0, 1, 0]}
    books = Ledger(epsilon=0.3, neighbours="person-add-remove")
    choice = choose_bounds(table, Count(epsilon=1.0), person="user", epsilon=0.25, ledger=books, rng=1, most=9)
    assert books.spent.epsilon == 0.25
    assert books.entries[0].label == "profile of rows per user"
    assert choice.guarantee.neighbours == "person-add-remove"
    assert choice.person == Person("user", rows=choice.best.bound)
    with pytest.raises(LedgerError):
        choose_bounds(table, Count(epsilon=1.0), person="user", ledger=Ledger(epsilon=1.0))
    with pytest.raises(DesignError):
        BoundsGuide(Count(epsilon=1.0), "user").publish(BoundsGuide(Count(epsilon=1.0), "user", most=3).fold(table))
    with pytest.raises(ParameterTypeError, match="planned"):
        BoundsGuide(1.0, "user")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="epsilon"):
        BoundsGuide(Count(epsilon=1.0), "user", epsilon=0)


def test_the_tail_falls_and_nothing_is_below_zero() -> None:
    draw = np.random.default_rng(1)
    for _ in range(50):
        counts = draw.normal(0, 3, 12) + np.r_[2, 30, 20, 10, 5, 2, 1, 0, 0, 0, 0, 0]
        fitted = falling_tail(counts)
        assert (np.diff(fitted[np.argmax(counts) :]) <= 1e-9).all()
        assert (fitted >= 0).all()


def test_the_table_shows_the_best_bound_once() -> None:
    choice = choose_bounds({"user": list(range(50)) * 4}, Count(epsilon=1.0), person="user", epsilon=5.0, most=8, rng=3)
    assert str(choice.table()).count("least") == 2  # the row, and the note
    assert choice.best.bound == 4
    assert "4 rows of each 'user'" in " ".join(str(choice.table()).split())
