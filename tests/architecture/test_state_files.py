"""Locks, renames and links are in few hands: a file with state goes through `documents`, and nothing goes around it."""

from __future__ import annotations

import ast

from sources import sources

#: Calls of the system that lock a file, or give it another name.
CALLS = {"replace", "rename", "renames", "link", "hardlink_to", "symlink", "symlink_to", "flock", "lockf", "mkstemp"}

#: Who may, and why.
ALLOWED = {
    "documents": "the seam: whole files, and one lock for a state file",
    "privacy/ledger/storage": "a ledger is locked itself, and begins by a link that replaces nothing",
    "releases/kept": "a draw that is on the disk gets its name; alone with the results",
    "publications/publishing": "the folder for readers; alone with the results",
    "collection/files": "reports and their plan, which are written once and are no state",
    "cli/privatize": "the same, when they are booked",
}


def renames(tree: ast.AST) -> list[int]:
    """Lines with such a call; `text.replace` has two arguments, and that of a date or a frame has names."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CALLS
        and _is_of_files(node, node.func)
    ]


def _is_of_files(call: ast.Call, function: ast.Attribute) -> bool:
    of_system = isinstance(function.value, ast.Name) and function.value.id in ("os", "fcntl", "tempfile", "shutil")
    return of_system or (len(call.args) == 1 and not call.keywords)


def test_nobody_else_renames_or_locks_files() -> None:
    users = {source.name: renames(source.tree) for source in sources()}
    assert {name: lines for name, lines in users.items() if lines and name not in ALLOWED} == {}
    assert {name for name in ALLOWED if users[name]} == set(ALLOWED)


def alone(tree: ast.AST) -> list[str]:
    """What is handed to `documents.alone_with`."""
    return [
        ast.unparse(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "documents.alone_with"
    ]


def test_whoever_is_alone_with_a_file_has_asked_which_file_it_is() -> None:
    users = {source.name: alone(source.tree) for source in sources()}
    users = {name: paths for name, paths in users.items() if paths}
    assert users == {
        "oracles/memory": ["file", "self._file"],
        "releases/continual": ["file", "self._path"],
    }
    for source in sources():
        if source.name in users:
            assert "documents.state_file(path)" in source.text


def test_the_test_sees_what_it_forbids() -> None:
    for line in (
        "partial.replace(path)",
        "os.replace(a, b)",
        "Path(a).rename(b)",
        "fcntl.flock(handle, 2)",
        "os.link(a, b)",
        "b.hardlink_to(a)",
        "tempfile.mkstemp(dir=folder)",
    ):
        assert renames(ast.parse(line)) == [1], line
    allowed = "text.replace('a', 'b'); frame.rename(columns=names); day.replace(tzinfo=UTC); replace(result, name=1)"
    assert renames(ast.parse(allowed)) == []
