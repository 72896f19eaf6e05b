"""The list of heavy tests names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINES = [line for line in (ROOT / "tests" / "heavy.txt").read_text().splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("line", LINES)
def test_a_heavy_test_exists(line: str) -> None:
    path, name = line.removeprefix("1/3 ").split("::")
    function = re.escape(name.partition("[")[0])
    assert re.search(rf"^def {function}\(" if function else "^def test_", (ROOT / path).read_text(), re.MULTILINE)


def test_no_line_stands_twice() -> None:
    assert len(set(LINES)) == len(LINES)
