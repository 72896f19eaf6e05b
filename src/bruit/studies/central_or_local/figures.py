"""Figures and table of the study `central-or-local`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bruit.studies.results import Curve, Results
from bruit.tables import Table

#: Marks of ε on the axes.
TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
#: Metrics of a trial, and their names on figures.
BAYES = {"dp_gnb": "DP, bruit", "vaidya": "DP, Vaidya", "stair_gnb": "staircase first"}
LINES = {"dp_lr": "DP, bruit", "functional": "DP, functional", "stair_lr": "staircase first"}


def _percent(results: Results, metric: str) -> Curve:
    curve = results.where(part="pima").curve(metric, "epsilon")
    return replace(curve, mean=curve.mean * 100, sd=curve.sd * 100, low=curve.low * 100, high=curve.high * 100)


def _draw_accuracy(results: Results, title: str, ways: dict[str, str], clean: str) -> Any:
    from bruit.figures import style
    from bruit.studies import drawing

    ax = drawing.axes(title, x="global ε (log scale)", y="accuracy (%)", log="x", width=6.2, height=4.2)
    notes = []
    for place, (metric, name) in enumerate(ways.items()):
        curve = _percent(results, metric)
        drawing.curve(ax, curve, name, place, dashes=drawing.DASHES[place])
        notes.append(f"{name} {curve.mean[0]:.0f} % at ε = {curve.x[0]:g}, {curve.mean[-1]:.0f} % at {curve.x[-1]:g}")
    rows = results.where(part="pima")
    levels = {"without privacy": rows.mean(clean) * 100, "majority class": rows.mean("majority") * 100, "coin": 50.0}
    for name, level in levels.items():
        drawing.reference(ax, level, "")
        # Where no curve passes: the first level on the left, the majority class under its line, the coin above its own.
        x, side = (0.02, "left") if name == "without privacy" else (0.99, "right")
        ax.annotate(name, (x, level), xycoords=("axes fraction", "data"), xytext=(0, -11 if "class" in name else 3),
                    textcoords="offset points", ha=side, color=style.MUTED, fontsize=style.TEXT - 1)  # fmt: skip
    ax.set_ylim(47, 81)
    drawing.ticks(ax, TICKS)
    drawing.name_lines(ax)
    shown = ", ".join(f"{name} {level:.0f} %" for name, level in levels.items())
    return drawing.describe(ax, f"Accuracy on Pima against the global ε. {'; '.join(notes)}. Levels: {shown}.")


def draw_bayes(results: Results) -> Any:
    """Accuracy of naive Bayes against ε."""
    return _draw_accuracy(results, "Naive Bayes on Pima", BAYES, "gnb")


def draw_lines(results: Results) -> Any:
    """Accuracy of linear regression against ε."""
    return _draw_accuracy(results, "Linear regression on Pima", LINES, "lr")


def draw_dispersion(results: Results) -> Any:
    """The deviation of a run of linear regression against ε."""
    from bruit.studies import drawing

    ax = drawing.axes("How much a run varies", x="global ε (log scale)", y="sd of a run's accuracy (points)", log="x",
                      width=6.2)  # fmt: skip
    notes = []
    for place, (metric, name) in enumerate(({**LINES, "lr": "no privacy"}).items()):
        curve = _percent(results, metric)
        drawing.line(ax, curve.x, curve.sd, name, place, dashes=drawing.DASHES[place % 3], mark=drawing.MARKS[place])
        notes.append(f"{name} {curve.sd[0]:.1f} points at ε = {curve.x[0]:g}, {curve.sd[-1]:.1f} at {curve.x[-1]:g}")
    ax.set_ylim(bottom=0)
    drawing.ticks(ax, TICKS)
    drawing.name_lines(ax)
    return drawing.describe(ax, f"Standard deviation of one run's accuracy against ε. {'; '.join(notes)}.")


def draw_iris(results: Results) -> Any:
    """k-means against ε."""
    from bruit.studies import drawing

    rows = results.where(part="iris")
    ax = drawing.axes("Three clusters of Iris", x="ε (log scale)", y="squared distances / best (log)", log="xy",
                      width=6.2)  # fmt: skip
    notes = []
    for place, (metric, name) in enumerate((("joint", "bruit"), ("lloyd", "as printed"))):
        curve = rows.curve(metric, "epsilon")
        drawing.curve(ax, curve, name, place, dashes=drawing.DASHES[place])
        notes.append(f"{name} {curve.mean[0]:.1f} at ε = {curve.x[0]:g}, {curve.mean[-1]:.2f} at {curve.x[-1]:g}")
    drawing.reference(ax, rows.mean("alone"), "one centre for all")
    drawing.reference(ax, 1.0, "")
    drawing.ticks(ax, TICKS)
    drawing.ticks(ax, (1, 2, 5, 10, 20), axis="y")
    drawing.name_lines(ax)
    return drawing.describe(ax, f"Sum of squared distances over that of ordinary k-means, against ε, log scales. "
                            f"{'; '.join(notes)}; one centre for all {rows.mean('alone'):.1f}.")  # fmt: skip


def table(results: Results) -> Table:
    """Accuracy of every model on Pima."""
    lines = []
    rows = results.where(part="pima")
    for epsilon, part in sorted(rows.by("epsilon"), key=lambda item: item[0]):
        summaries = [part.summary(metric) for metric in (*BAYES, *LINES)]
        lines.append((f"{epsilon:g}", *(f"{score.mean * 100:.1f} ± {score.sd * 100:.1f}" for score in summaries)))
    clean = [rows.summary(metric) for metric in ("gnb", "lr")]
    cells = [f"{score.mean * 100:.1f} ± {score.sd * 100:.1f}" for score in clean]
    lines.append(("no privacy", *[cells[0]] * len(BAYES), *[cells[1]] * len(LINES)))
    head = ("global ε", *(f"NB, {name}" for name in BAYES.values()), *(f"LR, {name}" for name in LINES.values()))
    return Table.of("Accuracy on Pima in percent, ± dispersion of a run", head, lines)
