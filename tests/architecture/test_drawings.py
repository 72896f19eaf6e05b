"""The explanatory pictures of the documentation are what tools/drawings.py draws, and are readable everywhere."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from types import ModuleType

import pytest
from sources import ROOT

FIGURES = ROOT / "docs" / "figures"
NAMES = ("local_and_central", "warner_tree", "rsfd_attack", "memo_and_rounds", "ledger", "survey_layers")
_SVG = "{http://www.w3.org/2000/svg}"


def _drawings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("drawings", ROOT / "tools" / "drawings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_draws_every_picture_of_the_list() -> None:
    assert tuple(_drawings().DRAWINGS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_what_the_script_draws(name: str) -> None:
    drawn = _drawings().DRAWINGS[name]()
    assert (FIGURES / f"{name}.svg").read_text(encoding="utf-8") == drawn, "run python tools/drawings.py"


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_has_a_title_a_description_and_both_colour_schemes(name: str) -> None:
    root = ElementTree.fromstring((FIGURES / f"{name}.svg").read_text(encoding="utf-8"))
    assert len((root.findtext(f"{_SVG}title") or "").split()) >= 3
    assert len((root.findtext(f"{_SVG}desc") or "").split()) >= 20
    assert "prefers-color-scheme:dark" in (root.findtext(f"{_SVG}style") or "")


def _contrast(first: str, second: str) -> float:
    """The contrast of two colours, as the WCAG define it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lower, higher = sorted((luminance(first), luminance(second)))
    return (higher + 0.05) / (lower + 0.05)


@pytest.mark.parametrize("scheme", ["_LIGHT", "_DARK"])
def test_letters_stand_out_from_every_background(scheme: str) -> None:
    colours = {
        name: dict(re.findall(r"(fill|stroke):(#\w{6})", style)) for name, style in getattr(_drawings(), scheme).items()
    }
    boxes = [colours[name]["fill"] for name in ("card", "plain", "true", "chance", "seen")]
    assert all(_contrast(colours["ink"]["fill"], box) >= 7 for box in boxes)
    assert all(_contrast(colours[name]["fill"], colours["card"]["fill"]) >= 4.5 for name in ("faint", "bad"))
    assert _contrast("#777777", "#888888") < 4.5


@pytest.mark.parametrize("name", NAMES)
def test_letters_are_at_least_eleven_pixels_high_on_a_telephone(name: str) -> None:
    text = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
    sizes = [float(size) for size in re.findall(r"(?:font:|font-size:)([\d.]+)px", text)]
    width = float(re.search(r'viewBox="0 0 (\d+)', text)[1])  # type: ignore[index]
    assert sizes
    assert min(sizes) * 350 / width >= 10.9
