"""Names that packages had before: whoever imports one reads the new name. They go with the next version."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

#: By package, what a public name is called now.
RENAMED = {
    "bruit.cards": {"Form": "bruit.laws.Form", "Question": "bruit.cards.CardQuestion"},
    "bruit.datasets": {"Column": "bruit.datasets.DatasetColumn", "Entry": "bruit.datasets.CatalogueEntry"},
    "bruit.domains": {"Choices": "bruit.domains.MultiChoice"},
    "bruit.estimation": {"Contrast": "bruit.estimation.TableContrast", "Median": "bruit.estimation.MedianEstimate"},
    "bruit.oracles": {"Choices": "bruit.oracles.OracleRanking", "Contrast": "bruit.oracles.RoundContrast"},
}


def answering(package: str) -> Callable[[str], NoReturn]:
    """What a package does with a name that it has not: an old one answers with the new one."""

    def __getattr__(name: str) -> NoReturn:
        if name in RENAMED[package]:
            # Not an AttributeError: `from package import name` would replace its message by one that names nothing.
            raise ImportError(f"{package}.{name} is {RENAMED[package][name]} now.", name=package)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__
