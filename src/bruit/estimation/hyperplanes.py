"""Sums over all hyperplanes of a projective space over a prime field, and the model of projective geometry response.

Points have t coordinates modulo a prime q, not all zero, and are canonical: the highest nonzero one is 1. Read as
digits to base q they are whole numbers with leading digit 1; in their order they are numbered 0..K−1. So point x ≥ 1
with t coordinates is point X = (x−1) // q with t − 1 coordinates, followed by the coordinate x₀ = (x−1) mod q. Points x
and y are orthogonal when Σᵢ xᵢ·y_{t−1−i} = 0 mod q: a symmetric relation, and the hyperplane of x are the points
orthogonal to it.

The sums over all K hyperplanes come from one Fourier transform over q^{t−1} cells, and one of length q for each of
about K/q lines: K·log K steps. Rejected: the transform over all q^t vectors, which repeats every point q − 1 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import LimitError
from bruit.estimation.support import Floats
from bruit.estimation.tally import Counts

#: Whole numbers are summed in floating point, exactly, as digits to this base when they are large.
DIGIT_BITS = 16
#: The Euclidean length below which no digits are needed: see ``oracles/projective_geometry.proof.md``.
SAFE_LENGTH = 2.0**27
#: How far from a whole number a sum may come out; the proof allows 0.01.
RESIDUAL = 0.25


@dataclass(frozen=True)
class ProjectiveSpace:
    """The points with t coordinates modulo a prime q.

    Parameters
    ----------
    q
        The prime.
    t
        How many coordinates a point has, 2 or more.

    Examples
    --------
    The seven points of the Fano plane; each hyperplane, here a line, has three.

    >>> plane = ProjectiveSpace(q=2, t=3)
    >>> plane.points, plane.members, plane.shared
    (7, 3, 1)
    >>> plane.sums(np.ones(7, np.int64)).tolist()
    [3, 3, 3, 3, 3, 3, 3]
    """

    q: int
    t: int

    @property
    def points(self) -> int:
        """K = (q^t − 1)/(q − 1)."""
        return self.first(self.t)

    @property
    def members(self) -> int:
        """How many points a hyperplane has."""
        return self.first(self.t - 1)

    @property
    def shared(self) -> int:
        """How many points two hyperplanes have in common."""
        return self.first(self.t - 2)

    def first(self, m: int) -> int:
        """The number of the first point whose leading coordinate is at place m: how many points have m coordinates."""
        return int((self.q**m - 1) // (self.q - 1))

    def firsts(self) -> NDArray[np.int64]:
        """`first` for m = 0..t."""
        return np.array([self.first(m) for m in range(self.t + 1)])

    def digits(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """The coordinates of points, one row each, the lowest first."""
        firsts = self.firsts()
        lead = np.searchsorted(firsts, points, side="right") - 1
        code = points - firsts[lead] + self.q**lead
        return np.asarray(code[:, None] // self.q ** np.arange(self.t) % self.q)

    def orthogonal(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A table that says which of the first points are orthogonal to which of the second."""
        # A float64 product is exact here: it stays below t·q² < 2⁵³.
        product = self.digits(first)[:, ::-1].astype(float) @ self.digits(second).T.astype(float)
        return np.asarray(product % self.q == 0)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each point, the sum of the values at the points orthogonal to it; whole numbers stay whole."""
        firsts = self.firsts()
        below: NDArray[Any] = np.zeros(
            1, values.dtype
        )  # with one coordinate, the only point is not orthogonal to itself
        for t in range(2, self.t + 1):
            # The points whose leading coordinate is the highest, then those with one coordinate less.
            top = values[firsts[t - 1] : firsts[t]]
            sums = np.empty(firsts[t], values.dtype)
            sums[0] = values[: firsts[t - 1]].sum()
            sums[1:] = (self._profiles(top, firsts[:t]) + below[:, None]).ravel()
            below = sums
        return below

    def _profiles(self, top: NDArray[Any], firsts: NDArray[np.int64]) -> NDArray[Any]:
        """For each point X and x₀, the sum over the vectors a with <X, a> = −x₀; `firsts` are of X's space."""
        if firsts.size == 2:
            return np.asarray(top[-np.arange(self.q) % self.q][None, :])
        if top.dtype.kind == "f":
            return self._fourier(top, firsts)
        if float(np.sqrt(np.square(top, dtype=float).sum())) <= SAFE_LENGTH:
            return _whole(self._fourier(top.astype(float), firsts))
        high, low = top >> DIGIT_BITS, top & ((1 << DIGIT_BITS) - 1)
        return np.asarray((self._profiles(high, firsts) << DIGIT_BITS) + self._profiles(low, firsts))

    def _fourier(self, top: Floats, firsts: NDArray[np.int64]) -> Floats:
        from scipy import fft

        from bruit.kernels import projective_geometry as kernel

        q = self.q
        spectrum = fft.rfftn(top.reshape((q,) * (firsts.size - 1)))
        lines = np.empty((firsts[-1], q // 2 + 1), np.complex128)
        kernel.gather(spectrum.reshape(-1), q, firsts, lines)
        del spectrum
        return np.asarray(fft.irfft(lines, n=q, axis=1, overwrite_x=True))


def _whole(sums: Floats) -> Counts:
    """The whole numbers that sums in floating point stand for."""
    nearest = np.rint(sums)
    if float(np.abs(sums - nearest).max()) >= RESIDUAL:
        raise LimitError("These counts are too large to be decoded exactly.")
    return nearest.astype(np.int64)
