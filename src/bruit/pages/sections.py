"""A page of sections: text, tables and figures to pass on, as publications and the tour have.

It fits a phone, prints, and follows the reader's choice of light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bruit.pages.page import fill
from bruit.pages.pictures import Picture, inline
from bruit.tables import Table


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, paragraphs, and possibly a table, a figure and lines to type; perhaps folded."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    figure: Picture | None = None
    code: str = ""
    folded: bool = False


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
    return fill("sections.html.j2", page=page, pictures=pictures, language=page.language, title=page.title)
