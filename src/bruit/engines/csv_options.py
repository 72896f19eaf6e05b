"""How a file says things in text: its delimiter, its encoding, and which texts mean that nothing is there."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bruit import _checks
from bruit.errors import ParameterError, ParameterTypeError, translated


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    r"""How to read text.

    Cells of a CSV file are kept as they stand, spaces included; nothing is guessed to be a number.

    Parameters
    ----------
    delimiter
        What stands between cells: one character. Files named ``.tsv`` have a tab unless another one is given.
    encoding
        The encoding of the file, by any name that Python knows. A byte order mark is skipped.
    missing
        The texts that mean that a value is missing. The empty text means so in CSV only: Parquet files, frames and
        arrays say "missing" in a way of their own, and there an empty text is a text like any other. All other texts
        given here count everywhere.
    quote
        What stands around a cell that contains delimiters or line ends, doubled inside; the empty text for none.

    Examples
    --------
    >>> TextOptions(delimiter=";", encoding="latin-1", missing=("", "?", "NA")).delimiter
    ';'
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ("",)
    quote: str = '"'

    def __post_init__(self) -> None:
        _check_character("delimiter", self.delimiter)
        if self.quote != "":
            _check_character("quote", self.quote)
        if self.delimiter == self.quote:
            raise ParameterError("delimiter and quote must be different.")
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        object.__setattr__(self, "missing", _texts(self.missing))

    @property
    def missing_in_csv(self) -> frozenset[str]:
        """The texts that mean "missing" in a CSV file."""
        return frozenset(self.missing)

    @property
    def missing_elsewhere(self) -> frozenset[str]:
        """The texts that mean "missing" where there are other ways to say so."""
        return frozenset(self.missing) - {""}

    def for_suffix(self, suffix: str) -> TextOptions:
        """These options, with a tab for the default delimiter where the name of the file asks for it."""
        if suffix != ".tsv" or self.delimiter != TextOptions.delimiter:
            return self
        return TextOptions(delimiter="\t", encoding=self.encoding, missing=self.missing, quote=self.quote)


def _check_character(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ParameterTypeError(f"{name} must be one character.")
    if len(value) != 1 or not value.isascii() or value in "\r\n\0":
        raise ParameterError(f"{name} must be one ASCII character, and not a line end.")


def _encoding(value: Any) -> str:
    """The one name of an encoding of text."""
    rule = "encoding must be the name of an encoding, as in 'utf-8'."
    with translated((LookupError, TypeError, ValueError), lambda _: ParameterError(rule)):
        "".encode(value)  # refuses codecs that are not for text
        return codecs.lookup(value).name


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ParameterTypeError('missing must be a list of texts, as in ("", "?").')
    texts = tuple(value)
    if not all(isinstance(text, str) and _checks.is_whole(text) for text in texts):
        raise ParameterTypeError('missing must be a list of texts, as in ("", "?").')
    return texts
