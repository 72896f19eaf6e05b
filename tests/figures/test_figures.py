"""Figures: what they show, that it can be read, and that the same figure gives the same files."""

from __future__ import annotations

import dataclasses
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from bruit import Guarantee
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation import Estimate
from bruit.figures import plot_beliefs, plot_estimate, save, style
from bruit.oracles import RandomizedResponse

WORDS = ("rare", "frequent", "middling")
SHARES = (0.1, 0.6, 0.3)
LONG = "an extremely long answer with-hyphens and more words than anybody should ever write on an axis"


def survey(labels: tuple[Any, ...], shares: Any, epsilon: float = 1.0, n: int = 20_000) -> Estimate:
    oracle = RandomizedResponse(epsilon=epsilon, labels=labels)
    counts = (np.asarray(shares) * n).astype(int)
    return oracle.estimate(oracle.tally(oracle.privatize(np.repeat(np.array(labels, object), counts), rng=11)))


@pytest.fixture(scope="module")
def answer() -> Estimate:
    return survey(WORDS, SHARES)


def guarantees(*epsilons: float) -> list[Guarantee]:
    return [Guarantee(epsilon=epsilon, neighbours="value") for epsilon in epsilons]


def row_names(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def points(ax: Axes, marker: str) -> np.ndarray[Any, Any]:
    (line,) = [line for line in ax.get_lines() if line.get_marker() == marker]
    return np.asarray(line.get_xdata(), float)


def visible_texts(figure: Figure) -> list[Text]:
    FigureCanvasAgg(figure).draw()
    # matplotlib keeps labels of ticks beyond the ends of an axis, and does not draw them.
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    ticks = [(tick, sorted(axis.get_view_interval())) for axis in axes for tick in axis.get_major_ticks()]
    beyond = [tick.label1 for tick, (low, high) in ticks if not low <= tick.get_loc() <= high]
    found = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    return [text for text in found if text not in beyond]


def assert_every_text_is_inside_and_apart(figure: Figure) -> None:
    texts = visible_texts(figure)
    boxes = [text.get_window_extent() for text in texts]
    for text, box in zip(texts, boxes, strict=True):
        edges = box.extents - np.array(figure.bbox.extents)
        assert (edges[:2] > -0.5).all(), text.get_text()
        assert (edges[2:] < 0.5).all(), text.get_text()
    for (first, a), (second, b) in itertools.combinations(zip(texts, boxes, strict=True), 2):
        assert not a.overlaps(b), (first.get_text(), second.get_text())


def test_texts_are_sorted_by_frequency_with_dots_and_diamonds_at_estimate_and_truth(answer: Estimate) -> None:
    ax = plot_estimate(answer, SHARES)
    assert row_names(ax) == ["frequent", "middling", "rare"]
    np.testing.assert_allclose(points(ax, "o"), 100 * answer.frequency[[1, 2, 0]])
    np.testing.assert_allclose(points(ax, "D"), [60, 30, 10])


def test_intervals_are_those_of_the_estimate_at_the_asked_level(answer: Estimate) -> None:
    ax = plot_estimate(answer, level=0.8)
    drawn = [segment[:, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(drawn, 100 * answer.interval(0.8)[[1, 2, 0]])
    assert "80 % interval" in ax.get_legend().get_texts()[0].get_text()


def test_the_first_row_stands_on_top(answer: Estimate) -> None:
    bottom, top = plot_estimate(answer).get_ylim()
    assert top < 0 < bottom


def test_numbers_stay_in_the_declared_order_and_texts_do_if_asked(answer: Estimate) -> None:
    assert row_names(plot_estimate(survey((1, 2, 3), SHARES))) == ["1", "2", "3"]
    assert row_names(plot_estimate(answer, order="declared")) == list(WORDS)


def test_title_and_axis_say_mechanism_epsilon_n_and_unit(answer: Estimate) -> None:
    ax = plot_estimate(answer)
    assert ax.get_title(loc="left") == "GRR · ε = 1 · n = 20,000"
    assert ax.get_xlabel() == "share of people (%)"


def test_a_simulated_survey_says_so() -> None:
    oracle = RandomizedResponse(epsilon=1.0, k=2)
    answer = oracle.estimate(oracle.simulate([500, 500], rng=1))
    assert "simulated" in plot_estimate(answer).get_title(loc="left")


def test_of_many_values_the_most_frequent_thirty_are_shown_with_a_note() -> None:
    shares = np.full(45, 0.5 / 44)
    shares[44] = 0.5
    answer = survey(tuple(range(45)), shares, epsilon=4.0)
    ax = plot_estimate(answer, order="frequency")
    assert len(row_names(ax)) == 30
    assert row_names(ax)[0] == "44"
    assert "30 most frequent of 45" in ax.get_title(loc="left")


@pytest.mark.parametrize("truth", [SHARES, dict(zip(reversed(WORDS), reversed(SHARES), strict=True)), np.array(SHARES)])
def test_truth_may_be_a_list_an_array_or_a_mapping(answer: Estimate, truth: Any) -> None:
    np.testing.assert_allclose(points(plot_estimate(answer, truth), "D"), [60, 30, 10])


@pytest.mark.parametrize("truth", [[0.5, 0.5], [1, 2, 3], [0.1, 0.2, float("nan")], {"rare": 0.1}])
def test_truth_of_another_shape_is_refused(answer: Estimate, truth: Any) -> None:
    with pytest.raises(ParameterError, match="3 shares from 0 to 1"):
        plot_estimate(answer, truth)


def test_truth_that_is_no_number_is_refused_without_showing_it(answer: Estimate) -> None:
    with pytest.raises(ParameterTypeError) as caught:
        plot_estimate(answer, ["secret", 0.1, 0.2])
    assert "secret" not in str(caught.value)


def test_an_unknown_order_is_refused(answer: Estimate) -> None:
    with pytest.raises(ParameterError, match="order must be one of"):
        plot_estimate(answer, order="random")  # type: ignore[arg-type]


def test_given_axes_are_drawn_on_and_returned(answer: Estimate) -> None:
    ax = Figure().add_subplot()
    assert plot_estimate(answer, ax=ax) is ax
    assert plot_beliefs(guarantees(1.0), ax=Figure().add_subplot()).lines


def test_plot_of_an_estimate_is_a_picture_in_a_notebook(answer: Estimate) -> None:
    ax = answer.plot(truth=SHARES)
    assert isinstance(ax, Axes)
    image, metadata = ax._repr_png_()
    assert image.startswith(b"\x89PNG")
    assert "truth 60.0" in metadata["alt"]


@pytest.mark.parametrize(
    "labels",
    [
        WORDS,
        (LONG, LONG + "!", LONG + "?"),
        ("очень доволен", "ευχαριστημένος", "mécontent·e"),
        ("$5 to $10", "$", "a_b^c"),
    ],
    ids=["short", "long", "other alphabets", "dollars"],
)
def test_no_text_is_cut_off_or_covers_another(labels: tuple[str, ...]) -> None:
    answer = survey(labels, SHARES)
    named = dataclasses.replace(answer, simulated=True, name="how content are you with your pay? " * 2)
    for each in (answer, named):
        assert_every_text_is_inside_and_apart(style.whole(plot_estimate(each, SHARES)))


@pytest.mark.parametrize("epsilons", [(1.0,), (0.5, 1.0, 2.0, 4.0), (0.1, 1.0, 3.0, 8.0, 12.0)])
def test_the_labels_of_curves_are_apart(epsilons: tuple[float, ...]) -> None:
    assert_every_text_is_inside_and_apart(style.whole(plot_beliefs(guarantees(*epsilons))))


def test_text_is_never_smaller_than_ten_points(answer: Estimate) -> None:
    for ax in (plot_estimate(answer, SHARES), plot_beliefs(guarantees(1.0, 2.0))):
        assert min(text.get_fontsize() for text in visible_texts(style.whole(ax))) >= 10


def test_a_curve_is_the_greatest_belief_of_its_guarantee() -> None:
    given = guarantees(2.0, 0.5)
    curves = plot_beliefs(given).get_lines()
    for line, guarantee in zip(curves, sorted(given, key=lambda item: item.epsilon), strict=False):
        for before, after in zip(*line.get_data(), strict=True):
            assert after == pytest.approx(100 * guarantee.belief(before / 100)[1], abs=1e-6)


def test_beliefs_refuse_what_cannot_be_compared() -> None:
    with pytest.raises(ParameterError, match="same neighbours"):
        plot_beliefs([*guarantees(1.0), Guarantee(epsilon=1.0, neighbours="person")])
    with pytest.raises(ParameterError, match="delta = 0"):
        plot_beliefs(Guarantee(epsilon=1.0, delta=1e-6, neighbours="replace"))
    with pytest.raises(ParameterError, match="1 to 6"):
        plot_beliefs([])
    with pytest.raises(ParameterTypeError, match="Guarantee"):
        plot_beliefs([1.0])  # type: ignore[list-item]


def test_settings_of_matplotlib_are_as_before(answer: Estimate, tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    save(plot_estimate(answer, SHARES), tmp_path / "a")
    save(plot_beliefs(guarantees(1.0)), tmp_path / "b")
    assert dict(mpl.rcParams) == before


def test_the_same_figure_gives_the_same_bytes(answer: Estimate, tmp_path: Path) -> None:
    for name in ("first", "second"):
        save(plot_estimate(answer, SHARES), tmp_path / name)
    for ending in (".svg", ".png"):
        assert (tmp_path / f"first{ending}").read_bytes() == (tmp_path / f"second{ending}").read_bytes()


def test_saved_files_carry_the_alternative_text_and_no_date(answer: Estimate, tmp_path: Path) -> None:
    alt = save(plot_estimate(answer, SHARES), tmp_path / "answer.png")
    root = ElementTree.parse(tmp_path / "answer.svg").getroot()
    assert root.findtext("{http://www.w3.org/2000/svg}title") == alt
    assert f"frequent {100 * answer.frequency[1]:.1f} %" in alt
    assert "date" not in (tmp_path / "answer.svg").read_text(encoding="utf-8").lower()
    assert b"Software" not in (tmp_path / "answer.png").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answer.png", "answer.svg"]


def test_one_of_the_two_files_can_be_asked_for(answer: Estimate, tmp_path: Path) -> None:
    save(plot_estimate(answer), tmp_path / "answer.svg", endings=[".svg"])
    assert [file.name for file in tmp_path.iterdir()] == ["answer.svg"]
    with pytest.raises(ParameterError, match="ending must be one of"):
        save(plot_estimate(answer), tmp_path / "answer", endings=[".gif"])


def test_a_name_with_a_dot_keeps_it(answer: Estimate, tmp_path: Path) -> None:
    save(style.whole(plot_estimate(answer)), tmp_path / "v1.2")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["v1.2.png", "v1.2.svg"]


def test_svg_keeps_labels_as_text_and_is_well_formed_whatever_they_hold() -> None:
    labels = ("<b>&\"'", "tab\tnul\x00", "مرحبا")
    text = style.svg(style.whole(plot_estimate(survey(labels, SHARES))))
    words = {element.text for element in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")}
    assert {"<b>&\"'", r"tab\tnul\x00", "مرحبا"} <= words


def test_a_character_that_no_font_has_is_warned_about_once_and_kept_in_svg(tmp_path: Path) -> None:
    hieroglyph = "\U00013000"
    if not style.fonts_for(hieroglyph)[1]:
        pytest.skip("this machine has a font even for hieroglyphs")
    ax = plot_estimate(survey(("plain", hieroglyph), (0.5, 0.5)))
    with pytest.warns(UserWarning, match="No installed font") as caught:
        save(ax, tmp_path / "odd")
    assert len(caught) == 1
    assert hieroglyph in (tmp_path / "odd.svg").read_text(encoding="utf-8")


def test_drawing_does_not_load_pyplot() -> None:
    code = (
        "import sys, bruit; from bruit.figures import plot_beliefs, style;"
        "style.png(style.whole(plot_beliefs(bruit.Guarantee(epsilon=1.0, neighbours='value'))));"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, timeout=120).returncode == 0


def test_rows_whose_labels_differ_in_the_middle_have_different_names() -> None:
    labels = [f"{'a' * 100}{i}{'b' * 100}" for i in range(4)]
    ax = plot_estimate(survey(tuple(labels), (0.4, 0.3, 0.2, 0.1)))
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(set(names)) == 4
    assert max(len(line) for name in names for line in name.split("\n")) <= 24
