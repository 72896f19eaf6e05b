"""Figures and table of the study `central-or-local`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.tables import Table
from bruit_studies import Curve, NoData, StudyResults, drawing
from bruit_studies.central_or_local.theirs import PART
from bruit_studies.central_or_local.trials import CLUSTERS, Floats
from bruit_studies.central_or_local.trials import iris as iris_data

#: Where k-means starts in the pictures of its steps: petal length and width.
START = ((2.5, 1.0), (6.0, 0.0), (6.5, 1.0))
#: Marks of ε on the axes.
TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
#: Metrics of a trial, and their names on figures.
BAYES = {"dp_gnb": "DP, bruit", "vaidya": "DP, Vaidya", "stair_gnb": "staircase first"}
#: With Vaidya's algorithm as the slides print it, which is not private.
SHOWN = {**BAYES, "vaidya_printed": "Vaidya, printed"}
LINES = {"dp_lr": "DP, bruit", "functional": "DP, functional", "stair_lr": "staircase first"}


#: The place of a model in the palette: private ones, then those on cleaned data, then variants.
_COLOURS = {"dp_gnb": 0, "dp_lr": 0, "stair_gnb": 2, "stair_lr": 2, "vaidya": 1, "functional": 1, "vaidya_printed": 3,
            "dp_gnb_bounded": 4, "dp_lr_bounded": 4}  # fmt: skip


def _percent(results: StudyResults, metrics: dict[str, str], part: str = "pima") -> dict[str, Curve]:
    """Scores on Pima against ε, by the name of the model; none where that part was not run."""
    try:
        rows = results.where(part=part)
    except NoData:
        return {}
    return {name: rows.curve(metric, "epsilon").times(100) for metric, name in metrics.items()}


def _places(models: dict[str, str]) -> list[int]:
    """Colours by model, so that figures of bruit's and of diffprivlib's models can be laid side by side."""
    return [_COLOURS.get(metric, place) for place, metric in enumerate(models)]


def adult(results: StudyResults) -> Any:
    """Accuracy of diffprivlib's naive Bayes for the income of Adult, with one standard deviation."""
    ax = drawing.axes(
        "DP-GNB on the income of Adult, n = 48,842", x="ε (log scale)", y="accuracy (%)", log="x", width=6.2
    )
    rows = results.where(part="diffprivlib adult")
    models = {"dp_gnb": "as the listing", "dp_gnb_bounded": "with bounds"}
    curves = {name: rows.curve(metric, "epsilon").times(100) for metric, name in models.items()}
    drawing.spreads(ax, curves)
    levels = {"without privacy": rows.mean("gnb") * 100, "majority class": rows.mean("majority") * 100}
    for name, level in levels.items():
        drawing.reference(ax, level, name, left=name == "without privacy", below=name == "majority class")
    notes = "; ".join(f"{name} {curve.ends('.1f', ' %')}" for name, curve in curves.items())
    shown = ", ".join(f"{name} {level:.1f} %" for name, level in levels.items())
    return drawing.finish(ax, f"Accuracy of diffprivlib's naive Bayes on Adult: {notes}. {shown}.", x=(0.1, 1, 10))


def theirs(results: StudyResults, title: str, models: dict[str, str], clean: str) -> Any:
    """Accuracy of diffprivlib's models against ε with one standard deviation, as the slides show it."""
    ax = drawing.axes(title, x="global ε (log scale)", y="accuracy (%)", log="x", width=6.2, height=4.2)
    rows = results.where(part=PART)
    curves = {name: rows.curve(metric, "epsilon").times(100) for metric, name in models.items()}
    drawing.spreads(ax, curves, places=_places(models))
    for name, level in {"without privacy": rows.mean(clean) * 100, "majority class": rows.mean("majority") * 100,
                        "coin": 50.0}.items():  # fmt: skip
        left = name == "without privacy" or (clean == "lr" and name == "majority class")  # where no curve passes
        drawing.reference(ax, level, name, left=left, below=name == "majority class")
    ax.set_ylim(20, 90)
    notes = "; ".join(f"{name} {curve.ends('.0f', ' %')}, sd {curve.sd[0]:.0f} and {curve.sd[-1]:.0f} points"
                      for name, curve in curves.items())  # fmt: skip
    return drawing.finish(ax, f"Accuracy on Pima of diffprivlib's models against the global ε. {notes}.", x=TICKS)


def accuracy(results: StudyResults, title: str, models: dict[str, str], clean: str) -> Any:
    """Accuracy of some models against ε, and the levels of one without privacy, of the majority class and of a coin."""
    ax = drawing.axes(title, x="global ε (log scale)", y="accuracy (%)", log="x", width=6.2, height=4.2)
    curves, rows = _percent(results, models), results.where(part="pima")
    drawing.spreads(ax, curves, places=_places(models))
    levels = {"without privacy": rows.mean(clean) * 100, "majority class": rows.mean("majority") * 100, "coin": 50.0}
    for name, level in levels.items():  # named where no curve passes
        drawing.reference(ax, level, name, left=name == "without privacy", below=name == "majority class")
    ax.set_ylim(20, 90)
    notes = "; ".join(f"{name} {curve.ends('.0f', ' %')}" for name, curve in curves.items())
    shown = ", ".join(f"{name} {level:.0f} %" for name, level in levels.items())
    return drawing.finish(ax, f"Accuracy on Pima against the global ε. {notes}. Levels: {shown}.", x=TICKS)


def logistic(results: StudyResults) -> Any:
    """Accuracy of logistic regression by the functional mechanism against ε."""
    rows = results.where(part="logistic")
    ax = drawing.axes("Functional logistic regression, Pima, n = 768", x="global ε (log scale)", y="accuracy (%)",
                      log="x", width=6.2, height=4.2)  # fmt: skip
    curve = rows.curve("functional_logistic", "epsilon").times(100)
    drawing.curve(ax, curve, "as printed", 0)
    levels = {"without privacy": rows.mean("logistic") * 100, "majority class": rows.mean("majority") * 100,
              "coin": 50.0}  # fmt: skip
    for name, level in levels.items():
        drawing.reference(ax, level, name, left=name == "without privacy", below=name == "majority class")
    ax.set_ylim(30, 81)
    shown = ", ".join(f"{name} {level:.0f} %" for name, level in levels.items())
    text = f"Accuracy of logistic regression on Pima against the global ε: {curve.ends('.0f', ' %')}."
    return drawing.finish(ax, f"{text} Levels: {shown}.", x=TICKS)


def dispersion(results: StudyResults) -> Any:
    """The deviation of a run of linear regression against ε."""
    ax = drawing.axes(
        "How much a run varies, Pima, n = 768",
        x="global ε (log scale)",
        y="sd of a run's accuracy (points)",
        log="x",
        width=6.2,
    )
    notes = []
    for place, (name, curve) in enumerate(_percent(results, {**LINES, "lr": "no privacy"}).items()):
        drawing.line(ax, curve.x, curve.sd, name, place, dashes=drawing.DASHES[place % 3], mark=drawing.MARKS[place])
        notes.append(f"{name} {curve.sd[0]:.1f} points at ε = {curve.x[0]:g}, {curve.sd[-1]:.1f} at {curve.x[-1]:g}")
    ax.set_ylim(bottom=0)
    return drawing.finish(ax, f"Standard deviation of one run's accuracy against ε. {'; '.join(notes)}.", x=TICKS)


def iris(results: StudyResults) -> Any:
    """k-means against ε."""
    rows = results.where(part="iris")
    ax = drawing.axes(
        "Three clusters of Iris, n = 150", x="ε (log scale)", y="squared distances / best (log)", log="xy", width=6.2
    )
    curves = {name: rows.curve(metric, "epsilon") for metric, name in (("joint", "bruit"), ("lloyd", "as printed"))}
    try:
        recorded = results.where(part="diffprivlib iris")
        curves["diffprivlib"] = recorded.curve("kmeans_bounded", "epsilon")
    except NoData:
        pass
    drawing.curves(ax, curves)
    drawing.reference(ax, rows.mean("alone"), "one centre for all")
    drawing.reference(ax, 1.0)
    notes = "; ".join(f"{name} {curve.ends('.2f')}" for name, curve in curves.items())
    text = f"Sum of squared distances over that of ordinary k-means, against ε, log scales. {notes}; one centre for all"
    return drawing.finish(ax, f"{text} {rows.mean('alone'):.1f}.", x=TICKS, y=(1, 2, 5, 10, 20))


def lloyd_steps(points: Floats, centres: Floats) -> list[tuple[str, Floats, NDArray[np.int64] | None]]:
    """The name of each step of the slide, its centres, and the group of each point where there are groups.

    It ends with an assignment that changes nothing.
    """
    steps: list[tuple[str, Floats, NDArray[np.int64] | None]] = [("0b. start", centres, None)]
    before = np.full(len(points), -1)
    for turn in itertools.count(1):
        groups = ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        stable = bool((groups == before).all())
        steps.append((f"{turn}a. groups" + (" (stable)" if stable else ""), centres, groups))
        if stable:
            return steps
        centres = np.array([points[groups == j].mean(axis=0) if (groups == j).any() else centres[j]
                            for j in range(len(centres))])  # fmt: skip
        steps.append((f"{turn}b. means", centres, groups))
        before = groups
    raise AssertionError  # pragma: no cover - the loop ends: distances fall, and there are finitely many groups


def kmeans_steps(_: StudyResults) -> Any:
    """k-means without privacy, step by step, as the slide shows it: petals of Iris, three centres."""
    from matplotlib.figure import Figure

    points = iris_data().table[:, 2:]
    steps = [
        ("0a. records", np.empty((0, 2)), None),
        *lloyd_steps(points, np.array(START)),
    ]
    figure = Figure(figsize=(6.2, 1.9 * -(-len(steps) // 2)), layout="constrained")
    panels = figure.subplots(-(-len(steps) // 2), 2, squeeze=False).ravel()
    for ax, (name, centres, groups) in zip(panels, steps, strict=False):
        drawing.dress(ax, name, x="petal length (cm)", y="width (cm)")
        colours = ["0.6"] * len(points) if groups is None else [drawing.colour(int(group)) for group in groups]
        ax.scatter(points[:, 0], points[:, 1], c=colours, s=6)
        for place, centre in enumerate(centres):
            ax.plot(*centre, marker="*", color=drawing.colour(place), markeredgecolor="black", markersize=12)
    for ax in panels[len(steps) :]:
        ax.remove()
    last = steps[-1]
    text = f"k-means with three centres on the petals of Iris: {len(steps)} pictures from the records to stable groups"
    sizes = np.bincount(last[2] if last[2] is not None else [], minlength=CLUSTERS)
    return drawing.describe(panels[0], f"{text} of {', '.join(map(str, sizes))} flowers.")


def table(results: StudyResults) -> Table:
    """Accuracy of every model on Pima."""
    rows = results.where(part="pima")
    lines = [
        (f"{epsilon:g}", *(part.summary(metric).text(scale=100) for metric in (*SHOWN, *LINES)))
        for epsilon, part in sorted(rows.by("epsilon"), key=lambda item: item[0])
    ]
    bayes, regression = (rows.summary(metric).text(scale=100) for metric in ("gnb", "lr"))
    lines.append(("no privacy", *[bayes] * len(SHOWN), *[regression] * len(LINES)))
    head = ("global ε", *(f"NB, {name}" for name in SHOWN.values()), *(f"LR, {name}" for name in LINES.values()))
    return Table.of("Accuracy on Pima in percent, ± dispersion of a run", head, lines)
