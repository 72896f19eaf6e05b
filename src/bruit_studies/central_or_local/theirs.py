"""Judges of the claims about diffprivlib's models and of the listings that use them, on recorded runs.

How they were made: ``bench/documents.py``, with diffprivlib in an environment of its own.
"""

from __future__ import annotations

import numpy as np

from bruit_studies.central_or_local import comparing
from bruit_studies.claim import Verdict, confirmed, corrected, refuted, slip
from bruit_studies.results import StudyResults

#: The part of the results with diffprivlib's models on Pima.
PART = "diffprivlib pima"


def gnb_best(results: StudyResults) -> Verdict:
    """GNB against both private models."""
    return comparing.always(results, "gnb", "GNB", {"dp_gnb": "DP-GNB", "stair_gnb": "M_Stair + GNB"}, PART)


def dp_beats_stair(results: StudyResults) -> Verdict:
    """DP-GNB against cleaning first."""
    return comparing.always(results, "dp_gnb", "DP-GNB", {"stair_gnb": "M_Stair + GNB"}, PART)


def lr_best(results: StudyResults) -> Verdict:
    """LR against both private models."""
    return comparing.always(results, "lr", "LR", {"dp_lr": "DP-LR", "stair_lr": "M_Stair + LR"}, PART)


def dp_gnb_interest(results: StudyResults) -> Verdict:
    """What DP-GNB loses to GNB where ε is large."""
    rows = comparing.by_epsilon(results, (10.0, 30.0), PART)
    lost = comparing.gaps_of(rows, "gnb", "dp_gnb")
    worst = max(lost, key=lambda epsilon: lost[epsilon].mean)
    far = max(gap.mean + comparing.SURE * gap.error for gap in lost.values())
    evidence = f"DP-GNB loses at most {comparing.lost(lost[worst])} points to GNB in [10, 30]"
    learns = comparing.learns(rows, "dp_gnb")
    if far < 0.05 and len(learns) == len(rows):
        return confirmed(f"{evidence}.", lost=lost[worst].mean)
    if not learns:
        return refuted(
            f"{evidence}, and does not beat the majority class for sure by two points.", lost=lost[worst].mean
        )
    return corrected(
        f"{evidence}, and beats the majority class for sure by two points at {comparing.listed(learns)}.",
        lost=lost[worst].mean,
    )


def dispersion(results: StudyResults) -> Verdict:
    """The deviation of a run of DP-LR over that of LR."""
    rows = comparing.by_epsilon(results, part=PART)
    ratios = {epsilon: part.summary("dp_lr").sd / max(part.summary("lr").sd, 1e-9) for epsilon, part in rows.items()}
    count = min(part.summary("lr").count for part in rows.values())
    sure = [epsilon for epsilon, ratio in ratios.items() if np.log(ratio) > comparing.SURE / (count - 1) ** 0.5]
    sentence = (
        f"a run of DP-LR deviates {min(ratios.values()):.1f} to {max(ratios.values()):.1f} times as much as one of LR "
        f"(for sure more at {comparing.listed(sure)})."
    )
    # Where ε is large there is hardly any noise: the slide does not say "at every ε".
    judge = confirmed if 2 * len(sure) >= len(rows) else corrected if sure else refuted
    return judge(sentence, least=min(ratios.values()), most=max(ratios.values()))


def lr_random(results: StudyResults) -> Verdict:
    """Whether either private regression beats the majority class where ε is at most 10."""
    rows = comparing.by_epsilon(results, (0.1, 10.0), PART)
    names = {"dp_lr": "DP-LR", "stair_lr": "M_Stair + LR"}
    good = {metric: comparing.learns(rows, metric) for metric in names}
    majority = results.where(part=PART).mean("majority")
    evidence = "; ".join(f"{name} {comparing.means(rows, metric)}" for metric, name in names.items())
    sentence = f"{evidence}; a coin has 0.5, the majority class {majority:.3f}."
    if not any(good.values()):
        return confirmed(sentence, majority=majority)
    return (refuted if all(good.values()) else corrected)(sentence, majority=majority)


def stair_lr_wins(results: StudyResults) -> Verdict:
    """Cleaning first against DP-LR where ε is large."""
    rows = comparing.by_epsilon(results, (10.0, 30.0), PART)
    gaps, bounded = comparing.gaps_of(rows, "stair_lr", "dp_lr"), comparing.gaps_of(rows, "stair_lr", "dp_lr_bounded")
    better = comparing.sure(gaps, 1)
    shown = (", ".join(f"{gap.points()} at ε = {epsilon:g}" for epsilon, gap in by.items()) for by in (gaps, bounded))
    sentence = "M_Stair + LR minus DP-LR in points: {}; with declared bounds {}.".format(*shown)
    figures = {f"at_{epsilon:g}": gap.mean for epsilon, gap in gaps.items()}
    if len(better) == len(rows):
        return confirmed(sentence, **figures)
    return (
        corrected(f"For sure at {comparing.listed(better)}: {sentence}", **figures)
        if better
        else refuted(sentence, **figures)
    )


def import_line(results: StudyResults) -> Verdict:
    """Whether the models are where the listings look for them."""
    rows = results.where(listing=["GaussianNB as imported", "LinearRegression as imported"])
    stops = [text for text in rows["stops"].tolist() if text]
    if not stops:
        return confirmed("The two calls run as they are imported.", stops=0)
    return slip(
        f"Both stop ({stops[0]}): after import diffprivlib.models as dp the models are dp.GaussianNB and "
        "dp.LinearRegression, as the k-means listing has it.",
        stops=len(stops),
    )


def without_bounds(results: StudyResults) -> Verdict:
    """Whether the calls without bounds say that they leak."""
    listings = [f"{model} without bounds" for model in ("GaussianNB", "LinearRegression", "KMeans")]
    leaking = sum(results.where(listing=listings)["leaks"].tolist())
    if not leaking:
        return confirmed("No model reads its bounds from the data.", leaking=0)
    rows = results.where(part=PART, epsilon=10.0)
    bounded = [f"{name} {rows.mean(f'{metric}_bounded'):.3f} with them, {rows.mean(metric):.3f} without"
               for metric, name in (("dp_gnb", "DP-GNB"), ("dp_lr", "DP-LR"))]  # fmt: skip
    return corrected(
        f"{leaking:g} of 3 calls give a PrivacyLeakWarning: bounds that are not given are the smallest and largest "
        "entry of the table, which a single record sets, so that no ε holds. With bounds, declared before the data are "
        f"seen, they are what they claim. Accuracy at ε = 10: {'; '.join(bounded)}.",
        leaking=leaking,
    )


def labels(results: StudyResults) -> Verdict:
    """Whether the labels that are printed have any noise."""
    rows = results.where(part="diffprivlib iris")
    exact = min(rows.mean("kmeans_labels"), rows.mean("kmeans_bounded_labels"))
    sentence = f"labels_ is the nearest published centre of each record for {exact:.0%} of them"
    if exact < 1:
        return confirmed(f"{sentence}: it is not a function of the record alone.", exact=exact)
    return corrected(
        f"Of the centres only. {sentence}, without noise: one who moves from one centre to another changes an entry "
        "for sure, which no ε covers. Each person can find their own group from the centres.",
        exact=exact,
    )
