"""The collector's own texts, and which language a reader has."""

from __future__ import annotations

import re

from bruit.pages import Wording

__all__ = ["TEXTS", "accepted"]

#: Of the pages of results, of notices, and of slips with links.
TEXTS = Wording("bruit.collector")
#: A language of the header, with its weight.
_LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?:-[a-z0-9-]*)?\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?")
#: How many languages of a header are read.
_MOST = 20


def accepted(header: str) -> list[str]:
    """The languages of ``Accept-Language``, those that are wanted most first; what is no language is left out.

    >>> accepted("de;q=0.5, fr-CA, en;q=0.8, *;q=0.1, en;q=x, it;q=0")
    ['fr', 'en', 'de']
    """
    matches = (_LANGUAGE.fullmatch(part) for part in header.lower()[:1000].split(",")[:_MOST])
    weights = [(float(match[2] or 1), match[1]) for match in matches if match]
    ordered = sorted((pair for pair in weights if pair[0] > 0), key=lambda pair: -pair[0])
    return list(dict.fromkeys(language for _, language in ordered))
