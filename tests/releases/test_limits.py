"""The guide to bounds: its guarantee, its profile, and that the bound it chooses is near the best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bruit import Ledger
from bruit.errors import DesignError, LedgerError, MissingError, ParameterError, ParameterTypeError
from bruit.estimation.tally import RawTally
from bruit.releases import Count, LimitsGuide, Person, Release, choose_limits

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


def errors(table: dict[str, Any], guide: LimitsGuide) -> dict[int, float]:
    """The root mean square error of the counts under each bound."""
    truth = np.bincount(table["zone"], minlength=ZONES)
    out = {}
    for bound in guide.candidates:
        release = Release(guide.count, BY, guide.bounded(bound))
        kept = release.fold(table, 1).reveal(design=release.digest)
        (statistic,) = release.drawn.values()
        out[bound] = float(np.sqrt(((truth - kept) ** 2).mean() + statistic.standard_error**2))
    return out


def profile(guide: LimitsGuide, sizes: np.ndarray) -> RawTally:
    """The raw profile of people with so many rows, as `LimitsGuide.fold` counts it."""
    cells = np.searchsorted(guide.candidates, np.minimum(sizes, guide.candidates[-1]))
    return RawTally(design=guide.digest, counts=np.bincount(cells, minlength=len(guide.candidates)))


def shares_near_the_best(sizes: np.ndarray, spend: float, epsilon: float, runs: int) -> float:
    """How often the error of the advised bound is within a fifth of the least of any bound up to 1,000."""
    guide = LimitsGuide(Count(epsilon=epsilon), "user", epsilon=spend)
    size, people = np.unique(sizes, return_counts=True)

    def error(bound: int) -> float:
        return float(np.hypot((people * np.maximum(size - bound, 0)).sum(), 2**0.5 * bound / epsilon))

    least, raw = min(map(error, range(1, 1001))), profile(guide, sizes)
    advised = [guide.publish(raw, rng=seed).best.bound for seed in range(runs)]
    return float(np.mean([error(bound) <= 1.2 * least for bound in advised]))


#: How many rows people have, by a generator and the number of people. None of them was used to tune the guide.
ROWS = {
    "geometric": lambda draw, people: draw.geometric(0.2, people),
    "zipf 1.5": lambda draw, people: np.minimum(draw.zipf(1.5, people), 10**5),
    "zipf 2": lambda draw, people: np.minimum(draw.zipf(2, people), 10**5),
    "giant": lambda draw, people: np.append(draw.geometric(0.5, people - 1), 7_000),
}


@pytest.mark.audit
@pytest.mark.parametrize("spend", [0.1, 1.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("people", [1_000, 20_000])
def test_where_everybody_has_3_rows_3_or_4_are_advised(people: int, epsilon: float, spend: float) -> None:
    guide = LimitsGuide(Count(epsilon=epsilon), "user", epsilon=spend)
    raw = profile(guide, np.full(people, 3))
    advised = [guide.publish(raw, rng=seed).best.bound for seed in range(200)]
    assert sum(bound in (3, 4) for bound in advised) >= 198


@pytest.mark.audit
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("kind", ROWS)
def test_the_rows_that_are_advised_are_near_the_best_on_other_tables(kind: str, epsilon: float) -> None:
    sizes = ROWS[kind](np.random.default_rng(4), 20_000)
    assert shares_near_the_best(sizes, 1.0, epsilon, 100) >= 0.9
    # With a tenth of that, the power law that ends late is the exception.
    assert shares_near_the_best(sizes, 0.1, epsilon, 100) >= (0.7 if (kind, epsilon) == ("zipf 2", 0.1) else 0.9)


def test_noise_in_the_tail_is_not_read_as_rows() -> None:
    for epsilon, spend in ((1.0, 0.1), (0.1, 1.0)):
        guide = LimitsGuide(Count(epsilon=epsilon), "user", epsilon=spend)
        raw = profile(guide, np.full(1_000, 3))
        assert {guide.publish(raw, rng=seed).best.bound for seed in range(3)} <= {3, 4}
    # The control: what the noisy cells say as they are.
    noisy = np.maximum(guide.noise.draw(len(guide.candidates), 1), 0)
    assert (noisy * np.maximum(np.array(guide.candidates) - 3, 0)).sum() > 10 * 2**0.5 * 3 / 0.1


def test_people_who_do_not_show_are_said_and_no_bound_is_advised_of_nobody() -> None:
    guide = LimitsGuide(Count(epsilon=1.0), "user", epsilon=0.1)
    choice = guide.publish(profile(guide, np.array([1, 2, 5])), rng=1)
    assert not choice.seen
    assert "no bound can be advised" in " ".join(str(choice).split())
    many = guide.publish(profile(guide, np.full(1_000, 2)), rng=1)
    assert many.seen
    assert f"up to {guide.unseen} people" in " ".join(str(many).split())
    # Twice as many show.
    for seed in range(3):
        sizes = np.append(np.full(1_000, 2), np.full(2 * guide.unseen, 500))
        assert guide.publish(profile(guide, sizes), rng=seed).best.bound >= 448


@pytest.mark.audit
@pytest.mark.parametrize(("delta", "epsilon"), [(0.0, 0.1), (1e-6, 0.2)])
def test_on_a_heavy_tail_the_bound_of_the_guide_is_within_a_fifth_of_the_best(delta: float, epsilon: float) -> None:
    table = heavy_tail()
    guide = LimitsGuide(Count(epsilon=1.0, delta=delta), "user", BY, epsilon=epsilon)
    real, raw = errors(table, guide), guide.fold(table, 1)
    best = min(real.values())
    ratios = [real[guide.publish(raw, rng=seed).best.bound] / best for seed in range(100)]
    assert sum(ratio <= 1.2 for ratio in ratios) >= 95
    # The control: a bound that a quantile of groups per person would give.
    assert real[6] / best > 1.9


def test_the_least_error_is_found_among_few_people_too() -> None:
    table = heavy_tail(2_000)
    guide = LimitsGuide(Count(epsilon=1.0), "user", BY, epsilon=1.0)
    real, raw = errors(table, guide), guide.fold(table, 1)
    chosen = [guide.publish(raw, rng=seed).best.bound for seed in range(5)]
    assert max(real[bound] for bound in chosen) <= 1.2 * min(real.values())


def test_a_person_is_in_one_cell_of_the_profile_and_in_one_group() -> None:
    guide = LimitsGuide(Count(epsilon=1.0), "user", {"zone": ["a", "b", "c", "d"]}, epsilon=1.0)
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
    rows = LimitsGuide(Count(epsilon=1.0), "user", epsilon=1.0, most=2)
    assert rows.fold(table, 1).reveal(design=rows.digest).tolist() == [1, 2]
    assert rows.noise.loss(1) <= 1 < rows.noise.loss(1) * (1 + 1e-6)


def test_it_is_booked_before_noise_is_drawn_and_refused_by_a_ledger_of_rows() -> None:
    table = {"user": [1, 1, 2], "zone": [0, 1, 0]}
    books = Ledger(epsilon=0.3, neighbours="person-add-remove")
    choice = choose_limits(table, Count(epsilon=1.0), person="user", epsilon=0.25, ledger=books, rng=1, most=9)
    assert books.spent.epsilon == 0.25
    assert books.entries[0].label == "profile of rows per user"
    assert choice.guarantee.neighbours == "person-add-remove"
    assert choice.person == Person("user", rows=choice.best.bound)
    with pytest.raises(LedgerError):
        choose_limits(table, Count(epsilon=1.0), person="user", ledger=Ledger(epsilon=1.0))
    with pytest.raises(DesignError):
        LimitsGuide(Count(epsilon=1.0), "user").publish(LimitsGuide(Count(epsilon=1.0), "user", most=3).fold(table))
    with pytest.raises(ParameterTypeError, match="planned"):
        LimitsGuide(1.0, "user")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="epsilon"):
        LimitsGuide(Count(epsilon=1.0), "user", epsilon=0)


def test_rows_of_nobody_are_the_persons_to_refuse_or_drop() -> None:
    table = {"user": [1, 1, None, 2], "zone": [0, 1, 0, 0]}
    dropping = Person("user", rows=7, missing="drop")
    for by, least in ((None, {"rows": 1}), ({"zone": [0, 1]}, {"groups": 1, "rows_per_group": 1})):
        guide = LimitsGuide(Count(epsilon=1.0), dropping, by, epsilon=0.5)
        assert guide.to_dict()["single"]["person"] == {"column": "user", **least, "missing": "drop"}
        assert LimitsGuide.from_dict(guide.to_dict()).to_dict() == guide.to_dict()
        assert guide.fold(table, 1).reveal(design=guide.digest)[: len(guide.candidates)].sum() == 2
        with pytest.raises(MissingError, match="belong to nobody"):
            LimitsGuide(Count(epsilon=1.0), "user", by, epsilon=0.5).fold(table, 1)
    choice = choose_limits(table, Count(epsilon=1.0), person=dropping, epsilon=0.5, most=3, rng=1)
    assert choice.person.missing == "drop"
    with pytest.raises(ParameterTypeError, match=r"write person=Person\(.*missing='drop'\)"):
        choose_limits(table, Count(epsilon=1.0), person="user", missing="drop")
    with pytest.raises(TypeError, match="nothing"):
        choose_limits(table, Count(epsilon=1.0), person="user", nothing=1)


def test_the_table_shows_the_best_bound_once() -> None:
    choice = choose_limits({"user": list(range(50)) * 4}, Count(epsilon=1.0), person="user", epsilon=5.0, most=8, rng=3)
    assert str(choice).count("least") == 2  # the row, and the note
    assert choice.best.bound == 4
    assert "least with 4 rows of each 'user'" in " ".join(str(choice).split())
    long = LimitsGuide(Count(epsilon=1.0), "user", epsilon=1.0)
    shown = str(long.publish(profile(long, np.full(900, 300)), rng=1))
    assert "← least" in shown
    assert "and 16 more rows" in shown  # the bounds around the best are shown
