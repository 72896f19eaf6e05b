"""A question as one line of text."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.domains import Categories, Dates, Grid
from bruit.domains.declare import question, questions
from bruit.domains.domain import Domain
from bruit.errors import BruitError, ParameterError


@pytest.mark.parametrize(
    ("text", "name", "domain"),
    [
        ("smokes=no,yes", "smokes", Categories(labels=["no", "yes"])),
        (" smokes = no, yes", "smokes", Categories(labels=["no", "yes"])),
        ('town="Paris, 5e",Lyon', "town", Categories(labels=["Paris, 5e", "Lyon"])),
        ('"a=b"=no,yes', "a=b", Categories(labels=["no", "yes"])),
        ('"say ""x"""=no,yes', 'say "x"', Categories(labels=["no", "yes"])),
        ("expr=a=1,a=2", "expr", Categories(labels=["a=1", "a=2"])),
        ('size="1..2",more', "size", Categories(labels=["1..2", "more"])),
        ('sure="?",yes', "sure", Categories(labels=["?", "yes"])),
        ("age=17..90", "age", Grid(17, 90)),
        ("age=17..90/10", "age", Grid(17, 90, cells=10)),
        ("t=-1.5..2e1/8", "t", Grid(-1.5, 20.0, cells=8)),
        ("x=0..1:0.01", "x", Grid(0, 1, cells=101)),
        ("when=2023-01-01..2023-12-31", "when", Dates("2023-01-01", "2023-12-31")),
        ("when=2023-01-01..2023-12-31/week", "when", Dates("2023-01-01", "2023-12-31", every="week")),
        ("when=2023-01..2023-12/month", "when", Dates("2023-01", "2023-12", every="month")),
        (
            "when=2023-01-01T08:00..2023-01-01T18:00/hour",
            "when",
            Dates("2023-01-01T08:00", "2023-01-01T18:00", every="hour"),
        ),
        ("smokes=?", "smokes", None),
    ],
)
def test_a_line_declares_a_column(text: str, name: str, domain: Domain | None) -> None:
    assert question(text) == (name, domain)


def test_the_answers_may_stand_in_a_file(tmp_path: Path) -> None:
    towns = tmp_path / "towns.txt"
    towns.write_text("Paris, 5e\n\nLyon\n", encoding="utf-8-sig")
    assert question(f"town=@{towns}").domain == Categories(labels=["Paris, 5e", "Lyon"])
    towns.write_text("Lyon\n")
    with pytest.raises(BruitError, match="two lines"):
        question(f"town=@{towns}")
    with pytest.raises(BruitError, match="no file"):
        question(f"town=@{tmp_path / 'nothing.txt'}")
    with pytest.raises(BruitError, match="UTF-8"):
        question(f"town=@{tmp_path}")


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("smokes:no,yes", "smokes=no,yes"),
        ("smokes=no;yes", "smokes=no,yes"),
        ("smokes=no|yes|often", "smokes=no,yes,often"),
        ("smokes=no/yes", "smokes=no,yes"),
        ("age=17-90", "age=17..90"),
        ("age=17 to 90", "age=17..90"),
        ("age=90..17", "age=17..90"),
        ("when=2023-01-01..2023-12-31/months", "when=2023-01-01..2023-12-31/month"),
        ("x=0..1:0.3", "0..1:0.01"),
        ("smokes", "smokes=?"),
        ("why", "--open-ended"),
        ("smokes=", "smokes=no,yes"),
        ("smokes=yes", "smokes=no,yes"),
        ("smokes=no,,yes", "smokes=no,yes"),
        ("", "smokes=no,yes"),
        ("=no,yes", "smokes=no,yes"),
    ],
)
def test_an_error_shows_the_corrected_spelling(text: str, corrected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        question(text)
    assert corrected in str(caught.value)


def test_a_column_is_declared_once() -> None:
    with pytest.raises(ParameterError, match="'sex' stands there twice"):
        questions(["sex=F,M", "age=1..9", "sex=M,F"])


def _quoted(text: str) -> str:
    """A name or label, in quotes where it would be read as something else."""
    plain = not re.search(r'[=",?@]|\.\.|^\s|\s$', text) and text
    return text if plain else '"' + text.replace('"', '""') + '"'


_TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\x00", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1
)


@settings(max_examples=300, deadline=None)
@given(_TEXTS, st.lists(_TEXTS, min_size=2, max_size=5, unique=True))
def test_the_spelling_of_any_labels_is_read_back(name: str, labels: list[str]) -> None:
    try:
        domain = Categories(labels=labels)
    except ParameterError:
        return  # alike after normalisation
    assert question(f"{_quoted(name)}={','.join(map(_quoted, labels))}") == (name, domain)


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("x=17..90", Grid(17, 90)),
        ("x=0.0..1.0", Grid(0.0, 1.0)),
        ("x=0..1/11", Grid(0, 1, cells=11)),
        ("x=2022-12-26..2023-02-27/week", Dates("2023-01-01", "2023-03-01", every="week")),
        ("x=2020-01..2020-05/month", Dates("2020-01", "2020-05", every="month")),
    ],
)
def test_the_spelling_of_a_range_is_read_back(text: str, domain: Domain) -> None:
    assert question(text).domain == domain


@pytest.mark.parametrize("text", ["a=0..1:1e-9999999", "a=0..1e400:1", "a=0..1:1e-400", "a=0..1:0." + "0" * 60 + "1"])
def test_a_step_beyond_all_doubles_is_refused_and_not_computed(text):
    with pytest.raises(ParameterError):
        question(text)


@pytest.mark.parametrize("text", [" " * 50_000, "a=" + "9" * 50_000, "a" + " " * 50_000 + "b"])
def test_a_question_of_any_length_is_refused_soon(text):
    started = time.process_time()
    with pytest.raises(ParameterError):
        question(text)
    assert time.process_time() - started < 1
