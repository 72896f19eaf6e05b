"""Logistic regression within a table: answer and predictors were all randomised, and asked for together.

Let F(g, v) be the share of people with the predictors g and the answer v, as a table of reports estimates it without
bias. Clear data would solve Σ_g z_g (F(g, v) − F(g)·m_v(z_g)) = 0, which needs nothing of the data but the shares; so
the estimated shares are put in their place. The target is that of a regression on clear data, whether the model is
right or not. The equation is concave as long as every group has an estimated size above 0. The covariance follows from
that of the cells: the coefficients are a smooth function of them.

With one predictor of two levels and two answers, the coefficient is the logarithm of the table's ratio of odds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.analysis import fitting
from bruit.analysis.logistic import separated
from bruit.analysis.predictors import MOST_LEVELS, Predictors, predictors
from bruit.analysis.regression import Regression
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError, translated
from bruit.estimation.cross_table import TableEstimate
from bruit.tables import label

Floats: TypeAlias = NDArray[np.float64]


def table_logistic(
    table: TableEstimate, answer: str, *, reference: Mapping[str, Any] | None = None, baseline: Any = None
) -> Regression:
    """Regress one attribute of a table on the others, all of which were randomised.

    Parameters
    ----------
    table
        What a plan estimates by ``answers.table(…)`` (TAB) or ``plan.table(reports, …)`` (SPL).
    answer
        The attribute that is regressed; the others are the predictors, each a category.
    reference
        The level of a predictor that its others are compared with, by name; the first by default.
    baseline
        The answer that the others are compared with; the first by default.

    Returns
    -------
    Regression
        Coefficients with standard errors, intervals and Wald tests, as `logistic` gives them.

    Error
    -----
    The standard errors are of the linear part, for many reports. A group with few people, or a cell near 0, makes them
    large, or the coefficients infinite, which is an error.

    Examples
    --------
    >>> import bruit
    >>> plan = bruit.Plan({"sex": ["F", "M"], "smokes": ["no", "yes"]}, 2.0, "TAB[ADP]")
    >>> people = {"sex": ["F"] * 5000 + ["M"] * 5000, "smokes": (["no"] * 4 + ["yes"]) * 1000 + ["no", "yes"] * 2500}
    >>> table = plan.table(plan.privatize(people, rng=7), "sex", "smokes")
    >>> fit = table_logistic(table, "smokes")
    >>> ratio = table.odds_ratio(smokes=("yes", "no"), sex=("M", "F"))
    >>> abs(fit.coefficient("sex = M") - float(np.log(ratio.value))) < 1e-3
    True
    """
    axis = _axis(table, answer)
    names = [name for name in table.names if name != answer]
    cells = np.moveaxis(table.frequency, axis, -1)
    first = _place(table.axes[axis], baseline)
    order = [first, *(place for place in range(cells.shape[-1]) if place != first)]
    shares = cells.reshape(-1, cells.shape[-1])[:, order]
    groups = _groups(table, axis, names, reference)
    if not (shares.sum(axis=1) > 0).all():
        raise DataError(
            "Some combination of the predictors has an estimated size of 0 or below: merge rare levels, use fewer "
            "predictors, or ask more people."
        )
    with translated(fitting.Unbounded, lambda error: separated(error, groups)):
        best = fitting.by_shares(groups.rows, shares)
    places = np.moveaxis(np.arange(table.frequency.size).reshape(table.shape), axis, -1)
    covariance = table.covariance[np.ix_(*[places.reshape(shares.shape)[:, order].ravel()] * 2)]
    return Regression(
        name=answer,
        terms=groups.terms,
        references=groups.references,
        answers=tuple(table.axes[axis][place] for place in order),
        coefficients=best,
        covariance=fitting.covariance_by_shares(groups.rows, shares, best, covariance),
        method="moments",
        n=table.n,
        refused=table.cells.refused,
        mechanism=table.cells.mechanism,
        guarantee=table.cells.guarantee,
        simulated=table.cells.simulated,
    )


def _axis(table: Any, answer: Any) -> int:
    if not isinstance(table, TableEstimate):
        raise ParameterTypeError('table must be a table that a plan estimates, as in answers.table("sex", "smokes").')
    if answer not in table.names:
        raise ParameterError(f"answer must be an attribute of the table: {', '.join(map(repr, table.names))}.")
    if max(table.shape) > MOST_LEVELS:
        raise LimitError(f"An attribute has more than {MOST_LEVELS} values: regress on fewer, wider ones.")
    return table.names.index(answer)


def _place(labels: tuple[Any, ...], wanted: Any) -> int:
    texts = [label(own) for own in labels]
    if wanted is None:
        return 0
    if label(wanted) not in texts:
        raise ParameterError(f"baseline must be one of the answers: {', '.join(texts[:8])}.")
    return texts.index(label(wanted))


def _groups(table: TableEstimate, axis: int, names: list[str], reference: Mapping[str, Any] | None) -> Predictors:
    """The terms of every combination of the predictors, in the order of the cells."""
    axes = [labels for place, labels in enumerate(table.axes) if place != axis]
    grid = np.indices([len(labels) for labels in axes]).reshape(len(axes), -1)
    columns = {}
    for name, labels, codes in zip(names, axes, grid, strict=True):
        values = np.empty(len(labels), object)
        values[:] = labels
        columns[name] = values[codes]
    known = {name: labels[0] for name, labels in zip(names, axes, strict=True)}
    groups = predictors(columns, references={**known, **(reference or {})})
    return groups.kept(np.arange(len(groups)))
