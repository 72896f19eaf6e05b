"""What the learning slides compute or bound by hand, done again exactly: worked examples and sensitivities."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit_studies import StudyResults, Verdict, confirmed, corrected, refuted, slip

Floats = NDArray[np.float64]

#: Attributes of Pima, and what is said of ε in the verdicts.
D = 8
SOME_EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)

#: Age, income, gender, missed payment.
_PAYMENTS = """Young Low Male Yes; Young High Female Yes; Medium High Male No; Old Medium Male No; Old High Male No;
Old Low Female Yes; Medium Low Female No; Medium Medium Male Yes; Young Low Male No; Old High Female No"""
#: Height, weight and foot of four men and of four women, and of the person in question.
_MEN = ((182, 81.6, 30), (180, 86.2, 28), (170, 77.1, 30), (180, 74.8, 25))
_WOMEN = ((152, 45.4, 15), (168, 68.0, 20), (165, 59.0, 18), (175, 68.0, 23))
_SOMEBODY = (183, 59, 20)
#: Means, variances and densities as printed, men first.
_PRINTED_MEANS = ((178, 79.9, 28.25), (165, 60.1, 19))
_PRINTED_VARIANCES = ((29.3, 25.5, 5.58), (92.7, 114, 11.3))
_PRINTED_DENSITIES = ((0.0481, 0.0000146, 0.000381), (0.00721, 0.0372, 0.114))
_PRINTED_SCORES = (1.3404e-10, 1.52e-5)
_POINTS = ((Fraction(1), Fraction(2, 5)), (Fraction(9, 10), Fraction(3, 10)), (Fraction(-1, 2), Fraction(-1)))


def discrete_example(_: StudyResults) -> Verdict:
    """The table of missed payments, in fractions."""
    rows = [row.split() for row in _PAYMENTS.replace("\n", " ").split(";")]
    scores = {}
    for answer in ("Yes", "No"):
        own = [row for row in rows if row[3] == answer]
        shares = [
            Fraction(sum(row[at] == v for row in own), len(own)) for at, v in enumerate(("Young", "Medium", "Female"))
        ]
        scores[answer] = Fraction(len(own), len(rows)) * math.prod(shares)
    yes, no = scores["Yes"], scores["No"]
    evidence = f"The products are {yes} and {no}; a missed payment has probability {float(yes / (yes + no)):.3f}"
    if (yes, no) != (Fraction(1, 40), Fraction(1, 180)):
        return refuted(f"{evidence}, and not 1/40 and 1/180.", yes=float(yes), no=float(no))
    return confirmed(f"{evidence}. (The second line to compare should have Y₂.)", yes=float(yes), no=float(no))


def continuous_example(_: StudyResults) -> Verdict:
    """Men and women by height, weight and foot: every printed number against its own last digit."""
    worst, scores = 0.0, []
    for place, people in enumerate((_MEN, _WOMEN)):
        table = np.array(people, float)
        mean, variance = table.mean(axis=0), table.var(axis=0, ddof=1)
        density = np.exp(-((np.array(_SOMEBODY) - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
        printed = (_PRINTED_MEANS[place], _PRINTED_VARIANCES[place], _PRINTED_DENSITIES[place])
        for shown, computed in zip(printed, (mean, variance, density), strict=True):
            worst = max(worst, float(np.abs(np.array(shown) / computed - 1).max()))
        scores.append(0.5 * float(density.prod()))
    off = [abs(printed / score - 1) for printed, score in zip(_PRINTED_SCORES, scores, strict=True)]
    evidence = (
        f"Means, variances (over n − 1) and densities agree within {worst:.1%}, and the products are "
        f"{scores[0]:.4g} and {scores[1]:.4g}"
    )
    if worst > 0.01 or max(off) > 0.02 or scores[0] > scores[1]:
        return corrected(f"{evidence} instead of {_PRINTED_SCORES[0]:g} and {_PRINTED_SCORES[1]:g}.", worst=worst)
    return confirmed(
        f"{evidence}: a woman with odds of {scores[1] / scores[0]:,.0f} to 1; the printed products are off by at most "
        f"{max(off):.2%}. They are densities, not probabilities.",
        worst=worst,
        men=scores[0],
        women=scores[1],
    )


def least_squares_example(_: StudyResults) -> Verdict:
    """The worked example of least squares in exact fractions, and the numbers of its check."""
    from bruit.learning.linear_regression.objective import Objective

    rows = [[Fraction(1), x] for x, _ in _POINTS]
    problem = Objective.of(rows, [y for _, y in _POINTS])
    line = problem.minimiser().tolist()
    square, linear = problem.square, problem.linear
    printed = [3, Fraction("2.8"), Fraction("0.6"), Fraction("2.06"), Fraction("-2.34"), Fraction("1.25")]
    objective = [square[0, 0], 2 * square[0, 1], linear[0], square[1, 1], linear[1], problem.constant]
    if objective != printed or line != [Fraction(-564, 1055), Fraction(393, 422)]:
        return refuted(f"The line is {line[0]}, {line[1]}.")
    fitted = [line[0] + x * line[1] for x, _ in _POINTS]
    third = Objective.of([[Fraction(1), x] for x in (1, Fraction(3, 10), Fraction(-1, 2))], [y for _, y in _POINTS])
    least = problem.at(np.array(line))
    return slip(
        f"Function, line (−564/1055, 393/422) and minimum ({least} ≈ {float(least):.2e}) hold for x₂ = 0.9. The "
        f"printed X has 0.3, which gives slope {float(third.minimiser()[1]):.3f} instead of {float(line[1]):.3f}; e "
        f"has three entries; in the check ŷ₂ is 1281/4220 ≈ {float(fitted[1]):.4f}, not 1280/4220 ≈ 0.306, and ŷ₃ is "
        "−4221/4220.",
        slope=float(line[1]),
        second=float(fitted[1]),
        least=float(least),
    )


def unbounded(_: StudyResults) -> Verdict:
    """Two people, of whom one changes the target: the slope changes by 1/h."""
    from bruit.learning.linear_regression.objective import Objective

    changes = []
    for power in (1, 3, 6):
        h = Fraction(1, 10**power)
        rows = [[Fraction(1), Fraction(0)], [Fraction(1), h]]
        flat, steep = (Objective.of(rows, [Fraction(0), Fraction(y)]).minimiser()[1] for y in (0, 1))
        changes.append(float(steep - flat))
    evidence = "For people at x = 0 and x = h, of whom the second changes y from 0 to 1, the slope changes by "
    evidence += ", ".join(f"{change:,.0f}" for change in changes) + " at h = 0.1, 0.001 and 0.000001"
    if changes[-1] < 1000 * changes[1] / 2:
        return refuted(f"{evidence}: it stays bounded.", largest=changes[-1])
    return confirmed(f"{evidence}, exactly 1/h.", largest=changes[-1])


def _coefficients(x: Floats, y: Floats, intercept: bool) -> Floats:
    """Coefficients of (y − ω·x)² for many records, one row each: squares, products, linear parts, and last y²."""
    u = np.column_stack([np.ones(len(x)), x]) if intercept else x
    first, other = np.triu_indices(u.shape[1])
    times = np.where(first == other, 1.0, 2.0)
    return np.column_stack([times * u[:, first] * u[:, other], -2 * u * y[:, None], y * y])


def worst_changes(d: int, *, intercept: bool = False, constant: bool = True) -> tuple[float, float]:
    """The largest L1 change of the coefficients for one record added, and for one replaced, over many records.

    Rows are 0, ½ or 1 long, in each direction of −1, 0, 1; targets are −1, −½, 0, ½, 1.
    """
    ways = np.array([way for way in itertools.product((-1.0, 0.0, 1.0), repeat=d) if any(way)])
    ways /= np.sqrt((ways**2).sum(axis=1, keepdims=True))
    x = np.concatenate([np.zeros((1, d)), ways / 2, ways])
    y = np.linspace(-1, 1, 5)
    coefficients = _coefficients(np.repeat(x, y.size, axis=0), np.tile(y, len(x)), intercept)
    coefficients = coefficients if constant else coefficients[:, :-1]
    replaced = max(float(np.abs(coefficients - record).sum(axis=1).max()) for record in coefficients)
    return float(np.abs(coefficients).sum(axis=1).max()), replaced


def functional_sensitivity(_: StudyResults) -> Verdict:
    """Δ = 2(1 + d)² against the worst records."""
    changes = {d: worst_changes(d) for d in (1, 2, 3)}
    if any(max(pair) > 2 * (1 + d) ** 2 for d, pair in changes.items()):
        return refuted("A record changes the coefficients by more.", worst=max(max(pair) for pair in changes.values()))
    evidence = "; ".join(
        f"{2 * (1 + d) ** 2} for {pair[0]:.1f} added, {pair[1]:.1f} replaced at d = {d}" for d, pair in changes.items()
    )
    corner = np.full((1, D), 1 / math.sqrt(D))
    pima = float(np.abs(_coefficients(corner, np.ones(1), False)).sum())
    loose = 2 * (1 + D) ** 2 / pima
    return confirmed(
        f"It is valid, for rows of d entries of norm at most 1, and loose: {evidence} (the worst of many records). "
        f"Added records change (1 + √d)² at most; for Pima, d = 8, that is {pima:.1f} where Δ = {2 * (1 + D) ** 2}, so "
        f"the noise is {loose:.0f} times too wide.",
        loose=loose,
        pima=pima,
    )


def functional_example(_: StudyResults) -> Verdict:
    """The second worked example: its line is that of its noisy function, but Δ = 8 forgets the constant ω₀."""
    square, linear = np.array([[1.39, 0.59], [0.59, 2.14]]), np.array([-0.29, -2.54])
    line = np.linalg.solve(2 * square, -linear)
    added, replaced = worst_changes(1, intercept=True)
    without = worst_changes(1, intercept=True, constant=False)
    evidence = f"The line of the printed noisy function is ({line[0]:.2f}, {line[1]:.2f}), as printed"
    if max(added, replaced) <= 8 + 1e-9:
        return confirmed(f"{evidence}, and Δ = 8 covers every record.", added=added, replaced=replaced)
    return corrected(
        f"{evidence}. But with the column of ones for ω₀ a record that is replaced changes the coefficients by up to "
        f"{replaced:g} ({without[1]:g} without Σy²), one that is added by {added:g} ({without[0]:g}): with Δ = 8, "
        f"ε = 10 is really {10 * max(added, replaced) / 8:.2f}. And Σy² = 1.25 is printed without noise, which no ε "
        "covers. The ones must be an entry of the row that is normalised (d = 2, Δ = 18), and no minimum needs Σy².",
        added=added,
        replaced=replaced,
    )


def class_counts(_: StudyResults) -> Verdict:
    """The loss of Laplace(0, 1) on a count that one record changes by 1, for each ε."""
    results = np.linspace(-50, 50, 2001)
    loss = float(np.max(np.abs(results - 1) - np.abs(results)))  # log-ratio of the densities exp(−|y − c|)/2
    over = [epsilon for epsilon in SOME_EPSILONS if loss > epsilon / (D + 1) + 1e-12]
    if not over:
        return confirmed(f"Its loss is {loss:g}, within every ε/(d + 1).", loss=loss)
    return refuted(
        f"It loses exactly {loss:g} whatever ε is: {loss / SOME_EPSILONS[0]:.0f} times the whole ε at ε = "
        f"{SOME_EPSILONS[0]:g}, and more than its share ε/(d + 1) at ε = "
        f"{', '.join(f'{epsilon:g}' for epsilon in over)} for d = 8. The scale must be (d + 1)/ε. The line is that of "
        "the published algorithm 1 (Vaidya et al. 2013), which the slide shows as it is.",
        loss=loss,
    )


def _moved(n: int, width: float) -> tuple[float, float]:
    """What a record at one bound does to mean and variance of n others at the other bound."""
    before, after = np.zeros(n), np.append(np.zeros(n), width)
    return float(after.mean() - before.mean()), float(after.var() - before.var())


def worst_moments(n: int, cells: int) -> tuple[float, float]:
    """The largest change of mean and variance when a record joins n others, over all records on a grid of [0, 1]."""
    grid = np.linspace(0, 1, cells)
    before = np.array(list(itertools.combinations_with_replacement(grid, n)))
    changes = [(0.0, 0.0)]
    for record in grid:
        after = np.column_stack([before, np.full(len(before), record)])
        changes.append((
            float(np.abs(after.mean(axis=1) - before.mean(axis=1)).max()),
            float(np.abs(after.var(axis=1) - before.var(axis=1)).max()),
        ))  # fmt: skip
    mean, variance = np.max(changes, axis=0)
    return float(mean), float(variance)


def budget(_: StudyResults) -> Verdict:
    """ε/(d + 1) for each attribute, but two noises of that ε for each number."""
    n, width = 100, 1.0
    mean, variance = _moved(n, width)
    shares = mean / (width / (n + 1)) + variance / (n * width**2 / (n + 1) ** 2)  # in ε/(d + 1)
    total = (D * shares + 1) / (D + 1)
    if total <= 1 + 1e-9:
        return confirmed(f"A record at all bounds loses {total:.3f} ε.", total=total)
    return corrected(
        f"Numbers take noise twice, for μ and for σ (lines 8 to 13), each of scale s/ε. A record at a bound where all "
        f"others are at the other changes both by all of s, and loses {shares:.0f} ε/(d + 1) there: {total:.2f} ε in "
        "all for d = 8 numbers and the classes. Each number must halve its share.",
        total=total,
    )


def mean_sensitivity(_: StudyResults) -> Verdict:
    """The printed change of the mean, and what its dependence on n gives away."""
    n = 4
    change, printed = worst_moments(n, 6)[0], 1 / (n + 1)
    if change > printed + 1e-12:
        return refuted(f"For n = {n} the mean changes by up to {change:.3f} (U − L).", found=change)
    # Scales for n and n + 1 lines, ε = 1, U − L = 1, means equal: the log-ratio of densities at a distance z.
    many, far = 100, np.array([1.0, 3.0, 10.0])
    loss = far * (many + 2) - far * (many + 1) + math.log((many + 1) / (many + 2))
    return corrected(
        f"The change is right and attained ({change:.3f} of U − L for n = {n}, over all records of a grid). But here n "
        f"is the count of a class, which is private, and the width of the noise tells it: a line more at the mean "
        f"itself, n = {many}, ε = 1, loses {loss[0]:.1f}, {loss[1]:.1f}, {loss[2]:.1f} at results 1, 3, 10 times "
        "U − L away: rare results, but ε-DP has no exceptions. Noise on the sum, divided by a noisy count, avoids it.",
        found=change,
        loss=loss[-1],
    )


def variance_sensitivity(_: StudyResults) -> Verdict:
    """n(U − L)/(n + 1) has the unit of a mean: exact changes on a grid, and what that means for Pima."""
    n = 4
    change, right = worst_moments(n, 6)[1], n / (n + 1) ** 2
    ill = 268  # people of Pima with diabetes
    ratios = {
        name: _moved(ill, width)[1] / (ill * width / (ill + 1)) for name, width in (("Insulin", 832.0), ("BMI", 48.9))
    }
    if max(ratios.values()) <= 1:
        return confirmed("It covers every change.", **ratios)
    return corrected(
        f"The unit is wrong: a line more changes the variance by at most n(U − L)²/(n + 1)² (over all records of a "
        f"grid, n = {n}: {change:.4f} of (U − L)², formula {right:.4f}). For the {ill} ill people of Pima the printed "
        f"noise is {ratios['Insulin']:.1f} times too narrow for insulin (14 to 846), which is not ε-DP, and "
        f"{1 / ratios['BMI']:.1f} times too wide for BMI (18.2 to 67.1).",
        found=change,
        **ratios,
    )


def _records(d: int, r: float) -> Floats:
    """Every record of a grid of [0, r]^d."""
    return np.array(list(itertools.product(np.linspace(0, r, 5), repeat=d)))


def _choices(people: int, k: int) -> list[tuple[int, ...]]:
    """Every way to draw k starting points among the records."""
    return list(itertools.combinations(range(people), k))


def kmeans_sensitivities(_: StudyResults) -> Verdict:
    """Every record of a grid of [0, r]^d joins fixed centres: what it adds to counts and to sums, in L1."""
    d, r, steps = 4, 1.0, 5
    records = _records(d, r)
    centres = np.array([[0.2] * d, [0.5] * d, [0.9] * d])
    nearest = ((records[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    counts = np.eye(len(centres))[nearest]
    count = float(counts.sum(axis=1).max())
    sums, centred = (
        float(np.abs(counts[:, :, None] * shown[:, None]).sum(axis=(1, 2)).max())
        for shown in (records, records - r / 2)
    )
    total = float(steps * (count / 1 + sums / (d * r)) / (2 * steps))
    if count > 1 or sums > d * r or total > 1 + 1e-9:
        return refuted(f"A record changes counts by {count:g} and sums by {sums:g}; {total:.3f} ε in all.", total=total)
    return confirmed(
        f"Over all records of a grid (d = {d}, r = 1) counts change by {count:g} and sums by {sums:g} = d·r at most, "
        f"both at the far corner, and {steps} steps at ε/2t each lose {total:g} ε. It is loose: sums of x − r/2 change "
        f"by {centred:g} and need half the noise. For a record that is replaced both are up to twice as large.",
        counts=count,
        sums=sums,
        centred=centred,
    )


def random_start(_: StudyResults) -> Verdict:
    """Starting points drawn among records: how often a new record is among them; points of a box use no data."""
    k, people = 3, 150
    # Every choice of k among a few records and a newcomer, counted.
    few = 7
    with_newcomer = [few in choice for choice in _choices(few + 1, k)]
    counted, chosen = Fraction(sum(with_newcomer), len(with_newcomer)), Fraction(k, people + 1)
    few_records = np.linspace(0, 1, few)
    loss = float(np.abs(np.log(_box_law(few_records, 16) / _box_law(few_records[:-1], 16))).max())
    if loss > 0:
        return refuted(f"A point drawn in the box tells two tables apart by {loss:.3f}.", loss=loss)
    return confirmed(
        f"Read as points drawn at random in the declared box, whose law asks nothing of the data: its loss is "
        f"{loss:g}. Records drawn at random, as is usual elsewhere (also in scikit-learn), would tell: a flower that "
        f"joins the {people} of Iris is one of {k} starting points with probability k/(n + 1) = {float(chosen):.1%} "
        f"(counted for n = {few}: {counted}), and never if it does not join.",
        loss=loss,
        chosen=float(chosen),
    )


def _box_law(records: Floats, cells: int) -> Floats:
    """The law of a starting point on a grid of the declared box: the records are not asked."""
    return np.full(cells, 1 / cells)


def histogram_change(values: int, people: int) -> int:
    """The most that one more record changes all counts of a histogram together, over all records, counted."""
    worst = 0
    for records in itertools.combinations_with_replacement(range(values), people):
        before = np.bincount(records, minlength=values)
        for record in range(values):
            after = np.bincount((*records, record), minlength=values)
            worst = max(worst, int(np.abs(after - before).sum()))
    return worst


def histogram_sensitivity(_: StudyResults) -> Verdict:
    """A record is in one cell."""
    change = histogram_change(values=3, people=4)
    if change > 1:
        return refuted(f"One more record changes the counts by {change} together.", change=change)
    return confirmed(
        f"Over all tables of 4 records and 3 values one more changes all counts together by {change}. (A record that "
        "is replaced changes two counts, by 2 in all.)",
        change=change,
    )


#: Six points on a line in two groups, and the centres that they are assigned to.
_POINTS_OF_TWO_GROUPS, _TWO_CENTRES = (0.0, 0.1, 0.2, 0.8, 0.9, 1.0), (0.1, 0.9)


def _assigned(points: tuple[float, ...], centres: tuple[float, ...]) -> tuple[int, ...]:
    """The number of the nearest centre of each point."""
    return tuple(min(range(len(centres)), key=lambda place: abs(point - centres[place])) for point in points)


def assignment(_: StudyResults) -> Verdict:
    """Who else takes part changes nobody's group; but a list of groups shows who is in which."""
    points, centres = _POINTS_OF_TWO_GROUPS, _TWO_CENTRES
    groups, moved = _assigned(points, centres), _assigned((1.0, *points[1:]), centres)
    if groups[1:] != moved[1:]:
        return refuted("Another record changes the group of those who stay.")
    if groups == moved:
        return confirmed("The list of groups does not depend on the records at all.")
    return confirmed(
        "It stays inside, as the slide says: given the centres, nobody's group depends on the others. (The list of "
        "groups itself must not be published; that a listing prints it is judged as kmeans-listing-labels.)",
        changed=sum(a != b for a, b in zip(groups, moved, strict=True)),
    )


def stopping_loss(steps: int, epsilon: float) -> float:
    """The loss of noisy counts that end when two in a row are equal, over all sequences of counts from −6 to 11.

    Two tables have 2 and 3 records; every step publishes the count with discrete Laplace noise of ε/t.
    """
    rate, values = epsilon / steps, range(-6, 12)
    logs = [{value: -rate * abs(value - count) for value in values} for count in (2, 3)]
    worst = 0.0
    for sequence in itertools.product(values, repeat=steps):
        # Where the steps end is a function of what is published: it adds no factor.
        end = next((turn + 1 for turn in range(1, steps) if sequence[turn] == sequence[turn - 1]), steps)
        worst = max(worst, abs(sum(logs[0][value] - logs[1][value] for value in sequence[:end])))
    return worst


def turns(points: tuple[float, ...], centres: tuple[float, ...]) -> int:
    """How many assignments k-means without noise makes on a line, until one changes nothing."""
    before: tuple[int, ...] = ()
    for turn in itertools.count(1):
        groups = _assigned(points, centres)
        if groups == before:
            return turn
        own = [[x for x, group in zip(points, groups, strict=True) if group == j] for j in range(len(centres))]
        centres = tuple(sum(xs) / len(xs) if xs else centre for xs, centre in zip(own, centres, strict=True))
        before = groups
    raise AssertionError  # pragma: no cover - distances fall, and there are finitely many groups


def convergence(_: StudyResults) -> Verdict:
    """Stopping early, where what is published decides on it, and where the records do."""
    steps, epsilon = 3, 1.0
    loss = stopping_loss(steps, epsilon)
    if loss > epsilon + 1e-9:
        return refuted(f"Over all sequences of counts the loss is {loss:.3f} ε.", loss=loss)
    points = (0.0, 0.01, 0.02, 0.48, 1.0)
    before, after = turns(points, (0.0, 1.0)), turns((*points, 0.52), (0.0, 1.0))
    return confirmed(
        f"Read as convergence of what is published, the noisy centres: over all sequences of noisy counts in {steps} "
        f"steps that end at the first repetition the loss is {loss:.6f} ε, no more than that of all t steps. With "
        "noise they hardly ever repeat, so that t steps are the rule. Stable groups of the records themselves must not "
        f"decide: with one record more it takes {after} assignments instead of {before}: their number tells two "
        "tables apart for sure.",
        loss=loss,
        before=before,
        after=after,
    )


def functional_logistic(results: StudyResults) -> Verdict:
    """Δ = d²/4 + 3d against twice what the worst record adds; and what the model is worth on Pima."""
    from bruit_studies.as_printed import FunctionalLogisticAsPrinted, worst_change
    from bruit_studies.central_or_local.trials import pima

    spare = {}
    for d in (1, 2, 3, D):
        printed = FunctionalLogisticAsPrinted(epsilon=1.0, bounds=((0.0,) * d, (1.0,) * d)).sensitivity
        spare[d] = printed / (2 * worst_change(np.full(d, 1 / math.sqrt(d))))  # Σ|x| is greatest at the diagonal
    if min(spare.values()) < 1:
        return refuted(f"A record changes the coefficients by up to {1 / min(spare.values()):.2f} Δ.")
    rows = dict(results.where(part="logistic").by("epsilon"))
    shown = [epsilon for epsilon in (1.0, 10.0, 100.0) if epsilon in rows]
    scores = ", ".join(f"{rows[epsilon].mean('functional_logistic'):.3f} at ε = {epsilon:g}" for epsilon in shown)
    whole = results.where(part="logistic")
    people = pima()
    exact = FunctionalLogisticAsPrinted(epsilon=1e12, bounds=people.bounds)
    line = exact.fit(people.table, people.label, Entropy(0))
    noiseless = float(np.mean(exact.predict(line, people.table) == people.label))
    return confirmed(
        f"It is, and loosely: the worst record that is replaced changes the coefficients by 1/{spare[1]:.1f} of Δ at "
        f"d = 1 and 1/{spare[D]:.1f} at d = {D}. On Pima its accuracy is {scores}; {whole.mean('logistic'):.3f} "
        f"without privacy, {whole.mean('majority'):.3f} for the majority class. (It has no intercept: on all of Pima "
        f"and without noise {noiseless:.3f}.)",
        loose=spare[D],
        noiseless=noiseless,
        **{f"at_{epsilon:g}": rows[epsilon].mean("functional_logistic") for epsilon in shown},
    )


def update(_: StudyResults) -> Verdict:
    """What exact centres and counts tell: the record that came, in full."""
    before, after = (_centre(points) for points in (_POINTS_OF_TWO_GROUPS[3:], (*_POINTS_OF_TWO_GROUPS[3:], 0.7)))
    newcomer = float(after[0] * after[1] - before[0] * before[1])
    if abs(newcomer - 0.7) > 1e-9:
        return refuted(f"The two updates give {newcomer:.2f}, and the record is 0.70.", newcomer=newcomer)
    return confirmed(
        f"They do: two updates without noise, {before[1]} records at {before[0]:.2f} and {after[1]} at {after[0]:.3f}, "
        f"give the record that came, {newcomer:.2f}.",
        newcomer=newcomer,
    )


def _centre(points: tuple[float, ...]) -> tuple[float, int]:
    """What an update publishes of a group: its mean and its size."""
    return sum(points) / len(points), len(points)
