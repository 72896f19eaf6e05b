"""OpenDP: noise on a vector of whole numbers, and deciles from its tree of counts."""

from __future__ import annotations

import deciles
import harness
import noise
import numpy as np
import opendp.prelude as dp
from deciles_opendp import LEAVES, tree
from harness import Check, Job, Work


def laplace_noise(job: Job, n: int) -> tuple[Work, Check]:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=float(job.k))
    zeros = np.zeros(n, np.int64)  # faster than a list
    return lambda: measurement(zeros), lambda draws: noise.check(draws, job.k)


def nine_deciles(job: Job, n: int) -> tuple[Work, Check]:
    values = deciles.people(n)
    return tree(LEAVES)(values, deciles.BOUNDS, job.epsilon), lambda answers: deciles.check(values, answers)


if __name__ == "__main__":
    harness.main({("discrete Laplace", "noise"): laplace_noise, ("nine deciles", "release"): nine_deciles})
