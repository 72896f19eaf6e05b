"""What differs between mechanisms, designs and domains is asked of them, and nobody outside asks which they are.

Every `isinstance` and `issubclass` counts, also with several classes. What is allowed is listed here with its reason.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sources import SOURCE, SOURCES, sources

import bruit
from bruit import numbers, oracles  # noqa: F401 -- their classes are to be known here
from bruit.collection.composite import Composite
from bruit.domains import Categories, Dates, Grid
from bruit.mechanism import LocalMechanism
from bruit.typing import ColumnLike

_FRONT_DOOR = "the kind of an argument, checked once where a user's call comes in"
_EXAMPLES = "values that a domain has, and some that it has not, to try a mechanism with"
_DECLARED = "what a user declares for a column: labels or bounds"

#: (module, class) -> reason.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("analysis/channel", "LocalMechanism"): _FRONT_DOOR,
    ("attacks/guess", "LocalMechanism"): _FRONT_DOOR,
    ("collection/longitudinal_mean", "Duchi"): _FRONT_DOOR,
    ("collection/mechanisms", "Categories"): "an oracle over labels has these labels; over anything else, codes",
    ("collection/comparing", "Categories"): "methods are compared over categories; cells of grids are taken for some",
    ("collection/plan", "LocalMechanism"): "a mechanism may stand where a domain stands, as a plan for one question",
    ("datasets/dataset", "Categories"): "a domain in words, for the page of a data set",
    ("datasets/dataset", "Grid"): "a domain in words, for the page of a data set",
    ("learning/_features", "Categories"): _DECLARED,
    ("learning/_features", "Grid"): _DECLARED,
    ("numbers/base", "Grid"): _DECLARED,
    ("oracles/base", "Categories"): _DECLARED,
    ("releases/inverse_sensitivity", "Grid"): _DECLARED,
    ("releases/quantiles/histogram", "Grid"): _DECLARED,
    ("releases/quantiles/ranked", "Dates"): _DECLARED,
    ("releases/quantiles/ranked", "Grid"): _DECLARED,
    ("bruit_studies/several_attributes/trials", "Categories"): "which columns of a table the paper took",
    ("testing/_evidence", "Categories"): _EXAMPLES,
    ("testing/_evidence", "Grid"): _EXAMPLES,
    ("testing/single_use", "Number"): _FRONT_DOOR,
    ("testing/single_use", "Oracle"): _FRONT_DOOR,
    ("testing/sources", "Categories"): _EXAMPLES,
    ("testing/sources", "Grid"): _EXAMPLES,
}


def _subclasses(kind: type) -> Iterator[type]:
    yield kind
    for child in kind.__subclasses__():
        yield from _subclasses(child)


def _home(kind: type) -> str:
    return kind.__module__.split(".")[1]


#: Every class that is not asked for, and the package in which it may be.
KINDS: dict[str, str] = {
    kind.__name__: _home(kind)
    for root in (LocalMechanism, Composite, Categories, Dates, Grid)
    for kind in _subclasses(root)
    if kind.__module__.startswith("bruit.")
} | {"Domain": "domains", "Mechanism": "collection"}


def asked(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The classes that a module asks whether something is of, and the lines."""
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            for name in ast.walk(node.args[1]):
                word = getattr(name, "id", getattr(name, "attr", ""))
                if word in KINDS:
                    yield word, node.lineno


def ladders(source: Path) -> Iterator[tuple[str, str, int]]:
    """Every such question outside the package of the class: module, class and line."""
    for module in sources(source):
        for word, line in asked(module.nodes):
            if module.name.split("/")[0] != KINDS[word]:
                yield module.name, word, line


def test_nobody_asks_which_mechanism_design_or_domain_something_is() -> None:
    assert len(KINDS) > 20
    unlisted = [
        f"{module}:{line} {word}" for module, word, line in ladders(SOURCES) if (module, word) not in EXCEPTIONS
    ]
    assert unlisted == []


def test_no_listed_exception_has_outlived_its_use() -> None:
    assert set(EXCEPTIONS) - {(module, word) for module, word, _ in ladders(SOURCES)} == set()


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(found, RandomizedResponse)",
        "isinstance(found, (int, oracles.SubsetSelection))",
        "isinstance(found, Grid | Categories)",
        "issubclass(kind, Number)",
        "isinstance(design, Sample)",
    ],
)
def test_the_test_sees_what_it_forbids(tmp_path: Path, line: str) -> None:
    (tmp_path / "attacks").mkdir()
    (tmp_path / "attacks" / "guess.py").write_text(line)
    assert list(ladders(tmp_path))
    assert not list(asked(ast.walk(ast.parse("isinstance(plan, Plan); isinstance(law, TwoLevelLaw)"))))


#: What users hand over, which is typed wherever a name of the front door takes it.
HANDED_OVER = {"source", "labels", "bounds", "schema", "X", "y"}


def _is_ours(kind: object) -> bool:
    """Whether something has a signature: a function, or a class that is no exception."""
    return inspect.isfunction(kind) or (inspect.isclass(kind) and not issubclass(kind, BaseException))


def untyped(kind: object) -> list[str]:
    """The parameters of a class or function, and of its public methods, that take data and are annotated with Any."""
    functions = [kind, *(value for name, value in vars(kind).items() if not name.startswith("_"))]
    return [
        f"{getattr(function, '__qualname__', function)}({name})"
        for function in (getattr(value, "__func__", value) for value in functions)
        if _is_ours(function)
        for name, parameter in inspect.signature(function).parameters.items()
        if name in HANDED_OVER and str(parameter.annotation) == "Any"
    ]


def test_what_users_hand_over_is_typed() -> None:
    from bruit import learning

    doors = [bruit, learning, *(getattr(bruit, name) for name in ("numbers", "releases"))]
    kinds = {id(kind): kind for door in doors for kind in (getattr(door, name) for name in door.__all__)}
    assert [fault for kind in kinds.values() if _is_ours(kind) for fault in untyped(kind)] == []


def test_the_test_of_types_sees_what_it_forbids() -> None:
    class Door:
        def fit(self, X: Any, y: ColumnLike) -> None:
            """Nothing."""

    assert [fault.split(".")[-1] for fault in untyped(Door)] == ["fit(X)"]


def test_a_type_checker_sees_the_parameters_that_a_plan_has() -> None:
    """The constructor of a plan is written out for type checkers: with the names, order and defaults of its fields."""
    tree = ast.parse((SOURCE / "collection" / "plan.py").read_text(encoding="utf-8"))
    (written,) = [node.args for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    options = [*written.args[1:], *written.kwonlyargs]
    defaults = [ast.unparse(value) for value in (*written.defaults, *written.kw_defaults) if value]
    real = list(inspect.signature(bruit.Plan).parameters.values())
    assert [option.arg for option in options] == [parameter.name for parameter in real]
    assert len(written.args) - 1 == sum(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in real)
    known = {"DEFAULT": repr(bruit.collection.method.DEFAULT)}
    assert [known.get(value, value) for value in defaults] == [repr(parameter.default) for parameter in real[1:]]
