"""What was learnt: frequencies with their variance and intervals."""

from __future__ import annotations

import html
import importlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.errors import DataError, MissingExtraError, ParameterError, translated
from bruit.estimation import consistency, frames
from bruit.estimation.support import IntervalMethod, Model, Target
from bruit.privacy.guarantee import Guarantee

Floats = NDArray[np.float64]

#: How many rows a printed estimate shows.
SHOWN_ROWS = 12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate:
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
            raise DataError("There is no valid report to estimate from.")

    @cached_property
    def frequency(self) -> Floats:
        """Unbiased frequencies, one per value."""
        return _read_only(self.model.frequency())

    @cached_property
    def variance(self) -> Floats:
        """The variance of each frequency: the exact formula, at the estimated frequency."""
        return _read_only(self.model.variance(self.frequency, self.target))

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return np.sqrt(np.maximum(self.variance, 0.0))

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
        each = 1 - (1 - level) / len(self.labels) if simultaneous else level
        ends = np.column_stack(self.model.interval(each, method, self.target))
        return np.clip(ends, 0.0, 1.0) if clip else ends

    def covariance(self) -> Floats:
        """The matrix of covariances, at the estimated frequencies; made only when asked."""
        return self.model.covariance(self.frequency, self.target)

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

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        """The estimate as named columns: value, frequency, standard_error, lower, upper."""
        ends = self.interval(level)
        return {
            self.name: list(self.labels),
            "frequency": self.frequency,
            "standard_error": self.standard_error,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
        }

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A data frame, one row per value: pandas, polars or pyarrow, the first that is installed unless named."""
        return frames.make(self.columns(level), backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Plain values, for documents and programs."""
        columns = self.columns(level)
        keys = [key for key in columns if key != self.name]
        rows = [
            {"label": label, **{key: float(columns[key][place]) for key in keys}}
            for place, label in enumerate(self.labels)
        ]
        return {
            "name": self.name,
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.to_dict(),
            "n": self.n,
            "refused": self.refused,
            "simulated": self.simulated,
            "target": self.target,
            "level": level,
            "values": rows,
        }

    def to_json(self, level: float = 0.95) -> str:
        """The estimate as a document of format ``bruit.estimate/1``."""
        return documents.seal("bruit.estimate/1", self.to_dict(level), indent=2)

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

    def _title(self) -> str:
        notes = [f"{self.n:,} reports", self.mechanism, str(self.guarantee), f"target: {self.target}"]
        notes += [f"{self.refused:,} refused"] if self.refused else []
        notes += ["simulated"] if self.simulated else []
        return " · ".join(notes)

    def _rows(self) -> list[tuple[str, str, str]]:
        ends = self.interval()
        return [
            (str(self.labels[i]), f"{self.frequency[i]:.4f}", f"{ends[i, 0]:.4f} … {ends[i, 1]:.4f}")
            for i in self.top(SHOWN_ROWS)
        ]

    def _more(self) -> str:
        hidden = len(self.labels) - SHOWN_ROWS
        return f"and {hidden:,} less frequent values" if hidden > 0 else ""

    def __repr__(self) -> str:
        rows = [(self.name, "frequency", "95 % interval"), *self._rows()]
        widths = [min(30, max(len(row[i]) for row in rows)) for i in range(3)]
        lines = [
            f"{name[: widths[0]]:<{widths[0]}}  {frequency:>{widths[1]}}  {ends:>{widths[2]}}"
            for name, frequency, ends in rows
        ]
        return "\n".join([f"Estimate: {self._title()}", *lines, *filter(None, [self._more()])])

    def _repr_html_(self) -> str:
        heading = "".join(f"<th>{html.escape(text)}</th>" for text in (self.name, "frequency", "95 % interval"))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        caption = html.escape(" · ".join(filter(None, [self._title(), self._more()])))
        return f"<table><caption>{caption}</caption><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True, eq=False)
class Consistent:
    """Frequencies after a consistency step: to show, not to infer from; they carry no variance."""

    method: str
    frequency: Floats
    labels: tuple[Any, ...]

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with columns value and frequency."""
        return frames.make({"value": list(self.labels), "frequency": self.frequency}, backend)

    def __getitem__(self, label: Any) -> float:
        with translated(ValueError, lambda _: ParameterError("This is not one of the declared labels.")):
            return float(self.frequency[self.labels.index(label)])


def _read_only(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
