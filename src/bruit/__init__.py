"""Differential privacy, local and central, with an ε that is computed, not promised.

>>> import bruit
>>> oracle = bruit.oracle("GRR", epsilon=1.0, labels=["no", "yes"])
>>> reports = oracle.privatize(["yes", "no", "no"])
>>> oracle.tally(reports).n
3

Names load what they need when they are first used, so that ``import bruit`` itself is light.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bruit import audit, datasets, numbers, releases, testing
    from bruit.collection import Plan, compare
    from bruit.domains import Attribute, Categories, Dates, Grid, Schema
    from bruit.entropy import Entropy
    from bruit.errors import BruitError
    from bruit.estimation import Estimate, Tally
    from bruit.oracles import choose, oracle, panel, people_needed
    from bruit.privacy import Guarantee, Ledger
    from bruit.publications import publish
    from bruit.registry import register
    from bruit.releases.release import release

__version__ = "0.1.0"

__all__ = [
    "Attribute",
    "BruitError",
    "Categories",
    "Dates",
    "Entropy",
    "Estimate",
    "Grid",
    "Guarantee",
    "Ledger",
    "Plan",
    "Schema",
    "Tally",
    "__version__",
    "audit",
    "choose",
    "compare",
    "datasets",
    "numbers",
    "oracle",
    "panel",
    "people_needed",
    "publish",
    "register",
    "release",
    "releases",
    "testing",
]

#: Where each public name lives; the others are modules of their own.
_HOMES = {
    "Attribute": "bruit.domains",
    "BruitError": "bruit.errors",
    "Categories": "bruit.domains",
    "Dates": "bruit.domains",
    "Entropy": "bruit.entropy",
    "Estimate": "bruit.estimation",
    "Grid": "bruit.domains",
    "Guarantee": "bruit.privacy",
    "Ledger": "bruit.privacy",
    "Plan": "bruit.collection",
    "Schema": "bruit.domains",
    "Tally": "bruit.estimation",
    "choose": "bruit.oracles",
    "compare": "bruit.collection",
    "oracle": "bruit.oracles",
    "panel": "bruit.oracles",
    "people_needed": "bruit.oracles",
    "publish": "bruit.publications",
    "register": "bruit.registry",
    "release": "bruit.releases",
}

#: Packages that are reached by name too, and are not for ``from bruit import *``: some need an extra.
_MODULES = (
    "analysis",
    "attacks",
    "cards",
    "collection",
    "domains",
    "engines",
    "laws",
    "learning",
    "open_answers",
    "oracles",
    "privacy",
    "publications",
    "sheets",
)

# A library stays silent until the program that uses it says where messages go; none carries data.
logging.getLogger("bruit").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name == "studies":
        # Not an AttributeError: `from bruit import studies` would replace its message by one that names nothing.
        raise ImportError("bruit.studies is bruit_studies now: import bruit_studies.", name="bruit.studies")
    if name not in __all__ and name not in _MODULES:
        raise AttributeError(f"module 'bruit' has no attribute {name!r}")
    if name not in _HOMES:
        return importlib.import_module(f"bruit.{name}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
