"""The notebooks are those of the scripts as they are now, executed from start to end, and the tool stops at errors."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _notebook(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))
    return notebook


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_has_the_cells_of_its_script(path: Path, tool: ModuleType) -> None:
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in _notebook(path)["cells"]]
    assert cells == tool.cells(path.read_text(encoding="utf-8")), f"run python tools/notebooks.py {path.stem}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_cell_was_executed_in_order_and_none_failed(path: Path) -> None:
    notebook = _notebook(path)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert kinds <= {"stream", "execute_result"}
    assert "stream" in kinds
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


def test_the_student_project_was_executed_with_everybody_and_shows_its_figures() -> None:
    notebook = _notebook(ROOT / "examples" / "student_project.py")
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    text = "".join(output.get("text", "") for output in outputs)
    assert "39,073 people to learn from, 9,769 to test with." in text
    assert "Equal: True" in text
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2


def test_the_tool_keeps_what_is_printed_the_last_value_and_pictures(tool: ModuleType) -> None:
    figure = "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.subplots().plot([0, 1])\nfigure"
    script = (
        f"# %% [markdown]\n# # A title\n#\n# text\n\n# %%\nx = 2\nprint(x)\nx + 1\n\n# %%\n{figure}\n\n# %%\nx = 3\n"
    )
    document = tool.notebook(script)
    text, first, picture, last = document["cells"]
    assert "".join(text["source"]) == "# A title\n\ntext"
    assert [output["output_type"] for output in first["outputs"]] == ["stream", "execute_result"]
    assert first["outputs"][0]["text"] == "2\n"
    assert first["outputs"][1]["data"] == {"text/plain": "3"}
    assert "image/png" in picture["outputs"][0]["data"]
    assert last["outputs"] == []


def test_a_cell_that_fails_stops_the_tool_and_is_named(tool: ModuleType) -> None:
    with pytest.raises(tool.CellError, match="Cell 2 stopped with ZeroDivisionError"):
        tool.notebook("# %%\nx = 1\n\n# %%\nx / 0\n")


@pytest.mark.audit
def test_the_student_project_runs_with_fewer_people() -> None:
    few = {"EXAMPLES_PEOPLE": "600", "EXAMPLES_RUNS": "2", "EXAMPLES_SURVEYS": "5"}
    script = str(ROOT / "examples" / "student_project.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", script], env={**os.environ, **few}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "480 people to learn from, 120 to test with." in done.stdout
