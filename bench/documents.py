"""The claims of the learning slides with diffprivlib's own models, recorded for the study `central-or-local`.

    python bench/documents.py             120 runs at each ε, about ten minutes on one core
    python bench/documents.py --quick     6 runs, written nowhere, to see that it works
    python bench/documents.py --own       bruit's models alone, without diffprivlib, whose rows stay as they are

diffprivlib is installed in an environment of its own (``bench/environments/diffprivlib.txt``). The rows are written to
``src/bruit_studies/_recorded/central-or-local.csv``, where the study finds them, and so does who has no diffprivlib.
Some trials of bruit's own models are recorded beside them, draw for draw those of the study with seed 0: the judges
compare both, so that a verdict from recorded rows is that of the page of claims.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bruit_studies import recorded
from bruit_studies.central_or_local import EPSILONS, STUDY, trials
from bruit_studies.study import Trial
from peers import BENCH, DIFFPRIVLIB, ROOT, ready
from run import ONE_CORE

NAME = "central-or-local"
ADULT_EPSILONS = (0.1, 1.0, 10.0)
#: How many runs of bruit's own models are recorded at each ε.
OWN_RUNS = 40


def write_tables(folder: Path) -> None:
    """The tables as the study has them, with their declared bounds."""
    for name, table in (("pima", trials.pima()), ("iris", trials.iris()), ("adult", trials.adult())):
        low, high = table.bounds
        np.savez(folder / f"{name}.npz", X=table.table, y=table.label, low=low, high=high)


def rows_of(jobs: dict[str, Any]) -> dict[str, Any]:
    """What diffprivlib's worker gives."""
    with tempfile.TemporaryDirectory() as name:
        write_tables(Path(name))
        command = [str(ready(DIFFPRIVLIB)), str(BENCH / "workers" / "documents_diffprivlib.py"), name, json.dumps(jobs)]
        inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(command, env=inherited | ONE_CORE, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def own_rows() -> list[dict[str, Any]]:
    """The first trials of bruit's own models on Pima, as the study makes them with seed 0."""
    rows = []
    for epsilon in EPSILONS:
        factors: dict[str, Any] = {"part": "pima", "epsilon": epsilon}
        for run in range(OWN_RUNS):
            metrics: Any = STUDY.trial(**factors, rng=STUDY.stream(Trial(0, factors, run), 0))
            rows.append({**factors, "repetition": run, **metrics})
    return rows


def known_rows() -> list[dict[str, Any]]:
    """The recorded rows of diffprivlib; what a row lacks is left out."""
    results = recorded.read(NAME)
    if results is None:
        return []
    names = list(results.columns)
    lines = zip(*(results[name].tolist() for name in names), strict=True)
    rows = [{name: value for name, value in zip(names, line, strict=True) if not _absent(value)} for line in lines]
    return [row for row in rows if row.get("part") != "pima"]


def _absent(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def about_own() -> str:
    return f"; bruit's own models on Pima: {OWN_RUNS} runs at each ε, version {STUDY.version} of the study, seed 0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="6 runs, written nowhere")
    parser.add_argument("--own", action="store_true", help="bruit's models alone")
    wishes = parser.parse_args()
    path = ROOT / "src" / "bruit_studies" / "_recorded" / f"{NAME}.csv"
    if wishes.own:
        theirs = recorded.about(NAME).partition(";")[0]
        recorded.write(path, theirs + about_own(), [*known_rows(), *own_rows()])
        return
    quick = wishes.quick
    runs = 6 if quick else 120
    jobs = {
        "pima": {"epsilons": EPSILONS, "runs": runs},
        "iris": {"epsilons": EPSILONS, "runs": min(runs, 60)},
        "adult": {"epsilons": ADULT_EPSILONS, "runs": min(runs, 20)},
    }
    answer = rows_of(jobs)
    about = (
        f"diffprivlib {answer['diffprivlib']} with scikit-learn {answer['scikit-learn']}, by bench/documents.py: "
        f"{runs} runs at each ε on Pima, {jobs['iris']['runs']} on Iris, {jobs['adult']['runs']} on Adult"
    )
    if quick:
        print(about, *answer["rows"][:8], sep="\n")
        return
    recorded.write(path, about + about_own(), [*answer["rows"], *own_rows()])
    print(f"{len(answer['rows']):,} rows written to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
