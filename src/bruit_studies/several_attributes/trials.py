"""The trials of the study of several attributes: one collection by every method, and what each plan guarantees."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit_studies import StudyResults, Summary

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.domains import Schema

Row = dict[str, Any]
Counts = dict[str, NDArray[np.int64]]

#: The tables, and how they are called in print.
DATA = {"nursery": "Nursery", "adult": "Adult", "acs_employment": "ACSEmployment"}
METHODS = (
    "SPL[ADP]",
    "SMP[ADP]",
    "RS+FD[GRR]",
    "RS+FD[SUE-z]",
    "RS+FD[OUE-z]",
    "RS+FD[ADP]",
    "RS+RFD[GRR]",
    "RS+RFD[ADP]",
)
#: ε' = ln(d(e^ε − 1) + 1) and ADP as in the papers, or ε for a person and ADP by the mean variance over all values.
CALIBRATIONS = ("published", "person")
EPSILONS: tuple[float, ...] = tuple(math.log(ratio) for ratio in range(2, 8))
#: What a curator's noisy counts, from which the prior of RS+RFD is made, cost in all (add or remove one record).
PRIOR_EPSILON = 0.1
#: Mean squared errors on Nursery for ε = ln 2 … ln 7, read off the figure of Arcolezi et al. (CIKM 2021).
NURSERY: dict[str, tuple[float, ...]] = {
    "RS+FD[GRR]": (2.488e-3, 1.725e-3, 1.516e-3, 1.481e-3, 1.473e-3, 1.450e-3),
    "RS+FD[OUE-z]": (2.319e-3, 1.275e-3, 9.58e-4, 7.54e-4, 6.43e-4, 6.21e-4),
    "RS+FD[ADP]": (2.445e-3, 1.297e-3, 9.02e-4, 7.44e-4, 6.75e-4, 5.78e-4),
    "SPL[ADP]": (2.604e-2, 1.097e-2, 7.18e-3, 5.53e-3, 4.34e-3, 3.67e-3),
    "SMP[ADP]": (2.746e-3, 9.94e-4, 6.21e-4, 4.77e-4, 3.77e-4, 3.24e-4),
}
#: How many runs the published figures are the mean of.
PUBLISHED_RUNS = 100


def trial(*, part: str, data: str, calibration: str, epsilon: float, rng: Entropy) -> list[Row]:
    """One row per method: the error of one collection, or (exact) what the plan guarantees and its variance."""
    measure = _error if part == "error" else _exact
    plans = {method: _plan(data, calibration, epsilon, method) for method in METHODS if "RFD" not in method}
    # What is exact draws nothing: its prior is the same at every ε.
    prior = _prior(data, rng if part == "error" else Entropy(1))
    plans |= {method: _make(data, calibration, epsilon, method, prior) for method in METHODS if "RFD" in method}
    return [{"method": method, **measure(plans[method], data, rng)} for method in METHODS]


@cache
def people(data: str) -> tuple[Schema, Counts]:
    """The discrete attributes of a table on their declared domains, and how many people have each value."""
    from bruit import datasets
    from bruit.domains import Categories, Schema

    table = datasets.load(data)
    codes = table.schema.encode(table)
    # Of Adult the categorical columns, as in the paper; a year of age in ACSEmployment is a category there.
    kept = {n: a.size for n, a in table.schema.items() if data != "adult" or isinstance(a.domain, Categories)}
    schema = Schema({name: Categories(k=size) for name, size in kept.items()})
    return schema, {name: np.bincount(codes[name], minlength=size) for name, size in kept.items()}


def _make(data: str, calibration: str, epsilon: float, method: str, prior: dict[str, Any] | None = None) -> Plan:
    from bruit.collection import Method, Plan

    schema, _ = people(data)
    published = calibration == "published"
    return Plan(schema, epsilon, Method.named(method, prior=prior, published=published))


_plan = cache(_make)


def _prior(data: str, rng: Entropy) -> dict[str, Any]:
    """What a curator's counts with two-sided geometric noise say, put on the simplex with a little of every value."""
    from bruit.collection.prior import never_zero

    _, counts = people(data)
    generator, stop = rng.generator(), -math.expm1(-PRIOR_EPSILON / len(counts))
    noisy = {n: c + generator.geometric(stop, c.size) - generator.geometric(stop, c.size) for n, c in counts.items()}
    return {name: never_zero(counts / max(counts.sum(), 1), 0.01) for name, counts in noisy.items()}


def _error(plan: Plan, data: str, rng: Entropy) -> Row:
    """The squared error, mean over the values of an attribute and then over attributes.

    ``mse`` is that of the papers: clipped at 0 and rescaled to the sum 1. ``raw`` is that of the unbiased estimates.
    """
    _, counts = people(data)
    answers = plan.estimate(plan.simulate(counts, rng=rng), target="people")
    clipped, raw = [], []
    for name, count in counts.items():
        truth = count / count.sum()
        clipped.append(((answers[name].consistent("norm-mul").frequency - truth) ** 2).mean())
        raw.append(((answers[name].frequency - truth) ** 2).mean())
    return {"mse": float(np.mean(clipped)), "raw": float(np.mean(raw))}


def _exact(plan: Plan, data: str, rng: Entropy) -> Row:
    """Both guarantees, and the variance for these people, averaged as the error is."""
    del rng
    _, counts = people(data)
    n = int(next(iter(counts.values())).sum())
    variance = plan.variance(n, {name: count / n for name, count in counts.items()}, "people")
    return {
        "person": plan.guarantee.epsilon,
        "attribute": plan.guarantees["attribute"].epsilon,
        "variance": float(np.mean([attribute.mean() for attribute in variance.values()])),
    }


# What judges and figures ask of the results.


def name(epsilon: float) -> str:
    """``"ln 3"``, as the documents write it."""
    return f"ln {round(math.exp(epsilon))}"


def cells(results: StudyResults, metric: str = "mse", **where: Any) -> dict[tuple[str, str, float], dict[str, Summary]]:
    """Summaries by method, for each table, calibration and ε.

    The relative dispersion of a run hardly depends on ε: it is pooled over ε, so that few runs give a fair error.
    """
    rows = results.where(part="error", **where)
    summaries: dict[tuple[str, str, float], dict[str, Summary]] = {}
    for (data, calibration, method), part in rows.by("data", "calibration", "method"):
        own = {epsilon: rows.summary(metric) for epsilon, rows in part.by("epsilon")}
        relative = math.sqrt(np.mean([(summary.sd / summary.mean) ** 2 for summary in own.values()]))
        for epsilon, summary in own.items():
            pooled = replace(summary, error=relative * summary.mean / summary.count**0.5)
            summaries.setdefault((data, calibration, epsilon), {})[method] = pooled
    return summaries


def beyond(first: Summary, second: Summary) -> float:
    """By how many standard errors the first mean is above the second."""
    return (first.mean - second.mean) / math.hypot(first.error, second.error)


def span(values: Any, form: str = ".2g") -> str:
    """The least and the greatest of some numbers.

    >>> span([3.0, 1.0, 2.0])
    '1 to 3'
    """
    numbers = np.asarray(list(values), float)
    return f"{numbers.min():{form}} to {numbers.max():{form}}"
