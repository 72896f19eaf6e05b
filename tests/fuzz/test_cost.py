"""Every document is read or refused at a cost that its length bounds: 1 s and 2 µs per byte of processor time.

Of memory it takes at most 200 MB and 1 kB per byte. Documents grow from small ones by themselves (`growth`), and are
read in another process, which one that never ends takes with it. `make test` reads a few of each reader, always the
same; `make audit` reads many, from a seed that it draws and names (`BRUIT_FUZZ_SEED` repeats it). What was read is
looked at: its guarantee, digest, text and plain values.
"""

from __future__ import annotations

import ast
import contextlib
import os
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import costly_readers
import known_costly
from costing import Cost, costs
from document_readers import COVERS, ELSEWHERE

FEW, MANY = 12, 1500
#: The folder of the library and of the studies.
SOURCE = Path(__file__).parents[2] / "src"


def _told(broken: list[Cost]) -> str:
    return "\n".join(
        f"{cost.reader}: {cost.breaks} of a document of {cost.size:,} bytes, {cost.seconds:.2f} s and "
        f"{cost.memory / 1e6:.0f} MB, {cost.outcome}: {cost.recipe}"
        for cost in broken
    )


def test_a_grown_document_is_read_or_refused_at_a_cost_that_its_length_bounds() -> None:
    measured = list(costs([(name, FEW) for name in COVERS], 26))
    assert len(measured) == FEW * len(COVERS)
    assert not (broken := [cost for cost in measured if cost.breaks]), _told(broken)
    assert {"read", "refused"} == {cost.outcome for cost in measured}


@pytest.mark.audit
@pytest.mark.parametrize("name", COVERS)
def test_many_grown_documents_are_read_or_refused_at_a_cost_that_their_length_bounds(name: str) -> None:
    seed = int(os.environ.get("BRUIT_FUZZ_SEED", random.SystemRandom().getrandbits(32)))
    broken = [cost for cost in costs([(name, MANY)], seed) if cost.breaks]
    assert not broken, f"seed {seed}:\n{_told(broken)}"


def test_what_is_known_to_have_cost_too_much_is_read_or_refused_soon() -> None:
    """Each took from 2 s to a minute: they are here besides the documents that grow."""
    measured = list(costs([(name, None) for name in known_costly.NAMES], 0, "known_costly"))
    assert not (broken := [cost for cost in measured if cost.breaks]), _told(broken)


@pytest.mark.parametrize(("name", "law"), costly_readers.BROKEN.items())
def test_a_reader_that_costs_too_much_is_caught(name: str, law: str) -> None:
    """A step for every pair of items; a protocol that asks for a million names; a pattern with many ways to read."""
    with contextlib.closing(costs([(name, 100)], 26, "costly_readers")) as measured:
        assert next((cost.breaks for cost in measured if cost.breaks), "") == law


def test_a_reader_that_costs_little_is_not() -> None:
    assert not [cost for cost in costs([("harmless", 100)], 26, "costly_readers") if cost.breaks]


# Which readers there are.

_CALLS = {("documents", name) for name in ("unseal", "parsed", "read_toml", "parse_toml")} | {
    (module, name) for module in ("json", "tomllib") for name in ("load", "loads")
}
_NAMES = {"from_dict", "from_json", "from_bytes", "from_list", "from_toml"}


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _readers_in(tree: ast.AST, module: str, within: str = "") -> set[str]:
    """The functions that read a document, by what they call or are called."""
    readers = set()
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        name = f"{within}.{node.name}" if within else node.name
        called = {
            (call.func.value.id, call.func.attr)
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
        }
        if not isinstance(node, ast.ClassDef) and (called & _CALLS or node.name in _NAMES):
            readers.add(f"{module}:{name}")
        readers |= _readers_in(node, module, name)
    return readers


def test_every_reader_of_documents_is_held_to_its_cost() -> None:
    known = {name for names in COVERS.values() for name in names} | set(ELSEWHERE)
    found = {
        reader
        for path in SOURCE.rglob("*.py")
        for reader in _readers_in(
            _parsed(path), path.relative_to(SOURCE).with_suffix("").as_posix().removeprefix("bruit/")
        )
    }
    assert found == known, f"not in the law: {sorted(found - known)}; no longer there: {sorted(known - found)}"


def test_a_reader_that_nobody_lists_is_found() -> None:
    text = 'class Thing:\n    @classmethod\n    def open(cls, path):\n        return cls(documents.unseal(path, "x"))\n'
    assert _readers_in(ast.parse(text), "things") == {"things:Thing.open"}


def test_no_protocol_that_is_asked_at_run_time_has_properties() -> None:
    """In Python 3.11 `isinstance` computes each of them: a million names to know that something is a domain."""
    broken = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.ClassDef) and "runtime_checkable" in map(ast.unparse, node.decorator_list):
                computed = [
                    item
                    for item in ast.walk(node)
                    if isinstance(item, ast.FunctionDef)
                    and {"property", "cached_property"} & set(map(ast.unparse, item.decorator_list))
                ]
                broken += [f"{path.name}: {node.name}.{item.name}" for item in computed]
    assert not broken
