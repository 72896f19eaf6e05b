"""Codes come from the mechanism's or the plan's own `encode`, and nothing goes around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from sources import sources


def around(nodes: Iterable[ast.AST]) -> list[int]:
    """Lines that encode by the domain of something else than `self`, which may not be how that reads its codes."""
    return [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "encode"
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr in ("domain", "schema", "attribute")
        and not (isinstance(node.func.value.value, ast.Name) and node.func.value.value.id == "self")
    ]


#: A dataset has no mechanism: its codes are counted as they are.
COUNTED = {"bruit_studies/several_attributes/trials"}


def test_nobody_encodes_by_the_domain_of_a_mechanism_or_the_schema_of_a_plan() -> None:
    lines = [f"{source.name}:{line}" for source in sources() for line in around(source.nodes)]
    assert {line.split(":")[0] for line in lines} == COUNTED, lines


def test_the_test_sees_what_it_forbids() -> None:
    for line in ("design.domain.encode(batch)", "plan.schema.encode(table)", "self.plan.attribute.encode(y)"):
        assert around(ast.walk(ast.parse(line))) == [1]
    allowed = "self.domain.encode(values); mechanism.encode(values); plan.encode(table)"
    assert around(ast.walk(ast.parse(allowed))) == []
