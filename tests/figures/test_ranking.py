"""The picture of what choose and compare rank: the order, the lengths, and that every word can be read."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import bruit
from bruit.collection import compare
from bruit.figures import plot_ranking, style
from bruit.oracles.choosing import Ranking

QUESTIONS = {"sex": ["F", "M"], "smokes": ["no", "yes"], "degree": ["none", "school", "college"]}
RANKINGS = {
    "choose": lambda: bruit.choose(k=50, epsilon=1.0),
    "choose by all values": lambda: bruit.choose(k=1000, epsilon=1.0, criterion="total"),
    "choose for rounds": lambda: bruit.choose(k=8, epsilon=1.0, epoch_epsilon=2.0, rounds=5),
    "compare": lambda: compare(QUESTIONS, epsilon=1.0),
    "compare with the published": lambda: compare(QUESTIONS, epsilon=1.0, published=True),
}


@pytest.fixture(scope="module", params=RANKINGS)
def ranking(request: pytest.FixtureRequest) -> Ranking[object]:
    return RANKINGS[request.param]()


def test_dots_stand_at_the_half_widths_of_the_table_in_its_order(ranking: Ranking[object]) -> None:
    ax = ranking.plot()
    data = ranking.table().data()
    (dots,) = [line for line in ax.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(dots.get_xdata(), 100 * np.array(data["half_width"]))
    names = [label.get_text().removesuffix(" ✗") for label in ax.get_yticklabels()]
    assert names == list(data[next(iter(data))])
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the best stands on top"


def overlapping(ax: Axes) -> list[str]:
    """Texts of a figure that leave it or that lie on each other."""
    figure = style.whole(ax)
    FigureCanvasAgg(figure).draw()
    low, high = ax.get_xlim()
    beyond = [tick.label1 for tick in ax.xaxis.get_major_ticks() if not low <= tick.get_loc() <= high]
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible() and text not in beyond]
    boxes = [text.get_window_extent() for text in texts]
    outside = [
        text.get_text()
        for text, box in zip(texts, boxes, strict=True)
        if min(box.x0, box.y0) < -0.5 or box.x1 > figure.bbox.x1 + 0.5 or box.y1 > figure.bbox.y1 + 0.5
    ]
    return outside + [texts[i].get_text() for i in range(len(texts)) for j in range(i) if boxes[i].overlaps(boxes[j])]


def test_every_text_is_inside_the_figure_and_apart_from_the_others(ranking: Ranking[object]) -> None:
    assert overlapping(ranking.plot()) == []


def test_a_title_that_is_too_long_is_found_out() -> None:
    ax = RANKINGS["choose"]().plot()
    ax.set_title("a title that is too long " * 5, loc="left")
    assert overlapping(ax) != []


def test_the_words_for_the_picture_name_the_best_and_what_is_left_out(ranking: Ranking[object]) -> None:
    words = style.description(style.whole(ranking.plot()))
    assert ranking.table().title in words
    assert ("more." in words) == (len(ranking) > 10)


def test_axes_of_the_caller_are_drawn_on() -> None:
    ax = style.new_axes(3.0)
    assert plot_ranking(RANKINGS["choose"](), ax=ax) is ax


def test_without_matplotlib_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import bruit\n"
        "try:\n    bruit.choose(k=4, epsilon=1.0).plot()\n"
        "except bruit.errors.MissingExtraError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert "pip install 'bruit[figures]'" in run.stdout, run.stderr
