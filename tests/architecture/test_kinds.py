"""Outside `collection`, nobody asks which method a plan has: its design says what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from sources import sources


def compared(nodes: Iterable[ast.AST]) -> list[int]:
    """Lines that compare the kind of a plan, of its design or of its method with anything, or choose by it."""
    lines = []
    for node in nodes:
        sides: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            sides = [node.subject]
        elif isinstance(node, ast.Subscript):
            sides = [node.slice]
        if any(_is_kind(side) for side in sides):
            lines.append(node.lineno)  # type: ignore[attr-defined] # these have one
    return lines


def _is_kind(node: ast.AST) -> bool:
    """Whether this is ``plan.kind``, ``….plan.design.kind``, ``plan.method.kind`` or ``methods.parse(…).kind``."""
    if not isinstance(node, ast.Attribute) or node.attr != "kind":
        return False
    owner = node.value
    if isinstance(owner, ast.Call):
        return getattr(owner.func, "attr", getattr(owner.func, "id", "")) == "parse"
    return getattr(owner, "attr", getattr(owner, "id", "")) in ("plan", "design", "method")


def test_nobody_outside_collection_compares_the_kind_of_a_plan() -> None:
    lines = [
        f"{source.name}:{line}"
        for source in sources()
        if not source.name.startswith("collection/")
        for line in compared(source.nodes)
    ]
    assert not lines, f"ask the design, as in plan.design.counted_tables: {lines}"


def test_the_test_of_kinds_sees_what_it_forbids() -> None:
    forbidden = (
        'plan.kind == "TAB"',
        'self.survey.plan.kind != "SMP"',
        'plan.kind in ("one", "SMP")',
        '"SPL" == plan.design.kind',
        'plan.method.kind == "SPL"',
        'methods.parse(plan.method).kind == "one"',
        "words[plan.kind]",
        'match plan.kind:\n    case "TAB":\n        pass',
    )
    for text in forbidden:
        assert compared(ast.walk(ast.parse(text))) == [1], text
    allowed = 'plan.design.card_kind is None; column.kind == "text"; say("method", plan.kind)'
    assert compared(ast.walk(ast.parse(allowed))) == []
