"""What may be asked: categories, grids and bins for numbers, dates, attributes, schemas, and missing values."""

from bruit.domains.bins import Bins
from bruit.domains.categories import Categories
from bruit.domains.dates import Dates
from bruit.domains.domain import Domain
from bruit.domains.grid import Grid
from bruit.domains.missing import MISSING_LABEL, Missing
from bruit.domains.schema import Attribute, Schema

__all__ = ["MISSING_LABEL", "Attribute", "Bins", "Categories", "Dates", "Domain", "Grid", "Missing", "Schema"]
