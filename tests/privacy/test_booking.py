"""`booked`: what can be refused is refused first, then the spend is booked, then there are words."""

import pytest

from bruit.entropy import Entropy, Words
from bruit.errors import BudgetError, ParameterError, RandomnessError
from bruit.privacy import Guarantee, Ledger
from bruit.privacy.booking import Charge, booked

HALF = Charge(Guarantee(epsilon=0.5, neighbours="add-remove"), "count", 0.01, "release", "d")


def test_a_spend_is_booked_with_its_line_and_gives_words_that_follow_from_the_seed() -> None:
    ledger = Ledger(epsilon=1.0)
    first, second = booked(HALF, ledger, 7), booked(HALF, ledger, 7, "again")
    assert [(entry.label, entry.rho) for entry in ledger.entries] == [("count", 0.01), ("again", 0.01)]
    assert first.stream().bytes(16) == second.stream().bytes(16)
    assert not first.secure
    assert booked(HALF, None).secure


@pytest.mark.parametrize("seed", [-1, "seed", 0.5])
def test_a_bad_seed_is_refused_before_anything_is_booked(seed: object) -> None:
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(RandomnessError):
        booked(HALF, ledger, seed)  # type: ignore[arg-type]
    assert len(ledger) == 0


def test_a_refused_booking_draws_nothing() -> None:
    stream, twin = Entropy(7), Entropy(7)
    with pytest.raises(BudgetError):
        booked(HALF, Ledger(epsilon=0.25), stream)
    with pytest.raises(ParameterError):
        booked(HALF, Ledger(epsilon=1.0), stream, "a label\non two lines")
    assert stream.bytes(16) == twin.bytes(16)


def test_words_of_the_caller_are_given_back_unused() -> None:
    words = Words.resolve(7, "fit", "d")
    assert booked(HALF, Ledger(epsilon=1.0), words) is words
    assert words.stream().bytes(16) == Words.resolve(7, "fit", "d").stream().bytes(16)
