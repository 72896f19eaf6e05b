"""`bruit survey open`: put surveys into a store and serve them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit.cli import console
from bruit.cli.survey import _store
from bruit.errors import BruitError, ParameterError
from bruit.tables import counted

if TYPE_CHECKING:
    from bruit.collector import Opened, Store
    from bruit.collector.serving import Listening


def open_survey(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Survey files; none serves those that are in the store.")
    ] = None,
    store: _store.Address = _store.DEFAULT,
    name: Annotated[
        str | None, typer.Option(help="The name in the link /s/NAME; the name of the file by default.")
    ] = None,
    links: Annotated[
        bool, typer.Option("--links", help="Take answers with single-use links only; make them by bruit survey links.")
    ] = False,
    public: Annotated[bool, typer.Option("--public", help="Show the results to everybody.")] = False,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Make a new link to the results; the old one ends.")
    ] = False,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="On which port; 0 takes a free one.")] = 8000,
    certificate: Annotated[Path | None, typer.Option(help="The certificate for https, in PEM.")] = None,
    key: Annotated[Path | None, typer.Option(help="Its key.")] = None,
    proxy: Annotated[
        str | None, typer.Option(help="The address of a proxy with https that stands before it, as in 127.0.0.1.")
    ] = None,
    address: Annotated[
        str, typer.Option(help="What people type, as in https://survey.example.org; host and port by default.")
    ] = "",
    insecure_demo: Annotated[
        bool, typer.Option("--insecure-demo", help="Serve plain http to other machines, where nobody vouches for it.")
    ] = False,
    per_second: Annotated[float, typer.Option(help="Requests of one survey per second.")] = 1_000.0,
    per_address: Annotated[int, typer.Option(help="Requests of one address in ten minutes.")] = 3_000,
    serve: Annotated[bool, typer.Option(help="Serve until interrupted; or only keep the surveys.")] = True,
) -> None:
    """Open surveys and serve them until interrupted.

    Prints the link for respondents, with its QR code, and the link to the results, which is shown once.

    The same file may be opened again, with another closing date or another shown_from; a file with other questions
    or texts is another survey and needs another name. Every other survey of the store is served too.
    """
    if name is not None and len(files or []) != 1:
        raise ParameterError("--name is for one survey file.")
    for option, is_set in (("--links", links), ("--public", public), ("--new-token", new_token)):
        if is_set and not files:
            raise ParameterError(f"{option} is for the survey files that are named: bruit survey open FILE {option}.")
    keeper = _store.opened(store, new=bool(files), serves=True)
    from bruit.collector.open_survey import OpenSurvey
    from bruit.collector.server import Limits
    from bruit.collector.serving import Listening, server

    listening = Listening(host, port, certificate, key, proxy, address, insecure_demo)
    listener = listening.bind() if serve else None
    base = listening.base(port if listener is None else listener.getsockname()[1])
    try:
        for file in files or []:
            opened = _keep(keeper, file, _store.clean_name(name or file.stem), base, links, public, new_token)
            content = OpenSurvey(opened, insecure_demo=insecure_demo).page
            console.say(f"  page:     sha256 {sha256(content).hexdigest()}", whole=True)
        if not keeper.names():
            raise ParameterError("The store has no survey: name a survey file, which bruit survey new makes.")
        served = [known for known in keeper.names() if _is_served(keeper, known, insecure_demo)]
        if listener is not None:
            _warn(listening)
            if _only_here(base):
                console.note(
                    "Only this computer can open these links: a rehearsal. For people's phones you need a server with "
                    "https (--certificate and --key, or --proxy).\nWithout one, let people answer one after another on "
                    "this computer, or use paper, where bruit survey paper takes the questions."
                )
            console.note(f"Serving {', '.join(served) or 'no survey'} at {base}. Ctrl-C ends it; answers are kept.")
            with contextlib.suppress(KeyboardInterrupt), _shown_log():
                server(keeper, listening, Limits(per_second, per_address)).run(sockets=[listener])
                return
            _say_stopped(keeper, store)
            raise typer.Exit(console.Exit.INTERRUPTED)
    finally:
        if listener is not None:
            listener.close()
        keeper.disconnect()


def _is_served(keeper: Store, name: str, insecure_demo: bool) -> bool:
    """Whether the survey has a page; if not, a warning says why."""
    from bruit.collector.open_survey import OpenSurvey

    try:
        opened = keeper.survey(name)
        return opened is not None and bool(OpenSurvey(opened, insecure_demo=insecure_demo).page)
    except BruitError as error:
        console.warn(f"{name} is not served. {error}")
        return False


class _Shown(logging.Handler):
    """What is logged, as remarks of the command."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        console.warn(record.getMessage())


@contextlib.contextmanager
def _shown_log() -> Iterator[None]:
    """Within the block errors of the collector are shown: bruit shows no log unless a program asks for it."""
    log, handler = logging.getLogger("bruit.collector"), _Shown()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _keep(keeper: Store, file: Path, name: str, base: str, links: bool, public: bool, new_token: bool) -> Opened:
    """Keep a survey and print its links; the survey as the store has it."""
    from bruit.collector.links import qr_terminal
    from bruit.collector.open_survey import link_hash
    from bruit.survey import Survey

    survey = Survey.load(file)
    if survey.needs_links and not links:
        kind = "with rounds is answered by personal links, one for all rounds"
        if survey.is_assigned:
            kind = "in rotation is answered by personal links, which name the questions"
        raise ParameterError(f"A survey {kind}: add --links.")
    if survey.channel == "codes":
        raise ParameterError(
            f'{file.name} says channel = "codes": people hand in codes, and nothing is served. Write its page by bruit '
            f"survey page {file.name} -o {file.stem}.html, and count by bruit survey collect."
        )
    secret, is_new = _store.keep(keeper, file, name, links=links, public=public)
    if new_token and not is_new:
        keeper.set_token(name, link_hash(secret))
    link = f"{base}/s/{name}"
    console.say(survey.title[survey.languages[0]], "bold")
    if links:
        kind = "personal" if survey.has_rounds else "single-use"
        console.say(
            f"  answer:   {link}#…  by {kind} links: bruit survey links {name} --number 30 --address {base}",
            whole=True,
        )
    else:
        console.say(f"  answer:   {link}", whole=True)
    if is_new or new_token:
        console.say(f"  results:  {link}/results?token={secret}", whole=True)
        console.note("Keep the link to the results: it is not shown again. --new-token makes another one.")
    elif public:
        console.say(f"  results:  {link}/results", whole=True)
    else:
        console.note("This survey was open already, and the link to its results is the one that was shown then.")
    if not links and console.out().is_terminal and not _only_here(base):
        console.out().print(qr_terminal(link), highlight=False, markup=False)
    opened = keeper.survey(name)
    if opened is None:
        raise ParameterError(f"The survey {name!r} was deleted in this moment.")
    return opened


def _say_stopped(keeper: Store, store: str) -> None:
    """Where the answers are, when Ctrl-C has ended the server; an address with "://" may have a password in it."""
    answered = sum(keeper.totals(name).answered for name in keeper.names())
    place = "the database" if "://" in store else store
    verb = "is" if answered == 1 else "are"
    console.note(f"Stopped. {counted(answered, 'answer')} {verb} kept in {place}; the same command goes on.")


def _only_here(base: str) -> bool:
    """Whether an address leads to this computer from nowhere else."""
    return base.startswith(("http://127.", "http://localhost", "http://[::1]"))


def _warn(listening: Listening) -> None:
    if listening.insecure_demo:
        console.warn("plain http: anybody on the way can change the page. Use this to show it, never to ask.")
