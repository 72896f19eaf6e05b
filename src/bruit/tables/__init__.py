"""The one table that every result gives, and how texts, numbers and counts are written in it and elsewhere."""

from bruit.tables.cells import read_cell, write_cell
from bruit.tables.facts import Described
from bruit.tables.labels import exact
from bruit.tables.table import SHOWN_ROWS, Column, Table, Tabular
from bruit.tables.text import (
    at_least,
    at_most,
    counted,
    decimals,
    digits,
    ends,
    html_text,
    interval_of,
    label,
    number,
    percent,
    place_of,
    plural,
    rounded,
    shown,
    typeset,
    upwards,
    width,
    wrap,
)

__all__ = [
    "SHOWN_ROWS",
    "Column",
    "Described",
    "Table",
    "Tabular",
    "at_least",
    "at_most",
    "counted",
    "decimals",
    "digits",
    "ends",
    "exact",
    "html_text",
    "interval_of",
    "label",
    "number",
    "percent",
    "place_of",
    "plural",
    "read_cell",
    "rounded",
    "shown",
    "typeset",
    "upwards",
    "width",
    "wrap",
    "write_cell",
]
