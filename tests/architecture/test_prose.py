"""Pages are of one kind, short, in plain sentences, and say for whom they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

import pytest
from prose import API, GENERATED, by_hand, kind, pages, paragraphs, prose_lines, sentences, words
from sources import SOURCES, sources

#: The most words of a page, by its kind.
MOST_WORDS = {"how-to": 600, "tutorials": 1200, "explanation": 1000}
#: The most words of all pages that people write.
MOST_IN_ALL = 38_000
LONGEST_LINE = 120
LONGEST_MEAN_SENTENCE = 25
#: Phrases that read as translated, and how often a thousand words of the documentation may have one.
CADENCE = re.compile(
    r"\b(whoever|so many|anew|nobody declared?s?|on wish|for ever|unless given|rows of nobody|of their own doing|"
    r"is said to be|no more often than)\b",
    flags=re.IGNORECASE,
)
MOST_CADENCE = 0.3
#: How often the texts of the source have them: it may only fall.
MOST_IN_SOURCE = 41


def too_long(texts: Mapping[str, str]) -> dict[str, int]:
    """The pages with more words than their kind may have."""
    counts = {page: words(text) for page, text in texts.items()}
    return {page: count for page, count in counts.items() if count > MOST_WORDS.get(kind(page), MOST_IN_ALL)}


def long_lines(text: str) -> list[int]:
    """The numbers of the lines of prose that are too long."""
    return [number for number, line in prose_lines(text) if len(line.rstrip()) > LONGEST_LINE]


def mean_sentence(text: str) -> float:
    """How many words the sentences of a page have on average."""
    lengths = [len(sentence.split()) for sentence in sentences(text)]
    return sum(lengths) / max(len(lengths), 1)


def names_its_reader(text: str) -> bool:
    """Whether the first paragraph says for whom the page is, in two lines."""
    lines = [line.strip() for line in re.sub(r"\A(<!--.*?-->\s*)+", "", text, flags=re.DOTALL).splitlines()]
    if len(lines) < 3 or not lines[0].startswith("# "):
        return False
    first = lines[2 : lines.index("", 2)] if "" in lines[2:] else lines[2:]
    opening = " ".join(first[:2])
    return bool(re.match(r"(For|Pour)\b|[^.]*\b(is|are) for\b|[^.]*\b(pour (les|qui|vous|ceux|celles))\b", opening))


def cadence(texts: Mapping[str, str]) -> float:
    """How many of the phrases a thousand words have."""
    prose = {page: " ".join(paragraphs(text)) for page, text in texts.items()}
    hits = sum(len(CADENCE.findall(text)) for text in prose.values())
    return 1000 * hits / max(sum(len(text.split()) for text in prose.values()), 1)


def test_no_page_is_longer_than_its_kind_may_be() -> None:
    assert too_long(by_hand()) == {}


def test_all_pages_together_can_be_read_in_an_afternoon() -> None:
    assert sum(words(text) for text in by_hand().values()) <= MOST_IN_ALL


def test_lines_of_prose_are_short() -> None:
    long = {page: long_lines(text) for page, text in by_hand().items()}
    assert {page: numbers for page, numbers in long.items() if numbers} == {}


def test_sentences_are_short_on_average() -> None:
    means = {page: round(mean_sentence(text), 1) for page, text in by_hand().items()}
    assert {page: mean for page, mean in means.items() if mean > LONGEST_MEAN_SENTENCE} == {}


def test_every_page_says_for_whom_it_is_in_its_first_two_lines() -> None:
    generated = {page: text for page, text in pages().items() if page in GENERATED or page == f"{API}index.md"}
    texts = {page: text for page, text in (by_hand() | generated).items() if kind(page) not in ("", "home")}
    assert [page for page, text in texts.items() if not names_its_reader(text)] == []


def test_few_phrases_of_the_documentation_read_as_translated() -> None:
    assert cadence(by_hand()) <= MOST_CADENCE


def test_every_page_is_of_one_kind() -> None:
    assert [page for page in pages() if not kind(page)] == []


def texts_of(tree: ast.AST) -> list[str]:
    """The texts of a module: docstrings, messages and help."""
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_the_source_has_ever_fewer_phrases_that_read_as_translated() -> None:
    hits = sum(len(CADENCE.findall(text)) for source in sources(SOURCES) for text in texts_of(source.tree))
    assert hits <= MOST_IN_SOURCE


#: Sentences that nobody understood.
NOT_UNDERSTOOD = (
    "no more often than leaves ten times as long",
    "or the ε whose ρ, as the statistic proves it",
    "So many people a group needs for an even chance",
    "one of 1 table of answers",
)


def test_sentences_that_nobody_understood_are_gone() -> None:
    texts = {page: " ".join(text.split()) for page, text in by_hand().items()}
    texts |= {source.name: " ".join(" ".join(texts_of(source.tree)).split()) for source in sources(SOURCES)}
    assert [(name, phrase) for name, text in texts.items() for phrase in NOT_UNDERSTOOD if phrase in text] == []


PAGE = "# Title\n\nFor data stewards who publish a table.\n\n"


def test_a_page_that_is_too_long_is_caught() -> None:
    long = PAGE + "word " * 593
    assert too_long({"how-to/a.md": long, "tutorials/a.md": long}) == {"how-to/a.md": 602}
    aside = "\n\n```text\n" + "word " * 700 + "\n```\n\n| " + "word " * 700 + "|\n\n![" + "word " * 99 + "](a.svg)\n"
    assert too_long({"how-to/a.md": PAGE + aside}) == {}


def test_a_long_line_is_caught_and_an_address_is_not() -> None:
    assert long_lines(PAGE + "word " * 25 + "\n") == [5]
    assert long_lines(PAGE + f"[A link](https://example.org/{'a' * 120})\n\n| {'word ' * 40}|\n") == []


def test_long_sentences_are_caught() -> None:
    assert mean_sentence("word " * 26 + ".\n\n- " + "word " * 26 + "\n- " + "word " * 26) > LONGEST_MEAN_SENTENCE
    assert mean_sentence("One two three. Four five? *Six*! `seven` eight (nine). ε is ten.") == pytest.approx(
        2.2, abs=0.3
    )


@pytest.mark.parametrize(
    ("page", "holds"),
    [
        (PAGE, True),
        ("<!-- note -->\n# Titre\n\nPour les professeurs.\n", True),
        ("# Title\n\nThis page is for teachers.\n", True),
        ("# Title\n\nNoise is drawn.\nIt is exact.\nFor data stewards.\n", False),
        ("# Title\n\nA mechanism is a value.\n\nFor stewards.\n", False),
    ],
)
def test_a_page_that_names_no_reader_is_caught(page: str, *, holds: bool) -> None:
    assert names_its_reader(page) is holds


def test_phrases_that_read_as_translated_are_counted() -> None:
    assert cadence({"a.md": "Whoever asks " + "word " * 998, "b.md": "so\nmany " + "word " * 998}) == pytest.approx(
        1, abs=0.01
    )
    assert cadence({"a.md": "```text\nwhoever\n```\n\nAnyone who asks."}) == 0
    assert [text for text in texts_of(ast.parse("raise E('drawn anew')")) if CADENCE.search(text)] == ["drawn anew"]


def test_a_page_outside_the_folders_of_the_kinds_has_none() -> None:
    assert [kind(page) for page in ("survey.md", "guides/a.md", "index.md", "how-to/a.md", "reference/api/a.md")] == [
        "",
        "",
        "home",
        "how-to",
        "reference",
    ]
