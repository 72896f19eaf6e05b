"""Scores for outputs of any kind: how much likelier an output looks under the first input than under the second.

A score is learnt from samples of both. Outputs are put into bins, and the score of a bin is the logarithm of the ratio
of its counts, each with half a count added, so that a bin seen under one input only has a large but finite score.
Nothing here has to be right for an audit to be valid: a bad score makes the bound low, never false.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: From outputs to one number each, larger where the first input looks likelier.
Score: TypeAlias = Callable[[NDArray[Any]], Floats]
#: From outputs to outputs in another form.
Form: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]
#: From outputs to the number of the bin of each.
Bins: TypeAlias = Callable[[NDArray[Any]], NDArray[np.int64]]

#: How many quantile bins floats get; with the lowest bit, which needs room in every bin, fewer.
QUANTILES = 128
FEW_QUANTILES = 8


def scores(first: NDArray[Any], second: NDArray[Any]) -> Iterator[tuple[str, Score]]:
    """Every way to score outputs like these, with its name, learnt from a sample under each input."""
    ours, theirs = plain(first), plain(second)
    if ours.ndim == 2:
        yield "sum over the columns", compose(_column_score(ours, theirs), plain)
        ours, theirs = rows_as_bytes(ours), rows_as_bytes(theirs)
        yield "whole rows", compose(learn(both_bins(ours, theirs), ours, theirs), compose(rows_as_bytes, plain))
        return
    yield _name_of(ours), compose(learn(both_bins(ours, theirs), ours, theirs), plain)
    if ours.dtype.kind == "f":
        yield "the lowest bit of floats", learn(lowest_bit_bins(_pooled(ours, theirs)), ours, theirs)


def plain(outputs: NDArray[Any]) -> NDArray[Any]:
    """Outputs that NumPy can sort: one axis, or two for rows of numbers."""
    if outputs.dtype.kind == "O":
        return np.array([_print(output) for output in outputs.tolist()], "S16")
    if outputs.dtype.kind in "Vc":
        return rows_as_bytes(outputs)
    return outputs if outputs.ndim == 1 else outputs.reshape(len(outputs), -1)


def learn(bins: Bins, first: NDArray[Any], second: NDArray[Any]) -> Score:
    """The smoothed log-ratio of the bins' counts; 0 for outputs in bins that neither sample had."""
    ours, theirs = bins(first), bins(second)
    size = int(max(ours.max(), theirs.max())) + 1
    counts = [np.bincount(numbers, minlength=size) + 0.5 for numbers in (ours, theirs)]
    values = np.append(np.log(counts[0] / counts[1]), 0.0)
    return lambda outputs: values[np.minimum(bins(outputs), size)]


def both_bins(first: NDArray[Any], second: NDArray[Any]) -> Bins:
    """Bins for outputs of this dtype, made from both samples."""
    pooled = _pooled(first, second)
    return float_bins(pooled) if pooled.dtype.kind == "f" else discrete_bins(pooled)


def discrete_bins(sample: NDArray[Any]) -> Bins:
    """One bin for each output in the sample, one more for all others."""
    known = np.unique(sample)
    return lambda outputs: _places(known, outputs)


def float_bins(sample: NDArray[Any]) -> Bins:
    """Bins between quantiles, and one of its own for every exact number that occurs twice: on a continuum none should.

    Numbers are compared by their bits, which tells 0 from −0 and lets NaN equal itself.
    """
    edges = _edges(sample, QUANTILES)
    bits, counts = np.unique(_bits(sample), return_counts=True)
    atoms = bits[counts > 1]

    def bins(outputs: NDArray[Any]) -> NDArray[np.int64]:
        place = _places(atoms, _bits(outputs))
        between = np.searchsorted(edges, outputs.astype(np.float64), side="right")
        return np.where(place < atoms.size, place, atoms.size + between)

    return bins


def lowest_bit_bins(sample: NDArray[Any]) -> Bins:
    """Bins by the finest power of two that a number is a multiple of, within a few quantiles.

    Noise added in floating point is rounded to the spacing of the sum, which depends on the input: this is how textbook
    implementations of the Laplace mechanism tell their secret.
    """
    edges = _edges(sample, FEW_QUANTILES)

    def bins(outputs: NDArray[Any]) -> NDArray[np.int64]:
        numbers = outputs.astype(np.float64)
        fraction, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
        whole = np.abs(fraction * 2.0**53).astype(np.int64)
        lowest = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)
        # Powers from 2⁻¹⁰⁷⁴ to 2¹⁰²³; zero and what is not finite share one more.
        power = np.where(whole == 0, 2200, exponent.astype(np.int64) + lowest - 53 + 1074)
        place: NDArray[np.int64] = power * (edges.size + 1) + np.searchsorted(edges, numbers, side="right")
        return place

    return bins


def rows_as_bytes(outputs: NDArray[Any]) -> NDArray[Any]:
    """Each row (or structured entry) as one text of bytes; texts of one width are equal only if all bytes are."""
    flat = np.ascontiguousarray(outputs).reshape(len(outputs), -1)
    return flat.view(np.uint8).reshape(len(outputs), -1).view(f"S{flat.shape[1] * flat.itemsize}").reshape(-1)


def compose(after: Form, before: Form) -> Form:
    """One change of form, or score, after another."""
    return lambda outputs: after(before(outputs))


def _column_score(first: NDArray[Any], second: NDArray[Any]) -> Score:
    """The sum of the columns' scores: the log-ratio itself where columns are independent, a good guess elsewhere."""
    columns = range(first.shape[1])
    parts = [learn(both_bins(first[:, c], second[:, c]), first[:, c], second[:, c]) for c in columns]
    return lambda outputs: np.sum([part(outputs[:, c]) for c, part in enumerate(parts)], axis=0)


def _pooled(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([first, second])


def _edges(sample: NDArray[Any], bins: int) -> Floats:
    """Quantiles taken from the sample itself, without arithmetic, so that infinities do no harm."""
    ordered = np.sort(sample.astype(np.float64))
    return np.unique(ordered[(np.arange(1, bins) * ordered.size) // bins])


def _bits(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(numbers.astype(np.float64)).view(np.uint64)


def _places(known: NDArray[Any], outputs: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each output among the known ones, which are sorted; their number for one that is not there."""
    place = np.searchsorted(known, outputs)
    there = place < known.size
    there[there] = known[place[there]] == outputs[there]
    return np.where(there, place, known.size)


def _print(output: Any) -> bytes:
    """A short fingerprint of any Python value, by its repr."""
    return hashlib.blake2b(repr(output).encode(), digest_size=8).hexdigest().encode()


def _name_of(outputs: NDArray[Any]) -> str:
    return "quantiles and repeated numbers" if outputs.dtype.kind == "f" else "whole outputs"
