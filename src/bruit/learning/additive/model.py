"""What all additive models share: parameters, the booked fit, and scores of rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bruit import _checks, documents
from bruit.entropy import Entropy
from bruit.errors import ParameterError
from bruit.kernels import additive as kernels
from bruit.learning._base import PrivateModel
from bruit.learning._features import Features, Floats
from bruit.learning.additive.columns import ShapeColumns
from bruit.learning.additive.explanation import Explanation, Kind, Shape, centre, effects_of, importances, shapes_of
from bruit.learning.additive.fitting import FineTables, Fitted, Fitting, Reader, Size
from bruit.learning.additive.problem import Problem
from bruit.learning.additive.reading import Codes, Read, reader
from bruit.learning.additive.releases import Promise
from bruit.pages import Page, Section, render
from bruit.releases.person import Person
from bruit.tables import Column, Table, interval_of
from bruit.typing import SourceLike

#: Warned where the noise hides the records; computed from noisy numbers.
HIDDEN = (
    "At this ε noise hides the records: their noisy number is below its own standard deviation. All effects are 0 "
    "and every row has the same prediction. Use a larger ε, fewer columns, or more records."
)


#: How many rows a page explains.
_MOST_ROWS = 10
_IMPORTANCE = (
    "The importance of a column is the mean size of its effect. An effect is what a value adds to the score of an "
    "average record."
)
_BANDS = (
    "Bands are {0}s, point by point, and about the noise alone: they say nothing of how few records there are. "
    "Columns that say the same share their effect. All pictures have the same scale. Wide bands are cut."
)
_SEEDED = "Its noise comes from a seed, so it protects nobody."


class AdditiveModel(PrivateModel):
    """A model whose score is an intercept and one effect for each column, from noisy sums."""

    delta: float
    shapes_: dict[str, Shape]
    intercept_: Any
    importances_: dict[str, float]
    n_records_: float
    passes_: int
    _fitted: Fitted
    _average: Floats
    _categorical: ClassVar[bool] = True
    _gaps: ClassVar[bool] = True
    #: What is predicted.
    _kind: ClassVar[Kind] = "classes"
    #: No number has more knots.
    _most_knots: ClassVar[int] = 32

    def _declared(self, unsupported: Mapping[str, Any] = MappingProxyType({})) -> Features:
        """The declared columns, after all parameters were checked."""
        features = super()._declared(unsupported)
        if _checks.fraction(delta=self.delta) == 1:
            raise ParameterError("delta must be below 1: at 1 nothing is promised.")
        return features

    def _design(self) -> dict[str, Any]:
        """Plain values of the parameters that decide the noise."""
        return super()._design() | {"delta": float(self.delta)}

    def _reader(self, X: Any, y: Any, features: Features, codes: Codes) -> Read:
        """What folds all rows, as often as it is called."""
        return reader(self, X, y, features, codes)

    @property
    def _budget(self) -> Promise:
        """What all releases together may spend."""
        person = Person.of(self.person, self.rows)
        rows = 1 if person is None else person.contribution(None, replaced=False).times
        replaced = self._row_neighbours == "replace"
        return Promise(float(self.epsilon), float(self.delta), replaced, self._times, rows)

    def _learn(self, X: Any, y: Any, features: Features, problem: Problem, codes: Codes) -> Fitted:
        """Read, book, release and smooth; `_promise` is called by who knows what else is kept."""
        read = self._reader(X, y, features, codes)
        first = read(FineTables(features, problem))
        columns = ShapeColumns.of(features, first.columns, first.names)
        fitting = Fitting(columns, problem, self._budget, self._most_knots)
        fitting.check()
        other = self._other(features, fitting)
        guarantee = self._promised(self.delta)
        entropy = self._book(guarantee, first.sums, features)
        size = fitting.size(first.sums, entropy)
        sums: Reader = lambda count: read(count).sums  # noqa: E731 -- a type for what is passed on
        fitted = other(size, sums, entropy) if other is not None else None
        fitted = fitting.learn(first.sums, size, sums, entropy) if fitted is None else fitted
        if fitted.hidden:
            warnings.warn(HIDDEN, UserWarning, stacklevel=4)
        self._promise(guarantee, features, entropy)
        return fitted

    def _other(self, features: Features, fitting: Fitting) -> Callable[[Size, Reader, Entropy], Fitted | None] | None:
        """What is fitted in place of shapes where the noisy number of records asks for it; all noise is checked."""
        return None

    def _keep(self, fitted: Fitted, outputs: tuple[str, ...], scale: float = 1.0, middle: float = 0.0) -> None:
        """Keep the shapes, as predictions use them and as people read them: times a scale, and from a middle on."""
        self._fitted = fitted
        self.shapes_, average = shapes_of(fitted, outputs, scale, self._kind)
        self._average = self.intercept_ = average + middle
        self.importances_ = importances(self.shapes_)
        self.n_records_ = fitted.size
        self.passes_ = int(fitted.passes)

    def _scored(self, X: Any) -> Floats:
        """The intercept and the effects of all columns, added up, for each row and output."""
        problem, cells = self._fitted.problem, self._fitted.cells
        if self._fitted.straight:
            return np.asarray(self._fitted.shapes.intercept + effects_of(self._fitted, self._rows(X)).sum(axis=1))
        steps = problem.scores(cells.places(self._rows(X)), cells, self._fitted.shapes)
        return steps / (problem.steps * kernels.WEIGHT)

    def explain(self, X: SourceLike) -> Explanation:
        """What each prediction is made of: the score of an average record, and the effect of every column.

        The effects of a row add up to its score: of two classes that is `decision_function`, the log-odds of the
        second one; of a number it is `predict`. The result has `probabilities`, too.
        """
        check_is_fitted(self)
        return self._explained(X, 1.0)

    def _explained(self, X: Any, scale: float) -> Explanation:
        fitted = self._fitted
        effects = effects_of(fitted, self._rows(X))
        means = [centre(*parts) for parts in zip(fitted.shapes.effects, fitted.shapes.sizes, strict=True)]
        outputs = next(iter(self.shapes_.values())).outputs
        centred = scale * (effects - np.array(means))
        return Explanation(tuple(self.shapes_), outputs, self._average, centred, self._kind)

    def plot(self, column: str | None = None, *, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the effect of one column with its band, or of the most important columns in panels.

        Parameters
        ----------
        column
            The name of a column; by default all, up to 12.
        level
            How often the band should cover the effect without noise, point by point.
        ax
            matplotlib Axes to draw one column on.
        """
        check_is_fitted(self)
        from bruit.figures import plot_shape, plot_shapes

        if column is None:
            return plot_shapes(self.shapes_, level=level, title=self._title)
        _checks.one_of(self.shapes_, column=column)
        return plot_shape(self.shapes_[column], level=level, ax=ax)

    def page(
        self, path: str | os.PathLike[str] | None = None, *, rows: SourceLike | None = None, level: float = 0.95
    ) -> str | Path:
        """One HTML page with the importance and the shape of every column: its text, or its path if one is given.

        Parameters
        ----------
        path
            A file to write it to.
        rows
            Rows whose predictions are explained on the page, ten at most. The page then shows their effects.
        level
            How often a band should cover the effect without noise, point by point.
        """
        check_is_fitted(self)
        from bruit.figures import picture, plot_importances, plot_shape
        from bruit.figures.shapes import common_limits

        shapes = [self.shapes_[name] for name in self._by_importance]
        ends = common_limits(shapes, level)
        parts = [Section(shape.name, figure=picture(plot_shape(shape, level=level, limits=ends))) for shape in shapes]
        first = Section("Importance", (_IMPORTANCE,), figure=picture(plot_importances(self.importances_)))
        if rows is not None:
            parts += self._explained_sections(rows)
        simulated = f" {_SEEDED}" if self.simulated_ else ""
        lead = f"{type(self).__name__}: {self.guarantee_}.{simulated}"
        text = render(Page("What the model has learned", lead, (first, *parts), _BANDS.format(interval_of(level))))
        if path is None:
            return text
        documents.write_text(Path(path), text)
        return Path(path)

    @property
    def _title(self) -> str:
        """What stands above all panels."""
        return f"{type(self).__name__}, {self.guarantee_}" + (f"\n{_SEEDED}" if self.simulated_ else "")

    def _explained_sections(self, rows: SourceLike) -> list[Section]:
        """What the predictions for some rows are made of, a section for each."""
        whole = self.explain(rows)
        singles = [
            replace(whole, effects=whole.effects[place : place + 1]) for place in range(min(len(whole), _MOST_ROWS))
        ]
        return [Section(f"Prediction for row {place}", table=own.table()) for place, own in enumerate(singles)]

    @property
    def _by_importance(self) -> list[str]:
        return sorted(self.importances_, key=lambda name: -self.importances_[name])

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's picture of the parameters, and the importance of every column."""
        shown = str(super()._html_repr())
        if not self.__sklearn_is_fitted__():
            return shown
        order = self._by_importance
        names = Column("column", order, kind="label", write=str)
        sizes = Column("importance", [self.importances_[name] for name in order], write="{:.3g}".format)
        notes = ["The mean size of each column's effect. plot() draws the effects, page() makes a page of them."]
        return shown + Table("Importance", [names, sizes], notes, noun="column")._repr_html_()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.rng is None and self.random_state is None
        return tags
