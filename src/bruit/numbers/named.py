"""Number mechanisms by name."""

from __future__ import annotations

from typing import Any

from bruit.domains.grid import Grid
from bruit.errors import BruitError, FormatError, translated
from bruit.numbers.base import Number
from bruit.numbers.bounded_laplace import BoundedLaplace
from bruit.numbers.mean import Duchi, Hybrid, Piecewise
from bruit.numbers.metric import MetricNumber
from bruit.numbers.square_wave import SquareWave
from bruit.numbers.staircase import Staircase
from bruit.registry import Registry

_NUMBERS: Registry[Number] = Number.kinds
#: The names that `number` takes, and what each stands for.
NAMES: dict[str, str] = _NUMBERS.meanings

_NUMBERS.add("laplace", BoundedLaplace, "Laplace noise within the bounds")
_NUMBERS.add("staircase", Staircase, "staircase noise within the bounds, calibrated to its true ε")
_NUMBERS.add("duchi", Duchi, "one of two numbers (Duchi et al.), for means at small ε")
_NUMBERS.add("piecewise", Piecewise, "the piecewise mechanism, for means at large ε", aliases=("PM",))
_NUMBERS.add("hybrid", Hybrid, "piecewise and Duchi's mixed, for means at any ε", aliases=("HM",))
_NUMBERS.add("square-wave", SquareWave, "the square wave, for distributions and quantiles", aliases=("SW",))
_NUMBERS.add("metric", MetricNumber, "geometric noise with ε per unit of distance, for near numbers only")


def number(name: str, *, epsilon: float, **settings: Any) -> Number:
    """The number mechanism with this name.

    Parameters
    ----------
    name
        One of `NAMES`, in any case.
    epsilon
        The most that one report may tell.
    **settings
        ``bounds=…`` and ``cells=…``, or ``domain=Grid(…)``, and ``rounding=…``, as for every `Number`; and what the
        mechanism itself takes.

    Examples
    --------
    >>> number("laplace", epsilon=1.0, bounds=(0, 100)).cells
    101
    >>> print(number("Staircase", epsilon=1.0, bounds=(0.0, 1.0), clamped=True).guarantee)
    ε = 1 (local, one answer changed)
    """
    kind, fixed = _NUMBERS[_NUMBERS.spelt(name)]
    return kind(epsilon=epsilon, **fixed, **settings)


def from_dict(body: Any) -> Number:
    """The mechanism that `Number.to_dict` described."""
    rule = "This document does not describe a number mechanism that this version knows."
    with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
        settings = {key: body[key] for key in body if key not in ("number", "epsilon", "domain")}
        kind, fixed = _NUMBERS[body["number"]]
        return kind.from_settings(Grid.from_dict(body["domain"]), body["epsilon"], {**fixed, **settings})
