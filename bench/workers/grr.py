"""The people of the randomized-response cases, their reports, and what a right answer is.

Everything is made in blocks from one seed, so n people are the first n of the same endless queue,
in every environment and for every library.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from harness import Job

SEED = 20_240_229
BLOCK = 1 << 16
#: Standard errors that a client's share of truthful reports may be away from its law.
TOLERANCE = 7.0


def people(n: int, k: int) -> np.ndarray:
    """Codes 0..k-1 of n people, with P(code) proportional to 1/(1 + code)."""
    law = np.cumsum(1.0 / np.arange(1, k + 1))
    codes = np.empty(n, dtype=np.int64)
    for block, place in _blocks(n):
        u = np.random.default_rng((SEED, 0, block)).random(BLOCK)
        codes[place] = np.searchsorted(law[:-1], u * law[-1], side="right")[: place.stop - place.start]
    return codes


def reports(n: int, job: Job) -> np.ndarray:
    """What the same people reported, in the smallest unsigned dtype; the same for every server."""
    truth = people(n, job.k)
    answers = np.empty(n, dtype=np.min_scalar_type(job.k - 1))
    for block, place in _blocks(n):
        rng = np.random.default_rng((SEED, 1, block))
        true = truth[place]
        other = rng.integers(0, job.k - 1, BLOCK)[: len(true)]
        other += other >= true
        keep = rng.random(BLOCK)[: len(true)] < _truthful(job)
        answers[place] = np.where(keep, true, other)
    return answers


def check_client(job: Job, values: Any, answers: Any) -> None:
    """The share of truthful reports is what ε says, and every report is in the domain."""
    values, answers = np.asarray(values), np.asarray(answers)
    p, n = _truthful(job), len(values)
    allowed = TOLERANCE * math.sqrt(p * (1 - p) / n)
    if answers.shape != (n,) or answers.min() < 0 or answers.max() >= job.k:
        raise ValueError("The client's reports are not codes of the domain.")
    if abs(np.mean(values == answers) - p) > allowed:
        raise ValueError("The client does not report the truth as often as its ε says.")


def check_server(job: Job, answers: Any, frequency: Any) -> None:
    """The estimates are the textbook ones, up to clipping and rescaling, which only some do."""
    counts = np.bincount(np.asarray(answers), minlength=job.k)
    p = _truthful(job)
    q = (1 - p) / (job.k - 1)
    expected = (counts / counts.sum() - q) / (p - q)
    if not np.allclose(clipped(frequency), clipped(expected), rtol=0, atol=1e-6):
        raise ValueError("The server's estimates are not those of its reports.")


def _truthful(job: Job) -> float:
    return math.exp(job.epsilon) / (math.exp(job.epsilon) + job.k - 1)


def clipped(frequency: Any) -> np.ndarray:
    """Without negative frequencies, and with the sum 1."""
    positive = np.clip(np.asarray(frequency, dtype=float), 0, None)
    return positive / positive.sum()


def _blocks(n: int) -> Any:
    for block, start in enumerate(range(0, n, BLOCK)):
        yield block, slice(start, min(n, start + BLOCK))
