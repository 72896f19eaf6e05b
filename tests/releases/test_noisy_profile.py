"""What is read from a noisy profile: no people in noise, the people of a visible cell, the tail of a heavy law."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.releases.noisy_profile import read_profile, visible

ENDS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128]


def profile_of(sizes: np.ndarray) -> np.ndarray:
    return np.bincount(np.searchsorted(ENDS, np.minimum(sizes, ENDS[-1])), minlength=len(ENDS)).astype(float)


def test_readings_are_profiles_and_their_weights_add_up() -> None:
    draw = np.random.default_rng(1)
    for scale in (0.5, 10.0, 300.0):
        profiles, weights = read_profile(profile_of(draw.zipf(1.8, 3_000)) + draw.laplace(0, scale, 24), scale, ENDS)
        assert (profiles >= 0).all()
        assert np.isfinite(profiles).all()
        assert (weights > 0).all()
        assert weights.sum() == pytest.approx(1)


def test_noise_alone_is_nobody() -> None:
    draw = np.random.default_rng(2)
    readings = [read_profile(draw.laplace(0, 10.0, 24), 10.0, ENDS) for _ in range(100)]
    assert sum(float((weights @ profiles).sum()) > 0 for profiles, weights in readings) <= 5  # 0.25 expected
    # The control: a lower threshold would see people in half of the profiles.
    assert (draw.laplace(0, 10.0, (100, 24)).max(axis=1) > 40).sum() > 15


def test_cells_that_hold_more_than_noise_are_read_as_they_are() -> None:
    noisy = np.zeros(24)
    noisy[[2, 20]] = 900.0, 2 * visible(24) * 10.0
    profiles, weights = read_profile(noisy, 10.0, ENDS)
    assert (weights @ profiles).round().tolist() == noisy.round().tolist()


@pytest.mark.parametrize("kind", ["power", "exponential"])
def test_a_tail_below_the_noise_is_continued(kind: str) -> None:
    draw = np.random.default_rng(3)
    sizes = np.ceil(draw.random(20_000) ** (-1 / 1.4) if kind == "power" else draw.exponential(6, 20_000)).astype(int)
    truth, middles = profile_of(sizes), np.sqrt((np.array([0, *ENDS[:-1]]) + 1.0) * ENDS)
    beyond = (truth * np.maximum(middles - 16, 0)).sum()
    ratios = []
    for _ in range(10):
        profiles, weights = read_profile(truth + draw.laplace(0, 15.0, 24), 15.0, ENDS)
        ratios.append((weights @ profiles * np.maximum(middles - 16, 0)).sum() / beyond)
    assert 0.5 < np.median(ratios) < 1.35
    # The control: no cell of the power law beyond 16 is visible alone.
    alone = np.where(truth > visible(24) * 15, truth, 0)
    assert kind == "exponential" or (alone * np.maximum(middles - 16, 0)).sum() < 0.1 * beyond
