"""Proof notes carry digests of the code that they speak about; a change of that code makes a note stale.

    python tools/proofs.py                                  which notes are stale, and by which names
    python tools/proofs.py renew NOTE …                     after reading: they speak about the code as it is now
    python tools/proofs.py cover NOTE laws/bits.py:BitsLaw  a note speaks about a further name

A digest is that of the syntax tree without docstrings, comments, layout and annotations, so that what is only written
differently makes nothing stale. Names are classes, functions, methods (``Class.method``) and constants of a module.
Modules are paths below src/bruit, or below src, as in ``bruit_studies/deciles.py``.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

SOURCES = Path(__file__).parents[1] / "src"
PACKAGES = (SOURCES / "bruit", SOURCES / "bruit_studies")
HEADING = "## Code"
INTRODUCTION = "The code that this note was read against: `python tools/proofs.py` says whether it has changed since."
_LINE = re.compile(r"^- `(?P<module>[\w/]+\.py)` `(?P<name>[\w.]+)` (?P<digest>[0-9a-f]{12})$", flags=re.MULTILINE)
#: What says nothing about what a program computes, or differs between versions of Python.
_SILENT = {"ctx", "kind", "type_comment", "type_params", "annotation", "returns", "type_ignores", "simple"}


class Cover(NamedTuple):
    """A name of a module, and the digest that a note carries for it."""

    module: str
    name: str
    digest: str = ""

    @property
    def current(self) -> str | None:
        """The digest of the code as it is now; None if there is no such name."""
        try:
            node = definition(_tree(_file(self.module)), self.name)
        except FileNotFoundError:
            return None
        return None if node is None else digest(node)

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


def _file(module: str) -> Path:
    """The file of a module: below the library, or below src where its path begins with another package."""
    library, *others = PACKAGES
    return (SOURCES if module.startswith(tuple(f"{package.name}/" for package in others)) else library) / module


def notes() -> list[Path]:
    """All proof notes."""
    return sorted(path for package in PACKAGES for path in package.rglob("*.proof.md"))


def covers(text: str) -> list[Cover]:
    """What a note says it speaks about."""
    return [Cover(match["module"], match["name"], match["digest"]) for match in _LINE.finditer(text)]


def stale(text: str) -> list[Cover]:
    """What has changed, or is gone, since a note was read."""
    return [cover for cover in covers(text) if cover.current != cover.digest]


def stamped(text: str, names: list[Cover]) -> str:
    """The note with digests of these names as they are now."""
    missing = [str(cover) for cover in names if cover.current is None]
    if missing:
        raise SystemExit(f"There is no {', '.join(missing)} in src.")
    argument = text.split(f"\n{HEADING}\n", maxsplit=1)[0].rstrip()
    unique = sorted({(cover.module, cover.name): cover for cover in names}.values())
    lines = "\n".join(f"- `{cover.module}` `{cover.name}` {cover.current}" for cover in unique)
    return f"{argument}\n\n{HEADING}\n\n{INTRODUCTION}\n\n{lines}\n"


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def definition(tree: ast.AST, name: str) -> ast.AST | None:
    """The class, function, method or constant of this name."""
    first, _, rest = name.partition(".")
    for node in getattr(tree, "body", []):
        if first in _names(node):
            return definition(node, rest) if rest else node
    return None


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def digest(node: ast.AST) -> str:
    """12 hexadecimal digits of what a piece of code does, whatever its layout and its words for readers."""
    return hashlib.sha256(repr(_plain(node)).encode()).hexdigest()[:12]


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    fields = {name: value for name, value in ast.iter_fields(node) if name not in _SILENT}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        fields["body"] = node.body[1:]
    # What is empty is left out: which empty fields a tree has depends on the version of Python.
    return [type(node).__name__, {name: _plain(value) for name, value in fields.items() if value not in ([], None)}]


def _note(argument: str) -> Path:
    matching = [path for path in notes() if path.as_posix().endswith(f"/{argument.removeprefix('src/')}")]
    if len(matching) != 1:
        raise SystemExit(f"There is no proof note {argument}: name one by its path below src.")
    return matching[0]


def main(arguments: list[str]) -> int:
    """Say what is stale, or renew or extend notes; the exit code is 1 if something is stale."""
    match arguments:
        case []:
            changed = {path: stale(path.read_text(encoding="utf-8")) for path in notes()}
            for path, names in changed.items():
                if names:
                    print(f"{path.relative_to(SOURCES)}: {', '.join(map(str, names))}")
            return int(any(changed.values()))
        case ["renew", *names] if names:
            for path in map(_note, names):
                text = path.read_text(encoding="utf-8")
                path.write_text(stamped(text, covers(text)), encoding="utf-8")
        case ["cover", name, *more] if more:
            path = _note(name)
            text = path.read_text(encoding="utf-8")
            further = [Cover(module, inner) for module, _, inner in (item.partition(":") for item in more)]
            path.write_text(stamped(text, covers(text) + further), encoding="utf-8")
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
