"""Which rows of each person count: rows brought together by person, copies numbered, and the first by rank kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.kernels._compile import compiled

#: So few rows are sorted by insertion.
_FEW = 24


@compiled
def by_person(codes: Any, starts: Any, order: Any) -> None:
    """The rows of person p, in their order, are order[starts[p]:starts[p + 1]]; `starts` comes in as zeros."""
    for row in range(codes.size):
        starts[codes[row] + 1] += 1
    for person in range(1, starts.size):
        starts[person] += starts[person - 1]
    place = starts[:-1].copy()
    for row in range(codes.size):
        order[place[codes[row]]] = row
        place[codes[row]] += 1


@compiled
def copy_numbers(starts: Any, order: Any, same: Any, out: Any) -> None:
    """Which copy each row is among those of its person with the same hash."""
    for person in range(starts.size - 1):
        rows = order[starts[person] : starts[person + 1]]
        if rows.size > 1:
            rows = _sorted(rows, same)
        for place in range(rows.size):
            repeated = place > 0 and same[rows[place]] == same[rows[place - 1]]
            out[rows[place]] = out[rows[place - 1]] + 1 if repeated else 0


@compiled
def keep_first(starts: Any, order: Any, ranks: Any, groups: Any, group_ranks: Any, most: Any, kept: Any) -> None:
    """Mark the rows that count: the first groups of a person, the first rows in each, the first rows in all.

    `most` has the three bounds. Groups go by their rank, then by their number; rows by their rank, then by their order.
    """
    most_groups, most_per_group, most_rows = most
    least = min(most_groups, most_per_group, most_rows)
    for person in range(starts.size - 1):
        rows = order[starts[person] : starts[person + 1]]
        if rows.size <= least:
            for row in rows:
                kept[row] = True
            continue
        rows = _sorted(_sorted(_sorted(rows, ranks), groups), group_ranks)
        count = group = inside = 0
        for place in range(rows.size):
            if place == 0 or groups[rows[place]] != groups[rows[place - 1]]:
                group, inside = group + 1, 0
            inside += 1
            if group <= most_groups and inside <= most_per_group:
                rows[count] = rows[place]
                count += 1
        rows = rows[:count]
        for row in rows if count <= most_rows else _sorted(rows, ranks)[:most_rows]:
            kept[row] = True


@compiled
def _sorted(rows: Any, keys: Any) -> Any:
    """Rows by their key, and rows with equal keys as they were; a copy."""
    if rows.size > _FEW:
        return rows[np.argsort(keys[rows], kind="mergesort")]
    out = rows.copy()
    for place in range(1, out.size):
        row, before = out[place], place - 1
        while before >= 0 and keys[out[before]] > keys[row]:
            out[before + 1] = out[before]
            before -= 1
        out[before + 1] = row
    return out
