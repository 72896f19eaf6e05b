"""Proof notes speak about the code as it is: a change of what a note covers makes it stale until somebody reads it."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOOL: Any = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "proofs.py")))

CODE = '''
class Law:
    """A law."""

    def ratio(self) -> int:
        """The ratio."""
        return self.inside // self.outside  # exact
'''


def _digest(text: str, name: str = "Law") -> str:
    return str(TOOL.digest(TOOL.definition(ast.parse(text), name)))


@pytest.mark.parametrize("path", TOOL.notes(), ids=lambda path: path.relative_to(TOOL.SOURCES).as_posix())
def test_a_note_speaks_about_the_code_as_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert TOOL.covers(text), "a note says which code it speaks about: python tools/proofs.py cover NOTE module.py:Name"
    changed = [str(cover) for cover in TOOL.stale(text)]
    assert changed == [], "read the note again, mend it, then: python tools/proofs.py renew NOTE"


def test_no_line_of_a_list_is_overlooked() -> None:
    for path in TOOL.notes():
        listed = path.read_text(encoding="utf-8").split(f"\n{TOOL.HEADING}\n")[1]
        assert len(re.findall(r"^- ", listed, flags=re.MULTILINE)) == len(TOOL.covers(listed))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""The ratio."""', '"""Another sentence."""'),
        ("  # exact", ""),
        ("self.inside // self.outside", "(self.inside\n            // self.outside)"),
        (" -> int", " -> float"),
    ],
)
def test_what_is_only_written_differently_makes_nothing_stale(before: str, after: str) -> None:
    assert _digest(CODE) == _digest(CODE.replace(before, after))
    assert _digest(CODE, "Law.ratio") == _digest(CODE.replace(before, after), "Law.ratio")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("//", "/"),
        ("self.outside", "self.inside"),
        ("ratio(self)", "ratio(self, x=1)"),
        ("class Law", "class Law(int)"),
    ],
)
def test_what_computes_something_else_makes_a_note_stale(before: str, after: str) -> None:
    assert _digest(CODE) != _digest(CODE.replace(before, after))


def test_a_constant_and_one_of_a_pair_have_digests() -> None:
    assert _digest("A = 1", "A") != _digest("A = 2", "A")
    assert _digest("A: int = 1", "A") == _digest("A: float = 1", "A")
    assert _digest("A, B = 1, 2", "B") != _digest("A, B = 1, 3", "B")


def test_a_stale_note_is_named_with_what_changed_and_renewed_after_reading() -> None:
    name = TOOL.Cover("rounding.py", "exp_floor")
    fresh = TOOL.stamped("# A note\n\nText.\n", [name])
    assert TOOL.stale(fresh) == []
    old = fresh.replace(name.current, "0" * 12)
    assert [str(cover) for cover in TOOL.stale(old)] == ["rounding.py:exp_floor"]
    assert TOOL.stamped(old, TOOL.covers(old)) == fresh
    gone = fresh.replace("exp_floor", "exp_nearest")
    assert [str(cover) for cover in TOOL.stale(gone)] == ["rounding.py:exp_nearest"]
    with pytest.raises(SystemExit, match="exp_nearest"):
        TOOL.stamped(gone, TOOL.covers(gone))
