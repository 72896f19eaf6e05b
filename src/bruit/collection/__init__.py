"""Asking by a plan: what is asked, how it is made private, and what that guarantees."""

from bruit.collection.plan import Plan

__all__ = ["Plan"]
