"""Drawings and formulas as elements of a page, with the text that stands for a picture where it cannot be seen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from bruit.errors import FormatError, MissingExtraError, ParameterError, translated
from bruit.pages.markup import marked

if TYPE_CHECKING:
    from markupsafe import Markup

_DROPPED = {"metadata", "style", "title", "script", "foreignObject"}
#: How older releases of matplotlib write a font: in one declaration.
_FONT = re.compile(
    r"(?:(?P<style>italic|oblique) )?(?:(?P<variant>small-caps) )?(?:(?P<weight>\d+) )?"
    r"(?P<size>[\d.]+px) (?P<family>.+)"
)


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, and the text that stands for it where it cannot be seen.

    `bruit.figures.picture` makes one of a plot.
    """

    svg: str = field(repr=False)
    alt: str

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise ParameterError("alt must say what the picture shows.")


def element(text: str, prefix: str = "", *, alt: str = "") -> Markup:
    """A drawing (SVG) or a formula (MathML) as an element of a page.

    Name spaces, scripts, styles, and addresses outside the element are dropped. A ``style`` attribute, which the policy
    of a page forbids, becomes attributes of its own.

    Parameters
    ----------
    text
        The element, as XML.
    prefix
        What the ids in it begin with, so that two drawings on a page do not meet.
    alt
        What it shows, where it is a picture.

    Examples
    --------
    >>> print(element('<svg onload="x()"><path id="a" style="fill: red"/><script/></svg>', "first-"))
    <svg><path id="first-a" fill="red" /></svg>
    """
    with translated(ElementTree.ParseError, lambda _: FormatError("This picture is not whole SVG.")):
        root = ElementTree.fromstring(text)  # noqa: S314 -- drawn in this process
    _clean(root, prefix)
    if alt:
        _describe(root, alt)
    return marked(ElementTree.tostring(root, encoding="unicode"))


def inline(picture: Picture, prefix: str) -> Markup:
    """A picture as an element of a page, as wide as the page has room for.

    Parameters
    ----------
    picture
        The picture.
    prefix
        What its ids begin with.
    """
    return element(picture.svg, prefix, alt=picture.alt)


def _describe(root: ElementTree.Element, alt: str) -> None:
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": alt, "stroke-linejoin": "round"}
    title = ElementTree.Element("title")
    title.text = alt
    root.insert(0, title)


def _clean(node: ElementTree.Element, prefix: str) -> None:
    node.tag = _local(node.tag)
    attributes = {_local(name): value for name, value in node.attrib.items()}
    attributes |= _declarations(attributes.pop("style", ""))
    node.attrib = {
        name: _own(name, value, prefix) for name, value in attributes.items() if not name.lower().startswith("on")
    }
    node.tail = (node.tail or "").strip() or None
    for child in list(node):
        if not isinstance(child.tag, str) or _local(child.tag) in _DROPPED:
            node.remove(child)
        else:
            _clean(child, prefix)


def _declarations(style: str) -> dict[str, str]:
    """What a ``style`` attribute declares, by the attributes of SVG that mean the same."""
    pairs = [line.partition(":") for line in style.split(";") if line.strip()]
    attributes = {name.strip(): value.strip() for name, _, value in pairs}
    font = _FONT.fullmatch(attributes.get("font", ""))
    if font is not None:
        del attributes["font"]
        attributes |= {f"font-{name}": value for name, value in font.groupdict().items() if value}
    return attributes


def _own(name: str, value: str, prefix: str) -> str:
    """Ids and what refers to them."""
    if name == "id":
        return prefix + value
    if name == "href":
        return f"#{prefix}{value[1:]}" if value.startswith("#") else ""
    return value.replace("url(#", f"url(#{prefix}")


def _local(name: str) -> str:
    """A name without its name space."""
    return name.rpartition("}")[2]


def qr_svg(text: str) -> str:
    """A QR code as SVG; it has no text of its own.

    Parameters
    ----------
    text
        What it says, as an address.
    """
    try:
        import segno
    except ImportError:
        raise MissingExtraError("A QR code", "collector") from None

    drawn: str = segno.make(text, error="m", micro=False).svg_inline(scale=3, border=4, omitsize=True)
    return drawn
