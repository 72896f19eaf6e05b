"""Randomised response (RR, Warner) and its form for k values (GRR, kRR): keep the value, or name any.

Each person tells the truth with probability p and names each other value with probability q. It is the best oracle for
few values: against OUE it wins while k < 3e^ε + 2.

Sampling follows the identity "with probability p − q keep, else draw uniformly among all k": one 64-bit word decides
both, and what is done does not depend on the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.estimation.support import ExclusiveSupportModel
from bruit.estimation.tally import Counts, Tally
from bruit.laws import Itself, TwoLevelLaw
from bruit.laws.words import WORD_BITS
from bruit.mechanism import FakeKind, MessageReports
from bruit.oracles.base import Joint, Masses, SupportOracle
from bruit.oracles.refreshing import refresh_messages, simulate_messages
from bruit.rounding import log_ceiling
from bruit.typing import Label

#: `matrix` writes k² fractions; above this k it would fill the memory.
MATRIX_LIMIT = 1024


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(MessageReports, SupportOracle):
    """Tell the truth with probability p = e^ε/(e^ε + k − 1), otherwise name one of the other values.

    Parameters
    ----------
    epsilon, k, labels, domain
        As for every `Oracle`.
    odds
        Exact odds (A, B) of the true value against each other one, instead of ε: ``(3, 1)`` for two coins.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). The true value has weight A and each other B, with A/B ≤ e^ε in whole
    numbers and the same total for every value, so no report is more than A/B times likelier under one value than under
    another. ``randomized_response.proof.md`` has the argument.

    Error
    -----
    n·Var = (e^ε + k − 2)/(e^ε − 1)² for a rare value: it grows with k.

    References
    ----------
    Warner, S. L. (1965), Randomized response: a survey technique for eliminating evasive answer bias.
    Kairouz, P., Bonawitz, K., Ramage, D. (2016), Discrete distribution estimation under local privacy.

    Examples
    --------
    >>> oracle = RandomizedResponse(epsilon=1.0, k=6)
    >>> reports = oracle.privatize([0, 0, 5, 2], rng=7)
    >>> reports.dtype, len(reports)
    (dtype('uint8'), 4)
    >>> oracle.guarantee.epsilon <= 1.0
    True
    """

    fakes: ClassVar[tuple[FakeKind, ...]] = ("value",)

    odds: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.odds is not None:
            object.__setattr__(self, "odds", _clean_odds(self.odds))
            if self.epsilon != self.law.epsilon:
                raise ParameterError("epsilon must be the logarithm of the odds: use RandomizedResponse.with_odds.")

    @classmethod
    def with_odds(cls, own: int, other: int, **values: Any) -> Self:
        """Exactly these odds of the true value against each other; ε is their logarithm. Values: k, labels, domain."""
        odds = _clean_odds((own, other))
        return cls(epsilon=log_ceiling(Fraction(*odds)), odds=odds, **values)

    @classmethod
    def two_coins(cls, labels: tuple[Label, Label] | None = None) -> Self:
        """Warner's survey with two coins: the first says whether to tell the truth, else the second answers. ε = ln 3.

        >>> RandomizedResponse.two_coins(labels=("no", "yes")).matrix()[1]
        [Fraction(1, 4), Fraction(3, 4)]
        """
        return cls.with_odds(3, 1, k=0 if labels else 2, labels=labels)

    name: ClassVar[str] = "GRR"

    @cached_property
    def p(self) -> Fraction:
        """The exact probability of reporting one's own value."""
        return self.law.probability(inside=True)

    @cached_property
    def q(self) -> Fraction:
        """The exact probability of reporting a given other value."""
        return self.law.probability(inside=False)

    @property
    def joint(self) -> Joint:
        """A report supports one value."""
        return Fraction(0), Fraction(0)

    def masses(self, prior: Sequence[Fraction]) -> Masses:
        """A message supports itself."""
        return Masses(min(prior), max(prior))

    def supports(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The value that is reported."""
        return np.asarray(reports[:, None] == np.arange(self.size))

    def named(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The report itself."""
        return reports.astype(np.int64)

    @property
    def guessability(self) -> float:
        """The best guess is the report itself, right with probability p."""
        return float(self.p)

    def _check_matrix(self) -> None:
        if self.size > MATRIX_LIMIT:
            raise LimitError(f"matrix() is made for at most {MATRIX_LIMIT:,} values; p and q say the same.")

    @cached_property
    def law(self) -> TwoLevelLaw:
        """The true value, or any value."""
        sets = Itself(values=self.size)
        if self.odds is not None:
            return TwoLevelLaw.scale(*self.odds, sets)
        return TwoLevelLaw.calibrate(self.epsilon, sets)

    def at_epsilon(self, epsilon: float) -> Self:
        """The same values at another ε; odds give way to it."""
        return replace(self, epsilon=epsilon, odds=None)

    def _refresh(self, memos: NDArray[Any], keep: Fraction, entropy: Entropy, out: NDArray[Any]) -> None:
        """Any value is as likely as any other."""
        refresh_messages(memos, self.size, keep, entropy, out)

    def simulate_rounds(
        self, memo: Self, people: Counts, keep: Fraction, rounds: int, generator: np.random.Generator
    ) -> list[Counts]:
        """By how many people have each memo, in a time that does not grow with the people."""
        return simulate_messages(memo._simulate(people, generator), keep, rounds, generator)

    def _settings(self) -> dict[str, Any]:
        return {} if self.odds is None else {"odds": list(self.odds)}

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import randomized_response as kernel

        law = self.law
        keep, outside = np.uint64(law.inside - law.outside), np.uint64(law.outside)
        kernel.randomize(codes, memory.words_below(entropy, self.law.total, codes.size), keep, outside, out)

    def _model(self, tally: Tally) -> ExclusiveSupportModel:
        return ExclusiveSupportModel(tally.counts, tally.n, self.p, self.q)

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        # Keep with probability p − q; all others draw uniformly, whatever their value.
        kept = generator.binomial(people, float(self.p - self.q))
        others = int((people - kept).sum())
        return kept + generator.multinomial(others, np.full(self.size, 1 / self.size))


def _clean_odds(odds: Any) -> tuple[int, int]:
    if not isinstance(odds, tuple | list) or len(odds) != 2:
        raise ParameterError("odds must be two whole numbers, as in (3, 1).")
    outside = _checks.integer(low=1, high=2 ** (WORD_BITS // 2), outside=odds[1])
    inside = _checks.integer(low=outside + 1, high=2 ** (WORD_BITS // 2), inside=odds[0])
    return inside, outside
