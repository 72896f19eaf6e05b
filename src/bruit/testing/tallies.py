"""That tallies add up however reports are split, and that designs and tallies survive being written down."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import documents
from bruit.entropy import Randomness
from bruit.errors import DesignError, FormatError
from bruit.estimation import Tally
from bruit.oracles import from_dict
from bruit.testing._evidence import Mechanism, crowd, require, require_error, stream

Read = Callable[[Any], Mechanism]


def check_merge(oracle: Mechanism, *, rng: Randomness = 0) -> None:
    """Splitting reports anywhere and merging the tallies gives the tally of all; another design is refused."""
    reports = _reports(oracle, rng, "check_merge")
    whole = oracle.tally(reports)
    require(whole.n + whole.refused == len(reports), "A tally lost reports: n and refused are not their number.")
    for place in (0, 1, len(reports) // 3, len(reports) - 1, len(reports)):
        parts = oracle.tally(reports[:place]), oracle.tally(reports[place:])
        same = parts[0] + parts[1] == whole == parts[1] + parts[0]
        require(same, "A tally depends on how the reports were split.")
    require(oracle.tally(reports[::-1]) == whole, "A tally depends on the order of the reports.")
    _check_other_design(oracle, whole)


def check_round_trip(oracle: Mechanism, *, rng: Randomness = 0, read: Read = from_dict) -> None:
    """A design and its tallies come back equal from the documents they are written to, and damage is noticed.

    `read` makes the mechanism again from its `to_dict`.
    """
    again = read(json.loads(documents.canonical(oracle.to_dict())))
    require(
        again == oracle and again.digest == oracle.digest, "to_dict does not say all: the design read back is another."
    )
    tally = oracle.tally(_reports(oracle, rng, "check_round_trip"))
    require(tally.design == oracle.digest, "A tally does not carry the digest of its design.")
    require(Tally.from_json(tally.to_json()) == tally, "A tally read back from JSON is another.")
    require(Tally.from_bytes(tally.to_bytes()) == tally, "A tally read back from bytes is another.")
    _check_damage(tally)


def _reports(oracle: Mechanism, rng: Randomness, check: str) -> NDArray[Any]:
    """Reports of some hundred people in mixed order, a few of them impossible where the form allows it."""
    entropy = stream(rng, check, oracle)
    values = crowd(oracle, 600)
    order = np.argsort(entropy.words(len(values)))
    reports: NDArray[Any] = oracle.privatize(values[order], rng=entropy)
    if reports.ndim == 1 and reports.dtype.kind in "ui":
        reports = reports.astype(np.int64)
        reports[::100] = -1
    return reports


def _check_other_design(oracle: Mechanism, tally: Tally) -> None:
    other = replace(tally, design=documents.digest(tally.design))
    for attempt in (lambda: tally + other, lambda: oracle.estimate(other)):
        require_error(DesignError, attempt, "A tally of another design was accepted.")


def _check_damage(tally: Tally) -> None:
    """Every changed digit of the text, every changed byte of the bytes, and every cut must be noticed."""
    text, blob = tally.to_json(), tally.to_bytes()
    places = [place for place, letter in enumerate(text) if letter.isdigit()]
    texts = [text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :] for place in _spread(places)]
    blobs = [blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :] for place in _spread(range(len(blob)))]
    reads = [partial(Tally.from_json, damaged) for damaged in [*texts, text[: len(text) // 2], ""]]
    reads += [partial(Tally.from_bytes, damaged) for damaged in [*blobs, blob[:-1], blob[1:], b""]]
    for read in reads:
        require_error(FormatError, read, "A damaged tally was read as if it were whole.")


def _spread(places: Any) -> list[int]:
    """At most 100 of the places, evenly spread."""
    return [places[int(i)] for i in np.unique(np.linspace(0, len(places) - 1, 100).astype(int))]
