"""`import bruit` stays light: what is heavy is loaded by the call that needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "jinja2",
    "markupsafe",
    "pyspark",
    "scipy.stats",
    "sklearn",
    "xgboost",
    "bruit_studies",
)

PROBE = """
import sys
{code}
print("LOADED", *[name for name in {heavy!r} if name in sys.modules])
"""

COMMAND = """
import contextlib, io
sys.argv = ["bruit", *{words!r}]
from bruit.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, stop.code
"""


def loaded_by(code: str, heavy: tuple[str, ...] = HEAVY) -> list[str]:
    """The heavy modules that a new interpreter has loaded after running `code`."""
    probe = PROBE.format(code=code, heavy=heavy)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", probe],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()[-1].split()[1:]


def test_importing_bruit_loads_nothing_heavy() -> None:
    assert loaded_by("import bruit") == []


def test_importing_what_makes_pages_loads_jinja2_with_the_first_page() -> None:
    assert loaded_by("import bruit.pages, bruit.survey, bruit.sheets") == []
    page = "from bruit import pages; pages.render(pages.Page('title'))"
    assert loaded_by(page, ("jinja2", "markupsafe")) == ["jinja2", "markupsafe"]


def test_looking_at_the_names_of_bruit_loads_nothing_heavy() -> None:
    assert loaded_by("import bruit; dir(bruit); bruit.__all__; bruit.__version__") == []


def test_a_guarantee_and_a_schema_need_nothing_heavy() -> None:
    assert loaded_by("import bruit; bruit.Guarantee; bruit.Schema; bruit.Grid; bruit.Entropy") == []


def test_a_plan_is_made_without_scipy_which_estimates_load() -> None:
    assert loaded_by("import bruit; bruit.Plan({'smokes': ['no', 'yes']}, 1.0).guarantee", ("scipy", "numba")) == []


def test_the_probe_reports_a_heavy_module_that_is_loaded() -> None:
    assert loaded_by("import bruit, pyarrow") == ["pyarrow"]
    assert loaded_by("import email.charset", ("email.charset", "email.mime")) == ["email.charset"]
    assert loaded_by(COMMAND.format(words=["study", "list"]), ("bruit_studies", "sklearn")) == ["bruit_studies"]


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_line_says_who_it_is_without_loading_anything_heavy(option: str) -> None:
    # Nor NumPy, which would be most of the time that it takes.
    assert loaded_by(COMMAND.format(words=[option]), (*HEAVY, "numpy", "scipy", "cryptography", "rich")) == []


def test_a_small_file_becomes_reports_and_an_estimate_without_the_compiler_or_pandas(tmp_path: Path) -> None:
    # Loading these two would take longer than all the rest.
    table, reports = tmp_path / "answers.csv", str(tmp_path / "reports.parquet")
    table.write_text("smokes,age\n" + "no,17\nyes,44\n" * 50, encoding="utf-8")
    privatize = ["privatize", str(table), "smokes=no,yes", "--epsilon", "1", "-o", reports]
    heavy = ("numba", "pandas", "scipy.stats", "bruit_studies")
    assert loaded_by(COMMAND.format(words=privatize), (*heavy, "scipy", "rich.progress")) == []
    assert loaded_by(COMMAND.format(words=["estimate", reports]), heavy) == []
