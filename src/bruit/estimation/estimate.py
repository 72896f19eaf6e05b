"""What was learnt: frequencies with their variance and intervals."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import DataError, MissingExtraError, ParameterError, translated
from bruit.estimation import consistency
from bruit.estimation.possible import nearest_covariance
from bruit.estimation.support import TARGET_NOTES, IntervalMethod, Model, Target
from bruit.estimation.tally import NO_REPORT
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, counted, decimals, interval_of, label

if TYPE_CHECKING:
    from bruit.estimation.difference import Difference

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate(Tabular):
    """Unbiased frequencies of every value, for the people who answered or the population they come from.

    Nothing is clipped: a frequency may come out negative or above one, and that is what keeps sums and differences
    unbiased. `consistent` gives frequencies to show in a table, as a separate step.

    Parameters
    ----------
    model
        Counts and probabilities behind the estimate.
    n, refused
        How many reports were counted, and how many were refused.
    labels
        One label per value.
    target
        ``"population"``: the variance counts the noise and the drawing of the people. ``"people"``: the noise only.
    guarantee
        What was promised to each person.
    mechanism
        The name of the oracle.
    simulated
        Whether any part of the reports was simulated.

    Examples
    --------
    >>> import bruit
    >>> oracle = bruit.oracle("GRR", epsilon=2.0, labels=["no", "yes"])
    >>> reports = oracle.privatize(["no"] * 700 + ["yes"] * 300, rng=7)
    >>> answer = oracle.estimate(oracle.tally(reports))
    >>> answer.frequency.round(2).tolist()
    [0.71, 0.29]
    >>> answer.interval(level=0.95).round(2).tolist()
    [[0.67, 0.75], [0.25, 0.33]]
    """

    #: Whether the labels stand in an order that tables and figures keep.
    ordered: ClassVar[bool] = False

    model: Model
    n: int
    refused: int
    labels: tuple[Any, ...]
    target: Target
    guarantee: Guarantee
    mechanism: str
    simulated: bool = False
    name: str = field(default="value")

    def __post_init__(self) -> None:
        _checks.one_of(get_args(Target), target=self.target)
        if self.n == 0:
            raise DataError(NO_REPORT)

    @cached_property
    def frequency(self) -> Floats:
        """Unbiased frequencies, one per value."""
        return _read_only(self.model.frequency())

    @cached_property
    def variance(self) -> Floats:
        """The variance of each frequency: the exact formula, at the possible frequency nearest to the estimate."""
        return _read_only(self.model.variance(self.frequency, self.target))

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return np.sqrt(self.variance)

    @property
    def counts(self) -> Floats:
        """The frequencies times n: how many of the people who answered have each value."""
        return self.frequency * self.n

    def interval(
        self, level: float = 0.95, method: IntervalMethod = "wilson", *, simultaneous: bool = False, clip: bool = False
    ) -> Floats:
        """Lower and upper ends, one row per value.

        Parameters
        ----------
        level
            How often the interval should cover the truth.
        method
            ``"wilson"`` (accurate), ``"clopper-pearson"`` (never below its level; population only) or
            ``"wald"`` (a fallback: frequency ± z standard errors).
        simultaneous
            Whether all intervals should cover together, by Bonferroni's inequality.
        clip
            Whether to cut the ends to 0..1, which loses no coverage; off by default: nothing is clipped silently.
        """
        _checks.probability(level=level)
        _checks.one_of(get_args(IntervalMethod), method=method)
        own_level = 1 - (1 - level) / len(self.labels) if simultaneous else level
        ends = np.column_stack(self.model.interval(own_level, method, self.target))
        return np.clip(ends, 0.0, 1.0) if clip else ends

    def __sub__(self, other: object) -> Difference:
        """What this estimate has more than another, of different people, with its uncertainty."""
        from bruit.estimation.difference import subtract

        return subtract(self, other)  # type: ignore[no-any-return] # or NotImplemented, as Python wants it

    def covariance(self) -> Floats:
        """The matrix of covariances, at the nearest possible frequencies; computed only on request."""
        return nearest_covariance(self.model, self.frequency, self.target)

    def consistent(self, method: consistency.Method = "norm-sub", *, level: float = 0.95) -> Consistent:
        """Frequencies that are not negative and, for most methods, have sum one; biased, without variance.

        Parameters
        ----------
        method
            ``"norm-sub"`` (nearest point of the simplex), ``"clip"``, ``"norm"``, ``"norm-cut"``, ``"norm-mul"`` (what
            several libraries do silently), ``"base-cut"`` (drops what could be noise) or ``"em"`` (the most likely
            frequencies).
        level
            For base-cut: how sure to be that no value that nobody has is kept.
        """
        _checks.one_of(get_args(consistency.Method), method=method)
        return Consistent(method=method, frequency=_read_only(self._mend(method, level)), labels=self.labels)

    def _mend(self, method: consistency.Method, level: float) -> Floats:
        raw = self.frequency
        if method == "em":
            return self.model.most_likely()
        if method == "base-cut":
            _checks.probability(level=level)
            return consistency.base_cut(raw, self.model.absent_limit(level))
        steps = {
            "norm-sub": consistency.norm_sub,
            "clip": consistency.clip,
            "norm": consistency.norm,
            "norm-cut": consistency.norm_cut,
            "norm-mul": consistency.norm_mul,
        }
        return steps[method](raw)

    def table(
        self,
        level: float = 0.95,
        method: IntervalMethod = "wilson",
        *,
        simultaneous: bool = False,
        consistent: consistency.Method | None = None,
    ) -> Table:
        """Every value with its frequency and interval: columns label, frequency, standard_error, lower, upper.

        Parameters
        ----------
        level, method, simultaneous
            As for `interval`.
        consistent
            Add a column of frequencies that were made consistent by this method.
        """
        ends = self.interval(level, method, simultaneous=simultaneous)
        columns = [
            Column("label", self.labels, self.name, "label", label),
            Column("frequency", self.frequency, write=decimals(4)),
            Column("standard_error", self.standard_error, hidden=True),
            Column("interval", ends, interval_of(level), write=decimals(4), parts=("lower", "upper")),
        ]
        if consistent is not None:
            columns.append(Column("consistent", self.consistent(consistent).frequency, consistent, write=decimals(4)))
        about = {**source_of(self), "target": self.target, "level": level, "consistent": consistent}
        notes = [f"guarantee: {self.guarantee}", TARGET_NOTES[self.target]]
        return Table(
            title_of("Estimate", self),
            columns,
            notes,
            about,
            noun="value",
            order=np.argsort(-self.frequency, kind="stable").tolist(),
            rest="less frequent",
        )

    def plot(self, truth: Any = None, *, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the frequencies with their intervals, and the true ones if they are known; needs matplotlib."""
        try:
            figures = importlib.import_module("bruit.figures")
        except ImportError as error:
            raise MissingExtraError("plot()", "figures") from error
        return figures.plot_estimate(self, truth=truth, level=level, ax=ax)

    def top(self, rows: int) -> list[int]:
        """The places of the most frequent values: in the declared order if all fit, by frequency if not."""
        if rows >= len(self.labels):
            return list(range(len(self.labels)))
        return np.argsort(-self.frequency, kind="stable")[:rows].tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False, repr=False)
class Consistent(Tabular):
    """Frequencies after a consistency step: to show, not to infer from; they carry no variance."""

    method: str
    frequency: Floats
    labels: tuple[Any, ...]

    def table(self) -> Table:
        """Every value with its frequency: columns label and frequency."""
        columns = [
            Column("label", self.labels, "value", "label", label),
            Column("frequency", self.frequency, write=decimals(4)),
        ]
        return Table(
            f"Frequencies made consistent by {self.method}", columns, about={"method": self.method}, noun="value"
        )

    def __getitem__(self, value: Any) -> float:
        with translated(ValueError, lambda _: ParameterError("This is not one of the declared labels.")):
            return float(self.frequency[self.labels.index(value)])


def title_of(what: str, answer: Any) -> str:
    """What an estimate is of, and how many reports it comes from."""
    name = "" if answer.name == "value" else f" of {answer.name}"
    refused = f", {answer.refused:,} refused" if answer.refused else ""
    simulated = ", simulated" if answer.simulated else ""
    return f"{what}{name} by {answer.mechanism} from {counted(answer.n, 'report')}{refused}{simulated}"


def source_of(answer: Any) -> dict[str, Any]:
    """What every estimate knows of where it comes from, as plain values."""
    return {
        "name": answer.name,
        "mechanism": answer.mechanism,
        "guarantee": answer.guarantee.to_dict(),
        "n": answer.n,
        "refused": answer.refused,
        "simulated": answer.simulated,
    }


def _read_only(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
