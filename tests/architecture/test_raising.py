"""No error of ours is raised while one is in flight that may hold data.

``raise … from None`` hides the error before it from a printed traceback only; it stays in ``__context__``, where a
program that logs errors with all that led to them finds it. So an error is made after the ``except`` block was left, or
by `bruit.errors.translated`, which cuts the link. Errors of kinds that never hold data may be in flight.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from sources import SOURCES, sources

from bruit import errors

#: Errors that hold no data: ours, and those about modules, files and processes.
HARMLESS = {
    *(name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.BruitError)),
    "ImportError",
    "ModuleNotFoundError",
    "OSError",
    "FileNotFoundError",
    "BlockingIOError",
    "BrokenProcessPool",
}
#: (module, kind that is caught) -> reason why an error may be raised meanwhile.
LISTED = {
    ("rounding", "OverflowError"): "a sum of ε or ρ is too large for a double; there are no data",
    ("bruit_studies.runner", "pa.ArrowException"): "results of studies are about people who do not exist",
    ("testing.hostile", "Exception"): "the check is handed junk, not data, and says what a mechanism raised",
    ("testing.bad_input", "Exception"): "the check is handed canaries, not data, and says what a mechanism raised",
}


def _caught(handler: ast.ExceptHandler) -> list[str]:
    if handler.type is None:
        return ["BaseException"]
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [ast.unparse(kind) for kind in kinds]


def raised_in_flight(source: Path) -> Iterator[tuple[str, str, int]]:
    """Module, kind and line of every handler that raises another error than the one caught, if that may hold data."""
    for module in sources(source):
        for node in module.nodes:
            if not isinstance(node, ast.ExceptHandler):
                continue
            raises = [inner for inner in ast.walk(node) if isinstance(inner, ast.Raise) and inner.exc is not None]
            harmful = [kind for kind in _caught(node) if kind not in HARMLESS]
            if raises and harmful:
                yield module.name.replace("/", "."), harmful[0], node.lineno


def test_no_error_is_raised_while_one_that_may_hold_data_is_in_flight() -> None:
    bad = [
        f"{module}:{line} raises while {kind} is in flight: leave the block first, or use bruit.errors.translated"
        for module, kind, line in raised_in_flight(SOURCES)
        if (module, kind) not in LISTED
    ]
    assert bad == []


def test_no_listed_exception_has_outlived_its_use() -> None:
    used = {(module, kind) for module, kind, _ in raised_in_flight(SOURCES)}
    assert set(LISTED) - used == set()


PLANTED = {
    "from None": "try:\n    float(x)\nexcept ValueError:\n    raise DataError('bad') from None",
    "with a cause": "try:\n    float(x)\nexcept ValueError as error:\n    raise DataError('bad') from error",
    "in a branch": "try:\n    f(x)\nexcept (OSError, TypeError):\n    if x:\n        raise DataError('bad') from None",
    "whatever it was": "try:\n    f(x)\nexcept:\n    raise DataError('bad') from None",
}
ALLOWED = {
    "after the block": "try:\n    y = f(x)\nexcept ValueError:\n    y = None\nif not y:\n    raise DataError('bad')",
    "again": "try:\n    f(x)\nexcept ValueError:\n    clean()\n    raise",
    "a missing module": "try:\n    import numba\nexcept ImportError:\n    raise MissingExtraError('x', 'y') from None",
    "ours": "try:\n    f(x)\nexcept LimitError:\n    raise LimitError('beyond') from None",
}


def _plant(root: Path, text: str) -> int:
    (root / "module.py").write_text(text + "\n")
    return len(list(raised_in_flight(root)))


@pytest.mark.parametrize("name", PLANTED)
def test_the_checker_flags_a_planted_violation(name: str, tmp_path: Path) -> None:
    assert _plant(tmp_path, PLANTED[name]) == 1


@pytest.mark.parametrize("name", ALLOWED)
def test_the_checker_is_silent_about_what_is_allowed(name: str, tmp_path: Path) -> None:
    assert _plant(tmp_path, ALLOWED[name]) == 0
