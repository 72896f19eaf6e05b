"""Every HTML page that bruit writes or serves: templates, styles, texts by language, and the policy of a page.

A page is one file that loads nothing. `fill` makes it from a template of ``templates`` and styles of ``css``: jinja2
escapes every value, and a missing value is an error. The page carries a content security policy, which names its style
and its script by their hashes. jinja2 is loaded by the first page.
"""

from bruit.pages.markup import embedded, source
from bruit.pages.page import fill
from bruit.pages.pictures import Picture, element, inline, qr_svg
from bruit.pages.policy import content_policy
from bruit.pages.sections import Page, Section, render
from bruit.pages.texts import Wording, addressed, isolated

__all__ = [
    "Page",
    "Picture",
    "Section",
    "Wording",
    "addressed",
    "content_policy",
    "element",
    "embedded",
    "fill",
    "inline",
    "isolated",
    "qr_svg",
    "render",
    "source",
]
