"""A page says a thing once, and counts what it lists.

Two texts that are put together line by line may keep both versions of a bullet, or a number in words that no longer
fits. Both are wrong, whichever version is true: a reader cannot know.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Pages that tools write: options and rows of theirs are alike by their making.
WRITTEN_BY_TOOLS = {"docs/reference/cli.md", "docs/reference/claims.md", "docs/reference/coverage.md"}
TEXTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(path for path in DOCS.rglob("*.md") if "_site" not in path.relative_to(DOCS).parts),
    *sorted((ROOT / "src").rglob("*.md")),
]
BY_HAND = [path for path in TEXTS if path.relative_to(ROOT).as_posix() not in WRITTEN_BY_TOOLS]

_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS = dict(zip(_WORDS, range(2, 13), strict=True))
#: So many first characters of two texts are never the same.
FIRST = 60
#: Texts of at least so many words share less than this part of their runs of four words.
WORDS, SHARED = 20, 0.4

_FENCE = re.compile(r"^([ ]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$", flags=re.MULTILINE | re.DOTALL)
_BULLET = re.compile(r"(?P<indent>[ ]*)(?:[-*+]|\d+[.)])[ ]+(?P<text>.*)")
_NUMBER = rf"(?P<number>{'|'.join(NUMBERS)})"
_STATED = re.compile(rf"(?:.*\bthere are )?{_NUMBER}[ ][a-z]", flags=re.IGNORECASE)
_HEADING = re.compile(rf"#+[ ]{_NUMBER}[ ][a-z]", flags=re.IGNORECASE)


class Unit(NamedTuple):
    """A bullet, a paragraph or a heading of a page, in one line."""

    line: int
    kind: str  # "bullet", "paragraph", "heading", "table" or "code"
    indent: int
    text: str

    @property
    def lead(self) -> str | None:
        """Its first words, if they are bold."""
        bold = re.match(r"\*\*(.+?)\*\*", self.text)
        return bold[1].strip(" .:,").lower() if bold else None


def units(page: str) -> list[Unit]:
    """The bullets, paragraphs and headings of a page, in order; a block of code has no text."""
    page = _FENCE.sub(lambda block: "\x00" + "\n" * block[0].count("\n"), page)
    parts: list[Unit] = []
    goes_on = False
    for number, line in enumerate(page.splitlines(), 1):
        bullet = _BULLET.fullmatch(line)
        if not line.strip():
            goes_on = False
        elif line.startswith("\x00"):
            parts.append(Unit(number, "code", 0, ""))
            goes_on = False
        elif line.startswith("#"):
            parts.append(Unit(number, "heading", 0, line))
            goes_on = False
        elif line.startswith("|"):
            parts.append(Unit(number, "table", 0, line))
            goes_on = False
        elif bullet:
            parts.append(Unit(number, "bullet", len(bullet["indent"]), bullet["text"]))
            goes_on = True
        elif goes_on:
            parts[-1] = parts[-1]._replace(text=f"{parts[-1].text} {line.strip()}")
        else:
            parts.append(Unit(number, "paragraph", len(line) - len(line.lstrip()), line.strip()))
            goes_on = True
    return parts


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[place : place + 4]) for place in range(len(words) - 3)} if len(words) >= WORDS else set()


def repeated(page: str) -> list[tuple[int, int]]:
    """The lines of bullets and paragraphs that have the same bold lead, the same beginning or much of the same text."""
    texts = [unit for unit in units(page) if unit.kind in ("bullet", "paragraph") and not unit.text.startswith(">")]
    runs = {unit.line: _runs(unit.text) for unit in texts}
    pairs = []
    for first, second in itertools.combinations(texts, 2):
        both = {first.kind, second.kind} == {"bullet"}
        same_lead = both and first.lead is not None and first.lead == second.lead
        same_start = first.text[:FIRST] == second.text[:FIRST] and len(first.text) >= (1 if both else FIRST)
        fewest = min(len(runs[first.line]), len(runs[second.line]))
        if same_lead or same_start or (fewest and len(runs[first.line] & runs[second.line]) >= SHARED * fewest):
            pairs.append((first.line, second.line))
    return pairs


def miscounted(page: str) -> list[tuple[int, int, int]]:
    """Where a number in words is not that of the list, or of the bold paragraphs, that follow: line, stated, listed.

    A heading states a number if it begins with one; a text if it ends with a colon, and its last sentence begins with
    a number or with "there are" and a number.
    """
    parts, wrong = units(page), []
    for place, part in enumerate(parts):
        if part.kind == "heading":
            stated = _HEADING.match(part.text)
        elif part.text.endswith(":"):
            stated = _STATED.match(re.split(r"(?<=[.;])\s", part.text)[-1])
        else:
            stated = None
        listed = _listed(parts[place + 1 :], part.kind == "heading") if stated else 0
        if stated and listed > 1 and listed != NUMBERS[stated["number"].lower()]:
            wrong.append((part.line, NUMBERS[stated["number"].lower()], listed))
    return wrong


def _listed(after: list[Unit], is_heading: bool) -> int:
    """How many bullets follow at once, or how many bold paragraphs there are up to the next heading; else 0."""
    section = list(itertools.takewhile(lambda unit: unit.kind != "heading", after))
    bold = sum(unit.kind == "paragraph" and unit.lead is not None for unit in section)
    if is_heading and bold:
        return bold
    first = next((unit for unit in section if unit.kind == "bullet" or not is_heading), None)
    if first is None or first.kind != "bullet":
        return bold if first is not None and first.lead is not None else 0
    bullets = itertools.takewhile(lambda unit: unit.kind == "bullet", section[section.index(first) :])
    return sum(unit.indent == first.indent for unit in bullets)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", BY_HAND, ids=_name)
def test_no_two_bullets_of_a_page_say_the_same(path: Path) -> None:
    assert repeated(path.read_text(encoding="utf-8")) == []


def test_no_two_sections_of_a_page_have_the_same_heading() -> None:
    for path in BY_HAND:
        headings = [unit.text for unit in units(path.read_text(encoding="utf-8")) if unit.kind == "heading"]
        assert sorted(headings) == sorted(set(headings)), _name(path)


def test_a_number_in_words_is_that_of_the_list_behind_it() -> None:
    wrong = {_name(path): miscounted(path.read_text(encoding="utf-8")) for path in BY_HAND}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


def test_the_pages_of_tools_are_there() -> None:
    assert {_name(path) for path in TEXTS} > WRITTEN_BY_TOOLS


LONG = "A page of one file is served to people, and a collector keeps the counters of what they sent until it closes"


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("- **In rounds.** A memo is kept.\n- **Other.** No.\n- **In rounds**: nothing is kept.\n", [(1, 3)]),
        (f"- {LONG}.\n\n## Next\n\n1. {LONG}, and then goes on.\n", [(1, 5)]),
        (f"- **A page has one ε.** {LONG}.\n- **A page has one ε or ρ.** It is said that {LONG.lower()}.\n", [(1, 2)]),
        (f"**One idea.** {LONG}.\n\n**Ansecond.** Some more words first: {LONG}.\n", [(1, 3)]),
        (f"- **A page.** {LONG}.\n  {LONG}.\n- **Files.** {LONG[:30]}.\n", []),
        (f"```text\n- {LONG}\n- {LONG}\n```\n\n- {LONG}\n", []),
    ],
)
def test_bullets_that_say_the_same_are_caught(page: str, lines: list[tuple[int, int]]) -> None:
    assert repeated(page) == lines


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("## Four ideas\n\n**One.** A.\n\n**Two.** B.\n\n**Three.** C.\n", [(1, 4, 3)]),
        ("## Three ideas\n\n**One.** A.\n\n**Two.** B.\n\n**Three.** C.\n\n## Next\n\n**Four.** D.\n", []),
        ("## Two rules\n\nWords.\n\n- a\n- b\n  goes on\n- c\n", [(1, 2, 3)]),
        ("Words. There are three ways out:\n\n- a\n- b\n", [(1, 3, 2)]),
        ("There are two ways out:\n\n- a\n  - within\n- b\n", []),
        ("Of three people. All of this:\n\n- a\n- b\n", []),
        ("So two runs follow each other, and each ends at a step:\n\n1. a\n2. b\n3. c\n", []),
        ("Three things are yours to keep, for nobody sees them:\n\n1. a\n2. b\n", [(1, 3, 2)]),
        ("There are three ways:\n\n```text\n```\n\n- a\n- b\n", []),
    ],
)
def test_a_number_in_words_that_does_not_fit_is_caught(page: str, lines: list[tuple[int, int, int]]) -> None:
    assert miscounted(page) == lines
