"""Asked tables on Adult: the distance of 28 estimated tables from the true ones, against an iterated norm-sub.

Eight attributes (the categories, without the country), equal shares, the plan's own reports. Run:
python bench/tables_on_adult.py [runs]
"""

from __future__ import annotations

import sys

import numpy as np

from bruit import Plan, datasets
from bruit.domains import Categories
from bruit.estimation import consistency, contrasts

ATTRIBUTES = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "income"]


def people() -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Codes of the people without gaps, and how many values each attribute has."""
    data = datasets.load("adult")
    codes = {name: np.asarray(data.schema[name].encode(data[name]), np.int64) for name in ATTRIBUTES}
    gaps = {name: data.schema[name].domain.missing == "category" for name in ATTRIBUTES}
    sizes = {name: data.schema[name].size - gaps[name] for name in ATTRIBUTES}
    whole = np.all([codes[name] < sizes[name] for name in ATTRIBUTES], axis=0)
    country = data.schema["native-country"]
    whole &= np.asarray(country.encode(data["native-country"])) < country.size - 1  # as the literature drops gaps
    return {name: column[whole] for name, column in codes.items()}, sizes


def iterated(tables, noise, rounds: int = 50):
    """Norm-sub on every table, then least squares, and again: what consistency is usually done by."""
    for _ in range(rounds):
        tables = contrasts.least_squares(_shares(tables), noise)
    return _shares(tables)


def _shares(tables):
    return {names: consistency.norm_sub(table.ravel()).reshape(table.shape) for names, table in tables.items()}


def distance(tables, truth) -> float:
    """The mean total variation over all tables."""
    return float(np.mean([np.abs(tables[names] - truth[names]).sum() / 2 for names in truth]))


def main(runs: int) -> None:
    """Print a row for each ε."""
    codes, sizes = people()
    n = len(codes["sex"])
    print(f"{n:,} people, {runs} runs")
    for epsilon in (1.0, 2.0, 4.0):
        plan = Plan({name: Categories(k=size) for name, size in sizes.items()}, epsilon, "TAB[ADP]")
        truth = {}
        for names in plan.design.tables:
            cell = np.ravel_multi_index([codes[name] for name in names], plan.design.shape(names))
            cells = np.bincount(cell, minlength=int(np.prod(plan.design.shape(names))))
            truth[names] = cells.reshape(plan.design.shape(names)) / n
        rows = []
        for seed in range(runs):
            answers = plan.estimate(plan.count(plan.privatize(codes, seed)))
            estimates = {names: answers.table(*names) for names in truth}
            noise = {names: float(table.variance.mean()) for names, table in estimates.items()}
            shrunk = {names: table.frequency for names, table in answers.consistent("shrunk").items()}
            raw = {names: table.frequency for names, table in estimates.items()}
            rows.append((distance(shrunk, truth), distance(iterated(raw, noise), truth)))
        ours, base = np.mean(rows, axis=0)
        print(f"ε = {epsilon:g}: shrunk {ours:.4f}, iterated norm-sub {base:.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
