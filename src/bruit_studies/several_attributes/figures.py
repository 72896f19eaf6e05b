"""Figures and table of the study of several attributes; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.tables import Table
from bruit_studies import StudyResults, drawing
from bruit_studies.several_attributes import trials

_TITLES = {"published": "as published, ε' > ε", "person": "ε for a person"}
#: How many people each table has, for the titles.
_PEOPLE = {"nursery": "12,960", "adult": "48,842", "acs_employment": "10,336"}


def reproduction(results: StudyResults) -> Any:
    """Our means on Nursery beside the published ones."""
    from matplotlib.lines import Line2D

    from bruit.figures import style

    rows = results.where(part="error", data="nursery", calibration="published")
    ax = drawing.axes(
        f"Nursery, n = {_PEOPLE['nursery']}: ours and published",
        x="stated ε",
        y="mean squared error (log scale)",
        log="y",
        height=4.4,
    )
    notes = []
    for method, published in trials.NURSERY.items():
        curve, look = rows.where(method=method).curve("mse", "epsilon"), drawing.look_of(method)
        ax.plot(curve.x, curve.mean, label=method, linewidth=1.8, color=look["color"], linestyle=look["linestyle"])
        drawing.shade(ax, curve.x, curve.low, curve.high, look["color"])
        ax.plot(trials.EPSILONS, published, "o", color=look["color"], mfc="none", markersize=6, label="_published")
        notes.append(f"{method} {curve.mean[1]:.2e} (published {published[1]:.2e})")
    _epsilon_axis(ax)
    shown = [Line2D([], [], color=style.INK), Line2D([], [], color=style.INK, marker="o", mfc="none", linestyle="")]
    ax.legend(shown, ["ours", "published"], loc="upper right", frameon=False)
    return drawing.finish(ax, f"Mean squared error on Nursery against ε, by method. At ε = ln 3: {', '.join(notes)}.")


def errors(results: StudyResults, data: str) -> Any:
    """All methods on one table, at both calibrations, on the same scale."""
    rows = results.where(part="error", data=data)
    panels, notes = drawing.panels(2, height=3.9), []
    for ax, calibration in zip(panels, trials.CALIBRATIONS, strict=True):
        title = f"{trials.DATA[data]}, n = {_PEOPLE[data]}: {_TITLES[calibration]}"
        drawing.dress(ax, title, x="stated ε", y="mean squared error (log)", log="y")
        means = []
        for method in trials.METHODS:
            part = rows.where(calibration=calibration, method=method)
            _with_dispersion(ax, part, method)
            means.append(f"{method} {part.where(epsilon=trials.EPSILONS[1]).mean('mse'):.1e}")
        _epsilon_axis(ax)
        notes.append(f"{_TITLES[calibration]}: {', '.join(means)}")
    low = min(ax.get_ylim()[0] for ax in panels)
    high = max(ax.get_ylim()[1] for ax in panels)
    for ax in panels:
        ax.set_ylim(low, high)
        drawing.name_lines(ax)
    return drawing.describe(
        panels[0], f"Mean squared error on {trials.DATA[data]} against ε, by method. At ε = ln 3, {'; '.join(notes)}."
    )


def _with_dispersion(ax: Any, part: StudyResults, method: str) -> None:
    """The mean with its 95 % band, and a pale band of the middle 80 % of collections."""
    curve = part.curve("mse", "epsilon")
    single = np.array([part.where(epsilon=epsilon).quantiles("mse", (0.1, 0.9)) for epsilon in curve.x])
    drawing.methods(ax, {method: curve})
    drawing.shade(ax, curve.x, single[:, 0], single[:, 1], drawing.look_of(method)["color"], alpha=0.1)


def guarantees(results: StudyResults) -> Any:
    """The exact ε of a person and of one attribute against the stated one, at the published calibration."""
    from bruit.figures import style

    rows = results.where(part="exact", calibration="published")
    tables = rows.values("data")
    panels, notes = drawing.panels(len(tables)), []
    shown = (
        ("person, RS+FD", "RS+FD[GRR]", "person"),
        ("attribute, RS+RFD[GRR]", "RS+RFD[GRR]", "attribute"),
        ("attribute, RS+FD[GRR]", "RS+FD[GRR]", "attribute"),
        ("attribute, RS+FD[OUE-z]", "RS+FD[OUE-z]", "attribute"),
    )
    for ax, data in zip(panels, tables, strict=True):
        title = f"{trials.DATA[data]} as published: what ε really is"
        drawing.dress(ax, title, x="stated ε", y="guaranteed ε")
        for label, method, unit in shown:
            curve, look = rows.where(data=data, method=method).curve(unit, "epsilon"), drawing.look_of(method)
            look |= {"color": style.INK, "marker": "s"} if unit == "person" else {}
            ax.plot(curve.x, curve.mean, label=label, linewidth=1.8, markersize=4.5, **look)
            notes.append(f"{trials.DATA[data]}, {label}: {curve.mean[1]:.2f}")
        ax.set_ylim(0, 1.12 * float(rows.where(data=data, method="RS+FD[GRR]")["person"].max()))
        _epsilon_axis(ax)
        drawing.name_lines(ax)
    return drawing.describe(
        panels[0],
        f"Guaranteed ε against the stated ε, published calibration. At the stated ln 3 = {trials.EPSILONS[1]:.2f}: "
        f"{'; '.join(notes)}.",
    )


def _epsilon_axis(ax: Any) -> None:
    ax.set_xticks(trials.EPSILONS, [trials.name(epsilon) for epsilon in trials.EPSILONS])


def table(results: StudyResults) -> Table:
    """Every method on every table at ε = ln 3, with the dispersion of a run and the ε of a person."""
    epsilon = trials.EPSILONS[1]
    exact = results.where(part="exact", calibration="published", epsilon=epsilon)
    lines = []
    for data, part in results.where(part="error", epsilon=epsilon).by("data"):
        for method in trials.METHODS:
            rows = part.where(method=method)
            cells = [
                rows.where(calibration=name).summary("mse").text(".3g", ".2g", scale=1e3)
                for name in trials.CALIBRATIONS
            ]
            paper = f"{trials.NURSERY[method][1] * 1e3:.2f}" if data == "nursery" and method in trials.NURSERY else "—"
            person = exact.where(data=data, method=method).mean("person")
            lines.append((trials.DATA[data], method, paper, cells[0], f"{person:.2f}", cells[1]))
    columns = ("table", "method", "in the paper", "ours, as published", "its ε for a person", "ours, ε for a person")
    caption = "Mean squared error × 1,000 at a stated ε = ln 3 = 1.10, ± dispersion of one collection"
    return Table.of(caption, columns, lines, texts=2)
