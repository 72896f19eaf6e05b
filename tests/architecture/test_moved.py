"""Nothing true was lost when the pages were divided into kinds, and every old address leads to a new one.

docs/moved.tsv has an old address and its new one in each line, both below docs/; the site hook makes a redirecting page
of each. statements/*.tsv has every guarantee, limit and warning of the old pages: the old page, the statement, the page
or module where it stands now, and words that stand there. A dash for a page says that a statement was false or void,
and the words say why.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from prose import DOCS, ROOT, pages
from test_docs import _tool, slugs

MOVED = DOCS / "moved.tsv"
STATEMENTS = sorted((Path(__file__).parent / "statements").glob("*.tsv"))
#: The pages of the documentation before it was divided. Those of the API stood directly in reference/, where four names
#: now belong to other pages.
OLD = (Path(__file__).parent / "old_pages.txt").read_text(encoding="utf-8").split()


class Statement(NamedTuple):
    """A line of a table of statements."""

    old: str
    statement: str
    place: str
    phrase: str


def read(path: Path) -> list[list[str]]:
    """The lines of a table with tabs between its cells."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [line for line in lines if line and not line[0].startswith("#")]


def plain(text: str) -> str:
    """A text on one line, without marks of emphasis and of quoted blocks."""
    return re.sub(r"\s+", " ", re.sub(r"^\s*(?:>|#:?)\s?|[*`]", "", text, flags=re.MULTILINE)).casefold()


def text_at(place: str) -> str:
    """The text of a page below docs/, or of a file of the repository; nothing if there is none."""
    name = place.partition("#")[0].removeprefix("docs/")
    path = next((path for path in (DOCS / name, ROOT / name) if path.is_file()), None)
    return path.read_text(encoding="utf-8") if path else ""


def lost(statements: Iterable[Statement], text_at: Callable[[str], str]) -> list[str]:
    """The statements whose phrase is not where it should be."""
    return [
        f"{line.place}: {line.phrase}"
        for line in statements
        if (line.place != "-" and plain(line.phrase) not in plain(text_at(line.place))) or not line.phrase.strip()
    ]


def dead(moves: Iterable[tuple[str, str]], texts: dict[str, str]) -> list[str]:
    """The moves that lead nowhere, or that start at a page that is there."""
    wrong = []
    for old, new in moves:
        page, _, anchor = new.partition("#")
        if page not in texts or (anchor and anchor not in slugs(texts[page])):
            wrong.append(f"{old} leads to {new}, which is not there")
        if old in texts:
            wrong.append(f"{old} is there")
    return wrong


@pytest.mark.parametrize("path", STATEMENTS, ids=lambda path: path.stem)
def test_every_statement_stands_where_the_table_says(path: Path) -> None:
    lines = read(path)
    assert [line for line in lines if len(line) != len(Statement._fields)] == []
    assert lost([Statement(*line) for line in lines], text_at) == []


def test_every_old_address_leads_to_a_page_or_anchor_that_exists() -> None:
    moves = [(old, new) for old, new in read(MOVED)]
    assert dead(moves, pages()) == []
    assert moves == sorted(set(moves)), "sort the lines of docs/moved.tsv"
    assert len(dict(moves)) == len(moves), "an old address has two new ones"


def test_every_old_page_is_there_or_has_moved() -> None:
    moved = {old for old, _ in read(MOVED)}
    assert sorted(set(OLD) - moved - set(pages())) == []


def test_a_statement_that_was_lost_is_caught() -> None:
    pages = {"how-to/a.md": "A page of **one** file\nis `served`.", "src/b.py": "#: A ledger\n#: adds decimals."}
    kept = [
        Statement("old.md", "a page is served", "how-to/a.md", "one file is served"),
        Statement("old.md", "decimals add", "src/b.py", "ledger adds decimals"),
        Statement("old.md", "a false one", "-", "pages are not served"),
    ]
    gone = [
        Statement("old.md", "a page is sold", "how-to/a.md", "one file is sold"),
        Statement("old.md", "a page is served", "how-to/c.md", "one file is served"),
        Statement("old.md", "a false one", "-", ""),
    ]
    assert lost(kept, lambda place: pages.get(place, "")) == []
    assert len(lost([*kept, *gone], lambda place: pages.get(place, ""))) == len(gone)


def test_a_move_that_leads_nowhere_is_caught() -> None:
    texts = {"how-to/a.md": "# A title\n\n## By phone\n", "old.md": "# Old\n"}
    assert dead([("b.md", "how-to/a.md"), ("c.md#x", "how-to/a.md#by-phone")], texts) == []
    moves = [("b.md", "how-to/gone.md"), ("c.md", "how-to/a.md#by-post"), ("old.md", "how-to/a.md")]
    assert len(dead(moves, texts)) == len(moves)


def test_links_to_old_addresses_are_rewritten() -> None:
    moved = {"guides/a.md": "how-to/b.md", "guides/a.md#one": "how-to/c.md#two"}
    files = {"docs/kept.md", "docs/how-to/b.md"}
    relinked = _tool("moved_links").relinked
    text = "[a](docs/guides/a.md) [b](docs/guides/a.md#one) [c](docs/guides/a.md#x) [d](docs/kept.md)"
    assert relinked(text, "CHANGELOG.md", moved, files) == (
        "[a](docs/how-to/b.md) [b](docs/how-to/c.md#two) [c](docs/how-to/b.md) [d](docs/kept.md)"
    )
    assert relinked("[a](../../guides/a.md)", "docs/reference/api/x.md", moved, files) == "[a](../../how-to/b.md)"
    assert relinked("[a](https://example.org/a.md)", "README.md", moved, files) == "[a](https://example.org/a.md)"
