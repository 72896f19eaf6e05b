"""Files of rounds: reports that are made with a memory, say which round they are of, and are counted round by round."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bruit import engines
from bruit.collection import files
from bruit.collection.design import Reports
from bruit.engines import batch as batching
from bruit.engines import identity
from bruit.engines.sources import Source
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, ParameterError, ParameterTypeError, in_column
from bruit.estimation import Tally
from bruit.oracles import Memory

#: What a file of reports says of its round.
ROUND = "bruit.round"


def privatize(
    plan: Any,
    source: Any,
    *,
    rng: Randomness,
    memory: Any,
    number: Any,
    person: str | None,
    to: Any = None,
    replace: bool = False,
) -> Any:
    """Reports of one round, made with the memos that the people of a table have; those who have none draw one."""
    if not isinstance(memory, Memory):
        raise ParameterTypeError("memory must be a Memory, as in Memory.create(path, plan).")
    plan.panel.epoch_of(number)
    files.check_output(to, source, plan, replace=replace)
    # A whole number is mixed with the people, epoch and round by the memory itself.
    header = {**files.header(plan.digest, simulated=rng is not None), ROUND: str(number)}
    seen: set[str] = set()
    alone = threading.Lock()
    read = [*plan.schema, *plan.public]

    def work(batch: Mapping[str, Any], words: Words) -> Reports:
        names = _people(batch, person)
        with alone:  # batches are handed to several threads
            if not seen.isdisjoint(names):
                raise DataError(_TWICE)
            seen.update(names)
        records = {name: batch[name] for name in read}
        reports: Reports = memory.reports(records, names, round=number, rng=rng)
        return reports

    columns = [*read, *([] if person is None or person in read else [person])]
    with files.publishing(to, plan) as sink:
        return engines.map(source, sink, work, columns=columns, metadata=header)


_TWICE = "Somebody is named twice: a person has one report in a round."
_ONE = 'Without a column that tells people apart the table must have one row: name it, as in person="id" (--person id).'


def _people(batch: Mapping[str, Any], person: str | None) -> list[str]:
    """The keys of the people of a batch; one person alone needs none."""
    if person is None:
        rows = batching.rows(dict(batch))
        if rows > 1:
            raise DataError(_ONE)
        return [""] * rows
    with in_column(person):
        keys = identity.keys(batch[person]).of_rows()
    present = [key for key in keys if key is not None]
    if len(present) < len(keys):
        raise DataError(f"Column {person!r} must name everybody: some entries are missing.")
    return present


def stated_rounds(sources: Sequence[Any]) -> list[int | None]:
    """The round that each file says it is of; None where it says nothing, as CSV and tallies do."""
    return [_stated(source) for source in sources]


def _stated(source: Any) -> int | None:
    path = files.path_of(source)
    if path is None or path.suffix.lower() == ".json" or not path.exists():
        return None
    rounds = {header.get(ROUND) for header in engines.all_metadata(path).values()}
    if len(rounds) > 1:
        raise ParameterError(f"{path} has reports of several rounds: name the files of each round apart.")
    text = rounds.pop() if rounds else None
    return int(text) if text is not None and text.isdecimal() else None


def check_one_round(sources: Sequence[Any]) -> None:
    """Refuse files of several rounds: the same people would be counted as different ones."""
    if len(set(stated_rounds(sources))) > 1:
        raise ParameterError(
            "These are reports of several rounds, by the same people: estimate them with --over-rounds "
            "(plan.panel.series)."
        )


def tallies(
    plan: Any, sources: Sequence[Any], opened: Callable[[Any], Any] = Source.of
) -> tuple[list[int], list[Tally]]:
    """The numbers and tallies of the rounds that files are of, in order; files of one round are added.

    Files that do not say so are of rounds 1, 2, 3, … in the order in which they are named.
    """
    stated = stated_rounds(sources)
    if None in stated and any(number is not None for number in stated):
        raise ParameterError("Some of these files say of which round they are, and some do not: give all as Parquet.")
    numbers = [place if number is None else number for place, number in enumerate(stated, start=1)]
    by_round = {
        number: [s for s, n in zip(sources, numbers, strict=True) if n == number] for number in sorted(set(numbers))
    }
    return list(by_round), [files.tally(plan, group, opened) for group in by_round.values()]
