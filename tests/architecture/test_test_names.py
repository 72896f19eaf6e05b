"""A module's test has its name: tests/x/test_y.py is about src/bruit/x/y.py, or it stands in a table with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from sources import ROOT, SOURCE, STUDIES

TESTS = ROOT / "tests"
#: Folders whose tests hold for all of the library.
EXEMPT = {"laws", "spark", "architecture", "strangers", "fuzz", "examples", "bench", "vectors", "deploy"}
#: Folders that are about more than the package of their name.
PACKAGES = {"studies": [STUDIES], "cli": [SOURCE / "cli", STUDIES / "cli"], "": [SOURCE]}
#: Tests of no single module, and what they are about.
CROSS_CUTTING = {
    "test_marks": "tests/marks.py",
    "test_recorded": "everything that stays byte for byte",
    "cards/test_javascript": "the sampler in JavaScript",
    "cards/test_specification": "the page docs/reference/cards.md",
    "cli/test_canary": "no command shows a value",
    "cli/test_commands": "the help and the first steps of all commands",
    "cli/test_kills": "release, publish and limits, killed",
    "cli/test_mechanisms": "every mechanism through files",
    "cli/test_messages": "what all commands say about wrong data",
    "cli/test_mistakes": "what all commands say about a mistaken call",
    "cli/test_numbers": "numbers from privatize to estimate",
    "cli/test_outside": "the option of several commands",
    "cli/test_rounds": "panels from plan to estimate",
    "cli/test_tables_of_answers": "groups and tables from plan to estimate",
    "collector/test_commands": "the life of a survey by its commands",
    "collector/test_connections": "who holds a connection to the server",
    "collector/test_hostile_store": "a store as hostile input, by every command",
    "collector/test_kills": "a server that is killed",
    "collector/test_rounds": "rounds from a claim to an estimate",
    "collector/test_shown": "no small number is shown anywhere",
    "collector/test_tables": "tables from the page to an estimate",
    "engines/test_dates": "dates through every source",
    "releases/test_large_epsilon": "every place where ε is spent",
    "releases/test_rho": "the ρ of every release",
    "releases/test_written_numbers": "numbers on a grid, of every statistic",
    "studies/test_coverage": "the page docs/reference/coverage.md",
    "studies/test_judgements": "the page docs/explanation/judgements.md",
    "studies/test_verdicts": "the judges of all studies",
    "survey/test_access": "the page by keyboard, in large letters, dark, narrow and printed",
    "survey/test_browser": "the page in a browser",
    "survey/test_browser_assigned": "questions that links name, in a browser",
    "survey/test_browser_codes": "the page with codes in a browser",
    "survey/test_browser_open": "an open question in a browser",
    "survey/test_browser_rounds": "rounds in a browser",
    "survey/test_class_by_codes": "a class from a new survey to its results",
    "survey/test_draws": "the script of the page",
    "survey/test_engines": "the page in three engines",
    "survey/test_first_screen": "the page on a phone",
    "survey/test_language": "the guide to another language",
    "survey/test_open_text": "the page's reading of texts, in Node",
    "survey/test_rounds": "rounds of a survey, from the file to the page",
    "survey/test_steps": "the page, question by question",
    "survey/test_with_collector": "the page and the collector together",
    "tables/test_notebook": "what a notebook shows of every public value",
    "tables/test_wording": "words beside numbers, wherever they are written",
}


def subjects(folder: str) -> set[str]:
    """What the tests of a folder may be about: its package, and the modules and packages below, by their names."""
    names = {folder}
    for package in PACKAGES.get(folder, [SOURCE / folder]):
        below = package.glob("*") if not folder else package.rglob("*")
        names |= {path.stem.lstrip("_") for path in below if path.suffix == ".py" or (path / "__init__.py").exists()}
    return names - {"", "init__"}


def nameless(tests: Iterable[str], excused: Mapping[str, str]) -> list[str]:
    """The tests that are named after no module and stand in no table; behind a module's name may stand an aspect."""
    strange = []
    for test in tests:
        folder, _, file = test.rpartition("/")
        words = file.removeprefix("test_").split("_")
        starts = {"_".join(words[:many]) for many in range(1, len(words) + 1)}
        if folder not in EXEMPT and test not in excused and not starts & subjects(folder):
            strange.append(test)
    return strange


def _tests() -> list[str]:
    return [path.relative_to(TESTS).with_suffix("").as_posix() for path in sorted(TESTS.rglob("test_*.py"))]


def test_a_test_has_the_name_of_its_module() -> None:
    assert not nameless(_tests(), CROSS_CUTTING), "name it after the module that it is about"


def test_the_table_has_no_test_that_is_gone_or_has_the_name_of_a_module() -> None:
    assert set(CROSS_CUTTING) <= set(_tests())
    assert nameless(CROSS_CUTTING, {}) == list(CROSS_CUTTING)


@pytest.mark.parametrize(
    ("planted", "is_nameless"),
    [
        ("collection/test_comparing", False),
        ("collection/test_method_default", False),
        ("learning/test_base", False),
        ("releases/test_quantiles_plan", False),
        ("cli/test_tour", False),
        ("laws/test_anything", False),
        ("test_registry", False),
        ("collection/test_compare", True),
        ("collection/test_plans", True),
        ("releases/test_kmeans", True),
        ("test_comparing", True),
    ],
)
def test_a_planted_name_is_judged(planted: str, is_nameless: bool) -> None:
    assert bool(nameless([planted], CROSS_CUTTING)) is is_nameless


def test_every_test_that_a_page_a_note_or_a_tool_names_exists() -> None:
    folders = [ROOT / "docs", ROOT / "src", ROOT / "tools", ROOT / "bench"]
    texts = [path for folder in folders for end in ("md", "py") for path in folder.rglob(f"*.{end}")]
    texts += [ROOT / name for name in ("Makefile", "pyproject.toml", "CONTRIBUTING.md", "README.md", "SECURITY.md")]
    assert not gone(texts)


def gone(texts: Iterable[Path]) -> list[str]:
    """The tests that texts name by their path, or as a file in a note, and that do not exist."""
    named = re.compile(r"tests/(?:\w+/)*test_\w+\.py|(?<![\w/])test_\w+\.py")
    files = {path.name for path in TESTS.rglob("test_*.py")}
    return [
        f"{text.name}: {name}"
        for text in texts
        for name in named.findall(text.read_text(encoding="utf-8"))
        if not ((ROOT / name).exists() if "/" in name else name in files)
    ]


def test_a_planted_name_of_a_test_that_is_gone_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`tests/laws/test_matrix.py`, `test_plan.py`, `tests/kernels/test_few.py` and `test_gaussian.py`")
    assert gone([page]) == ["page.md: tests/kernels/test_few.py", "page.md: test_gaussian.py"]
