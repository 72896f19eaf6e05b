"""What may be asked: categories, grids and bins for numbers, dates, attributes, schemas, and missing values."""

from bruit.domains.bins import Bins
from bruit.domains.categories import Categories
from bruit.domains.choices import Choices, Chosen
from bruit.domains.dates import Dates
from bruit.domains.domain import Domain
from bruit.domains.grid import Grid
from bruit.domains.interval import Interval
from bruit.domains.missing import MISSING_LABEL, Missing
from bruit.domains.outside import OTHER_LABEL, Outside
from bruit.domains.scale import Scale
from bruit.domains.schema import Attribute, Schema

__all__ = [
    "MISSING_LABEL",
    "OTHER_LABEL",
    "Attribute",
    "Bins",
    "Categories",
    "Choices",
    "Chosen",
    "Dates",
    "Domain",
    "Grid",
    "Interval",
    "Missing",
    "Outside",
    "Scale",
    "Schema",
]
