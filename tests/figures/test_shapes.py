"""Pictures of shapes: a curve with a band, labels with intervals, panels, and importance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bruit.figures import plot_importances, plot_shape, plot_shapes, style
from bruit.figures.shapes import MOST_BARS, MOST_PANELS
from bruit.learning import Shape

CURVE = Shape(
    "age",
    (0.0, 5.0, 10.0, "(missing)"),
    3,
    np.array([[-1.0], [0.5], [1.0], [0.2]]),
    np.full((4, 1), 0.1),
    np.array([10.0, 20.0, 5.0, 3.0]),
    ("yes",),
)
BARS = Shape(
    "job", ("cook", "smith"), 0, np.array([[0.3], [-0.3]]), np.array([[0.1], [3.0]]), np.array([9.0, 1.0]), ("yes",)
)


def test_a_curve_has_its_band_and_missing_numbers_beside_it() -> None:
    ax = plot_shape(CURVE)
    assert ax.get_xlabel() == "age"
    curve, point = (line for line in ax.get_lines() if len(line.get_xdata()) in {3, 1})
    assert curve.get_ydata().tolist() == [-1.0, 0.5, 1.0]
    assert point.get_xdata()[0] > 10
    assert [text.get_text() for text in ax.texts] == ["missing"]
    (band,) = [
        part for part in ax.collections if type(part).__name__ in {"PolyCollection", "FillBetweenPolyCollection"}
    ]
    assert band.get_paths()[0].get_extents().ymin == pytest.approx(-1.0 - 0.196, abs=1e-3)


def test_labels_are_rows_and_wide_intervals_are_cut() -> None:
    ax = plot_shape(BARS)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cook", "smith"]
    assert ax.get_xlim()[0] > -1
    assert "smith" in style.description(style.whole(ax))


def test_of_many_labels_and_columns_those_that_matter_most_are_drawn() -> None:
    many = tuple(f"label {place}" for place in range(50))
    effects = np.linspace(0, 1, 50)[:, None]
    wide = Shape("many", many, 0, effects, 0 * effects, np.ones(50), ("yes",))
    texts = [label.get_text() for label in plot_shape(wide).get_yticklabels()]
    assert len(texts) == MOST_BARS
    assert texts[-1] == "label 49"
    figure = plot_shapes({f"c{place}": replace(CURVE, name=f"c{place}") for place in range(MOST_PANELS + 3)})
    assert len(figure.axes) == MOST_PANELS


def test_several_classes_have_a_curve_each_with_a_name() -> None:
    both = np.hstack([CURVE.effects, -CURVE.effects])
    shape = replace(CURVE, effects=both, errors=0.1 + 0 * both, outputs=("cat", "dog"))
    legend: Any = plot_shape(shape).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["cat", "dog"]


def test_a_shape_whose_errors_are_not_known_has_no_band() -> None:
    ax = plot_shape(replace(CURVE, errors=np.full((4, 1), np.inf), points=CURVE.points))
    assert not [
        part for part in ax.collections if type(part).__name__ in {"PolyCollection", "FillBetweenPolyCollection"}
    ]
    assert np.isfinite(ax.get_ylim()).all()
    assert not plot_shape(replace(BARS, errors=np.full((2, 1), np.inf))).collections


def test_importances_are_bars_in_falling_order() -> None:
    ax = plot_importances({"low": 0.1, "high": 0.9})
    assert [label.get_text() for label in ax.get_yticklabels()] == ["high", "low"]
    assert [bar.get_width() for bar in ax.patches] == [0.9, 0.1]
