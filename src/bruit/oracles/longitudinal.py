"""Longitudinal protocols by their published names: L-SUE, L-OSUE, L-GRR, L-ADP, L-OUE, L-SOUE, LOLOHA, BiLOLOHA.

Each draws a memo at ε∞ and randomises it again in every round, at ε₁ for one report. L-SUE and L-OSUE are `Repeated`
SUE and OUE, to the last digit. L-GRR is `Repeated` GRR at the ε that its second step really has, which is below ε₁ for
more than two values. L-OUE and L-SOUE have a second step that `Repeated` does not have. They are offered for one round:
one report of L-OSUE is OUE, which has the least variance of all unary encodings. LOLOHA is `LongitudinalHashing` with
the published number of buckets, at its real ε₁. ``longitudinal.proof.md`` has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from bruit import _checks, referrals
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.laws import BitsLaw, Subset
from bruit.laws.words import WORDS
from bruit.oracles.base import Oracle
from bruit.oracles.local_hashing import LocalHashing
from bruit.oracles.longitudinal_hashing import BUCKET_LIMIT, LongitudinalHashing, published_buckets
from bruit.oracles.named import oracle
from bruit.oracles.randomized_response import RandomizedResponse
from bruit.oracles.repeated import ROUNDS_LIMIT, Repeated
from bruit.oracles.unary_encoding import Kind, UnaryEncoding
from bruit.privacy.guarantee import Guarantee
from bruit.rounding import log_ceiling

#: The names that `panel` takes, and what each stands for.
PANELS: dict[str, str] = {
    "L-SUE": "memoised symmetric unary encoding, also called basic RAPPOR",
    "L-OSUE": "memoised optimised unary encoding, with a symmetric second step",
    "L-GRR": "memoised randomised response as published; one report tells less than epsilon allows",
    "L-ADP": "L-GRR where its variance is at most that of L-OSUE, else L-OSUE",
    "LOLOHA": "local hashing with one function per person and a memo for each bucket, which follows changes",
    "BiLOLOHA": "LOLOHA with two buckets",
    "L-OUE": "optimised unary encoding twice; for one round",
    "L-SOUE": "symmetric, then optimised unary encoding; for one round",
}
#: What says which values a person may have.
_OF_VALUES = ("k", "labels", "domain")
#: What some oracles are called with memos.
_WITH_MEMOS = {"SUE": "L-SUE", "OUE": "L-OSUE", "GRR": "L-GRR"}


class BitSteps(NamedTuple):
    """A memo of bits, and the second step of L-OUE and L-SOUE: a set bit is shown with p₂ = ½, a clear one with q₂."""

    memo: BitsLaw
    q: Fraction
    p: Fraction = Fraction(1, 2)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """p_s and q_s: how often a report has the bit of the value set, and any other bit."""
        gap = self.p - self.q
        return self.q + self.memo.p * gap, self.q + self.memo.q * gap

    @property
    def epsilon(self) -> float:
        """The ε of one report, with p_s rounded down and q_s up as an oracle has them."""
        p, q = self.chances
        return BitsLaw(own=math.floor(p * WORDS), other=math.ceil(q * WORDS), sets=Subset(values=2)).epsilon

    def ratio(self, rounds: int) -> Fraction:
        """F(p)H(q)/(F(q)H(p)): the bit of the one value is set in all reports, that of the other in none."""
        own_set, other_set = (x * self.p**rounds + (1 - x) * self.q**rounds for x in (self.memo.p, self.memo.q))
        own_clear, other_clear = (
            x * (1 - self.p) ** rounds + (1 - x) * (1 - self.q) ** rounds for x in (self.memo.p, self.memo.q)
        )
        return own_set * other_clear / (other_set * own_clear)


class Protocol(NamedTuple):
    """A published protocol at its two ε.

    `oracle` is what one report is, and `memo` what a memo is drawn by. `panel` is None where only one round is
    offered; `second` then has the step from a memo to a report.
    """

    oracle: Oracle
    memo: Oracle
    panel: Repeated | LongitudinalHashing | None
    second: BitSteps | None = None

    def after(self, rounds: int) -> Guarantee:
        """The exact ε of this number of reports of one stored memo, rounded up; of LOLOHA, for any two histories."""
        if self.panel is not None:
            return self.panel.after(rounds)
        rounds = _checks.integer(low=1, high=ROUNDS_LIMIT, rounds=rounds)
        if self.second is None or rounds == 1:
            return self.oracle.guarantee
        return Guarantee(epsilon=log_ceiling(self.second.ratio(rounds)), neighbours="value")


@_checks.renamed({"eps_1": "epsilon=1.0", "eps_perm": "epoch_epsilon=2.0"})
def panel(
    name: str, *, epsilon: float | None = None, epoch_epsilon: float | None = None, **values: Any
) -> Repeated | LongitudinalHashing:
    """The longitudinal protocol with this name in the literature, ready to ask the same people again.

    Parameters
    ----------
    name
        One of `PANELS`, in any case: L-SUE, L-OSUE, L-GRR, L-ADP, LOLOHA, BiLOLOHA. L-OUE and L-SOUE are for one
        round: see `one_report`.
    epsilon
        The most that one report may tell, ε₁.
    epoch_epsilon
        The most that all reports of an epoch may tell, ε∞: at least `epsilon`. LOLOHA has no epochs: there it is the
        most that all reports of one memo may tell.
    **values
        ``k=…``, ``labels=[…]`` or ``domain=…``, as for every `Oracle`.

    Guarantee
    ---------
    That of `Repeated`: the memo is stored and is used in every report of its epoch, whatever the value becomes. The
    published clients store nothing. They draw a new memo in every call, so that T reports cost T·ε₁. LOLOHA follows
    changes: its ε grows with every report, and all reports of a person are linked. See `LongitudinalHashing`.

    References
    ----------
    Erlingsson, Ú., Pihur, V., Korolova, A. (2014), RAPPOR: randomized aggregatable privacy-preserving ordinal response.
    Arcolezi, H. H. et al. (2022), Improving the utility of locally differentially private protocols for longitudinal
    and multidimensional frequency estimates.
    Arcolezi, H. H. et al. (2023), Frequency estimation of evolving data under local differential privacy.

    Examples
    --------
    >>> survey = panel("L-OSUE", epsilon=1.0, epoch_epsilon=2.0, labels=["bus", "car", "bike"])
    >>> [round(survey.after(rounds).epsilon, 3) for rounds in (1, 2, 4)]
    [1.0, 1.642, 1.974]
    >>> published = panel("L-GRR", epsilon=1.0, epoch_epsilon=2.0, k=50)
    >>> 0.286 < published.after(1).epsilon < 0.287
    True
    """
    known = spelt(name)
    if epsilon is None:
        raise ParameterError("epsilon must be given: the most that one report may tell.")
    if epoch_epsilon is None:
        raise ParameterError("epoch_epsilon must be given: the most that all reports of an epoch may tell.")
    design = protocol(known, epsilon, epoch_epsilon, **values).panel
    if design is None:
        raise ParameterError(referrals.advice(known))
    return design


def one_report(name: str, *, epsilon: float, epoch_epsilon: float, **values: Any) -> Oracle:
    """What one report of a longitudinal protocol is: an oracle, to estimate and to compare with.

    Parameters
    ----------
    name
        One of `PANELS`, in any case.
    epsilon, epoch_epsilon, **values
        As for `panel`.

    Guarantee
    ---------
    That of the oracle, for one report. A second one needs the stored memo, which only `panel` keeps.

    Examples
    --------
    >>> report = one_report("L-OUE", epsilon=1.0, epoch_epsilon=2.0, k=10)
    >>> report.name, report.epsilon <= 1.0, round(report.typical_variance(0.0, 1), 3)
    ('UE', True, 4.467)
    """
    return protocol(spelt(name), epsilon, epoch_epsilon, **values).oracle


def spelt(name: Any) -> str:
    """A name of `PANELS`, in any case and with any - or _; other names are refused with what to write."""
    if not isinstance(name, str):
        raise ParameterTypeError("name must be a text, as in bruit.panel('L-OSUE', …).")
    folded = referrals.folded(name)
    names = {referrals.folded(known): known for known in PANELS}
    if folded in names:
        return names[folded]
    referrals.check(name)
    if name in Oracle.kinds:
        known = Oracle.kinds.spelt(name)
        published = f", or bruit.panel({_WITH_MEMOS[known]!r}, …)" if known in _WITH_MEMOS else ""
        raise ParameterError(
            f"{known} is for one report. With memos it is bruit.oracles.Repeated(bruit.oracle({known!r}, …), "
            f"epoch=…){published}."
        )
    return _checks.one_of(PANELS, name=name)


def protocol(name: str, epsilon: float, epoch_epsilon: float, **values: Any) -> Protocol:
    """The protocol with a name as `PANELS` writes it."""
    _checks.known_keys(values, _OF_VALUES, where="panel: ")
    report, whole = _checks.epsilon(epsilon=epsilon), _checks.epsilon(epoch_epsilon=epoch_epsilon)
    if whole < report:
        raise ParameterError(f"epoch_epsilon must be at least epsilon, {report:g}, got {whole:g}.")
    return _PROTOCOLS[name](report, whole, **values)


def real_epsilon(epsilon: float, epoch_epsilon: float, k: int) -> float:
    """The ε of one report of L-GRR as published, where `epsilon` was asked for: equal to it for two values only.

    Of LOLOHA too, with its buckets for values.

    >>> [round(real_epsilon(1.0, 2.0, k), 3) for k in (2, 3, 10, 50)]
    [1.0, 0.948, 0.699, 0.286]
    """
    a, b = math.exp(epoch_epsilon), math.exp(epsilon)
    # (ar + k − 1)/(a + r + k − 2) with r = (ab − 1)/(a − b), both multiplied by a − b, which may be 0.
    above = a * (a * b - 1) + (k - 1) * (a - b)
    below = (a * b - 1) + (a + k - 2) * (a - b)
    return min(math.log(above / below), epsilon)


# The protocols.


def _memoised(name: str) -> Callable[..., Protocol]:
    """The protocol that is `Repeated` of an oracle."""

    def build(epsilon: float, epoch_epsilon: float, **values: Any) -> Protocol:
        return _of(Repeated(oracle(name, epsilon=epsilon, **values), epoch_epsilon))

    return build


def _of(repeated: Repeated) -> Protocol:
    return Protocol(repeated.oracle, repeated.memo, repeated)


def _l_grr(epsilon: float, epoch_epsilon: float, **values: Any) -> Protocol:
    exact = RandomizedResponse(epsilon=epsilon, **values)
    real = _published_epsilon("L-GRR", epsilon, epoch_epsilon, exact.size, "values")
    return _of(Repeated(exact.at_epsilon(real), epoch_epsilon))


def _published_epsilon(name: str, epsilon: float, epoch_epsilon: float, size: int, of: str) -> float:
    """What `real_epsilon` gives, within the limits of the laws."""
    real = real_epsilon(epsilon, epoch_epsilon, size)
    low, _ = _checks.EPSILON_LIMITS
    if real < low * (1 - 1e-9):
        raise LimitError(
            f"{name} as published has ε = {real:.2g} in one report of {size:,} {of}, below the limit of {low:g}: take "
            "L-OSUE."
        )
    return max(real, low)


def _loloha(name: str, buckets: int | None) -> Callable[..., Protocol]:
    """LOLOHA with this number of buckets, or with the published one; at the ε that its second step really has."""

    def build(epsilon: float, epoch_epsilon: float, **values: Any) -> Protocol:
        if epoch_epsilon <= epsilon:
            raise ParameterError(f"{name} needs epoch_epsilon above epsilon: else reports show every change of bucket.")
        g = buckets or published_buckets(epsilon, epoch_epsilon)
        if g > BUCKET_LIMIT:
            raise LimitError(f"{name} has {g:,} buckets here, above the limit of {BUCKET_LIMIT}: lower epoch_epsilon.")
        real = _published_epsilon(name, epsilon, epoch_epsilon, g, "buckets")
        report = LocalHashing(epsilon=real, kind="LH", g=g, **values)
        design = LongitudinalHashing(report, epoch_epsilon)
        return Protocol(report, design.memo, design)

    return build


def _l_adp(epsilon: float, epoch_epsilon: float, **values: Any) -> Protocol:
    bits = _memoised("OUE")(epsilon, epoch_epsilon, **values)
    try:
        direct = _l_grr(epsilon, epoch_epsilon, **values)
    except LimitError:
        return bits
    return min(direct, bits, key=lambda choice: choice.oracle.typical_variance(0.0, 1))


def _one_round(kind: Kind, name: str) -> Callable[..., Protocol]:
    """The protocol whose second step shows a set bit of the memo half of the time, and a clear one with q₂."""

    def build(epsilon: float, epoch_epsilon: float, **values: Any) -> Protocol:
        memo = UnaryEncoding(epsilon=epoch_epsilon, kind=kind, **values)
        steps = _least_second_step(memo.law, epsilon, name)
        return Protocol(UnaryEncoding.with_probabilities(*steps.chances, domain=memo.domain), memo, None, steps)

    return build


def _least_second_step(memo: BitsLaw, epsilon: float, name: str) -> BitSteps:
    """The least q₂ in units of 2⁻⁶⁴ whose report keeps ε₁; a larger one flips more, so the search can halve."""
    low, high = 1, WORDS // 2 - WORDS // 2**32
    if BitSteps(memo, Fraction(low, WORDS)).epsilon <= epsilon:
        raise ParameterError(
            f"{name} cannot tell as much as epsilon = {epsilon:g} in one report with this epoch_epsilon: lower "
            "epsilon, raise epoch_epsilon, or take L-OSUE."
        )
    while high - low > 1:
        middle = (low + high) // 2
        within = BitSteps(memo, Fraction(middle, WORDS)).epsilon <= epsilon
        low, high = (low, middle) if within else (middle, high)
    return BitSteps(memo, Fraction(high, WORDS))


_PROTOCOLS: dict[str, Callable[..., Protocol]] = {
    "L-SUE": _memoised("SUE"),
    "L-OSUE": _memoised("OUE"),
    "L-GRR": _l_grr,
    "L-ADP": _l_adp,
    "LOLOHA": _loloha("LOLOHA", None),
    "BiLOLOHA": _loloha("BiLOLOHA", 2),
    "L-OUE": _one_round("OUE", "L-OUE"),
    "L-SOUE": _one_round("SUE", "L-SOUE"),
}
