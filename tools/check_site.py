"""Check the built site: every link and anchor leads somewhere, every picture is there and has a text, search has pages.

Run ``python tools/check_site.py docs/_site`` after ``make docs``, which does so itself. Nothing is fetched: what other
hosts have is left alone.
"""

from __future__ import annotations

import json
import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag, urlsplit


class Part(NamedTuple):
    """What a page refers to: an address, and the text that stands for it where it is a picture."""

    address: str
    text: str | None


class Page(HTMLParser):
    """The links, pictures and anchors of a page."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: list[Part] = []
        self.anchors = {"", "__top"}
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element refers to, and its own name."""
        fields = dict(attrs)
        self.anchors |= {name for name in (fields.get("id"), fields.get("name")) if name}
        if tag in ("a", "link") and fields.get("href"):
            self.links.append(fields["href"] or "")
        if tag in ("script", "source") and fields.get("src"):
            self.links.append(fields["src"] or "")
        if tag == "img":
            self.pictures.append(Part(fields.get("src") or "", fields.get("alt")))


def problems(site: Path) -> list[str]:
    """Everything that is wrong with a site, a line each."""
    site = site.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for link in sorted({*page.links, *(picture.address for picture in page.pictures)}):
            reason = _reason(path, link, pages, site)
            if reason:
                wrong.append(f"{name}: {link} {reason}")
        wrong += [
            f"{name}: the picture {picture.address} has no text"
            for picture in page.pictures
            if not (picture.text or "").strip() and not picture.address.startswith("data:")
        ]
    return wrong + _search(site)


def _reason(path: Path, link: str, pages: dict[Path, Page], site: Path) -> str:
    address, anchor = urldefrag(link)
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    # The page for lost readers may be shown at any depth, and names the top.
    folder = site if path.name == "404.html" else path.parent
    target = Path(os.path.normpath(folder / unquote(parts.path).lstrip("/"))) if parts.path else path
    if target.suffix == "" and target.is_dir():
        target /= "index.html"
    if target in pages:
        return "" if unquote(anchor) in pages[target].anchors else "has no such anchor"
    if not target.is_relative_to(site):
        return "leads out of the site"
    return "" if target.exists() else "leads nowhere"


def _search(site: Path) -> list[str]:
    index = site / "search" / "search_index.json"
    if not index.exists():
        return ["there is no index for the search"]
    entries = json.loads(index.read_text(encoding="utf-8"))["docs"]
    return [] if len(entries) > 100 else [f"the search knows {len(entries)} places only"]


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]))
    print("\n".join(found) or "Every link leads somewhere, and every picture has a text.")
    sys.exit(bool(found))
