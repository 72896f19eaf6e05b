"""The exact audit finds the largest ratio of a law, and tells a true statement from a false one."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit import audit
from bruit.audit.exact import largest_ratio
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.oracles import RandomizedResponse
from bruit.privacy import Guarantee


@dataclass
class Table:
    """A mechanism that is nothing but its table and its promise."""

    rows: Any
    stated: float
    delta: float = 0.0

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=self.stated, delta=self.delta, neighbours="value")

    def matrix(self) -> Any:
        return self.rows


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def slow_ratio(rows: list[list[Fraction]]) -> Fraction | float:
    """The definition, word by word."""
    ratios = [
        a / b if b else math.inf for first in rows for second in rows for a, b in zip(first, second, strict=True) if a
    ]
    return max(ratios)


def test_two_coins_have_exactly_ln_3() -> None:
    found = audit.exact(RandomizedResponse.two_coins())
    assert (found.ratio, found.method, found.worst) == (Fraction(3), "enumeration", audit.Worst(0, 1, 0))
    assert found.epsilon == found.stated == found.requested == math.log(3)
    assert found.holds


@pytest.mark.parametrize("k", [2, 5, 16])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
def test_the_stated_epsilon_of_randomised_response_is_the_audited_one(epsilon: float, k: int) -> None:
    oracle = RandomizedResponse(epsilon=epsilon, k=k)
    found = audit.exact(oracle)
    assert found.ratio == oracle.p / oracle.q
    assert found.epsilon == found.stated <= found.requested == epsilon
    assert found.holds


weights = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)


@given(st.lists(weights, min_size=2, max_size=4))
def test_the_ratio_is_the_largest_over_all_pairs_and_messages(table: list[list[int]]) -> None:
    rows = [[Fraction(entry, sum(row)) for entry in row] for row in table]
    ratio, worst = largest_ratio(rows)
    assert ratio == slow_ratio(rows)
    above, below = rows[worst.first][worst.message], rows[worst.second][worst.message]
    assert (above / below if below else math.inf) == ratio


def test_a_promise_below_the_ratio_does_not_hold() -> None:
    oracle = RandomizedResponse.two_coins()
    below = Table(oracle.matrix(), math.nextafter(math.nextafter(math.log(3), 0), 0))
    assert not audit.exact(below).holds
    assert "DOES NOT HOLD" in repr(audit.exact(below))


def test_the_comparison_is_finer_than_doubles() -> None:
    # Two ratios, one just below and one just above e, that no double tells apart.
    scale = 10**30
    with mpmath.workdps(80):
        whole = int(mpmath.floor(mpmath.e * scale))
    for above, holds in ((whole, True), (whole + 1, False)):
        total = above + scale
        rows = [[Fraction(above, total), Fraction(scale, total)], [Fraction(scale, total), Fraction(above, total)]]
        found = audit.exact(Table(rows, 1.0))
        assert float(found.ratio) == math.e
        assert found.holds is holds


def test_a_message_that_one_value_never_sends_is_infinite() -> None:
    found = audit.exact(Table([[Fraction(1), Fraction(0)], [HALF, HALF]], 20.0))
    assert found.ratio == found.epsilon == math.inf
    assert found.worst == audit.Worst(1, 0, 1)
    assert not found.holds


def test_a_message_that_nobody_sends_does_not_count() -> None:
    found = audit.exact(Table([[THIRD, 2 * THIRD, Fraction(0)], [2 * THIRD, THIRD, Fraction(0)]], 1.0))
    assert found.ratio == 2


def test_output_that_does_not_depend_on_the_value_has_epsilon_0() -> None:
    found = audit.exact(Table([[HALF, HALF], [HALF, HALF]], 0.0))
    assert (found.ratio, found.epsilon, found.holds, found.requested) == (1, 0.0, True, None)


def test_a_domain_too_large_to_enumerate_is_audited_in_closed_form_and_says_so() -> None:
    oracle = RandomizedResponse(epsilon=1.0, k=1_000_000)
    found = audit.exact(oracle)
    assert (found.method, found.worst) == ("closed form", None)
    assert found.ratio == oracle.p / oracle.q
    assert found.holds
    assert "closed form" in repr(found)


def test_both_ways_agree_where_both_exist() -> None:
    oracle = RandomizedResponse(epsilon=2.5, k=64)
    assert audit.exact(oracle).ratio == oracle.law.ratio


def test_without_table_and_closed_form_there_is_no_audit() -> None:
    class Unknown(Table):
        def matrix(self) -> Any:
            raise LimitError("too large")

    with pytest.raises(LimitError):
        audit.exact(Unknown(None, 1.0))


@pytest.mark.parametrize(
    "rows",
    [
        [[HALF, THIRD], [HALF, HALF]],
        [[Fraction(3, 2), -HALF], [HALF, HALF]],
        [[Fraction(1)], [HALF, HALF]],
    ],
    ids=["sum below one", "negative", "ragged"],
)
def test_a_table_that_is_no_law_is_refused(rows: Any) -> None:
    with pytest.raises(ParameterError, match="sum 1"):
        audit.exact(Table(rows, 1.0))


@pytest.mark.parametrize("rows", [[[0.5, 0.5], [0.5, 0.5]], []])
def test_floats_are_no_exact_table(rows: Any) -> None:
    with pytest.raises(ParameterTypeError, match="exact fractions"):
        audit.exact(Table(rows, 1.0))


def test_a_guarantee_with_delta_is_not_for_the_exact_audit() -> None:
    with pytest.raises(ParameterError, match="pure"):
        audit.exact(Table([[HALF, HALF], [HALF, HALF]], 1.0, delta=1e-6))


def test_a_result_cannot_be_changed() -> None:
    found = audit.exact(RandomizedResponse.two_coins())
    with pytest.raises(FrozenInstanceError):
        found.ratio = Fraction(1)  # type: ignore[misc]
