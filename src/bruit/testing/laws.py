"""That the sampled law is the declared one, and that the stated ε is the law's."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit import audit
from bruit.audit.exact import largest_ratio
from bruit.entropy import Entropy, Randomness
from bruit.privacy import Guarantee
from bruit.rounding import exp_floor
from bruit.testing._evidence import ALARM, Mechanism, require, stream, values_of, written

Floats = NDArray[np.float64]

#: The most values whose reports are sampled; a larger domain is thinned evenly.
MOST_VALUES = 64
#: Cells that expect fewer reports are pooled.
LEAST_EXPECTED = 50.0
#: How many standard deviations apart the declared law and its controls are to be, and how skewed the statistic may be.
SEPARATION = 20.0
SKEWNESS = 0.05
#: How many reports may be drawn only for the sake of the rarest cells.
FOR_EVERY_CELL = 4_000_000
#: How much of the requested ε may be lost to whole-number weights.
LOSS = 1e-9


def check_law(oracle: Mechanism, *, rng: Randomness = 0, change: float = 0.1, most: int = 16_000_000) -> None:
    """Reports follow `matrix()`, and the sample is large enough to have noticed if they did not.

    Every value's reports are compared with its row by χ², and all together along the direction in which privacy grows
    or shrinks. The same sample is then compared with two false laws, one more private and one less private: if it does
    not reject both, the sample was too small to tell anything and the check fails. An oracle that has too many messages
    for a matrix may have a `twin`, the same mechanism with fewer, which is checked in its place.

    The ε of the two false laws differs by the share `change`. At most `most` reports are drawn; a small ε needs many.
    """
    oracle = written(oracle)
    codes = np.unique(np.linspace(0, oracle.size - 1, MOST_VALUES).astype(np.int64))
    rows = oracle.matrix()
    table = np.array([[float(entry) for entry in rows[code]] for code in codes])
    require(bool((table > 0).all()), "matrix() holds a probability of zero: no finite ε is true of it.")
    controls = {"more private": _tempered(table, 1 - change), "less private": _tempered(table, 1 + change)}
    n = min(max(_reports_needed(table, control) for control in controls.values()), most // len(codes))
    seen = _seen(oracle, codes, n, table.shape[1], stream(rng, "check_law", oracle))
    require(_p_value(seen, table) > ALARM, "The reports do not follow matrix(): the law that is sampled is another.")
    for name, control in controls.items():
        require(
            _p_value(seen, control) < ALARM,
            f"{n:,} reports per value cannot tell this law from one whose ε is {change:.0%} {name}: "
            "nothing was shown. Allow more reports (most=…) or a coarser comparison (change=…).",
        )


def check_guarantee(oracle: Mechanism) -> None:
    """The stated ε is true of the law, at most the requested one, and less than one part in 10⁹ below it.

    Of a mechanism with ε per distance, `metric` is what was requested, and is true of all values within its radius.
    """
    result = audit.exact(oracle)
    require(result.holds, f"The stated ε is not true of the law. {result!r}")
    stated = result.stated
    if oracle.metric is not None:
        stated = oracle.metric.epsilon
        require(_holds_nearby(oracle, oracle.metric), "The stated ε is not true of values within the radius.")
    require(stated <= oracle.epsilon, f"The stated ε is above the requested one. {result!r}")
    require(stated >= oracle.epsilon * (1 - LOSS), f"The stated ε is far below the requested one. {result!r}")


def _holds_nearby(oracle: Mechanism, promise: Guarantee) -> bool:
    """Whether all values within the radius have rows within ε, by enumeration."""
    rows, points = oracle.matrix(), [Fraction(repr(point)) for point in oracle.domain.names]
    radius = Fraction(repr(promise.radius))
    near = ((x, y) for x, y in itertools.combinations(range(len(rows)), 2) if abs(points[x] - points[y]) <= radius)
    ratios = (largest_ratio([rows[x], rows[y]])[0] for x, y in near)
    return all(
        isinstance(ratio, Fraction) and ratio.numerator <= exp_floor(promise.epsilon, ratio.denominator)
        for ratio in ratios
    )


def _seen(oracle: Mechanism, codes: NDArray[np.int64], n: int, columns: int, entropy: Entropy) -> Floats:
    """How often each message came from each value."""
    seen = np.empty((codes.size, columns))
    for place, code in enumerate(codes):
        reports = oracle.privatize(values_of(oracle, np.full(n, code)), rng=entropy)
        messages = oracle.message(reports)
        inside = bool(messages.size == n and messages.min() >= 0 and messages.max() < columns)
        require(inside, "A report is not one of the messages that matrix() has.")
        seen[place] = np.bincount(messages, minlength=columns)
    return seen


def _p_value(seen: Floats, table: Floats) -> float:
    """The probability of a sample as unlikely as this one under the table, by the better of the two tests."""
    rows = min(_chi_square(row, probabilities) for row, probabilities in zip(seen, table, strict=True))
    return 2 * min(rows * len(seen), _directed(seen, table))


def _chi_square(row: Floats, probabilities: Floats) -> float:
    """Pearson's test of one value's reports; cells join, from the smallest on, until they expect enough."""
    expected = probabilities * row.sum()
    pools = [[0.0, 0.0]]
    for cell in np.argsort(expected):
        if pools[-1][1] >= LEAST_EXPECTED:
            pools.append([0.0, 0.0])
        pools[-1][0] += row[cell]
        pools[-1][1] += expected[cell]
    statistic = sum((observed - mean) ** 2 / mean for observed, mean in pools)
    return float(special.chdtrc(len(pools) - 1, statistic)) if len(pools) > 1 else 1.0


def _directed(seen: Floats, table: Floats) -> float:
    """A test along the line from the rows' mean to the rows: do values differ more, or less, than they should?"""
    weights = (table - table.mean(axis=0)) / table
    spread = float((table * weights**2).sum()) * seen[0].sum()
    return float(2 * special.ndtr(-abs((seen * weights).sum()) / np.sqrt(spread)))


def _reports_needed(table: Floats, control: Floats) -> int:
    """Reports per value that separate the table from the control, with a statistic that is nearly normal."""
    weights = (control - control.mean(axis=0)) / control
    shift, spread = float((table * weights).sum()), float((control * weights**2).sum())
    own = (table - table.mean(axis=0)) / table
    second, third = float((table * own**2).sum()), float((table * own**3).sum())
    apart, straight = spread * (SEPARATION / shift) ** 2, third**2 / second**3 / SKEWNESS**2
    every_cell = min(LEAST_EXPECTED / table.min(), FOR_EVERY_CELL / len(table))
    return int(max(apart, straight, every_cell, 2_000)) + 1


def _tempered(table: Floats, share: float) -> Floats:
    """The rows moved towards their mean, or away from it, until the table's ε is this share of what it was."""
    mean, target = table.mean(axis=0), share * _epsilon(table)
    # Away from the mean, the first entry to reach zero sets the end of the way.
    below = table < mean
    end = 1.0 if share < 1 else -float((table[below] / (mean - table)[below]).min())

    near, far = 0.0, end
    for _ in range(60):
        middle = (near + far) / 2
        reached = (_epsilon(_moved(table, mean, middle)) - target) * (1 - share) <= 0
        near, far = (near, middle) if reached else (middle, far)
    return _moved(table, mean, near)


def _moved(table: Floats, mean: Floats, way: float) -> Floats:
    return np.maximum((1 - way) * table + way * mean, 0.0)


def _epsilon(table: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float((np.log(table.max(axis=0)) - np.log(table.min(axis=0))).max())
