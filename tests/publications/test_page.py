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
    assert re.search(r"<p>About [\d,]+, give or take [\d,]+\.</p>", text)
    assert text.count(", chosen by chance; how many rows that leaves out is not known") == len(_limits(published))
    clamped = [result for result in published.results.values() if "age" in result.statistic.get("column", "")]
    assert text.count("Values outside the declared bounds count as the nearest bound") == len(clamped) == 2
    assert text.count("<details>") == 3  # what is promised, what it cost, how it was done
    assert "Desfontaines" in text
    assert "Kaplan" in text
    assert "Canonne" not in text or any(result.guarantee.delta for result in published.results.values())
    assert published.digest in text
    assert text.count("<svg") == sum(len(r) > 1 and r.ends is not None for r in published.results.values())
    assert not re.search(r"(?:src|href)=\"http", text)


def test_a_page_of_pure_results_says_what_can_be_believed(plan):
    text = plan.read_text().replace("page = false", "page = true").replace("delta = 1e-6\n", "")
    blocks = text.split("[[statistic]]")
    plan.write_text("[[statistic]]".join([blocks[0], blocks[1]]).replace(", delta = 1e-5", ""))
    html = (publish(plan).folder / "index.html").read_text()
    assert "at least 26 % and at most 74 % likely" in html or "at least 27 % and at most 73 % likely" in html


def _limits(published):
    return [note for result in published.results.values() for note in result.notes if "chosen by chance" in note]


def test_one_number_is_a_sentence_that_says_of_which_rows_and_numbers_it_is(plan):
    mean = '[[statistic]]\nname = "mean age"\nkind = "mean"\nof = "age=18..100"\n'
    head = plan.read_text().replace("delta = 1e-6\n", "").replace(", delta = 1e-5", "").split("[[statistic]]")[0]
    plan.write_text(head + mean)
    bounded = page(publish(plan))
    assert "At most 4 rows of each" in bounded
    assert "Values outside the declared bounds count as the nearest bound." in bounded
    unbounded = head.split("[person]")[0].replace("visits.ledger", "rows.ledger") + 'output = "rows"\n'
    unbounded = unbounded.replace("page = false", "page = true")
    plan.write_text(f'{unbounded}{mean}outside = "refuse"\ndescription = "Ages & more"\n')
    with pytest.warns(PeopleWarning):
        published = publish(plan)
    text = (published.folder / "index.html").read_text()
    assert "Ages &amp; more" in text
    assert "nearest bound" not in text
    assert "At most" not in text


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", "A & B"])
def test_a_title_is_text(plan, title):
    plan.write_text(plan.read_text().replace('title = "Visits"', f'title = "{title}"').replace("page = false\n", ""))
    html = (publish(plan).folder / "index.html").read_text()
    assert title not in html
