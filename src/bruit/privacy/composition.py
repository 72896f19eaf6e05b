"""What several guarantees amount to together: they add, or the worst of disjoint parts counts.

Only the two oldest theorems are here, because they need no assumption about the mechanisms and
their arithmetic is exact: sums are taken in rational numbers and rounded up to the next double.
Tighter accounts of many releases, at the price of a δ and of floating-point arithmetic, are in
``accounting.py``. The arguments are in ``composition.proof.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bruit.errors import ParameterError
from bruit.privacy.guarantee import Guarantee, Neighbours, check_adds
from bruit.rounding import above


def sequential(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Several releases about the same people: ε and δ add.

    Each release may be chosen after seeing the results of those before it.

    >>> sequential([Guarantee(epsilon=e, neighbours="replace") for e in (0.5, 0.25)])
    Guarantee(epsilon=0.75, delta=0.0, neighbours='replace')
    """
    steps, neighbours = _same_neighbours(guarantees)
    if len(steps) == 1:
        return steps[0]
    return _together(
        sum((Fraction(step.epsilon) for step in steps), Fraction(0)),
        sum((Fraction(step.delta) for step in steps), Fraction(0)),
        neighbours,
    )


def parallel(guarantees: Iterable[Guarantee], *, fixed: bool = False) -> Guarantee:
    """One release on each of several disjoint parts: the worst part counts.

    The rule that says which part a record is in must be chosen without looking at the data. In the local model the
    parts are disjoint groups of people.

    Parameters
    ----------
    guarantees
        One for each part.
    fixed
        Needed under ``"replace"``: that a replaced record stays in its part, because parts follow from something
        public (the row's number, the day of arrival, the region by which people were sampled) and not from what the
        record says. A record that moved would change the sizes of two parts, and a guarantee for ``"replace"`` takes
        the size of its part as public.

    Examples
    --------
    >>> halves = [Guarantee(epsilon=e, neighbours="add-remove") for e in (0.5, 0.25)]
    >>> parallel(halves).epsilon
    0.5
    """
    parts, neighbours = _same_neighbours(guarantees)
    check_parts(neighbours, fixed=fixed)
    return _together(
        max(Fraction(part.epsilon) for part in parts), max(Fraction(part.delta) for part in parts), neighbours
    )


def check_parts(neighbours: Neighbours, *, fixed: bool) -> None:
    """Refuse disjoint parts of which a replaced record, or a person with several rows, may change two."""
    if neighbours == "replace" and not fixed:
        raise ParameterError(
            'Under "replace" a record may move from one part to another, which changes the sizes of both, and a '
            "release takes the size of its part as public. If parts follow from something public, so that a replaced "
            'record stays in its part, say fixed=True. If they follow from the data, use neighbours="add-remove".'
        )
    if neighbours.startswith("person-") and not fixed:
        raise ParameterError(
            "A person with several rows may be in several parts, and then the parts add up. If each person is in one "
            "part, with all their rows, say fixed=True; otherwise release with by, and say in how many groups a "
            "person counts."
        )


def _same_neighbours(guarantees: Iterable[Guarantee]) -> tuple[list[Guarantee], Neighbours]:
    known = list(guarantees)
    if not known:
        raise ParameterError("Composition needs at least one guarantee.")
    check_adds(known)
    words = sorted({guarantee.neighbours for guarantee in known})
    if len(words) > 1:
        raise ParameterError(f"Guarantees compose only when they speak of the same neighbours, got {', '.join(words)}.")
    return known, known[0].neighbours


def _together(epsilon: Fraction, delta: Fraction, neighbours: Neighbours) -> Guarantee:
    if delta > 1:
        raise ParameterError("The δ of these guarantees exceed 1 together: they promise nothing.")
    return Guarantee(epsilon=above(epsilon), delta=above(delta), neighbours=neighbours)
