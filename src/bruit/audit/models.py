"""What a model draws from: the laws of all sums that a fit releases, for an auditor.

A fit may release sums several times, and what it sums may depend on what it has published before. So two tables are
compared *given the same answers*: the fit on the second goes on with those of the first, and the losses of all
releases add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import ParameterError, ParameterTypeError
from bruit.releases import SumLaw
from bruit.tables import counted

_OTHER = (
    "A transcript is of a model that learns from noisy sums, as NaiveBayes, LinearRegression or KMeans; a local model "
    "learns from the reports of its plan, which exact_plan audits."
)


@dataclass(frozen=True, repr=False)
class Transcript:
    """All that a fit releases: the laws of the sums, which know the data and are as secret, and the noisy answers.

    Parameters
    ----------
    laws
        The law of each release of sums, in their order.
    answers
        The noisy sums of each, from which the model is computed.
    """

    laws: tuple[SumLaw, ...]
    answers: tuple[NDArray[np.int64], ...]

    def loss(self, other: Transcript) -> Fraction | float:
        """The exact loss between two tables, given the same answers; infinite for Gaussian noise, which has `rho`."""
        losses = [ours.loss(theirs) for ours, theirs in self._beside(other)]
        return math.inf if math.inf in losses else sum(losses, Fraction(0))

    def rho(self, other: Transcript) -> Fraction:
        """The exact ρ-zCDP between two tables, given the same answers, for Gaussian noise."""
        return sum((ours.rho(theirs) for ours, theirs in self._beside(other)), Fraction(0))

    def __repr__(self) -> str:
        return f"<Transcript: {counted(len(self.laws), 'release')} of sums, redacted>"

    def _beside(self, other: Transcript) -> list[tuple[SumLaw, SumLaw]]:
        if len(self.laws) != len(other.laws) or not all(map(np.array_equal, self.answers, other.answers)):
            raise ParameterError(
                "Two transcripts are compared given the same answers: audit.transcript(model, …, like=first)."
            )
        return list(zip(self.laws, other.laws, strict=True))


class _Recorder:
    """Keeps the laws of a fit, and replaces its answers by those that it was given."""

    def __init__(self, answers: tuple[NDArray[np.int64], ...] | None) -> None:
        self.laws: list[SumLaw] = []
        self.answers: list[NDArray[np.int64]] = []
        self._stated = answers

    def released(self, law: SumLaw, noisy: NDArray[np.int64]) -> NDArray[np.int64]:
        place = len(self.answers)
        if self._stated is not None:
            if place >= len(self._stated) or self._stated[place].shape != noisy.shape:
                raise ParameterError("Two transcripts are compared that are not of the same model and columns.")
            noisy = self._stated[place].copy()
        self.laws.append(law)
        self.answers.append(noisy.copy())
        return noisy


def transcript(model: Any, X: Any, y: Any = None, *, like: Transcript | None = None, seed: int = 0) -> Transcript:
    """What a fit of this model on these data releases: the laws of its sums, and noisy answers.

    The model itself is not fitted, and nothing is booked: a copy is, with a seed, and thrown away. A transcript has the
    exact sums of the data in it; it is for the holder of the data, and not to be published.

    Parameters
    ----------
    model
        A model of `bruit.learning` that learns from noisy sums, as `NaiveBayes` or `AdditiveClassifier`.
    X, y
        As for its `fit`.
    like
        A transcript whose answers this fit goes on with, so that the two can be compared.
    seed
        Of the noise, and of what a fit chooses at random; the same for both tables.

    Examples
    --------
    >>> from bruit import audit
    >>> from bruit.learning import NaiveBayes
    >>> model = NaiveBayes(1.0, bounds=(0, 1), classes=["no", "yes"])
    >>> here = audit.transcript(model, [[0.2], [0.9], [1.0]], ["no", "yes", "yes"])
    >>> without = audit.transcript(model, [[0.2], [0.9]], ["no", "yes"], like=here)
    >>> float(here.loss(without)) <= 1.0
    True
    """
    from bruit.learning._base import PrivateModel, watched_fit

    if not isinstance(model, PrivateModel):
        raise ParameterTypeError(_OTHER)
    recorder = _Recorder(None if like is None else like.answers)
    watched_fit(model, X, y, recorder, seed)
    if not recorder.laws:
        raise ParameterTypeError(_OTHER)
    return Transcript(tuple(recorder.laws), tuple(recorder.answers))
