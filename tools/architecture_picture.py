"""Draw docs/figures/six_layers.svg: the packages in six layers, and three walks through them.

Layers and their order are those of docs/internals/design.md. A walk is a list of packages; a test holds that each is
imported by one before it. Run ``python tools/architecture_picture.py`` after a package came or went; a test compares
the file with what this draws.
"""

from __future__ import annotations

import ast
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
PAGE = ROOT / "docs" / "internals" / "design.md"
PICTURE = ROOT / "docs" / "figures" / "six_layers.svg"

#: Functions that may load a package above their own, when they are called.
UPWARD = {"plot"}
#: What each layer is for, from the top.
SUBTITLES = {
    "commands": "what you type",
    "applications": "surveys, models",
    "designs": "plans and releases",
    "mechanisms": "local noise",
    "data": "reading and counting",
    "foundations": "noise, budgets",
}
#: Where packages stand: rows of four places; a package in two places is that wide.
PLACES = {
    "commands": ["cli bruit_studies publications figures", ". testing . ."],
    "applications": ["survey collector analysis learning", "sheets datasets audit attacks"],
    "designs": ["collection collection releases releases"],
    "mechanisms": ["oracles numbers open_answers open_answers", "mechanism randomizer . ."],
    "data": ["estimation domains engines engines", "cards . . ."],
    "foundations": [
        "laws kernels privacy privacy",
        "entropy pages tables documents",
        "rounding registry referrals referrals",
        "_checks _checks errors errors",
    ],
}


class Walk(NamedTuple):
    """A way down through the layers: the line on which it runs, its colour, and the packages at which it stops."""

    name: str
    x: int
    colour: str
    stops: tuple[str, ...]


WALKS = (
    Walk("Ask", 24, "#b3541e", ("cli", "survey", "collection", "oracles", "estimation", "laws")),
    Walk("Publish", 282, "#1f6f5c", ("publications", "releases", "engines", "privacy")),
    Walk("Learn", 540, "#5b4a9e", ("learning", "releases", "engines", "privacy")),
)
WIDTH, TOP, TITLE, ROW, HEIGHT, GAP = 564, 52, 34, 40, 32, 14
#: The left edges of the four places, and their width.
LEFT, PLACE = (46, 156, 304, 414), 104


def layers() -> dict[str, list[list[str]]]:
    """The rows of packages of each layer in the order of the page, the lowest first."""
    text = PAGE.read_text(encoding="utf-8").split("## Layers", 1)[1]
    block = re.search(r"```text\n(.*?)```", text, flags=re.DOTALL)
    if block is None:
        raise SystemExit("docs/internals/design.md has no block with the order of the layers.")
    lines = [line.partition(":") for line in block[1].splitlines() if line.strip()]
    return {
        name.strip(): [[package.strip() for package in row.split("·")] for row in rest.split("→")]
        for name, _, rest in lines
    }


def rows() -> list[list[str]]:
    """The packages in the order of the page, the lowest first; those of a row do not import each other."""
    return [row for group in layers().values() for row in group]


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


def about() -> dict[str, str]:
    """What the page says is in each package."""
    text = PAGE.read_text(encoding="utf-8")
    return {name: what.strip() for name, what in re.findall(r"^\| `([\w]+)` \| (.+?) \|$", text, flags=re.MULTILINE)}


class Box(NamedTuple):
    """Where a package is drawn."""

    x: float
    y: float
    width: float


def boxes() -> tuple[dict[str, Box], dict[str, float], float]:
    """The box of every package, the top of every layer, and the height of it all."""
    places: dict[str, Box] = {}
    tops: dict[str, float] = {}
    y: float = TOP
    for layer, lines in PLACES.items():
        tops[layer] = y
        for rank, line in enumerate(lines):
            names = line.split()
            for name in dict.fromkeys(names):
                columns = [place for place, there in enumerate(names) if there == name]
                width = LEFT[columns[-1]] + PLACE - LEFT[columns[0]]
                places[name] = Box(LEFT[columns[0]], y + TITLE + ROW * rank, width)
        y += TITLE + ROW * len(lines) + GAP
    del places["."]
    return places, tops, y


def picture() -> str:
    """The picture as text."""
    places, tops, height = boxes()
    words = about()
    listed = "; ".join(f"{layer}: {', '.join(dict.fromkeys(' '.join(PLACES[layer]).split()))}" for layer in PLACES)
    walks = " ".join(f"{walk.name} stops at {', '.join(walk.stops)}." for walk in WALKS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        'aria-labelledby="title what" font-family="system-ui, sans-serif" font-size="15">',
        '<title id="title">The six layers of bruit, and three walks down through them</title>',
        f'<desc id="what">From top to bottom: {escape(listed.replace("., ", ""))}. {walks}</desc>',
        f'<rect width="{WIDTH}" height="{height:g}" rx="8" fill="#ffffff"/>',
    ]
    parts += [_band(layer, y, len(PLACES[layer])) for layer, y in tops.items()]
    parts += [_line(walk, places) for walk in WALKS]
    stops = {name for walk in WALKS for name in walk.stops}
    parts += [_box(name, box, words.get(name, ""), name in stops) for name, box in places.items()]
    parts += [_sign(walk) for walk in WALKS]
    return "\n".join([*parts, "</svg>", ""])


def _band(layer: str, y: float, count: int) -> str:
    height = TITLE + ROW * count
    return (
        f'<rect x="36" y="{y:g}" width="{WIDTH - 72}" height="{height}" rx="8" fill="#f1f4f6"/>'
        f'<text x="46" y="{y + 22:g}" fill="#102a43"><tspan font-weight="600">{layer.capitalize()}</tspan>'
        f'<tspan fill="#486072" dx="8" font-size="14">{escape(SUBTITLES[layer])}</tspan></text>'
    )


def _line(walk: Walk, places: dict[str, Box]) -> str:
    heights = [places[name].y + HEIGHT / 2 for name in walk.stops]
    parts = [
        f'<path d="M{walk.x},{TOP - 14} V{heights[-1]:g}" stroke="{walk.colour}" stroke-width="4" fill="none" '
        'stroke-linecap="round"/>'
    ]
    for name, y in zip(walk.stops, heights, strict=True):
        box = places[name]
        edge = box.x if box.x > walk.x else box.x + box.width
        parts.append(f'<path d="M{walk.x},{y:g} H{edge:g}" stroke="{walk.colour}" stroke-width="4" fill="none"/>')
        parts.append(f'<circle cx="{walk.x}" cy="{y:g}" r="6" fill="#ffffff" stroke="{walk.colour}" stroke-width="3"/>')
    return "".join(parts)


def _sign(walk: Walk) -> str:
    width = 24 + 9 * len(walk.name)
    left = min(max(walk.x - width / 2, 8), WIDTH - width - 8)
    return (
        f'<rect x="{left:g}" y="10" width="{width}" height="28" rx="14" fill="{walk.colour}"/>'
        f'<text x="{left + width / 2:g}" y="29" text-anchor="middle" fill="#ffffff" font-weight="600">'
        f"{walk.name}</text>"
    )


def _box(name: str, box: Box, what: str, is_stop: bool) -> str:
    stroke, width = ("#102a43", 1.6) if is_stop else ("#9fb1bf", 1)
    shape = f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{HEIGHT}" rx="6"'
    weight = ' font-weight="600" font-size="14"' if is_stop else ""
    middle = box.x + box.width / 2
    text = f'<text x="{middle:g}" y="{box.y + 21:g}" text-anchor="middle" fill="#102a43"{weight}>{name}</text>'
    return (
        f'<g><title>{escape(what)}</title>{shape} fill="#ffffff" stroke="{stroke}" stroke-width="{width}"/>{text}</g>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
