"""Figures and table of numeric cleaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.tables import Table
from bruit_studies import Curve, StudyResults, drawing
from bruit_studies.numeric_cleaning.laws import printed_gamma
from bruit_studies.numeric_cleaning.trials import LAPLACE, MECHANISMS, PRINTED, RUN, STAIRCASE, majority, mechanism_of

TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


def _axes(title: str, *, x: str = "ε for each attribute (log scale)", y: str = "accuracy (%)") -> Any:
    return drawing.axes(title, x=x, y=y, log="x", width=6.4)


def _percent(rows: StudyResults, mechanism: str) -> Curve:
    return rows.where(mechanism=mechanism).curve("accuracy", "epsilon").times(100)


def printed(results: StudyResults) -> Any:
    """Accuracy against ε as the slide measures it."""
    from bruit.figures import style

    ax = _axes("As printed, n = 768: test labels are noisy too", x="nominal ε for each attribute (log scale)")
    rows = results.where(protocol="printed")
    curves = {"laplace": _percent(rows, LAPLACE), "staircase": _percent(rows, PRINTED)}
    drawing.curves(ax, curves, dashes="-")
    ax.plot(1, RUN["accuracy"] * 100, "*", color=style.INK, markersize=11)
    ax.annotate("printed run", (1, RUN["accuracy"] * 100), xytext=(-6, 7), textcoords="offset points", ha="right")
    _levels(ax, results)
    notes = "; ".join(f"{name} {curve.ends('.0f', ' %')}" for name, curve in curves.items())
    text = f"Accuracy of naive Bayes on randomised test labels against ε: {notes}; without noise 79 %. The printed run,"
    return drawing.finish(ax, f"{text} 60 % with Laplace at ε = 1, lies near its curve.", x=TICKS)


def _levels(ax: Any, results: StudyResults) -> None:
    """What is had without noise, and by tossing a coin."""
    clean = results.where(protocol="clean").mean("accuracy") * 100
    drawing.reference(ax, clean, "without noise", left=True, below=True)
    drawing.reference(ax, 50.0, "coin")


def spread(results: StudyResults) -> Any:
    """Accuracy against ε with its standard deviation, as the slide shows it."""
    ax = _axes("As printed, n = 768: mean and deviation of a run", x="nominal ε for each attribute (log scale)")
    rows = results.where(protocol="printed")
    curves = {"laplace": _percent(rows, LAPLACE), "staircase": _percent(rows, PRINTED)}
    drawing.spreads(ax, curves)
    _levels(ax, results)
    notes = "; ".join(f"{name} {curve.ends('.0f', ' %')}, deviation {curve.sd[0]:.1f} and {curve.sd[-1]:.1f} points"
                      for name, curve in curves.items())  # fmt: skip
    return drawing.finish(ax, f"Mean accuracy with a band of one standard deviation: {notes}.", x=TICKS)


def density(_: StudyResults) -> Any:
    """The density of staircase noise, with the slide's γ and α and the mended exponent, beside Laplace noise."""
    epsilon = 1.0
    gamma, b = printed_gamma(epsilon), float(np.exp(-epsilon))
    alpha = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    z = np.linspace(-3, 3, 1201)
    steps = np.where(np.abs(z) < gamma, 0, np.floor(np.abs(z) - gamma) + 1)
    ax = drawing.axes("Staircase noise, ε = 1", x="noise in units of Δ", y="density × Δ", width=6.4, height=3.4)
    drawing.line(ax, z, epsilon / 2 * np.exp(-epsilon * np.abs(z)), "Laplace", 0, dashes=drawing.DASHES[1])
    drawing.line(ax, z, alpha * b**steps, "staircase", 1)
    ax.set_ylim(0)
    text = (
        f"Density of staircase noise for ε = 1: {alpha:.3f} within γ = {gamma:.3f} of 0, then e times less with every"
    )
    return drawing.finish(ax, f"{text} step of width Δ; Laplace noise for comparison.", x=(-3, -2, -1, 0, 1, 2, 3))


def honest(results: StudyResults) -> Any:
    """Accuracy against the true ε, on true test labels."""
    ax = _axes("At equal true ε, on true test labels, n = 768")
    rows, notes = results.where(protocol="honest"), []
    for place, mechanism in enumerate(name for name in MECHANISMS if name != PRINTED):
        curve = _percent(rows, mechanism)
        drawing.curve(ax, curve, mechanism, place, dashes=drawing.DASHES[place // 2])
        notes.append(f"{mechanism} {curve.ends('.0f', ' %')}")
    drawing.reference(ax, majority() * 100, "majority class", left=True, below=True)
    clean = results.where(protocol="clean anew").mean("accuracy") * 100
    drawing.reference(ax, clean, "without noise", left=True, below=True)
    text = f"Accuracy on true labels against ε: {'; '.join(notes)}; majority class {majority() * 100:.0f} %."
    return drawing.finish(ax, text, x=TICKS)


def gain(results: StudyResults) -> Any:
    """What the staircase gains over bounded Laplace."""
    ax = _axes("Gain over bounded Laplace, n = 768", y="gain in accuracy (points)")
    rows, curves = results.where(protocol="honest"), {}
    for name, mechanism in (("as printed", PRINTED), ("equal true ε", STAIRCASE), ("clamped", "staircase clamped")):
        kept = rows.where(mechanism=mechanism)
        points = (kept["accuracy"] - rows.where(mechanism=LAPLACE)["accuracy"]) * 100
        curves[name] = StudyResults(rows.study, {"epsilon": kept["epsilon"], "gain": points}).curve("gain", "epsilon")
    drawing.curves(ax, curves, first=1)
    drawing.reference(ax, 0.0)
    notes = "; ".join(f"{name} {curve.mean.max():.1f} at most" for name, curve in curves.items())
    return drawing.finish(ax, f"Points of accuracy that the staircase gains over Laplace, by ε: {notes}.", x=TICKS)


def leak(_: StudyResults) -> Any:
    """True over nominal ε of the resampled staircase."""
    from bruit.numbers.staircase_noise import resampled_epsilon

    ax = _axes("What drawing again really costs", x="nominal ε (log scale)", y="true ε / nominal ε")
    x = np.geomspace(0.01, 10, 61)
    best, slide = (np.array([resampled_epsilon(e, error) / e for e in x]) for error in ("absolute", "squared"))
    drawing.line(ax, x, slide, "γ of the slide", 1, dashes=drawing.DASHES[1])
    drawing.line(ax, x, best, "diffprivlib's γ", 2)
    drawing.line(ax, x, np.ones_like(x), "laplace", 0)
    text = (
        f"True over nominal ε of staircase noise that is drawn again until inside: {best[0]:.2f} at ε = 0.01, "
        f"{best[40]:.2f} at 1 and {best[-1]:.2f} at 10 with diffprivlib's γ; Laplace has 1 everywhere."
    )
    return drawing.finish(ax, text, x=TICKS)


def table(results: StudyResults) -> Table:
    """Accuracy of every mechanism on true test labels."""
    lines = []
    for epsilon, part in results.where(protocol="honest").by("epsilon"):
        cells = [part.where(mechanism=mechanism).summary("accuracy").text(scale=100) for mechanism in MECHANISMS]
        lines.append((f"{epsilon:g}", f"{mechanism_of(PRINTED, epsilon).guarantee.epsilon:.3g}", *cells))
    head = ("ε", "true ε, as printed", *MECHANISMS)
    return Table.of("Accuracy on true test labels in percent, ± dispersion of a run; a person has 9ε", head, lines)
