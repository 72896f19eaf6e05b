"""That what an oracle says of its reports agrees with its exact law: attacks, fakes and models go by it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Randomness
from bruit.errors import LimitError, ParameterError
from bruit.oracles import Oracle
from bruit.testing._evidence import cells_text, require, stream, values_of, written, z_limit

#: How many people report for each value.
PEOPLE = 4_000
#: The most values that are looked at, from the first and from the last on.
VALUES = 8
#: How exactly floats have to agree with the exact law.
ROUNDING = 1e-9


def check_capabilities(oracle: Oracle, *, rng: Randomness = 0) -> None:
    """`likelihood` and `supports` are the law, `masses` hold, `scores` are unbiased, what is `named` is supported."""
    small: Any = written(oracle)
    entropy = stream(rng, "check_capabilities", oracle)
    codes = np.unique(np.r_[0 : min(VALUES, small.size), max(0, small.size - VALUES) : small.size])
    for code in codes:
        values = values_of(small, np.full(PEOPLE, code))
        reports = oracle.privatize(values, rng=entropy)
        _check_scores(oracle, reports, int(code))
        _check_support(oracle, reports)
        _check_likelihood(small, small.privatize(values[:200], rng=entropy))
    if not hasattr(oracle, "twin"):  # with seeds, the rate is a mean over all of them
        _check_guessability(oracle)


def _check_likelihood(oracle: Oracle, reports: NDArray[np.generic]) -> None:
    try:
        law = np.array(oracle.matrix(), float)[:, oracle.message(reports)].T
    except LimitError:
        return
    stated = oracle.likelihood(reports)
    same = np.allclose(_normal(stated), _normal(law), rtol=ROUNDING, atol=0)
    require(same, "likelihood() is not proportional to the probabilities that matrix() has.")
    if oracle.sets is not None:
        two = np.where(oracle.supports(reports), float(oracle.law.ratio), 1.0)
        same = np.allclose(_normal(two), _normal(law), rtol=ROUNDING, atol=0)
        require(same, "A report is not as much likelier as the law's ratio under the values that it supports.")


def _check_support(oracle: Oracle, reports: NDArray[np.generic]) -> None:
    codes = oracle.named(reports)
    if codes is not None:
        alone = (oracle.supports(reports) == (codes[:, None] == np.arange(oracle.size))).all()
        require(bool(alone), "A report names a value, and supports others or not this one.")
    if not oracle.fakes:
        return
    total = oracle.size * (oracle.size + 1) // 2
    prior = [Fraction(weight, total) for weight in range(1, oracle.size + 1)]
    held = oracle.supports(reports)
    mixed = held[held.any(axis=1) & ~held.all(axis=1)]
    least, most = oracle.masses(prior)  # type: ignore[attr-defined] # what fakes need
    seen = mixed.astype(np.int64) @ np.arange(1, oracle.size + 1)
    inside = not seen.size or (least * total <= int(seen.min()) and int(seen.max()) <= most * total)
    require(inside and 0 < least <= most < 1, "A report supports more or less prior mass than masses() allows.")


def _check_scores(oracle: Oracle, reports: NDArray[np.generic], code: int) -> None:
    try:
        scores = oracle.scores(reports)
    except ParameterError:
        return
    own = np.arange(oracle.size) == code
    error = np.maximum(scores.std(axis=0), 1.0) / np.sqrt(len(scores))
    bad = np.abs(scores.mean(axis=0) - own) > z_limit(oracle.size * oracle.size) * error
    require(not bad.any(), f"The scores of reports are biased at {cells_text(bad)}.")


def _check_guessability(oracle: Oracle) -> None:
    try:
        table = np.array(oracle.matrix(), float)
    except LimitError:
        return
    best = float(table.max(axis=0).sum()) / oracle.size
    require(abs(oracle.guessability - best) < ROUNDING, "guessability is not the rate of the best guess.")


def _normal(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(table / table.sum(axis=1, keepdims=True))
