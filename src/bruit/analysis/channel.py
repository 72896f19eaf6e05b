"""What reports say of an answer: how likely each is under each answer, and unbiased scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.analysis.fitting import least_scores
from bruit.analysis.predictors import read_columns
from bruit.collection import Plan, files
from bruit.domains import Categories
from bruit.engines.form import together
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.mechanism import LocalMechanism
from bruit.privacy import Guarantee

Floats: TypeAlias = NDArray[np.float64]

#: The most answers of a regression: it has a set of coefficients for each but one.
MOST_ANSWERS = 32
#: Up to how many answers the exact law is written down, for the expected information.
MOST_IN_A_LAW = 10


@dataclass(frozen=True, eq=False)
class Channel:
    """The reports on one answer, seen through their law.

    Parameters
    ----------
    name
        The answer's column.
    labels
        The answers.
    people
        The rows, among all, of those whose report is valid.
    likelihood
        How likely each report is under each answer, up to a factor of its row.
    scores
        Numbers whose mean, given the answer, is 1 in its column and 0 in the others.
    law
        P(message | answer), a row per answer; None where it is too large to write down.
    total, refused
        How many rows there are, and how many of them are no reports.
    mechanism, guarantee, simulated
        Where the reports come from; no guarantee for answers in clear.
    """

    name: str
    labels: tuple[Any, ...]
    people: NDArray[np.int64]
    likelihood: Floats
    scores: Floats
    law: Floats | None
    total: int
    refused: int
    mechanism: str
    guarantee: Guarantee | None
    simulated: bool

    def from_baseline(self, baseline: Any) -> Channel:
        """The same with one answer first: the one that the others are compared with."""
        first = 0 if baseline is None else _place(self.labels, baseline)
        order = [first, *(place for place in range(len(self.labels)) if place != first)]
        return Channel(
            self.name,
            tuple(self.labels[place] for place in order),
            self.people,
            self.likelihood[:, order],
            self.scores[:, order],
            None if self.law is None else self.law[order],
            self.total,
            self.refused,
            self.mechanism,
            self.guarantee,
            self.simulated,
        )


def _place(labels: tuple[Any, ...], baseline: Any) -> int:
    texts = [str(text) for text in labels]
    if str(baseline) not in texts:
        raise ParameterError(f"baseline must be one of the answers: {', '.join(texts[:8])}.")
    return texts.index(str(baseline))


def in_clear(values: Any, name: str = "answer") -> Channel:
    """Answers as they are: the limit of large ε."""
    texts = np.asarray(values).tolist()
    labels = tuple(sorted(set(texts), key=lambda text: (str(type(text)), text)))
    if len(labels) < 2:
        raise DataError("There must be at least two answers: everybody gave the same.")
    domain = Categories(labels=labels)
    _check_answers(domain.size)
    own = np.eye(domain.size)[domain.encode(texts)]
    people = np.arange(len(own))
    return Channel(name, labels, people, own, own, np.eye(domain.size), len(own), 0, "clear", None, False)


def through(randomizer: Any, reports: Any, answer: str | None = None) -> Channel:
    """The reports that a plan or mechanism made, on one of its answers."""
    if isinstance(randomizer, LocalMechanism):
        plan = Plan({answer or "answer": randomizer})  # type: ignore[arg-type]
        reports = {plan.name: reports}
    elif isinstance(randomizer, Plan):
        plan = randomizer
    else:
        raise ParameterTypeError("The first argument must be the plan or mechanism that made the reports, or None.")
    return _of_plan(plan, reports, answer)


def _of_plan(plan: Plan, source: Any, answer: str | None) -> Channel:
    name = _answer_name(plan, answer)
    mechanism = plan.mechanisms[name]
    _check_answers(mechanism.size)
    stated = files.stated_simulated(plan, source)
    columns = source if isinstance(source, Mapping) else read_columns(source, list(plan.form))
    parsed = {column: form.parse(columns[column]) for column, form in plan.form.items()}
    total = len(next(iter(parsed.values())).reports)
    readable = np.ones(total, np.bool_)
    for column in parsed.values():
        readable &= True if column.readable is None else column.readable
    rows = np.flatnonzero(readable)
    kept = together(parsed).reports
    fine = plan.valid(kept)
    rows, kept = rows[fine], {column: values[fine] for column, values in kept.items()}
    part = next(part for part in plan.design.by_attribute(kept) if part.name == name)
    likelihood, law = mechanism.likelihood(part.reports), _law(mechanism)
    return Channel(
        name=name,
        labels=tuple(plan.schema[name].labels),
        people=rows[part.people],
        likelihood=likelihood,
        scores=mechanism.scores(part.reports) if law is None else _scores(likelihood, law),
        law=law,
        total=total,
        refused=total - len(rows),
        mechanism=plan.method if plan.d > 1 else mechanism.name,
        guarantee=plan.guarantee,
        simulated=stated,
    )


def _scores(likelihood: Floats, law: Floats) -> Floats:
    """Unbiased scores of least variance; the likelihood of a report is A_y up to a factor, which A_y/d_y is free of."""
    weights = len(law) * likelihood / likelihood.sum(axis=1, keepdims=True)
    return np.asarray(weights @ least_scores(law))


def _answer_name(plan: Plan, answer: str | None) -> str:
    if plan.design.hides:
        raise ParameterError(
            f"{plan.kind} hides which report is true, so that a regression would mix true reports with fakes: "
            'collect with "SMP[ADP]" or "SPL[ADP]".'
        )
    if answer is None:
        if plan.d > 1:
            raise ParameterError(f"answer must name one of {', '.join(map(repr, plan.schema))}.")
        return plan.name
    if answer not in plan.schema:
        raise ParameterError(f"answer must name one of {', '.join(map(repr, plan.schema))}.")
    if plan.mechanisms[answer].gives != "frequency":
        raise ParameterError(f"{answer!r} is a number: logistic is for categories. Declare bins.")
    return answer


def _check_answers(size: int) -> None:
    if size > MOST_ANSWERS:
        raise LimitError(f"A regression is for at most {MOST_ANSWERS} answers: group them.")


def _law(mechanism: Any) -> Floats | None:
    """The law without messages that say the same: columns that are multiples of each other become one."""
    if mechanism.size > MOST_IN_A_LAW:
        return None
    try:
        exact = mechanism.matrix()
    except LimitError:
        return None
    merged: dict[tuple[Any, ...], Any] = {}
    for column in zip(*exact, strict=True):
        mass = sum(column)
        if mass:
            shape = tuple(entry / mass for entry in column)
            merged[shape] = merged.get(shape, 0) + mass
    return np.array([[float(entry * mass) for entry in shape] for shape, mass in merged.items()]).T
