"""The figure of the leak: the line is the formula, the points are exact laws, and words stand for the picture."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.errors import ParameterError
from bruit.figures import style
from bruit.figures.leak import MARKS, plot_leak


def test_the_points_lie_on_the_line_and_above_the_diagonal() -> None:
    ax = plot_leak()
    line, points, diagonal = ax.get_lines()
    assert np.asarray(points.get_xdata(), float).tolist() == list(MARKS)
    near = np.interp(MARKS, np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float))
    assert np.allclose(np.asarray(points.get_ydata(), float), near, atol=0.003)
    assert (near > np.array(MARKS) * 1.1).all()
    assert np.array_equal(diagonal.get_xdata(), diagonal.get_ydata())


def test_words_stand_for_the_picture() -> None:
    ax = plot_leak(epsilons=[0.5, 1.0])
    assert "the true one is 1.332" in style.description(style.whole(ax))


def test_it_draws_on_axes_that_are_given_and_refuses_what_is_no_epsilon() -> None:
    ax = style.new_axes(3.0)
    assert plot_leak(epsilons=[1.0, 2.0], ax=ax) is ax
    with pytest.raises(ParameterError):
        plot_leak(epsilons=[-1.0, 2.0])
