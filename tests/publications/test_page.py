"""The page of a publication says what is promised, and needs nothing from anywhere."""

import re

import pytest

from bruit.publications import publish
from bruit.publications.page import page
from bruit.releases import PeopleWarning


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
    assert re.search(r"without noise, of the rows that count, it is from [\d,]+ to [\d,]+, with probability", text)
    assert text.count("intervals are of these rows, not of all") == len(published.results)
    clamped = [result for result in published.results.values() if "age" in result.statistic.get("column", "")]
    assert text.count("Values outside the declared bounds count as the nearest bound") == len(clamped) == 2
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


def test_the_interval_of_one_number_says_of_which_rows_and_numbers_it_is(plan):
    mean = '[[statistic]]\nname = "mean age"\nkind = "mean"\nof = "age=18..100"\n'
    head = plan.read_text().replace("delta = 1e-6\n", "").replace(", delta = 1e-5", "").split("[[statistic]]")[0]
    plan.write_text(head + mean)
    bounded = page(publish(plan))
    assert "without noise, of the rows that count and with values kept within their bounds, it is from" in bounded
    unbounded = head.split("[person]")[0].replace("visits.ledger", "rows.ledger") + 'output = "rows"\n'
    plan.write_text(f'{unbounded}{mean}outside = "refuse"\n')
    with pytest.warns(PeopleWarning):
        assert "without noise it is from" in page(publish(plan))


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", "A & B"])
def test_a_title_is_text(plan, title):
    plan.write_text(plan.read_text().replace('title = "Visits"', f'title = "{title}"').replace("page = false\n", ""))
    html = (publish(plan).folder / "index.html").read_text()
    assert title not in html
