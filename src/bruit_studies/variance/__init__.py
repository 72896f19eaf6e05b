"""Which mechanism has the least variance: Var* of every oracle, RS+FD over d and k, and where Var* misleads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.tables import Table
from bruit_studies import (
    Block,
    Claim,
    Plot,
    Study,
    StudyResults,
    Verdict,
    confirmed,
    corrected,
    drawing,
    improved,
    refuted,
)
from bruit_studies.variance import trials

ORACLES = ("GRR", "SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR")
#: Those that the slides name.
COURSE = ("GRR", "SUE", "OUE", "BLH")
#: Ink on the cells of the surface, which stay pale when the page is dark.
_DARK = "#111111"
_SLIDES = "several-attributes slides"
_OTHERS = "slide “Autres mécanismes avec même estimateur/variance”"


def _course_table(results: StudyResults, frequency: float) -> tuple[list[float], NDArray[np.float64]]:
    """ε, and the variances of the slides' mechanisms (rows) at this frequency."""
    rows = results.where(part="oracles", frequency=frequency)
    curves = [rows.where(oracle=name).curve("variance", "epsilon") for name in COURSE]
    return curves[0].x.tolist(), np.array([curve.mean for curve in curves])


def _oue_minimises(results: StudyResults) -> Verdict:
    rare, half = (results.where(part="unary", frequency=f) for f in (0.0, 0.5))
    worst = float(np.nanmax(half["loss"]))
    at = half["epsilon"][int(np.nanargmax(half["loss"]))]
    best = rare.mean("best_p")
    if abs(best - 0.5) > 0.01:
        return refuted(f"For a value that nobody has the best p is {best:.2f}.", best_p=best)
    if worst < 1.01:
        return confirmed(f"The best p is {best:.2f}, for rare and for frequent values.", best_p=best, loss=worst)
    return improved(
        f"They minimise Var*, the variance of a value that nobody has (best p = {best:.2f} at every ε); for a value "
        f"that half of the people have, another p has up to {worst:.2f} times less variance (ε = {at:.2g}).",
        best_p=best,
        loss=worst,
    )


def _choice_by_star(results: StudyResults) -> Verdict:
    epsilons, rare = _course_table(results, 0.0)
    losses = {}
    for f in (0.01, 0.1, 0.5, 1.0):
        _, table = _course_table(results, f)
        taken = table[rare.argmin(axis=0), np.arange(len(epsilons))]
        losses[f] = taken / table.min(axis=0)
    worst = {f: float(loss.max()) for f, loss in losses.items()}
    at = epsilons[int(losses[0.5].argmax())]
    if max(worst.values()) < 1.05:
        return confirmed(f"The choice costs at most a factor {max(worst.values()):.2f} at any frequency.")
    return improved(
        f"The choice costs at most a factor {worst[0.01]:.2f} for a value of frequency 0.01 and {worst[0.1]:.2f} for "
        f"0.1, but up to {worst[0.5]:.2f} for 0.5 (ε = {at:.2g}) and {worst[1.0]:.2f} for 1: use the exact variance "
        "where frequent values matter.",
        **{f"loss_at_{f:g}": loss for f, loss in worst.items()},
    )


def _one_over_n(results: StudyResults) -> Verdict:
    rows = results.where(part="oracles")
    ratios = rows["small"] / rows["variance"] * 100 / trials.N
    gap = float(np.abs(ratios - 1).max())
    near = rows.where(frequency=0.0, epsilon=trials.EPSILONS[11])
    best = float(near["small"].min()) ** 0.5
    if gap > 1e-9:
        return refuted(f"N·Var changes by {gap:.1e} between N = 100 and N = {trials.N:,}.", gap=gap)
    return confirmed(
        f"N·Var is the same at N = 100 and N = {trials.N:,} for every oracle, ε and f; at N = 100 and ε = "
        f"{trials.EPSILONS[11]:.2g} the best of all has a standard deviation of {best:.2f}, more than most "
        "frequencies.",
        sd_at_100=best,
    )


def _zero_is_debatable(results: StudyResults) -> Verdict:
    row = results.where(part="coverage", epsilon=4.0, frequency=0.5, n=1000)
    covered = row.mean("covered")
    rare = results.where(part="coverage", epsilon=4.0, frequency=0.0, n=1000).mean("covered")
    evidence = (
        f"95 % intervals built on Var* cover {covered:.0%} at f = ½ and {rare:.0%} at f = 0, of the frequency among "
        "the people who answered (OUE, ε = 4, N = 1,000)"
    )
    if covered > 0.9:
        return refuted(f"{evidence}: it does no harm.", covered=covered)
    return confirmed(f"{evidence}.", covered=covered)


def _divided(results: StudyResults) -> Verdict:
    rows = results.where(part="split or sample", frequency=0.0)
    ratio = rows["split"] / rows["undivided"]
    if ratio.min() < 1:
        return refuted(f"The ratio falls to {ratio.min():.2f}.", least=ratio.min())
    return confirmed(
        f"Var*(ε/d) is {ratio.min():.1f} to {ratio.max():,.0f} times Var*(ε), for d from 2 to 10 and ε from "
        "0.1 to 10 (k = 2).",
        least=ratio.min(),
        greatest=ratio.max(),
    )


def _sampling_and_f(results: StudyResults) -> Verdict:
    rare, half = (results.where(part="split or sample", frequency=f) for f in (0.0, 0.5))
    wins = rare["split"] < rare["sample"]
    better = half["split"] < half["sample"]
    ratio = (half["sample"] / half["split"])[better]
    if wins.any() or not better.any():
        return refuted("Splitting and sampling are ranked alike at f = 0 and at f = ½.")
    first = float(half["epsilon"][better].min())
    return confirmed(
        "At f = 0 sampling one attribute always has the least variance; at f = ½ (k = 2) splitting ε wins in "
        f"{better.mean():.0%} of the cases, from ε = {first:.2g}, by up to a factor {ratio.max():.1f}, because "
        "sampling asks d times fewer people.",
        share=float(better.mean()),
        greatest=float(ratio.max()),
    )


def _fakes_unbiased(results: StudyResults) -> Verdict:
    errors = {key: part.summary("error") for key, part in results.where(part="fakes").by("d", "k")}
    worst = max(abs(error.mean) / error.error for error in errors.values())
    bias = max(abs(error.mean) for error in errors.values())
    if worst > 4.5:
        return refuted(f"The mean error is {worst:.1f} standard errors from 0.", bias=bias)
    count = sum(error.count for error in errors.values())
    return confirmed(
        f"Over {count} collections the mean error is at most {bias:.4f}, {worst:.1f} standard errors.", bias=bias
    )


def _fakes_variance(results: StudyResults) -> Verdict:
    rows = results.where(part="fakes")
    seen = [part.summary("error").sd ** 2 for _, part in rows.by("d", "k")]
    printed = np.array([v / part.mean("printed") for v, (_, part) in zip(seen, rows.by("d", "k"), strict=True)])
    exact = np.array([v / part.mean("exact") for v, (_, part) in zip(seen, rows.by("d", "k"), strict=True)])
    if np.abs(exact - 1).max() > 0.6:
        return refuted(
            f"The observed variance is {exact.min():.2f} to {exact.max():.2f} times that without the second 1/N."
        )
    if np.abs(printed - 1).max() < np.abs(exact - 1).max():
        return confirmed(f"The observed variance is {printed.min():.2f} to {printed.max():.2f} times the printed one.")
    return corrected(
        f"The 1/N before δ₀(1−δ₀) is one too many: the observed variance is {printed.min():.2f} to {printed.max():.2f} "
        f"times the printed one, and {exact.min():.2f} to {exact.max():.2f} times "
        "d²[fδ₁(1−δ₁) + (1−f)δ₀(1−δ₀)]/(N(p−q)²).",
        printed=printed.max(),
        exact=exact.max(),
    )


def _grid(results: StudyResults, calibration: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """d, k and VAR₁ − VAR₂, a row per k."""
    rows = results.where(part="surface", calibration=calibration)
    d, k = np.unique(rows["d"]), np.unique(rows["k"])
    table = np.empty((k.size, d.size))
    table[np.searchsorted(k, rows["k"]), np.searchsorted(d, rows["d"])] = rows["GRR"] - rows["OUE"]
    return d, k, table


def _neither_always(results: StudyResults) -> Verdict:
    shares = {name: float((_grid(results, name)[2] < 0).mean()) for name in ("published", "same")}
    if not all(0 < share < 1 for share in shares.values()):
        return refuted("One of the two is always better.", **shares)
    return confirmed(
        f"GRR has the smaller Var* in {shares['published']:.0%} of the cells (d = 2…10, k = 2…20) with the published "
        f"ε' and in {shares['same']:.0%} with ε' = ε: choosing per attribute pays.",
        **shares,
    )


def _printed_axis(results: StudyResults) -> Verdict:
    ends = {name: (float(t.min()), float(t.max())) for name in ("published", "same") for t in [_grid(results, name)[2]]}
    (low, high), (same_low, same_high) = ends["published"], ends["same"]
    evidence = f"With the slides' own p and q at ε the difference runs from {same_low:.3f} to {same_high:.3f}"
    if max(abs(same_low + 0.02), abs(same_high - 0.02)) > 0.01:
        return refuted(f"{evidence}.", same_low=same_low, same_high=same_high)
    return confirmed(
        f"{evidence}. (At the ε' = ln(d(e^ε−1)+1) of the paper it would run from {low:.4f} to {high:.4f}.)",
        published_low=low,
        published_high=high,
        same_low=same_low,
        same_high=same_high,
    )


def _draw_oracles(results: StudyResults) -> Any:
    rows = results.where(part="oracles", frequency=0.0)
    ax = drawing.axes(
        "Var* of every oracle, k = 128, N = 100,000",
        x="ε (log scale)",
        y="Var*, variance at f = 0 (log scale)",
        log="xy",
        height=4.4,
    )
    notes = []
    for place, name in enumerate(rows.values("oracle")):
        curve = rows.where(oracle=name).curve("variance", "epsilon")
        ax.plot(
            curve.x, curve.mean, label=name, linewidth=1.8, **{**drawing.look_of(name), "linestyle": _dashes(place)}
        )
        notes.append(f"{name} {curve.mean[int(np.abs(curve.x - 1).argmin())]:.1e}")
    return drawing.finish(
        ax, f"Var* of the oracles against ε, log scales. Near ε = 1: {', '.join(notes)}.", x=(0.1, 0.2, 0.5, 1, 2, 5)
    )


def _dashes(place: int) -> Any:
    return drawing.DASHES[place % 3]


def _draw_ratios(results: StudyResults) -> Any:
    rows = results.where(part="oracles", frequency=0.0)
    curves = {name: rows.where(oracle=name).curve("variance", "epsilon") for name in rows.values("oracle")}
    least = np.min([curve.mean for curve in curves.values() if curve.x.size == len(trials.EPSILONS)], axis=0)
    ax = drawing.axes(
        "Var* over the least, k = 128, N = 100,000",
        x="ε (log scale)",
        y="Var* / least Var* (log scale)",
        log="xy",
        height=4.4,
    )
    for place, (name, curve) in enumerate(curves.items()):
        shown = least[np.isin(trials.EPSILONS, curve.x)]
        look = {**drawing.look_of(name), "linestyle": _dashes(place)}
        ax.plot(curve.x, curve.mean / shown, label=name, linewidth=1.8, **look)
    ax.set_ylim(0.9, 12)
    worst = {name: float((curve.mean / least).max()) for name, curve in curves.items() if curve.x.size == least.size}
    ratios = ", ".join(f"{name} {ratio:.3g}" for name, ratio in worst.items())
    return drawing.finish(
        ax,
        f"Var* over the least of all oracles, against ε, log scales. Greatest ratios: {ratios}.",
        x=(0.1, 0.2, 0.5, 1, 2, 5),
        y=(1, 1.5, 2, 3, 5, 10),
    )


def _draw_misleading(results: StudyResults) -> Any:
    rows = results.where(part="coverage", epsilon=4.0)
    ax = drawing.axes(
        "OUE, ε = 4: intervals built on Var*",
        x="true frequency f (%)",
        y="coverage of 95 % intervals (%)",
    )
    for place, n in enumerate(rows.values("n")):
        curve = rows.where(n=n).curve("covered", "frequency")
        name, dashes = f"N = {int(n):,}", drawing.DASHES[place % 3]
        drawing.line(ax, curve.x * 100, curve.mean * 100, name, place, dashes=dashes, mark=drawing.MARKS[place])
    drawing.reference(ax, 95, "what was promised")
    ax.set_ylim(0, 104)
    low = float(rows["covered"].min())
    return drawing.finish(
        ax,
        f"Coverage of 95 % intervals built on Var* against f, OUE at ε = 4. It falls from 95 % at f = 0 to {low:.0%}.",
    )


def _draw_surface(results: StudyResults) -> Any:
    from bruit.figures import style

    titles = {
        "published": "VAR₁ − VAR₂, N = 10,000, ε = ln 3, published ε'",
        "same": "VAR₁ − VAR₂, N = 10,000, ε = ln 3, ε' = ε",
    }
    regions: dict[str, list[tuple[float, float, str]]]
    regions = {"published": [(5, 10, "GRR better"), (9.1, 2.5, "OUE better")], "same": [(8, 14, "OUE"), (8, 4, "GRR")]}
    notes = []
    panels = drawing.panels(2)
    for ax, (name, title) in zip(panels, titles.items(), strict=True):
        d, k, table = _grid(results, name)
        drawing.dress(ax, title, x="number of attributes d", y="number of values k")
        mesh = ax.pcolormesh(d, k, table, cmap=_diverging(), vmin=-np.abs(table).max(), vmax=np.abs(table).max())
        ax.contour(d, k, table, levels=[0], colors=_DARK, linewidths=1.8)
        ax.grid(False)
        drawing.ticks(ax, (2, 4, 6, 8, 10))
        drawing.ticks(ax, (2, 5, 10, 15, 20), axis="y")
        for x, y, text in regions[name]:
            ax.annotate(text, (x, y), ha="center", va="center", color=_DARK)
        bar = style.whole(ax).colorbar(mesh, ax=ax, label="difference of Var*")
        bar.outline.set_visible(False)
        notes.append(
            f"{title}: from {table.min():.4f} to {table.max():.4f}, negative in {(table < 0).mean():.0%} of cells"
        )
    return drawing.describe(
        panels[0],
        f"Var* of RS+FD[GRR] minus that of RS+FD[OUE] over d and k, N = 10,000, ε = ln 3. {'. '.join(notes)}.",
    )


def _diverging() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    from bruit.figures import style

    return LinearSegmentedColormap.from_list("bruit", [style.ORACLES["GRR"], "#f4f4f4", style.ORACLES["OUE"]])


def _table(results: StudyResults) -> Table:
    rows = results.where(part="oracles")
    wanted = [trials.EPSILONS[place] for place in (7, 11, 14, 17)]
    body = []
    for name in rows.values("oracle"):
        mine = rows.where(oracle=name, frequency=0.0)
        variances = dict(zip(mine["epsilon"].tolist(), mine["variance"].tolist(), strict=True))
        body.append((name, *(f"{variances[e]:.2e}" if e in variances else "—" for e in wanted)))
    return Table.of("Var*, k = 128, N = 100,000", ("oracle", *(f"ε = {e:.2g}" for e in wanted)), body)


def _blocks(collections: int) -> list[Block]:
    return [
        Block({"part": ["oracles"], "oracle": ORACLES}),
        Block({"part": ["unary"], "frequency": [0.0, 0.1, 0.5]}),
        Block({"part": ["coverage"], "epsilon": [4.0], "frequency": [0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5],
               "n": [100, 1000, 10_000]}),
        Block({"part": ["split or sample"], "d": range(2, 11), "frequency": [0.0, 0.1, 0.5]}),
        Block({"part": ["surface"], "calibration": ["published", "same"], "d": range(2, 11)}),
        Block({"part": ["fakes"], "d": [2, 5, 10], "k": [4]}, collections),
    ]  # fmt: skip


STUDY = Study(
    name="variance",
    title="Which mechanism has the least variance, and where Var* misleads",
    question="Does the variance at f = 0, Var*, choose the right mechanism for one attribute and for several?",
    method=(
        "The exact variance of every oracle is computed over ε and f, and that of RS+FD over the number of attributes "
        "and of values. Choices by Var* are compared with choices by the exact variance, and intervals built on Var* "
        "with their exact coverage. RS+FD[GRR] is run on people to compare its dispersion with the formulas."
    ),
    trial=trials.trial,
    quick=_blocks(200),
    full=_blocks(2000),
    claims=[
        Claim("oue-minimises", "OUE's p = 1/2 and q = 1/(e^ε+1) are chosen to minimise the variance.", _SLIDES,
              f"{_OTHERS}, first reference", _oue_minimises),
        Claim("star-choice", "For an attribute with given ε and k, choose the mechanism that minimises Var*.", _SLIDES,
              "slide “Choisir un mécanisme pour un attribut”, “Méthode (discutable)”", _choice_by_star),
        Claim("one-over-n", "The variance is in 1/N, so the choice matters when N is small.", _SLIDES,
              f"{_OTHERS}, “Remarque (discutable)”", _one_over_n),
        Claim("zero-frequency", "The hypothesis fᵢ = 0 of the state of the art is debatable.", _SLIDES,
              f"{_OTHERS}, “Hypothèse (discutable)”", _zero_is_debatable),
        Claim("divided-budget", "For each attribute, Var*(ε/d) ≥ Var*(ε).", _SLIDES,
              "slide “Diviser le budget entre attributs”, first bullet", _divided),
        Claim("sampling-ignores-f", "The preference for sampling one attribute is limited to Var* and ignores fᵢ.",
              _SLIDES, "slide “Diviser le budget entre attributs”, “Un résultat problématique ?”", _sampling_and_f),
        Claim("fakes-unbiased", "f̂ᵢ = (rᵢdk − (qk + d − 1))/((p−q)k) is an unbiased estimator for RS+FD[GRR].", _SLIDES,
              "slide “Mise en RS+FD de M_GRR”, first formula", _fakes_unbiased),
        Claim("fakes-variance", "Its variance is d²/(N(p−q)²)·[fᵢδ₁(1−δ₁) + (1−fᵢ)/N·δ₀(1−δ₀)].", _SLIDES,
              "slide “Mise en RS+FD de M_GRR”, second formula", _fakes_variance),
        Claim("adaptive", "Neither RS+FD[GRR] nor RS+FD[OUE] is always better, so it is chosen per attribute.",
              _SLIDES, "slide “Un mécanisme adaptatif ADP”, “Pour chaque attribut”", _neither_always),
        Claim("surface-axis", "VAR₁ − VAR₂ runs from about −0.02 to 0.02 for N = 10,000 and ε = ln 3.", _SLIDES,
              "slide “Un mécanisme adaptatif ADP”, vertical axis of the surface", _printed_axis),
    ],
    plots=[
        Plot("oracles", "Var* against ε. Subset selection (SS) is never worse than the others; GRR joins it once "
             "k < 3e^ε + 2.", _draw_oracles),
        Plot("ratios", "How far each oracle is from the best at the same ε; GRR leaves the picture below ε = 2.",
             _draw_ratios),
        Plot("coverage", "Var* is the variance of a value that nobody has: intervals built on it hold too rarely for "
             "values that many have, even of the frequency among those who answered.", _draw_misleading),
        Plot("surface", "Blue: RS+FD[GRR] is better; orange: RS+FD[OUE]; the line is where they are equal.",
             _draw_surface),
    ],
    table=_table,
    version=2,
)  # fmt: skip
