"""Open answers: spellings of one answer are one code, and a prefix of a text is a prefix of its bits."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.domains import OpenText, Schema
from bruit.domains.domain import DictionaryColumn
from bruit.domains.open_text import LETTER_BITS, SIGNS, normalised
from bruit.errors import BruitError, DataTypeError, MissingError, ParameterError


def test_64_signs_fill_six_bits() -> None:
    assert len(SIGNS) == len(set(SIGNS)) == 2**LETTER_BITS


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Noise", "  nOISE  "),
        ("caf\u00e9", "cafe\u0301"),
        ("Straße", "STRASSE"),
        ("ﬁne", "fine"),
        ("a  b", "a\u00a0b"),
        ("l’eau", "l'eau"),
        ("œuf", "OEUF"),
        ("3", 3),
        ("3", 3.0),
        ("0.1", np.float32(0.1)),
        ("ab\0z", "abz"),
        ("homework", "homeworks"),
        ("İstanbul", "istanbul"),
        ("x\u0304a", "xa"),
        ("ǿre", "øre"),
        ("ǽ", "ae"),
        ("bicycle", "bicycle ride"),
        ("train à", "train à vapeur"),
        ("\u3164" * 300 + "bus", "bus"),
        (" " * 300 + "bus", "bus"),
        *(
            (f"b{unseen}us", "bus")
            for unseen in "\u3164\uffa0\u2800\ufff9\U0001d173\u200b\u00ad\u200f\ufeff\ufe0f\u2060\U000e0041"
        ),
        ("don‘t", "don't"),
        ("e\u200d\u0301t", "ét"),
        *((f"a{dash}b", "a-b") for dash in "‐‑‒–—−"),
    ],
)
def test_spellings_of_one_answer_are_one_code(first: object, second: object) -> None:
    domain = OpenText()
    assert domain.encode([first]) == domain.encode([second])


@pytest.mark.parametrize(("first", "second"), [("ou", "où"), ("a b", "ab"), ("café", "cafe"), ("oui", "oui!")])
def test_other_answers_are_other_codes(first: str, second: str) -> None:
    domain = OpenText()
    assert domain.encode([first]) != domain.encode([second])


def test_every_sign_is_read_back() -> None:
    domain = OpenText(letters=2)
    texts = [f"a{sign}".rstrip() for sign in SIGNS[2:]]
    assert domain.decode(domain.encode(texts)).tolist() == texts


def test_a_prefix_of_a_text_is_a_prefix_of_its_bits() -> None:
    whole, half = OpenText(), OpenText(letters=4)
    texts = ["noise", "homework", "a", "où est-il"]
    np.testing.assert_array_equal(whole.encode(texts) >> np.uint64(24), half.encode(texts))


def test_letters_of_other_scripts_are_one_sign() -> None:
    domain = OpenText()
    assert domain.encode(["7 шум"]) == domain.encode(["7 дом"])
    assert domain.decode(domain.encode(["7 шум"])).tolist() == ["7 ���"]


def test_a_file_and_an_array_give_the_same_codes() -> None:
    domain = OpenText(missing="drop")
    stored = DictionaryColumn(np.array(["b", "a", "never"], object), np.array([1, 0, -1, 1]))
    np.testing.assert_array_equal(domain.encode(stored), domain.encode(["a", "b", None, "a"]))


@pytest.mark.parametrize(
    "empty",
    [
        None,
        "",
        "   ",
        "\u200b",
        "\u3164",
        "\u2800",
        float("nan"),
        "шум",
        "🚲",
        "قطار سريع",
        "�",
        " 🎉 🎉",
        "-",
        "—",
        "…",
        " ' ",
        "/&.",
        "- шум",
        "\0",
    ],
)
def test_a_text_without_a_letter_that_counts_is_missing(empty: object) -> None:
    with pytest.raises(MissingError):
        OpenText().encode(["a", empty])
    assert OpenText(missing="drop").encode(["a", empty]).size == 1


def test_what_is_no_text_is_refused_without_being_shown() -> None:
    with pytest.raises(DataTypeError) as error:
        OpenText().encode([["secret"], "a"])
    assert "secret" not in str(error.value)


def test_there_is_no_category_for_missing_answers() -> None:
    with pytest.raises(ParameterError, match="drop"):
        OpenText(missing="category")


def test_a_schema_with_an_open_answer_is_read_back() -> None:
    schema = Schema({"why": OpenText(letters=5, missing="drop")})
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(BruitError):
        OpenText.from_dict({"letters": 9, "missing": "drop"})


@pytest.mark.parametrize(("first", "second"), [("가", "각"), ("กี", "กิ"), ("мой", "мои"), ("कु", "कि")])
def test_letters_of_other_scripts_keep_their_marks(first: str, second: str) -> None:
    assert normalised(first) != normalised(second)


def test_normalising_twice_changes_nothing() -> None:
    texts = ["  L’ÉCOLE ", "İstanbul", "ŉ", "ﬃ", "ẞ", "Ǆ", "\u1e9b\u0323", "ǽ\u0301", "\u1fc1", "\ufb2c"]
    assert [normalised(normalised(text)) for text in texts] == [normalised(text) for text in texts]
