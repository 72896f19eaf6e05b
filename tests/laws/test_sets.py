"""Sets: members are exactly the messages that support a value, and the oracles' matrices say the same."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit.errors import BruitError, LimitError
from bruit.kernels import hash_family
from bruit.laws import Hadamard, Hash, Itself, Projective, Subset, TwoLevelLaw, Window
from bruit.numbers import NAMES as NUMBERS
from bruit.numbers import number
from bruit.oracles import LocalHashing, oracle

NOTHING = iter(())
ONE_WORD = [
    Itself(values=5),
    Window(values=6, width=4),
    *(Hadamard(rows=rows, blocks=blocks) for rows in (2, 4, 16) for blocks in (1, 3)),
    *(Projective(prime=q, dimension=t) for q in (2, 3, 5) for t in (2, 3, 4)),
]


@pytest.mark.parametrize("sets", ONE_WORD, ids=repr)
def test_the_members_of_a_set_are_the_messages_that_support_the_value(sets):
    for code in range(min(sets.capacity, 40)):
        members = [sets.member(code, number, NOTHING) for number in range(sets.members)]
        assert len(set(members)) == sets.members
        assert set(members) == {message for message in sets.messages() if sets.supports(message, code)}


@pytest.mark.parametrize("sets", ONE_WORD, ids=repr)
def test_all_sets_have_their_size_and_all_outcomes_are_messages(sets):
    assert list(sets.messages()) == list(range(sets.outcomes))
    assert [sets.other(number, NOTHING) for number in range(sets.outcomes)] == list(range(sets.outcomes))


MATRICES = [
    *(oracle(name, epsilon=1.0, k=k) for name in ("GRR", "SUE", "OUE", "SS", "HR", "PGR") for k in (2, 5, 8)),
    oracle("SS", epsilon=1.0, k=7, omega=5),
    LocalHashing(epsilon=1.0, k=6, pool=9),
    LocalHashing(epsilon=3.0, k=6, kind="BLH", pool=4),
    oracle("Warner"),
    *(number(name, epsilon=1.5, bounds=(0, 8)) for name in NUMBERS),
    number("hybrid", epsilon=0.5, bounds=(0, 8)),
    number("laplace", epsilon=1.5, bounds=(0, 8), clamped=True),
    number("staircase", epsilon=1.5, bounds=(0, 8), clamped=True),
]


@pytest.mark.parametrize("mechanism", MATRICES, ids=lambda found: f"{found.name}-{found.size}")
def test_the_matrix_of_a_mechanism_is_the_rows_of_its_law(mechanism):
    assert mechanism.matrix() == [mechanism.law.row(code) for code in range(mechanism.size)]
    assert mechanism.sets is mechanism.law.sets


def test_a_code_is_hashed_alone_as_it_is_among_others():
    codes = np.array([0, 1, 2, 77, 999_999])
    assert [hash_family.scrambled(int(code)) for code in codes] == hash_family.scramble(codes).tolist()
    seeds = Entropy(1).words(2 * codes.size).reshape(2, -1)
    for g in (2, 3, 1000):
        there = hash_family.bucket(seeds[0], seeds[1], hash_family.scramble(codes).astype(np.uint64), g)
        here = [Hash(buckets=g).bucket(int(c), int(a), int(b)) for c, a, b in zip(codes, *seeds, strict=True)]
        assert here == there.tolist()


@pytest.mark.parametrize("pool", [None, 11])
def test_a_hashed_message_is_a_report_read_as_one_number(pool):
    """Its bytes, the least first, are those of a report of the oracle, which supports the same values."""
    found = LocalHashing(epsilon=1.0, k=30, pool=pool)
    words = iter(Entropy(3).words(400).tolist())
    messages = [found.law.sample(code, words) for code in range(30)]
    rows = b"".join(message.to_bytes(int(found.report_bytes), "little") for message in messages)
    reports = np.frombuffer(rows, np.uint8).reshape(30, -1)
    tally = found.tally(reports)
    assert (tally.n, tally.refused) == (30, 0)
    supported = found.support(tally)
    assert supported.tolist() == [sum(found.sets.supports(message, code) for message in messages) for code in range(30)]


def test_functions_without_a_pool_are_too_many_to_list():
    with pytest.raises(LimitError, match="2¹²⁸"):
        Hash(buckets=3).messages()
    with pytest.raises(LimitError):
        TwoLevelLaw.calibrate(1.0, Hash(buckets=3)).row(0)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Itself, {"values": 1}),
        (Window, {"values": 3, "width": 0}),
        (Subset, {"values": 3, "size": 3}),
        (Subset, {"values": 1}),
        (Hadamard, {"rows": 6, "blocks": 1}),
        (Hadamard, {"rows": 4, "blocks": 0}),
        (Projective, {"prime": 1, "dimension": 3}),
        (Projective, {"prime": 9, "dimension": 3}),
        (Projective, {"prime": 2**61 - 1, "dimension": 3}),
        (Projective, {"prime": 2, "dimension": 10**9}),
        (Projective, {"prime": 3, "dimension": 1}),
        (Hash, {"buckets": 1}),
        (Hash, {"buckets": 2, "pool": ()}),
        (Itself, {"values": "3"}),
    ],
)
def test_sets_are_valid_from_birth(kind, settings):
    with pytest.raises(BruitError):
        kind(**settings)
