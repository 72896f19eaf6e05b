"""`bruit survey page`: the respondent's page as a file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit import documents
from bruit.cli import _options, console
from bruit.errors import ParameterError
from bruit.tables import counted

if TYPE_CHECKING:
    from bruit.survey import Survey


def page(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The survey.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes; x.html! replaces one.")],
    address: Annotated[
        str,
        typer.Option(help="Where reports are posted to: relative to the page, or https and a host that answers it."),
    ] = "report",
    links: Annotated[bool, typer.Option("--links", help="People come by single-use links.")] = False,
    code: Annotated[
        bool, typer.Option("--code", help="Show a code to hand in, and send nothing: no server is needed.")
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(help="The store in which the survey is open, for bruit's collector.", show_default=False),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Its name there; the name of the file by default.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a page that exists, as -o x.html! does.")] = False,
) -> None:
    """Write the page that people answer on, one HTML file, and say its hash and its policy.

    A collector that bruit survey open runs takes reports of the page only if the page was written with its --store.

    With --code, or channel = "codes" in the file, the page works wherever a browser opens it, from a disk too. People
    hand in the code that it shows, and bruit survey collect counts the codes.
    """
    from bruit.survey import Survey, security_policy

    output, replaces = _options.replaced(output)
    _options.check_file(output, "--output", (".html",))
    _options.check_free(output, "", replaces=replaces or force)
    survey = Survey.load(path)
    if code or (survey.channel == "codes" and store is None):
        if links or store is not None or name is not None or address != "report":
            raise ParameterError("A page with codes sends nothing: leave out --address, --links, --store and --name.")
        _write_code_page(survey, path, output)
        return
    if store is not None:
        survey, links = _opened(store, name or path.stem, survey, links)
    elif name is not None:
        raise ParameterError("--name is the name in a store: give --store, too, as in --store surveys.sqlite.")
    content = survey.page(address=address, links=links)
    documents.write_text(output, content.decode())
    console.say(f"page: {output}, {counted(len(content), 'byte')}", whole=True)
    console.say(f"sha256: {hashlib.sha256(content).hexdigest()}", whole=True)
    console.say(f"Content-Security-Policy: {security_policy(content)}", whole=True)


def _write_code_page(survey: Survey, path: Path, output: Path) -> None:
    """Write a page with codes, and say what comes next."""
    content = survey.page(code=True)
    documents.write_text(output, content.decode())
    console.say(f"page: {output}, {counted(len(content), 'byte')}; it shows codes of {survey.codes.length} characters")
    console.say(f"sha256: {hashlib.sha256(content).hexdigest()}", whole=True)
    store = f"{path.stem}.sqlite"
    console.say("Pass on the file, or its link. When people have handed in their codes:", style="dim")
    console.say(f"  bruit survey collect {path} answers.csv --store {store}", style="dim", whole=True)


def _opened(address: str, name: str, survey: Survey, links: bool) -> tuple[Survey, bool]:
    """The same survey as it is open in a store, and whether it takes answers by links only."""
    from bruit.cli.survey import _store

    keeper = _store.opened(address)
    try:
        open_survey = _store.open_survey(keeper, name)
    finally:
        keeper.disconnect()
    if open_survey.survey.digest != survey.digest:
        raise ParameterError(f"The survey {name!r} in the store has other questions or texts: name it with --name.")
    if links and not open_survey.opened.links:
        raise ParameterError(f"The survey {name!r} was opened without --links: leave --links out.")
    return open_survey.survey, open_survey.opened.links
