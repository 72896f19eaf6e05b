"""The page's own texts: a TOML file for each language, all with the same names.

bruit has English and French. Another language is a file beside the survey, ``de.toml`` for German, with the names of
``texts/en.toml``; where a text has places in braces, so must its translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources

from bruit import _checks, documents
from bruit.errors import FormatError, ParameterError

#: Texts that a translation may lack: surveys were opened with translations from before there were these.
_LATER = frozenset({"lost_last"})
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_PLACE = re.compile(r"\{([a-z]+)\}")


@cache
def shipped(language: str) -> Mapping[str, str] | None:
    """The texts that bruit has in a language; None if it has none."""
    path = resources.files("bruit.survey").joinpath("texts", f"{language}.toml")
    if not _LANGUAGE.fullmatch(language) or not path.is_file():
        return None
    return _read(path.read_bytes(), f"{language}.toml")


def own(language: str, beside: Callable[[str], bytes | None]) -> Mapping[str, str]:
    """The texts that a survey brings itself, held to the names and places of the English ones."""
    file = f"{language}.toml"
    content = beside(file) if _LANGUAGE.fullmatch(language) else None
    if content is None:
        raise ParameterError(
            f"The page has no texts in {language!r}: use en or fr, or put a translation of bruit's en.toml beside the "
            f"survey as {file!r}."
        )
    texts, known = _read(content, file), shipped("en") or {}
    for name in texts:
        if name not in known:
            raise ParameterError(f"{file}: the page has no text {name!r}.{_checks.suggestion(name, known)}")
    missing = [name for name in known if name not in texts and name not in _LATER]
    if missing:
        raise ParameterError(f"{file} must have a text for {missing[0]!r}, as en.toml has.")
    for name, text in texts.items():
        if sorted(set(_PLACE.findall(text))) != sorted(set(_PLACE.findall(known[name]))):
            raise ParameterError(f"{file}: the text {name!r} must have the places in braces that en.toml has.")
    return texts


def _read(content: bytes, name: str) -> Mapping[str, str]:
    rule = 'texts must be TOML, encoded in UTF-8: lines such as begin = "Begin".'
    texts = documents.parse_toml(content, name, rule)
    if not all(isinstance(entry, str) and entry.strip() for entry in texts.values()):
        raise FormatError(f'{name} must have texts only: lines such as begin = "Begin".')
    return texts
