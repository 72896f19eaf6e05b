"""Print constraints for pip: of every dependency the lowest version that pyproject.toml declares.

``make test-oldest`` installs with these. A dependency without a lowest version is an error: nobody knows what it needs.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(?P<extras>\[[^]]*])?>=(?P<version>[0-9][0-9.]*)(,<[0-9.]+)?")


def floors(project: dict[str, object], *, leave_out: tuple[str, ...] = ("spark",)) -> dict[str, str]:
    """The lowest version of each dependency of the package and of its extras; Spark has an environment of its own."""
    about: dict[str, object] = project["project"]  # type: ignore[assignment]
    extras: dict[str, list[str]] = about["optional-dependencies"]  # type: ignore[assignment]
    requirements: list[str] = list(about["dependencies"])  # type: ignore[call-overload]
    requirements += [item for name, items in extras.items() if name not in leave_out for item in items]
    versions: dict[str, str] = {}
    for requirement in requirements:
        if requirement.startswith("bruit["):
            continue
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None:
            sys.exit(f"{requirement} has no lowest version in pyproject.toml.")
        if versions.setdefault(match["name"], match["version"]) != match["version"]:
            sys.exit(f"{match['name']} has two lowest versions in pyproject.toml.")
    return versions


if __name__ == "__main__":
    for name, version in floors(tomllib.loads(PROJECT.read_text(encoding="utf-8"))).items():
        print(f"{name}=={version}")
