"""What the study of forests on randomised attributes is made of: its data, exact laws, figures and table."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.studies.results import Results
from bruit.tables import Table

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
FEATURES = ("workclass", "education", "occupation", "relationship", "race", "sex", "native-country")
LABEL = "marital-status"
#: The least number of training people in a leaf: scikit-learn's own, and one that averages noise.
GROWN, COARSE = 1, 50


class People(NamedTuple):
    """The table as codes, and how many values each attribute has."""

    features: dict[str, NDArray[np.int64]]
    label: NDArray[np.int64]
    sizes: dict[str, int]


@cache
def people() -> People:
    from bruit import datasets

    data = datasets.load("adult")
    codes = {name: data.schema[name].encode(data[name]).astype(np.int64) for name in (*FEATURES, LABEL)}
    sizes = {name: len(data.schema[name].labels) for name in codes}
    return People({name: codes[name] for name in FEATURES}, codes[LABEL], sizes)


@cache
def label_law(epsilon: float) -> tuple[float, float, float]:
    """For the label: p, q, and how often the best guess from its report alone is right, frequencies being known."""
    from bruit.oracles import RandomizedResponse

    counts = np.bincount(people().label)
    channel = np.array(RandomizedResponse(epsilon=epsilon, k=counts.size).matrix(), float)
    guess = float((counts[:, None] / counts.sum() * channel).max(axis=0).sum())
    return float(channel[0, 0]), float(channel[0, 1]), guess


def noisy(results: Results, leaf: int = GROWN) -> Results:
    return results.where(part="noise", leaf=leaf)


def draw_accuracy(results: Results) -> Any:
    from bruit.figures import style
    from bruit.studies import drawing

    ax = drawing.axes("Forest on randomised attributes", x="ε for each attribute (log scale)",
                      y="accuracy (%)", log="x", width=6.4, height=4.3)  # fmt: skip
    lines = (
        ("accuracy", GROWN, "project's way"),
        ("clean_test", GROWN, "true test features"),
        ("noisy_labels", GROWN, "noisy test labels"),
        ("accuracy", COARSE, f"{COARSE} in a leaf"),
        ("clean_test", COARSE, f"{COARSE}, true features"),
    )
    ends = []
    for place, (metric, leaf, name) in enumerate(lines):
        curve = _percent(noisy(results, leaf), metric)
        drawing.curve(ax, curve, name, place, dashes=drawing.DASHES[int(metric != "accuracy")])
        ends.append(
            f"{name} {curve.mean[0]:.0f} % at ε = 0.01, {curve.mean[4]:.0f} % at 1, {curve.mean[-1]:.0f} % at 10"
        )
    clean = results.where(part="baseline", leaf=GROWN).mean("accuracy") * 100
    majority = noisy(results).mean("majority") * 100
    ax.set_ylim(8, max(clean, majority) + 8)
    drawing.reference(ax, clean, "")
    drawing.reference(ax, majority, "")
    for y, text in ((clean, "without noise"), (majority, "majority class")):
        # On the left, where no curve is.
        ax.annotate(text, (0.0105, y), xytext=(0, 3), textcoords="offset points", color=style.MUTED)
    drawing.ticks(ax, EPSILONS)
    drawing.name_lines(ax)
    return drawing.describe(
        ax,
        f"Accuracy of predicting marital status against ε. Without noise {clean:.0f} %, majority class "
        f"{majority:.0f} %. {'; '.join(ends)}.",
    )


def draw_risk(results: Results) -> Any:
    from bruit.studies import drawing

    ax = drawing.axes("What is learnt, and what is given away", x="ε for each attribute (log scale)",
                      y="marital status known (%)", log="x", width=6.4)  # fmt: skip
    x = np.array(EPSILONS)
    guesses = np.array([label_law(epsilon)[2] for epsilon in EPSILONS]) * 100
    curve = _percent(noisy(results), "accuracy")
    drawing.curve(ax, curve, "by the forest", 0)
    drawing.line(ax, x, guesses, "from own report", 1, mark=drawing.MARKS[1], dashes=drawing.DASHES[1])
    drawing.ticks(ax, EPSILONS)
    drawing.name_lines(ax)
    return drawing.describe(
        ax,
        f"Share of people whose marital status is known, against ε. By the forest from seven other reports: "
        f"{curve.mean[0]:.0f} % at 0.01, {curve.mean[4]:.0f} % at 1, {curve.mean[-1]:.0f} % at 10. By the best guess "
        f"from the person's own report of it: {guesses[0]:.0f} %, {guesses[4]:.0f} % and {guesses[-1]:.0f} %.",
    )


def _percent(rows: Results, metric: str) -> Any:
    """A curve of a score over ε, in percent."""
    scaled = Results(rows.study, {"epsilon": rows["epsilon"], "score": rows[metric] * 100})
    return scaled.curve("score", "epsilon")


def table(results: Results) -> Table:
    lines = []
    for epsilon, rows in noisy(results).by("epsilon"):
        scores = [rows.summary(metric) for metric in ("accuracy", "clean_test", "noisy_labels")]
        scores.append(noisy(results, COARSE).where(epsilon=epsilon).summary("accuracy"))
        total = f"{rows.mean('train_epsilon'):.3g}"
        lines.append((f"{epsilon:g}", total, *(f"{score.mean * 100:.1f} ± {score.sd * 100:.1f}" for score in scores)))
    clean = [results.where(part="baseline", leaf=leaf).summary("accuracy") for leaf in (GROWN, COARSE)]
    cells = [f"{score.mean * 100:.1f} ± {score.sd * 100:.1f}" for score in clean]
    lines.append(("no noise", "", cells[0], cells[0], cells[0], cells[1]))
    head = ("ε, attribute", "ε, person", "project's way", "true test features", "noisy test labels",
            f"{COARSE} in a leaf")  # fmt: skip
    return Table.of("Accuracy of the random forest in percent, ± dispersion of a run", head, lines)
