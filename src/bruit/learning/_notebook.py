"""How a notebook shows a model: scikit-learn's own picture, with what it can read of our docstrings.

scikit-learn (from 1.8) reads the docstring of a model for the descriptions of its parameters, by the rules of numpydoc.
These know no section *Guarantee* or *Error*, and a warning for each would stand above the picture. So it is given the
docstring without the two; they add nothing to what it shows.
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

#: A section that numpydoc does not know, up to the next one.
_OURS = re.compile(r"^(?:Guarantee|Error)\n-+\n.*?(?=^[^\n]+\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL)


class ReadableDocstring:
    """A model whose docstring scikit-learn can read; the two methods below are called by what it shows."""

    def _get_params_html(self, *arguments: Any, **options: Any) -> Any:
        return _readable(super()._get_params_html(*arguments, **options))  # type: ignore[misc] # BaseEstimator has it

    def _get_fitted_attr_html(self, *arguments: Any, **options: Any) -> Any:
        return _readable(super()._get_fitted_attr_html(*arguments, **options))  # type: ignore[misc] # so here


def _readable(shown: Any) -> Any:
    """The same parameters or attributes, described by a class that has the readable part of the docstring."""
    if getattr(shown, "estimator_class", None) is not None:
        shown.estimator_class = _described(shown.estimator_class)
    return shown


@functools.cache
def _described(model: type) -> type:
    return type(model.__name__, (), {"__doc__": _OURS.sub("", inspect.getdoc(model) or "")})
