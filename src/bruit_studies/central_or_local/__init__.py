"""Naive Bayes, linear regression and k-means without privacy, on locally cleaned data, and with central privacy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from bruit_studies import (
    Block,
    Claim,
    Plot,
    Study,
    StudyResults,
    Verdict,
    confirmed,
    corrected,
    open_question,
    refuted,
)
from bruit_studies.central_or_local import comparing, exact, figures, theirs
from bruit_studies.central_or_local.comparing import SURE, always, by_epsilon, gaps_of, learns, listed, means, sure
from bruit_studies.central_or_local.figures import BAYES, LINES
from bruit_studies.central_or_local.trials import trial
from bruit_studies.claim import Kind
from bruit_studies.results import NoData

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 20.0, 30.0, 100.0)
_SLIDES = "learning slides"
Judge: TypeAlias = Callable[[StudyResults], Verdict]


def _of_theirs(of_theirs: Judge, ours: Judge) -> Judge:
    """The judge of a claim about diffprivlib's models: those decide, and bruit's are shown beside them.

    Where bruit's do otherwise, a slide that is right on its own terms is improved on, and not contradicted.
    """
    return partial(_with_ours, of_theirs, ours)


def _with_ours(of_theirs: Judge, ours: Judge, results: StudyResults) -> Verdict:
    try:
        verdict = of_theirs(results)
    except NoData:
        return _without_theirs(ours(results))
    try:
        beside = ours(results)
    except NoData:
        return verdict
    sentence = f"diffprivlib's models: {verdict.sentence} bruit's: {beside.sentence}"
    kind: Kind = "improved" if verdict.kind == "confirmed" != beside.kind else verdict.kind
    return Verdict(kind, sentence, verdict.figures)


def _without_theirs(verdict: Verdict) -> Verdict:
    """Other models may agree with a claim, and cannot contradict it."""
    if verdict.kind == "confirmed":
        return verdict
    return open_question(
        f"The slide's models are diffprivlib's, which were not run here. With bruit's: {verdict.sentence}",
        **verdict.figures,
    )


def _gnb_best(results: StudyResults) -> Verdict:
    return always(results, "gnb", "GNB", {key: f"“{name}”" for key, name in BAYES.items()})


def _dp_beats_stair(results: StudyResults) -> Verdict:
    forms = (("dp_gnb", "DP-GNB as in bruit"), ("vaidya", "Vaidya's form, sensitivities corrected,"))
    verdicts = [always(results, key, name, {"stair_gnb": "M_Stair + GNB"}) for key, name in forms]
    kinds = {verdict.kind for verdict in verdicts}
    evidence = " ".join(verdict.sentence for verdict in verdicts)
    values = {"doubtful": verdicts[0].figures["doubtful"], "vaidya_doubtful": verdicts[1].figures["doubtful"]}
    if kinds == {"confirmed"}:
        return confirmed(evidence, **values)
    return refuted(evidence, **values) if "refuted" in kinds else corrected(evidence, **values)


def _lr_best(results: StudyResults) -> Verdict:
    return always(results, "lr", "LR", {key: f"“{name}”" for key, name in LINES.items()})


def _stair_gnb_random(results: StudyResults) -> Verdict:
    rows = by_epsilon(results, (0.1, 10.0))
    good, majority = learns(rows, "stair_gnb"), results.where(part="pima").mean("majority")
    evidence = f"Its accuracy is {means(rows, 'stair_gnb')}; a coin has 0.5, the majority class {majority:.3f}"
    if good:
        return corrected(
            f"{evidence}, which it beats for sure by two points at {listed(good)}.", first=good[0], majority=majority
        )
    return confirmed(f"{evidence}, which it beats nowhere for sure by two points.", majority=majority)


def _dp_gnb_interest(results: StudyResults) -> Verdict:
    rows = by_epsilon(results, (10.0, 30.0))
    lost = gaps_of(rows, "gnb", "dp_gnb")
    worst = max(lost, key=lambda epsilon: lost[epsilon].mean)
    good = learns(rows, "dp_gnb")
    far = max(gap.mean + SURE * gap.error for gap in lost.values())
    evidence = f"DP-GNB loses at most {comparing.lost(lost[worst])} points to GNB in [10, 30]"
    if len(good) < len(rows) or far > 0.05:
        return refuted(f"{evidence}.", lost=lost[worst].mean)
    first = next((epsilon for epsilon in by_epsilon(results) if epsilon in learns(by_epsilon(results), "dp_gnb")), 10.0)
    vaidya = max(gaps_of(rows, "gnb", "vaidya").values(), key=lambda gap: gap.mean)
    return confirmed(
        f"{evidence}, Vaidya's form at most {comparing.lost(vaidya)} points: privacy "
        f"for next to nothing. The interest begins earlier: from ε = {first:g} on DP-GNB beats the majority class for "
        "sure by two points.",
        lost=lost[worst].mean,
        first=first,
    )


def _dispersion(results: StudyResults) -> Verdict:
    rows, count = by_epsilon(results), 0
    ratios: dict[str, dict[float, float]] = {"functional": {}, "dp_lr": {}, "stair_lr": {}}
    for epsilon, part in rows.items():
        count = part.summary("lr").count
        for metric, spread in ratios.items():
            spread[epsilon] = part.summary(metric).sd / max(part.summary("lr").sd, 1e-9)
    # The logarithm of a ratio of two deviations from n runs each has a standard error of at most 1/√(n − 1).
    high = {
        key: [epsilon for epsilon, ratio in spread.items() if np.log(ratio) > SURE / (count - 1) ** 0.5]
        for key, spread in ratios.items()
    }
    evidence = "; ".join(
        f"{name} up to {max(ratios[key].values()):.1f} times (for sure at {listed(high[key])})"
        for key, name in (("functional", "functional mechanism"), ("dp_lr", "noisy sums of products"),
                          ("stair_lr", "M_Stair + LR"))
    )  # fmt: skip
    sentence = f"Deviation of a run's accuracy over that of LR: {evidence}."
    values = {key: max(spread.values()) for key, spread in ratios.items()}
    if not high["functional"]:
        return refuted(sentence, **values)
    if max(ratios["dp_lr"].values()) > max(ratios["functional"].values()) / 2:
        return confirmed(sentence, **values)
    return corrected(f"Of the functional mechanism, not of every DP regression. {sentence}", **values)


def _lr_random(results: StudyResults) -> Verdict:
    rows = by_epsilon(results, (0.1, 10.0))
    good = {metric: learns(rows, metric) for metric in ("stair_lr", "functional", "dp_lr")}
    majority = results.where(part="pima").mean("majority")
    evidence = "; ".join(
        f"{name} {means(rows, metric)}, beats the majority class ({majority:.3f}) for sure by two points at "
        f"{listed(good[metric])}"
        for metric, name in (("stair_lr", "M_Stair + LR"), ("functional", "functional"), ("dp_lr", "noisy sums"))
    )
    if not any(good.values()):
        return confirmed(f"{evidence}.", majority=majority)
    if all(good.values()):
        return refuted(f"{evidence}.", majority=majority)
    names = {"stair_lr": "M_Stair + LR", "functional": "the functional mechanism", "dp_lr": "noisy sums of products"}
    true = " and ".join(names[metric] for metric, epsilons in good.items() if not epsilons)
    return corrected(f"True of {true} only: {evidence}.", majority=majority)


def _listing(results: StudyResults) -> Verdict:
    rows = by_epsilon(results)
    gaps = gaps_of(rows, "lr", "functional")
    least = min(rows)
    shown, true = rows[least].mean("lr"), rows[least].mean("functional")
    evidence = f"at ε = {least:g} an ordinary regression has {shown:.3f} and the functional mechanism {true:.3f}"
    if least not in sure(gaps, 1):
        return confirmed(f"Which model predicts makes no sure difference: {evidence}.", gap=gaps[least].mean)
    return corrected(
        f"It fits private_clf but predicts with reg, another model. If that is the ordinary one, the score is that of "
        f"no privacy whatever ε is: {evidence}. The line must call private_clf.predict.",
        shown=shown,
        true=true,
    )


def _stair_lr_wins(results: StudyResults) -> Verdict:
    rows = by_epsilon(results, (10.0, 30.0))
    gaps = {metric: gaps_of(rows, "stair_lr", metric) for metric in ("functional", "dp_lr")}
    evidence = "; ".join(
        f"against {name} "
        + ", ".join(f"{gap.points()} points at ε = {epsilon:g}" for epsilon, gap in gaps[metric].items())
        for metric, name in (("functional", "the functional mechanism"), ("dp_lr", "noisy sums of products"))
    )
    better = [epsilon for by in gaps.values() for epsilon in sure(by, 1)]
    if len(better) == 2 * len(rows):
        return confirmed(f"M_Stair + LR {evidence}.")
    if not better:
        return refuted(f"M_Stair + LR {evidence}.")
    return corrected(
        f"For sure only at {listed(sure(gaps['functional'], 1))} against the functional mechanism, and at "
        f"{listed(sure(gaps['dp_lr'], 1))} against noisy sums of products: M_Stair + LR {evidence}.",
        first=min(better),
    )


def _blocks(runs: int, fits: int) -> list[Block]:
    parts = {"pima": runs, "iris": fits, "logistic": runs}
    return [Block({"part": [part], "epsilon": EPSILONS}, repetitions) for part, repetitions in parts.items()]


_NB, _LR = "slide “GNB vs M_Stair + GNB vs DP-GNB”", "slide “LR vs M_Stair + LR vs DP-LR”"
_EVALUATE, _SENSITIVITY = "slide “Evaluer Pr[Y_j] et Pr[X_i|Y_j]”", "slide “Sensibilité et budget ε”"

STUDY = Study(
    name="central-or-local",
    title="Learning: no privacy, local noise first, or differential privacy",
    question="What does learning cost when the data are cleaned locally, and when the model itself is private?",
    method=(
        "Pima (768 people, zeros that mean “missing” replaced by medians as in the course) is split 80/20. Naive Bayes "
        "and linear regression, cut at 0.5, learn without privacy; from staircase reports (ε/9 for each of eight "
        "attributes and for the label, tested on reports against true labels); and with differential privacy of the "
        "same global ε; Vaidya's algorithm also as printed. k-means with three centres runs on the 150 flowers of "
        "Iris, as printed and as bruit does it. Logistic regression is that of the functional mechanism, as the paper "
        "that the slides cite prints it. Bounds are those declared with the data, never read from them. "
        "diffprivlib's models, which the slides use, stand beside bruit's: their runs are recorded, cleaned by the "
        "staircase of the listing, which leaks more than its ε, and tested on true labels."
    ),
    trial=trial,
    quick=_blocks(200, 100),
    full=_blocks(1000, 1000),
    claims=[
        Claim("learning-gnb-best", "GNB without privacy is always more accurate.", _SLIDES,
              f"{_NB}, “Interprétation des résultats”, first point", _of_theirs(theirs.gnb_best, _gnb_best)),
        Claim("learning-dp-gnb-beats-stair", "DP-GNB is always more accurate than M_Stair + GNB.", _SLIDES,
              f"{_NB}, “Interprétation des résultats”, second point",
              _of_theirs(theirs.dp_beats_stair, _dp_beats_stair)),
        Claim("learning-stair-gnb-random", "For ε in [0.1, 10], M_Stair + GNB is close to random.", _SLIDES,
              f"{_NB}, “Interprétation des résultats”, third point", _stair_gnb_random),
        Claim("learning-dp-gnb-interest", "For ε in [10, 30] there is an interest in DP-GNB against GNB (put as a "
              "question).", _SLIDES, f"{_NB}, “Interprétation des résultats”, fourth point",
              _of_theirs(theirs.dp_gnb_interest, _dp_gnb_interest)),
        Claim("learning-lr-best", "LR without privacy is always more accurate.", _SLIDES,
              f"{_LR}, “Interprétation des résultats”, first point", _of_theirs(theirs.lr_best, _lr_best)),
        Claim("learning-dp-lr-variance", "DP-LR has a high variance.", _SLIDES,
              f"{_LR}, “Interprétation des résultats”, second point", _of_theirs(theirs.dispersion, _dispersion)),
        Claim("learning-lr-random", "For ε in [0.1, 10], DP-LR and M_Stair + LR are about random.", _SLIDES,
              f"{_LR}, “Interprétation des résultats”, third point", _of_theirs(theirs.lr_random, _lr_random)),
        Claim("learning-stair-lr-wins", "For ε in [10, 30], M_Stair + LR is more accurate than DP-LR.", _SLIDES,
              f"{_LR}, “Interprétation des résultats”, fourth point", _of_theirs(theirs.stair_lr_wins, _stair_lr_wins)),
        Claim("learning-dp-lr-listing", "The listing measures the accuracy of DP-LR.", _SLIDES,
              "slide “Avec Diffprivlib”, line y_pred of experimentDPLR", _listing),
        Claim("learning-listing-import", "After import diffprivlib.models as dp, dp.models.GaussianNB and "
              "dp.models.LinearRegression are the private models.", _SLIDES,
              "slides “Remarques et implantation” and “Avec Diffprivlib”, lines import and private_clf",
              theirs.import_line),
        Claim("learning-listing-bounds", "Given epsilon alone, the models of the three listings are ε-DP (our "
              "reading).", _SLIDES,
              "slides “Remarques et implantation”, “Avec Diffprivlib” and “K-means avec DiffPrivLib”",
              theirs.without_bounds),
        Claim("kmeans-listing-labels", "What the listing prints of k-means at ε = 1, centres and labels, is "
              "differentially private.", _SLIDES, "slide “K-means avec DiffPrivLib”, last two lines", theirs.labels),
        Claim("learning-discrete-example", "A young woman with a medium income misses her payment: 1/40 against 1/180.",
              _SLIDES, "slides “Exemple avec des données discrètes-1” and “-2”", exact.discrete_example),
        Claim("learning-continuous-example", "The person of 183 cm, 59 kg and 20 cm is probably a woman: 1.52·10⁻⁵ "
              "against 1.34·10⁻¹⁰.", _SLIDES, "slides “Exemple avec des données continues-1” and “-2”",
              exact.continuous_example),
        Claim("learning-mean-sensitivity", "Laplace noise for sensitivity (U−L)/(n+1) makes the mean of a class ε-DP.",
              _SLIDES, f"{_EVALUATE}, continuous attribute, second point", exact.mean_sensitivity),
        Claim("learning-variance-sensitivity", "Laplace noise for sensitivity n(U−L)/(n+1) makes its variance ε-DP.",
              _SLIDES, f"{_EVALUATE}, continuous attribute, third point", exact.variance_sensitivity),
        Claim("learning-class-counts", "With nc'ⱼ ← ncⱼ + Laplace(0, 1) the parameters are differentially private for "
              "the given ε.", _SLIDES, "slide “Algorithme de Vaidya”, line 18", exact.class_counts),
        Claim("learning-budget", "ε/(d+1) for each attribute and for Y makes ε in all.", _SLIDES,
              "slide “Remarques et implantation”, with lines 8 to 13 of “Algorithme de Vaidya”", exact.budget),
        Claim("least-squares-example", "For D = {(1, 0.4), (0.9, 0.3), (−0.5, −1)} least squares gives "
              "ω̂ = (−564/1055, 393/422), with the printed X and check.", _SLIDES,
              "slide “Exemple”, after “Estimateur des moindres carrés ordinaires (MCO)”", exact.least_squares_example),
        Claim("least-squares-unbounded", "The sensitivity of ω̂ is unbounded.", _SLIDES,
              "slide “Algorithme ε-DP” (linear regression), “Quoi bruite ?”, first point", exact.unbounded),
        Claim("functional-sensitivity", "The coefficients of f_D(ω) have a sensitivity of at most Δ = 2(1+d)².",
              _SLIDES, "slide “Algorithme ε-DP” (linear regression), “Quoi bruite ?”, second point",
              exact.functional_sensitivity),
        Claim("functional-example", "In the example d = 1, so Δ = 8 and the printed noisy function is 10-DP.", _SLIDES,
              "slide “Exemple (suite)”", exact.functional_example),
        Claim("functional-logistic", "The mechanism serves logistic regression, too: with Δ = d²/4 + 3d for the "
              "coefficients of the cost up to second order it is ε-DP.", _SLIDES,
              "slide “Algorithme ε-DP” (linear regression), reference 7, its case of logistic regression",
              exact.functional_logistic),
        Claim("kmeans-sensitivities", "Counts have sensitivity 1, sums d·r, and ε/2t for each over t steps is ε-DP.",
              _SLIDES, _SENSITIVITY, exact.kmeans_sensitivities),
        Claim("learning-histogram-sensitivity", "A histogram has sensitivity 1.", _SLIDES,
              f"{_EVALUATE}, first and second block", exact.histogram_sensitivity),
        Claim("kmeans-assignment", "Assigning records to groups is internal and leaks nothing.", _SLIDES,
              "slide “Exemple, synthèse”, “Points clés en terme de fuite de données”, 2", exact.assignment),
        Claim("kmeans-update", "Publishing the updated centres and sizes leaks.", _SLIDES,
              "slide “Exemple, synthèse”, “Points clés en terme de fuite de données”, 3", exact.update),
        Claim("kmeans-convergence", "Steps that end at convergence, t at most, are ε-DP with ε/t for each.", _SLIDES,
              "slide “Algorithme simplifié ε-DP”, point 2, with “Sensibilité et budget ε”", exact.convergence),
        Claim("kmeans-start", "Choosing the initial centres at random leaks nothing.", _SLIDES,
              "slide “Exemple, synthèse”, “Points clés en terme de fuite de données”, 1", exact.random_start),
    ],
    plots=[
        Plot("naive-bayes", "Mean accuracy of naive Bayes with a band of one standard deviation of a run, as the slide "
             "shows it; dashes show levels without ε. Vaidya's algorithm as printed is not private at the ε it is "
             "given.",
             partial(figures.accuracy, title="Naive Bayes on Pima, n = 768, bruit", models=figures.SHOWN, clean="gnb")),
        Plot("regression", "Mean accuracy of linear regression with a band of one standard deviation of a run, as the "
             "slide shows it.",
             partial(figures.accuracy, title="Linear regression on Pima, n = 768, bruit", models=LINES, clean="lr")),
        Plot("naive-bayes-diffprivlib", "The slide's own models and cleaning: mean accuracy with a band of one "
             "standard deviation of a run.",
             partial(figures.theirs, title="Naive Bayes on Pima, n = 768, diffprivlib", clean="gnb",
                     models={"dp_gnb": "DP-GNB", "dp_gnb_bounded": "with bounds", "stair_gnb": "staircase first"})),
        Plot("regression-diffprivlib", "The slide's own regressions: mean accuracy with a band of one standard "
             "deviation of a run.",
             partial(figures.theirs, title="Linear regression on Pima, n = 768, diffprivlib", clean="lr",
                     models={"dp_lr": "DP-LR", "dp_lr_bounded": "with bounds", "stair_lr": "staircase first"})),
        Plot("logistic", "Logistic regression by the functional mechanism as its paper prints it, with the 95 % band "
             "of the mean.", figures.logistic),
        Plot("adult", "The listing on income: diffprivlib's naive Bayes on the numbers of Adult, 20 splits at each ε, "
             "with one standard deviation of a run.", figures.adult),
        Plot("dispersion", "Standard deviation of the accuracy of one run: the high variance belongs to the functional "
             "mechanism and to staircase reports.", figures.dispersion),
        Plot("kmeans-steps", "The steps of k-means without privacy, from the records (0a) to stable groups.",
             figures.kmeans_steps),
        Plot("iris", "Sum of squared distances from the nearest centre, over that of ordinary k-means, with the 95 % "
             "band of the mean.", figures.iris),
    ],
    table=figures.table,
    version=2,
)  # fmt: skip
