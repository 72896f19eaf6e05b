"""What may be asked: categories, grids and bins for numbers, dates, attributes, schemas, and missing values."""

from typing import TYPE_CHECKING

from bruit._renamed import answering
from bruit.domains.bins import Bins
from bruit.domains.categories import Categories
from bruit.domains.choices import Chosen, MultiChoice
from bruit.domains.dates import Dates
from bruit.domains.domain import Domain
from bruit.domains.grid import Grid
from bruit.domains.interval import Interval
from bruit.domains.missing import MISSING_LABEL, Missing
from bruit.domains.open_text import OpenText
from bruit.domains.outside import OTHER_LABEL, Outside
from bruit.domains.policy import Policy
from bruit.domains.scale import Scale
from bruit.domains.schema import Attribute, Schema

__all__ = [
    "MISSING_LABEL",
    "OTHER_LABEL",
    "Attribute",
    "Bins",
    "Categories",
    "Chosen",
    "Dates",
    "Domain",
    "Grid",
    "Interval",
    "Missing",
    "MultiChoice",
    "OpenText",
    "Outside",
    "Policy",
    "Scale",
    "Schema",
]

if not TYPE_CHECKING:  # a checker would take any name then
    __getattr__ = answering(__name__)
