"""What it costs to read grown documents, measured in another process, which a document that takes too long ends.

``python tests/fuzz/costing.py [READER …]`` reads all of them and prints those that cost too much.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
#: The law: seconds of processor time, and seconds for every byte; bytes of memory, and for every byte of a document.
SECONDS, SECONDS_PER_BYTE = 1.0, 2e-6
MEMORY, MEMORY_PER_BYTE = 200e6, 1000
#: What the work of `_slowness` takes on a usual machine that has nothing else to do.
USUAL = 0.03
#: A document is given up at so many times what it may take.
PATIENCE = 2
#: Nothing may use more memory than that, beyond what the process had.
MOST_MEMORY = 3e9


class Cost(NamedTuple):
    """What a document took: a reader, a recipe, bytes, seconds, bytes of memory, and how reading it ended."""

    reader: str
    number: int
    recipe: str
    size: int
    seconds: float
    memory: float
    outcome: str

    @property
    def breaks(self) -> str:
        """Which part of the law is broken; nothing if none is."""
        if self.seconds > SECONDS + SECONDS_PER_BYTE * self.size:
            return "time"
        if self.memory > MEMORY + MEMORY_PER_BYTE * self.size:
            return "memory"
        return "" if self.outcome in ("read", "refused") else "outcome"


def costs(requests: list[tuple[str, int | None]], seed: int, module: str = "document_readers") -> Iterator[Cost]:
    """The costs of documents of readers: so many of each, drawn from a seed; None is for the documents as they are."""
    start = 0
    while start is not None:
        start = yield from _from(start, requests, seed, module)


def _from(start: int, requests: Any, seed: int, module: str) -> Any:
    """Costs from this document on; the place of the next one where the process was ended by one."""
    task = json.dumps({"start": start, "requests": requests, "seed": seed, "module": module})
    command = [sys.executable, str(HERE / "costing.py"), "--child", task]
    # Without bytecode the process would compile all it imports, each time.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    begun: list[Any] | None = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                place, *values = json.loads(line)
                if values[-1] == "begun":
                    begun = [place, *values]
                else:
                    begun = None
                    yield Cost(*values)
        finally:
            if sys.exc_info()[0] is not None:  # nobody asks for more
                child.kill()
    if child.returncode == 0:
        return None
    assert begun is not None, f"The process that reads documents ended with {child.returncode}."
    place, reader, number, recipe, size, _, _, _ = begun
    limit = PATIENCE * (SECONDS + SECONDS_PER_BYTE * size)
    killed = child.returncode == -signal.SIGPROF
    yield Cost(reader, number, recipe, size, limit if killed else 0.0, 0.0, f"ended with {child.returncode}")
    return place + 1


# The other process.


def _child(start: int, requests: list[tuple[str, int | None]], seed: int, module: str) -> None:
    import importlib

    from growth import Grower, Recipe

    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, also within a library
    with tempfile.TemporaryDirectory() as text, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(text)
        readers = importlib.import_module(module).readers(folder)
        place = 0
        for name, times in requests:
            reader = readers[name]
            bodies = [reader.form.parse(content) for content in reader.seeds]
            whole = [Recipe(number, ()) for number in range(len(bodies))]
            recipes = whole if times is None else list(Grower(bodies, seed).recipes(times))
            if place + len(recipes) > start:
                _warm(reader, folder) if times is not None else None
                _limit_memory()
                gc.collect()
                gc.freeze()
            for number, recipe in enumerate(recipes):
                if place >= start:
                    _one(place, name, number, recipe, bodies[recipe.seed], reader, folder)
                place += 1


def _warm(reader: Any, folder: Path) -> None:
    """What is imported and compiled the first time is no part of the cost."""
    for content in reader.seeds:
        path = folder / f"whole{reader.ending}"
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(reader.read(path))


def _slowness() -> float:
    """How much slower this machine is now than a usual one; other programs slow a processor down, too."""
    started = time.process_time()
    sum(number * number % 7 for number in range(400_000))
    return max(1.0, (time.process_time() - started) / USUAL)


def _limit_memory() -> None:
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (int(used + MOST_MEMORY), hard))


def _one(place: int, name: str, number: int, recipe: Any, body: Any, reader: Any, folder: Path) -> None:
    content = reader.form.write(recipe.grown(body))
    path = folder / f"content{reader.ending}"
    path.write_bytes(content)
    about = [place, name, number, recipe.name, len(content)]
    print(json.dumps([*about, 0.0, 0.0, "begun"]), flush=True)
    before = _peak()
    limit = PATIENCE * (SECONDS + SECONDS_PER_BYTE * len(content))
    signal.setitimer(signal.ITIMER_PROF, limit)
    started = time.process_time()
    outcome = _outcome(reader, path)
    seconds = time.process_time() - started
    if seconds > SECONDS:
        seconds /= _slowness()
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps([*about, seconds, max(0.0, _peak(reset=False) - before), outcome]), flush=True)


def _peak(*, reset: bool = True) -> float:
    """The most memory that the process has had, since it was set back; 0 where the system does not say."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0.0


def _outcome(reader: Any, path: Path) -> str:
    from bruit.errors import BruitError

    try:
        use(reader.read(path))
    except BruitError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return "read"


#: What anybody looks at first.
CHEAP = ("digest", "guarantee", "guarantees", "columns", "size", "title")


def use(thing: Any) -> None:
    """Look at what was read as anybody does at once: its guarantee, its digest, its text, its plain values."""
    for item in thing if isinstance(thing, tuple) else (thing,):
        for name in CHEAP:
            if hasattr(type(item), name):
                getattr(item, name)
        repr(item)
        for name in ("to_dict", "prospects"):
            if hasattr(type(item), name):
                callable(getattr(item, name)) and getattr(item, name)()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(**json.loads(sys.argv[2]))
    else:
        sys.path[:0] = [str(HERE), str(HERE.parents[1])]
        times = int(sys.argv[1])
        names = sys.argv[2:]
        slow = 0.2
        total = 0.0
        for cost in costs([(name, times) for name in names], 20):
            total += cost.seconds
            if cost.breaks or cost.seconds > slow:
                print(f"{cost.breaks:8} {cost.reader:12} #{cost.number} {cost.size:7} B {cost.seconds:6.2f} s "
                      f"{cost.memory / 1e6:6.0f} MB {cost.outcome[:60]} | {cost.recipe[:150]}", flush=True)  # fmt: skip
        print(f"{total:.1f} s", flush=True)
