"""People with several rows: what counts of them, what noise hides them, and that every source gives the same."""

from __future__ import annotations

import itertools
import math
import unicodedata
import warnings
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bruit
from bruit import audit, engines
from bruit.domains import Categories
from bruit.engines import bounding as engine
from bruit.engines import identity
from bruit.engines.bounding import SECRET_BYTES, Sorting
from bruit.entropy import Entropy
from bruit.errors import DataError, DataTypeError, LedgerError, LimitError, MissingError, ParameterError
from bruit.privacy import Guarantee, Ledger
from bruit.releases import Count, Histogram, InverseSensitivity, Mean, Median, Person, Quantiles, Release, Sum, Variance
from bruit.releases.noise import DiscreteLaplace
from bruit.releases.person import Contribution, PeopleWarning

ZONES = ["a", "b", "c", "d", "e"]
#: One person with ten rows in three groups.
TEN = {"user": [1] * 10, "zone": ["a"] * 5 + ["b"] * 3 + ["c"] * 2, "fare": [float(i) for i in range(10)]}


def _trips(rows: int = 3000, seed: int = 5) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    return {
        "user": np.minimum(draw.zipf(1.4, rows), 400),
        "zone": draw.choice(ZONES, rows, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        "fare": draw.integers(-5, 6, rows).astype(float),
    }


def _counts(release: Release, source: Any, seed: int = 3) -> list[int]:
    return [int(count) for count in release.fold(source, seed).reveal(design=release.digest)]


def _chosen(person: Person, table: dict[str, Any], seed: int, by: bool = True) -> Any:
    people = identity.people(np.asarray(table["user"]))
    groups = np.array([ZONES.index(zone) for zone in table["zone"]])
    key = Entropy(seed).bytes(SECRET_BYTES)
    codes = [] if by else [groups]
    return _choose(person, people, Sorting(groups if by else None, None, codes), key)


def _choose(person: Person, people: identity.People, sorting: Sorting, key: bytes) -> Any:
    return engine.choose(people.codes, engine.keys(people, sorting, person.most, key), person.most, key)


@pytest.mark.parametrize(
    ("rows", "groups", "per_group"), [(3, None, None), (None, 2, 1), (None, 2, 3), (4, 2, 3), (5, None, 1), (1, 9, 9)]
)
def test_nobody_counts_beyond_the_bounds_and_nothing_is_left_out_below_them(
    rows: int | None, groups: int | None, per_group: int | None
) -> None:
    table = _trips()
    kept = _chosen(Person("user", rows, groups, per_group), table, seed=1)
    users, zones = table["user"], table["zone"]
    pairs = Counter(zip(users[kept].tolist(), zones[kept].tolist(), strict=True))
    everything = Counter(zip(users.tolist(), zones.tolist(), strict=True))
    for user in set(users.tolist()):
        own = {zone: count for (who, zone), count in pairs.items() if who == user}
        all_of = {zone: count for (who, zone), count in everything.items() if who == user}
        best = sorted((min(count, per_group or 10**9) for count in all_of.values()), reverse=True)
        assert sum(own.values()) <= (rows or 10**9)
        assert len(own) <= (groups or 10**9)
        assert max(own.values()) <= (per_group or 10**9)
        if groups is None:
            assert sum(own.values()) == min(sum(best), rows or 10**9)
        elif rows is None:
            assert len(own) == min(groups, len(all_of))
            assert all(count == min(all_of[zone], per_group or 10**9) for zone, count in own.items())


@pytest.mark.parametrize("by", [None, {"zone": ZONES}])
def test_order_and_pieces_of_a_table_change_nothing(by: Any, tmp_path: Path, monkeypatch: Any) -> None:
    statistics = [
        Count(epsilon=1.0),
        Histogram("zone", domain=ZONES, epsilon=1.0),
        Sum("fare", bounds=(-3, 5), epsilon=1.0),
    ]
    person = Person("user", rows=2) if by is None else Person("user", groups=2, rows_per_group=2)
    release = Release(statistics, by, person)
    table = _trips()
    frame = pd.DataFrame(table)
    expected = _counts(release, table)
    shuffled = frame.sample(frac=1, random_state=1)
    shuffled.to_csv(tmp_path / "trips.csv", index=False)
    shuffled.to_parquet(tmp_path / "trips.parquet", index=False)
    texts = frame.assign(user=frame["user"].map(str))
    for source in (shuffled, texts, pl.from_pandas(frame), tmp_path / "trips.csv", tmp_path / "trips.parquet"):
        assert _counts(release, source) == expected
    assert _counts(release, iter([shuffled.iloc[:1000], shuffled.iloc[1000:]])) == expected
    assert _counts(release, table, seed=4) != expected
    monkeypatch.setattr(engine, "MOST_ROWS", 200)
    with monkeypatch.context() as without_duckdb:
        without_duckdb.setattr(engine.importlib.util, "find_spec", lambda name: None)
        for source in (frame, tmp_path / "trips.csv", tmp_path / "trips.parquet"):
            assert _counts(release, source) == expected
    with pytest.raises(LimitError, match="Parquet"):
        _counts(release, iter([shuffled]))


def test_one_person_is_one_person_however_they_are_written() -> None:
    accent = "Andre" + "\N{COMBINING ACUTE ACCENT}"
    names = np.array([accent, unicodedata.normalize("NFC", accent), "3", "007", "7"], object)
    assert identity.people(names).codes.tolist() == [0, 0, 1, 2, 3]
    mixed = np.array([3, 3.0, "3", None, float("nan"), True, "true", 10**30, str(10**30)], object)
    assert identity.people(mixed).codes.tolist() == [0, 0, 0, -1, -1, 1, 1, 2, 2]
    for column in (np.array([3, 10**18]), np.array([3, 10**18], np.uint64), np.array(["3", str(10**18)], object)):
        assert (identity.people(column).words == identity.people(np.array([3, 10**18])).words).all()
    assert (identity.people(np.array([3.0])).words == identity.people(np.array([3])).words).all()
    with pytest.raises(DataError, match="last digits"):
        identity.people(np.array([2.0**53]))


NEAR = [Decimal("123456789012345.671"), Decimal("123456789012345.672")]


@pytest.mark.parametrize(
    "people",
    [
        pa.array(NEAR, pa.decimal128(18, 3)),
        pa.array([Decimal("1.000000000000000001"), Decimal("1.000000000000000000")], pa.decimal128(19, 18)),
        pa.array([1, 2], pa.timestamp("ms")),
        np.array([1, 2], "M8[ns]"),
        np.array([0.5, 1.5]),
        [2.0**53, None],
        [0.5, None],
    ],
    ids=["decimals", "rounded decimals", "times", "nanoseconds", "fractions", "large floats", "fractions and gaps"],
)
def test_a_column_that_may_have_made_two_people_one_is_refused(people: Any) -> None:
    release = Release(Count(epsilon=1.0), person=Person("user", rows=1, missing="drop"))
    table: Any = pa.table({"user": people}) if isinstance(people, pa.Array) else {"user": people}
    with pytest.raises((DataError, DataTypeError), match="known by a whole number or a text"):
        release.fold(table)


def test_people_who_differ_in_what_readers_might_drop_are_two() -> None:
    release = Release(Count(epsilon=1.0), person=Person("user", rows=1))
    whole = pa.array([Decimal(2), Decimal(3)], pa.decimal128(18, 3))
    days = np.array(["2026-01-01", "2026-01-02"], "M8[D]")
    for people in (["A", "A\0"], whole, days):
        table: Any = pa.table({"user": people}) if isinstance(people, pa.Array) else {"user": people}
        assert release.fold(table).reveal(design=release.digest).tolist() == [2]


def test_rows_of_people_are_counted_in_batches_so_that_sums_of_squares_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    release = Release(Variance("x", bounds=(0, 999_998), step=1.0, epsilon=1.0), person=Person("user", rows=1))
    rows = 2 * engines.BATCH + 3
    bounded = release.bounded(release.person, 7)
    sizes: list[int] = []

    def count(batch: Any) -> Any:
        sizes.append(len(batch["x"]))
        return release.tally_batch(batch)

    table = {"user": np.arange(rows), "x": np.full(rows, 999_998.0)}
    (tally,) = engine.fold_people(table, [replace(bounded, count=count)], ["x"])
    assert sizes == [engines.BATCH, engines.BATCH, 3]
    assert tally.reveal(design=release.digest).tolist() == [rows, rows * 999_998, rows * 999_998**2]
    assert 999_998**2 * engines.BATCH < 2**63


def test_rows_of_nobody_are_refused_or_dropped_before_anything_is_booked() -> None:
    table = {"user": ["x", None, "x"], "zone": ["a", "a", "b"]}
    ledger = Ledger(epsilon=1.0, neighbours="person-add-remove")
    with pytest.raises(MissingError, match='missing="drop"'):
        bruit.release(table, Count(epsilon=1.0), person="user", rows=5, ledger=ledger)
    assert not ledger.entries
    release = Release(Count(epsilon=1.0), person=Person("user", rows=5, missing="drop"))
    assert _counts(release, table) == [2]


def _brute_force(statistic: Any, contribution: Contribution, groups: int, values: list[int]) -> tuple[int, int]:
    """The largest change by one person of sums by group, over all people with few rows, added or replaced."""
    base = 0
    shapes = [
        shape
        for shape in itertools.product(range(contribution.rows_per_group + 1), repeat=groups)
        if sum(shape) <= contribution.rows
    ]
    vectors = [np.zeros(groups, int)]
    for shape in shapes:
        for signs in itertools.product(values, repeat=groups):
            vectors.append(np.array(shape) * np.array(signs))
    others = vectors if contribution.replaced else [vectors[base]]
    changes = [first - second for first in vectors for second in others]
    return max(int(np.abs(c).sum()) for c in changes), max(int((c**2).sum()) for c in changes)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(
    ("rows", "groups", "per_group"), [(None, 2, 1), (None, 2, 2), (None, 1, 2), (2, None, None), (3, 2, 2)]
)
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (-1, 2), (1, 2), (-3, 2)])
def test_the_stated_change_is_never_below_the_largest_one_by_enumeration(
    replaced: bool, rows: int | None, groups: int | None, per_group: int | None, bounds: tuple[int, int]
) -> None:
    many = 3
    contribution = Person("user", rows, groups, per_group).contribution(many, replaced=replaced)
    statistic = Sum(bounds=bounds, step=1, epsilon=1.0, neighbours="replace" if replaced else "add-remove")
    stated = statistic._of_rows().contributed(contribution)
    l1, squares = _brute_force(statistic, contribution, many, [bounds[0], bounds[1]])
    assert l1 <= stated.l1
    assert squares <= stated.l2_squared
    uneven = contribution.rows % contribution.rows_per_group
    within = many >= 2 * contribution.full_groups or not replaced
    if not uneven and within:
        assert (l1, squares) == (stated.l1, stated.l2_squared)
    counted = Count(epsilon=1.0)._of_rows().contributed(contribution)
    if bounds == (0, 1):
        assert squares <= counted.l2_squared
        assert l1 <= counted.l1


def test_a_person_with_ten_rows_in_three_groups_loses_exactly_epsilon_at_most() -> None:
    empty = {name: [] for name in TEN}
    kinds = [
        (Person("user", groups=2, rows_per_group=2), Count(epsilon=1.0)),
        (Person("user", groups=3, rows_per_group=1), Sum("fare", bounds=(0, 9), epsilon=1.0)),
        (Person("user", rows=4), Mean("fare", bounds=(0, 9), epsilon=1.0)),
    ]
    for person, statistic in kinds:
        release = Release(statistic, {"zone": ZONES}, person)
        nobody = release.fold(empty, 1).reveal(design=release.digest)
        losses = []
        for seed in range(40):
            own = release.fold(TEN, seed).reveal(design=release.digest)
            losses.append(release.loss_between(nobody, own))
        assert 1 - Fraction(1, 10**8) <= max(losses) * (1 if statistic.kind != "sum" else 2)
        assert max(losses) <= 1


def test_a_twin_that_bounds_nothing_is_caught() -> None:
    class Unbounded(Person):
        most = engine.Most()

    release = Release(Count(epsilon=1.0), {"zone": ZONES}, Unbounded("user", groups=2, rows_per_group=2))
    nobody = release.fold({name: [] for name in TEN}, 1).reveal(design=release.digest)
    own = release.fold(TEN, 1).reveal(design=release.digest)
    assert release.loss_between(nobody, own) == Fraction(10, 4)


@pytest.mark.audit
@pytest.mark.parametrize("bounded", [True, False])
def test_a_million_trials_never_show_more_than_epsilon_and_catch_the_twin(bounded: bool) -> None:
    person = Person("user", groups=2, rows_per_group=2)
    release = Release(Count(epsilon=1.0), {"zone": ZONES[:3]}, person)
    (statistic,) = release.drawn.values()
    noise: Any = statistic.noise()  # type: ignore[attr-defined]
    assert isinstance(noise, DiscreteLaplace)

    def outputs(present: bool, size: int, entropy: Entropy) -> Any:
        counts = np.zeros((size, 3), np.int64)
        if present:  # as many people, each alone in a table of their own, as trials
            users = np.repeat(np.arange(size), 10)
            zones = np.tile([0] * 5 + [1] * 3 + [2] * 2, size)
            people = identity.people(users)
            key = entropy.bytes(SECRET_BYTES)
            rows = _choose(person, people, Sorting(zones, None, []), key) if bounded else np.arange(users.size)
            np.add.at(counts, (users[rows], zones[rows]), 1)
        return counts + noise.draw(3 * size, entropy).reshape(size, 3)

    measured = audit.empirical(
        outputs, True, False, trials=10**6, level=1 - 1e-7, rng=Entropy(5), score=lambda o: o.sum(axis=1)
    )
    assert measured.passes(release.guarantee) is bounded
    if bounded:
        assert measured.epsilon_lower > 0.6


def test_the_choice_prefers_no_value_and_a_rule_that_does_is_noticed() -> None:
    people = 4000
    users, zones = np.repeat(np.arange(people), 5), np.tile(np.arange(5), people)
    key = Entropy(2).bytes(SECRET_BYTES)
    kept = _choose(Person("user", rows=1), identity.people(users), Sorting(None, None, [zones]), key)
    shares = np.bincount(zones[kept], minlength=5) / people
    # 5.5 standard deviations: 4·10⁻⁸ for each of five shares.
    allowed = 5.5 * math.sqrt(0.2 * 0.8 / people)
    assert (np.abs(shares - 0.2) < allowed).all()
    first = np.unique(users, return_index=True)[1]
    assert np.abs(np.bincount(zones[first], minlength=5) / people - 0.2).max() > allowed


def test_quantiles_run_at_a_share_of_epsilon_for_each_row() -> None:
    for statistic in (
        Median("fare", bounds=(0, 9), epsilon=1.0),
        Quantiles("fare", quantiles=[0.5], bounds=(0, 9), epsilon=1.0),
    ):
        release = Release(statistic, person=Person("user", rows=4))
        (drawn,) = release.drawn.values()
        assert drawn.epsilon == 0.25
        assert release.guarantee == Guarantee(epsilon=1.0, neighbours="person-add-remove")
        assert release.publish(release.fold(TEN, 1), rng=1)[statistic.title].guarantee == release.guarantee


def test_under_replace_only_the_number_of_people_is_public() -> None:
    statistics = [
        Count(epsilon=1.0, neighbours="replace"),
        Mean("fare", bounds=(0, 9), epsilon=1.0, neighbours="replace"),
        Variance("fare", bounds=(0, 9), epsilon=1.0, delta=1e-6, neighbours="replace"),
        Sum("fare", bounds=(0, 9), epsilon=1.0, neighbours="replace"),
        Median("fare", bounds=(0, 9), epsilon=1.0, neighbours="replace"),
    ]
    release = Release(statistics, {"zone": ZONES}, Person("user", rows=2))
    assert release.guarantee.neighbours == "person-replace"
    assert not any(drawn.public for drawn in release.drawn.values())
    noise: Any = release.drawn["count"].noise()  # type: ignore[attr-defined]
    assert noise.scale == 4
    assert release.drawn["median of fare"].epsilon == 0.25
    results = release.publish(release.fold(TEN, 1), rng=1)
    assert results["count"].guarantee == Guarantee(epsilon=1.0, neighbours="person-replace")
    with pytest.raises(ParameterError, match="one record of a person"):
        Release(InverseSensitivity("fare", statistic="mean", bounds=(0, 9), epsilon=1.0), person=Person("user", rows=2))


def test_a_ledger_of_rows_books_nothing_about_people_and_parts_of_people_add() -> None:
    with pytest.raises((LedgerError, ParameterError), match="add-remove"):
        bruit.release(TEN, Count(epsilon=1.0), person="user", rows=2, ledger=Ledger(epsilon=1.0))
    ledger = Ledger(epsilon=1.0, neighbours="person-add-remove")
    bruit.release(TEN, Count(epsilon=0.5), person="user", rows=2, ledger=ledger)
    assert ledger.spent.epsilon == 0.5
    with pytest.raises(ParameterError, match="several parts"), ledger.parallel("by zone"):
        pass


def test_a_release_with_a_person_can_be_written_down_and_says_what_counts() -> None:
    release = Release(
        Histogram("zone", domain=Categories(labels=tuple(ZONES), missing="drop"), epsilon=1.0),
        person=Person("user", rows=1, missing="drop"),
    )
    assert Release.from_json(release.to_json()).digest == release.digest
    result = release.publish(release.fold({**TEN, "zone": [None, *TEN["zone"][1:]]}, 1), rng=1)["histogram of zone"]
    (note,) = result.notes
    assert note.startswith("at most 1 row of each 'user' counts, chosen by chance")
    assert result.statistic["person"]["rows"] == 1


@pytest.mark.parametrize(
    ("options", "by", "message"),
    [
        ({}, None, "rows=10"),
        ({"groups": 2}, {"zone": ZONES}, "rows=10"),
        ({"rows": 2, "groups": 2}, None, "there are none"),
        ({"rows_per_group": 2}, None, "there are none"),
        ({"rows": 0}, None, "rows must be"),
    ],
)
def test_bounds_that_bound_nothing_are_refused_with_the_right_spelling(options: Any, by: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        bruit.release(TEN, Count(epsilon=1.0), by=by, person="user", **options)
    with pytest.raises(ParameterError, match="name the person"):
        bruit.release(TEN, Count(epsilon=1.0), rows=3)


def test_a_table_of_people_with_several_rows_draws_a_warning_and_others_do_not(tmp_path: Path) -> None:
    pd.DataFrame(TEN).rename(columns={"user": "patient_id"}).to_csv(tmp_path / "visits.csv", index=False)
    for source, name in ((TEN, "user"), (pd.DataFrame(TEN), "user"), (tmp_path / "visits.csv", "patient_id")):
        with pytest.warns(PeopleWarning, match=f"Column '{name}'"):
            bruit.release(source, Count(epsilon=1.0), rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bruit.release({**TEN, "user": range(10)}, Count(epsilon=1.0), rng=1)
        bruit.release({"paid": [1, 1], "kids": [2, 2]}, Count(epsilon=1.0), rng=1)
        bruit.release(TEN, Count(epsilon=1.0), person="user", rows=1, rng=1)


def test_bounded_rows_are_the_same_from_every_source_and_within_the_bounds(tmp_path: Path) -> None:
    table = pd.DataFrame(_trips(600)).astype({"fare": int})
    table.to_csv(tmp_path / "trips.csv", index=False)
    person = Person("user", rows=2)
    rows = person.bounded(table, rng=3)
    assert max(Counter(rows["user"].tolist()).values()) == 2
    assert len(rows["user"]) == int(np.minimum(table["user"].value_counts(), 2).sum())
    shuffled = table.sample(frac=1, random_state=1)
    for other in (person.bounded(shuffled, rng=3), person.bounded(tmp_path / "trips.csv", rng=3)):
        assert sorted(map(str, zip(*(map(float, other["fare"]), other["zone"]), strict=True))) == sorted(
            map(str, zip(*(map(float, rows["fare"]), rows["zone"]), strict=True))
        )
    assert sorted(person.bounded(table, ["fare"], rng=3)) == ["fare", "user"]
    with pytest.raises(ParameterError, match="rows=10"):
        Person("user", groups=2, rows_per_group=1).bounded(table)


@pytest.mark.parametrize("amounts", [[0.5, 0.5], np.array([2.0**24, 2.0**24], np.float32), [2.0**60, 2.0**60]])
def test_a_column_that_looks_like_an_identifier_by_its_name_alone_does_not_stop_a_release(amounts: Any) -> None:
    table = {"account": amounts, "zone": ["a", "b"]}
    assert bruit.release(table, Count(epsilon=1.0), rng=7).simulated
    with pytest.raises(DataError, match="known by a whole number or a text"):
        bruit.release(table, Count(epsilon=1.0), person="account", rows=1, rng=7)
