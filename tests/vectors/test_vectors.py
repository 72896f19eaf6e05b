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
    page = (ROOT / "docs" / "reference" / "vectors.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in TOOL.FOLDER.iterdir())
    assert files == sorted(f"{name}.json" for name in TOOL.FILES)
    assert all(f"(../vectors/{name})" in page for name in files)


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
    body = json.loads((TOOL.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    changed(body["vectors"])
    (tmp_path / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    assert INDEPENDENT["run"](str(tmp_path), name) == 1
    assert f"{name}.json" in capsys.readouterr().out


# Mistakes that somebody who writes bruit again could make: the file that must notice, what is right, and what is wrong.
MISTAKES = {
    "ε read from its decimal text": ("calibration", "exact = Fraction(epsilon)", "exact = Fraction(str(epsilon))"),
    "ε of a release from its text": ("releases", "exact = Fraction(epsilon)", "exact = Fraction(str(epsilon))"),
    "noise without a cap": ("noise", "CAP = 2**62", "CAP = 2**99"),
    "listed sets from the end": ("reports", 'sets["rows"][x][n]', 'sets["rows"][x][-1 - n]'),
    "Hadamard with one block": ("reports", "return j * b + f", "return f"),
    "reports of at most 32 bits": ("reports", "= str(value)", "= str(value % 2**32)"),
    "weights that settle too soon": ("choices", "len(self.weights) <= score", "len(self.weights) <= min(score, 2700)"),
    "the middle quantile first": ("trees", "high - low - 1 <= 32", "high - low - 1 <= 1"),
    "always the best quantile first": ("trees", "high - low - 1 <= 32", "high - low - 1 <= 99"),
    "ε halved at the root": ("trees", "halved = replace and not whole", "halved = replace"),
    "shares without a grain": ("trees", "epsilon <= Fraction(1, 16)", "epsilon < 0"),
    "the floor is left out": ("joint", "large(source, mine + floor) >= mine", "large(source, mine) >= mine"),
    "quantiles that never share a rank": ("joint", "range(1, j + 2)", "range(1, 2)"),
    "ranks without a limit": ("joint", "self.target[j] - self.reach", "self.target[j] - 10**9"),
    "one stream for all blocks": ("bulk", "part_key(key, block)", "part_key(key, 0)"),
    "one slice for all bits": ("bulk", "65536 // (width + 1)", "65536"),
    "digits from the first": ("bulk", "(56 + plane)", "(63 - plane)"),
    "ties lost": ("bulk", "next(further) < rest", "next(further) < 0"),
    "buckets before seeds": ("bulk", "words, first, second =", "first, second, words ="),
}


@pytest.mark.parametrize(("name", "right", "wrong"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_independent_implementation_is_noticed(name, right, wrong, tmp_path, capsys):
    source = OUTSIDE.read_text(encoding="utf-8")
    assert right in source
    copy = tmp_path / "mistaken.py"
    copy.write_text(source.replace(right, wrong), encoding="utf-8")
    assert runpy.run_path(str(copy))["run"](str(TOOL.FOLDER), name) == 1


def changed(vectors):
    """Another result in the first vector: another digit at its end."""
    place, results = vectors[0], {"key", "canonical", "digest", "noise", "score", "places", "published", "report"}
    results |= {"scale", "forest", "reports"} if "draws" not in place else set()
    while isinstance(place, dict | list):
        keys = [key for key in place if key in results] if isinstance(place, dict) else [0]
        keys = keys or ["draws" if "draws" in place else next(iter(place))]
        last, place = (place, keys[0]), place[keys[0]]
    last[0][last[1]] = place[:-1] + ("1" if place[-1] != "1" else "2")
