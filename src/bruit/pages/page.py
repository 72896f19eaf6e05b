"""A whole HTML page: a template and its values, as text.

Every template extends ``base.html.j2``, which has the head of a page with its policy. The templates and styles of all
packages stand in this one; a package of another house has its own folder ``templates``, and may use these.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from bruit.pages.markup import embedded, source
from bruit.pages.pictures import element
from bruit.pages.policy import content_policy
from bruit.tables import typeset

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def fill(template: str, /, package: str = "bruit.pages", **values: Any) -> str:
    """A template with its values, each escaped.

    Parameters
    ----------
    template
        Its file, as in ``"notice.html.j2"``.
    package
        The package whose folder ``templates`` has it.
    **values
        What stands in it. `source`, `embedded` and `element` give what is no text.

    Examples
    --------
    >>> page = fill("notice.html.j2", language="en", title="Tom & Jerry", text="<script>")
    >>> "<h1>Tom &amp; Jerry</h1>" in page, "<p>&lt;script&gt;</p>" in page
    (True, True)
    """
    text: str = _environment(package).get_template(template).render(values)
    return text


@cache
def _environment(package: str) -> Environment:
    import jinja2

    packages = dict.fromkeys(("bruit.pages", package))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    tools = {"css": _css, "policy": content_policy, "element": element, "embedded": embedded, "typeset": typeset}
    environment.globals.update(tools)
    return environment


@cache
def _css(*names: str) -> Markup:
    """Styles of the folder ``css``, one after the other."""
    folder = resources.files("bruit.pages").joinpath("css")
    return source("".join(folder.joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names))
