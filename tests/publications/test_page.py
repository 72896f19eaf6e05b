"""The page of a publication says what is promised, and needs nothing from anywhere."""

import re

import pytest

from bruit.publications import publish
from bruit.publications.page import page


def test_the_page_has_every_statistic_the_promise_in_words_and_the_method(plan):
    plan.write_text(plan.read_text().replace("page = false", "page = true"))
    published = publish(plan)
    text = (published.folder / "index.html").read_text()
    assert text == page(published)
    for name in published.results:
        assert f"<h2>{name}</h2>" in text
    assert "at most 2.72 times as likely" in text
    assert "one chance in 1,000,000 more" in text
    assert "ε = 1, δ = 1e-06 (central, one person added or removed with all their rows)" in text
    assert "Desfontaines" in text
    assert "Kaplan" in text
    assert "Canonne" not in text or any(result.guarantee.delta for result in published.results.values())
    assert published.digest in text
    assert text.count("<svg") == sum(len(result) > 1 for result in published.results.values())
    assert not re.search(r"(?:src|href)=\"http", text)


def test_a_page_of_pure_results_says_what_can_be_believed(plan):
    text = plan.read_text().replace("page = false", "page = true").replace("delta = 1e-6\n", "")
    blocks = text.split("[[statistic]]")
    plan.write_text("[[statistic]]".join([blocks[0], blocks[1]]).replace(", delta = 1e-5", ""))
    html = (publish(plan).folder / "index.html").read_text()
    assert "at least 26 % and at most 74 % likely" in html or "at least 27 % and at most 73 % likely" in html


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", "A & B"])
def test_a_title_is_text(plan, title):
    plan.write_text(plan.read_text().replace('title = "Visits"', f'title = "{title}"').replace("page = false\n", ""))
    html = (publish(plan).folder / "index.html").read_text()
    assert title not in html
