"""What the shipped script draws, in Node and in the browser: by the law of the card, written as Python reads it."""

from __future__ import annotations

import json
import shutil
import string
import subprocess

import numpy as np
import pytest
from scipy import special

from bruit.collector.links import token
from bruit.engines import report_parsing
from bruit.survey import PersonalLink
from bruit.survey.page import script

from ..plans import only_mechanism
from ..surveys import ASSIGNED, TABLES
from . import browser as browsers
from .test_body import ANSWERS

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="the script of the page is tried with Node, which is not on PATH")
needs_browser = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

#: How often a comparison may fail a script that is right.
ALARM = 1e-8

#: Counts reports over many draws; the answers are codes of the attributes.
COUNT = """
function count({ survey, codes, places, draws }) {
  const seen = {};
  const card = read(survey.card);
  for (let i = 0; i < draws; i += 1) {
    const body = draw(survey, card, codes, places, "");
    const report = body.slice(body.indexOf('"report":'), body.indexOf(',"round"'));
    seen[report] = (seen[report] ?? 0) + 1;
  }
  return seen;
}
"""


def in_node(page, job, tmp_path, expression, change=("", "")):
    """What an expression gives with the script of a page, perhaps with a change in it."""
    script = browsers.script_of(page)
    assert not change[0] or script.count(change[0]) == 1
    (tmp_path / "page.mjs").write_text(script.replace(*change) if change[0] else script, encoding="utf-8")
    main = f"""
    import {{
      claimOf, draw, drawMemo, drawRound, linkCheck, read, sample, codesOf, memory, readingOf, relinked, stage
    }} from "./page.mjs";
    {COUNT}
    const job = {{ survey: {browsers.data_of(page)}, ...{json.dumps(job)} }};
    console.log(JSON.stringify({expression}));
    """
    (tmp_path / "main.mjs").write_text(main, encoding="utf-8")
    done = subprocess.run(
        [NODE, str(tmp_path / "main.mjs")], capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def deviation(seen, survey, code):
    """The probability of counts as far from the law of the card as these."""
    row = [float(chance) for chance in only_mechanism(survey.plan).law.row(code)]
    counts = np.array([seen.get(f'"report":{{"drinks":"{message}"}}', 0) for message in range(len(row))])
    assert counts.sum() == sum(seen.values())
    expected = np.array(row) * counts.sum()
    return special.chdtrc(len(row) - 1, ((counts - expected) ** 2 / expected).sum())


#: The sampler keeps the own answer for more words, so that a no is sent 2 % more often.
OFF = ("const kept = step * law.members;", "const kept = step * law.members * 1032n / 1000n;")


def check_law(survey, count, draws):
    for code in (0, 1):
        assert deviation(count(code, draws), survey, code) > ALARM


@pytest.mark.audit
@needs_node
def test_reports_of_the_shipped_script_follow_the_law_and_a_twin_off_by_two_per_cent_does_not(one, tmp_path):
    def count(code, draws, change=("", "")):
        job = {"codes": [code], "places": {}, "draws": draws}
        return in_node(one.page(), job, tmp_path, "count(job)", change)

    check_law(one, count, 60_000)
    assert deviation(count(0, 120_000, OFF), one, 0) < ALARM


@needs_node
@pytest.mark.audit
def test_a_million_reports_of_the_shipped_script_follow_the_law(one, tmp_path):
    def count(code, draws, change=("", "")):
        job = {"codes": [code], "places": {}, "draws": draws}
        return in_node(one.page(), job, tmp_path, "count(job)", change)

    check_law(one, count, 1_000_000)
    assert deviation(count(0, 1_000_000, OFF), one, 0) < ALARM


def test_the_twin_is_off_by_two_per_cent(one):
    law = only_mechanism(one.plan).law
    kept = (law.inside - law.outside) * 1032 // 1000
    assert abs((kept + law.outside) / law.inside - 1.02) < 0.001  # of those who answer no


@needs_node
def test_the_script_writes_every_body_as_python_reads_it(one, long, many, tmp_path):
    answers = [1, 15, 2, [1], 2]
    for survey, own, places in ((one, [1], {}), (long, [11], {}), (many, answers, {"class": "2"})):
        job = {"answers": own, "places": places, "links": ["", "A" * 32, "aZ09-_" * 3]}
        codes = "codesOf(job.survey, job.answers)"
        expression = f"job.links.map((link) => draw(job.survey, read(job.survey.card), {codes}, job.places, link))"
        for body, link in zip(in_node(survey.page(), job, tmp_path, expression), job["links"], strict=True):
            report = survey.parse(body.encode())
            assert report.link == link
            assert survey.body.fill(report) == body.encode()
            assert report.public == tuple(map(int, places.values()))


@needs_node
def test_the_codes_of_answers_are_those_of_python(many, tmp_path):
    from bruit.survey.answering import _codes

    answers = [question.values.index(ANSWERS[question.name]) if question.kind != "several" else [1]
               for question in many.questions]  # fmt: skip
    expected = [code for question in many.sensitive for code in _codes(question, ANSWERS[question.name])]
    assert in_node(many.page(), {"answers": answers}, tmp_path, "codesOf(job.survey, job.answers)") == expected


@needs_node
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("code", [False, True])
def test_the_parts_of_every_script_are_one_module(code, is_open, tmp_path):
    """No two of them declare one name."""
    (tmp_path / "page.mjs").write_text(script(code=code, is_open=is_open), encoding="utf-8")
    done = subprocess.run([NODE, "--check", str(tmp_path / "page.mjs")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_node
def test_the_check_of_a_link_is_that_of_python(write, tmp_path):
    links = [PersonalLink(token(length), place).text for length in (16, 18, 32) for place in (0, 7, 49, 4_999)]
    links += [PersonalLink(letter * 16, 0).text for letter in f"{string.ascii_letters}{string.digits}-_"]
    named, checks = zip(*(link.rsplit(".", 1) for link in links), strict=True)
    page = write(ASSIGNED).page(links=True)
    assert in_node(page, {"named": named}, tmp_path, "job.named.map(linkCheck)") == list(checks)


@needs_node
def test_a_report_reads_as_the_answers_under_which_it_is_likeliest(one, long, many, tmp_path):
    """Lists by Python's own `supports`; hints at numbers by the largest probability."""
    vectors = [vector.report for vector in long.card.vectors(60, rng=1)]
    readings = in_node(long.page(), {"reports": vectors}, tmp_path, "job.reports.map((r) => readingOf(job.survey, r))")
    form = long.plan.form["town"]
    supported = only_mechanism(long.plan).supports(
        report_parsing.parse(form, [report["town"] for report in vectors]).reports
    )
    assert [reading[0]["codes"] for reading in readings] == [np.flatnonzero(row).tolist() for row in supported]
    vectors = [vector.report for vector in many.card.vectors(60, rng=1)]
    readings = in_node(many.page(), {"reports": vectors}, tmp_path, "job.reports.map((r) => readingOf(job.survey, r))")
    rows = [many.plan.mechanisms["hours"].law.row(code) for code in range(25)]
    for report, (reading,) in zip(vectors, readings, strict=True):
        assert reading["attribute"] == int(report["attribute"])
        if reading["attribute"] == 1:
            column = [row[int(report["report"])] for row in rows]
            assert reading["codes"] == [code for code, chance in enumerate(column) if chance == max(column)]
        else:
            assert reading["codes"] == [int(report["report"])]
    assert len({report["attribute"] for report in vectors}) == 6


VECTORS = """
async ([vectors, text]) => {
  const { read, sample } = await import("/script.mjs");
  const card = read(text);
  return vectors.map(({ codes, words, report }) => {
    let used = 0;
    const drawn = sample(card, codes.map(Number), () => BigInt(words[used++]));
    return used === words.length && Object.keys(drawn).length === Object.keys(report).length
      && Object.entries(drawn).every(([name, value]) => report[name] === value);
  });
}
"""


@pytest.fixture
def opened():
    """Opens the data of a survey's page in a browser, with its script to be imported, and perhaps a twin of it."""
    collector = browsers.Collector()
    with browsers.chromium() as browser:

        def open_tab(survey):
            page = survey.page()
            script = browsers.script_of(page)
            collector.pages["/script.mjs"] = (script.encode(), "text/javascript")
            collector.pages["/twin.mjs"] = (script.replace(*OFF).encode(), "text/javascript")
            tab = browser.new_page()
            tab.goto(collector.serve(browsers.bare(page)))
            return tab

        yield open_tab
    collector.close()


@needs_browser
def test_the_browser_agrees_with_python_on_every_vector_and_draws_by_the_law(one, long, many, opened):
    for survey in (one, long, many):
        vectors = [vector.to_dict() for vector in survey.card.vectors(40, rng=1)]
        equal = opened(survey).evaluate(VECTORS, [vectors, survey.card.to_bytes().decode()])
        assert len(equal) > 40
        assert all(equal)
    assert deviation(_in_browser(opened(one), 1, 30_000), one, 1) > ALARM


@needs_browser
@pytest.mark.audit
def test_a_million_reports_drawn_by_the_browser_follow_the_law_and_those_of_a_twin_do_not(one, opened):
    tab = opened(one)
    check_law(one, lambda code, draws: _in_browser(tab, code, draws), 1_000_000)
    assert deviation(_in_browser(tab, 0, 1_000_000, "/twin.mjs"), one, 0) < ALARM


def _in_browser(tab, code, draws, script="/script.mjs"):
    source = f"""async (job) => {{
      const {{ draw, read }} = await import("{script}");
      {COUNT}
      return count({{ survey: JSON.parse(document.getElementById("data").textContent), ...job }});
    }}"""
    return tab.evaluate(source, {"codes": [code], "places": {}, "draws": draws})


@needs_node
def test_the_cell_of_a_table_is_the_one_that_python_reads(write, tmp_path):
    survey = write(TABLES)
    cells = survey.card.questions[0].values
    answers = [[first, second] for first in range(2) for second in range(3)]
    expression = "job.answers.map((answer) => codesOf(job.survey, answer)[0])"
    assert in_node(survey.page(), {"answers": answers}, tmp_path, expression) == list(range(6))
    labels = (("No", "Yes"), ("never", "sometimes", "often"))
    assert [f"{labels[0][first]}, {labels[1][second]}" for first, second in answers] == list(cells)
