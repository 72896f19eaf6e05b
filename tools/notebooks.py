"""Make a notebook of every script in examples/, executed from its first cell to its last.

    python tools/notebooks.py                  every script; student_project takes a quarter of an hour on one core
    python tools/notebooks.py steward student  these

``# %%`` begins a cell of code and ``# %% [markdown]`` one of text. Cells run in order in one namespace, as in Jupyter:
what is printed, the value of a last line and figures are kept with the cell. A cell that fails stops the work, and no
notebook is written. Only the standard library is used, beside what the scripts need; the result is nbformat 4.5.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MARK = "# %%"
Cell = dict[str, Any]


class CellError(Exception):
    """A cell stopped with an error; the message says which."""


def cells(script: str) -> list[tuple[str, str]]:
    """The kind, ``"markdown"`` or ``"code"``, and the source of each cell."""
    out: list[tuple[str, list[str]]] = []
    for line in script.splitlines():
        if line.startswith(MARK):
            out.append(("markdown" if "[markdown]" in line else "code", []))
        elif out:
            out[-1][1].append(line)
    return [(kind, _text(lines) if kind == "markdown" else "\n".join(lines).strip("\n")) for kind, lines in out]


def _text(lines: list[str]) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines).strip("\n")


def notebook(script: str) -> dict[str, Any]:
    """The notebook of a script, executed."""
    names: dict[str, Any] = {"__name__": "__main__"}
    out: list[Cell] = []
    for place, (kind, source) in enumerate(cells(script)):
        lines = source.splitlines(keepends=True)
        cell: Cell = {"cell_type": kind, "id": _identity(place, source), "metadata": {}, "source": lines}
        if kind == "code":
            number = 1 + sum(other["cell_type"] == "code" for other in out)
            cell |= {"execution_count": number, "outputs": run_cell(source, names, number)}
        out.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": out, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _identity(place: int, source: str) -> str:
    return hashlib.sha256(f"{place}\n{source}".encode()).hexdigest()[:12]


def run_cell(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"<cell {number}>", "exec"), names)  # noqa: S102 - our own scripts
            if last is not None:
                value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)  # noqa: S307
    except Exception as error:
        raise CellError(f"Cell {number} stopped with {type(error).__name__}: {error}") from error
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        outputs.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": shown(value)}
        )
    return outputs


def shown(value: Any) -> dict[str, str]:
    """A value as Jupyter shows it: text always, a picture of a figure, HTML where the value has it."""
    data = {"text/plain": repr(value)}
    figure = getattr(value, "figure", value)
    if hasattr(figure, "savefig"):
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=110)
        data["image/png"] = base64.b64encode(picture.getvalue()).decode()
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    return data


def main() -> None:
    """Write the notebooks that are named, or all."""
    chosen = sys.argv[1:] or sorted(path.stem for path in EXAMPLES.glob("*.py"))
    for name in chosen:
        script = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["EXAMPLES_FOLDER"] = folder
            try:
                document = notebook(script)
            except CellError as error:
                raise SystemExit(f"{name}: {error}") from error
        path = EXAMPLES / f"{name}.ipynb"
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.relative_to(EXAMPLES.parent)}: {len(document['cells'])} cells")


if __name__ == "__main__":
    main()
