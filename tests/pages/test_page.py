"""A page is whole in itself: every value is escaped, and its policy names its style and its script by their hashes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from datetime import datetime
from importlib import resources

import pytest

from bruit.collection import Plan
from bruit.collector import links
from bruit.collector.notice_page import notice
from bruit.errors import ParameterError
from bruit.pages import Page, Section, content_policy, element, embedded, fill, render, source
from bruit.pages.policy import security_policy
from bruit.sheets import sheet
from bruit.survey import Survey
from bruit.survey.paper import Paper
from bruit.tables import Table

HOSTILE = '</style></script><script>alert(1)</script><b>"it\'s" & \u202ex'

SURVEY = f"""
title = {json.dumps(HOSTILE)}
odds = "5:1"
people = 30
[[question]]
name = "drinks"
text = {json.dumps(HOSTILE)}
kind = "choice"
labels = [{json.dumps(HOSTILE)}, "no"]
"""


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    path = tmp_path_factory.mktemp("survey") / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    return Survey.load(path)


def _sections(_: Survey) -> str:
    table = Table.of(HOSTILE, (HOSTILE, "share"), ((HOSTILE, "24 %"),))
    return render(Page(HOSTILE, HOSTILE, (Section(HOSTILE, (HOSTILE,), table, code=HOSTILE),), HOSTILE))


PAGES: dict[str, Callable[[Survey], str | bytes]] = {
    "respondent": lambda survey: survey.page(),
    "paper": lambda survey: Paper(survey).sheet("en"),
    "entry": lambda survey: Paper(survey).entry("en"),
    "slips": lambda survey: links.slips(survey, [f"https://example.org/{HOSTILE}"]),
    "notice": lambda _: notice(404, "/s/x", {"accept-language": HOSTILE}, datetime(2026, 1, 2)),
    "sheet": lambda _: sheet(Plan({HOSTILE: [HOSTILE, "no"]}, 1.0), "en", n=10, title=HOSTILE),
    "sections": _sections,
}
SCRIPTS = {"respondent": 2, "entry": 2}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest, survey: Survey) -> tuple[str, str]:
    """The name of a page and its text, with hostile values wherever it has any."""
    if request.param == "slips":
        pytest.importorskip("segno")
    text = PAGES[request.param](survey)
    return request.param, text if isinstance(text, str) else text.decode()


def test_no_value_becomes_markup(page: tuple[str, str]) -> None:
    name, text = page
    assert "<script>" not in text
    assert "<b>\"it's" not in text
    assert text.count("<script") == text.count("</script>") == SCRIPTS.get(name, 0)
    assert text.count("<style>") == text.count("</style>") == 1
    if name != "notice":
        assert "&lt;script&gt;" in text or "\\u003cscript\\u003e" in text


def test_the_policy_names_style_and_script_by_their_hashes_and_allows_nothing_else(page: tuple[str, str]) -> None:
    name, text = page
    policy = security_policy(text.encode())
    own = re.findall('<(?:style|script type="module")>(.*?)</(?:style|script)>', text, re.DOTALL)
    assert len(own) == 1 + (name in SCRIPTS)
    assert sorted(re.findall("sha256-[^']*", policy)) == sorted(map(_hash, own))
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; frame-ancestors 'none'")
    assert "unsafe" not in policy
    assert not re.search(r"\sstyle=|\son[a-z]+=", re.sub("<script.*?</script>", "", text, flags=re.DOTALL))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_script_and_style_of_the_respondents_page_are_those_of_the_files(survey: Survey) -> None:
    text = survey.page().decode()
    folder = resources.files("bruit.survey")
    assert f"<style>{folder.joinpath('page.css').read_text(encoding='utf-8')}</style>" in text
    own = folder.joinpath("page.mjs").read_text(encoding="utf-8").partition('from "./sample.mjs";\n')[2]
    assert text.count(own) == 1
    style, script = (re.search(f"<{tag}>(.*?)</", text, re.DOTALL)[1] for tag in ("style", 'script type="module"'))
    assert security_policy(text.encode()) == (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'; frame-ancestors 'none'"
    )


def test_a_value_that_is_missing_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="text"):
        fill("notice.html.j2", language="en", title="a")


def test_style_and_script_cannot_end_their_element() -> None:
    for text in ("a</style>", "x = '</script>'", "<!-- <script>"):
        with pytest.raises(ParameterError, match="would end them"):
            source(text)


def test_embedded_data_are_json_without_any_sign_of_html() -> None:
    data = {"a": ["</script>", "<!--", "&amp;", "\u2028", 'quote"']}
    text = str(embedded(data))
    assert not re.search("[<>&]", text)
    assert json.loads(text) == data


def test_a_policy_lets_a_script_send_to_one_host_and_escapes_what_stands_in_it() -> None:
    assert "; connect-src https://a.example; " in content_policy("", "x", sends_to="https://a.example/report")
    assert "connect-src" not in content_policy("", "x")
    assert "https://a&amp;b" in content_policy("", "x", sends_to="https://a&b/report")
    with pytest.raises(ParameterError, match="address"):
        content_policy("", "x", sends_to="https://a.example; script-src *")


def test_a_style_of_a_drawing_becomes_attributes() -> None:
    drawn = element(
        "<svg><text style=\"font: italic 700 11.5px 'DejaVu Sans', sans-serif; text-anchor: end; fill: var(--ink)\">"
        '<tspan style="font-size: 10px; onload: x()" fill="red"/></text></svg>'
    )
    assert drawn == (
        '<svg><text text-anchor="end" fill="var(--ink)" font-style="italic" font-weight="700" font-size="11.5px" '
        'font-family="\'DejaVu Sans\', sans-serif"><tspan fill="red" font-size="10px" /></text></svg>'
    )
