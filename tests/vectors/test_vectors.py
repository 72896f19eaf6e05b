"""docs/vectors: the files are what bruit gives, and an implementation that follows their page gives them, too."""

from __future__ import annotations

import ast
import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
TOOL = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "vectors.py")))
OUTSIDE = Path(__file__).with_name("independent.py")
INDEPENDENT = runpy.run_path(str(OUTSIDE))
CARDS = ROOT / "tests" / "cards" / "test_specification.py"


@pytest.mark.parametrize("name", TOOL.FILES)
def test_a_file_is_what_bruit_gives(name):
    assert (TOOL.FOLDER / f"{name}.json").read_text(encoding="utf-8") == TOOL.text(name)


def test_every_file_has_a_line_on_the_page():
    page = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in TOOL.FOLDER.iterdir())
    assert files == sorted(f"{name}.json" for name in TOOL.FILES)
    assert all(f"(vectors/{name})" in page for name in files)


@pytest.mark.parametrize("path", [OUTSIDE, CARDS], ids=lambda path: path.stem)
def test_the_independent_implementation_uses_nothing_of_bruit(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert names
    assert not [name for name in names if name.split(".")[0] in ("bruit", "numpy", "scipy")]


def test_an_implementation_from_the_page_alone_gives_every_vector():
    assert INDEPENDENT["run"](str(TOOL.FOLDER)) == 0


@pytest.mark.parametrize("name", TOOL.FILES)
def test_a_changed_vector_is_noticed(name, tmp_path, capsys):
    for path in TOOL.FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    body = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    changed(body["vectors"])
    (tmp_path / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    assert INDEPENDENT["run"](str(tmp_path)) == 1
    assert f"{name}.json" in capsys.readouterr().out


def changed(vectors):
    """Another result in the first vector: another digit at its end."""
    place, results = vectors[0], {"key", "canonical", "digest", "noise", "score", "places", "published", "report"}
    while isinstance(place, dict | list):
        keys = [key for key in place if key in results] if isinstance(place, dict) else [0]
        keys = keys or ["draws" if "draws" in place else next(iter(place))]
        last, place = (place, keys[0]), place[keys[0]]
    last[0][last[1]] = place[:-1] + ("1" if place[-1] != "1" else "2")
