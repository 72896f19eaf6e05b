"""Which tests are heavy: those that are marked, and those that `heavy.txt` lists. None fails for being slow."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
