"""Weights of codes add up to one, and depend on how many letters are rare."""

import numpy as np
import pytest

from bruit.domains import OpenText
from bruit.domains.open_text import SIGNS
from bruit.open_answers.letter_weights import COMMON, LetterWeights


@pytest.mark.parametrize("bits", [3, 6, 9, 12, 15, 18])
def test_all_codes_weigh_one_together(bits):
    weights = LetterWeights(bits)
    assert len(weights.rarity) == 1 << bits
    assert weights.by_rarity[weights.rarity].sum() == pytest.approx(1, abs=1e-12)


def test_rare_letters_are_counted_wherever_they_stand():
    domain, rarity = OpenText(letters=2), LetterWeights(12).rarity
    codes = domain.encode(["ab", "a", "a9", "9a", "é9"])
    assert rarity[codes.astype(np.int64)].tolist() == [0, 0, 1, 1, 2]


def test_a_part_of_a_letter_is_not_rare():
    assert LetterWeights(9).rarity.max() == 0
    assert set(COMMON) <= set(SIGNS)
