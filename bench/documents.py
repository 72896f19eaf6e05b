"""The claims of the learning slides with diffprivlib's own models, recorded for the study `central-or-local`.

    python bench/documents.py             120 runs at each ε, about ten minutes on one core
    python bench/documents.py --quick     6 runs, written nowhere, to see that it works

diffprivlib is installed in an environment of its own (``bench/environments/diffprivlib.txt``). The rows are written to
``src/bruit_studies/_recorded/central-or-local.csv``, where the study finds them, and so does who has no diffprivlib.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bruit_studies import recorded
from bruit_studies.central_or_local import EPSILONS, trials
from peers import BENCH, DIFFPRIVLIB, ROOT, ready
from run import ONE_CORE

NAME = "central-or-local"
ADULT_EPSILONS = (0.1, 1.0, 10.0)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="6 runs, written nowhere")
    quick = parser.parse_args().quick
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
    path = ROOT / "src" / "bruit_studies" / "_recorded" / f"{NAME}.csv"
    recorded.write(path, about, answer["rows"])
    print(f"{len(answer['rows']):,} rows written to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
