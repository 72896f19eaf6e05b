"""What an additive model says of itself: shapes that are centred, explanations that add up, a page and a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from bruit.errors import ParameterError
from bruit.learning import AdditiveClassifier, AdditiveRegressor, Explanation, LogisticRegression

BOUNDS = {"age": (0.0, 10.0), "job": ["cook", "smith"]}
_DRAW = np.random.default_rng(3)
TABLE: dict[str, Any] = {"age": _DRAW.uniform(0, 10, 5000), "job": _DRAW.choice(["cook", "smith"], 5000)}
SCORE = np.abs(TABLE["age"] - 5) - 2.5 + (TABLE["job"] == "smith")
ROWS = {name: column[:7] for name, column in TABLE.items()}


@pytest.fixture(scope="module")
def glass() -> AdditiveClassifier:
    return AdditiveClassifier(4.0, bounds=BOUNDS, classes=["no", "yes"], random_state=1).fit(
        TABLE, np.where(SCORE > 0, "yes", "no")
    )


@pytest.mark.parametrize("kind", [AdditiveClassifier, LogisticRegression])
@pytest.mark.parametrize("classes", [["no", "yes"], ["never", "no", "yes"]])
def test_effects_add_up_to_the_score(kind: Any, classes: list[str]) -> None:
    model = kind(4.0, bounds=BOUNDS, classes=classes, random_state=1).fit(TABLE, np.where(SCORE > 0, "yes", "no"))
    parts = model.explain(ROWS)
    scores = model.decision_function(ROWS)
    assert parts.scores.reshape(scores.shape) == pytest.approx(scores, abs=1e-5)
    shares = model.predict_proba(ROWS)
    assert parts.probabilities == pytest.approx(shares[:, 1:] if len(classes) == 2 else shares, abs=1e-5)
    assert parts.effects.shape == (7, 2, 1 if len(classes) == 2 else 3)
    assert parts.outputs == (("yes",) if len(classes) == 2 else ("never", "no", "yes"))


def test_effects_of_a_regressor_add_up_to_the_prediction() -> None:
    wide = {name: np.tile(column, 10) for name, column in TABLE.items()}
    for epsilon, few in ((8.0, False), (0.1, True)):
        model = AdditiveRegressor(epsilon, bounds=BOUNDS, target_bounds=(-5, 5), random_state=1)
        with pytest.warns(UserWarning, match="too few") if few else pytest.MonkeyPatch.context():
            model.fit(wide, np.tile(SCORE, 10))
        with pytest.raises(ParameterError, match="no probabilities"):
            _ = model.explain(ROWS).probabilities
        assert model.explain(ROWS).scores[:, 0] == pytest.approx(model.predict(ROWS), abs=1e-3)
        assert "not known" in repr(model.shapes_["age"]) if few else "not known" not in repr(model.shapes_["age"])


def test_shapes_are_centred_over_the_noisy_records(glass: AdditiveClassifier) -> None:
    for shape in glass.shapes_.values():
        weights = np.maximum(shape.records, 0)
        assert weights @ shape.effects[:, 0] / weights.sum() == pytest.approx(0, abs=1e-9)
        band = shape.interval(0.95)
        assert (band[:, 0, 0] < shape.effects[:, 0]).all()
        assert (shape.interval(0.5)[:, 0, 0] > band[:, 0, 0]).all()
    assert glass.importances_["age"] > glass.importances_["job"] > 0


def test_bands_are_about_as_wide_as_the_noise() -> None:
    label = np.where(SCORE > 0, "yes", "no")
    bounds = {"job": ["cook", "smith"], "age": (0.0, 10.0)}
    models = [
        AdditiveClassifier(2.0, bounds=bounds, classes=["no", "yes"], random_state=seed).fit(TABLE, label)
        for seed in range(40)
    ]
    spread = np.std([model._fitted.shapes.effects[1][0, 0] - model._fitted.shapes.effects[1][1, 0] for model in models])
    stated = np.mean([np.hypot(*model.shapes_["job"].errors[:, 0]) for model in models])
    assert 0.3 * stated < spread < 3 * stated


def test_an_explanation_is_a_table_with_the_largest_effects_first() -> None:
    parts = Explanation(("age", "job"), ("yes",), np.array([-1.0]), np.array([[[0.5], [-0.75]]]))
    frame = parts.to_frame("pandas")
    assert frame["column"].tolist() == ["(average)", "job", "age", "(score)"]
    assert frame["effect"].tolist() == [-1.0, -0.75, 0.5, -1.25]
    assert len(parts) == 1
    assert "job" in parts._repr_html_()
    assert "log-odds of class yes" in repr(parts)
    assert "Predicted probability: 0.223 of class yes." in repr(parts)


def test_a_page_shows_every_column_and_loads_nothing(glass: AdditiveClassifier, tmp_path: Path) -> None:
    text = str(glass.page())
    assert glass.page(tmp_path / "page.html") == tmp_path / "page.html"
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    assert text.count("<svg") == 3
    assert "Importance" in text
    assert "protects nobody" in text  # its noise comes from a seed
    assert str(glass.page(rows=ROWS)).count("Prediction for row") == 7
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_plots_are_of_one_column_or_of_all(glass: AdditiveClassifier) -> None:
    assert glass.plot("age").get_xlabel() == "age"
    figure = glass.plot()
    numbers, labels = figure.axes
    assert numbers.get_ylim() == labels.get_xlim()
    heading = figure.get_suptitle()
    assert "AdditiveClassifier, ε = 4" in heading
    assert "protects nobody" in heading
    assert "95 % intervals of the noise" in heading
    assert numbers.get_ylabel() == "effect on the log-odds\nof class yes"
    with pytest.raises(ParameterError, match="column"):
        glass.plot("height")


@pytest.mark.skipif(
    not hasattr(BaseEstimator, "_html_repr"), reason="scikit-learn 1.6 draws models by another function"
)
def test_a_notebook_shows_the_importance_of_a_fitted_model(glass: AdditiveClassifier) -> None:
    assert "importance" in glass._repr_html_()
    assert "importance" not in AdditiveClassifier(1.0)._html_repr().lower().replace("importances_", "")
