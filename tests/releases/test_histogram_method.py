"""The histogram method: exact loss under both neighbours, what it returns, how far the printed listing is off."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from bruit.entropy import Entropy, Words
from bruit.errors import (
    BudgetError,
    DataError,
    DataTypeError,
    DesignError,
    LimitError,
    ParameterError,
    ParameterTypeError,
)
from bruit.privacy import Ledger
from bruit.releases.above_threshold import AboveThreshold
from bruit.releases.quantiles.histogram import DECILES, HistogramQuantiles
from bruit_studies.as_printed import DecilesAsPrinted

ROUNDING = 1 + 1e-12
REACH = 45  # scales to each side beyond which noise has a probability below 10⁻¹⁹


def cdf(scale, points):
    """P(noise ≤ point) for discrete Laplace noise, from its definition."""
    ratio = math.exp(-1 / scale)
    right = 1 - ratio ** (np.maximum(points, 0) + 1.0) / (1 + ratio)
    return np.where(points >= 0, right, ratio ** (-np.minimum(points, 0.0)) / (1 + ratio))


def law(design, counts, place=0, strict=False, most=math.inf):
    """The probability of each index, then of "nothing above", by enumeration over the noise of the threshold."""
    q, pair = design.fractions[place], design.noises[place]
    s1, s2 = float(pair.threshold.scale), float(pair.answers.scale)
    counts = np.asarray(counts)
    answers = q.denominator * np.cumsum(counts)[: design.cells] - q.numerator * counts.sum()
    answers = np.minimum(answers, most).astype(np.int64)
    width = int(REACH * max(s1, s2)) + 10
    z = np.arange(-width, width + 1)
    ratio = math.exp(-1 / s1)
    reached = (1 - ratio) / (1 + ratio) * ratio ** np.abs(z)
    found = []
    for answer in answers:
        need = z - answer + strict  # the noise that makes it above
        found.append(float(np.sum(reached * cdf(s2, -need))))
        reached = reached * cdf(s2, need - 1)
    return np.array([*found, float(np.sum(reached))])


def tables(size, cells):
    """All histograms of so many records."""
    for places in itertools.combinations_with_replacement(range(cells), size):
        yield np.bincount(places, minlength=cells)


def pairs(neighbours, cells, most):
    """All neighbouring histograms with up to `most` records."""
    for size in range(most + 1):
        for counts in tables(size, cells):
            if neighbours == "add-remove":
                yield from ((counts, counts + unit) for unit in np.eye(cells, dtype=int))
            else:
                for one, other in itertools.permutations(range(cells), 2):
                    if counts[one]:
                        moved = counts.copy()
                        moved[one] -= 1
                        moved[other] += 1
                        yield counts, moved


def worst_loss(design, first, second):
    return float(np.abs(np.log(law(design, first) / law(design, second))).max())


@pytest.mark.parametrize("noise", ["tight", "dwork-roth"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_no_pair_of_small_tables_loses_more_than_stated(neighbours, q, noise):
    design = HistogramQuantiles(quantiles=[q], bounds=(0, 1), epsilon=1.5, cells=4, neighbours=neighbours, noise=noise)
    worst = max(worst_loss(design, one, other) for one, other in pairs(neighbours, 4, 2))
    assert worst <= float(design.loss) * ROUNDING <= 1.5 * ROUNDING


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_the_tight_noise_is_tight(neighbours, q, epsilon):
    design = HistogramQuantiles(quantiles=[q], bounds=(0, 1), epsilon=epsilon, cells=600, neighbours=neighbours)
    # Many edges with nothing below, then one with a record that leaves, or that moves to the first step.
    with_it, without = np.zeros(600, int), np.zeros(600, int)
    with_it[-1] = 1
    without[0] = neighbours == "replace"
    assert 0.98 * epsilon <= worst_loss(design, with_it, without) <= epsilon * ROUNDING


def test_less_noise_than_that_is_caught():
    # The control: noise for add-remove used under replace, where counts can move against each other by more.
    design = HistogramQuantiles(quantiles=[0.1], bounds=(0, 1), epsilon=1.0, cells=600)
    moved, before = np.zeros(600, int), np.zeros(600, int)
    moved[0] = before[-1] = 1
    assert worst_loss(design, before, moved) > 1.7


def test_leaving_out_what_a_full_step_cannot_count_keeps_the_loss_and_cutting_answers_would_not():
    design = HistogramQuantiles(quantiles=[0.1], bounds=(0, 1), epsilon=1.0, cells=600)
    before = np.zeros(600, int)
    before[-1] = 1
    after = before.copy()
    after[0] += 1  # all answers rise by 9, but the last one, where it stands at a bound of 8
    cut = np.log(law(design, before, most=8) / law(design, after, most=8))
    assert np.abs(cut).max() > 1.5
    assert worst_loss(design, before, after) <= ROUNDING
    full = HistogramQuantiles(quantiles=[0.5], bounds=(0, 1), epsilon=1.5, cells=3)
    for one, other in pairs("add-remove", 3, 4):
        assert worst_loss(full, np.minimum(one, 2), np.minimum(other, 2)) <= 1.5 * ROUNDING


def test_very_many_records_give_a_result_and_an_error_depends_on_a_public_number_only():
    for neighbours in ("add-remove", "replace"):
        design = HistogramQuantiles(quantiles=[0.5, 0.123457], bounds=(0, 1), epsilon=1.0, neighbours=neighbours)
        assert design.most_records == 2**61 // 10**6
        enough = design.prepare(np.array([design.most_records, *[0] * 999]))
        assert enough[0] == design.most_records // (1000 if neighbours == "add-remove" else 1)
        values = design.publish(enough, Words(3)).values
        assert values.tolist() == [0.001, 0.001]
        if neighbours == "replace":
            with pytest.raises(LimitError, match="2,305,843,009,213 records"):
                design.prepare(np.array([design.most_records, 1, *[0] * 998]))


def test_the_printed_form_keeps_its_guarantee():
    for neighbours in ("add-remove", "replace"):
        design = DecilesAsPrinted(bounds=(0, 1), epsilon=4.5, cells=3, neighbours=neighbours)
        for one, other in pairs(neighbours, 4, 2):
            ratio = law(design, one, 8, strict=True) / law(design, other, 8, strict=True)
            assert np.abs(np.log(ratio)).max() <= 0.5 * ROUNDING


def test_the_shares_add_up_to_what_was_asked_and_not_more():
    for epsilon in (0.1, 0.3, 1.0, 7.0):
        for size in (1, 3, 7, 9):
            quantiles = [(i + 1) / (size + 1) for i in range(size)]
            for neighbours in ("add-remove", "replace"):
                design = HistogramQuantiles(quantiles=quantiles, bounds=(0, 1), epsilon=epsilon, neighbours=neighbours)
                assert Fraction(epsilon) * (1 - Fraction(2, 10**9)) <= design.loss <= Fraction(epsilon)
                assert design.guarantee.epsilon == epsilon


@pytest.mark.audit
def test_results_have_the_enumerated_law():
    design = HistogramQuantiles(quantiles=[0.5], bounds=(0, 6), epsilon=1.0, cells=6)
    data = [0.5, 1.5, 1.6, 2.5, 3.5, 5.9]
    raw, entropy = design.fold(data), Entropy(8)
    values = np.array([design.release(raw, rng=entropy).value for _ in range(6000)])
    chances = law(design, [1, 2, 1, 1, 0, 1])
    chances[5] += chances[6]  # the last edge and "nothing above" are both the upper bound
    counts = np.bincount(values.astype(int) - 1, minlength=6)
    assert chi_squared(counts, chances[:6] * 6000) < 45  # 5 degrees of freedom: beyond it with probability 10⁻⁸
    shifted = law(design, [0, 1, 2, 1, 1, 1])  # the control: the same data, one step off
    shifted[5] += shifted[6]
    assert chi_squared(counts, shifted[:6] * 6000) > 45


def chi_squared(counts, expected):
    return float(np.sum((counts - expected) ** 2 / expected))


def test_each_quantile_is_a_session_of_above_threshold():
    # The same noise and the same comparisons as the session's, but for the units.
    design = HistogramQuantiles(
        quantiles=[0.5], bounds=(0, 1), epsilon=1.0, cells=9, neighbours="replace", noise="dwork-roth"
    )
    session = AboveThreshold(epsilon=1.0, threshold=0, sensitivity=2, neighbours="replace")
    assert design.noises[0] == (session.threshold_noise, session.answer_noise)
    tight = HistogramQuantiles(quantiles=[0.5], bounds=(0, 1), epsilon=1.0, cells=9, neighbours="replace")
    monotone = AboveThreshold(epsilon=1.0, threshold=0, sensitivity=2, monotone=True, neighbours="replace")
    assert tight.noises[0] == (monotone.threshold_noise, monotone.answer_noise)


def errors(design, repetitions, seed):
    people, entropy = np.random.default_rng(seed), Entropy(seed)
    found = []
    for _ in range(repetitions):
        data = people.normal(size=100_000)
        values = design.release(design.fold(data), rng=entropy).values
        found.append(np.abs(values - np.quantile(data, DECILES)).mean())
    return float(np.mean(found))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_printed_listing_is_off_by_a_third_and_the_corrected_one_by_half_a_step(neighbours):
    corrected = HistogramQuantiles(bounds=(-5, 5), epsilon=1.0, cells=1000, neighbours=neighbours)
    printed = DecilesAsPrinted(bounds=(-5, 5), epsilon=1.0, cells=1000, neighbours=neighbours)
    assert errors(corrected, 10, seed=1) == pytest.approx(0.005, rel=0.2)
    assert errors(printed, 10, seed=2) == pytest.approx(0.33, rel=0.2)


@pytest.mark.usefixtures("any_epsilon")
def test_the_printed_listing_makes_each_of_its_mistakes():
    sure = 1e6  # at this ε noise is nothing
    data = np.repeat([-4.9, -2.0, 3.0], [5, 3, 2])
    printed = DecilesAsPrinted(bounds=(-5, 5), epsilon=sure, cells=10)
    values = printed.release(printed.fold(data), rng=1)
    # Without the offset, the first question (below 1) already counts eight of ten, and its index is 0.
    assert values[0.5] == 0.0
    # Eight of ten is not *above* the eighth decile; the record at 3 is below 4, question number 4, whose index is 3.
    assert values[0.8] == values[0.9] == 3.0
    assert values.notes == ("as printed, with its mistakes",)
    corrected = HistogramQuantiles(bounds=(-5, 5), epsilon=sure, cells=10)
    assert corrected.release(corrected.fold(data), rng=1).values.tolist() == [-4.0] * 5 + [-1.0] * 3 + [4.0]
    # Points equal to b are never below, so nothing is above, which gives −1 step.
    at_b = DecilesAsPrinted(bounds=(0, 10), epsilon=sure, cells=10)
    assert at_b.release(at_b.fold([10.0, 10.0]), rng=1).values.tolist() == [-1.0] * 9


@pytest.mark.usefixtures("any_epsilon")
def test_a_result_is_the_upper_end_of_the_step_where_the_quantile_lies():
    design = HistogramQuantiles(quantiles=[0.25, 0.5, 0.9], bounds=(10, 20), epsilon=1e6, cells=10)
    data = [10.0, 10.5, 11.0, 12.0, 12.0, 15.5, 17.0, 19.0, 20.0, 20.0]
    assert design.release(design.fold(data), rng=1).values.tolist() == [12.0, 13.0, 20.0]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_nothing_above_gives_the_upper_bound(neighbours):
    design = HistogramQuantiles(quantiles=[0.9], bounds=(0, 3), epsilon=0.01, cells=2, neighbours=neighbours)
    raw, entropy = design.fold([1.0]), Entropy(3)
    values = {design.release(raw, rng=entropy).value for _ in range(60)}
    assert values == {1.5, 3.0}


@pytest.mark.parametrize("data", [[], [4.0], [4.0] * 100, [0.0, 10.0]])
def test_empty_single_constant_and_extreme_data_work(data):
    design = HistogramQuantiles(bounds=(0, 10), epsilon=1.0, cells=50)
    values = design.release(design.fold(np.array(data)), rng=1).values
    assert values.shape == (9,)
    assert ((values > 0) & (values <= 10)).all()


def test_every_number_is_counted_in_the_cell_that_its_edges_say():
    people = np.random.default_rng(5)
    for low, high, steps in [(0.0, 1.0, 10), (-5.0, 5.0, 1000), (0.1, 0.7, 3), (1e9, 1e9 + 1, 7)]:
        design = HistogramQuantiles(bounds=(low, high), epsilon=1.0, cells=steps)
        data = np.concatenate([people.uniform(low, high, 2000), design.edges, np.nextafter(design.edges, low)])
        data = np.clip(data, low, high)
        slow = np.clip(np.searchsorted(design.edges, data, side="right") - 1, 0, steps - 1)
        raw = design.fold(data).reveal(design=design.digest)
        assert raw.tolist() == np.bincount(slow, minlength=steps).tolist()


def test_numbers_outside_the_bounds_count_at_the_nearest_end():
    design = HistogramQuantiles(bounds=(0, 1), epsilon=1.0, cells=4)
    assert design.fold([-7.0, 0.5, 99.0]).reveal(design=design.digest).tolist() == [1, 0, 1, 1]


def test_parts_of_the_data_add_up():
    design = HistogramQuantiles(bounds=(0, 1), epsilon=1.0, cells=100)
    data = np.random.default_rng(1).random(1000)
    whole, parts = design.fold(data), design.fold(data[:300]) + design.fold(data[300:])
    assert design.release(whole, rng=5).values.tolist() == design.release(parts, rng=5).values.tolist()
    frame = {"age": data, "other": data * 0}
    assert (
        design.release(design.fold(frame["age"]), rng=5).values.tolist() == design.release(whole, rng=5).values.tolist()
    )


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("noise", ["tight", "dwork-roth"])
def test_counts_miss_their_rank_by_more_than_stated_less_often_than_beta(neighbours, noise):
    beta, runs, n = 0.2, 300, 4000
    design = HistogramQuantiles(bounds=(0, 1), epsilon=1.0, cells=50, neighbours=neighbours, noise=noise)
    raw, entropy = design.fold((np.arange(n) + 0.5) / n), Entropy(2)
    allowed = design.rank_error(beta)
    missed = np.zeros(9)
    for _ in range(runs):
        below = n * design.release(raw, rng=entropy).values
        late = below - n / 50 > n * np.array(DECILES) + allowed  # the edge before it should have been taken
        missed += (below < n * np.array(DECILES) - allowed) | late
    assert (missed / runs <= beta).all()


def test_a_release_is_booked_before_it_is_drawn_and_refused_without_trace():
    ledger = Ledger(epsilon=1.0)
    design = HistogramQuantiles(bounds=(0, 1), epsilon=0.7)
    raw = design.fold([0.5])
    assert design.release(raw, ledger, label="deciles of age").guarantee == ledger.spent
    with pytest.raises(BudgetError):
        design.release(raw, ledger)
    assert [entry.label for entry in ledger.entries] == ["deciles of age"]


def test_what_is_released_says_what_it_is_and_shows_no_count():
    design = HistogramQuantiles(quantiles=[0.5], bounds=(0, 1), epsilon=1.0, cells=10)
    found = design.release(design.fold([0.25] * 1234), rng=4)
    assert found.labels == (0.5,)
    assert found.simulated
    assert np.isnan(found.standard_error).all()
    assert "1234" not in found.to_json() + repr(found)
    assert found.to_dict()["statistic"] == design.to_dict()


def test_a_tally_for_the_printed_form_is_not_taken_for_the_corrected_one():
    printed = DecilesAsPrinted(bounds=(0, 1), epsilon=1.0)
    corrected = HistogramQuantiles(bounds=(0, 1), epsilon=1.0, neighbours="replace", noise="dwork-roth")
    with pytest.raises(DesignError):
        corrected.release(printed.fold([0.5]))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"quantiles": []}, ParameterError),
        ({"quantiles": [0.5, 0.5]}, ParameterError),
        ({"quantiles": [1.0]}, ParameterError),
        ({"quantiles": "0.5"}, ParameterTypeError),
        ({"quantiles": 0.5}, ParameterTypeError),
        ({"bounds": (1, 0)}, ParameterError),
        ({"bounds": (0, math.inf)}, ParameterError),
        ({"bounds": 3}, ParameterTypeError),
        ({"epsilon": -1}, ParameterError),
        ({"cells": 0}, ParameterError),
        ({"cells": 10**7}, ParameterError),
        ({"neighbours": "value"}, ParameterError),
        ({"noise": "none"}, ParameterError),
    ],
)
def test_bad_parameters_are_refused_at_birth(change, error):
    with pytest.raises(error):
        HistogramQuantiles(**({"bounds": (0, 1), "epsilon": 1.0} | change))


def test_missing_values_and_words_are_refused_without_being_shown():
    design = HistogramQuantiles(bounds=(0, 1), epsilon=1.0)
    with pytest.raises(DataError):
        design.fold([0.5, math.nan])
    with pytest.raises(DataTypeError) as caught:
        design.fold(["secret"])
    assert "secret" not in str(caught.value)


def test_the_steps_follow_the_true_quantiles_of_a_known_law():
    design = HistogramQuantiles(quantiles=[0.05, 0.5, 0.95], bounds=(-6, 6), epsilon=3.0, cells=1200)
    data = ndtri((np.arange(200_000) + 0.5) / 200_000)
    values = design.release(design.fold(data), rng=9).values
    assert np.abs(values - ndtri([0.05, 0.5, 0.95])).max() < 0.03
