"""What reports say of an answer: how likely each is under each answer, and unbiased scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.analysis.fitting import least_scores
from bruit.analysis.predictors import read_columns
from bruit.collection import Plan, files
from bruit.domains import Categories
from bruit.engines import report_parsing
from bruit.engines import reports as reading
from bruit.engines.report_parsing import together
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
    public
        What these people sent in clear beside their reports, by name.
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
    public: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def from_baseline(self, baseline: Any) -> Channel:
        """The same with one answer first: the one that the others are compared with."""
        first = 0 if baseline is None else _place(self.labels, baseline)
        order = [first, *(place for place in range(len(self.labels)) if place != first)]
        return replace(
            self,
            labels=tuple(self.labels[place] for place in order),
            likelihood=self.likelihood[:, order],
            scores=self.scores[:, order],
            law=None if self.law is None else self.law[order],
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


def through(randomizer: Any, reports: Any, answer: str | None = None, *, aligned: bool = True) -> Channel:
    """The reports that a plan or mechanism made, on one of its answers; `aligned` with the rows of another table."""
    if isinstance(randomizer, LocalMechanism):
        plan = Plan({answer or "answer": randomizer})
        reports = {next(iter(plan.schema)): reports}
    elif isinstance(randomizer, Plan):
        plan = randomizer
    else:
        raise ParameterTypeError("The first argument must be the plan or mechanism that made the reports, or None.")
    return _of_plan(plan, reports, answer, aligned)


class _Rows(NamedTuple):
    """Reports in their form, the places of their people among all rows, and how many rows there are."""

    reports: dict[str, NDArray[Any]]
    places: NDArray[np.int64]
    total: int


def _aligned(plan: Plan, source: Any) -> _Rows:
    """Reports of which row i belongs to row i of another table: who sent none is left out by name of the row."""
    columns = source if isinstance(source, Mapping) else read_columns(source, list(plan.form))
    parsed = {column: report_parsing.parse(form, columns[column]) for column, form in plan.form.items()}
    total = len(next(iter(parsed.values())).reports)
    readable = np.ones(total, np.bool_)
    for column in parsed.values():
        readable &= True if column.readable is None else column.readable
    return _Rows(together(parsed).reports, np.flatnonzero(readable), total)


def _alone(plan: Plan, source: Any) -> _Rows:
    """Reports that anybody may have made, with what they send in clear; rows that are none leave no trace."""
    _, pieces = reading.pieces(source, plan.form)
    parts = list(pieces)
    kept = {name: np.concatenate([part.reports[name] for part in parts]) for name in plan.form}
    n = len(next(iter(kept.values())))
    return _Rows(kept, np.arange(n), n + sum(part.refused for part in parts))


def _of_plan(plan: Plan, source: Any, answer: str | None, aligned: bool) -> Channel:
    name = _answer_name(plan, answer)
    mechanism = plan.mechanisms[name]
    _check_answers(mechanism.size)
    stated = files.stated_simulated(plan, source)
    kept, places, total = (_aligned if aligned else _alone)(plan, source)
    fine = plan.valid(kept)
    rows, kept = places[fine], {column: values[fine] for column, values in kept.items()}
    people = next(part.people for part in plan.design.by_attribute(kept) if part.name == name)
    clear = {column: attribute.values(kept[column][people]) for column, attribute in plan.public.items()}
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
        mechanism=str(plan.method) if len(plan.schema) > 1 else mechanism.name,
        guarantee=plan.guarantee,
        simulated=stated,
        public=clear,
    )


def _scores(likelihood: Floats, law: Floats) -> Floats:
    """Unbiased scores of least variance; the likelihood of a report is A_y up to a factor, which A_y/d_y is free of."""
    weights = len(law) * likelihood / likelihood.sum(axis=1, keepdims=True)
    return np.asarray(weights @ least_scores(law))


def _answer_name(plan: Plan, answer: str | None) -> str:
    if plan.design.hides:
        raise ParameterError(
            f"{plan.method.kind} hides which report is true, so that a regression would mix true reports with fakes: "
            'collect with "SMP[ADP]" or "SPL[ADP]".'
        )
    if answer is None:
        if len(plan.schema) > 1:
            raise ParameterError(f"answer must name one of {', '.join(map(repr, plan.schema))}.")
        return next(iter(plan.schema))
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
