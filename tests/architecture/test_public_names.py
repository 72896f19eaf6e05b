"""Every public name resolves, is explained, and has one documented home.

The home of a name is the page of its package in docs/reference, where one line
``::: bruit.package.Name`` stands for it; that of the studies has ``::: bruit_studies.Name``. The
names that `bruit` itself offers are shortcuts to those, listed on docs/reference/api/index.md.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sources import ROOT, SOURCE, sources

import bruit

REFERENCE = ROOT / "docs" / "reference" / "api"

#: What a newcomer needs. A name is added here on purpose, with its line in docs/reference/api/index.md.
FACE = [
    "__version__",
    "Attribute",
    "BruitError",
    "Categories",
    "Dates",
    "Entropy",
    "Estimate",
    "Grid",
    "Guarantee",
    "Ledger",
    "Plan",
    "Schema",
    "Tally",
    "audit",
    "choose",
    "compare",
    "datasets",
    "numbers",
    "oracle",
    "panel",
    "people_needed",
    "publish",
    "register",
    "release",
    "releases",
    "testing",
]

#: Packages that are not an API, with the reason; everything else has a page of its own.
INTERNAL = {
    "_checks": "one wording for bad parameters",
    "_renamed": "old names, until the next version",
    "referrals": "answers to names of the literature that stand for nothing here",
    "kernels": "arithmetic on arrays, reached through the mechanisms",
    "cli": "its pages are docs/reference/cli.md and `bruit --help`",
}


def _packages() -> list[str]:
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    return sorted(folders | modules | {"studies"})


def _dotted(package: str) -> str:
    """The full name of a package by the name of its page."""
    return "bruit_studies" if package == "studies" else f"bruit.{package}"


PUBLIC = [name for name in _packages() if name not in INTERNAL]


def _module(package: str) -> ModuleType:
    return importlib.import_module(_dotted(package))


def _names(module: ModuleType) -> list[str]:
    """`__all__`, or for a plain module what it defines without an underscore."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, item in vars(module).items()
        if not name.startswith("_") and getattr(item, "__module__", None) == module.__name__
    ]


PUBLIC_NAMES = [(package, name) for package in PUBLIC for name in _names(_module(package))]


def _below(package: str) -> set[str]:
    """The names of the packages within a package that it does not give itself; they are on its page."""
    module = _module(package)
    inner = [item.name for item in pkgutil.iter_modules(getattr(module, "__path__", [])) if item.ispkg]
    return {
        f"{_dotted(package)}.{name}.{part}"
        for name in inner
        for part in getattr(importlib.import_module(f"{_dotted(package)}.{name}"), "__all__", ())
        if part not in module.__all__
    }


def _entries(page: Path) -> list[str]:
    """The dotted names that a reference page documents."""
    return re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_public_face_is_this_list() -> None:
    assert sorted(bruit.__all__) == sorted(FACE)


def test_a_name_of_the_face_resolves_and_is_listed_by_dir() -> None:
    assert [name for name in FACE if getattr(bruit, name, None) is None] == []
    assert set(FACE) <= set(dir(bruit))


@pytest.mark.parametrize("name", FACE)
def test_a_name_of_the_face_is_a_shortcut_to_one_documented_name(name: str) -> None:
    item = getattr(bruit, name)
    if isinstance(item, ModuleType):
        assert name in PUBLIC
    elif not name.startswith("__"):
        homes = [package for package, other in PUBLIC_NAMES if other == name]
        assert [getattr(_module(home), name) is item for home in homes] == [True]


def test_a_name_of_the_face_stands_on_the_first_page_of_the_reference() -> None:
    page = (REFERENCE / "index.md").read_text(encoding="utf-8")
    names = [name for name in FACE if not name.startswith("__")]
    assert [name for name in names if f"`bruit.{name}`" not in page] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        bruit.no_such_name  # noqa: B018


def test_the_old_name_of_the_studies_is_refused_with_the_new_one() -> None:
    with pytest.raises(ImportError, match=r"bruit\.studies is bruit_studies now"):
        bruit.studies  # noqa: B018
    with pytest.raises(ImportError, match=r"bruit\.studies is bruit_studies now"):
        from bruit import studies  # noqa: F401
    assert "studies" not in dir(bruit)


@pytest.mark.parametrize("package", _packages())
def test_a_folder_states_its_public_names(package: str) -> None:
    module = _module(package)
    if hasattr(module, "__path__") and package not in INTERNAL:
        assert module.__all__, "an API package needs __all__"


def test_a_public_name_resolves_and_is_explained() -> None:
    faults = []
    for package, name in PUBLIC_NAMES:
        item = getattr(_module(package), name)
        if inspect.isclass(item) or inspect.isroutine(item) or inspect.ismodule(item):
            fault = "" if _own_docstring(item) else "docstring"
        else:
            fault = "" if _is_explained_in_source(package, name) else "#: comment"
        if fault:
            faults.append(f"{_dotted(package)}.{name} has no {fault}")
    assert faults == []


@pytest.mark.parametrize("package", PUBLIC)
def test_a_package_has_a_page_that_documents_exactly_its_names(package: str) -> None:
    wanted = {f"{_dotted(package)}.{name}" for name in _names(_module(package))} | _below(package)
    found = _entries(REFERENCE / f"{package}.md")
    assert sorted(found) == sorted(set(found)), "a name is documented twice"
    missing, stale = wanted - set(found), set(found) - wanted
    assert not missing, "add to docs/reference: " + ", ".join(sorted(missing))
    assert not stale, "remove from docs/reference: " + ", ".join(sorted(stale))


def test_no_object_is_documented_under_two_names() -> None:
    homes: dict[int, list[str]] = {}
    for package, name in PUBLIC_NAMES:
        item = getattr(_module(package), name)
        if inspect.isclass(item) or inspect.isroutine(item):
            homes.setdefault(id(item), []).append(f"{_dotted(package)}.{name}")
    assert [names for names in homes.values() if len(names) > 1] == []


def test_no_reference_page_is_left_without_its_package() -> None:
    pages = {page.stem for page in REFERENCE.glob("*.md")}
    assert pages == {*PUBLIC, "index"}


def test_a_module_says_what_it_is() -> None:
    assert [source.name for source in sources() if not ast.get_docstring(source.tree)] == []


def test_the_package_ships_its_types() -> None:
    for package in ("bruit", "bruit_studies"):
        assert resources.files(package).joinpath("py.typed").is_file()


def _own_docstring(item: Any) -> str:
    """The docstring written for `item`, not one inherited or made by the dataclass decorator."""
    text = item.__dict__.get("__doc__") if inspect.isclass(item) else item.__doc__
    return "" if text is None or text.startswith(f"{item.__name__}(") else text.strip()


def _is_explained_in_source(package: str, name: str) -> bool:
    """Whether a constant or type alias has a ``#:`` comment above it or a string below it."""
    for source in sources():
        if source.name.split("/")[0] != _dotted(package).removeprefix("bruit."):
            continue
        lines, body = source.text.splitlines(), source.tree.body
        for index, node in enumerate(body):
            if name not in _assigned(node):
                continue
            after = body[index + 1] if index + 1 < len(body) else None
            has_string = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            return has_string or lines[node.lineno - 2].startswith("#:")
    return False


def _assigned(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []
