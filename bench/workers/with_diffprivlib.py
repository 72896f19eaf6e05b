"""diffprivlib: plain Python, one call per person; its randomness is the operating system's.

`LaplaceBoundedDomain` draws again until the answer is inside. `Staircase` has no bounds, so it is
drawn again here, as is commonly done; the law that comes out has a larger ε than it is asked for.
"""

from __future__ import annotations

import bounded
import deciles
import harness
import noise
from deciles_diffprivlib import independent
from diffprivlib.mechanisms import Geometric, LaplaceBoundedDomain, Staircase
from harness import Check, Job, Work


def laplace_client(job: Job, n: int) -> tuple[Work, Check]:
    values = bounded.people(n)
    mechanism = LaplaceBoundedDomain(epsilon=job.epsilon, sensitivity=1, lower=0, upper=1)
    each, randomise = values.tolist(), mechanism.randomise
    expected = bounded.mean_of_density(values, bounded.laplace(job.epsilon))

    def work() -> list[float]:
        return [randomise(value) for value in each]

    return work, lambda answers: bounded.check(answers, expected)


def staircase_client(job: Job, n: int) -> tuple[Work, Check]:
    values = bounded.people(n)
    each, randomise = values.tolist(), Staircase(epsilon=job.epsilon, sensitivity=1).randomise
    expected = bounded.mean_of_density(values, bounded.staircase(job.epsilon))

    def until_inside(value: float) -> float:
        while True:
            answer = randomise(value)
            if 0 <= answer <= 1:
                return answer

    def work() -> list[float]:
        return [until_inside(value) for value in each]

    return work, lambda answers: bounded.check(answers, expected)


def laplace_noise(job: Job, n: int) -> tuple[Work, Check]:
    """Two-sided geometric noise, which is the discrete Laplace law by another name."""
    randomise = Geometric(epsilon=1 / job.k, sensitivity=1).randomise
    return lambda: [randomise(0) for _ in range(n)], lambda draws: noise.check(draws, job.k)


def nine_deciles(job: Job, n: int) -> tuple[Work, Check]:
    values = deciles.people(n)
    return independent(values, deciles.BOUNDS, job.epsilon), lambda answers: deciles.check(values, answers)


if __name__ == "__main__":
    harness.main(
        {
            ("bounded Laplace", "client"): laplace_client,
            ("staircase", "client"): staircase_client,
            ("discrete Laplace", "noise"): laplace_noise,
            ("nine deciles", "release"): nine_deciles,
        }
    )
