"""A study is a value: a question, what is varied, one trial, and what the results say.

A trial is a function of the factors and of its own randomness. The runner makes all trials, in any order and on any
number of cores; each draws from a stream that depends on the study, the seed, its factors and its repetition, and on
nothing else.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from bruit import _checks, documents
from bruit.entropy import Entropy
from bruit.errors import ParameterError
from bruit.tables import Table
from bruit_studies.claim import Claim
from bruit_studies.results import RESERVED, StudyResults

Size: TypeAlias = Literal["quick", "full"]
#: The two sizes of a study.
SIZES: tuple[Size, ...] = ("quick", "full")
Factor: TypeAlias = str | float
#: What a trial gives: one row of metrics, or several.
Rows: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class Skipped(Exception):
    """Raised by a trial that cannot be made here, with the reason, which the page shows; it is tried again next time.

    A `MissingExtraError` has the same effect.
    """


@dataclass(frozen=True)
class Block:
    """Every combination of some values of factors, repeated.

    The last factor varies fastest.

    Examples
    --------
    >>> len(Block({"method": ["GRR", "OUE"], "epsilon": [0.5, 1.0, 2.0]}, repetitions=20))
    120
    """

    factors: Mapping[str, Sequence[Factor]]
    repetitions: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", {name: tuple(values) for name, values in self.factors.items()})
        _checks.integer(low=1, repetitions=self.repetitions)
        taken = [name for name in self.factors if name in RESERVED]
        if taken:
            raise ParameterError(f"{taken[0]!r} cannot be the name of a factor: results have a column of that name.")

    def __len__(self) -> int:
        size = self.repetitions
        for values in self.factors.values():
            size *= len(values)
        return size

    def combinations(self) -> Iterator[dict[str, Factor]]:
        """Each combination, in order."""
        for values in itertools.product(*self.factors.values()):
            yield dict(zip(self.factors, values, strict=True))


@dataclass(frozen=True)
class Trial:
    """One run of a study's function: its place among all, its factors, and the number of the repetition."""

    place: int
    factors: Mapping[str, Factor]
    repetition: int

    def label(self) -> str:
        """The factors, for a message."""
        return ", ".join([*(f"{name}={value!r}" for name, value in self.factors.items()), f"#{self.repetition}"])


@dataclass(frozen=True)
class Plot:
    """A figure of a study.

    `name` is the stem of its files. `draw` takes the results and gives Axes or a Figure with a title, labelled axes and
    a text alternative (`bruit_studies.drawing` helps); it is called within the house style.
    """

    name: str
    caption: str
    draw: Callable[[StudyResults], Any]

    def figure(self, results: StudyResults) -> Any:
        """The matplotlib Figure, after it was checked to have a title, labels and a text alternative."""
        from bruit.figures import style

        with style.applied():
            figure = style.whole(self.draw(results))
        panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
        titles = [ax.get_title(loc="left") or ax.get_title() for ax in panels]
        if not any(titles) or not style.description(figure):
            raise ParameterError(f"The figure {self.name!r} must have a title and a text alternative.")
        if not all(ax.get_xlabel() and ax.get_ylabel() for ax in panels):
            raise ParameterError(f"Every axis of the figure {self.name!r} must have a label.")
        return figure


@dataclass(frozen=True, kw_only=True)
class Study:
    """A question that trials answer, and what their results say.

    Parameters
    ----------
    question, method
        One sentence, and three.
    trial
        A function of a module (so that it travels to other processes), called with the factors and ``rng``, an
        `Entropy` of its own, as keywords. It gives one row of metrics (a mapping from names to numbers or texts) or
        a sequence of rows.
    quick, full
        What is tried: blocks of factors. `full` is `quick` by default.
    claims, plots, table
        What is done with the results. `table` is a function of the results.
    version
        Raised when `trial` changes its meaning, so that old results are not taken for new ones.

    Examples
    --------
    >>> def flip(*, bias, rng):
    ...     return {"heads": rng.generator().random() < bias}
    >>> study = Study(name="coin", title="A coin", question="Is it fair?", method="We flip it.", trial=flip,
    ...               quick=[Block({"bias": [0.5]}, repetitions=3)])
    >>> len(study.trials("quick")), study.stream(study.trials("quick")[0], seed=0)
    (3, Entropy(seeded))
    """

    name: str
    title: str
    question: str
    method: str
    trial: Callable[..., Rows]
    quick: Sequence[Block]
    full: Sequence[Block] = ()
    claims: Sequence[Claim] = ()
    plots: Sequence[Plot] = ()
    table: Callable[[StudyResults], Table] | None = field(default=None)
    version: int = 1

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", self.name):
            raise ParameterError("name must be lower-case words joined by hyphens.")
        for name in ("quick", "full", "claims", "plots"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.quick:
            raise ParameterError("quick must have at least one block.")
        if not self.full:
            object.__setattr__(self, "full", self.quick)

    def blocks(self, size: Size) -> tuple[Block, ...]:
        """What is tried at this size."""
        return tuple(self.quick if _checks.one_of(SIZES, size=size) == "quick" else self.full)

    def trials(self, size: Size) -> list[Trial]:
        """All trials in order."""
        trials: list[Trial] = []
        for block in self.blocks(size):
            for factors in block.combinations():
                trials += [Trial(len(trials) + turn, factors, turn) for turn in range(block.repetitions)]
        if len({documents.canonical([dict(trial.factors), trial.repetition]) for trial in trials}) < len(trials):
            raise ParameterError(f"Two blocks of the study {self.name!r} have a combination of factors in common.")
        return trials

    def definition(self, size: Size) -> str:
        """32 hexadecimal digits that change with what is tried."""
        blocks = [[[[name, *values] for name, values in b.factors.items()], b.repetitions] for b in self.blocks(size)]
        return documents.digest({"study": self.name, "version": self.version, "blocks": blocks})

    def stream(self, trial: Trial, seed: int) -> Entropy:
        """The randomness of a trial: it depends on the study, the seed, the factors and the repetition only."""
        return stream(self.name, self.version, seed, trial)


def stream(name: str, version: int, seed: int, trial: Trial) -> Entropy:
    """See `Study.stream`; without the study, which need not travel to another process."""
    what = {"study": name, "version": version, "seed": seed, "factors": trial.factors, "repetition": trial.repetition}
    return Entropy(int(documents.digest(what), 16))
