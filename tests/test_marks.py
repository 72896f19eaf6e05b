"""Which cases of a marked test `make audit` runs, and a marker for a case that is gone."""

from __future__ import annotations

from typing import Any

import pytest

from .marks import is_heavy, unused


def _mark(*cases: str, **options: Any) -> pytest.Mark:
    return pytest.mark.audit(*cases, **options).mark


def test_a_marker_alone_leaves_every_case() -> None:
    assert is_heavy("tests/x.py::test_y", _mark())
    assert is_heavy("tests/x.py::test_y[GRR-1]", _mark())


def test_a_marker_with_cases_leaves_those_that_begin_so() -> None:
    assert is_heavy("tests/x.py::test_y[HR-1]", _mark("HR", "PGR"))
    assert not is_heavy("tests/x.py::test_y[GRR-HR]", _mark("HR", "PGR"))
    assert not is_heavy("tests/x.py::test_y", _mark("HR"))


def test_of_a_share_about_one_case_in_three_stays_and_always_the_same() -> None:
    names = [f"tests/x.py::test_y[{place}]" for place in range(3000)]
    kept = [name for name in names if not is_heavy(name, _mark(share=3))]
    assert 900 < len(kept) < 1100
    assert kept == [name for name in names if not is_heavy(name, _mark(share=3))]


def test_cases_are_left_whatever_the_share_keeps() -> None:
    names = [f"tests/x.py::test_y[7{place}]" for place in range(100)]
    assert all(is_heavy(name, _mark("7", share=3)) for name in names)


class _Item:
    def __init__(self, name: str, *marks: pytest.Mark) -> None:
        self.nodeid, self.marks = name, marks

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [mark for mark in self.marks if mark.name == name]


def test_a_case_that_is_gone_is_named() -> None:
    mark = _mark("HR", "PGR")
    items: list[Any] = [_Item("tests/x.py::test_y[HR-1]", mark), _Item("tests/x.py::test_y[GRR]", mark)]
    assert unused(items) == ["tests/x.py::test_y[PGR"]
    assert unused([*items, _Item("tests/x.py::test_y[PGR-2]", mark)]) == []
