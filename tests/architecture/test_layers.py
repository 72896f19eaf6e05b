"""Layers point down, and each heavy dependency has one home.

The order is the one of docs/internals/design.md. Every import counts: at the top of a module, inside a
function, under `TYPE_CHECKING`, or by `importlib.import_module`. What is allowed beyond the order
is listed here with its reason.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from sources import SOURCE, SOURCES, sources

#: A package imports itself and what stands before it; packages of one row do not import each other.
ORDER: list[set[str]] = [
    {"_renamed", "errors", "typing"},
    {"_checks", "referrals"},
    {"documents", "registry", "rounding"},
    {"tables"},
    {"pages"},
    {"entropy"},
    {"kernels"},
    {"laws", "privacy"},
    {"cards", "domains"},
    {"estimation"},
    {"engines"},
    {"randomizer"},
    {"mechanism"},
    {"oracles", "numbers", "open_answers"},
    {"collection", "releases"},
    {"sheets", "analysis"},
    {"learning", "attacks", "datasets", "survey"},
    {"audit", "collector"},
    {"testing", "figures"},
    {"publications", "bruit_studies"},
    {"cli"},
    {"__main__"},  # `python -m bruit`
    {"bruit_studies.cli"},
]
RANK = {package: rank for rank, row in enumerate(ORDER) for package in row}

#: The root module: it names everything lazily, and whoever imports it could reach everything.
FACE = "bruit"
MAY_IMPORT_THE_FACE = {"publications", "cli", "bruit_studies", "bruit_studies.cli"}

#: A package of its own in the same wheel. It imports the library; the library never imports it, whatever the order.
STUDIES = "bruit_studies"

#: (package, what it imports, inside which function) -> reason.
UPWARD: dict[tuple[str, str, str], str] = {
    ("estimation", "figures", "plot"): "answer.plot() loads matplotlib's home when it is called",
    ("analysis", "figures", "plot"): "a regression's plot() does too",
    ("releases", "figures", "plot"): "so does that of a continual series",
    ("oracles", "figures", "plot"): "and that of what choose and compare rank",
    ("learning", "figures", "page"): "a page of shapes has their pictures",
    ("learning", "figures", "plot"): "and those of the scores of a model and of shapes",
}

#: Where a dependency may be imported.
HOMES: dict[str, set[str]] = {
    "numba": {"kernels"},
    "pyarrow": {"engines"},
    "duckdb": {"engines"},
    "pyspark": {"engines"},
    "sklearn": {"learning", "attacks"},
    "matplotlib": {"figures", "bruit_studies"},
    "jinja2": {"pages"},
    "markupsafe": {"pages"},
}

#: (package or package.module, dependency) -> reason why it is imported away from home.
AWAY_FROM_HOME: dict[tuple[str, str], str] = {
    ("testing.hostile", "pyarrow"): "makes files as strangers would, which no engine of ours writes",
    ("collector.export", "pyarrow"): "results are tables of mixed columns, not batches of reports",
    ("bruit_studies.runner", "pyarrow"): "results of studies are tables of mixed columns, not batches of reports",
    (
        "bruit_studies.krr_learning",
        "sklearn",
    ): "the course's own forest learns from reports, as any model does",
    ("bruit_studies.numeric_cleaning.trials", "sklearn"): "the course's own naive Bayes learns from reports, likewise",
    ("bruit_studies.central_or_local.trials", "sklearn"): "ordinary models stand beside those with privacy",
}

#: Pseudo-random numbers: whole packages that never touch a person's report on the secure side.
PSEUDO_RANDOM_PACKAGES = {"bruit_studies", "attacks"}
#: A function of one of these names, anywhere, draws people who do not exist.
PSEUDO_RANDOM_FUNCTIONS = {"simulate", "simulate_rounds", "simulate_messages"}
#: (module, function) -> reason why it names `numpy.random` elsewhere.
PSEUDO_RANDOM_PLACES: dict[tuple[str, str], str] = {
    ("entropy", "generator"): "makes the generator that simulate uses, seeded from a keystream",
}


class Import(NamedTuple):
    """One import statement, or one use of `numpy.random`."""

    target: str  # dotted name
    function: str  # names of the enclosing functions, joined by dots
    line: int


def imports(tree: ast.Module, module: str, *, is_package: bool) -> list[Import]:
    """Everything that the source of `module` imports, wherever the statement stands."""
    numpy_names = _names_of_numpy(tree)
    found: list[Import] = []

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute | ast.Call):
            for target in _targets(node, module, is_package, numpy_names):
                found.append(Import(target, function, node.lineno))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = f"{function}.{node.name}".lstrip(".")
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(tree, "")
    return found


def _targets(node: ast.AST, module: str, is_package: bool, numpy_names: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _absolute(node, module, is_package)
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Attribute) and node.attr == "random":
        if isinstance(node.value, ast.Name) and node.value.id in numpy_names:
            yield "numpy.random"
    elif isinstance(node, ast.Call) and _is_import_call(node.func):
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value
        else:
            yield "<computed>"


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _is_import_call(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")


def _names_of_numpy(tree: ast.Module) -> set[str]:
    return {
        alias.asname or "numpy"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "numpy" or (alias.name.startswith("numpy.") and not alias.asname)
    }


def violations(source: Path) -> list[str]:
    """Every import under `source` that the rules above do not allow, one line each."""
    return [line for line, _ in _judged(source) if line]


@functools.cache
def _judged(source: Path) -> list[tuple[str, object]]:
    """(complaint or "", the key of the exception that was used or None) for every import."""
    judged = []
    for path, name, _, tree, _ in sources(source):
        parts = tuple(name.split("/"))
        is_package = parts[-1] == "__init__"
        parts = parts[:-1] if is_package else parts
        module = ".".join(parts if parts[:1] == (STUDIES,) else (FACE, *parts))
        for found in imports(tree, module, is_package=is_package):
            complaint, key = _judge(parts, found)
            where = f"{path.relative_to(source)}:{found.line}"
            judged.append((f"{where}: {complaint}" if complaint else "", key))
    return judged


def _package(parts: Sequence[str]) -> str:
    """The package of a module by its place in the order; that of the commands of the studies is one of its own."""
    return ".".join(parts[:2]) if parts[:2] == (STUDIES, "cli") else parts[0] if parts else FACE


def _judge(parts: tuple[str, ...], found: Import) -> tuple[str, object]:
    package = _package(parts)
    module = ".".join(parts)
    target = tuple(found.target.split("."))
    if target[0] == STUDIES:
        if package.partition(".")[0] != STUDIES:
            return f"{package} imports {STUDIES}, which the library never does", None
        return _judge_layer(package, _package(target), found)
    if target[0] == FACE:
        return _judge_layer(package, target[1] if len(target) > 1 else FACE, found)
    if found.target == "<computed>" and package != FACE:
        return "imports a module by a computed name, which no test can check", None
    if target[0] == "random" or target[:2] == ("numpy", "random"):
        return _judge_randomness(package, module, found)
    homes = HOMES.get(target[0])
    if homes is None or package in homes:
        return "", None
    for place in (package, module):
        if (place, target[0]) in AWAY_FROM_HOME:
            return "", (place, target[0])
    return f"{target[0]} is imported only in {', '.join(sorted(homes))}", None


def _judge_layer(package: str, target: str, found: Import) -> tuple[str, object]:
    if target in (package, "__version__"):
        return "", None
    if package == FACE:  # the face may name anything; that it does so lazily is test_light_import's subject
        return "", None
    if target not in RANK:
        allowed = package in MAY_IMPORT_THE_FACE
        return ("" if allowed else f"{package} imports bruit.{target} from the public face"), None
    if package not in RANK:
        return f"{package} has no place in the order of layers", None
    if RANK[target] < RANK[package]:
        return "", None
    key = (package, target, found.function.rpartition(".")[2])
    if key in UPWARD:
        return "", key
    relation = "its neighbour" if RANK[target] == RANK[package] else "above it"
    return f"{package} imports {target}, which is {relation}", None


def _judge_randomness(package: str, module: str, found: Import) -> tuple[str, object]:
    if package in PSEUDO_RANDOM_PACKAGES:
        return "", None
    functions = [name.lstrip("_") for name in found.function.split(".")]
    if PSEUDO_RANDOM_FUNCTIONS & set(functions):
        return "", None
    if (module, functions[-1]) in PSEUDO_RANDOM_PLACES:
        return "", (module, functions[-1])
    return f"{found.target} is not for people's data; use bruit.entropy", None


def test_every_import_points_down_or_is_a_listed_exception() -> None:
    assert violations(SOURCES) == []


def test_every_package_has_its_place_in_the_order() -> None:
    names = {path.stem for path in SOURCE.glob("*.py")} | {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert names - {"__init__"} <= set(RANK)


def test_no_listed_exception_has_outlived_its_use() -> None:
    used = {key for _, key in _judged(SOURCES) if key is not None}
    listed: set[object] = {*UPWARD, *AWAY_FROM_HOME, *PSEUDO_RANDOM_PLACES}
    assert listed - used == set()


PLANTED = {
    "a lower layer imports a higher one": ("laws/two_level.py", "from bruit.oracles import oracle"),
    "a neighbour is imported": ("laws/bits.py", "from bruit.privacy import Guarantee"),
    "a neighbour is imported by a relative path": ("oracles/x.py", "from ..numbers import mean"),
    "the import stands inside a function": (
        "domains/grid.py",
        "def f():\n    from bruit import estimation",
    ),
    "the import is for types only": (
        "entropy.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import bruit.privacy",
    ),
    "the import is a call": (
        "engines/arrow.py",
        "import importlib\nimportlib.import_module('bruit.oracles')",
    ),
    "the name of the import is computed": (
        "engines/arrow.py",
        "from importlib import import_module\nimport_module('bru' + 'it.oracles')",
    ),
    "the public face is imported from inside": ("audit/exact.py", "from bruit import Plan"),
    "the whole package is imported from inside": ("audit/exact.py", "import bruit"),
    "figures are loaded outside plot()": (
        "estimation/estimate.py",
        "def show(self):\n    from bruit.figures import frequencies",
    ),
    "numba leaves the kernels": ("oracles/x.py", "from numba import njit"),
    "pyarrow leaves the engines": ("collection/plan.py", "def f():\n    import pyarrow.parquet"),
    "pyspark leaves the engines": ("cli/estimate.py", "import pyspark.sql as sql"),
    "scikit-learn leaves learning": ("audit/empirical.py", "from sklearn.svm import SVC"),
    "matplotlib leaves the figures": ("cli/plan.py", "import matplotlib.pyplot as plt"),
    "the library imports the studies": ("audit/exact.py", "import bruit_studies"),
    "the library imports from the studies": (
        "figures/page.py",
        "from bruit_studies.as_printed import ClassLaws",
    ),
    "the command line imports the studies": ("cli/app.py", "def f():\n    from bruit_studies import cli"),
    "the face imports the studies": ("__init__.py", "import importlib\nimportlib.import_module('bruit_studies')"),
    "the library imports the studies for types": (
        "tables/table.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bruit_studies import Results",
    ),
    "a study imports the command line": ("../bruit_studies/krr.py", "from bruit.cli import console"),
    "a study imports the commands of the studies": ("../bruit_studies/krr.py", "from bruit_studies.cli import tour"),
    "a study imports these by a relative path": ("../bruit_studies/krr/trials.py", "from ..cli import tour"),
    "numba leaves the kernels for a study": ("../bruit_studies/krr.py", "import numba"),
    "jinja2 leaves the pages": ("survey/paper.py", "def f():\n    import jinja2"),
    "numpy.random is used": ("oracles/x.py", "import numpy as np\nnp.random.default_rng(1)"),
    "numpy.random is imported": ("oracles/x.py", "from numpy.random import default_rng"),
    "numpy.random is imported from numpy": ("oracles/x.py", "from numpy import random"),
    "the random module is imported": ("testing.py", "import random"),
    "a package has no place": ("utils.py", "from bruit.errors import BruitError"),
}

ALLOWED = {
    "a higher layer imports a lower one": ("oracles/x.py", "from bruit.laws import Law"),
    "a package imports itself": ("oracles/__init__.py", "from .x import y"),
    "a relative path leads down": ("oracles/x.py", "from .. import entropy, _checks"),
    "plot() loads figures": (
        "estimation/estimate.py",
        "class Estimate:\n    def plot(self):\n        from bruit.figures import frequencies",
    ),
    "the face names everything": (
        "__init__.py",
        "from bruit.cli import main\nimport bruit.oracles",
    ),
    "the command line uses the face": ("cli/plan.py", "import bruit\nfrom bruit import Plan"),
    "studies use the face and the library": (
        "../bruit_studies/krr.py",
        "from bruit import audit, Plan\nfrom bruit.figures import style\nfrom bruit_studies import drawing",
    ),
    "commands of studies use the command line": (
        "../bruit_studies/cli/study.py",
        "from bruit.cli import console\nfrom bruit_studies import runner\nfrom ..report import Report",
    ),
    "a study draws by matplotlib": ("../bruit_studies/krr.py", "def f():\n    import matplotlib.pyplot as plt"),
    "the version is anybody's": ("audit/exact.py", "from bruit import __version__"),
    "numba at home": ("kernels/bits.py", "import numba"),
    "pyarrow at home": ("engines/arrow.py", "def f():\n    import pyarrow as pa"),
    "simulate draws people who do not exist": (
        "oracles/x.py",
        "import numpy as np\ndef simulate(self):\n    np.random.Generator(np.random.PCG64(1))",
    ),
    "attacks are studies": ("attacks/guess.py", "import numpy as np\nnp.random.default_rng(1)"),
    "another attribute called random": ("audit/exact.py", "def f(rng):\n    return rng.random()"),
}


def _plant(root: Path, name: str, text: str) -> list[str]:
    (root / "bruit").mkdir()
    path = root / "bruit" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    return violations(root)


@pytest.mark.parametrize("name", PLANTED)
def test_the_checker_flags_a_planted_violation(name: str, tmp_path: Path) -> None:
    assert len(_plant(tmp_path, *PLANTED[name])) >= 1


@pytest.mark.parametrize("name", ALLOWED)
def test_the_checker_is_silent_about_what_is_allowed(name: str, tmp_path: Path) -> None:
    assert _plant(tmp_path, *ALLOWED[name]) == []
