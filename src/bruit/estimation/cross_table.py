"""A table of several attributes: cells with intervals, differences, ratios of odds, and whether dependence is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bruit import _checks
from bruit.errors import DataError, ParameterError
from bruit.estimation import consistency, contrasts
from bruit.estimation.estimate import Estimate, source_of, title_of
from bruit.estimation.intervals import Floats, normal_quantile
from bruit.estimation.support import TARGET_NOTES, IntervalMethod, Target
from bruit.tables import Column, Table, Tabular, counted, decimals, interval_of, label

#: Up to this number of cells, dependence is tested with the whole matrix of covariances; above, as white noise.
WHOLE = 600


class TableContrast(NamedTuple):
    """A number computed from a table, with its standard error and interval, and how likely as much is by chance alone.

    ``p_value`` speaks of the hypothesis that the number is the one of no difference: 0, or 1 for a ratio.
    """

    value: float
    standard_error: float
    lower: float
    upper: float
    p_value: float


class Independence(NamedTuple):
    """A test of whether two attributes have anything to do with each other."""

    statistic: float
    freedom: int
    p_value: float
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class TableEstimate(Tabular):
    """Unbiased shares of every cell of a table, with their variance.

    Parameters
    ----------
    cells
        The estimate of the cells, in the order of the table's rows.
    names
        The attributes, one per axis.
    axes
        The labels along each axis.

    Examples
    --------
    >>> import bruit
    >>> plan = bruit.Plan({"sex": ["F", "M"], "smokes": ["no", "yes"]}, 2.0, "TAB[ADP]")
    >>> people = {"sex": ["F"] * 5000 + ["M"] * 5000, "smokes": (["no"] * 4 + ["yes"]) * 1000 + ["no", "yes"] * 2500}
    >>> table = plan.estimate(plan.tally(plan.privatize(people, rng=7))).table("sex", "smokes")
    >>> table.frequency.round(2).tolist()
    [[0.4, 0.1], [0.25, 0.25]]
    >>> contrast = table.difference(smokes="yes", sex=("M", "F"))
    >>> round(contrast.value, 2), contrast.p_value < 0.001
    (0.3, True)
    """

    cells: Estimate
    names: tuple[str, ...]
    axes: tuple[tuple[Any, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(labels) for labels in self.axes)

    @property
    def n(self) -> int:
        """How many people reported on this table."""
        return self.cells.n

    @property
    def target(self) -> Target:
        """Whom the variance speaks of."""
        return self.cells.target

    @cached_property
    def frequency(self) -> Floats:
        """Unbiased shares, with an axis per attribute; a rare one may come out negative."""
        return self.cells.frequency.reshape(self.shape)

    @property
    def variance(self) -> Floats:
        """The variance of each share."""
        return self.cells.variance.reshape(self.shape)

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return self.cells.standard_error.reshape(self.shape)

    def interval(self, level: float = 0.95, method: IntervalMethod = "wilson", *, simultaneous: bool = False) -> Floats:
        """Lower and upper ends on a last axis; as `Estimate.interval`."""
        return self.cells.interval(level, method, simultaneous=simultaneous).reshape(*self.shape, 2)

    @cached_property
    def covariance(self) -> Floats:
        """The matrix of covariances of the cells, in the order of rows."""
        return self.cells.covariance()

    # What is computed from the cells.

    def difference(self, level: float = 0.95, **where: Any) -> TableContrast:
        """How much more often one group has a value than another: ``difference(smokes="yes", sex=("M", "F"))``.

        That is the share of "yes" among M less that among F. Shares of a group are ratios of cells, with the variance
        of their linear part.

        Parameters
        ----------
        level
            Of the interval.
        **where
            One value of an attribute, and two of the one that makes the groups, the second taken from the first.
        """
        value, pair = self._value_and_pair(where)
        share, gradient = zip(*(self._share(value, group) for group in pair), strict=True)
        return self._contrast(share[0] - share[1], gradient[0] - gradient[1], level)

    def odds_ratio(self, level: float = 0.95, **where: Any) -> TableContrast:
        """The ratio of odds in four cells: ``odds_ratio(smokes=("yes", "no"), sex=("M", "F"))``.

        That is the odds of "yes" against "no" among M over those among F; the interval is that of its logarithm.
        """
        _checks.probability(level=level)
        places = self._pairs(where)
        cells = [self._cell(combination) for combination in places]
        shares = np.array([self.frequency.ravel()[cell] for cell in cells])
        if not (shares > 0).all():
            raise DataError(
                "The ratio of odds cannot be estimated: one of the four cells is not above 0 at this ε and n. "
                "Compare shares by difference(…), which needs none of that."
            )
        gradient = np.zeros(self.frequency.size)
        gradient[cells] = np.array([1.0, -1.0, -1.0, 1.0]) / shares
        log = float(np.log(shares) @ np.array([1.0, -1.0, -1.0, 1.0]))
        error = math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0))
        half = normal_quantile(level) * error
        ends = np.exp([log, log - half, log + half])
        return TableContrast(
            float(ends[0]), float(ends[0]) * error, float(ends[1]), float(ends[2]), _p_value(log, error)
        )

    def independence(self, level: float = 0.95) -> Independence:
        """Whether two attributes depend on each other, as far as these reports can show it.

        The interaction beyond that of independent attributes, measured by its covariance if they were independent: a
        chi-squared test with (k−1)(l−1) degrees of freedom.
        """
        from scipy import special

        _checks.probability(level=level)
        self._two("independence")
        first, second = self.frequency.sum(axis=1), self.frequency.sum(axis=0)
        beyond = contrasts.dependence(self.frequency, first, second)
        freedom = contrasts.interaction_freedom(self.shape)
        statistic = self._quadratic(beyond, first, second)
        p_value = float(special.chdtrc(freedom, statistic))
        return Independence(statistic, freedom, p_value, self._sentence(p_value, level))

    def _quadratic(self, beyond: Floats, first: Floats, second: Floats) -> float:
        """The interaction in units of its noise, if the attributes were independent."""
        independent = np.outer(consistency.norm_sub(first), consistency.norm_sub(second))
        if self.frequency.size > WHOLE:
            noise = self.cells.model.variance(independent.ravel(), self.target)
            return float((beyond**2).sum() / noise.mean())
        covariance = self.cells.model.covariance(independent.ravel(), self.target)
        left, right = (_contrasts(size) for size in self.shape)
        # The derivative of the interaction less that of the product of the margins, in orthonormal contrasts.
        rows, columns = left @ consistency.norm_sub(first), right @ consistency.norm_sub(second)
        of_rows = np.kron(left, np.outer(columns, np.ones(self.shape[1])).reshape(len(right), -1))
        of_columns = np.kron(np.outer(rows, np.ones(self.shape[0])).reshape(len(left), -1), right)
        slope = np.kron(left, right) - of_rows - of_columns
        vector = (left @ beyond @ right.T).ravel()
        return float(vector @ np.linalg.solve(slope @ covariance @ slope.T, vector))

    def _sentence(self, p_value: float, level: float) -> str:
        first, second = (repr(name) for name in self.names)
        if p_value < 1 - level:
            return f"{first} and {second} depend on each other (p = {p_value:.2g})."
        return (
            f"Whether {first} and {second} depend on each other cannot be seen at this ε with "
            f"{counted(self.n, 'report')} (p = {p_value:.2g}); that does not say that they do not."
        )

    def table(self, level: float = 0.95, method: IntervalMethod = "wilson", *, simultaneous: bool = False) -> Table:
        """Every cell with its share and interval: a column for each attribute, frequency, lower and upper."""
        combinations = list(np.ndindex(*self.shape))
        ends = self.cells.interval(level, method, simultaneous=simultaneous)
        columns = [
            Column(
                f"value_{place + 1}",
                [self.axes[place][codes[place]] for codes in combinations],
                name,
                "label",
                label,
            )
            for place, name in enumerate(self.names)
        ]
        columns += [
            Column("frequency", self.cells.frequency, write=decimals(4)),
            Column("standard_error", self.cells.standard_error, hidden=True),
            Column("interval", ends, interval_of(level), write=decimals(4), parts=("lower", "upper")),
        ]
        notes = [f"guarantee: {self.cells.guarantee}", TARGET_NOTES[self.target]]
        about = {**source_of(self.cells), "names": list(self.names), "target": self.target, "level": level}
        if len(self.names) == 2:
            test = self.independence()
            notes.append(test.sentence)
            about["independence"] = {name: getattr(test, name) for name in ("statistic", "freedom", "p_value")}
        return Table(title_of("Table", replace(self.cells, name=" × ".join(self.names))), columns, notes, about, "cell")

    # Places.

    def _contrast(self, value: float, gradient: Floats, level: float) -> TableContrast:
        _checks.probability(level=level)
        error = math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0))
        half = normal_quantile(level) * error
        return TableContrast(float(value), error, float(value - half), float(value + half), _p_value(value, error))

    def _share(self, value: tuple[int, int], group: tuple[int, int]) -> tuple[float, Floats]:
        """The share of a value among a group, and its derivative by the cells."""
        whole = np.zeros(self.shape)
        np.moveaxis(whole, group[0], 0)[group[1]] = 1.0
        part = np.zeros(self.shape)
        np.moveaxis(part, value[0], 0)[value[1]] = 1.0
        part *= whole
        size = float((whole * self.frequency).sum())
        if not size > 0:
            raise DataError("A group has an estimated size of 0 or below: nothing can be said of shares of it.")
        share = float((part * self.frequency).sum()) / size
        return share, ((part - share * whole) / size).ravel()

    def _value_and_pair(self, where: dict[str, Any]) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        pairs = {name: values for name, values in where.items() if isinstance(values, tuple | list)}
        singles = {name: value for name, value in where.items() if name not in pairs}
        if len(pairs) != 1 or len(singles) != 1:
            raise ParameterError('difference must read as in difference(smokes="yes", sex=("M", "F")).')
        ((name, value),), ((group, values),) = singles.items(), pairs.items()
        if len(values) != 2:
            raise ParameterError('difference must name two groups, as in difference(smokes="yes", sex=("M", "F")).')
        return self._place(name, value), [self._place(group, own) for own in values]

    def _pairs(self, where: dict[str, Any]) -> list[dict[int, int]]:
        self._two("odds_ratio")
        fine = len(where) == 2 and all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in where.values())
        if not fine:
            raise ParameterError('odds_ratio must read as in odds_ratio(smokes=("yes", "no"), sex=("M", "F")).')
        (name, values), (group, groups) = where.items()
        first, second = ([self._place(own, value) for value in pair] for own, pair in ((name, values), (group, groups)))
        return [dict([value, own]) for own in second for value in first]

    def _cell(self, places: dict[int, int]) -> int:
        return int(np.ravel_multi_index([places[axis] for axis in range(len(self.shape))], self.shape))

    def _place(self, name: str, value: Any) -> tuple[int, int]:
        """The axis of an attribute and the place of one of its values."""
        if name not in self.names:
            raise ParameterError(f"This table has no attribute {name!r}: it has {', '.join(map(repr, self.names))}.")
        axis = self.names.index(name)
        if value not in self.axes[axis]:
            raise ParameterError(f"This is not one of the declared labels of {name!r}.")
        return axis, self.axes[axis].index(value)

    def _two(self, what: str) -> None:
        if len(self.names) != 2:
            raise ParameterError(f"{what} is for a table of two attributes, this one has {len(self.names)}.")


def _contrasts(size: int) -> Floats:
    """An orthonormal basis of the vectors of sum zero, one per row."""
    return np.linalg.svd(np.eye(size) - 1 / size)[0][:, : size - 1].T


def _p_value(value: float, error: float) -> float:
    from scipy import special

    return float(2 * special.ndtr(-abs(value) / error)) if error > 0 else float(value == 0)
