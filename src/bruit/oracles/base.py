"""What all frequency oracles share: one category per person, and the same verbs.

A new oracle is a frozen dataclass that adds its exact law, how it randomises a block of codes, how it counts a block
of reports, and the model to estimate with. Of `SetOracle` it needs the law alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains import Categories
from bruit.domains.policy import written
from bruit.domains.schema import as_domain
from bruit.engines import memory
from bruit.entropy import Entropy, Words
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation.estimate import Consistent, Estimate
from bruit.estimation.support import Model, SupportModel, Target, support_variance
from bruit.estimation.tally import Counts, Tally
from bruit.mechanism import FakeKind, LocalMechanism
from bruit.registry import Registry
from bruit.typing import Label

#: The exact probabilities that a report supports two values: the true one and another, and two others.
Joint: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True, kw_only=True)
class Oracle(LocalMechanism):
    """A mechanism by which each person reports one category privately, and frequencies are estimated.

    Parameters
    ----------
    epsilon
        The most that one report may tell, from 0.001 to 20.
    k
        How many categories there are; values are then codes 0..k−1.
    labels
        The categories themselves, instead of k; values are then labels, and only labels.
    domain
        The categories with their policies, instead of k and labels: ``Categories(labels=[…], missing="drop")``. With
        ``"drop"`` the guarantee speaks of those who answer: that somebody did not shows. ``missing="category"`` and
        ``outside="other"`` make one more value each, private like the others.
    """

    kinds: ClassVar[Registry[Oracle]] = Registry("oracle", "bruit.oracles")

    epsilon: float
    k: int = field(default=0, repr=False)
    labels: Sequence[Label] | None = field(default=None, repr=False)
    domain: Categories = None  # type: ignore[assignment] # from k or labels

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        domain = self._shorthand() if self.domain is None else _unordered(self.domain)
        others = self.k not in (0, domain.k) or (self.labels is not None and tuple(self.labels) != domain.labels)
        if self.domain is not None and others:
            raise ParameterError("Declare the domain once: by domain, by k, or by labels.")
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "k", domain.k)
        object.__setattr__(self, "labels", domain.labels)

    def _shorthand(self) -> Categories:
        """The categories that k or labels stand for, without a policy."""
        if self.labels is None and not self.k and not isinstance(self.k, bool):
            _checks.integer(k=self.k)
            raise ParameterError("The domain must be declared: k (2 or above), or labels.")
        return Categories(labels=self.labels, k=self.k)  # type: ignore[arg-type]

    @classmethod
    def _respelt_domain(cls, **options: Any) -> tuple[str, dict[str, Any]]:
        values = written(**{name: options[name] for name in ("labels", "k") if options.get(name)})
        return f"Categories({values or '…'}", {name: options[name] for name in options if name not in ("labels", "k")}

    # What the collector does.

    def estimate(self, tally: Tally, target: Target = "population") -> Estimate:
        """Unbiased frequencies with variance and intervals, from a tally of this very design."""
        self._check_tally(tally)
        return Estimate(
            model=self._model(tally) if tally.n else _NOTHING,
            n=tally.n,
            refused=tally.refused,
            labels=self.domain.names,
            target=target,
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=tally.simulated,
        )

    def most_likely(self, reports: Any) -> Consistent:
        """The most likely frequencies given the reports, by EM on the true likelihood of this mechanism."""
        return self.estimate(self.tally(reports)).consistent("em")

    # Planning a survey.

    @abstractmethod
    def variance(self, frequency: Any, n: int, target: Target = "population") -> NDArray[np.float64]:
        """The exact variance of the estimate of a value whose true frequency is given."""

    def typical_variance(self, frequency: float, n: int, target: Target = "population") -> float:
        """The variance for a value of this frequency where the others share the rest evenly; Var* at frequency 0."""
        everybody = np.full(self.size, (1 - frequency) / (self.size - 1))
        everybody[0] = frequency
        return float(self.variance(everybody, n, target)[0])

    @property
    @abstractmethod
    def votes_per_cheater(self) -> float:
        """By how many people's worth one dishonest report can raise a value of its choice."""

    def decode_steps(self, n: int) -> float:
        """About how many elementary steps it takes to count n reports and decode them."""
        return n * self.report_bytes + self._cells()

    # Identity.

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what a report means."""
        return {"oracle": self.name, "epsilon": self.epsilon, "domain": self.domain.to_dict(), **self._settings()}

    @classmethod
    def from_settings(cls, domain: Categories, epsilon: float, settings: dict[str, Any]) -> Self:
        """The inverse of `to_dict`, after the domain and ε were read."""
        return cls(epsilon=epsilon, domain=domain, **settings)

    def _labels(self) -> Sequence[Label]:
        return self.domain.names

    def likelihood(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """The law's ratio for the values that a report supports, 1 for the others; without sets, by the matrix."""
        if self.sets is None:
            return super().likelihood(reports)
        return np.where(self.supports(reports), float(self.law.ratio), 1.0)

    @classmethod
    def faked_settings(cls, epsilon: float, size: int) -> dict[str, Any]:
        """The settings of least error where most reports are fakes."""
        return {}

    # What asking again takes.

    def at_epsilon(self, epsilon: float) -> Self:
        """The oracle with the same messages and sets at another ε."""
        return replace(self, epsilon=epsilon)

    def refresh(self, memos: NDArray[Any], keep: Fraction, words: Words) -> NDArray[Any]:
        """Reports of memos: each is the memo with chance `keep`, else any message, all equally likely.

        Block i of these people uses up part i of the words.
        """
        if type(self)._refresh is Oracle._refresh:
            raise ParameterError(f"{self.name} has no way to draw a message evenly, so that it cannot be repeated.")
        out = np.empty_like(memos)

        def write(index: int, block: slice) -> None:
            self._refresh(memos[block], keep, words.part(index).stream(), out[block])

        memory.each_block(len(memos), write)
        return out

    def simulate_rounds(
        self, memo: Self, people: Counts, keep: Fraction, rounds: int, generator: np.random.Generator
    ) -> list[Counts]:
        """Counts of several rounds of the same people, whose memos `memo` draws: here, report by report."""
        codes = self.codes_of(np.repeat(np.arange(self.size), people))
        seeds = [int(seed) for seed in generator.integers(2**63, size=rounds + 1)]
        memos = memo.randomize(codes, Words(seeds[0]))
        return [self.count(self.refresh(memos, keep, Words(seed))).counts for seed in seeds[1:]]

    # What each oracle fills in.

    def _refresh(self, memos: NDArray[Any], keep: Fraction, entropy: Entropy, out: NDArray[Any]) -> None:
        """Write one block of `refresh`; an oracle without it cannot be repeated."""
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """Parameters of this oracle beyond ε and the domain."""
        return {}

    @abstractmethod
    def _model(self, tally: Tally) -> Model:
        """The model to estimate with."""


class Masses(NamedTuple):
    """The least and the largest prior mass of the values that one message supports, if it supports some and not all."""

    least: Fraction
    most: Fraction


@dataclass(frozen=True, kw_only=True)
class SupportOracle(Oracle):
    """An oracle whose report supports the person's own value with probability p and any other with q.

    The probability of a report, given the value, is the law's ratio times larger if it supports the value than if it
    does not. Fakes rely on it.
    """

    fakes: ClassVar[tuple[FakeKind, ...]] = ("noise",)

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The exact probability that a report supports the person's own value."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The exact probability that a report supports a given other value."""

    @property
    def joint(self) -> Joint | None:
        """The probability of supporting two values, with the true one among them or not; None if it depends on them."""
        return None

    @abstractmethod
    def masses(self, prior: Sequence[Fraction]) -> Masses:
        """The least and the largest prior mass that a message supports, of those that tell values apart.

        Wider limits than the true ones are safe: what fakes guarantee is then stated too large, never too small.
        """

    def scores(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """(1{v supported} − q)/(p − q), whose mean is 1 for the true value v and 0 for every other."""
        held = self.supports(reports).astype(np.float64)
        return np.asarray((held - float(self.q)) * float(1 / (self.p - self.q)))

    @property
    def votes_per_cheater(self) -> float:
        """By how many people's worth one dishonest report can raise a value of its choice: (1 − q)/(p − q)."""
        return float((1 - self.q) / (self.p - self.q))

    def variance(self, frequency: Any, n: int, target: Target = "population") -> NDArray[np.float64]:
        """The exact variance of the estimate of a value whose true frequency is given."""
        return support_variance(np.asarray(frequency, float), n, self.p, self.q, target)

    def typical_variance(self, frequency: float, n: int, target: Target = "population") -> float:
        """The variance for a value of this frequency, whatever the others have; Var* at frequency 0."""
        return float(self.variance(np.array([frequency]), n, target)[0])

    def support(self, tally: Tally) -> Counts:
        """How many reports support each value: the counts themselves, unless the tally counts messages."""
        return tally.counts

    def _model(self, tally: Tally) -> Model:
        return SupportModel(self.support(tally), tally.n, self.p, self.q, *(self.joint or ()))


def _unordered(domain: Any) -> Categories:
    """The categories of an oracle, which does not look at their order."""
    categories = as_domain(domain)
    if not isinstance(categories, Categories):
        raise ParameterTypeError(
            "The domain of an oracle must be Categories(…) or a list of labels. A Plan asks about numbers and dates."
        )
    if not categories.ordered:
        return categories
    policies: dict[str, Any] = vars(categories.policy)
    return Categories(labels=categories.labels, **policies)


#: Stands for the model of a tally without reports; `Estimate` refuses before it is looked at.
_NOTHING: Any = None
