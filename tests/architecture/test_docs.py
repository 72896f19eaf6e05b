"""The documentation cannot drift: examples run, links lead somewhere, what is public has a page.

Every ``python`` block of README.md and docs/ runs, in order, one namespace per page, in an empty
folder, with warnings as errors. A block that must not run is preceded by
``<!-- no-run: reason -->``.
"""

from __future__ import annotations

import contextlib
import doctest
import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from bruit.collection import Method
from bruit.numbers import Number
from bruit.oracles import Oracle
from bruit.releases import Statistic

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOP = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
#: The pages by hand; docs/_site is built from them.
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in DOCS.rglob("*.md") if "_site" not in path.relative_to(DOCS).parts),
]
PROOFS = sorted((ROOT / "src").rglob("*.proof.md"))
TEXTS = [*PAGES, *TOP[1:], *PROOFS]

#: How many blocks may stay unrun in the whole documentation.
MOST_UNRUN = 3

_FENCE = re.compile(
    r"^(?P<indent>[ ]*)(?P<marks>`{3,}|~{3,})(?P<language>[\w-]*)[^\n]*\n"
    r"(?P<body>.*?)^(?P=indent)(?P=marks)[ \t]*$",
    flags=re.MULTILINE | re.DOTALL,
)
_NO_RUN = re.compile(r"<!-- no-run: (?P<reason>[^>]+) -->\s*\Z")
_LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


class Block(NamedTuple):
    """A fenced piece of a page."""

    language: str
    body: str
    line: int
    unrun: str  # the reason why it does not run, or nothing


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = []
    for match in _FENCE.finditer(text):
        before = _NO_RUN.search(text[: match.start()])
        indent = match["indent"]
        body = re.sub(f"^{indent}", "", match["body"], flags=re.MULTILINE)
        line = text[: match.start()].count("\n") + 2
        found.append(Block(match["language"], body, line, before["reason"] if before else ""))
    return found


def run(path: Path, text: str) -> None:
    """Run the python blocks of a page, one after the other, in one namespace."""
    namespace: dict[str, object] = {"__name__": f"page_{path.stem}"}
    for block in blocks(text):
        if block.language not in ("python", "pycon") or block.unrun:
            continue
        if block.body.lstrip().startswith(">>>"):
            _run_session(block, path, namespace)
        else:
            code = compile("\n" * (block.line - 1) + block.body, str(path), "exec", dont_inherit=True)
            exec(code, namespace)


def _run_session(block: Block, path: Path, namespace: dict[str, object]) -> None:
    """Run a block written as a session with ``>>>`` and compare what it prints."""
    test = doctest.DocTestParser().get_doctest(block.body, {}, path.name, str(path), block.line - 1)
    test.globs = namespace
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    failed, _ = runner.run(test, out=report.append, clear_globs=False)
    assert not failed, "".join(report)


def links(text: str) -> list[str]:
    """The relative links of a page, without those in code."""
    bare = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text))
    return [link for link in _LINK.findall(bare) if "://" not in link and not link.startswith("mailto:")]


def slugs(text: str) -> set[str]:
    """The anchors of a page's headings that GitHub and MkDocs make alike: MkDocs leaves out what is not ASCII."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), flags=re.MULTILINE)
    anchors = {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title.strip().lower())) for title in headings}
    return {anchor for anchor in anchors if anchor.isascii()}


def broken_links(path: Path) -> list[str]:
    """The relative links of a file that lead nowhere."""
    return [link for link in links(path.read_text(encoding="utf-8")) if not _leads_somewhere(path, link)]


@functools.cache
def _slugs_of(path: Path) -> set[str]:
    return slugs(path.read_text(encoding="utf-8"))


def _leads_somewhere(path: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (path.parent / name).resolve() if name else path
    if not target.exists():
        return False
    if anchor and target.suffix == ".md":
        return anchor in _slugs_of(target)
    return True


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.audit(
    "docs/how-to/add_a_release.md",
    "docs/how-to/audit_a_guarantee.md",
    "docs/how-to/learn_from_randomised_data.md",
    "docs/how-to/run_the_studies.md",
    "docs/reference/numbers.md",
)
@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_every_example_of_a_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with _unregistered():
        run(path, path.read_text(encoding="utf-8"))


@contextlib.contextmanager
def _unregistered() -> Iterator[None]:
    """Within the block, mechanisms and statistics may be made known that are forgotten when it ends."""
    registries = (Oracle.kinds, Number.kinds, Method.kinds, Statistic.kinds)
    before = {registry: set(registry.classes()) for registry in registries}
    try:
        yield
    finally:
        for registry, names in before.items():
            for name in set(registry.classes()) - names:
                registry.remove(name)


def test_few_examples_are_excused_from_running_and_each_says_why() -> None:
    excused = [
        block.unrun.strip() for path in PAGES for block in blocks(path.read_text(encoding="utf-8")) if block.unrun
    ]
    assert all(excused)
    assert len(excused) <= MOST_UNRUN


def test_every_relative_link_leads_somewhere() -> None:
    assert [f"{_name(path)}: {link}" for path in TEXTS for link in broken_links(path)] == []


def test_every_page_starts_with_a_title() -> None:
    texts = {
        _name(path): re.sub(r"\A(<!--.*?-->\s*)+", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for path in TEXTS
    }
    assert [name for name, text in texts.items() if not text.startswith("# ")] == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(DOCS).as_posix() for path in PAGES[1:]]
    assert [page for page in pages if f" {page}\n" not in configuration] == []


def test_a_broken_example_is_caught(tmp_path: Path) -> None:
    page = "# Page\n\n```python\nx = 1\n```\n\ntext\n\n```python\nassert x == 2\n```\n"
    with pytest.raises(AssertionError) as caught:
        run(tmp_path / "page.md", page)
    assert caught.traceback[-1].lineno == 9
    run(tmp_path / "page.md", page.replace("== 2", "== 1"))


def test_an_example_that_warns_is_caught(tmp_path: Path) -> None:
    page = "```python\nimport warnings\nwarnings.warn('careful')\n```\n"
    with pytest.raises(UserWarning):
        run(tmp_path / "page.md", page)


def test_a_session_that_prints_something_else_is_caught(tmp_path: Path) -> None:
    page = "```pycon\n>>> 1 + 1\n3\n```\n"
    with pytest.raises(AssertionError, match="Expected"):
        run(tmp_path / "page.md", page)
    run(tmp_path / "page.md", page.replace("3", "2"))


def test_an_excused_example_does_not_run(tmp_path: Path) -> None:
    page = "<!-- no-run: it would take a day -->\n\n```python\nraise SystemExit\n```\n"
    assert blocks(page)[0].unrun == "it would take a day"
    run(tmp_path / "page.md", page)


def test_a_broken_link_and_a_broken_anchor_are_caught(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A Title\n\n## In ρ\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text("[a](other.md) [b](other.md#a-title) `[c](code.md)` [d](https://example.org)")
    assert broken_links(page) == []
    page.write_text("[a](gone.md) [b](other.md#another) [c](other.md#in-ρ)", encoding="utf-8")
    assert broken_links(page) == ["gone.md", "other.md#another", "other.md#in-ρ"]


def _tool(name: str) -> ModuleType:
    """A module of tools/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(ROOT / "tools"))
    spec.loader.exec_module(module)
    sys.path.remove(str(ROOT / "tools"))
    return module


needs_the_command_line = pytest.mark.skipif(
    not (ROOT / "src" / "bruit" / "cli" / "__init__.py").exists(),
    reason="the command line is not built yet",
)


@needs_the_command_line
def test_the_command_line_page_is_what_the_commands_say() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert page == _tool("cli_page").page(), "run python tools/cli_page.py"


@needs_the_command_line
def test_every_command_has_its_heading() -> None:
    tool = _tool("cli_page")
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert tool.commands()
    assert [name for name in tool.commands() if f"## `{name}`\n" not in page] == []


@needs_the_command_line
def test_every_option_that_help_shows_is_on_the_page() -> None:
    from typer.testing import CliRunner

    from bruit.cli.app import app

    tool = _tool("cli_page")
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    for command in tool.commands():
        words = command.split()[1:]
        result = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
        assert result.exit_code == 0
        shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", result.output)) - {"--help"}
        section = page.split(f"## `{command}`\n")[1].split("\n## ")[0]
        assert sorted(option for option in shown if f"`{option}`" not in section) == []


def test_the_picture_of_the_layers_is_that_of_the_page() -> None:
    tool = _tool("architecture_picture")
    drawn = (DOCS / "figures" / "six_layers.svg").read_text(encoding="utf-8")
    assert drawn == tool.picture(), "run python tools/architecture_picture.py"
    packages = {name for row in tool.rows() for name in row}
    folders = {path.stem for path in (ROOT / "src" / "bruit").iterdir() if path.suffix == ".py" or path.is_dir()}
    outside = {"__init__", "__main__", "__pycache__", "_renamed", "py", "typing"}
    assert packages == (folders | {"bruit_studies"}) - outside
    placed = {layer: set(" ".join(rows).split()) - {"."} for layer, rows in tool.PLACES.items()}
    assert placed == {layer: {name for row in rows for name in row} for layer, rows in tool.layers().items()}
    assert packages <= set(tool.about())


def test_each_stop_of_a_walk_is_imported_by_one_before_it_and_lies_lower() -> None:
    tool = _tool("architecture_picture")
    rank = {name: place for place, row in enumerate(tool.rows()) for name in row}
    imports = tool.edges(set(rank))
    for walk in tool.WALKS:
        for place, name in enumerate(walk.stops[1:], 1):
            assert rank[name] < rank[walk.stops[place - 1]]
            assert any((before, name) in imports for before in walk.stops[:place]), (walk.name, name)


_PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<file>[^)\s]+)\)")


def test_every_picture_has_a_text_that_stands_for_it() -> None:
    pages = {_name(path): _PICTURE.findall(_FENCE.sub("", path.read_text(encoding="utf-8"))) for path in TEXTS}
    short = [f"{name}: {file}" for name, pictures in pages.items() for text, file in pictures if len(text.split()) < 5]
    assert short == []


def test_every_figure_of_the_documentation_is_shown_somewhere() -> None:
    shown = {(path.parent / file).resolve() for path in PAGES for _, file in _PICTURE.findall(path.read_text("utf-8"))}
    assert [path.name for path in sorted((DOCS / "figures").iterdir()) if path not in shown] == []


def test_the_first_page_has_one_picture_and_four_doors_each_with_a_tutorial() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert len(_PICTURE.findall(text)) == 1
    doors = re.split(
        r"^-   (?=\*\*)", text.split('<div class="grid cards" markdown>')[1].split("</div>")[0], flags=re.M
    )[1:]
    assert [door.split("**")[1] for door in doors] == ["You ask", "You publish", "You learn", "You study"]
    assert all("](tutorials/" in door and "](how-to/" in door for door in doors)


def test_a_newcomer_is_led_by_commands_that_do_all_set_up() -> None:
    # An externally managed Python, such as Debian's, refuses `pip install` outside an environment.
    wanted = ["make tour", "make test", "python3 -m venv env", "env/bin/pip install '.[all]'", "env/bin/bruit tour"]
    for page in (ROOT / "README.md", DOCS / "index.md"):
        blocks = re.findall(r"^```text\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        lines = "".join(blocks).replace("&&", "\n").splitlines()
        assert [line.partition("#")[0].strip() for line in lines][: len(wanted)] == wanted, page.name


def test_the_readme_is_read_in_two_minutes_and_has_one_picture() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    prose = _FENCE.sub("", text)
    assert len(prose.split()) < 520  # at 260 words a minute
    assert len(_PICTURE.findall(prose)) == 1


def test_the_checker_of_the_site_finds_what_is_wrong(tmp_path: Path) -> None:
    tool = _tool("check_site")
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text('{"docs": [' + ",".join(["{}"] * 101) + "]}")
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#here">b</a><img src="p.svg" alt="A picture">')
    (tmp_path / "b.html").write_text(
        '<p id="here">B</p><a href="https://example.org/x">out</a><a href="#here">here</a>'
    )
    (tmp_path / "p.svg").write_text("<svg/>")
    assert tool.problems(tmp_path) == []
    (tmp_path / "b.html").write_text(
        '<a href="c.html">c</a><a href="a.html#no">n</a><a href="../x">x</a><img src="p.svg">'
    )
    assert tool.problems(tmp_path) == [
        "a.html: b.html#here has no such anchor",
        "b.html: ../x leads out of the site",
        "b.html: a.html#no has no such anchor",
        "b.html: c.html leads nowhere",
        "b.html: the picture p.svg has no text",
    ]


def test_links_of_pages_outside_docs_are_rewritten_for_the_site() -> None:
    hooks = _tool("site_hooks")
    outside = {
        "CHANGELOG.md": "changes.md",
        "src/bruit/laws/bits.proof.md": "proofs/laws/bits.md",
    }
    text = "[a](docs/internals/design.md#layers) [b](src/bruit/laws/bits.proof.md) [c](https://example.org)"
    assert hooks.relink(text, "CHANGELOG.md", "changes.md", outside) == (
        "[a](internals/design.md#layers) [b](proofs/laws/bits.md) [c](https://example.org)"
    )
    text = "[a](../../../docs/reference/known_limits.md)\n```text\n[b](../../../docs/design.md)\n```\n"
    assert hooks.relink(text, "src/bruit/laws/bits.proof.md", "proofs/laws/bits.md", outside) == (
        "[a](../../reference/known_limits.md)\n```text\n[b](../../../docs/design.md)\n```\n"
    )


def test_every_proof_note_becomes_a_page() -> None:
    pages = _tool("site_hooks").pages(ROOT)
    assert {_name(path) for path in PROOFS} <= set(pages)
    assert len(set(pages.values())) == len(pages)


def test_an_old_address_becomes_a_page_that_leads_to_the_new_one() -> None:
    hooks = _tool("site_hooks")
    pages = hooks.redirects(
        {
            "guides/a.md": "how-to/b.md",
            "guides/a.md#one": "how-to/c.md#two",
            "kept.md#old": "how-to/b.md#new",
        }
    )
    assert list(pages) == ["guides/a.html"]
    assert '<a href="../how-to/b.html">' in pages["guides/a.html"]
    assert '{"one": "../how-to/c.html#two"}' in pages["guides/a.html"]


def test_the_notes_stand_where_the_navigation_has_their_section() -> None:
    hooks = _tool("site_hooks")
    nav = [{"Home": "index.md"}, {"Reference": [{"Proof notes": []}, "a.md"]}]
    notes = [{"Bits": "proofs/bits.md"}]
    assert hooks._filled(nav, notes) == [{"Home": "index.md"}, {"Reference": [{"Proof notes": notes}, "a.md"]}]
    assert hooks._filled(nav, []) == [{"Home": "index.md"}, {"Reference": ["a.md"]}]


def _has_example(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    return ">>>" in (getattr(importlib.import_module(module), attribute).__doc__ or "")


def test_every_page_of_the_api_has_an_example() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "reference" / "api").glob("*.md")}
    bare = [
        name
        for name, text in texts.items()
        if name != "index"
        and "```python" not in text
        and not any(_has_example(target) for target in re.findall(r"^::: (\S+)", text, flags=re.MULTILINE))
    ]
    assert bare == []
