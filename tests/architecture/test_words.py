"""Names hold nouns of the subject, and a private module has more than one user."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable

from sources import sources

#: Words that do not tell what a binding holds.
VAGUE = {"found", "made", "told", "asked", "given", "one", "each"}


def bindings(nodes: Iterable[ast.AST]) -> list[str]:
    """Every name that is bound: variables, parameters, functions, classes."""
    names = []
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler) and node.name:
            names.append(node.name)
    return names


def vague(nodes: Iterable[ast.AST]) -> list[str]:
    """The bindings whose name, without underscores around it, is a vague word."""
    return [name for name in bindings(nodes) if name.strip("_") in VAGUE]


def test_a_binding_is_named_after_what_it_holds() -> None:
    counts: Counter[str] = Counter()
    for source in sources():
        counts[source.name.split("/")[0]] += len(vague(source.nodes))
    assert {name: count for name, count in counts.items() if count} == {}


def test_the_test_of_words_sees_every_kind_of_binding() -> None:
    text = "\n".join([
        "found = 1",
        "def made(told, *, asked): pass",
        "class _One: pass",
        "[each for each in ()]",
        "if given := 2: pass",
        "for _one, (other, one) in (): pass",
        "try: pass\nexcept ValueError as found: pass",
        "lambda one: one",
    ])  # fmt: skip
    assert Counter(vague(ast.walk(ast.parse(text)))) == Counter(
        ["found", "made", "told", "asked", "each", "given", "_one", "one", "found", "one"]
    )
    assert vague(ast.walk(ast.parse("call(found=1); row['one']; x.told; each(one)"))) == []


def users(modules: dict[str, Iterable[ast.AST]]) -> dict[str, set[str]]:
    """For each module that is imported by its full name, the modules that import it or something from it."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for name, nodes in modules.items():
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                for target in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    importers[target.removeprefix("bruit.")].add(name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    importers[alias.name.removeprefix("bruit.")].add(name)
    return importers


def single_users(modules: dict[str, Iterable[ast.AST]]) -> set[str]:
    """Private modules that at most one other module imports."""
    importers = users(modules)
    private = (name for name in modules if name.split(".")[-1].startswith("_") and "__" not in name)
    return {name for name in private if len(importers[name] - {name}) < 2}


def test_no_private_module_has_a_single_user() -> None:
    assert single_users({source.name.replace("/", "."): source.nodes for source in sources()}) == set()


def test_the_test_of_private_modules_counts_users() -> None:
    texts = {
        "a._shared": "",
        "a._alone": "",
        "a.first": "from bruit.a import _shared\nfrom bruit.a._alone import x",
        "a.second": "import bruit.a._shared",
    }
    assert single_users({name: list(ast.walk(ast.parse(text))) for name, text in texts.items()}) == {"a._alone"}
