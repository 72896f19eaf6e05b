"""A page to pass on: one HTML file with text, tables and figures, which needs nothing else to be read.

It loads nothing from anywhere (a content security policy forbids it), fits a phone, prints, and follows the reader's
choice of light or dark. Figures are drawn into it as SVG; their colours become CSS variables, so that they change
with the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from xml.etree import ElementTree

import jinja2
from markupsafe import Markup

from bruit.errors import FormatError, ParameterError, translated
from bruit.figures import style
from bruit.tables import Table, typeset

#: Colours of the house style and the CSS variables of the page's template that take their place.
VARIABLES: dict[str, str] = {
    style.PAPER: "var(--paper)",
    style.INK: "var(--ink)",
    style.MUTED: "var(--muted)",
    style.GRID: "var(--grid)",
    style.BLUE: "var(--blue)",
    style.SKY: "var(--sky)",
    style.GREEN: "var(--green)",
    style.ORANGE: "var(--orange)",
    style.VERMILLION: "var(--vermillion)",
    style.PURPLE: "var(--purple)",
}

_DROPPED = {"metadata", "style", "title", "script", "foreignObject"}


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, and the text that stands for it where it cannot be seen."""

    svg: str = field(repr=False)
    alt: str

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise ParameterError("alt must say what the picture shows.")

    @classmethod
    def of(cls, figure: Any) -> Picture:
        """The picture of a figure, or of Axes, that bruit drew."""
        drawn = style.whole(figure)
        return cls(svg=style.svg(drawn), alt=style.description(drawn))


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, paragraphs, and possibly a table, a figure and lines to type."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    figure: Picture | None = None
    code: str = ""


@dataclass(frozen=True)
class Page:
    """A whole page.

    Examples
    --------
    >>> page = Page("Survey", "What we asked.", (Section("Result", ("24 % said <yes>.",)),))
    >>> "24 % said &lt;yes&gt;." in render(page)
    True
    """

    title: str
    lead: str = ""
    sections: Sequence[Section] = ()
    footer: str = ""
    language: str = "en"


def render(page: Page) -> str:
    """The page as HTML. All text is escaped; only pictures are taken as markup, after their scripts are dropped."""
    pictures = {
        place: inline(section.figure, f"figure{place}-")
        for place, section in enumerate(page.sections)
        if section.figure
    }
    text: str = templates().get_template("page.html.j2").render(page=page, pictures=pictures, typeset=typeset)
    return text


@cache
def templates(*others: str) -> jinja2.Environment:
    """The templates of this package, with ``house.css``, and of other packages."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in ("bruit.figures", *others)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def inline(picture: Picture, prefix: str) -> Markup:
    """A picture as an element of a page: its ids made its own, no name spaces, colours that follow the page."""
    with translated(ElementTree.ParseError, lambda _: FormatError("This picture is not whole SVG.")):
        root = ElementTree.fromstring(picture.svg)  # noqa: S314 -- drawn by matplotlib in this process
    _clean(root, prefix)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": picture.alt, "stroke-linejoin": "round"}
    title = ElementTree.Element("title")
    title.text = picture.alt
    root.insert(0, title)
    text = ElementTree.tostring(root, encoding="unicode")
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    return Markup(text)  # noqa: S704 -- parsed and cleaned above


def _clean(element: ElementTree.Element, prefix: str) -> None:
    element.tag = _local(element.tag)
    element.attrib = {
        _local(name): _own(_local(name), value, prefix)
        for name, value in element.attrib.items()
        if not _local(name).lower().startswith("on")
    }
    element.tail = (element.tail or "").strip() or None
    for child in list(element):
        if not isinstance(child.tag, str) or _local(child.tag) in _DROPPED:
            element.remove(child)
        else:
            _clean(child, prefix)


def _own(name: str, value: str, prefix: str) -> str:
    """Ids and what refers to them, so that two figures on a page do not meet."""
    if name == "id":
        return prefix + value
    if name == "href":
        return f"#{prefix}{value[1:]}" if value.startswith("#") else ""
    return value.replace("url(#", f"url(#{prefix}")


def _local(name: str) -> str:
    """A name without its name space."""
    return name.rpartition("}")[2]
