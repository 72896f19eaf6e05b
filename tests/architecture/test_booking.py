"""Only `booked` and `Once` book in a ledger: everything else that spends goes through them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from sources import sources

#: Who may: the ledger itself with the one function that books, and what books a result that is kept.
MAY = ("privacy/", "releases/kept")
#: A series has a verb of that name, which ends in `booked`; there is no ledger before the dot.
SERIES = {"releases/continual: series.book", "cli/continual: known.book"}


def bookings(nodes: Iterable[ast.AST]) -> list[str]:
    """The calls of `book` and `spend` that are not those of an object itself."""
    return [
        ast.unparse(node.func)
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("book", "spend")
        and ast.unparse(node.func.value) not in ("self", "super()")
    ]


def test_a_ledger_is_booked_in_by_the_ledger_booked_and_once_alone() -> None:
    others = {
        f"{source.name}: {call}"
        for source in sources()
        if not source.name.startswith(MAY)
        for call in bookings(source.nodes)
    }
    assert others == SERIES


def test_the_test_sees_a_release_that_books_by_itself() -> None:
    planted = "class Release:\n    def publish(self, raw, ledger):\n        ledger.book(self.lines())\n"
    assert bookings(ast.walk(ast.parse(planted))) == ["ledger.book"]
    for line in ("self.ledger.spend(guarantee, 'fit')", "ledger.keeping('count.json').book(lines)"):
        assert len(bookings(ast.walk(ast.parse(line)))) == 1
    assert bookings(ast.walk(ast.parse("self.book(lines); booked(self, ledger, rng); words.spend"))) == []
