"""The page's own texts: a TOML file for each language, all with the same names.

bruit has English and French. Another language is a file beside the survey, ``de.toml`` for German, with the names of
``texts/en.toml``; where a text has places in braces, so must its translation.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from bruit import _checks
from bruit.errors import FormatError, ParameterError, translated

_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_PLACE = re.compile(r"\{([a-z]+)\}")


@cache
def shipped(language: str) -> Mapping[str, str] | None:
    """The texts that bruit has in a language; None if it has none."""
    path = resources.files("bruit.survey").joinpath("texts", f"{language}.toml")
    if not _LANGUAGE.fullmatch(language) or not path.is_file():
        return None
    return _read(path.read_bytes(), f"{language}.toml")


def beside(folder: Path, language: str) -> Mapping[str, str]:
    """The texts that a survey brings itself, held to the names and places of the English ones."""
    path = folder / f"{language}.toml"
    if not _LANGUAGE.fullmatch(language) or not path.is_file():
        raise ParameterError(
            f"The page has no texts in {language!r}: use en or fr, or put a translation of bruit's en.toml beside the "
            f"survey as {language}.toml."
        )
    texts, known = _read(path.read_bytes(), path.name), shipped("en") or {}
    for name in texts:
        if name not in known:
            raise ParameterError(f"{path.name}: the page has no text {name!r}.{_checks.suggestion(name, known)}")
    missing = [name for name in known if name not in texts]
    if missing:
        raise ParameterError(f"{path.name} must have a text for {missing[0]!r}, as en.toml has.")
    for name, text in texts.items():
        if sorted(set(_PLACE.findall(text))) != sorted(set(_PLACE.findall(known[name]))):
            raise ParameterError(f"{path.name}: the text {name!r} must have the places in braces that en.toml has.")
    return texts


def _read(content: bytes, name: str) -> Mapping[str, str]:
    rule = f'{name} must be TOML, encoded in UTF-8: lines such as begin = "Begin".'
    with translated((tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError), lambda _: FormatError(rule)):
        texts = tomllib.loads(content.decode("utf-8"))
    if not all(isinstance(entry, str) and entry.strip() for entry in texts.values()):
        raise FormatError(f'{name} must have texts only: lines such as begin = "Begin".')
    return texts
