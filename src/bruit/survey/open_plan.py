"""The plan of a survey whose one question takes any text: what is promised, how a device draws, and what a report is.

No tally says which texts people sent, so that each report is kept. The plan counts how many there are, and
`OpenPlan.answers` decodes those that were kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.cards import Card, CardQuestion
from bruit.collection import Plan
from bruit.domains import OpenText
from bruit.domains.codes import Codes
from bruit.entropy import Entropy, Words
from bruit.errors import ParameterError
from bruit.estimation import Tally, Target, intervals
from bruit.estimation.tally import Counts
from bruit.laws import Form, Parity, TwoLevelLaw
from bruit.mechanism import LocalMechanism
from bruit.open_answers import FrequentAnswers, HeavyHitters
from bruit.open_answers.heavy_hitters import FIRST_GROUP, IDS

#: The share of people with one answer that a survey must be able to find.
LEAST_SHARE = 0.2
#: Which part of the people report in the second group, from which shares come.
CERTIFYING = (IDS - FIRST_GROUP) / IDS


@dataclass(frozen=True, kw_only=True)
class OpenAnswer(LocalMechanism):
    """Heavy hitters as the mechanism of a plan: the same reports, and a tally that says how many there are.

    Parameters
    ----------
    design
        What makes a text private.
    """

    name: ClassVar[str] = "heavy-hitters"

    design: HeavyHitters

    @property
    def epsilon(self) -> float:
        """The most that one report may tell."""
        return self.design.epsilon

    @property
    def domain(self) -> OpenText:
        """What people may write."""
        return self.design.domain

    @cached_property
    def law(self) -> TwoLevelLaw:
        """The law of the design, with the rule by which a device knows the bucket of its text."""
        law, (half, whole) = self.design.law, self.design.bits
        sets = Parity(parities=self.design.bucket_bits, bits=whole, prefix=half, share=FIRST_GROUP)
        return TwoLevelLaw(inside=law.inside, outside=law.outside, sets=sets)

    @property
    def p(self) -> Fraction:
        """How often a report fits the person's own text."""
        return self.design.p

    @property
    def q(self) -> Fraction:
        """How often it fits a given other text."""
        return self.design.q

    @property
    def votes_per_cheater(self) -> float:
        """How many people one dishonest report outweighs, for a text of its choice, in its group."""
        return float((1 - self.q) / (self.p - self.q))

    @cached_property
    def form(self) -> Form:
        """An id and a bucket."""
        return self.design.form

    @property
    def report_bytes(self) -> float:
        """Those of an id and a bucket."""
        return self.form.size

    def question(self, name: str, labels: Sequence[Any] | None = None) -> CardQuestion:
        """The question on a card, which lists no answers."""
        return CardQuestion(name, (), self.law)

    def randomize(self, codes: Codes, words: Words) -> NDArray[Any]:
        """Reports as the design draws them."""
        return self.design.randomize(codes, words)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Those whose bucket exists."""
        return self.design.valid(reports)

    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Not available: the texts are too many for a matrix."""
        raise ParameterError("The texts of an open question are too many for a matrix.")

    def to_dict(self) -> dict[str, Any]:
        """That of the design."""
        return self.design.to_dict()

    def _labels(self) -> Sequence[Any]:
        return ()

    def _empty_reports(self, n: int) -> NDArray[Any]:
        return self.form.empty(n)

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        raise ParameterError("An open question is drawn by randomize.")

    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        return self._no_counts()[0], len(reports) - int(self.valid(reports).sum())

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        raise ParameterError("An open question is simulated by its design.")

    def _cells(self) -> int:
        return 0


class OpenPlan(Plan):
    """The plan of one open question.

    Parameters
    ----------
    name
        What the question is called.
    design
        What makes an answer private.
    """

    def __init__(self, name: str, design: HeavyHitters) -> None:
        super().__init__({name: OpenAnswer(design=design)})
        self._become(_answering=design)

    @property
    def answering(self) -> HeavyHitters:
        """What makes an answer private, and decodes the reports."""
        design: HeavyHitters = self.__dict__["_answering"]
        return design

    def card(self) -> Card:
        """What a person's device needs to answer."""
        ((name, mechanism),) = self.mechanisms.items()
        return Card(self.digest, "one", (mechanism.question(name),))

    def variance(
        self, n: int, frequencies: Mapping[str, Any] | None = None, target: Target = "population"
    ) -> dict[str, NDArray[np.float64]]:
        """Not available: `people_needed` of the design says how many people an answer needs."""
        raise ParameterError("An open question has no list of answers whose variance could be said.")

    def half_width(self, share: float, people: int) -> float:
        """Half of the 95 % interval of an answer of this share, from the second group of these people."""
        p, q = float(self.answering.p), float(self.answering.q)
        fitting = q + share * (p - q)
        certifying = people * CERTIFYING
        return intervals.normal_quantile(0.95) * math.sqrt(fitting * (1 - fitting) / certifying) / (p - q)

    @property
    def votes_per_cheater(self) -> float:
        """How many people one dishonest report outweighs: it can choose the group from which shares come."""
        mechanism: Any = next(iter(self.mechanisms.values()))
        return float(mechanism.votes_per_cheater) / CERTIFYING

    def answers(self, reports: NDArray[Any], *, name: str = "") -> FrequentAnswers:
        """The certified answers, decoded from the reports themselves."""
        return self.answering.estimate(reports, name=name)

    def estimate(self, tally: Tally, target: Target = "population") -> Any:
        """Not available: a tally says how many reports there are, and not which texts they fit."""
        raise ParameterError("The answers to an open question are decoded from its reports: a tally has none of them.")
