"""What is shown of a round: numbers that rest on enough reports, unless a smaller number would follow by subtraction.

What counts is the reports on one question in one group. Where one question is drawn for each person, a large group may
have one report on a question. So every question has a gate of its own, and the questions themselves have one.

What all people sent less what the groups that are shown sent is what those that are hidden sent. So what is hidden
together has enough reports too, or groups with enough reports are hidden with it. The same holds for questions: all
reports of a round less those on the questions that are shown are those on the hidden ones. It is a courtesy, for the
reports are randomised: whatever is shown or follows, a person is protected by ε.

Two sums are compared at a time: a group with groups of another question, and combinations of answers with the groups
that they are in. Sums over groups of three questions and more are not searched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

__all__ = ["Gate", "Gates"]

#: The answers of a person to the questions that are sent in clear, by their places.
Stratum: TypeAlias = tuple[int, ...]
#: In what block of a partition a stratum is.
Blocks: TypeAlias = Mapping[Stratum, Hashable]
#: A part of a plan, or the code of a group.
Name = TypeVar("Name", str, int)


class Gates:
    """What is shown of a round, question by question.

    What a person may report on is a *part*: a question, or a table of several. A report is on one part where one is
    drawn, and on all parts elsewhere. So the numbers of reports on the parts have a sum that everybody knows.

    Parameters
    ----------
    reports
        How many reports each stratum has on each part.
    least
        From how many reports on a number is shown.

    Examples
    --------
    >>> gates = Gates({"smokes": {(0,): 20, (1,): 30}, "drinks": {(0,): 1, (1,): 40}}, least=10)
    >>> gates.shows(["smokes", "drinks"]), gates.groups(["smokes"]), gates.groups(["drinks"]), gates.strata
    (True, [{0, 1}], [set()], set())
    """

    def __init__(self, reports: Mapping[str, Mapping[Stratum, int]], least: int) -> None:
        self._places = len(next(iter(next(iter(reports.values()), {})), ()))
        #: The parts of which anything is shown.
        self.parts: set[str] = enough({part: sum(own.values()) for part, own in reports.items()}, least)
        # Where everybody reports on everything, the numbers of all parts are equal: one gate does for them.
        known: dict[tuple[tuple[Stratum, int], ...], Gate] = {}
        self._gates: dict[str, Gate] = {}
        for part in self.parts:
            key = tuple(sorted(reports[part].items()))
            if key not in known:
                known[key] = Gate(reports[part], least)
            self._gates[part] = known[key]
        #: The strata of which every part is shown.
        self.strata: set[Stratum] = set()
        if self.parts == set(reports):
            self.strata = set.intersection(*(gate.strata for gate in self._gates.values()))

    def shows(self, parts: Iterable[str]) -> bool:
        """Whether all of these parts are shown, so that their sum is."""
        return self.parts.issuperset(parts)

    def groups(self, parts: Iterable[str]) -> list[set[int]]:
        """The codes of the groups of which all of these parts are shown, for each question that is sent in clear."""
        wanted = list(parts)
        if not self.shows(wanted):
            return [set() for _ in range(self._places)]
        gates = [self._gates[part].groups for part in wanted]
        return [set.intersection(*(groups[place] for groups in gates)) for place in range(self._places)]


def enough(sizes: Mapping[Name, int], least: int) -> set[Name]:
    """Those of a partition that are large enough, of which the others together are so, too, or empty.

    >>> sorted(enough({"a": 12, "b": 13, "c": 1}, least=10)), sorted(enough({"a": 12, "c": 0}, least=10))
    (['b'], ['a'])
    """
    names = {name for name, size in sizes.items() if size >= least}
    if names and 0 < sum(sizes.values()) - sum(sizes[name] for name in names) < least:
        names.remove(min(names, key=lambda name: (sizes[name], name)))
    return names


class Gate:
    """What is shown of one part in a round.

    Parameters
    ----------
    answers
        How many reports each stratum has.
    least
        From how many reports on a group is shown.

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
        """The groups of a question with enough reports, of which the others together have enough or none."""
        sizes: Counter[int] = Counter()
        for stratum, number in self._answers.items():
            sizes[stratum[place]] += number
        return enough(sizes, self._least)

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
