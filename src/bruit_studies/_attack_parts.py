"""What the studies of attacks share: the people of ACSEmployment, priors as the paper has them, published rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit_studies import Curve, StudyResults

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.domains import Schema

Floats = NDArray[np.float64]

EPSILONS = tuple(float(epsilon) for epsilon in range(1, 11))
#: Per cent of people whose sampled attribute XGBoost finds at ε = 1 … 10, by method and synthetic profiles per person;
#: read off the vector figures of Arcolezi, Gambs, Couchot, Palamidessi (PVLDB 2023); ACSEmployment, 20 runs.
PUBLISHED: dict[tuple[str, int], tuple[float, ...]] = {
    ("RS+FD[GRR]", 1): (19.05, 22.18, 22.91, 23.32, 23.30, 23.41, 23.51, 23.47, 23.43, 23.38),
    ("RS+FD[GRR]", 5): (20.23, 22.90, 23.86, 24.28, 24.32, 24.38, 24.37, 24.39, 24.55, 24.45),
    ("RS+FD[SUE-z]", 5): (26.18, 40.89, 54.05, 65.56, 75.40, 82.75, 88.21, 92.07, 94.60, 96.42),
    ("RS+RFD[GRR]", 1): (4.91, 5.48, 5.63, 5.68, 5.64, 5.64, 5.67, 5.61, 5.65, 5.74),
}
#: The attributes of Adult that the paper on risks takes.
ADULT = (
    "age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country",
    "income",
)  # fmt: skip
#: How near a rate must come to a published one, in points, and after how many runs that is judged.
NEAR, ENOUGH = 1.5, 5
#: What the paper spends on the prior of RS+RFD, for all attributes together.
PRIOR_EPSILON = 0.1


@dataclass(frozen=True, eq=False)
class AttackedTable:
    """A table, its attributes, and how many people have each value."""

    schema: Schema
    table: Mapping[str, NDArray[Any]]
    counts: Mapping[str, NDArray[np.int64]]

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(next(iter(self.table.values())))

    @property
    def frequencies(self) -> dict[str, Floats]:
        """The share of each value, by attribute."""
        return {name: counts / self.n for name, counts in self.counts.items()}

    def some(self, n: float, generator: np.random.Generator) -> AttackedTable:
        """A random sample of n people; all of them for 0."""
        if not 0 < n < self.n:
            return self
        chosen = generator.permutation(self.n)[: int(n)]
        return people_of(self.schema, {name: column[chosen] for name, column in self.table.items()})


def people_of(schema: Schema, table: Mapping[str, NDArray[Any]]) -> AttackedTable:
    """A table with its counts."""
    codes = schema.encode(table)
    counts = {name: np.bincount(codes[name], minlength=attribute.size) for name, attribute in schema.items()}
    return AttackedTable(schema, table, counts)


@cache
def acs() -> AttackedTable:
    """ACSEmployment, Montana, with the values that occur in the file as domains: that is what the paper did."""
    from bruit import datasets
    from bruit.domains import Schema

    table = dict(datasets.load("acs_employment"))
    return people_of(Schema({name: sorted(set(column.tolist())) for name, column in table.items()}), table)


@cache
def people(table: str) -> AttackedTable:
    """Everybody of a table, once per process."""
    from bruit import datasets
    from bruit.domains import Schema

    if table == "acs":
        return acs()
    data = datasets.load(table)
    names = ADULT if table == "adult" else data.columns
    schema = Schema({name: data.schema[name].domain for name in names})
    return people_of(schema, {name: data[name] for name in names})


def replayed(plan: Plan, people: AttackedTable, seed: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """Reports, and the number of the attribute that was sampled for each person.

    The reports are those on which ``sampled_attribute(plan, people.table, rng=seed)`` counts.
    """
    from bruit.attacks.sampled_attribute import replay, with_fakes, words_of

    reports, sampled = replay(with_fakes(plan), plan.encode(people.table), words_of(plan, seed).reports)
    return dict(reports), sampled


def noisy_prior(people: AttackedTable, generator: np.random.Generator) -> dict[str, Floats]:
    """What the paper calls a correct prior: true counts with Laplace noise at ε = 0.1 in all, at least 1 each."""
    scale = len(people.schema) / PRIOR_EPSILON
    prior = {}
    for name, counts in people.counts.items():
        noisy = np.maximum(counts + generator.laplace(0, scale, counts.size), 1)
        prior[name] = noisy / noisy.sum()
    return prior


def mean_variance(plan: Plan, people: AttackedTable) -> float:
    """The exact variance of an estimated frequency, the mean over an attribute's values and then over attributes."""
    variances = plan.variance(people.n, people.frequencies, "people")
    return float(np.mean([variance.mean() for variance in variances.values()]))


def epsilon_for(variance: float, people: AttackedTable) -> float:
    """The ε at which SMP[GRR] has this variance, by halving an interval."""
    from bruit.collection import Plan

    low, high = 0.01, 20.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        if mean_variance(Plan(people.schema, middle, "SMP[GRR]"), people) > variance:
            low = middle
        else:
            high = middle
    return high


def percent(right: NDArray[np.bool_]) -> float:
    """The share of true entries, in per cent."""
    return 100 * float(np.mean(right))


def error(rows: StudyResults, metric: str = "rate") -> float:
    """The standard error of a mean rate, in points: by the dispersion of runs, and no less than by tossing coins.

    The second, a coin for each person in each run, serves where there is one run only.
    """
    share = float(np.clip(rows.mean(metric) / 100, 1e-6, 1 - 1e-6))
    coins = 100 * math.sqrt(share * (1 - share) / (rows.mean("n") * len(rows)))
    return float(np.nanmax([coins, rows.summary(metric).error]))


def curve(rows: StudyResults) -> Curve:
    """Mean rates against ε with 95 % bands at every ε, also where there is one run.

    A standard error is that of tossing coins, and no less than the dispersion of a run gives, which is pooled over
    those ε that have several.
    """
    means = rows.curve("rate", "epsilon")
    several = means.count > 1
    pooled = math.sqrt(float(np.mean(means.sd[several] ** 2))) if several.any() else 0.0
    people = np.array([part.mean("n") for _, part in sorted(rows.by("epsilon"), key=lambda item: item[0])])
    share = np.clip(means.mean / 100, 1e-6, 1 - 1e-6)
    coins = 100 * np.sqrt(share * (1 - share) / (people * means.count))
    error = np.maximum(coins, pooled / np.sqrt(means.count))
    return replace(means, error=error, low=means.mean - 1.96 * error, high=means.mean + 1.96 * error)


def runs_of(rows: StudyResults) -> str:
    """How many runs each ε has, in words for a caption."""
    counts = rows.curve("rate", "epsilon").count.astype(int).tolist()
    return f"{min(counts)} to {max(counts)} runs" if min(counts) < max(counts) else f"{counts[0]} runs"


def published(method: str, synthetic: int, epsilon: float) -> float:
    """A published rate, in per cent."""
    return PUBLISHED[method, synthetic][EPSILONS.index(epsilon)]


def shown(results: StudyResults) -> list[float]:
    """The ε that tables show, of those that were tried."""
    return [epsilon for epsilon in (1.0, 2.0, 5.0, 10.0) if epsilon in results.values("epsilon")]


def rates(rows: StudyResults, epsilons: list[float]) -> list[str]:
    """Mean rates at these ε, for a table; a dash where there is none."""
    means = {epsilon: part.mean("rate") for epsilon, part in rows.by("epsilon")}
    return [f"{means[epsilon]:.2f}" if epsilon in means else "–" for epsilon in epsilons]


def apart(first: StudyResults, second: StudyResults, metric: str = "ten") -> float:
    """By how many standard errors the first mean rate is above the second."""
    difference = first.mean(metric) - second.mean(metric)
    return difference / math.hypot(error(first, metric), error(second, metric))
