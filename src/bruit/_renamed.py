"""Names that packages had before: importing one raises an error with the new name. They go with the next version."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

#: By package, what a public name is called now.
RENAMED = {
    "bruit.cards": {"Form": "bruit.laws.Form", "Question": "bruit.cards.CardQuestion"},
    "bruit.collection": {"Groups": "bruit.collection.GroupAnswers"},
    "bruit.datasets": {"Column": "bruit.datasets.DatasetColumn", "Entry": "bruit.datasets.CatalogueEntry"},
    "bruit.domains": {"Choices": "bruit.domains.MultiChoice"},
    "bruit.estimation": {"Contrast": "bruit.estimation.TableContrast", "Median": "bruit.estimation.MedianEstimate"},
    "bruit.oracles": {"Choices": "bruit.oracles.OracleRanking", "Contrast": "bruit.oracles.RoundContrast"},
    "bruit.releases": {
        "Bounds": "bruit.releases.PowerBounds",
        "BoundsChoice": "bruit.releases.LimitsChoice",
        "BoundsGuide": "bruit.releases.LimitsGuide",
        "choose_bounds": "bruit.releases.choose_limits",
    },
}

#: By package, what to write in place of a name that nothing has now.
GONE = {
    "bruit.releases": {
        "Groups": 'Release(Count(epsilon=1.0, delta=1e-6), by="zone")',
        "GroupStatistics": 'Release([Count(epsilon=0.5, delta=1e-6), Mean("fare", bounds=(0, 20), epsilon=1)], "zone")',
        "GroupTally": "RawTally, which Release.fold gives for all groups",
        "Bundle": "Release.union([first, second])",
        "BundleTally": "RawTally, which Release.fold gives for all parts",
    },
}


class Signpost:
    """What stands in a class where a member was: it answers with the new name, and is no member."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__}.{self.name} is {owner.__name__}.{self.new} now.")


def answering(package: str) -> Callable[[str], NoReturn]:
    """What a package does with a name that it has not: an old one answers with the new one."""

    def __getattr__(name: str) -> NoReturn:
        # Not an AttributeError: `from package import name` would replace its message by one that names nothing.
        if name in RENAMED.get(package, ()):
            raise ImportError(f"{package}.{name} is {RENAMED[package][name]} now.", name=package)
        if name in GONE.get(package, ()):
            raise ImportError(f"{package}.{name} is gone: write {GONE[package][name]}.", name=package)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__
