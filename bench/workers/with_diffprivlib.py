"""diffprivlib: plain Python, one call per person; its randomness is the operating system's.

`LaplaceBoundedDomain` draws again until the answer is inside. `Staircase` has no bounds, so it is
drawn again here, as is commonly done; the law that comes out has a larger ε than it is asked for.
"""

from __future__ import annotations

import bounded
import harness
from diffprivlib.mechanisms import LaplaceBoundedDomain, Staircase
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


if __name__ == "__main__":
    harness.main({("bounded Laplace", "client"): laplace_client, ("staircase", "client"): staircase_client})
