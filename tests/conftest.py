"""Which tests are heavy: those that are marked, and those that `heavy.txt` lists; and what spares time to all."""

from __future__ import annotations

import atexit
import functools
import gc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import HealthCheck, settings

# What collecting makes lives as long as the run: it is looked through once, and not by every test.
gc.disable()
# At the very end it is freed, or libraries that look for leaks would say that there are some.
atexit.register(gc.unfreeze)

# Typer builds all commands with all their options whenever one is called, which takes longer than most of them.
typer.main.get_command = functools.cache(typer.main.get_command)

# A busy machine is no reason to fail: time is kept by the suite as a whole.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

LINES = [
    line for line in (Path(__file__).parent / "heavy.txt").read_text().splitlines() if line and not line.startswith("#")
]
#: Before the name of a test of which a third is not heavy.
SHARE = "1/3 "
HEAVY = tuple(line for line in LINES if not line.startswith(SHARE))
SHARED = tuple(line.removeprefix(SHARE) for line in LINES if line.startswith(SHARE))


def is_heavy(name: str) -> bool:
    """Whether a test is left to `make audit`."""
    return name.startswith(HEAVY) or (name.startswith(SHARED) and zlib.crc32(name.encode()) % 3 > 0)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the list names, before anything is left out."""
    for item in items:
        if is_heavy(item.nodeid):
            item.add_marker("audit")


def pytest_collection_finish() -> None:
    """Count what was collected as permanent, and collect garbage from here on."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Workers of one run compile a kernel once: the others wait for it and read it from the cache on disk."""
    if hasattr(session.config, "workerinput") and hasattr(session.config, "cache"):
        _compile_in_turn(session.config.cache.mkdir("kernels") / "lock")


def _compile_in_turn(path: Path) -> None:
    """Hold a lock of its own while a kernel is compiled; a kernel that calls another one holds both."""
    import fcntl

    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    file = path.open("ab")
    compile_one: Callable[[Any, Any], Any] = Dispatcher.compile

    def compile_in_turn(self: Any, signature: Any) -> Any:
        kernel = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        with global_compiler_lock:
            place = zlib.crc32(kernel.encode())
            fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
            try:
                return compile_one(self, signature)
            finally:
                fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

    Dispatcher.compile = compile_in_turn
