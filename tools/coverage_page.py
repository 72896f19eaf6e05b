"""Write docs/coverage.md: what the documents hold, item by item, and where each works here.

Run ``python tools/coverage_page.py`` after changing a study or ``bruit/studies/coverage.py``; a test compares the page
with what this writes.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bruit.studies import DOCUMENTS, all_studies
from bruit.studies.coverage import ITEMS, Item, claimed
from bruit.tables import typeset

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"

HEADER = """\
<!-- Written by tools/coverage_page.py from the studies and their coverage.py: change them, then run it again. -->

# Coverage

What the documents hold, item by item, and where it works: {summary}. Every claim that a
[study](studies.md) judges is an item; its verdict stands on [Claims](claims.md).
"""


def page() -> str:
    """The page."""
    items = [*ITEMS, *claimed(all_studies())]
    states = Counter(item.state for item in items)
    summary = f"of {len(items)} items {states['works']} work, {states['partly']} partly, {states['missing']} not yet"
    lines = [HEADER.format(summary=summary)]
    for document, citation in DOCUMENTS.items():
        own = [item for item in items if item.document == document]
        lines += [f"## {document[0].upper()}{document[1:]}\n", f"{citation}.\n"]
        lines += ["| Place | Item | Where it works | What is missing |", "|---|---|---|---|"]
        lines += [_row(item) for item in sorted(own, key=lambda item: item.place)]
        lines.append("")
    return "\n".join(lines)


def _row(item: Item) -> str:
    where = ", ".join(_link(target) for target in item.works)
    return f"| {_text(item.place)} | {_text(item.what)} | {where} | {_text(item.missing)} |"


def _link(target: str) -> str:
    kind, _, name = target.partition(":")
    if kind == "figure":
        study, _, figure = name.partition("/")
        return f"figure “{figure}” of `bruit study run {study}`"
    if kind == "claim":
        return f"[judged](claims.md) as `{name}`"
    if kind == "study":
        return f"`bruit study run {name}`"
    if target.startswith("docs/"):
        return f"[{target.removeprefix('docs/')}]({target.removeprefix('docs/')})"
    return f"`{target}`"


def _text(text: str) -> str:
    marks = str.maketrans({mark: f"\\{mark}" for mark in "|*_<"})
    return typeset(text).translate(marks)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
