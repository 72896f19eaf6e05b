"""Nine deciles by OpenDP: a tree of noisy counts, made consistent, and the choice among candidates.

The tree is that of its documentation: cells of equal width, the branching factor it suggests, the
least noise that its own accounting allows. How many leaves are best depends on the data: fewer
where these are even within a leaf, more where they are not.
"""

from __future__ import annotations

from typing import Any

import deciles
import numpy as np
import opendp.prelude as dp
from deciles import DECILES, Method

LEAVES = 2000
CANDIDATES = 10_001

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")


def tree(leaves: int) -> Method:
    def prepare(values: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Any:
        edges = np.linspace(*bounds, leaves + 1).tolist()
        factor = dp.t.choose_branching_factor(size_guess=values.size)
        # The first and the last cell take what is outside the inner edges.
        counts = (
            dp.t.make_find_bin(*_numbers(), edges=edges[1:-1])
            >> dp.t.then_count_by_categories(categories=list(range(leaves - 1)), null_category=True, TOA="i32")
            >> dp.t.then_b_ary_tree(leaf_count=leaves, branching_factor=factor)
        )
        consistent = dp.t.make_consistent_b_ary_tree(branching_factor=factor)
        read = dp.t.make_quantiles_from_counts(edges, alphas=DECILES)

        def noisy(scale: float) -> Any:
            return counts >> dp.m.then_laplace(scale=scale) >> consistent >> read

        measurement = noisy(dp.binary_search_param(noisy, d_in=1, d_out=epsilon))
        return lambda: measurement(values)

    return prepare


def candidates(values: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Any:
    points = np.linspace(*bounds, CANDIDATES).tolist()

    def noisy(decile: float, scale: float) -> Any:
        return dp.m.make_private_quantile(
            *_numbers(), dp.max_divergence(), candidates=points, alpha=decile, scale=scale
        )

    scales = [
        dp.binary_search_param(lambda scale, decile=decile: noisy(decile, scale), d_in=1, d_out=epsilon / len(DECILES))
        for decile in DECILES
    ]
    measurements = [noisy(decile, scale) for decile, scale in zip(DECILES, scales, strict=True)]
    return lambda: [measurement(values) for measurement in measurements]


def _numbers() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


if __name__ == "__main__":
    deciles.main(
        {
            "OpenDP tree, 1,000 leaves": tree(1000),
            "OpenDP tree, 2,000 leaves": tree(LEAVES),
            "OpenDP tree, 4,096 leaves": tree(4096),
            "OpenDP candidates": candidates,
        }
    )
