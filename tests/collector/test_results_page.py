"""The page of results in a browser: phone, projector, slider, files to save, languages; by keyboard and by axe."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import pytest

from bruit.collector.chance import law_of
from bruit.collector.estimates import table
from bruit.collector.results_page import _file_name, languages, page, pages, question_files
from bruit.survey import Survey

from ..survey import browser as browsers
from ..survey.test_browser import violations
from ..surveys import rounds
from .six import six

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

PHONE = {"width": 390, "height": 844}
#: The most screens of a phone that six questions may take.
MOST = 5
PROJECTORS = [(1280, 720), (1920, 1080)]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return six(tmp_path_factory.mktemp("six"))


@pytest.fixture(scope="module")
def content(shown):
    return page(shown)


def screens(tab) -> float:
    return tab.evaluate("document.documentElement.scrollHeight") / PHONE["height"]


def is_too_wide(tab) -> bool:
    return tab.evaluate("document.documentElement.scrollWidth > innerWidth")


def seen(tab) -> str:
    return tab.locator("main:not([hidden])").inner_text().replace("\u00a0", " ")


def unfolded(tab) -> str:
    """What a reader sees who opens all that is folded."""
    tab.evaluate("for (const part of document.querySelectorAll('main:not([hidden]) details')) part.open = true")
    return seen(tab)


def current(tab):
    return tab.locator("main:not([hidden]) .card.current")


# A phone.


@pytest.mark.parametrize("language", ["en", "fr"])
def test_six_questions_take_five_screens_of_a_phone_at_most(language, content, visit) -> None:
    tab = visit(content, locale=language)
    cards = tab.locator("main:not([hidden]) .card")
    assert cards.count() == 6
    assert all(card.locator(".lead, .bars").count() >= 2 and card.is_visible() for card in cards.all())
    assert screens(tab) <= MOST
    assert not is_too_wide(tab)
    tab.evaluate("document.querySelector('main:not([hidden]) header').style.paddingBottom = '3000px'")
    assert screens(tab) > MOST  # the count sees what takes room


def test_a_small_phone_and_large_letters_do_not_scroll_sideways(content, visit) -> None:
    for width, letters in ((320, "100%"), (320, "200%"), (390, "200%")):
        tab = visit(content, viewport={"width": width, "height": 640})
        unfolded(tab)
        tab.evaluate("(size) => { document.documentElement.style.fontSize = size; }", letters)
        assert not is_too_wide(tab)


@pytest.mark.audit("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_breaks_a_rule_of_axe(scheme, content, visit) -> None:
    tab = visit(content, color_scheme=scheme)
    unfolded(tab)
    assert violations(tab) == []
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.locator("main:not([hidden]) .open").click()
    assert violations(tab) == []
    tab.keyboard.press("ArrowDown")
    assert violations(tab) == []


def test_without_a_script_the_page_is_in_the_language_of_its_server_and_has_no_dead_buttons(shown, visit) -> None:
    for language, own in pages(shown).items():
        tab = visit(own, locale="de", java_script_enabled=False)
        title = shown.survey.title[language]
        assert tab.get_by_role("heading", level=1).inner_text() == title
        assert tab.locator("button:visible, input:visible").count() == 0
        tab.locator("main:not([hidden]) summary").first.click()
        assert tab.locator("table:visible").count() == 1


def test_it_is_printed_with_its_tables_and_without_its_buttons(content, visit) -> None:
    tab = visit(content)
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("main:not([hidden]) .sure table:visible").count() == 6
    assert tab.locator("main:not([hidden]) .by .bars:visible").count() == 12
    assert tab.locator("button:visible, input:visible").count() == 0
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    tab.emulate_media(media="screen")
    assert tab.locator("details[open]").count() == 0


# Languages.


def test_the_page_follows_the_reader_and_can_be_switched(content, visit) -> None:
    tab = visit(content, locale="fr-CH")
    assert "Sur 100 personnes comme celles-ci" in seen(tab)
    assert tab.evaluate("document.documentElement.lang") == "fr"
    tab.get_by_role("button", name="English").click()
    assert "Of 100 people like these" in seen(tab)
    assert "Sur 100 personnes" not in seen(tab)
    assert tab.evaluate("document.activeElement.textContent") == "Français"


def test_a_saved_file_does_all_that_without_a_server(content, chromium, tmp_path) -> None:
    path = tmp_path / "class.html"
    path.write_bytes(content)
    context = chromium.new_context(locale="fr", viewport={"width": 1280, "height": 720}, offline=True)
    for suffix in ("#present", "?present", "#present=1"):
        tab = context.new_page()
        tab.goto(path.as_uri() + suffix)
        assert current(tab).get_by_role("heading").first.inner_text().startswith("As-tu bu de l’alcool")
        assert tab.locator(".card:visible").count() == 1
    context.close()


def test_a_survey_without_texts_in_its_language_is_shown_in_english(shown) -> None:
    assert languages(shown.survey) == ("en", "fr")
    german = type("Survey", (), {"languages": ("de",)})()
    assert languages(german) == ("en",)


# A projector.


@pytest.mark.audit("en-1920", "fr-1280")
@pytest.mark.parametrize(("width", "height"), PROJECTORS)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_projector_shows_one_question_at_a_time_and_all_of_it(language, width, height, content, visit) -> None:
    tab = visit(content, fragment="?present", viewport={"width": width, "height": height}, locale=language)
    for place in range(1, 7):
        cards = tab.locator(".card:visible")
        assert cards.count() == 1
        assert f"{place} of 6" in seen(tab) or f"{place} sur 6" in seen(tab)
        assert tab.evaluate("document.documentElement.scrollHeight <= innerHeight")
        heading = tab.locator(".card:visible :is(h2, h3)")
        assert float(heading.evaluate("(node) => parseFloat(getComputedStyle(node).fontSize)")) >= height / 22
        assert tab.locator(".dots:visible").count() == 2
        tab.keyboard.press("ArrowRight")
    assert tab.locator("main:not([hidden]) .next").is_disabled()


def test_the_keyboard_does_everything(content, visit) -> None:
    tab = visit(content, viewport={"width": 1280, "height": 720})
    tab.locator("main:not([hidden]) .open").focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.className") == "next"
    tab.keyboard.press("Enter")
    tab.keyboard.press("PageDown")
    assert "3 of 6" in seen(tab)
    tab.keyboard.press("End")
    assert "6 of 6" in seen(tab)
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowLeft")
    assert "1 of 6" in seen(tab)
    tab.keyboard.press("ArrowDown")
    assert current(tab).locator("input").is_visible()
    assert not current(tab).locator(".lead").is_visible()
    current(tab).locator("input").focus()
    tab.keyboard.press("ArrowRight")  # moves the slider, and not the slides
    assert current(tab).locator("output").inner_text() == "1"
    assert "1 of 6" in seen(tab)
    tab.keyboard.press("Escape")
    assert tab.locator(".card:visible").count() == 6
    assert "present" not in tab.url


def test_a_reload_keeps_the_slide_and_the_language_switch_too(content, visit) -> None:
    tab = visit(content, fragment="?token=x&present", viewport={"width": 1280, "height": 720})
    tab.get_by_role("button", name="Next").click()
    tab.reload()
    assert "2 of 6" in seen(tab)
    tab.get_by_role("button", name="Français").click()
    assert "2 sur 6" in seen(tab)
    tab.get_by_role("button", name="Fermer").click()
    assert tab.url.endswith("?token=x")


def test_a_projector_shows_no_number_that_the_page_does_not(content, visit) -> None:
    """But for the number of the slide, and what the slider says of people who do not exist."""
    tab = visit(content, viewport={"width": 1280, "height": 720})
    on_page = set(re.findall(r"\d+(?:\.\d+)?", unfolded(tab)))
    tab.get_by_role("button", name="Present").click()
    while True:
        for view in tab.locator(".views button:visible").all() or [None]:
            if view is not None:
                view.click()
            text = current(tab).inner_text().replace("\u00a0", " ")
            assert set(re.findall(r"\d+(?:\.\d+)?", text)) <= on_page
        if tab.locator("main:not([hidden]) .next").is_disabled():
            break
        tab.get_by_role("button", name="Next").click()


def test_where_nothing_is_shown_there_is_nothing_to_present(shown, visit) -> None:
    nothing = replace(shown, rounds={}, tallies={})
    tab = visit(page(nothing), fragment="?present")
    assert "Results are shown from 20 answers on" in seen(tab)
    assert tab.locator("button:visible").all_inner_texts() == ["Français"]


# The slider.


def test_the_slider_says_what_the_law_says(shown, content, visit) -> None:
    tab = visit(content)
    law = law_of(shown.survey.plan, "smokes")
    card = tab.locator("main:not([hidden]) .card").nth(1)
    card.locator("details.why summary").click()
    slider = card.locator("input")
    (question,) = [question for question in shown.rounds[1] if question.name == "smokes"]
    share = float(question.answer.frequency[1])
    closest = round(100 * min(max(share, 0), 1))
    for people in (0, 1, closest, 50, 99, 100):
        slider.evaluate(
            "(node, value) => { node.value = value; node.dispatchEvent(new Event('input', { bubbles: true })); }",
            str(people),
        )
        exact = 100 * (law.other + Fraction(people, 100) * (law.own - law.other))
        reports = int(re.search(r"about (\d+) of 100 reports say “Yes”", card.locator(".said").inner_text())[1])
        assert abs(reports - exact) <= Fraction(1, 2)
        assert abs(int(card.locator(".law .truth").get_attribute("width")) - 10 * exact) <= Fraction(1, 2)
        assert card.locator("output").inner_text() == str(people)
        hint = "closer" if people == closest else "right" if people < closest else "left"
        assert hint in card.locator(".said").inner_text()
    observed = 100 * (law.other + Fraction(share) * (law.own - law.other))
    assert abs(int(re.search(r"In this survey (\d+) did", card.locator(".said").inner_text())[1]) - observed) <= 0.55


def test_the_bar_does_not_move_for_those_who_do_not_want_motion(content, visit) -> None:
    for motion, duration in (("reduce", "0s"), ("no-preference", "0.15s")):
        tab = visit(content, reduced_motion=motion)
        bar = tab.locator("main:not([hidden]) .law .truth").first
        assert bar.evaluate("(node) => getComputedStyle(node).transitionDuration") == duration


# Files.


def test_each_question_is_saved_as_picture_drawing_and_table(shown, content, visit, collector, tmp_path) -> None:
    tab = visit(content, locale="fr")
    files = question_files(shown)
    card = tab.locator("main:not([hidden]) .card").nth(5)
    card.locator("details.save summary").click()
    saved = {}
    for button in card.locator("details.save button").all():
        with tab.expect_download() as download:
            button.click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[path.name] = path.read_bytes()
    assert saved["school-seen.csv"].decode() == files["question-seen.csv"]
    assert saved["school-seen.svg"].decode() == files["question-seen.fr.svg"]
    picture = saved["school-seen.png"]
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    drawn = ElementTree.fromstring(files["question-seen.fr.svg"])
    sizes = [int.from_bytes(picture[start : start + 4], "big") for start in (16, 20)]
    assert sizes == [2 * int(drawn.get("width")), 2 * int(drawn.get("height"))]
    assert len(set(picture)) > 100  # not an empty picture
    assert [request[:2] for request in collector.requests] == [("GET", "/s/class")]  # nothing was loaded or sent


def test_the_files_of_all_questions_are_the_rows_of_the_whole_table_as_the_page_shows_them(shown, content) -> None:
    files = question_files(shown)
    whole = list(csv.DictReader(table(shown).to_csv().splitlines()))
    texts = [text for name, text in files.items() if name.endswith(".csv")]
    rows = [row for text in texts for row in csv.DictReader(text.splitlines())]
    assert len(rows) == len(whole)
    main = re.findall("<main.*?</main>", content.decode(), re.DOTALL)[0].replace("\u00a0", " ").replace("−", "-")
    for row, exact in zip(rows, whole, strict=True):
        assert "standard_error" not in row
        assert all(row[name] == exact[name] for name in ("round", "attribute", "group", "member", "answers", "label"))
        numbers = [float(row[name]) for name in ("estimate", "lower", "upper")]
        is_mean = row["attribute"] == "sleep"
        close = 1e-3 if is_mean else 0.5001e-3
        assert numbers == pytest.approx([float(exact[name]) for name in ("estimate", "lower", "upper")], abs=close)
        if row["attribute"].startswith("seen") and row["label"].lower() == "no":
            continue  # of a choice the page shows the yes
        value, *ends = (f"{number:.4g}" if is_mean else f"{100 * number:.1f}" for number in numbers)
        assert f">{value}{'' if is_mean else ' %'}<" in main
        assert f">{ends[0]} … {ends[1]}<" in main


def test_each_question_has_a_table_and_a_picture_in_each_language(shown) -> None:
    names = {name.removeprefix("question-") for name in question_files(shown)}
    keys = [question.name for question in shown.survey.sensitive]
    assert names == {f"{key}.{suffix}" for key in keys for suffix in ("csv", "en.svg", "fr.svg")}


def test_no_label_is_a_part_of_the_name_of_a_file(tmp_path) -> None:
    """A survey may come from somebody else, and a choice may be called like a path."""
    text = rounds(["2020-01-05T08:00:00Z", "2020-01-06T08:00:00Z", "2020-01-07T08:00:00Z", "2020-01-08T08:00:00Z"])
    several = '[[question]]\nname = "seen"\ntext = "Seen?"\nkind = "several"\nlabels = ["../../x", "a b"]\n'
    path = tmp_path / "hostile.toml"
    path.write_text(f"{text}{several}", encoding="utf-8")
    survey = Survey.load(path)
    names = [_file_name(survey, name) for name in survey.plan.schema]
    assert names == ["slept", "seen-1", "seen-2"]
