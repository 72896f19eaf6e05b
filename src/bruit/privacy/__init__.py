"""What is promised and how it is kept: guarantees, composition, the ledger."""

from bruit.privacy import accounting, zcdp
from bruit.privacy.composition import parallel, sequential
from bruit.privacy.guarantee import Guarantee, Neighbours
from bruit.privacy.ledger import (
    Booking,
    Entry,
    Head,
    Ledger,
    Line,
    Part,
    Parts,
    Remaining,
    SignedHead,
    create_keys,
)

__all__ = [
    "Booking",
    "Entry",
    "Guarantee",
    "Head",
    "Ledger",
    "Line",
    "Neighbours",
    "Part",
    "Parts",
    "Remaining",
    "SignedHead",
    "accounting",
    "create_keys",
    "parallel",
    "sequential",
    "zcdp",
]
