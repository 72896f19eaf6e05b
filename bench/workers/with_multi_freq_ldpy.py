"""multi-freq-ldpy: one call of a compiled function per person, one Python loop over the reports.

People and reports are lists of Python integers: that is what its clients return, and lists are 1.3
times as fast as arrays here, so it is measured at its best.
"""

from __future__ import annotations

import grr
import harness
from harness import Check, Job, Work
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client


def grr_client(job: Job, n: int) -> tuple[Work, Check]:
    values, k, epsilon = grr.people(n, job.k).tolist(), job.k, job.epsilon

    def work() -> list[int]:
        return [GRR_Client(value, k, epsilon) for value in values]

    return work, lambda answers: grr.check_client(job, values, answers)


def grr_server(job: Job, n: int) -> tuple[Work, Check]:
    reports = grr.reports(n, job).tolist()
    return (
        lambda: GRR_Aggregator_MI(reports, job.k, job.epsilon),
        lambda frequency: grr.check_server(job, reports, frequency),
    )


if __name__ == "__main__":
    harness.main({("GRR", "client"): grr_client, ("GRR", "server"): grr_server})
