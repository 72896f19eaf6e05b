"""The pages of the documentation, their kinds, and the words, sentences and lines of their prose.

Prose is what stands outside fenced code, table rows, pictures and comments. A page's kind is its folder.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: The kinds of pages, each a folder of docs/.
KINDS = ("tutorials", "how-to", "explanation", "reference", "internals")
#: The pages that tools write, and the folder of those that mkdocstrings fills.
GENERATED = {"reference/cli.md", "reference/claims.md", "reference/coverage.md"}
API = "reference/api/"

FENCE = re.compile(r"^([ ]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$", flags=re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", flags=re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)(?:\{[^}]*\})?")
_ADDRESS = re.compile(r"(?<=\])\([^)\s]+(?:\s+\"[^\"]*\")?\)|<?https?://\S+")
_BULLET = re.compile(r"[ ]*(?:[-*+]|\d+[.)])[ ]+")
_END = re.compile(r"(?<=[.!?])[\"')*_”»]*\s+(?=[\"'(*_`“«\[]*[\wÀ-ÿε])")


@cache
def pages() -> dict[str, str]:
    """The text of every page below docs/, by its address."""
    paths = sorted(path for path in DOCS.rglob("*.md") if "_site" not in path.relative_to(DOCS).parts)
    return {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def kind(page: str) -> str:
    """The kind of a page: its folder, "home" for the first page, nothing for a page in no folder of a kind."""
    folder = page.partition("/")[0]
    return "home" if page == "index.md" else folder if folder in KINDS else ""


def by_hand() -> dict[str, str]:
    """The pages of a kind that people write."""
    return {
        page: text
        for page, text in pages().items()
        if kind(page) and page not in GENERATED and not page.startswith(API)
    }


def prose_lines(text: str) -> list[tuple[int, str]]:
    """The numbered lines of a page's prose; addresses of links are left out."""
    for pattern in (FENCE, _COMMENT, _PICTURE):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    lines = enumerate(text.splitlines(), 1)
    return [(number, _ADDRESS.sub("", line)) for number, line in lines if line.strip() and line.strip()[0] != "|"]


def words(text: str) -> int:
    """How many words of prose a page has."""
    return sum(len(line.split()) for _, line in prose_lines(text))


def paragraphs(text: str) -> list[str]:
    """The paragraphs and bullets of a page's prose, without headings, each on one line."""
    blocks: list[str] = []
    last = 0
    for number, line in prose_lines(text):
        if line.lstrip().startswith("#"):
            last = 0
            continue
        if _BULLET.match(line) or not blocks or number != last + 1:
            blocks.append("")
        blocks[-1] += " " + _BULLET.sub("", line, count=1).strip()
        last = number
    return [block.strip() for block in blocks]


def sentences(text: str) -> list[str]:
    """The sentences of a page."""
    return [sentence for block in paragraphs(text) for sentence in _END.split(block) if sentence.split()]
