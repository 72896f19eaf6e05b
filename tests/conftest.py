"""Heavy cases are left to `make audit`; and what spares time to all."""

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

from .marks import is_heavy, unused

# Typer builds all commands with all their options whenever one is called, which takes longer than most of them.
typer.main.get_command = functools.cache(typer.main.get_command)

# A busy machine is no reason to fail: time is kept by the suite as a whole.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the marker from the cases that it keeps, before anything is left out."""
    if not any("::" in argument for argument in config.args) and (gone := unused(items)):
        raise pytest.UsageError(f"audit names cases that there are not: {', '.join(gone)}")
    for item in items:
        item.own_markers[:] = [
            marker for marker in item.own_markers if marker.name != "audit" or is_heavy(item.nodeid, marker)
        ]


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
