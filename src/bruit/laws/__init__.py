"""Exact laws in whole numbers, and the ε that follows from them."""

from bruit.laws.two_level import TwoLevelLaw

__all__ = ["TwoLevelLaw"]
