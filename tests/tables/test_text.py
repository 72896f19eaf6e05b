"""Text is measured as a terminal shows it, and numbers and counts are written in one way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.tables import at_least, at_most, counted, interval_of, number, percent, shown, width, wrap
from bruit.tables.text import chunks, clusters, padded

WIDTHS = {
    "plain": 5,
    "é": 1,
    "e\u0301": 1,
    "日本語": 6,
    "ｗｉｄｅ": 8,
    "שָׁלוֹם": 4,
    "مَرحبا": 5,
    "한국": 4,
    "\u1100\u1161": 2,
    "नमस्ते": 4,
    "👨‍👩‍👧": 2,
    "🇫🇷": 2,
    "👍🏽": 2,
    "❤️": 2,
    "": 0,
}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
sentences = st.lists(st.text("abc %=…é日", min_size=1, max_size=30), max_size=8).map(" ".join)


@pytest.mark.parametrize(("text", "columns"), WIDTHS.items())
def test_a_text_is_as_wide_as_a_terminal_shows_it(text, columns):
    assert width(text) == columns


@given(texts)
def test_characters_with_their_marks_make_up_the_text(text):
    assert "".join(clusters(text)) == text


@given(texts, st.integers(2, 20))
def test_chunks_make_up_the_text_and_fit(text, columns):
    found = chunks(text, columns)
    assert "".join(found) == text
    assert max(map(width, found)) <= columns


@given(sentences, st.integers(4, 40))
def test_a_wrapped_text_keeps_its_words_and_fits(text, columns):
    lines = wrap(text, columns)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert max(map(width, lines)) <= columns


def test_a_number_stays_on_the_line_of_its_sign():
    lines = wrap("a share of r = 37.00 % of all people and ε = 1.0986 at a level of 95 % or more", 12)
    assert not any(line.startswith(("%", "=")) or line.endswith("=") for line in lines)


@given(texts)
def test_nothing_that_is_shown_can_steer_a_terminal(text):
    bidi = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
    assert not any(mark < " " or "\x7f" <= mark <= "\x9f" or mark in bidi for mark in shown(text))


def test_a_cell_keeps_the_numbers_after_letters_that_are_written_from_right_to_left_in_their_order():
    """Without the mark, a terminal that knows both directions would show the columns that follow in reverse."""
    assert padded("שלום", 6) == "שלום\u200e  "
    assert padded("مرحبا", 6, right=True) == " مرحبا\u200e"
    assert padded("hello", 6) == "hello "


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(1, "report", "1 report"), (0, "report", "0 reports"), (48_842, "person", "48,842 people"),
     (2, "entry", "2 entries"), (1, "entry", "1 entry"), (3, "category", "3 categories"), (2, "day", "2 days"),
     (2, "match", "2 matches")],
)  # fmt: skip
def test_counts_agree_with_their_noun(count, noun, text):
    assert counted(count, noun) == text


@pytest.mark.parametrize(
    ("level", "text"), [(0.95, "95 % interval"), (0.999, "99.9 % interval"), (1 - 1e-7, "99.99999 % interval")]
)
def test_an_interval_is_called_by_its_level(level, text):
    assert interval_of(level) == text


@given(st.floats(0, 1), st.integers(0, 3))
def test_bounds_are_rounded_to_the_private_side(share, places):
    most, least = (float(text.removesuffix(" %")) for text in (at_most(share, places), at_least(share, places)))
    unit = 10.0**-places
    assert least - 1e-8 * unit <= 100 * share <= most + 1e-8 * unit
    assert most - least <= unit * (1 + 1e-9)


def test_a_bound_that_is_a_round_number_stays_one():
    assert (at_most(0.7310586), at_most(0.75 + 1e-15), at_most(1 - 1e-12), at_least(0.25 - 1e-15)) == (
        "74 %",
        "75 %",
        "100 %",
        "25 %",
    )


def test_small_shares_are_not_written_as_nothing():
    assert (percent(0.5), percent(0.0), percent(1e-9)) == ("50.0 %", "0.0 %", "1e-07 %")


def test_numbers_are_written_for_people():
    assert [number(value) for value in (3, 2.5, 1e7, 1e20, None)] == ["3", "2.5", "10,000,000", "1e+20", ""]
