"""Write a figure to files: one for the screen and print (SVG), one for everywhere else (PNG), one for LaTeX (PDF)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bruit import _checks, documents
from bruit.figures import style


def save(figure: Any, path: str | os.PathLike[str], *, endings: Iterable[str] = (".png", ".svg")) -> str:
    """Write ``path.svg`` and ``path.png``, and return the text that stands for the picture where it cannot be seen.

    The same figure gives the same bytes: no date, no random names. A file is written whole or not at all.

    Parameters
    ----------
    figure
        A matplotlib Figure, or the Axes that `plot_estimate` and `plot_beliefs` return.
    path
        Where to write. An ending .svg, .png or .pdf is dropped, since several are written.
    endings
        Which to write: .png and .svg by default; .pdf too.

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
    makers = {".png": style.png, ".svg": lambda drawing: style.svg(drawing).encode(), ".pdf": style.pdf}
    wanted = [_checks.one_of(makers, ending=ending) for ending in endings]
    files = {ending: makers[ending](drawn) for ending in wanted}
    for ending, content in files.items():
        with documents.replacing(_name(path, ending)) as partial:
            partial.write_bytes(content)
    return style.description(drawn)


def _name(path: str | os.PathLike[str], ending: str) -> Path:
    target = Path(path)
    stem = target.stem if target.suffix.lower() in (".svg", ".png", ".pdf") else target.name
    return target.with_name(stem + ending)
