"""Questions with several choices: which sports do you do? Each choice becomes a yes/no attribute of its own.

The column holds all choices of a person: a list of labels, or one text with a separator between them, as surveys export
it. A schema makes an attribute of each choice, ``sports: run``, ``sports: swim``, …, that reads the same column. A plan
then treats them as it treats all attributes, under one ε for the person.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.categories import Categories, spelling
from bruit.domains.domain import DictionaryColumn, Domain, checked_codes, column
from bruit.domains.missing import is_missing
from bruit.domains.outside import Outside
from bruit.domains.policy import Read
from bruit.errors import (
    BruitError,
    DataError,
    DataTypeError,
    FormatError,
    ParameterError,
    ParameterTypeError,
    translated,
)
from bruit.typing import ColumnLike, Label

#: What stands among codes for an entry that is no choice, and for an empty one.
_OUTSIDE, _ABSENT = -1, -2
#: What an empty entry means: an error, or that nothing was chosen.
Empty: TypeAlias = Literal["refuse", "none"]


@dataclass(frozen=True)
class MultiChoice:
    """A question with several choices, each of which a schema makes a yes/no attribute of.

    Parameters
    ----------
    labels
        The choices, as texts.
    separator
        What stands between choices where the column holds texts.
    empty
        What an entry without a value means: ``"refuse"``, an error, or ``"none"``, nothing was chosen. An empty list
        means that nothing was chosen in either case.

    Examples
    --------
    >>> from bruit.domains import Schema
    >>> schema = Schema({"sports": MultiChoice(["run", "swim"])})
    >>> list(schema)
    ['sports: run', 'sports: swim']
    >>> {name: codes.tolist() for name, codes in schema.encode({"sports": ["run;swim", "swim", "run"]}).items()}
    {'sports: run': [1, 0, 1], 'sports: swim': [1, 1, 0]}
    """

    outside: ClassVar[Outside | None] = None
    policies: ClassVar[tuple[Outside, ...]] = ()

    labels: tuple[str, ...]
    separator: str = ";"
    empty: Empty = "refuse"

    def __post_init__(self) -> None:
        _checks.one_of(get_args(Empty), empty=self.empty)
        if not isinstance(self.separator, str) or not self.separator.strip():
            raise ParameterTypeError("separator must be a text that is not blank, as in ';'.")
        known: Any = Categories(labels=self.labels).labels
        if not all(isinstance(text, str) and text == text.strip() and text for text in known):
            raise ParameterTypeError("The choices must be texts without spaces around them.")
        if any(self.separator in text for text in known):
            raise ParameterError("A choice must not have the separator in it: name another separator.")
        object.__setattr__(self, "labels", known)

    def attributes(self, name: str) -> dict[str, Chosen]:
        """The domain of each choice, by the name of its attribute."""
        return {f"{name}: {text}": Chosen(text, self) for text in self.labels}


@dataclass(frozen=True, repr=False)
class Chosen(Domain):
    """Whether one of several choices was made: the domain of a yes/no attribute that `MultiChoice` gives.

    Parameters
    ----------
    label
        The choice.
    choices
        The whole question.
    """

    policies: ClassVar[tuple[Outside, ...]] = ()
    gaps: ClassVar[str] = 'Declare MultiChoice(…, empty="none") if an empty entry means that nothing was chosen.'
    declared: ClassVar[int] = 2
    declared_names: ClassVar[tuple[Label, ...]] = ("no", "yes")

    label: str
    choices: MultiChoice

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing != "refuse":
            raise ParameterError(f"missing cannot be declared of a choice. {self.gaps}")
        if not isinstance(self.choices, MultiChoice) or self.label not in self.choices.labels:
            raise ParameterError("A choice must be one of the labels of its question.")

    def read(self, values: ColumnLike) -> Read:
        """1 where the choice was made, 0 where it was not; what is not among the choices is outside."""
        if isinstance(values, DictionaryColumn):
            entries = column(values.entries).tolist() if len(values.entries) else []
            table = np.zeros(len(entries) + 1, np.int8)  # the last for entries that are missing, at −1
            for place in np.unique(values.positions).tolist():
                table[place] = self._code(entries[place] if place >= 0 else None)
            codes = table[values.positions]
        else:
            codes = np.array([self._code(value) for value in _items(values)], np.int8)
        return Read(codes, codes == _ABSENT, codes == _OUTSIDE)

    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values are read as codes."""
        return values

    def refusal(self, read: Read) -> DataError:
        """Values must be choices."""
        return DataError(
            "values must be among the declared choices, a list of them, or a text with "
            f"{self.choices.separator!r} between them."
        )

    def _code(self, value: Any) -> int:
        chosen = self._chosen(value)
        if chosen is None:
            return _ABSENT
        return int(self.label in chosen) if chosen <= set(self.choices.labels) else _OUTSIDE

    def _chosen(self, value: Any) -> set[str] | None:
        if isinstance(value, Collection) and not isinstance(value, str | bytes | dict):
            return {unicodedata.normalize("NFC", spelling(item)) for item in value}
        if is_missing(value) or value == "":
            return None if self.choices.empty == "refuse" else set()
        parts = unicodedata.normalize("NFC", spelling(value)).split(self.choices.separator)
        return {part.strip() for part in parts if part.strip()}

    def decode(self, codes: Any) -> NDArray[Any]:
        """The choice alone where it was made, and no choice where it was not, as lists."""
        values = np.empty(len(checked_codes(codes, 2)), object)
        values[:] = [(self.label,) if code else () for code in np.asarray(codes).tolist()]
        return values

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        whole = self.choices
        return {
            "kind": "chosen",
            "label": self.label,
            "labels": list(whole.labels),
            "separator": whole.separator,
            "empty": whole.empty,
        }

    @classmethod
    def from_dict(cls, body: Any) -> Chosen:
        """The inverse of `to_dict`."""
        rule = "A choice must have a label, the labels of its question, a separator, and what an empty entry means."
        with translated((KeyError, TypeError, BruitError), lambda _: FormatError(rule)):
            return cls(body["label"], MultiChoice(tuple(body["labels"]), body["separator"], body["empty"]))


def _items(values: Any) -> list[Any]:
    """The entries of a column in memory; entries may be lists themselves, so NumPy must not look into them."""
    if isinstance(values, str | bytes | dict):
        raise DataTypeError("values must be a sequence with one entry per person: wrap it in a list.")
    listed = values.tolist() if hasattr(values, "tolist") else values
    listed = values.to_list() if hasattr(values, "to_list") and not isinstance(listed, list) else listed
    if hasattr(listed, "to_pylist"):
        listed = listed.to_pylist()
    with translated(TypeError, lambda _: DataTypeError("values must be a sequence with one entry per person.")):
        return list(listed)
