"""PyDP: deciles from Google's tree of counts; its noise alone is not offered."""

from __future__ import annotations

import deciles
import harness
from deciles_pydp import tree
from harness import Check, Job, Work


def nine_deciles(job: Job, n: int) -> tuple[Work, Check]:
    values = deciles.people(n)
    return tree(values, deciles.BOUNDS, job.epsilon), lambda answers: deciles.check(values, answers)


if __name__ == "__main__":
    harness.main({("nine deciles", "release"): nine_deciles})
