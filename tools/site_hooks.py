"""What MkDocs does beyond turning docs/ into pages.

Some pages of the site live elsewhere in the repository, where their readers look for them: the
proof notes beside the modules they argue for, and the change log, security and contribution pages
at the top. Here they become pages without being copied, and relative links are rewritten so that
one link works both in the repository and on the site. Every old address of docs/moved.tsv becomes
a page that leads to the new one.
"""

from __future__ import annotations

import json
import posixpath
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PROOF = ".proof.md"
TOP = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "LICENSE": "LICENSE.txt",  # not a page, but linked to
}
#: The nav entry of mkdocs.yml that the proof notes fill.
PROOF_NOTES = "Proof notes"

_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?(?:\s+\"[^\"]*\")?\))")


def pages(root: Path) -> dict[str, str]:
    """The site page of every source file outside docs/.

    Sources are paths from the repository's top, pages are paths from docs/:
    ``src/bruit/laws/two_level.proof.md`` becomes ``proofs/laws/two_level.md``, and
    ``src/bruit_studies/deciles.proof.md`` becomes ``proofs/bruit_studies/deciles.md``.
    """
    addresses = dict(TOP)
    for path in sorted((root / "src").rglob(f"*{PROOF}")):
        source = path.relative_to(root).as_posix()
        inner = source.removeprefix("src/").removeprefix("bruit/").removesuffix(PROOF)
        addresses[source] = f"proofs/{inner}.md"
    return addresses


def title(text: str, otherwise: str) -> str:
    """The first heading of a page."""
    match = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    return match.group(1).strip() if match else otherwise


def relink(text: str, source: str, site: str, outside: dict[str, str]) -> str:
    """Rewrite the relative links of a page so that they lead from its place on the site.

    `source` is the page's file from the repository's top, `site` its page from docs/. Links to
    anything that is not a page are left alone, for MkDocs to complain about.
    """

    def page_of(target: str) -> str | None:
        if target in outside:
            return outside[target]
        return target.removeprefix("docs/") if target.startswith("docs/") else None

    def replace(match: re.Match[str]) -> str:
        link = match.group(2)
        if "://" in link or link.startswith(("mailto:", "/")):
            return match.group(0)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        page = page_of(target)
        if page is None:
            return match.group(0)
        return match.group(1) + posixpath.relpath(page, posixpath.dirname(site) or ".") + match.group(3)

    return _outside_fences(text, lambda part: _LINK.sub(replace, part))


def _outside_fences(text: str, change: Any) -> str:
    """Apply `change` to everything but fenced code."""
    pieces, start = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [change(text[start : fence.start()]), fence.group(0)]
        start = fence.end()
    return "".join([*pieces, change(text[start:])])


def moves(root: Path) -> dict[str, str]:
    """The new address of every old one, both from docs/, as docs/moved.tsv has them."""
    lines = (root / "docs" / "moved.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


def redirects(moved: dict[str, str]) -> dict[str, str]:
    """The HTML of a page for every old page: it leads to the new one, and from an old anchor to where that went."""
    old_pages = sorted({old.partition("#")[0] for old in moved} & set(moved))
    return {_html_name(old): _redirect(old, moved) for old in old_pages}


def _html_name(address: str) -> str:
    page, mark, anchor = address.partition("#")
    return page.removesuffix(".md") + ".html" + mark + anchor


def _redirect(old: str, moved: dict[str, str]) -> str:
    folder = posixpath.dirname(old) or "."
    target = posixpath.relpath(_html_name(moved[old]), folder)
    anchors = {
        address.partition("#")[2]: posixpath.relpath(_html_name(new), folder)
        for address, new in moved.items()
        if address.startswith(f"{old}#")
    }
    script = (
        f"var places = {json.dumps(anchors)}, here = location.hash.slice(1);"
        f"location.replace(places[here] || {json.dumps(target)} + location.hash);"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Moved</title>'
        f'<script>{script}</script><meta http-equiv="refresh" content="0; url={escape(target)}">'
        f'<meta name="robots" content="noindex"></head><body><p>This page moved to <a href="{escape(target)}">'
        f"{escape(target)}</a>.</p></body></html>\n"
    )


def on_post_build(config: MkDocsConfig) -> None:
    """Write a page for every old address that is no page of the site."""
    site = Path(config.site_dir)
    for name, text in redirects(moves(Path(config.config_file_path).parent)).items():
        path = site / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the proof notes into the navigation."""
    root = Path(config.config_file_path).parent
    notes = [
        {title((root / source).read_text(encoding="utf-8"), page): page}
        for source, page in pages(root).items()
        if source.endswith(PROOF)
    ]
    config.nav = _filled(config.nav or [], notes)
    return config


def _filled(nav: list[Any], notes: list[dict[str, str]]) -> list[Any]:
    """The navigation with the notes in their section; a section cannot be empty, so that it goes without notes."""
    entries: list[Any] = []
    for item in nav:
        if isinstance(item, dict) and PROOF_NOTES in item:
            entries += [{PROOF_NOTES: notes}] if notes else []
        elif isinstance(item, dict):
            entries.append(
                {name: _filled(below, notes) if isinstance(below, list) else below for name, below in item.items()}
            )
        else:
            entries.append(item)
    return entries


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live outside docs/."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path).parent
    for source, page in pages(root).items():
        files.append(File.generated(config, page, abs_src_path=str(root / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links written for the repository work on the site; the first page has no columns beside it."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    root = Path(config.config_file_path).parent
    outside = pages(root)
    site = page.file.src_uri
    source = next((key for key, value in outside.items() if value == site), f"docs/{site}")
    return relink(markdown, source, site, outside)
