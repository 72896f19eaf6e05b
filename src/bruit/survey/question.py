"""A question of a survey: what is asked, in which words, and which attributes of the plan it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bruit.domains import Categories, Grid, OpenText
from bruit.domains.domain import Domain

#: What may be asked: one of some labels, yes or no, a step of a scale, a number, any of some labels, or any text.
Kind: TypeAlias = Literal["choice", "yes-no", "scale", "number", "several", "open"]
#: A text by language.
Texts: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Question:
    """One question as a respondent reads it.

    Parameters
    ----------
    name
        What it is called in results; of a sensitive question, the attribute of the plan.
    kind
        ``"choice"``, ``"yes-no"``, ``"scale"``, ``"number"``, ``"several"`` or ``"open"``.
    text, help
        The question and a remark below it, by language; the remark may be empty.
    labels
        The answers by language. Those of the first language are the values of the plan. An open question has none.
    bounds
        Of a number: the lowest, the highest and the step.
    clear
        Whether the answer is sent as it is.
    words
        What no and yes are called in the plan, where each label is one of them.
    letters
        How many letters of a text count, where the question is open; else 0.
    """

    name: str
    kind: Kind
    text: Texts
    help: Texts
    labels: Mapping[str, tuple[str, ...]]
    bounds: tuple[int | float, int | float, int | float] | None = None
    clear: bool = False
    words: tuple[str, str] = ("no", "yes")
    letters: int = 0

    @property
    def values(self) -> tuple[str, ...]:
        """The answers as the plan and public results name them: the labels of the first language."""
        return next(iter(self.labels.values()))

    @property
    def attributes(self) -> dict[str, Domain]:
        """The attributes of the plan that it becomes; several choices become a yes or no for each."""
        if self.kind == "several":
            return {name: Categories(labels=self.words) for name in self.attribute_names}
        if self.kind == "open":
            return {self.name: OpenText(letters=self.letters)}
        if self.bounds is not None:
            low, high, _ = self.bounds
            return {self.name: Grid(low, high, cells=len(self.values))}
        return {self.name: Categories(labels=self.values)}

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """What these attributes are called."""
        if self.kind == "several":
            return tuple(f"{self.name}: {label}" for label in self.values)
        return (self.name,)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: all that makes it this question, for the digest of its survey."""
        return {
            "name": self.name,
            "kind": self.kind,
            "text": dict(self.text),
            "help": dict(self.help),
            "labels": {language: list(labels) for language, labels in self.labels.items()},
            "clear": self.clear,
            **({"letters": self.letters} if self.kind == "open" else {}),
        }
