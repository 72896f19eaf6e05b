"""What all models share: declared parameters, data from anywhere, a booked spend, and noise that never repeats.

A fit has four steps, in this order: check what is declared, before any data is read; fold the data into whole-number
sums; book the guarantee in the ledger; draw the noise. Everything else that a model has is computed from the noisy
sums, so nothing fitted shows more than they do.
"""

from __future__ import annotations

import contextlib
import contextvars
import copy
import functools
import hashlib
import os
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bruit import _checks, documents, engines
from bruit.engines import batch as batching
from bruit.engines import memory
from bruit.engines.bounding import Sorting, draw_key, fold_people
from bruit.entropy import Entropy
from bruit.errors import DataError, ParameterError, ParameterTypeError, RandomnessError, translated
from bruit.estimation.tally import exact_sum
from bruit.learning._features import FeatureRows, Features, column_of
from bruit.learning._notebook import ReadableDocstring
from bruit.learning._sums import Observer, observer
from bruit.learning._validation import validated
from bruit.learning.pipelines import warn_of_steps
from bruit.privacy.booking import Charge, booked
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Ledger, Line
from bruit.privacy.zcdp import epsilon_to_rho
from bruit.releases.noise import cut
from bruit.releases.person import Person, warn_of_people
from bruit.releases.statistic import CENTRAL
from bruit.typing import FeatureBounds

Counts = NDArray[np.int64]
#: From some rows and what stands in the target column, or None, to whole numbers that add.
Count = Callable[[FeatureRows, Any], Counts]


#: Models that are clones, and whether the cost of their search was said. scikit-learn's searches clone their model
#: and then fit clones of that clone; those may be made in another thread.
_clones: MutableMapping[Any, str] = weakref.WeakKeyDictionary()
#: Whether the caller of clone has said what all fits cost, or makes none that is booked.
_announced: contextvars.ContextVar[bool] = contextvars.ContextVar("announced", default=False)
_SEARCH = (
    "{model} is fitted by a search: each of its fits is booked, and the refit too{state}. "
    "bruit.learning.search_cost(search, X, y) says the total before. bruit.learning.GridSearchCV and "
    "RandomizedSearchCV refuse before the first fit if the ledger cannot pay for all."
)


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Clones that are made in the block, and clones of these, do not warn of a search."""
    token = _announced.set(True)
    try:
        yield
    finally:
        _announced.reset(token)


class FoldedSums(NamedTuple):
    """What a fold found: the exact sums, how many columns X has, and their names if it has names."""

    sums: Counts
    columns: int
    names: tuple[str, ...] | None


class PrivateModel(ReadableDocstring, BaseEstimator):  # type: ignore[misc] # scikit-learn carries no types
    """A scikit-learn estimator that learns from noisy sums and books what it spends.

    A subclass has at least the parameters `epsilon`, `bounds`, `neighbours`, `ledger`, `rng` and `random_state`.
    """

    epsilon: float
    bounds: FeatureBounds | None
    neighbours: str
    ledger: Any
    rng: Any
    random_state: Any
    #: Who is protected with all their rows, and how many of them count; a model without these protects a row.
    person: Any = None
    rows: Any = None

    #: Whether columns may be categories.
    _categorical: ClassVar[bool] = False
    #: Whether a list of two numbers means bounds and not labels.
    _lists_are_bounds: ClassVar[bool] = False
    #: Whether numbers may be missing, where their grid declares that as a category.
    _gaps: ClassVar[bool] = False
    #: Whether there is a target.
    _supervised: ClassVar[bool] = True

    guarantee_: Guarantee
    #: Whether the noise came from a seed, so that anyone who has the seed can remove it.
    simulated_: bool
    n_features_in_: int

    def _declared(self, unsupported: Mapping[str, Any] = {}) -> Features:
        """The declared columns, after every parameter that all models have was checked.

        From here on the model is not fitted: a fit that fails leaves no model, and not half of an old one.
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        if unsupported.get("sample_weight") is not None:
            raise ParameterError(
                "Sample weights are refused: a record's weight would multiply what it can change, and the noise is "
                "made for records that all weigh the same. Leave sample_weight out."
            )
        unknown = sorted(set(unsupported) - {"sample_weight"})
        if unknown:
            raise TypeError(f"fit() got an unexpected keyword argument {unknown[0]!r}")
        warn_of_steps(self)
        check_epsilon(self)
        _checks.warn_of_weak(_checks.spent_epsilon(epsilon=self.epsilon))
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        if self.ledger is not None and not hasattr(self.ledger, "spend"):
            raise ParameterTypeError("ledger must be a bruit.Ledger, or a part of one.")
        seed_of(self.rng, self.random_state, draw=False)
        features = Features.declared(
            self.bounds, categorical=self._categorical, gaps=self._gaps, lists_are_bounds=self._lists_are_bounds
        )
        _ = self._times
        if self.person is not None and features.names is None:
            raise ParameterError(
                'With a person, name the columns that are learned from, as in bounds={"age": (0, 100)}: the others, '
                "such as that of the person, are then left out."
            )
        return features

    @property
    def _times(self) -> int:
        """By how many rows, added or removed, neighbours differ: 1, or all that count of a person, once or twice."""
        person = Person.of(self.person, self.rows)
        return 1 if person is None else person.contribution(None, replaced=self.neighbours == "replace").times

    @property
    def _row_neighbours(self) -> str:
        """What the noise of one row is made for. Where people have several, the number of rows is never public."""
        return self.neighbours if self.person is None else "add-remove"

    def _promised(self, delta: float = 0.0) -> Guarantee:
        """What the fit promises, of a record or of a person."""
        neighbours: Any = self.neighbours if self.person is None else f"person-{self.neighbours}"
        return Guarantee(epsilon=self.epsilon, delta=delta, neighbours=neighbours)

    def _warn_of_people(self, X: Any) -> None:
        """Warn of a table that looks as if people had several rows, where no person is named; before it is booked."""
        if self.person is None and _is_table(X):
            warn_of_people(X)

    def _fold(
        self, X: Any, y: Any, features: Features, count: Count, target_codes: Callable[[Any], Any] | None = None
    ) -> FoldedSums:
        """What `count` makes of all rows, added up; X is a matrix or frame with y beside it, or a source of batches.

        `target_codes` gives whole numbers that tell targets apart, for people with several rows.
        """
        if self.person is not None:
            return self._people_reader(X, y, features, target_codes)(count)
        if is_mapping(X) and self._supervised and y is not None and not isinstance(y, str):
            X, y = _beside(X, y)
        if _is_source(X, y):
            return self._fold_source(X, y, features, count)
        if features.names is not None:
            return self._fold_frame(X, y, features, count)
        return self._fold_matrix(X, y, features, count)

    def _fold_matrix(self, X: Any, y: Any, features: Features, count: Count) -> FoldedSums:
        checked = validated(self, X, **self._target(y), dtype=np.float64, order="C", ensure_min_samples=0)
        matrix, target = checked if self._supervised else (checked, None)
        features.width(matrix.shape[1])

        def part(block: tuple[int, slice]) -> Counts:
            _, here = block
            return count(FeatureRows(matrix[here], ()), None if target is None else target[here])

        parts = memory.in_order(part, blocks_of(len(matrix), engines.BATCH))
        return FoldedSums(functools.reduce(exact_sum, parts), matrix.shape[1], _names(self))

    def _fold_frame(self, X: Any, y: Any, features: Features, count: Count) -> FoldedSums:
        """The same for columns that a schema declares: by name in a frame, in the declared order in an array.

        The schema says which columns there are and in which order; what else a frame has is not read.
        """
        table = features.table(X)
        if not self._supervised:
            return self._fold_source(table, None, features, count)
        if y is None:
            raise DataError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        return self._fold_source(*_beside(table, y), features, count)

    def _fold_source(self, source: Any, target: str | None, features: Features, count: Count) -> FoldedSums:
        if self._supervised and target is None:
            raise ParameterError('Name the target column of a table, as in fit("people.parquet", "income").')
        if target is not None and target in (features.names or ()):
            raise ParameterError(f"{target!r} is the target, so it must not be among the columns declared in bounds.")
        wanted = None
        if features.names is not None:
            wanted = [*features.names, *([target] if target is not None else [])]

        def part(batch: batching.Batch) -> _Part:
            names = features.names or tuple(name for name in batch if name != target)
            if target is not None and target not in batch:
                raise DataError(f"The table must have a column {target!r}, the target.")
            rows = features.of_columns({name: batch[name] for name in names})
            return _Part(names, count(rows, None if target is None else batch[target]))

        total = engines.fold(source, part, columns=wanted)
        self.n_features_in_ = len(total.names)
        self.feature_names_in_ = np.array(total.names, object)
        return FoldedSums(total.sums, len(total.names), total.names)

    def _people_reader(
        self, X: Any, y: Any, features: Features, target_codes: Callable[[Any], Any] | None = None
    ) -> Callable[[Count], FoldedSums]:
        """What folds the rows of people that count, the same ones whenever it is called."""
        person: Any = Person.of(self.person, self.rows)
        names = features.names or ()
        if not (_is_table(X) or _is_source(X, y)):
            raise ParameterError(
                f"person={person.column!r} is the name of a column: give X as a frame, a mapping or a file that has it."
            )
        if self._supervised and not isinstance(y, str):
            if y is None or not _is_table(X):
                raise ParameterError('Name the target column of a table, as in fit("people.parquet", "income").')
            X, y = _beside({name: column_of(X, name) for name in (*names, person.column)}, y)
        target = y if self._supervised else None
        if target is not None and target in (*names, person.column):
            raise ParameterError(f"{target!r} is the target, so it must be neither the person nor declared in bounds.")
        design = documents.digest({"model": type(self).__name__, **self._design(), "person": person.to_dict()})
        key = draw_key(seed_of(self.rng, self.random_state), design)
        columns = [*names, *([] if target is None else [target])]

        def sort(batch: batching.Batch) -> Sorting:
            rows = features.of_columns({name: batch[name] for name in names})
            codes = [(column + 0.0).view(np.int64) for column in rows.numbers.T.copy()]  # −0 is 0
            targets = [] if target is None or target_codes is None else [target_codes(batch[target])]
            return Sorting(None, None, [*codes, *rows.codes, *targets])

        def read(count: Count) -> FoldedSums:
            def part(batch: batching.Batch) -> _Part:
                rows = features.of_columns({name: batch[name] for name in names})
                return _Part(names, count(rows, None if target is None else batch[target]))

            (total,) = fold_people(X, [person.job(key, sort, part)], columns)
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, object)
            return FoldedSums(total.sums, len(names), names)

        return read

    def _rows(self, X: Any) -> FeatureRows:
        """Rows to predict for, read as in fit: with a schema by its names, and else with the names that fit saw."""
        check_is_fitted(self)
        names = self._features.names
        if is_mapping(X):
            wanted = names or _names(self) or tuple(X)
            return self._features.of_columns({name: column_of(X, name) for name in wanted})
        if names is None:
            return FeatureRows(validated(self, X, dtype=np.float64, reset=False), ())
        return self._features.of_columns(self._features.table(X))

    def _target(self, y: Any) -> dict[str, Any]:
        return {"y": y} if self._supervised else {}

    def _book(self, guarantee: Guarantee, sums: Counts, features: Features) -> Entropy:
        """Book the spend, or be refused; then the stream of the noise."""
        booked(Charge(guarantee, type(self).__name__, _rho(guarantee)), self.ledger)
        return self._entropy(sums, features)

    def _line(self) -> Line:
        """What a fit books, whatever the data are; parameters that a fit refuses are refused here."""
        copied = copy.copy(self)  # the check takes away what is fitted
        copied._declared()
        guarantee = copied._promised(getattr(copied, "delta", 0.0))
        return Line(guarantee, type(self).__name__, _rho(guarantee))

    def _promise(self, guarantee: Guarantee, features: Features, entropy: Entropy) -> None:
        """Say what the fit promises. Last of all: with this the model counts as fitted."""
        self._features = features
        self.simulated_ = not entropy.secure
        self.guarantee_ = guarantee

    def _entropy(self, sums: Counts, features: Features) -> Entropy:
        """A new stream for each fit.

        A seed is mixed with the data's sums: the same seed on the same data gives the same model, but the folds of a
        cross-validation, which `clone` gives the same seed, get noises of their own. Without a seed nothing of the
        data touches the key.
        """
        seed = seed_of(self.rng, self.random_state)
        if isinstance(seed, Entropy) or seed is None:
            return Entropy.resolve(seed, "fit", type(self).__name__)
        data = hashlib.blake2b(cut(sums).tobytes(), digest_size=16).hexdigest()
        design = {"model": type(self).__name__, "features": features.to_dict(), "data": data, **self._design()}
        return Entropy.resolve(seed, "fit", documents.digest(design))

    def _design(self) -> dict[str, Any]:
        """Plain values of the parameters that decide the noise."""
        person = Person.of(self.person, self.rows)
        bounds = {} if person is None else {"person": person.to_dict()}
        return {"epsilon": float(self.epsilon), "neighbours": self.neighbours, **bounds}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "guarantee_")

    def __sklearn_clone__(self) -> Self:
        """A copy with the same parameters and ledger; the clone of a clone that has a ledger warns of a search."""
        copied: Self = super().__sklearn_clone__()
        priced = _announced.get() or _clones.get(self) == "priced"
        if self.ledger is not None and _clones.get(self) == "unpriced" and not priced:
            _clones[self] = "priced"
            state = f" ({'; '.join(self.ledger.amounts)})" if isinstance(self.ledger, Ledger) else ""
            warnings.warn(_SEARCH.format(model=type(self).__name__, state=state), UserWarning, stacklevel=2)
        _clones[copied] = "priced" if priced else "unpriced"
        return copied


def watched_fit(model: PrivateModel, X: Any, y: Any, watching: Observer, seed: int) -> None:
    """Fit a copy, without its ledger and with a seed, while somebody sees its releases; for audits."""
    with announced():
        copied = clone(model).set_params(ledger=None, rng=Entropy(seed), random_state=None)
    token = observer.set(watching)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about how good a model is that nobody gets
            copied.fit(X, y)
    finally:
        observer.reset(token)


def _rho(guarantee: Guarantee) -> float | None:
    """The ρ that a fit proves of itself: that of its Gaussian noise; for Laplace noise the ledger knows it."""
    return epsilon_to_rho(guarantee.epsilon, guarantee.delta) if guarantee.delta else None


def check_epsilon(model: Any) -> None:
    """That ε was declared: there is no usual one."""
    if model.epsilon is None:
        raise ParameterError(
            f"epsilon must be declared, the most that the model may tell about a record: {type(model).__name__}("
            "epsilon=1.0, …), or less for more privacy."
        )


def seed_of(rng: Any, random_state: Any, *, draw: bool = True) -> Entropy | int | None:
    """What `rng` or scikit-learn's name for it, `random_state`, says; NumPy's generators give a new seed if drawn."""
    if rng is not None and random_state is not None:
        raise RandomnessError("Give rng or random_state, which is another name for it, not both.")
    source = rng if rng is not None else random_state
    if isinstance(source, Entropy):
        return source
    # The generators of NumPy are known by their methods; what they draw is a seed, and no person's noise.
    for method, most in (("randint", 2**31 - 1), ("integers", 2**63 - 1)):
        if hasattr(source, method):
            return int(getattr(source, method)(0, most)) if draw else 0
    Entropy.resolve(source, "fit", "check")
    return source  # type: ignore[no-any-return]


class _Part(NamedTuple):
    """The sums of a batch, and the columns they are of; all batches have the same columns."""

    names: tuple[str, ...]
    sums: Counts

    def __add__(self, other: Any) -> _Part:
        return _Part(self.names, exact_sum(self.sums, other.sums))


def _is_source(X: Any, y: Any) -> bool:
    """Whether X is a table to read column by column: a path, a mapping, or batches; then y names the target."""
    if is_mapping(X) or isinstance(X, str | os.PathLike | Iterator) or isinstance(y, str) or engines.is_query(X):
        return True
    if isinstance(X, list | tuple) and X and (is_mapping(X[0]) or hasattr(X[0], "columns")):
        return True
    return hasattr(X, "read") or type(X).__module__.startswith("pyspark.")


def _is_table(X: Any) -> bool:
    """Whether X has columns with names and can be read again: a mapping, a frame, or the path of a file."""
    path = isinstance(X, str | os.PathLike) and os.fspath(X) != "-"
    return is_mapping(X) or path or engines.is_query(X) or hasattr(X, "columns") or hasattr(X, "column_names")


def blocks_of(rows: int, size: int) -> list[tuple[int, slice]]:
    """Blocks of rows, and an empty one where there are none: a table without rows has sums too, all 0."""
    return list(memory.blocks(rows, size)) or [(0, slice(0, 0))]


def is_mapping(X: Any) -> bool:
    """Whether X maps names to columns; some sparse matrices of SciPy are dictionaries too, of their entries."""
    return isinstance(X, Mapping) and not hasattr(X, "toarray")


def _beside(table: Any, y: Any) -> tuple[dict[str, Any], str]:
    """A table with the target as a column of its own, and the name of that."""
    target = next(name for name in ("y", "y_", "target_of_fit") if name not in table)
    with translated((TypeError, ValueError, OverflowError), lambda _: DataError("y must have one target per record.")):
        return {**table, target: np.asarray(y)}, target


def with_targets(X: Any, y: Any, declared: Sequence[str] | None) -> tuple[Any, Any]:
    """Rows in memory and their targets, where y may be the name of a column of X; that is then left out of the rows."""
    if not isinstance(y, str):
        return X, y
    named = X if is_mapping(X) else getattr(X, "column_names", getattr(X, "columns", None))
    if named is None:
        raise ParameterError(
            f"{y!r} names a column, and X has no names: give a frame or a mapping with this column, or the targets "
            "themselves, one per row."
        )
    if y in (declared or ()):
        raise ParameterError(f"{y!r} is the target, so it must not be among the columns declared in bounds.")
    names = list(named)
    if y not in names:
        near = _checks.suggestion(y, [name for name in names if isinstance(name, str)])
        raise DataError(f"The table must have a column {y!r}, the target.{near}")
    return {name: X[name] for name in names if name != y}, np.asarray(X[y])


def _names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(names)
