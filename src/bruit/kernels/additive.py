"""Places of records among the knots of an additive model, and whole-number sums over those places.

A place is a whole number: the cell times 2¹⁰, plus the weight of the next cell. The cell itself has the rest of 2¹⁰.
Every number here follows from one record and from public arrays. Batches and the order of rows change nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.kernels._compile import compiled

#: The weight of one record in a column: 2 to this power.
WEIGHT_BITS = 10
WEIGHT = 1 << WEIGHT_BITS
#: How many cells of equal width a number has before its knots are known.
FINE = 256
#: Probabilities and residuals are counted in units of one over this.
UNIT = 1 << 14
#: Scores are cut to this, either way.
MOST_SCORE = 30


@compiled
def share_of(number: float, low: float, high: float) -> float:
    """How far a number is from its low bound to its high one, in 0..1; beyond a bound it counts as the bound."""
    return min(max((number - low) / (high - low), 0.0), 1.0)


@compiled
def fine_places(numbers: Any, low: Any, high: Any, out: Any) -> None:
    """Whole places in FINE cells of equal width; a missing number is in the cell after the last."""
    rows, columns = numbers.shape
    for row in range(rows):
        for column in range(columns):
            number = numbers[row, column]
            cell = FINE
            if not np.isnan(number):
                cell = min(int(share_of(number, low[column], high[column]) * FINE), FINE - 1)
            out[row, column] = cell << WEIGHT_BITS


@compiled
def hat_places(numbers: Any, low: Any, high: Any, knots: Any, cumulative: Any, out: Any) -> None:
    """Places among knots that are even in u(t), whose values at the ends of the fine cells are `cumulative`.

    A missing number is in the cell after the last knot.
    """
    rows, columns = numbers.shape
    for row in range(rows):
        for column in range(columns):
            number, last = numbers[row, column], knots[column] - 1
            if np.isnan(number):
                out[row, column] = (last + 1) << WEIGHT_BITS
                continue
            fine = share_of(number, low[column], high[column]) * FINE
            cell = min(int(fine), FINE - 1)
            left, right = cumulative[column, cell], cumulative[column, cell + 1]
            place = int(np.rint((left + (fine - cell) * (right - left)) * last * WEIGHT))
            out[row, column] = min(max(place, 0), last << WEIGHT_BITS)


@compiled
def add_weights(places: Any, values: Any, starts: Any, out: Any) -> None:
    """Add each record's values, times the weight of its cells, to the cells of every column.

    `out` has a row for each cell of all columns, of which column j has those from `starts[j]` on.
    """
    rows, columns = places.shape
    outputs = values.shape[1]
    for row in range(rows):
        for column in range(columns):
            cell = starts[column] + (places[row, column] >> WEIGHT_BITS)
            right = places[row, column] & (WEIGHT - 1)
            for output in range(outputs):
                out[cell, output] += values[row, output] * (WEIGHT - right)
                if right:
                    out[cell + 1, output] += values[row, output] * right


@compiled
def scores(places: Any, shapes: Any, starts: Any, intercept: Any, out: Any) -> None:
    """The intercept and the shapes of all columns at each record's place, added up in whole numbers."""
    rows, columns = places.shape
    outputs = shapes.shape[1]
    for row in range(rows):
        for output in range(outputs):
            total = intercept[output]
            for column in range(columns):
                cell = starts[column] + (places[row, column] >> WEIGHT_BITS)
                right = places[row, column] & (WEIGHT - 1)
                total += shapes[cell, output] * (WEIGHT - right)
                if right:
                    total += shapes[cell + 1, output] * right
            out[row, output] = total


@compiled
def rounded(score: int) -> int:
    """A score without its last WEIGHT_BITS bits, to the nearest; halves go up."""
    return (score + WEIGHT // 2) >> WEIGHT_BITS


@compiled
def binary_residuals(score: Any, codes: Any, chances: Any, out: Any) -> None:
    """¼ or −¼ for the class, less P − ½, in units of 1/UNIT; `chances` has P for every rounded score."""
    most = chances.size // 2
    for row in range(len(codes)):
        place = min(max(rounded(score[row, 0]), -most), most) + most
        out[row, 0] = (UNIT // 4 if codes[row] else -(UNIT // 4)) - (chances[place] - UNIT // 2)


@compiled
def class_residuals(score: Any, codes: Any, exponentials: Any, out: Any) -> None:
    """½ for the own class, less P of every class, in units of 1/UNIT; P is floored and the largest has the rest.

    `exponentials` has e^−x in whole units for every rounded difference x of two scores.
    """
    rows, classes = score.shape
    most = exponentials.size - 1
    weights = np.empty(classes, np.int64)
    for row in range(rows):
        best = 0
        for place in range(1, classes):
            if rounded(score[row, place]) > rounded(score[row, best]):
                best = place
        total = 0
        for place in range(classes):
            weights[place] = exponentials[min(rounded(score[row, best]) - rounded(score[row, place]), most)]
            total += weights[place]
        rest = UNIT
        for place in range(classes):
            part = (weights[place] * UNIT) // total
            rest -= part
            out[row, place] = -part
        out[row, best] -= rest
        out[row, codes[row]] += UNIT // 2


@compiled
def target_residuals(score: Any, halves: Any, out: Any) -> None:
    """Half the target less what is predicted, which is cut to −1..1, in units of 1/UNIT."""
    for row in range(len(halves)):
        out[row, 0] = halves[row] - min(max(rounded(score[row, 0]), -UNIT), UNIT)
