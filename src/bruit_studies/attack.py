"""Finding the attribute that RS+FD sampled, on ACSEmployment: XGBoost as published, and the closed form."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.entropy import Entropy
from bruit.tables import Table
from bruit_studies import _attack_parts as parts
from bruit_studies import drawing
from bruit_studies.claim import Claim, Verdict, confirmed, corrected, improved, open_question, refuted
from bruit_studies.results import NoData, StudyResults
from bruit_studies.study import Block, Plot, Study

if TYPE_CHECKING:
    from bruit.collection import Plan

METHODS = ("RS+FD[GRR]", "RS+FD[SUE-z]")
#: All that XGBoost is tried on.
PROTOCOLS = (*METHODS, "RS+FD[OUE-z]", "RS+FD[SUE-r]", "RS+FD[OUE-r]")
EPSILONS = parts.EPSILONS
#: The standard errors by which a difference must pass 0 to count.
SURE = 4.5
#: What must have been run often before published rates are said to be found again or not.
NEEDED = tuple((method, synthetic, epsilon) for method, synthetic in (("RS+FD[GRR]", 1), ("RS+FD[GRR]", 5),
               ("RS+FD[SUE-z]", 5)) for epsilon in (1.0, 5.0))  # fmt: skip
_SLIDES = "several-attributes slides"


@cache
def _plan(method: str, epsilon: float) -> Plan:
    from bruit.collection import Method, Plan

    return Plan(parts.acs().schema, epsilon, Method.named(method, published=True))


def trial(*, part: str, rng: Entropy, **factors: Any) -> dict[str, Any] | list[dict[str, Any]]:
    """Everybody reports once, and an attacker names each one's sampled attribute."""
    return _rate(rng=rng, **factors) if part == "rate" else _who(rng=rng, **factors)


def _rate(
    *, attacker: str, method: str, synthetic: float, epsilon: float, people: float, rng: Entropy
) -> dict[str, float]:
    """Per cent right, and on the same reports that of the closed form or of who knows the true frequencies.

    `people` is the size of the sample, 0 for everybody; `synthetic` is 0 where nothing is learnt.
    """
    from bruit.attacks import sampled_attribute, sampled_posterior

    plan, sample = _plan(method, epsilon), parts.acs().some(people, rng.generator())
    seed = int(rng.integers(2**63, 1)[0])
    reports, sampled = parts.replayed(plan, sample, seed)
    closed = parts.percent(sampled_posterior(plan, reports).argmax(axis=1) == sampled)
    row = {"n": sample.n, "baseline": 100 / len(plan.schema), "closed": closed}
    if attacker == "bayes":
        informed = sampled_posterior(plan, reports, sample.frequencies).argmax(axis=1)
        return {**row, "rate": closed, "informed": parts.percent(informed == sampled)}
    learnt = sampled_attribute(plan, sample.table, attacker=attacker, synthetic=synthetic, rng=seed)
    return {**row, "rate": 100 * learnt.accuracy}


def _who(*, method: str, epsilon: float, people: float, rng: Entropy) -> list[dict[str, Any]]:
    """For each attribute, the share of its sampled people that the attack identifies."""
    from bruit.attacks import sampled_posterior

    plan, sample = _plan(method, epsilon), parts.acs().some(people, rng.generator())
    seed = int(rng.integers(2**63, 1)[0])
    reports, sampled = parts.replayed(plan, sample, seed)
    right = sampled_posterior(plan, reports).argmax(axis=1) == sampled
    return [
        {"attribute": name, "size": attribute.size, "told": tellers.sum(), "found": parts.percent(right[tellers])}
        for place, (name, attribute) in enumerate(plan.schema.items())
        if (tellers := sampled == place).any()
    ]


def _bayes(results: StudyResults) -> StudyResults:
    return results.where(part="rate", attacker="bayes")


def _xgboost(results: StudyResults) -> StudyResults:
    return results.where(part="rate", attacker="xgboost")


def _inferred(results: StudyResults) -> Verdict:
    sure: list[float] = []
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for (method, _), rows in _bayes(results).by("method", "epsilon"):
        rate = rows.mean("rate")
        sure.append((rate - rows.mean("baseline")) / parts.error(rows))
        low[method] = min(rate, low.get(method, rate))
        high[method] = max(rate, high.get(method, rate))
    evidence = " and ".join(f"{low[method]:.1f} to {high[method]:.1f} % with {method}" for method in low)
    if min(sure) < SURE:
        return refuted(f"At some ε no more than by chance: {evidence}, by chance 5.6 %.", least=min(low.values()))
    return confirmed(
        f"The closed-form attack is right for {evidence} over ε = 1 … 10, where chance gives 5.6 %.",
        least=min(low.values()),
        most=max(high.values()),
    )


def _minimal(results: StudyResults) -> Verdict:
    gaps = {key: rows.mean("informed") - rows.mean("rate") for key, rows in _bayes(results).by("method", "epsilon")}
    (method, epsilon), worst = max(gaps.items(), key=lambda item: item[1])
    mean = float(np.mean(list(gaps.values())))
    evidence = (
        f"Who is given the true frequencies finds {mean:+.2f} points more on average, at most {worst:+.2f} "
        f"({method}, ε = {epsilon:g})"
    )
    if worst > parts.NEAR:
        return corrected(f"Not quite: {evidence}.", mean=mean, worst=worst)
    return confirmed(f"{evidence}: the plan, which is public, and the reports suffice.", mean=mean, worst=worst)


def _state_of_the_art(results: StudyResults) -> Verdict:
    settings = [rows for _, rows in _xgboost(results).by("method", "synthetic", "epsilon")]
    often = [rows for rows in settings if len(rows) >= parts.ENOUGH]
    gaps = [rows.mean("closed") - rows.mean("rate") for rows in often or settings]
    errors = [parts.error(rows) for rows in often or settings]
    mean, least, most = float(np.mean(gaps)), min(gaps), max(gaps)
    sizes = ", ".join(f"{size:g}n" for size in sorted(_xgboost(results).values("synthetic")))
    evidence = (
        f"On the same reports the closed form, which learns nothing, finds {mean:+.2f} points more than XGBoost with "
        f"1,800 trees ({least:+.2f} to {most:+.2f} over {len(gaps)} settings with {sizes} profiles)"
    )
    if not often:
        return open_question(f"{evidence}; to tell them apart takes {parts.ENOUGH} runs of each.", mean=mean)
    # Both are right about the same people: the difference varies no more than a rate does.
    if mean > SURE * max(errors) / len(errors) ** 0.5:
        return improved(
            f"{evidence}; it needs marginal frequencies only, and nobody who knows them can be right more often.",
            mean=mean,
            least=least,
        )
    return confirmed(f"{evidence}: nothing does clearly better.", mean=mean, least=least)


def _equitable(results: StudyResults) -> Verdict:
    rows = results.where(part="who", method="RS+FD[GRR]", epsilon=1.0)
    shares = {name: part.summary("found") for name, part in rows.by("attribute")}
    most, least = (choose(shares, key=lambda name: shares[name].mean) for choose in (max, min))
    apart = shares[most].mean - shares[least].mean
    evidence = (
        f"Of people who told {most} truly {shares[most].mean:.0f} % are found out at ε = 1, of those who told {least} "
        f"{shares[least].mean:.1f} %"
    )
    # Each attribute is told by n/18 people or so in each run: half a point for each of 500 is two.
    reach = SURE * 100 * 0.5 / rows.where(attribute=most)["told"].sum() ** 0.5
    if apart < reach:
        return confirmed(f"{evidence}: alike.", most=shares[most].mean, least=shares[least].mean)
    return corrected(
        f"{evidence}: fakes hide well where values are near uniform, and badly where one of several values is common. "
        "The slides raise it themselves, from “Retrouver l'attribut non fictif ?” on, and answer with realistic fakes.",
        most=shares[most].mean,
        least=shares[least].mean,
    )


def _reproduced(results: StudyResults) -> Verdict:
    """Only XGBoost is compared with XGBoost, and only where both protocols were run often enough."""
    gaps, runs = {}, {}
    for (method, synthetic, epsilon), rows in _xgboost(results).by("method", "synthetic", "epsilon"):
        if (method, int(synthetic)) in parts.PUBLISHED:
            place = method, int(synthetic), epsilon
            gaps[place] = rows.mean("rate") - parts.published(*place)
            runs[place] = rows.summary("rate").count
    if not gaps:
        raise NoData("None of these results has a published one beside it.")
    (method, synthetic, epsilon), worst = max(gaps.items(), key=lambda item: abs(item[1]))
    evidence = (
        f"{len(gaps)} rates of XGBoost lie within {abs(worst):.2f} points of the published ones (farthest: {method}, "
        f"{synthetic}n, ε = {epsilon:g})"
    )
    if any(runs.get(place, 0) < parts.ENOUGH for place in NEEDED):
        return open_question(
            f"{evidence}, but to settle it takes {parts.ENOUGH} runs of each of {len(NEEDED)} settings (GRR at 1n and "
            "5n, SUE-z at 5n, ε = 1 and 5), which the full size has.",
            worst=worst,
            rates=len(gaps),
        )
    if abs(worst) > parts.NEAR:
        return refuted(f"{evidence}.", worst=worst, rates=len(gaps))
    return confirmed(f"All {evidence}.", worst=worst, rates=len(gaps))


def _draw_rates(results: StudyResults) -> Any:
    shown = drawing.panels(2, height=3.5)
    notes = []
    for ax, method, top in zip(shown, METHODS, (30, 100), strict=True):
        drawing.dress(ax, f"{method}, n = {_n(results)}: sampled attribute found", x="ε, papers' calibration",
                      y="people found out (%)")  # fmt: skip
        closed = parts.curve(_bayes(results).where(method=method))
        drawing.curve(ax, closed, "closed form", 0)
        for place, synthetic in enumerate((5, 1)):
            if (method, synthetic) in parts.PUBLISHED:
                own = np.array(parts.PUBLISHED[method, synthetic])
                dashes = drawing.DASHES[1 + place]
                drawing.line(ax, np.array(EPSILONS), own, f"published, {synthetic}n", 1 + place, dashes=dashes)
        for place, (size, curve) in enumerate(_learnt(results, method)):
            few = curve.x.size < len(EPSILONS)  # single points, with their mark beside the name instead of a line
            name = f"XGBoost, {size:g}n"
            drawing.curve(ax, curve, f"{'◆▾'[place]} {name}" if few else name, 3 + place, dashes="" if few else "-")
        drawing.reference(ax, 100 / 18, "chance, 1/18")
        ax.set(ylim=(0, top), xlim=(0.7, 10.3))
        drawing.ticks(ax, EPSILONS)
        drawing.name_lines(ax)
        notes.append(f"{method} {closed.ends(unit=' %')}")
    return drawing.describe(
        shown[0],
        f"Per cent of people whose sampled attribute the closed form finds: {'; '.join(notes)}. The published curves "
        "of XGBoost lie on it; chance is 5.6 %.",
    )


def _learnt(results: StudyResults, method: str) -> list[tuple[float, Any]]:
    """Curves of XGBoost by the number of profiles: the fewest and the most; what was not run is not drawn."""
    try:
        rows = _xgboost(results).where(method=method)
    except NoData:
        return []
    sizes = sorted({min(rows.values("synthetic")), max(rows.values("synthetic"))})
    return [(size, parts.curve(rows.where(synthetic=size))) for size in sizes]


def _n(results: StudyResults) -> str:
    """How many people there are, for a title."""
    return f"{results.where(part='rate').mean('n'):,.0f}"


def _draw_protocols(results: StudyResults) -> Any:
    shown = drawing.panels(2, height=3.8)
    notes = []
    for ax, synthetic in zip(shown, (1, 5), strict=True):
        drawing.dress(ax, f"XGBoost, {synthetic}n profiles, n = {_n(results)}", x="ε, papers' calibration",
                      y="people found out (%)")  # fmt: skip
        rows = _xgboost(results).where(synthetic=synthetic)
        curves = {method: parts.curve(part) for method, part in rows.by("method")}
        drawing.methods(ax, {method: curves[method] for method in PROTOCOLS if method in curves}, short="RS+FD")
        drawing.reference(ax, 100 / 18, "chance, 1/18")
        ax.set(ylim=(0, 100), xlim=(0.7, 10.3))
        drawing.ticks(ax, EPSILONS)
        drawing.name_lines(ax)
        notes += [f"{method}, {synthetic}n: {curve.ends(unit=' %')}" for method, curve in curves.items()]
    return drawing.describe(shown[0], f"Per cent of people whose sampled attribute XGBoost finds. {'; '.join(notes)}.")


def _draw_profiles(results: StudyResults) -> Any:
    rows = _xgboost(results).where(method=METHODS[0])
    ax = drawing.axes(f"XGBoost against {METHODS[0]}, n = {_n(results)}", x="ε, papers' calibration",
                      y="people found out (%)", height=4.2)  # fmt: skip
    curves = {f"{size:g}n": parts.curve(rows.where(synthetic=size))
              for size in sorted(rows.values("synthetic"), reverse=True)}  # fmt: skip
    whole = {name: curve for name, curve in curves.items() if curve.x.size == len(EPSILONS)} or curves
    drawing.curves(ax, whole)
    notes = "; ".join(f"{name} {curve.ends(unit=' %')}" for name, curve in whole.items())
    ax.set_xlim(0.7, 10.3)
    drawing.note(ax, "below: chance, 1/18 = 5.6 %")
    return drawing.finish(
        ax,
        f"Per cent found out by XGBoost with made-up people, by their number: {notes}. Chance is 5.6 %.",
        x=EPSILONS,
    )


def _draw_who(results: StudyResults) -> Any:
    from bruit.figures import style

    rows = results.where(part="who", epsilon=1.0)
    ax = drawing.axes(f"Who is found out at ε = 1, n = {_n(results)}", x="of those who told it truly, found out (%)",
                      y="attribute (number of values)", height=5.6)  # fmt: skip
    first = {name: part.mean("found") for name, part in rows.where(method=METHODS[0]).by("attribute")}
    order = sorted(first, key=lambda name: first[name])
    for place, method in enumerate(METHODS):
        shares = {name: part.summary("found") for name, part in rows.where(method=method).by("attribute")}
        drawing.intervals(ax, {_with_size(rows, name): shares[name] for name in order}, place, method)
    ax.axvline(100 / 18, color=style.MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
    ax.annotate("chance", (100 / 18, len(order) - 0.4), xytext=(4, 0), textcoords="offset points", color=style.MUTED)
    ax.set(ylim=(-0.7, len(order) + 0.2), xlim=(-2, 102))
    ax.legend(loc="lower right", frameon=False)
    return drawing.describe(
        ax,
        f"For each of the 18 attributes, how many of those who told it truly are found out at ε = 1. With "
        f"{METHODS[0]}: from {order[0]} ({first[order[0]]:.0f} %) to {order[-1]} ({first[order[-1]]:.0f} %).",
    )


def _with_size(rows: StudyResults, name: str) -> str:
    """An attribute and its number of values, where the results have it."""
    try:
        return f"{name} ({rows.where(attribute=name).mean('size'):g})"
    except NoData:
        return name


def _table(results: StudyResults) -> Table:
    shown = parts.shown(results)
    lines = []
    for (method, attacker, synthetic), rows in results.where(part="rate").by("method", "attacker", "synthetic"):
        who = "closed form" if attacker == "bayes" else f"XGBoost, {synthetic:g}n"
        runs = max(part.summary("rate").count for _, part in rows.by("epsilon"))
        lines.append((method, who, f"{runs}", *parts.rates(rows, shown)))
    for (method, synthetic), own in parts.PUBLISHED.items():
        if method in METHODS:
            cells = [f"{own[EPSILONS.index(epsilon)]:.2f}" for epsilon in shown]
            lines.append((method, f"XGBoost, {synthetic}n, published", "20", *cells))
    columns = ("protocol", "attacker", "runs", *(f"ε = {epsilon:g}" for epsilon in shown))
    return Table.of("Per cent of people found out; by chance 5.56", columns, sorted(lines), texts=2)


def _blocks(runs: int, learnt: list[Block]) -> list[Block]:
    everybody = {"people": [0]}
    return [
        Block({"part": ["rate"], "attacker": ["bayes"], "method": METHODS, "synthetic": [0], "epsilon": EPSILONS,
               **everybody}, runs),
        Block({"part": ["who"], "method": METHODS, "epsilon": [1.0, 5.0], **everybody}, 4 * runs),
        *learnt,
    ]  # fmt: skip


def _learning(method: str, synthetic: tuple[int, ...], epsilons: tuple[float, ...], runs: int) -> Block:
    return Block({"part": ["rate"], "attacker": ["xgboost"], "method": [method], "synthetic": synthetic,
                  "epsilon": epsilons, "people": [0]}, runs)  # fmt: skip


STUDY = Study(
    name="attack",
    title="Finding the attribute among the fakes of RS+FD",
    question="How often can the attribute that a person told truly be told from the fakes?",
    method=(
        "The 10,336 people of ACSEmployment (Montana, 18 attributes) report through RS+FD in the papers' calibration, "
        "and an attacker who has only the reports and the plan names each one's true attribute. XGBoost, with the "
        "settings that reproduce the paper, learns from synthetic people drawn from the estimated frequencies; the "
        "closed form takes the attribute whose report is likeliest true. The quick size has one run of XGBoost at two "
        "values of ε, the full one twenty at all five protocols, 1n to 5n, ε = 1 to 10; a part of those is recorded."
    ),
    trial=trial,
    quick=_blocks(5, [_learning(METHODS[0], (1,), (1.0, 5.0), 1)]),
    full=_blocks(20, [_learning(method, (1, 2, 3, 4, 5), EPSILONS, 20) for method in PROTOCOLS]),
    claims=[
        Claim("attack-inferred", "Fake values are uniform, so that the attribute that is not fake can be inferred.",
              _SLIDES, "slide “Retrouver l'attribut non fictif ?”", _inferred),
        Claim("attack-minimal", "Minimal knowledge suffices: ε and the sizes of the attributes give the mechanism, the "
              "estimator and the distribution of values.", _SLIDES,
              "slide “Attaque avec connaissances minimales (ε)”, step 1", _minimal),
        Claim("attack-xgboost", "The classifier to take is XGBoost, the state of the art for tabular data.", _SLIDES,
              "slide “Attaque avec connaissances minimales (ε)”, step 4", _state_of_the_art),
        Claim("attack-equitable", "One attribute at random, the others fake, solves the unfair choice of the attribute "
              "that is disclosed.", _SLIDES, "slide “Choix inéquitable de l'attribut partagé : une solution”, with "
              "“Retrouver l'attribut non fictif ?” to “Résultats de l'attaque de RS+ Realistic FD”, which question it",
              _equitable),
        Claim("attack-published", "XGBoost finds 19 to 25 % for RS+FD[GRR] and 26 to 96 % for RS+FD[SUE-z].",
              "PVLDB 2023", "figures of the sampled-attribute attack without knowledge, ACSEmployment, 1n and 5n",
              _reproduced),
    ],
    plots=[
        Plot("rates", "Per cent of people found out, ours and published. GRR, “used everywhere” on the slides, is the "
             "kinder of the two: fakes of SUE-z are empty, and with large ε everybody sees it.", _draw_rates),
        Plot("profiles", "The slide's curves: RS+FD[GRR], and 1n to 5n synthetic profiles. More of them help a little. "
             "1n and 5n are means of 20 runs at ε = 1, 5 and 10, all else is one run; the band is the 95 % interval of "
             "the mean at every ε.",
             _draw_profiles),
        Plot("protocols", "XGBoost against all five protocols of RS+FD: fakes that are noise of zeros (z) give the "
             "attribute away, fakes that are noise of random values (r) hide it better. The band is the 95 % interval "
             "of the mean at every ε.", _draw_protocols),
        Plot("who", "How well people are hidden depends on which attribute they told: the bar is the 95 % interval of "
             "the mean.", _draw_who),
    ],
    table=_table,
    version=2,
)  # fmt: skip
