"""What a mechanism for means needs of its exact law, and the random words that the law divides among messages.

Under each such law the mean of the message is exactly affine in the cell, so that an unbiased mean needs no inversion;
and each is multiplied with in one pass over cells and messages, so that no matrix is needed however fine the grid.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.estimation.fitting import Channel
from bruit.estimation.scores import Floats
from bruit.estimation.tally import Counts
from bruit.laws.two_level import WORD_BITS

#: How many random words there are: the most that the weights of a law may sum to.
WORDS = 2**WORD_BITS


class GridLaw(Channel, Protocol):
    """What a mechanism for means needs of its law."""

    @property
    def messages(self) -> int:
        """How many messages there are."""
        ...

    @property
    def total(self) -> int:
        """The sum of all weights, the same for every cell."""
        ...

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one message under two cells."""
        ...

    @property
    def epsilon(self) -> float:
        """Its logarithm, rounded up."""
        ...

    def row(self, cell: int) -> list[Fraction]:
        """P(message | cell) for all messages, exactly."""
        ...

    def table(self) -> Floats:
        """The same for all cells, as floats."""
        ...

    def scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the number of the cell."""
        ...

    def shapes(self) -> Floats | None:
        """Columns of scores, among whose mixtures is one for the variance of `scores`; None if nothing tells it."""
        ...

    def randomize(self, cells: Codes, words: NDArray[np.uint64], out: NDArray[Any]) -> None:
        """Write the message that each word below the total chooses for its cell."""
        ...

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        """How often each message comes from so many people in each cell."""
        ...


def words_below(entropy: Entropy, total: int, size: int) -> NDArray[np.uint64]:
    """Random words below the total of a law: one at or above it is drawn again, whatever the cell."""
    words = memory.block_words(entropy, size)
    last = np.uint64(total - 1)
    late = np.flatnonzero(words > last)
    while late.size:
        words[late] = entropy.words(late.size)
        late = late[words[late] > last]
    return words
