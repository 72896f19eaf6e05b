"""Asking by a plan: one question or several per person, how they are made private, and what that guarantees."""

from bruit.collection.answers import Answers
from bruit.collection.comparing import Comparison, Comparisons, compare
from bruit.collection.groups import Groups
from bruit.collection.plan import Plan
from bruit.collection.prior import learnt_prior

__all__ = ["Answers", "Comparison", "Comparisons", "Groups", "Plan", "compare", "learnt_prior"]
