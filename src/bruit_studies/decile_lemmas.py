"""The lemmas behind the accuracy of the histogram method, uniform and normal: as printed, as mended, and exactly.

With n records, of which m = in/10 are at or below the i-th decile d, and F the distribution function: d lies above
x + h if at most m − 1 records are up to x + h, and below x − h if at most n − m are from x − h on. These exclude each
other, so that the probability of each is a binomial sum, and their sum is exact. Appendix A, slip by slip, is in
``decile_lemmas.proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from bruit_studies.claim import Claim, Verdict, confirmed, corrected, refuted
from bruit_studies.results import StudyResults

Law: TypeAlias = Literal["uniform", "normal"]

#: What is looked at: records, γ by law (the sections take [0, 0.1] and [0, d]), and all nine deciles.
SIZES, GAMMA, DECILES = (100, 1000, 10_000), {"uniform": 0.05, "normal": 0.1}, tuple(range(1, 10))
#: Where the last line of the proof is looked at: 648 cases with all nine deciles.
MANY_SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 10_000)
MANY_GAMMAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
_REPORT = "internship report"


class Bound(NamedTuple):
    """A probability, and what a lemma says of it beforehand: as printed, and mended."""

    exact: float
    printed: float
    mended: float


def share_below(law: Law, decile: int, distance: float) -> float:
    """How much of the law lies below its i-th decile, moved by a distance."""
    share = decile / 10
    return share + distance if law == "uniform" else float(special.ndtr(special.ndtri(share) + distance))


def allowed(law: Law, decile: int) -> float:
    """The largest γ that the section takes: 0.1, or the decile of the normal law, where that is not below 0.

    >>> [round(allowed("normal", decile), 2) for decile in (1, 5, 6, 9)]
    [0.0, 0.0, 0.25, 1.28]
    """
    return 0.1 if law == "uniform" else max(0.0, float(special.ndtri(decile / 10)))


def _at_most(count: int, n: int, p: float) -> float:
    """P(Bin(n, p) ≤ count)."""
    return float(special.bdtr(count, n, p)) if count >= 0 else 0.0


def empirical_decile(n: int, decile: int, gamma: float, law: Law) -> Bound:
    """That the i-th decile of n records lies within γ/2 of that of the law (n a multiple of 10).

    As printed 1 − η with η = 2 − Σ + Σ; for the normal law the sums have no γ. Mended, η = Σ + Σ with γ/2 in both.
    """
    m, half = decile * n // 10, gamma / 2
    above, below = share_below(law, decile, half), share_below(law, decile, -half)
    exact = 1 - _at_most(m - 1, n, above) - _at_most(n - m, n, 1 - below)
    mended = 1 - _at_most(m, n, above) - _at_most(n - m, n, 1 - below)
    if law == "normal":
        above = below = decile / 10
    printed = 1 - (2 - _at_most(m, n, above) + _at_most(n - m, n, 1 - below))
    return Bound(exact, printed, mended)


def by_the_proof(n: int, decile: int, gamma: float, law: Law) -> float:
    """What the last line of the lemma's proof says, Σ + Σ − 1, whose sign the statement does not repeat."""
    m, half = decile * n // 10, gamma / 2
    above, below = share_below(law, decile, half), share_below(law, decile, -half)
    return _at_most(m, n, above) + _at_most(n - m, n, 1 - below) - 1


def falsified(law: Law) -> tuple[int, int]:
    """In how many cases of n, γ and i the last line of the proof promises more than there is, and of how many."""
    cases = [(n, decile, gamma) for n in MANY_SIZES for gamma in MANY_GAMMAS for decile in DECILES]
    pairs = [(by_the_proof(*case, law), empirical_decile(*case, law).exact) for case in cases]
    return sum(bound > exact + 1e-12 for bound, exact in pairs), len(cases)


def enough_records(n: int, decile: int, gamma: float, law: Law, alpha: int) -> Bound:
    """That at least α records lie between γ/2 and γ on each side of the i-th decile.

    As printed 1 − Σ − Σ, both up to α; up to α − 1 would do, which is the mended form.
    """
    half = gamma / 2
    left = share_below(law, decile, -half) - share_below(law, decile, -gamma)
    right = share_below(law, decile, gamma) - share_below(law, decile, half)
    few = np.arange(alpha)
    counts = np.diff(special.bdtr(few, n, left), prepend=0.0)
    neither = float(counts @ np.array([_at_most(alpha - 1, n - int(a), right / (1 - left)) for a in few]))
    either = [_at_most(alpha - 1, n, width) for width in (left, right)]
    printed = 1 - sum(_at_most(alpha, n, width) for width in (left, right))
    return Bound(1 - sum(either) + neither, printed, 1 - sum(either))


def normal_theorem(n: int, decile: int, *, steps: int = 1000, epsilon: float = 1.0, beta: float = 0.05) -> float:
    """1 − β − η − μ for the normal law, as printed."""
    alpha = math.floor(8 * (math.log(steps) + math.log(2 / beta)) / epsilon)
    gamma = GAMMA["normal"]
    eta = 1 - empirical_decile(n, decile, gamma, "normal").printed
    return 1 - beta - eta - (1 - enough_records(n, decile, gamma, "normal", alpha).printed)


def _deciles(law: Law) -> Verdict:
    bounds = [empirical_decile(n, decile, GAMMA[law], law) for n in SIZES for decile in DECILES]
    if _exceeds([(bound.printed, bound.exact) for bound in bounds]):
        return refuted("As printed it promises more than there is.")
    best = max(bound.printed for bound in bounds)
    if best > 0:
        return confirmed(f"It holds, and promises up to {best:.3f}.", best=best)
    false, cases = falsified(law)
    evidence = (
        f"As printed it is true and promises nothing: {best:.2f} at best, for n up to {SIZES[-1]:,}. With the sign of "
        f"the proof's last line, Σ + Σ − 1, it would be false in {false} of {cases} cases (n from {MANY_SIZES[0]} to "
        f"{MANY_SIZES[-1]:,}, γ from {MANY_GAMMAS[0]:g} to {MANY_GAMMAS[-1]:g})."
    )
    if _exceeds([(bound.mended, bound.exact) for bound in bounds]):
        return refuted(f"{evidence} With η = Σ + Σ it promises more than there is.", best=best)
    loosest = max(bound.exact - bound.mended for bound in bounds if bound.mended > 0)
    missing = " and γ/2 in the integrals, where it is missing" if law == "normal" else ""
    without = sum(allowed(law, decile) == 0 for decile in DECILES)
    interval = f" Its γ in [0, dᵢ] leaves none but 0 for {without} of the nine deciles; any will do." if without else ""
    return corrected(
        f"{evidence} The proof subtracts the probabilities of two good events. With their complements, η = Σ + Σ"
        f"{missing}, it holds for all n and i, and where it promises anything is at most {loosest:.3f} below the exact "
        f"probability.{interval}",
        best=best,
        loosest=loosest,
    )


def _exceeds(pairs: Sequence[tuple[float, float]]) -> bool:
    return any(bound > exact + 1e-12 for bound, exact in pairs)


def _uniform_deciles(_: StudyResults) -> Verdict:
    return _deciles("uniform")


def _normal_deciles(_: StudyResults) -> Verdict:
    return _deciles("normal")


def _enough(law: Law) -> Verdict:
    cases = [(n, decile, alpha) for n in SIZES for decile in DECILES for alpha in (1, n // 200 + 1, n // 100)]
    bounds = [enough_records(n, decile, GAMMA[law], law, alpha) for n, decile, alpha in cases]
    if _exceeds([(bound.printed, bound.exact) for bound in bounds]):
        return refuted("It promises more than there is.")
    gap = max(bound.exact - bound.printed for bound in bounds if bound.printed > 0)
    return confirmed(
        f"It holds in all {len(bounds)} cases of n, i and α, and where it promises anything is at most {gap:.3f} below "
        "the exact probability; sums up to α − 1 would do.",
        gap=gap,
    )


def _uniform_enough(_: StudyResults) -> Verdict:
    return _enough("uniform")


def _normal_enough(_: StudyResults) -> Verdict:
    return _enough("normal")


def _normal_theorem(_: StudyResults) -> Verdict:
    from bruit.releases.quantiles import accuracy, normal

    n = 50_000
    best = max(normal_theorem(n, decile) for decile in DECILES)
    if best > 0:
        return confirmed(f"The printed bound reaches {best:.2f} at n = {n:,}.", best=best)
    right = [
        accuracy(n, epsilon=1.0, cells=1000, gamma=GAMMA["normal"], distribution=normal(), quantile=decile / 10,
                 bounds=(-5.0, 5.0)).bound or 0.0
        for decile in DECILES
    ]  # fmt: skip
    return corrected(
        f"True, and empty: as printed it is {best:.2f} at best at n = {n:,}, γ = {GAMMA['normal']:g} and ε = 1. With "
        f"the lemmas mended, ε/9 and the grid's step it is {min(right):.3f} to {max(right):.3f} over the nine deciles.",
        best=best,
        least=min(right),
    )


CLAIMS = (
    Claim("lemma-deciles-uniform", "The i-th decile of n uniform records lies within γ/2 of i/10 with probability at "
          "least 1 − η, η = 2 − Σ + Σ.", _REPORT, "§2.2.3, lemma 2.2.3.1", _uniform_deciles),
    Claim("lemma-enough-uniform", "At least α of n uniform records lie in each of the intervals from γ/2 to γ beside a "
          "decile with probability at least 1 − β.", _REPORT, "§2.2.3, lemma 2.2.3.2", _uniform_enough),
    Claim("lemma-deciles-normal", "The i-th decile of n normal records lies within γ/2 of that of the law with "
          "probability at least 1 − η.", _REPORT, "§2.2.4, lemma 2.2.4.2, and appendix A.1", _normal_deciles),
    Claim("lemma-enough-normal", "At least α of n normal records lie in each of the intervals from γ/2 to γ beside a "
          "decile with probability at least 1 − β.", _REPORT, "§2.2.4, lemma 2.2.4.3, and appendix A.2",
          _normal_enough),
    Claim("theorem-normal", "For normal records the i-th decile lies within γ with probability at least 1 − β − η − μ.",
          _REPORT, "§2.2.4, theorem 2.2.4.1, and appendix A.3", _normal_theorem),
)  # fmt: skip
