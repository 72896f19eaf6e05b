"""Figures and table of numeric cleaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.studies.numeric_cleaning.trials import LAPLACE, MECHANISMS, PRINTED, RUN, STAIRCASE, majority, mechanism_of
from bruit.studies.results import Results
from bruit.tables import Table

TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


def draw_printed(results: Results) -> Any:
    """Accuracy against ε as the slide measures it."""
    from bruit.studies import drawing

    ax = drawing.axes("As printed: labels of the test are noisy too", x="nominal ε for each attribute (log scale)",
                      y="accuracy (%)", log="x", width=6.4)  # fmt: skip
    rows, notes = results.where(protocol="printed"), []
    for place, mechanism in enumerate((LAPLACE, PRINTED)):
        curve = _percent(rows.where(mechanism=mechanism))
        drawing.curve(ax, curve, "staircase" if place else "laplace", place)
        notes.append(f"{mechanism} {curve.mean[0]:.0f} % at 0.01, {curve.mean[-1]:.0f} % at 10")
    ax.plot(1, RUN["accuracy"] * 100, "*", color="#1f2328", markersize=11)
    ax.annotate("printed run", (1, RUN["accuracy"] * 100), xytext=(-6, 7), textcoords="offset points", ha="right")
    _finish(ax, results.where(protocol="clean").mean("accuracy") * 100)
    return drawing.describe(
        ax,
        f"Accuracy of naive Bayes on randomised test labels against ε: {'; '.join(notes)}; without noise 79 %. The "
        "printed run, 60 % with Laplace at ε = 1, lies near its curve.",
    )


def draw_honest(results: Results) -> Any:
    """Accuracy against the true ε, on true test labels."""
    from bruit.studies import drawing

    ax = drawing.axes("At equal true ε, on true test labels", x="ε for each attribute (log scale)",
                      y="accuracy (%)", log="x", width=6.4)  # fmt: skip
    rows, notes = results.where(protocol="honest"), []
    for place, mechanism in enumerate(name for name in MECHANISMS if name != PRINTED):
        curve = _percent(rows.where(mechanism=mechanism))
        drawing.curve(ax, curve, mechanism, place, dashes=drawing.DASHES[place // 2])
        notes.append(f"{mechanism} {curve.mean[0]:.0f} % at 0.01, {curve.mean[-1]:.0f} % at 10")
    drawing.reference(ax, majority() * 100, "")
    _note(ax, majority() * 100, "majority class")
    _finish(ax, results.where(protocol="clean anew").mean("accuracy") * 100)
    return drawing.describe(
        ax, f"Accuracy on true labels against ε: {'; '.join(notes)}; majority class {majority() * 100:.0f} %."
    )


def draw_gain(results: Results) -> Any:
    """What the staircase gains over bounded Laplace."""
    from bruit.studies import drawing

    ax = drawing.axes("Gain over bounded Laplace", x="ε for each attribute (log scale)",
                      y="gain in accuracy (points)", log="x", width=6.4)  # fmt: skip
    rows, notes = results.where(protocol="honest"), []
    names = {PRINTED: "as printed", STAIRCASE: "equal true ε", "staircase clamped": "clamped"}
    for place, (mechanism, name) in enumerate(names.items(), start=1):
        kept = rows.where(mechanism=mechanism)
        gain = (kept["accuracy"] - rows.where(mechanism=LAPLACE)["accuracy"]) * 100
        curve = Results(rows.study, {"epsilon": kept["epsilon"], "gain": gain}).curve("gain", "epsilon")
        drawing.curve(ax, curve, name, place, dashes=drawing.DASHES[place - 1])
        notes.append(f"{name} {curve.mean.max():.1f} at most")
    drawing.reference(ax, 0.0, "")
    drawing.ticks(ax, TICKS)
    drawing.name_lines(ax)
    return drawing.describe(ax, f"Points of accuracy that the staircase gains over Laplace, by ε: {'; '.join(notes)}.")


def draw_leak(_: Results) -> Any:
    """True over nominal ε of the resampled staircase."""
    from bruit.numbers.staircase_noise import resampled_epsilon
    from bruit.studies import drawing

    ax = drawing.axes("What drawing again really costs", x="nominal ε (log scale)", y="true ε / nominal ε", log="x",
                      width=6.4)  # fmt: skip
    x = np.geomspace(0.01, 10, 61)
    both = [
        np.array([resampled_epsilon(epsilon, error) / epsilon for epsilon in x]) for error in ("absolute", "squared")
    ]
    drawing.line(ax, x, both[1], "γ of the slide", 1, dashes=drawing.DASHES[1])
    drawing.line(ax, x, both[0], "diffprivlib's γ", 2)
    drawing.line(ax, x, np.ones_like(x), "laplace", 0)
    drawing.ticks(ax, TICKS)
    drawing.name_lines(ax)
    return drawing.describe(
        ax,
        f"True over nominal ε of staircase noise that is drawn again until inside: {both[0][0]:.2f} at ε = 0.01, "
        f"{both[0][40]:.2f} at 1 and {both[0][-1]:.2f} at 10 with diffprivlib's γ; Laplace has 1 everywhere.",
    )


def _percent(rows: Results) -> Any:
    """Accuracy over ε, in percent."""
    scaled = Results(rows.study, {"epsilon": rows["epsilon"], "score": rows["accuracy"] * 100})
    return scaled.curve("score", "epsilon")


def _note(ax: Any, y: float, text: str) -> None:
    """The name of a level, below its left end, where no curve is."""
    from bruit.figures import style

    ax.annotate(text, (0.0105, y), xytext=(0, -3), textcoords="offset points", va="top", color=style.MUTED)


def _finish(ax: Any, clean: float) -> None:
    from bruit.studies import drawing

    drawing.reference(ax, clean, "")
    _note(ax, clean, "without noise")
    drawing.ticks(ax, TICKS)
    drawing.name_lines(ax)


def table(results: Results) -> Table:
    """Accuracy of every mechanism on true test labels."""
    rows = results.where(protocol="honest")
    lines = []
    for epsilon, part in rows.by("epsilon"):
        summaries = [part.where(mechanism=mechanism).summary("accuracy") for mechanism in MECHANISMS]
        true = mechanism_of(PRINTED, epsilon).guarantee.epsilon
        cells = [f"{score.mean * 100:.1f} ± {score.sd * 100:.1f}" for score in summaries]
        lines.append((f"{epsilon:g}", f"{true:.3g}", *cells))
    head = ("ε", "true ε, as printed", *MECHANISMS)
    return Table.of("Accuracy on true test labels in percent, ± dispersion of a run; a person has 9ε", head, lines)
