"""A published number in a sentence, rounded to what its error supports.

A number with an interval of ± 90 is phrases in tens: "about 6,970, give or take 90". Files have every digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bruit.domains import Attribute
from bruit.releases.result import Result
from bruit.tables import Column, Table, interval_of, label, number, place_of, rounded

__all__ = ["reading_table", "sentence"]

#: Kinds whose values are counts.
COUNTED = ("count", "histogram", "groups", "tables")
#: A normal interval of 95 % in standard errors, where a result has no interval.
_NORMAL = 1.96


def half_widths(result: Result) -> np.ndarray[Any, Any]:
    """Half the width of each 95 % interval; NaN where nothing is known."""
    if result.values.dtype.kind not in "iuf":
        return np.full(len(result), np.nan)
    if result.ends is None:
        return np.asarray(_NORMAL * result.standard_error)
    low, high = np.reshape(np.asarray(result.interval(0.95), float), (-1, 2)).T
    return np.asarray((high - low) / 2)


def sentence(result: Result) -> str:
    """What a result says, in one sentence: the number, or the largest and the smallest of several."""
    halves = half_widths(result)
    values = result.values.tolist()
    phrases = [_about(value, half) for value, half in zip(values, halves.tolist(), strict=True)]
    if len(values) == 1:
        return f"{phrases[0][:1].upper()}{phrases[0][1:]}."
    names = [_name(own, result) for own in result.labels]
    if str(result.statistic.get("kind", "")).startswith("quantiles"):
        return "; ".join(f"{name}: {own}" for name, own in zip(names, phrases, strict=True)) + "."
    if result.values.dtype.kind not in "iuf":
        return f"From {values[0]} ({names[0]}) to {values[-1]} ({names[-1]})."
    return _extremes(result, phrases, names)


def _extremes(result: Result, phrases: Sequence[str], names: Sequence[str]) -> str:
    """The largest and the smallest of several numbers, if noise alone does not explain which they are."""
    values, halves = result.values, half_widths(result)
    most, least = int(np.argmax(values)), int(np.argmin(values))
    if not np.isfinite(halves).all():
        return f"From about {number(values[least])} ({names[least]}) to about {number(values[most])} ({names[most]})."
    if values[most] - halves[most] <= values[least] + halves[least]:
        ends = f"about {rounded(values[least], halves[least])} to {rounded(values[most], halves[most])}"
        return f"From {ends}. The differences may be noise."
    counts = result.statistic.get("kind") in COUNTED
    high, low = ("Most", "Fewest") if counts else ("Highest", "Lowest")
    return f"{high} for {names[most]}: {phrases[most]}. {low} for {names[least]}: {phrases[least]}."


def _about(value: Any, half: float) -> str:
    if isinstance(value, str):
        return f"about {value}"
    if not (math.isfinite(half) and half > 0):
        return f"about {number(value)}"
    return f"about {rounded(value, half)}, give or take {rounded(half, half)}"


def _name(own: Any, result: Result) -> str:
    """A label; of one table, the cell alone."""
    if not isinstance(own, tuple):
        return label(own)
    is_single = len(result.statistic.get("tables") or ()) == 1 and "by" not in result.statistic
    return label(own[-1]) if is_single else ", ".join(map(label, own))


def reading_table(result: Result) -> Table:
    """The numbers for readers, rounded: one row each with its interval, or a table of two columns as a grid."""
    halves = half_widths(result).tolist()
    grid = _grid(result, halves)
    if grid is not None:
        return grid
    pairs = zip(result, halves, strict=True)
    about = [value if isinstance(value, str) else rounded(value, half) for value, half in pairs]
    columns = [*_label_columns(result), Column("about", about, "about", "number", str)]
    if result.ends is not None and result.values.dtype.kind in "iuf":
        ends = np.reshape(np.asarray(result.interval(0.95), float), (-1, 2)).tolist()
        ranges = [_range(low, high, half) for (low, high), half in zip(ends, halves, strict=True)]
        columns.append(Column("range", ranges, interval_of(0.95), "number", str))
    return Table("", columns)


def _range(low: float, high: float, half: float) -> str:
    """The two ends of an interval, rounded outwards."""
    if not (math.isfinite(half) and half > 0):
        return f"{number(low)} … {number(high)}"
    place = place_of(half)
    return f"{rounded(math.floor(low / place) * place, half)} … {rounded(math.ceil(high / place) * place, half)}"


def _label_columns(result: Result) -> list[Column]:
    """The labels; a group stands apart from the label in it."""
    if all(isinstance(own, tuple) for own in result.labels):
        groups, names = zip(*result.labels, strict=True)
        return [Column("group", groups, "", "label", label), Column("label", names, "", "label", label)]
    return [Column("label", result.labels, "", "label", label)]


def _grid(result: Result, halves: Sequence[float]) -> Table | None:
    """A table of two attributes with a column for each value of the second; None for anything else."""
    tables = result.statistic.get("tables")
    if result.statistic.get("kind") != "tables" or "by" in result.statistic or not tables or len(tables) != 1:
        return None
    names = list(tables[0])
    if len(names) != 2:
        return None
    attributes = map(Attribute.from_dict, result.statistic["attributes"])
    labels = {attribute.name: [label(own) for own in attribute.labels] for attribute in attributes}
    across = len(labels[names[1]])
    written = [rounded(value, half) for value, half in zip(result.values.tolist(), halves, strict=True)]
    columns = [Column(names[0], labels[names[0]], names[0], "label", label)]
    columns += [
        Column(f"{names[1]}: {own}", written[place::across], own, "number", str)
        for place, own in enumerate(labels[names[1]])
    ]
    half = rounded(max(halves), max(halves))
    return Table(f"{names[0]} × {names[1]}, each give or take {half}", columns)
