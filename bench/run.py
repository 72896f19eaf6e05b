"""Side by side with other libraries, in one run on the same data: `make bench`, or this file.

Every figure comes from a fresh process on one core. The answer that counts is a ratio of rates,
because a rate alone says more about the machine than about the library. This process stays light on
purpose (no numpy): a child's peak of memory starts at its parent's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

import report
from cases import EPSILON, Case, chosen
from peers import BENCH, LIBRARIES, Environment, SetupError, interpreter
from report import Row

ONE_CORE = dict.fromkeys(
    (
        "BRUIT_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)


@dataclass(frozen=True)
class Effort:
    """How long a repetition should take, how many there are, and how many people at most."""

    seconds: float
    repetitions: int
    most: int


#: Each library's Python, or the reason why its environment could not be made.
Pythons = dict[str, Path | SetupError]

FULL = Effort(seconds=0.4, repetitions=5, most=5_000_000)
QUICK = Effort(seconds=0.1, repetitions=3, most=2_000_000)
#: A promise that is missed is measured again, both sides, up to so many times in all: the machine may have been busy.
ATTEMPTS = 3


def main() -> int:
    """Measure what was asked for; 0 when every promise among it is kept, 1 otherwise."""
    options = _options()
    selected = chosen(options.only)
    if options.list:
        print("\n".join(_description(case) for case in selected))
        return 0
    if not selected:
        print("No case matches --only; see --list.", file=sys.stderr)
        return 2
    effort = QUICK if options.quick else FULL
    pythons = interpreters(selected)
    rows = [row for case in selected for row in measured(case, effort, pythons)]
    result = report.document(rows, quick=options.quick)
    report.save(result, rows, BENCH / "results")
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        report.show(result, rows)
    return 0 if all(row.kept is not False for row in rows) else 1


def interpreters(selected: list[Case]) -> Pythons:
    """The Python of every library that takes part, or why there is none; each environment is tried once."""
    tried: dict[Environment | None, Path | SetupError] = {}
    found: Pythons = {}
    for name in ("bruit", *(other for case in selected for other in case.others)):
        environment = LIBRARIES[name].environment
        if environment not in tried:
            tried[environment] = _interpreter(name)
        found[name] = tried[environment]
    return found


def measured(case: Case, effort: Effort, pythons: Pythons) -> list[Row]:
    """The rows of one case: bruit first, then the others. Of several attempts each library's best counts."""
    ours = _row(case, "bruit", effort, pythons, None)
    others = {other: _row(case, other, effort, pythons, ours) for other in case.others}
    for attempt in range(2, ATTEMPTS + 1):
        missed = [other for other, row in others.items() if row.kept is False and row.ratio is not None]
        if not missed:
            break
        ours = best(ours, _row(case, "bruit", effort, pythons, None), attempt)
        again = {other: best(others[other], _row(case, other, effort, pythons, ours), attempt) for other in missed}
        others = {other: replace(again.get(other, row), ours=ours) for other, row in others.items()}
    return [ours, *others.values()]


def best(first: Row, second: Row, attempts: int) -> Row:
    """The row with the higher rate; one that was not measured does not count."""
    row = second if (second.rate or 0) > (first.rate or 0) else first
    return replace(row, attempts=attempts)


def _interpreter(library: str) -> Path | SetupError:
    with Console(stderr=True).status(f"the environment of {library}"):
        try:
            return interpreter(LIBRARIES[library])
        except SetupError as error:
            return error


def _row(case: Case, library: str, effort: Effort, pythons: Pythons, ours: Row | None) -> Row:
    result: dict[str, Any] = {}
    trouble, missing = "", False
    with Console(stderr=True).status(f"{case.title}: {library}"):
        try:
            result = _measure(case, library, effort, pythons[library])
        except SetupError as error:
            trouble, missing = str(error), True
        except WorkerError as error:
            trouble = f"{case.title}: {error}"
    return Row(
        library=library,
        mechanism=case.mechanism,
        side=case.side,
        k=case.k,
        ours=ours,
        promise=case.promises.get(library),
        trouble=trouble,
        missing=missing,
        **result,
    )


class WorkerError(Exception):
    """A worker failed; the message is the last line it wrote."""


def _measure(case: Case, library: str, effort: Effort, python: Path | SetupError) -> dict[str, Any]:
    """The worker's result: n, seconds, peak_bytes and versions."""
    if isinstance(python, SetupError):
        raise python
    job = {"mechanism": case.mechanism, "side": case.side, "k": case.k, "epsilon": EPSILON, "n": case.n}
    job |= {"seconds": effort.seconds, "repetitions": effort.repetitions, "most": effort.most}
    command = [str(python), str(BENCH / "workers" / LIBRARIES[library].worker), json.dumps(job)]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=inherited | ONE_CORE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WorkerError((done.stderr.strip().splitlines() or ["it stopped without a word"])[-1])
    return dict(json.loads(done.stdout))


def _description(case: Case) -> str:
    against = ", ".join(
        f"{other} (at least {case.promises[other]:g} times)" if other in case.promises else other
        for other in case.others
    )
    return f"{case.title}: bruit against {against}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="bruit side by side with other libraries.")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="cases that contain this word")
    parser.add_argument("--quick", action="store_true", help="short repetitions, rougher figures")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--list", action="store_true", help="say what would be measured, and stop")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
