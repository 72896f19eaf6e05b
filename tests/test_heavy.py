"""The list of heavy tests names tests that there are."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = [line for line in (ROOT / "tests" / "heavy.txt").read_text().splitlines() if line and not line.startswith("#")]


@cache
def names_in(path: Path) -> set[str]:
    """The names of the tests of a file."""
    return set(re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE)) if path.is_file() else set()


def is_there(line: str) -> bool:
    """Whether a line names a test that there is, or a file of tests."""
    path, _, name = line.removeprefix("1/3 ").partition("::")
    names = names_in(ROOT / path)
    return name.partition("[")[0] in names if name else bool(names)


def test_a_heavy_test_exists() -> None:
    assert [line for line in LINES if not is_there(line)] == []


def test_a_line_for_a_test_that_is_gone_is_seen() -> None:
    assert is_there("tests/test_heavy.py::test_a_heavy_test_exists[x]")
    assert is_there("1/3 tests/test_heavy.py::")
    assert not is_there("tests/test_heavy.py::test_a_heavy_test")
    assert not is_there("tests/test_light.py::")


def test_no_line_stands_twice() -> None:
    assert len(set(LINES)) == len(LINES)
