"""Several attributes of each person: the error of SPL, SMP, RS+FD and RS+RFD, and what they really guarantee."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

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
    improved,
    open_question,
    refuted,
)
from bruit_studies.several_attributes import figures, trials

#: "Nearly the same utility": at most a quarter more error.
NEAR = 1.25
#: A published figure is reproduced if the mean of our runs lies within this share of it.
WITHIN = 0.15
#: Standard errors that make a difference clear; some hundred settings are compared.
CLEAR = 5.0
_SLIDES, _CIKM, _PVLDB = "several-attributes slides", "CIKM 2021", "PVLDB 2023"
_BOTH = {"published": "the published calibration", "person": "the same ε for a person"}


def _reproduced(results: StudyResults, method: str) -> Verdict:
    summaries = trials.cells(results, data="nursery", calibration="published", method=method)
    gaps, excess = [], []
    for epsilon, published in zip(trials.EPSILONS, trials.NURSERY[method], strict=True):
        ours = summaries["nursery", "published", epsilon][method]
        gaps.append(ours.mean / published - 1)
        # Theirs is a mean of 100 runs, which vary as ours do.
        error = ours.error * math.sqrt(1 + ours.count / trials.PUBLISHED_RUNS) / published
        excess.append((abs(gaps[-1]) - WITHIN) / error)
    worst = max(gaps, key=abs)
    evidence = (
        f"The mean of {ours.count} runs differs from the published one by {_percent(min(gaps))} to "
        f"{_percent(max(gaps))} over ε = ln 2 … ln 7, by {_percent(float(np.mean(gaps)))} on average"
    )
    figures = {"worst": worst, "mean": float(np.mean(gaps))}
    if max(excess) > CLEAR:
        return refuted(f"{evidence}.", **figures)
    if abs(worst) > WITHIN:
        return open_question(f"{evidence}; so few runs do not tell that from {WITHIN:.0%}.", **figures)
    return confirmed(f"{evidence}.", **figures)


def _percent(share: float) -> str:
    return f"{share * 100:+.1f} %".replace("-", "−")


def _person(results: StudyResults) -> Verdict:
    from bruit import audit
    from bruit.collection import RSFD, Plan

    two = Plan({"a": ["0", "1"], "b": ["0", "1"]}, math.log(2), RSFD("GRR", published=True))
    proof = audit.exact_plan(two, "person")
    ratio = math.exp(proof.epsilon)
    rows = results.where(part="exact", calibration="published", method="RS+FD[GRR]", epsilon=trials.EPSILONS[1])
    real = {trials.DATA[data]: part.mean("person") for data, part in rows.by("data")}
    if ratio <= 2 * (1 + 1e-9) and max(real.values()) <= trials.EPSILONS[1] * (1 + 1e-9):
        return confirmed(f"The exact ratio for d = 2, k = 2, ε = ln 2 is {ratio:.6f}.", ratio=ratio)
    evidence = ", ".join(f"{value:.2f} on {data}" for data, value in real.items())
    return refuted(
        f"With d = 2, k = 2 and ε = ln 2, writing out all records and reports gives a ratio of {ratio:.6f}, not 2; at "
        f"ε = ln 3 = {trials.EPSILONS[1]:.2f} a person has ε' = {evidence}, exactly what the true report is made with.",
        ratio=ratio,
        **real,
    )


def _attribute(results: StudyResults) -> Verdict:
    """With p and q at ε, as the slide's surface has them: what a person has then, and one attribute."""
    rows = results.where(part="exact", calibration="person", method=["RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[ADP]"])
    person, attribute = (float((rows[unit] / rows["epsilon"]).max()) for unit in ("person", "attribute"))
    figures = {"person": person, "attribute": attribute}
    if person > 1 + 1e-9:
        return refuted(f"With p and q at ε a person has up to {person:.2f} ε.", **figures)
    return confirmed(
        f"With p and q at ε, by which the slide's surface is drawn, a person has at most {person:.6f} ε with GRR, "
        f"OUE-z and ADP on every table, and one attribute at most {attribute:.2f} ε. (The paper's larger ε' is judged "
        "as several-person.)",
        **figures,
    )


def _split(results: StudyResults) -> Verdict:
    ratios: dict[str, list[float]] = {}
    wins = 0
    for metric in ("mse", "raw"):
        summaries = trials.cells(results, metric)
        ratios[metric] = [by["SPL[ADP]"].mean / by["SMP[ADP]"].mean for by in summaries.values()]
        wins += sum(trials.beyond(by["SMP[ADP]"], by["SPL[ADP]"]) > CLEAR for by in summaries.values())
    evidence = (
        f"the MSE of SPL is {trials.span(ratios['mse'])} times that of SMP, over {len(ratios['mse'])} settings (table, "
        f"calibration, ε), and {trials.span(ratios['raw'])} times before clipping"
    )
    figures = {"least": min(ratios["mse"]), "greatest": max(ratios["mse"]), "wins": wins}
    if wins:
        return corrected(f"Not always: {evidence}; SPL is better in {wins} of {2 * len(ratios['mse'])}.", **figures)
    return confirmed(f"Always: {evidence}.", **figures)


def _close(results: StudyResults) -> Verdict:
    at = {}
    for name in trials.CALIBRATIONS:
        settings = trials.cells(results, calibration=name).values()
        at[name] = np.array([by["RS+FD[ADP]"].mean / by["SMP[ADP]"].mean for by in settings])
    near = {name: float((ratio <= NEAR).mean()) for name, ratio in at.items()}
    evidence = " and ".join(
        f"{trials.span(at[name])} times that of SMP at {_BOTH[name]} (at most {NEAR} in {near[name]:.0%} of settings)"
        for name in at
    )
    sentence = f"The MSE of RS+FD[ADP] is {evidence}."
    figures = {f"{name}_{end}": float(f(at[name])) for name in at for end, f in (("least", np.min), ("most", np.max))}
    if near["person"] == 1:
        return confirmed(sentence, **figures)
    if near["published"] > 0:
        return corrected(f"{sentence} Where it is near, that is bought with a larger ε'.", **figures)
    return refuted(sentence, **figures)


def _realistic(results: StudyResults) -> Verdict:
    gains, notes, figures = {}, [], {}
    summaries = trials.cells(results)
    for data in results.where(part="error").values("data"):
        mine = [by for key, by in summaries.items() if key[0] == data]
        uniform, prior = ([by[method] for by in mine] for method in ("RS+FD[GRR]", "RS+RFD[GRR]"))
        logs = np.log([two.mean / plain.mean for plain, two in zip(uniform, prior, strict=True)])
        errors = [(summary.error / summary.mean) ** 2 for summary in (*uniform, *prior)]
        gains[data] = -float(logs.sum()) / math.sqrt(sum(errors))
        figures[data] = float(np.exp(logs.mean()))
        notes.append(f"{figures[data]:.2f} on {trials.DATA[data]} ({trials.span(np.exp(logs), '.2f')})")
    sentence = (
        f"The MSE of RS+RFD[GRR], as a multiple of that of RS+FD[GRR], is {', '.join(notes)}, over both calibrations "
        "and all ε"
    )
    without = [trials.DATA[data] for data, gain in gains.items() if gain <= CLEAR]
    person = trials.cells(results, calibration="person").values()
    sampling = [by["SMP[ADP]"].mean / by["RS+RFD[GRR]"].mean for by in person if "SMP[ADP]" in by]
    if not without:
        return confirmed(f"{sentence}.", **figures)
    if len(without) == len(gains):
        return refuted(f"{sentence}: no clear gain.", **figures)
    better = ""
    if sampling:
        better = f" At the same ε for a person, SMP without fakes has {trials.span(sampling, '.2f')} times their MSE."
    return improved(
        f"{sentence}: less where values are unevenly frequent, and no clear gain on {', '.join(without)}, whose values "
        f"are near uniform, so that a prior hardly differs from uniform fakes.{better}",
        **figures,
    )


def _free(results: StudyResults) -> Verdict:
    rows = results.where(part="exact", epsilon=trials.EPSILONS[1])
    uniform, prior = rows.where(method="RS+FD[GRR]"), rows.where(method="RS+RFD[GRR]")
    gap = float(np.abs(uniform["person"] - prior["person"]).max())
    first, second = (part.where(data="nursery", calibration="person").mean("attribute") for part in (uniform, prior))
    if gap > 1e-6:
        return refuted(f"A person's ε changes by {gap:.3f} with the prior.", gap=gap)
    return confirmed(
        f"A person's ε is the same with and without a prior (greatest difference {gap:.1g}). Note: people who were "
        f"asked before pay both. And one attribute is hidden less than the person: on Nursery at ε = ln 3 for a person "
        f"it has {second:.2f} instead of {first:.2f}, because rare values are seldom fakes.",
        gap=gap,
        uniform=first,
        prior=second,
    )


def _dispersion(results: StudyResults) -> Verdict:
    rows = results.where(part="error", data="nursery", calibration="published")
    relative = [s.sd / s.mean for by in trials.cells(rows).values() for s in by.values()]
    swaps = {}
    for epsilon in (trials.EPSILONS[0], trials.EPSILONS[-1]):
        grr, two = (rows.where(epsilon=epsilon, method=m)["mse"] for m in ("RS+FD[GRR]", "RS+FD[OUE-z]"))
        swapped = float((grr[:, None] > two[None, :]).mean())
        swaps[trials.name(epsilon)] = min(swapped, 1 - swapped)
    evidence = " and ".join(f"{share:.0%} at {name}" for name, share in swaps.items())
    sentence = (
        f"On Nursery the MSE of one collection varies by {trials.span(np.array(relative) * 100, '.0f')} % of its mean "
        f"(standard deviation): RS+FD[GRR] and RS+FD[OUE-z] come out in the other order in {evidence} of pairs of runs"
    )
    if max(swaps.values()) < 0.05:
        return refuted(f"{sentence}: the means alone tell enough.", **swaps)
    return confirmed(f"{sentence}.", **swaps)


def _blocks(nursery: int, others: int) -> list[Block]:
    """Adult has the 100 runs of the slides at least, at both sizes: they take half a minute."""
    same: dict[str, Any] = {"epsilon": trials.EPSILONS}
    rest = [("nursery", ["person"]), *((data, trials.CALIBRATIONS) for data in ("adult", "acs_employment"))]
    return [
        Block({"part": ["exact"], "data": [*trials.DATA], "calibration": trials.CALIBRATIONS, **same}),
        Block({"part": ["error"], "data": ["nursery"], "calibration": ["published"], **same}, nursery),
        *(
            Block({"part": ["error"], "data": [data], "calibration": named, **same}, 100 if data == "adult" else others)
            for data, named in rest
        ),
    ]


STUDY = Study(
    name="several-attributes",
    title="Several attributes: split, sample, or hide among fakes",
    question="Which way of asking for several attributes has the least error, and what does it really guarantee?",
    method=(
        "All attributes of Nursery, the nine categorical ones of Adult and the eighteen of ACSEmployment are collected "
        "by every method at ε = ln 2 … ln 7, once as the papers calibrate and once at ε for a person; counts are drawn "
        "from the exact law of each attribute. Estimates are clipped at 0 and rescaled, and squared errors averaged "
        "over values, attributes and runs, as in the papers. Fakes of RS+RFD follow noisy counts of a curator "
        "(ε = 0.1 in all, which is not in the ε shown)."
    ),
    trial=trials.trial,
    quick=_blocks(300, 30),
    full=_blocks(400, 100),
    claims=[
        *(
            Claim(f"several-nursery-{label}", f"On Nursery the mean squared error of {method} falls from "
                  f"{trials.NURSERY[method][0]:.2e} at ε = ln 2 to {trials.NURSERY[method][-1]:.2e} at ln 7.", _CIKM,
                  f"figure of the MSE on Nursery, curve {method}", partial(_reproduced, method=method))
            for label, method in (("rsfd-grr", "RS+FD[GRR]"), ("rsfd-oue-z", "RS+FD[OUE-z]"),
                                  ("rsfd-adp", "RS+FD[ADP]"), ("spl", "SPL[ADP]"), ("smp", "SMP[ADP]"))
        ),
        Claim("several-person", "RS+FD with ε' = ln(d(e^ε−1)+1) in the true report is ε-LDP for a person.", _CIKM,
              "calibration of RS+FD, ε' = ln(d·(e^ε − 1) + 1)", _person),
        Claim("several-attribute", "With its p and q at ε, each mechanism that ADP chooses from is ε-LDP within "
              "RS+FD.", _SLIDES, "slide “Un mécanisme adaptatif ADP”, “Connus”, first bullet", _attribute),
        Claim("several-split", "Splitting ε among attributes is worse than reporting one at random.", _SLIDES,
              "slide “Diviser le budget entre attributs”, “Méthode communément adoptée”", _split),
        Claim("several-close", "RS+FD has nearly the same utility as SMP, or better.", _CIKM, "abstract", _close),
        Claim("several-realistic", "Realistic fakes improve utility (the first half of a sentence on utility and "
              "robustness).", _PVLDB, "abstract, last sentence but one, utility", _realistic),
        Claim("several-prior-free", "Fakes made of data that are already sanitised consume no ε.", _SLIDES,
              "slide “Une contremesure parfois possible”, “Post-processing de la LDP”", _free),
        Claim("several-dispersion", "Curves of the mean error without its dispersion are imperfect.", _SLIDES,
              "slide “Quelques expérimentations”, last line", _dispersion),
    ],
    plots=[
        Plot("reproduction", "Nursery as the papers calibrate: lines are the means of our runs with their 95 % band, "
             "open circles the published figures.", figures.reproduction),
        *(
            Plot(data.replace("_", "-"), f"{title}, at the published calibration and at ε for a person: dark bands are "
                 "95 % of the mean, pale ones 80 % of single collections.", partial(figures.errors, data=data))
            for data, title in trials.DATA.items()
        ),
        Plot("guarantees", "What the published calibration guarantees: a person has ε', and one attribute ε with OUE-z "
             "only.", figures.guarantees),
    ],
    table=figures.table,
    version=3,
)  # fmt: skip
