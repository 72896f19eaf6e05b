"""Figures of studies: one colour for an oracle, a band everywhere or nowhere, and a caption beside each file."""

import numpy as np
import pytest

from bruit_studies import StudyResults, all_studies, deciles, drawing, find
from bruit_studies import _attack_parts as parts
from bruit_studies.cli import study as command
from bruit_studies.several_attributes import trials as several

figures = pytest.importorskip("bruit.figures")
style = figures.style


def _curve(counts):
    rows = [(x, x + 0.1 * run) for x, count in enumerate(counts, start=1) for run in range(count)]
    return StudyResults("toy", {"x": [x for x, _ in rows], "y": [y for _, y in rows]}).curve("y", "x")


@pytest.mark.parametrize(("counts", "bands"), [((3, 3, 3), 1), ((3, 1, 3), 0), ((1, 1, 1), 0)])
def test_a_band_is_drawn_at_every_place_or_at_none(counts, bands):
    ax = drawing.axes("title", x="x", y="y")
    drawing.curve(ax, _curve(counts), "name", 0)
    assert len(ax.collections) == bands


def test_rates_of_single_runs_have_a_band_and_it_is_wider_than_that_of_many():
    rows = [{"epsilon": 1.0, "rate": 20 + 0.3 * z, "n": 10_000} for z in np.linspace(-1.5, 1.5, 20)]
    rows.append({"epsilon": 2.0, "rate": 21.0, "n": 10_000})
    curve = parts.curve(StudyResults("toy", {name: [row[name] for row in rows] for name in rows[0]}))
    widths = curve.high - curve.low
    assert np.isfinite(widths).all()
    assert 3.5 < widths[1] / widths[0] < 5.5  # √20


def test_an_oracle_has_one_colour_whatever_the_way_of_asking():
    colours = {}
    for method in (*several.METHODS, "RS+FD[SUE-r]", "RS+FD[OUE-r]", "SMP[OUE]", "GRR", "OUE"):
        oracle = method.rpartition("[")[2].removesuffix("]").partition("-")[0]
        colours.setdefault(oracle, set()).add(drawing.look_of(method)["color"])
    assert all(len(own) == 1 for own in colours.values())
    assert len({*style.ORACLES.values()}) == len(style.ORACLES)


def test_methods_of_one_oracle_are_told_apart_without_colour():
    looks = [drawing.look_of(method) for method in several.METHODS]
    assert len({(look["color"], look["marker"], str(look["linestyle"])) for look in looks}) == len(looks)


def test_the_variance_of_oracles_is_drawn_in_their_colours():
    ax = figures.plot_variance(k=16, n=1000, epsilons=[0.5, 1.0])
    for line in ax.get_lines():
        assert line.get_color() == style.ORACLES[line.get_label()]


def test_both_bounds_of_the_theorem_on_deciles_are_cut_alike():
    rows = [{"part": "theorem", "steps": deciles.EDGES, "decile": 5, "n": n, "success": 1.0, "printed": low,
             "corrected": low} for n, low in zip(deciles.SIZES, (-3.0, -1.0, -0.5, 0.5, 0.9), strict=True)]  # fmt: skip
    results = StudyResults("deciles", {name: [row[name] for row in rows] for name in rows[0]})
    (plot,) = [plot for plot in find("deciles").plots if plot.name == "theorem"]
    lines = {line.get_label(): list(line.get_ydata()) for line in plot.figure(results).axes[0].get_lines()}
    assert lines["printed bound"] == lines["corrected bound"] == [0, 0, 0, 0.5, 0.9]


def test_a_caption_says_what_is_shown_in_words_and_how_it_was_made(tmp_path):
    study = find("attack")
    (plot,) = [plot for plot in study.plots if plot.name == "who"]
    place = {"epsilon": 1.0, "found": 20.0, "told": 500, "n": 10_336}
    rows = [
        {"part": part, "method": method, "attribute": name, **place}
        for part in ("who", "rate")
        for method in ("RS+FD[GRR]", "RS+FD[SUE-z]")
        for name in ("SEX", "RAC1P")
    ]
    results = StudyResults("attack", {name: [row[name] for row in rows] for name in rows[0]}, "quick", 0, 8)
    command._write_figures([study], {"attack": results}, tmp_path, (".png",))
    for picture in tmp_path.glob("*.png"):
        words = picture.with_suffix(".txt").read_text(encoding="utf-8")
        assert "attack: 8 trials, quick size, seed 0. Recorded before: XGBoost" in words
    words = (tmp_path / "attack-who.txt").read_text(encoding="utf-8")
    assert plot.caption.split(":")[0] in words
    assert "For each of the 18 attributes" in words


def test_every_plot_has_a_caption_that_ends_as_a_sentence():
    assert [plot.name for study in all_studies() for plot in study.plots if not plot.caption.endswith(".")] == []
