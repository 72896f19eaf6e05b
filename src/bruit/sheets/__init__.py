"""What people read before they take part: sentences about a plan in their language, and a page for an ethics board.

The numbers in the sentences are exact fractions of the law, which `odds` and `belief` give.
"""

from bruit.collection.odds import Belief, MessageOdds, Share, at_least, at_most, belief, nearest, odds, person_ratio
from bruit.sheets.page import sheet
from bruit.sheets.phrases import LANGUAGES, Phrases

__all__ = [
    "LANGUAGES",
    "Belief",
    "MessageOdds",
    "Phrases",
    "Share",
    "at_least",
    "at_most",
    "belief",
    "nearest",
    "odds",
    "person_ratio",
    "sheet",
]
