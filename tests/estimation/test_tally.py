"""Tallies add up, refuse what does not belong, and notice damage."""

import copy
import functools
import json
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit.errors import BruitError, DataError, DataTypeError, DesignError, FormatError, LimitError
from bruit.estimation import RawTally, Tally
from bruit.estimation.tally import exact_total

counts = st.lists(st.integers(0, 2**40), min_size=3, max_size=3)


@st.composite
def tallies(draw):
    return Tally(
        design="d",
        counts=draw(counts),
        n=draw(st.integers(0, 2**60)),
        refused=draw(st.integers(0, 9)),
        simulated=draw(st.booleans()),
    )


@given(tallies(), tallies(), tallies())
def test_adding_is_associative_and_commutative(a, b, c):
    assert (a + b) + c == a + (b + c) == c + b + a


@given(tallies(), tallies())
def test_what_was_simulated_stays_marked(a, b):
    assert (a + b).simulated == (a.simulated or b.simulated)


@given(tallies())
def test_json_and_bytes_keep_everything(tally):
    assert Tally.from_json(tally.to_json()) == tally
    assert Tally.from_bytes(tally.to_bytes()) == tally
    assert hash(Tally.from_bytes(tally.to_bytes())) == hash(tally)


def test_counts_too_big_for_json_readers_survive():
    big = Tally(design="d", counts=[2**62, 1], n=2**62 + 1)
    assert '"4611686018427387904"' in big.to_json()
    assert Tally.from_json(big.to_json()) == big


def test_tallies_of_different_designs_do_not_add():
    with pytest.raises(DesignError, match="different designs") as caught:
        Tally(design="a", counts=[1], n=1) + Tally(design="b", counts=[1], n=1)
    assert (caught.value.expected, caught.value.actual) == ("a", "b")
    with pytest.raises(TypeError):
        Tally(design="a", counts=[1], n=1) + 1


def test_a_sum_that_does_not_fit_is_an_error_not_a_wrap_around():
    big = Tally(design="d", counts=[2**62], n=2**62)
    with pytest.raises(LimitError):
        big + big


def test_every_cut_and_every_flipped_bit_of_the_bytes_is_noticed():
    blob = Tally(design="d", counts=[3, 1], n=4).to_bytes()
    for end in range(len(blob)):
        with pytest.raises(FormatError):
            Tally.from_bytes(blob[:end])
    for place in range(len(blob)):
        with pytest.raises(FormatError):
            Tally.from_bytes(blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :])


def test_a_document_with_a_field_missing_or_wrong_is_refused():
    from bruit import documents

    body = Tally(design="d", counts=[3, 1], n=4).to_dict()
    for key in body:
        with pytest.raises(FormatError):
            Tally.from_json(documents.seal("bruit.tally/1", {k: v for k, v in body.items() if k != key}))
        with pytest.raises(FormatError):
            Tally.from_json(documents.seal("bruit.tally/1", {**body, key: {"x": 1}}))


def test_counts_that_cannot_be_are_refused():
    from bruit import documents

    body = Tally(design="d", counts=[3, 1], n=4).to_dict()
    for counts in ([-3, 7], "12", {"1": 1}):
        with pytest.raises(FormatError):
            Tally.from_json(documents.seal("bruit.tally/1", {**body, "counts": counts}))


def test_an_edited_tally_is_refused():
    document = json.loads(Tally(design="d", counts=[3, 1], n=4).to_json())
    document["counts"][0] = 30
    with pytest.raises(FormatError, match="changed or damaged"):
        Tally.from_json(json.dumps(document))


@pytest.mark.parametrize("bad", [[1.5], [[1]], "ab", [None], 3])
def test_counts_are_whole_numbers(bad):
    with pytest.raises(BruitError):
        Tally(design="d", counts=bad, n=1)


def test_a_tally_cannot_be_changed():
    mine = np.array([3, 1])
    tally = Tally(design="d", counts=mine, n=4)
    mine[0] = 9
    assert tally.counts.tolist() == [3, 1]
    with pytest.raises(ValueError, match="read-only"):
        tally.counts[0] = 9


def test_a_raw_tally_shows_nothing_and_cannot_leave_the_process():
    raw = RawTally(design="d", counts=[31337, 4]) + RawTally(design="d", counts=[1, 1])
    assert "31" not in repr(raw) + str(raw) + f"{raw}"
    with pytest.raises(DataTypeError, match="not pickled"):
        pickle.dumps(raw)
    with pytest.raises(DataTypeError):
        copy.deepcopy(raw)
    assert not hasattr(raw, "__dict__")
    assert not hasattr(raw, "to_json")


@given(st.lists(st.integers(-(2**66), 2**66), min_size=1, max_size=4), st.integers(1, 70))
def test_a_raw_tally_has_no_limit_and_adds_exactly(counts, doublings):
    array = np.array([*counts, 0, 1], object)
    raw = RawTally(design="d", counts=array)
    for _ in range(doublings):
        raw = raw + raw
    assert raw.reveal(design="d").tolist() == [int(count) << doublings for count in array]
    assert not raw.reveal(design="d").flags.writeable
    narrow = RawTally(design="d", counts=[1, 2]) + RawTally(design="d", counts=[1, 2])
    assert narrow.reveal(design="d").dtype == np.int64


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6))
def test_the_total_of_counts_is_exact(counts):
    assert exact_total(np.array(counts, np.int64)) == sum(counts) == exact_total(np.array([*counts, 0], object))


def test_a_raw_tally_of_what_is_no_whole_number_is_refused():
    for counts in ([0.5], [[1]], ["a"], np.array([2**70, 0.5], object), np.array([[2**70]], object)):
        with pytest.raises(DataTypeError):
            RawTally(design="d", counts=counts)
    assert RawTally(design="d", counts=[2**63]).reveal(design="d").tolist() == [2**63]


def test_only_the_release_it_was_made_for_opens_a_raw_tally():
    raw = RawTally(design="d", counts=[3, 1])
    assert raw.reveal(design="d").tolist() == [3, 1]
    with pytest.raises(DesignError, match="another release"):
        raw.reveal(design="e")
    with pytest.raises(DesignError):
        raw + RawTally(design="e", counts=[3, 1])
    with pytest.raises(TypeError):
        raw + Tally(design="d", counts=[3, 1], n=4)


def test_forged_counts_that_wrap_around_are_refused():
    oracle = bruit.oracle("GRR", epsilon=1.0, k=3)
    forged = Tally(design=oracle.digest, counts=np.array([2**63 - 1, 2**63 - 1, 7]), n=5)
    assert forged.total == 2**64 + 5
    with pytest.raises(DataError, match="do not add up"):
        oracle.estimate(forged)


def test_tallies_of_more_reports_than_64_bits_hold_are_not_added():
    tally = Tally(design="0" * 32, counts=np.array([1, 2]), n=2**63 - 1)
    with pytest.raises(LimitError):
        tally + tally
    with pytest.raises(BruitError):
        Tally(design="0" * 32, counts=np.array([1, 2]), n=2**63)


def test_keyed_counts_add_key_by_key_and_show_nothing() -> None:
    parts = [{"a": [1, 2]}, {}, {"b": [3, 4], "a": [1, 1]}, {"c": [2**62, 2**62]}, {"c": [2**62, 2**62], "a": [0, 1]}]
    tallies = [RawTally(design="d", counts={key: np.array(row) for key, row in part.items()}) for part in parts]
    total = functools.reduce(operator.add, tallies)
    assert {key: row.tolist() for key, row in total.reveal(design="d").items()} == {
        "a": [2, 4], "b": [3, 4], "c": [2**63, 2**63],
    }  # fmt: skip
    assert "redacted" in repr(total)
    assert "redacted" in repr(total.reveal(design="d"))
    both = RawTally.joined([total, RawTally(design="d", counts=[5])])
    assert [type(part) for part in (both + both).parts] == [RawTally, RawTally]
    assert (both + both).reveal(design="d")[1].tolist() == [10]
    with pytest.raises(DataTypeError, match="not pickled"):
        pickle.dumps(both)
