"""What every worker shares: the clock, the memory, the size of the work; a job in, a result out.

It runs inside every environment, so it may use the standard library and numpy only. A worker is a
script with a table ``{(mechanism, side): prepare}`` that ends in ``harness.main(table)``.
``prepare(job, n)`` makes the data of n people and returns two functions: the work to be timed, and
a check of its answer that is run once, outside the clock: a fast wrong answer must not win.

The job is JSON in the first argument, the result JSON on standard output.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

Work = Callable[[], Any]
Check = Callable[[Any], None]
Prepare = Callable[["Job", int], tuple[Work, Check]]

#: Packages whose versions a result states, where they are installed.
PACKAGES = (
    "bruit",
    "multi-freq-ldpy",
    "pure-ldp",
    "diffprivlib",
    "opendp",
    "python-dp",
    "numpy",
    "numba",
    "cryptography",
)
#: A repetition of a fixed size that takes this many times as long as it should is not repeated often.
SLOW = 3


@dataclass(frozen=True)
class Job:
    """What a worker is asked to do."""

    mechanism: str
    side: str
    k: int
    epsilon: float
    seconds: float  #: how long one repetition should take
    repetitions: int
    most: int  #: people, however fast the library is: data must fit in memory
    n: int = 0  #: exactly so many people, if above 0


def main(table: Mapping[tuple[str, str], Prepare]) -> None:
    """Do the job of the first argument and print its result."""
    job = Job(**json.loads(sys.argv[1]))
    print(json.dumps(measure(table[job.mechanism, job.side], job)))


def measure(prepare: Prepare, job: Job) -> dict[str, Any]:
    """Seconds of each repetition, and the memory that the work needs beside its input."""
    n = people_for(prepare, job)
    work, check = prepare(job, n)
    before = _memory_so_far()
    seconds, answer = _timed(work)
    after = _peak()
    check(answer)
    del answer
    # A library too fast for the size of the data is run more often instead: the best of many short
    # repetitions is as steady as the best of a few long ones.
    repetitions = max(job.repetitions, min(40, math.ceil(job.seconds / seconds)))
    repetitions = min(repetitions, 2) if seconds > SLOW * job.seconds else repetitions
    times = [seconds, *(_timed(work)[0] for _ in range(repetitions - 1))]
    return {
        "n": n,
        "seconds": times,
        "peak_bytes": max(0, after - before),
        "versions": _versions(),
    }


def people_for(prepare: Prepare, job: Job) -> int:
    """How many people fill one repetition.

    Of each size the better of two runs counts: the first may compile, and what is compiled may depend on the size.
    """
    n = 1000
    prepare(job, n)[0]()
    if job.n:
        return job.n
    while True:
        work = prepare(job, n)[0]
        seconds = min(_timed(work)[0] for _ in range(2))
        if seconds >= job.seconds / 20 or n >= job.most / 20:
            return min(job.most, _round(n * job.seconds / seconds))
        n = min(n * 8, job.most // 20)


def _timed(work: Work) -> tuple[float, Any]:
    """One run under the clock, without the garbage collector, as `timeit` does."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        answer = work()
        return time.perf_counter() - start, answer
    finally:
        gc.enable()


def _round(n: float) -> int:
    """One or two leading digits, so that the table is readable."""
    scale = 10 ** max(0, math.floor(math.log10(n)) - 1)
    return max(1000, int(n / scale) * scale)


def _memory_so_far() -> int:
    """The peak so far, after asking Linux to forget earlier ones, such as compilation's."""
    gc.collect()
    forget = Path("/proc/self/clear_refs")
    if forget.exists():
        forget.write_text("5")
    return _peak()


def _peak() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
