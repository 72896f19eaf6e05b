"""The result of a regression: coefficients with their uncertainty, as the one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit import _checks
from bruit.analysis.predictors import INTERCEPT, Term
from bruit.errors import ParameterError
from bruit.estimation import intervals
from bruit.privacy import Guarantee
from bruit.tables import Column, Table, Tabular, counted, decimals, digits, interval_of, label

Floats: TypeAlias = NDArray[np.float64]


class WaldTest(NamedTuple):
    """A test that some coefficients are all 0: χ² with its degrees of freedom, and how likely a larger one is."""

    statistic: float
    degrees: int
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Tabular):
    """Log-odds of each answer against the baseline, as a sum of terms.

    Parameters
    ----------
    name
        The answer's column.
    terms
        What the columns of the model are; the constant first.
    references
        The level of each category that its others are compared with.
    answers
        The answers, the baseline first.
    coefficients
        A row for each answer but the baseline, a column per term.
    covariance
        Of all coefficients, in the order of their rows.
    method
        ``"moments"`` or ``"likelihood"``.
    n, refused
        How many reports were used, and how many were none.
    mechanism, guarantee, simulated
        How the reports were made; there is no guarantee for answers in clear.
    """

    name: str
    terms: tuple[Term, ...]
    references: Mapping[str, Any]
    answers: tuple[Any, ...]
    coefficients: Floats = field(repr=False)
    covariance: Floats = field(repr=False)
    method: str
    n: int
    refused: int
    mechanism: str
    guarantee: Guarantee | None
    simulated: bool

    @property
    def standard_error(self) -> Floats:
        """In the shape of the coefficients."""
        return np.sqrt(np.diag(self.covariance)).reshape(self.coefficients.shape)

    def interval(self, level: float = 0.95) -> Floats:
        """The ends of the interval of each coefficient, on a last axis."""
        half = intervals.normal_quantile(_checks.probability(level=level)) * self.standard_error
        return np.stack([self.coefficients - half, self.coefficients + half], axis=-1)

    @property
    def p_values(self) -> Floats:
        """How likely a larger |z| is where the coefficient is 0: Wald's test of each."""
        return np.asarray(2 * special.ndtr(-np.abs(self.coefficients / self.standard_error)))

    def test(self, *names: str) -> WaldTest:
        """Wald's test that predictors have no effect, all levels and answers together; of all unless named.

        Parameters
        ----------
        *names
            Predictors, by the names of their columns.
        """
        wanted = set(names) or {term.predictor for term in self.terms} - {INTERCEPT}
        unknown = wanted - {term.predictor for term in self.terms}
        if unknown or not wanted:
            known = ", ".join(repr(name) for name in dict.fromkeys(term.predictor for term in self.terms[1:]))
            raise ParameterError(f"test takes predictors of this regression: {known}.")
        columns = [place for place, term in enumerate(self.terms) if term.predictor in wanted]
        places = [row * len(self.terms) + place for row in range(len(self.coefficients)) for place in columns]
        effect = self.coefficients.ravel()[places]
        statistic = float(effect @ np.linalg.solve(self.covariance[np.ix_(places, places)], effect))
        return WaldTest(statistic, len(places), float(special.chdtrc(len(places), statistic)))

    def coefficient(self, term: str, answer: Any = None) -> float:
        """One coefficient, by what its term is called, and by its answer where there are more than two."""
        names = [str(own) for own in self.terms]
        if term not in names:
            raise ParameterError(f"term must be one of {', '.join(map(repr, names))}.")
        others = [label(own) for own in self.answers[1:]]
        if answer is None and len(others) > 1:
            raise ParameterError(f"answer must be one of {', '.join(map(repr, others))}.")
        row = 0 if answer is None else others.index(label(answer)) if label(answer) in others else -1
        if row < 0:
            raise ParameterError(f"answer must be one of {', '.join(map(repr, others))}.")
        return float(self.coefficients[row, names.index(term)])

    def table(self, level: float = 0.95) -> Table:
        """A row per coefficient: standard error, interval, odds ratio, and Wald's test.

        Columns answer, term, predictor, level, coefficient, standard_error, low, high, odds_ratio, z, p_value.
        """
        rows = [(answer, term) for answer in self.answers[1:] for term in self.terms]
        ends = self.interval(level).reshape(-1, 2)
        flat, errors = self.coefficients.ravel(), self.standard_error.ravel()
        columns = [
            Column(
                "answer", [label(answer) for answer, _ in rows], kind="label", write=str, hidden=len(self.answers) == 2
            ),
            Column("term", [str(term) for _, term in rows], kind="label", write=str),
            Column("predictor", [term.predictor for _, term in rows], kind="text", write=str, hidden=True),
            Column("level", [_plain(term.level) for _, term in rows], kind="text", write=str, hidden=True),
            Column("coefficient", flat, write=decimals(4)),
            Column("standard_error", errors, "std. error", write=decimals(4)),
            Column("interval", ends, interval_of(level), write=decimals(3), parts=("low", "high")),
            Column("odds_ratio", np.exp(flat), "odds ratio", write=digits(4)),
            Column("z", flat / errors, hidden=True),
            Column("p_value", self.p_values.ravel(), "p", write=_p_text),
        ]
        return Table(self._title, columns, self._notes, self._about(level), noun="coefficient")

    @property
    def _title(self) -> str:
        clear = self.guarantee is None
        source = f"{counted(self.n, 'answer')} in clear" if clear else counted(self.n, "report")
        refused = f", {self.refused:,} refused" if self.refused else ""
        simulated = ", simulated" if self.simulated else ""
        through = "" if clear else f" by {self.mechanism}"
        compared = f"{label(self.answers[1])} against {label(self.answers[0])}"
        if len(self.answers) > 2:
            compared = f"each answer against {label(self.answers[0])}"
        return f"Log-odds of {self.name}: {compared}{through} from {source}{refused}{simulated}"

    @property
    def _notes(self) -> list[str]:
        test = self.test() if len(self.terms) > 1 else None
        compared = [f"{name} against {label(level)}" for name, level in self.references.items()]
        notes = [] if not compared else [f"compared: {'; '.join(compared)}"]
        notes += [] if test is None else [_test_text(test)]
        notes += [_METHODS[self.method]]
        return notes + ([] if self.guarantee is None else [f"guarantee: {self.guarantee}"])

    def _about(self, level: float) -> dict[str, Any]:
        return {
            "name": self.name,
            "method": self.method,
            "baseline": label(self.answers[0]),
            "references": {name: _plain(own) for name, own in self.references.items()},
            "confidence": level,
            "n": self.n,
            "refused": self.refused,
            "mechanism": self.mechanism,
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "simulated": self.simulated,
            "test": None if len(self.terms) < 2 else self.test()._asdict(),
        }

    def plot(self, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the odds ratio of every term as a dot with its interval; needs the extra ``figures``."""
        from bruit.figures import plot_regression

        return plot_regression(self, level, ax)


_METHODS = {
    "moments": "by moments: the target of a regression on clear answers, whether the model is right or not",
    "likelihood": "by likelihood: the least variance if the model is right, and another target if it is not",
}


def _test_text(test: WaldTest) -> str:
    return f"all predictors together: χ² = {test.statistic:.1f}, {test.degrees} df, p {_compared(test.p_value)}"


def _compared(p_value: float) -> str:
    return f"= {_p_text(p_value)}" if p_value >= 1e-4 else "< 0.0001"


def _p_text(p_value: float) -> str:
    return f"{p_value:.4f}" if p_value >= 1e-4 else "<0.0001"


def _plain(value: Any) -> Any:
    return None if value is None else label(value)
