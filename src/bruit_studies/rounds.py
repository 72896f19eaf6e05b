"""Asking the same people again: averaging, published constructions, answers that change, and 80 rounds of Montana."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bruit.entropy import Entropy
from bruit_studies import drawing, montana
from bruit_studies.claim import Claim, Verdict, confirmed, improved, refuted
from bruit_studies.results import StudyResults
from bruit_studies.study import Block, Plot, Study

_SLIDES, _DCN, _EDBT = "several-attributes slides", "DCN 2022", "EDBT 2023"
#: ε of a report and of an epoch, and how many values there are, where people are attacked.
FIRST, EPOCH, K = 1.0, 2.0, 10
#: The least gain of averaging that counts, in points of people who are named rightly.
GAIN = 0.25
#: How far from the least variance a choice may be, to be called the best after rounding.
NEAR_BEST = 0.05


def trial(*, part: str, rng: Entropy, **factors: Any) -> dict[str, float]:
    """One attack on made-up people, or all rounds of the panel of Montana."""
    if part == "montana":
        return montana.trial(first=FIRST, epoch=EPOCH, rng=rng, **factors)
    return _averaging(rng=rng, **factors)


def _averaging(*, rounds: int, rng: Entropy) -> dict[str, float]:
    """How often averaging names a value of simulated people: with fresh noise, and with a memo."""
    from bruit.attacks import averaging
    from bruit.oracles import RandomizedResponse, Repeated

    panel = Repeated(RandomizedResponse(epsilon=FIRST, k=K), EPOCH)
    attack = averaging(panel, rounds=[rounds], n=2000, rng=rng)
    return {
        "redrawn": attack.redrawn[0].accuracy,
        "memoised": attack.memoised[0].accuracy,
        "limit": attack.limit,
    }


class Printed(NamedTuple):
    """One report of a construction in two steps of randomised response, as it is printed."""

    epsilon: float
    support: float
    other: float

    @property
    def variance(self) -> float:
        """n·Var* for a value that nobody has."""
        return self.other * (1 - self.other) / (self.support - self.other) ** 2


def printed(k: int, first: float = FIRST, epoch: float = EPOCH) -> Printed:
    """L-GRR over k values: the second step has e^ε₂ = (e^(ε∞+ε₁) − 1)/(e^ε∞ − e^ε₁)."""
    second = math.log((math.exp(epoch + first) - 1) / (math.exp(epoch) - math.exp(first)))
    (p, q), (p2, q2) = (_response(k, epsilon) for epsilon in (epoch, second))
    own = p * p2 + (k - 1) * q * q2
    other = p * q2 + q * p2 + (k - 2) * q * q2
    return Printed(math.log(own / other), own, other)


def printed_hashing(buckets: int, first: float = FIRST, epoch: float = EPOCH) -> Printed:
    """LOLOHA: the same over buckets, of which another value has the true one with chance 1/g."""
    inner = printed(buckets, first, epoch)
    return Printed(inner.epsilon, inner.support, 1 / buckets)


def best_buckets(first: float = FIRST, epoch: float = EPOCH) -> int:
    """The number of buckets of least variance for the construction as printed."""
    return min(range(2, 64), key=lambda buckets: printed_hashing(buckets, first, epoch).variance)


def published_buckets(first: float = FIRST, epoch: float = EPOCH) -> int:
    """The g of OLOLOHA by its published formula, rounded to the nearest whole number, and at least 2."""
    a, b = math.exp(epoch), math.exp(first)
    root = math.sqrt(a**4 - 14 * a**2 + 12 * a * b * (1 - a * b) + 12 * a**3 * b + 1)
    return max(2, 1 + round((1 - a**2 + root) / (6 * (a - b))))


def _response(k: int, epsilon: float) -> tuple[float, float]:
    weight = math.exp(epsilon)
    return weight / (weight + k - 1), 1 / (weight + k - 1)


def lifetime(k: int, epoch: float, refresh: float, rounds: int) -> tuple[float, float]:
    """The largest loss over all pairs of histories, of those equal at the same pairs of rounds, and of all."""
    histories = list(itertools.product(range(k), repeat=rounds))
    laws = {history: _joint(history, k, epoch, refresh) for history in histories}
    pairs = itertools.permutations(histories, 2)
    losses = [(_pattern(x) == _pattern(y), float(np.log(laws[x] / laws[y]).max())) for x, y in pairs]
    return max(loss for alike, loss in losses if alike), max(loss for _, loss in losses)


def _pattern(history: tuple[int, ...]) -> tuple[bool, ...]:
    return tuple(x == y for x, y in itertools.combinations(history, 2))


def _joint(history: tuple[int, ...], k: int, epoch: float, refresh: float) -> Any:
    """P(reports | history) of memos for every value, by the definition."""
    own, other = _response(k, epoch)
    values = sorted(set(history))
    total = np.zeros((k,) * len(history))
    for memos in itertools.product(range(k), repeat=len(values)):
        kept = dict(zip(values, memos, strict=True))
        joint = np.array(math.prod(own if memo == value else other for value, memo in kept.items()))
        for value in history:
            joint = np.multiply.outer(joint, refresh / k + (1 - refresh) * (np.arange(k) == kept[value]))
        total += joint
    return total


# Claims.


def _averages(results: StudyResults) -> Verdict:
    rows = results.where(part="averaging")
    last = int(max(rows.values("rounds")))
    once, many = (rows.where(rounds=number).mean("redrawn") for number in (1, last))
    memo, limit = rows.where(rounds=last).mean("memoised"), rows.mean("limit")
    numbers = {"once": once, "many": many, "memoised": memo}
    if many - once < GAIN:
        return refuted(f"{last} reports name {many:.0%} of values, one names {once:.0%}.", **numbers)
    return confirmed(
        f"Of {K} values, one report at ε = {FIRST:g} names {once:.0%}; {last} reports drawn anew name {many:.0%}. With "
        f"one memo of ε = {EPOCH:g} they name {memo:.0%}, and the best guess from the memo {limit:.1%}.",
        **numbers,
    )


def _calibrated(results: StudyResults) -> Verdict:
    two, fifty = printed(2), printed(50)
    exact = _exact_variance("GRR", 50)
    numbers = {"two": two.epsilon, "fifty": fifty.epsilon, "ratio": fifty.variance / exact}
    if max(two.epsilon, fifty.epsilon) > FIRST + 1e-9:
        return refuted(f"At 50 values a report has ε = {fifty.epsilon:.3f}.", **numbers)
    if abs(fifty.epsilon - FIRST) < 1e-6:
        return confirmed(f"At 50 values a report has ε = {fifty.epsilon:.3f}.", **numbers)
    return improved(
        f"It is ε₁-LDP: exactly for two values (ε = {two.epsilon:.3f}), and with room to spare for more. At 50 values "
        f"a report has ε = {fifty.epsilon:.3f} where {FIRST:g} was asked for; a second step with exactly {FIRST:g} has "
        f"n·Var* {exact:.2f} instead of {fifty.variance:.1f}, {fifty.variance / exact:.0f} times less.",
        **numbers,
    )


def _tuned(results: StudyResults) -> Verdict:
    buckets, losses = published_buckets(), []
    for epoch, share in itertools.product((0.5, 1.0, 2.0, 3.0, 4.0, 5.0), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)):
        g, best = (choose(share * epoch, epoch) for choose in (published_buckets, best_buckets))
        losses.append(_hashed(g, share * epoch, epoch) / _hashed(best, share * epoch, epoch))
    hashed, exact = printed_hashing(buckets), _exact_variance("OLH", 1000)
    numbers = {"buckets": buckets, "epsilon": hashed.epsilon, "ratio": hashed.variance / exact, "worst": max(losses)}
    evidence = (
        f"For its two steps the published g is best in {losses.count(1.0)} of {len(losses)} settings of ε∞ and ε₁ and "
        f"at most {max(losses) - 1:.1%} from the best in the others"
    )
    if max(losses) > 1 + NEAR_BEST:
        return refuted(f"{evidence}.", **numbers)
    if hashed.variance <= exact * 1.001:
        return confirmed(f"{evidence}; with g = {buckets} n·Var* is {hashed.variance:.3f}.", **numbers)
    return improved(
        f"{evidence}. At ε∞ = {EPOCH:g} and ε₁ = {FIRST:g} it is g = {buckets}, a report has ε = {hashed.epsilon:.3f}, "
        f"and n·Var* is {hashed.variance:.3f}; a second step with exactly ε₁ has {exact:.3f}, with g = 4.",
        **numbers,
    )


def _hashed(buckets: int, first: float, epoch: float) -> float:
    return printed_hashing(buckets, first, epoch).variance


def _lifetime(results: StudyResults) -> Verdict:
    k, epoch, refresh, rounds = 3, 0.095, 0.1, 3
    alike, largest = lifetime(k, epoch, refresh, rounds)
    numbers = {"alike": alike, "largest": largest}
    if largest <= k * epoch:
        return confirmed(f"Over all pairs of histories the loss is {largest:.3f}, below {k * epoch:.3f}.", **numbers)
    return refuted(
        f"Judged is ε-LDP of all reports together, for any two histories of answers. For {k} values and ε∞ = {epoch:g} "
        f"in {rounds} rounds k·ε∞ is {k * epoch:.3f}. The loss is {alike:.3f} between histories that are equal at the "
        f"same pairs of rounds, for which the bound holds, and {largest:.2f} between any two: when somebody changes is "
        "seen.",
        **numbers,
    )


def _montana_loss(results: StudyResults) -> Verdict:
    rows = results.where(part="montana", width=1)
    followed, redrawn, epochs = (rows.where(method=method) for method in ("by value", "redrawn", "epochs"))
    claimed, cost, distinct = (followed.mean(metric) for metric in ("claimed", "cost", "distinct"))
    numbers = {"claimed": claimed, "cost": cost, "distinct": distinct, "epochs": epochs.mean("cost")}
    if cost <= claimed:
        return confirmed(f"On average that is {claimed:.0f}, and {cost:.0f} is seen.", **numbers)
    return refuted(
        f"Judged is ε-LDP of all reports together, for any two histories of answers. With {distinct:.1f} values each "
        f"of {followed.mean('values'):,.0f}, on average ε∞ for every value is {claimed:.0f} at ε∞ = {EPOCH:g}; "
        f"{montana.ROUNDS} reports drawn anew at ε = {FIRST:g} cost {redrawn.mean('cost'):.0f}. Beside somebody "
        f"who never changes it is {cost:.0f} or more, because changes are seen. "
        f"{montana.EPOCHS} epochs with one memo each cost {epochs.mean('cost'):.1f}.",
        **numbers,
    )


def _exact_variance(name: str, k: int) -> float:
    """n·Var* of one report of a memoised oracle, which is that of the oracle itself."""
    from bruit.oracles import Repeated, oracle

    panel = Repeated(oracle(name, epsilon=FIRST, k=k), EPOCH)
    return panel.oracle.typical_variance(0.0, 1)


def _draw(results: StudyResults) -> Any:
    rows = results.where(part="averaging")
    curves = {
        "drawn anew": rows.curve("redrawn", "rounds"),
        "with a memo": rows.curve("memoised", "rounds"),
        "limit of the memo": rows.curve("limit", "rounds"),
    }
    ax = drawing.axes(f"Averaging GRR reports, ε = {FIRST:g}, n = 2,000", x="rounds (log scale)",
                      y="share named rightly", log="x")  # fmt: skip
    drawing.curves(ax, curves)
    drawing.reference(ax, 1 / K, f"chance, 1/{K}")
    ax.set_ylim(0, 1)
    ends = "; ".join(f"{name} {curve.ends('.2g')}" for name, curve in curves.items())
    return drawing.finish(
        ax, f"Share of values named against rounds: {ends}.", x=rows.curve("limit", "rounds").x.tolist()
    )


def _blocks(repetitions: int, rounds: tuple[int, ...], panels: int) -> list[Block]:
    panel: dict[str, Sequence[str | float]] = {"part": ["montana"], "method": [*montana.METHODS], "width": [1, 25]}
    return [Block({"part": ["averaging"], "rounds": rounds}, repetitions), Block(panel, panels)]


STUDY = Study(
    name="rounds",
    title="The same people again",
    question="What do many reports of one person tell, and do the published constructions keep what they promise?",
    method=(
        "Made-up people with ten values report in many rounds, by randomised response at ε = 1: anew each time, or by "
        "a memo of ε = 2. Everybody's value is guessed from all reports together. The laws of the published "
        "constructions are computed as they are printed, and the loss over all pairs of histories is enumerated. The "
        "10,336 people of Montana report their weights of a survey in 80 rounds, in four ways."
    ),
    trial=trial,
    quick=_blocks(4, (1, 4, 16, 64), 2),
    full=_blocks(40, (1, 2, 4, 8, 16, 32, 64, 128), 20),
    claims=[
        Claim("averaging", "A value near the truth can be had by averaging noisy answers.", _SLIDES,
              "slide “Composition séquentielle”, “en moyennant les réponses bruitées”", _averages),
        Claim("l-grr", "With e^ε₂ = (e^(ε∞+ε₁) − 1)/(e^ε∞ − e^ε₁) one report of L-GRR is ε₁-LDP.", _DCN,
              "L-GRR, parameters of the second step", _calibrated),
        Claim("loloha-buckets", "The g that LOLOHA takes for its two steps has the least variance.", _EDBT,
              "OLOLOHA, optimal g", _tuned),
        Claim("lifetime", "However answers change, all reports of a person together are k·ε∞-LDP.", _EDBT,
              "longitudinal privacy of L-GRR and the like, k·ε∞", _lifetime),
        Claim("montana-loss", "A person of the panel of Montana loses ε∞ for every value of the answers.", _EDBT,
              "experiments on DB_MT, privacy loss averaged over people", _montana_loss),
    ],
    plots=[Plot("averaging", "Mean over repetitions with its 95 % band. With a memo the attack stops.", _draw)],
    table=montana.table,
)  # fmt: skip
