"""Laws and sets as plain texts, and back: every whole number is a decimal string, and there is no other number."""

from __future__ import annotations

import re
from typing import Any

from bruit.errors import FormatError
from bruit.laws import (
    BitsLaw,
    ClampedLaw,
    DistanceLaw,
    Hadamard,
    Hash,
    Itself,
    Law,
    LeaningLaw,
    Listed,
    MixedLaw,
    Parity,
    Projective,
    Sets,
    Subset,
    TwoLevelLaw,
    Window,
)

#: The fields of each kind of sets, in plain whole numbers.
_SETS: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "self": (Itself, ("values",)),
    "window": (Window, ("values", "width")),
    "subset": (Subset, ("values", "size")),
    "hadamard": (Hadamard, ("rows", "blocks")),
    "projective": (Projective, ("prime", "dimension")),
    "hash": (Hash, ("buckets",)),
    "parity": (Parity, ("parities", "bits", "prefix", "share")),
    "listed": (Listed, ("size",)),
}

_WHOLE = re.compile("0|[1-9][0-9]{0,19}")


def has_rule(sets: Sets) -> bool:
    """Whether a card has a rule for these sets; the members of others are listed on it."""
    return type(sets) is _SETS.get(sets.kind, (None,))[0] and sets.kind != "listed"


def write_sets(sets: Sets, values: int) -> dict[str, Any]:
    """The sets of a number of values as texts: functions of a pool as pairs of texts, listed sets as lists of them."""
    if not has_rule(sets):
        sets = Listed.of(sets, values)
    _, fields = _SETS[sets.kind]
    body: dict[str, Any] = {"kind": sets.kind, **{name: str(getattr(sets, name)) for name in fields}}
    if isinstance(sets, Hash) and sets.pool is not None:
        body["pool"] = [texts(sets.pool[number]) for number in range(len(sets.pool))]
    if isinstance(sets, Listed):
        body["rows"] = [texts(row) for row in sets.rows]
    return body


def read_sets(body: dict[str, Any]) -> Sets:
    """The inverse of `write_sets`."""
    kind, fields = _SETS[body["kind"]]
    settings: dict[str, Any] = {name: whole(body[name]) for name in fields}
    if "pool" in body:
        settings["pool"] = tuple((whole(a), whole(b)) for a, b in body["pool"])
    if kind is Listed:
        settings["rows"] = tuple(tuple(whole(message) for message in row) for row in body["rows"])
    sets: Sets = kind(**settings)
    return sets


def write_law(law: Any) -> dict[str, Any]:
    """A law as texts; its sets are written apart."""
    if isinstance(law, MixedLaw):
        return {"shape": law.shape, "window": write_law(law.window), "coin": write_law(law.coin)}
    if isinstance(law, DistanceLaw | ClampedLaw):
        clamped = isinstance(law, ClampedLaw)
        stride = "1" if isinstance(law, ClampedLaw) else str(law.stride)
        ends = "clamp" if clamped else "cut"
        return {"shape": law.shape, "weights": texts(law.weights), "stride": stride, "ends": ends}
    fields = {
        "two_level": ("inside", "outside", "members", "outcomes"),
        "bits": ("own", "other"),
        "leaning": ("least", "slope", "cells"),
    }[law.shape]
    return {"shape": law.shape, **{name: str(getattr(law, name)) for name in fields}}


def read_law(body: dict[str, Any], sets: Any) -> Law:
    """The inverse of `write_law`."""
    shape = body["shape"]
    if shape == "mixed":
        window, coin = read_law(body["window"], sets), read_law(body["coin"], None)
        if not isinstance(window, TwoLevelLaw) or not isinstance(coin, LeaningLaw):
            raise FormatError("A mixed law must have a window and a coin.")
        return MixedLaw(window=window, coin=coin)
    if shape == "distance":
        weights = tuple(whole(weight) for weight in body["weights"])
        return ClampedLaw(weights) if body["ends"] == "clamp" else DistanceLaw(weights, whole(body["stride"]))
    if shape == "leaning":
        return LeaningLaw(least=whole(body["least"]), slope=whole(body["slope"]), cells=whole(body["cells"]))
    if shape == "bits":
        return BitsLaw(own=whole(body["own"]), other=whole(body["other"]), sets=sets)
    if shape == "two_level":
        return TwoLevelLaw(inside=whole(body["inside"]), outside=whole(body["outside"]), sets=sets)
    raise FormatError("A card must have laws of a known shape.")


def texts(numbers: Any) -> list[str]:
    """Whole numbers as decimal strings."""
    return [str(number) for number in numbers]


def whole(text: Any) -> int:
    """A whole number up to 2⁶⁴ from its decimal string."""
    if not isinstance(text, str) or not _WHOLE.fullmatch(text) or int(text) > 2**64:
        raise FormatError("Every whole number of a card must be a decimal string, up to 2⁶⁴.")
    return int(text)
