"""What stands in a page as it is and not as escaped text: its style, its script, and data for the script.

Drawings and formulas are in `bruit.pages.pictures`. There is no other way: a test forbids `Markup` outside this
package, and the filter ``safe`` in templates.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bruit.errors import ParameterError

if TYPE_CHECKING:
    from markupsafe import Markup


def source(text: str) -> Markup:
    """Style or script that is a part of bruit. It ends where its element ends.

    >>> print(source("b { color: red; }"))
    b { color: red; }
    """
    if "</" in text or "<!--" in text:
        raise ParameterError("Style and script must not have </ or <!--, which would end them.")
    return marked(text)


def embedded(data: Any) -> Markup:
    r"""Data as JSON that no text in it can end.

    >>> print(embedded({"text": "</script>"}))
    {"text":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return marked(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def marked(text: str) -> Markup:
    """A text that a page takes as it is. Only this package makes such texts."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 -- every caller makes it safe
