"""That after a spend nothing depends on the data except through the noise: no error, no warning, no form of a result.

Noise hides what a result tells about a record. It hides nothing of an error that is raised for 2,305,848 records and
not for 2,305,847: the error tells the number. So a release has the same outcome for all data that its guarantee
does not let be told apart: all tables under ``"add-remove"``, all tables of one size under ``"replace"``.

Tables of 10¹² records are not made. Raw tallies add, so that of one record and a number stand for them.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bruit.entropy import Randomness
from bruit.estimation import RawTally
from bruit.privacy import Guarantee
from bruit.privacy.booking import LedgerLike
from bruit.privacy.ledger import Line
from bruit.releases import Release, Result, Results, Statistic
from bruit.testing._evidence import Fold, declared_values, require
from bruit.testing.silence import _Heard, _listening

__all__ = ["check_after_booking", "check_model_after_booking", "check_release_after_booking"]

#: How often a record occurs: sizes between which sums of steps, squares and ranks leave 53, 61 or 64 bits; some odd.
SIZES = tuple(
    (1 << bits) + bits % 2 for bits in (12, 17, 21, 24, 28, 31, 32, 33, 36, 40, 41, 44, 51, 60, 61, 62, 63, 64, 70)
)


#: From a table and a ledger, in which it books, to a result.
Run = Callable[[Any, LedgerLike], object]


def check_after_booking(run: Run, tables: Iterable[Any], *, by_noise: Collection[str] = ()) -> None:
    """Whatever spends a budget has the same outcome for all these tables: a result of one form, or one error.

    The form of a result is its type, its labels, shapes and dtypes; warnings and what is printed or logged are part
    of an outcome. Nothing may be raised once the spend is booked.

    Parameters
    ----------
    run
        Takes a table and a ledger, books in it, and returns a result.
    tables
        Tables that the guarantee does not let be told apart.
    by_noise
        Texts of warnings that are computed from noisy numbers alone; these may differ.

    Examples
    --------
    >>> from bruit.releases import AboveThreshold
    >>> alarm = AboveThreshold(epsilon=1.0, threshold=100)
    >>> check_after_booking(lambda answer, ledger: alarm.start(ledger, rng=7).ask(answer), [0, 2**60, 10**40])
    """
    require(_succeeds(run, tables, by_noise), "No table has a result.")


def check_release_after_booking(
    release: Statistic | Release, *, values: Sequence[Any] | None = None, fold: Fold | None = None, rng: Randomness = 0
) -> None:
    """A release has the same outcome for no record, for few, for 10¹² and more, wherever they lie.

    Parameters
    ----------
    release
        A statistic or a release.
    values
        Some values that a record may have, the most different ones among them; by default as in `check_release`.
    fold
        From a list of such values to a raw tally; by default the release's own.
    rng
        Randomness of the releases: a seed, so that a failure can be repeated.

    Examples
    --------
    >>> from bruit.releases import Sum
    >>> check_release_after_booking(Sum(bounds=(10**12, 10**12 + 10**5), epsilon=5.0))
    """
    whole: Release = release.alone if isinstance(release, Statistic) else release
    known, folded = list(values) if values is not None else declared_values(whole), fold or whole.fold

    def run(table: _Table, ledger: LedgerLike) -> Results:
        parts = [_times(folded([known[place]]), times) for place, times in table.items()]
        return whole.publish(functools.reduce(operator.add, parts, folded([])), ledger, rng)

    _check_groups(run, _alike(len(known), whole.guarantee.neighbours))


def check_model_after_booking(model: Any, X: Any, y: Any = None, *, by_noise: Collection[str] = ()) -> None:
    """A model of `bruit.learning` has the same outcome for no record, for few, for 10¹² and more.

    Parameters
    ----------
    model
        The model, with a seed so that a failure can be repeated; it is copied and not fitted.
    X, y
        Some rows that records may have, the most different ones among them, and their targets.
    by_noise
        Texts of warnings that are computed from noisy numbers alone; these may differ.
    """
    rows, target = np.asarray(X), None if y is None else np.asarray(y)

    def run(table: _Table, ledger: LedgerLike) -> object:
        # The rows that occur, each as often as the most frequent one: the sums of one copy of them are multiplied.
        fresh = type(model)(**{**model.get_params(deep=False), "ledger": ledger})
        _repeat(fresh, max([1, *table.values()]))
        places = list(table)
        return fresh.fit(rows[places], None if target is None else target[places])

    _check_groups(run, _alike(len(rows), model.neighbours), by_noise)


def _check_groups(run: Run, groups: Iterable[Iterable[Any]], by_noise: Collection[str] = ()) -> None:
    """Every group of tables has one outcome; some, such as those that are publicly too large, may have an error."""
    succeeds = [_succeeds(run, tables, by_noise) for tables in groups]
    require(any(succeeds), "No table has a result.")


def _succeeds(run: Run, tables: Iterable[Any], by_noise: Collection[str]) -> bool:
    """Whether all these tables have a result; an error if only some do, or if they have different outcomes."""
    outcomes = [_outcome(run, table, by_noise) for table in tables]
    for outcome in outcomes:
        require(not (outcome.error and outcome.booked), f"It fails after the spend was booked: {outcome.error}.")
        require(bool(outcome.error or outcome.booked), "It has a result without booking a spend.")
        for part, ours, theirs in zip(_Outcome._fields, outcome, outcomes[0], strict=True):
            require(ours == theirs, f"The {part} depends on the data without noise: {ours!r} and {theirs!r}.")
    return bool(outcomes) and not outcomes[0].error


#: How many records have each value, by the place of the value; those that occur are equally frequent.
_Table = Mapping[int, int]


def _alike(values: int, neighbours: str) -> Iterator[Sequence[_Table]]:
    """Tables that must not be told apart: all of them under add-remove, those of one size under replace."""
    alone = sorted({0, 1, 2, values - 1} & set(range(values)))
    chosen = [*([place] for place in alone), [0, values - 1], list(range(values))]
    tables = [dict.fromkeys(places, times) for places in chosen for times in (1, 2, 3, 7, *SIZES)]
    by_size = sorted([{}, *tables], key=_size)
    if neighbours == "add-remove":
        yield by_size
    else:
        yield from (list(alike) for _, alike in itertools.groupby(by_size, key=_size))


def _size(table: _Table) -> int:
    return sum(table.values())


def _times(raw: RawTally, times: int) -> RawTally:
    """The raw tally of several copies of the records: two halves that are added, and one more for an odd number."""
    counts = raw.reveal(design=raw.design)
    most = max(map(abs, (int(counts.min(initial=0)), int(counts.max(initial=0)))))
    wide = counts if max(most, 1) * times < 1 << 63 else counts.astype(object)
    half = RawTally(design=raw.design, counts=wide * (times // 2))
    return half + half + raw if times % 2 else half + half


def _repeat(model: Any, times: int) -> None:
    """Make a model read every row several times."""
    name = "_reader" if hasattr(model, "_reader") else "_fold"
    original = getattr(model, name)

    def repeated(read: Any) -> Any:
        return read._replace(sums=np.asarray(read.sums, object) * times)

    def fold(*arguments: Any) -> Any:
        return repeated(original(*arguments))

    def reader(*arguments: Any) -> Any:
        read = original(*arguments)
        return lambda count: repeated(read(count))

    setattr(model, name, reader if name == "_reader" else fold)


class _Outcome(NamedTuple):
    """What can be seen of a run, noise aside."""

    error: str
    result: str
    warnings: tuple[str, ...]
    output: str
    booked: tuple[Guarantee, ...]


class _Notary:
    """A ledger that refuses nothing and notes every spend."""

    def __init__(self) -> None:
        self.booked: list[Guarantee] = []

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> None:
        """Note the spend."""
        self.booked.append(guarantee)

    def book(self, lines: Sequence[Line]) -> None:
        """Note the spends."""
        self.booked += [line.guarantee for line in lines]


def _outcome(run: Run, table: Any, by_noise: Collection[str]) -> _Outcome:
    notary, error, result = _Notary(), "", ""
    with _listening() as heard:
        try:
            result = repr(_form(run(table, notary)))
        except Exception as raised:  # whatever it is, it is seen
            error = f"{type(raised).__name__}: {raised}"
    warned = tuple(str(warning.message) for warning in heard.warned)
    kept = tuple(text for text in warned if text not in by_noise)
    return _Outcome(error, result, kept, heard.printed() + _own_logs(heard), tuple(notary.booked))


def _form(result: Any) -> Any:
    """The form of a result: what it is of, without what noise has touched."""
    if isinstance(result, Result):
        fixed = result.name, result.labels, result.guarantee, result.simulated, result.statistic, result.notes
        interval = None if result.ends is None else np.shape(result.interval())
        _ = repr(result), result.to_json()
        return *fixed, result.values.dtype.str, interval
    if isinstance(result, np.ndarray):
        return result.shape, result.dtype.str
    if isinstance(result, Mapping):
        return {name: _form(part) for name, part in result.items()}
    if isinstance(result, Guarantee):
        return result
    if hasattr(result, "get_params"):
        return {name: _form(part) for name, part in vars(result).items() if name.endswith("_")}
    return type(result).__name__


def _own_logs(heard: _Heard) -> str:
    """What bruit itself has logged; what others compile or load at the first use is no affair of the data."""
    return "\n".join(record for record in heard.records if "'name': 'bruit" in record)
