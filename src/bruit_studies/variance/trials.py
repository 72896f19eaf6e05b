"""The trials of the study of variances: exact formulas, and simulations of one of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit.errors import LimitError

Row = dict[str, Any]
#: The slides' setting for one attribute.
N, K = 100_000, 128
#: And for the surface over d and k.
SURFACE_N, SURFACE_EPSILON = 10_000, math.log(3)
EPSILONS: tuple[float, ...] = tuple(round(float(e), 4) for e in np.geomspace(0.1, 5, 18))
FREQUENCIES = (0.0, 0.01, 0.1, 0.5, 1.0)


def trial(*, part: str, rng: Entropy, **factors: Any) -> list[Row]:
    """One part of the study; all but ``"fakes"`` are exact and draw nothing."""
    parts: dict[str, Any] = {
        "oracles": _oracles,
        "unary": _unary,
        "coverage": _coverage,
        "split or sample": _split_or_sample,
        "surface": _surface,
    }
    return _fakes(rng=rng, **factors) if part == "fakes" else list(parts[part](**factors))


def _oracles(*, oracle: str) -> list[Row]:
    """The exact variance of one oracle over ε and f, for the people who answered."""
    from bruit.oracles import oracle as named

    rows = []
    for epsilon in EPSILONS:
        try:
            mechanism = named(oracle, epsilon=epsilon, k=K)
        except LimitError:
            continue
        for f in FREQUENCIES:
            variance = mechanism.typical_variance(f, N, "people")
            small = mechanism.typical_variance(f, 100, "people")
            rows.append({"epsilon": epsilon, "frequency": f, "variance": variance, "small": small})
    return rows


def _unary(*, frequency: float) -> list[Row]:
    """The best p of a unary encoding for a value of this frequency, and what OUE loses against it."""
    rows = []
    for epsilon in EPSILONS:
        p = np.linspace(0.01, 0.99, 981)
        variances = unary_variance(p, epsilon, frequency)
        ours = float(unary_variance(np.array([0.5]), epsilon, frequency)[0])
        rows.append({"epsilon": epsilon, "best_p": p[int(variances.argmin())], "loss": ours / variances.min()})
    return rows


def unary_variance(p: NDArray[Any], epsilon: float, frequency: float) -> NDArray[Any]:
    """n·Var for the people who answered, of the unary encoding with this p and the q that uses all of ε."""
    q = p / (p + (1 - p) * math.exp(epsilon))
    noise = frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)
    return np.asarray(noise / (p - q) ** 2)


def _coverage(*, epsilon: float, frequency: float, n: int) -> list[Row]:
    """How often a 95 % interval built on Var* holds the frequency among the n people who answered through OUE.

    The people stay the same, so that nothing but the noise is seen: an exact sum over how many holders and how many
    others support the value.
    """
    from scipy import special

    p, q, holders = 0.5, 1 / (1 + math.exp(epsilon)), round(frequency * n)
    others = int(n) - holders
    mean, reach = holders * p + others * q, 1.959964 * math.sqrt(n * q * (1 - q))
    own = np.arange(holders + 1)
    weights = np.diff(special.bdtr(own, holders, p), prepend=0.0)
    low, high = (_at_most(limit - own, others, q) for limit in (math.ceil(mean - reach) - 1, math.floor(mean + reach)))
    return [{"covered": float(weights @ (high - low))}]


def _at_most(k: NDArray[Any], n: int, p: float) -> NDArray[np.float64]:
    """P(Bin(n, p) ≤ k), for any whole k."""
    from scipy import special

    return np.where(k < 0, 0.0, np.asarray(special.bdtr(np.clip(k, 0, n), n, p)))


def _split_or_sample(*, d: int, frequency: float) -> list[Row]:
    """Var of one of d attributes (k = 2, GRR) by splitting ε and by sampling an attribute, for the population."""
    from bruit.oracles import RandomizedResponse

    rows = []
    for epsilon in (*EPSILONS, 8.0, 10.0):
        split = RandomizedResponse(epsilon=epsilon / d, k=2).typical_variance(frequency, N)
        sample = d * RandomizedResponse(epsilon=epsilon, k=2).typical_variance(frequency, N)
        whole = RandomizedResponse(epsilon=epsilon, k=2).typical_variance(frequency, N)
        rows.append({"epsilon": epsilon, "split": split, "sample": sample, "undivided": whole})
    return rows


def fake_law(base: str, d: int, k: int, inner: float) -> tuple[float, float, float]:
    """p, q and φ of RS+FD[GRR] or RS+FD[OUE-z] whose true report is made at ε' = `inner`."""
    a = math.exp(inner)
    if base == "GRR":
        return a / (a + k - 1), 1 / (a + k - 1), 1 / k
    return 0.5, 1 / (a + 1), 1 / (a + 1)


def fake_variance(base: str, d: int, k: int, inner: float, *, frequency: float, n: float) -> float:
    """The exact variance for these n people."""
    p, q, fake = fake_law(base, d, k, inner)
    own, other = (p + (d - 1) * fake) / d, (q + (d - 1) * fake) / d
    noise = frequency * own * (1 - own) + (1 - frequency) * other * (1 - other)
    return d**2 * noise / (n * (p - q) ** 2)


def amplified(epsilon: float, d: int) -> float:
    """The published ε' = ln(d(e^ε − 1) + 1)."""
    return math.log(d * (math.exp(epsilon) - 1) + 1)


def _surface(*, calibration: str, d: int) -> list[Row]:
    """Var* of both methods over k."""
    inner = amplified(SURFACE_EPSILON, d) if calibration == "published" else SURFACE_EPSILON
    return [
        {"k": k, **{base: fake_variance(base, d, k, inner, frequency=0.0, n=SURFACE_N) for base in ("GRR", "OUE")}}
        for k in range(2, 21)
    ]


def _fakes(*, d: int, k: int, rng: Entropy) -> list[Row]:
    """One collection by RS+FD[GRR] among 2,000 people, half of whom have the first value of every attribute."""
    from bruit import Plan, Schema
    from bruit.collection import RSFD

    n = 2000
    codes = np.where(np.arange(n) < n // 2, 0, np.arange(n) % k)
    schema = Schema({f"a{place}": list(range(k)) for place in range(d)})
    plan = Plan(schema, SURFACE_EPSILON, RSFD("GRR", published=True))
    table = dict.fromkeys(schema, codes)
    f = float((codes == 0).mean())
    answer = plan.estimate(plan.tally(plan.privatize(table, rng=rng)))["a0"]
    inner = amplified(SURFACE_EPSILON, d)
    p, q, fake = fake_law("GRR", d, k, inner)
    own, other = (p + (d - 1) * fake) / d, (q + (d - 1) * fake) / d
    printed = d**2 / (n * (p - q) ** 2) * (f * own * (1 - own) + (1 - f) / n * other * (1 - other))
    exact = fake_variance("GRR", d, k, inner, frequency=f, n=n)
    return [{"error": float(answer.frequency[0]) - f, "printed": printed, "exact": exact}]
