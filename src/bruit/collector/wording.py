"""The collector's own texts, in English and French, and the templates of its pages."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

__all__ = ["language_of", "template", "words_of"]

_LANGUAGES = ("en", "fr")


def language_of(languages: Sequence[str]) -> str:
    """The first of these languages that there are texts for, or English."""
    return next((code for code in languages if code in _LANGUAGES), "en")


@functools.cache
def words_of(language: str) -> Mapping[str, str]:
    """The texts of a language, by name."""
    return tomllib.loads(_read("texts", f"{language}.toml"))


@functools.cache
def template(name: str) -> Any:
    """A template of a page; whatever is put into it is text, and not markup."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_read("templates", f"{name}.html"))


def _read(*place: str) -> str:
    return resources.files("bruit.collector").joinpath(*place).read_text(encoding="utf-8")
