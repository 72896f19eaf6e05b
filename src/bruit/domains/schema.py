"""Attributes, which are named columns with a domain, and schemas, which are several of them in order."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import discover
from bruit.domains.bins import Bins
from bruit.domains.categories import Categories
from bruit.domains.choices import Chosen, MultiChoice
from bruit.domains.codes import Codes
from bruit.domains.dates import Dates
from bruit.domains.domain import Domain, in_memory
from bruit.domains.grid import Grid
from bruit.domains.open_text import OpenText
from bruit.domains.scale import Scale
from bruit.errors import (
    DataError,
    DataTypeError,
    DisclosureWarning,
    FormatError,
    LimitError,
    ParameterError,
    ParameterTypeError,
    in_column,
    translated,
)
from bruit.tables import Column, Table
from bruit.tables.table import frame
from bruit.typing import ColumnLike, Frame, Label, SourceLike

_KINDS: dict[str, type[Bins | Categories | Chosen | Dates | Grid | OpenText]] = {
    "chosen": Chosen,
    "scale": Scale,
    "bins": Bins,
    "categories": Categories,
    "dates": Dates,
    "grid": Grid,
    "open-text": OpenText,
}


@dataclass(frozen=True)
class Attribute:
    """A named column and what may stand in it.

    Examples
    --------
    >>> Attribute("sex", ["F", "M"]).labels
    ('F', 'M')

    Parameters
    ----------
    name
        The name of the column.
    domain
        What may stand in it: a list of labels, or a domain.
    public
        Whether it is no secret, so that a plan sends it in clear beside the report: a school, a month.
    column
        The column that it is read from, if that has another name: that of a question with several choices.
    """

    name: str
    domain: Domain
    public: bool = False
    column: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ParameterTypeError("An attribute's name must be a text that is not empty.")
        object.__setattr__(self, "name", _checks.normal_form(_checks.whole_text(name=self.name)))
        object.__setattr__(self, "domain", as_domain(self.domain))
        if not isinstance(self.public, bool):
            raise ParameterTypeError("public must be True or False: whether the attribute is sent in clear.")
        column = self.column or self.name
        if not isinstance(column, str):
            raise ParameterTypeError("An attribute's column must be a text.")
        object.__setattr__(self, "column", _checks.normal_form(_checks.whole_text(column=column)))

    @property
    def size(self) -> int:
        """How many codes the domain has."""
        return self.domain.size

    @property
    def labels(self) -> tuple[Label | float, ...]:
        """One label per code: a category's label, the start of a period, or the point of a grid."""
        return self.domain.names

    def encode(self, values: Any) -> Codes:
        """Codes of a column of data, whose errors name it."""
        with in_column(self.name):
            return self.domain.encode(values)

    def values(self, codes: Codes) -> NDArray[Any]:
        """The values behind codes as a table has them: with a gap where the code is that of missing values."""
        values = self.domain.decode(codes)
        if self.domain.missing != "category":
            return values
        with_gaps = values.astype(object)
        with_gaps[codes == self.size - 1] = None
        return with_gaps

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        body: dict[str, Any] = {"name": self.name, "domain": self.domain.to_dict()}
        if self.column != self.name:
            body["column"] = self.column
        return {**body, "public": True} if self.public else body

    @classmethod
    def from_dict(cls, body: Any) -> Attribute:
        """The inverse of `to_dict`."""
        rule = "An attribute must have a name and a domain of a known kind."
        with translated((KeyError, TypeError), lambda _: FormatError(rule)):
            return cls(body["name"], domain_from_dict(body["domain"]), _read_public(body), body.get("column", ""))


def _read_public(body: Mapping[str, Any]) -> bool:
    """Whether a document says that an attribute is public; what is not says nothing."""
    if body.get("public", True) is not True:
        raise FormatError("An attribute that is sent in clear must say so with true, and no other says anything.")
    return "public" in body


def domain_from_dict(body: Any) -> Domain:
    """The inverse of every domain's `to_dict`."""
    with translated((KeyError, TypeError), lambda _: FormatError("A domain must be of a known kind.")):
        return _KINDS[body["kind"]].from_dict(body)


def as_domain(declared: Any) -> Domain:
    """A domain as given, or categories from a plain list of labels."""
    if isinstance(declared, Domain):
        domain: Domain = declared
        return domain
    if isinstance(declared, Sequence | np.ndarray) and not isinstance(declared, str | bytes):
        return Categories(labels=tuple(declared))
    raise ParameterTypeError(
        "A domain must be a list of labels, Categories(…), Grid(low, high), Bins(edges) or Dates(first, last)."
    )


#: The most pairs of attributes that are taken where no tables are named.
MOST_PAIRS = 2**16

#: What a schema is made of: labels, bounds or a domain by name, or attributes. A schema is such a mapping.
Questions: TypeAlias = Mapping[str, object] | Iterable[Attribute]


class Schema(Mapping[str, Attribute]):
    """The attributes of a record, declared before any data is seen.

    Parameters
    ----------
    attributes
        A mapping from column name to its domain: a list of labels, `Categories` or `Grid`; or a list of `Attribute`,
        of which some may be public.

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

    def __init__(self, attributes: Questions) -> None:
        columns = _as_attributes(attributes)
        if not columns:
            raise ParameterError("A schema needs at least one attribute.")
        self._attributes = {attribute.name: attribute for attribute in columns}
        if len(self._attributes) < len(columns):
            raise ParameterError("Attribute names must be different from each other (after Unicode normalisation).")

    def encode(self, table: SourceLike) -> dict[str, Any]:
        """Codes of every attribute, from anything whose columns are read by ``table[name]``.

        Frames of pandas, polars and pyarrow are such, and dictionaries of arrays; a lazy frame is collected.
        """
        return {name: self[name].encode(column) for name, column in self.columns(table).items()}

    def columns(self, table: SourceLike) -> dict[str, Any]:
        """The declared columns of a table, as they are; one that is not there is an error."""
        rows = in_memory(table)
        return {name: self._own_column(rows, name) for name in self}

    def _own_column(self, rows: Any, name: str) -> Any:
        """The column of an attribute: of its own name where there is one, or the one that it is read from."""
        source = self[name].column
        if source == name or name in _names(rows):
            return _column(rows, name)
        return _column(rows, source)

    def decode(self, codes: Mapping[str, Any], backend: str | None = None) -> Any:
        """The values behind codes: a dictionary of arrays, or a frame.

        Parameters
        ----------
        codes
            A mapping from attribute to codes; it may have some of the attributes only.
        backend
            ``"pandas"``, ``"polars"`` or ``"pyarrow"`` for a frame of that library.
        """
        decoded = {name: self._known(name).domain.decode(column) for name, column in codes.items()}
        if backend is None:
            return decoded
        return frame({name: column.tolist() for name, column in decoded.items()}, backend)

    @classmethod
    def from_frame(
        cls, frame: Frame | Mapping[str, ColumnLike], *, columns: Iterable[str] | None = None, most_values: int = 64
    ) -> Schema:
        """A schema read from data, with a warning: what is read discloses something that no guarantee covers.

        Texts and booleans become categories, and so do whole numbers of which few are different; other numbers become
        a grid between the least and the greatest. Declare a schema instead wherever the list of values, or an extreme
        one, could give somebody away.

        Parameters
        ----------
        frame
            A frame of pandas, polars or pyarrow, or a mapping from column name to values.
        columns
            The columns to take; all by default.
        most_values
            How many different whole numbers are still taken for categories.

        Warns
        -----
        DisclosureWarning
            It says of which columns what was read, and shows no value.

        Examples
        --------
        >>> import warnings
        >>> with warnings.catch_warnings(record=True):
        ...     warnings.simplefilter("always")
        ...     schema = Schema.from_frame({"sex": ["F", "M", "F"], "height": [1.62, 1.80, 1.71]})
        >>> schema["sex"].labels, schema["height"].domain
        (('F', 'M'), Grid(low=1.62, high=1.8, cells=1024, missing='refuse', outside=None))
        """
        _checks.integer(low=2, most_values=most_values)
        rows = in_memory(frame)
        wanted = discover.names(rows) if columns is None else list(columns)
        domains = {name: discover.domain(name, _column(rows, name), most_values) for name in wanted}
        disclosed = [f"of {name!r} {read.disclosed}" for name, read in domains.items() if read.disclosed]
        if disclosed:
            warnings.warn(
                f"This schema was read from the data: {'; '.join(disclosed)}. It is disclosed to all who see the "
                "schema or a plan made of it, even if one person alone is the reason, and no guarantee covers it. "
                "Declare the domains when that matters.",
                DisclosureWarning,
                stacklevel=2,
            )
        return cls({name: read.domain for name, read in domains.items()})

    def to_list(self) -> list[dict[str, Any]]:
        """Plain values, for documents."""
        return [attribute.to_dict() for attribute in self.values()]

    @classmethod
    def from_list(cls, body: Any) -> Schema:
        """The inverse of `to_list`."""
        if not isinstance(body, list) or not body:
            raise FormatError("A schema must be a list of attributes.")
        return cls([Attribute.from_dict(item) for item in body])

    def to_json(self) -> str:
        """The schema as a document."""
        return documents.seal(self.FORMAT, {"attributes": self.to_list()}, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """The inverse of `to_json`."""
        return cls.from_list(documents.unseal(text, cls.FORMAT).get("attributes"))

    def _known(self, name: str) -> Attribute:
        if name not in self._attributes:
            raise DataError(f"The schema has no attribute {name!r}.")
        return self._attributes[name]

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

    def table(self) -> Table:
        """Every attribute with its kind of domain, how many values it has, and whether it is public."""
        attributes = list(self.values())
        columns = [
            Column("attribute", list(self), kind="label", write=str),
            Column("domain", [type(item.domain).__name__ for item in attributes], kind="text", write=str),
            Column("values", [item.size for item in attributes]),
        ]
        if any(item.public for item in attributes):
            columns.append(Column("public", [item.public for item in attributes], kind="text", write=_yes_or_no))
        return Table("Schema", columns, noun="attribute")

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def __repr__(self) -> str:
        inner = ", ".join(f"{name!r}: {attribute.size} values" for name, attribute in self.items())
        return f"Schema({{{inner}}})"


def _yes_or_no(holds: bool) -> str:
    return "yes" if holds else "no"


def _as_attributes(declared: Any) -> list[Attribute]:
    """The attributes of a mapping from name to domain, or of a list of them."""
    if isinstance(declared, Mapping):
        return [attribute for name, domain in declared.items() for attribute in _all_of(name, domain)]
    if isinstance(declared, str | bytes) or not isinstance(declared, Iterable):
        raise ParameterTypeError("A schema needs a mapping from column name to domain.")
    attributes = list(declared)
    if not all(isinstance(attribute, Attribute) for attribute in attributes):
        raise ParameterTypeError("A schema needs a mapping from column name to domain, or a list of Attribute(…).")
    return attributes


def _all_of(name: Any, domain: Any) -> list[Attribute]:
    """The attribute of this name, or those of a question with several choices."""
    if not isinstance(domain, MultiChoice):
        return [_as_attribute(name, domain)]
    if not isinstance(name, str) or not name.strip():
        raise ParameterTypeError("An attribute's name must be a text that is not empty.")
    return [Attribute(own, chosen, column=name) for own, chosen in domain.attributes(name).items()]


def _as_attribute(name: Any, domain: Any) -> Attribute:
    """An attribute of this name; one that is declared already keeps what it says."""
    if not isinstance(domain, Attribute):
        return Attribute(name, domain)
    if _checks.normal_form(str(name)) != domain.name:
        raise ParameterError("An attribute must stand under its own name.")
    return domain


def _column(table: Any, name: str) -> Any:
    # Every library of frames has an error of its own for this.
    with translated(Exception, lambda _: DataError(_absent(table, name))):
        return table[name]


def _absent(table: Any, name: str) -> str:
    near = _checks.suggestion(name, _names(table))
    return f"The table must have a column {name!r}, as the schema declares.{near}"


def _names(table: Any) -> list[str]:
    """The names of the columns of a table, where it has them."""
    try:
        return discover.names(table)
    except DataTypeError:
        return []


def clean_tables(tables: Any, schema: Schema, least: int = 1) -> tuple[tuple[str, ...], ...]:
    """Tables of two or more attributes, each in the order of the schema; all pairs unless some are declared.

    >>> clean_tables([("smokes", "sex")], Schema({"sex": ["F", "M"], "smokes": ["no", "yes"]}))
    (('sex', 'smokes'),)
    """
    if tables is None:
        size = max(least, min(2, len(schema)))
        if math.comb(len(schema), size) > MOST_PAIRS:
            raise LimitError(f"There are more than {MOST_PAIRS:,} pairs of attributes: name the tables you want.")
        return tuple(itertools.combinations(schema, size))
    several, another = (
        ("two attributes or more each", '("sex", "degree")') if least > 1 else ("attributes each", '("sex",)')
    )
    rule = f'tables must be a list of {several}, as in [("sex", "smokes"), {another}].'
    if isinstance(tables, str | Mapping) or not isinstance(tables, Sequence) or not len(tables):
        raise ParameterTypeError(rule)
    wanted = []
    order = {name: place for place, name in enumerate(schema)}
    for names in tables:
        if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(own, str) for own in names):
            raise ParameterTypeError(rule)
        if len(names) < least or len(set(names)) < len(names) or not all(name in order for name in names):
            unknown = next((name for name in names if name not in schema), "")
            near = _checks.suggestion(unknown, schema)
            raise ParameterError(f"{rule} Attributes must be declared, and different from each other.{near}")
        wanted.append(tuple(sorted(names, key=order.__getitem__)))
    if len(set(wanted)) < len(wanted):
        raise ParameterError("tables must be different from each other.")
    used = set(itertools.chain.from_iterable(wanted))
    unused = [name for name in schema if name not in used]
    if unused:
        raise ParameterError(f"{unused[0]!r} is in no table: leave it out of the schema, or add a table with it.")
    return tuple(wanted)
