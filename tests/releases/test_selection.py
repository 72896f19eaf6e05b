"""Groups that nobody declared: the exact δ, how many people a group needs, and what the result tells."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bruit
from bruit.engines import bounding as engine
from bruit.entropy import Entropy
from bruit.errors import DataError, DataTypeError, LimitError, MissingError, ParameterError
from bruit.privacy import Ledger
from bruit.releases import Count, Mean, Person, Release, SelectionNoise, selection
from bruit.releases.selection import GaussianSelection, _gaussian_delta
from bruit.rounding import exp_floor


def _law(noise: SelectionNoise, people: int, *, above: int) -> dict[int | None, int]:
    """The weights of every published number, and of None for a group that is not named."""
    law: dict[int | None, int] = {None: 0}
    for value in range(-noise.threshold, noise.threshold + 1):
        number = people + value
        outcome = number if people and number > above else None
        law[outcome] = law.get(outcome, 0) + noise.weights[abs(value)]
    return law


def _delta(noise: SelectionNoise, first: dict[int | None, int], second: dict[int | None, int]) -> Fraction:
    """Σ (P − e^ε Q)₊, with e^ε rounded down."""
    unit = 10**60
    grows = exp_floor(float(noise.epsilon), unit)
    excess = sum(max(unit * weight - grows * second.get(outcome, 0), 0) for outcome, weight in first.items())
    return Fraction(excess, unit * noise.total)


def _worst(noise: SelectionNoise, above: int) -> Fraction:
    laws = [_law(noise, people, above=above) for people in range(2 * noise.threshold + 3)]
    pairs = [*itertools.pairwise(laws), *zip(laws[1:], laws, strict=False)]
    return max(_delta(noise, first, second) for first, second in pairs)


def test_the_exact_delta_is_what_was_asked_at_most_for_200_random_pairs() -> None:
    draw = np.random.default_rng(7)
    for epsilon, delta in zip(draw.uniform(0.3, 4, 200), 10 ** draw.uniform(-8, -1, 200), strict=True):
        noise = SelectionNoise(Fraction(float(epsilon)), Fraction(float(delta)))
        assert noise.true_delta <= noise.delta
        assert _worst(noise, noise.threshold) == noise.true_delta == noise.chance(1)


def test_a_threshold_that_is_passed_by_at_least_misses_an_atom_and_is_caught() -> None:
    noise = SelectionNoise(Fraction(1), Fraction(1, 200))
    assert _worst(noise, noise.threshold - 1) > 2 * noise.delta


def _optimal(epsilon: float, delta: float) -> int:
    """People for an even chance under the best rule there is, without a count, for one group per person."""
    chance, people = 0.0, 0
    while chance < 0.5:
        up, down = math.exp(epsilon) * chance + delta, 1 - math.exp(-epsilon) * (1 - chance - delta)
        chance, people = min(up, down, 1.0), people + 1
    return people


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups", "people"),
    [
        (1.0, 1e-6, 1, 14),
        (1.0, 1e-6, 2, 27),
        (1.0, 1e-6, 3, 40),
        (1.0, 1e-6, 5, 67),
        (1.0, 1e-6, 10, 132),
        (1.0, 1e-6, 50, 657),
        (0.5, 1e-6, 1, 26),
        (0.1, 1e-6, 1, 109),
        (1.0, 1e-5, 1, 12),
    ],
)
def test_an_even_chance_takes_at_most_one_person_more_than_the_best_rule(
    epsilon: float, delta: float, groups: int, people: int
) -> None:
    noise = SelectionNoise(Fraction(epsilon) / groups, Fraction(delta) / groups)
    assert _optimal(epsilon / groups, delta / groups) == people
    assert noise.chance(noise.threshold) < Fraction(1, 2) < noise.chance(noise.threshold + 1)
    assert people <= noise.threshold + 1 <= people + 1


@pytest.mark.parametrize("people", [10**5, pytest.param(10**6, marks=pytest.mark.audit)])
def test_groups_of_one_person_are_named_as_often_as_delta_says(people: int) -> None:
    release = Release(Count(epsilon=1.0, delta=0.01), "zone")
    result = release.publish(release.fold({"zone": np.arange(people)}), rng=5)["count"]
    test = stats.binomtest(len(result), people, float(release.grouping.noise.true_delta))
    assert test.pvalue > 1e-7
    assert stats.binomtest(len(result), people, 2 * float(release.grouping.noise.true_delta)).pvalue < 1e-7


def test_the_noise_has_its_law() -> None:
    noise = SelectionNoise(Fraction(1), Fraction(1, 100))
    drawn = np.bincount(noise.draw(200_000, Entropy(3)) + noise.threshold, minlength=2 * noise.threshold + 1)
    law = np.array([*noise.weights[:0:-1], *noise.weights], float) / noise.total
    assert stats.chisquare(drawn, law * 200_000).pvalue > 1e-7
    assert stats.chisquare(drawn, np.roll(law, 1) * 200_000).pvalue < 1e-7
    assert noise.half_width(0.95) <= noise.threshold
    assert math.isclose(noise.standard_error**2, float((law * (np.arange(law.size) - noise.threshold) ** 2).sum()))


def test_people_are_counted_and_not_rows_whatever_the_source(tmp_path: Path, monkeypatch: Any) -> None:
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"user": draw.integers(0, 300, 5000), "zone": draw.choice(["a", "é", "z", None], 5000)})
    frame.loc[len(frame)] = [999, "alone"]
    frame = pd.concat([frame, frame.tail(1), frame.tail(1)] * 3)
    release = Release(Count(epsilon=1.0, delta=1e-6), "zone", Person("user", groups=2, rows_per_group=1))
    expected = release.fold(frame, 1).reveal(design=release.digest)
    assert expected["alone"] == 1
    assert sum(expected.values()) == 300 * 2 + 1
    decomposed = frame.assign(zone=frame["zone"].replace("é", "e\N{COMBINING ACUTE ACCENT}")).sample(frac=1)
    decomposed.to_csv(tmp_path / "t.csv", index=False)
    decomposed.to_parquet(tmp_path / "t.parquet", index=False)
    monkeypatch.setattr(engine, "MOST_ROWS", 4_000)
    for source in (decomposed, tmp_path / "t.csv", tmp_path / "t.parquet"):
        assert release.fold(source, 1).reveal(design=release.digest) == expected
    result = release.publish(release.fold(frame, 1), rng=1)["count"]
    assert set(result.labels) == {"(missing)", "a", "z", "é"}
    assert result.labels == tuple(sorted(result.labels))


def test_a_release_by_a_column_names_groups_books_and_tells_no_more() -> None:
    table = {"user": list(range(200)), "zone": ["a"] * 150 + ["b"] * 49 + ["c"]}
    ledger = Ledger(epsilon=1.0, delta=1e-5, neighbours="person-add-remove")
    count = Count(epsilon=1.0, delta=1e-6)
    result = bruit.release(table, count, by="zone", person="user", groups=1, ledger=ledger, rng=1)
    assert result.labels == ("a", "b")
    assert ledger.spent.delta == 1e-6
    assert ledger.entries[0].label == "number of people by zone"
    assert result.from_json(result.to_json()).labels == result.labels
    nothing = bruit.release({"zone": []}, count, by="zone", rng=1)
    assert len(nothing) == 0
    assert "There are no values" in repr(nothing)
    with pytest.raises(DataTypeError, match="not pickled"):
        __import__("pickle").dumps(Release(Count(epsilon=1.0, delta=1e-6), "zone").fold(table))


def test_what_cannot_be_named_is_refused_with_the_right_spelling() -> None:
    table = {"user": [1, 1], "zone": ["a", "b"]}
    with pytest.raises(ParameterError, match="need a δ"):
        bruit.release(table, Count(epsilon=1.0), by="zone")
    with pytest.raises(ParameterError, match="Count"):
        bruit.release(table, Mean("user", bounds=(0, 1), epsilon=1.0), by="zone")
    with pytest.raises(ParameterError, match="groups=3"):
        bruit.release(table, Count(epsilon=1.0, delta=1e-6), by="zone", person=Person("user", rows_per_group=1))


def test_under_replace_two_people_change_twice_as_many_groups() -> None:
    person = Person("user", groups=2, rows_per_group=1)
    replaced = Release(Count(epsilon=1.0, delta=1e-6, neighbours="replace"), "zone", person)
    assert replaced.grouping.noise == GaussianSelection.calibrate(1.0, 1e-6, 4)
    single = Release(Count(epsilon=1.0, delta=1e-6, neighbours="replace"), "zone")
    assert single.grouping.noise == SelectionNoise(Fraction(1, 2), Fraction(1e-6) / 2)
    assert replaced.guarantee.neighbours == "person-replace"


@pytest.mark.parametrize(("groups", "people"), [(1, 21.1), (2, 30.2), (3, 37.4), (5, 48.9), (10, 70.5), (50, 165)])
def test_gaussian_noise_names_smaller_groups_of_people_who_are_in_many(groups: int, people: float) -> None:
    gaussian = GaussianSelection.calibrate(1.0, 1e-6, groups)
    assert gaussian is not None
    assert abs(gaussian.threshold - people) < 1
    chosen = Release(
        Count(epsilon=1.0, delta=1e-6), "zone", Person("user", groups=groups, rows_per_group=1)
    ).grouping.noise
    assert isinstance(chosen, GaussianSelection) is (groups > 2)


def test_the_delta_of_a_gaussian_threshold_is_what_was_asked_at_most() -> None:
    draw = np.random.default_rng(9)
    cases = zip(draw.uniform(0.3, 3, 20), 10 ** draw.uniform(-9, -2, 20), draw.integers(1, 40, 20), strict=True)
    for epsilon, delta, groups in cases:
        gaussian = GaussianSelection.calibrate(float(epsilon), float(delta), int(groups))
        assert gaussian is not None
        assert gaussian.worst_delta(float(epsilon), int(groups)) <= delta
        lower = GaussianSelection(gaussian.sigma2, gaussian.threshold - 1)
        assert lower.worst_delta(float(epsilon), int(groups)) > delta


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_the_delta_of_gaussian_noise_is_that_of_enumeration(groups: int) -> None:
    """The loss depends on the sum of the draws: its law by convolution, without the approximation by one Gaussian."""
    sigma2, epsilon, reach = 9.0, 1.0, 40
    values = np.arange(-reach, reach + 1)
    law = np.exp(-(values**2) / (2 * sigma2))
    law /= law.sum()
    total = law
    for _ in range(groups - 1):
        total = np.convolve(total, law)
    sums = np.arange(-groups * reach, groups * reach + 1)
    # With everybody's number lower by 1, a sum s of the noisy numbers is (2s − d)/2σ² in the loss.
    loss = (2 * (sums + groups) - groups) / (2 * sigma2)
    exact = (total * np.clip(1 - np.exp(epsilon - loss), 0, None)).sum()
    stated = _gaussian_delta(sigma2, groups, epsilon)
    assert exact <= stated <= exact * (1 + 1e-3)
    assert _gaussian_delta(sigma2 * 1.05, groups, epsilon) < exact  # a twin with a little too little δ


def test_gaussian_counts_are_published_above_their_threshold() -> None:
    person = Person("user", groups=5, rows_per_group=1)
    release = Release(Count(epsilon=1.0, delta=1e-6), "zone", person)
    users = np.arange(600)
    table = {"user": np.tile(users, 2), "zone": ["a"] * 600 + ["b"] * 500 + [f"z{i}" for i in range(100)]}
    result = release.publish(release.fold(table, 1), rng=1)["count"]
    assert result.labels == ("a", "b")
    assert abs(result["b"] - 500) < 8 * release.grouping.noise.standard_error


def test_values_that_are_not_declared_are_one_more_group_where_three_points_ask_for_it() -> None:
    table = {"zone": ["a", "b", "z", "y", None, "a", "other"], "size": [1, 2, 3, 3, 1, 1, 3]}
    release = Release(Count(epsilon=1.0), {"zone": ["a", "b", ...]})
    assert release.groups == ("a", "b", "other")
    whole = {
        name: [value for value, zone in zip(column, table["zone"], strict=True) if zone]
        for name, column in table.items()
    }
    assert release.fold(whole).reveal(design=release.digest).tolist() == [2, 1, 3]
    numbers = Release(Count(epsilon=1.0), {"size": [1, 2, ...]})
    for sizes in (
        table["size"],
        np.array(table["size"]),
        np.array(table["size"], float),
        list(map(str, table["size"])),
    ):
        assert numbers.fold({"size": sizes}).reveal(design=numbers.digest).tolist() == [3, 1, 3]
    again = Release.from_json(release.to_json())
    assert (again.digest, again.groups) == (release.digest, release.groups)
    assert again.fold(whole).reveal(design=release.digest).tolist() == [2, 1, 3]
    with pytest.raises(MissingError):
        release.fold(table)
    with pytest.raises(DataError):
        Release(Count(epsilon=1.0), {"zone": ["a", "b"]}).fold(whole)
    with pytest.raises(ParameterError, match="'other'"):
        Release(Count(epsilon=1.0), {"zone": ["a", "other", ...]})


@pytest.mark.parametrize(("delta", "groups"), [(1e-29, 20), (1e-30, 50)])
def test_tails_of_a_tiny_delta_are_summed_far_enough(delta: float, groups: int) -> None:
    gaussian = GaussianSelection.calibrate(1.0, delta, groups)
    assert gaussian is not None
    tail = math.erfc((gaussian.threshold + 0.5) / math.sqrt(2 * gaussian.sigma2)) / 2  # P(X > τ), nearly
    assert groups * tail <= 1.01 * delta
    assert gaussian.worst_delta(1.0, groups) <= delta * (1 + 1e-5)
    assert gaussian.worst_delta(1.0, groups) >= delta / 100
    assert GaussianSelection.calibrate(1.0, 1e-31, groups) is None


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups"), [(1.0, 1e-6, 2), (0.3, 1e-4, 7), (2.0, 1e-9, 23), (1.0, 1e-6, 140)]
)
def test_the_worst_number_of_groups_is_the_one_of_all_numbers(epsilon: float, delta: float, groups: int) -> None:
    noise = GaussianSelection.calibrate(epsilon, delta, groups)
    assert noise is not None
    sigma2 = float(noise.sigma2)
    others = [selection._gaussian_delta(sigma2, groups - alone, epsilon) for alone in range(1, groups + 1)]
    every = [
        -math.expm1((math.log1p(-delta) - math.log1p(-other)) / alone) for alone, other in enumerate(others, start=1)
    ]
    assert selection._allowed(sigma2, epsilon, delta, groups) == pytest.approx(min(every), rel=1e-9)


@pytest.mark.parametrize("groups", [1500, 10_000, 1_000_000])
def test_many_groups_are_bounded_from_the_private_side(groups: int) -> None:
    noise = GaussianSelection.calibrate(20.0, 1e-6, groups)
    assert noise is not None
    some = {1, 2, 3, groups // 7, groups // 2, groups - 100, groups - 1, groups}
    single = float(selection._tails(float(noise.sigma2))[noise.threshold]) * (1 + 1e-6)
    for alone in some:
        other = selection._gaussian_delta(float(noise.sigma2), groups - alone, 20.0)
        assert -math.expm1(alone * math.log1p(-single) + math.log1p(-other)) <= 1e-6


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-6), (0.01, 1e-9), (0.01, 1e-16), (1e-4, 0.01), (3.0, 0.5), (1e-300, 1e-3)]
)
def test_weights_begin_with_as_many_bits_as_the_total_allows(epsilon: float, delta: float) -> None:
    noise = SelectionNoise(Fraction(epsilon), Fraction(delta))
    tried = (noise._weights(bits) for bits in range(61, 0, -1))
    assert noise.weights == next(weights for weights in tried if weights is not None)


def test_a_threshold_of_millions_is_refused_at_once() -> None:
    for epsilon, delta in ((1e-9, 1e-9), (1e-300, 1e-7), (1e-7, 1e-300), (0.01, 1e-300), (0.01, 1e-20)):
        with pytest.raises(LimitError, match="threshold of millions"):
            _ = SelectionNoise(Fraction(epsilon), Fraction(delta)).weights
