"""bruit, through its public face: arrays of codes or numbers in, reports out, secure randomness."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import bounded
import deciles
import grr
import harness
import keystream
import noise
from deciles_bruit import drawn
from harness import Check, Job, Work

import bruit
import oracles
from bruit.entropy import Entropy
from bruit.numbers import BoundedLaplace, Number, Staircase
from bruit.releases import discrete_laplace


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


def laplace_client(job: Job, n: int) -> tuple[Work, Check]:
    return _number_client(BoundedLaplace(epsilon=job.epsilon, bounds=(0.0, 1.0), cells=job.k), n)


def staircase_client(job: Job, n: int) -> tuple[Work, Check]:
    return _number_client(Staircase(epsilon=job.epsilon, bounds=(0.0, 1.0), cells=job.k), n)


def _number_client(number: Number, n: int) -> tuple[Work, Check]:
    """Reports, and the numbers they stand for, because that is what the others return."""
    values = bounded.people(n)
    expected = number.output_mean()[number.encode(values)]
    return (
        lambda: number.decode(number.privatize(values, rng=None)),
        lambda answers: bounded.check(answers, expected),
    )


def laplace_noise(job: Job, n: int) -> tuple[Work, Check]:
    scale = Fraction(job.k)
    return lambda: discrete_laplace(scale, n, Entropy()), lambda draws: noise.check(draws, job.k)


def nine_deciles(job: Job, n: int) -> tuple[Work, Check]:
    values = deciles.people(n)
    return drawn("auto")(values, deciles.BOUNDS, job.epsilon), lambda answers: deciles.check(values, answers)


def oracle_client(job: Job, codes: Any) -> Any:
    return _oracle(job).privatize(codes, rng=None)


def oracle_server(job: Job, reports: Any) -> Any:
    oracle = _oracle(job)
    return oracle.estimate(oracle.tally(reports)).frequency


def _oracle(job: Job) -> Any:
    return bruit.oracle(job.mechanism, epsilon=job.epsilon, k=job.k)


if __name__ == "__main__":
    harness.main(
        {
            **oracles.table(dict.fromkeys(oracles.NAMES, (oracle_client, oracle_server))),
            ("GRR", "client"): grr_client,
            ("GRR", "server"): grr_server,
            ("GRR", "keystream"): keystream.secure,
            ("bounded Laplace", "client"): laplace_client,
            ("staircase", "client"): staircase_client,
            ("discrete Laplace", "noise"): laplace_noise,
            ("nine deciles", "release"): nine_deciles,
        }
    )
