"""`bruit audit`: does a mechanism keep what it states?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args

import typer

from bruit import _checks
from bruit.cli import _options, console
from bruit.errors import ParameterError
from bruit.tables import Table, counted

if TYPE_CHECKING:
    from bruit.audit import EmpiricalAudit, ExactAudit
    from bruit.audit.exact import AuditRow
    from bruit.collection import Plan
    from bruit.collection.mechanisms import Mechanism
    from bruit.oracles import Oracle
    from bruit.privacy import Guarantee


def audit(
    plan: Annotated[Path | None, typer.Argument(help="A plan; or describe a mechanism with the options.")] = None,
    method: Annotated[str, typer.Option(help="The mechanism, by its name; bruit choose lists them.")] = "GRR",
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The ε that is asked for.")] = None,
    k: Annotated[int, typer.Option(help="How many answers there are.")] = 2,
    trials: Annotated[int, typer.Option(help="How many reports to draw of each of two answers; 0 for none.")] = 200_000,
    level: Annotated[float, typer.Option(help="The confidence of the lower bound.")] = 0.9999,
    seed: Annotated[int | None, typer.Option(help="Make the run repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check that a mechanism, or a plan for several attributes, keeps the ε it states.

    Exactly: the largest ratio of two probabilities, in whole numbers. And from outside: reports are drawn for two
    answers, and the best attack on them gives a lower bound on ε. Ends with 1 if a bound contradicts the claim: a
    mechanism that keeps its ε is accused once in 10,000 runs, or as --level says.

    Of a plan for several attributes, both guarantees are checked: over all records and reports where they can be
    written down, else by the closed form of the law; and from reports of two records that are as far apart as can be.
    """
    _options.check_whole(seed=seed, trials=trials)
    drawn = _Drawn(trials, _checks.probability(**{"--level": level}), seed)
    known = None if plan is None else _plan(plan, k, epsilon)
    if known is not None and len(known.schema) > 1:
        result = _of_plan(known, drawn)
    else:
        mechanism = _mechanism(method, epsilon, k) if known is None else next(iter(known.mechanisms.values()))
        result = _of_mechanism(mechanism, drawn)
    table = _table(result)
    console.print_json(table.to_json()) if as_json else console.show(table)
    if not result["holds"]:
        raise typer.Exit(console.Exit.FAILED)


def _plan(path: Path, k: int, epsilon: float | None) -> Plan:
    """The plan of a file; the name of a mechanism in its place is a slip, and the option is named."""
    from bruit.collection import files
    from bruit.numbers import Number
    from bruit.oracles import Oracle

    name = str(path)
    if not path.exists() and not files.plan_path(path).exists():
        if name in Oracle.kinds:
            command = f"bruit audit --method {name} --k {k} -e {epsilon or 1:g}"
            raise ParameterError(f"{name} is a mechanism, and not a plan: {command}.")
        if name in Number.kinds:
            raise ParameterError(
                f"{name} is a mechanism of numbers, and is audited with its bounds: bruit plan age=0..100 --method "
                f"{name} -e {epsilon or 1:g} -o plan.json, and then bruit audit plan.json."
            )
    return _options.plan(path)


class _Drawn(NamedTuple):
    """How many reports to draw, if any, and how sure to be."""

    trials: int
    level: float
    seed: int | None

    def lower_bound(self, audit: EmpiricalAudit, guarantee: Guarantee) -> dict[str, Any]:
        """What the reports showed, as plain values."""
        passed = audit.passes(guarantee)
        return {"holds": passed, "lower": audit.epsilon_lower, "level": self.level, "trials": self.trials}


def _of_mechanism(mechanism: Mechanism, drawn: _Drawn) -> dict[str, Any]:
    from bruit.audit import empirical, exact

    proof = exact(mechanism)
    result = {"mechanism": mechanism.name, "k": mechanism.size, "asked": proof.requested, **_proved(proof)}
    if drawn.trials:
        first, second = _two_values(mechanism)
        seen = empirical(mechanism, first, second, trials=drawn.trials, level=drawn.level, rng=drawn.seed)
        result["empirical"] = drawn.lower_bound(seen, mechanism.guarantee)
    return {**result, "holds": _holds(result)}


def _two_values(mechanism: Mechanism) -> tuple[Any, Any]:
    """Two answers: the first two categories, or the bounds of a number."""
    names = mechanism.domain.names
    return names[0], names[-1 if mechanism.gives == "mean" else 1]


def _of_plan(plan: Plan, drawn: _Drawn) -> dict[str, Any]:
    from bruit.audit import empirical_plan, exact_plan
    from bruit.audit.plans import of_one_report
    from bruit.collection.design import Unit

    result: dict[str, Any] = {"method": str(plan.method), "asked": plan.epsilon, "unit": plan.unit}
    units: tuple[Unit, ...] = get_args(Unit)
    for unit in units:
        checks = _proved(exact_plan(plan, unit))
        if drawn.trials:
            seen = empirical_plan(plan, unit, trials=drawn.trials, level=drawn.level, rng=drawn.seed)
            checks["empirical"] = drawn.lower_bound(seen, of_one_report(plan, unit))
        result[unit] = {**checks, "holds": _holds(checks)}
    return {**result, "holds": all(result[unit]["holds"] for unit in units)}


def _proved(proof: ExactAudit) -> dict[str, Any]:
    exact = {"holds": proof.holds, "method": proof.method, "ratio": str(proof.ratio), "epsilon": proof.epsilon}
    return {"stated": proof.stated, "exact": exact}


def _holds(checks: dict[str, Any]) -> bool:
    return bool(checks["exact"]["holds"] and checks.get("empirical", {"holds": True})["holds"])


def _mechanism(method: str, epsilon: float | None, k: int) -> Oracle:
    from bruit.oracles import oracle

    if epsilon is None and method.lower() not in ("warner", "rr"):
        raise ParameterError("Name a plan, or give --epsilon.")
    return oracle(str(_options.method(method, several=False)), epsilon=epsilon, k=k)


def _table(result: dict[str, Any]) -> Table:
    from bruit.audit.exact import AuditRow, checks_table

    several = "mechanism" not in result
    label = f"asked for, for one {result['unit']}" if several else "asked for"
    rows = [] if result["asked"] is None else [AuditRow(label, result["asked"])]
    for unit in ("person", "attribute") if several else ("",):
        rows += _checks_of(unit, result[unit] if unit else result)
    what = result["method"] if several else f"{result['mechanism']} with {counted(result['k'], 'value')}"
    return checks_table(f"Audit of {what}", rows, about=result)


def _checks_of(unit: str, checks: dict[str, Any]) -> list[AuditRow]:
    from bruit.audit.exact import AuditRow

    of = f"{unit}: " if unit else ""
    claim = "stated" if unit else "stated, computed from the law and rounded up"
    exact = checks["exact"]
    largest = f"{of}largest ratio, exact ({exact['method']})"
    rows = [AuditRow(f"{of}{claim}", checks["stated"]), AuditRow(largest, exact["epsilon"], exact["holds"])]
    if "empirical" in checks:
        seen = checks["empirical"]
        name = f"{of}best attack on {counted(seen['trials'], 'report')}, at least"
        rows.append(AuditRow(name, float(f"{seen['lower']:.4g}"), seen["holds"]))
    return rows
