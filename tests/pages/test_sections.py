"""The page: whole in itself, escaped, and readable without its pictures."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from bruit import Guarantee
from bruit.errors import FormatError, ParameterError
from bruit.figures import picture as picture_of
from bruit.figures import plot_beliefs, style
from bruit.figures.pictures import VARIABLES
from bruit.pages import Page, Picture, Section, render
from bruit.tables import Table

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Outline(HTMLParser):
    """Elements with their attributes, and whether every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def picture() -> Picture:
    return picture_of(plot_beliefs(Guarantee(epsilon=1.0, neighbours="value")))


@pytest.fixture(scope="module")
def html(picture: Picture) -> str:
    table = Table.of("Shares", ("answer", "share"), (("<yes>", "24 %"), ("no", "76 %")))
    sections = (
        Section("First & last", ("A <script>alert(1)</script> paragraph.",), table=table, figure=picture),
        Section("Again", figure=picture, code="bruit tour"),
    )
    return render(Page("Title <1>", "Lead", sections, footer="The end"))


def test_a_page_is_well_nested_and_states_its_language_and_width(html: str) -> None:
    outline = Outline(html)
    assert outline.open == []
    assert outline.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in outline.all("meta")


def test_text_is_escaped_everywhere(html: str) -> None:
    assert "<script" not in html
    assert "Title &lt;1&gt;" in html
    assert "&lt;yes&gt;" in html
    assert "First &amp; last" in html


def test_a_page_loads_nothing_from_anywhere(html: str) -> None:
    assert "//" not in html.replace(_policy(html), "")
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    assert not any("src" in attributes for _, attributes in Outline(html).elements)
    assert not any("style" in attributes for _, attributes in Outline(html).elements)
    style = html[html.index("<style>") + len("<style>") : html.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert _policy(html) == (f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; base-uri 'none'")


def _policy(html: str) -> str:
    (policy,) = [str(meta["content"]) for meta in Outline(html).all("meta") if "http-equiv" in meta]
    return policy


def test_a_picture_has_its_words_for_those_who_cannot_see_it(html: str, picture: Picture) -> None:
    drawings = Outline(html).all("svg")
    assert len(drawings) == 2
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert drawing["aria-label"] == picture.alt
        assert "width" not in drawing
        assert "viewbox" in drawing
    assert f"<title>{picture.alt}</title>" in html


def test_two_pictures_on_a_page_share_no_id_and_every_reference_finds_its_own(html: str) -> None:
    attributes = [attributes for _, attributes in Outline(html).elements]
    ids = [each["id"] for each in attributes if "id" in each]
    assert len(ids) == len(set(ids)) > 0
    used = re.findall(r"url\(#([^)]*)\)", html) + [str(each["href"])[1:] for each in attributes if "href" in each]
    assert used
    assert set(used) <= set(ids)


def test_colours_of_a_picture_follow_the_page_in_light_and_dark(html: str) -> None:
    drawing = html[html.index("<svg") : html.index("</svg>")]
    assert not [colour for colour in VARIABLES if colour in drawing]
    for variable in VARIABLES.values():
        name = variable.removeprefix("var(").removesuffix(")")
        assert html.count(f"{name}: #") == 2, name
    assert "prefers-color-scheme: dark" in html


def test_the_light_colours_of_the_page_are_those_of_the_figures(html: str) -> None:
    assert all(f"{variable[4:-1]}: {colour};" in html for colour, variable in VARIABLES.items())


def test_a_table_has_headings_for_columns_and_rows(html: str) -> None:
    scopes = [heading["scope"] for heading in Outline(html).all("th")]
    assert scopes == ["col", "col", "row", "row"]
    assert "<caption>Shares</caption>" in html


def test_a_picture_needs_words_and_whole_svg(picture: Picture) -> None:
    with pytest.raises(ParameterError, match="alt"):
        Picture(picture.svg, " ")
    with pytest.raises(FormatError, match="whole SVG"):
        render(Page("t", sections=(Section("s", figure=Picture("<svg><g></svg>", "words")),)))


def test_what_could_run_in_a_picture_is_dropped() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script>'
        '<a href="javascript:x()"><path onclick="x()" d="M0 0"/></a><style>*{color:red}</style></svg>'
    )
    drawn = render(Page("t", sections=(Section("s", figure=Picture(svg, "words")),)))
    assert "x()" not in drawn
    assert "color:red" not in drawn


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ParameterError, match="2 cells"):
        Table.of("", ("a", "b"), (("1",),))


def test_the_same_page_gives_the_same_text(picture: Picture) -> None:
    page = Page("t", "l", (Section("s", figure=picture),))
    assert render(page) == render(page)


def test_figures_are_drawn_with_the_colours_that_the_page_knows() -> None:
    assert set(style.PALETTE) | {style.PAPER, style.INK, style.MUTED, style.GRID} == set(VARIABLES)
