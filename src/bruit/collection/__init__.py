"""Asking by a plan: one question or several per person, how they are made private, and what that guarantees."""

from bruit.collection.answers import Answers
from bruit.collection.comparing import Comparison, Comparisons, compare
from bruit.collection.groups import Groups
from bruit.collection.panel import Panel
from bruit.collection.plan import Plan
from bruit.collection.power import GroupComparison, GroupDesign, compare_groups
from bruit.collection.prior import learnt_prior
from bruit.collection.sizing import Sizing, plan_for

__all__ = [
    "Answers",
    "Comparison",
    "Comparisons",
    "GroupComparison",
    "GroupDesign",
    "Groups",
    "Panel",
    "Plan",
    "Sizing",
    "compare",
    "compare_groups",
    "learnt_prior",
    "plan_for",
]
