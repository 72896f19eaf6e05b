"""The studies are installed with the library, which knows them by entry points alone.

That no module of the library imports them is held by `test_layers`.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Iterable, Mapping
from importlib import metadata

import pytest
from sources import ROOT, SOURCES

from bruit.cli import installed

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def faults(declared: Mapping[str, str], present: Iterable[metadata.EntryPoint]) -> list[str]:
    """What is wrong with the commands of the studies: undeclared, not installed as declared, or without a target."""
    values = {point.name: point.value for point in present}
    problems = [f"{name} is not declared" for name in sorted(installed.STUDIES.keys() - declared.keys())]
    for name, value in declared.items():
        if values.get(name) != value:
            problems.append(f"{name} is not installed as {value}: install bruit again, or make clean")
        try:
            metadata.EntryPoint(name, value, installed.GROUP).load()
        except (ImportError, AttributeError):
            problems.append(f"{name} leads to {value}, which is not there")
    return problems


DECLARED: dict[str, str] = PROJECT["project"]["entry-points"][installed.GROUP]


def test_the_entry_points_of_the_studies_are_installed_and_resolve() -> None:
    assert faults(DECLARED, metadata.entry_points(group=installed.GROUP)) == []
    assert all(value.startswith("bruit_studies.") for value in DECLARED.values())


@pytest.mark.parametrize(
    ("declared", "present", "complaint"),
    [
        ({"tour": DECLARED["tour"]}, DECLARED, "study is not declared"),
        (DECLARED, {"tour": DECLARED["tour"]}, "study is not installed"),
        (DECLARED, {**DECLARED, "study": "bruit.cli.study:app"}, "study is not installed"),
        ({**DECLARED, "study": "bruit_studies.no_such:app"}, DECLARED, "study leads to"),
        ({**DECLARED, "tour": "bruit_studies.cli.tour:no_such"}, DECLARED, "tour leads to"),
    ],
)
def test_the_checker_flags_a_planted_violation(
    declared: dict[str, str], present: dict[str, str], complaint: str
) -> None:
    points = [metadata.EntryPoint(name, value, installed.GROUP) for name, value in present.items()]
    assert any(line.startswith(complaint) for line in faults(declared, points))


def test_both_packages_are_in_the_wheel_and_are_all_that_is_there() -> None:
    packages = {f"src/{path.parent.name}" for path in SOURCES.glob("*/__init__.py")}
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == packages
    assert set(PROJECT["tool"]["mypy"]["files"]) == packages
    for path in packages:
        importlib.import_module(path.removeprefix("src/"))
