"""A number is the same number in every type: what is promised, planned and written does not depend on which.

NumPy's narrow whole numbers wrap, and its narrow floats are no numbers to Python's fractions. A parameter that is
checked, and then used as it came, states a wrong ε or fails with an error of somebody else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bruit
from bruit import Ledger, Plan
from bruit.collection import SMP, TAB, LongitudinalMean, Repeat, people_to_beat_uniform, plan_for
from bruit.domains import Grid
from bruit.numbers import Duchi, MetricNumber, MetricPlane, number
from bruit.open_answers import RAPPOR, HashedResponse, HeavyHitters
from bruit.oracles import DBitFlip, choose_panel
from bruit.privacy import Guarantee

WHOLE = (np.int8, np.uint8, np.int16, np.uint16, np.int64)
FLOATS = (np.float16, np.float32, np.float64)
ORACLES = ("GRR", "SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR", "THE")
NUMBERS = ("laplace", "staircase", "duchi", "piecewise", "hybrid", "square-wave", "metric")
PANELS = ("L-SUE", "L-OSUE", "L-GRR", "L-ADP", "LOLOHA", "BiLOLOHA")
SCHEMA = {"a": ["x", "y"], "b": ["u", "v", "w"]}
METHODS: tuple[Any, ...] = ("SPL[GRR]", "SMP[ADP]", "RS+FD[GRR]", SMP("GRR", assign="rotation"), TAB("GRR"))

#: What is made of a whole number in some type, by name.
Use = Callable[[Any], Any]
OF_WHOLE: dict[str, Use] = {
    **{f"{name}.k": lambda of, name=name: bruit.oracle(name, epsilon=1.0, k=of(6)).to_dict() for name in ORACLES},
    **{
        f"{name}.variance": lambda of, name=name: bruit.oracle(name, epsilon=1.0, k=6).typical_variance(0.25, of(100))
        for name in ORACLES
    },
    **{f"{name}.bounds": lambda of, name=name: number(name, epsilon=1.0, bounds=(of(0), of(10))).to_dict()
       for name in NUMBERS},
    **{f"{name}.cells": lambda of, name=name: number(name, epsilon=1.0, bounds=(0.0, 10.0), cells=of(40)).to_dict()
       for name in NUMBERS},
    **{f"{name}.after": lambda of, name=name: bruit.panel(name, epsilon=1.0, epoch_epsilon=2.0, k=4).after(of(3))
       for name in PANELS},
    **{f"{method}.variance": lambda of, method=method: Plan(SCHEMA, 1.0, method).variance(of(100))
       for method in METHODS},
    "Repeat": lambda of: Plan(SCHEMA, 1.0, "SMP[GRR]", repeat=Repeat(of(4), epochs=of(2), epoch_epsilon=3.0)).to_json(),
    "plan_for": lambda of: plan_for(SCHEMA, epsilon=1.0, n=of(100)).to_dict(),
    "people_to_beat_uniform": lambda of: people_to_beat_uniform(Plan({"a": [of(1), of(2)]}, 1.0)),
    "choose": lambda of: bruit.choose(k=of(4), epsilon=1.0, n=of(100)).to_dict(),
    "choose_panel": lambda of: choose_panel(of(4), 1.0, of(100), epoch_epsilon=2.0, rounds=of(4)).to_dict(),
    "Grid.cells": lambda of: Grid(0.0, 10.0, cells=of(40)).to_dict(),
    "MetricNumber.at": lambda of: [MetricNumber(epsilon=1.0, bounds=bounds).at(of(16))
                                   for bounds in ((0, 4000), (0.0, 50.0), (of(0), of(50)))],
    "MetricNumber.radius": lambda of: MetricNumber(epsilon=1.0, bounds=(0, 50), radius=of(16)).to_dict(),
    "MetricPlane.at": lambda of: MetricPlane(epsilon=1.0, x=(of(0), of(3)), y=(0, 3), radius=of(2)).at(of(2)),
    "Guarantee.at": lambda of: Guarantee(epsilon=1.0, neighbours="metric", radius=of(2)).at(of(16)),
    "DBitFlip": lambda of: DBitFlip(epsilon=1.0, held=of(2), buckets=of(5), k=of(10)).to_dict(),
    "DBitFlip.variance": lambda of: DBitFlip(epsilon=1.0, held=2, k=10).typical_variance(0.0, of(100)),
    "DBitFlip.same_moves": lambda of: DBitFlip(epsilon=1.0, held=2, k=10).same_moves(of(3)),
    "LongitudinalMean.after": lambda of: LongitudinalMean(Duchi(epsilon=1.0, bounds=(0, 9)), 2.0).after(of(3)),
    "LongitudinalMean.variance": lambda of: LongitudinalMean(Duchi(epsilon=1.0, bounds=(0, 9)), 2.0).variance(
        [0.1] * 10, of(100), of(4)
    ),
    "RAPPOR": lambda of: RAPPOR(epsilon=1.0, epoch_epsilon=2.0, bits=of(64), hashes=of(2), cohorts=of(16)).to_dict(),
    "RAPPOR.after": lambda of: RAPPOR(epsilon=1.0, epoch_epsilon=2.0).after(of(3)),
    "HashedResponse": lambda of: HashedResponse(epsilon=1.0, cells=of(4), cohorts=of(16)).to_dict(),
    "HashedResponse.variance": lambda of: HashedResponse(epsilon=1.0).variance(0.1, of(100), candidates=of(10)),
    "HashedResponse.simulate": lambda of: HashedResponse(epsilon=1.0).simulate({"a": of(100)}, rng=1).counts,
    "HeavyHitters.least_share": lambda of: HeavyHitters(4.0).least_share(of(100)),
    "SMP.weights": lambda of: Plan(SCHEMA, 1.0, SMP("GRR", weights={"a": of(2), "b": of(3)})).to_json(),
    "Ledger": lambda of: Ledger(epsilon=of(3)).remaining,
}  # fmt: skip
#: The same of a number that each float type has exactly.
OF_FLOAT: dict[str, Use] = {
    **{f"{name}.epsilon": lambda of, name=name: bruit.oracle(name, epsilon=of(0.5), k=6).to_dict() for name in ORACLES},
    **{f"{name}.epsilon": lambda of, name=name: number(name, epsilon=of(0.5), bounds=(0, 10)).to_dict()
       for name in NUMBERS},
    **{f"{name}.bounds": lambda of, name=name: number(name, epsilon=1.0, bounds=(of(0.0), of(2.5))).to_dict()
       for name in NUMBERS},
    **{f"{name}.epsilon": lambda of, name=name: bruit.panel(name, epsilon=of(0.5), epoch_epsilon=of(1.5), k=4).to_dict()
       for name in PANELS},
    **{f"{method}.epsilon": lambda of, method=method: Plan(SCHEMA, of(0.5), method).to_json() for method in METHODS},
    "MetricNumber.at": lambda of: MetricNumber(epsilon=of(0.5), bounds=(of(0.0), of(4.0)), radius=of(0.5)).at(of(1.5)),
    "MetricPlane.at": lambda of: MetricPlane(epsilon=of(0.5), x=(of(0.0), of(3.0)), y=(0, 3)).at(of(1.5)),
    "RAPPOR.as_published": lambda of: RAPPOR.as_published(f=of(0.5), p=of(0.5), q=of(0.75)).to_dict(),
    "HeavyHitters": lambda of: HeavyHitters(of(2.5)).to_dict(),
    "DBitFlip": lambda of: DBitFlip(epsilon=of(0.5), held=2, k=5).to_dict(),
    "people_needed": lambda of: HeavyHitters(4.0).people_needed(of(0.25)),
}  # fmt: skip


def same(first: Any, second: Any) -> bool:
    """Equal values, in whatever type: documents are compared as they are written."""
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    return repr(first) == repr(second) or (isinstance(first, float) and first == second)


@pytest.mark.parametrize("name", OF_WHOLE)
def test_a_whole_number_means_the_same_in_every_type(name: str) -> None:
    plain = OF_WHOLE[name](int)
    assert [kind.__name__ for kind in WHOLE if not same(plain, OF_WHOLE[name](kind))] == []


@pytest.mark.parametrize("name", OF_FLOAT)
def test_a_float_means_the_same_in_every_type(name: str) -> None:
    plain = OF_FLOAT[name](float)
    assert [kind.__name__ for kind in FLOATS if not same(plain, OF_FLOAT[name](kind))] == []


def test_a_number_that_is_used_as_it_came_is_noticed() -> None:
    """The control: a product that wraps."""
    with np.errstate(over="ignore"):
        assert not same(16 * 20, np.int8(16) * np.int8(20))
    assert not same({"cells": 40}, {"cells": np.int8(40)})
