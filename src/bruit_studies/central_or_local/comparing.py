"""What the judges of the study `central-or-local` compare models with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bruit_studies.claim import Verdict, confirmed, corrected, refuted
from bruit_studies.results import StudyResults, Summary, summarise

#: Standard errors that a difference must exceed.
SURE = 4.0
#: A model this near to the majority class has learnt nothing that counts.
NEAR = 0.02
#: Less than this is no reason to call one model worse than another, however sure it is.
SMALL = 0.005


def by_epsilon(results: StudyResults, epsilons: Sequence[float] = (), part: str = "pima") -> dict[float, StudyResults]:
    """Trials on Pima by ε, those of a range if one is given."""
    low, high = (min(epsilons), max(epsilons)) if epsilons else (0.0, np.inf)
    parts = {epsilon: rows for epsilon, rows in results.where(part=part).by("epsilon") if low <= epsilon <= high}
    return dict(sorted(parts.items()))


def gaps_of(rows: dict[float, StudyResults], first: str, other: str) -> dict[float, Summary]:
    """How much more often one model is right than another, on the same splits, by ε."""
    return {epsilon: summarise(part[first] - part[other]) for epsilon, part in rows.items()}


def sure(gaps: dict[float, Summary], sign: int) -> list[float]:
    """Where a difference of this sign is beyond doubt."""
    return [epsilon for epsilon, gap in gaps.items() if sign * gap.mean > SURE * gap.error]


def listed(epsilons: Sequence[float]) -> str:
    """The ε in words."""
    return "ε = " + ", ".join(f"{epsilon:g}" for epsilon in epsilons) if epsilons else "no ε"


def means(rows: dict[float, StudyResults], metric: str) -> str:
    """First, middle and last accuracy."""
    keys = list(rows)
    shown = dict.fromkeys((keys[0], keys[len(keys) // 2], keys[-1]))
    return ", ".join(f"{rows[key].mean(metric):.3f} at ε = {key:g}" for key in shown)


def always(results: StudyResults, best: str, title: str, rivals: dict[str, str], part: str = "pima") -> Verdict:
    """Whether one model is more accurate than each rival at each ε; refuted where it is surely less so.

    Where it is more accurate by less than can be told from chance, that is said and does not count against it.
    """
    rows, comparisons, below, doubt = by_epsilon(results, part=part), [], 0, 0
    for rival, name in rivals.items():
        gaps = gaps_of(rows, best, rival)
        better = sure(gaps, 1)
        worse = [epsilon for epsilon in sure(gaps, -1) if gaps[epsilon].mean < -SMALL]
        near = [epsilon for epsilon, gap in gaps.items() if epsilon not in better and gap.mean > 0 and better]
        rest = [epsilon for epsilon in gaps if epsilon not in better and epsilon not in near]
        below, doubt = below + len(worse), doubt + len(rest)
        least = min(gaps, key=lambda epsilon: gaps[epsilon].mean)
        others = [f"not at {listed(rest)}"] * bool(rest) + [f"too near to tell at {listed(near)}"] * bool(near)
        where = "everywhere" if not others else f"for sure at {listed(better)}, {', '.join(others)}"
        comparisons.append(f"than {name} {where} (least: {gaps[least].points()} points at ε = {least:g})")
    sentence = f"{title} is more accurate {'; '.join(comparisons)}."
    if below:
        return refuted(sentence, worse=below, doubtful=doubt)
    return corrected(sentence, doubtful=doubt) if doubt else confirmed(sentence, doubtful=0)


def lost(gap: Summary) -> str:
    """A loss ± its standard error, in percentage points."""
    return f"{100 * gap.mean:.1f} ± {100 * gap.error:.1f}"


def learns(rows: dict[float, StudyResults], metric: str) -> list[float]:
    """Where a model surely beats always answering with the majority, by more than `NEAR`."""
    gaps = gaps_of(rows, metric, "majority")
    return [epsilon for epsilon, gap in gaps.items() if gap.mean - NEAR > SURE * gap.error]
