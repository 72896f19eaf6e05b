"""Draw docs/figures/learning_*.svg from the results of the measurements in this folder.

python bench/learning/naive_bayes.py && python bench/learning/linear_regression.py && python bench/learning/kmeans.py
BRUIT_DATA=FOLDER python bench/learning/additive.py --curves
python bench/learning/curves.py          draws what has results
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from bruit.figures import style
from bruit.figures.files import save
from bruit_studies import drawing

ROOT = Path(__file__).resolve().parents[2]
RESULTS, FIGURES = ROOT / "bench" / "results", ROOT / "docs" / "figures"
TABLES = ("iris", "breast cancer", "diabetes")
TICKS = (0.1, 0.5, 1, 5, 10)


def main() -> None:
    with style.applied():
        for name, draw in (("naive_bayes", naive_bayes), ("linear_regression", regression), ("kmeans", kmeans)):
            path = RESULTS / f"learning_{name}.json"
            if path.exists():
                save(draw(json.loads(path.read_text())), FIGURES / f"learning_{name}.svg", endings=[".svg"])
        path = RESULTS / "learning_choice.json"
        for table, rows in json.loads(path.read_text()).items() if path.exists() else ():
            name = table.lower().replace(" ", "_")
            save(choice(table, rows), FIGURES / f"learning_choice_{name}.svg", endings=[".svg"])


def choice(table: str, rows: dict[str, Any]) -> Any:
    """The score of every classifier on one table against ε."""
    ax = drawing.axes(table[0].upper() + table[1:], x="ε (log scale)", y=rows["of"], log="x")
    texts = []
    for place, (name, row) in enumerate(rows["models"].items()):
        epsilons = [float(key) for key in row]
        mean = np.array([cell["mean"] for cell in row.values()])
        drawing.line(ax, np.array(epsilons), mean, name, place, mark=drawing.MARKS[place])
        texts.append(f"{name} {mean[epsilons.index(1.0)]:.2f}")
    drawing.ticks(ax, (0.1, 0.5, 1, 4, 10))
    drawing.name_lines(ax)
    drawing.describe(ax, f"{rows['of']} on {table} against ε, without δ; at ε = 1: " + ", ".join(texts) + ".")
    return style.whole(ax)


def naive_bayes(found: dict[str, Any]) -> Any:
    panels = drawing.panels(len(TABLES), height=2.6)
    told = []
    for ax, table in zip(panels, TABLES, strict=True):
        drawing.dress(ax, f"Naive Bayes, {table}", x="ε (log scale)", y="accuracy", log="x")
        rows = {float(key): row for key, row in found["accuracy"][table].items()}
        epsilons = [key for key in rows if np.isfinite(key)]
        for place, side in enumerate(("bruit", "diffprivlib")):
            cells = [rows[key][side] for key in epsilons]
            mean = np.array([cell["mean"] for cell in cells])
            reach = np.array([1.96 * cell["sd"] / cell["splits"] ** 0.5 for cell in cells])
            drawing.line(ax, np.array(epsilons), mean, side, place, mark=drawing.MARKS[place])
            ax.fill_between(epsilons, mean - reach, mean + reach, color=style.PALETTE[place], alpha=0.2, linewidth=0)
            told.append(f"{table}, {side}: {mean[2]:.2f} at ε = 1")
        drawing.reference(ax, next(iter(rows[float("inf")].values()))["mean"], "without privacy")
        drawing.ticks(ax, TICKS)
        drawing.name_lines(ax)
    drawing.describe(panels[0], "Accuracy of naive Bayes against ε. " + "; ".join(told) + ".")
    return style.whole(panels[0])


def regression(found: dict[str, Any]) -> Any:
    ax = drawing.axes("Linear regression: mean R² on held-out records", x="ε (log scale)", y="R²", log="x")
    told = []
    for place, table in enumerate(("iris", "breast cancer", "adult", "diabetes")):
        rows = found["tables"][table]["figures"]["bruit"]
        mean = np.array([rows[str(float(key))]["r2_mean"] for key in TICKS])
        drawing.line(ax, np.array(TICKS), mean, table, place, mark=drawing.MARKS[place])
        told.append(f"{table} {mean[2]:.2f}")
    ax.axhline(0, color=style.MUTED, linewidth=0.8)
    drawing.ticks(ax, TICKS)
    drawing.name_lines(ax)
    drawing.describe(ax, "Mean R² of linear regression against ε; at ε = 1: " + ", ".join(told) + ".")
    return style.whole(ax)


def kmeans(found: dict[str, Any]) -> Any:
    cases = (("iris", 3), ("adult numeric", 5))
    panels = drawing.panels(len(cases), height=2.9)
    told = []
    for ax, (table, k) in zip(panels, cases, strict=True):
        rows = [row for row in found["inertia ratio"] if row["table"] == table and row["k"] == k]
        drawing.dress(ax, f"k-means, {table}, {k} clusters", x="ε (log scale)", y="inertia ratio (log)", log="xy")
        x = np.array([row["epsilon"] for row in rows])
        for place, side in enumerate(("bruit", "diffprivlib", "bruit, lloyd")):
            mean = np.array([row[side]["mean"] for row in rows])
            drawing.line(ax, x, mean, side, place, mark=drawing.MARKS[place], dashes=drawing.DASHES[place])
            told.append(f"{table}, {side} {mean[list(x).index(1.0)]:.2f}")
        drawing.reference(ax, rows[0]["one centre"], "one centre")
        drawing.ticks(ax, TICKS)
        drawing.ticks(ax, (1, 2, 5, 10, 20), axis="y")
        drawing.name_lines(ax)
    drawing.describe(panels[0], "Inertia over that of ordinary k-means against ε; at ε = 1: " + ", ".join(told) + ".")
    return style.whole(panels[0])


if __name__ == "__main__":
    main()
