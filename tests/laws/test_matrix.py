"""The matrix of a mechanism, which its law writes, is that of the formulas of the papers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import bruit

Matrix = list[list[Fraction]]


def _response(oracle: Any) -> Matrix:
    return [[oracle.p if y == x else oracle.q for y in range(oracle.size)] for x in range(oracle.size)]


def _bits(oracle: Any) -> Matrix:
    """Bit by bit: the own one is set with p, the others with q."""

    def chance(message: int, own: int) -> Fraction:
        chances = [oracle.p if value == own else oracle.q for value in range(oracle.size)]
        return math.prod((c if message >> value & 1 else 1 - c for value, c in enumerate(chances)), start=Fraction(1))

    return [[chance(message, own) for message in range(2**oracle.size)] for own in range(oracle.size)]


def _subsets(oracle: Any) -> Matrix:
    """A subset with the own value takes p of the chance, one without it the rest, each evenly."""
    k, omega = oracle.size, oracle.omega
    subsets = sorted(itertools.combinations(range(k), omega), key=lambda held: sum(2**value for value in held))
    inside = oracle.p / math.comb(k - 1, omega - 1)
    outside = (1 - oracle.p) / math.comb(k - 1, omega)
    return [[inside if value in held else outside for held in subsets] for value in range(k)]


def _hashes(oracle: Any) -> Matrix:
    """Every seed is equally likely; given the seed the bucket is randomised response."""
    pool = oracle._pool
    other = (1 - oracle.p) / (oracle.g - 1)
    rows = pool.buckets(oracle._words).tolist()
    return [
        [(oracle.p if bucket == own else other) / pool.size for own in row for bucket in range(oracle.g)]
        for row in rows
    ]


FORMULAS: dict[str, Callable[[Any], Matrix]] = {
    "GRR": _response,
    "SUE": _bits,
    "OUE": _bits,
    "SS": _subsets,
    "BLH": _hashes,
    "OLH": _hashes,
}


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("name", FORMULAS)
def test_the_law_gives_the_formula(name: str, k: int, epsilon: float) -> None:
    oracle: Any = bruit.oracle(name, epsilon=epsilon, labels=[str(value) for value in range(k)])
    oracle = oracle.twin if name in ("BLH", "OLH") else oracle
    assert oracle.matrix() == FORMULAS[name](oracle)


def test_the_control_another_law_is_seen() -> None:
    first, second = (bruit.oracle("OUE", epsilon=epsilon, labels=["a", "b"]) for epsilon in (1.0, 1.0 + 1e-9))
    assert first.matrix() != FORMULAS["OUE"](second)
