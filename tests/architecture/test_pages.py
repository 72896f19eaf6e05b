"""HTML is made in `bruit.pages` and nowhere else: templates, escaping, markup, policies and texts by language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from sources import SOURCE, sources

#: What only pages may use: libraries by name, and names of the standard library.
LIBRARIES = {"jinja2", "markupsafe"}
NAMES = {"html.escape", "html.unescape", "string.Template", "xml.sax.saxutils.escape", "cgi.escape"}
#: Elements in a string: a tag that is closed, or the beginning of a page.
TAGS = re.compile(r"</[a-z]+[0-9]?>|<!doctype|<html|http-equiv", re.IGNORECASE)
TEMPLATES = {".html", ".j2", ".css"}

#: (module, what is used) -> reason.
ELSEWHERE: dict[tuple[str, str], str] = {
    ("tables/text", "html.escape"): "a table shows itself in a notebook, where jinja2 need not be loaded",
    ("tables/table", "markup"): "the same table",
    ("privacy/ledger/__init__", "markup"): "a ledger that cannot be read says so in a notebook, in a paragraph",
    ("collector/demo", "markup"): "the demo looks for a number on the page that it was served",
}


def uses(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """What a module uses that belongs to pages, with its line."""
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}"]
        elif isinstance(node, ast.Call) and _is_import(node.func):
            names = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            names = ["markup"] if TAGS.search(text) else []
        else:
            continue
        for name in map(str, names):
            if name in NAMES or name == "markup" or name.split(".")[0] in LIBRARIES:
                yield name, getattr(node, "lineno", 0)


def _is_import(function: ast.expr) -> bool:
    return getattr(function, "attr", getattr(function, "id", "")) in ("import_module", "__import__")


def _without_docstrings(tree: ast.AST) -> list[ast.AST]:
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [node for node in ast.walk(tree) if id(node) not in docstrings]


def judged(folder: Path) -> list[tuple[str, str]]:
    """(module, what it uses) of every use outside pages."""
    return [
        (source.name, name)
        for source in sources(folder)
        if source.name.split("/")[0] != "pages"
        for name, _ in uses(_without_docstrings(source.tree))
    ]


def test_html_is_made_in_pages_or_where_a_reason_is_listed() -> None:
    assert sorted({use for use in judged(SOURCE) if use not in ELSEWHERE}) == []


def test_no_listed_reason_has_outlived_its_use() -> None:
    assert set(ELSEWHERE) - set(judged(SOURCE)) == set()


PLANTED = {
    "html.escape": "import html\nhtml.escape('a')",
    "escape from html": "from html import escape",
    "jinja2": "import jinja2",
    "jinja2 in a function": "def f():\n    from jinja2 import Environment",
    "jinja2 by a call": "import importlib\nimportlib.import_module('jinja2')",
    "Markup": "from markupsafe import Markup",
    "a template of the standard library": "import string\nstring.Template('a')",
    "an element in a string": "x = f'<p>{1}</p>'",
    "the beginning of a page": "x = '<!doctype html>'",
    "a page as bytes": "x = b'</main>'",
    "a policy": "x = '<meta http-equiv=Content-Security-Policy>'",
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_seen(name: str, tmp_path: Path) -> None:
    (tmp_path / "survey").mkdir()
    (tmp_path / "survey" / "x.py").write_text(PLANTED[name] + "\n")
    assert judged(tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "survey" / "x.py").rename(tmp_path / "pages" / "y.py")
    sources.cache_clear()
    try:
        assert judged(tmp_path) == []
    finally:
        sources.cache_clear()


def test_a_docstring_may_name_an_element() -> None:
    assert list(uses(_without_docstrings(ast.parse('"""Not </p>."""\ndef f():\n    """<html>"""')))) == []


def _templates(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in TEMPLATES)


#: Templates and styles that stand beside their subject, with the reason.
BESIDE: dict[str, str] = {
    "survey/page.css": "a part of the respondent's page that stays byte for byte, beside its script",
}


def test_templates_and_styles_stand_in_pages() -> None:
    names = {path.relative_to(SOURCE).as_posix() for path in _templates(SOURCE)}
    assert {name for name in names if not name.startswith("pages/")} == set(BESIDE)


def loose(text: str) -> list[str]:
    """What would let text into a page unescaped, or a style around its policy."""
    return re.findall(r"\|\s*safe\b|autoescape|\bon[a-z]+=|\bstyle=|unsafe-inline", text)


def test_no_template_lets_text_in_unescaped_or_goes_around_its_policy() -> None:
    templates = [path for path in _templates(SOURCE.parent) if path.suffix == ".j2"]
    assert any("bruit_studies" in path.parts for path in templates)
    assert len(templates) > 10
    assert {path.name: loose(path.read_text(encoding="utf-8")) for path in templates} == {
        path.name: [] for path in templates
    }


@pytest.mark.parametrize(
    "text",
    [
        "{{ x | safe }}",
        "{{ x|safe }}",
        "{% autoescape false %}",
        '<p onclick="x()">',
        '<p style="color: red">',
        "style-src 'unsafe-inline'",
    ],
)
def test_a_loose_template_is_seen(text: str) -> None:
    assert loose(text)
