"""Central tables: what a record moves, the least error, tables that agree, and people with several rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bruit import testing
from bruit.domains import Bins, Categories
from bruit.entropy import Words
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation import contrasts
from bruit.privacy import Ledger
from bruit.privacy.zcdp import epsilon_to_rho
from bruit.releases import Count, DiscreteGaussian, Release, Result, Results, Tables, TablesResult, release
from bruit.releases.person import Person

SMALL = {"a": ["0", "1"], "b": ["x", "y", "z"], "c": ["p", "q", "r", "s"]}
#: workclass, education, marital status, occupation, relationship, race, sex and income, without gaps.
ADULT = (8, 16, 7, 14, 6, 5, 2, 2)
DELTA = 1e-6


def adult(**options: Any) -> Tables:
    return Tables({f"x{place}": Categories(k=size) for place, size in enumerate(ADULT)}, epsilon=1.0, **options)


def people(n: int = 300, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.choice(labels, n, p=rng.dirichlet(np.ones(len(labels)))) for name, labels in SMALL.items()}


def true_tables(table: dict[str, np.ndarray], names: tuple[tuple[str, ...], ...]) -> dict[Any, np.ndarray]:
    tables = {}
    for own in names:
        counts = np.zeros([len(SMALL[name]) for name in own], int)
        for row in zip(*(table[name] for name in own), strict=True):
            counts[tuple(SMALL[name].index(value) for name, value in zip(own, row, strict=True))] += 1
        tables[own] = counts
    return tables


def rmse(tables: Tables) -> float:
    error = tables.expected_error()
    return float(np.sqrt((error**2).mean()))


# The error, before anything is read.


def test_the_total_variance_is_the_least_one_of_the_literature() -> None:
    tables = Tables(SMALL, epsilon=1.0, delta=DELTA)
    at_half = (tables.expected_error() ** 2).sum() * epsilon_to_rho(1.0, DELTA) / 0.5
    assert at_half == pytest.approx(50.85, abs=0.005)


def test_pairs_of_adult_have_an_error_of_at_most_17_5_people_against_24_and_21() -> None:
    contrasted = adult(delta=DELTA)
    assert rmse(contrasted) <= 17.5
    equal = DiscreteGaussian.calibrate(28, 1.0, DELTA)
    assert equal.standard_error == pytest.approx(24.0, abs=0.05)
    # Equal shares, made to agree: a part is the mean over the tables that have it.
    sizes = {f"x{place}": size for place, size in enumerate(ADULT)}
    cells = {names: math.prod(sizes[name] for name in names) for names in contrasted.tables}
    weight = {
        kept: sum(
            math.prod(sizes[name] for name in kept) / own for names, own in cells.items() if set(kept) <= set(names)
        )
        for kept in contrasted._parts
    }
    agreed = {kept: equal.variance / own for kept, own in weight.items()}
    total = sum(own * contrasts.cell_variance(agreed, sizes, names) for names, own in cells.items())
    assert math.sqrt(total / sum(cells.values())) == pytest.approx(21.0, abs=0.1)
    assert "17.44" in str(contrasted.plan())
    assert 34 < rmse(adult()) < 39.6


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_counts_are_unbiased_with_the_error_that_is_stated_and_intervals_cover(neighbours: Any, delta: float) -> None:
    tables = Tables(SMALL, tables=[("a", "b"), ("b", "c"), ("c",)], epsilon=1.0, delta=delta, neighbours=neighbours)
    table, runs = people(), 250
    truth = np.concatenate([own.ravel() for own in true_tables(table, tables.tables).values()])
    raw = tables.fold(table)
    results = [tables.release(raw, rng=seed) for seed in range(runs)]
    off = np.array([result.values - truth for result in results])
    error = tables.expected_error()
    # White noise within a table and correlated ones between them: 5.5 standard errors for the mean, 8 for variances.
    assert (np.abs(off.mean(axis=0)) < 5.5 * error / runs**0.5).all()
    ratio = (off**2).mean(axis=0) / error**2
    assert (np.abs(ratio - 1) < 8 * math.sqrt((2 if delta else 5) / runs)).all()
    covered = np.mean([(np.abs(result.values - truth) <= np.diff(result.interval())[:, 0] / 2) for result in results])
    assert 0.93 < covered < 0.975
    assert np.abs(ratio / 2 - 1).min() > 0.2  # twice the variance would have been seen


def test_tables_agree_in_every_margin_and_in_the_number_of_records() -> None:
    for delta, neighbours in itertools.product((0.0, DELTA), ("add-remove", "replace")):
        tables = Tables(SMALL, epsilon=0.5, delta=delta, neighbours=neighbours)  # type: ignore[arg-type]
        result = release(people(), tables, rng=3)
        assert isinstance(result, TablesResult)
        for name, others in (("a", "bc"), ("b", "ac"), ("c", "ab")):
            margins = [result.cells(name, other).sum(axis=1) for other in others]
            assert np.allclose(*margins, atol=1e-8)
            assert np.allclose(result.cells(name), margins[0])
        assert np.allclose(result.cells("b", "a").T, result.cells("a", "b"))
        total = result.cells("a", "b").sum()
        assert (abs(total - 300) < 1e-6) == (neighbours == "replace")
        assert tables.error_of() == 0 or neighbours == "add-remove"


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_without_noise_the_tables_are_those_of_the_data(neighbours: Any, delta: float, monkeypatch) -> None:
    from bruit.releases import noise

    monkeypatch.setattr(noise.KernelNoise, "sample", lambda self, size, words: np.zeros(size, np.int64))
    tables = Tables(
        SMALL, tables=[("a", "b", "c"), ("a", "c"), ("b",)], epsilon=1.0, delta=delta, neighbours=neighbours
    )
    result: Any = release(people(), tables, rng=1)
    for names, truth in true_tables(people(), tables.tables).items():
        assert np.allclose(result.cells(*names), truth, atol=1e-9)


# What a record moves.


def moved(tables: Tables, difference: dict[tuple[str, ...], np.ndarray]) -> Fraction:
    """The ρ between two data sets whose tables differ by this, from the integers that noise is added to."""
    from bruit.releases.tables import _scaled_contrast

    loss = Fraction(0)
    for kept, noise in tables._noise.items():
        names = next(names for names in difference if set(kept) <= set(names))
        others = tuple(axis for axis, name in enumerate(names) if name not in kept)
        change = _scaled_contrast(difference[names].sum(axis=others))
        loss += Fraction(int((np.asarray(change) ** 2).sum())) / (2 * noise.sigma2)
    return loss


def record(tables: Tables, codes: tuple[int, ...]) -> dict[tuple[str, ...], np.ndarray]:
    order, cells = list(tables._sizes), {}
    for names in tables._largest:
        counts = np.zeros(tables._shape(names), int)
        counts[tuple(codes[order.index(name)] for name in names)] = 1
        cells[names] = counts
    return cells


def minus(first: dict[Any, Any], second: dict[Any, Any]) -> dict[Any, Any]:
    return {names: first[names] - second[names] for names in first}


@pytest.mark.parametrize("wanted", [None, [("a", "b", "c")], [("a", "b"), ("c",)]])
def test_the_loss_of_any_record_is_what_is_stated_by_enumeration(wanted: Any) -> None:
    records = list(itertools.product(range(2), range(3), range(4)))
    target = Fraction(epsilon_to_rho(1.0, DELTA))
    added = Tables(SMALL, tables=wanted, epsilon=1.0, delta=DELTA)
    worst = max(moved(added, record(added, own)) for own in records)
    assert worst == added.spent <= target
    assert worst > target * Fraction(999_999, 1_000_000)
    replaced = Tables(SMALL, tables=wanted, epsilon=1.0, delta=DELTA, neighbours="replace")
    ways = (minus(record(replaced, first), record(replaced, second)) for first in records[:1] for second in records)
    worst = max(moved(replaced, change) for change in ways)
    assert worst == replaced.spent <= target
    # The noise for a record added would not do for one replaced.
    assert max(moved(added, minus(record(added, records[0]), record(added, own))) for own in records) > target


def test_many_attributes_under_replace_have_a_bound_that_holds() -> None:
    wide = {f"x{place}": ["0", "1", "2"] for place in range(12)}
    tables = Tables(wide, epsilon=1.0, delta=DELTA, neighbours="replace")
    rng = np.random.default_rng(1)
    target = Fraction(epsilon_to_rho(1.0, DELTA))
    assert tables.spent <= target
    for _ in range(5):
        first, second = (tuple(rng.integers(0, 3, 12).tolist()) for _ in range(2))
        assert moved(tables, minus(record(tables, first), record(tables, second))) <= target
    first, second = (0,) * 12, (1,) * 12
    assert moved(tables, minus(record(tables, first), record(tables, second))) <= target


def _choices(records: list[Any], rows: int) -> list[Any]:
    return list(itertools.combinations_with_replacement(records, rows))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_all_rows_of_a_person_are_hidden(neighbours: Any) -> None:
    rows, target = 3, Fraction(epsilon_to_rho(1.0, DELTA))
    statistic = Tables({"a": ["0", "1"], "b": ["x", "y", "z"]}, epsilon=1.0, delta=DELTA, neighbours=neighbours)
    person = Release(statistic, person=Person("who", rows=rows))
    tables: Any = person.drawn[statistic.title]
    assert tables.spent <= target
    records = list(itertools.product(range(2), range(3)))
    mine = [
        {names: sum(record(tables, own)[names] for own in chosen) for names in tables._largest}
        for chosen in _choices(records, rows)
    ]
    nobody = {names: np.zeros(tables._shape(names), int) for names in tables._largest}
    changes = [minus(own, nobody) for own in mine]
    if neighbours == "replace":
        changes += [minus(first, second) for first, second in itertools.combinations(mine, 2)]
        # r rows, and fewer: the number of rows is not public.
        changes += [minus(own, {names: 2 * cell for names, cell in record(tables, records[0]).items()}) for own in mine]
    assert max(moved(tables, change) for change in changes) <= target
    if neighbours == "add-remove":
        assert max(moved(tables, change) for change in changes) > target * Fraction(999_999, 1_000_000)
    result = release({"who": [1] * 5 + [2], "a": ["0"] * 6, "b": ["x"] * 6}, statistic, person="who", rows=rows, rng=1)
    assert result.guarantee.neighbours == f"person-{neighbours}"


def test_rows_of_a_person_in_different_cells_share_margins() -> None:
    tables = Tables(SMALL, epsilon=1.0, delta=DELTA)
    rows = [record(tables, (0, 0, place)) for place in range(3)]
    together = {names: sum(row[names] for row in rows) for names in tables._largest}
    # Noise for √3 times one row, as if the rows were orthogonal, would not hide the three.
    assert moved(tables, together) > 3 * Fraction(epsilon_to_rho(1.0, DELTA))


# The common laws.

#: Records of two attributes.
RECORDS = [("0", "x"), ("1", "z"), ("0", "z"), ("1", "y")]
PAIR = {"a": ["0", "1"], "b": ["x", "y", "z"]}


def folded(tables: Tables):
    return lambda records: tables.alone.fold({"a": [own for own, _ in records], "b": [own for _, own in records]})


@pytest.mark.audit
@pytest.mark.parametrize(
    ("neighbours", "delta"),
    [
        ("add-remove", 0.0),
        pytest.param("replace", 0.0, marks=pytest.mark.audit),
        pytest.param("add-remove", 1e-3, marks=pytest.mark.audit),
        pytest.param("replace", 1e-3, marks=pytest.mark.audit),
    ],
)
def test_the_common_laws_hold(neighbours: Any, delta: float) -> None:
    tables = Tables(PAIR, tables=[("a", "b")], epsilon=1.0, delta=delta, neighbours=neighbours)
    attained = 0.0 if delta else 1 - 1e-8
    testing.check_release(tables, values=RECORDS[:3], fold=folded(tables), attained=attained, trials=1000)


@pytest.mark.parametrize(
    ("neighbours", "delta"),
    [("add-remove", DELTA), ("replace", DELTA), pytest.param("replace", 0.0, marks=pytest.mark.audit)],
)
def test_nothing_but_the_noise_speaks_after_the_booking(neighbours: Any, delta: float) -> None:
    tables = Tables(PAIR, epsilon=1.0, delta=delta, neighbours=neighbours)
    testing.check_release_after_booking(tables, values=RECORDS[:3], fold=folded(tables))


def test_tables_of_more_records_than_64_bits_count_are_exact_before_the_noise() -> None:
    tables = Tables(PAIR, epsilon=1.0, delta=DELTA)
    huge = np.array([2**62, 1, 0, 0, 0, 2**62], object)
    result = tables.publish(huge, Words.resolve(1, "test", ""))
    assert np.isfinite(result.values).all()
    small = tables.publish(np.array([5, 1, 0, 0, 0, 5]), Words.resolve(1, "test", ""))
    assert small.labels == result.labels


# Documents, ledgers and sources.


def test_tables_are_booked_saved_and_read_again(tmp_path) -> None:
    tables = Tables(
        {**SMALL, "age": Bins([0, 30, 60, 120])}, tables=[("a", "age"), ("b", "c")], epsilon=1.0, delta=DELTA
    )
    both = Release({"tables": tables, "people": Count(epsilon=0.5)})
    again = Release.from_json(both.to_json())
    assert again.digest == both.digest
    table = {**people(), "age": np.linspace(-5, 150, 300)}
    ledger = Ledger(2.0, 1e-5)
    results = both.publish(both.fold(table), ledger)
    assert ledger.spent.epsilon == pytest.approx(1.5)
    results.save(tmp_path / "results.json")
    read = Results.load(tmp_path / "results.json")["tables"]
    assert isinstance(read, TablesResult)
    assert np.allclose(read.cells("a", "age"), results["tables"].cells("a", "age"))
    assert read[read.labels[1]] == results["tables"].values[1]
    shown = str(read)
    assert "a × age" in shown
    assert "tables agree" in shown
    single = results["tables"]
    single.save(tmp_path / "one.json")
    assert isinstance(Result.load(tmp_path / "one.json"), TablesResult)


def test_a_file_is_counted_as_a_table_in_memory_is(tmp_path) -> None:
    tables, table = Tables(SMALL, epsilon=1.0, delta=DELTA), people(2000)
    lines = [",".join(row) for row in zip(*table.values(), strict=True)]
    (tmp_path / "people.csv").write_text(",".join(table) + "\n" + "\n".join(lines) + "\n")
    assert (
        release(tmp_path / "people.csv", tables, rng=4).values.tolist() == release(table, tables, rng=4).values.tolist()
    )


def test_groups_have_tables_of_their_own() -> None:
    table = {**people(), "town": np.array(["u", "v"])[np.arange(300) % 2]}
    result: Any = release(table, Tables(SMALL, epsilon=1.0, delta=DELTA), by={"town": ["u", "v"]}, rng=2)
    assert len(result) == 2 * 26
    assert result["u", "a × b: 0, x"] == result.values[0]
    assert "a × b: 0, x" in str(result)
    with pytest.raises(ParameterError, match="several groups"):
        result.cells("a", "b")


# What cannot be.


TWELVE = {f"x{place}": ["0", "1"] for place in range(12)}


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"attributes": "a"}, ParameterTypeError, "must declare columns"),
        ({"attributes": {}}, ParameterTypeError, "must declare columns"),
        ({"attributes": {"a": Categories(k=2, missing="drop")}}, ParameterError, "'a' cannot drop"),
        ({"attributes": {"a": Bins([0, 1]), "b": ["0", "1"]}}, ParameterError, "'a' must have two values"),
        ({"attributes": {"a": Categories(k=5000), "b": Categories(k=5000)}}, LimitError, "at most 1,048,576 cells"),
        ({"attributes": {f"x{i}": ["0", "1"] for i in range(150)}}, LimitError, "sets of attributes|thousand tables"),
        ({"attributes": TWELVE, "tables": [list(TWELVE)]}, LimitError, "10 attributes"),
        ({"tables": "ab"}, ParameterTypeError, "list of attributes"),
        ({"tables": []}, ParameterTypeError, "list of attributes"),
        ({"tables": [("a", "a"), ("b", "c")]}, ParameterError, "different from each other"),
        ({"tables": [("a", "town")]}, ParameterError, "must be declared"),
        ({"tables": [("a", "b")]}, ParameterError, "'c' is in no table"),
        ({"tables": [("a", "b"), ("b", "a"), ("c",)]}, ParameterError, "different from each other"),
        ({"epsilon": -1.0}, ParameterError, "epsilon"),
        ({"delta": 1.0}, ParameterError, "delta"),
        ({"neighbours": "person"}, ParameterError, "neighbours"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_are_refused(options: dict[str, Any], kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        Tables(**{"attributes": SMALL, "epsilon": 1.0, "delta": DELTA, **options})


def test_values_that_are_not_declared_are_refused_before_anything_is_booked(tmp_path) -> None:
    ledger = Ledger(1.0, 1e-5)
    with pytest.raises(DataError, match="'b'"):
        release({**people(), "b": ["x"] * 299 + ["secret"]}, Tables(SMALL, epsilon=1.0, delta=DELTA), ledger=ledger)
    assert ledger.spent.epsilon == 0
    result: Any = release(people(), Tables(SMALL, epsilon=1.0, delta=DELTA), rng=1)
    for names in (("a", "town"), (), ("a", "b", "c"), ("a", "a")):
        with pytest.raises(ParameterError, match="None of the tables"):
            result.cells(*names)
    with pytest.raises(ParameterError, match="None of the tables"):
        Tables(SMALL, epsilon=1.0).error_of("a", "b", "c")


@pytest.mark.audit
def test_pairs_of_adult_published_have_the_error_that_was_stated() -> None:
    from bruit import datasets

    data = datasets.load("adult")
    names = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "income"]
    codes = {name: np.asarray(data.schema[name].encode(data[name]), np.int64) for name in names}
    gaps = {name: data.schema[name].domain.missing == "category" for name in names}
    sizes = {name: data.schema[name].size - gaps[name] for name in names}
    whole = np.all([codes[name] < sizes[name] for name in names], axis=0)
    tables = Tables({name: Categories(k=size) for name, size in sizes.items()}, epsilon=1.0, delta=DELTA)
    assert tuple(sizes.values()) == ADULT
    raw = tables.fold({name: column[whole] for name, column in codes.items()})
    truth = np.concatenate(
        [
            np.bincount(
                np.ravel_multi_index([codes[name][whole] for name in own], tables._shape(own)),
                minlength=tables._cells(own),
            )
            for own in tables.tables
        ]
    )
    observed = [np.sqrt(((tables.release(raw, rng=seed).values - truth) ** 2).mean()) for seed in range(20)]
    print(f"\nAdult, 28 pairs: rmse {np.mean(observed):.2f}, from {min(observed):.2f} to {max(observed):.2f}")
    assert np.sqrt(np.mean(np.square(observed))) <= 17.5


def test_many_ways_to_differ_cost_no_more_than_was_asked() -> None:
    names = {f"a{place}": [str(value) for value in range(2 + place % 2)] for place in range(8)}
    tables = Tables(names, tables=[tuple(names)], epsilon=1.0, delta=1e-6, neighbours="replace")
    assert tables._has_many_losses
    target = Fraction(epsilon_to_rho(1.0, 1e-6))
    assert target * (1 - Fraction(1, 10**5)) < tables.spent <= target


def test_a_part_loses_most_where_its_smallest_attribute_changes() -> None:
    sizes = {f"a{place}": 2 + place % 3 for place in range(11)}
    names = list(sizes)
    wanted = [tuple(names[place : place + 4]) for place in range(8)]
    tables = Tables({name: [str(own) for own in range(size)] for name, size in sizes.items()}, tables=wanted,
                    epsilon=1.0, delta=1e-6, neighbours="replace")  # fmt: skip
    (losses,) = tables._losses()
    for kept, loss in losses.items():
        shares = {name: 1 - Fraction(1, sizes[name]) for name in kept}
        own = math.prod(shares.values(), start=Fraction(1))
        worst = max(
            own - math.prod((shares[name] - (name in changed) for name in kept), start=Fraction(1))
            for count in range(len(kept) + 1)
            for changed in itertools.combinations(kept, count)
        )
        assert loss == worst


def test_a_file_of_results_has_a_column_for_each_attribute_of_a_table():
    people = {"sex": ["F", "M"] * 50, "value": ["a", "b"] * 50, "smokes": ["no", "no", "yes", "no"] * 25}
    domains = {"sex": ["F", "M"], "smokes": ["no", "yes"], "value": ["a", "b"]}
    tables = Tables(domains, tables=[("sex", "smokes"), ("value",)], epsilon=1.0)
    results = Release({"count": Count(epsilon=1.0), "cells": tables})
    rows = results.publish(results.fold(people), rng=7).table().to_dict()["values"]
    assert [row["sex"] for row in rows] == ["", "F", "F", "M", "M", "", ""]
    assert [row["smokes"] for row in rows] == ["", "no", "yes", "no", "yes", "", ""]
    assert all(isinstance(row["value"], int | float) for row in rows)  # a name that the file has is not taken
