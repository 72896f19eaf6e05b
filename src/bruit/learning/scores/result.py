"""What is published about how good a model is: scores with their intervals, and the curves behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from bruit import _checks
from bruit.errors import ParameterError
from bruit.learning.scores.estimates import RankTable, Score, ScoreCurve
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, decimals, digits, interval_of

About = Literal["population", "rows"]

_ENDS = ("lower", "upper")
_DECIMALS = decimals(4)
_ABOUT = {
    "population": "intervals are of the score on new records like the held-out ones: they cover the noise and the "
    "sampling of these records",
    "rows": "intervals are of the score on the held-out records themselves: they cover the noise alone",
}
_HIDDEN = "too few records for this ε to tell: {names}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scores(Tabular):
    """How good a model is on held-out records, from noisy sums alone; it may be shown to anybody.

    Parameters
    ----------
    scores
        Each score with its error; ``scores["AUROC"]`` gives a value by name.
    ranks
        The noisy table of classes by cell of probability, where AUROC or calibration was asked for.
    guarantee
        What the scores promise, for a model that is public or was fitted on other records.
    simulated
        Whether the noise came from a seed, so that anyone who has the seed can remove it.
    notes
        What a reader must know.
    total
        What the scores and the fits promise together, after a cross-validation; else None.

    See `bruit.learning.private_score`.
    """

    scores: tuple[Score, ...]
    ranks: RankTable | None
    guarantee: Guarantee
    simulated: bool
    notes: tuple[str, ...] = ()
    total: Guarantee | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What was scored."""
        return tuple(score.name for score in self.scores)

    def __getitem__(self, name: str) -> float:
        return self._score(name).value

    def interval(self, name: str, level: float = 0.95, *, about: About = "population") -> tuple[float, float]:
        """The ends between which a score lies with probability `level`.

        Parameters
        ----------
        name
            The score, as in `names` or as in the `metrics` of `private_score`.
        level
            The probability.
        about
            ``"population"`` (default): the score on new records like the held-out ones; noise and sampling.
            ``"rows"``: the score on the held-out records themselves; noise alone.
        """
        _checks.probability(level=level)
        return self._score(name).interval(level, sampled=_is_sampled(about))

    def table(self, level: float = 0.95, *, about: About = "population") -> Table:
        """Every score: columns score, value, error of the noise, and the ends of its interval."""
        rows = [self.interval(score.name, level, about=about) for score in self.scores]
        hidden = [score.name for score in self.scores if score.hidden]
        columns = [
            Column("score", self.names, "", "label", str),
            Column("value", [score.value for score in self.scores], write=_DECIMALS),
            Column("error", [score.error for score in self.scores], "error of the noise (sd)", write=digits(2)),
            Column("interval", rows, interval_of(level), write=_written, parts=_ENDS),
        ]
        notes = [f"guarantee: {self.guarantee}", _ABOUT[about], *self.notes]
        notes += [_HIDDEN.format(names=", ".join(hidden))] if hidden else []
        facts = {"guarantee": self.guarantee.to_dict(), "simulated": self.simulated, "level": level, "about": about}
        title = "Scores of the model" + (", simulated" if self.simulated else "")
        return Table(title, columns, notes, facts, noun="row")

    def roc(self, level: float = 0.95, *, about: About = "population") -> Table:
        """The ROC curve: by threshold, the shares of negatives and of positives at or above it."""
        curve = self._ranks().roc()
        columns = [
            Column("threshold", curve.of, write=decimals(3)),
            Column("negatives", curve.along, "false positives", write=decimals(3)),
            Column("positives", curve.up, "true positives", write=decimals(3)),
            self._ends(curve, level, about),
        ]
        return Table("ROC curve", columns, self._words(about), noun="point")

    def calibration(self, level: float = 0.95, *, about: About = "population") -> Table:
        """Eight ranges of probability: the mean that the model states, and the share of positives observed."""
        curve = self._ranks().calibration()
        columns = [
            Column("stated", curve.along, write=decimals(3)),
            Column("observed", curve.up, write=decimals(3)),
            self._ends(curve, level, about),
            Column("records", curve.of, "records (noisy)", write=decimals(0)),
        ]
        return Table("Calibration", columns, self._words(about), noun="range")

    def plot(self, level: float = 0.95, axes: Any = None, *, about: About = "population") -> Any:
        """Draw the ROC curve and the calibration with their bands; needs the extra ``figures``."""
        from bruit.figures import plot_scores

        return plot_scores(self, level, axes, sampled=_is_sampled(about))

    def _score(self, name: str) -> Score:
        spelled = {_plain(known): known for known in self.names}
        known = spelled.get(_plain(name), name) if isinstance(name, str) else name
        _checks.one_of(self.names, score=known)
        return next(score for score in self.scores if score.name == known)

    def _ranks(self) -> RankTable:
        if self.ranks is None:
            raise ParameterError(
                'There is no table of ranks: ask for metrics="auroc" or "calibration", and for positive= where there '
                "are more than two classes."
            )
        return self.ranks

    def _ends(self, curve: ScoreCurve, level: float, about: About) -> Column:
        _checks.probability(level=level)
        rows = curve.ends(level, sampled=_is_sampled(about))
        return Column("interval", rows, interval_of(level), write=_written, parts=_ENDS)

    def _words(self, about: About) -> list[str]:
        return [f"guarantee: {self.guarantee}", f"{_ABOUT[about]}; each point by itself"]


def _plain(name: str) -> str:
    """The name of a score as it is compared: "log_loss" and "Log loss" mean the same."""
    return name.casefold().replace("_", " ").replace("²", "2")


def _written(pair: Any) -> str:
    """The ends with as many decimals as the scores have."""
    if math.isnan(pair[0]):
        return "too few records"
    return " … ".join("−∞" if end == -math.inf else _DECIMALS(end) for end in pair)


def _is_sampled(about: About) -> bool:
    return _checks.one_of(("population", "rows"), about=about) == "population"
