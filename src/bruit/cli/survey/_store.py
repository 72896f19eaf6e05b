"""The store that commands about opened surveys share, and how they find a survey in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit import _checks
from bruit.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from bruit.collector import Opened, Store
    from bruit.collector.open_survey import OpenSurvey

#: Where opened surveys are, unless said otherwise.
DEFAULT = "surveys.sqlite"

Address = Annotated[
    str, typer.Option("--store", help="Where opened surveys are: a .sqlite file, or postgresql://user@host/database.")
]
Name = Annotated[str, typer.Argument(help="The survey's name, as in its link /s/NAME.")]

#: How many of the surveys in a store a message names.
_MOST_NAMES = 200
_NAME = re.compile("[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def opened(address: str, *, new: bool = False, serves: bool = False) -> Store:
    """The store; an error if there is none, unless it may be new, or if the dependencies of a server are missing."""
    from bruit.collector import open_store

    if serves:
        from bruit.collector.serving import check_extra

        check_extra()
    is_file = "://" not in address
    if is_file and not new and not Path(address).exists():
        raise FormatError(f"There is no store {address}: bruit survey open makes one, and --store says where it is.")
    return open_store(address)


def keep(store: Store, survey: Path, name: str, *, links: bool = False, public: bool = False) -> tuple[str, bool]:
    """Put a survey file into a store, once its page is written; a secret for the asker, which counts if it is new."""
    from datetime import UTC, datetime

    from bruit.collector import Opened
    from bruit.collector.links import token
    from bruit.collector.open_survey import OpenSurvey, document, link_hash
    from bruit.survey import Survey

    secret = token(26)
    day = datetime.now(UTC).date().isoformat()
    digest = Survey.load(survey).digest
    opened = Opened(name, digest, document(survey), links, public, link_hash(secret), day=day, opening=token())
    _ = OpenSurvey(opened).page  # an error here leaves the name free
    return secret, store.add(opened)


def open_survey(store: Store, name: str) -> OpenSurvey:
    """An opened survey."""
    from bruit.collector.open_survey import OpenSurvey

    return OpenSurvey(stored(store, name))


def stored(store: Store, name: str) -> Opened:
    """A survey as the store has it, unread."""
    survey = store.survey(name)
    if survey is None:
        names = store.names()[:_MOST_NAMES]
        known = f" There are {', '.join(names)}." if names else " There are none."
        raise ParameterError(f"The store has no survey {name!r}.{_checks.suggestion(name, names)}{known}")
    return survey


def clean_name(name: str) -> str:
    """A name that can stand in an address; an error with the corrected one otherwise."""
    if _NAME.fullmatch(name):
        return name
    near = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-") or "survey"
    raise ParameterError(
        f"--name must have 1 to 40 small letters, digits and hyphens, since it stands in the link: --name {near}."
    )
