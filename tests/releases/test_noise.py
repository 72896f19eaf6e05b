"""Exact noise: the law that is drawn is the declared one, and floats have no part in it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from bruit import Ledger
from bruit.entropy import Entropy, Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.kernels import noise as kernels
from bruit.releases import (
    Count,
    DiscreteGaussian,
    DiscreteLaplace,
    Noise,
    StaircaseNoise,
    noise,
    release,
)

mpmath.mp.dps = 50

LAPLACE = [Fraction(1), Fraction(1, 3), Fraction(10), Fraction(7, 2), Fraction(1000, 1001), Fraction(2**20, 7)]
GAUSSIAN = [Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(100), Fraction(21, 2), Fraction(355, 113)]
STAIRCASES = [(1, 1.0), (2, 0.5), (7, 3.0), (100, 5.0), (100, 0.2), (64, 10.0)]


# The laws, written independently: from their definitions, in 50 digits.


def laplace_law(scale: Fraction) -> Callable[[int], Any]:
    rate = mpmath.mpf(scale.denominator) / scale.numerator
    mass = 1 + 2 * mpmath.exp(-rate) / (1 - mpmath.exp(-rate))
    return lambda x: mpmath.exp(-abs(x) * rate) / mass


def gaussian_law(sigma2: Fraction) -> Callable[[int], Any]:
    rate = mpmath.mpf(sigma2.denominator) / (2 * sigma2.numerator)
    reach = int(40 * math.sqrt(sigma2)) + 20
    mass = mpmath.fsum(mpmath.exp(-rate * x * x) for x in range(-reach, reach + 1))
    return lambda x: mpmath.exp(-rate * x * x) / mass


def staircase_law(found: StaircaseNoise) -> Callable[[int], Any]:
    return lambda x: mpmath.mpf(found.probability(x).numerator) / found.probability(x).denominator


# χ²: cells that expect enough draws, the rest pooled on either side.


def p_value(draws: np.ndarray, law: Callable[[int], Any], reach: int) -> float:
    width = max(1, reach // 60)
    edges = np.arange(-reach, reach + 2, width)
    inside = [float(mpmath.fsum(law(x) for x in range(low, high))) for low, high in itertools.pairwise(edges)]
    tail = max((1 - math.fsum(inside)) / 2, 0.0)
    places = np.searchsorted(edges, draws, side="right")
    seen = np.bincount(places, minlength=edges.size + 1)
    # Beyond the last edge there are fewer cells on one side, but tails are pooled, not compared apart.
    expected = np.array([tail, *inside, tail]) * draws.size
    keep = expected >= 20
    keep[[0, -1]] = False
    chi = np.sum((seen[keep] - expected[keep]) ** 2 / expected[keep])
    rest = draws.size - expected[keep].sum()
    chi += (seen[~keep].sum() - rest) ** 2 / max(rest, 1e-9) if rest > 20 else 0.0
    return float(special.chdtrc(keep.sum() - (rest <= 20), chi))


def check_law(
    draw: Callable[[], np.ndarray], law: Callable[[float], Callable[[int], Any]], reach: int, change: float
) -> None:
    """The sample fits the declared law, and neither of two others, a little wider and a little narrower."""
    sample = draw()
    assert p_value(sample, law(1.0), reach) > 1e-7
    assert p_value(sample, law(1.0 + change), reach) < 1e-9
    assert p_value(sample, law(1.0 - change), reach) < 1e-9


def stretched(value: Fraction, by: float) -> Fraction:
    return value * Fraction(by).limit_denominator(1000)


def check_laplace(scale: Fraction, size: int, change: float) -> None:
    reach = max(3, int(min(8 * scale, 2000))) if scale < 1000 else int(6 * scale)
    if scale > 1000:  # too wide for a table: the distribution function in wide cells
        check_wide(lambda: DiscreteLaplace(scale).draw(size, Entropy(1)), scale, change)
        return
    check_law(
        lambda: DiscreteLaplace(scale).draw(size, Entropy(1)),
        lambda by: laplace_law(stretched(scale, by)),
        reach,
        change,
    )


def check_wide(draw: Callable[[], np.ndarray], scale: Fraction, change: float) -> None:
    sample = draw()
    for by, fits in ((1.0, True), (1 + change, False), (1 - change, False)):
        rate = 1 / (float(scale) * by)
        # u = P(X ≤ x), smoothed over the step at x, is uniform; the step is below 10⁻⁵ here.
        u = np.where(sample < 0, 0.5 * np.exp(rate * sample), 1 - 0.5 * np.exp(-rate * sample))
        seen = np.histogram(u, bins=100, range=(0, 1))[0]
        chi = np.sum((seen - sample.size / 100) ** 2 / (sample.size / 100))
        assert (special.chdtrc(99, chi) > 1e-7) == fits


@pytest.mark.parametrize("scale", LAPLACE, ids=str)
def test_discrete_laplace_has_its_law_and_no_law_near_it(scale: Fraction) -> None:
    check_laplace(scale, 1_000_000, change=0.05)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("sigma2", GAUSSIAN, ids=str)
def test_discrete_gaussian_has_its_law_and_no_law_near_it(sigma2: Fraction) -> None:
    check_law(
        lambda: DiscreteGaussian(sigma2).draw(1_000_000, Entropy(2)),
        lambda by: gaussian_law(stretched(sigma2, by)),
        max(3, int(6 * math.sqrt(sigma2))),
        change=0.05,
    )


@pytest.mark.audit("100-0.2")
@pytest.mark.parametrize(("sensitivity", "epsilon"), STAIRCASES)
def test_staircase_noise_has_its_law_and_no_law_near_it(sensitivity: int, epsilon: float) -> None:
    check_staircase(sensitivity, epsilon, 1_000_000, change=0.05)


def check_staircase(sensitivity: int, epsilon: float, size: int, change: float) -> None:
    found = StaircaseNoise.calibrate(sensitivity, epsilon)

    def law(by: float) -> Callable[[int], Any]:
        return staircase_law(StaircaseNoise._with_inner(found.step, found.inner, epsilon * by))

    reach = max(3, found.inner + math.ceil(10 / epsilon) * found.step)
    check_law(lambda: StaircaseNoise.calibrate(sensitivity, epsilon).draw(size, Entropy(3)), law, reach, change)


@pytest.mark.audit
@pytest.mark.parametrize("scale", LAPLACE, ids=str)
def test_discrete_laplace_has_its_law_at_ten_million_draws(scale: Fraction) -> None:
    check_laplace(scale, 10_000_000, change=0.015)


@pytest.mark.audit
@pytest.mark.parametrize("sigma2", [*GAUSSIAN, Fraction(10**4)], ids=str)
def test_discrete_gaussian_has_its_law_at_ten_million_draws(sigma2: Fraction) -> None:
    check_law(
        lambda: DiscreteGaussian(sigma2).draw(10_000_000, Entropy(2)),
        lambda by: gaussian_law(stretched(sigma2, by)),
        max(3, int(6 * math.sqrt(sigma2))),
        change=0.015,
    )


@pytest.mark.audit
@pytest.mark.parametrize(("sensitivity", "epsilon"), STAIRCASES)
def test_staircase_noise_has_its_law_at_ten_million_draws(sensitivity: int, epsilon: float) -> None:
    check_staircase(sensitivity, epsilon, 10_000_000, change=0.015)


@pytest.mark.parametrize("scale", [5, 1, Fraction(1, 3), 40], ids=str)
def test_the_laplace_law_is_that_of_scipy(scale: Any) -> None:
    found = DiscreteLaplace(Fraction(scale))
    law = stats.dlaplace(1 / float(scale))
    x = np.arange(-30, 31)
    stated = np.exp([found.log_probability(int(value)) for value in x])
    np.testing.assert_allclose(stated, law.pmf(x), rtol=1e-9)
    assert found.variance == pytest.approx(law.var(), rel=1e-9)


@pytest.mark.audit
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 2), Fraction(40)], ids=str)
def test_draws_cannot_be_told_from_those_of_opendp(scale: Fraction) -> None:
    dp = pytest.importorskip("opendp.prelude", reason="an independent sampler, where it is installed")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    for ours, measurement in (
        (DiscreteLaplace(scale).draw(300_000, Entropy(5)), dp.m.make_laplace(*space, scale=float(scale))),
        (
            DiscreteGaussian(scale**2).draw(300_000, Entropy(6)),
            dp.m.make_gaussian(space[0], dp.l2_distance(T=float), scale=float(scale)),
        ),
    ):
        theirs = np.array(measurement([0] * 300_000))
        reach = int(8 * scale)
        tables = np.array(
            [np.bincount(np.clip(x, -reach, reach) + reach, minlength=2 * reach + 1) for x in (ours, theirs)]
        )
        tables = tables[:, tables.sum(axis=0) >= 40]
        assert stats.chi2_contingency(tables).pvalue > 1e-7


# Moments, probabilities and intervals that are stated without sampling.

NOISES: list[Noise] = [
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(Fraction(7, 2)),
    DiscreteGaussian(Fraction(1, 4)),
    DiscreteGaussian(Fraction(8)),
    DiscreteGaussian(Fraction(10)),
    StaircaseNoise.calibrate(5, 2.0),
    StaircaseNoise.calibrate(40, 0.7),
    StaircaseNoise.calibrate(9, 4.0, "squared"),
]


@pytest.mark.parametrize("found", NOISES, ids=repr)
def test_probabilities_sum_to_one_and_give_the_stated_moments(found: Noise) -> None:
    reach = 3000
    x = np.arange(-reach, reach + 1)
    p = np.exp([found.log_probability(int(value)) for value in x])
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert (p * x**2).sum() == pytest.approx(found.variance, rel=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(found.variance))
    if isinstance(found, StaircaseNoise):
        assert (p * np.abs(x)).sum() == pytest.approx(found.mean_absolute, rel=1e-9)


@pytest.mark.parametrize("found", NOISES, ids=repr)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.9999])
def test_the_half_width_is_the_least_that_covers(found: Noise, level: float) -> None:
    half = int(found.half_width(level))

    def inside(h: int) -> float:
        return math.fsum(math.exp(found.log_probability(x)) for x in range(-h, h + 1))

    assert inside(half) >= level - 1e-9
    assert half == 0 or inside(half - 1) < level + 1e-9


@pytest.mark.parametrize("found", NOISES, ids=repr)
def test_log_odds_are_the_difference_of_log_probabilities(found: Noise) -> None:
    for first, second in [(0, 0), (0, 3), (-7, 2), (11, -4)]:
        difference = found.log_probability(first) - found.log_probability(second)
        assert float(found.log_odds(first, second)) == pytest.approx(difference, abs=1e-9)


@pytest.mark.parametrize("rate", [1e-12, 1e-3, 1, 30, 700, 710, 800, 999, 1001, 1500, 2**61])
def test_the_variance_is_right_in_high_precision_and_never_overflows(rate: float) -> None:
    decay = mpmath.exp(-mpmath.mpf(rate))
    exact = 2 * decay / (1 - decay) ** 2
    found = DiscreteLaplace(1 / Fraction(rate)) if rate >= 1 else DiscreteLaplace(Fraction(round(1 / rate)))
    assert found.variance == pytest.approx(float(exact), rel=1e-9, abs=1e-300)
    assert found.standard_error == pytest.approx(float(mpmath.sqrt(exact)), rel=1e-9, abs=1e-150)


@pytest.mark.usefixtures("any_epsilon")
def test_a_count_at_a_huge_epsilon_is_released_after_it_is_booked() -> None:
    for epsilon in (710.0, 800.0, 1000.0, 1e6):
        ledger = Ledger(epsilon=epsilon)
        released = release([1, 2, 3], Count(epsilon=epsilon), ledger=ledger)
        assert (len(ledger), released.values.tolist(), released.standard_error.tolist()) == (1, [3], [pytest.approx(0)])


def test_wide_gaussian_half_widths_follow_the_normal_law() -> None:
    assert DiscreteGaussian(Fraction(10**8)).half_width(0.95) == pytest.approx(19600, abs=2)


# The kernels against slow, obvious versions that read the same words.


class Tape:
    """Words one by one, in Python's whole numbers."""

    def __init__(self, seed: int) -> None:
        self.words = [int(word) for word in Words(seed).part(0).stream().words(400_000)]
        self.at = 0

    def next(self) -> int:
        self.at += 1
        return self.words[self.at - 1]

    def below(self, bound: int) -> int:
        mask = (1 << (bound - 1).bit_length()) - 1
        while True:
            draw = self.next() & mask
            if draw < bound:
                return draw

    def one_in(self, number: int) -> bool:
        if number == 2:
            return self.next() >> 63 == 1
        share = (2**64 - 1) // number
        while True:
            word = self.next()
            if word < share * number:
                return word < share

    def exp_one(self) -> bool:
        """Fifteen chances 1/1, 1/2, … by one word, the rest one by one."""
        fact = math.factorial
        whole = 2**64 // fact(15) * fact(15)
        word = self.next()
        while word >= whole:
            word = self.next()
        power = next((k for k in range(2, 16) if word >= whole // fact(k)), 16)
        while power >= 16 and self.one_in(power):
            power += 1
        return power % 2 == 1

    def exp(self, *chances: Fraction, of: tuple[int, ...]) -> bool:
        """Bernoulli(exp(−product of chances)), each chance being a fraction of these bounds."""
        power = 1
        while True:
            if not all(self.below(bound) < chance * bound for chance, bound in zip(chances, of, strict=True)):
                return power % 2 == 1
            power += 1
            if not self.one_in(power):
                return power % 2 == 1


def slow_laplace(words: Words, scale: Fraction) -> int:
    top, bottom = scale.as_integer_ratio()
    mask = (1 << (top - 1).bit_length()) - 1
    while True:
        word = words.next()
        unit = word & mask
        if unit >= top or (unit and not words.exp(Fraction(unit, top), of=(top,))):
            continue
        whole = 0
        while words.exp_one():
            whole += 1
        value = (unit + top * whole) // bottom
        negative = word >> 63
        if not (negative and value == 0):
            return -value if negative else value


def slow_gaussian(words: Words, sigma2: Fraction) -> int:
    root = math.isqrt(math.floor(sigma2))
    scale = root if root * root == sigma2 else root + 1
    centre = sigma2 / scale
    while True:
        value = slow_laplace(words, Fraction(scale))
        gap = abs(abs(value) - centre)
        parts = max(math.ceil(gap / scale), math.ceil(gap / (2 * centre)))
        bounds = scale * parts * centre.denominator, 2 * parts * centre.numerator
        chances = (gap / (scale * parts), gap / (2 * centre * parts)) if parts else (Fraction(0), Fraction(0))
        if all(words.exp(*chances, of=bounds) for _ in range(parts * parts)):
            return value


def slow_staircase(words: Words, found: StaircaseNoise) -> int:
    if words.next() >= found.outside:
        return words.below(2 * found.inner - 1) - found.inner + 1
    value = found.inner
    while words.next() < found.decay:
        value += found.step
    place = words.below(2 * found.step)
    value += place // 2
    return -value if place % 2 else value


@pytest.mark.parametrize("scale", [*LAPLACE, Fraction(2**40), Fraction(2**55 - 55, 2**40 + 15)], ids=str)
def test_the_laplace_kernel_draws_what_the_slow_version_draws(scale: Fraction) -> None:
    words = Tape(11)
    assert DiscreteLaplace(scale).sample(4000, Words(11)).tolist() == [slow_laplace(words, scale) for _ in range(4000)]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("sigma2", [*GAUSSIAN, Fraction(2**80), Fraction(1, 100), Fraction(10**12, 7)], ids=str)
def test_the_gaussian_kernel_draws_what_the_slow_version_draws(sigma2: Fraction) -> None:
    words, drawn = Tape(12), DiscreteGaussian(sigma2).sample(2000, Words(12))
    assert drawn.tolist() == [slow_gaussian(words, sigma2) for _ in range(2000)]


@pytest.mark.parametrize(("sensitivity", "epsilon"), [*STAIRCASES, (2**40, 1.0)])
def test_the_staircase_kernel_draws_what_the_slow_version_draws(sensitivity: int, epsilon: float) -> None:
    words, found = Tape(13), StaircaseNoise.calibrate(sensitivity, epsilon)
    assert found.sample(3000, Words(13)).tolist() == [slow_staircase(words, found) for _ in range(3000)]


@pytest.mark.parametrize("found", NOISES[::2], ids=repr)
def test_how_many_words_come_at_a_time_changes_nothing(found: Noise, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = found.draw(3000, rng=4)
    monkeypatch.setattr(noise, "_WORDS", 3)
    assert np.array_equal(found.draw(3000, rng=4), usual)


DRAWS: dict[str, Callable[[Any], Any]] = {
    "DiscreteLaplace": lambda rng: DiscreteLaplace(Fraction(100)).draw(20, rng),
    "DiscreteGaussian": lambda rng: DiscreteGaussian(Fraction(10_000)).draw(20, rng),
    "StaircaseNoise": lambda rng: StaircaseNoise.calibrate(100, 0.1).draw(20, rng),
    "discrete_laplace": lambda rng: DiscreteLaplace(Fraction(100)).draw(20, rng),
    "discrete_gaussian": lambda rng: DiscreteGaussian(Fraction(10_000)).draw(20, rng),
    "staircase": lambda rng: StaircaseNoise.calibrate(100, 0.1).draw(20, rng),
}


@pytest.mark.parametrize("name", DRAWS)
def test_two_draws_with_one_stream_differ_and_only_a_seed_repeats_them(name: str) -> None:
    """Otherwise two noisy counts made by hand give their exact difference."""
    draw = DRAWS[name]
    for stream in (Entropy(), Entropy(7), None):
        assert not np.array_equal(draw(stream), draw(stream))
    assert np.array_equal(draw(7), draw(7))
    assert not np.array_equal(draw(7), draw(8))


def test_a_seed_is_mixed_with_the_noise_that_it_draws() -> None:
    first, second = (DiscreteLaplace(Fraction(scale)).draw(500, rng=7) for scale in (1000, 2000))
    assert abs(np.mean(np.sign(first) == np.sign(second)) - 0.5) < 6 * 0.5 / np.sqrt(500)


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        drawn.append(DiscreteLaplace(Fraction(5)).draw(200_000, rng=4))
    assert np.array_equal(*drawn)
    assert not np.array_equal(drawn[0][:65536], drawn[0][65536:131072])


def test_a_draw_beyond_62_bits_is_cut_and_nothing_overflows() -> None:
    once = kernels._HALF - np.uint64(1)  # a success of probability exp(−1)
    never = kernels._HALF
    for sign in (0, 1):
        words = np.array([1 + (sign << 63), never, *[once] * 300, never], np.uint64)
        words[1] = 2  # the chance of 1/top fails, so that unit 1 is kept
        out = np.zeros(1, np.int64)
        assert kernels.laplace(words, 0, out, 2**55, 1) == (1, words.size)
        assert out[0] == (-1 if sign else 1) * 2**62


def test_sums_with_noise_are_cut_at_61_bits_as_if_noise_had_no_bounds() -> None:
    most = noise.MOST_SUM
    sums, drawn = [most, -most, 5], np.array([2**62, 2**62, -(2**62)])
    assert noise.add(sums, drawn).tolist() == [most, most, -most]
    assert noise.add([most + 1, -(10**40)], np.array([-5, 3])).tolist() == [most - 5, 3 - most]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.uint64, object])
def test_sums_of_any_size_and_kind_are_cut_without_an_error(dtype: Any) -> None:
    most = noise.MOST_SUM
    numbers = [0, 7] if dtype in (np.uint8, np.int32) else [0, 7, most - 1, most, most + 1, 2**63 - 1]
    numbers += [2**63, 2**64 - 1] if dtype in (np.uint64, object) else []
    numbers += [-(2**63)] if dtype is np.int64 else [2**64, -(2**200)] if dtype is object else []
    cut = noise.cut(np.array(numbers, dtype))
    assert cut.dtype == np.int64
    assert cut.tolist() == [min(max(number, -most), most) for number in numbers]


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=5), st.data())
@settings(max_examples=200, deadline=None)
def test_a_cut_brings_no_two_vectors_further_apart(first: list[int], data: st.DataObject) -> None:
    second = [number + data.draw(st.integers(-(2**64), 2**64)) for number in first]
    apart = [abs(a - b) for a, b in zip(noise.cut(first).tolist(), noise.cut(second).tolist(), strict=True)]
    assert all(near <= abs(a - b) for near, a, b in zip(apart, first, second, strict=True))


# Calibration.


@given(st.floats(0.001, 20.0), st.integers(1, 2**20))
@settings(max_examples=300, deadline=None)
def test_the_loss_of_calibrated_noise_is_at_most_epsilon_and_nearly_that(epsilon: float, sensitivity: int) -> None:
    loss = DiscreteLaplace.calibrate(sensitivity, epsilon).loss(sensitivity)
    assert Fraction(epsilon) * (1 - noise.SLACK) <= loss <= Fraction(epsilon)


@given(st.floats(0.01, 20.0), st.integers(1, 400), st.sampled_from(["absolute", "squared"]))
@settings(max_examples=100, deadline=None)
def test_a_calibrated_staircase_loses_at_most_epsilon_and_nearly_that(epsilon: float, step: int, kind: Any) -> None:
    found = StaircaseNoise.calibrate(step, epsilon, kind)
    assert epsilon * (1 - 1e-9) <= found.loss(step) <= epsilon


@pytest.mark.parametrize(("step", "epsilon"), [(1, 1.0), (2, 1.0), (5, 0.3), (9, 4.0), (16, 8.0)])
def test_no_shift_of_a_staircase_loses_more_than_its_loss(step: int, epsilon: float) -> None:
    found = StaircaseNoise.calibrate(step, epsilon)
    law = {x: found.probability(x) for x in range(-6 * step, 6 * step + 1)}
    ratios = [law[x] / law[x + shift] for shift in range(-step, step + 1) for x in law if x + shift in law]
    assert mpmath.log(mpmath.mpf(max(ratios).numerator) / max(ratios).denominator) <= found.loss(step)
    beyond = [law[x] / law[x + step + 1] for x in law if x + step + 1 in law]
    assert max(beyond) > max(ratios)  # the control: one step further, and it does not hold


@pytest.mark.parametrize("kind", ["absolute", "squared"])
@pytest.mark.parametrize(("step", "epsilon"), [(2, 1.0), (10, 0.5), (10, 3.0), (37, 6.0)])
def test_no_inner_width_does_better_than_the_one_chosen(step: int, epsilon: float, kind: Any) -> None:
    def cost(found: StaircaseNoise) -> float:
        return found.mean_absolute if kind == "absolute" else found.variance

    every = [cost(StaircaseNoise._with_inner(step, inner, epsilon)) for inner in range(1, step + 1)]
    assert cost(StaircaseNoise.calibrate(step, epsilon, kind)) == pytest.approx(min(every), rel=1e-12)


def test_a_staircase_beats_laplace_noise_at_large_epsilon_and_is_it_at_sensitivity_one() -> None:
    wide = StaircaseNoise.calibrate(1000, 5.0)
    assert wide.mean_absolute < 0.42 * 200  # the mean of |noise| of Laplace noise of scale 1000/5
    narrow, laplace = StaircaseNoise.calibrate(1, 1.0), DiscreteLaplace(Fraction(1))
    for x in range(6):
        assert narrow.log_probability(x) == pytest.approx(laplace.log_probability(x), rel=1e-12)


@given(st.fractions(Fraction(1, 1000), 50), st.fractions(0, 1))
def test_the_simplest_fraction_is_simplest(low: Fraction, width: Fraction) -> None:
    found = noise.simplest_fraction(low, low + width)
    assert low <= found <= low + width
    for denominator in range(1, min(found.denominator, 60)):
        assert math.ceil(low * denominator) > (low + width) * denominator


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [(0, ParameterError), (-1, ParameterError), ("1", ParameterTypeError), (True, ParameterTypeError)],
)
@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian])
def test_scales_must_be_positive_rational_numbers(law: Any, wrong: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        law(wrong)


@pytest.mark.parametrize(
    "beyond",
    [
        lambda: DiscreteLaplace(Fraction(2**41)),
        lambda: DiscreteLaplace(Fraction(2**57 + 1, 2**30)),
        lambda: DiscreteLaplace.calibrate(2**40, 0.1),
        lambda: DiscreteGaussian(Fraction(2**82)),
        lambda: DiscreteGaussian(Fraction(2**70 + 1)),
        lambda: StaircaseNoise.calibrate(2**41, 1.0),
    ],
)
def test_what_is_not_exact_in_64_bits_is_refused(beyond: Callable[[], object]) -> None:
    with pytest.raises(LimitError):
        beyond()


def test_no_draws_and_many_are_possible() -> None:
    assert DiscreteLaplace(Fraction(3)).draw(0, Entropy(1)).size == 0
    assert DiscreteLaplace(Fraction(3)).draw(70_000, Entropy(1)).size == 70_000
