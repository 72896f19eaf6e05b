"""Which cases of a test that is marked with ``audit`` are heavy."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import pytest


def is_heavy(name: str, marker: pytest.Mark) -> bool:
    """Whether a test is left to `make audit`, by its name with the case in brackets.

    ``audit`` alone leaves every case. ``audit("HR", "PGR-1]")`` leaves the cases that begin so; a bracket ends a name.
    ``audit(share=3)`` keeps about one case in three: which, their names decide, so that all runs keep the same.
    """
    case = name.partition("[")[2]
    share = marker.kwargs.get("share", 0 if marker.args else 1)
    return case.startswith(marker.args) or share == 1 or (share > 1 and zlib.crc32(name.encode()) % share > 0)


def unused(items: Iterable[pytest.Item]) -> list[str]:
    """Cases that a marker names and that no test has, each with the test that it belongs to."""
    named: dict[tuple[str, str], bool] = {}
    for item in items:
        test, _, case = item.nodeid.partition("[")
        for marker in item.iter_markers("audit"):
            for name in marker.args:
                named[test, name] = named.get((test, name), False) or case.startswith(name)
    return [f"{test}[{name}" for (test, name), is_used in named.items() if not is_used]
