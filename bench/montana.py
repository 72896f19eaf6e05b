"""Eighty rounds of the people of Montana, recorded for the study `rounds`, because the file does not travel with bruit.

    BRUIT_DATA=FOLDER python bench/montana.py     4 runs of each way of asking, about half a minute on one core

``FOLDER`` has ``acs_pwgtp_MT_2018.csv.gz`` (docs/how-to/run_the_studies.md). The rows are written to
``src/bruit_studies/_recorded/rounds.csv``, where the study finds them, and so does who has no such file.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bruit_studies import Block, find, recorded, run

ROOT = Path(__file__).parents[1]
RUNS = 4
METRICS = ("values", "distinct", "changes", "claimed", "cost", "bound", "error")


def main() -> None:
    """Run the trials of the panel and write their rows."""
    study = find("rounds")
    blocks = [Block(block.factors, RUNS) for block in study.quick if block.factors["part"] == ("montana",)]
    with tempfile.TemporaryDirectory() as folder:
        results = run(replace(study, quick=blocks), workers=0, folder=Path(folder))
    if results.skipped:
        sys.exit(next(iter(results.skipped)))
    names = ("part", "method", "width", "repetition", *METRICS)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(results[name].tolist() for name in names), strict=True)]
    how = f"replicate weights of Montana, 80 rounds, by bench/montana.py, seed 0: {RUNS} runs of each way"
    recorded.write(ROOT / "src" / "bruit_studies" / "_recorded" / "rounds.csv", how, rows)


if __name__ == "__main__":
    main()
