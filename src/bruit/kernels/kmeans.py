"""k-means: sums of the rows nearest to each centre, rows in the cells of a grid, and k-means on weighted points."""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.kernels._compile import compiled

#: Added and taken away again, it leaves a number rounded to a whole one, half to even, without a call.
_ROUND = 1.5 * 2.0**52


@compiled
def nearest_sums(numbers: Any, low: Any, high: Any, steps: int, centres: Any, weights: Any, out: Any) -> None:
    """Add each row to its nearest centre: how many there are in out[:, 0], and their steps, column by column.

    Centres are in steps, columns before centres, so that the innermost loop is over centres side by side. A row's
    centre depends on that row and the centres alone; the first one wins a tie.
    """
    rows, columns = numbers.shape
    count, fours = centres.shape[1], columns // 4 * 4
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    # Σ w(z − c)² is least where Σ wc² − 2wcz is.
    alone, slopes = np.zeros(count), np.empty((columns, count))
    for column in range(columns):
        for centre in range(count):
            slopes[column, centre] = 2 * weights[column] * centres[column, centre]
            alone[centre] += weights[column] * centres[column, centre] ** 2
    most = float(steps)
    per_step = most / half
    place = np.empty(columns, np.float64)
    distances = np.empty(count, np.float64)
    for row in range(rows):
        for column in range(columns):
            step = (numbers[row, column] - middle[column]) * per_step[column]
            # In this order whatever is no number, as with bounds that nearly meet, counts as the low end.
            step = step if step > -most else -most
            step = step if step < most else most
            place[column] = (step + _ROUND) - _ROUND
        for centre in range(count):
            distances[centre] = alone[centre]
        for column in range(0, fours, 4):  # four at a time: distances are fetched and stored a quarter as often
            first, second, third, fourth = place[column], place[column + 1], place[column + 2], place[column + 3]
            for centre in range(count):
                distances[centre] -= (
                    first * slopes[column, centre]
                    + second * slopes[column + 1, centre]
                    + third * slopes[column + 2, centre]
                    + fourth * slopes[column + 3, centre]
                )
        for column in range(fours, columns):
            for centre in range(count):
                distances[centre] -= place[column] * slopes[column, centre]
        nearest = 0
        for centre in range(1, count):
            if distances[centre] < distances[nearest]:
                nearest = centre
        out[nearest, 0] += 1
        for column in range(columns):
            out[nearest, 1 + column] += np.int64(place[column])


@compiled
def cell_counts(numbers: Any, low: Any, high: Any, steps: int, splits: Any, halvings: Any, out: Any) -> None:
    """How many rows each cell of a grid has; `splits` names the columns that are halved, one after the other.

    A cell's number has one bit for each split, the first split highest: dropping low bits gives coarser cells.
    """
    rows, columns = numbers.shape
    left = np.empty(columns, np.int64)
    place = np.empty(columns, np.int64)
    middle, most = low / 2 + high / 2, float(steps)
    per_step = most / (high / 2 - low / 2)
    for row in range(rows):
        for column in range(columns):
            if halvings[column]:
                step = (numbers[row, column] - middle[column]) * per_step[column]
                step = step if step > -most else -most
                step = step if step < most else most
                whole = np.int64((step + _ROUND) - _ROUND)
                place[column] = ((whole + steps) << halvings[column]) // (2 * steps + 1)
                left[column] = halvings[column]
        cell = 0
        for column in splits:
            left[column] -= 1
            cell = 2 * cell + ((place[column] >> left[column]) & 1)
        out[cell] += 1


@compiled
def spread_out(points: Any, mass: Any, chances: Any, out: Any) -> None:
    """Starting centres among weighted points, each with chance mass × squared distance to those before (k-means++)."""
    size, columns = points.shape
    distance = np.ones(size)
    for centre in range(len(out)):
        total = 0.0
        for point in range(size):
            total += mass[point] * distance[point]
        goal, chosen = chances[centre] * total, size - 1
        for point in range(size):
            goal -= mass[point] * distance[point]
            if goal < 0:
                chosen = point
                break
        out[centre] = points[chosen]
        for point in range(size):
            gap = 0.0
            for column in range(columns):
                gap += (points[point, column] - points[chosen, column]) ** 2
            distance[point] = gap if centre == 0 else min(distance[point], gap)


@compiled
def weighted_lloyd(points: Any, mass: Any, centres: Any, iterations: int) -> float:
    """Move the centres by Lloyd's steps on weighted points, in place; the weighted sum of squared distances at last."""
    size, columns = points.shape
    count = len(centres)
    previous = np.inf
    for _ in range(iterations):
        sums = np.zeros((count, columns))
        total = np.zeros(count)
        inertia = 0.0
        for point in range(size):
            best, where = np.inf, 0
            for centre in range(count):
                distance = 0.0
                for column in range(columns):
                    gap = points[point, column] - centres[centre, column]
                    distance += gap * gap
                if distance < best:
                    best, where = distance, centre
            inertia += mass[point] * best
            total[where] += mass[point]
            for column in range(columns):
                sums[where, column] += mass[point] * points[point, column]
        if inertia >= previous * (1 - 1e-4):
            return inertia
        previous = inertia
        for centre in range(count):
            if total[centre] > 0:
                for column in range(columns):
                    centres[centre, column] = sums[centre, column] / total[centre]
    return previous
