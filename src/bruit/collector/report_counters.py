"""Reports of an open question among the counters of a store: each possible report is a counter of its own.

No tally says which texts people sent, so that the collector keeps the reports themselves. What it keeps is how often
each possible report came: a histogram, in which an order of arrival has no place. Its cells are named by the report
alone, which begins with a random id. They stand in strata behind the one of an open survey, whose other counter says
how many reports there are. So they are counted, shown, closed, deleted and copied as all counters are. A second report
with an id is refused when it comes (`OpenSurvey.read`), so that each of these counters is 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.collector import rows
from bruit.collector.store import MOST_CELLS, REPORTS, WHOLE
from bruit.errors import LimitError

__all__ = ["increments", "reports"]

#: A cell of a store has 63 bits of an id; its last bit and the bucket are in the stratum.
_CELL_BITS = 63
#: The first stratum of reports, and the number of buckets that a report has room for.
FIRST, _BUCKETS = 1, 256
#: An open question is asked once.
_ROUND = 1
_DTYPE = np.dtype([("id", "<u8"), ("bucket", "u1")])


def increments(reports: NDArray[Any], round_number: int) -> Iterator[tuple[tuple[int, int, int], int]]:
    """The counters that reports add to, and how many of them to each.

    Parameters
    ----------
    reports
        Reports in their form: ids and buckets.
    round_number
        The round.

    Examples
    --------
    >>> list(increments(np.array([(5, 2), (2**63, 0), (5, 2)], _DTYPE), 1))
    [((5, 1, 5), 2), ((2, 1, 0), 1)]
    """
    for (own, bucket), number in Counter(zip(reports["id"].tolist(), reports["bucket"].tolist(), strict=True)).items():
        high, cell = divmod(own, 1 << _CELL_BITS)
        yield (FIRST + (bucket << 1 | high), round_number, cell), number


def reports(counters: Iterable[tuple[int, int, int, int]]) -> NDArray[Any]:
    """The reports that counters stand for, in the order of their ids.

    Parameters
    ----------
    counters
        Stratum, round, cell and count, as a store has them; others are left out.
    """
    kept, number = [], 0
    for stratum, round_number, cell, count in counters:
        if stratum >= FIRST:
            kept.append(_report(stratum, cell))
            if (round_number, count) != (_ROUND, 1):
                raise rows.damaged("count")
        elif stratum != WHOLE and cell == REPORTS:
            number += count
    if len(kept) != number:
        raise rows.damaged("count")
    if number > MOST_CELLS:
        raise LimitError(f"The store has more than {MOST_CELLS:,} reports of this open question.")
    return np.array(sorted(kept), _DTYPE)


def _report(stratum: int, cell: int) -> tuple[int, int]:
    """The id and the bucket of a cell."""
    bucket, high = divmod(stratum - FIRST, 2)
    if cell == REPORTS or bucket >= _BUCKETS:
        raise rows.damaged("stratum")
    return high << _CELL_BITS | cell, bucket
