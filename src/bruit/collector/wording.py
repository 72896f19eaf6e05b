"""The collector's own texts."""

from __future__ import annotations

from bruit.pages import Wording

__all__ = ["TEXTS"]

#: Of the pages of results, of notices, and of slips with links.
TEXTS = Wording("bruit.collector")
