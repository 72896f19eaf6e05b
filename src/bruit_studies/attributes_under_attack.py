"""Utility against re-identification and guessing, for every way to ask several attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.entropy import Entropy
from bruit.tables import Table
from bruit_studies import _attack_parts as parts
from bruit_studies import drawing, recorded
from bruit_studies.claim import Claim, Verdict, confirmed, corrected, improved, open_question, refuted
from bruit_studies.results import NoData, StudyResults
from bruit_studies.study import Block, Plot, Study

if TYPE_CHECKING:
    from bruit.collection import Plan

TABLES = {"adult": "Adult", "nursery": "Nursery", "acs": "ACSEmployment"}
#: Methods, and whom ε speaks of: SPL and SMP are the same in the papers.
PERSON = ("SPL[GRR]", "SMP[GRR]", "SMP[OUE]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+RFD[GRR]")
PAPERS = ("RS+FD[GRR]", "RS+FD[OUE-z]", "RS+RFD[GRR]")
#: SMP[GRR] at the ε at which it has the variance of RS+FD[GRR] for a person.
MATCHED = "SMP[GRR], same variance"
EPSILONS = (1.0, 2.0, 5.0, 10.0)
MANY = 5
PEOPLE = 3000
SURE = 4.5
_SLIDES = "several-attributes slides"


def _plan(
    people: parts.AttackedTable, sample: parts.AttackedTable, rng: Entropy, *, method: str, unit: str, epsilon: float
) -> Plan:
    """A plan; fakes that need a prior take it from an earlier release about everybody."""
    from bruit.collection import Method, Plan

    if method == MATCHED:
        goal = _plan(people, sample, rng, method="RS+FD[GRR]", unit=unit, epsilon=epsilon)
        return Plan(people.schema, parts.epsilon_for(parts.mean_variance(goal, sample), sample), "SMP[GRR]")
    prior = parts.noisy_prior(people, rng.generator()) if method.startswith("RS+RFD") else None
    return Plan(people.schema, epsilon, Method.named(method, published=unit == "papers", prior=prior))


def trial(
    *, table: str, method: str, unit: str, epsilon: float, surveys: float, people: float, rng: Entropy
) -> dict[str, float]:
    """Some people of a table answer several surveys; errors of one survey, and what attackers achieve.

    Rates are in per cent: of people found in the table as the nearest record and among the ten nearest, and of values
    guessed from one survey, beyond naming the most frequent one (the mean over attributes).
    """
    from bruit.attacks import reidentification, risks

    everybody = parts.people(table)
    sample = everybody.some(people, rng.generator())
    plan = _plan(everybody, sample, rng, method=method, unit=unit, epsilon=epsilon)
    tally = plan.simulate(sample.counts, rng)
    answers = plan.estimate(tally)
    # Of few people none may be drawn for an attribute, of which nothing is then known.
    reported = {name: share for name, share in sample.frequencies.items() if plan.design.reported(name, tally)}
    errors = [np.mean((answers[name].frequency - share) ** 2) for name, share in reported.items()]
    matches = reidentification([plan] * int(surveys), sample.table, rng=rng)
    looked = risks(plan, sample.frequencies, n=500, rng=int(rng.integers(2**31, 1)[0]))
    guessed = [risk for risk in looked if risk.attack.startswith("value")]
    return {
        "n": sample.n,
        "mse": float(np.mean(errors)),
        "variance": parts.mean_variance(plan, sample),
        "first": 100 * matches[1].accuracy,
        "ten": 100 * matches[10].accuracy,
        "chance": 100 * matches[10].baseline,
        "guess": 100 * float(np.mean([risk.rate - risk.baseline for risk in guessed])),
        "person": plan.guarantee.epsilon,
    }


def _after(results: StudyResults, surveys: float = MANY) -> StudyResults:
    return results.where(surveys=surveys)


def _trade_off(results: StudyResults) -> Verdict:
    rows = _after(results).where(unit="person", method=list(PERSON))
    ties, worse = [], []
    for table, part in rows.by("table"):
        cells = dict(part.by("method", "epsilon"))
        variance = np.array([cell.mean("variance") for cell in cells.values()])
        ties.append(_rank_correlation(-variance, np.array([cell.mean("ten") for cell in cells.values()])))
        for epsilon in part.values("epsilon"):
            same = {method: cell for (method, at), cell in cells.items() if at == epsilon}
            worse += [(table, epsilon, *pair) for pair in _beaten(same)]
    evidence = (
        f"The less variance, the more people are found again: rank correlation {min(ties):.2f} to {max(ties):.2f}"
    )
    if min(ties) < 0.3:
        return refuted(
            f"There is no such trade-off everywhere: rank correlation from {min(ties):.2f}.", least=min(ties)
        )
    if not worse:
        return confirmed(f"{evidence}, and no method is worse in both.", least=min(ties))
    table, epsilon, bad, good, figures = max(worse, key=lambda case: case[-1][1] - case[-1][2])
    return improved(
        f"{evidence}. Not all methods are on that curve, so that some can be had with less of both: at the same ε for "
        f"a person {bad} has {figures[0]:.1f} times the variance of {good} and {figures[1]:.1f} against "
        f"{figures[2]:.1f} % found among ten ({TABLES[table]}, ε = {epsilon:g}).",
        least=min(ties),
        beaten=len(worse),
    )


def _beaten(same: dict[str, StudyResults]) -> list[tuple[str, str, tuple[float, float, float]]]:
    """Pairs of methods of which the first has more variance and lets more people be found, beyond chance."""
    pairs = []
    for bad, first in same.items():
        for good, second in same.items():
            ratio = first.mean("variance") / second.mean("variance")
            if ratio > 1.1 and parts.apart(first, second) > SURE:
                pairs.append((bad, good, (ratio, first.mean("ten"), second.mean("ten"))))
    return pairs


def _rank_correlation(a: parts.Floats, b: parts.Floats) -> float:
    ranks = [np.argsort(np.argsort(numbers, kind="stable"), kind="stable") for numbers in (a, b)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _advance(results: StudyResults) -> Verdict:
    rows = _after(results).where(unit="person", epsilon=max(results.values("epsilon")))
    hidden, same, plain = (rows.where(method=method) for method in ("RS+FD[GRR]", MATCHED, "SMP[GRR]"))
    wins, notes = [], []
    for table, faked in hidden.by("table"):
        other = same.where(table=table)
        wins.append(parts.apart(other, faked) > SURE)
        notes.append(f"{TABLES[table]} {faked.mean('ten'):.1f} against {other.mean('ten'):.1f} %")
    table = hidden.values("table")[0]
    first, second, third = (part.where(table=table) for part in (hidden, plain, same))
    cost = first.mean("variance") / second.mean("variance")
    start = (
        f"At ε = {first.mean('epsilon'):g} for a person ({TABLES[table]}) RS+FD[GRR] lets {first.mean('ten'):.1f} % be "
        f"found among ten and SMP[GRR] {second.mean('ten'):.1f} %, with {cost:.0f} times the variance"
    )
    if first.mean("ten") >= second.mean("ten"):
        return refuted(f"{start}.", cost=cost)
    if cost < 1.1:
        return confirmed(f"{start}.", cost=cost)
    judge = confirmed if 2 * sum(wins) > len(wins) else corrected
    return judge(
        f"{start}. At equal variance, for which SMP must have ε = {third.mean('person'):.1f}, RS+FD does clearly "
        f"better in {sum(wins)} of {len(wins)} tables ({', '.join(notes)}).",
        cost=cost,
        person=third.mean("person"),
        wins=sum(wins),
    )


def sampled_rates() -> tuple[float, float]:
    """Per cent of sampled attributes that XGBoost finds with RS+RFD[GRR] and with RS+FD[GRR], as recorded, over ε."""
    realistic, fake = recorded.read("countermeasure"), recorded.read("attack")
    if realistic is None or fake is None:
        raise NoData("The recorded attacks on the sampled attribute are not here.")
    rows = realistic.where(fakes="plan", prior="values"), fake.where(method="RS+FD[GRR]", synthetic=1)
    means = [[part.mean("rate") for _, part in own.by("epsilon")] for own in rows]
    return float(np.mean(means[0])), float(np.mean(means[1]))


def _robust(results: StudyResults) -> Verdict:
    rows = _after(results).where(unit="papers")
    cases = []
    for (table, epsilon), part in rows.by("table", "epsilon"):
        fake, realistic = (part.where(method=method) for method in ("RS+FD[GRR]", "RS+RFD[GRR]"))
        place = f"{TABLES[table]}, ε = {epsilon:g}"
        cases.append((parts.apart(realistic, fake), place, fake.mean("ten"), realistic.mean("ten")))
    less, more = sum(case[0] < -SURE for case in cases), sum(case[0] > SURE for case in cases)
    _, where, fake_ten, realistic_ten = max(cases)
    evidence = (
        f"After {MANY} surveys people are found again less often in {less} of {len(cases)} cases and more often in "
        f"{more} (most: {where}, {realistic_ten:.1f} against {fake_ten:.1f} % among ten)"
    )
    figures = {"less": less, "more": more, "realistic": realistic_ten, "fake": fake_ten}
    if less == len(cases):
        return confirmed(f"{evidence}.", **figures)
    if more and not less:
        hidden, plain = sampled_rates()
        if hidden < plain:
            return corrected(
                f"Against the attack on the sampled attribute they do: XGBoost, which knows the fakes, is right for "
                f"{hidden:.1f} instead of {plain:.1f} % (ACSEmployment, mean over ε). Against re-identification not. "
                f"{evidence}.",
                **figures,
            )
        return refuted(f"{evidence}: not against re-identification.", **figures)
    if more:
        return corrected(f"{evidence}: it depends on the table.", **figures)
    return open_question(f"{evidence}: these runs show no harm, and no help everywhere.", **figures)


def _adds_up(results: StudyResults) -> Verdict:
    ratios, sure = {}, []
    for (table, epsilon), part in results.where(method="SMP[GRR]", unit="person").by("table", "epsilon"):
        once, often = (part.where(surveys=surveys) for surveys in (1, MANY))
        sure.append(parts.apart(often, once))
        ratios[table, epsilon] = (once.mean("ten"), often.mean("ten"))
    (table, epsilon), (first, last) = max(ratios.items(), key=lambda item: item[1][1])
    evidence = f"from {first:.1f} to {last:.1f} % (among ten, SMP[GRR], {TABLES[table]}, ε = {epsilon:g} each)"
    if max(sure) < SURE:
        return refuted(f"Five surveys find no more than one: {evidence}.", once=first, often=last)
    return confirmed(
        f"With five surveys instead of one, what is found rises {evidence}; it rises clearly in "
        f"{sum(errors > SURE for errors in sure)} of {len(sure)} cases.",
        once=first,
        often=last,
    )


def _draw_trade_off(results: StudyResults) -> Any:
    from bruit.figures import style

    tables = results.values("table")
    shown = drawing.panels(len(tables), height=3.7)
    notes = []
    for ax, table in zip(shown, tables, strict=True):
        rows = _after(results).where(table=table)
        title = f"{TABLES[table]}, n = {rows.mean('n'):,.0f}: error and re-identification"
        drawing.dress(ax, title, x="mean squared error, exact law (log)", y="found among ten (%, log)", log="xy")
        for method in PERSON:
            _path(ax, rows.where(method=method, unit="person"), method)
            if method in PAPERS:
                _path(ax, rows.where(method=method, unit="papers"), method, papers=True)
        drawing.reference(ax, rows.mean("chance"), "chance", left=True)
        best = rows.where(unit="person", method="SMP[GRR]", epsilon=max(rows.values("epsilon")))
        notes.append(f"{TABLES[table]} {best.mean('ten'):.0f} % with an error of {best.mean('variance'):.1e}")
        ax.plot([], [], "o", markerfacecolor=style.PAPER, color=style.MUTED, markersize=5, label="papers' ε")
        drawing.ticks(ax, (0.1, 0.3, 1, 3, 10, 30, 100), axis="y")
        ax.set_ylim(0.2, 100)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return drawing.describe(
        shown[0],
        f"Share of people found among the ten nearest records after {MANY} surveys, against the mean squared error of "
        f"one (by its exact law), by method and ε, log scales. The less error, the more are found: SMP[GRR] at "
        f"the largest ε {', '.join(notes)}.",
    )


def _path(ax: Any, rows: StudyResults, method: str, *, papers: bool = False) -> None:
    """A method's way through error and rate as ε grows."""
    from bruit.figures import style

    x, y = rows.curve("variance", "epsilon").mean, rows.curve("ten", "epsilon").mean
    look = drawing.look_of(method)
    look |= {"markerfacecolor": style.PAPER, "linestyle": ""} if papers else {"label": method}
    ax.plot(x, np.maximum(y, 0.2), linewidth=1.5, markersize=5, **look)


def _draw_guess(results: StudyResults) -> Any:
    table = results.values("table")[0]
    rows = results.where(table=table, unit="person")
    ax = drawing.axes(f"{TABLES[table]}, n = {rows.mean('n'):,.0f}: a value guessed", x="ε for a person (log scale)",
                      y="right beyond the likeliest (points)", log="x")  # fmt: skip
    curves = {method: rows.where(method=method).curve("guess", "epsilon") for method in PERSON}
    drawing.methods(ax, curves)
    notes = ", ".join(f"{method} {curve.mean[-1]:.1f}" for method, curve in curves.items())
    drawing.ticks(ax, rows.values("epsilon"))
    ax.set_ylim(0)
    return drawing.finish(
        ax,
        f"How many points more often a value is guessed than by naming the most frequent one, mean over "
        f"the attributes, at the largest ε: {notes}.",
    )


def _table(results: StudyResults) -> Table:
    epsilon = sorted(results.values("epsilon"))[-2]
    lines = []
    for (table, method, unit), rows in _after(results).where(epsilon=epsilon).by("table", "method", "unit"):
        lines.append(
            (TABLES[table], method, unit, f"{rows.mean('person'):.2f}", f"{rows.mean('mse'):.1e}",
             f"{rows.mean('first'):.2f}", f"{rows.mean('ten'):.2f}", f"{rows.mean('guess'):.2f}")
        )  # fmt: skip
    columns = (
        "table",
        "method",
        "ε speaks of",
        "person's ε",
        "MSE",
        "found first (%)",
        "among ten (%)",
        "guess (points)",
    )
    caption = (
        f"Asked ε = {epsilon:g}; found after {MANY} surveys, MSE and guess (beyond the most frequent value) from one"
    )
    return Table.of(caption, columns, sorted(lines), texts=3)


def _blocks(tables: tuple[str, ...], surveys: tuple[int, ...], people: int, runs: int) -> list[Block]:
    common: dict[str, Any] = {"table": tables, "epsilon": EPSILONS, "surveys": surveys, "people": [people]}
    return [
        Block({"method": [*PERSON, MATCHED], "unit": ["person"], **common}, runs),
        Block({"method": PAPERS, "unit": ["papers"], **common}, runs),
    ]


STUDY = Study(
    name="attributes-under-attack",
    title="Several attributes: utility against attacks",
    question="What does the precision of each method cost in people found again and values guessed?",
    method=(
        "People drawn from Adult, Nursery and, where it is at hand, ACSEmployment answer one and five surveys through "
        "SPL, SMP, RS+FD and RS+RFD, calibrated for a person and as in the papers. Errors are those of one survey; the "
        "attacker has the whole table with names and looks for each person by what the reports predict, or guesses a "
        "value from one survey knowing the frequencies. SMP is also asked at the ε that gives it RS+FD's variance."
    ),
    trial=trial,
    quick=_blocks(tuple(TABLES), (1, MANY), PEOPLE, 3),
    full=_blocks(tuple(TABLES), (1, 2, 3, 4, MANY), 5000, 10),
    claims=[
        Claim("trade-off", "It is again utility (less variance) against robustness (accuracy of re-identification).",
              _SLIDES, "slide “Résumé, perspectives et références”, second item", _trade_off),
        Claim("shared-attribute", "There is progress in LDP, above all about the attribute that is shared.", _SLIDES,
              "slide “Résumé, perspectives et références”, first item", _advance),
        Claim("surveys-add-up", "Every question is a leak: with repeated ones the truth can be approached.", _SLIDES,
              "slide “Composition séquentielle”, second item", _adds_up),
        Claim("realistic-robust", "Realistic fakes improve robustness against the identified threats (the second half "
              "of a sentence on utility and robustness).", "PVLDB 2023",
              "abstract, last sentence but one, robustness", _robust),
    ],
    plots=[
        Plot("trade-off", "Each line is a method at ε = 1, 2, 5, 10 for a person, from right to left; low and left is "
             "good. Hollow marks are the papers' calibration, whose ε is meant for one attribute.", _draw_trade_off),
        Plot("guess", "Guessing a value from one survey, beyond naming the most frequent one; the band is the 95 % "
             "interval of the mean.", _draw_guess),
    ],
    table=_table,
    version=2,
)  # fmt: skip
