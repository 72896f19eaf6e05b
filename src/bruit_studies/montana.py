"""Eighty rounds of the people of Montana: what redrawing, memos for every value, and epochs cost, and their errors.

The panel is the replicate weights PWGTP1 … PWGTP80 of the American Community Survey of 2018, 10,336 people, as the
paper on evolving data takes them. It does not travel with bruit: `BRUIT_DATA` names the file, or the folder that it is
in. Its rounds are replicates of one survey, so that nearly every answer changes from round to round and the shares
hardly do.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit_studies.results import StudyResults
from bruit_studies.study import Skipped

if TYPE_CHECKING:
    from bruit.oracles import Repeated
    from bruit.tables import Table

Integers = NDArray[np.int64]

#: The environment variable that names the file or its folder, and the name of the file.
VARIABLE, FILE = "BRUIT_DATA", "acs_pwgtp_MT_2018.csv.gz"
ROUNDS, EPOCHS = 80, 4
#: Where classes of weights end: all above is one class.
TOP = 250
#: How the same people can be asked again, in the words of a table.
METHODS = {
    "redrawn": "drawn anew",
    "by value": "a memo for every value",
    "epochs": f"{EPOCHS} epochs, one memo each",
    "thrifty": "drawn anew, at the cost of epochs",
}


def people(width: int) -> tuple[Integers, int]:
    """Everybody's values in all rounds, people × rounds, and how many values there are.

    With a width of 1 every weight that occurs is a value, as the paper counts them; else values are classes of weights.
    """
    table = _weights(_file())
    if width == 1:
        values, codes = np.unique(table, return_inverse=True)
        return codes.reshape(table.shape).astype(np.int64), len(values)
    return np.minimum(table, TOP) // width, TOP // width + 1


def _file() -> Path:
    location = os.environ.get(VARIABLE)
    place = Path(location).expanduser() if location else None
    file = place / FILE if place is not None and place.is_dir() else place
    if file is None or not file.is_file():
        raise Skipped(
            f"The weights of Montana are not bundled: set {VARIABLE} to {FILE} or to its folder; "
            "docs/how-to/run_the_studies.md says where it is from. Recorded results stand in their place."
        )
    return file


@cache
def _weights(path: Path) -> Integers:
    """The table of the file; what is not one of 80 columns of whole numbers is refused."""
    from bruit.datasets import CatalogueEntry, reading
    from bruit.datasets.catalogue import whole

    columns = tuple(whole(f"PWGTP{place}", 0, 9999, "replicate weight") for place in range(1, ROUNDS + 1))
    entry = CatalogueEntry("acs_pwgtp", "", 0, columns, source="", licence="", citation="", notes="", checksum="")
    table = reading.read(entry, path.read_bytes())
    return np.stack([table[column.name] for column in columns], axis=1)


def trial(*, method: str, width: int, first: float, epoch: float, rng: Entropy) -> dict[str, float]:
    """All rounds of the panel once: what they cost, and the root mean square error of the shares of a round."""
    from bruit.oracles import RandomizedResponse, Repeated

    values, k = people(width)
    panel = Repeated(RandomizedResponse(epsilon=first, k=k), epoch, follow_changes=method == "by value")
    whole = Repeated(panel.oracle, epoch).over(EPOCHS, ROUNDS // EPOCHS).epsilon
    oracle = RandomizedResponse(epsilon=whole / ROUNDS, k=k) if method == "thrifty" else panel.oracle
    rounds = _rounds(method, panel, oracle, values, rng)
    estimates = [oracle.estimate(oracle.tally(reports)).frequency for reports in rounds]
    errors = [shares - _shares(codes, k) for shares, codes in zip(estimates, values.T, strict=True)]
    followed, redrawn = method == "by value", method in {"redrawn", "thrifty"}
    cost = ROUNDS * oracle.guarantee.epsilon if redrawn else whole
    distinct = np.array([len(set(history)) for history in values.tolist()])
    return {
        "values": k,
        "distinct": float(distinct.mean()),
        "changes": float((values[:, 1:] != values[:, :-1]).mean()),
        "claimed": float(distinct.mean()) * epoch if followed else cost,
        "cost": _seen(panel, values) if followed else cost,
        "bound": panel.after(ROUNDS).epsilon if followed else cost,
        "error": float(np.sqrt(np.mean(np.square(errors)))),
    }


def _shares(codes: Integers, k: int) -> NDArray[np.float64]:
    return np.bincount(codes, minlength=k) / len(codes)


def _rounds(method: str, panel: Repeated, oracle: Any, values: Integers, rng: Entropy) -> Iterator[Any]:
    """The reports of every round."""
    if method == "by value":
        yield from _followed(panel, values, rng)
    elif method == "epochs":
        length = ROUNDS // EPOCHS
        for start in range(0, ROUNDS, length):
            memos = panel.memoize(values[:, start], rng)
            yield from (panel.answer(memos, rng) for _ in range(length))
    else:
        yield from (oracle.privatize(codes, rng) for codes in values.T)


def _followed(panel: Repeated, values: Integers, rng: Entropy) -> Iterator[Any]:
    """With a memo for every value that a person has, taken again when the value returns."""
    k = panel.oracle.size
    pairs, places = np.unique(values + k * np.arange(len(values))[:, None], return_inverse=True)
    memos = panel.memoize(pairs % k, rng)
    yield from (panel.answer(memos[own], rng) for own in places.reshape(values.shape).T)


def _seen(panel: Repeated, values: Integers) -> float:
    """The mean over people of `loss_against_one_value`."""
    histories = [np.unique(history, return_counts=True)[1] for history in values]
    return float(np.mean([loss_against_one_value(panel, times) for times in histories]))


def loss_against_one_value(panel: Repeated, times: Any) -> float:
    """What reports can tell a history apart by from that of somebody who never changes, with a memo for every value.

    `times` says how often each value of the history occurs. The reports are the other one's value in every round, a
    value that the history lacks, or else its rarest: the loss is ln P(these reports | never changes) −
    ln P(these reports | history), and the largest is at least that.
    """
    k, keep = panel.oracle.size, float(panel.keep)
    weight = math.exp(panel.memo.guarantee.epsilon)
    own, other = weight / (weight + k - 1), 1 / (weight + k - 1)
    stays, comes = math.log(keep + (1 - keep) / k), math.log((1 - keep) / k)

    def log_chance(chance: Any, rounds: Any) -> Any:
        """The logarithm of P(a number of reports of one message), for a memo that is this message with that chance."""
        return np.logaddexp(np.log(chance) + rounds * stays, np.log1p(-chance) + rounds * comes)

    rounds = np.sort(np.asarray(times, dtype=float))
    chances = np.full(len(rounds), other)
    if len(rounds) == k:
        chances[0] = own
    return float(log_chance(own, rounds.sum()) - log_chance(chances, rounds).sum())


def table(results: StudyResults) -> Table:
    """What each way costs and how far it errs, for every weight and for classes of weights."""
    from bruit.tables import Table

    rows = [
        (
            f"{part.mean('values'):,.0f}",
            METHODS[method],
            f"{part.mean('claimed'):,.1f}",
            f"{part.mean('cost'):,.1f}",
            f"{part.mean('bound'):,.1f}",
            f"{100 * part.mean('error'):.2f}",
        )
        for _, of_width in results.where(part="montana").by("width")
        for method in METHODS
        for part in [of_width.where(method=method)]
    ]
    names = ("values", "asked again", "ε stated", "ε seen", "ε at most", "error of a share, points")
    title = f"{ROUNDS} rounds of the people of Montana: the ε of a person, and the error of one round"
    return Table.of(title, names, rows, texts=2)
