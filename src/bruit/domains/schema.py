"""A table's declared columns: names and domains, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bruit import documents
from bruit.domains.attribute import Attribute
from bruit.errors import DataError, FormatError, ParameterError, ParameterTypeError


class Schema(Mapping[str, Attribute]):
    """The attributes of a record, declared before any data is seen.

    Parameters
    ----------
    attributes
        A mapping from column name to its domain: a list of labels, `Categories` or `Grid`.

    Examples
    --------
    >>> from bruit.domains import Grid
    >>> schema = Schema({"sex": ["F", "M"], "age": Grid(17, 90)})
    >>> schema["sex"].labels, schema["age"].size
    (('F', 'M'), 74)
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    FORMAT = "bruit.schema/1"

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        if not isinstance(attributes, Mapping):
            raise ParameterTypeError("A schema needs a mapping from column name to domain.")
        if not attributes:
            raise ParameterError("A schema needs at least one attribute.")
        columns = [Attribute(name, domain) for name, domain in attributes.items()]
        self._attributes = {attribute.name: attribute for attribute in columns}
        if len(self._attributes) < len(columns):
            raise ParameterError("Attribute names must be different from each other (after Unicode normalisation).")

    def encode(self, table: Any) -> dict[str, Any]:
        """Codes of every attribute, from anything whose columns are read by ``table[name]``."""
        return {name: attribute.encode(_column(table, name)) for name, attribute in self.items()}

    def to_list(self) -> list[dict[str, Any]]:
        """Plain values, for documents."""
        return [attribute.to_dict() for attribute in self.values()]

    @classmethod
    def from_list(cls, body: Any) -> Schema:
        """The inverse of `to_list`."""
        if not isinstance(body, list) or not body:
            raise FormatError("A schema must be a list of attributes.")
        attributes = [Attribute.from_dict(item) for item in body]
        return cls({attribute.name: attribute.domain for attribute in attributes})

    def to_json(self) -> str:
        """The schema as a document."""
        return documents.seal(self.FORMAT, {"attributes": self.to_list()}, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """The inverse of `to_json`."""
        return cls.from_list(documents.unseal(text, cls.FORMAT).get("attributes"))

    def __getitem__(self, name: str) -> Attribute:
        return self._attributes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __eq__(self, other: object) -> bool:
        """Two schemas are equal when their attributes are, in the same order."""
        return isinstance(other, Schema) and self.to_list() == other.to_list()

    def __hash__(self) -> int:
        return hash(documents.canonical(self.to_list()))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name!r}: {attribute.size} values" for name, attribute in self.items())
        return f"Schema({{{inner}}})"


def _column(table: Any, name: str) -> Any:
    try:
        return table[name]
    except (KeyError, TypeError, IndexError, ValueError):
        raise DataError(f"The table must have a column {name!r}, as the schema declares.") from None
