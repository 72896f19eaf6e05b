"""`bruit survey demo`: a filled example on this machine."""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from bruit import _checks
from bruit.cli import console
from bruit.cli.survey import _store


def demo(
    people: Annotated[int, typer.Option(help="How many simulated people answer.")] = 200,
    port: Annotated[int, typer.Option(help="On which port of this machine; 0 takes a free one.")] = 8000,
    check: Annotated[bool, typer.Option("--check", help="Try every part once, without a browser, and end.")] = False,
) -> None:
    """Open a filled example on this machine, to answer in a browser and to look at its results.

    Simulated people send their reports over HTTP as a browser does. All is in a temporary folder and gone at the end.
    """
    _checks.integer(low=1, high=100_000, **{"--people": people})
    with tempfile.TemporaryDirectory(prefix="bruit-demo-") as folder:
        keeper = _store.opened(f"{folder}/{_store.DEFAULT}", new=True, serves=True)
        from bruit.collector import demo as example
        from bruit.collector.serving import Listening

        opened = example.opened(keeper, Path(folder), people)
        try:
            with example.running(keeper, Listening(port=0 if check else port)) as open_port:
                example.respond(opened, open_port, people)
                if check:
                    example.tried(opened, open_port)
                else:
                    link = f"http://127.0.0.1:{open_port}/s/{example.NAME}"
                    _show(link, opened.secret, people, example.truth(people))
        finally:
            keeper.disconnect()
    if check:
        console.say(f"The demo works: {people} simulated people were counted once, a retry again, a forgery refused.")


def _show(link: str, secret: str, people: int, truth: int) -> None:
    console.say(f"{people} simulated people have answered. Now you:")
    console.say(f"  answer:   {link}", whole=True)
    console.say(f"  results:  {link}/results?token={secret}", whole=True)
    console.say(f"  present:  {link}/results?token={secret}&present", whole=True)
    console.say(
        f"Of the {people} simulated people {truth} truly say yes ({100 * truth / people:.0f} of 100): "
        "compare the results with that."
    )
    console.note("Ctrl-C ends it, and nothing is kept.")
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)
    console.note("Stopped; nothing was kept.")
    raise typer.Exit(console.Exit.INTERRUPTED)
