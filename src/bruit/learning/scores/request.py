"""What is asked of a model's scores: metrics, classes or bounds, ε, and who is protected."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from bruit import _checks, documents
from bruit.entropy import Entropy
from bruit.errors import ParameterError, ParameterTypeError
from bruit.learning._base import Counts, seed_of
from bruit.learning._sums import SumNoise
from bruit.learning.linear_regression.model import target_ends
from bruit.learning.naive_bayes.classes import declared_classes
from bruit.learning.scores.estimates import METRICS, NoisySums
from bruit.learning.scores.predictions import ClassView, NumberView, ScoreView
from bruit.learning.scores.result import Scores
from bruit.privacy.booking import Charge, booked
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.zcdp import epsilon_to_rho
from bruit.releases.noise import cut
from bruit.releases.person import Person
from bruit.releases.statistic import CENTRAL

_LABEL = "private_score"


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """All that is declared about a release of scores; checked before any record is read.

    Parameters are those of `bruit.learning.private_score`.
    """

    epsilon: Any
    classes: Any = None
    target_bounds: Any = None
    positive: Any = None
    metrics: Any = None
    delta: Any = 0.0
    neighbours: str = "add-remove"
    person: Any = None
    rows: Any = None

    def __post_init__(self) -> None:
        if self.epsilon is None:
            raise ParameterError("epsilon must be declared, the most that the scores may tell about a record.")
        _checks.warn_of_weak(_checks.spent_epsilon(epsilon=self.epsilon))
        if _checks.fraction(delta=self.delta) == 1:
            raise ParameterError("delta must be below 1: at 1 nothing is promised.")
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        _ = self.times
        if self.target_bounds is not None and not (self.metrics is self.positive is self.classes is None):
            raise ParameterError(
                "metrics, classes and positive are for classifiers, and target_bounds for regressions."
            )

    @property
    def who(self) -> Person | None:
        """The person who is protected, if it is not a row."""
        return Person.of(self.person, self.rows)

    @property
    def times(self) -> int:
        """By how many rows, added or removed, neighbours differ."""
        return 1 if self.who is None else self.who.contribution(None, replaced=self.neighbours == "replace").times

    @property
    def row_neighbours(self) -> str:
        """What the noise of one row is made for; where people have several rows, their number is never public."""
        return self.neighbours if self.who is None else "add-remove"

    @property
    def guarantee(self) -> Guarantee:
        """What the scores promise."""
        neighbours: Any = self.neighbours if self.who is None else f"person-{self.neighbours}"
        return Guarantee(epsilon=float(self.epsilon), delta=float(self.delta), neighbours=neighbours)

    @property
    def charge(self) -> Charge:
        """What a ledger books."""
        rho = epsilon_to_rho(self.guarantee.epsilon, self.guarantee.delta) if self.delta else None
        return Charge(self.guarantee, _LABEL, rho)

    def view(self, model: Any) -> ScoreView:
        """How answers of this model become whole numbers; refused if it cannot give what is asked."""
        if self.target_bounds is not None:
            return NumberView(*target_ends(self.target_bounds))
        if is_regressor(model):
            raise ParameterError("A regression needs target_bounds=(low, high), what its target can be.")
        method = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), None)
        method = method if hasattr(model, "classes_") else None
        if self.classes is None and not hasattr(model, "classes_"):
            raise ParameterError("This model has no classes_: declare them, as in classes=[0, 1].")
        classes = declared_classes(self.classes if self.classes is not None else model.classes_)
        if method == "decision_function" and (len(model.classes_), classes.size) != (2, 2):
            method = None
        positive = _positive(self.positive, classes)
        return ClassView(classes, method, positive, self._metrics(method, positive))

    def _metrics(self, method: str | None, positive: int | None) -> frozenset[str]:
        possible = {"accuracy"} | ({"log_loss"} if method == "predict_proba" else set())
        if positive is not None and method is not None:
            possible |= {"auroc"} | ({"calibration"} if method == "predict_proba" else set())
        if self.metrics is None:
            return frozenset(possible)
        wanted = [self.metrics] if isinstance(self.metrics, str) else list(self.metrics)
        if not wanted:
            raise ParameterError(f"metrics must name some of {', '.join(METRICS)}.")
        for name in wanted:
            _checks.one_of(METRICS, metrics=name)
            if name not in possible:
                raise ParameterError(
                    f"This model gives no {name}: accuracy needs predict, log_loss and calibration need predict_proba, "
                    "auroc needs predict_proba or a decision of two classes. Name the class to rank by positive= where "
                    "there are more than two."
                )
        return frozenset(wanted)

    def noise(self, view: ScoreView) -> SumNoise:
        """The noise of the release; what cannot be drawn is refused."""
        sums = view.sums(self.row_neighbours)
        return sums.noise(float(self.epsilon), float(self.delta), self.row_neighbours, self.times)

    def release(self, view: ScoreView, exact: Counts, size: int, ledger: Any, rng: Any) -> Scores:
        """Book, draw the noise once, and compute every score from the noisy sums."""
        sums, noise = view.sums(self.row_neighbours), self.noise(view)
        seed = seed_of(rng, None)
        booked(self.charge, ledger)
        entropy = self._entropy(seed, exact, view)
        noisy = noise.draw(exact, entropy)
        steps = noise.errors * np.asarray(noise.units)
        public = size if self.row_neighbours == "replace" else None
        estimates = NoisySums(sums.split(noisy), sums.split(steps), public, noise.delta > 0)
        return Scores(
            scores=tuple(view.scores(estimates)),
            ranks=estimates.table if "ranks" in estimates.sums else None,
            guarantee=self.guarantee,
            simulated=not entropy.secure,
            notes=() if self.who is None else (self.who.describe(),),
        )

    def _entropy(self, seed: Any, exact: Counts, view: ScoreView) -> Entropy:
        """A new stream; a seed is mixed with the sums, so that folds and tables do not share noise."""
        if isinstance(seed, Entropy) or seed is None:
            return Entropy.resolve(seed, "score", _LABEL)
        data = hashlib.blake2b(cut(exact).tobytes(), digest_size=16).hexdigest()
        person = None if self.who is None else self.who.to_dict()
        design = {"epsilon": float(self.epsilon), "delta": float(self.delta), "neighbours": self.neighbours}
        return Entropy.resolve(
            seed, "score", documents.digest({**design, "person": person, "view": view.describe(), "data": data})
        )


def check_ledger(ledger: Any) -> None:
    """That a ledger is one, before anything is read."""
    if ledger is not None and not hasattr(ledger, "book"):
        raise ParameterTypeError("ledger must be a bruit.Ledger, or a part of one.")


def _positive(positive: Any, classes: NDArray[Any]) -> int | None:
    """The place of the class that is ranked: the one named, or the second of two."""
    if positive is None:
        return 1 if classes.size == 2 else None
    places = [place for place, label in enumerate(classes.tolist()) if label == positive]
    if not places:
        raise ParameterError("positive must be one of the classes.")
    return places[0]
