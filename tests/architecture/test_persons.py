"""One module says who a person is, and the law that everybody agrees ranges over everybody who asks."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterable

from sources import ROOT, sources

#: What says who a person is, or brings the rows of people together by it.
ASKING = {"identify", "fold_people", "identity"}
#: Who asks by other means than a table: texts by name, in the same file as the law.
OTHERS = {"oracles/memory"}
#: Who writes texts in normal form or values as texts, and of what; only one of these is a person.
NORMAL = {
    "engines/identity": "people",
    "_checks": "declared texts",
    "engines/batch": "names of columns",
    "domains/categories": "labels",
    "domains/choices": "labels",
    "domains/open_text": "open answers, which are compared by more than a person is",
    "domains/schema": "names of attributes",
    "open_answers/public_hash": "open answers, as they are hashed",
    "survey/code_files": "submitters of codes, who are merged by more than a person is: one code of each counts",
    "releases/continual": "names of days",
    "releases/groups": "labels of groups",
    "publications/reading": "texts of a publication",
    "survey/reading": "texts of a survey",
    "tables/cells": "cells of a spreadsheet, which may look like a formula",
    "tables/labels": "labels on a screen",
}


def asks(nodes: Iterable[ast.AST]) -> bool:
    """Whether a module imports what says who a person is, or uses it by the module that has it."""
    listed = list(nodes)
    imported = {
        alias.name
        for node in listed
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bruit.engines")
        for alias in node.names
    }
    used = {node.attr for node in listed if isinstance(node, ast.Attribute)}
    return bool(imported & ASKING) or ("bounding" in imported and bool(used & ASKING))


def makes_keys(nodes: Iterable[ast.AST]) -> bool:
    """Whether a module puts texts in normal form, or spells values as texts."""
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    methods = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    functions = {call.id for call in calls if isinstance(call, ast.Name)}
    return bool(methods & {"normalize", "spelling"} or functions & {"normalize", "spelling"})


def test_the_law_ranges_over_every_module_that_asks_who_a_person_is() -> None:
    law = runpy.run_path(str(ROOT / "tests" / "laws" / "test_identity.py"))
    asking = {source.name for source in sources() if asks(source.nodes)}
    assert asking - OTHERS == set(law["CONSUMERS"])
    assert asking >= OTHERS


def test_nobody_else_makes_a_key_of_a_person() -> None:
    making = {source.name for source in sources() if makes_keys(source.nodes)}
    assert making <= set(NORMAL), "ask bruit.engines.identity who a person is"


def test_the_tests_see_what_they_forbid() -> None:
    for text in (
        "from bruit.engines import identity",
        "from bruit.engines.bounding import fold_people",
        "from bruit.engines import bounding\nbounding.identify(batch, whose)",
    ):
        assert asks(ast.walk(ast.parse(text)))
    assert not asks(ast.walk(ast.parse("from bruit.engines import bounding\nbounding.choose(codes, keys, most, key)")))
    for text in ("unicodedata.normalize('NFC', name)", "spelling(name)"):
        assert makes_keys(ast.walk(ast.parse(text)))
