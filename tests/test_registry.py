"""A class is known by the name that it writes into documents, and by no other."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any, ClassVar

import pytest

import bruit
from bruit.collection import SMP, Method
from bruit.errors import ParameterError
from bruit.numbers import Number, SquareWave
from bruit.oracles import Oracle, RandomizedResponse
from bruit.registry import Registry
from bruit.releases import Count, Statistic


class Twin(RandomizedResponse):
    """An oracle of a stranger."""

    name: ClassVar[str] = "TWIN"  # type: ignore[misc]


class Wave(SquareWave):
    """A number of a stranger."""

    name: ClassVar[str] = "wave"  # type: ignore[misc]


class Some(SMP):
    """A method of a stranger."""

    kind = "SOME"


class Rows(Count):
    """A statistic of a stranger."""

    kind = "rows"


STRANGERS: list[Any] = [Twin, Wave, Some, Rows]


@pytest.fixture(autouse=True)
def _forget() -> Any:
    yield
    for registry in (Oracle.kinds, Number.kinds, Method.kinds, Statistic.kinds):
        for name in {"TWIN", "wave", "SOME", "rows", "other"} & registry.classes().keys():
            registry.remove(name)


@pytest.mark.parametrize("kind", STRANGERS, ids=lambda kind: kind.__name__)
def test_a_name_other_than_the_one_in_documents_is_refused(kind: Any) -> None:
    own = getattr(kind, kind.kinds.attribute)
    for name in ("other", own.swapcase()):
        with pytest.raises(ParameterError, match=rf"writes '{own}' into documents.* this {kind.kinds.noun} as '{own}'"):
            bruit.register(kind, name)
        assert name not in kind.kinds.classes()
    bruit.register(kind, own)
    assert own in kind.kinds


def test_an_installed_package_that_declares_another_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("other", f"{__name__}:Twin", "bruit.oracles")
    monkeypatch.setattr(metadata.EntryPoint, "load", lambda self: Twin)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point])
    registry: Registry[Oracle] = Registry("oracle", "bruit.oracles")
    with pytest.raises(ParameterError, match=re.escape("register this oracle as 'TWIN'")):
        list(registry)


def test_a_class_with_several_names_has_them_all() -> None:
    known = {name for name, kind in Oracle.kinds.classes().items() if kind.__name__ == "UnaryEncoding"}
    assert known == {"UE", "SUE", "OUE"}


class Sketch(RandomizedResponse):
    """An oracle of a stranger with a name of the literature."""

    name: ClassVar[str] = "CMS"  # type: ignore[misc]


def test_a_name_of_the_literature_is_answered_until_a_class_takes_it() -> None:
    registry: Registry[Oracle] = Registry("oracle", "bruit.nothing")
    with pytest.raises(ParameterError, match="count_mean_sketch"):
        registry.spelt("cms")
    assert "CMS" not in registry
    registry.add("CMS", Sketch, "an oracle")
    assert registry.spelt("cms") == "CMS"
