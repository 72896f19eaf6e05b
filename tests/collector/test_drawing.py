"""A picture is whole SVG with the texts of its card, within its frame, and nothing that runs or loads."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from bruit.collector.cards import cards
from bruit.collector.drawing import WIDTH, broken, drawing
from bruit.collector.wording import TEXTS

from .six import six

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    return list(cards(six(tmp_path_factory.mktemp("six")), 1, TEXTS["en"], "en"))


def texts(root) -> list[str]:
    return ["".join(node.itertext()).replace("\u00a0", " ") for node in root.iter(f"{SVG}text")]


def test_it_has_the_question_the_sentence_and_every_bar(every) -> None:
    for card in every:
        root = ElementTree.fromstring(drawing(card, "Life at school", TEXTS["en"], "en"))
        said = " ".join(texts(root))
        assert all(
            part.replace("\u00a0", " ") in said for part in ("Life at school", card.text, card.lead, card.reports)
        )
        for row in card.rows:
            assert row.label in said
            assert f"{row.about}{row.range}".replace("\u00a0", " ") in said
        assert len(root.findall(f"{SVG}svg")) == len(card.rows)
        height = int(root.get("height"))
        assert all(0 < float(node.get("y")) < height for node in root.iter(f"{SVG}text"))


def test_its_numbers_are_those_of_the_card(every) -> None:
    for card in every:
        root = ElementTree.fromstring(drawing(card, "", TEXTS["en"], "en"))
        said = {number for text in texts(root) for number in re.findall(r"\d+", text)}
        shown = [card.text, card.lead, card.reports, TEXTS["en"]["key"]]
        shown += [text for row in card.rows for text in (row.label, row.about, row.range, *row.ends)]
        assert said <= {number for text in shown for number in re.findall(r"\d+", text)}


def test_texts_stay_texts_and_nothing_loads(every) -> None:
    hostile = '</text><script>alert(1)</script> & "quoted" \u05d7\u05d9\u05e4\u05d4'
    card = replace(every[0], text=hostile, rows=tuple(row._replace(label=hostile) for row in every[0].rows))
    text = drawing(card, hostile, TEXTS["fr"], "fr")
    root = ElementTree.fromstring(text)
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {"svg", "g", "rect", "path", "text", "tspan"}
    assert not [name for node in root.iter() for name in node.attrib if name.startswith("on") or "href" in name]
    assert "url(" not in text
    assert "style=" not in text


def test_long_texts_are_broken_and_short_ones_are_not() -> None:
    assert broken("one two", 20) == ["one two"]
    lines = broken("word " * 60, 30)
    assert max(map(len, lines)) <= 30
    assert " ".join(lines).split() == ["word"] * 60
    assert broken("漢字漢字漢字", 4) == ["漢字", "漢字", "漢字"]
    assert "".join(broken("x" * 95, 10)) == "x" * 95


def test_a_picture_of_long_labels_is_higher_and_not_wider(every) -> None:
    card = every[2]
    long = replace(card, rows=tuple(row._replace(label="a long answer " * 20) for row in card.rows))
    sizes = [ElementTree.fromstring(drawing(own, "", TEXTS["en"], "en")) for own in (card, long)]
    assert [root.get("width") for root in sizes] == [str(WIDTH)] * 2
    assert int(sizes[1].get("height")) > int(sizes[0].get("height"))
