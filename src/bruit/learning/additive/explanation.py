"""What an additive model says of itself: the shape of every column, and what a prediction is made of.

Effects are centred: over the noisy numbers of records in the cells their mean is 0, and the intercept is the score of
an average record. Nothing here reads the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from bruit import _checks
from bruit.errors import ParameterError
from bruit.kernels import additive as kernels
from bruit.learning._features import FeatureRows, Floats
from bruit.learning.additive.columns import ShapeColumns
from bruit.learning.additive.fitting import Fitted
from bruit.tables import Column, Table, Tabular, interval_of, number

#: What stands for a missing number.
MISSING = "(missing)"
#: What a score is of: of classes it is log-odds, of a number it is the target itself.
Kind = Literal["classes", "number"]


@dataclass(frozen=True, eq=False, repr=False)
class Shape(Tabular):
    """The effect of one column on the score: a curve over points of a number, or bars of labels.

    Parameters
    ----------
    name
        The column.
    points
        The knots of a number, or the labels of a category; ``"(missing)"`` for missing numbers.
    ordered
        How many points lie on the curve; they come first.
    effects, errors
        For every point (rows) and output, what it adds to the score, and its standard deviation from the noise;
        infinite where that is not known.
    records
        The noisy number of records at each point.
    outputs
        What the score is of: the classes, or one name. Of two classes it is the second one.
    kind
        ``"classes"``: effects are log-odds. ``"number"``: effects are in the unit of the target.
    """

    name: str
    points: tuple[Any, ...]
    ordered: int
    effects: Floats
    errors: Floats
    records: Floats
    outputs: tuple[str, ...]
    kind: Kind = "classes"

    @property
    def importance(self) -> float:
        """The mean size of the effect over the noisy numbers of records, and over outputs."""
        weights = np.maximum(self.records, 0) + 1e-9
        return float((weights @ np.abs(self.effects)).mean() / weights.sum())

    def interval(self, level: float = 0.95) -> Floats:
        """Low and high ends of a band around the effects, about the noise alone and point by point.

        The noise of an effect is computed as if shrinking did nothing; realised noise is .6 to 1.9 times that.
        """
        reach = special.ndtri((1 + _checks.probability(level=level)) / 2) * self.errors
        return np.stack([self.effects - reach, self.effects + reach], axis=-1)

    def table(self, level: float = 0.95) -> Table:
        """Points, effects and the band."""
        band = self.interval(level)
        places = [(point, output) for point in range(len(self.points)) for output in range(len(self.outputs))]
        of = [Column("of", [self.outputs[output] for _, output in places], kind="text", write=str)]
        columns = [
            Column("point", [self.points[point] for point, _ in places], kind="label", write=_point),
            *(of if len(self.outputs) > 1 else []),
            Column("effect", [float(self.effects[place]) for place in places], write=_short),
            Column("interval", [tuple(band[place].tolist()) for place in places], parts=("low", "high"), write=_ends),
            Column("records", [round(float(self.records[point])) for point, _ in places], heading="noisy records"),
        ]
        notes = [f"Intervals are {interval_of(level)}s, about the noise alone."]
        return Table(f"Effect of {self.name}", columns, notes, noun="point")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Tabular):
    """What predictions are made of: the intercept, and the effect of every column.

    Parameters
    ----------
    names
        The columns.
    outputs
        What the score is of: the classes, or one name. Of two classes it is the second one.
    intercept
        The score of an average record, for each output.
    effects
        For each row, column and output, what the column adds to the score.
    kind
        ``"classes"``: scores are log-odds. ``"number"``: they are in the unit of the target.

    Examples
    --------
    >>> rows = Explanation(("age", "job"), ("yes",), np.array([-1.0]), np.array([[[0.5], [0.25]]]))
    >>> rows.scores.tolist()
    [[-0.25]]
    >>> rows.probabilities.round(2).tolist()
    [[0.44]]
    """

    names: tuple[str, ...]
    outputs: tuple[str, ...]
    intercept: Floats
    effects: Floats
    kind: Kind = "classes"

    def __len__(self) -> int:
        return len(self.effects)

    @property
    def scores(self) -> Floats:
        """The score of each row and output: the intercept and all effects."""
        return np.asarray(self.intercept + self.effects.sum(axis=1), np.float64)

    @property
    def probabilities(self) -> Floats:
        """The predicted probability of each row and output; for a number there is none."""
        if self.kind == "number":
            raise ParameterError("A model of a number has no probabilities: scores are its predictions.")
        scores = self.scores
        shares = special.expit(scores) if len(self.outputs) == 1 else special.softmax(scores, axis=1)
        return np.asarray(shares, np.float64)

    def table(self) -> Table:
        """A line for each row, column and output, the largest effects of a row first."""
        lines: list[tuple[Any, ...]] = []
        for row, effects in enumerate(self.effects):
            order = np.argsort(-np.abs(effects).max(axis=1), kind="stable")
            named = [("(average)", self.intercept), *((self.names[place], effects[place]) for place in order)]
            named.append(("(score)", self.scores[row]))
            lines += [
                (row, name, output, float(effect))
                for name, parts in named
                for output, effect in zip(self.outputs, parts, strict=True)
            ]
        rows, names, outputs, effects_ = zip(*lines, strict=True) if lines else ((), (), (), ())
        of = [Column("of", outputs, kind="text", write=str)] if len(self.outputs) > 1 else []
        columns = [
            Column("row", rows, kind="label", write=str, hidden=len(self) == 1),
            Column("column", names, kind="label", write=str),
            *of,
            Column("effect", effects_, write=_short),
        ]
        return Table(self._title, columns, self._notes, noun="line")

    @property
    def _title(self) -> str:
        if self.kind == "number":
            return "What the prediction is made of"
        if len(self.outputs) == 1:
            return f"What the log-odds of class {self.outputs[0]} are made of"
        return "What the scores of the classes are made of, in log-odds"

    @property
    def _notes(self) -> list[str]:
        if self.kind == "number" or not len(self):
            return []
        if len(self) > 1:
            return ["The predicted probabilities are in .probabilities."]
        shares = zip(self.outputs, self.probabilities[0], strict=True)
        return ["Predicted probability: " + ", ".join(f"{share:.3g} of class {name}" for name, share in shares) + "."]


def shapes_of(
    fitted: Fitted, outputs: tuple[str, ...], scale: float = 1.0, kind: Kind = "classes"
) -> tuple[dict[str, Shape], Floats]:
    """The centred shapes by name, and the intercept of an average record, both times a scale."""
    shapes: dict[str, Shape] = {}
    intercept = fitted.shapes.intercept.copy()
    for place, name in enumerate(fitted.cells.columns.names):
        effects, records = fitted.shapes.effects[place], fitted.shapes.sizes[place]
        mean = centre(effects, records)
        intercept = intercept + mean
        shapes[name] = Shape(
            name,
            points_of(fitted, place),
            fitted.cells.ordered[place],
            scale * (effects - mean),
            scale * np.asarray(fitted.shapes.errors[place], np.float64),
            records,
            outputs,
            kind,
        )
    return shapes, scale * intercept


def centre(effects: Floats, records: Floats) -> Floats:
    """The mean effect of an average record."""
    weights = np.maximum(records, 0) + 1e-9
    return np.asarray(weights @ effects / weights.sum(), np.float64)


def points_of(fitted: Fitted, column: int) -> tuple[Any, ...]:
    """The knots of a number, or the labels of a category."""
    columns: ShapeColumns = fitted.cells.columns
    if column >= columns.numbers:
        return columns.labels[column - columns.numbers]
    low, high = columns.low[column], columns.high[column]
    points = tuple((low + fitted.cells.points(column) * (high - low)).tolist())
    return (*points, MISSING) if columns.gaps[column] else points


def effects_of(fitted: Fitted, rows: FeatureRows) -> Floats:
    """The effect of every column (second axis) on each row's score, as they are fitted and not centred."""
    if fitted.straight:
        return _straight(fitted, rows)
    places = fitted.cells.places(rows)
    out = np.empty((*places.shape, fitted.problem.outputs))
    for column, effects in enumerate(fitted.shapes.effects):
        cells, right = places[:, column] >> kernels.WEIGHT_BITS, places[:, column] & (kernels.WEIGHT - 1)
        share = (right / kernels.WEIGHT)[:, None]
        following = np.minimum(cells + 1, len(effects) - 1)
        out[:, column] = effects[cells] * (1 - share) + effects[following] * share
    return out


def _straight(fitted: Fitted, rows: FeatureRows) -> Floats:
    """The same for two knots at the bounds of each number."""
    columns, effects = fitted.cells.columns, fitted.shapes.effects
    out = np.empty((len(rows.numbers), len(columns), fitted.problem.outputs))
    share = np.clip((rows.numbers - columns.low) / (columns.high - columns.low), 0, 1)
    for column in range(columns.numbers):
        first, last = effects[column][0], effects[column][1]
        out[:, column] = first + share[:, column, None] * (last - first)
        if columns.gaps[column]:
            out[np.isnan(share[:, column]), column] = effects[column][2]
    for column, codes in enumerate(rows.codes, columns.numbers):
        out[:, column] = effects[column][codes]
    return out


def _point(point: Any) -> str:
    return number(point) if isinstance(point, int | float) and not isinstance(point, bool) else str(point)


def _short(effect: Any) -> str:
    return "" if not np.isfinite(effect) else f"{effect:+.3g}".replace("-", "−")


def _ends(interval: Any) -> str:
    return " … ".join(map(_short, interval)) if np.isfinite(interval).all() else "not known"


def importances(shapes: Mapping[str, Shape]) -> dict[str, float]:
    """The importance of every column, in the order of the declaration."""
    return {name: shape.importance for name, shape in shapes.items()}
