"""Documents that grow: larger numbers, longer texts, more items, deeper nesting, and these together.

Nothing here knows a reader. A document is a tree of mappings, lists and leaves; a `Step` changes a place of it, and a
`Recipe` is a document with some steps. Larger numbers come before copies, so that a thousand copies have them.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import random
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Path = tuple[Any, ...]

#: What stands in place of a whole number, and of a number with a point.
WHOLE = (0, 1, 7, 10, 1000, 4096, 2**16, 999_999, 10**6, 2**20, 10**7, 2**31 - 1, 2**53 - 1, 10**18, 10**39, -(10**6))
REAL = (1e-300, 1e-9, 1e-3, 0.0123456789, 0.999999, 7.7, 20.0, 1e6, 1e15, 1e300, -1e15)
#: How many copies of an item there are.
TIMES = (10, 100, 1000, 30_000)
#: How long texts become.
LENGTHS = (300, 5000, 100_000)
#: What a long text is made of; the last ones are slow to put into a normal form, or to search by a pattern.
PIECES = ("a", "9", " ", "é", "-", ",", ".", '"', "=", "a=", "1,", "[", "{", "\t", "0..", "a ", " =", "\u0327\u0301")
#: What stands in place of a number inside a text.
DIGITS = ("1e-9999999", "1e9999999", "9" * 15, "9" * 4000, "1000000", "0.000001")
#: The most bytes of a document, about, and of one with the most copies, by which steps that are repeated for every pair
#: of items are found.
MOST, LARGEST = 100_000, 1_000_000
#: How deep values are nested.
DEEP = (100, 900, 20_000)

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


class Step(NamedTuple):
    """One change of a document: what it is called, and what it does to the tree, which it may alter."""

    name: str
    change: Callable[[Any], Any]


class Recipe(NamedTuple):
    """A seed by its place, and the steps by which it grows."""

    seed: int
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        return " + ".join(step.name for step in self.steps)

    def grown(self, body: Any) -> Any:
        """The document; the seed stays as it is."""
        grown = copy.deepcopy(body)
        for step in self.steps:
            grown = step.change(grown)
        return grown


#: How often a recipe has a larger number, copies, both, a longer text, a deeper value, or several of these.
_KINDS = {"number": 25, "copies": 10, "number and copies": 30, "text": 15, "nested": 5, "several": 15}


class Grower:
    """Recipes for some documents, drawn from a seed."""

    def __init__(self, bodies: list[Any], seed: int) -> None:
        self.bodies, self._draw = bodies, random.Random(seed)
        self._steps: dict[int, dict[str, list[Step]]] = {}

    def recipes(self, times: int) -> Iterator[Recipe]:
        """So many recipes."""
        kinds = self._draw.choices(list(_KINDS), list(_KINDS.values()), k=times)
        for kind in kinds:
            seed = self._draw.randrange(len(self.bodies))
            yield Recipe(seed, tuple(self._drawn(self._steps_of(seed), kind)))

    def _steps_of(self, seed: int) -> dict[str, list[Step]]:
        """All steps of a document, by kind."""
        if seed not in self._steps:
            kinds = {"number": _numbers, "copies": _copies, "text": _texts, "nested": _nested}
            self._steps[seed] = {name: list(steps(self.bodies[seed])) for name, steps in kinds.items()}
        return self._steps[seed]

    def _drawn(self, steps: dict[str, list[Step]], kind: str) -> list[Step]:
        """The steps of a recipe: numbers and texts first, so that copies have them."""
        several = {name: self._draw.choice((0, 1, 2)) for name in steps} | {"nested": 0, "copies": 2}
        wanted = several if kind == "several" else dict.fromkeys(kind.split(" and "), 1)
        order = ("number", "text", "nested", "copies")
        return [step for name in order for step in self._some(steps[name], wanted.get(name, 0))]

    def _some(self, steps: list[Step], times: int) -> list[Step]:
        return self._draw.sample(steps, min(len(steps), times))


def _walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    # Of a long list the first items stand for all.
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, item in items:
        if path or key not in ("format", "digest"):
            yield (*path, key), item
            yield from _walk(item, (*path, key))


def _at(body: Any, path: Path) -> Any:
    for key in path:
        body = body[key]
    return body


def _put(path: Path, value: Any, name: str) -> Step:
    def change(body: Any) -> Any:
        with contextlib.suppress(LookupError, TypeError):  # another step took its place
            _at(body, path[:-1])[path[-1]] = value
        return body

    return Step(f"{_spelt(path)} {name}", change)


def _spelt(path: Path) -> str:
    return "/".join(map(str, path)) or "all"


# Larger numbers.


def _numbers(body: Any) -> Iterator[Step]:
    """Every number by other ones; the same for texts that are whole numbers."""
    for path, leaf in _walk(body):
        if isinstance(leaf, bool):
            continue
        if isinstance(leaf, int):
            yield from (_put(path, other, f"= {other}") for other in WHOLE)
        elif isinstance(leaf, float):
            yield from (_put(path, other, f"= {other}") for other in (*REAL, 1, 10**18))
        elif isinstance(leaf, str) and re.fullmatch("-?[0-9]+", leaf):
            yield from (_put(path, str(other), f"= text {other}") for other in WHOLE)


# Longer texts.


def _texts(body: Any) -> Iterator[Step]:
    for path, leaf in _walk(body):
        if not isinstance(leaf, str):
            continue
        for piece, length, before in itertools.product(PIECES, LENGTHS, ("", leaf)):
            yield _long_text(path, before, piece, length)
        for place, number in enumerate(_NUMBER.finditer(leaf)):
            for other in DIGITS:
                longer = leaf[: number.start()] + other + leaf[number.end() :]
                yield _put(path, longer, f"number {place} = {other[:12]}")


def _long_text(path: Path, before: str, piece: str, length: int) -> Step:
    name = f"{'+' if before else '='} {length} × {piece!r}"
    return Step(f"{_spelt(path)} {name}", lambda body: _put(path, before + (piece * length)[:length], "").change(body))


# Deeper values.


def _nested(body: Any) -> Iterator[Step]:
    for path, leaf in _walk(body):
        for depth, braces in itertools.product(DEEP, (False, True)):
            yield _put(path, Nested(leaf, depth, braces=braces), f"{depth} deep in {'mappings' if braces else 'lists'}")


class Nested(NamedTuple):
    """A value so many levels deep, in lists or in mappings; forms write it, for no writer of JSON goes so deep."""

    value: Any
    depth: int
    braces: bool


# More of the same.


def _copies(body: Any) -> Iterator[Step]:
    """Copies of items of one list or mapping, and of one name wherever it stands."""
    for path, container in [((), body), *_walk(body)]:
        if isinstance(container, list) and container:
            yield from (_more_items(path, times) for times in TIMES)
        elif isinstance(container, dict):
            keys = [key for key in container if path or key not in ("format", "digest")]
            yield from (_more_keys(path, key, times) for key in keys[:3] for times in TIMES)
    for name in sorted(set(_names(body))):
        yield from (_more_of(name, times) for times in TIMES)


def _names(body: Any) -> Iterator[str]:
    """What things are called: the keys of mappings below the first, the names of items, and items that are texts."""
    for path, value in _walk(body):
        if path[-1] == "name" and isinstance(value, str):
            yield value


def _more_items(path: Path, times: int) -> Step:
    """The last item of a list again and again, with other names and numbers that grow where they are alone."""

    def change(body: Any) -> Any:
        items = _at(body, path)
        if isinstance(items, list) and items:
            last = items[-1]
            items.extend(_numbered(last, number) for number in range(1, _fitting(last, times)))
        return body

    return Step(f"{times} × {_spelt(path)}[]", _patient(change))


def _more_keys(path: Path, key: str, times: int) -> Step:
    def change(body: Any) -> Any:
        holder = _at(body, path)
        value = holder[key]
        holder.update((f"{key}{number}", _numbered(value, number)) for number in range(1, _fitting(value, times)))
        return body

    return Step(f"{times} × {_spelt((*path, key))}", _patient(change))


def _more_of(name: str, times: int) -> Step:
    """A thing of this name again, as name1, name2, …, wherever it stands: in lists, as an item's name, and as a key."""

    def change(body: Any) -> Any:
        own = [item for _, container in [((), body), *_walk(body)] for item in _about(container, name)]
        most = _fitting(own, times)
        for _, container in [((), body), *list(_walk(body))]:
            for item in list(_about(container, name)):
                if isinstance(container, dict):
                    container.update((f"{name}{i}", _renamed(item, name, f"{name}{i}")) for i in range(1, most))
                else:
                    container.extend(_renamed(item, name, f"{name}{i}") for i in range(1, most))
        return body

    return Step(f"{times} × {name!r}", _patient(change))


def _about(container: Any, name: str) -> Iterator[Any]:
    """What a container says of a name."""
    if isinstance(container, dict):
        yield from (value for key, value in container.items() if key == name)
    elif isinstance(container, list):
        yield from (item for item in container if item == name or (isinstance(item, dict) and item.get("name") == name))


def _renamed(value: Any, name: str, other: str) -> Any:
    if isinstance(value, dict):
        return {other if key == name else key: _renamed(item, name, other) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, name, other) for item in value]
    return other if value == name else value


def _numbered(value: Any, number: int) -> Any:
    """A copy that is not the same: an item that is a text or a number changes, and the names in a mapping do."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(int(value) + number) if re.fullmatch("[0-9]{1,18}", value) else f"{value}{number}"
    if isinstance(value, int | float):
        return value + number
    if isinstance(value, list):
        return [_numbered(item, number) if isinstance(item, str) else copy.deepcopy(item) for item in value]
    if isinstance(value, dict):
        names = {key: f"{value[key]}{number}" for key in ("name", "label", "value") if isinstance(value.get(key), str)}
        return {**copy.deepcopy(value), **names}
    return value


def _fitting(item: Any, times: int) -> int:
    """So many copies, or as many as a document has room for."""
    return max(2, min(times, (LARGEST if times == TIMES[-1] else MOST) // (len(repr(item)) + 8)))


def _patient(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A change that leaves a document as it is where another step took its place away."""

    def careful(body: Any) -> Any:
        try:
            return change(body)
        except (LookupError, TypeError, AttributeError):
            return body

    return careful
