"""Draw docs/figures/architecture.svg: the packages in the order of docs/design.md, and what imports what.

Rows and their order are those of the page; lines are the imports of the source, without those that follow from others.
Run ``python tools/architecture_picture.py`` after a package or an import between packages changed; a test compares the
file with what this draws.
"""

from __future__ import annotations

import ast
import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
PAGE = ROOT / "docs" / "design.md"
PICTURE = ROOT / "docs" / "figures" / "architecture.svg"

WIDTH, ROW, BOX, HEIGHT, TOP = 760, 62, 104, 34, 16
#: Functions that may load a package above their own, when they are called.
UPWARD = {"plot"}


def rows() -> list[list[str]]:
    """The packages in the order of the page, the lowest first."""
    text = PAGE.read_text(encoding="utf-8").split("## Layers", 1)[1]
    block = re.search(r"```text\n(.*?)```", text, flags=re.DOTALL)
    if block is None:
        raise SystemExit("docs/design.md has no block with the order of the layers.")
    return [[name.strip() for name in row.split("·")] for row in re.sub(r"\s+", " ", block[1]).split("→")]


def edges(packages: set[str]) -> set[tuple[str, str]]:
    """Which package imports which, wherever the statement stands, but for what points up by exception."""
    pairs = set()
    for path in sorted(SOURCES.rglob("*.py")):
        first, second = path.relative_to(SOURCES).parts[:2]
        package = second.removesuffix(".py") if first == "bruit" else first
        if package in packages:
            pairs |= {(package, target) for target in _targets(ast.parse(path.read_text(encoding="utf-8")), packages)}
    return {(package, target) for package, target in pairs if package != target}


def _targets(tree: ast.AST, packages: set[str]) -> set[str]:
    targets: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name in UPWARD:
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        parts = [name.split(".") for name in names if name.startswith("bruit.")]
        targets |= {part[1] for part in parts if part[1] in packages} | _targets(node, packages)
    return targets


def reduced(pairs: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The imports that do not follow from a chain of others."""

    def reaches(start: str, goal: str, left_out: tuple[str, str]) -> bool:
        seen, stack = set(), [start]
        while stack:
            here = stack.pop()
            for package, target in pairs:
                if package == here and (package, target) != left_out and target not in seen:
                    if target == goal:
                        return True
                    seen.add(target)
                    stack.append(target)
        return False

    return sorted(pair for pair in pairs if not reaches(pair[0], pair[1], pair))


def about() -> dict[str, str]:
    """What the page says is in each package."""
    text = PAGE.read_text(encoding="utf-8")
    return {name: what.strip() for name, what in re.findall(r"^\| `([\w]+)` \| (.+?) \|$", text, flags=re.MULTILINE)}


def picture() -> str:
    """The picture as text."""
    layers = rows()
    packages = {name for row in layers for name in row}
    shown, words = reduced(edges(packages)), about()
    height = ROW * len(layers) + 2 * TOP
    places: dict[str, tuple[float, float]] = {}
    for rank, row in enumerate(layers):
        for place, name in enumerate(row):
            # Rows are shifted against each other, so that few lines pass behind a box.
            shift = (rank * 0.382 % 1 - 0.5) * (WIDTH - BOX * (len(row) + 1)) / (len(row) + 0.5)
            x = WIDTH * (place + 1) / (len(row) + 1) + shift
            places[name] = round(x, 1), height - TOP - ROW * (rank + 0.5)
    listed = "; ".join(" and ".join(row) for row in reversed(layers))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        'aria-labelledby="title what" font-family="system-ui, sans-serif" font-size="14">',
        '<title id="title">The packages of bruit: lines lead down from a package to those that it imports</title>',
        f'<desc id="what">From top to bottom: {escape(listed)}. Imports that follow from others are left out.</desc>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#37566f"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>',
    ]
    parts += [_line(*places[package], *places[target]) for package, target in shown]
    parts += [_box(name, *places[name], words.get(name, "")) for row in layers for name in row]
    return "\n".join([*parts, "</svg>", ""])


def _line(x: float, y: float, below: float, bottom: float) -> str:
    start, end = y + HEIGHT / 2, bottom - HEIGHT / 2
    bend = min(60.0, (end - start) / 2)
    curve = f"M{x:g},{start:g} C{x:g},{start + bend:g} {below:g},{end - bend:g} {below:g},{end:g}"
    return f'<path d="{curve}" fill="none" stroke="#5b7083" stroke-width="1.3" opacity="0.8" marker-end="url(#tip)"/>'


def _box(name: str, x: float, y: float, what: str) -> str:
    shape = f'<rect x="{x - BOX / 2:g}" y="{y - HEIGHT / 2:g}" width="{BOX}" height="{HEIGHT}" rx="6"'
    text = f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" fill="#102a43">{name}</text>'
    return f'<g><title>{escape(what)}</title>{shape} fill="#e8f0f6" stroke="#37566f"/>{text}</g>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
