"""One machine, four ways: memory, files, Spark with one core and Spark with two.

    python bench/spark.py --rows 10_000_000

It writes a folder of Parquet files with one column of codes into a temporary folder, then privatises them by GRR and
counts the reports, each way in a process of its own. It states rows per second, the fixed cost of Spark (to start, and
for a job over one row), and the peaks of memory: of the driver's Python, of the workers' Python together (pages that
they share are counted once), and of Java. Run it with the Python of an environment that has pyspark, as
`.venvs/spark/bin/python`. Every tally must have all rows, and its estimates must lie within 6 standard deviations
of the truth: a run that loses rows fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

K, EPSILON, COLUMN = 16, 1.0, "answer"
FILES = 16
WAYS = ("memory", "file", "spark-1", "spark-2")


def main() -> int:
    """Make the folder, go each way, print the table."""
    options = _options()
    if options.way:
        print(json.dumps(_go(options.way, Path(options.folder), options.rows)))
        return 0
    if options.make:
        _make(Path(options.folder), options.rows)
        return 0
    with tempfile.TemporaryDirectory(prefix="bruit-spark-", dir=options.folder) as folder:
        _run(["--make", "--folder", folder, "--rows", str(options.rows)])
        print(
            f"{options.rows:,} rows, {_size(Path(folder) / 'people') / 2**20:.0f} MiB of Parquet in {FILES} files; "
            f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        )
        head = (
            "way",
            "start s",
            "one row s",
            "privatize s",
            "rows/s",
            "count s",
            "rows/s",
            "driver MiB",
            "workers MiB",
            "Java MiB",
        )
        print(" | ".join(head))
        for way in options.ways or WAYS:
            said, peaks = _run(["--way", way, "--folder", folder, "--rows", str(options.rows)])
            print(
                " | ".join([way, *_row(json.loads(said), options.rows), *(f"{peak:.0f}" for peak in peaks)]), flush=True
            )
    return 0


def _row(found: dict[str, float], rows: int) -> list[str]:
    speeds = [f"{rows / found[step]:.3g}" for step in ("privatize", "count")]
    return [
        f"{found['start']:.1f}",
        f"{found['first']:.1f}",
        f"{found['privatize']:.1f}",
        speeds[0],
        f"{found['count']:.1f}",
        speeds[1],
    ]


def _go(way: str, folder: Path, rows: int) -> dict[str, float]:
    """Go one way, and say how long each step took."""
    from bruit import Plan, oracle

    plan = Plan({COLUMN: oracle("GRR", epsilon=EPSILON, k=K)})
    people, reports = folder / "people", folder / f"{way}.parquet"
    clock = _Clock()
    if way == "memory":
        source: Any = {COLUMN: _read(people)}
        clock.lap("start")
        plan.tally(plan.privatize({COLUMN: source[COLUMN][:1]}))
        clock.lap("first")
        written: Any = plan.privatize(source)
    elif way == "file":
        clock.lap("start")
        plan.tally(plan.privatize({COLUMN: [0]}))
        clock.lap("first")
        plan.privatize(people, to=reports)
        written = reports
    else:
        from bruit.engines import spark

        session = spark.session(f"local[{way[-1]}]")
        clock.lap("start")
        one = session.range(1).selectExpr(f"CAST(id AS TINYINT) AS {COLUMN}")
        plan.tally(plan.privatize(one))
        clock.lap("first")
        plan.privatize(spark.read(session, str(people)), to=reports)
        written = spark.read(session, str(reports))
    clock.lap("privatize")
    tally = plan.tally(written)
    clock.lap("count")
    _check(plan, tally, rows)
    return clock.laps


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name], self._last = now - self._last, now


def _check(plan: Any, tally: Any, rows: int) -> None:
    import numpy as np

    answer = plan.estimate(tally, "people")[COLUMN]
    if tally.n != rows or (abs(answer.frequency - 1 / K) > 6 * np.sqrt(answer.variance) + K / rows).any():
        raise SystemExit("The estimates are wrong: rows were lost, or noise repeated.")


def _make(folder: Path, rows: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "people").mkdir()
    for place in range(FILES):
        low, high = rows * place // FILES, rows * (place + 1) // FILES
        codes = (np.arange(low, high) * 7 % K).astype(np.int8)
        np.random.default_rng(place).shuffle(codes)
        pq.write_table(pa.table({COLUMN: codes}), folder / "people" / f"{place:02}.parquet", use_dictionary=False)


def _read(folder: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(folder)[COLUMN].to_numpy()


def _run(words: list[str]) -> tuple[str, list[float]]:
    """Run this file with these words; what it printed, and the peaks of memory of driver, workers and Java in MiB."""
    child = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)
    peaks = dict.fromkeys(("driver", "workers", "java"), 0.0)
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(child.pid, peaks, over))
    watch.start()
    said, _ = child.communicate()
    over.set()
    watch.join()
    if child.returncode:
        raise SystemExit(f"{' '.join(words)} failed")
    return said.strip().splitlines()[-1] if said.strip() else "", list(peaks.values())


def _watch(root: int, peaks: dict[str, float], over: threading.Event) -> None:
    while not over.wait(0.25):
        found = dict.fromkeys(peaks, 0.0)
        for process in _family(root):
            try:
                name = Path(f"/proc/{process}/comm").read_text()
                lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            own = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
            found["driver" if process == root else "java" if "java" in name else "workers"] += own / 2**10
        for kind, size in found.items():
            peaks[kind] = max(peaks[kind], size)


def _family(root: int) -> list[int]:
    """A process and all that descend from it."""
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        for task in Path(f"/proc/{process}/task").glob("*/children"):
            try:
                waiting += map(int, task.read_text().split())
            except OSError:
                continue
    return found


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=10_000_000)
    parser.add_argument("--folder", help="where the temporary folder goes")
    parser.add_argument("--ways", nargs="*", choices=WAYS)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
