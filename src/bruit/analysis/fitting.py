"""Coefficients of a logistic model from reports: by the moments of clear data, or by the likelihood of the reports.

A person with predictors z has answer v with probability m_v ∝ exp(z'β_v), β of the first answer 0; β is K rows of p
coefficients. ``logistic.proof.md`` has the arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.errors import DataError, translated

Floats: TypeAlias = NDArray[np.float64]

#: When a step gains less than this share of the objective's curvature, the maximum is reached.
_TOLERANCE = 1e-10
_MOST_STEPS = 200
_HALVINGS = 40
#: A coefficient of a predictor of variance 1 beyond this has no finite maximum behind it.
_FAR = 12.0
#: How many numbers are held at a time for the expected information.
_CHUNK = 1 << 22


class CoefficientFit(NamedTuple):
    """Coefficients, one row per answer but the first, and the covariance of all of them in that order."""

    coefficients: Floats
    covariance: Floats


class Target(NamedTuple):
    """What is maximised: its value, its gradient and its curvature at some coefficients."""

    value: Callable[[Floats], float]
    gradient: Callable[[Floats], Floats]
    curvature: Callable[[Floats], Floats]


def chances(rows: Floats, coefficients: Floats) -> Floats:
    """The probability of each answer, a row per person."""
    linear = np.column_stack([np.zeros(len(rows)), rows @ coefficients.T])
    linear -= linear.max(axis=1, keepdims=True)
    weights = np.exp(linear)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def by_moments(rows: Floats, scores: Floats, law: Floats | None) -> CoefficientFit:
    """The solution of Σ z(s_v − m_v) = 0 for unbiased scores s: the equation of clear data, and concave.

    The bias of order 1/n that noise brings is taken off.
    """
    own, many = scores[:, 1:], scores.shape[1] - 1

    def value(b: Floats) -> float:
        linear = rows @ b.T
        highest = np.maximum(linear.max(axis=1), 0.0)
        norm = highest + np.log(np.exp(-highest) + np.exp(linear - highest[:, None]).sum(axis=1))
        return float((own * linear).sum() - norm.sum())

    def gradient(b: Floats) -> Floats:
        return np.asarray((own - chances(rows, b)[:, 1:]).T @ rows)

    def curvature(b: Floats) -> Floats:
        m = chances(rows, b)[:, 1:]
        return _blocks(rows, lambda i, j: m[:, i] * ((i == j) - m[:, j]), many)

    best = _ascend(Target(value, gradient, curvature), np.zeros((many, rows.shape[1])))
    inverse = np.asarray(np.linalg.inv(curvature(best)), np.float64)
    errors = own - chances(rows, best)[:, 1:]
    spread = _blocks(rows, lambda i, j: errors[:, i] * errors[:, j], many)
    # The bias is linear in the covariance: what noise adds to it is what exceeds the variance of clear answers.
    extra = spread - curvature(best) if law is None else _noise(rows, best, law)
    added = _bias(rows, best, inverse, inverse @ extra @ inverse)
    return CoefficientFit(best - added, inverse @ spread @ inverse)


def by_shares(rows: Floats, shares: Floats) -> Floats:
    """The solution of Σ_g z_g (F(g, v) − F(g)·m_v) = 0 for shares F of groups and answers, the baseline first."""
    own, sizes, many = shares[:, 1:], shares.sum(axis=1), shares.shape[1] - 1

    def value(b: Floats) -> float:
        linear = rows @ b.T
        highest = np.maximum(linear.max(axis=1), 0.0)
        norm = highest + np.log(np.exp(-highest) + np.exp(linear - highest[:, None]).sum(axis=1))
        return float((own * linear).sum() - sizes @ norm)

    def gradient(b: Floats) -> Floats:
        return np.asarray((own - sizes[:, None] * chances(rows, b)[:, 1:]).T @ rows)

    target = Target(value, gradient, lambda b: _curvature_by_shares(rows, sizes, b))
    return _ascend(target, np.zeros((many, rows.shape[1])))


def covariance_by_shares(rows: Floats, shares: Floats, best: Floats, covariance: Floats) -> Floats:
    """H⁻¹ G V G' H⁻¹: of the coefficients, from the covariance V of the shares, group by group."""
    (groups, answers), many = shares.shape, len(best)
    m = chances(rows, best)
    # ∂/∂F(g, u) of Σ z_g (F(g, v) − F(g)·m_v) is z_g (1{u = v} − m_v).
    slope = np.eye(answers)[1:, :] - m[:, 1:, None]
    derivative = np.einsum("gp,gvu->vpgu", rows, slope).reshape(many * rows.shape[1], groups * answers)
    inverse = np.linalg.inv(_curvature_by_shares(rows, shares.sum(axis=1), best))
    return np.asarray(inverse @ derivative @ covariance @ derivative.T @ inverse)


def _curvature_by_shares(rows: Floats, sizes: Floats, b: Floats) -> Floats:
    m = chances(rows, b)[:, 1:]
    return _blocks(rows, lambda i, j: sizes * m[:, i] * ((i == j) - m[:, j]), len(b))


def least_scores(law: Floats) -> Floats:
    """The matrix M⁻¹ that turns A_y/d_y into unbiased scores, d_y = Σ_v A_vy/k and M = Σ_y A_y A_y'/d_y.

    They have the least variance where all answers are alike, and their sum is 1 for every message.
    """
    return np.asarray(np.linalg.inv((law / law.mean(axis=0)) @ law.T), np.float64)


def _noise(rows: Floats, b: Floats, law: Floats) -> Floats:
    """Σ zz'⊗(E[ss'|z] − diag m): by how much the scores of reports vary more than clear answers."""
    scores = (law / law.mean(axis=0)).T @ least_scores(law)
    m, many = chances(rows, b), len(b)
    mixture = m @ law

    def weight(i: int, j: int) -> Floats:
        return np.asarray(mixture @ (scores[:, i + 1] * scores[:, j + 1]) - (i == j) * m[:, i + 1])

    return _blocks(rows, weight, many)


def by_likelihood(rows: Floats, likelihood: Floats, law: Floats | None, start: Floats | None) -> CoefficientFit:
    """The largest likelihood of the reports, by Fisher scoring from several starts.

    The bias of order 1/n that noise brings is taken off. Without a law the information is the mean of squared scores,
    which has the same limit, and the bias stays.
    """
    many = likelihood.shape[1] - 1

    def value(b: Floats) -> float:
        return float(np.log((chances(rows, b) * likelihood).sum(axis=1)).sum())

    def errors(b: Floats) -> Floats:
        m = chances(rows, b)
        joint = m * likelihood
        return np.asarray((joint / joint.sum(axis=1, keepdims=True) - m)[:, 1:])

    def gradient(b: Floats) -> Floats:
        return np.asarray(errors(b).T @ rows)

    def curvature(b: Floats) -> Floats:
        if law is not None:
            weights = _expected(chances(rows, b), law)
            return _blocks(rows, lambda i, j: weights[i, j], many)
        own = errors(b)
        return _blocks(rows, lambda i, j: own[:, i] * own[:, j], many)

    target = Target(value, gradient, curvature)
    starts = [np.zeros((many, rows.shape[1]))] + ([] if start is None else [start])
    solutions, problem = [], None
    for first in starts:
        try:
            solutions.append(_ascend(target, first))
        except Unbounded as error:
            problem = error
    if not solutions:
        assert problem is not None  # noqa: S101
        raise problem
    best = max(solutions, key=value)
    covariance = np.asarray(np.linalg.inv(curvature(best)), np.float64)
    if law is None:
        return CoefficientFit(best, covariance)
    answers = np.eye(many + 1)
    m = chances(rows, best)
    clear = np.asarray(np.linalg.inv(_blocks(rows, lambda i, j: m[:, i + 1] * ((i == j) - m[:, j + 1]), many)))
    added = _bias(rows, best, covariance, covariance, law) - _bias(rows, best, clear, clear, answers)
    return CoefficientFit(best - added, covariance)


def _bias(rows: Floats, b: Floats, inverse: Floats, covariance: Floats, law: Floats | None = None) -> Floats:
    """The bias of order 1/n: −½ I⁻¹ Σ z Σ_y ∂P(y)/P(y) · tr(V ∂²P(y)); by moments, without a law, −½ H⁻¹ Σ z tr(V ∂²m).

    ∂²m_v contracted with C = z'Vz is m_v[C_vv − 2(Cm)_v + 2m'Cm − Σ m_u C_uu], C of the first answer being 0.
    """
    (many, p), n = b.shape, len(rows)
    blocks = covariance.reshape(many, p, many, p)
    total = np.zeros((many, p))
    step = max(1, _CHUNK // (many * many * p + (1 if law is None else law.size)))
    for first in range(0, n, step):
        z = rows[first : first + step]
        m = chances(z, b)
        spread = np.einsum("ni,aibj,nj->nab", z, blocks, z, optimize=True)
        mixed = np.einsum("nab,nb->na", spread, m[:, 1:])
        own = np.einsum("naa->na", spread)
        common = 2 * (mixed * m[:, 1:]).sum(axis=1) - (own * m[:, 1:]).sum(axis=1)
        bent = m * (np.column_stack([np.zeros(len(z)), own - 2 * mixed]) + common[:, None])
        if law is None:
            weights = bent[:, 1:]
        else:
            mixture = m @ law
            slopes = m[:, 1:, None] * (law[None, 1:, :] - mixture[:, None, :])
            weights = np.einsum("nay,ny->na", slopes, bent @ law / mixture)
        total += weights.T @ z
    return np.asarray(-0.5 * (inverse @ total.ravel()).reshape(many, p))


def _expected(m: Floats, law: Floats) -> Floats:
    """Σ_y ∂P(y)/∂η_i · ∂P(y)/∂η_j / P(y) of every person, with ∂P(y)/∂η_v = m_v(A_vy − P(y))."""
    many, n = m.shape[1] - 1, len(m)
    weights = np.empty((many, many, n))
    step = max(1, _CHUNK // law.size)
    for first in range(0, n, step):
        part = m[first : first + step]
        mixture = part @ law
        slopes = part[:, 1:, None] * (law[None, 1:, :] - mixture[:, None, :])
        weights[:, :, first : first + step] = np.einsum("niy,njy,ny->ijn", slopes, slopes, 1 / mixture)
    return weights


def _blocks(rows: Floats, weight: Callable[[int, int], Floats], many: int) -> Floats:
    """The matrix of p × p blocks Σ w_ij z z'."""
    p = rows.shape[1]
    out = np.empty((many * p, many * p))
    for i in range(many):
        for j in range(i + 1):
            block = rows.T @ (rows * weight(i, j)[:, None])
            out[i * p : (i + 1) * p, j * p : (j + 1) * p] = block
            out[j * p : (j + 1) * p, i * p : (i + 1) * p] = block.T
    return out


class Unbounded(DataError):
    """There is no largest value: the coefficients grow without end, most of all those of `terms`."""

    def __init__(self, terms: list[int]) -> None:
        super().__init__("The coefficients have no finite estimate.")
        self.terms = terms


def _ascend(target: Target, start: Floats) -> Floats:
    """Newton's or Fisher's steps, halved until they gain."""
    b, value = start, target.value(start)
    for _ in range(_MOST_STEPS):
        gradient = target.gradient(b).ravel()
        step = _step(target.curvature(b), gradient, b)
        gain = float(gradient @ step)
        if gain < _TOLERANCE:
            return b
        size = 1.0
        for _ in range(_HALVINGS):
            moved = b + size * step.reshape(b.shape)
            reached = target.value(moved)
            if reached > value:
                break
            size /= 2
        else:  # no step gains more than rounding
            if gain < np.sqrt(_TOLERANCE):
                return b
            raise Unbounded(_largest(b))
        b, value = moved, reached
        if np.abs(b).max() > _FAR:
            raise Unbounded(_largest(b))
    raise Unbounded(_largest(b))


def _step(curvature: Floats, gradient: Floats, b: Floats) -> Floats:
    with translated(np.linalg.LinAlgError, lambda _: Unbounded(_largest(b))):
        step = np.asarray(np.linalg.solve(curvature, gradient))
    if not np.isfinite(step).all():
        raise Unbounded(_largest(b))
    return step


def _largest(b: Floats) -> list[int]:
    """The terms whose coefficients are at least half as large as the largest."""
    sizes = np.abs(b).max(axis=0)
    return [int(place) for place in np.flatnonzero(sizes >= sizes.max() / 2)]
