"""All cores on arrays in memory: threads over fixed blocks of people.

Block number i always covers the same people and uses part i of the random words of a call, so the number of threads
changes nothing in what comes out.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.entropy import Entropy
from bruit.errors import ParameterError

#: How many people a block has.
BLOCK = 1 << 16

Item = TypeVar("Item")
Result = TypeVar("Result")


def threads() -> int:
    """How many threads to use: the BRUIT_THREADS variable, or the cores this process may use."""
    setting = os.environ.get("BRUIT_THREADS")
    if setting is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isdecimal():
        raise ParameterError("The BRUIT_THREADS variable must be a whole number, 1 or above.")
    return _checks.integer(low=1, BRUIT_THREADS=int(setting))


def blocks(n: int, size: int = BLOCK) -> Iterator[tuple[int, slice]]:
    """The blocks of n people: number and place of each."""
    for index, start in enumerate(range(0, n, size)):
        yield index, slice(start, min(start + size, n))


def each_block(n: int, work: Callable[[int, slice], Result]) -> list[Result]:
    """Do `work` for every block on all cores; the results are in the order of the blocks."""
    return list(in_order(lambda block: work(*block), blocks(n)))


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """Results of `function` in the order of `items`, computed ahead by all cores, holding few of them at a time."""
    source = iter(items)
    first = list(islice(source, 2))
    workers = 1 if len(first) < 2 or getattr(_local, "working", False) else threads()
    if workers == 1:
        yield from map(function, first)
        yield from map(function, source)
        return
    with ThreadPoolExecutor(workers, initializer=_note_worker) as pool:
        waiting = [pool.submit(function, item) for item in first]
        waiting += [pool.submit(function, item) for item in islice(source, workers)]
        try:
            while waiting:
                yield waiting.pop(0).result()
                waiting += [pool.submit(function, item) for item in islice(source, 1)]
        finally:
            for future in waiting:
                future.cancel()


_local = threading.local()


def _note_worker() -> None:
    """Work that a worker divides again stays on its own thread: the cores are busy already."""
    _local.working = True


def block_words(entropy: Entropy, size: int) -> NDArray[np.uint64]:
    """`size` random words in a buffer that this thread uses again: read them before the next call."""
    buffer: NDArray[np.uint64] | None = getattr(_local, "words", None)
    if buffer is None or buffer.size < size:
        buffer = _local.words = np.empty(max(size, BLOCK), np.uint64)
    entropy.fill(buffer[:size])
    return buffer[:size]


def words_below(entropy: Entropy, total: int, size: int) -> NDArray[np.uint64]:
    """`size` random words below a law's total, in the same buffer: each of 0..total−1 equally likely."""
    words = block_words(entropy, size)
    draw_again(words, total, entropy)
    return words


def draw_again(words: NDArray[np.uint64], total: int, entropy: Entropy) -> None:
    """Replace words at or above `total`, which depends on the words alone and never on a person's value."""
    last = np.uint64(total - 1)
    late = np.flatnonzero(words > last)
    while late.size:
        words[late] = entropy.words(late.size)
        late = late[words[late] > last]
