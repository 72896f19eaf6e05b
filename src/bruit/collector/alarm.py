"""Do the reports of a survey follow the law of their plan? An exact test, whatever the people truly answered.

Each report supports a value with a probability that lies between two fractions of the law, for every sender. So the
number of reports that support it lies between two binomial variables, and a number far outside both is evidence that
reports were not drawn as the page draws them. ``alarm.proof.md`` has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.collection import Plan
from bruit.estimation import Tally

__all__ = ["FALSE_ALARMS", "Deviation", "deviations", "is_tested", "largest_shift"]

#: How often one look at results of honest reports gives any alarm, at most.
FALSE_ALARMS = 1e-6
#: What floats may lose in a probability or a tail; thresholds are stricter by as much.
_SLACK = 1e-9


class Deviation(NamedTuple):
    """A count that honest reports practically never have.

    Attributes
    ----------
    attribute, label
        What was counted: reports that support a value; with no label, reports on the attribute.
    number, reports
        The count, and of how many reports.
    low, high
        How many honest reports could give at least and at most on average, whatever people answered.
    """

    attribute: str
    label: str
    number: int
    reports: int
    low: float
    high: float


class _Span(NamedTuple):
    """Counts of one attribute, of how many reports, and between which chances each count lies."""

    attribute: str
    labels: Sequence[str]
    counts: NDArray[np.int64]
    reports: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def deviations(plan: Plan, tallies: Sequence[Tally], false_alarms: float = FALSE_ALARMS) -> list[Deviation]:
    """The counts that do not follow the law; all of them are chance with at most this probability.

    Parameters
    ----------
    plan
        The plan that made the tallies.
    tallies
        What one look shows: the tally of each round.
    false_alarms
        How often honest reports may raise any alarm.

    Examples
    --------
    >>> plan = Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> deviations(plan, [plan.simulate([0, 500], rng=1)])
    []
    >>> forged = plan.tally({"smokes": [1] * 500})
    >>> [(deviation.label, deviation.number) for deviation in deviations(plan, [forged])]
    [('no', 0), ('yes', 500)]
    """
    spans = [span for tally in tallies for span in _spans(plan, tally) if span.reports]
    tests = 2 * sum(span.counts.size for span in spans)
    return [deviation for span in spans for deviation in _outside(span, false_alarms * (1 - _SLACK) / tests)]


def _outside(span: _Span, tail: float) -> Iterator[Deviation]:
    from scipy.special import bdtr, bdtrc

    low, high = np.clip(span.low - _SLACK, 0, 1), np.clip(span.high + _SLACK, 0, 1)
    # P(at most this count) is largest at the lowest chance, P(at least this count) at the highest.
    few = bdtr(span.counts.astype(float), span.reports, low) < tail
    many = np.where(span.counts > 0, bdtrc(span.counts - 1.0, span.reports, high), 1.0) < tail
    for place in np.flatnonzero(few | many).tolist():
        yield Deviation(
            span.attribute,
            span.labels[place],
            int(span.counts[place]),
            span.reports,
            float(span.low[place] * span.reports),
            float(span.high[place] * span.reports),
        )


def _spans(plan: Plan, tally: Tally) -> Iterator[_Span]:
    """What is tested of a tally: the supports of every attribute, and how often each attribute was drawn."""
    if not is_tested(plan):
        return
    if plan.design.draws is not None and not plan.design.needs_list:  # what is assigned is not drawn
        weights = np.array(plan.design.draws, float)
        chances = weights / weights.sum()
        for (name, reports), chance in zip(_reported(plan, tally), chances.tolist(), strict=True):
            yield _Span(name, [""], np.array([reports]), tally.n, np.array([chance]), np.array([chance]))
    for name, reports in _reported(plan, tally):
        mechanism: Any = plan.mechanisms[name]
        part = Tally(design=mechanism.digest, counts=tally.counts[plan.design.places[name]], n=reports)
        if mechanism.gives == "mean":
            chances = mechanism.probabilities()
            labels = [""] * part.counts.size
            yield _Span(name, labels, part.counts, reports, chances.min(axis=0), chances.max(axis=0))
        elif hasattr(mechanism, "support"):
            names = list(plan.design.question(name).values)
            ends = [np.full(len(names), float(chance)) for chance in (mechanism.q, mechanism.p)]
            yield _Span(name, names, mechanism.support(part), reports, *ends)


def is_tested(plan: Plan) -> bool:
    """Whether there is a test; fakes hide which reports are true, so that plans with them have none."""
    return plan.design.is_tested


def _reported(plan: Plan, tally: Tally) -> list[tuple[str, int]]:
    return [(name, plan.design.reported_on(name, tally)) for name in plan.design.parts]


def largest_shift(plan: Plan, name: str) -> float:
    """By how much a forged report can shift an estimate, times the number of reports on the attribute.

    If m of n reports are forged, then a share, or a mean, is off by at most m/n times this: whatever they say, and
    compared with any other m reports or with none. Of frequencies it is 1/(p − q).

    >>> round(largest_shift(Plan({"smokes": ["no", "yes"]}, epsilon=1.0), "smokes"), 3)
    2.164
    """
    mechanism: Any = plan.mechanisms[name]
    if mechanism.gives == "mean":
        return float(np.ptp(mechanism.message_scores))
    if hasattr(mechanism, "support"):
        return float(1 / (mechanism.p - mechanism.q))
    messages = np.arange(len(mechanism.matrix()[0]))
    return float(np.ptp(mechanism.scores(messages.astype(mechanism.form.dtype)), axis=0).max())
