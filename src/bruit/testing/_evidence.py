"""What the checks share: example people, limits of chance, and how a failure is raised."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.domains import Bins, Categories, Grid
from bruit.entropy import Entropy, Randomness
from bruit.errors import ParameterError
from bruit.estimation import RawTally
from bruit.numbers import Number
from bruit.oracles import Oracle
from bruit.releases import Release

#: What can be checked: a category per person, or a number.
Mechanism: TypeAlias = Oracle | Number
#: From records to a raw tally.
Fold: TypeAlias = Callable[[Any], RawTally]

#: How often one statistical comparison may fail an honest mechanism, all its cells together.
ALARM = 1e-8


def require(condition: bool, message: str) -> None:
    """Raise an AssertionError unless the condition holds; unlike `assert`, also under ``python -O``."""
    if not condition:
        raise AssertionError(message)


def require_error(kind: type[Exception], attempt: Callable[[], object], message: str) -> None:
    """Raise an AssertionError unless the attempt raises an error of this kind."""
    try:
        attempt()
    except kind:
        return
    raise AssertionError(message)


def stream(rng: Randomness, check: str, oracle: Mechanism) -> Entropy:
    """The randomness of one check."""
    return Entropy.resolve(rng, check, oracle.digest)


def written(oracle: Mechanism) -> Mechanism:
    """The oracle, or its `twin` if it has one: the same mechanism, so small that its law can be written down."""
    twin: Mechanism = getattr(oracle, "twin", oracle)
    return twin


def z_limit(cells: int) -> float:
    """The bound on the largest absolute value of this number of standard normal variables."""
    return float(-special.ndtri(ALARM / (2 * cells)))


def frequencies(size: int) -> NDArray[np.float64]:
    """Unequal frequencies for an example population: one frequent value, rarer ones, and the last absent."""
    weights = (1.0 + np.arange(size)) ** -1.5
    weights[-1] = 0.0
    return np.asarray(weights / weights.sum())


def people(oracle: Mechanism, n: int) -> NDArray[np.int64]:
    """How many of n example people have each value."""
    counts = np.floor(frequencies(oracle.size) * n).astype(np.int64)
    counts[0] += n - counts.sum()
    return counts


def enough_people(oracle: Mechanism, least: int = 5_000, most: int = 10**12) -> int:
    """A number of people with which even the rarest report comes some 200 times, and counts are nearly normal."""
    # No message is less likely than e^−ε times its average over the values.
    return int(min(max(least, 200 * oracle.size * math.exp(oracle.epsilon)), most))


def values_of(oracle: Mechanism, codes: NDArray[Any]) -> NDArray[Any]:
    """The values behind codes: labels, numbers or the codes themselves, and None for the category of missing values."""
    if oracle.gives == "mean":
        return oracle.domain.decode(codes)
    domain: Any = oracle.domain
    names: list[Any] = list(domain.names)
    if oracle.size == domain.k and domain.labels is None:
        return codes
    if oracle.size > domain.k:
        names[-1] = None
    table: NDArray[Any] = np.empty(len(names), object)
    table[:] = names
    return np.asarray(table[codes])


def crowd(oracle: Mechanism, n: int) -> NDArray[Any]:
    """The values of n example people, in the order of their codes."""
    return values_of(oracle, np.repeat(np.arange(oracle.size), people(oracle, n)))


def cells_text(bad: NDArray[np.bool_]) -> str:
    """Which cells failed, for a message: cells are public, people are not in it."""
    places = np.flatnonzero(bad)
    shown = ", ".join(str(place) for place in places[:5])
    return shown if places.size <= 5 else f"{shown} and {places.size - 5} more"


def declared_values(release: Release) -> list[Any]:
    """The ends of what is declared, what lies outside, and something between; numbers where nothing is declared."""
    if release.by is not None or len(release.statistics) > 1:
        raise ParameterError(
            "A release of groups, or of several statistics, is checked with values and fold of your own."
        )
    (statistic,) = release.statistics.values()
    domain = getattr(statistic, "domain", getattr(statistic, "grid", None))
    if isinstance(domain, Categories):
        return list(domain.names[: domain.k])
    bounds: Any = getattr(statistic, "bounds", (0.0, 1.0))
    if isinstance(domain, Bins):
        bounds = domain.edges[0], domain.edges[-1]
    elif isinstance(domain, Grid) and not isinstance(bounds, tuple):
        bounds = domain.low, domain.high
    low, high = float(bounds[0]), float(bounds[1])
    width = high - low
    inside = [low + width * share for share in (0.5, 0.25, 1 / 3, 1e-6)]
    return [low, high, *inside, low - width, high + 10 * width]
