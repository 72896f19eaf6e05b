"""That bad values, reports, counts and seeds are refused with an error of ours, and impossible reports are counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bruit.entropy import Entropy, Randomness
from bruit.errors import BruitError, RandomnessError
from bruit.testing._evidence import Mechanism, crowd, require, stream, values_of
from bruit.testing.silence import SECRET, SECRET_FLOAT, SECRET_NUMBER, shown_by, shows


def check_bad_input(oracle: Mechanism, *, rng: Randomness = 0) -> None:
    """Bad values, counts and seeds raise a `BruitError` that does not show them; a bad report is counted as refused."""
    entropy = stream(rng, "check_bad_input", oracle)
    good = values_of(oracle, np.zeros(1, np.int64)).tolist()[0]
    for rule, values in _bad_values(oracle, good).items():
        _refused(f"values ({rule})", oracle.privatize, values, entropy)
    for rule, reports in _bad_reports().items():
        _refused(f"reports ({rule})", oracle.tally, reports)
    for rule, counts in _bad_counts(oracle).items():
        _refused(f"counts ({rule})", oracle.simulate, counts, entropy)
    tally = oracle.tally(oracle.privatize(crowd(oracle, 100), rng=entropy))
    _refused("tallies (counts alone)", oracle.estimate, tally.counts)
    _refused("tallies (empty)", oracle.estimate, replace(tally, n=0, counts=tally.counts * 0))
    _refused("targets", oracle.estimate, tally, "nobody")
    if tally.counts.size > 2:
        _refused("tallies (that wrap around)", oracle.estimate, replace(tally, counts=_wrapping(tally.counts)))
    for seed in (SECRET, -1, 1.5, True, [1], np.array([1, 2])):
        _refused("seeds", oracle.privatize, [good], seed, kind=RandomnessError)
    _check_impossible_reports(oracle, entropy)


def _refused(what: str, verb: Callable[..., object], *arguments: Any, kind: type[Exception] = BruitError) -> None:
    """Require a `BruitError` that shows no secret, nor does any error that led to it."""
    try:
        verb(*arguments)
    except kind as error:
        require(not any(shows(text) for _, text in shown_by(error)), f"The error about {what} shows the value.")
        return
    except Exception as error:
        raise AssertionError(f"Bad {what} raise {type(error).__name__}, not {kind.__name__}.") from error
    raise AssertionError(f"Bad {what} are accepted.")


def _wrapping(counts: Any) -> Any:
    """Counts of a forged tally: they are 2⁶⁴ more in all, which 64 bits do not show."""
    forged = counts.copy()
    forged[:3] = [2**63 - 1, 2**63 - 1, 2 + int(counts[:3].sum())]
    return forged


def _bad_values(oracle: Mechanism, good: Any) -> dict[str, Any]:
    """Values that no domain has, by the rule that they break; those that a declared policy takes are left out."""
    bad: dict[str, Any] = {
        "a scalar": good,
        "one text": SECRET,
        "nothing": None,
        "two-dimensional": [[good, good], [good, good]],
        "ragged": [[good], [good, good]],
        "nested": [good, [good]],
        "nested twice": [(good, good), [good, good]],
        "a mapping inside": [good, {SECRET: SECRET}],
        "an object": [good, object()],
        "a text": [SECRET],
        "a text after good ones": [good, SECRET],
        "bytes": [SECRET.encode()],
        "a large number": [SECRET_NUMBER],
        "a large number after good ones": [good, SECRET_NUMBER],
        "a negative number": [-SECRET_NUMBER],
        "a number beyond 64 bits": [SECRET_NUMBER << 70],
        "an array of large numbers": np.array([SECRET_NUMBER], np.uint64),
        "a float": [SECRET_FLOAT],
        "an array of floats": np.array([SECRET_FLOAT, 0.0]),
        "a float after good ones": [good, SECRET_FLOAT],
        "infinity": [math.inf],
        "infinity after good ones": [good, -math.inf],
        "a complex number": np.array([1j * SECRET_FLOAT]),
        "a date": np.array(["2031-07-31"], "datetime64[D]"),
    }
    if oracle.gives == "mean":
        bad = {rule: values for rule, values in bad.items() if "float" not in rule}
        bad |= {"a truth value": [True], "a truth value after good ones": [good, True]}
    elif isinstance(good, int):
        twin = int(good) if isinstance(good, bool) else bool(good)
        bad["another kind that compares equal"] = [good, twin]
    bad = {rule: values for rule, values in bad.items() if not _taken(oracle, rule)}
    if oracle.domain.missing == "refuse":
        bad |= {"None": [good, None], "only None": [None], "NaN": [good, math.nan], "only NaN": np.array([math.nan])}
    return bad


#: What stays wrong where all other values are one more, and what does not where numbers are clamped.
_WRONG_SHAPES = ("a scalar", "one text", "nothing", "two-dimensional")
_FAR_NUMBERS = ("large number", "negative number", "number beyond", "large numbers", "infinity")


def _taken(oracle: Mechanism, rule: str) -> bool:
    """Whether values that break a rule are taken, because the domain says what happens to values outside."""
    if oracle.domain.outside == "other":
        return rule not in _WRONG_SHAPES
    return oracle.domain.outside == "clamp" and any(words in rule for words in _FAR_NUMBERS)


def _bad_reports() -> dict[str, Any]:
    """What is no array of reports of any oracle."""
    return {
        "a scalar": SECRET_NUMBER,
        "one text": SECRET,
        "nothing": None,
        "floats": np.array([SECRET_FLOAT]),
        "three-dimensional": np.zeros((2, 2, 2), np.uint8),
    }


def _bad_counts(oracle: Mechanism) -> dict[str, Any]:
    size = oracle.size
    return {
        "a scalar": SECRET_NUMBER,
        "negative": np.full(size, -SECRET_NUMBER),
        "floats": np.full(size, SECRET_FLOAT),
        "too many": np.ones(size + 1, np.int64),
        "texts": [SECRET] * size,
        "two-dimensional": np.ones((size, 1), np.int64),
    }


def _check_impossible_reports(oracle: Mechanism, entropy: Entropy) -> None:
    """Reports outside the messages are counted as refused; they neither raise nor make the tally grow."""
    honest = oracle.privatize(crowd(oracle, 100), rng=entropy)
    if honest.ndim != 1 or honest.dtype.kind not in "ui":
        return
    columns = oracle._cells()
    tally = oracle.tally(honest)
    impossible = np.array([-1, columns, SECRET_NUMBER, 2**40, 2**63 - 1, -(2**63)], np.int64)
    mixed = oracle.tally(np.concatenate([impossible, honest.astype(np.int64)]))
    counted = mixed.refused == impossible.size and mixed.n == tally.n and np.array_equal(mixed.counts, tally.counts)
    require(counted, "Impossible reports are not just counted as refused.")
    huge = oracle.tally(np.array([2**64 - 1, 2**63], np.uint64))
    require(huge.refused == 2 and huge.n == 0, "Impossible reports of 64 bits are not counted as refused.")
