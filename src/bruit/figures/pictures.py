"""A plot as a picture of a page, in colours that follow the page's light or dark."""

from __future__ import annotations

from typing import Any

from bruit.figures import style
from bruit.pages import Picture

#: Colours of the house style and the CSS variables of a page that take their place.
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


def picture(figure: Any) -> Picture:
    """The picture of a figure, or of Axes, that bruit drew.

    Parameters
    ----------
    figure
        The figure or the Axes.
    """
    drawn = style.whole(figure)
    text = style.svg(drawn)
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    return Picture(svg=text, alt=style.description(drawn))
