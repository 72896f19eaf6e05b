"""The inverse sensitivity mechanism against Laplace noise, for median, mean and variance, over shapes of data.

Both are compared with what any ε-DP mechanism must miss, from the local modulus of continuity of the statistic; the
argument is in ``inverse_sensitivity.proof.md``.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit.tables import Table
from bruit_studies import Block, Claim, Plot, Study, StudyResults, Verdict, confirmed, drawing, refuted, slip

if TYPE_CHECKING:
    from bruit.releases import Statistic

Floats = NDArray[np.float64]

STATISTICS = ("median", "mean", "variance")
SHAPES = ("uniform", "narrow", "skewed", "two groups")
MECHANISMS = ("laplace", "inverse-sensitivity")
#: Records lie in 0..1 and are kept to 2⁻¹⁴ where a median is asked for.
BOUNDS, CELLS = (0.0, 1.0), 2**14 + 1
_REPORT = "internship report"


def _records(shape: str, n: int, generator: np.random.Generator) -> Floats:
    if shape == "uniform":
        return generator.random(n)
    if shape == "narrow":
        return np.clip(generator.normal(0.5, 0.02, n), 0, 1)
    if shape == "skewed":
        return np.clip(generator.lognormal(-3, 0.8, n), 0, 1)
    # The median lies in a gap that no record is in: a few records move it far.
    return np.clip(np.where(generator.random(n) < 0.5, 0.1, 0.9) + generator.normal(0, 0.02, n), 0, 1)


@cache
def _release(statistic: str, mechanism: str, epsilon: float) -> Statistic:
    from bruit.domains import Grid
    from bruit.releases import InverseSensitivity, Mean, Variance

    if mechanism == "inverse-sensitivity":
        bounds: Any = Grid(*BOUNDS, cells=CELLS) if statistic == "median" else BOUNDS
        return InverseSensitivity(statistic=statistic, bounds=bounds, epsilon=epsilon)
    kind = Mean if statistic == "mean" else Variance
    return kind(bounds=BOUNDS, epsilon=epsilon, neighbours="replace")


def trial(*, statistic: str, shape: str, mechanism: str, epsilon: float, n: int, rng: Entropy) -> dict[str, float]:
    """One release of one statistic of n records; its error in the unit of the data, and what any mechanism errs by."""
    records = _records(shape, int(n), rng.generator())
    truths: dict[str, Any] = {"median": np.median, "mean": np.mean, "variance": np.var}
    truth = truths[statistic](records)
    if statistic == "median" and mechanism == "laplace":
        released = _laplace_median(records, epsilon, rng)
    else:
        release = _release(statistic, mechanism, epsilon)
        released = release.release(release.fold(records), rng=rng).value
    return {"error": abs(float(released - truth)), "least": least_error(records, statistic, epsilon)}


def modulus(records: Floats, statistic: str, epsilon: float) -> Floats:
    """How far k changed records can move a statistic, at least, for k = 0, 1, …: its local modulus of continuity.

    Read off the lengths: if the statistic of data k records away comes within ρ of t, it moves by |t − f(x)| − ρ or
    more. It goes on while the mechanism can tell lengths apart, which is beyond any k that matters at this ε.
    """
    release: Any = _release(statistic, "inverse-sensitivity", epsilon)
    lengths = release.lengths(release.count({"values": records}))
    values = np.linspace(release.value_at(0), release.value_at(lengths.size - 1), lengths.size)
    own = values[lengths == 0]  # the statistic of the rounded records, as lengths have it
    away = np.maximum(values - own.max(), own.min() - values) - (values[1] - values[0])
    # Lengths are cut where the mechanism's weights end: what is said beyond is left out.
    kept = lengths < min(len(release.choice.weights(records.size + 1)) - 1, records.size + 1)
    reach = np.zeros(int(lengths[kept].max()) + 1)
    np.maximum.at(reach, lengths[kept], np.maximum(away[kept], 0))
    return np.maximum.accumulate(reach)


def least_error(records: Floats, statistic: str, epsilon: float) -> float:
    """What every ε-DP mechanism misses on average, on these records or on others k records away: max ω(k)/2(1 + e^kε).

    >>> round(least_error(np.array([0.0, 0.0, 1.0]), "median", 1.0), 2)  # one record moves it from 0 to 1
    0.13
    """
    reach = modulus(records, statistic, epsilon)
    changed = np.arange(reach.size)
    return float((reach / (2 * (1 + np.exp(np.minimum(changed * epsilon, 700))))).max())


def _laplace_median(records: Floats, epsilon: float, rng: Entropy) -> float:
    """The median with noise for its global sensitivity, the whole width: one record can move it that far."""
    from bruit.releases import DiscreteLaplace

    noise = DiscreteLaplace.calibrate(CELLS - 1, epsilon).draw(1, rng)[0]
    return float(np.round(np.median(records) * (CELLS - 1)) + noise) / (CELLS - 1)


def _ratio(results: StudyResults, **where: Any) -> tuple[float, float]:
    """The error of inverse sensitivity over that of Laplace noise, and its standard error."""
    rows = results.where(**where)
    inverse, other = (rows.where(mechanism=mechanism).summary("error") for mechanism in reversed(MECHANISMS))
    ratio = inverse.mean / other.mean
    return ratio, ratio * float(np.hypot(inverse.error / inverse.mean, other.error / other.mean))


def _private(_: StudyResults) -> Verdict:
    """The exact loss over all neighbours of small data sets, for all three statistics."""
    from bruit.domains import Grid
    from bruit.releases import InverseSensitivity

    worst, grid = Fraction(0), Grid(*BOUNDS, cells=65)
    places = (0.0, 0.5, 1.0)
    for statistic in STATISTICS:
        for rho in (0.0, 0.1):
            release = InverseSensitivity(statistic=statistic, bounds=grid, epsilon=1.0, smoothing=rho)
            for records in itertools.combinations_with_replacement(places, 3):
                first = release.count({"values": np.array(records)})
                for changed in places:
                    second = release.count({"values": np.array([changed, *records[1:]])})
                    worst = max(worst, Fraction(release.loss_between(first, second)))
    evidence = (
        f"over all neighbours among three records at three places, the exact loss is at most {float(worst):.6f} ε"
    )
    if worst > 1:
        return refuted(f"For median, mean and variance, {evidence}.", loss=float(worst))
    return confirmed(f"For median, mean and variance, with ρ = 0 and 0.1, {evidence}.", loss=float(worst))


def lengths_by_definition(records: tuple[int, ...], places: int) -> dict[int, int]:
    """How many of some records must change for their median to be each value, by trying all records that there are."""
    changed: dict[int, int] = {}
    for others in itertools.product(range(places), repeat=len(records)):
        value = sorted(others)[len(others) // 2]
        distance = sum(x != y for x, y in zip(records, others, strict=True))
        changed[value] = min(distance, changed.get(value, distance))
    return changed


def _zero_at_truth(_: StudyResults) -> Verdict:
    """The values at which the length is 0, over all tables of three records at five places."""
    places, zeros = 5, set()
    for records in itertools.product(range(places), repeat=3):
        lengths = lengths_by_definition(records, places)
        zeros.add(tuple(value - sorted(records)[1] for value, length in lengths.items() if length == 0))
    if zeros != {(0,)}:
        return refuted("There are tables with a length of zero elsewhere.", tables=len(zeros))
    return confirmed(
        f"By the definition it is: nothing changed leaves f(x). Counted for the median of all {places**3} tables of "
        f"three records at {places} places. A continuous law never hits a single point, which is "
        "why the smooth version is needed.",
        tables=places**3,
    )


#: The year of the work that the sentence credits with the smooth version, and that of the one that has it.
CREDITED, DEFINED = 2007, 2020


def _credit(_: StudyResults) -> Verdict:
    """Which of the report's references has the smooth version."""
    if CREDITED >= DEFINED:
        return confirmed("The work that is credited has the smooth version.")
    return slip(
        f"The smooth version is by Asi and Duchi ({DEFINED}), [AD20], as the length that it smooths. McSherry and "
        f"Talwar ({CREDITED}) have the exponential mechanism, for which the report credits them rightly before.",
        credited=CREDITED,
        defined=DEFINED,
    )


def _draw(results: StudyResults) -> Any:
    from bruit.figures import style

    panels = drawing.panels(len(STATISTICS), height=2.7)
    notes = []
    for ax, statistic in zip(panels, STATISTICS, strict=True):
        log = "x" if statistic == "median" else ""
        scale = "log scale" if log else "from 0"
        drawing.dress(
            ax,
            f"{statistic.capitalize()}, ε = 1, n = 1,000",
            x=f"mean error (unit of the data, {scale})",
            y="shape",
            log=log,
        )
        style.tidy(ax, grid="x")
        rows = results.where(statistic=statistic, epsilon=1.0)
        for place, mechanism in ((1, "laplace"), (0, "inverse-sensitivity")):
            errors = {shape: rows.where(shape=shape, mechanism=mechanism).summary("error") for shape in SHAPES}
            drawing.intervals(ax, errors, place, mechanism)
        notes += [f"{statistic} {shape} {_ratio(rows, shape=shape)[0]:.2g}" for shape in SHAPES]
        ax.margins(y=0.15)
        if not log:
            ax.set_xlim(left=0)
    panels[0].legend(loc="upper left", frameon=False, ncols=2, bbox_to_anchor=(0, 1.0))
    panels[0].set_ylim(-0.5, len(SHAPES) + 0.1)
    return drawing.describe(
        panels[0],
        "Mean errors by statistic, shape and mechanism. Inverse sensitivity over Laplace: " + ", ".join(notes) + ".",
    )


def _draw_modulus(results: StudyResults) -> Any:
    from bruit.figures import style

    panels, epsilon = drawing.panels(len(STATISTICS), height=2.7), min(results.values("epsilon"))
    notes = []
    for ax, statistic in zip(panels, STATISTICS, strict=True):
        drawing.dress(
            ax,
            f"{statistic.capitalize()}, ε = {epsilon:g}, n = 1,000",
            x="mean error / lower bound (log scale)",
            y="shape",
            log="x",
        )
        style.tidy(ax, grid="x")
        rows = results.where(statistic=statistic, epsilon=epsilon)
        for place, mechanism in ((1, "laplace"), (0, "inverse-sensitivity")):
            ratios = {}
            for shape in SHAPES:
                part = rows.where(shape=shape, mechanism=mechanism)
                summary, least = part.summary("error"), part.mean("least")
                values = {name: getattr(summary, name) / least for name in ("mean", "sd", "error", "low", "high")}
                ratios[shape] = replace(summary, **values)
            drawing.intervals(ax, ratios, place, mechanism)
            notes.append(f"{statistic}, {mechanism}: " + ", ".join(f"{s} {r.mean:.2g}" for s, r in ratios.items()))
        ax.axvline(1, color=style.MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
        ax.set_xlim(left=0.8)
        ax.margins(y=0.15)
    panels[0].legend(loc="upper left", frameon=False, ncols=2, bbox_to_anchor=(0, 1.0))
    panels[0].set_ylim(-0.5, len(SHAPES) + 0.1)
    return drawing.describe(
        panels[0],
        f"Mean error at ε = {epsilon:g} over a lower bound for every ε-DP mechanism. " + "; ".join(notes) + ".",
    )


def _draw_epsilon(results: StudyResults) -> Any:
    ax = drawing.axes(
        "The median of skewed data, n = 1,000", x="ε (log scale)", y="mean error (unit of the data, log)", log="xy"
    )
    rows = results.where(statistic="median", shape="skewed")
    curves = {mechanism: rows.where(mechanism=mechanism).curve("error", "epsilon") for mechanism in MECHANISMS}
    for place, mechanism in ((1, "laplace"), (0, "inverse-sensitivity")):  # colours as in the other figures
        drawing.curve(ax, curves[mechanism], mechanism, place)
    ends = [f"{mechanism} {curve.ends('.2g')}" for mechanism, curve in curves.items()]
    return drawing.finish(
        ax,
        "Mean error of the median of skewed data against ε: " + "; ".join(ends) + ".",
        x=results.curve("error", "epsilon").x.tolist(),
    )


def _table(results: StudyResults) -> Table:
    rows = []
    for statistic in STATISTICS:
        for mechanism in MECHANISMS:
            part = results.where(statistic=statistic, mechanism=mechanism, epsilon=1.0)
            cells = [part.where(shape=shape).summary("error").text(".2g", ".1g") for shape in SHAPES]
            rows.append((f"{statistic}, {mechanism}", *cells))
    return Table.of("Mean error at ε = 1, ± dispersion of a run; records in 0..1", ("release", *SHAPES), rows)


def _blocks(repetitions: int, epsilons: tuple[float, ...]) -> list[Block]:
    factors: dict[str, Any] = {"statistic": STATISTICS, "shape": SHAPES, "mechanism": MECHANISMS}
    return [Block({**factors, "epsilon": epsilons, "n": [1000]}, repetitions)]


STUDY = Study(
    name="inverse-sensitivity",
    title="Inverse sensitivity against Laplace noise",
    question="For which statistics and which data is the inverse sensitivity mechanism closer to the truth?",
    method=(
        "A thousand records between 0 and 1 are drawn in four shapes. Median, mean and variance are released by the "
        "inverse sensitivity mechanism and with Laplace noise for the global sensitivity, both for one replaced record "
        "and the same ε. The error is the distance to the statistic of the records; it is compared with what every "
        "ε-DP mechanism misses at least, which follows from how far k changed records move the statistic."
    ),
    trial=trial,
    quick=_blocks(60, (0.1, 1.0, 10.0)),
    full=_blocks(300, (0.1, 0.3, 1.0, 3.0, 10.0)),
    claims=[
        Claim("inverse-dp", "The ρ-smooth inverse sensitivity mechanism is ε-DP.", _REPORT, "§3.1, theorem 3.1.0.1",
              _private),
        Claim("inverse-length-zero", "Only at f(x) is the length zero.", _REPORT,
              "§3.1, after definition 3.1.0.2, first sentence", _zero_at_truth),
        Claim("inverse-credit", "[MT07] introduce the smooth version of the mechanism.", _REPORT,
              "§3.1, after definition 3.1.0.2, last sentence", _credit),
    ],
    plots=[
        Plot("shapes", "Mean errors with their 95 % intervals. The median gains most; the mean gains nothing.", _draw),
        Plot("modulus", "Near-optimality: how many times more each mechanism misses than any ε-DP one must on such "
             "data, by the local modulus of continuity. Inverse sensitivity stays within the same few times for every "
             "shape; noise for the global sensitivity misses a median by thousands of times as much.", _draw_modulus),
        Plot("median", "The gain grows with ε: Laplace noise for the whole width falls as 1/ε only.", _draw_epsilon),
    ],
    table=_table,
    version=2,
)  # fmt: skip
