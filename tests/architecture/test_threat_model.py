"""Sentences of docs/explanation/threat_model.md that a program can check."""

from __future__ import annotations

import ast
import stat
from pathlib import Path

from sources import sources

import bruit
from bruit.collection import Repeat
from bruit.collector import open_store
from bruit.oracles import Memory
from bruit.privacy import Ledger, create_keys
from bruit.releases import Count, Release, publish_once


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_for_the_owner_alone_is_made_so(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store.sqlite"))
    store.names()
    store.backup(tmp_path / "copy.sqlite")
    store.disconnect()
    private, _ = create_keys(tmp_path / "key")
    plan = bruit.Plan({"smokes": ["no", "yes"]}, 1.0, repeat=Repeat(3, epochs=2, epoch_epsilon=2.0))
    Memory.create(tmp_path / "memory.json", plan)
    (tmp_path / "t.csv").write_text("age\n31\n")
    publish_once(Release(Count(epsilon=0.5)), tmp_path / "t.csv", Ledger.open(tmp_path / "book", epsilon=1.0))
    names = ("store.sqlite", "copy.sqlite", "memory.json", "book.sources")
    for path in (*(tmp_path / name for name in names), private):
        assert _mode(path) & 0o077 == 0, path.name


def test_a_ledger_is_public_as_the_system_says(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "book", epsilon=1.0)
    assert _mode(tmp_path / "book") & 0o200


def test_no_document_is_executed_or_unpickled() -> None:
    """Nothing reads pickles but the engine of Spark, those of its own driver, and a check that pickling fails."""
    found = []
    for source in sources():
        for node in source.nodes:
            called = node.func if isinstance(node, ast.Call) else None
            name = (
                called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
            )
            owner = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
            if (owner in ("pickle", "marshal", "cloudpickle") and name.startswith("load")) or name in ("eval", "exec"):
                found.append(source.name)
    assert [path for path in found if not path.startswith(("engines/spark/", "testing/"))] == []
