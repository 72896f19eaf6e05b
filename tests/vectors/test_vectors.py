"""docs/vectors: the files are what bruit gives, and an implementation that follows their page gives them, too."""

from __future__ import annotations

import ast
import hashlib
import json
import runpy
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
TOOL = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "vectors.py")))
PAGE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("from_the_page.py"))))
CARDS = ROOT / "tests" / "cards" / "test_specification.py"


def read(name):
    return json.loads((ROOT / "docs" / "vectors" / f"{name}.json").read_text(encoding="utf-8"))["vectors"]


@pytest.mark.parametrize("name", TOOL.FILES)
def test_a_file_is_what_bruit_gives(name):
    assert (TOOL.FOLDER / f"{name}.json").read_text(encoding="utf-8") == TOOL.text(name)


def test_every_file_has_a_line_on_the_page():
    page = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in TOOL.FOLDER.iterdir())
    assert files == sorted(f"{name}.json" for name in TOOL.FILES)
    assert all(f"(vectors/{name})" in page for name in files)


@pytest.mark.parametrize("path", [Path(__file__).with_name("from_the_page.py"), CARDS], ids=lambda path: path.stem)
def test_the_independent_implementation_uses_nothing_of_bruit(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert names
    assert not [name for name in names if name.split(".")[0] in ("bruit", "numpy", "scipy")]


def test_keys_and_words_of_the_page():
    for vector in read("keystream"):
        key = PAGE.key_of_seed(int(vector["seed"]), vector["purpose"])
        for number in vector["path"]:
            key = PAGE.part(key, int(number))
        stream = PAGE.Stream(key)
        assert key.hex() == vector["key"]
        assert [str(stream.word()) for _ in vector["words"]] == vector["words"]


def test_digests_of_the_page():
    for vector in read("digests"):
        if "sealed" in vector:
            assert PAGE.sealed_digest(vector["sealed"]) == vector["digest"]
            continue
        value = json.loads(vector["text"])
        assert PAGE.canonical(value) == vector["canonical"]
        assert PAGE.digest(value) == vector["digest"]


def test_reports_of_the_page_of_cards():
    reader = runpy.run_path(str(CARDS))["Reader"]
    for entry in read("reports"):
        assert hashlib.sha256(entry["card"].encode()).hexdigest() == entry["digest"]
        for vector in entry["vectors"]:
            drawn = reader(entry["card"], [int(word) for word in vector["words"]])
            codes = [int(code) for code in vector["codes"]]
            if "memo" in vector:
                memo = drawn.messages(codes)
                assert drawn.texts(memo) == vector["memo"]
                assert drawn.texts(drawn.refreshed(memo)) == vector["report"]
            else:
                assert drawn.texts(drawn.messages(codes)) == vector["report"]
            assert drawn.used == len(vector["words"])


def test_noise_of_the_page():
    for vector in read("noise"):
        for draw in vector["draws"]:
            stream = PAGE.Stream.of_words([int(word) for word in draw["words"]])
            assert str(PAGE.noise(vector, stream)) == draw["noise"]
            assert stream.all_used
        assert [str(drawn) for drawn in PAGE.seeded_noise(vector)] == vector["seeded"]["noise"]


def test_choices_of_the_page():
    for vector in read("choices"):
        weights = PAGE.Weights(Fraction(*map(int, vector["step"])))
        table = weights.up_to(3000)
        assert weights.settled == vector["settled"]
        assert {score: str(table[int(score)]) for score in vector["weights"]} == vector["weights"]
        for draw in vector["draws"]:
            stream = PAGE.Stream(content=bytes.fromhex(draw["bytes"]))
            score, offset = weights.draw([int(size) for size in draw["sizes"]], stream)
            assert (str(score), str(offset)) == (draw["score"], draw["offset"])
            assert stream.all_used


def test_places_of_the_page():
    for vector in read("places"):
        counts = [int(count) for count in vector["counts"]]
        for draw in vector["draws"]:
            stream = PAGE.Stream(content=bytes.fromhex(draw["bytes"]))
            places = PAGE.draw_forest(vector["forest"], counts, vector["points"], stream)
            assert [str(place) for place in places] == draw["places"]
            assert stream.all_used


def test_releases_of_the_page():
    for vector in read("releases"):
        published = {name: [str(value) for value in values] for name, values in PAGE.publish(vector).items()}
        assert published == vector["published"]


def test_a_changed_vector_is_noticed():
    vector = read("noise")[0]
    draw = next(draw for draw in vector["draws"] if draw["noise"] not in ("0", "1"))
    changed = [int(word) ^ (1 << 63) for word in draw["words"][:1]] + [int(word) for word in draw["words"][1:]]
    assert str(PAGE.noise(vector, PAGE.Stream.of_words(changed))) != draw["noise"]
