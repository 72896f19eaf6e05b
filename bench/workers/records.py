"""The people of the cases with several attributes, their reports, and what a right answer is.

Everybody has ten attributes of k values each. All libraries do the same: RS+FD[GRR] with the papers' calibration, which
is the only one that others have, so one attribute at random goes through GRR at ε' = ln(d(e^ε − 1) + 1) and the
others are uniform fakes.
"""

from __future__ import annotations

import math
from typing import Any

import grr
import numpy as np
from harness import Job

#: Attributes of a person.
D = 10


def people(n: int, k: int) -> np.ndarray:
    """Codes of n people, a row each; attributes are independent, and all like those of `grr.people`."""
    return grr.people(n * D, k).reshape(n, D)


def reports(n: int, job: Job) -> np.ndarray:
    """What the same people reported, a row each, in the smallest unsigned dtype; the same for every server."""
    truth = people(n, job.k)
    rng = np.random.default_rng((grr.SEED, 2))
    answers = rng.integers(0, job.k, truth.shape, dtype=np.min_scalar_type(job.k - 1))
    sampled = rng.integers(0, D, n)
    true = truth[np.arange(n), sampled]
    other = rng.integers(0, job.k - 1, n)
    other += other >= true
    answers[np.arange(n), sampled] = np.where(rng.random(n) < _truthful(job), true, other)
    return answers


def check_client(job: Job, values: Any, answers: Any) -> None:
    """Every report is in the domain, and agrees with the truth as often as ε' and the fakes say."""
    values, answers = np.asarray(values), np.asarray(answers)
    if answers.shape != values.shape or answers.min() < 0 or answers.max() >= job.k:
        raise ValueError("The client's reports are not codes of the domain.")
    # A person's agreements: one true report's, and those of d − 1 fakes by chance.
    p, fake = _truthful(job), 1 / job.k
    spread = p * (1 - p) + (D - 1) * fake * (1 - fake)
    allowed = grr.TOLERANCE * math.sqrt(spread / len(values))
    if abs((values == answers).sum(axis=1).mean() - p - (D - 1) * fake) > allowed:
        raise ValueError("The client does not report the truth as often as its ε says.")


def check_server(job: Job, answers: np.ndarray, frequencies: Any) -> None:
    """The estimates are the textbook ones, up to clipping and rescaling, which only some do."""
    p = _truthful(job)
    q = (1 - p) / (job.k - 1)
    for column, found in zip(answers.T, frequencies, strict=True):
        share = np.bincount(column, minlength=job.k) / len(column)
        expected = (D * share - q - (D - 1) / job.k) / (p - q)
        if not np.allclose(grr.clipped(found), grr.clipped(expected), rtol=0, atol=1e-6):
            raise ValueError("The server's estimates are not those of its reports.")


def _truthful(job: Job) -> float:
    ratio = D * math.expm1(job.epsilon) + 1
    return ratio / (ratio + job.k - 1)
