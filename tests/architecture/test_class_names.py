"""A public class name stands in one module: whoever reads it knows which class is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

import pytest
from sources import sources


def doubled(modules: Iterable[tuple[str, ast.Module]]) -> set[str]:
    """The names of classes without an underscore that two modules define at their top."""
    homes: dict[str, set[str]] = defaultdict(set)
    for name, tree in modules:
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(name)
    return {name for name, where in homes.items() if len(where) > 1}


def test_a_public_class_name_stands_in_one_module() -> None:
    modules = [(source.name, source.tree) for source in sources()]
    assert not doubled(modules), "name it after what it is, where another module has the name"


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("class Part: ...", "class Part: ...", {"Part"}),
        ("class _Part: ...", "class _Part: ...", set()),
        ("class Part: ...", "def f():\n    class Part: ...", set()),
    ],
)
def test_a_planted_twin_is_found(first: str, second: str, found: set[str]) -> None:
    assert doubled([("a", ast.parse(first)), ("b", ast.parse(second))]) == found
