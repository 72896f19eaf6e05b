"""Parities: the id is drawn without a look at the value, and the bucket has the two levels given the id."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.laws import Form, Parity, TwoLevelLaw
from bruit.laws.parity import GROUP_BITS

SMALL = Parity(parities=2, bits=4, prefix=2, share=430)
FULL = Parity(parities=3, bits=48, prefix=24, share=430)


def words_of(sets, bits):
    """An id of each group for every function that looks at so many bits."""
    group = 0 if bits == sets.prefix else 1023
    return [word << GROUP_BITS | group for word in range(1 << bits + sets.parities - 1)]


class Twice(Parity):
    """The planted defect: the second row is the first."""

    def bucket(self, code, own):
        first = super().bucket(code, own) & 1
        return first | first << 1


def collisions(sets):
    """How often two values share a bucket, by the number of bits that count."""
    shares = {}
    for bits in (sets.prefix, sets.bits):
        ids = words_of(sets, bits)
        for difference in range(1, 1 << bits):
            other = difference << sets.bits - bits
            hits = sum(sets.bucket(0, own) == sets.bucket(other, own) for own in ids)
            shares.setdefault(bits, set()).add(Fraction(hits, len(ids)))
    return shares


def test_two_values_share_a_bucket_for_exactly_one_function_in_as_many_as_there_are_buckets():
    assert collisions(SMALL) == {2: {Fraction(1, 4)}, 4: {Fraction(1, 4)}}
    assert collisions(Twice(parities=2, bits=4, prefix=2, share=430)) != collisions(SMALL)


def test_values_that_begin_alike_are_one_value_to_the_first_group():
    first, second = words_of(SMALL, 2), words_of(SMALL, 4)
    assert all(SMALL.bucket(0b0100, own) == SMALL.bucket(0b0111, own) for own in first)
    assert not all(SMALL.bucket(0b0100, own) == SMALL.bucket(0b0111, own) for own in second)


@pytest.mark.parametrize("own", [*words_of(SMALL, 2)[::3], *words_of(SMALL, 4)[::5]])
def test_every_word_of_a_law_gives_the_own_bucket_or_any_and_always_the_same_id(own):
    law = TwoLevelLaw(inside=5, outside=2, sets=SMALL)
    for code in range(16):
        drawn = [law.sample(code, iter([word, own])) for word in range(law.total)]
        assert {message % 2**64 for message in drawn} == {own}
        buckets = Counter(message >> 64 for message in drawn)
        assert buckets == {bucket: 5 if bucket == SMALL.bucket(code, own) else 2 for bucket in range(4)}
        assert all(law.sets.supports(message, code) == (message >> 64 == SMALL.bucket(code, own)) for message in drawn)


def test_the_bucket_is_the_rows_of_the_word_times_the_bits_of_the_value():
    for own in Entropy(1).words(50).tolist():
        code = own * 0x9E3779B97F4A7C15 % 2**48
        length = 24 if own % 1024 < 430 else 48
        value, word = f"{code:048b}"[:length], own >> 10
        rows = [f"{word >> row & (1 << length) - 1:0{length}b}" for row in range(3)]
        bits = [sum(a == b == "1" for a, b in zip(row, value, strict=True)) % 2 for row in rows]
        assert FULL.bucket(code, own) == sum(bit << place for place, bit in enumerate(bits))


def test_a_message_is_nine_bytes_the_id_first():
    law = TwoLevelLaw.calibrate(2.0, FULL)
    form = Form.of_law(law)
    message = law.sample(7, iter([0, 0x0807060504030201]))
    assert (form.size, form.text(message)[:16]) == (9, "0102030405060708")
    assert law.epsilon <= 2.0


def test_functions_that_would_need_more_bits_than_a_word_has_are_refused():
    with pytest.raises(ParameterError):
        Parity(parities=8, bits=48, prefix=24, share=430)
    with pytest.raises(ParameterError):
        Parity(parities=2, bits=4, prefix=5, share=430)
    with pytest.raises(LimitError):
        SMALL.messages()
