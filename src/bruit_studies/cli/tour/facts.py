"""What the tour finds out: every number that it tells is computed here, when it is first asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bruit_studies.cli.tour import glimpses

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bruit.datasets import Dataset
    from bruit.estimation import Estimate, Tally
    from bruit.oracles import RandomizedResponse
    from bruit_studies.report import Judged

#: The confidence of every interval.
LEVEL = 0.95
#: The ε of the second survey, and those that it is compared with.
EPSILON, EPSILONS = 1.0, (0.5, 1.0, 2.0, 4.0)
#: Beliefs before a report, for the table of beliefs; the first one is also used to compare ε.
PRIORS = (0.1, 0.5, 0.9)
#: The ε that the broken twin really has, while it states `EPSILON`.
TWIN = 1.5
#: Reports drawn for each of two answers, and the confidence of the bound that they give: high, so that a sound
#: mechanism is not blamed by chance in some tours.
TRIALS, SURE = 200_000, 0.9999


@dataclass(frozen=True)
class FactRow:
    """The estimate of one answer next to the truth, as shares."""

    label: str
    estimate: float
    lower: float
    upper: float
    truth: float

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth."""
        return self.lower <= self.truth <= self.upper

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.upper - self.lower) / 2

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "covered": self.covered}


@dataclass(frozen=True)
class Price:
    """What one ε costs and buys: accuracy of the survey, and protection of each person."""

    epsilon: float
    half_width: float
    belief: float
    truthful: float


@dataclass(frozen=True)
class Trust:
    """The integers behind the survey, and what two audits make of them."""

    requested: float
    stated: float
    own: int
    other: int
    total: int
    holds: bool
    bound: float
    twin_bound: float

    @property
    def passes(self) -> bool:
        """Whether watching the reports did not contradict the stated ε."""
        return self.bound <= self.stated

    @property
    def twin_caught(self) -> bool:
        """Whether watching the reports of the broken twin did."""
        return self.twin_bound > self.stated


@dataclass(frozen=True)
class Facts:
    """All that the tour tells; None for a seed takes secure randomness, so that every tour differs."""

    seed: int | None = None

    @cached_property
    def data(self) -> Dataset:
        """The people: a real table that comes along."""
        from bruit import datasets

        return datasets.load("adult")

    @cached_property
    def coins(self) -> RandomizedResponse:
        """The survey with two coins."""
        from bruit.oracles import RandomizedResponse

        return RandomizedResponse.two_coins(labels=("no", "yes"))

    @cached_property
    def income(self) -> Estimate:
        """The survey with two coins on everybody's income."""
        return self.coins.estimate(self._income_tally, target="people")

    @property
    def yes_reports(self) -> int:
        """How many reports say yes."""
        return int(self._income_tally.counts[1])

    @cached_property
    def yes(self) -> FactRow:
        """The share of people whose income is above 50K."""
        truth = float((self.data["income"] == ">50K").mean())
        return _rows(self.income, [1 - truth, truth])[1]

    @cached_property
    def marital_truth(self) -> NDArray[np.float64]:
        """The true shares of the answers to the second question."""
        import numpy as np

        codes = self.data.schema["marital-status"].encode(self.data["marital-status"])
        return np.bincount(codes, minlength=self.mechanism(EPSILON).size) / codes.size

    @cached_property
    def surveys(self) -> dict[float, Estimate]:
        """The second question, asked at every ε."""
        answers = self.data["marital-status"]
        return {epsilon: self._survey(self.mechanism(epsilon), answers) for epsilon in EPSILONS}

    @property
    def marital(self) -> Estimate:
        """The second survey."""
        return self.surveys[EPSILON]

    @cached_property
    def rows(self) -> list[FactRow]:
        """The second survey, answer by answer, the most frequent first."""
        return sorted(_rows(self.marital, self.marital_truth), key=lambda row: -row.estimate)

    @cached_property
    def prices(self) -> list[Price]:
        """The second survey at several ε."""
        return [self._price(epsilon) for epsilon in EPSILONS]

    @cached_property
    def together(self) -> float:
        """The ε of all those surveys, had they asked the same people."""
        from bruit.privacy.composition import sequential

        return sequential(answer.guarantee for answer in self.surveys.values()).epsilon

    @cached_property
    def trust(self) -> Trust:
        """What can be checked about the second survey's mechanism."""
        from bruit.audit import exact

        oracle = self.mechanism(EPSILON)
        proof = exact(oracle)
        total = math.lcm(oracle.p.denominator, oracle.q.denominator)
        return Trust(
            requested=oracle.epsilon,
            stated=proof.stated,
            own=int(oracle.p * total),
            other=int(oracle.q * total),
            total=total,
            holds=proof.holds,
            bound=self._watch(oracle),
            twin_bound=self._watch(self.mechanism(TWIN)),
        )

    @property
    def study_seed(self) -> int:
        """The seed of the studies, which always have one: their results must be the same for everybody."""
        return self.seed or 0

    @cached_property
    def judged(self) -> list[Judged]:
        """A few claims of the documents with their verdicts."""
        return glimpses.judged(self.study_seed)

    def mechanism(self, epsilon: float) -> RandomizedResponse:
        """Randomised response for the second question."""
        from bruit.oracles import RandomizedResponse

        domain: Any = self.data.schema["marital-status"].domain
        return RandomizedResponse(epsilon=epsilon, labels=domain.labels)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "data": self.data.name,
            "people": len(self.data),
            "seed": self.seed,
            "level": LEVEL,
            "two_coins": {
                "guarantee": self.coins.guarantee.to_dict(),
                "beliefs": {str(prior): self.coins.guarantee.belief(prior) for prior in PRIORS},
                "yes_reports": self.yes_reports,
                "yes": self.yes.to_dict(),
            },
            "marital_status": self.marital.to_dict(LEVEL),
            "covered": sum(row.covered for row in self.rows),
            "prices": [vars(price) for price in self.prices],
            "trust": vars(self.trust) | {"passes": self.trust.passes, "twin_caught": self.trust.twin_caught},
            "claims": [glimpses.facts(claim) for claim in self.judged],
        }

    @cached_property
    def _income_tally(self) -> Tally:
        answers = ["yes" if rich else "no" for rich in (self.data["income"] == ">50K").tolist()]
        return self.coins.tally(self.coins.privatize(answers, rng=self.seed))

    def _survey(self, oracle: RandomizedResponse, answers: Any) -> Estimate:
        # The truth to compare with is that of these very people, so only the noise is uncertain.
        return oracle.estimate(oracle.tally(oracle.privatize(answers, rng=self.seed)), target="people")

    def _price(self, epsilon: float) -> Price:
        answer, oracle = self.surveys[epsilon], self.mechanism(epsilon)
        ends = answer.interval(LEVEL)
        return Price(
            epsilon=epsilon,
            half_width=float((ends[:, 1] - ends[:, 0]).mean() / 2),
            belief=oracle.guarantee.belief(PRIORS[0])[1],
            truthful=float(oracle.p),
        )

    def _watch(self, oracle: RandomizedResponse) -> float:
        """A lower bound on ε from the reports alone."""
        from bruit.audit import empirical

        first, second = oracle.domain.names[:2]
        return empirical(oracle, first, second, trials=TRIALS, level=SURE, rng=self.seed).epsilon_lower


def _rows(answer: Estimate, truth: Any) -> list[FactRow]:
    ends = answer.interval(LEVEL)
    return [
        FactRow(str(label), float(answer.frequency[i]), float(ends[i, 0]), float(ends[i, 1]), float(truth[i]))
        for i, label in enumerate(answer.labels)
    ]
