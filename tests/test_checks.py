"""One wording for bad parameters."""

import math
import sys
import unicodedata
from fractions import Fraction

import numpy as np
import pytest

from bruit import _checks
from bruit.errors import BruitError, LimitError, ParameterError, ParameterTypeError


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, -math.inf, 0.0])
def test_a_positive_number_is_finite_and_above_zero(bad):
    with pytest.raises(ParameterError, match=r"epsilon must be a finite number above 0, got "):
        _checks.positive(epsilon=bad)


@pytest.mark.parametrize("bad", ["1", b"1", None, True, [1.0], 1j, {}])
def test_what_is_not_a_number_is_a_type_error(bad):
    with pytest.raises(ParameterTypeError, match="epsilon must be"):
        _checks.positive(epsilon=bad)


@pytest.mark.parametrize("good", [1, 1.5, Fraction(1, 3), np.float32(2), np.int8(3)])
def test_any_kind_of_number_is_taken(good):
    assert _checks.positive(epsilon=good) == float(good)


def test_an_integer_is_whole_and_within_its_range():
    assert _checks.integer(low=2, k=np.int64(7)) == 7
    for bad in (2.0, "7", None, True):
        with pytest.raises(ParameterTypeError, match="k must be a whole number"):
            _checks.integer(low=2, k=bad)
    with pytest.raises(ParameterError, match=r"k must be a whole number, 2 or above, got 1\."):
        _checks.integer(low=2, k=1)


@pytest.mark.parametrize("beyond", [0.00099, 20.1, 1e300])
def test_an_epsilon_beyond_the_limits_says_what_they_are(beyond):
    with pytest.raises(LimitError, match=r"epsilon must lie in 0\.001\.\.20"):
        _checks.epsilon(epsilon=beyond)


def test_a_huge_integer_is_refused_and_not_printed_whole():
    with pytest.raises(BruitError) as caught:
        _checks.positive(epsilon=10**400)
    assert len(str(caught.value)) < 120


def test_arrays_are_never_printed():
    with pytest.raises(ParameterTypeError) as caught:
        _checks.positive(epsilon=np.array([41.5, 42.5]))
    assert "41" not in str(caught.value)


def test_a_choice_lists_what_is_known():
    assert _checks.one_of(["a", "b"], method="b") == "b"
    with pytest.raises(ParameterError, match="method must be one of 'a', 'b', got 'c'"):
        _checks.one_of(["a", "b"], method="c")
    with pytest.raises(ParameterTypeError):
        _checks.one_of(["a", "b"], method=3)


def test_of_names_as_close_the_one_that_begins_alike_is_suggested():
    assert _checks.suggestion("GR", ["PGR", "GRR", "OUE"]) == " Did you mean 'GRR'?"


def test_a_declared_text_may_have_thirty_marks_in_a_row() -> None:
    assert _checks.normal_form("e\u0301" * 1000) == "é" * 1000
    assert _checks.normal_form("e" + "\u0301" * 30) == "é" + "\u0301" * 29
    with pytest.raises(LimitError, match="at most 30 combining marks in a row"):
        _checks.normal_form("e" + "\u0301" * 31)


def test_a_letter_that_is_taken_apart_into_marks_counts_as_one() -> None:
    """Else a run of it would be put in order in the square of its length."""
    for character in map(chr, range(sys.maxunicode + 1)):
        apart = unicodedata.normalize("NFKD", character.casefold())
        assert not unicodedata.combining(apart[0]) or _checks.has_many_marks(character * 31), hex(ord(character))
