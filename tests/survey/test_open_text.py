"""Open answers have the same code in the page as in Python: every code point of Unicode alone, and texts of many."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest

from bruit.domains import OpenText

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="the page's script is tried with Node, which is not on PATH")

POINTS = 0x110000
ODD = [
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\ud800",
        "\udc00x",
        "x\ud83d",
        "\ufeffnoise",
        "noi\u200bse",
        "\u202ebruit",
        "\u200fbruit",
    ),
    *("ß", "STRASSE", "Straße", "ﬁn", "ŒUVRE", "İstanbul", "ıspanak", "ΣΊΣΥΦΟΣ", "ᾳ\u0301", "e\u0301\u0345"),
    *("a\u0345\u0301", "🎉🎉", "👩\u200d👩\u200d👧", "L’ÉCOLE   Maternelle", "\x1c\x85 a \u2028 b\u3000"),
    *("\uff57\uff49\uff44\uff45", "²³½", "ǆ", "E\u0301\u0323t", "한국어", "o\u0308\u0301", "ŉ", "\u1e9e", "\u212a"),
    *("\u212b", "a" * 5000, "e\u0301" * 40, "\uff07\u00b4`", "\uff11\uff12\uff13"),
]


def units(text):
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[place] | data[place + 1] << 8 for place in range(0, len(data), 2)]


def in_node(points, texts, letters):
    done = subprocess.run(
        [NODE, str(Path(__file__).with_name("node_texts.mjs"))],
        input=json.dumps({"points": list(points), "texts": [units(text) for text in texts], "letters": letters}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_python(text, domain):
    code = domain.code(text)
    return [None if code < 0 else code, "" if code < 0 else domain.text(code)]


def differing(points):
    """The points of these whose code in the page is another one than in Python."""
    domain, pairs = OpenText(), zip(points, in_node(points, [], 8), strict=True)
    return [point for point, (code, _) in pairs if (-2 if code is None else code) != domain.code(chr(point))]


def unknown(point):
    """Whether Python's Unicode does not know a point yet: a newer one may have made it a letter."""
    return unicodedata.category(chr(point)) == "Cn"


#: Where letters, signs and marks are; not the ideographs and syllables, the private points and the planes above.
ALPHABETS = [*range(0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x20000)]


@pytest.mark.parametrize(
    "points", [pytest.param(ALPHABETS, id="alphabets"), pytest.param(range(POINTS), id="all", marks=pytest.mark.audit)]
)
def test_every_code_point_has_the_code_that_python_gives_it(points):
    differ = differing(points)
    assert [hex(point) for point in differ if not unknown(point)] == []
    assert len(differ) < 200


def random_texts(number):
    generator = random.Random(34)
    known = [chr(point) for point in range(POINTS) if unicodedata.category(chr(point)) not in ("Cn", "Co")]
    marks = [letter for letter in known if unicodedata.combining(letter)]
    latin = [letter for letter in known if "LATIN" in unicodedata.name(letter, "")]
    greek = [letter for letter in known if "GREEK" in unicodedata.name(letter, "")]
    pools = [known, marks, latin, greek, list("aeiou nosß'’-\t\u00a0"), [chr(unit) for unit in range(0xD800, 0xE000)]]
    for _ in range(number):
        text = "".join(generator.choice(generator.choice(pools)) for _ in range(generator.randrange(12)))
        # Two halves that meet are one letter in JavaScript.
        yield text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@pytest.mark.parametrize("letters", [8, 3])
def test_any_text_has_the_code_that_python_gives_it(letters):
    texts, domain = [*ODD, *random_texts(20_000)], OpenText(letters=letters)
    for text, answer in zip(texts, in_node([], texts, letters), strict=True):
        expected = in_python(text, domain)
        assert answer[0] == expected[0], ascii(text)
        assert answer[1].rstrip("\0").replace("\0", " ") == expected[1], ascii(text)


def test_a_page_that_only_lowered_letters_would_be_noticed():
    assert OpenText().code("Straße") == OpenText().code("STRASSE") != OpenText().code("strabe")
    assert "straße" == "Straße".lower() != "Straße".casefold()
