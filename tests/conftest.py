"""What all tests share: mechanisms that a test registers are forgotten when it ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _forget_registered_mechanisms() -> Iterator[None]:
    before = {id(registry): set(registry.meanings) for registry in _registries()}
    yield
    for registry in _registries():
        known = before.get(id(registry))
        for name in set(registry.meanings) - known if known else ():
            registry.remove(name)


def _registries() -> list:
    packages = {"bruit.oracles": "Oracle", "bruit.numbers": "Number"}
    return [getattr(sys.modules[name], kind).kinds for name, kind in packages.items() if name in sys.modules]
