"""Which oracle to take, and how many people it needs: every one ranked by its exact error, before anybody is asked."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args, overload

import numpy as np

from bruit import _checks
from bruit.errors import DataError, DataTypeError, LimitError, MissingExtraError, ParameterError
from bruit.estimation import intervals
from bruit.oracles.base import Oracle
from bruit.oracles.named import oracle
from bruit.oracles.repeated import Repeated
from bruit.tables import Column, Table, Tabular, counted, decimals, digits, percent

#: What "best" means: the least variance for a rare value (Var*, the course's rule), the least sum of squared errors
#: over all values, or the least variance at the given frequency.
Criterion: TypeAlias = Literal["rare", "total", "frequency"]
Row = TypeVar("Row")


@dataclass(frozen=True)
class Choice:
    """One oracle and what it would cost.

    Parameters
    ----------
    oracle
        The mechanism, ready to use.
    name
        Its name in the literature.
    rare
        Var*: the variance of the estimate of a value that nobody has, with n people.
    total
        The expected sum of squared errors over all values, with n people drawn from a population.
    at_frequency
        The variance at the given frequency, or its mean over the given frequencies; None where none was given.
    report_bytes
        The size of a report.
    decode_steps
        About how many elementary steps the collector needs for n reports.
    guessability
        How often the best guess of a person's value from one report is right.
    votes_per_cheater
        By how many people's worth one dishonest report can raise a value of its choice.
    repeated
        The oracle with memos, where the same people are asked again. Errors are then of the mean over the rounds.
    """

    oracle: Oracle
    name: str
    rare: float
    total: float
    at_frequency: float | None
    report_bytes: float
    decode_steps: float
    guessability: float
    votes_per_cheater: float
    repeated: Repeated | None = None

    def error(self, criterion: Criterion) -> float:
        """The error that the criterion looks at."""
        variance: float | None = getattr(self, _ERRORS[criterion])
        if variance is None:
            raise ParameterError('The criterion "frequency" needs a frequency.')
        return variance


class Ranking(Tabular, Sequence[Row]):
    """What was compared, best first; prints as a table."""

    def __init__(self, rows: Iterable[Row], *, n: int, left_out: dict[str, str]) -> None:
        self._rows = list(rows)
        self.n = n
        self.left_out = left_out

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the 95 % interval that each would have, the shortest first; needs matplotlib."""
        try:
            figures = importlib.import_module("bruit.figures")
        except ImportError as error:
            raise MissingExtraError("plot()", "figures") from error
        return figures.plot_ranking(self, ax=ax)

    def _field(self, name: str) -> list[Any]:
        return [getattr(row, name) for row in self]


class OracleRanking(Ranking[Choice]):
    """Oracles, best first; prints as a table, and `best` is ready to use.

    Attributes
    ----------
    left_out
        Oracles that cannot serve here, with the reason.
    """

    def __init__(
        self, rows: list[Choice], *, n: int, criterion: Criterion, left_out: dict[str, str], rounds: int | None = None
    ) -> None:
        super().__init__(sorted(rows, key=lambda row: row.error(criterion)), n=n, left_out=left_out)
        self.criterion, self.rounds = criterion, rounds

    @property
    def best(self) -> Oracle:
        """The oracle of least error."""
        return self._rows[0].oracle

    def table(self) -> Table:
        """Every oracle with its error, what it costs and what it risks."""
        columns = [
            Column("oracle", [row.name for row in self], kind="label", write=str),
            *(self._errors(name, field) for name, field in _ERRORS.items() if None not in self._field(field)),
            Column("ratio", [row.error(self.criterion) / self._least for row in self], "× best", write=decimals(2)),
            Column("half_width", [self._half_width(row) for row in self], "95 % interval ±", write=decimals(4)),
            Column("report_bytes", self._field("report_bytes"), "bytes"),
            Column("decode_steps", self._field("decode_steps"), "steps", write=lambda steps: f"{steps:.1e}"),
            Column("guessability", self._field("guessability"), "guessed", write=percent),
            Column("votes_per_cheater", self._field("votes_per_cheater"), "votes", write=decimals(2)),
            *self._of_epoch(),
        ]
        about = {
            "k": self._rows[0].oracle.size,
            "epsilon": self._rows[0].oracle.epsilon,
            "n": self.n,
            "criterion": self.criterion,
            "left_out": self.left_out,
        }
        about |= {} if self.rounds is None else {"rounds": self.rounds, "epoch_epsilon": self._panels[0].epoch}
        over = "" if self.rounds is None else f" of the mean over {counted(self.rounds, 'round')}"
        title = f"Oracles for {counted(self.n, 'person')}, by {_MEANING[self.criterion]}{over}"
        notes = [f"left out: {name} ({reason})" for name, reason in self.left_out.items()]
        named = [f"{row.name} with memos is {_PUBLISHED[row.name]}" for row in self if row.name in _PUBLISHED]
        notes += [] if self.rounds is None or not named else [f"{'; '.join(named)}: see choose_panel, or --published"]
        return Table(title, columns, notes, about, noun="oracle")

    @property
    def _panels(self) -> list[Repeated]:
        return [row.repeated for row in self if row.repeated is not None]

    def _of_epoch(self) -> list[Column]:
        """What two reports of an epoch cost, and how often the best guess from all of them is right."""
        if self.rounds is None:
            return []
        panels = self._panels
        return [
            Column("two_reports", [panel.after(2).epsilon for panel in panels], "ε of two", write=decimals(3)),
            Column("guessed_by_epoch", [panel.memo.guessability for panel in panels], "by epoch", write=percent),
        ]

    def _errors(self, name: Criterion, field: str) -> Column:
        """A column of errors; the one that ranks is shown."""
        return Column(field, self._field(field), "error", write=digits(3), hidden=name != self.criterion)

    @property
    def _least(self) -> float:
        return self._rows[0].error(self.criterion)

    def _half_width(self, row: Choice) -> float:
        variance = row.rare if self.criterion == "total" else row.error(self.criterion)
        return intervals.normal_quantile(0.95) * math.sqrt(variance)


#: The field of a choice that each criterion looks at.
_ERRORS: dict[Criterion, str] = {"rare": "rare", "total": "total", "frequency": "at_frequency"}

#: Oracles that have a name of their own where the same people are asked again.
_PUBLISHED = {"SUE": "L-SUE", "OUE": "L-OSUE"}

_MEANING: dict[str, str] = {
    "rare": "the variance for a rare value (Var*)",
    "total": "the sum of squared errors over all values",
    "frequency": "the variance at the given frequency",
}


def choose(
    k: int,
    epsilon: float,
    n: int | None = None,
    frequency: Any = None,
    *,
    criterion: Criterion | None = None,
    among: Sequence[str] | None = None,
    epoch_epsilon: float | None = None,
    rounds: int | None = None,
) -> OracleRanking:
    """Every oracle for k values at ε, ranked by exact error, with what it costs and what it risks.

    Parameters
    ----------
    k, epsilon
        The number of values and the most that one report may tell.
    n
        How many people will answer; 10,000 by default. It scales all errors alike.
    frequency
        The frequency of the value of interest, or the frequencies of all values, where something is known of them.
    criterion
        ``"rare"`` (least Var*, the usual rule), ``"total"`` (least sum of squared errors), or ``"frequency"`` (least
        variance at the given frequency, which is the default where one is given).
    among
        Names to choose from; all by default.
    epoch_epsilon, rounds
        To ask the same people again: the most that all reports of an epoch may tell, and how many rounds it has.
        Errors are then of the mean over these rounds, in which the memo does not average out.

    Examples
    --------
    >>> choose(k=2, epsilon=1.0)[0].name
    'GRR'
    >>> [choice.name for choice in choose(k=128, epsilon=1.0, among=["GRR", "OUE"])]
    ['OUE', 'GRR']
    """
    people = 10_000 if n is None else _checks.integer(low=1, n=n)
    rule: Criterion = criterion or ("rare" if frequency is None else "frequency")
    _checks.one_of(get_args(Criterion), criterion=rule)
    known = _frequencies(frequency, _checks.domain_size(k=k))
    if rule == "frequency" and known is None:
        raise ParameterError('The criterion "frequency" needs a frequency.')
    candidates, left_out = _candidates(k, epsilon, among)
    panels = _panels(candidates, epoch_epsilon, rounds, left_out)
    rows = [
        _weigh(name, _Rounds(candidates[name], panel, rounds), people, known)
        for name, panel in (panels or dict.fromkeys(candidates)).items()
    ]
    return OracleRanking(rows, n=people, criterion=rule, left_out=left_out, rounds=rounds)


def people_needed(
    *,
    k: int,
    epsilon: float,
    half_width: float,
    frequency: float,
    level: float = 0.95,
    among: Sequence[str] | None = None,
    epoch_epsilon: float | None = None,
    rounds: int | None = None,
) -> dict[str, int]:
    """How many respondents each oracle needs for an interval of ± `half_width`, best first.

    The interval is the normal approximation for the population: ± z standard errors at the given frequency. With
    `epoch_epsilon` and `rounds` it is that of the mean over these rounds of the same people.

    Examples
    --------
    >>> people_needed(k=2, epsilon=1.0, half_width=0.02, frequency=0.1, among=["GRR"])
    {'GRR': 9707}
    """
    _checks.fraction(frequency=frequency)
    _checks.probability(half_width=half_width)
    scale = (intervals.normal_quantile(_checks.probability(level=level)) / half_width) ** 2
    candidates, left_out = _candidates(k, epsilon, among)
    panels = _panels(candidates, epoch_epsilon, rounds, left_out)
    needed = [
        (name, math.ceil(scale * _Rounds(candidates[name], panel, rounds).typical_variance(frequency, 1)))
        for name, panel in (panels or dict.fromkeys(candidates)).items()
    ]
    return dict(sorted(needed, key=lambda pair: pair[1]))


def _candidates(k: int, epsilon: float, among: Sequence[str] | None) -> tuple[dict[str, Oracle], dict[str, str]]:
    """The oracles that can serve, and why the others cannot."""
    candidates: dict[str, Oracle] = {}
    left_out: dict[str, str] = {}
    names = [among] if isinstance(among, str) else among
    for name in names or [name for name in Oracle.kinds if name != "Warner"]:
        try:
            candidates[name] = oracle(name, epsilon=epsilon, k=k)
        except LimitError as error:
            left_out[name] = str(error)
    if not candidates:
        raise LimitError(f"No oracle can serve k = {k:,} at this epsilon. {' '.join(left_out.values())}")
    return candidates, left_out


def _panels(
    candidates: dict[str, Oracle], epoch: float | None, rounds: int | None, left_out: dict[str, str]
) -> dict[str, Repeated] | None:
    """The oracles with memos, where the same people are asked again; those that cannot be are left out."""
    if epoch is None and rounds is None:
        return None
    if epoch is None or rounds is None:
        raise ParameterError("Rounds need the ε of an epoch and their number, as in epoch_epsilon=2.0, rounds=12.")
    _checks.integer(low=1, rounds=rounds)
    panels: dict[str, Repeated] = {}
    for name, candidate in candidates.items():
        if _checks.epsilon(epoch_epsilon=epoch) < candidate.epsilon:
            raise ParameterError(f"epoch_epsilon must be at least the epsilon of one report, {candidate.epsilon:g}.")
        try:
            panels[name] = Repeated(candidate, epoch)
        except (LimitError, ParameterError) as error:
            left_out[name] = str(error)
    if not panels:
        raise LimitError(f"No oracle can be asked again here. {' '.join(left_out.values())}")
    return panels


class _Rounds(NamedTuple):
    """An oracle, and how often it is asked again: variances are of the mean over the rounds."""

    oracle: Oracle
    repeated: Repeated | None
    rounds: int | None

    def mean(self, variance: Callable[[Oracle], Any]) -> Any:
        """(V − W)/T + W, where W is that of the memo; V where everybody is asked once."""
        whole = variance(self.oracle)
        if self.repeated is None or self.rounds is None:
            return whole
        memo = variance(self.repeated.memo)
        return (whole - memo) / self.rounds + memo

    def typical_variance(self, frequency: float, n: int) -> float:
        """The variance at one frequency."""
        return float(self.mean(lambda oracle: oracle.typical_variance(frequency, n)))

    def variance(self, frequencies: Any, n: int) -> Any:
        """The variance at the frequencies of all values."""
        return self.mean(lambda oracle: oracle.variance(frequencies, n))


def _weigh(name: str, panel: _Rounds, n: int, frequency: Any) -> Choice:
    candidate = panel.oracle
    even = np.full(candidate.size, 1 / candidate.size)
    return Choice(
        oracle=candidate,
        name=name,
        rare=panel.typical_variance(0.0, n),
        # In all these oracles the variance is a quadratic in f whose sum is nearly the same for all frequencies.
        total=float(panel.variance(even, n).sum()),
        at_frequency=None if frequency is None else _at(panel, frequency, n),
        report_bytes=float(candidate.report_bytes),
        decode_steps=float(candidate.decode_steps(n)),
        guessability=candidate.guessability,
        votes_per_cheater=candidate.votes_per_cheater,
        repeated=panel.repeated,
    )


def _at(candidate: _Rounds, frequency: Any, n: int) -> float:
    """The variance at one frequency, or its mean over those of all values."""
    if frequency.shape == ():
        return candidate.typical_variance(float(frequency), n)
    return float(np.mean(candidate.variance(frequency, n)))


def _frequencies(frequency: Any, k: int) -> Any:
    """One frequency, or one per value."""
    if frequency is None:
        return None
    array = np.asarray(frequency)
    if array.dtype.kind not in "uif":
        raise DataTypeError("frequency must be a number from 0 to 1, or one such number per value.")
    if not ((array >= 0) & (array <= 1)).all() or array.shape not in ((), (k,)):
        raise DataError("frequency must be a number from 0 to 1, or one such number per value.")
    if array.shape and abs(float(array.sum()) - 1) > 1e-6:
        raise DataError("frequencies of all values must have the sum 1.")
    return array.astype(float)
