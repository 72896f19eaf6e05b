"""What somebody who reads the reports can find out: a value, the sampled attribute, the person, a change.

An attack measures a risk; it proves nothing about attacks that nobody has thought of. That is what a guarantee is for.
"""

from bruit.attacks.guess import best_guess, guess
from bruit.attacks.people import draw_people
from bruit.attacks.prospects import Prospects, prospects
from bruit.attacks.reidentification import Reidentification, reidentification
from bruit.attacks.result import AttackResult
from bruit.attacks.risks import Risk, Risks, risks
from bruit.attacks.rounds import Averaging, averaging, change_detection
from bruit.attacks.sampled_attribute import sampled_attribute, sampled_posterior

__all__ = [
    "AttackResult",
    "Averaging",
    "Prospects",
    "Reidentification",
    "Risk",
    "Risks",
    "averaging",
    "best_guess",
    "change_detection",
    "draw_people",
    "guess",
    "prospects",
    "reidentification",
    "risks",
    "sampled_attribute",
    "sampled_posterior",
]
