"""People who do not exist: drawn from frequencies, one attribute independently of the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains import Schema
from bruit.domains.codes import Codes, code_dtype
from bruit.entropy import Entropy, Randomness
from bruit.errors import DataError, ParameterError

#: How far frequencies may be from a sum of 1.
ROUNDING = 1e-6


def draw_people(
    schema: Schema, frequencies: Mapping[str, Any], n: int, rng: Randomness = None
) -> dict[str, NDArray[Any]]:
    """A table of n simulated people whose attributes are independent, to see a plan's risk before anybody is asked.

    Parameters
    ----------
    schema
        The attributes.
    frequencies
        The share of each value, by attribute; where none are given, all values are alike.
    n
        How many people.
    rng
        As for every verb.

    Examples
    --------
    >>> schema = Schema({"sex": ["F", "M"], "smokes": ["no", "yes"]})
    >>> people = draw_people(schema, {"smokes": [1.0, 0.0]}, 3, rng=7)
    >>> people["smokes"].tolist()
    ['no', 'no', 'no']
    """
    if not set(frequencies) <= set(schema):
        raise ParameterError("frequencies must name attributes of the schema.")
    shares = {name: _shares(name, frequencies.get(name), attribute.size) for name, attribute in schema.items()}
    generator = Entropy.resolve(rng, "draw_people", "attacks").generator()
    codes = draw_codes(shares, _checks.integer(low=0, n=n), generator)
    return {name: attribute.values(codes[name]) for name, attribute in schema.items()}


def draw_codes(shares: Mapping[str, NDArray[np.float64]], n: int, generator: np.random.Generator) -> dict[str, Codes]:
    """Codes of n people with these frequencies."""
    return {
        name: generator.choice(share.size, n, p=share / share.sum()).astype(code_dtype(share.size))
        for name, share in shares.items()
    }


def how_many(columns: Mapping[str, Any], what: str = "The table") -> int:
    """How many people columns speak of: the same number in every one, and somebody."""
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"{what} must have as many entries in every column, one per person.")
    if not lengths or lengths == {0}:
        raise DataError(f"There is nobody to attack: {what[0].lower()}{what[1:]} must have at least one person.")
    return lengths.pop()


def _shares(name: str, frequencies: Any, size: int) -> NDArray[np.float64]:
    if frequencies is None:
        return np.full(size, 1 / size)
    shares = np.asarray(frequencies, float)
    if shares.shape != (size,) or not (shares >= 0).all() or abs(shares.sum() - 1) > ROUNDING:
        raise ParameterError(f"frequencies of {name!r} must be {size} numbers, 0 or above, with the sum 1.")
    return shares
