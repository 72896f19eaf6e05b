"""What an attacker on the sampled attribute gains by knowing some people's: models NK, PK and HM of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bruit.entropy import Entropy
from bruit.tables import Table
from bruit_studies import _attack_parts as parts
from bruit_studies import drawing
from bruit_studies.claim import Claim, Verdict, confirmed, corrected, open_question, refuted
from bruit_studies.results import NoData, StudyResults
from bruit_studies.study import Block, Plot, Study

if TYPE_CHECKING:
    from bruit.collection import Plan


class AttackerModel(NamedTuple):
    """What the attacker has: made-up people for each real one, and the share of people whose attribute is known."""

    knowledge: str
    synthetic: float = 0
    share: float = 0.0

    @property
    def label(self) -> str:
        """As the paper names it: ``"HM 5n, 0.5n"``."""
        sizes = [f"{self.synthetic:g}n"] * bool(self.synthetic) + [f"{self.share:g}n"] * bool(self.share)
        return f"{ {'none': 'NK', 'partial': 'PK', 'hybrid': 'HM'}[self.knowledge] } {', '.join(sizes)}".strip()


NK = tuple(AttackerModel("none", size) for size in (1, 3, 5))
PK = tuple(AttackerModel("partial", 0, share) for share in (0.1, 0.3, 0.5))
HM = tuple(AttackerModel("hybrid", size, share) for size, share in ((1, 0.1), (3, 0.3), (5, 0.5)))
LEARNT = (*NK, *PK, *HM)
#: What the closed form is tried with: it needs no made-up people.
CLOSED = (AttackerModel("none"), *PK, *(AttackerModel("hybrid", 0, share) for share in (0.1, 0.3, 0.5)))
UNIFORM_FAKES = ("RS+FD[GRR]", "RS+FD[SUE-r]", "RS+FD[OUE-r]")
PROTOCOLS = ("RS+FD[GRR]", "RS+FD[SUE-z]", "RS+FD[OUE-z]", "RS+FD[SUE-r]", "RS+FD[OUE-r]")
REALISTIC = "RS+RFD[GRR]"
EPSILONS = parts.EPSILONS
SOME_EPSILONS = (1.0, 5.0, 10.0)
#: The standard errors by which a difference must pass 0 to count.
SURE = 4.5
#: About 25, 50 and 100 per cent: how many points about is.
ABOUT = 5.0
#: Less than this times the rate of chance is no meaningful gain.
MEANINGFUL = 1.25
#: The people of ACSEmployment.
_N = 10_336
_PAPER = "PVLDB 2023"


#: Nursery without its ninth attribute, the class, which is the only one that is not uniform.
UNIFORM_TABLE = "nursery without class"


@cache
def _people(data: str) -> parts.AttackedTable:
    """Everybody of a table."""
    from bruit.domains import Schema

    if data != UNIFORM_TABLE:
        return parts.people(data)
    whole = parts.people("nursery")
    kept = [name for name in whole.schema if name != "class"]
    schema = Schema({name: whole.schema[name].domain for name in kept})
    return parts.people_of(schema, {name: whole.table[name] for name in kept})


def _plan(people: parts.AttackedTable, method: str, epsilon: float, generator: np.random.Generator) -> Plan:
    from bruit.collection import Method, Plan

    prior = None if method != REALISTIC else parts.noisy_prior(people, generator)
    return Plan(people.schema, epsilon, Method.named(method, published=True, prior=prior))


def trial(
    *,
    attacker: str,
    data: str,
    method: str,
    epsilon: float,
    people: float,
    rng: Entropy,
    models: Iterable[AttackerModel] | None = None,
) -> list[dict[str, Any]]:
    """Everybody reports once, and attackers of every model name the sampled attribute of those they do not know.

    `people` is the size of the sample, 0 for everybody. Where there is a prior, made-up people have fakes of the plan,
    and once more uniform ones, as in the paper. All models are tried unless some are named; what one finds does not
    depend on which others are.
    """
    from bruit.attacks import sampled_attribute

    everybody = _people(data)
    plan = _plan(everybody, method, epsilon, rng.generator())
    sample = everybody.some(people, rng.generator())
    seed = int(rng.integers(2**63, 1)[0])
    rows = []
    for model in models or (CLOSED if attacker == "bayes" else LEARNT):
        mistaken = method == REALISTIC and model.knowledge != "partial"
        for fakes in ("plan", "uniform") if mistaken else ("plan",):
            sizes = {"synthetic": model.synthetic or 1.0, "share": model.share or 0.1}  # what is 0 is not looked at
            knowing: Any = {"attacker": attacker, "knowledge": model.knowledge, "fakes": fakes, **sizes}
            attack = sampled_attribute(plan, sample.table, rng=seed, **knowing)
            rows.append({**model._asdict(), "fakes": fakes, "rate": 100 * attack.accuracy, "n": attack.n,
                         "baseline": 100 * attack.baseline})  # fmt: skip
    return rows


class _Cell(NamedTuple):
    """The results of all models for one protocol at one ε, with fakes that are known."""

    method: str
    epsilon: float
    rows: dict[AttackerModel, StudyResults]

    def rate(self, model: AttackerModel) -> float:
        return self.rows[model].mean("rate")

    def gap(self, first: AttackerModel, second: AttackerModel) -> tuple[float, float]:
        """By how many points, and by how many standard errors, the first finds more than the second."""
        difference = self.rate(first) - self.rate(second)
        return difference, difference / math.hypot(*(parts.error(self.rows[model]) for model in (first, second)))


def _cells(results: StudyResults, methods: Iterable[str] = PROTOCOLS, attacker: str = "xgboost", data: str = "acs",
           fakes: str = "plan") -> list[_Cell]:  # fmt: skip
    """Every protocol and ε that was tried."""
    rows = results.where(attacker=attacker, data=data, fakes=fakes, method=list(methods))
    by = rows.by("method", "epsilon")
    return [_Cell(method, epsilon, dict(_by_model(part))) for (method, epsilon), part in by]


def _with(cells: list[_Cell], *models: AttackerModel) -> list[_Cell]:
    """The cells in which all of these models were tried."""
    kept = [cell for cell in cells if all(model in cell.rows for model in models)]
    if not kept:
        raise NoData(f"There are no results with {' and '.join(model.label for model in models)}.")
    return kept


def _by_model(rows: StudyResults) -> Iterator[tuple[AttackerModel, StudyResults]]:
    return ((AttackerModel(*key), part) for key, part in rows.by("knowledge", "synthetic", "share"))


def _runs(cells: list[_Cell]) -> str:
    counts = [len(rows) for cell in cells for rows in cell.rows.values()]
    many = (
        f"{min(counts)} to {max(counts)} runs"
        if min(counts) < max(counts)
        else f"{counts[0]} run{'s'[: counts[0] > 1]}"
    )
    return f"{many} of each of {len(cells)} settings"


def _increase(results: StudyResults) -> Verdict:
    cells = _cells(results)
    multiples = {(cell.method, cell.epsilon, model): cell.rate(model) / rows.mean("baseline")
                 for cell in cells for model, rows in cell.rows.items()}  # fmt: skip
    sure = min((rows.mean("rate") - rows.mean("baseline")) / parts.error(rows)
               for cell in cells for rows in cell.rows.values())  # fmt: skip
    short = [rows.mean("rate") - 2 * rows.mean("baseline") < -SURE * parts.error(rows)
             for cell in cells for rows in cell.rows.values()]  # fmt: skip
    (method, epsilon, model), least = min(multiples.items(), key=lambda item: item[1])
    most = max(multiples.values())
    evidence = (
        f"XGBoost is right {least:.1f} to {most:.1f} times as often as by chance (least: {model.label}, {method}, "
        f"ε = {epsilon:g}; {_runs(cells)})"
    )
    if sure < SURE:
        return refuted(f"{evidence}, which at the least is chance.", least=least, most=most)
    if any(short):
        return corrected(
            f"{evidence}: below twice in {sum(short)} of {len(short)} cases, and above it in all others.", least=least,
            most=most,
        )  # fmt: skip
    return confirmed(f"{evidence}.", least=least, most=most)


def _pooled(cells: list[_Cell], first: AttackerModel, second: AttackerModel) -> tuple[float, float]:
    """By how many points the first model finds more on average over cells, and its standard error."""
    gaps = [cell.rate(first) - cell.rate(second) for cell in cells]
    errors = [parts.error(cell.rows[model]) for cell in cells for model in (first, second)]
    return float(np.mean(gaps)), math.sqrt(sum(error**2 for error in errors)) / len(cells)


def _synthetic_wins(results: StudyResults) -> Verdict:
    cells = _with(_cells(results), NK[0], PK[-1])
    gaps = {}
    for model in NK:
        own = [cell for cell in cells if model in cell.rows]
        if own:
            gaps[model] = _pooled(own, model, PK[-1])
    sure = [difference / error for difference, error in gaps.values()]
    points = ", ".join(
        f"{difference:+.2f} ± {error:.2f} with {model.label}" for model, (difference, error) in gaps.items()
    )
    figures = {f"size_{model.synthetic:g}": difference for model, (difference, _) in gaps.items()}
    evidence = (
        f"Against an attacker who knows the attribute of half of the people, in points on average: {points} "
        f"({_runs(cells)})"
    )
    if max(sure) < -SURE:
        return refuted(f"{evidence}.", **figures)
    if min(sure) < -SURE:
        return corrected(f"It takes enough made-up people. {evidence}.", **figures)
    if min(sure) < SURE:
        return open_question(f"{evidence}: more, but for some too near to tell.", **figures)
    return confirmed(f"{evidence}.", **figures)


def _impact(results: StudyResults) -> Verdict:
    cells = _with(_cells(results), NK[0], NK[-1], PK[0], PK[-1])
    made_up, known = (_pooled(cells, models[-1], models[0]) for models in (NK, PK))
    gains, error = (made_up[0], known[0]), math.hypot(made_up[1], known[1])
    evidence = (
        f"From 1n to 5n made-up people XGBoost gains {gains[0]:+.1f} points on average, from 0.1n to 0.5n known ones "
        f"{gains[1]:+.1f}"
    )
    if gains[1] - gains[0] < SURE * error:
        return refuted(f"{evidence}.", synthetic=gains[0], known=gains[1])
    return confirmed(f"{evidence} ({_runs(cells)}).", synthetic=gains[0], known=gains[1])


def _alike(results: StudyResults) -> Verdict:
    cells = _with(_cells(results), NK[0], HM[0])
    pairs = [(cell, hybrid, alone) for cell in cells for hybrid, alone in zip(HM, NK, strict=True)]
    gaps = [(cell.gap(hybrid, alone)[0], cell, hybrid)
            for cell, hybrid, alone in pairs if hybrid in cell.rows and alone in cell.rows]  # fmt: skip
    worst, cell, hybrid = max(gaps, key=lambda case: abs(case[0]))
    points = [difference for difference, *_ in gaps]
    evidence = (
        f"With known people besides, XGBoost finds {min(points):+.2f} to {max(points):+.2f} points more (farthest: "
        f"{hybrid.label}, {cell.method}, ε = {cell.epsilon:g}; {_runs(cells)})"
    )
    if abs(worst) > parts.NEAR + SURE * parts.error(cell.rows[hybrid]):
        return corrected(f"Not everywhere: {evidence}.", worst=worst)
    return confirmed(f"{evidence}.", worst=worst)


def _ceilings(results: StudyResults) -> Verdict:
    uniform = [(cell.rate(model), cell) for cell in _cells(results, UNIFORM_FAKES) for model in cell.rows]
    most, where = max(uniform, key=lambda pair: pair[0])
    last = max(EPSILONS)
    zeros = {method: max(cell.rate(model) for cell in _cells(results, [method]) if cell.epsilon == last
                         for model in cell.rows) for method in ("RS+FD[OUE-z]", "RS+FD[SUE-z]")}  # fmt: skip
    evidence = (
        f"With fakes that are uniform XGBoost finds at most {most:.1f} % ({where.method}, ε = {where.epsilon:g}); with "
        f"fakes that are noise of zeros at ε = {last:g}, " + " and ".join(f"{rate:.1f} % ({method})"
                                                                      for method, rate in zeros.items())
    )  # fmt: skip
    misses = [abs(most - 25), abs(zeros["RS+FD[OUE-z]"] - 50), 100 - zeros["RS+FD[SUE-z]"]]
    if max(misses) > ABOUT:
        return corrected(f"{evidence}.", most=most, **{name[6:9]: rate for name, rate in zeros.items()})
    return confirmed(f"{evidence}.", most=most, **{name[6:9]: rate for name, rate in zeros.items()})


def _symmetric(results: StudyResults) -> Verdict:
    """SUE against OUE at the least and the greatest ε, by the closed form, which has no chance of learning."""
    low, high = min(EPSILONS), max(EPSILONS)
    ends: dict[tuple[str, float], tuple[float, float]] = {}
    for fakes in "zr":
        for epsilon in (low, high):
            rows = results.where(attacker="bayes", data="acs", knowledge="none", epsilon=epsilon)
            sue, oue = (rows.where(method=f"RS+FD[{base}-{fakes}]") for base in ("SUE", "OUE"))
            ends[fakes, epsilon] = sue.mean("rate") - oue.mean("rate"), parts.apart(sue, oue, "rate")
    evidence = "SUE minus OUE, found by the closed form: " + ", ".join(
        f"{ends[fakes, low][0]:+.1f} points at ε = {low:g} and {ends[fakes, high][0]:+.1f} at {high:g} with fakes of "
        f"{kind} ({fakes})" for fakes, kind in (("z", "zeros"), ("r", "random values"))
    )  # fmt: skip
    figures = {f"{fakes}_{epsilon:g}": gap for (fakes, epsilon), (gap, _) in ends.items()}
    small, large = ([ends[fakes, epsilon][1] for fakes in "zr"] for epsilon in (low, high))
    if min(small) > -SURE or max(large) < SURE:
        return refuted(f"{evidence}.", **figures)
    if max(small) > SURE or min(large) < SURE:
        return corrected(f"Not with both fakes. {evidence}.", **figures)
    near = f"; at ε = {low:g} one is too near to tell" if max(small) > -SURE else ""
    return confirmed(f"{evidence}{near}.", **figures)


def _uniform_values(results: StudyResults) -> Verdict:
    """On Nursery as it is, and on its eight attributes that are uniform."""
    most: dict[str, tuple[float, str]] = {}
    for data in ("nursery", UNIFORM_TABLE):
        rows = results.where(data=data, fakes="plan", method=list(UNIFORM_FAKES))
        by = rows.by("attacker", "method", "epsilon", "knowledge", "synthetic", "share")
        most[data] = max((part.mean("rate") / part.mean("baseline"), f"{key[1]}, ε = {key[2]:g}") for key, part in by)
    (whole, where), (uniform, _) = most.values()
    evidence = (
        f"On eight attributes of Nursery, which are uniform, the best attacker of GRR, SUE-r and OUE-r is right "
        f"{uniform:.2f} times as often as by chance"
    )
    figures = {"uniform": uniform, "whole": whole}
    if uniform > MEANINGFUL:
        return refuted(f"{evidence}.", **figures)
    if whole > MEANINGFUL:
        return corrected(
            f"{evidence}; but with the ninth, the class, which is not, {whole:.2f} times ({where}).", **figures
        )
    return confirmed(f"{evidence}, with the class {whole:.2f} times.", **figures)


def _realistic(results: StudyResults) -> Verdict:
    known = _with(_cells(results, [REALISTIC]), NK[0], PK[-1])
    mistaken = {cell.epsilon: cell for cell in _cells(results, [REALISTIC], fakes="uniform")}
    ahead, right = [], []
    for cell in known:
        other = mistaken[cell.epsilon]
        best = max((model for model in NK if model in other.rows), key=other.rate)
        ahead.append(_Cell(cell.method, cell.epsilon, {**cell.rows, best: other.rows[best]}).gap(PK[-1], best))
        right.append(cell.gap(PK[-1], max((model for model in NK if model in cell.rows), key=cell.rate)))
    evidence = (
        f"Who knows half of the people finds {_span(ahead)} points more than the paper's attacker without knowledge, "
        f"who replays the plan with uniform fakes ({_runs(known)})"
    )
    if max(sure for _, sure in ahead) < SURE:
        return refuted(f"{evidence}.", ahead=max(gap for gap, _ in ahead))
    if max(sure for _, sure in right) < SURE:
        return corrected(
            f"{evidence}, but not more than one who replays it with the fakes that are drawn ({_span(right)}). What "
            "counts is the law of fakes, which the plan tells, and not who is known.",
            ahead=max(gap for gap, _ in ahead),
            right=min(gap for gap, _ in right),
        )
    return confirmed(f"{evidence}.", ahead=max(gap for gap, _ in ahead))


def _span(gaps: list[tuple[float, float]]) -> str:
    points = [difference for difference, _ in gaps]
    return f"{min(points):+.1f} to {max(points):+.1f}" if len(points) > 1 else f"{points[0]:+.1f}"


def _draw_models(results: StudyResults) -> Any:
    shown = drawing.panels(3, height=3.6)
    notes = []
    for ax, (method, top) in zip(shown, (("RS+FD[GRR]", 30), ("RS+FD[SUE-z]", 100), (REALISTIC, 20)), strict=True):
        drawing.dress(ax, f"XGBoost against {method}, n = {_N:,}", x="ε, papers' calibration",
                      y="people found out (%)")  # fmt: skip
        rows = results.where(attacker="xgboost", data="acs", method=method, fakes="plan")
        curves = {model: parts.curve(part) for model, part in _by_model(rows)}
        least = min(2, max(curve.x.size for curve in curves.values()))  # what was tried at one ε is left to the table
        for model in (NK[0], NK[-1], *PK, HM[0], HM[-1]):
            if model in curves and curves[model].x.size >= least:
                kind = ("none", "partial", "hybrid").index(model.knowledge)
                place = (0 if kind == 0 else 2 + PK.index(model) if kind == 1 else 5) % 6
                strongest = model in (NK[-1], HM[-1])
                drawing.curve(ax, curves[model], model.label, 1 if kind == 0 and strongest else place,
                              dashes=drawing.DASHES[kind] if not (kind == 2 and strongest) else ":")  # fmt: skip
                notes.append(f"{method}, {model.label}: {curves[model].ends(unit=' %')}")
        drawing.reference(ax, 100 / 18, "chance, 1/18", below=True)
        ax.set(ylim=(0, top), xlim=(0.7, 10.3))
        drawing.ticks(ax, EPSILONS)
        drawing.name_lines(ax)
    return drawing.describe(
        shown[0], f"Per cent of unknown people whose sampled attribute is found. {'; '.join(notes)}."
    )


def _draw_known(results: StudyResults) -> Any:
    ax = drawing.axes(
        f"Closed form, ε = 1, n = {_N:,}: what knowing adds",
        x="share of people whose attribute is known",
        y="others found out (%)",
        height=4.2,
    )
    rows = results.where(attacker="bayes", data="acs", epsilon=1.0, fakes="plan")
    notes = []
    for method in (*PROTOCOLS, REALISTIC):
        part = rows.where(method=method)
        hybrid = part.where(knowledge=["none", "hybrid"]).curve("rate", "share")
        partial = part.where(knowledge="partial").curve("rate", "share")
        drawing.methods(ax, {method: hybrid}, short="RS+FD")
        look = {**drawing.look_of(method), "linestyle": drawing.DASHES[2]}
        ax.plot(partial.x, partial.mean, linewidth=1.2, markersize=4, markerfacecolor="none", label="_partial", **look)
        notes.append(f"{method} {hybrid.mean[0]:.1f} % with none known, {hybrid.mean[-1]:.1f} % with half, "
                     f"{partial.mean[-1]:.1f} % by those alone")  # fmt: skip
    drawing.reference(ax, 100 / 18, "chance, 1/18", below=True)
    ax.set_ylim(0)
    return drawing.finish(ax, f"Per cent found out at ε = 1: {'; '.join(notes)}.", x=[0, 0.1, 0.3, 0.5])


#: The columns of the table, with the model of the closed form and that of XGBoost.
_COLUMNS = {
    "NK": (CLOSED[0], NK[0]),
    "NK, 5n": (None, NK[-1]),
    "PK 0.1n": (PK[0], PK[0]),
    "PK 0.5n": (PK[-1], PK[-1]),
    "HM 0.1n": (CLOSED[4], HM[0]),
    "HM 0.5n": (CLOSED[6], HM[-1]),
}


def _table(results: StudyResults) -> Table:
    epsilon = min(results.values("epsilon"))
    names = {"acs": "ACSEmployment", "nursery": "Nursery", UNIFORM_TABLE: "Nursery, 8 attributes"}
    lines = []
    for (data, method, attacker, fakes), rows in results.where(epsilon=epsilon).by(
        "data", "method", "attacker", "fakes"
    ):
        by = dict(_by_model(rows))
        models = [pair[attacker == "xgboost"] for pair in _COLUMNS.values()]
        cells = [f"{by[model].mean('rate'):.1f}" if model in by else "–" for model in models]
        who = ("closed form" if attacker == "bayes" else "XGBoost") + (", mistaken fakes" if fakes == "uniform" else "")
        runs = max(len(part) for part in by.values())
        lines.append((names[data], method, who, f"{runs}", *cells))
    caption = (
        f"Per cent of unknown people found out at ε = {epsilon:g}; by chance 5.6 (ACSEmployment), 11.1 and 12.5 "
        "(Nursery). XGBoost has 1n made-up people with NK and HM 0.1n, and 5n with HM 0.5n"
    )
    return Table.of(caption, ("table", "protocol", "attacker", "runs", *_COLUMNS), sorted(lines), texts=3)


def _block(attacker: str, data: str, methods: tuple[str, ...], epsilons: tuple[float, ...], runs: int) -> Block:
    return Block({"attacker": [attacker], "data": [data], "method": methods, "epsilon": epsilons, "people": [0]}, runs)


def _closed(epsilons: tuple[float, ...], runs: int) -> list[Block]:
    return [_block("bayes", "acs", (*PROTOCOLS, REALISTIC), epsilons, runs),
            _block("bayes", "nursery", UNIFORM_FAKES, epsilons, runs),
            _block("bayes", UNIFORM_TABLE, UNIFORM_FAKES, epsilons, runs)]  # fmt: skip


STUDY = Study(
    name="attacker-knowledge",
    title="What the attacker on the sampled attribute knows",
    question="Does it help an attacker to know the sampled attribute of some people?",
    method=(
        "The people of ACSEmployment (Montana, 18 attributes) and of Nursery report through RS+FD and RS+RFD in the "
        "papers' calibration. An attacker without knowledge (NK) learns from 1n to 5n made-up people, one with partial "
        "knowledge (PK) from a tenth to a half of the real ones, a hybrid one (HM) from both; those whose attribute is "
        "not known are attacked, by XGBoost and by the closed form, whose frequencies come from the same knowledge. "
        "The quick size has the closed form; XGBoost, which takes hours, is recorded, and all of it is in the full one."
    ),
    trial=trial,
    quick=_closed(SOME_EPSILONS, 5),
    full=[
        *_closed(EPSILONS, 20),
        _block("xgboost", "acs", (*PROTOCOLS, REALISTIC), EPSILONS, 20),
        _block("xgboost", "nursery", UNIFORM_FAKES, EPSILONS, 20),
    ],
    claims=[
        Claim("knowledge-increase", "With all three models the attack is 2 to 20 times as good as a random guess.",
              _PAPER, "§4.3, “Analysis”, first sentence", _increase),
        Claim("knowledge-synthetic-wins", "Made-up people drawn from the estimated frequencies, 1n to 5n, serve the "
              "attacker better than to know the sampled attribute of half of the people.", _PAPER,
              "§4.3, “Analysis”, second sentence", _synthetic_wins),
        Claim("knowledge-impact", "More made-up people matter less than more known ones.", _PAPER,
              "§4.3, “Analysis”, third sentence", _impact),
        Claim("knowledge-alike", "Without knowledge and with both kinds the results are quite similar.", _PAPER,
              "§4.3, “Analysis”, fourth sentence", _alike),
        Claim("knowledge-ceilings", "Fakes that are uniform keep the attack at about 25 % at most; fakes that are "
              "noise of zeros lead to about 50 % with OUE-z and nearly 100 % with SUE-z at ε = 10.", _PAPER,
              "§4.3, “Analysis”, on fake data", _ceilings),
        Claim("knowledge-symmetric", "With SUE the attack finds fewer than with OUE where ε is small, and more where "
              "it is large.", _PAPER, "§4.3, “Analysis”, on different UE protocols", _symmetric),
        Claim("knowledge-uniform-values", "Where attributes are near uniform, as in Nursery, no model gains anything "
              "worth mentioning with GRR, SUE-r and OUE-r.", _PAPER, "§4.3, last paragraph, and appendix D",
              _uniform_values),
        Claim("knowledge-realistic", "Against RS+RFD, other than against RS+FD, it is better to know people than to "
              "make them up.", _PAPER, "§5.2.3, “Analysis”, on PK and NK", _realistic),
    ],
    plots=[
        Plot("models", "XGBoost with no, partial and both kinds of knowledge. Of RS+RFD those who make up people know "
             "which fakes are drawn.", _draw_models),
        Plot("known", "Full lines: the reports of all and what is known; dotted lines: what is known alone. Half of "
             "the people known add little to the reports.", _draw_known),
    ],
    table=_table,
)  # fmt: skip
