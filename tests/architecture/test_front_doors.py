"""The classes that a user meets first stay small: so many parameters, so many public members, and no more."""

from __future__ import annotations

import inspect

import pytest

from bruit import Plan

#: class -> the most parameters, the most public members. These numbers are lowered, and never raised.
MOST: dict[type, tuple[int, int]] = {Plan: (6, 28)}


def members(door: type) -> set[str]:
    """The public names of a class and of its instances."""
    fields = getattr(door, "__dataclass_fields__", {})
    return {name for name in (*dir(door), *fields) if not name.startswith("_")}


def excess(door: type, parameters: int, names: int) -> list[str]:
    """What a class has too much of."""
    many = len(inspect.signature(door).parameters)
    faults = [f"{many} parameters"] if many > parameters else []
    return faults + ([f"{len(members(door))} members"] if len(members(door)) > names else [])


@pytest.mark.parametrize("door", MOST, ids=lambda door: door.__name__)
def test_a_front_door_is_not_wider_than_it_was(door: type) -> None:
    assert excess(door, *MOST[door]) == []


def test_the_test_of_front_doors_sees_what_it_forbids() -> None:
    class Door:
        first = 1

        def __init__(self, one: int, two: int) -> None:
            """Nothing."""

        def second(self) -> None:
            """Nothing."""

        def _hidden(self) -> None:
            """Nothing."""

    assert excess(Door, 2, 2) == []
    assert excess(Door, 1, 1) == ["2 parameters", "2 members"]
