"""Claims about bounded Laplace and the staircase that their laws decide, without any data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.numbers import BoundedLaplace, Staircase
from bruit.numbers.staircase_noise import Error, optimal_gamma, variance
from bruit.oracles import RandomizedResponse
from bruit_studies import Claim, StudyResults, Verdict, confirmed, corrected, refuted, slip

Floats: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = Callable[[Floats], Floats]

NOMINAL = (0.5, 1.0, 2.0, 5.0)
ATTRIBUTES = 8
_SLIDES = "LDP slides"


def loss(height: Shape, area: Shape, reach: float = 1.0, points: int = 201) -> float:
    """The greatest log-ratio of a density that is drawn again until the sum lies in [0, 1], over values and reports.

    `height` is the density of the noise at a distance, up to a factor, and `area` its integral from 0. Values and
    reports are looked at on evenly spaced points, the ends and the middle among them, so that it is never too large.
    Neighbours are values no farther apart than `reach`.
    """
    x = np.linspace(0, 1, points)
    inside = area(x) + area(1 - x)
    logs = np.log(height(np.abs(x[:, None] - x[None, :]))) - np.log(inside)[:, None]
    near = np.abs(x[:, None] - x[None, :]) <= reach + 1e-12
    return float(max((logs[:, None, y] - logs[None, :, y])[near].max() for y in range(points)))


def laplace_loss(epsilon: float, width: float = 1.0, reach: float = 1.0) -> float:
    """Of Laplace noise of scale width/ε, the interval being 1 wide."""
    rate = epsilon / width
    return loss(lambda d: np.exp(-rate * d), lambda d: -np.expm1(-rate * d) / rate, reach)


def staircase_loss(epsilon: float, error: Error = "absolute") -> float:
    """Of staircase noise whose Δ is the width of the interval: only two of its steps are inside."""
    gamma, b = optimal_gamma(epsilon, error), math.exp(-epsilon)
    return loss(lambda d: np.where(d < gamma, 1.0, b), lambda d: np.minimum(d, gamma) + b * np.maximum(d - gamma, 0))


def unbounded_loss(epsilon: float, gamma: float, points: int = 801) -> float:
    """Of x + v with staircase noise v and Δ = 1, for values up to 1 apart: the greatest log-ratio over reports.

    Reports are looked at on evenly spaced points within four widths; beyond, the steps go on alike.
    """
    reports, shifts = np.linspace(-4, 4, points), np.linspace(-1, 1, 41)
    steps = [_step(np.abs(reports - shift), gamma) for shift in (0.0, *shifts)]
    return epsilon * float(max((other - steps[0]).max() for other in steps))


def _step(distance: Floats, gamma: float) -> Floats:
    """By how many factors b the density of staircase noise lies below its height at 0."""
    return np.where(distance < gamma, 0.0, np.floor(distance - gamma) + 1)


def printed_gamma(epsilon: float) -> float:
    """γ by the formula of the slide."""
    b = math.exp(-epsilon)
    return -b / (1 - b) + math.cbrt(b - 2 * b**2 + 2 * b**4 - b**5) / (math.cbrt(2) * (1 - b) ** 2)


def mass(epsilon: float, shift: int) -> float:
    """The total of the density with α·b^(j+shift) on the outer steps, and the slide's γ and α."""
    gamma, b = printed_gamma(epsilon), math.exp(-epsilon)
    alpha = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    steps = np.arange(math.ceil(50 / epsilon))  # the rest is below 10⁻²⁰
    return float(2 * alpha * (gamma + np.sum(b ** (steps + shift))))


def _laplace(_: StudyResults) -> Verdict:
    share = max(laplace_loss(epsilon) / epsilon for epsilon in NOMINAL)
    cells = max(
        BoundedLaplace(epsilon=epsilon, bounds=(0.0, 1.0), cells=256).guarantee.epsilon / epsilon for epsilon in NOMINAL
    )
    if max(share, cells) > 1 + 1e-9:
        return refuted(f"The greatest log-ratio is {share:.6f} ε.", share=share)
    return confirmed(
        f"The greatest log-ratio of the density is {share:.9f} ε at ε = 0.5, 1, 2 and 5, between the two ends, whose "
        f"normalising constants are equal; on a grid of 256 cells the exact law has at most {cells:.9f} ε.",
        share=share,
    )


def _staircase(_: StudyResults) -> Verdict:
    true = [staircase_loss(epsilon) for epsilon in NOMINAL]
    squared = [staircase_loss(epsilon, "squared") for epsilon in NOMINAL]
    if all(loss <= epsilon + 1e-9 for loss, epsilon in zip(true, NOMINAL, strict=True)):
        return confirmed("The greatest log-ratio is ε.")
    words = [", ".join(f"{loss:.4f}" for loss in losses) for losses in (true, squared)]
    exact = Staircase.as_printed(1.0).guarantee.epsilon
    return refuted(
        f"Drawn again until inside, at a nominal ε of 0.5, 1, 2 and 5 it has {words[0]} (diffprivlib's γ), or "
        f"{words[1]} (the γ of the slide): a value in the middle keeps more of its noise than one at an end, so the "
        f"normalising constants differ. The exact law on a grid of 4,096 cells has {exact:.4f} at 1.",
        **{f"at_{epsilon:g}": loss for epsilon, loss in zip(NOMINAL, true, strict=True)},
    )


def _staircase_alone(_: StudyResults) -> Verdict:
    shares = [
        unbounded_loss(epsilon, gamma) / epsilon
        for epsilon in NOMINAL
        for gamma in (optimal_gamma(epsilon), printed_gamma(epsilon))
    ]
    if max(shares) > 1 + 1e-9:
        return refuted(f"The greatest log-ratio of x + v is {max(shares):.6f} ε.", share=max(shares))
    return confirmed(
        f"The greatest log-ratio of x + v is {max(shares):.6f} ε at ε = 0.5, 1, 2 and 5, for values up to the width Δ "
        "apart, with the γ of the slide and with diffprivlib's: a shift by Δ changes the step by one at most.",
        share=max(shares),
    )


def _density(_: StudyResults) -> Verdict:
    printed, right = ([mass(epsilon, shift) for epsilon in NOMINAL] for shift in (0, 1))
    if max(abs(total - 1) for total in printed) < 1e-9:
        return confirmed("Its total is 1.")
    words = ", ".join(f"{total:.3f}" for total in printed)
    gap = max(abs(total - 1) for total in right)
    if gap > 1e-9:
        return refuted(f"Its total is {words} at ε = 0.5, 1, 2 and 5, and b^(j+1) does not mend it.", gap=gap)
    return corrected(
        f"Its total is {words} at ε = 0.5, 1, 2 and 5: the step after γΔ must already be lower. With α(γ)·b^(j+1) in "
        f"place of α(γ)·b^j on [(j+γ)Δ, (j+1+γ)Δ[ the total is 1 (within {gap:.0e}); intervals, α and γ are right.",
        at_one=printed[1],
        gap=gap,
    )


def _gamma(_: StudyResults) -> Verdict:
    from scipy.optimize import minimize_scalar

    gaps = []
    for epsilon in NOMINAL:
        best = minimize_scalar(
            lambda gamma, epsilon=epsilon: variance(epsilon=epsilon, gamma=gamma),
            bounds=(0, 1),
            method="bounded",
            options={"xatol": 1e-9},
        )
        gaps.append(abs(best.x - printed_gamma(epsilon)))
    if max(gaps) > 1e-4:
        return refuted(f"It is up to {max(gaps):.3f} from the best γ for the squared error.", gap=max(gaps))
    return confirmed(
        f"It makes the squared error least (within {max(gaps):.0e} of a numerical search). The listing does not use "
        f"it: diffprivlib takes 1/(1 + e^(ε/2)), best for |error|: {optimal_gamma(1.0):.3f} instead of "
        f"{printed_gamma(1.0):.3f} at ε = 1.",
        gap=max(gaps),
    )


def _width(_: StudyResults) -> Verdict:
    whole, tenth, near = laplace_loss(1.0), laplace_loss(1.0, 0.1), laplace_loss(1.0, 0.1, 0.1)
    if tenth <= 1 + 1e-9:
        return refuted(f"A tenth of the width is enough: the greatest log-ratio is {tenth:.3f}.", tenth=tenth)
    return slip(
        f"The width is right ({whole:.3f} at ε = 1; with a tenth of it {tenth:.3f}). Only the word slips: in LDP any "
        "two values are neighbours and the value itself is asked, so that the width is the sensitivity. (With noise "
        f"for a tenth even values that are a tenth apart are told apart by {near:.3f}, because of drawing again.)",
        tenth=tenth,
        near=near,
    )


def _composition(_: StudyResults) -> Verdict:
    coin, number = RandomizedResponse(epsilon=1.0, k=2), BoundedLaplace(epsilon=1.0, bounds=(0.0, 1.0), cells=16)
    # Every pair of reports given every pair of values: the joint law of a small record, by enumeration.
    joint = np.log(np.kron(np.array(coin.matrix(), float), number.probabilities()))
    worst = float((joint.max(axis=0) - joint.min(axis=0)).max())
    both = coin.guarantee.epsilon + number.guarantee.epsilon
    if worst > both + 1e-9:
        return refuted(f"An answer and a number at ε = 1 each have {worst:.6f} together.", worst=worst)
    leaking = Staircase.as_printed(1.0).guarantee.epsilon
    total, printed = ATTRIBUTES * number.guarantee.epsilon + coin.guarantee.epsilon, ATTRIBUTES * leaking + 1
    return confirmed(
        f"It is, with the sum of the ε: an answer and a number at ε = 1 each have exactly {worst:.6f} together. So "
        f"“valeur du eps global ?” of LDP(1, …) on eight numbers and the outcome is {total:.6f} for a person with "
        f"Laplace, and {printed:.3f} with the resampled staircase.",
        worst=worst,
        total=total,
        staircase=printed,
    )


CLAIMS = (
    Claim("resampled-laplace-ldp", "Laplace noise of scale Δ/ε, drawn again until the sum is inside, is ε-LDP.",
          _SLIDES, "slide “Données continues, encore Laplace”, “Preuve d'ε-LDP”", _laplace),
    Claim("laplace-width", "Here Δ is not the sensitivity, which would make no sense, but the width of the interval.",
          _SLIDES, "slide “Données continues, encore Laplace”, last line", _width),
    Claim("staircase-density", "The staircase has density α(γ) for |z| < γΔ and α(γ)·b^j for |z| in "
          "[(j+γ)Δ, (j+1+γ)Δ[.", _SLIDES, "slide “Données continues, par paliers”, density", _density),
    Claim("staircase-gamma", "γ = −b/(1−b) + (b−2b²+2b⁴−b⁵)^⅓/(2^⅓(1−b)²) is the width of the first step.", _SLIDES,
          "slide “Données continues, par paliers”, formula of γ", _gamma),
    Claim("staircase-ldp", "x + v, with staircase noise v for the width Δ of the interval, is ε-LDP.", _SLIDES,
          "slide “Données continues, par paliers”, “Preuve d'ε-LDP : admise”", _staircase_alone),
    Claim("resampled-staircase-ldp", "Staircase noise that is drawn again until the sum is inside is ε-LDP, too (our "
          "reading of the listing).", _SLIDES,
          "listing “Nettoyage avec stairCase et GRR”, lines 3 to 8, addBoundedStaircaseNoise", _staircase),
    Claim("ldp-composition", "The combination of two LDP mechanisms is LDP.", _SLIDES,
          "slide “Définition et propriétés”, last line, and listing -3, line 2, “valeur du eps global ?”",
          _composition),
)  # fmt: skip
