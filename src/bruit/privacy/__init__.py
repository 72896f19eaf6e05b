"""What is promised and how it is kept: guarantees, composition, the ledger."""

from bruit.privacy import accounting, zcdp
from bruit.privacy.composition import parallel, sequential
from bruit.privacy.guarantee import Guarantee, Neighbours
from bruit.privacy.ledger import Booking, Entry, Ledger, Line, Part, Parts, Remaining

__all__ = [
    "Booking",
    "Entry",
    "Guarantee",
    "Ledger",
    "Line",
    "Neighbours",
    "Part",
    "Parts",
    "Remaining",
    "accounting",
    "parallel",
    "sequential",
    "zcdp",
]
