"""Nobody asks which method a plan has: the method says what it does, and its design does it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from sources import sources

from bruit.collection import METHODS

#: The names of methods, and of the one for a single question.
NAMES = {*METHODS, "one"}
#: Modules in which such a name is no method: a card says by it what a device draws, in a format of its own, and the
#: figures of the documents have a mark for each of the documents' methods.
OTHER_NAMES = {"bruit_studies/drawing", "cards/card"}


def compared(nodes: Iterable[ast.AST], owners: tuple[str, ...] = ("plan", "design", "method")) -> list[int]:
    """Lines that compare the kind of a plan, of its design or of its method with anything, or choose by it."""
    lines = []
    for node in nodes:
        sides: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            sides = [side for own in (node.left, *node.comparators) for side in _entries(own)]
        elif isinstance(node, ast.Match):
            sides = [node.subject]
        elif isinstance(node, ast.Subscript):
            sides = [node.slice]
        if any(_is_kind(side, owners) for side in sides):
            lines.append(node.lineno)  # type: ignore[attr-defined] # these have one
    return lines


def _entries(node: ast.AST) -> list[ast.AST]:
    """A side of a comparison; of a tuple, list or set, each of its entries."""
    return list(node.elts) if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]


def _is_kind(node: ast.AST, owners: tuple[str, ...]) -> bool:
    """Whether this is ``plan.kind``, ``….plan.design.kind``, ``plan.method.kind`` or ``Method.named(…).kind``."""
    if not isinstance(node, ast.Attribute) or node.attr != "kind":
        return False
    owner = node.value
    if isinstance(owner, ast.Call):
        return getattr(owner.func, "attr", getattr(owner.func, "id", "")) in ("parse", "named", "of", "kind_of")
    return getattr(owner, "attr", getattr(owner, "id", "")) in owners


def listed(nodes: Iterable[ast.AST]) -> list[int]:
    """Lines that compare anything with the name of a method, or have a table by such names."""
    lines = []
    for node in nodes:
        values: list[ast.AST | None] = []
        if isinstance(node, ast.Compare):
            values = [entry for side in (node.left, *node.comparators) for entry in _entries(side)]
        elif isinstance(node, ast.Dict):
            values = [*node.keys]
        elif isinstance(node, ast.Match):
            values = [part.value for part in ast.walk(node) if isinstance(part, ast.MatchValue)]
        if any(isinstance(value, ast.Constant) and value.value in NAMES for value in values):
            lines.append(node.lineno)  # type: ignore[attr-defined] # these have one
    return lines


def test_nobody_compares_the_kind_of_a_plan() -> None:
    lines = [
        f"{source.name}:{line}"
        for source in sources()
        for line in compared(
            source.nodes,
            ("plan", "design", "method", *(["self", "cls"] if source.name.startswith("collection/") else [])),
        )
    ]
    assert not lines, f"ask the method or the design, as in plan.design.counted_tables: {lines}"


def test_nobody_has_a_table_by_the_names_of_methods() -> None:
    lines = [f"{source.name}:{line}" for source in sources() for line in listed(source.nodes)]
    assert not [line for line in lines if line.partition(":")[0] not in OTHER_NAMES], f"make it a method: {lines}"
    assert {line.partition(":")[0] for line in lines} == OTHER_NAMES


def test_the_test_of_kinds_sees_what_it_forbids() -> None:
    forbidden = (
        'plan.kind == "TAB"',
        'self.survey.plan.kind != "SMP"',
        'plan.kind in ("one", "SMP")',
        '"SPL" == plan.design.kind',
        'plan.method.kind == "SPL"',
        'Method.named(name).kind == "one"',
        '(plan.method.kind, base) == ("one", "ADP")',
        "words[plan.kind]",
        'match plan.kind:\n    case "TAB":\n        pass',
    )
    for text in forbidden:
        assert compared(ast.walk(ast.parse(text))) == [1], text
    allowed = 'plan.design.card_kind is None; column.kind == "text"; say("method", plan.method.kind)'
    assert compared(ast.walk(ast.parse(allowed))) == []
    inside = ast.parse("self.kind in FAKED").body
    assert compared(ast.walk(inside[0]), ("self",)) == [1]


def test_the_test_of_tables_sees_what_it_forbids() -> None:
    forbidden = (
        'kind == "TAB"',
        'str(plan.method) in ("SMP[ADP]", "one")',
        'KINDS = {"SPL": "all questions", "SMP": "one question"}',
        'match kind:\n    case "RS+FD":\n        pass',
    )
    for text in forbidden:
        assert listed(ast.walk(ast.parse(text))) == [1], text
    allowed = 'SPL.kind; kind = "SMP"; {"ADP": 1}; name == "GRR"'
    assert listed(ast.walk(ast.parse(allowed))) == []
