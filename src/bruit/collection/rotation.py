"""Attributes in rotation: balanced random assignment, drawn for a whole list of people at once.

If each person draws an attribute, the number of reports on it is random. With few people that multiplies the variance
by about 1 + (d−1)/n. In rotation the people, in random order, take the attributes in turn. The attributes are in random
order too, so that each has the same chance for every person and every n, and a list of one person is plain sampling.
``rotation.proof.md`` has the arguments.

Rejected: an assignment by the order of rows, which may say something about a person. Rejected: one for each block of
people, of which shares would be balanced and subsets not all equally likely.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.collection.composite import Composite, Floats
from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.estimation.tally import Counts

#: The most people of a list: their codes and random words are held in memory.
MOST_ASSIGNED = 1 << 24
#: The option, in Python and on the command line.
OPTION = 'assign="rotation" (--weights rotation)'


def permutation(size: int, stream: Entropy) -> NDArray[np.int64]:
    """All orders equally likely: that of random words, which are all drawn again if two are equal."""
    while True:
        keys = stream.words(size)
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order


def assignment(n: int, d: int, stream: Entropy) -> NDArray[np.int64]:
    """The number of each person's attribute."""
    check_people(n)
    people, attributes = permutation(n, stream), permutation(d, stream)
    which = np.empty(n, np.int64)
    which[people] = attributes[np.arange(n) % d]
    return which


def sizes(n: int, d: int, generator: Any) -> Counts:
    """How many of n simulated people report on each attribute."""
    least, rest = divmod(n, d)
    people = np.full(d, least, np.int64)
    people[generator.permutation(d)[:rest]] += 1
    return people


def mean_over_sizes(n: int, d: int, variance: Callable[[int], Floats]) -> Floats:
    """The mean of a variance over how many people report on an attribute, where anybody does."""
    least, rest = divmod(n, d)
    if not least:
        return variance(1)
    return variance(least) if not rest else (1 - rest / d) * variance(least) + rest / d * variance(least + 1)


def check_people(n: int) -> None:
    """An error if a list is too long to be held."""
    if n > MOST_ASSIGNED:
        raise LimitError(
            f"At most {MOST_ASSIGNED:,} people are assigned in rotation, and with more of them it gains nothing: leave "
            f"{OPTION} out."
        )


def check_alone(design: Composite, who: str) -> None:
    """Refuse a design that needs the list of all people; `who` says why there is none."""
    if design.needs_list:
        raise ParameterError(
            f"{who}, and attributes in rotation are assigned for the list of all people at once: leave {OPTION} out, "
            "and every person's attribute is drawn by itself."
        )
