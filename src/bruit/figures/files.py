"""Write a figure to files: one for the screen and print (SVG), one for everywhere else (PNG)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bruit import documents
from bruit.figures import style


def save(figure: Any, path: str | os.PathLike[str]) -> str:
    """Write ``path.svg`` and ``path.png``, and return the text that stands for the picture where it cannot be seen.

    The same figure gives the same bytes: no date, no random names. A file is written whole or not at all.

    Parameters
    ----------
    figure
        A matplotlib Figure, or the Axes that `plot_estimate` and `plot_beliefs` return.
    path
        Where to write. An ending .svg or .png is dropped, since both are written.

    Returns
    -------
    str
        The alternative text, also written into both files. Empty if the figure was not drawn by bruit.

    Examples
    --------
    >>> import bruit, tempfile
    >>> from bruit.figures import plot_beliefs, save
    >>> ax = plot_beliefs([bruit.Guarantee(epsilon=1.0, neighbours="value")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     alt = save(ax, f"{folder}/beliefs")
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['beliefs.png', 'beliefs.svg']
    >>> alt[:52]
    'Curves of the greatest belief that somebody can hold'
    """
    drawn = style.whole(figure)
    image, text = style.png(drawn), style.svg(drawn)
    with documents.replacing(_name(path, ".png")) as partial:
        partial.write_bytes(image)
    documents.write_text(_name(path, ".svg"), text)
    return style.description(drawn)


def _name(path: str | os.PathLike[str], ending: str) -> Path:
    given = Path(path)
    stem = given.stem if given.suffix.lower() in (".svg", ".png") else given.name
    return given.with_name(stem + ending)
