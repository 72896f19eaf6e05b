"""Exact laws in whole numbers: their ε, their rows, and how one person's message is drawn from random words."""

from bruit.laws.bits import BitsLaw
from bruit.laws.distance import ClampedLaw, DistanceLaw
from bruit.laws.form import Form
from bruit.laws.law import Law
from bruit.laws.leaning import LeaningLaw
from bruit.laws.mixed import MixedLaw
from bruit.laws.parity import Parity
from bruit.laws.sets import Hadamard, Hash, Itself, Listed, Projective, Sets, Subset, Window
from bruit.laws.two_level import TwoLevelLaw

__all__ = [
    "BitsLaw",
    "ClampedLaw",
    "DistanceLaw",
    "Form",
    "Hadamard",
    "Hash",
    "Itself",
    "Law",
    "LeaningLaw",
    "Listed",
    "MixedLaw",
    "Parity",
    "Projective",
    "Sets",
    "Subset",
    "TwoLevelLaw",
    "Window",
]
