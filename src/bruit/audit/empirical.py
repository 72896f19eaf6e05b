"""The empirical audit: a lower bound on ε from samples, for any callable.

Draw outputs under two inputs. On one half of the draws, choose an event: outputs that look much likelier under one
input. On the other half, which played no part in the choice, bound its two probabilities with exact binomial
(Clopper–Pearson) limits. If the mechanism is (ε, δ)-private, P(event | one input) ≤ e^ε · P(event | other) + δ, so ε is
at least ln((lower − δ)/upper), at the chosen level.

The bound can show that a guarantee is false. That it is low proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit import _checks
from bruit.audit import binning
from bruit.audit.binning import Floats, Score
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from bruit.privacy.guarantee import Guarantee, check_adds
from bruit.tables import Column, Table, Tabular, counted, decimals, digits

#: From (input, trials, entropy) to outputs, first axis trials.
Sampler = Callable[[Any, int, Entropy], Any]

#: The most thresholds that are tried for one score.
THRESHOLDS = 600


@dataclass(frozen=True, kw_only=True, repr=False)
class EmpiricalAudit(Tabular):
    """A lower bound on ε, and the event that shows it.

    Parameters
    ----------
    epsilon_lower
        ε is at least this, at the level; 0 if nothing was found.
    delta
        The δ that was allowed for.
    level
        How often a bound made in this way is below the true ε.
    trials
        How many outputs were drawn under each input.
    true_positive_rate, false_positive_rate
        How often the event happened among the certifying draws: under the input that makes it likely, and the other.
    true_positive_lower, false_positive_upper
        Their one-sided limits, which hold together at the level.
    event
        What the event is, in words; it shows no output.
    """

    epsilon_lower: float
    delta: float
    level: float
    trials: int
    true_positive_rate: float
    true_positive_lower: float
    false_positive_rate: float
    false_positive_upper: float
    event: str

    def passes(self, guarantee: Guarantee) -> bool:
        """Whether the bound is compatible with a guarantee: False shows, at the level, that it is not true."""
        check_adds([guarantee])
        if guarantee.delta > self.delta:
            raise ParameterError(
                f"This audit allowed for delta = {self.delta:g}, the guarantee has {guarantee.delta:g}: "
                "audit again with the delta of the guarantee."
            )
        return self.epsilon_lower <= guarantee.epsilon

    def table(self) -> Table:
        """The bound, and how often the event happened: columns event, epsilon_lower, and the rates with limits."""
        columns = [
            Column("event", [self.event], kind="text", write=str),
            Column("epsilon_lower", [self.epsilon_lower], "ε ≥", write=decimals(4)),
            Column("true_positive_rate", [self.true_positive_rate], "under one input", write=digits(4)),
            Column("true_positive_lower", [self.true_positive_lower], hidden=True),
            Column("false_positive_rate", [self.false_positive_rate], "under the other", write=digits(4)),
            Column("false_positive_upper", [self.false_positive_upper], hidden=True),
        ]
        delta = f", δ = {self.delta:g}" if self.delta else ""
        title = f"Empirical audit at level {self.level:g}{delta}, {counted(self.trials, 'trial')} per input"
        about = {"delta": self.delta, "level": self.level, "trials": self.trials}
        return Table(title, columns, about=about, noun="event")


class _Event(NamedTuple):
    """Outputs whose score is on the far side of a threshold."""

    bound: float
    direction: int
    threshold: float
    name: str
    score: Score


def empirical(
    mechanism: Any,
    first: Any,
    second: Any,
    *,
    trials: int = 100_000,
    delta: float = 0.0,
    level: float = 0.95,
    rng: Randomness = None,
    score: Score | None = None,
) -> EmpiricalAudit:
    """A lower bound on the ε of any mechanism, from its outputs under two inputs.

    Parameters
    ----------
    mechanism
        A callable ``(input, trials, entropy) -> outputs`` whose outputs are an array (first axis trials) or a list,
        each a fresh draw; or anything with `privatize`, such as an oracle.
    first, second
        The two inputs; they must be neighbours in the sense of the guarantee. They are public.
    trials
        How many outputs to draw under each input. Half of them choose the event, the others certify it.
    delta
        The δ of the guarantee that is in question.
    level
        How often the bound must be below the true ε.
    rng
        As for every verb; the callable gets an `Entropy` of its own at each call, and need not use it.
    score
        A function of outputs that is larger where `first` looks likelier. By default scores are learnt: by whole
        outputs, rows, sums over columns, and for floats by quantiles, repeated numbers and lowest bits.

    Examples
    --------
    >>> from bruit.oracles import RandomizedResponse
    >>> oracle = RandomizedResponse(epsilon=1.0, k=2)
    >>> found = empirical(oracle, 0, 1, rng=7)
    >>> 0.9 < found.epsilon_lower < 1.0
    True
    >>> found.passes(oracle.guarantee)
    True
    """
    _checks.integer(low=100, trials=trials)
    _checks.fraction(delta=delta)
    _checks.probability(level=level)
    # Where every report carries a seed of its own, a twin with few seeds has the same law and can be learnt.
    draw = _sampler(mechanism if score is not None else getattr(mechanism, "twin", mechanism))
    words = Words.resolve(rng, "audit", "empirical").split(6)
    sizes = (trials // 4, trials // 2 - trials // 4, trials - trials // 2)
    learning, choosing, certifying = (
        [_drawn(draw, value, size, words[2 * part + side].stream()) for side, value in enumerate((first, second))]
        for part, size in enumerate(sizes)
    )
    tail = (1 - level) / 2
    if learning[0].shape[1:] != learning[1].shape[1:]:
        raise DataError("The mechanism must return outputs of one shape, whatever the input.")
    scores = [("the given score", score)] if score is not None else binning.scores(*learning)
    events = [event for name, learnt in scores for event in _events(name, learnt, choosing, delta, tail)]
    return _certify(max(events, key=lambda event: event.bound), certifying, trials, delta, level)


def _sampler(mechanism: Any) -> Sampler:
    if hasattr(mechanism, "privatize"):
        return lambda value, trials, entropy: mechanism.privatize([value] * trials, rng=entropy)
    if not callable(mechanism):
        raise ParameterTypeError("mechanism must have privatize, or be a callable (input, trials, entropy) -> outputs.")
    return mechanism  # type: ignore[no-any-return]


def _drawn(draw: Sampler, value: Any, size: int, entropy: Entropy) -> NDArray[Any]:
    """Outputs as an array, first axis trials; texts and bytes as objects, because NumPy cuts zeros at their end."""
    outputs = draw(value, size, entropy)
    if isinstance(outputs, list | tuple) and len(outputs) and isinstance(outputs[0], bytes | str):
        array = np.empty(len(outputs), object)
        array[:] = outputs
    else:
        array = np.asarray(outputs)
    if array.ndim == 0 or len(array) != size:
        raise DataError("The mechanism must return one output for each trial that is asked for.")
    return array


def _events(name: str, score: Score, samples: list[NDArray[Any]], delta: float, tail: float) -> list[_Event]:
    """The best event of each direction on the choosing draws: high scores for the first input, low ones against it."""
    ours, theirs = (_scored(score, sample) for sample in samples)
    events = []
    for direction in (1, -1):
        likely, unlikely = (ours, theirs) if direction == 1 else (-theirs, -ours)
        thresholds = _thresholds(likely)
        hits = [_at_least(side, thresholds) for side in (likely, unlikely)]
        lower, upper = _limits(hits[0], likely.size, hits[1], unlikely.size, tail)
        bounds = np.log(np.maximum(lower - delta, 1e-300)) - np.log(upper)
        best = int(np.argmax(bounds))
        events.append(_Event(float(bounds[best]), direction, float(thresholds[best]), name, score))
    return events


def _certify(event: _Event, samples: list[NDArray[Any]], trials: int, delta: float, level: float) -> EmpiricalAudit:
    """Bound the two probabilities of the chosen event on draws that had no part in the choice."""
    likely, unlikely = samples[:: event.direction]
    hits = [int((event.direction * _scored(event.score, side) >= event.threshold).sum()) for side in (likely, unlikely)]
    lower, upper = _limits(hits[0], len(likely), hits[1], len(unlikely), (1 - level) / 2)
    gain = float(lower) - delta
    side = "first" if event.direction == 1 else "second"
    return EmpiricalAudit(
        epsilon_lower=max(0.0, math.log(gain / float(upper))) if gain > 0 else 0.0,
        delta=delta,
        level=level,
        trials=trials,
        true_positive_rate=hits[0] / len(likely),
        true_positive_lower=float(lower),
        false_positive_rate=hits[1] / len(unlikely),
        false_positive_upper=float(upper),
        event=f"likelier under the {side} input, by {event.name}",
    )


def _limits(likely: Any, n: int, unlikely: Any, m: int, tail: float) -> tuple[Floats, Floats]:
    """Clopper–Pearson limits: below the first probability, above the second, each wrong with probability `tail`."""
    hits, misses = np.asarray(likely, float), np.asarray(unlikely, float)
    with np.errstate(invalid="ignore"):
        lower = special.betaincinv(hits, n - hits + 1, tail)
        upper = special.betaincinv(misses + 1, m - misses, 1 - tail)
    return np.where(hits == 0, 0.0, lower), np.where(misses == m, 1.0, upper)


def _thresholds(scores: Floats) -> Floats:
    """Scores to try as thresholds: all, or enough of them, with the rarest events best covered."""
    distinct = np.unique(scores)
    if distinct.size <= THRESHOLDS:
        return distinct
    ranks = np.unique(np.geomspace(1, scores.size, THRESHOLDS).astype(np.int64))
    return np.unique(np.sort(scores)[scores.size - ranks])


def _at_least(scores: Floats, thresholds: Floats) -> NDArray[np.int64]:
    """How many scores reach each threshold."""
    return scores.size - np.searchsorted(np.sort(scores), thresholds)


def _scored(score: Score, outputs: NDArray[Any]) -> Floats:
    values = np.asarray(score(outputs), np.float64)
    if values.shape != (len(outputs),) or np.isnan(values).any():
        raise DataTypeError("score must return one number for each output.")
    return values
