"""pure-ldp: plain Python, one call per person and one per report; GRR is its "direct encoding".

Its values run from 1 to k, its reports from 0 to k-1. Lists, for the same reason as for
multi-freq-ldpy.
"""

from __future__ import annotations

from typing import Any

import grr
import harness
from harness import Check, Job, Work
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

import oracles


def grr_client(job: Job, n: int) -> tuple[Work, Check]:
    codes = grr.people(n, job.k)
    values = (codes + 1).tolist()
    client = DEClient(epsilon=job.epsilon, d=job.k)

    def work() -> list[int]:
        return [client.privatise(value) for value in values]

    return work, lambda answers: grr.check_client(job, codes, answers)


def grr_server(job: Job, n: int) -> tuple[Work, Check]:
    reports = grr.reports(n, job).tolist()

    def work() -> Any:
        server = DEServer(epsilon=job.epsilon, d=job.k)
        server.aggregate_all(reports)
        return server.estimate_all(range(1, job.k + 1), suppress_warnings=True)

    return work, lambda counts: grr.check_server(job, reports, counts / n)


def unary_client(job: Job, codes: Any) -> Any:
    client = UEClient(epsilon=job.epsilon, d=job.k, use_oue=job.mechanism == "OUE")
    return [client.privatise(value) for value in (codes + 1).tolist()]


def unary_server(job: Job, reports: Any) -> Any:
    server = UEServer(epsilon=job.epsilon, d=job.k, use_oue=job.mechanism == "OUE")
    return _frequencies(server, job, reports)


def hashing_client(job: Job, codes: Any) -> Any:
    client = LHClient(epsilon=job.epsilon, d=job.k, g=2, use_olh=job.mechanism == "OLH")
    return [client.privatise(value) for value in (codes + 1).tolist()]


def hashing_server(job: Job, reports: Any) -> Any:
    server = LHServer(epsilon=job.epsilon, d=job.k, g=2, use_olh=job.mechanism == "OLH")
    return _frequencies(server, job, reports)


def _frequencies(server: Any, job: Job, reports: Any) -> Any:
    server.aggregate_all(reports)
    return server.estimate_all(range(1, job.k + 1), suppress_warnings=True) / len(reports)


ORACLES = {
    "SUE": (unary_client, unary_server),
    "OUE": (unary_client, unary_server),
    "BLH": (hashing_client, hashing_server),
    "OLH": (hashing_client, hashing_server),
}

if __name__ == "__main__":
    harness.main({("GRR", "client"): grr_client, ("GRR", "server"): grr_server, **oracles.table(ORACLES)})
