"""Values outside the declared bounds or labels: refused, clamped or other, as the domain says, and nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bruit import Ledger, Plan, numbers, oracles
from bruit.domains import OTHER_LABEL, Bins, Categories, Chosen, Dates, Grid, Interval, MultiChoice, Scale, Schema
from bruit.domains.declare import question, questions
from bruit.domains.domain import DictionaryColumn
from bruit.domains.outside import clamping, with_outside
from bruit.domains.schema import domain_from_dict
from bruit.errors import DataError, FormatError, ParameterError, ParameterTypeError
from bruit.releases import Count, Histogram, Mean, Median, Quantiles, Release, Sum, Tables, WeightedSum

#: A domain of each kind, values of which the last two are outside, and their codes where they are clamped, or other.
CASES: list[tuple[Any, list[Any], list[int] | None, list[int] | None]] = [
    (Grid(0, 4), [1, 9, -3.5], [1, 4, 0], None),
    (Bins([0, 2, 4]), [1, 9, -3.5], [0, 1, 0], [0, 2, 2]),
    (Dates("2023-01", "2023-12", "month"), ["2023-02-03", "2030-01-01", "1999-01-01"], [1, 11, 0], [1, 12, 12]),
    (Categories(labels=["a", "b"]), ["b", "z", "y"], None, [1, 2, 2]),
    (Categories(labels=[3, 4]), [4, 9, -1], None, [1, 2, 2]),
    (Categories(labels=[True, False]), [False, "x", 3], None, [1, 2, 2]),
    (Categories(k=3), [1, 9, -1], None, [1, 3, 3]),
]


def forms(values: list[Any]) -> list[Any]:
    """The values as a list, as an array, and as a file keeps them."""
    positions = np.arange(len(values))
    same = len({type(value) for value in values}) == 1
    return [values, *([np.array(values)] if same else []), DictionaryColumn(np.array(values, object), positions)]


@pytest.mark.parametrize(("domain", "values", "clamped", "other"), CASES)
def test_each_domain_refuses_clamps_or_has_another_value(
    domain: Any, values: list[Any], clamped: list[int] | None, other: list[int] | None
) -> None:
    expected = {"refuse": None, **({"clamp": clamped} if clamped else {}), **({"other": other} if other else {})}
    assert set(domain.policies) == set(expected)
    for form in forms(values):
        for policy, codes in expected.items():
            declared = replace(domain, outside=policy)
            if codes is None:
                for refusing in (domain, declared):
                    with pytest.raises(DataError) as caught:
                        refusing.encode(form)
                    assert not any(str(value) in str(caught.value) for value in values[1:])
                continue
            assert declared.encode(form).tolist() == codes
            assert max(codes) < declared.size == len(declared.names)
            assert (declared.names[-1] == OTHER_LABEL) == (policy == "other")
            assert domain_from_dict(declared.to_dict()) == declared
            with_gaps = replace(declared, missing="category") if policy == "other" else None
            if with_gaps is not None:
                assert with_gaps.encode([*values, None]).tolist() == [*codes, with_gaps.size - 1]
                assert with_gaps.decode(with_gaps.encode([*values, None])).size == 4
    assert "outside" not in domain.to_dict()
    for policy in {"clamp", "other"} - set(expected):
        with pytest.raises(ParameterError, match="cannot be here"):
            replace(domain, outside=policy)
    with pytest.raises(ParameterError, match="outside must be"):
        replace(domain, outside="drop")
    with pytest.raises(FormatError):
        domain_from_dict({**domain.to_dict(), "outside": ["clamp"]})


def test_what_is_declared_is_kept_and_the_rest_is_clamped_in_releases() -> None:
    assert clamping(Grid(0, 4)) == Grid(0, 4, outside="clamp")
    assert clamping(Grid(0, 4, outside="refuse")).outside == "refuse"
    assert clamping(Categories(k=2)).outside is None
    assert with_outside(Scale(labels=["low", "high"]), "other").size == 2
    assert with_outside(Chosen("run", MultiChoice(("run", "swim"))), "refuse").outside is None
    with pytest.raises(ParameterError, match="cannot be here"):
        Scale(labels=["low", "high", ...])  # type: ignore[arg-type]


def test_three_points_stand_for_all_other_values_wherever_labels_are_declared() -> None:
    assert Categories(labels=["a", ...]).names == ("a", "other")  # type: ignore[arg-type]
    assert Schema({"town": ["Bern", ...]})["town"].labels == ("Bern", "other")
    assert question("town=Bern,Basel,...").domain == Categories(labels=["Bern", "Basel"], outside="other")  # type: ignore[arg-type]
    assert question("town=Bern,...", outside="refuse").domain.names == ("Bern", "other")  # type: ignore[union-attr]
    domains = questions(["age=0..9", "town=a,b", "when=2023-01-01..2023-01-31"], "refuse", "clamp")
    assert [domain.outside for domain in domains.values()] == ["clamp", None, "clamp"]  # type: ignore[union-attr]
    for text in ("age=0..9,...", "agree=no<yes,...", "x=[a,b],...", "x=,...", "d=2023-01-01..2023-02-01,..."):
        with pytest.raises(ParameterError, match=r"list of values|answers"):
            question(text)


def test_people_are_asked_with_the_same_policies() -> None:
    oracle = oracles.oracle("GRR", epsilon=3.0, domain=Categories(labels=["a", "b"], outside="other"))
    assert oracle.size == 3
    assert oracle.estimate(oracle.tally(oracle.privatize(["a", "z", "b"], rng=1))).labels == ("a", "b", "other")
    for other in (
        oracles.oracle("warner", domain=Categories(labels=["a"], outside="other")),
        oracles.RandomizedResponse.with_odds(3, 1, domain=Categories(labels=["a", "b"], outside="other")),
        oracles.UnaryEncoding.with_probabilities(0.75, 0.25, domain=Categories(labels=["a", "b"], outside="other")),
        oracles.oracle("OLH", epsilon=1.0, domain=Categories(k=5, outside="other")),
    ):
        assert other.domain.names[-1] == "other"
        assert oracles.from_dict(other.to_dict()).digest == other.digest
    with pytest.raises(DataError, match="declared labels"):
        oracles.oracle("GRR", epsilon=3.0, labels=["a", "b"]).privatize(["a", "z"])
    number = numbers.number("duchi", epsilon=3.0, domain=Grid(0, 9, outside="clamp"))
    assert number.privatize([-4, 12], rng=1).size == 2
    with pytest.raises(ParameterError, match="cannot be here"):
        numbers.number("duchi", epsilon=3.0, domain=Grid(0, 9, outside="other"))
    schema = {
        "town": ["Bern", "Basel", ...],
        "age": Grid(0, 99, outside="clamp"),
        "when": Dates("2023-01", "2023-03", "month", outside="other"),
    }
    plan = Plan(schema, 4.0)
    table = {"town": ["Bern", "Rome"], "age": [150, -3], "when": ["2023-02-01", "1990-01-01"]}
    again = Plan.from_json(plan.to_json())
    assert again.digest == plan.digest
    for asked in (plan, again):
        reports = asked.privatize(table, rng=1)
        assert asked.tally(reports).n == 2
        assert asked.encode(table)["town"].tolist() == [0, 2]
    assert Plan({"town": ["Bern", "Basel"]}, 4.0).digest != Plan({"town": ["Bern", "Basel", ...]}, 4.0).digest


def test_a_file_is_read_by_the_same_policies(tmp_path: Any) -> None:
    (tmp_path / "x.csv").write_text("town,age\nBern,150\nRome,-3\nBasel,50\n")
    plan = Plan({"town": ["Bern", "Basel", ...], "age": Grid(0, 99, outside="clamp")}, 4.0)
    table = {"town": ["Bern", "Rome", "Basel"], "age": [150, -3, 50]}
    from_file, from_memory = plan.privatize(tmp_path / "x.csv", rng=1), plan.privatize(table, rng=1)
    assert all((from_file[name] == from_memory[name]).all() for name in from_memory)
    release = Release(
        [Histogram("town", domain=["Bern", "Basel", ...], epsilon=1.0), Sum("age", bounds=(0, 99), epsilon=1.0)]
    )
    counts = [release.fold(source).reveal(design=release.digest).tolist() for source in (table, tmp_path / "x.csv")]
    assert counts[0] == counts[1] == [1, 1, 1, *counts[0][3:]]


NUMBERS = [
    lambda **policy: Sum("x", bounds=Interval(0, 10, **policy), epsilon=1.0),
    lambda **policy: Mean("x", bounds=Grid(0, 10, **policy), epsilon=1.0),
    lambda **policy: Median("x", bounds=Interval(0, 10, **policy), epsilon=1.0),
    lambda **policy: WeightedSum("x", weight="w", bounds=Interval(0, 10, **policy), weight_bounds=(0, 5), epsilon=1.0),
]


@pytest.mark.parametrize("make", NUMBERS)
def test_a_release_clamps_unless_it_is_to_refuse_and_then_before_anything_is_booked(make: Any) -> None:
    table = {"x": [3, 12, -5], "w": [1, 1, 9]}
    usual, clamped = make(), make(outside="clamp")
    inside = {"x": [3, 10, 0], "w": [1, 1, 5]}
    counts = [
        item.fold(rows).reveal(design=item.digest).tolist() for item in (usual, clamped) for rows in (table, inside)
    ]
    assert all(other == counts[0] for other in counts)
    books = Ledger(epsilon=5.0)
    refusing = make(outside="refuse")
    with pytest.raises(DataError, match=r"Column 'x': values must lie in the declared bounds") as caught:
        refusing.release(refusing.fold(table), books)
    assert "12" not in str(caught.value)
    assert books.spent.epsilon == 0
    refusing.release(refusing.fold(inside), books, rng=1)
    assert books.spent.epsilon == 1
    with pytest.raises(ParameterError, match="cannot be here"):
        make(outside="other")
    assert usual.digest != refusing.digest
    assert Release.from_json(refusing.alone.to_json()).digest == refusing.digest


def test_histograms_tables_and_groups_follow_their_domains() -> None:
    table = {"age": [5, 30, 200], "zone": ["a", "b", "z"]}
    for outside, counts in ((None, [1, 2]), ("clamp", [1, 2]), ("other", [1, 1, 1])):
        histogram = Histogram("age", domain=Bins([0, 18, 99], outside=outside), epsilon=1.0)
        assert histogram.fold(table).reveal(design=histogram.digest).tolist() == counts
        groups = Release(Count(epsilon=1.0), {"age": Bins([0, 18, 99], outside=outside)})
        assert groups.fold(table).reveal(design=groups.digest).tolist() == counts
    with pytest.raises(DataError, match="age"):
        Histogram("age", domain=Bins([0, 18, 99], outside="refuse"), epsilon=1.0).fold(table)
    crossed = Tables({"age": Bins([0, 18, 99], outside="other"), "zone": ["a", "b", ...]}, epsilon=1.0)
    assert crossed.fold(table).reveal(design=crossed.digest).sum() == 3
    for bounds in (Dates("2023-01", "2023-03", "month", outside="other"),):
        with pytest.raises(ParameterError, match="no rank"):
            Quantiles("when", bounds=bounds, quantiles=(0.5,), epsilon=1.0)
    with pytest.raises(ParameterTypeError, match=r"bounds=Grid\(low=0, high=9, cells=10, .*outside='refuse'\)"):
        Quantiles("x", bounds=Grid(0, 9), quantiles=(0.5,), epsilon=1.0, outside="refuse")


def test_an_interval_is_a_pair_with_policies_and_a_document_has_them_beside_the_bounds() -> None:
    low, high = Interval(0, 10)
    assert (low, high) == (0.0, 10.0)
    assert Mean("x", bounds=Interval(0, 10), epsilon=1.0) == Mean("x", bounds=(0, 10), epsilon=1.0)
    dropping = Mean("x", bounds=Grid(0, 10, missing="drop"), epsilon=1.0)
    body = dropping.to_dict()
    assert (body["bounds"], body["missing"]) == ([0.0, 10.0], "drop")
    assert Mean.from_dict(body) == dropping
    for wrong in ({"missing": "category"}, {"outside": "other"}, {"high": -1}):
        with pytest.raises(ParameterError):
            Interval(**{"low": 0, "high": 10, **wrong})
