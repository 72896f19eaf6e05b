"""What secure randomness costs: bruit's own kernel, the same blocks, two sources of words.

It calls the kernel below the public face, because only there can the source of words be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grr
import numpy as np
from harness import Check, Job, Work

from bruit.engines.memory import block_words, blocks
from bruit.entropy import Words
from bruit.kernels.randomized_response import randomize
from bruit.laws import Itself, TwoLevelLaw

#: A block's number and size to its random words.
Source = Callable[[int, int], Any]


def secure(job: Job, n: int) -> tuple[Work, Check]:
    """Words as `privatize` takes them: a part of new secure words for each block."""

    def fresh() -> Source:
        words = Words()
        return lambda block, size: block_words(words.part(block).stream(), size)

    return _prepared(job, n, fresh)


def pcg64(job: Job, n: int) -> tuple[Work, Check]:
    """Words from NumPy's default generator; `random_raw` is at least as fast as `integers`."""

    def fresh() -> Source:
        raw = np.random.PCG64().random_raw
        return lambda _, size: raw(size)

    return _prepared(job, n, fresh)


def _prepared(job: Job, n: int, fresh: Callable[[], Source]) -> tuple[Work, Check]:
    values = grr.people(n, job.k)
    law = TwoLevelLaw.calibrate(job.epsilon, Itself(values=job.k))
    keep, outside = np.uint64(law.inside - law.outside), np.uint64(law.outside)

    def work() -> Any:
        words, out = fresh(), np.empty(n, np.min_scalar_type(job.k - 1))
        for block, place in blocks(n):
            drawn = words(block, place.stop - place.start)
            randomize(values[place], drawn, keep, outside, out[place])
        return out

    return work, lambda answers: grr.check_client(job, values, answers)
