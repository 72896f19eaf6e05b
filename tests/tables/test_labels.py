"""However long labels are and wherever they differ, no two of them are written alike."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.tables.labels import distinct, exact, fitted, shortened
from bruit.tables.text import width

#: Characters that are easily taken for each other, or for nothing.
TRICKY = "ab \xa0\u200b\u200c\u200d\u2009\u202e\xad\ufe0f\u0301é…\\.x20日\u1100\u1161가שﬁ\t\n\u2800\u3164"
tricky = st.lists(st.text(TRICKY, max_size=12), min_size=1, max_size=12, unique=True)
texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), min_size=1, max_size=8, unique=True)


def seen(lines):
    """What the eye sees: no invisible characters, one kind of space. Written apart from the code."""
    kept = []
    for mark in unicodedata.normalize("NFKC", "\n".join(line.rstrip() for line in lines)):
        unseen = unicodedata.category(mark) in ("Cf", "Cc") and mark != "\n"
        if not (unseen or mark in "\u034f\u115f\u1160\u2800\u3164\uffa0\u17b4\u17b5" or "\ufe00" <= mark <= "\ufe0f"):
            kept.append(mark)
    return "\n".join(" ".join(line.split()) for line in "".join(kept).split("\n"))


@given(tricky | texts)
def test_different_labels_are_written_differently(labels):
    written = distinct(labels)
    assert len({seen([text]) for text in written.values()}) == len(labels)


@given(tricky | texts, st.integers(2, 60))
def test_different_labels_are_written_differently_in_any_width(labels, columns):
    lines = fitted(distinct(labels).values(), columns)
    assert len({seen(own) for own in lines.values()}) == len(labels)
    assert max(width(line) for own in lines.values() for line in own) <= columns


@pytest.mark.parametrize("columns", [8, 20, 60])
def test_cutting_labels_off_makes_them_alike(columns):
    """The control: what the tables did before is found out by the same eye."""
    labels = [f"{'a' * 99}{i:02}{'b' * 99}" for i in range(3)]
    assert len({seen([label[:columns]]) for label in labels}) == 1
    assert len({seen([shortened(label, columns)]) for label in labels}) == 1
    assert len({seen(own) for own in fitted(labels, columns).values()}) == 3


def test_a_difference_in_the_middle_is_shown_in_place_of_what_is_alike():
    labels = [f"{'a' * 99} {name} {'b' * 99}" for name in ("north", "south")]
    assert fitted(labels, 20) == {labels[0]: ("aaaaaa…north…bbbbbbb",), labels[1]: ("aaaaaa…south…bbbbbbb",)}


def test_labels_that_differ_everywhere_are_wrapped_whole():
    labels = ["x" * 20 + "ab" * 50 + "y" * 20, "x" * 20 + "ba" * 50 + "y" * 20]
    assert {text: "".join(lines) for text, lines in fitted(labels, 12).items()} == {text: text for text in labels}


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_an_exact_text_can_be_read_back(text):
    written = exact(text, spaces=True)
    assert " " not in written
    assert (
        written.replace("\\\\", "\0").encode("latin-1", "backslashreplace").decode("unicode_escape").replace("\0", "\\")
        == text.replace("\0", "\\")
        or "\0" in text
    )
