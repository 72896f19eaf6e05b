"""The modules of both packages, or of a folder, and their syntax trees, parsed once in a run."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: The folder of both packages.
SOURCES = ROOT / "src"
#: The library.
SOURCE = SOURCES / "bruit"
#: The studies, which the library never imports.
STUDIES = SOURCES / "bruit_studies"


class Source(NamedTuple):
    """A module."""

    path: Path
    name: str  # below the library or else below the folder, without the suffix, with slashes
    text: str
    tree: ast.Module
    nodes: list[ast.AST]


@cache
def sources(folder: Path = SOURCES) -> list[Source]:
    """Every module below a folder, in the order of their paths."""
    gc.disable()  # half a million nodes, none of which is garbage
    modules = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        name = path.relative_to(folder).with_suffix("").as_posix().removeprefix("bruit/")
        modules.append(Source(path, name, text, tree, list(ast.walk(tree))))
    gc.freeze()
    gc.enable()
    return modules
