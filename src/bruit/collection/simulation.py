"""Tallies of people of whom only numbers are known, with the law that real reports would give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.entropy import Entropy, Randomness
from bruit.estimation import Tally

if TYPE_CHECKING:
    from bruit.collection.plan import Plan


def simulate(plan: Plan, counts: Any, rng: Randomness) -> Tally:
    """The tally of people with these counts: of every stratum one after the other, where some is sent in clear."""
    if not plan.public:
        return plan.design.simulated(counts, rng, plan.digest)
    whole = Entropy.resolve(rng, "simulate", plan.digest)
    drawn = plan.design.simulated_strata(plan.records.divided(counts), whole, plan.digest)
    sizes = np.array([own.n for own in drawn], np.int64)
    cells = np.concatenate([sizes, *(own.counts for own in drawn)])
    return Tally(design=plan.digest, counts=cells, n=int(sizes.sum()), simulated=True)
