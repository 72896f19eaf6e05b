"""Keep a message or draw any: exact chances over arrays, whatever the denominator of the chance.

A chance is compared with one random word for each person. The words that do not settle it, at most a few of 2⁶⁴, are
settled one by one with further words, so that probabilities are those of the chance and not its first 64 binary digits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.estimation.tally import Counts
from bruit.laws.words import WORDS, bernoulli, stream, uniform

Words = NDArray[np.uint64]


def decide(chance: Fraction, words: Words, entropy: Entropy) -> NDArray[np.bool_]:
    """True with exactly this chance for each word; a word that is equal to its first 64 digits takes more words."""
    if chance == 1:
        return np.ones(words.size, np.bool_)
    first, rest = divmod(chance * WORDS, 1)
    chosen = np.asarray(words < np.uint64(first))
    for place in np.flatnonzero(words == np.uint64(first)):
        chosen[place] = bernoulli(rest, stream(entropy))
    return chosen


def refresh_messages(memos: NDArray[Any], choices: int, keep: Fraction, entropy: Entropy, out: NDArray[Any]) -> None:
    """Write each memo with chance `keep`, else a number below `choices`, all equally likely: one word decides both."""
    from bruit.kernels import randomized_response as kernel

    if keep == 1:
        out[:] = memos
        return
    kept, width = math.floor(keep * WORDS), math.floor((1 - keep) * WORDS / choices)
    words = memory.block_words(entropy, memos.size)
    kernel.randomize(memos, words, np.uint64(kept), np.uint64(max(width, 1)), out)
    total = kept + choices * width
    late = np.flatnonzero(words > np.uint64(total - 1))
    # What is left of both chances, relative to all that is left.
    chance = (keep * WORDS - kept) / (WORDS - total) if total < WORDS else Fraction(0)
    for place in late:
        further = stream(entropy)
        out[place] = memos[place] if bernoulli(chance, further) else uniform(choices, further)


def simulate_messages(memos: Counts, keep: Fraction, rounds: int, generator: np.random.Generator) -> list[Counts]:
    """How many people report each message in each round, from how many have each memo."""
    even = np.full(memos.size, 1 / memos.size)
    kept = [generator.binomial(memos, float(keep)) for _ in range(rounds)]
    return [some + generator.multinomial(int(memos.sum() - some.sum()), even) for some in kept]
