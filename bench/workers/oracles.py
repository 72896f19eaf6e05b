"""The oracles beyond randomized response: each library's own clients, and its servers on its own clients' reports.

Reports of different libraries have different forms, so a server is fed with what its client made, outside the clock. A
right answer is one whose estimate for the most frequent value is near the truth: some libraries clip and rescale, which
biases every estimate, so the allowance for them is wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import grr
import numpy as np
from harness import Check, Job, Prepare, Work

#: Standard errors that an estimate may be off, and how much a library that clips may be off besides.
TOLERANCE, CLIPPING = 7.0, 0.15

NAMES = ("SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR")

#: Makes reports of a list of codes; makes frequencies of reports.
Client = Callable[[Job, np.ndarray], Any]
Server = Callable[[Job, Any], Any]


def table(makers: dict[str, tuple[Client, Server]]) -> dict[tuple[str, str], Prepare]:
    """Both sides of every oracle in `makers`."""
    found: dict[tuple[str, str], Prepare] = {}
    for name, (client, server) in makers.items():
        found[name, "client"] = _client_case(client, server)
        found[name, "server"] = _server_case(client, server)
    return found


def _client_case(client: Client, server: Server) -> Prepare:
    def prepare(job: Job, n: int) -> tuple[Work, Check]:
        codes = grr.people(n, job.k)
        return (lambda: client(job, codes)), (lambda reports: _check(job, codes, server(job, reports)))

    return prepare


def _server_case(client: Client, server: Server) -> Prepare:
    def prepare(job: Job, n: int) -> tuple[Work, Check]:
        codes = grr.people(n, job.k)
        reports = client(job, codes)
        return (lambda: server(job, reports)), (lambda frequency: _check(job, codes, frequency))

    return prepare


def _check(job: Job, codes: np.ndarray, frequency: Any) -> None:
    share = float(np.mean(codes == 0))
    boost = math.exp(job.epsilon)
    # The variance of OUE, within a factor of two of all of these.
    error = math.sqrt(2 * 4 * boost / ((boost - 1) ** 2 * codes.size) + 1 / codes.size)
    if abs(float(np.asarray(frequency)[0]) - share) > TOLERANCE * error + CLIPPING:
        raise ValueError("The estimates are not those of the people.")
