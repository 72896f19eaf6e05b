"""Texts by language: a TOML file for each, all with the same names and the same places in braces.

A package has its own in its folder ``texts``, as ``en.toml`` and ``fr.toml``. English is the measure of the others, and
what is shown where there is no other. A text that addresses the reader has both forms in one place, the formal one
first: ``[Votre|Ton] appareil``. So the two cannot say different things.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from bruit import _checks, documents
from bruit.errors import FormatError, ParameterError

_PLACE = re.compile(r"\{([a-z_]+)\}")
#: Characters that steer the direction of the text after them.
_STEERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
#: Both forms of address, the formal one first.
_FORMS = re.compile(r"\[([^\[\]|{}]*)\|([^\[\]|{}]*)\]")
_RULE = 'texts must be TOML, encoded in UTF-8: lines such as begin = "Begin".'


@dataclass(frozen=True)
class Wording:
    """The texts of a package.

    Parameters
    ----------
    package
        The package, which has a folder ``texts``.
    later
        Texts that a translation from outside may lack, because there are translations from before there were these.

    Examples
    --------
    >>> texts = Wording("bruit.survey")
    >>> texts["fr"]["yes"], texts.first(["de", "fr"]), texts.first(["de"])
    ('Oui', 'fr', 'en')
    """

    package: str
    later: frozenset[str] = frozenset()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that there are texts in."""
        return _languages(self.package)

    def __contains__(self, language: str) -> bool:
        return language in self.languages

    def __getitem__(self, language: str) -> Mapping[str, Any]:
        _checks.one_of(self.languages, language=language)
        return _shipped(self.package, language)

    def first(self, languages: Iterable[str]) -> str:
        """The first of these languages that there are texts in, or English."""
        return next((language for language in languages if language in self), "en")

    def translation(self, content: bytes, file: str) -> Mapping[str, Any]:
        """The texts of a file from outside, held to the names and places of the English ones.

        Parameters
        ----------
        content
            The file.
        file
            Its name, for errors.
        """
        texts, english = documents.parse_toml(content, file, _RULE), self["en"]
        shaped = all(isinstance(text, type(english.get(name, ""))) for name, text in texts.items())
        if not shaped or not all(isinstance(text, str) and text.strip() for _, text in _entries(texts)):
            raise FormatError(f'{file} must have texts only: lines such as begin = "Begin".')
        self.check(texts, file)
        return texts

    def check(self, texts: Mapping[str, Any], file: str) -> None:
        """Refuse texts whose names, or whose places in braces, are not those of the English ones.

        Parameters
        ----------
        texts
            The texts of another language.
        file
            Where they stand, for errors.
        """
        own, english = dict(_entries(texts)), dict(_entries(self["en"]))
        for name in own:
            if name not in english:
                raise ParameterError(f"{file}: the page has no text {name!r}.{_checks.suggestion(name, english)}")
        missing = [name for name in english if name not in own and name not in self.later]
        if missing:
            raise ParameterError(f"{file} must have a text for {missing[0]!r}, as en.toml has.")
        for name, text in own.items():
            if set(_PLACE.findall(text)) != set(_PLACE.findall(english[name])):
                raise ParameterError(f"{file}: the text {name!r} must have the places in braces that en.toml has.")


def addressed(text: str, *, familiar: bool = False) -> str:
    """A text in one form of address.

    Parameters
    ----------
    text
        The text, with both forms between brackets where they differ.
    familiar
        Whether it speaks to somebody whom the asker is on first-name terms with.

    Examples
    --------
    >>> addressed("[Votre|Ton] code"), addressed("[Votre|Ton] code", familiar=True)
    ('Votre code', 'Ton code')
    """
    return _FORMS.sub(lambda forms: forms[2 if familiar else 1], text)


def isolated(text: str) -> str:
    """A text within a sentence. Letters from right to left in it do not move the words and numbers around it.

    >>> isolated("Vesoul"), isolated("\N{HEBREW LETTER ALEF}") == "\N{HEBREW LETTER ALEF}"
    ('Vesoul', False)
    """
    plain = _STEERING.sub("", text)
    if not any(unicodedata.bidirectional(mark) in ("R", "AL", "AN") for mark in plain):
        return plain
    return f"\N{FIRST STRONG ISOLATE}{plain}\N{POP DIRECTIONAL ISOLATE}"


def _entries(texts: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every text with its name; those of a section or a list have names with dots."""
    if not isinstance(texts, dict | list):
        yield name, texts
        return
    pairs = texts.items() if isinstance(texts, dict) else enumerate(texts)
    for part, inner in pairs:
        yield from _entries(inner, f"{name}.{part}" if name else str(part))


@cache
def _languages(package: str) -> tuple[str, ...]:
    files = resources.files(package).joinpath("texts").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


@cache
def _shipped(package: str, language: str) -> Mapping[str, Any]:
    text = resources.files(package).joinpath("texts", f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
