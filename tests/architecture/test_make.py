"""The targets of make, what they run, and the workflows that call them exist."""

from __future__ import annotations

import json
import re
import runpy
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
