"""k-means with differential privacy: noisy counts of cells to start from, noisy sums to move the centres.

A fit reads its data once for the cells of a grid and once for each step of Lloyd's algorithm, books all it will spend
before the first noise, and keeps nothing but what noisy counts and sums give. See ``cells.py``, ``lloyd.py`` and
``kmeans.proof.md``.

Rejected: skipping clusters without records (whether a cluster is empty is a fact about people; diffprivlib does it, and
an audit shows more than three times its ε); stopping when centres stand still (it would have to be paid for); sums
around the present centre (a record may be further from it than from the middle of its bounds, so they need more noise).
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from bruit import _checks
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from bruit.estimation.tally import exact_sum
from bruit.learning._base import Count, Counts, FoldedSums, PrivateModel, _is_source, blocks_of
from bruit.learning._features import STEPS, FeatureRows, Features, Floats
from bruit.learning._sums import SumNoise
from bruit.learning._validation import validated
from bruit.learning.kmeans.cells import HalvedBox
from bruit.learning.kmeans.lloyd import OTHER_COLUMNS, Step, lost, nearest_sums, packed
from bruit.privacy.guarantee import Guarantee
from bruit.typing import ColumnLike, FeatureBounds, SourceLike

__all__ = ["KMeans"]

#: The parts of ε, or of ρ, for the number of records, for the cells, and for all steps together.
_FOR_SIZE, _FOR_CELLS, _FOR_STEPS = Fraction(3, 100), Fraction(35, 100), Fraction(62, 100)
#: Steps are taken while the noise of each adds less than this part to the distances; chosen on simulated mixtures.
_NOISE_PER_STEP = 0.02
_MOST_STEPS = 5
#: How many steps the printed algorithm takes unless it is told.
_PRINTED_STEPS = 5
_MOST_CLUSTERS = 1 << 12
#: Rows that one thread takes at a time.
_BLOCK = 1 << 13

_ONE_SHOT = (
    "k-means reads its data several times, and an iterator or an open file can be read only once. "
    "Give a list of batches, a path, a mapping, a frame or a matrix."
)
_LOST = (
    "At this ε noise hides the clusters: by the noisy counts, one centre would describe these data about as well. "
    "A larger ε, fewer clusters, fewer columns, narrower bounds or more records would help. Each fit spends its own ε."
)
#: Attributes of scikit-learn's model that would be computed without noise, and what to use instead.
_EXACT = {
    "labels_": "labels of the records that were learned from tell about them without noise. predict(X) gives the "
    "labels of records that you hold.",
    "inertia_": "distances of the records that were learned from tell about them without noise. -score(X) gives the "
    "inertia of records that you hold.",
}


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, PrivateModel):  # type: ignore[misc]
    """Centres of clusters from noisy counts and sums (DP k-means, DPLloyd, EUGkM).

    Parameters
    ----------
    n_clusters
        How many centres.
    epsilon
        The most that the centres may tell about one record.
    bounds
        What the columns can be, declared: ``(low, high)`` for all, ``([…], […])`` for each, or a `Schema` of grids.
        Numbers outside count as the nearest bound. Narrow bounds make good centres.
    scale
        True (default): distances are between columns scaled by their bounds to 0..1, so that each counts alike whatever
        its unit. False: distances in the units of X, where the column of the largest numbers decides alone. Agreement
        with the true kinds (adjusted Rand index) at ε = 1, raw and scaled: breast cancer (569 records) .44 and .60,
        wine 50 times over (8,900 records) .38 and .70. With few records and many columns raw units may win:
        noise then hides all but one column, as of wine itself (178 records, 13 columns) .33 and .12.
    method
        ``"joint"`` (default): starts from noisy counts of a grid's cells, then noisy counts and sums released together.
        ``"lloyd"``: the printed algorithm, which starts from spread points and gives ε/2t to the counts and ε/2t to the
        sums of each of t steps, with sensitivities 1 and d·r.
    iterations
        How many steps; by default 5 for ``"lloyd"``, else 1 to 5 by the expected error.
    delta
        0 for pure ε with Laplace noise; above 0 for Gaussian noise under zCDP, with ``"joint"`` only.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.
    person, rows
        Where people have several rows: the column that says whose row it is, and how many rows of a person count; or a
        `Person`. X is then a table that has this column, and `bounds` names the columns that are learned from. Without
        a person the guarantee speaks of a record.
    ledger
        A `Ledger` that each fit books ε in, once.
    rng, random_state
        None for secure noise; an int for a study that can be repeated.

    Attributes
    ----------
    cluster_centers_
        The centres, in the units of X.
    cluster_counts_
        How many records were nearest to each before the last step, with noise, and 0 where that went below.
    n_iter_
        How many steps were taken, as noisy counts decided.
    guarantee_, simulated_
        What the fit promises, and whether its noise came from a seed.

    Guarantee
    ---------
    A record is in one cell, and at each step in one cluster: it changes one count by 1, or one count and one vector of
    sums within the declared bounds. Discrete noise for exactly that is added to every count and sum, also of empty
    clusters; the losses of all readings add up to ε (or to the ρ of ε and δ) whatever the centres were. There is no
    `labels_` and no `inertia_`: both would be computed from the data without noise.

    Error
    -----
    In each of d columns of equal width the noise of the sums moves a centre by about 2.3·(d + (d/5)^⅓)·T/(ε·m) half
    widths, for T steps and m records in its cluster, and twice that for ``"replace"``; a centre moves towards its noisy
    mean only as far as that stands out from the noise. A warning says when, by the noisy counts, one centre would do as
    well.

    References
    ----------
    Su, Cao, Li, Bertino and Jin (2016), Differentially private k-means clustering.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 1.0], [9.0, 9.0]], 2000, axis=0)
    >>> model = KMeans(n_clusters=2, epsilon=1.0, bounds=(0, 10), random_state=7).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round().tolist()
    [1.0, 9.0]
    >>> print(model.guarantee_)
    ε = 1 (central, one record added or removed)
    """

    _supervised = False

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float | None = None,
        bounds: FeatureBounds | None = None,
        scale: bool = True,
        method: Literal["joint", "lloyd"] = "joint",
        iterations: int | None = None,
        delta: float = 0.0,
        neighbours: Literal["add-remove", "replace"] = "add-remove",
        person: Any = None,
        rows: int | None = None,
        ledger: Any = None,
        rng: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon: Any = epsilon  # fit asks for it: there is no usual one
        self.bounds = bounds
        self.scale = scale
        self.method = method
        self.iterations = iterations
        self.delta = delta
        self.neighbours = neighbours
        self.person = person
        self.rows = rows
        self.ledger = ledger
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike | str | None = None, **unsupported: Any) -> KMeans:
        """Find the centres, and book what that spends; y is not used.

        X is a matrix, a frame, a mapping, a path, a Spark DataFrame or a list of batches: it is read several times.
        """
        features = self._declared(unsupported)
        self._warn_of_people(X)
        read = _same_columns(self._reader(X, features))
        in_vain = self._printed(read, features) if self.method == "lloyd" else self._joint(read, features)
        if in_vain and self.n_clusters > 1:
            warnings.warn(_LOST, UserWarning, stacklevel=2)
        return self

    def fit_predict(self, X: SourceLike, y: ColumnLike | str | None = None, **unsupported: Any) -> NDArray[np.int32]:
        """The number of the nearest centre of each row, for the holder of the rows; it is not kept.

        Only the centres are private: a row's label tells where that row is.
        """
        return self.fit(X, y, **unsupported).predict(X)

    def predict(self, X: SourceLike) -> NDArray[np.int32]:
        """The number of the nearest centre of each row."""
        nearest: NDArray[np.int32] = self._distances(X).argmin(axis=1).astype(np.int32)
        return nearest

    def transform(self, X: SourceLike) -> Floats:
        """The distance of each row from each centre; with `scale`, between columns scaled to 0..1 by their bounds."""
        return self._distances(X)

    def score(self, X: SourceLike, y: ColumnLike | str | None = None) -> float:
        """Minus the sum of squared distances, as in `transform`, of the rows of X from their centres; without noise."""
        return -float((self._distances(X).min(axis=1) ** 2).sum())

    if not TYPE_CHECKING:  # a type checker would take every name for one that is here

        def __getattr__(self, name: str) -> Any:
            """Say why the two attributes that other k-means have are not here."""
            if name in _EXACT:
                raise AttributeError(f"There is no {name}: {_EXACT[name]}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def _distances(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows, centres = self._rows(X).numbers, self.cluster_centers_
        if self._scaled:
            low, high = self._features.ends(centres.shape[1])
            # Halves, because the distance of two bounds may be beyond all floats.
            rows, centres = ((points / 2 - low / 2) / (high / 2 - low / 2) for points in (rows, centres))
        return np.asarray(euclidean_distances(rows, centres), np.float64)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    # The two methods

    def _joint(self, read: Callable[[Count], FoldedSums], features: Features) -> bool:
        """Start from noisy counts of cells; then steps with all sums of a step released together.

        Both methods say whether one centre would have done as well, by noisy numbers only.
        """
        weights_of = functools.partial(_weights, features, scale=bool(self.scale))
        first = read(lambda rows, _: _cells(weights_of, rows).count(rows.numbers, *_ends(features, rows)))
        weights = weights_of(first.columns)
        cells = HalvedBox.of(weights)
        by_size, by_cell = self._noise((STEPS,), _FOR_SIZE), self._noise((1,), _FOR_CELLS)
        self._step(weights, _FOR_STEPS / (self.iterations or _MOST_STEPS))  # refused before anything is booked
        entropy = self._book(self._guarantee, first.sums, features)

        exact = first.sums.astype(object)  # sums of sums may leave 64 bits
        size = _size(exact, by_size, entropy) if self._row_neighbours == "add-remove" else max(float(exact.sum()), 1.0)
        level = cells.level(size, by_cell.scale, self.n_clusters)
        noisy = self._noise((1,) * (1 << level), _FOR_CELLS).draw(exact.reshape(1 << level, -1).sum(axis=1), entropy)
        start = cells.start(noisy, size, by_cell.scale, self.n_clusters, entropy)
        step = self._chosen(weights, size, start.inertia)
        centres, known = start.centres, start.divided.copy()
        for _ in range(self.n_iter_):
            total = read(lambda rows, _, at=centres: nearest_sums(rows.numbers, *_ends(features, rows), at, weights))  # type: ignore[misc]
            counts, sums = step.draw(total.sums, entropy)
            # What the grid did not divide starts in the middle of its bounds: the mean of all is a better prior.
            centres = np.where(known, centres, step.pooled(counts, sums, size))
            known[:] = True
            centres = step.moved(centres, counts, sums)
        self._keep(features, first.columns, centres, counts, entropy)
        return start.hidden or step.expected(size) + start.inertia >= start.alone

    def _printed(self, read: Callable[[Count], FoldedSums], features: Features) -> bool:
        """The printed algorithm: counts at ε/2t with sensitivity 1, sums at ε/2t with sensitivity d·r, t times."""
        times = self.iterations or _PRINTED_STEPS
        share, twice = Fraction(1, 2 * times), 1 if self._row_neighbours == "add-remove" else 2
        clusters = self.n_clusters  # the model itself, with its ledger, does not go where rows are counted
        weights_of = functools.partial(_weights, features, scale=bool(self.scale))

        def count(rows: FeatureRows, at: Floats | None) -> Counts:
            weights = weights_of(rows.numbers.shape[1])
            centres = packed(tuple(weights), clusters) if at is None else at
            return nearest_sums(rows.numbers, *_ends(features, rows), centres, weights)

        first = read(lambda rows, _: count(rows, None))
        weights = weights_of(first.columns)
        many = self.n_clusters * first.columns
        of_counts = SumNoise((1,) * self.n_clusters, Fraction(twice), self.epsilon, 0.0, share, self._times)
        of_sums = SumNoise((2 * STEPS,) * many, Fraction(twice * first.columns), self.epsilon, 0.0, share, self._times)
        entropy = self._book(self._guarantee, first.sums, features)

        centres, exact = packed(tuple(weights), self.n_clusters), first.sums
        for turn in range(times):
            if turn:
                exact = read(lambda rows, _, at=centres: count(rows, at)).sums  # type: ignore[misc]
            table = exact.reshape(self.n_clusters, -1).astype(object)
            counts = of_counts.draw(table[:, 0], entropy).astype(np.float64)
            # The document's numbers lie in 0..r: steps from the low end, 2·STEPS of them to the width.
            from_low = of_sums.draw((table[:, 1:] + STEPS * table[:, :1]).reshape(-1), entropy)
            means = from_low.reshape(self.n_clusters, -1) / np.maximum(counts, 1)[:, None] / STEPS - 1
            centres = np.where(counts[:, None] >= 1, np.clip(means, -1, 1), centres)
        self.n_iter_ = times
        self._keep(features, first.columns, centres, counts, entropy)
        return lost(centres * weights, counts, of_sums.errors[0] * 2 * weights)

    # What both share

    def _declared(self, unsupported: Mapping[str, Any] = MappingProxyType({})) -> Features:
        """The declared columns, after all parameters were checked."""
        features = super()._declared(unsupported)
        _checks.integer(low=1, high=_MOST_CLUSTERS, n_clusters=self.n_clusters)
        _checks.one_of(("joint", "lloyd"), method=self.method)
        if not isinstance(self.scale, bool | np.bool_):
            raise ParameterTypeError("scale must be True or False.")
        if self.iterations is not None:
            _checks.integer(low=1, high=1000, iterations=self.iterations)
        if _checks.fraction(delta=self.delta) == 1:
            raise ParameterError("delta must be below 1: at 1 nothing is promised.")
        if self.delta and self.method == "lloyd":
            raise ParameterError('method="lloyd" is for delta = 0: use method="joint" with a delta.')
        return features

    @property
    def _guarantee(self) -> Guarantee:
        return self._promised(self.delta)

    def _design(self) -> dict[str, Any]:
        """Plain values of the parameters that decide the noise."""
        extra = {"clusters": int(self.n_clusters), "method": self.method, "delta": float(self.delta)}
        extra |= {"scale": bool(self.scale)}
        return super()._design() | extra | {"iterations": self.iterations and int(self.iterations)}

    def _reader(self, X: Any, features: Features) -> Callable[[Count], FoldedSums]:
        """What reads all rows, as often as it is called; a matrix is checked once."""
        if isinstance(X, Iterator) or hasattr(X, "read") or (isinstance(X, str) and X == "-"):
            raise DataTypeError(_ONE_SHOT)
        if self.person is not None:
            return self._people_reader(X, None, features)
        if _is_batches(X):
            return lambda count: self._fold_source(X, None, features, count)
        if features.names is not None or _is_source(X, None):
            return lambda count: self._fold(X, None, features, count)
        matrix = validated(self, X, dtype=np.float64, order="C", ensure_min_samples=0)
        features.width(matrix.shape[1])

        def read(count: Count) -> FoldedSums:
            blocks = blocks_of(len(matrix), _BLOCK)
            parts = memory.in_order(lambda block: count(FeatureRows(matrix[block[1]], ()), None), blocks)
            return FoldedSums(functools.reduce(exact_sum, parts), matrix.shape[1], None)

        return read

    def _noise(self, units: tuple[int, ...], share: Fraction) -> SumNoise:
        """Noise for counts of which one record changes one."""
        change = Fraction(1 if self._row_neighbours == "add-remove" else 2)
        if self._row_neighbours == "replace" and share == _FOR_CELLS:
            share += _FOR_SIZE  # the number of records is public
        return SumNoise(units, change, self.epsilon, self.delta, share, self._times)

    def _step(self, weights: Floats, share: Fraction) -> Step:
        return Step.of(
            weights,
            self.n_clusters,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self._row_neighbours,
            share=share,
            times=self._times,
        )

    def _chosen(self, weights: Floats, size: float, inertia: float) -> Step:
        """A step, of as many as the noise allows."""
        times = self.iterations or 1
        step = self._step(weights, _FOR_STEPS / times)
        while self.iterations is None and times < _MOST_STEPS:
            shorter = self._step(weights, _FOR_STEPS / (times + 1))
            if shorter.expected(size) > _NOISE_PER_STEP * inertia:
                break
            step, times = shorter, times + 1
        self.n_iter_ = times
        return step

    def _keep(self, features: Features, columns: int, centres: Floats, counts: Floats, entropy: Entropy) -> None:
        low, high = features.ends(columns)
        self.cluster_centers_ = np.clip(low / 2 + high / 2 + centres * (high / 2 - low / 2), low, high)
        self.cluster_counts_ = np.maximum(counts, 0.0)
        self._scaled = bool(self.scale)  # as it was fitted, whatever the parameter is later
        self._promise(self._guarantee, features, entropy)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.rng is None and self.random_state is None
        return tags


def _ends(features: Features, rows: FeatureRows) -> tuple[Floats, Floats]:
    return features.ends(rows.numbers.shape[1])


def _weights(features: Features, columns: int, *, scale: bool) -> Floats:
    """Half widths of the columns, as parts of the box's half diagonal: all equal where columns are scaled."""
    if scale:
        return np.full(features.width(columns), 1 / math.sqrt(columns))
    low, high = features.ends(columns)
    half = high / 2 - low / 2
    half /= half.max()
    return np.asarray(np.maximum(half, 1e-12) / math.sqrt(float((half**2).sum())), np.float64)


def _cells(weights_of: Callable[[int], Floats], rows: FeatureRows) -> HalvedBox:
    return HalvedBox.of(weights_of(rows.numbers.shape[1]))


def _size(sums: Counts, noise: SumNoise, entropy: Entropy) -> float:
    """A noisy number of records, not below what noise alone would give."""
    noisy = float(noise.draw(STEPS * sums.sum(keepdims=True), entropy)[0]) / STEPS
    return max(noisy, math.sqrt(2) * float(noise.errors[0]), 10.0)


def _same_columns(read: Callable[[Count], FoldedSums]) -> Callable[[Count], FoldedSums]:
    """The same reading, refused if it finds other columns than the first one did, or another order of them."""
    seen: list[tuple[int, Any]] = []

    def checked(count: Count) -> FoldedSums:
        result = read(count)
        seen.append((result.columns, result.names))
        if seen[-1] != seen[0]:
            raise DataError(OTHER_COLUMNS)
        return result

    return checked


def _is_batches(X: Any) -> bool:
    """Whether X is something to go through again and again that is neither an array, a frame nor a sequence."""
    known = ("__array__", "columns", "column_names", "toarray", "__dataframe__")
    if isinstance(X, str | bytes | Mapping | list | tuple) or not isinstance(X, Iterable):
        return False
    return not any(hasattr(X, name) for name in known) and not hasattr(X, "__fspath__")
