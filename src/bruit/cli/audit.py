"""`bruit audit`: does a mechanism keep what it states?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit.cli import _options, console
from bruit.cli._reports import read_plan
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.oracles import Oracle


def audit(
    plan: Annotated[Path | None, typer.Argument(help="A plan; or describe a mechanism with the options.")] = None,
    method: Annotated[str, typer.Option(help="The mechanism, by its name; bruit choose lists them.")] = "GRR",
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The ε that is asked for.")] = None,
    k: Annotated[int, typer.Option(help="How many answers there are.")] = 2,
    trials: Annotated[int, typer.Option(help="How many reports to draw of each of two answers; 0 for none.")] = 200_000,
    level: Annotated[float, typer.Option(help="The confidence of the lower bound.")] = 0.95,
    seed: Annotated[int | None, typer.Option(help="Make the run repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check that a mechanism keeps the ε it states.

    Exactly: the largest ratio of two probabilities, in whole numbers. And from outside: reports are drawn for two
    answers, and the best attack on them gives a lower bound on ε. Ends with 1 if a bound contradicts the claim.
    """
    from bruit.audit import empirical, exact

    _options.check_whole(seed=seed, trials=trials)
    oracle = _mechanism(plan, method, epsilon, k)
    proof = exact(oracle)
    result: dict[str, Any] = {
        "mechanism": oracle.name,
        "k": oracle.size,
        "asked": oracle.epsilon,
        "stated": proof.stated,
        "exact": {"holds": proof.holds, "method": proof.method, "ratio": str(proof.ratio), "epsilon": proof.epsilon},
    }
    holds = proof.holds
    if trials:
        first, second = oracle.domain.names[0], oracle.domain.names[1]
        found = empirical(oracle, first, second, trials=trials, level=level, rng=seed)
        passed = found.passes(oracle.guarantee)
        holds = holds and passed
        result["empirical"] = {"holds": passed, "lower": found.epsilon_lower, "level": level, "trials": trials}
    result["holds"] = holds
    console.print_json(result) if as_json else _tell(result)
    if not holds:
        raise typer.Exit(console.Exit.FAILED)


def _mechanism(plan: Path | None, method: str, epsilon: float | None, k: int) -> Oracle:
    from bruit.oracles import oracle

    if plan is not None:
        return read_plan(plan).oracle
    name = _options.method_name(method)
    if epsilon is None and name != "Warner":
        raise ParameterError("Name a plan, or give --epsilon.")
    return oracle(name, epsilon=epsilon, k=k)


def _tell(result: dict[str, Any]) -> None:
    made = console.table("check", "ε", "verdict")
    made.add_row("asked for", f"{result['asked']:.12g}", "")
    made.add_row("stated, computed from the law and rounded up", f"{result['stated']:.12g}", "")
    exact = result["exact"]
    made.add_row(f"largest ratio, exact ({exact['method']})", f"{exact['epsilon']:.12g}", _verdict(exact["holds"]))
    if "empirical" in result:
        seen = result["empirical"]
        what = f"best attack on {seen['trials']:,} reports, at least"
        made.add_row(what, f"{seen['lower']:.4g}", _verdict(seen["holds"]))
    console.out().print(made)


def _verdict(holds: bool) -> str:
    return "holds" if holds else "DOES NOT HOLD"
