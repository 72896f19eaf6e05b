"""Which tests are heavy: those that are marked, and those that `heavy.txt` lists; and what spares time to all."""

from __future__ import annotations

import atexit
import functools
import gc
import sys
import zlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import HealthCheck, settings

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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is made here lives as long as the run: nobody looks through it for garbage, now or between tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        # Otherwise libraries that look for leaks when a process ends would say that there are some.
        atexit.register(gc.unfreeze)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Workers of one run compile a kernel once: the others wait for it and read it from the cache on disk."""
    is_worker = hasattr(session.config, "workerinput") and hasattr(session.config, "cache")
    if is_worker and sys.platform != "win32":
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
        place = zlib.crc32(kernel.encode())
        with global_compiler_lock:  # first, or two threads could wait for each other
            fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
            try:
                return compile_one(self, signature)
            finally:
                fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

    Dispatcher.compile = compile_in_turn


@pytest.fixture
def any_epsilon() -> Generator[None]:
    """An ε beyond the limit, for tests that want hardly any noise."""
    from bruit import _checks

    with _checks.any_epsilon():
        yield
