"""The page for everybody: keyboard, screen readers, dark, narrow, large letters, large targets, no motion, print."""

from __future__ import annotations

import itertools
import re

import pytest

from ..surveys import MANY, ONE
from . import browser as browsers
from .browser import ALL, text
from .test_browser import page_of, violations

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

#: Buttons of the page by language: take part, go on, draw, show the truth.
BUTTONS = {
    "en": ("I take part", "Next", "Let chance decide and send", "Show me what chance did"),
    "fr": ("Je participe", "Suivant", "Tirer au sort et envoyer", "Voir ce que le hasard a fait"),
}
#: A question of every kind; the scale has eleven steps, and a refusal that is no step.
EVERY = MANY.replace("from = 1\nto = 5", "from = 0\nto = 10\nrefusal = true")

#: What is wider than the screen, or cut off inside a button, a label or a field.
WIDE = f"""() => [
  ...(document.documentElement.scrollWidth > innerWidth ? ["page"] : []),
  ...{ALL}("button, .choice, .step, input[type=text], summary, legend")
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth).map((part) => part.outerHTML),
]"""
#: What a thumb may miss: below 44 CSS pixels high, or narrower than that; a step of a long scale may be 24 wide.
SMALL = f"""() => {ALL}("button, .choice, .step, summary, input[type=text]")
  .map((part) => [part, part.getBoundingClientRect()])
  .filter(([part, box]) => box.height && (box.height < 44 || box.width < (part.matches(".step") ? 24 : 44)))
  .map(([part]) => part.outerHTML)"""
#: What moves.
MOVING = f"""() => [
  ...document.getAnimations().map(() => "animation"),
  ...{ALL}("*").map((part) => [part, getComputedStyle(part)])
    .filter(([, style]) => style.transitionDuration !== "0s" || style.animationName !== "none"
      || style.scrollBehavior !== "auto").map(([part]) => part.tagName),
]"""


def screens(tab, language="en"):
    """Go through the whole page, and stop at every screen: its name."""
    take_part, forward, draw, truth = BUTTONS[language]
    tab.locator(".buttons").wait_for()
    yield "invitation"
    for line in tab.locator("details:not([open]) > summary").all()[::-1]:
        line.click()
    yield "unfolded"
    tab.get_by_role("button", name=take_part, exact=True).click()
    tab.locator("fieldset").wait_for()
    tab.get_by_role("button", name=forward, exact=True).click()
    yield "missing"
    while tab.locator("fieldset").count():
        yield "question"
        if tab.locator("input[type=text]").count():
            tab.locator("input").fill("7")
        else:
            tab.locator("fieldset label").first.click()
        tab.get_by_role("button", name=forward, exact=True).click()
    yield "summary"
    tab.get_by_role("button", name=draw).click()
    tab.get_by_role("button", name=truth).click()
    tab.locator("summary").click()
    yield "sent"


def test_no_screen_breaks_a_rule_of_axe_in_the_dark_in_french_and_in_simple_words(write, visit):
    survey = write(f'address = "tu"\nreading = "simple"\n{EVERY}')
    tab = visit(page_of(survey), color_scheme="dark", locale="fr")
    names = [name for name in screens(tab, "fr") if violations(tab) == []]
    assert names == ["invitation", "unfolded", "missing", *["question"] * 5, "summary", "sent"]


@pytest.mark.audit("390")
@pytest.mark.parametrize(("width", "letters"), [(320, 100), (320, 200), (390, 200)])
def test_a_narrow_screen_and_large_letters_cut_nothing_off(width, letters, write, visit):
    larger = (
        f"addEventListener('DOMContentLoaded', () => {{ document.documentElement.style.fontSize = '{letters}%'; }})"
    )
    tab = visit(page_of(write(EVERY)), viewport={"width": width, "height": 640}, before=larger)
    for name in screens(tab):
        assert tab.evaluate(WIDE) == [], name
        assert tab.evaluate(MOVING) == [], name
        if letters == 100:
            assert tab.evaluate(SMALL) == [], name
            rows = {step.bounding_box()["y"] for step in tab.locator(".step").all()}
            assert len(rows) <= 1  # a scale stands in one row


def test_the_checks_of_width_size_and_motion_see_what_is_planted(one, visit):
    tab = visit(page_of(one), viewport={"width": 320, "height": 640})
    tab.locator(".buttons").wait_for()
    assert tab.evaluate(WIDE) == tab.evaluate(SMALL) == tab.evaluate(MOVING) == []
    tab.evaluate("Object.assign(document.querySelector('h1').style, { minWidth: '400px', transition: 'color 1s' })")
    tab.evaluate(
        "Object.assign(document.querySelector('.main').style, { minHeight: '0', height: '30px', padding: '0' })"
    )
    assert tab.evaluate(WIDE) == ["page"]
    assert len(tab.evaluate(SMALL)) == 1
    assert tab.evaluate(MOVING) == ["H1"]


FOCUS = "() => document.activeElement.innerText ?? ''"


def test_keyboard_and_screen_reader_go_through_every_question_in_its_order(write, visit, collector):
    """The heading of each question has the focus and says how far it is; Tab comes to the answers, then to the ways."""
    tab = visit(page_of(write(EVERY)))

    def press_until(name, role="button"):
        for _ in range(12):
            tab.keyboard.press("Tab")
            wanted = tab.get_by_role(role, name=name, exact=True)
            if wanted.count() and wanted.evaluate(browsers.HAS_FOCUS):
                return
        raise AssertionError(f"{name} cannot be reached")

    press_until("I take part")
    tab.keyboard.press("Enter")
    answers = {
        1: ("radio", "Yes", "Space"),
        2: ("textbox", "How many hours did you sleep last night?", "ArrowUp"),
        3: ("radio", "0 – not at all", "ArrowRight"),
        4: ("checkbox", "bullying", "Space"),
        5: ("radio", "A", "ArrowDown"),
    }
    for place, (role, name, key) in answers.items():
        heading = tab.get_by_role("heading", name=f"{place} of 5")
        heading.wait_for()
        assert re.fullmatch(rf"{place} of 5\s+.*\S", tab.evaluate(FOCUS))
        assert heading.evaluate("(element) => element === document.activeElement")
        press_until(name, role)
        tab.keyboard.press(key)
        if role == "textbox":
            assert tab.locator("input").input_value() == "0"  # from below
            tab.keyboard.press("Enter")
            continue
        press_until("Next")
        tab.keyboard.press("Enter")
    tab.locator(".summary").wait_for()
    assert tab.evaluate(FOCUS) == "Your answers"
    chosen = [line.inner_text() for line in tab.locator(".summary li p:nth-child(2)").all()]
    assert chosen == ["Yes", "0", "1", "bullying", "B"]
    press_until("Let chance decide and send")
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert tab.evaluate(FOCUS) == "Thank you: sent and counted"
    assert len(collector.bodies) == 1


def test_the_order_of_the_page_is_the_order_on_the_screen(write, visit):
    """From top to bottom, and from left to right in a row: what Tab reaches is where the eye is."""
    tab = visit(page_of(write(EVERY)))
    for name in screens(tab):
        boxes = tab.evaluate(
            f"""() => {ALL}("button, input, summary")
              .filter((part) => part.checkVisibility()).map((part) => part.getBoundingClientRect())
              .map(({{ top, left, bottom }}) => [top, left, bottom])"""
        )
        pairs = list(itertools.pairwise(boxes))
        if name != "summary":  # its last line may be behind the buttons, which stay at the thumb
            assert all(later[0] >= earlier[2] - 1 or later[1] > earlier[1] for earlier, later in pairs), name


def test_print_has_everything_unfolded_in_black_and_without_buttons(write, visit):
    tab = visit(page_of(write(EVERY)), color_scheme="dark")
    tab.locator(".buttons").wait_for()
    assert "Your true answer is not stored anywhere." not in text(tab)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print", color_scheme="dark")
    assert "Your true answer is not stored anywhere." in text(tab)
    assert tab.locator("button:visible").count() == 0
    look = (
        "() => { const { color, backgroundColor } = getComputedStyle(document.body); return [color, backgroundColor]; }"
    )
    assert tab.evaluate(look) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]


# Numbers and scales.

NUMBER = ONE.replace('"yes-no"', '"number"\nfrom = 0\nto = 12\nstep = 0.5')


def test_a_number_is_reached_by_large_buttons_by_larger_steps_and_by_typing(write, visit, collector):
    tab = visit(page_of(write(NUMBER)))
    tab.get_by_role("button", name="I take part", exact=True).click()
    field = tab.get_by_role("textbox")
    field.wait_for()
    names = [button.get_attribute("aria-label") for button in tab.locator(".number button").all()]
    assert names == ["0.5 less", "0.5 more", "2 less", "2 more"]

    def press(name):
        tab.get_by_role("button", name=name, exact=True).click()
        assert tab.get_by_role("status").inner_text() == field.input_value()  # a screen reader says it
        return field.input_value()

    assert press("0.5 less") == "12"  # from above
    assert press("2 more") == "12"
    assert press("2 less") == "10"
    field.fill("")
    assert press("0.5 more") == "0"  # from below
    assert press("0.5 less") == "0"
    assert press("2 more") == "2"
    assert press("0.5 more") == "2.5"
    field.fill("7.3")
    tab.get_by_role("button", name=browsers.DRAW).click()
    assert "Please enter a number from 0 to 12, in steps of 0.5." in text(tab)
    field.fill("7,5")
    assert press("0.5 more") == "8"
    assert "Please enter" not in text(tab)
    tab.keyboard.press("Enter")  # on the button
    assert field.input_value() == "8.5"
    field.press("Enter")  # the only question: nothing is drawn by a key in a field
    assert collector.bodies == []


def test_the_buttons_of_a_number_leave_no_trace_of_it_in_attributes(write, visit):
    """Two numbers by the same buttons: the elements differ in the text for screen readers only."""
    pages = []
    for presses in (3, 9):
        tab = visit(page_of(write(NUMBER)))
        tab.get_by_role("button", name="I take part", exact=True).click()
        for _ in range(presses):
            tab.get_by_role("button", name="0.5 more", exact=True).click()
        kept = tab.evaluate(browsers.SNAPSHOT)
        kept["dom"] = re.sub(r'(role="status">)[^<]*', r"\1", kept["dom"])
        pages.append(kept)
    assert pages[0] == pages[1]


@pytest.mark.audit("0-100", "1950")
@pytest.mark.parametrize(
    ("low", "high", "step", "jump"), [(0, 10, 1, None), (0, 100, 1, 20), (1950, 2010, 1, 10), (0, 1, 0.01, 0.2)]
)
def test_larger_steps_are_round_numbers_of_about_a_fifth_of_the_range(low, high, step, jump, write, visit):
    tab = visit(page_of(write(ONE.replace('"yes-no"', f'"number"\nfrom = {low}\nto = {high}\nstep = {step}'))))
    tab.get_by_role("button", name="I take part", exact=True).click()
    tab.locator(".number").first.wait_for()
    shown = [button.inner_text() for button in tab.locator(".jumps button").all()]
    assert shown == ([] if jump is None else [f"− {jump}", f"+ {jump}"])


def test_a_scale_with_a_refusal_sends_the_step_that_was_chosen(write, visit, collector):
    survey = write(
        ONE.replace('"yes-no"', '"scale"\nfrom = 0\nto = 10\nlow = "no"\nhigh = "yes"\nrefusal = true').replace(
            "epsilon = 1.0", "epsilon = 20.0"
        )
    )
    for place, label in ((0, "0 – no"), (4, "4"), (10, "10 – yes"), (11, "I would rather not say")):
        tab = visit(page_of(survey))
        tab.get_by_role("button", name="I take part", exact=True).click()
        tab.get_by_label(label, exact=True).check()
        assert tab.locator(".scale label").count() == 11
        browsers.draw(tab)
        tab.get_by_role("heading", name="sent and counted").wait_for()
        assert survey.parse(collector.bodies[-1]).columns["drinks"] == str(place)
