"""All quantiles in one draw: the law that is sampled, as fractions, against the law that is proved, in many digits."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.estimation import RawTally
from bruit.kernels import joint_quantiles as kernels
from bruit.releases import Quantiles
from bruit.releases.quantiles import joint as _joint
from bruit.releases.quantiles.joint import Chain, ExactWeights, JointLaw
from bruit.releases.quantiles.points import RecordPoints
from bruit.releases.statistic import CentralNeighbours
from bruit.rounding import exp_floor

mpmath.mp.dps = 60

THIRDS = (Fraction(1, 3), Fraction(2, 3))
QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
ASKED = [
    (Fraction(1, 2),),
    THIRDS,
    QUARTERS,
    (Fraction(0), Fraction(9, 10), Fraction(1)),
    (Fraction(1, 10), Fraction(1, 2)),
]
CELLS, BITS = 3, 2
Law = dict[tuple[int, ...], Any]


def points_of(counts: Sequence[int], bits: int = BITS) -> RecordPoints:
    return RecordPoints(np.array(counts), bits=bits)


def outcomes(points: RecordPoints, count: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """All increasing vectors of places, and the size of each: one over the factorials of how often places repeat."""
    for places in itertools.combinations_with_replacement(range(points.whole.high + 1), count):
        yield places, Fraction(1, math.prod(math.factorial(many) for many in Counter(places).values()))


def score(points: RecordPoints, asked: tuple[Fraction, ...], places: tuple[int, ...]) -> Fraction:
    n = points.whole.many
    ranks = [0, *(points.below(place) for place in places), n]
    pairs = zip(itertools.pairwise(ranks), _joint.gaps(asked), strict=True)
    return sum((abs(high - low - n * gap) for (low, high), gap in pairs), Fraction(0))


def proved(points: RecordPoints, law: JointLaw) -> Law:
    """The law from its definition, in 60 digits: the weight e^(−rate·score) + floor of every vector."""
    rate, floor = mpmath.mpf(law.rate.numerator) / law.rate.denominator, mpmath.mpf(2) ** -law.floor_bits
    weights = {}
    for places, size in outcomes(points, len(law.quantiles)):
        far = score(points, law.quantiles, places)
        value = mpmath.exp(-rate * far.numerator / far.denominator) + floor
        weights[places] = value * size.numerator / size.denominator
    total = mpmath.fsum(weights.values())
    return {places: weight / total for places, weight in weights.items()}


def whole_weights(numbers: kernels.Numbers) -> tuple[list[int], int]:
    """Whole numbers in proportion, from the definition, and the power of two to multiply them by."""
    lowest = min(int(exponent) for mantissa, exponent in zip(*numbers, strict=True) if mantissa) - 53
    whole = [int(math.ldexp(mantissa, 53)) << (int(exponent) - lowest - 53) if mantissa else 0
             for mantissa, exponent in zip(*numbers, strict=True)]  # fmt: skip
    return whole, lowest


def shares(numbers: kernels.Numbers) -> list[Fraction]:
    weights, _ = whole_weights(numbers)
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]


def ranks_law(chain: Chain) -> dict[tuple[tuple[int, int], ...], Fraction]:
    """The exact probability of each way that `Chain.draw` can go."""
    found: dict[tuple[tuple[int, int], ...], Fraction] = {}

    def follow(j: int, rank: int, chance: Fraction, so_far: tuple[tuple[int, int], ...]) -> None:
        for many, share in enumerate(shares(chain.sharing(j, rank)), start=1):
            drawn = (*so_far, (rank, many))
            if share and j == many - 1:
                found[drawn] = chance * share
            elif share:
                before = shares(chain.before(j - many + 1, rank))
                for place, part in enumerate(before):
                    if part:
                        follow(j - many, int(chain.rows[j - many, 0]) + place, chance * share * part, drawn)

    for place, part in enumerate(shares(chain.last())):
        if part:
            follow(len(chain.targets) - 1, int(chain.rows[-1, 0]) + place, part, ())
    assert sum(found.values()) == 1
    return found


def sampled(points: RecordPoints, law: JointLaw) -> Law:
    """The law that is sampled, in fractions: the chain and the floor, and places evenly within their rank."""
    chain = Chain(points, law)
    mine, floor = chain.totals(ExactWeights(chain.last()))
    ways = {tuple(sorted(way)): chance for way, chance in ranks_law(chain).items()}
    count, found = len(law.quantiles), {}
    for places, size in outcomes(points, count):
        way = Counter(points.below(place) for place in places)
        chance = ways.get(tuple(sorted(way.items())), Fraction(0)) * size
        for rank, many in way.items():
            # One vector of `many` in this rank, of widthᵐᵃⁿʸ/many! in all.
            chance *= Fraction(math.factorial(many), chain.span(rank)[1] ** many)
        even = size * math.factorial(count) / law.places**count
        found[places] = (chance * mine + even * floor) / (mine + floor)
    assert sum(found.values()) == 1
    return found


def tables(most: int) -> Iterator[tuple[int, ...]]:
    """All histograms of up to so many records."""
    for counts in itertools.product(range(most + 1), repeat=CELLS):
        if sum(counts) <= most:
            yield counts


def neighbours_of(counts: tuple[int, ...], neighbours: CentralNeighbours) -> Iterator[tuple[int, ...]]:
    for cell, other in itertools.product(range(CELLS), repeat=2):
        moved = list(counts)
        moved[cell] += 1
        if neighbours == "replace":
            moved[other] -= 1
        if min(moved) >= 0:
            yield tuple(moved)


def law_for(asked: tuple[Fraction, ...], epsilon: float, neighbours: CentralNeighbours = "add-remove") -> JointLaw:
    return JointLaw.calibrate(asked, epsilon, neighbours, CELLS << BITS)


def log_ratio(first: Fraction, second: Any) -> float:
    return float(mpmath.log(mpmath.mpf(first.numerator) / first.denominator / second))


@pytest.mark.audit
@pytest.mark.parametrize("floor_bits", [None, 3])
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_sampled_is_within_the_stated_error_of_what_is_proved(
    asked: tuple[Fraction, ...], floor_bits: int | None
) -> None:
    law = law_for(asked, 3.0)
    law = law if floor_bits is None else replace(law, floor_bits=floor_bits)
    for counts in [(0, 0, 0), (1, 0, 0), (0, 3, 1), (2, 2, 2), (0, 0, 3)]:
        points = points_of(counts)
        ideal, real = proved(points, law), sampled(points, law)
        assert ideal.keys() == real.keys()
        assert max(abs(log_ratio(real[places], p)) for places, p in ideal.items()) <= 2 * law.error


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
@pytest.mark.parametrize(
    "asked", [(Fraction(1, 2),), THIRDS, (Fraction(1, 10), Fraction(1, 2)), (Fraction(0), Fraction(1))]
)
def test_the_sampled_law_keeps_its_epsilon_on_all_small_data(
    asked: tuple[Fraction, ...], epsilon: float, neighbours: CentralNeighbours
) -> None:
    worst = worst_ratio(law_for(asked, epsilon, neighbours), neighbours)
    assert worst.numerator <= exp_floor(epsilon, worst.denominator)
    assert math.log(worst) > 0.3 * epsilon  # the data do make a difference


def worst_ratio(law: JointLaw, neighbours: CentralNeighbours, most: int = 3) -> Fraction:
    known = {counts: sampled(points_of(counts), law) for counts in tables(most + 1)}
    pairs = ((counts, other) for counts in tables(most) for other in neighbours_of(counts, neighbours))
    ratios = (max(p / known[other][places], known[other][places] / p)
              for counts, other in pairs for places, p in known[counts].items())  # fmt: skip
    return max(ratios)


def test_weights_that_fall_faster_than_they_may_would_not_keep_it() -> None:
    law = law_for(THIRDS, 2.0, "replace")
    assert (
        math.log(worst_ratio(law, "replace")) <= 2.0 < math.log(worst_ratio(replace(law, rate=4 * law.rate), "replace"))
    )


@pytest.mark.audit("asked2", share=3)
@pytest.mark.parametrize("reach", [1, 2, 5, 9])
@pytest.mark.parametrize("asked", ASKED)
def test_only_ranks_within_reach_are_weighed_and_those_exactly(asked: tuple[Fraction, ...], reach: int) -> None:
    law = replace(law_for(asked, 1.5), reach=reach, places=4 << 6)
    for counts in ([3, 0, 14, 3], [0, 0, 0, 0], [1, 0, 0, 0], [25, 0, 0, 1], [0, 40, 0, 0]):
        points = points_of(counts, bits=6)
        chain, n = Chain(points, law), points.whole.many
        targets = [q * n for q in asked]
        total: dict[int, Any] = {}
        windows = [[r for r in range(n + 1) if abs(r - target) <= reach] for target in targets]
        for ranks in itertools.product(*windows):
            if list(ranks) != sorted(ranks):
                continue
            apart = [Fraction(0), *(rank - target for rank, target in zip(ranks, targets, strict=True)), Fraction(0)]
            far = sum((abs(b - a) for a, b in itertools.pairwise(apart)), Fraction(0))
            size = math.prod(Fraction(chain.span(r)[1] ** k, math.factorial(k)) for r, k in Counter(ranks).items())
            weight = mpmath.exp(-mpmath.mpf((law.rate * far).numerator) / (law.rate * far).denominator)
            total[ranks[-1]] = total.get(ranks[-1], 0) + weight * size.numerator / size.denominator
        weights, scale = whole_weights(chain.last())
        for place, weight in enumerate(weights):
            rank = int(chain.rows[-1, 0]) + place
            assert (
                abs(mpmath.mpf(weight) * mpmath.mpf(2) ** scale / total[rank] - 1) < 1e-13
                if weight
                else rank not in total or total[rank] == 0
            )
        assert set(total) <= set(range(int(chain.rows[-1, 0]), int(chain.rows[-1].sum())))


def test_errors_stay_below_what_is_stated_for_them_and_shorter_numbers_would_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law = replace(law_for(QUARTERS, 1.0), reach=150, places=1 << 12)
    points = points_of([5, 700, 0, 300], bits=10)
    chain = Chain(points, law)
    stated = float(_joint._ROUNDING * 3 * (5 * (2 * law.reach + 3) + 25))  # three quantiles, before any is drawn
    assert 0 < worst_error(chain) <= stated
    exact = chain.entries[0].copy()
    chain.entries[0][:] = exact.astype(np.float32)
    assert worst_error(chain) > stated


def worst_error(chain: Chain) -> float:
    """The largest relative error of a row of entries, given the one before it."""
    rate = mpmath.mpf(chain.law.rate.numerator) / chain.law.rate.denominator
    rows = [[mpmath.ldexp(m, int(e)) for m, e in zip(*chain.ending(j), strict=True)] for j in range(3)]
    worst = 0.0
    for j in (1, 2):
        first, size = chain.rows[j].tolist()
        start = int(chain.rows[j - 1, 0])
        gap = mpmath.mpf(chain.between[j].numerator) / chain.between[j].denominator
        for place in range(0, size, 29):
            rank = first + place
            terms = [
                weight * mpmath.exp(-rate * abs(rank - start - k - gap))
                for k, weight in enumerate(rows[j - 1])
                if start + k < rank
            ]
            entry = mpmath.ldexp(chain.entries[0][j, place], int(chain.entries[1][j, place]))
            worst = max(worst, float(abs(entry / mpmath.fsum(terms) - 1)))
    return worst


def test_no_outcome_is_impossible_however_far_it_is() -> None:
    law = JointLaw.calibrate((Fraction(1, 2),), 20.0, "add-remove", CELLS << 6)
    points = points_of([60, 0, 0], bits=6)
    real = sampled(points, law)
    least = min(real.values())
    assert 0 < least < Fraction(1, 2**60)
    # A choice by 53 random bits gives such outcomes no chance at all, and a neighbour some: an unbounded loss.
    assert math.floor(least * 2**53) == 0
    # Without the floor, what is out of reach would be impossible, too.
    beyond = replace(law, reach=3)
    chain = Chain(points, beyond)
    assert int(chain.rows[0].sum()) <= 34 < 60
    assert min(sampled(points, beyond).values()) > 0


def test_the_epsilon_inside_and_the_errors_make_up_the_epsilon_asked() -> None:
    for asked, epsilon, neighbours in itertools.product(ASKED, (0.001, 0.37, 20.0), ("add-remove", "replace")):
        law = JointLaw.calibrate(asked, epsilon, neighbours, 10**6 << 32)
        change = 2 if neighbours == "replace" else 2 * (1 - min(_joint.gaps(asked)))
        assert law.rate * 2 * change + 4 * law.error == Fraction(epsilon)
        assert law.rate * 2 * change >= Fraction(epsilon) * Fraction(63, 64)
        # Beyond reach the weight is less than 2⁻⁶⁰ of the floor.
        assert exp_floor(float(2 * law.rate * law.reach), 1) >= 2 ** (law.floor_bits + 59)


def test_what_it_can_do_depends_on_declared_parameters_only() -> None:
    many = [i / 701 for i in range(1, 701)]
    with pytest.raises(LimitError, match="joint method"):
        Quantiles(quantiles=many, bounds=(0, 1), epsilon=1.0, method="joint")
    assert Quantiles(quantiles=many, bounds=(0, 1), epsilon=1.0).method == "approximate"
    with pytest.raises(LimitError, match="This number of quantiles"):
        Quantiles(quantiles=many, bounds=(0, 1), epsilon=0.01, method="exponential")


@pytest.mark.parametrize("method", ["joint", "approximate", "exponential"])
@pytest.mark.parametrize("times", [10**3, 10**9, 10**12])
def test_quantiles_of_very_many_records_are_as_near_as_those_of_few(method: Any, times: int) -> None:
    release = Quantiles(quantiles=[0.25, 0.5], bounds=(0, 1), epsilon=1.0, method=method, cells=2**16)
    raw = repeated(release.fold((np.arange(1000) + 0.5) / 1000), times)
    values = release.release(raw, rng=3).values
    assert abs(values - [0.25, 0.5]).max() < 0.002


def repeated(raw: RawTally, times: int) -> RawTally:
    if times == 1:
        return raw
    double = repeated(raw + raw, times // 2)
    return double + raw if times % 2 else double


def test_a_choice_is_in_proportion_to_numbers_of_all_magnitudes() -> None:
    numbers = np.array([0.5, 0.0, 0.75, 0.625, 0.9, 0.5, 0.5]), np.array([-1, 99, -1, 0, -3, -900, 1], np.int64)
    chances, n, weights, entropy = (
        np.array([float(p) for p in shares(numbers)]),
        20_000,
        ExactWeights(numbers),
        Entropy(2),
    )
    assert Fraction(weights.total) * Fraction(2) ** weights.lowest == sum(
        Fraction(mantissa) * Fraction(2) ** int(exponent) for mantissa, exponent in zip(*numbers, strict=True)
    )
    seen = np.bincount([weights.choose(entropy) for _ in range(n)], minlength=7)
    assert not seen[[1, 5]].any()
    likely = [0, 2, 3, 4, 6]
    assert stats.chisquare(seen[likely], chances[likely] * n).pvalue > 1e-6
    assert stats.chisquare(seen[likely], np.roll(chances[likely], 1) * n).pvalue < 1e-6


@pytest.mark.audit
def test_draws_follow_the_sampled_law() -> None:
    counts, n = (2, 0, 3), 2500
    points, law, entropy = points_of(counts), replace(law_for(THIRDS, 2.0), floor_bits=8), Entropy(5)
    drawn = Counter(tuple(_joint.draw(points, law, entropy).tolist()) for _ in range(n))
    real = sampled(points, law)
    assert drawn.keys() <= real.keys()
    chances = np.array([float(p) for p in real.values()])
    seen = np.array([drawn[places] for places in real])
    large = chances * n > 5
    observed, expected = [*seen[large], seen[~large].sum()], [*chances[large] * n, chances[~large].sum() * n]
    assert stats.chisquare(observed, expected).pvalue > 1e-6
    skewed = chances[large] * np.where(np.arange(large.sum()) % 2, 1.3, 0.7)
    assert stats.chisquare(seen[large], skewed / skewed.sum() * seen[large].sum()).pvalue < 1e-6
