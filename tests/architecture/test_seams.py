"""Codes come from the mechanism's or the plan's own `encode`, and nothing goes around it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import bruit

SOURCE = Path(bruit.__file__).parent


def around(tree: ast.AST) -> list[int]:
    """Lines that encode by the domain of something else than `self`, which may not be how that reads its codes."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "encode"
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr in ("domain", "schema", "attribute")
        and not (isinstance(node.func.value.value, ast.Name) and node.func.value.value.id == "self")
    ]


#: A dataset has no mechanism: its codes are counted as they are.
COUNTED = {"datasets/dataset.py", "studies/several_attributes/trials.py"}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_nobody_encodes_by_the_domain_of_a_mechanism_or_the_schema_of_a_plan(path: Path) -> None:
    if path.relative_to(SOURCE).as_posix() not in COUNTED:
        assert around(ast.parse(path.read_text())) == []


def test_the_test_sees_what_it_forbids() -> None:
    for line in ("design.domain.encode(batch)", "plan.schema.encode(table)", "self.plan.attribute.encode(y)"):
        assert around(ast.parse(line)) == [1]
    assert around(ast.parse("self.domain.encode(values); mechanism.encode(values); plan.encode(table)")) == []
