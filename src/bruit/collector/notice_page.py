"""Short pages for people who open an address where there is nothing to see; programs get JSON instead."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bruit.collector.wording import TEXTS, accepted
from bruit.pages import fill

__all__ = ["is_for_people", "notice"]

#: The texts that statuses have of their own; others share one.
_STATUSES = (404, 426, 429)


def is_for_people(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from a browser that wants a page."""
    return "text/html" in headers.get("accept", "").lower()


def notice(status: int, path: str, headers: Mapping[str, str], opens: datetime | None = None) -> bytes:
    """The page that says why there is nothing else.

    Parameters
    ----------
    status
        The status that it is sent with.
    path
        What was asked for.
    headers
        Those of the request; the page is in a language that its reader has.
    opens
        When the survey opens that was asked for, if it is one that is not open yet.
    """
    language = TEXTS.first(accepted(headers.get("accept-language", "")))
    words = TEXTS[language]
    kind = _kind(status, path, opens)
    time = "" if opens is None else f"{opens:%Y-%m-%d, %H:%M} ({opens.tzname() or 'UTC'})"
    text = words[f"notice_{kind}_text"].format(status=status, time=time)
    return fill("notice.html.j2", language=language, title=words[f"notice_{kind}"], text=text).encode()


def _kind(status: int, path: str, opens: datetime | None) -> str:
    if opens is not None:
        return "before"
    if status == 404 and path in ("", "/", "/s", "/s/"):
        return "home"
    if status == 404 and path.rstrip("/").endswith("/results"):
        return "results"
    return str(status) if status in _STATUSES else "other"
