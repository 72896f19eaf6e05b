"""Every public number mechanism keeps the common laws of `bruit.testing`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from bruit import numbers, testing
from bruit.domains import Grid
from bruit.laws import ClampedLaw, DistanceLaw
from bruit.numbers import BoundedLaplace, Duchi, Hybrid, MetricNumber, Number, Piecewise, SquareWave, Staircase

#: One design or two of every class; more of each stand in the tests of its own module.
NUMBERS: list[Number] = [
    BoundedLaplace(epsilon=1.0, bounds=(0, 9)),
    BoundedLaplace(epsilon=2.0, domain=Grid(0.0, 1.0, cells=16, missing="drop"), clamped=True),
    Staircase(epsilon=1.0, bounds=(0, 10), rounding="stochastic"),
    Staircase(epsilon=2.0, bounds=(-1.0, 1.0), cells=24, clamped=True, error="squared"),
    Duchi(epsilon=1.0, domain=Grid(0, 9, outside="clamp")),
    Piecewise(epsilon=1.0, bounds=(-1.0, 1.0), cells=33, rounding="stochastic"),
    Hybrid(epsilon=1.0, domain=Grid(-1.0, 1.0, cells=33, missing="drop")),
    SquareWave(epsilon=1.0, bounds=(0.0, 1.0), cells=32),
    MetricNumber(epsilon=0.25, bounds=(0, 8), unit="km"),
    MetricNumber(epsilon=0.5, domain=Grid(-1.0, 1.0, cells=21, outside="clamp"), radius=0.5, rounding="stochastic"),
]

CHECKS: list[Callable[..., None]] = [
    testing.check_guarantee,
    testing.check_law,
    testing.check_simulate,
    testing.check_mean,
    testing.check_merge,
    testing.check_seeds,
    testing.check_single_use,
    testing.check_bad_input,
    testing.check_silence,
]


def _name(number: Number) -> str:
    clamped = "-clamped" if getattr(number, "clamped", False) else ""
    return f"{number.name}{clamped}-{number.epsilon:g}"


@pytest.mark.audit(
    "hybrid-1-check_mean",
    "hybrid-1-check_simulate",
    "piecewise-1",
    "square-wave-1-check_simulate",
    "staircase",
    share=3,
)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("number", NUMBERS, ids=_name)
def test_a_number_mechanism_keeps_the_law(number: Number, check: Callable[[Any], None]) -> None:
    assert check(number) is None


@pytest.mark.parametrize("number", NUMBERS, ids=_name)
def test_a_number_mechanism_comes_back_from_its_document(number: Number) -> None:
    assert testing.check_round_trip(number, read=numbers.from_dict) is None


def test_every_public_class_is_among_those_that_are_checked() -> None:
    public = {
        item
        for item in vars(numbers).values()
        if inspect.isclass(item) and issubclass(item, Number) and not inspect.isabstract(item)
    }
    assert {type(number) for number in NUMBERS} == public


class Understates(BoundedLaplace):
    """States the variance of its mean as half of what it is."""

    def variance(self, *arguments: Any, **settings: Any) -> float:
        return super().variance(*arguments, **settings) / 2


class Biased(BoundedLaplace):
    """Averages what was reported, as if the law did not pull it to the middle."""

    @property
    def message_scores(self) -> Any:  # type: ignore[override]
        return self.outputs


class Loud(BoundedLaplace):
    """Samples at a larger ε than it states."""

    def _randomize_cells(self, cells: Any, entropy: Any, out: Any) -> None:
        BoundedLaplace(epsilon=self.epsilon * 1.06, bounds=self.bounds)._randomize_cells(cells, entropy, out)


class Quiet(BoundedLaplace):
    """Samples at a smaller ε than it states."""

    def _randomize_cells(self, cells: Any, entropy: Any, out: Any) -> None:
        BoundedLaplace(epsilon=self.epsilon * 0.94, bounds=self.bounds)._randomize_cells(cells, entropy, out)


class Chatty(BoundedLaplace):
    """Shows a person's number in an error."""

    def encode(self, values: Any) -> Any:
        try:
            return super().encode(values)
        except Exception as error:
            raise type(error)(f"bad: {values!r}") from error


@pytest.mark.parametrize(
    ("broken", "check", "words"),
    [
        (Understates, testing.check_mean, "do not vary as stated"),
        (Biased, testing.check_mean, "biased"),
        (Loud, testing.check_law, "another"),
        (Quiet, testing.check_law, "another"),
        (Chatty, testing.check_bad_input, "shows the value"),
        (Chatty, testing.check_silence, "shown by"),
    ],
    ids=lambda item: getattr(item, "__name__", None),
)
def test_a_broken_twin_breaks_the_law(broken: Any, check: Callable[[Any], None], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check(broken(epsilon=1.0, bounds=(0, 9)))


class Cut(MetricNumber):
    """Cuts the weights to the bounds, so that each row is divided by its own total."""

    @property
    def law(self) -> Any:  # type: ignore[override]
        return _of_rows(DistanceLaw(ClampedLaw.geometric(self.epsilon, self.cells + 1).weights[:-1]))


class Unheaped(MetricNumber):
    """Gives the far end the weight of one distance, and not of all that lies beyond it."""

    @property
    def law(self) -> Any:  # type: ignore[override]
        weights = ClampedLaw.geometric(self.epsilon, self.cells).weights
        return ClampedLaw((*weights[:-1], weights[-2] * weights[-2] // weights[-3]))


def _of_rows(law: Any) -> Any:
    """A law that states its own step as if it had been asked for."""
    object.__setattr__(law, "step_ratio", ClampedLaw.geometric(0.1, law.rows).step_ratio)
    return law


@pytest.mark.parametrize("broken", [Cut, Unheaped])
def test_a_law_without_the_right_ends_breaks_the_metric_promise(broken: Any) -> None:
    with pytest.raises(AssertionError, match=r"within the radius|above the requested"):
        testing.check_guarantee(broken(epsilon=0.1, bounds=(0, 20)))


def test_the_printed_staircase_breaks_its_promise() -> None:
    with pytest.raises(AssertionError, match="above the requested one"):
        testing.check_guarantee(Staircase.as_printed(1.0, cells=64))
