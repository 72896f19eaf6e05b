"""What was learnt of one attribute, as a table for a person and as a document for a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bruit.cli import console
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.estimation import Estimate, NumberEstimate
    from bruit.estimation.distribution import DistributionEstimate
    from bruit.estimation.support import IntervalMethod

#: The quantiles of a number that are shown.
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
#: How many times a distribution is fitted again for the intervals of its quantiles: few, to answer in seconds.
REFITS = 20
#: A fit of more steps times cells than this would take more than a few seconds to repeat: no intervals then.
MOST_WORK = 16_000_000


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The options that say how an answer is shown."""

    level: float
    interval: IntervalMethod
    simultaneous: bool
    consistent: str | None
    rows: int
    seed: int | None

    def of(self, answer: Any) -> Frequencies | Number:
        """One attribute's answer as it will be shown; all that may fail has happened then."""
        from bruit.estimation import Estimate

        return Frequencies(answer, self) if isinstance(answer, Estimate) else Number(answer, self)


class Frequencies:
    """Frequencies of categories, with intervals."""

    def __init__(self, answer: Estimate, wanted: Wanted) -> None:
        self.answer, self.wanted = answer, wanted
        made = wanted.consistent
        self.extra = None if made is None else answer.consistent(made).frequency  # type: ignore[arg-type]
        self.ends = answer.interval(wanted.level, wanted.interval, simultaneous=wanted.simultaneous)

    def document(self) -> dict[str, Any]:
        """Plain values."""
        body = self.answer.to_dict(self.wanted.level)
        for place, row in enumerate(body["values"]):
            row["lower"], row["upper"] = map(float, self.ends[place])
            if self.extra is not None:
                row["consistent"] = float(self.extra[place])
        return {**body, "consistent": self.wanted.consistent}

    def tell(self) -> None:
        """A table of the most frequent values."""
        answer, wanted, screen = self.answer, self.wanted, console.out()
        more = [wanted.consistent] if wanted.consistent else []
        made = console.table(console.shown(answer.name), "frequency", f"{wanted.level:g} interval", *more)
        shown = answer.top(wanted.rows or len(answer.labels))
        for place in shown:
            cells = [
                console.shown(_label(answer.labels[place])),
                f"{answer.frequency[place]:.4f}",
                f"{self.ends[place, 0]:.4f} … {self.ends[place, 1]:.4f}",
            ]
            made.add_row(*cells, *([] if self.extra is None else [f"{self.extra[place]:.4f}"]))
        screen.print(made)
        hidden = len(answer.labels) - len(shown)
        if hidden:
            screen.print(f"and {hidden:,} less frequent values (--rows 0 shows all)", style="dim")


class Number:
    """The mean of a number with its interval, and quantiles where the reports tell them."""

    def __init__(self, answer: NumberEstimate, wanted: Wanted) -> None:
        if wanted.consistent is not None:
            raise ParameterError(f"--consistent is for frequencies, and {answer.name!r} is a number: leave it out.")
        self.answer, self.wanted = answer, wanted
        self.ends = answer.interval(wanted.level)
        self.shape = _distribution(answer)
        self.spread = None if self.shape is None else _spread(self.shape, wanted)

    def document(self) -> dict[str, Any]:
        """Plain values; `quantiles` is null where the reports tell the mean only."""
        body = self.answer.to_dict(self.wanted.level)
        if self.shape is None:
            return {**body, "quantiles": None}
        ends = [(None, None)] * len(SHARES) if self.spread is None else self.spread.tolist()
        rows = [
            {"share": share, "value": value, "lower": lower, "upper": upper}
            for share, value, (lower, upper) in zip(SHARES, self._quantiles(), ends, strict=True)
        ]
        fitted = {"method": self.shape.rule.method, "steps": self.shape.steps, "refits": REFITS, "approximate": True}
        return {**body, "quantiles": rows, "fit": fitted}

    def tell(self) -> None:
        """The mean, and below it the quantiles."""
        name, screen = console.shown(self.answer.name), console.out()
        made = console.table(name, "estimate", f"{self.wanted.level:g} interval")
        made.add_row("mean", _figure(self.answer.mean), _range(self.ends))
        for place, value in enumerate(self._quantiles()):
            ends = "" if self.spread is None else _range(self.spread[place])
            made.add_row(f"{SHARES[place]:.0%} below", _figure(value), ends)
        screen.print(made)
        screen.print(self._remark(), style="dim")

    def _quantiles(self) -> list[float]:
        found: list[float] = [] if self.shape is None else self.shape.quantile(SHARES).tolist()
        return found

    def _remark(self) -> str:
        if self.shape is None:
            return "These reports tell the mean. For quantiles, ask with --method square-wave."
        if self.spread is None:
            return "Quantiles are approximate; their intervals would take long: see DistributionEstimate.bootstrap."
        return f"Quantiles and their intervals are approximate ({self.shape.rule.method}, {REFITS} refits)."


def _distribution(answer: NumberEstimate) -> DistributionEstimate | None:
    """The fitted distribution, or None where the mechanism is not made for one.

    Two messages tell a mean only. Through noise that only falls off with distance, smoothing shifts the outer quantiles
    by more than any refit shows: those intervals would be too short.
    """
    from bruit.estimation.fitting import DenseChannel

    try:
        found = answer.distribution()
    except ParameterError:
        return None
    return None if isinstance(found.channel, DenseChannel) else found


def _spread(shape: DistributionEstimate, wanted: Wanted) -> Any:
    """Lower and upper ends of the quantiles, or None where refitting would take long."""
    if shape.steps * (shape.points.size + shape.counts.size) > MOST_WORK:
        return None
    return shape.bootstrap(REFITS, rng=wanted.seed).quantile(SHARES, wanted.level)


def _label(label: Any) -> Any:
    """The cell of a number as a person would write it."""
    return _spelt(label) if isinstance(label, float) else label


def _figure(value: float) -> str:
    return _spelt(float(f"{value:.5g}"))


def _spelt(value: float) -> str:
    from bruit.domains.categories import spelling

    return spelling(value)


def _range(ends: Any) -> str:
    return f"{_figure(ends[0])} … {_figure(ends[1])}"
