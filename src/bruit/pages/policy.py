"""The content security policy of a page: what it may load, run and send, which is next to nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bruit.errors import ParameterError

if TYPE_CHECKING:
    from markupsafe import Markup

_POLICY = re.compile('http-equiv="Content-Security-Policy" content="([^"]*)"')


def content_policy(style: str, script: str = "", *, images: bool = False, sends_to: str = "") -> Markup:
    """The policy of a page with this style and script, as it stands in the page.

    Parameters
    ----------
    style, script
        The content of the two elements; each is named by its hash, so that nothing else is applied or run.
    images
        Whether the page has images in its own text (``data:``).
    sends_to
        Where its script sends reports to: a path, or an address with https. Nothing may be sent by default.

    Examples
    --------
    >>> print(*content_policy("b { color: red; }").split("; "), sep="\\n")
    default-src 'none'
    style-src 'sha256-K7wBnJev2A/HN5dIkwuPGm8ZO0MR8u5EXZ0CyYxMWlc='
    form-action 'none'
    base-uri 'none'
    """
    from markupsafe import Markup, escape

    rules = [
        "default-src 'none'",
        *([f"script-src '{_hash(script)}'"] if script else []),
        f"style-src '{_hash(style)}'",
        *(["img-src data:"] if images else []),
        *([f"connect-src {_host(sends_to)}"] if sends_to else []),
        "form-action 'none'",
        "base-uri 'none'",
        *(["require-trusted-types-for 'script'", "trusted-types 'none'"] if script else []),
    ]
    # Apostrophes stay as they are: the attribute has double quotes.
    return Markup("'").join(escape(part) for part in "; ".join(rules).split("'"))


def security_policy(content: bytes) -> str:
    """The content security policy of a page, for the header that it is served with.

    Parameters
    ----------
    content
        The page, as bruit gave it. Its own policy stands in it too. Only a header can also forbid that the page is
        shown inside another one.
    """
    from markupsafe import Markup

    match = _POLICY.search(content.decode())
    if match is None:
        raise ParameterError("content must be a page of bruit, as Survey.page gives it.")
    return Markup(match[1]).unescape() + "; frame-ancestors 'none'"  # noqa: S704 -- only to read it


def _host(address: str) -> str:
    """The host that an address is at; for a path, the page's own."""
    parts = urlsplit(address)
    if parts.scheme not in ("", "http", "https") or bool(parts.scheme) != bool(parts.netloc):
        raise ParameterError('address must be a path or an address with https, as in "report".')
    if re.search(r"[\s;,'\"<>]", address):
        raise ParameterError("address must not have spaces, quotes, commas or semicolons.")
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "'self'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
