"""Guessing a person's value from one report, by the likelihood of the report under each value.

Given the report, the best guess is the value with the largest prior × likelihood; of several, any. With a uniform
prior its rate of success is the mechanism's `guessability`. Two mechanisms with the same ε may differ much in it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.attacks.result import AttackResult, scored
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataError, ParameterError, ParameterTypeError
from bruit.estimation import Estimate
from bruit.mechanism import LocalMechanism

Floats: TypeAlias = NDArray[np.float64]

#: How many numbers of a likelihood are held at a time.
CHUNK = 1 << 20


def guess(
    mechanism: LocalMechanism,
    values: Any,
    *,
    prior: Any | Literal["estimated"] = None,
    level: float = 0.95,
    rng: Randomness = None,
) -> AttackResult:
    """Let people report, guess each one's value from the report alone, and count how often that is right.

    Parameters
    ----------
    mechanism
        An oracle, or a number mechanism, whose cells are then guessed: of a number between two cells, the nearest.
    values
        One entry per person.
    prior
        What the attacker believes before: None for all values alike, frequencies of the values, or ``"estimated"`` for
        those that the reports themselves give, which everybody who sees all of them can have.
    level
        Of the interval.
    rng
        As for every verb.

    Examples
    --------
    >>> from bruit.oracles import oracle
    >>> result = guess(oracle("GRR", epsilon=1.0, k=4), [0, 1, 2, 3] * 500, rng=7)
    >>> result.baseline, round(result.expected, 3), round(result.accuracy, 3)
    (0.25, 0.475, 0.481)
    """
    _check_mechanism(mechanism)
    noise, choice = Words.resolve(rng, "guess", mechanism.digest).split(2)
    codes = mechanism.encode(values)
    own = mechanism.row(codes)
    reports = mechanism.randomize(codes, noise)
    belief = _belief(mechanism, reports, prior)
    guesses = best_guess(mechanism, reports, belief, choice.stream())
    baseline = 1 / mechanism.size
    if belief is not None and own.size:
        baseline = float(np.mean(own == np.argmax(belief)))
    expected = mechanism.guessability if belief is None and mechanism.gives == "frequency" else None
    words = "no prior" if prior is None else "estimated prior" if isinstance(prior, str) else "given prior"
    return scored(
        guesses == own,
        baseline=baseline,
        description=f"value from one report of {mechanism.name}, {words}",
        level=level,
        expected=expected,
    )


def best_guess(mechanism: LocalMechanism, reports: Any, prior: Any = None, rng: Randomness = None) -> NDArray[np.int64]:
    """The code of the likeliest value behind each report; of equally likely ones, any.

    Parameters
    ----------
    mechanism
        The one that made the reports.
    reports
        One per person. One that the mechanism cannot have made is an error.
    prior
        The frequencies of the values that the attacker believes in; None for all alike.
    rng
        Chooses among equals.

    Examples
    --------
    >>> from bruit.oracles import oracle
    >>> best_guess(oracle("GRR", epsilon=1.0, k=4), [3, 1]).tolist()
    [3, 1]
    >>> best_guess(oracle("GRR", epsilon=1.0, k=4), [3, 1], prior=[0.7, 0.1, 0.1, 0.1]).tolist()
    [0, 0]
    """
    _check_mechanism(mechanism)
    belief = None if prior is None else _clean_prior(prior, mechanism.size)
    checked = report_parsing.strict(mechanism.form, reports)
    if mechanism.tally(checked).refused:
        raise DataError("reports must be ones that the mechanism can have made: leave out those that it refuses.")
    generator = Entropy.resolve(rng, "best_guess", mechanism.digest).generator()
    guesses = np.empty(len(checked), np.int64)
    for _, block in memory.blocks(len(checked), max(1, CHUNK // mechanism.size)):
        weight = mechanism.likelihood(checked[block])
        guesses[block] = _any_largest(weight if belief is None else weight * belief, generator)
    return guesses


def _any_largest(weight: Floats, generator: np.random.Generator) -> NDArray[np.int64]:
    """For each row the place of its largest number; of several, any with the same chance."""
    best = weight == weight.max(axis=1, keepdims=True)
    wanted = generator.integers(best.sum(axis=1))
    return np.asarray((np.cumsum(best, axis=1) > wanted[:, None]).argmax(axis=1), np.int64)


def _belief(mechanism: LocalMechanism, reports: NDArray[Any], prior: Any) -> Floats | None:
    if prior is None:
        return None
    if not isinstance(prior, str):
        return _clean_prior(prior, mechanism.size)
    if prior != "estimated":
        raise ParameterError('prior must be None, frequencies, or "estimated".')
    if mechanism.gives != "frequency":
        raise ParameterError("A number mechanism estimates no frequencies here: give them as the prior.")
    oracle: Any = mechanism
    answer: Estimate = oracle.estimate(oracle.tally(reports))
    return answer.consistent("norm-sub").frequency


def _clean_prior(prior: Any, size: int) -> Floats:
    try:
        shares = np.asarray(prior, float)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.shape != (size,) or not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
        raise ParameterError(f"prior must be {size} numbers, 0 or above and not all 0, one per value.")
    return shares


def _check_mechanism(mechanism: Any) -> None:
    if not isinstance(mechanism, LocalMechanism):
        raise ParameterTypeError("A value is guessed from reports of one mechanism: give an oracle or a number.")
