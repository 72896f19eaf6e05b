"""Files larger than memory: privatize a Parquet file, estimate from its reports, watch memory.

    python bench/scale.py --rows 100_000_000

It writes the file row group by row group into a temporary folder, then runs the commands
``bruit privatize`` and ``bruit estimate`` as a user would, and states rows per second and the peak
of resident memory of each. It uses all cores unless BRUIT_THREADS says otherwise. The file is made
by a process of its own: a child's peak of memory starts at its parent's, so this one stays small.
The estimates are checked against the law that the labels were drawn from: a run that loses rows fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from report import machine

ROW_GROUP = 1 << 20
COLUMN = "answer"
SEED = 20_240_229


@dataclass(frozen=True)
class Step:
    """One command: what it did, how long it took, and the most memory it held."""

    name: str
    seconds: float
    peak_bytes: int
    file_bytes: int
    said: str


def main() -> int:
    """Make the file, run both commands, show the table; 1 when a command fails."""
    options = _options()
    if options.make:
        make(Path(options.make), options.rows, _labels(options.labels))
        return 0
    with tempfile.TemporaryDirectory(prefix="bruit-scale-", dir=options.folder) as folder:
        steps = measured(Path(folder), options)
    check(json.loads(steps[-1].said), options.rows, options.labels)
    show(steps, options.rows)
    limit = options.limit_mib
    return int(any(limit and step.peak_bytes > limit * 2**20 for step in steps[1:]))


def measured(folder: Path, options: argparse.Namespace) -> list[Step]:
    """The three steps in order, stopping at the first that fails."""
    people, reports = folder / "people.parquet", folder / "reports.parquet"
    sizes = ["--rows", str(options.rows), "--labels", str(options.labels)]
    bruit = str(Path(sys.executable).with_name("bruit"))
    values = ",".join(_labels(options.labels))
    question = [f"{COLUMN}={values}", "--epsilon", str(options.epsilon)]
    return [
        _run("make the file", [sys.executable, __file__, "--make", str(people), *sizes], people),
        _run(
            "bruit privatize",
            [bruit, "privatize", str(people), *question, "-o", str(reports)],
            reports,
        ),
        _run("bruit estimate", [bruit, "estimate", str(reports), "--json"], reports),
    ]


def make(path: Path, rows: int, labels: list[str]) -> None:
    """Write `rows` labels, the i-th as likely as 1/i, one row group at a time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    law = np.cumsum(1.0 / np.arange(1, len(labels) + 1))
    words = pa.array(labels)
    schema = pa.schema([(COLUMN, pa.string())])
    rng = np.random.default_rng(SEED)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, ROW_GROUP):
            u = rng.random(min(ROW_GROUP, rows - start))
            codes = np.searchsorted(law[:-1], u * law[-1], side="right")
            table = pa.table({COLUMN: words.take(pa.array(codes))}, schema=schema)
            writer.write_table(table, row_group_size=ROW_GROUP)


def check(answer: dict[str, Any], rows: int, labels: int) -> None:
    """Every row was counted, and each frequency is within 7 standard errors of its law."""
    if answer["n"] != rows or answer["refused"]:
        raise SystemExit(f"The estimate counts {answer['n']:,} reports of {rows:,} rows.")
    weights = [1 / (place + 1) for place in range(labels)]
    for value, weight in zip(answer["values"], weights, strict=True):
        if abs(value["frequency"] - weight / sum(weights)) > 7 * value["standard_error"]:
            raise SystemExit("An estimated frequency is not that of the labels.")


def show(steps: list[Step], rows: int) -> None:
    """The table on the terminal."""
    about = machine()
    caption = f"{about['cpu']}, {about['cores']} cores, {about['system']}, Python {about['python']}"
    table = Table(title=f"{rows:,} rows, Parquet to Parquet", caption=caption)
    table.add_column("step")
    for heading in ("seconds", "M rows/s", "peak MiB", "file MiB"):
        table.add_column(heading, justify="right")
    for step in steps:
        table.add_row(
            step.name,
            f"{step.seconds:.1f}",
            f"{rows / step.seconds / 1e6:.2f}",
            f"{step.peak_bytes / 2**20:.0f}",
            f"{step.file_bytes / 2**20:.0f}",
        )
    Console().print(table)


def _run(name: str, command: list[str], file: Path) -> Step:
    """Run a command; its peak of memory comes from the system's own account of that one process."""
    with (
        Console(stderr=True).status(name),
        tempfile.TemporaryFile("w+") as said,
        tempfile.TemporaryFile("w+") as complaints,
    ):
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=said, stderr=complaints)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            complaints.seek(0)
            last = complaints.read()[-2000:].strip()
            raise SystemExit(f"{name} failed with exit code {child.returncode}:\n{last}")
        said.seek(0)
        text = said.read()
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Step(name, seconds, peak, file.stat().st_size, text)


def _labels(count: int) -> list[str]:
    return [f"answer-{i:03}" for i in range(count)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A Parquet file through bruit's commands.")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--labels", type=int, default=16, help="how many different answers")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--folder", help="where the temporary folder goes, if not the usual place")
    parser.add_argument("--limit-mib", type=int, help="end with exit code 1 when a command's peak is above this")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
