"""The attributes that a command is given: a schema document, or declared one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bruit import _checks
from bruit.cli import _answers, _options
from bruit.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from bruit.domains import Categories, Grid, Schema

#: A range of numbers, as in 17..90 or 0.0..1.0/101 with a number of cells.
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_RANGE = re.compile(rf"\s*(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})(?:/(?P<cells>[0-9]{{1,7}}))?\s*")


def schema(source: Path | None, attributes: list[str] | None, missing: str | None) -> Schema:
    """The schema of a document, or the one that --attribute declares."""
    if (source is None) == (not attributes):
        raise ParameterError(
            'Declare what is asked: name a schema document, or repeat --attribute, as in --attribute "sex=F,M" '
            '--attribute "age=17..90". Reading the values from the data would disclose them.'
        )
    if source is not None:
        return _document(source, missing)
    from bruit.domains import Missing, Schema

    policy = _checks.one_of(get_args(Missing), **{"--missing": missing or "refuse"})
    found: dict[str, Any] = {}
    for text in attributes or ():
        name, domain = _attribute(text, policy)
        if name in found:
            raise ParameterError(f"--attribute must declare each attribute once, and {name!r} stands there twice.")
        found[name] = domain
    return Schema(found)


def _document(source: Path, missing: str | None) -> Schema:
    from bruit.domains import Schema

    if missing is not None:
        raise ParameterError("--missing goes with --attribute: a schema document says it of each attribute.")
    if source.suffix.lower() != ".json":
        raise ParameterError(
            "A schema document ends in .json: Schema.to_json writes one. Declare the columns of a data file with "
            "--attribute; reading their values from the data would disclose them."
        )
    try:
        return Schema.from_json(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(f"There is no schema {source}.") from None
    except UnicodeDecodeError:
        raise FormatError(f"{source} must be encoded in UTF-8.") from None


def _attribute(text: str, missing: Any) -> tuple[str, Categories | Grid]:
    """One attribute: its name, and its labels or its range."""
    from bruit.domains import Categories, Grid

    name, equals, domain = text.partition("=")
    if not equals or not name.strip():
        raise ParameterError('--attribute must read as in "sex=F,M", "town=@towns.txt" or "age=17..90".')
    span = _RANGE.fullmatch(domain)
    if span is None:
        labels = _answers.declared(domain, "--attribute")
        return name.strip(), Categories(labels=tuple(labels), missing=missing)
    low, high = _options.bounds((span["low"], span["high"]), "--attribute")
    return name.strip(), Grid(low, high, cells=int(span["cells"] or 0), missing=missing)
