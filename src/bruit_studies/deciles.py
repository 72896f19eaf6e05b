"""The nine deciles: the histogram method as printed and corrected, better methods, and the accuracy theorem."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
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
    slip,
)
from bruit_studies.decile_lemmas import CLAIMS

if TYPE_CHECKING:
    from bruit.releases import Statistic

Floats = NDArray[np.float64]

METHODS = ("printed", "histogram", "inverse-sensitivity", "joint", "approximate", "auto")
#: What is drawn or taken, with the interval that is declared.
COLUMNS: dict[str, tuple[float, float]] = {
    "uniform": (0.0, 1.0),
    "normal": (-5.0, 5.0),
    "lognormal": (0.0, 100.0),
    "age": (17.0, 90.0),
    "hours-per-week": (1.0, 99.0),
}
DRAWN = ("uniform", "normal", "lognormal")
N, STEPS = 100_000, 1000
#: The theorem is looked at for the median of uniform records, within this of it.
GAMMA, EDGES = 0.05, 100
SIZES = (2_000, 5_000, 10_000, 17_400, 30_000)
_REPORT = "internship report"


@cache
def _release(method: str, bounds: tuple[float, float], steps: int, epsilon: float) -> Statistic:
    from bruit.releases import HistogramQuantiles, Quantiles
    from bruit.releases.quantiles import DECILES
    from bruit_studies.as_printed import DecilesAsPrinted

    if method == "printed":
        return DecilesAsPrinted(bounds=bounds, epsilon=epsilon, cells=steps)
    if method == "histogram":
        return HistogramQuantiles(bounds=bounds, epsilon=epsilon, cells=steps, noise="dwork-roth")
    return Quantiles(quantiles=DECILES, bounds=bounds, epsilon=epsilon, method=method)  # type: ignore[arg-type]


@cache
def _adult(column: str) -> Floats:
    from bruit import datasets

    return np.asarray(datasets.load("adult")[column], float)


def _records(column: str, generator: np.random.Generator, n: int) -> Floats:
    if column not in DRAWN:
        return _adult(column)
    if column == "uniform":
        return generator.random(n)
    return generator.standard_normal(n) if column == "normal" else generator.lognormal(size=n)


def trial(*, part: str, rng: Entropy, **factors: Any) -> dict[str, float] | list[dict[str, float]]:
    """One release of the nine deciles, compared with those of the records or of their law."""
    return _error(rng=rng, **factors) if part == "error" else _theorem(rng=rng, **factors)


def _error(*, column: str, method: str, epsilon: float, n: int, rng: Entropy) -> dict[str, float]:
    bounds = COLUMNS[column]
    records = np.sort(np.clip(_records(column, rng.generator(), int(n)), *bounds))
    release = _release(method, bounds, STEPS, epsilon)
    released = release.release(release.fold(records), rng=rng).values
    wanted = np.arange(1, 10) / 10 * records.size
    below, at_most = np.searchsorted(records, released, "left"), np.searchsorted(records, released, "right")
    # A decile that many records share is right if its rank is among theirs.
    rank = np.maximum(0, np.maximum(below - wanted, wanted - at_most))
    true = np.quantile(records, np.arange(1, 10) / 10, method="inverted_cdf")
    row = {"error": float(np.abs(released - true).mean()), "rank_error": float(rank.mean())}
    row["sample_mse"] = float(((released - true) ** 2).mean())
    if column in DRAWN:
        row["law_mse"] = float(((released - law_deciles(column)) ** 2).mean())
        row["sampling_mse"] = float(((true - law_deciles(column)) ** 2).mean())
    return row


@cache
def law_deciles(column: str) -> Floats:
    """The deciles of the law that records are drawn from.

    >>> law_deciles("normal").round(2).tolist()[:5]
    [-1.28, -0.84, -0.52, -0.25, 0.0]
    """
    from scipy import special

    shares = np.arange(1, 10) / 10
    normal = special.ndtri(shares)
    deciles: dict[str, Floats] = {"uniform": shares, "normal": normal, "lognormal": np.exp(normal)}
    return deciles[column]


def _theorem(*, n: int, steps: int, rng: Entropy) -> list[dict[str, float]]:
    """Whether each decile of n uniform records came within γ of that of the law, and what two bounds said before."""
    release = _release("histogram", (0.0, 1.0), steps, 1.0)
    released = release.release(release.fold(rng.generator().random(n)), rng=rng).values
    rows = []
    for decile, (printed, right) in enumerate(_bounds(n, steps), start=1):
        within = abs(released[decile - 1] - decile / 10) <= GAMMA
        rows.append({"decile": float(decile), "success": float(within), "printed": printed, "corrected": right})
    return rows


@cache
def _bounds(n: int, steps: int) -> tuple[tuple[float, float], ...]:
    """For each decile the printed and the corrected bound on the probability; 0 where nothing is promised."""
    from bruit.releases.quantiles import accuracy, uniform
    from bruit_studies.as_printed import accuracy_as_printed

    both = []
    for decile in range(1, 10):
        right = accuracy(n, epsilon=1.0, cells=steps, gamma=GAMMA, distribution=uniform(), quantile=decile / 10)
        printed = accuracy_as_printed(n, epsilon=1.0, cells=steps, gamma=GAMMA, decile=decile)
        both.append((printed, right.bound or 0.0))
    return tuple(both)


def _private(_: StudyResults) -> Verdict:
    """For counts below growing bounds when one record is replaced, which is the report's own neighbour.

    Such counts all move the same way, so that the noise on an answer must hide a difference of 1 and not of 2.
    """
    from bruit.releases import AboveThreshold

    session = AboveThreshold(epsilon=1 / 9, threshold=0, neighbours="replace")
    loss = 9 * float(session.threshold_noise.loss(1) + session.answer_noise.loss(1))
    if loss > 1:
        return refuted(f"Its exact loss is {loss:.6f} ε.", loss=loss)
    return confirmed(
        f"The exact loss of the nine sessions is {loss:.6f} ε under the report's own neighbours, one record that is "
        "replaced: its proof holds, and leaves a quarter to spare, because counts below growing bounds all move the "
        "same way.",
        loss=loss,
    )


def _above_threshold(_: StudyResults) -> Verdict:
    from bruit.releases import AboveThreshold

    textbook = float(AboveThreshold(epsilon=1.0, threshold=0).loss)
    tight = float(AboveThreshold(epsilon=1.0, threshold=0, monotone=True).loss)
    if textbook > 1:
        return refuted(f"The exact loss is {textbook:.6f} ε.", textbook=textbook)
    return confirmed(
        f"The exact loss is {textbook:.6f} ε. For counts, which all move the same way, half the noise on the answers "
        f"is enough ({tight:.6f} ε).",
        textbook=textbook,
        tight=tight,
    )


def _listing(results: StudyResults) -> Verdict:
    normal = results.where(part="error", column="normal", epsilon=1.0)
    printed, right = (normal.where(method=method).summary("error") for method in ("printed", "histogram"))
    evidence = f"On N(0, 1), n = 10⁵, ε = 1, the listing misses by {printed.mean:.3f} on average"
    if printed.low <= right.high:
        return confirmed(f"{evidence}, no more than a correct program ({right.mean:.4f}).", printed=printed.mean)
    return corrected(
        f"{evidence} because it forgets the offset a, twice, and counts from 0: with both mended it misses by "
        f"{right.mean:.4f}.",
        printed=printed.mean,
        corrected=right.mean,
    )


def beyond(n: int, steps: int, decile: int) -> float:
    """The probability that the listing, whose queries are never emptied, goes beyond its first copy of them.

    By the exact law of AboveThreshold at ε = 1/9, for uniform records.
    """
    from bruit.releases import AboveThreshold

    counts = np.arange(1, steps + 1) * n // steps
    session = AboveThreshold(epsilon=1 / 9, threshold=decile * n // 10, neighbours="replace")
    return float(np.exp(session.law(np.tile(counts, decile)).log_probabilities[steps:-1]).sum())


def _queries(_: StudyResults) -> Verdict:
    """What it does that the queries of earlier deciles stay in the list."""
    copies = sum(range(1, 10)) / 9
    away = {n: max(beyond(n, EDGES, decile) for decile in (8, 9)) for n in (100, 300, 1000)}
    worst = max(away, key=lambda n: away[n])
    if away[worst] == 0:
        return confirmed("No answer can come from a query of an earlier decile.", away=0.0)
    return slip(
        f"The list is never made empty, so that decile d is asked d copies of its questions, {copies:.0f} on "
        f"average. What is meant is plain. It hardly changes a result: with {EDGES} steps and ε = 1 an answer "
        f"from beyond the first copy, that is above b − a, has probability {away[worst]:.2%} at most (n = {worst}), "
        "and the ε is the same, however many questions there are.",
        away=away[worst],
        copies=copies,
    )


def printed_alpha(index: int, epsilon: float, beta: float) -> float:
    """α of the lemma as printed, whose k is the index that AboveThreshold returns: 0 for the first question."""
    return 8 * ((math.log(index) if index else -math.inf) + math.log(2 / beta)) / epsilon


def _lemma(_: StudyResults) -> Verdict:
    """The lemma against the exact law: the least α with which its proof's event has probability 1 − β."""
    from bruit.releases import AboveThreshold
    from bruit.releases.quantiles import above_threshold_accuracy

    printed = above_threshold_accuracy(k=STEPS, epsilon=1.0, beta=0.05)
    enough = AboveThreshold(epsilon=1.0, threshold=0).accuracy(STEPS, 0.05)
    if enough > printed:
        return refuted(f"For k = {STEPS}, β = 0.05, ε = 1 it takes α = {enough}, above {printed:.1f}.", needed=enough)
    evidence = f"for k = {STEPS:,}, β = 0.05 and ε = 1 it says α = {printed:.1f}, and α = {enough} is already enough"
    first = printed_alpha(0, 1.0, 0.05)
    if math.isinf(first):
        return corrected(
            f"It holds with k the number of questions: {evidence}. The text has the index that is returned in its "
            "place, which is 0 for the first question, so that α would be −∞ there.",
            printed=printed,
            enough=enough,
        )
    return confirmed(
        f"It holds: {evidence}.",
        printed=printed,
        enough=enough,
    )


def _printed_theorem(results: StudyResults) -> Verdict:
    rows = results.where(part="theorem", steps=EDGES)
    best = float(rows["printed"].max())
    success = rows.where(n=SIZES[-1]).summary("success").mean
    if best > success:
        return refuted(f"It promises {best:.2f}, and {success:.1%} is observed.", bound=best, success=success)
    if best > 0:
        return confirmed(f"The printed bound reaches {best:.2f}.", best=best)
    cases, worst = _mended(results)
    holds = "holds in all" if worst < 5 else f"fails by {worst:.1f} standard errors in one of the"
    return corrected(
        f"True, and empty: what is printed is {best:.2f} at best up to n = {SIZES[-1]:,}, while the method succeeds in "
        f"{success:.1%} of cases. Both sums in η = 2 − Σ + Σ are near 0, because the proof takes two good events for "
        f"their complements; Σ + Σ is meant. With η = Σ + Σ, ε/9 and the grid's step the bound {holds} {cases} cases "
        "in which it promises anything.",
        bound=best,
        success=success,
        cases=cases,
    )


def _mended(results: StudyResults) -> tuple[int, float]:
    """In how many cases the mended bound promises anything, and by how many standard errors it fails at most."""
    cases, worst = 0, 0.0
    for _, part in results.where(part="theorem").by("n", "steps", "decile"):
        promised = part.mean("corrected")
        if promised > 0:
            cases += 1
            missing = promised - part.mean("success")
            worst = max(worst, missing / math.sqrt(promised * (1 - promised) / len(part) + 1e-9))
    return cases, worst


def _epsilon_share(_: StudyResults) -> Verdict:
    from bruit.releases.quantiles import above_threshold_accuracy

    printed, right = (above_threshold_accuracy(STEPS, epsilon, 0.05) for epsilon in (1.0, 1 / 9))
    if right - printed < 1:
        return confirmed(f"With ε/9 in its place α is the same, {right:.0f} records.", printed=printed)
    return corrected(
        f"Each of the nine sessions has ε/9, so that α is nine times larger: {right:.0f} records instead of "
        f"{printed:.0f} at ε = 1, k = 1,000, β = 0.05.",
        printed=printed,
        corrected=right,
    )


def _normal_deciles(_: StudyResults) -> Verdict:
    from scipy import special

    shares = np.arange(1, 10) / 10
    gap = float(np.abs(np.sqrt(2) * special.erfinv(2 * shares - 1) - special.ndtri(shares)).max())
    if gap > 1e-9:
        return refuted(f"It is {gap:.1e} off the inverse of the normal distribution function.", gap=gap)
    return confirmed(f"It agrees with the inverse of the normal distribution function within {gap:.0e}.", gap=gap)


def comparisons(n: int, steps: int) -> int:
    """How often the printed program compares a record with a number, without noise: its loops, counted."""
    records, count = (np.arange(n) + 0.5) / n, 0
    for decile in range(1, 10):
        for step in range(1, steps + 1):
            count += n  # card({element in x | element < i*(b-a)/steps}) looks at every record
            if int((records < step / steps).sum()) > decile * n / 10:
                break
    return count


def _complexity(_: StudyResults) -> Verdict:
    shares = [comparisons(n, steps) / (n * steps) for n, steps in ((200, 50), (2000, 50), (200, 500))]
    if max(shares) > 2 * min(shares):
        return refuted(f"Comparisons over nk go from {min(shares):.1f} to {max(shares):.1f}.", most=max(shares))
    share = float(np.mean(shares))
    return improved(
        f"The printed program makes {share:.1f} nk comparisons, whatever n and k. One histogram and its running sum "
        f"answer all questions in n + 10k steps: {share * N * STEPS / (N + 10 * STEPS):,.0f} times fewer for n = 10⁵ "
        f"and k = {STEPS:,}; bruit's is that program.",
        share=share,
    )


def _better(results: StudyResults) -> Verdict:
    rows = results.where(part="error", epsilon=1.0, column=list(DRAWN))
    by = {method: part.mean("rank_error") for method, part in rows.by("method")}
    gain, missed = by["histogram"] / by["auto"], by["histogram"] / rows.mean("n")
    evidence = (
        f"The deciles of uniform, normal and lognormal records (n = {rows.mean('n'):,.0f}, ε = 1) come within "
        f"{by['histogram']:.0f} records in rank"
    )
    if missed > 0.05:
        return refuted(f"{evidence}, {missed:.0%} of all.", missed=missed)
    if gain < 1.1:
        return confirmed(f"{evidence}, and no other method comes closer.", gain=gain, missed=missed)
    return improved(
        f"{evidence}; recursive exponential choice comes {gain:.0f} times closer ({by['auto']:.1f} records).",
        gain=gain,
        missed=missed,
    )


def _draw_errors(results: StudyResults) -> Any:
    rows = results.where(part="error", column="normal")
    ax = drawing.axes(
        "Nine deciles of N(0, 1), n = 100,000", x="ε (log scale)", y="mean rank error (records, log)", log="xy"
    )
    curves = {method: rows.where(method=method).curve("rank_error", "epsilon") for method in METHODS[1:]}
    drawing.curves(ax, curves)
    values = ", ".join(f"{method} {curve.mean[-2]:.1f}" for method, curve in curves.items())
    return drawing.finish(
        ax,
        f"Mean rank error of the nine deciles against ε, by method, log scales. At ε = 1: {values}.",
        x=sorted(set(rows["epsilon"].tolist())),
    )


def _draw_squares(results: StudyResults) -> Any:
    panels, notes = drawing.panels(2, height=3.6), []
    for ax, column in zip(panels, ("uniform", "normal"), strict=True):
        rows = results.where(part="error", column=column)
        title = f"Nine deciles, {column} records, n = {rows.mean('n'):,.0f}"
        drawing.dress(ax, title, x="ε (log scale)", y="mean squared error (log scale)", log="xy")
        for method in ("histogram", "auto"):
            place = METHODS[1:].index(method)  # colours as in the figure of rank errors
            for of, dashes in (("law", drawing.DASHES[0]), ("sample", drawing.DASHES[1])):
                curve = rows.where(method=method).curve(f"{of}_mse", "epsilon")
                drawing.curve(ax, curve, f"{method}, {of}'s", place, dashes=dashes)
                notes.append(f"{column}, {method}, {of}'s: {curve.ends('.1e')}")
        own = rows.mean("sampling_mse")
        drawing.line(ax, curve.x, np.full(curve.x.size, own), "sample, no noise", 2, dashes=drawing.DASHES[2])
        notes.append(f"{column}, the sample's own deciles against the law's: {own:.1e}")
        drawing.ticks(ax, sorted(set(rows["epsilon"].tolist())))
        drawing.name_lines(ax)
    return drawing.describe(
        panels[0], f"Mean squared error of nine deciles, against the law's and the sample's own. {'; '.join(notes)}."
    )


def _draw_printed(results: StudyResults) -> Any:
    from bruit.figures import style

    rows = results.where(part="error", epsilon=1.0)
    ax = drawing.axes(
        "The listing and its mend, ε = 1, n = 10⁵",
        x="mean error / width of the interval (log)",
        y="column",
        log="x",
    )
    notes = []
    names = [column for column in COLUMNS if column in rows.values("column")]
    for place, column in enumerate(names):
        width = COLUMNS[column][1] - COLUMNS[column][0]
        for method, colour, mark in (("printed", style.PALETTE[1], "s"), ("histogram", style.PALETTE[0], "o")):
            summary = rows.where(column=column, method=method).summary("error")
            label = ("as printed" if method == "printed" else "mended") if place == 0 else None
            ax.plot(summary.mean / width, place, mark, color=colour, label=label, markersize=7)
            notes.append(f"{column} {method} {summary.mean / width:.4f}")
    ax.set_yticks(range(len(names)), names)
    ax.margins(y=0.2)
    ax.legend(loc="upper left", frameon=False, ncols=2, bbox_to_anchor=(0, 1.02))
    return drawing.describe(ax, "Mean error over the width of the interval: " + ", ".join(notes) + ".")


def _draw_theorem(results: StudyResults) -> Any:
    rows = results.where(part="theorem", steps=EDGES, decile=5)
    ax = drawing.axes("The median within 0.05, ε = 1: promised and seen", x="records n (log scale)",
                      y="probability (a bound below 0 is 0)", log="x")  # fmt: skip
    observed = rows.curve("success", "n")
    drawing.curve(ax, observed, "observed", 0)
    right, printed = rows.curve("corrected", "n"), rows.curve("printed", "n")
    # Both are cut at 0, below which a bound on a probability says nothing.
    drawing.line(ax, right.x, np.maximum(right.mean, 0), "corrected bound", 2, mark="^", dashes=drawing.DASHES[1])
    drawing.line(ax, printed.x, np.maximum(printed.mean, 0), "printed bound", 1, mark="s", dashes=drawing.DASHES[2])
    ax.set_ylim(-0.04, 1.04)
    return drawing.finish(
        ax,
        f"Probability that the noisy median of n uniform records lies within 0.05, 100 steps, ε = 1. Observed: "
        f"{observed.mean[0]:.2f} at 2,000 records, {observed.mean[-1]:.2f} at 30,000. The corrected bound: "
        f"{right.mean[0]:.2f} and {right.mean[-1]:.2f}. The printed one: 0 throughout, being "
        f"{printed.mean.max():.2f} at most.",
        x=SIZES,
    )


def _table(results: StudyResults) -> Table:
    rows = results.where(part="error", epsilon=1.0)
    columns = [column for column in COLUMNS if column in rows.values("column")]
    lines = []
    for method in METHODS:
        cells = [rows.where(method=method, column=column).summary("rank_error").text(",.1f") for column in columns]
        lines.append((method, *cells))
    return Table.of("Mean rank error of nine deciles at ε = 1, ± dispersion of a run", ("method", *columns), lines)


def _blocks(repetitions: int, epsilons: tuple[float, ...], runs: int) -> list[Block]:
    return [
        Block(
            {"part": ["error"], "column": list(COLUMNS), "method": METHODS, "epsilon": epsilons, "n": [N]}, repetitions
        ),
        Block({"part": ["theorem"], "n": SIZES, "steps": [EDGES]}, runs),
        Block({"part": ["theorem"], "n": [30_000], "steps": [7]}, runs),
    ]


def _draw_steps(_: StudyResults) -> Any:
    low, high, steps = 0.0, 1.0, 4
    edges = [low + place * (high - low) / steps for place in range(steps + 1)]
    ax = drawing.axes("The cut for a = 0, b = 1, steps = 4", x="value", y="query", width=6.2, height=3.0)
    for place in range(1, steps + 1):
        ax.plot([low, edges[place]], [place, place], color=drawing.colour(0), linewidth=5, solid_capstyle="butt")
        ax.plot([edges[place]] * 2, [0.4, place], color=drawing.colour(1), linewidth=1, linestyle=":")
    ax.set(ylim=(0.4, steps + 0.6), xlim=(low - 0.02, high + 0.02))
    ax.set_yticks(range(1, steps + 1), [f"f{place}" for place in range(1, steps + 1)])
    drawing.ticks(ax, edges)
    text = (
        "Query f i counts the records up to a + i (b − a)/4: up to 0.25, 0.5, 0.75 and 1. AboveThreshold goes through"
    )
    return drawing.describe(ax, f"{text} them until a noisy count passes the threshold, and the end is the decile.")


STUDY = Study(
    name="deciles",
    title="Nine deciles by AboveThreshold over a histogram, and better",
    question="How far are the deciles of the histogram method from the true ones, and does its theorem say so?",
    method=(
        "The nine deciles of 100,000 uniform, normal and lognormal records and of two columns of Adult are released by "
        "every method at the same ε. The error is counted in records between the result and the true rank, and in the "
        "unit of the data, also squared, and against the deciles of the law as well. The accuracy theorem, as printed "
        "and as corrected, is compared with how often the method came within γ."
    ),
    trial=trial,
    quick=_blocks(20, (0.1, 0.5, 1.0, 5.0), 300),
    full=_blocks(100, (0.1, 0.2, 0.5, 1.0, 2.0, 5.0), 2000),
    claims=[
        Claim("above-threshold-dp", "AboveThreshold with Lap(2/ε) on the threshold, Lap(4/ε) on answers is ε-DP.",
              _REPORT, "§2.1, theorem 2.1.0.1", _above_threshold),
        Claim("histogram-dp", "HistogramMethod is ε-DP.", _REPORT, "§2.2.1, theorem 2.2.1.1", _private),
        Claim("histogram-listing", "The listing computes the nine deciles.", _REPORT,
              "§2.2.1, listing HistogramMethod, lines 7 to 14", _listing),
        Claim("histogram-queries", "For each decile AboveThreshold is given the queries of that decile.", _REPORT,
              "§2.2.1, listing HistogramMethod, lines 5 to 13, queries", _queries),
        Claim("above-threshold-alpha", "AboveThreshold is accurate to α = 8(ln k + ln(2/β))/ε with probability 1 − β, "
              "k being what it returns.",
              _REPORT, "§2.2.1, lemma 2.2.1.1", _lemma),
        Claim("histogram-alpha", "In the accuracy of HistogramMethod, α = 8(ln k + ln(2/β))/ε.", _REPORT,
              "§2.2.3, theorem 2.2.3.1, first line of the system", _epsilon_share),
        Claim("histogram-theorem", "The i-th decile lies within γ with probability at least 1 − β − η − μ, as printed.",
              _REPORT, "§2.2.3, theorem 2.2.3.1", _printed_theorem),
        *CLAIMS,
        Claim("histogram-cost", "HistogramMethod as printed costs O(nk) for n records and k steps.", _REPORT, "§2.2.2",
              _complexity),
        Claim("normal-deciles", "The deciles of N(0, 1) are √2·erf⁻¹(0.2i − 1).", _REPORT, "§2.2.4, lemma 2.2.4.1",
              _normal_deciles),
        Claim("histogram-any-quantile", "The histogram method computes all deciles, or any quantiles.", _REPORT,
              "§2.2.1, first paragraph", _better),
    ],
    plots=[
        Plot("steps", "Figure 1 of the report: the queries of HistogramMethod count the records below each edge.",
             _draw_steps),
        Plot("rank-errors", "Rank error against ε by method; the band is the 95 % interval of the mean.", _draw_errors),
        Plot("squared-errors", "Mean squared error against both that the report names: the deciles of the sample and "
             "those of the law. With little noise the first goes on falling, the second ends at what the sample itself "
             "is off by.", _draw_squares),
        Plot("printed", "The printed listing forgets the offset of the interval. That ruins deciles below 0 or above "
             "b − a; elsewhere it is one step off.", _draw_printed),
        Plot("theorem", "What is promised beforehand and what is observed, for the median of uniform records.",
             _draw_theorem),
    ],
    table=_table,
    version=2,
)  # fmt: skip
