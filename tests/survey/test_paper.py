"""Paper: the law of the instruction is the law of the plan, and sheets are counted as any reports."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from fractions import Fraction

import pytest

from bruit.errors import ParameterError
from bruit.survey.paper import DEVICES, Paper

from ..plans import only_mechanism
from ..surveys import LONG, MANY, ONE
from . import browser as browsers

LABELS = {3: '["a", "b", "c"]', 4: '["a", "b", "c", "d"]', 6: '["a", "b", "c", "d", "e", "f"]'}


def survey_for(device, write):
    odds = f'odds = "{device.odds[0]}:{device.odds[1]}"'
    text = ONE.replace("epsilon = 1.0", odds)
    return write(
        text if device.answers == 2 else text.replace('"yes-no"', f'"choice"\nlabels = {LABELS[device.answers]}')
    )


def played(device, true):
    """The law of an instruction, by playing it with all throws; written from its text alone."""
    marks = [Fraction(0)] * device.answers
    six, coin = range(1, 7), ("heads", "tails")
    if device.text == "paper_die":
        for face in six:
            marks[true if face <= device.faces else 1 - true] += Fraction(1, 6)
    elif device.text == "paper_coins":
        for first, second in itertools.product(coin, coin):
            marks[true if first == "heads" else coin.index(second)] += Fraction(1, 4)
    elif device.text == "paper_coins_four":
        for first, second, third in itertools.product(coin, coin, coin):
            marks[true if first == "heads" else 2 * coin.index(second) + coin.index(third)] += Fraction(1, 8)
    elif device.text == "paper_die_three":
        for face in six:
            marks[true if face <= 3 else face - 4] += Fraction(1, 6)
    else:
        for face, again in itertools.product(six, six):
            marks[true if face <= 3 else again - 1] += Fraction(1, 36)
    return marks


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: f"{device.name} {device.answers}")
def test_the_instruction_has_exactly_the_law_of_the_plan(device, write):
    sheets = Paper(survey_for(device, write), device.name)
    assert sheets.parts[0].device == device
    for true in range(device.answers):
        assert played(device, true) == only_mechanism(sheets.parts[0].plan).law.row(true)
    assert device.law() == played(device, 0)
    assert len({device.text for device in DEVICES}) == 5


def test_a_sheet_says_what_to_do_and_what_that_promises(write):
    sheets = Paper(write(ONE.replace("epsilon = 1.0", 'odds = "3:1"')))
    assert sheets.parts[0].device.name == "coins"
    text = sheets.sheet("en").decode().replace("\u00a0", " ")
    assert "Tails: toss again, and mark “No” for heads, “Yes” for tails." in text
    assert "If your true answer is “Yes”, 75 of 100 people like you mark “Yes”." in text
    assert "50 % likely that something is true of your answer could come to think 75 %, at most" in text
    assert Paper(write(ONE)).parts[0].device.name == "die-4"  # two coins would tell more than ε = 1


def test_a_sheet_shows_every_label_as_it_is_written(write):
    labels = '["<script>x</script>", "$body {first} {second}", "c"]'
    survey = write(ONE.replace('"yes-no"', f'"choice"\nlabels = {labels}').replace("1.0", "2.0"))
    text = Paper(survey).sheet("en").decode()
    assert "<script" not in text
    assert "4: mark “&lt;script&gt;x&lt;/script&gt;”. 5: mark “$body {first} {second}”." in text


@pytest.mark.parametrize(
    ("text", "device", "message"),
    [
        (MANY, None, "yes-no, choice and scale"),
        (LONG, None, "2, 3, 4 or 6 answers"),
        (ONE, "coins", 'odds = "3:1"'),
        (ONE, "dice", "die-4, coins, die-5"),
        (ONE.replace("1.0", "0.5"), None, 'odds = "2:1"'),
    ],
)
def test_what_paper_cannot_do_is_refused_with_what_can_be_done(text, device, message, write):
    with pytest.raises(ParameterError, match=message):
        Paper(write(text), device)


def several(number, sizes=(2, 3, 6, 4, 2, 2)):
    """A survey with so many questions."""
    lines = ['title = "Many"\nodds = "7:1"']
    for place, size in enumerate(sizes[:number], 1):
        labels = '["no", "yes"]' if size == 2 else LABELS[size]
        lines.append(f'[[question]]\nname = "q{place}"\ntext = "Q{place}?"\nkind = "choice"\nlabels = {labels}')
    return "\n".join(lines)


def picked(text, number):
    """Which question each equally likely throw draws, read from the instruction; None is thrown again."""
    coins, digits = "coin" in text, re.findall(r"question (\d)", text)
    if coins:
        return [int(digit) for digit in digits]
    if digits:
        faces = [(int(a), int(b)) for a, b in re.findall(r"(\d) or (\d)", text)]
        return [int(digit) for digit, pair in zip(digits, faces, strict=True) for _ in pair]
    return [face if face <= number else None for face in range(1, 7)]


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_of_several_questions_a_coin_or_die_draws_each_alike_and_a_sheet_tells_no_more_than_one(number, write):
    sheets = Paper(write(several(number)))
    text, *_, promise = sheets.instructions("en")
    throws = Counter(picked(text, number))
    assert set(throws) - {None} == set(range(1, number + 1))
    assert len({throws[place] for place in range(1, number + 1)}) == 1
    # A sheet is (which, mark): its chance from any record is that of which, times that of the mark.
    rows = [only_mechanism(part.plan).law for part in sheets.parts]
    assert sheets.ratio == max(law.ratio for law in rows) <= 7
    assert sheets.guarantee.epsilon == max(plan.guarantee.epsilon for plan in sheets.plans.values())
    assert f"{math.ceil(100 * sheets.ratio / (1 + sheets.ratio))} %, at most" in promise.replace("\u00a0", " ")
    page = sheets.sheet("en").decode()
    assert [f"{place}. Q{place}?" in page for place in range(1, number + 1)] == [True] * number


def test_a_device_is_for_the_questions_that_it_fits(write):
    survey = write(several(3))
    assert [part.device.name for part in Paper(survey, "die-4").parts] == ["die-4", "die", "dice"]
    with pytest.raises(ParameterError, match="die-4, coins, die-5, die, dice"):
        Paper(survey, "wheel")
    with pytest.raises(ParameterError, match="at most 6 questions"):
        Paper(write(several(7, (2,) * 7)))


@pytest.mark.audit
@pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())
def test_sheets_of_several_questions_are_saved_by_question(write, tmp_path):
    sheets = Paper(write(several(2)))
    (tmp_path / "entry.html").write_bytes(sheets.entry("en"))
    with browsers.chromium() as browser:
        tab = browser.new_page()
        tab.goto((tmp_path / "entry.html").as_uri())
        for label in ("yes", "c", "a", "no", "yes", "c"):
            tab.get_by_role("button", name=re.compile(f"^{label}")).click()
        for name in sheets.plans:
            with tab.expect_download() as download:
                tab.get_by_role("link", name=f"Save 3 sheets – {name}.csv").click()
            download.value.save_as(tmp_path / f"{name}.csv")
    counts = [plan.tally(tmp_path / f"{name}.csv").counts.tolist() for name, plan in sheets.plans.items()]
    assert counts == [[1, 2], [1, 0, 2]]


@pytest.mark.audit
@pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())
def test_sheets_that_are_entered_in_a_browser_are_counted(write, tmp_path):
    sheets = Paper(write(ONE))
    (tmp_path / "entry.html").write_bytes(sheets.entry("en"))
    with browsers.chromium() as browser:
        tab = browser.new_page()
        tab.goto((tmp_path / "entry.html").as_uri())
        for label in ("Yes", "No", "Yes", "Yes", "No"):
            tab.get_by_role("button", name=label).click()
        tab.get_by_role("button", name="Undo").click()
        with tab.expect_download() as download:
            tab.get_by_role("link", name="Save 4 sheets").click()
        assert download.value.suggested_filename == "drinks.csv"
        download.value.save_as(tmp_path / "drinks.csv")
    assert (tmp_path / "drinks.csv").read_text() == "drinks\n0\n1\n1\n1\n"
    tally = sheets.plans["drinks"].tally(tmp_path / "drinks.csv")
    assert (tally.n, tally.refused, tally.counts.tolist()) == (4, 0, [1, 3])
