"""bruit, through its public face: arrays of codes in, reports out, secure randomness."""

from __future__ import annotations

from typing import Any

import grr
import harness
import keystream
from harness import Check, Job, Work

import bruit


def grr_client(job: Job, n: int) -> tuple[Work, Check]:
    values = grr.people(n, job.k)
    oracle = bruit.oracle("GRR", epsilon=job.epsilon, k=job.k)
    return (
        lambda: oracle.privatize(values, rng=None),
        lambda answers: grr.check_client(job, values, answers),
    )


def grr_server(job: Job, n: int) -> tuple[Work, Check]:
    reports = grr.reports(n, job)
    oracle = bruit.oracle("GRR", epsilon=job.epsilon, k=job.k)

    def work() -> Any:
        return oracle.estimate(oracle.tally(reports)).frequency

    return work, lambda frequency: grr.check_server(job, reports, frequency)


if __name__ == "__main__":
    harness.main(
        {
            ("GRR", "client"): grr_client,
            ("GRR", "server"): grr_server,
            ("GRR", "keystream"): keystream.secure,
        }
    )
