"""What is promised and how it is kept: guarantees, composition, the ledger."""

from bruit.privacy import accounting
from bruit.privacy.composition import parallel, sequential
from bruit.privacy.guarantee import Guarantee, Neighbours
from bruit.privacy.ledger import Entry, Ledger, Part, Parts, Remaining

__all__ = [
    "Entry",
    "Guarantee",
    "Ledger",
    "Neighbours",
    "Part",
    "Parts",
    "Remaining",
    "accounting",
    "parallel",
    "sequential",
]
