"""The empirical audit comes near the true ε from below, and catches mechanisms that promise too much."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bruit import audit
from bruit.audit import binning
from bruit.audit.empirical import _limits
from bruit.entropy import Entropy
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from bruit.estimation.intervals import clopper_pearson
from bruit.oracles import RandomizedResponse
from bruit.privacy import Guarantee

#: At this level a bound above the true ε is a bug, not chance.
SURE = 1 - 1e-7


def promise(epsilon: float, delta: float = 0.0) -> Guarantee:
    return Guarantee(epsilon=epsilon, delta=delta, neighbours="value")


def responder(epsilon: float) -> Any:
    """Randomised response on 0 and 1, as a plain callable."""

    def mechanism(value: int, trials: int, entropy: Entropy) -> Any:
        lie = entropy.generator().random(trials) > math.exp(epsilon) / (1 + math.exp(epsilon))
        return np.where(lie, 1 - value, value)

    return mechanism


def marked(value: int, trials: int, entropy: Entropy) -> Any:
    """A coin, that one time in a thousand gives the value away by an output that it has no reason to give."""
    generator = entropy.generator()
    outputs = generator.integers(0, 2, trials)
    return np.where(generator.random(trials) < 1e-3, 7 + value, outputs)


def textbook_laplace(value: float, trials: int, entropy: Entropy) -> Any:
    """The Laplace mechanism as it is usually written, with ε = 1 for values in 0..1."""
    uniform = entropy.generator().random(trials) - 0.5
    return value - np.sign(uniform) * np.log(1 - 2 * np.abs(uniform))


def bits(epsilon: float, size: int = 24) -> Any:
    """Optimised unary encoding, bits packed into bytes."""

    def mechanism(value: int, trials: int, entropy: Entropy) -> Any:
        generator = entropy.generator()
        flags = generator.random((trials, size)) < 1 / (math.exp(epsilon) + 1)
        flags[:, value] = generator.random(trials) < 0.5
        return np.packbits(flags, axis=1)

    return mechanism


@pytest.mark.parametrize(("epsilon", "least"), [(0.5, 0.46), (1.0, 0.96), (4.0, 3.85)])
def test_the_bound_is_tight_for_randomised_response(epsilon: float, least: float) -> None:
    oracle = RandomizedResponse(epsilon=epsilon, k=2)
    found = audit.empirical(oracle, 0, 1, rng=7)
    assert least <= found.epsilon_lower <= epsilon
    assert found.passes(oracle.guarantee)


@pytest.mark.audit
@pytest.mark.parametrize(("epsilon", "least"), [(1.0, 0.98), (4.0, 3.9)])
def test_with_a_million_trials_the_bound_is_within_a_few_percent(epsilon: float, least: float) -> None:
    found = audit.empirical(RandomizedResponse(epsilon=epsilon, k=2), 0, 1, trials=1_000_000, rng=7)
    assert least <= found.epsilon_lower <= epsilon


@pytest.mark.audit
def test_bounds_exceed_the_truth_no_more_often_than_their_level_allows() -> None:
    oracle = RandomizedResponse(epsilon=1.0, k=2)
    runs, level = 2_000, 0.9
    above = sum(
        audit.empirical(oracle, 0, 1, trials=2_000, level=level, rng=seed).epsilon_lower > 1.0 for seed in range(runs)
    )
    expected = runs * (1 - level)
    assert above <= expected + 5 * math.sqrt(expected)


@pytest.mark.parametrize("k", [3, 16, 128])
def test_honest_oracles_pass_for_any_pair_of_values(k: int) -> None:
    oracle = RandomizedResponse(epsilon=2.0, k=k)
    found = audit.empirical(oracle, 1, k - 1, level=SURE, trials=40_000, rng=k)
    assert found.epsilon_lower > 0.5
    assert found.passes(oracle.guarantee)


def test_labels_are_inputs_like_codes() -> None:
    oracle = RandomizedResponse.two_coins(labels=("no", "yes"))
    found = audit.empirical(oracle, "no", "yes", rng=1)
    assert 1.0 < found.epsilon_lower <= math.log(3)


def test_a_mechanism_that_claims_1_and_samples_at_2_is_caught() -> None:
    found = audit.empirical(responder(2.0), 0, 1, trials=20_000, level=SURE, rng=3)
    assert not found.passes(promise(1.0))
    assert found.passes(promise(2.0))


def test_a_rare_output_that_gives_the_value_away_is_caught() -> None:
    found = audit.empirical(marked, 0, 1, trials=400_000, level=SURE, rng=3)
    assert found.epsilon_lower > 1.5
    assert not found.passes(promise(1.0))
    assert found.false_positive_rate == 0


def test_that_rare_output_is_allowed_by_a_delta_as_large() -> None:
    found = audit.empirical(marked, 0, 1, level=SURE, delta=2e-3, rng=3)
    assert found.passes(promise(0.01, delta=2e-3))


def test_the_direction_does_not_matter() -> None:
    for first, second in ((0, 1), (1, 0)):
        found = audit.empirical(marked, first, second, rng=5)
        assert found.epsilon_lower > 1.5


def test_textbook_laplace_noise_is_caught_by_its_lowest_bits() -> None:
    found = audit.empirical(textbook_laplace, 0.0, 1.0, level=SURE, rng=3)
    assert found.epsilon_lower > 6
    assert "lowest bit" in found.event
    assert not found.passes(promise(1.0))


def test_laplace_noise_on_a_grid_passes_and_is_tight() -> None:
    def rounded(value: float, trials: int, entropy: Entropy) -> Any:
        return np.round(textbook_laplace(value, trials, entropy) * 64) / 64 + 0.0

    found = audit.empirical(rounded, 0.0, 1.0, level=SURE, rng=3)
    assert 0.85 < found.epsilon_lower < 1.0


def test_floats_that_only_one_input_can_give_are_caught_as_atoms() -> None:
    def clamped(value: float, trials: int, entropy: Entropy) -> Any:
        generator = entropy.generator()
        noisy = value * 1e-3 + generator.normal(size=trials)
        return np.where(generator.random(trials) < 2e-3, 0.1 + 0.2 * value, noisy)

    found = audit.empirical(clamped, 0.0, 1.0, level=SURE, rng=3)
    assert found.epsilon_lower > 1


def test_outputs_of_many_columns_are_ranked_by_their_sum() -> None:
    found = audit.empirical(bits(2.0), 0, 1, rng=3)
    assert 1.85 < found.epsilon_lower <= 2.0
    assert "columns" in found.event


def test_dependent_columns_are_seen_as_whole_rows() -> None:
    def parity(value: int, trials: int, entropy: Entropy) -> Any:
        first = entropy.generator().integers(0, 2, trials)
        return np.column_stack([first, first ^ responder(1.0)(value, trials, entropy)])

    found = audit.empirical(parity, 0, 1, rng=3)
    assert 0.9 < found.epsilon_lower <= 1.0
    assert "rows" in found.event


@pytest.mark.parametrize(
    "form",
    [
        lambda flags: flags.astype(bool),
        lambda flags: [b"a\x00" if flag else b"a" for flag in flags.tolist()],
        lambda flags: ["yes" if flag else "no" for flag in flags.tolist()],
        lambda flags: [("t", None) if flag else ("t", 1) for flag in flags.tolist()],
        lambda flags: np.where(flags, np.nan, np.inf),
        lambda flags: np.where(flags, 0.0, -0.0).astype(np.float32),
        lambda flags: flags + 1j,
        lambda flags: np.array(list(zip(flags, 1 - flags, strict=True)), [("seed", "u8"), ("bucket", "u1")]),
        lambda flags: flags.reshape(-1, 1, 1).repeat(2, axis=2),
    ],
    ids=["booleans", "bytes", "texts", "tuples", "not finite", "signed zeros", "complex", "structured", "3-D"],
)
def test_outputs_may_have_any_form(form: Any) -> None:
    mechanism = responder(1.0)
    found = audit.empirical(lambda v, n, entropy: form(mechanism(v, n, entropy)), 0, 1, rng=11, trials=50_000)
    assert 0.9 < found.epsilon_lower <= 1.0


def test_a_score_of_ones_own_takes_the_place_of_the_learnt_ones() -> None:
    def continuous(value: int, trials: int, entropy: Entropy) -> Any:
        noise = entropy.generator().random((trials, 2)) / 4
        return noise + responder(1.0)(value, trials, entropy)[:, None]

    found = audit.empirical(continuous, 0, 1, score=lambda outputs: -outputs.sum(axis=1), rng=3)
    assert 0.9 < found.epsilon_lower <= 1.0
    assert found.event.endswith("input, by the given score")


def test_a_score_gets_the_outputs_as_they_are() -> None:
    def structured(value: int, trials: int, entropy: Entropy) -> Any:
        outputs = np.zeros(trials, [("seed", "u8"), ("bucket", "u1")])
        outputs["seed"] = entropy.words(trials)
        outputs["bucket"] = responder(1.0)(value, trials, entropy)
        return outputs

    assert audit.empirical(structured, 0, 1, rng=3).epsilon_lower == 0
    found = audit.empirical(structured, 0, 1, score=lambda outputs: 1.0 - outputs["bucket"], rng=3)
    assert found.epsilon_lower > 0.9


def test_outputs_that_do_not_depend_on_the_input_show_nothing() -> None:
    for outputs in (lambda n, e: e.words(n), lambda n, e: e.generator().normal(size=(n, 3)), lambda n, e: np.zeros(n)):
        found = audit.empirical(lambda v, n, e, outputs=outputs: outputs(n, e), 0, 1, level=SURE, rng=3)
        assert found.epsilon_lower == 0
        assert found.passes(promise(0.0))


def test_gaussian_noise_on_a_grid_passes_with_its_delta() -> None:
    # σ = √(2 ln(1.25/δ))/ε is (ε, δ)-private for ε below 1, and no (ε, 0) is true of it.
    delta, epsilon = 1e-3, 0.8
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon

    def gauss(value: float, trials: int, entropy: Entropy) -> Any:
        return np.round(16 * (value + sigma * entropy.generator().normal(size=trials))) / 16 + 0.0

    found = audit.empirical(gauss, 0.0, 1.0, delta=delta, level=SURE, rng=3)
    assert 0.2 < found.epsilon_lower <= epsilon
    assert found.passes(promise(epsilon, delta))


def test_a_guarantee_with_more_delta_than_audited_is_no_question_for_this_audit() -> None:
    found = audit.empirical(marked, 0, 1, trials=10_000, rng=3)
    with pytest.raises(ParameterError, match="audit again"):
        found.passes(promise(1.0, delta=1e-3))


def test_the_same_seed_gives_the_same_audit_and_another_gives_another() -> None:
    runs = [audit.empirical(responder(1.0), 0, 1, trials=5_000, rng=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_no_two_calls_of_the_mechanism_share_randomness() -> None:
    seen = []

    def watched(value: int, trials: int, entropy: Entropy) -> Any:
        seen.append((value, trials, entropy.bytes(16)))
        return np.zeros(trials)

    audit.empirical(watched, 0, 1, trials=1_001, rng=3)
    assert len({key for _, _, key in seen}) == len(seen) == 6
    assert [sum(n for value, n, _ in seen if value == side) for side in (0, 1)] == [1_001, 1_001]


def test_limits_are_those_of_clopper_and_pearson() -> None:
    lower, upper = _limits([0, 3, 50], 50, [0, 3, 50], 50, 0.025)
    both = clopper_pearson([0, 3, 50], 50, 0.95)
    np.testing.assert_allclose(lower, both[0])
    np.testing.assert_allclose(upper, both[1])


def test_the_description_of_the_event_shows_no_output() -> None:
    found = audit.empirical(lambda v, n, e: np.full(n, 73_317_733 + v), 0, 1, trials=1_000, rng=3)
    assert found.epsilon_lower > 4
    assert "7331" not in repr(found)


def test_numbers_are_told_apart_by_the_finest_power_of_two_that_divides_them() -> None:
    bins = binning.lowest_bit_bins(np.zeros(4))
    numbers = np.array([1.0, 3.0, 5.0, 2.0, 6.0, 0.5, 0.1, 1 / 3, 0.0, np.inf])
    groups = bins(numbers)
    assert groups[0] == groups[1] == groups[2] != groups[3] == groups[4]
    assert len({groups[i] for i in (0, 3, 5, 6, 7, 8)}) == 6


@pytest.mark.parametrize("outputs", [np.zeros(3), 1.0, []])
def test_a_mechanism_must_give_one_output_per_trial(outputs: Any) -> None:
    with pytest.raises(DataError, match="one output for each trial"):
        audit.empirical(lambda v, n, e: outputs, 0, 1)


def test_outputs_must_have_one_shape() -> None:
    with pytest.raises(DataError, match="one shape"):
        audit.empirical(lambda v, n, e: np.zeros((n, 1 + v)), 0, 1)


@pytest.mark.parametrize("score", [lambda outputs: 1.0, lambda outputs: np.full(len(outputs), np.nan)])
def test_a_score_must_give_one_number_per_output(score: Any) -> None:
    with pytest.raises(DataTypeError, match="one number"):
        audit.empirical(responder(1.0), 0, 1, score=score)


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(ParameterTypeError, match="callable"):
        audit.empirical(3, 0, 1)


@pytest.mark.parametrize("bad", [{"trials": 10}, {"level": 1.0}, {"delta": -0.1}])
def test_impossible_settings_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        audit.empirical(responder(1.0), 0, 1, **bad)
