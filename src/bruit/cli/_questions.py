"""The questions that a command is given: ``smokes=no,yes``, a schema document, or ``smokes=?`` to be read from data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import console
from bruit.errors import FormatError, ParameterError, translated

if TYPE_CHECKING:
    from bruit.domains import Schema

Questions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="QUESTION...",
        help='What is asked, as COLUMN=ANSWERS: "smokes=no,yes"; "agree=no<hardly<yes" in an order; '
        '"sports=[run,swim]" with several choices; "town=@towns.txt" with one per line; numbers '
        '"age=17..90", "height=1.0..2.2/121" with 121 cells or "x=0..1:0.01" by steps; dates '
        '"when=2023-01-01..2023-12-31/month" (or hour, day, week); "smokes=?" reads the answers from the data, which '
        "discloses them. Or a schema document (.json).",
    ),
]


Public = Annotated[
    list[str] | None,
    typer.Option(
        "--public",
        metavar="COLUMN",
        help="An attribute that is no secret, as a school: it is sent in clear beside the report, costs nothing of ε, "
        "and estimates can be had by its values; repeatable.",
    ),
]


def public(names: list[str] | None, schema: Schema) -> list[str]:
    """The attributes that are to be sent in clear."""
    from bruit.engines.batch import clean_name

    wanted = [clean_name(name) for name in names or ()]
    for name in wanted:
        if name not in schema:
            near = _checks.suggestion(name, schema)
            raise ParameterError(f"--public must name an attribute that is declared, as in school=A,B.{near}")
    return wanted


def schema(questions: list[str] | None, said: Mapping[str, str | None], data: Any = None) -> Schema:
    """The schema that questions or a document declare; those that end in ? are read from the data.

    `said` has the policies of all questions by their options, as in ``{"--missing": "category"}``; None is not said.
    """
    from bruit.domains import Policy, Schema, declare

    texts = questions or []
    if len(texts) == 1 and "=" not in texts[0] and texts[0].lower().endswith(".json"):
        return _document(Path(texts[0]), said)
    words: dict[str, Any] = {option.removeprefix("--"): word for option, word in said.items() if word is not None}
    for name, word in words.items():
        _checks.one_of(Policy.words(name), **{f"--{name}": word})
    domains: dict[str, Any] = declare.questions(texts, **words)
    unread = [name for name, domain in domains.items() if domain is None]
    if unread or (not texts and data is not None):
        domains.update(_read(data, unread, words))
    if not domains:
        raise ParameterError(
            "Declare what is asked, as in smokes=no,yes or age=17..90. Reading the answers from the data would "
            "disclose which occur, even one that a single person gave; smokes=? does it all the same."
        )
    outside = words.get("outside")
    if outside is not None and not any(domain.outside == outside for domain in domains.values()):
        able = {"clamp": "Numbers and dates can be clamped", "other": "Labels and dates can have another value"}
        raise ParameterError(f"--outside {outside} fits none of these questions. {able.get(outside, 'Leave it out')}.")
    return Schema(domains)


def _read(data: Any, columns: list[str], words: Mapping[str, Any]) -> dict[str, Any]:
    """Domains read from the data, with a warning about what that discloses; gaps as was said, or as the data have."""
    from dataclasses import replace

    from bruit import engines

    if data is None:
        raise ParameterError(
            f"{columns[0]}=? reads the answers from a file of this machine (bruit plan --data), which is then read "
            "twice: not from standard input, nor by Spark. Declare the answers instead."
        )
    with console.warnings():
        read = engines.read_schema(data, columns or None)
    gaps = {name: word for name, word in words.items() if name == "missing"}
    return {name: replace(attribute.domain, **gaps) for name, attribute in read.items()}


def _document(path: Path, policies: Mapping[str, str | None]) -> Schema:
    from bruit.domains import Schema

    for option, policy in policies.items():
        if policy is not None:
            raise ParameterError(f"{option} goes with questions: a schema document says it of each attribute.")
    if not path.exists():
        raise FormatError(f"There is no schema {path}.")
    with translated(UnicodeDecodeError, lambda _: FormatError(f"{path} must be encoded in UTF-8.")):
        return Schema.from_json(path.read_text(encoding="utf-8"))


def names(text: str, option: str) -> tuple[str, ...]:
    """Several columns in one text, as in sex,smokes."""
    from bruit.engines.batch import clean_name

    columns = tuple(clean_name(part) for part in text.split(",") if part.strip())
    if len(columns) < 2:
        raise ParameterError(f"{option} must name two attributes or more, as in {option} sex,smokes.")
    return columns


def pairs(texts: list[str] | None, option: str, example: str, kind: Any) -> dict[str, Any] | None:
    """What an option says of single attributes, as in sex=0.2; None if it was not given."""
    from bruit.engines.batch import clean_name

    if not texts:
        return None
    parts = [text.partition("=") for text in texts]
    try:
        values = {clean_name(name): kind(value) for name, equals, value in parts if name and equals and value}
    except ValueError:
        values = {}
    if len(values) < len(parts):
        raise ParameterError(f'{option} must read as in "{example}", once for each attribute.')
    return values


def policies(texts: list[str] | None, option: str) -> dict[str, str]:
    """Policies by column, and under "" the one of all others: ``drop``, or ``age=drop``."""
    from bruit.domains import Policy

    chosen: dict[str, str] = {}
    for text in texts or []:
        column, equals, policy = text.rpartition("=")
        column = column.strip()
        if (equals and not column) or column in chosen:
            raise ParameterError(f"{option} must be a policy, or one for each column once: drop, or age=drop.")
        chosen[column] = _checks.one_of(Policy.words(option.removeprefix("--")), **{option: policy.strip()})
    return chosen


#: How many rows of a person count, behind the column that says whose row it is.
_LIMITS = re.compile(r"(?P<column>.+?):(?P<limits>\s*[a-z_-]+\s*=[^=]*(?:,\s*[a-z_-]+\s*=[^=]*)*)")


def person(text: str | None) -> tuple[str, dict[str, int]] | None:
    """The column that says whose row it is, and the limits behind it: ``user_id:rows=10,groups=3``."""
    if text is None:
        return None
    parts = _LIMITS.fullmatch(text)
    if parts is None:
        return text.strip(), {}
    limits: dict[str, int] = {}
    for limit in parts["limits"].split(","):
        name, _, number = (part.strip() for part in limit.partition("="))
        name = _checks.one_of(("rows", "groups", "rows_per_group"), **{"--person": name.replace("-", "_")})
        if not number.isdecimal() or int(number) < 1 or name in limits:
            raise ParameterError("--person must have whole numbers, 1 or above, as in user_id:rows=10.")
        limits[name] = int(number)
    return parts["column"].strip(), limits
