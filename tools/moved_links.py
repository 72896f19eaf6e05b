"""Rewrite links to old addresses by docs/moved.tsv, in every Markdown file of the repository.

Run ``python tools/moved_links.py`` after a page moved and its old address stands in the table. A link that leads
somewhere is left alone.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from pathlib import Path

from site_hooks import moves

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(?<=\]\()([^)\s]+\.md)(#[^)\s]*)?(?=[)\s])")


def relinked(text: str, source: str, moved: dict[str, str], files: set[str]) -> str:
    """The text of a file with its old links replaced; all addresses are from the top of the repository."""

    def replace(match: re.Match[str]) -> str:
        link, anchor = match[1], match[2] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        old = target.removeprefix("docs/")
        if "://" in link or target in files or old == target or old not in moved:
            return match[0]
        new = moved.get(old + anchor, moved[old])
        return posixpath.relpath(f"docs/{new}", posixpath.dirname(source) or ".")

    return _LINK.sub(replace, text)


def main() -> None:
    """Rewrite the files that git knows."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")  # noqa: S607
    files = {name for name in names if (ROOT / name).exists()}
    moved = moves(ROOT)
    for name in sorted(name for name in files if name.endswith(".md")):
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        changed = relinked(text, name, moved, files)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
