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
import numpy as np
import records
from deciles_bruit import drawn
from harness import Check, Job, Work

import bruit
import oracles
from bruit.domains import OpenText
from bruit.entropy import Words
from bruit.numbers import BoundedLaplace, Number, Staircase
from bruit.open_answers import HeavyHitters
from bruit.releases import DiscreteLaplace


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
    law = DiscreteLaplace(Fraction(job.k))
    return lambda: law.draw(n, rng=None), lambda draws: noise.check(draws, job.k)


def nine_deciles(job: Job, n: int) -> tuple[Work, Check]:
    values = deciles.people(n)
    return drawn("auto")(values, deciles.BOUNDS, job.epsilon), lambda answers: deciles.check(values, answers)


def records_client(job: Job, n: int) -> tuple[Work, Check]:
    plan, values = _plan(job), records.people(n, job.k)
    table = _table(plan, values)
    return (
        lambda: plan.privatize(table, rng=None),
        lambda answers: records.check_client(job, values, np.stack(list(answers.values()), axis=1)),
    )


def records_server(job: Job, n: int) -> tuple[Work, Check]:
    plan, reports = _plan(job), records.reports(n, job)
    table = _table(plan, reports)

    def work() -> Any:
        return [answer.frequency for answer in plan.estimate(plan.tally(table)).values()]

    return work, lambda frequencies: records.check_server(job, reports, frequencies)


def heavy_hitters_server(job: Job, n: int) -> tuple[Work, Check]:
    """Reports of random texts, of which one is that of a fifth of the people."""
    design = HeavyHitters(job.epsilon, domain=OpenText(letters=job.k // 6))
    letters = np.random.default_rng(grr.SEED).integers(1, 64, (n, job.k // 6))
    codes = (letters << np.arange(job.k - 6, -1, -6)).sum(axis=1)
    codes[: n // 5] = codes[0]
    reports = design.randomize(codes, Words())
    wanted = design.domain.text(int(codes[0]))

    def check(texts: Any) -> None:
        if wanted not in texts and n == job.n:
            raise ValueError("The frequent answer is not certified.")

    return lambda: design.estimate(reports).labels, check


def _plan(job: Job) -> bruit.Plan:
    schema = {f"a{place}": bruit.Categories(k=job.k) for place in range(records.D)}
    return bruit.Plan(schema, job.epsilon, bruit.collection.Method.named(job.mechanism, published=True))


def _table(plan: bruit.Plan, rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.ascontiguousarray(column) for name, column in zip(plan.schema, rows.T, strict=True)}


def oracle_client(job: Job, codes: Any) -> Any:
    return _oracle(job).privatize(codes, rng=None)


def oracle_server(job: Job, reports: Any) -> Any:
    oracle = _oracle(job)
    return oracle.estimate(oracle.tally(reports)).frequency


def _oracle(job: Job) -> Any:
    return bruit.oracle(job.mechanism, epsilon=job.epsilon, k=job.k)


TABLE: dict[tuple[str, str], harness.Prepare] = {
    **oracles.table(dict.fromkeys(oracles.NAMES, (oracle_client, oracle_server))),
    ("GRR", "client"): grr_client,
    ("GRR", "server"): grr_server,
    ("GRR", "keystream"): keystream.secure,
    ("RS+FD[GRR]", "client"): records_client,
    ("RS+FD[GRR]", "server"): records_server,
    ("bounded Laplace", "client"): laplace_client,
    ("staircase", "client"): staircase_client,
    ("discrete Laplace", "noise"): laplace_noise,
    ("nine deciles", "release"): nine_deciles,
    ("heavy hitters", "server"): heavy_hitters_server,
}


if __name__ == "__main__":
    harness.main(TABLE)
