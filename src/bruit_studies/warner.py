"""The cheating survey: two coins, ``f̂ = 2r − ½``, and other coins (Warner)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bruit import _checks
from bruit.entropy import Entropy
from bruit.rounding import log_ceiling
from bruit.tables import Table
from bruit_studies import Block, Claim, Plot, Study, StudyResults, Verdict, confirmed, drawing, refuted, slip

N = 1000
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Probabilities that the first coin says "tell the truth"; the second coin stays fair.
COINS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: Probabilities that the second coin says "yes", which it answers for those who do not tell the truth.
SECOND = (0.1, 0.25, 0.5, 0.75, 0.9)
_SLIDE = "slide “Motivation : estimation du pourcentage de tricheurs”"


@dataclass(frozen=True)
class Coins:
    """A survey with two coins of any bias: the first says whether to tell the truth, else the second answers.

    Parameters
    ----------
    first, second
        How often the first says "tell the truth", and the second "yes"; both between 0 and 1, as fractions.

    Guarantee
    ---------
    A yes comes with probability p = t + (1 − t)s from who would say yes and q = (1 − t)s from who would not. Both
    answers occur under both truths, so that the survey is ε-LDP for one answer with e^ε the larger of p/q and
    (1 − q)/(1 − p), and with no smaller ε. Both are fractions; the logarithm is rounded up.

    Error
    -----
    (r − q)/(p − q) has the variance [fp(1 − p) + (1 − f)q(1 − q)]/(N(p − q)²) for these N people. Of all surveys with
    the same ε the one with p + q = 1, whose second coin is fair, has the least, whatever f is: with R = e^ε and p = Rq
    it is [fR(1 − Rq) + (1 − f)(1 − q)]/(N(R − 1)²q), which falls in q up to where both ratios are R, and swapping yes
    and no gives the other side.

    Examples
    --------
    >>> Coins(Fraction(1, 2), Fraction(1, 2)).ratio, Coins(Fraction(1, 2), Fraction(1, 4)).ratio
    (Fraction(3, 1), Fraction(5, 1))
    >>> Coins(Fraction(1, 2), Fraction(1, 4)).variance(Fraction(3, 10), 1000)
    Fraction(47, 80000)
    """

    first: Fraction
    second: Fraction

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            _checks.probability(**{name: float(getattr(self, name))})

    @property
    def q(self) -> Fraction:
        """How often who would say no says yes."""
        return (1 - self.first) * self.second

    @property
    def p(self) -> Fraction:
        """How often who would say yes says yes."""
        return self.first + self.q

    @property
    def ratio(self) -> Fraction:
        """The greatest ratio between the probabilities of an answer under two truths."""
        return max(self.p / self.q, (1 - self.q) / (1 - self.p))

    @property
    def epsilon(self) -> float:
        """The logarithm of `ratio`, rounded up."""
        return log_ceiling(self.ratio)

    def variance(self, share: Fraction, n: int) -> Fraction:
        """The variance of the estimate for n people, of whom this share would say yes."""
        noise = share * self.p * (1 - self.p) + (1 - share) * self.q * (1 - self.q)
        return noise / (n * (self.p - self.q) ** 2)


def _exactly(probability: float) -> Fraction:
    return Fraction(str(probability))


def trial(*, part: str, rng: Entropy, **factors: float) -> dict[str, float]:
    """One survey of N students, answered with two coins; or what the table of probabilities says."""
    if part == "law":
        return _law()
    return _survey(rng=rng, **factors)


def _law() -> dict[str, float]:
    """The greatest ratio of the printed table, taken over two different true answers, as ε must be."""
    from bruit.oracles import RandomizedResponse

    no, yes = RandomizedResponse.two_coins().matrix()
    worst = max(max(a / b, b / a) for a, b in zip(no, yes, strict=True))
    return {"worst_ratio": float(worst), "printed_ratio": float(yes[1] / yes[1])}


def _survey(*, share: float, truth: float, rng: Entropy, second: float = 0.5) -> dict[str, float]:
    """Both coins are thrown for every student, as on the slide."""
    draw = rng.generator()
    cheated = np.arange(N) < round(share * N)
    honest, yes = draw.random(N) < truth, draw.random(N) < second
    observed = float(np.where(honest, cheated, yes).mean())
    # r = truth·f + (1 − truth)·second, solved for f: 2r − ½ with two fair coins.
    estimate = (observed - (1 - truth) * second) / truth
    return {"observed": observed, "estimate": estimate, "error": estimate - share}


def epsilon_of(truth: float) -> float:
    """ε of the survey whose first coin says "tell the truth" with this probability: ln((1 + t)/(1 − t))."""
    return math.log((1 + truth) / (1 - truth))


def variance_of(truth: float) -> float:
    """The variance of the estimate for these N students; it does not depend on f."""
    return (1 - truth**2) / (4 * N * truth**2)


def _unbiased(results: StudyResults) -> Verdict:
    error = results.where(part="coins").summary("error")
    if abs(error.mean) > 4 * error.error:
        return refuted(
            f"The mean error is {error.mean:+.5f}, {abs(error.mean / error.error):.1f} standard errors from 0."
        )
    return confirmed(
        f"Over {error.count:,} surveys of {N:,} students the mean error of 2r − ½ is {error.mean:+.5f} ± "
        f"{1.96 * error.error:.5f}: no bias is seen.",
        bias=error.mean,
        standard_error=error.error,
    )


def _observed_share(results: StudyResults) -> Verdict:
    rows = results.where(part="coins")
    gaps = rows["observed"] - (0.25 + rows["share"] / 2)
    worst = max(abs(float(np.mean(gaps[rows["share"] == share]))) for share in rows.values("share"))
    if worst > 0.01:
        return refuted(f"The mean observed share is {worst:.4f} away from 1/4 + f/2.")
    return confirmed(
        f"For every share f from 0 to 1 the mean observed share of yes is within {worst:.4f} of 1/4 + f/2.", gap=worst
    )


def _log_three(results: StudyResults) -> Verdict:
    ratio = results.where(part="law").mean("worst_ratio")
    if abs(ratio - 3) > 1e-12:
        return refuted(f"The greatest ratio between two true answers is {ratio:g}, so ε = {math.log(ratio):.4f}.")
    return confirmed(
        f"In exact fractions the greatest ratio between two true answers is {ratio:g}, so ε = ln 3 = "
        f"{math.log(ratio):.4f}.",
        ratio=ratio,
    )


def _printed_ratio(results: StudyResults) -> Verdict:
    row = results.where(part="law")
    if row.mean("printed_ratio") == row.mean("worst_ratio"):
        return confirmed(f"The printed middle term is {row.mean('printed_ratio'):g}, the greatest ratio.")
    return slip(
        f"The printed middle term is Pr[M(oui)=oui]/Pr[M(oui)=oui] = {row.mean('printed_ratio'):g}; the ratio that is "
        "3, and that the table above it gives, is Pr[M(oui)=oui]/Pr[M(non)=oui].",
        printed=row.mean("printed_ratio"),
        right=row.mean("worst_ratio"),
    )


def _number_or_share(results: StudyResults) -> Verdict:
    rows = results.where(part="coins", share=0.3)
    if abs(rows.mean("estimate") - 0.3) > abs(rows.mean("estimate") - 0.3 * N):
        return confirmed(f"With {0.3 * N:.0f} cheaters it gives {rows.mean('estimate'):.1f} on average.")
    return slip(
        f"2r − ½ estimates the share, as r is one and the title of the slide says, not the number: with "
        f"{0.3 * N:.0f} cheaters among {N:,} students it gives {rows.mean('estimate'):.3f} on average; the number is "
        "N(2r − ½).",
        estimate=rows.mean("estimate"),
    )


def _draw_estimates(results: StudyResults) -> Any:
    from bruit.figures import style

    rows = results.where(part="coins")
    errors = rows.curve("error", "share")
    spread = np.array([rows.where(share=share).quantiles("error", (0.025, 0.975)) for share in errors.x]) * 100
    ax = drawing.axes(
        "2r − ½ is right on average, N = 1,000, ε = ln 3",
        x="true share of cheaters f (%)",
        y="estimate − truth (percentage points)",
    )
    ax.fill_between(errors.x * 100, *spread.T, color=style.SKY, alpha=0.35, linewidth=0)
    ax.plot(errors.x * 100, errors.mean * 100, color=style.BLUE, marker="o", linewidth=1.8)
    reach = 1.96 * variance_of(0.5) ** 0.5 * 100
    for sign in (-1, 1):
        ax.axhline(sign * reach, color=style.VERMILLION, linestyle=drawing.DASHES[1], linewidth=1.4)
    ax.set_ylim(-1.75 * reach, 1.75 * reach)
    ax.annotate("±1.96 √(3/4N), the formula", (2, reach * 1.25), va="bottom")
    ax.annotate("mean of all surveys", (2, reach * 0.15), va="bottom")
    ax.annotate("95 % of surveys", (2, -reach * 0.6), va="bottom")
    worst = np.abs(errors.mean).max() * 100
    return drawing.describe(
        ax,
        f"Error of the estimate against the true share of cheaters, surveys of {N:,} students. The mean stays within "
        f"{worst:.2f} points of 0; 95 % of surveys lie within about {reach:.1f} points, as the formula says.",
    )


def _draw_coins(results: StudyResults) -> Any:
    rows = results.where(part="other coins")
    errors = {truth: part.summary("error") for truth, part in rows.by("truth")}
    truths = np.array(sorted(errors))
    seen = np.array([errors[truth].sd for truth in truths]) * 100
    epsilons = np.array([epsilon_of(truth) for truth in truths])
    fine = np.linspace(truths[0], truths[-1], 200)
    ax = drawing.axes(
        "Other coins, N = 1,000: less noise costs more ε",
        x="ε of the survey",
        y="standard deviation (points, log)",
        log="y",
    )
    formula = np.array([variance_of(t) ** 0.5 * 100 for t in fine])
    drawing.line(ax, np.array([epsilon_of(t) for t in fine]), formula, "formula", 0)
    ax.plot(epsilons, seen, "o", color="#1f2328", markersize=5, label="_seen")
    for truth, epsilon, sd in zip(truths, epsilons, seen, strict=True):
        ax.annotate(f"{truth:g}", (epsilon, sd), xytext=(5, 5), textcoords="offset points")
    ax.annotate("dots: observed,\nnamed by P(first coin\nsays “tell the truth”)", (0.55, 0.7), xycoords="axes fraction")
    return drawing.finish(
        ax,
        f"Standard deviation of the estimate against ε, {N:,} students, 30 % cheaters. It falls from {seen[0]:.1f} "
        f"points at ε = {epsilons[0]:.2f} to {seen[-1]:.1f} at ε = {epsilons[-1]:.2f}; dots follow the formula.",
        y=(1, 2, 5, 10, 20),
    )


def _draw_second(results: StudyResults) -> Any:
    rows = results.where(part="two coins")
    ax = drawing.axes(
        "Other second coins, N = 1,000: the fair one is best",
        x="ε of the survey",
        y="standard deviation (points, log)",
        log="y",
    )
    shown, notes, most = [0.01 * place for place in range(4, 100)], [], 4.0
    for place, second in enumerate(SECOND):
        surveys = [Coins(_exactly(round(truth, 2)), _exactly(second)) for truth in shown]
        sd = np.array([float(coins.variance(Fraction(3, 10), N)) ** 0.5 * 100 for coins in surveys])
        epsilons = np.array([coins.epsilon for coins in surveys])
        x = np.append(epsilons[epsilons < most], most)  # every line ends at the edge, where its name stands
        dashes = drawing.DASHES[0 if second == 0.5 else 1]
        drawing.line(ax, x, np.interp(x, epsilons, sd), f"{second:g}", place, dashes=dashes)
        half = rows.where(second=second, truth=0.5).summary("error").sd * 100
        notes.append(f"{second:g}: ε = {Coins(Fraction(1, 2), _exactly(second)).epsilon:.2f}, {half:.1f} points")
    for (truth, second), part in rows.by("truth", "second"):
        survey = Coins(_exactly(truth), _exactly(second))
        if survey.epsilon > most:
            continue
        ax.plot(survey.epsilon, part.summary("error").sd * 100, "o", color="#1f2328", markersize=4, label="_seen")
    ax.set_xlim(0, most)
    return drawing.finish(
        ax,
        f"Standard deviation of the estimate against ε, {N:,} students, 30 % cheaters, by how often the second coin "
        f"says yes. The fair coin has the lowest line. With a fair first coin: {'; '.join(notes)}.",
        y=(1, 2, 5, 10, 20, 50),
    )


def _table(results: StudyResults) -> Table:
    rows = []
    for truth, part in results.where(part="other coins").by("truth"):
        error = part.summary("error")
        cells = (epsilon_of(truth), error.mean * 100, error.sd * 100, variance_of(truth) ** 0.5 * 100)
        rows.append((f"{truth:g}", *(f"{cell:.2f}" for cell in cells)))
    columns = ("P(tell the truth)", "ε", "bias (points)", "observed sd", "sd by formula")
    return Table.of(f"Other first coins, {N:,} students, 30 % cheaters", columns, rows)


def _blocks(surveys: int) -> list[Block]:
    return [
        Block({"part": ["law"]}),
        Block({"part": ["coins"], "share": SHARES, "truth": [0.5]}, surveys),
        Block({"part": ["other coins"], "share": [0.3], "truth": COINS}, surveys),
        Block({"part": ["two coins"], "share": [0.3], "truth": [0.25, 0.5, 0.75], "second": SECOND}, surveys),
    ]


STUDY = Study(
    name="warner",
    title="The cheating survey with two coins",
    question="Is 2r − ½ unbiased, what is its variance, and what do other coins change?",
    method=(
        f"{N:,} students, of whom a share f cheated, throw two coins each and answer as the slide says. "
        "The survey is repeated for f from 0 to 1, for first coins that say “tell the truth” with other probabilities, "
        "and for second coins that are not fair. The privacy loss is computed in exact fractions from the law itself."
    ),
    trial=trial,
    quick=_blocks(400),
    full=_blocks(4000),
    claims=[
        Claim("warner-unbiased", "f̂ = 2r − ½ estimates the share of cheaters without bias.", "LDP slides",
              f"{_SLIDE}, “Questions en suspens”, first question", _unbiased),
        Claim("warner-observed", "The observed share of yes is about 1/4 + f/2.", "LDP slides",
              f"{_SLIDE}, probability tree", _observed_share),
        Claim("warner-ln3", "The survey with two fair coins is ln(3)-LDP.", "LDP slides",
              f"{_SLIDE}, second bullet under the table", _log_three),
        Claim("warner-ratio", "The likelihood ratio is bounded by Pr[M(oui)=oui]/Pr[M(oui)=oui] ≤ 3.", "LDP slides",
              f"{_SLIDE}, first bullet under the table", _printed_ratio),
        Claim("warner-number", "f̂ = 2r − ½ estimates the original number of yes.", "LDP slides",
              f"{_SLIDE}, “Estimation f̂ du nbre. original de oui”", _number_or_share),
    ],
    plots=[
        Plot("estimates", "Error of the estimate over surveys: the mean is at 0 and the dispersion is that of the "
             "formula, whatever the true share.", _draw_estimates),
        Plot("coins", "The first coin is a dial between privacy and precision: ε = ln((1 + t)/(1 − t)).", _draw_coins),
        Plot("second-coin", "Lines are named by how often the second coin says yes, dots are observed: at the same ε a "
             "fair one has the least variance.", _draw_second),
    ],
    table=_table,
)  # fmt: skip
