"""Which groups of people are shown: those with enough answers, unless fewer people would follow by subtraction.

What all people sent less what the groups that are shown sent is what those that are hidden sent. So what is hidden
together has enough answers too, or groups with enough answers are hidden with it. It is a courtesy, for the reports are
randomised: whatever is shown or follows, a person is protected by ε.

Two sums are compared at a time: a group with groups of another question, and combinations of answers with the groups
that they are in. Sums over groups of three questions and more are not searched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeAlias

__all__ = ["Gate"]

#: The answers of a person to the questions that are sent in clear, by their places.
Stratum: TypeAlias = tuple[int, ...]
#: In what block of a partition a stratum is.
Blocks: TypeAlias = Mapping[Stratum, Hashable]


class Gate:
    """What is shown of a round.

    Parameters
    ----------
    answers
        How many answers each stratum has.
    least
        From how many answers on a group is shown.

    Examples
    --------
    >>> gate = Gate({(0,): 12, (1,): 13, (2,): 1}, least=10)
    >>> gate.groups, gate.strata
    ([{1}], {(1,)})
    """

    def __init__(self, answers: Mapping[Stratum, int], least: int) -> None:
        self._answers = {stratum: number for stratum, number in answers.items() if number}
        self._least = least
        #: The codes that are shown, question by question.
        self.groups: list[set[int]] = []
        partitions: list[Blocks] = []
        for place in range(len(next(iter(answers), ()))):
            codes = self._enough(place)
            blocks = self._partition(place, codes)
            if any(self._leaks(*pair) for other in partitions for pair in ((blocks, other), (other, blocks))):
                codes = set()
                blocks = self._partition(place, codes)
            self.groups.append(codes)
            partitions.append(blocks)
        #: The strata that are shown.
        self.strata = self._strata(partitions)

    def _enough(self, place: int) -> set[int]:
        """The groups of a question with enough answers, of which the others together have enough or none."""
        sizes: Counter[int] = Counter()
        for stratum, number in self._answers.items():
            sizes[stratum[place]] += number
        codes = {code for code, number in sizes.items() if number >= self._least}
        if codes and 0 < sizes.total() - sum(sizes[code] for code in codes) < self._least:
            codes.remove(min(codes, key=lambda code: (sizes[code], code)))
        return codes

    def _partition(self, place: int, codes: set[int]) -> Blocks:
        """The groups that are shown, and all others together."""
        return {stratum: stratum[place] if stratum[place] in codes else None for stratum in self._answers}

    def _leaks(self, first: Blocks, second: Blocks) -> bool:
        """Whether few people are left between a block and the blocks of another partition in it, or around it."""
        sizes, parts = Counter[Hashable](), Counter[Hashable]()
        touched: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        holders: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        for stratum, number in self._answers.items():
            block, part = first[stratum], second[stratum]
            sizes[block] += number
            parts[part] += number
            touched[block].add(part)
            holders[part].add(block)
        for block, around in touched.items():
            outside = sum(parts[part] for part in around) - sizes[block]
            inside = sum(parts[part] for part in around if holders[part] == {block})
            if 0 < outside < self._least or 0 < sizes[block] - inside < self._least:
                return True
        return False

    def _strata(self, partitions: Sequence[Blocks]) -> set[Stratum]:
        """The strata with enough answers, of which the others in any block have enough together, or none."""
        shown = {stratum for stratum, number in self._answers.items() if number >= self._least}
        whole: Blocks = dict.fromkeys(self._answers)
        while hidden := {stratum for blocks in [whole, *partitions] for stratum in self._exposed(shown, blocks)}:
            shown -= hidden
        return shown

    def _exposed(self, shown: set[Stratum], blocks: Blocks) -> Iterator[Stratum]:
        """The smallest stratum that is shown of each block in which the hidden ones follow by subtraction."""
        rest: Counter[Hashable] = Counter()
        smallest: dict[Hashable, Stratum] = {}
        for stratum, number in sorted(self._answers.items(), key=lambda pair: (pair[1], pair[0])):
            if stratum in shown:
                smallest.setdefault(blocks[stratum], stratum)
            else:
                rest[blocks[stratum]] += number
        return (stratum for block, stratum in smallest.items() if 0 < rest[block] < self._least)
