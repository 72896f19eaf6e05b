"""The targets of make, what they run, and the workflows that call them exist."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))


def test_every_target_has_its_line_of_help_and_is_phony() -> None:
    helped = set(re.findall(r"^([a-z-]+):.*##", MAKEFILE, flags=re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)
    assert phony is not None
    assert helped == TARGETS == set(phony[1].split())


def test_what_the_chosen_halves_name_is_there() -> None:
    for name in ("MINIMAL", "OLDEST"):
        listed = re.search(rf"^{name} := ((?:.*\\\n)*.*)$", MAKEFILE, flags=re.MULTILINE)
        assert listed is not None
        paths = listed[1].replace("\\\n", " ").split()
        assert len(paths) > 10
        assert [path for path in paths if not (ROOT / path).exists()] == []


def test_workflows_call_targets_that_exist() -> None:
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        matrix = re.search(r"target: \[(.*)]", text)
        called = set(re.findall(r"run: make ([a-z-]+)", text)) | set(matrix[1].split(", ") if matrix else [])
        assert called
        assert called <= TARGETS, path.name


def test_every_dependency_has_a_lowest_version() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "floors.py"))
    floors = tool["floors"](tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    assert {"numpy", "scipy", "pyarrow", "scikit-learn", "starlette"} <= set(floors)


def test_the_versions_of_python_that_are_tried_are_those_that_are_declared() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    tried = re.search(r"python: \[(.*)]", (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    assert tried is not None
    assert [version.strip('"') for version in tried[1].split(", ")] == declared


#: Pythons that cannot make an environment: what `PYTHON -c` and `PYTHON -m venv FOLDER` do in each of them.
BROKEN = {
    "Debian's without python3-venv": (
        'case "$1 $2" in "-c "*ensurepip*) exit 1;; "-m venv") mkdir -p "$3/bin"; exit 1;; esac',
        "Python cannot make environments: on Debian, sudo apt install python3-venv.",
    ),
    "one whose environments fail half-way": (
        'case "$1 $2" in "-m venv") mkdir -p "$3/bin"; exit 1;; esac',
        "Python cannot make environments: on Debian, sudo apt install python3-venv.",
    ),
    "an old one": ('case "$2" in *version_info*) exit 1;; esac', "bruit needs Python 3.11 or newer"),
    "none": ("exit 127", "Python was not found"),
}


def run_make(folder: Path, script: str, target: str) -> subprocess.CompletedProcess[str]:
    """Make a target in a folder that has nothing but pyproject.toml, with a Python that is this script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    shutil.copy(ROOT / "pyproject.toml", folder)
    command = ["make", "--no-print-directory", "-f", str(ROOT / "Makefile"), f"PYTHON={python}", target]
    # Without the options of a make that runs these tests.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("target", ["tour", "test-oldest", "test-minimal", ".venvs/spark/.ready"])
@pytest.mark.parametrize("broken", BROKEN)
def test_a_python_that_cannot_make_environments_is_told_plainly_and_leaves_none(
    broken: str, target: str, tmp_path: Path
) -> None:
    script, message = BROKEN[broken]
    run = run_make(tmp_path, script, target)
    assert run.returncode != 0
    assert message in run.stderr
    assert sorted(path.name for path in tmp_path.rglob("*") if path.name != ".venvs") == ["pyproject.toml", "python"]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_an_environment_that_was_there_before_survives_a_python_that_fails(tmp_path: Path) -> None:
    kept = tmp_path / ".venv" / "kept"
    kept.parent.mkdir()
    kept.touch()
    assert run_make(tmp_path, BROKEN["one whose environments fail half-way"][0], "tour").returncode != 0
    assert kept.exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_python_that_can_make_environments_gets_to_install(tmp_path: Path) -> None:
    # The control: the same checks let a good Python through, up to pip, which this environment does not have.
    script = f'''case "$1" in -m) mkdir -p "$3/bin"; exit 0;; esac; exec "{sys.executable}" "$@"'''
    run = run_make(tmp_path, script, "tour")
    assert run.returncode != 0
    assert "-m pip install" in run.stdout
    assert "Python" not in run.stderr


def _verdict(code: int, out: str, err: str = "") -> tuple[int, str]:
    tool = runpy.run_path(str(ROOT / "tools" / "audit_dependencies.py"))
    ended, lines = tool["verdict"](code, out, err)
    return ended, "\n".join(lines)


KNOWN = {"name": "numpy", "version": "2.0.0", "vulns": []}
UNKNOWN = {"name": "own", "skip_reason": "Dependency not found on PyPI and could not be audited: own (1.0)"}
FINDING = {"id": "PYSEC-2026-1", "fix_versions": ["1.1"], "aliases": [], "description": "…"}


def test_an_audit_of_dependencies_ends_with_findings_and_only_with_them() -> None:
    clear = json.dumps({"dependencies": [KNOWN, UNKNOWN]})
    assert _verdict(0, clear)[0] == 0
    assert "not checked, because the service does not know them: own" in _verdict(0, clear)[1]
    bad = json.dumps({"dependencies": [KNOWN, {"name": "scipy", "version": "1.0", "vulns": [FINDING]}]})
    code, said = _verdict(1, bad)
    assert code == 1
    assert "scipy 1.0: PYSEC-2026-1, mended in 1.1" in said


@pytest.mark.parametrize(
    ("out", "err"),
    [
        ("", "ERROR:pip_audit._cli:Failed to connect to PyPI"),
        ("", "requests.exceptions.ConnectionError: HTTPSConnectionPool: Max retries exceeded with url: /pypi/numpy"),
        (json.dumps({"dependencies": [UNKNOWN, UNKNOWN]}), "No known vulnerabilities found"),
        (json.dumps({"dependencies": []}), ""),
    ],
)
def test_an_audit_of_dependencies_that_could_ask_nobody_says_not_run(out: str, err: str) -> None:
    code, said = _verdict(0 if out else 1, out, err)
    assert code == 0
    assert said.startswith("not run: ")
    assert "0 with known" not in said


def test_an_audit_of_dependencies_that_breaks_is_no_success() -> None:
    assert _verdict(1, "", "TypeError: a defect")[0] == 1
    assert _verdict(0, "half a docum", "TypeError: a defect")[0] != 0
