"""Estimates by what was sent in clear: for every school, for every school and year."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from bruit import _checks
from bruit.collection.answers import Answers
from bruit.collection.records import FEW, Records
from bruit.domains import Attribute
from bruit.errors import DataError, DisclosureWarning, ParameterError
from bruit.estimation import Tally
from bruit.estimation.difference import Difference, joint_level, p_text
from bruit.estimation.support import TARGET_NOTES
from bruit.estimation.tally import Counts
from bruit.tables import Column, Table, counted, decimals, digits, interval_of, label


class GroupAnswers(Mapping[Any, Answers]):
    """Answers by group: the key is a public value, or a tuple of them where groups are made by several attributes.

    Every declared group is a key. That nobody in it answered is an error when it is looked at, and no sooner.

    Parameters
    ----------
    by
        The public attributes, by name.
    sizes
        How many people each group has, with an axis per attribute.
    make
        Makes the answers of a group from its codes by attribute.
    refused
        How many reports were refused, whose group nobody knows.
    """

    def __init__(
        self,
        by: Mapping[str, Attribute],
        sizes: Counts,
        make: Callable[[Mapping[str, int]], Answers],
        refused: int = 0,
    ) -> None:
        self._by, self._sizes, self._make, self.refused = dict(by), sizes, make, refused
        self._answers: dict[Any, Answers] = {}

    @property
    def attributes(self) -> tuple[str, ...]:
        """The public attributes that make the groups."""
        return tuple(self._by)

    @cached_property
    def _codes(self) -> dict[Any, tuple[int, ...]]:
        labels = [attribute.labels for attribute in self._by.values()]
        keys = labels[0] if len(labels) == 1 else itertools.product(*labels)
        places = itertools.product(*(range(len(own)) for own in labels))
        return dict(zip(keys, places, strict=True))

    @property
    def n(self) -> dict[Any, int]:
        """How many people of each group answered."""
        return {key: int(self._sizes[codes]) for key, codes in self._codes.items()}

    def __getitem__(self, key: Any) -> Answers:
        if key not in self._codes:
            raise KeyError(key)
        if key not in self._answers:
            if not self._sizes[self._codes[key]]:
                raise DataError(f"Nobody answered of the group {self.text(key)}: there is nothing to estimate from.")
            self._answers[key] = self._make(dict(zip(self._by, self._codes[key], strict=True)))
        return self._answers[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._codes)

    def __len__(self) -> int:
        return len(self._codes)

    def text(self, key: Any) -> str:
        """A group in words: ``school A, year 2``."""
        values = key if len(self._by) > 1 else (key,)
        return ", ".join(f"{name} {label(value)}" for name, value in zip(self._by, values, strict=True))

    def present(self) -> list[Any]:
        """The groups of which somebody answered."""
        return [key for key, codes in self._codes.items() if self._sizes[codes]]

    def table(self, name: str, level: float = 0.95, method: Any = "wilson", *, simultaneous: bool = False) -> Table:
        """What every group answered to one question: columns group, n, label, frequency (or mean), lower, upper.

        Parameters
        ----------
        name
            The attribute.
        level, method
            As for `Estimate.interval`.
        simultaneous
            Whether the intervals of all groups and values should cover together, by Bonferroni's inequality.
        """
        _checks.probability(level=level)
        present = self.present()
        answers = [self[key][name] for key in present]
        if not answers:
            raise DataError("Nobody answered of any group: there is nothing to estimate from.")
        numbers = not hasattr(answers[0], "frequency")
        size = 1 if numbers else len(answers[0].labels)
        own_level = 1 - (1 - level) / (len(answers) * size) if simultaneous else level
        heads = [Column("group", [self._short(key) for key in present for _ in range(size)], self._head, "label", str)]
        heads.append(Column("n", [answer.n for answer in answers for _ in range(size)], write=lambda n: f"{n:,}"))
        body = self._means(answers, own_level) if numbers else _frequencies(answers, name, own_level, method)
        columns = [*heads, *body]
        columns[-1] = Column(
            "interval", columns[-1].values, interval_of(level), write=columns[-1].write, parts=("lower", "upper")
        )
        about = {
            "name": name,
            "by": list(self._by),
            "guarantee": answers[0].guarantee.to_dict(),
            "refused": self.refused,
            "target": answers[0].target,
            "level": level,
            "simultaneous": simultaneous,
        }
        notes = [f"guarantee: {answers[0].guarantee}", f"sent in clear: {', '.join(self._by)}"]
        notes += [TARGET_NOTES[answers[0].target] + (", all together" if simultaneous else "")]
        absent = len(self) - len(present)
        notes += [f"nobody answered of {counted(absent, 'group')}"] if absent else []
        people = counted(int(self._sizes.sum()), "report") + (f", {self.refused:,} refused" if self.refused else "")
        return Table(f"{name} by {self._head}, from {people}", columns, notes, about, noun="row")

    def differences(
        self,
        name: str,
        value: Any = None,
        *,
        against: Any = None,
        level: float = 0.95,
        method: Any = "wilson",
        simultaneous: bool = True,
    ) -> Table:
        """How the answers of groups differ, two and two, with intervals and tests.

        Parameters
        ----------
        name
            The attribute.
        value
            The value whose share is compared; of a yes/no attribute the last by default. Of a number, the mean is.
        against
            A group that all others are compared with; without it, every two groups are.
        level, method
            As for `Estimate.interval`.
        simultaneous
            Whether all intervals should cover together, by Bonferroni's inequality; the p-values are then multiplied
            by the number of comparisons.
        """
        _checks.probability(level=level)
        present = self.present()
        if against is not None and against not in self._codes:
            raise ParameterError(f"against must be a group of {self._head}.")
        if against is not None and against not in present:
            raise DataError(f"Nobody answered of the group {self.text(against)}: nothing can be compared with it.")
        pairs = list(itertools.combinations(present, 2))
        if against is not None:
            pairs = [(key, against) for key in present if key != against]
        if not pairs:
            raise DataError("There is one group of which anybody answered: nothing can be compared.")
        changes = [Difference(self[here][name], self[there][name]) for here, there in pairs]
        place = _place_of(changes[0], name, value)
        own_level = joint_level(level, len(pairs)) if simultaneous else level
        ends = [change.interval(own_level, method)[place] for change in changes]
        factor = len(pairs) if simultaneous else 1
        write = digits(5) if changes[0].labels == ("mean",) else decimals(4)
        columns = [
            Column("first", [self._short(here) for here, _ in pairs], self._head, "label", str),
            Column("second", [self._short(there) for _, there in pairs], "less", "label", str),
            Column("difference", [float(change.value[place]) for change in changes], write=write),
            Column("standard_error", [float(change.standard_error[place]) for change in changes], hidden=True),
            Column("interval", ends, interval_of(level), write=write, parts=("lower", "upper")),
            Column(
                "p_value", [min(1.0, factor * float(change.p_value[place])) for change in changes], "p", write=p_text
            ),
        ]
        what = f"{name} = {label(changes[0].labels[place])}" if changes[0].labels != ("mean",) else f"mean of {name}"
        target = changes[0].first.target
        notes = [f"guarantee: {changes[0].first.guarantee}", f"sent in clear: {self._head}"]
        notes.append(TARGET_NOTES[target] + (", all together" if simultaneous else ""))
        about = {"name": name, "by": list(self._by), "level": level, "simultaneous": simultaneous, "target": target}
        return Table(f"Differences in {what} between groups by {self._head}", columns, notes, about, noun="difference")

    def _means(self, answers: list[Any], level: float) -> list[Column]:
        return [
            Column("mean", [answer.mean for answer in answers], write=digits(5)),
            Column("standard_error", [answer.standard_error for answer in answers], hidden=True),
            Column("interval", [answer.interval(level) for answer in answers], write=digits(5), parts=("a", "b")),
        ]

    @property
    def _head(self) -> str:
        return ", ".join(self._by)

    def _short(self, key: Any) -> str:
        return ", ".join(label(value) for value in (key if len(self._by) > 1 else (key,)))

    def __repr__(self) -> str:
        names = next(iter(self[key] for key in self.present()), ())
        return "\n\n".join(str(self.table(name)) for name in names)


def _frequencies(answers: list[Any], name: str, level: float, method: Any) -> list[Column]:
    ends = np.concatenate([answer.interval(level, method) for answer in answers])
    return [
        Column("label", [value for answer in answers for value in answer.labels], name, "label", label),
        Column("frequency", np.concatenate([answer.frequency for answer in answers]), write=decimals(4)),
        Column("standard_error", np.concatenate([answer.standard_error for answer in answers]), hidden=True),
        Column("interval", ends, write=decimals(4), parts=("a", "b")),
    ]


def _place_of(change: Difference, name: str, value: Any) -> int:
    """The place of the value that is compared; one must be named where it is not plain."""
    if value is None:
        if len(change.labels) > 2:
            raise ParameterError(f"{name!r} has {len(change.labels)} values: name the one that is compared.")
        return len(change.labels) - 1
    if value not in change.labels:
        raise ParameterError(f"This is not one of the declared labels of {name!r}.")
    return change.labels.index(value)


def check_names(names: tuple[str, ...], public: Mapping[str, Attribute], what: str = "by") -> None:
    """That groups can be made by these attributes."""
    if not public:
        raise ParameterError(
            "This plan sends nothing in clear, so there are no groups: declare an attribute as public, as in "
            'Plan(…, public=["school"]) or --public school, before people answer.'
        )
    rule = f"{what} must name attributes that are sent in clear: {', '.join(map(repr, public))}."
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"{rule} Name each once.")
    for name in names:
        if name not in public:
            raise ParameterError(f"{rule}{_checks.suggestion(name, public)}")


def warn_of_few(sizes: Counts) -> None:
    """Refuse groups that are one person each; say if some have so few people that they are nearly named."""
    present = sizes[sizes > 0]
    if present.size > 1 and (present == 1).all():
        raise DataError(
            "Every group is one person: what was sent in clear names them, and an estimate of a group would be about "
            "that person alone. Make groups by fewer attributes, or by wider values."
        )
    few = int((present < FEW).sum())
    if few:
        warnings.warn(
            f"{counted(few, 'group')} of {present.size:,} have fewer than {FEW} people: what was sent in clear nearly "
            "names them. Make groups by fewer attributes, or by wider values, before publishing.",
            DisclosureWarning,
            stacklevel=4,
        )


def grouping(
    records: Records, tally: Tally, answers: Callable[[Tally], Answers]
) -> Callable[[tuple[str, ...]], GroupAnswers] | None:
    """What makes groups of the people of a tally; None where nothing was sent in clear."""
    if not records.clear:
        return None

    def group(names: tuple[str, ...]) -> GroupAnswers:
        check_names(names, records.clear)
        sizes = records.sizes_by(tally, names)
        warn_of_few(sizes)
        by = {name: records.clear[name] for name in names}
        return GroupAnswers(by, sizes, lambda kept: answers(records.pooled(tally, kept)), tally.refused)

    return group
