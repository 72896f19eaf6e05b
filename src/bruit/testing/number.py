"""All common laws of a number mechanism, one after the other, and those of its mean."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy, Randomness
from bruit.estimation import Target
from bruit.numbers import Number, from_dict
from bruit.testing._evidence import ALARM, people, require, stream, z_limit
from bruit.testing.estimates import DISCRETENESS, repeated, variance_limits
from bruit.testing.oracle import check_common
from bruit.testing.tallies import Read

Floats = NDArray[np.float64]

#: How many people each collection asks: enough for a nearly normal mean.
PEOPLE = 20_000


def check_number(number: Number, *, rng: Randomness = 0, read: Read = from_dict) -> None:
    """Run every common law on a number mechanism; the first that it breaks raises an `AssertionError` that says which.

    The parameters are those of `check_oracle`.

    Examples
    --------
    >>> from bruit.numbers import BoundedLaplace
    >>> check_number(BoundedLaplace(epsilon=1.0, bounds=(0, 4)))
    """
    check_common(number, rng=rng, read=read)
    check_mean(number, rng=rng)


def check_mean(number: Number, *, rng: Randomness = 0, runs: int = 1_000, level: float = 0.95) -> None:
    """Estimated means are unbiased, vary as stated, and lie in their intervals as often as stated; for both targets.

    An interval for the people who answered may be on the safe side where their noise cannot be estimated; nothing else
    may. With the affine method, the bias must be within its bound.
    """
    entropy = stream(rng, "check_mean", number)
    for target in get_args(Target):
        shares, answers = repeated(number, PEOPLE, target, runs, entropy)
        estimates = list(answers)
        truth = float(shares @ number.points)
        stated = number.variance(shares, PEOPLE, target)
        means = np.array([estimate.mean for estimate in estimates])
        _check_centre(means, truth, stated, target)
        _check_spread(means, stated, target)
        _check_stated(np.array([estimate.variance for estimate in estimates]), stated, target)
        # People simulated on cells are not rounded, so the room that an interval leaves for rounding is taken away.
        room = np.array([1.0, -1.0]) * estimates[0].bias_bound
        ends = np.array([estimate.interval(level) for estimate in estimates]) + room
        _check_intervals(ends, truth, level, target)
    _check_affine(number, entropy)


def _check_centre(means: Floats, truth: float, stated: float, target: Target) -> None:
    error = np.sqrt(stated / means.size)
    require(
        abs(float(means.mean()) - truth) <= z_limit(1) * error,
        f"Means for the {target} are biased by more than chance, in {means.size:,} runs.",
    )


def _check_spread(means: Floats, stated: float, target: Target) -> None:
    ratio = float(means.var(ddof=1)) / stated
    low, high = variance_limits(means.size, ALARM / 2)
    require(
        low <= ratio <= high,
        f"Means for the {target} do not vary as stated: "
        f"observed/stated {ratio:.3f}, {low:.3f} to {high:.3f} is chance.",
    )


def _check_stated(variances: Floats, stated: float, target: Target) -> None:
    """The estimated variance is right on average; for the people, at least that."""
    # Estimates are kept between the least and the greatest variance given the cell, which biases them a little.
    slack = z_limit(1) * float(variances.std(ddof=1)) / np.sqrt(variances.size) + 0.01 * stated
    gap = float(variances.mean()) - stated
    require(gap >= -slack, f"Estimates for the {target} state too small a variance.")
    require(target == "people" or gap <= slack, f"Estimates for the {target} state too large a variance.")


def _check_intervals(ends: Floats, truth: float, level: float, target: Target) -> None:
    covered = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
    slack = z_limit(1) * np.sqrt(level * (1 - level) / len(ends)) + DISCRETENESS
    require(covered >= level - slack, f"Intervals for the {target} at level {level:g} cover {covered:.3f} of the time.")
    wide = target == "people" or covered <= level + slack
    require(wide, f"Intervals for the {target} at level {level:g} cover {covered:.3f} of the time.")


def _check_affine(number: Number, entropy: Entropy) -> None:
    """The affine method is at most as biased as it says, at each cell."""
    tally = number.simulate(people(number, PEOPLE), rng=entropy)
    estimate = number.estimate(tally, method="affine")
    bias = number.probabilities() @ estimate.model.scores - number.points
    worst = float(np.abs(bias).max())
    width = float(number.points[-1] - number.points[0])
    require(worst <= estimate.bias_bound + 1e-9 * width, "The affine method is more biased than it says.")
