"""What all additive models share: parameters, the booked fit, and scores of rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from bruit import _checks
from bruit.errors import ParameterError
from bruit.kernels import additive as kernels
from bruit.learning._base import PrivateModel
from bruit.learning._features import Features, Floats
from bruit.learning.additive.columns import Columns
from bruit.learning.additive.fitting import FineTables, Fitted, Fitting
from bruit.learning.additive.problem import Problem
from bruit.learning.additive.reading import Codes, Read, reader
from bruit.learning.additive.releases import Promise
from bruit.releases.person import Person

#: Warned where the noise hides the records; computed from noisy numbers.
HIDDEN = (
    "At this ε the noise hides the records: their noisy number is below its own standard deviation. All effects are 0 "
    "and every row has the same prediction. Use a larger ε, fewer columns, or more records."
)


class AdditiveModel(PrivateModel):
    """A model whose score is an intercept and one effect for each column, from noisy sums."""

    delta: float
    _categorical: ClassVar[bool] = True
    _gaps: ClassVar[bool] = True
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
        columns = Columns.of(features, first.columns, first.names)
        fitting = Fitting(columns, problem, self._budget, self._most_knots)
        fitting.check()
        guarantee = self._promised(self.delta)
        entropy = self._book(guarantee, first.sums, features)
        size = fitting.size(first.sums, entropy)
        fitted = fitting.learn(first.sums, size, lambda count: read(count).sums, entropy)
        if fitted.hidden:
            warnings.warn(HIDDEN, UserWarning, stacklevel=3)
        self._promise(guarantee, features, entropy)
        return fitted

    def _scores(self, X: Any, fitted: Fitted) -> Floats:
        """The intercept and the effects of all columns, added up, for each row and output."""
        problem = fitted.problem
        steps = problem.scores(fitted.cells.places(self._rows(X)), fitted.cells, fitted.shapes)
        return steps / (problem.steps * kernels.WEIGHT)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.rng is None and self.random_state is None
        return tags
