"""Tallies of people of whom only numbers are known, with the law that real reports would give them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.domains import Schema
from bruit.entropy import Entropy, Randomness
from bruit.errors import DataError, ParameterError
from bruit.estimation import Tally
from bruit.estimation.tally import Counts
from bruit.mechanism import whole_counts

if TYPE_CHECKING:
    from bruit.collection.plan import Plan

#: The most cells that a joint table may have.
TABLE_LIMIT = 1 << 24


def simulate(plan: Plan, counts: Any, rng: Randomness) -> Tally:
    """The tally of people with these counts: of every stratum one after the other, where some is sent in clear."""
    if not plan.public:
        return _simulated(plan, counts, rng)
    whole = Entropy.resolve(rng, "simulate", plan.digest)
    drawn = [_simulated(plan, own, whole) for own in plan.records.divided(counts)]
    sizes = np.array([own.n for own in drawn], np.int64)
    cells = np.concatenate([sizes, *(own.counts for own in drawn)])
    return Tally(design=plan.digest, counts=cells, n=int(sizes.sum()), simulated=True)


def _simulated(plan: Plan, counts: Any, rng: Randomness) -> Tally:
    """The tally of the people of one stratum."""
    if plan.kind == "one":
        own = counts[next(iter(plan.schema))] if isinstance(counts, Mapping) else counts
        return replace(plan.mechanism.simulate(own, rng), design=plan.digest)
    generator = Entropy.resolve(rng, "simulate", plan.digest).generator()
    if isinstance(counts, Mapping):
        people = _marginals(plan.schema, counts)
        drawn, n = plan.design.simulate(people, generator), int(next(iter(people.values())).sum())
    else:
        table = _joint_counts(plan.schema, counts)
        drawn, n = plan.design.simulate_jointly(table, generator), int(table.sum())
    return Tally(design=plan.digest, counts=drawn, n=n, simulated=True)


def _marginals(schema: Schema, counts: Mapping[str, Any]) -> dict[str, Counts]:
    if set(counts) != set(schema):
        raise DataError("counts must name every attribute of the schema, and no other.")
    people = {name: whole_counts(counts[name], attribute.size) for name, attribute in schema.items()}
    if len({int(column.sum()) for column in people.values()}) > 1:
        raise DataError("counts must have the same sum for every attribute: they are the same people.")
    return people


def _joint_counts(schema: Schema, counts: Any) -> Counts:
    table = np.asarray(counts)
    shape = tuple(attribute.size for attribute in schema.values())
    if math.prod(shape) > TABLE_LIMIT:
        raise ParameterError(
            f"A joint table may have at most {TABLE_LIMIT:,} cells, these attributes have {math.prod(shape):,}: "
            "simulate from marginals, a mapping from attribute to counts."
        )
    if table.shape != shape:
        raise DataError("counts must be a table with one axis per attribute, as long as it has values.")
    return whole_counts(table.ravel(), table.size).reshape(shape)
