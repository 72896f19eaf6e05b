"""Which tests are heavy: those that are marked, and those that `heavy.txt` lists."""

from __future__ import annotations

from pathlib import Path

import pytest

HEAVY = [
    line for line in (Path(__file__).parent / "heavy.txt").read_text().splitlines() if line and not line.startswith("#")
]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the list names, before anything is left out."""
    for item in items:
        if item.nodeid.startswith(tuple(HEAVY)):
            item.add_marker("audit")
