"""Asking by a plan: one question or several per person, how they are made private, and what that guarantees."""

from typing import TYPE_CHECKING

from bruit._renamed import answering
from bruit.collection.answers import Answers
from bruit.collection.comparing import Comparison, Comparisons, compare
from bruit.collection.cross_tables import TAB
from bruit.collection.fake import RSFD, RSRFD
from bruit.collection.groups import GroupAnswers
from bruit.collection.longitudinal_mean import LongitudinalMean
from bruit.collection.method import Method, Settled, Task
from bruit.collection.named import METHODS
from bruit.collection.one import One
from bruit.collection.open_question import OpenQuestion
from bruit.collection.panel import Panel, Repeat
from bruit.collection.plan import Plan
from bruit.collection.power import GroupComparison, GroupDesign, compare_groups
from bruit.collection.prior import learnt_prior
from bruit.collection.sample import SMP
from bruit.collection.several import SMPk
from bruit.collection.sizing import Sizing, plan_for
from bruit.collection.split import SPL
from bruit.collection.uniform_guess import people_to_beat_uniform

__all__ = [
    "METHODS",
    "RSFD",
    "RSRFD",
    "SMP",
    "SPL",
    "TAB",
    "Answers",
    "Comparison",
    "Comparisons",
    "GroupAnswers",
    "GroupComparison",
    "GroupDesign",
    "LongitudinalMean",
    "Method",
    "One",
    "OpenQuestion",
    "Panel",
    "Plan",
    "Repeat",
    "SMPk",
    "Settled",
    "Sizing",
    "Task",
    "compare",
    "compare_groups",
    "learnt_prior",
    "people_to_beat_uniform",
    "plan_for",
]

if not TYPE_CHECKING:  # a checker would take any name then
    __getattr__ = answering(__name__)
