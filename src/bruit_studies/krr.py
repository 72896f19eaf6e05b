"""Marital status of Adult through generalised randomised response (kRR, GRR) at ε = 1."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit.tables import Table
from bruit_studies import Block, Claim, Plot, Study, StudyResults, Verdict, confirmed, drawing, improved, refuted

if TYPE_CHECKING:
    from bruit.oracles import RandomizedResponse

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
#: Up to this root mean squared error, in points, estimated frequencies are called similar.
SIMILAR = 2.0
#: How far 1 + ε may be from e^ε at ε = 0.1 to be called near.
NEAR_ONE = 0.01
_PROJECT, _SLIDES = "student project", "several-attributes slides"


@cache
def _people() -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Labels and counts of marital-status, once per process."""
    from bruit import datasets

    data = datasets.load("adult")
    labels = tuple(str(label) for label in data.schema["marital-status"].labels)
    column = data["marital-status"]
    return labels, np.array([int((column == label).sum()) for label in labels])


@cache
def _oracle(epsilon: float, k: int) -> RandomizedResponse:
    from bruit.oracles import RandomizedResponse

    return RandomizedResponse(epsilon=epsilon, k=k)


def trial(*, epsilon: float, people: str, rng: Entropy) -> list[dict[str, Any]]:
    """Everybody reports once; one row per marital status, with counts as in the project (equation 3).

    ``people="these"`` keeps the 48,842 people; ``"drawn anew"`` takes as many at random from a population like them.
    """
    labels, counts = _people()
    n = int(counts.sum())
    if people == "drawn anew":
        counts = rng.generator().multinomial(n, counts / n)
    oracle = _oracle(epsilon, len(labels))
    tally = oracle.simulate(counts, rng)
    estimate = oracle.estimate(tally).frequency
    truth = _people()[1] / n
    rows = zip(labels, truth, estimate, oracle.variance(truth, n, "people"), strict=True)
    return [
        {"status": label, "truth": f, "estimate": e, "error": e - f, "formula_sd": v**0.5} for label, f, e, v in rows
    ]


def _unbiased(results: StudyResults) -> Verdict:
    errors = [part.summary("error") for _, part in results.where(people="these", epsilon=1.0).by("status")]
    worst = max(abs(error.mean) / error.error for error in errors)
    bias = max(abs(error.mean) for error in errors)
    # Seven values: 4.5 standard errors happen once in 20,000 studies by chance.
    if worst > 4.5:
        return refuted(f"The mean error of one value is {worst:.1f} standard errors from 0.", bias=bias)
    return confirmed(
        f"Over {errors[0].count:,} repetitions the greatest mean error of the seven values is {bias:.2e}, "
        f"{worst:.1f} standard errors.",
        bias=bias,
    )


def _ratios(results: StudyResults, people: str, epsilon: float) -> NDArray[np.float64]:
    """Observed variance over the printed one, per value."""
    rows = results.where(people=people, epsilon=epsilon)
    return np.array([(part.summary("error").sd / part.mean("formula_sd")) ** 2 for _, part in rows.by("status")])


def _variance(results: StudyResults, epsilon: float, note: str) -> Verdict:
    ratios = _ratios(results, "these", epsilon)
    count = results.where(people="these", epsilon=epsilon, status=results.values("status")[0]).summary("error").count
    reach = 4.5 * (2 / count) ** 0.5
    evidence = (
        f"At ε = {epsilon:g} observed over printed variance lies between {ratios.min():.2f} and {ratios.max():.2f} for "
        "the seven values"
    )
    if np.abs(ratios - 1).max() > reach:
        return refuted(f"{evidence}.", low=ratios.min(), high=ratios.max())
    return confirmed(f"{evidence}{note}.", low=ratios.min(), high=ratios.max())


def _project_variance(results: StudyResults) -> Verdict:
    return _variance(results, 1.0, ", with δ₁ = e^ε/(k−1+e^ε) and δ₀ = 1/(k−1+e^ε), which the text does not define")


def _slide_variance(results: StudyResults) -> Verdict:
    return _variance(results, 5.0, ": fᵢ is the frequency among the N people, as the slide defines it")


def _similar(results: StudyResults) -> Verdict:
    rows = results.where(people="these", epsilon=1.0)
    relative = {label: part.summary("error").sd / part.mean("truth") for label, part in rows.by("status")}
    error = float(np.sqrt(np.mean(rows["error"] ** 2))) * 100
    good = [label for label, value in relative.items() if value < 0.1]
    worst = max(relative, key=lambda label: relative[label])
    evidence = f"The root mean squared error is {error:.2f} points"
    if len(good) == len(relative):
        return confirmed(f"{evidence}, below a tenth of each frequency.", error=error)
    if error > SIMILAR:
        return refuted(f"{evidence}, too far to be called similar.", error=error)
    on_simplex = _on_the_simplex(rows) * 100
    return improved(
        f"{evidence}, and {len(good)} of 7 frequencies come back to within a tenth of themselves. Estimates that are "
        f"put on the simplex (norm-sub), which costs no ε, err by {on_simplex:.2f}. Rare values stay hidden: the "
        f"dispersion for {worst} is {relative[worst]:.0f} times its frequency.",
        error=error,
        on_simplex=on_simplex,
        worst=relative[worst],
    )


def _on_the_simplex(rows: StudyResults) -> float:
    """The root mean squared error of the seven estimates of a run after norm-sub."""
    from bruit.estimation.consistency import norm_sub

    runs = [part for _, part in rows.by("repetition")]
    return float(np.sqrt(np.mean([(norm_sub(part["estimate"]) - part["truth"]) ** 2 for part in runs])))


def _near_one(_: StudyResults) -> Verdict:
    """How far 1 + ε is from e^ε."""
    gaps = {epsilon: math.exp(epsilon) / (1 + epsilon) - 1 for epsilon in (0.01, 0.1, 0.5, 1.0)}
    evidence = ", ".join(f"{100 * gap:.2g} % at ε = {epsilon:g}" for epsilon, gap in gaps.items())
    if gaps[0.1] > NEAR_ONE:
        return refuted(f"e^ε is above 1 + ε by {evidence}.", tenth=gaps[0.1])
    return confirmed(
        f"e^ε is above 1 + ε by {evidence}: near for small ε, as the slide says, and no longer at 1.", tenth=gaps[0.1]
    )


def law(epsilon: float, k: int) -> NDArray[np.float64]:
    """The law of GRR from its formula, a row per true value; it is defined at ε = 0 too."""
    weights = np.ones((k, k)) + (math.exp(epsilon) - 1) * np.eye(k)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _nothing_told(_: StudyResults) -> Verdict:
    """Whether reports at ε = 0 depend on the truth, and whether they say anything about it."""
    rows = law(0.0, 7)
    apart = float(np.abs(np.log(rows / rows[0])).max())
    rank = int(np.linalg.matrix_rank(rows))
    if apart > 0 or rank > 1:
        return refuted(f"At ε = 0 reports of two truths differ by a factor of up to {math.exp(apart):.3f}.", rank=rank)
    return confirmed(
        "At ε = 0 the law of the output is the same whatever the person's data are (the law, not each output). With "
        f"GRR over 7 values all rows of the law are equal: it has rank {rank}, and no estimator finds the frequencies.",
        rank=rank,
    )


def _is_ldp(_: StudyResults) -> Verdict:
    from bruit.oracles import RandomizedResponse

    worst = 0.0
    for epsilon in EPSILONS:
        matrix = RandomizedResponse(epsilon=epsilon, k=7).matrix()
        ratio = max(row[y] for row in matrix for y in range(7)) / min(row[y] for row in matrix for y in range(7))
        worst = max(worst, float(np.log(float(ratio))) / epsilon)
    if worst > 1 + 1e-9:
        return refuted(f"For k = 7 the greatest log-ratio of the exact law is {worst:.6f} ε.", share=worst)
    return confirmed(
        f"For k = 7 and the seven ε of the project, the greatest log-ratio of the exact law is {worst:.9f} ε.",
        share=worst,
    )


def _dispersion(rows: StudyResults) -> dict[float, float]:
    """Root mean variance over the values, for each ε."""
    return {
        epsilon: float(
            np.sqrt(np.mean([rows_of_value.summary("error").sd ** 2 for _, rows_of_value in part.by("status")]))
        )
        for epsilon, part in rows.by("epsilon")
    }


def _draw_frequencies(results: StudyResults) -> Any:
    from bruit.figures import style

    rows = results.where(people="these", epsilon=1.0)
    labels, truth = [], []
    ax = drawing.axes("Marital status at ε = 1, n = 48,842", x="share of people (%)", y="marital status", height=4.4)
    style.tidy(ax, grid="x")
    for place, (label, part) in enumerate(sorted(rows.by("status"), key=lambda item: item[1].mean("truth"))):
        low, high = part.quantiles("estimate", (0.025, 0.975)) * 100
        ax.plot([low, high], [place, place], color=style.BLUE, linewidth=5, alpha=0.45, solid_capstyle="butt")
        ax.plot(part.mean("estimate") * 100, place, "o", color=style.BLUE, markersize=6)
        ax.plot(part.mean("truth") * 100, place, "|", color=style.INK, markersize=15, markeredgewidth=1.6)
        labels.append(label)
        truth.append(part.mean("truth"))
    ax.set_yticks(range(len(labels)), labels)
    ax.axvline(0, color=style.MUTED, linewidth=0.8)
    shown = {"truth": ax.lines[2], "mean estimate": ax.lines[1], "95 % of estimates": ax.lines[0]}
    ax.legend(shown.values(), shown.keys(), loc="lower right", frameon=False)
    sd = rows.summary("error").sd * 100
    return drawing.describe(
        ax,
        f"Frequencies of the seven marital states, true and estimated at ε = 1. Mean estimates meet the truth; single "
        f"estimates vary by about {sd:.2f} points, which hides the rarest, {labels[0]} ({truth[0] * 100:.2f} %).",
    )


def _draw_dispersion(results: StudyResults) -> Any:
    ax = drawing.axes(
        "Dispersion of GRR, n = 48,842: the formula holds",
        x="ε (log scale)",
        y="standard deviation (points, log)",
        log="xy",
    )
    ends = {}
    for place, people in enumerate(("these", "drawn anew")):
        deviations = _dispersion(results.where(people=people))
        x = np.array(sorted(deviations))
        ends[people] = [deviations[epsilon] * 100 for epsilon in x]
        name = "the same people" if people == "these" else "people drawn anew"
        drawing.line(
            ax, x, np.array(ends[people]), name, place, dashes=drawing.DASHES[place], mark=drawing.MARKS[place]
        )
    rows = results.where(people="these")
    formula = [np.sqrt(np.mean(part["formula_sd"] ** 2)) * 100 for _, part in rows.by("epsilon")]
    ax.plot(x, formula, color="#1f2328", linewidth=0.9, label="formula (5)")
    return drawing.finish(
        ax,
        f"Root mean standard deviation of the seven estimates against ε, log scales. The same people: "
        f"{ends['these'][0]:.0f} points at ε = 0.01, {ends['these'][4]:.2f} at 1, {ends['these'][-1]:.3f} at 10, on "
        f"the formula. People drawn anew: the same, but no less than {ends['drawn anew'][-1]:.2f}.",
        x=EPSILONS,
        y=(0.01, 0.1, 1, 10, 100),
    )


def _table(results: StudyResults) -> Table:
    rows = []
    for label, part in results.where(people="these", epsilon=1.0).by("status"):
        error = part.summary("error")
        cells = (part.mean("truth"), part.mean("estimate"), error.sd, part.mean("formula_sd"))
        rows.append((label, *(f"{cell * 100:.2f}" for cell in cells)))
    columns = ("marital status", "true (%)", "mean estimate (%)", "observed sd", "sd by formula")
    return Table.of("Adult, 48,842 people, ε = 1; deviations in percentage points", columns, rows)


def _blocks(repetitions: int) -> list[Block]:
    return [Block({"epsilon": EPSILONS, "people": ["these", "drawn anew"]}, repetitions)]


#: The example of the slide on GRR: ε, the number of values, and the true one.
LAW_SHOWN = (1.0, 9, 6)


def _draw_law(_: StudyResults) -> Any:
    epsilon, k, true = LAW_SHOWN
    row = [float(share) for share in _oracle(epsilon, k).matrix()[true - 1]]
    ax = drawing.axes(f"GRR: what is reported for x = {true}", x="report", y="probability", height=3.3)
    for place, share in enumerate(row, 1):
        ax.bar(place, share, color=drawing.colour(int(place == true)), width=0.7)
        ax.annotate(f"{share:.3f}", (place, share), ha="center", xytext=(0, 3), textcoords="offset points")
    drawing.ticks(ax, range(1, k + 1))
    ax.set_ylim(0, 1.15 * max(row))
    text = (
        f"Bars of the law of GRR with ε = {epsilon:g} and {k} values: {row[true - 1]:.3f} for the true value {true}, "
    )
    return drawing.describe(ax, f"{text}{row[0]:.3f} for each other one; their ratio is e.")


STUDY = Study(
    name="krr",
    title="Marital status through generalised randomised response",
    question="Does the estimator give back the frequencies at ε = 1, with the dispersion of the formula?",
    method=(
        "All 48,842 people of Adult report their marital status through kRR, and the frequencies are estimated. "
        "This is repeated with the same people, and with people drawn anew from a population like them, for every ε of "
        "the project. Tallies are drawn from their exact law, which gives the same distribution as asking everybody."
    ),
    trial=trial,
    quick=_blocks(300),
    full=_blocks(3000),
    claims=[
        Claim("krr-unbiased", "f̂ᵢ = (k−1+e^ε)/(e^ε−1)·rᵢ − N/(e^ε−1) is an unbiased estimator of fᵢ.", _PROJECT,
              "§2, exercise 2.1, question 1, equation (3)", _unbiased),
        Claim("krr-variance", "Its variance is ((k−1+e^ε)/(e^ε−1))²·[fᵢδ₁(1−δ₁) + (N−fᵢ)δ₀(1−δ₀)].", _PROJECT,
              "§2, exercise 2.1, question 2, equations (4) and (5)", _project_variance),
        Claim("krr-similar", "At ε = 1 the estimator gives back frequencies similar to those of marital-status.",
              _PROJECT, "§2, exercise 2.2, question 4", _similar),
        Claim("krr-ldp", "Generalised randomised response is ε-LDP, evidently.", "LDP slides",
              "slide “Données catégorielles : M_GRR”, “Preuve d'ε-LDP : évidente !”", _is_ldp),
        Claim("small-epsilon", "Where ε is small, e^ε is about 1 + ε.", _SLIDES,
              "slide “Formalisation de la DP”, definition, last line", _near_one),
        Claim("zero-epsilon", "With ε = 0 no deviation is allowed: data are protected perfectly, and of no use.",
              _SLIDES, "slide “Formalisation de la DP”, “Budget de fuite”, second bullet", _nothing_told),
        Claim("grr-variance", "For N people Var[f̂ᵢ] = q(1−q)/(N(p−q)²) + fᵢ(1−p−q)/(N(p−q)).",
              _SLIDES, "slide “M_GRR : Réponse Randomisée Généralisée”, last formula",
              _slide_variance),
    ],
    plots=[
        Plot("law", "The law of GRR for ε = 1, k = 9 and x = 6: the true value is e times as likely as each other one.",
             _draw_law),
        Plot("frequencies", "True frequencies, the mean of the estimates, and where 95 % of single estimates lie.",
             _draw_frequencies),
        Plot("dispersion", "The printed formula is the dispersion for the same people; with people drawn anew, "
             "sampling remains however large ε is.", _draw_dispersion),
    ],
    table=_table,
)  # fmt: skip
