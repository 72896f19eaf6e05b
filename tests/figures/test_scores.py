"""The picture of scores: two curves with bands that hold the exact ones, and words that stand for them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from bruit.errors import ParameterError
from bruit.figures import plot_scores, save, style
from bruit.learning import Scores, private_score

_GENERATOR = np.random.default_rng(6)
X = _GENERATOR.normal(size=(6000, 2))
Y = (X[:, 0] + _GENERATOR.normal(size=6000) > 0.5).astype(int)
MODEL = LogisticRegression().fit(X, Y)


@pytest.fixture(scope="module")
def scores() -> Scores:
    return private_score(MODEL, X, Y, epsilon=1.0, rng=3)


def test_both_curves_are_drawn_with_bands_that_hold_the_exact_ones(scores: Scores) -> None:
    curve, bars = scores.plot(1 - 1e-7, about="rows")
    assert [ax.get_xlabel() for ax in (curve, bars)] == ["false positives", "stated probability"]
    along, up, _ = roc_curve(Y, MODEL.predict_proba(X)[:, 1])
    roc = scores.ranks.roc()  # type: ignore[union-attr]
    ends = roc.ends(1 - 1e-7, sampled=False)
    inside = (roc.along > 0.05) & (roc.along < 0.95)
    exact = np.interp(roc.along, along, up)
    assert (ends[inside, 0] - 0.01 <= exact[inside]).all()
    assert (exact[inside] <= ends[inside, 1] + 0.01).all()
    assert np.all(np.diff(roc.along) >= 0)
    assert np.all(np.diff(roc.up) >= 0)
    assert len(bars.collections) == 1
    assert np.mean(np.diff(ends, axis=1)) < 0.2, "a band that holds everything says nothing"


def test_the_words_tell_what_is_seen_and_a_file_is_written(scores: Scores, tmp_path) -> None:
    axes = plot_scores(scores)
    words = style.description(style.whole(axes[0]))
    assert words.startswith("ROC curve, AUROC 0.")
    assert "stated" in words
    save(axes[0], tmp_path / "scores.svg")
    assert "Calibration" in (tmp_path / "scores.svg").read_text(encoding="utf-8")


def test_axes_may_be_given_and_scores_without_ranks_are_refused(scores: Scores) -> None:
    axes = plot_scores(scores)
    assert plot_scores(scores, axes=axes)[0] is axes[0]
    with pytest.raises(ParameterError, match="no table of ranks"):
        plot_scores(private_score(MODEL, X, Y, epsilon=1.0, metrics="accuracy", rng=3))


def test_noise_that_hides_all_is_drawn_as_such() -> None:
    _, bars = plot_scores(private_score(MODEL, X[:10], Y[:10], epsilon=0.01, rng=3))
    assert "noise hides" in style.description(style.whole(bars))
