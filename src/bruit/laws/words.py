"""Random words: the two ways in which a law uses them, and the draws that are made of one word each.

A word is a whole number below 2⁶⁴, all equally likely. `below` takes the next word that is less than a total, for
totals just under 2⁶⁴, where a word is seldom skipped. `uniform` is for any number of choices: it multiplies, and skips
a word with probability below choices/2⁶⁴. Words are taken in order, one at a time, from any iterator.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

from bruit.entropy import Entropy

#: The number of random bits that decide one outcome, and how many words there are.
WORD_BITS = 64
WORDS: int = 2**WORD_BITS

#: Random words in the order in which they are used.
Words: TypeAlias = Iterator[int]


#: How many words `stream` takes at a time.
_CHUNK = 1024


def stream(entropy: Entropy) -> Words:
    """The words of a keystream, without end."""
    while True:
        yield from entropy.words(_CHUNK).tolist()


def below(total: int, words: Words) -> int:
    """The next word below the total; those at or past it are skipped.

    >>> below(5, iter([9, 5, 4]))
    4
    """
    word = next(words)
    while word >= total:
        word = next(words)
    return word


def uniform(choices: int, words: Words) -> int:
    """A whole number below `choices`, up to 2⁶⁴, all equally likely: ⌊word·choices / 2⁶⁴⌋.

    Words whose product has one of the 2⁶⁴ mod choices least low halves are skipped; of the others every number has
    ⌊2⁶⁴/choices⌋.

    >>> uniform(3, iter([0, 2**63]))
    1
    """
    number, low = divmod(next(words) * choices, WORDS)
    while low < WORDS % choices:
        number, low = divmod(next(words) * choices, WORDS)
    return number


def weighted(weights: Sequence[int], words: Words) -> int:
    """A place with probability in proportion to its weight; the weights sum to 2⁶⁴ at most.

    >>> [weighted([1, 3], iter([word])) for word in (2**62 - 1, 2**62)]
    [0, 1]
    """
    return bisect_right(list(accumulate(weights)), uniform(sum(weights), words))


def bernoulli(chance: Fraction, words: Words) -> bool:
    """True with exactly this chance, whatever its denominator: digits to the base 2⁶⁴ are compared until two differ.

    >>> bernoulli(Fraction(1, 3), iter([2**64 // 3, 2**64 // 3 - 1])), bernoulli(Fraction(0), iter([]))
    (True, False)
    """
    while chance:
        digit, chance = divmod(chance * WORDS, 1)
        word = next(words)
        if word != digit:
            return word < digit
    return False
