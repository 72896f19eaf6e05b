"""Realistic fakes against the attack on the sampled attribute (RS+RFD), and both attackers: mistaken and right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.entropy import Entropy
from bruit.tables import Table
from bruit_studies import _attack_parts as parts
from bruit_studies import drawing
from bruit_studies.claim import Claim, Verdict, confirmed, corrected, open_question, refuted
from bruit_studies.results import StudyResults
from bruit_studies.study import Block, Plot, Study

if TYPE_CHECKING:
    from bruit.collection import Plan

EPSILONS = parts.EPSILONS
METHOD = "RS+RFD[GRR]"
#: What fakes follow, and how the page calls it.
PRIORS = {
    "uniform": "uniform (RS+FD)",
    "values": "like values (RS+RFD)",
    "reports": "like reports",
    "exact": "like reports, exact",
    "wrong": "a wrong prior",
}
CHANCE = 100 / 18
SURE = 4.5
_SLIDES = "several-attributes slides"


def _plan(prior: str, epsilon: float, people: parts.AttackedTable, generator: np.random.Generator) -> Plan:
    """The papers' calibration with fakes that follow a prior.

    ``"values"``: the paper's correct prior, noisy counts of an earlier release. ``"reports"``: the same, sent through
    the mechanism, so that fakes look like true reports. ``"exact"``: that with the true counts, which nobody has.
    ``"wrong"``: Dirichlet(1, …, 1), that is any frequencies at all.
    """
    from bruit.collection import RSFD, Method, Plan

    if prior == "uniform":
        return Plan(people.schema, epsilon, RSFD("GRR", published=True))
    if prior == "wrong":
        believed = {name: generator.dirichlet(np.ones(attribute.size)) for name, attribute in people.schema.items()}
    else:
        believed = people.frequencies if prior == "exact" else parts.noisy_prior(people, generator)
    believed = {name: np.maximum(shares, 1e-6) for name, shares in believed.items()}
    plan = Plan(people.schema, epsilon, Method.named(METHOD, published=True, prior=believed))
    if prior not in ("reports", "exact"):
        return plan
    sent = {name: _sent(plan.mechanisms[name], shares / shares.sum()) for name, shares in believed.items()}
    return Plan(people.schema, epsilon, Method.named(METHOD, published=True, prior=sent))


def _sent(mechanism: Any, shares: parts.Floats) -> parts.Floats:
    """How often each value is reported where it is held as often as this: q + (p − q)·f."""
    p, q = float(mechanism.p), float(mechanism.q)
    return np.asarray(q + (p - q) * shares)


def trial(*, attacker: str, fakes: str, prior: str, epsilon: float, people: float, rng: Entropy) -> dict[str, float]:
    """Everybody reports once, and an attacker names each one's sampled attribute.

    ``fakes="plan"`` is an attacker who reads the plan; ``"uniform"`` is the paper's, who learnt from uniform fakes.
    `people` is the size of the sample, 0 for everybody; the prior is that of all.
    """
    from bruit.attacks import sampled_attribute

    everybody = parts.acs()
    plan = _plan(prior, epsilon, everybody, rng.generator())
    sample = everybody.some(people, rng.generator())
    attack = sampled_attribute(plan, sample.table, attacker=attacker, synthetic=1.0, fakes=fakes, rng=rng)  # type: ignore[arg-type]
    return {
        "rate": 100 * attack.accuracy,
        "n": sample.n,
        "variance": parts.mean_variance(plan, sample),
        "person": plan.guarantee.epsilon,
        "one_attribute": plan.guarantees["attribute"].epsilon,
    }


def _bayes(results: StudyResults, prior: str, fakes: str = "plan") -> StudyResults:
    return results.where(attacker="bayes", prior=prior, fakes=fakes)


def _counters(results: StudyResults) -> Verdict:
    by = {prior: _bayes(results, prior).where(epsilon=1.0) for prior in ("uniform", "values", "reports")}
    rate = {prior: rows.mean("rate") for prior, rows in by.items()}
    reach = SURE * max(parts.error(rows) for rows in by.values())
    if rate["values"] > rate["uniform"] - reach:
        return refuted(
            f"They do not: {rate['values']:.1f} % are found out, {rate['uniform']:.1f} % with uniform fakes.",
            values=rate["values"],
        )
    evidence = (
        f"At ε = 1 who reads the plan still finds {rate['values']:.1f} % (uniform fakes {rate['uniform']:.1f} %, "
        f"chance {CHANCE:.1f} %)"
    )
    if rate["values"] < CHANCE + reach:
        return confirmed(f"{evidence}.", values=rate["values"])
    return corrected(
        f"{evidence}, for fakes are like values while true reports are noisy; fakes drawn like reports, q + (p − q)·f̃, "
        f"leave {rate['reports']:.1f} %.",
        values=rate["values"],
        uniform=rate["uniform"],
        reports=rate["reports"],
    )


def _sometimes(results: StudyResults) -> Verdict:
    rows = {prior: _bayes(results, prior) for prior in ("uniform", "values", "wrong")}
    rate = {prior: part.mean("rate") for prior, part in rows.items()}
    reach = SURE * max(parts.error(part) for part in rows.values())
    evidence = ", ".join(f"{PRIORS[prior]} {share:.1f} %" for prior, share in rate.items())
    evidence = f"found out by the closed form, mean over all ε: {evidence}"
    if rate["values"] > rate["uniform"] - reach:
        return refuted(f"Even a good prior does not help; {evidence}.", **rate)
    if rate["wrong"] > rate["uniform"] + reach:
        return confirmed(f"It takes a good prior, and a wrong one is worse than none; {evidence}.", **rate)
    return corrected(f"A wrong prior does no harm; {evidence}.", **rate)


def _published(results: StudyResults) -> Verdict:
    gaps, runs = {}, {}
    for epsilon, rows in results.where(attacker="xgboost", prior="values", fakes="uniform").by("epsilon"):
        gaps[epsilon] = rows.mean("rate") - parts.published(METHOD, 1, epsilon)
        runs[epsilon] = len(rows)
    worst = max(gaps.values(), key=abs)
    evidence = (
        f"XGBoost trained on uniform fakes comes within {abs(worst):.2f} points of the published rates ({len(gaps)} of "
        "them)"
    )
    if any(runs.get(epsilon, 0) < parts.ENOUGH for epsilon in (1.0, 5.0)):
        return open_question(f"{evidence}, but to settle it takes {parts.ENOUGH} runs at ε = 1 and 5.", worst=worst)
    if abs(worst) > parts.NEAR:
        return refuted(f"Not found again to {parts.NEAR:g} points: {evidence}.", worst=worst)
    right = results.where(attacker="xgboost", prior="values", fakes="plan", epsilon=1.0).mean("rate")
    return confirmed(
        f"{evidence}. Trained on the fakes that are drawn, it finds {right:.1f} % at ε = 1.", worst=worst, right=right
    )


def _draw_priors(results: StudyResults) -> Any:
    ax = drawing.axes(
        "Which fakes hide the attribute, n = 10,336", x="ε, papers' calibration", y="people found out (%)", height=4.3
    )
    curves = {name: _bayes(results, prior).curve("rate", "epsilon") for prior, name in PRIORS.items()}
    drawing.curves(ax, curves)
    notes = "; ".join(f"{name} {curve.mean[0]:.1f} and {curve.mean[-1]:.1f} %" for name, curve in curves.items())
    drawing.reference(ax, CHANCE, "chance, 1/18", below=True)
    ax.set_ylim(0)
    return drawing.finish(
        ax,
        f"Per cent found out by the closed form at the smallest and largest ε, by the law of fakes: {notes}.",
        x=EPSILONS,
    )


def _draw_attackers(results: StudyResults) -> Any:
    ax = drawing.axes("RS+RFD[GRR], n = 10,336: who attacks", x="ε, papers' calibration", y="people found out (%)",
                      height=4.3)  # fmt: skip
    notes = []
    cases = (
        ("bayes", "plan", "closed form"),
        ("xgboost", "plan", "XGBoost"),
        ("bayes", "uniform", "closed form, mistaken"),
        ("xgboost", "uniform", "XGBoost, mistaken"),
    )
    for place, (attacker, fakes, name) in enumerate(cases):
        curve = parts.curve(results.where(attacker=attacker, fakes=fakes, prior="values"))
        few = curve.x.size < len(results.values("epsilon"))
        label = f"{'●■▲◆'[place]} {name}" if few else name  # single points, with their mark beside the name
        drawing.curve(ax, curve, label, place, dashes="" if few else drawing.DASHES[place % 3])
        notes.append(f"{name} {curve.mean[0]:.1f} %")
    own = np.array(parts.PUBLISHED[METHOD, 1])
    drawing.line(ax, np.array(EPSILONS), own, "published, mistaken", 4, dashes=drawing.DASHES[1])
    drawing.reference(ax, CHANCE)  # its name would stand on curves that lie on it
    drawing.note(ax, "dashes: chance, 1/18")
    ax.set_ylim(0)
    return drawing.finish(
        ax,
        f"Per cent found out at ε = 1: {', '.join(notes)}, published {own[0]} %. Those who know the fakes find more "
        f"than chance ({CHANCE:.1f} %); the published curve is that of an attacker who does not.",
        x=EPSILONS,
    )


def _table(results: StudyResults) -> Table:
    shown = parts.shown(results)
    lines = []
    for (prior, attacker, fakes), rows in results.by("prior", "attacker", "fakes"):
        who = ("closed form" if attacker == "bayes" else "XGBoost, 1n") + (", mistaken" if fakes == "uniform" else "")
        first = rows.where(epsilon=min(rows.values("epsilon")))
        last = (f"{first.mean('variance'):.1e}", f"{first.mean('one_attribute'):.2f}")
        lines.append((PRIORS[prior], who, *parts.rates(rows, shown), *last))
    own = [f"{parts.published(METHOD, 1, epsilon):.2f}" for epsilon in shown]
    lines.append((PRIORS["values"], "XGBoost, 1n, mistaken, published", *own, "–", "–"))
    columns = ("fakes", "attacker", *(f"ε = {epsilon:g}" for epsilon in shown), "variance at 1", "attribute's ε at 1")
    return Table.of("Per cent of people found out; by chance 5.56", columns, lines, texts=2)


def _block(attacker: str, fakes: str, priors: list[str], epsilons: tuple[float, ...], runs: int) -> Block:
    return Block({"attacker": [attacker], "fakes": [fakes], "prior": priors, "epsilon": epsilons, "people": [0]}, runs)


def _blocks(runs: int, learnt: tuple[float, ...], learnt_runs: int) -> list[Block]:
    return [
        _block("bayes", "plan", list(PRIORS), EPSILONS, runs),
        _block("bayes", "uniform", ["values"], EPSILONS, runs),
        _block("xgboost", "plan", ["values"], learnt, learnt_runs),
        _block("xgboost", "uniform", ["values"], learnt, learnt_runs),
    ]


STUDY = Study(
    name="countermeasure",
    title="Realistic fakes against the attack",
    question="Do fakes that follow a prior (RS+RFD) hide the sampled attribute, and from whom?",
    method=(
        "The 10,336 people of ACSEmployment report through RS+RFD[GRR] in the papers' calibration, with fakes that "
        "follow the noisy counts of an earlier release (ε = 0.1), and an attacker names each one's true attribute. "
        "Two attackers are compared: one who reads the plan and so knows the fakes, and the paper's, who learnt from "
        "uniform ones. Fakes of other laws are tried too: uniform, a wrong prior, and the law of the noisy reports."
    ),
    trial=trial,
    quick=_blocks(6, (1.0, 5.0), 1),
    full=_blocks(20, EPSILONS, 20),
    claims=[
        Claim("countermeasure-works", "Realistic fake data counter the attack on the sampled attribute.", _SLIDES,
              "slide “Une contremesure parfois possible”, second item", _counters),
        Claim("countermeasure-sometimes", "The countermeasure is possible only sometimes: it needs knowledge of the "
              "frequencies.", _SLIDES, "slide “Une contremesure parfois possible”, its title", _sometimes),
        Claim("countermeasure-published", "XGBoost with 1n profiles finds 4.91 to 5.74 % for RS+RFD[GRR] with a "
              "correct prior.", "PVLDB 2023", "figure of the attack on RS+RFD, ACSEmployment, correct prior",
              _published),
    ],
    plots=[
        Plot("priors", "The closed form by an attacker who reads the plan. Fakes should look like noisy reports, not "
             "like values; what is left is the error of the prior.", _draw_priors),
        Plot("attackers", "The published curve belongs to an attacker trained on uniform fakes, which nobody drew.",
             _draw_attackers),
    ],
    table=_table,
    version=2,
)  # fmt: skip
