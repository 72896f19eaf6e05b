"""That estimates are unbiased, vary as stated, and lie in their intervals as often as stated.

Each check makes many collections from example people and looks at what comes out: from the same people every time for
the target ``"people"``, from new people every time for the target ``"population"``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.entropy import Entropy, Randomness
from bruit.estimation import Estimate, Target
from bruit.oracles import Oracle
from bruit.testing._evidence import (
    ALARM,
    Mechanism,
    cells_text,
    crowd,
    enough_people,
    frequencies,
    people,
    require,
    stream,
    z_limit,
)

Floats = NDArray[np.float64]

#: How far the coverage of an honest interval may be from its level because counts are whole numbers.
DISCRETENESS = 0.01


def check_unbiased(oracle: Oracle, *, rng: Randomness = 0, runs: int = 2_000) -> None:
    """The mean of many estimates is the truth, for the people who answered and for their population."""
    for target in get_args(Target):
        n = enough_people(oracle)
        truth, estimates = repeated(oracle, n, target, runs, stream(rng, "check_unbiased", oracle))
        mean = np.mean([estimate.frequency for estimate in estimates], axis=0)
        error = np.sqrt(oracle.variance(truth, n, target) / runs)
        bad = np.abs(mean - truth) > z_limit(oracle.size) * error
        require(not bad.any(), f"Estimates for the {target} are biased at {cells_text(bad)}, in {runs:,} runs.")


def check_variance(oracle: Oracle, *, rng: Randomness = 0, runs: int = 2_000) -> None:
    """Estimates vary as much as `variance` states, and each estimate states the same formula."""
    for target in get_args(Target):
        n = enough_people(oracle)
        truth, estimates = repeated(oracle, n, target, runs, stream(rng, "check_variance", oracle))
        answers = list(estimates)
        _check_formula(oracle, answers[0], truth, target)
        observed = np.var([estimate.frequency for estimate in answers], axis=0, ddof=1)
        ratio = observed / oracle.variance(truth, n, target)
        low, high = variance_limits(runs, ALARM / (2 * oracle.size))
        bad = (ratio < low) | (ratio > high)
        require(
            not bad.any(),
            f"Estimates for the {target} do not vary as stated at {cells_text(bad)}: "
            f"observed/stated from {ratio.min():.3f} to {ratio.max():.3f}, {low:.3f} to {high:.3f} is chance.",
        )


def check_coverage(oracle: Oracle, *, rng: Randomness = 0, runs: int = 4_000, level: float = 0.95) -> None:
    """Intervals for the population hold the truth as often as their level says."""
    n = enough_people(oracle)
    truth, estimates = repeated(oracle, n, "population", runs, stream(rng, "check_coverage", oracle))
    hits = np.zeros(oracle.size)
    for estimate in estimates:
        ends = estimate.interval(level)
        hits += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    slack = z_limit(oracle.size) * np.sqrt(level * (1 - level) / runs) + DISCRETENESS
    bad = np.abs(hits / runs - level) > slack
    require(
        not bad.any(),
        f"Intervals at level {level:g} cover from {hits.min() / runs:.3f} to {hits.max() / runs:.3f} "
        f"of the time, at {cells_text(bad)} too far from it.",
    )


def check_simulate(oracle: Mechanism, *, rng: Randomness = 0, runs: int = 2_000) -> None:
    """`simulate` has the law of `privatize` and `tally`: counts have the same means and the same variances.

    Cells that see fewer than one report in a run on average are left out: there is nothing to compare.
    """
    n = enough_people(oracle, least=1_000, most=100_000)
    real_runs = min(max(20_000_000 // n, 200), 600)
    entropy = stream(rng, "check_simulate", oracle)
    counts, values = people(oracle, n), crowd(oracle, n)
    drawn = [oracle.simulate(counts, rng=entropy) for _ in range(runs)]
    require(
        all(tally.simulated and tally.n == n for tally in drawn), "A simulated tally is not marked, or lost people."
    )
    simulated = np.array([tally.counts for tally in drawn], float)
    real = np.array([oracle.tally(oracle.privatize(values, rng=entropy)).counts for _ in range(real_runs)], float)
    kept = simulated.mean(axis=0) >= 1
    bad = np.zeros(kept.size, bool)
    bad[kept] = _differ(simulated[:, kept], real[:, kept])
    require(not bad.any(), f"simulate does not have the law of privatize and tally at {cells_text(bad)}.")


def repeated(mechanism: Mechanism, n: int, target: Target, runs: int, entropy: Entropy) -> tuple[Floats, Iterator[Any]]:
    """The true frequencies of n people or of their population, and one estimate of them after the other."""
    counts = people(mechanism, n)
    truth = counts / n if target == "people" else frequencies(mechanism.size)
    generator = entropy.generator()

    def estimates() -> Iterator[Any]:
        for _ in range(runs):
            sample = counts if target == "people" else generator.multinomial(n, truth)
            yield mechanism.estimate(mechanism.simulate(sample, rng=entropy), target)

    return truth, estimates()


def variance_limits(runs: int, tail: float) -> tuple[float, float]:
    """Bounds on the observed over the true variance: (runs − 1)·ratio follows the χ² law."""
    low, high = (float(special.chdtri(runs - 1, p)) / (runs - 1) for p in (1 - tail, tail))
    return low, high


def _check_formula(oracle: Oracle, estimate: Estimate, truth: Floats, target: Target) -> None:
    # Where a variance depends on more than the value's own frequency, an estimate takes the rest from its reports.
    tolerance = 1e-6 if "noise" in oracle.fakes or "value" in oracle.fakes else 0.2
    stated, wanted = estimate.model.variance(truth, target), oracle.variance(truth, estimate.n, target)
    same = np.allclose(stated, wanted, rtol=tolerance)
    require(same, f"An estimate's variance for the {target} is not what variance() gives at the same frequencies.")


def _differ(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Cells whose means or variances differ by more than chance."""
    sizes = 1 / len(first) + 1 / len(second)
    spread = first.var(axis=0, ddof=1)
    other = second.var(axis=0, ddof=1)
    limit = z_limit(2 * spread.size)
    fixed = (spread == 0) | (other == 0)
    if fixed.any():
        return np.asarray(fixed & ((spread != other) | (first.mean(axis=0) != second.mean(axis=0))))
    means = np.abs(first.mean(axis=0) - second.mean(axis=0)) / np.sqrt(spread * sizes)
    # The logarithm of a sample variance has variance (kurtosis − 1)/runs.
    kurtosis = ((first - first.mean(axis=0)) ** 4).mean(axis=0) / spread**2
    variances = np.abs(np.log(other / spread)) / np.sqrt((kurtosis - 1) * sizes)
    return np.asarray((means > limit) | (variances > limit))
