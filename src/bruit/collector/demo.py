"""A filled example on this machine: simulated respondents send their reports over HTTP, like anybody else."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from bruit.collector.links import token
from bruit.collector.open_survey import OpenSurvey, document, link_hash
from bruit.collector.serving import Listening, server
from bruit.collector.store import Opened, Store
from bruit.errors import BruitError
from bruit.survey import Survey

__all__ = ["Demo", "DemoError", "opened", "respond", "running", "tried", "truth"]

NAME = "demo"
#: How many of twenty simulated people drink, in each class.
_DRINKERS = {"A": 5, "B": 9}


class DemoError(BruitError, RuntimeError):
    """The demo did not do what it should."""


@dataclass(frozen=True)
class Demo:
    """An opened example.

    Parameters
    ----------
    store
        Where it is.
    survey
        The survey.
    secret
        What the asker shows to see the results.
    """

    store: Store
    survey: Survey
    secret: str


def opened(store: Store, folder: Path, people: int = 200) -> Demo:
    """Open the example survey in a store.

    Parameters
    ----------
    store
        A store without it.
    folder
        Where its file is written to.
    people
        How many are expected.
    """
    text = resources.files("bruit.collector").joinpath("demo.toml").read_text(encoding="utf-8")
    path = folder / f"{NAME}.toml"
    path.write_text(text.replace("people = 200", f"people = {people}"), encoding="utf-8")
    survey = Survey.load(path)
    secret = token(26)
    opened = Opened(
        NAME, survey.digest, document(path), links=False, public=False, token=link_hash(secret), opening=token()
    )
    store.add(opened)
    return Demo(store, OpenSurvey(opened).survey, secret)


@contextlib.contextmanager
def running(store: Store, listening: Listening) -> Iterator[int]:
    """Within the block, the store is served by a thread; the port."""
    runner = server(store, listening)
    with contextlib.closing(listening.bind()) as listener:
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            _wait(lambda: runner.started or not thread.is_alive())
            yield listener.getsockname()[1]
        finally:
            runner.should_exit = True
            thread.join(15)


def respond(demo: Demo, port: int, people: int) -> None:
    """Simulated people answer: each draws a report and sends it, and some send it twice.

    Parameters
    ----------
    demo
        The example.
    port
        Where it is served.
    people
        How many.
    """
    with _connection(port) as connection:
        for person in range(people):
            body = demo.survey.answer(_answers(person))
            _expect(_post(connection, body), 201)
            if person % 25 == 0:
                _expect(_post(connection, body), 200)


def truth(people: int) -> int:
    """How many of the simulated people truly say yes."""
    return sum(_answers(person)["drinks"] == "Yes" for person in range(people))


def _answers(person: int) -> dict[str, str]:
    """What a simulated person would say; steps of nine spread those who drink over all who come."""
    label = "AB"[person % 2]
    return {"drinks": "Yes" if person // 2 * 9 % 20 < _DRINKERS[label] else "No", "class": label}


def tried(demo: Demo, port: int) -> None:
    """Look at every part once, hostile requests too; an error if one does not do what it should."""
    with _connection(port) as connection:
        status, page = _get(connection, f"/s/{NAME}")
        _expect(status, 200)
        _expect(page, demo.survey.page(address=f"{NAME}/report"))
        _expect(_get(connection, f"/s/{NAME}/report")[0], 204)
        _expect(_post(connection, b"x" * demo.survey.body_length), 422)
        _expect(_get(connection, f"/s/{NAME}/results")[0], 404)
        _expect(_get(connection, "/s/another")[0], 404)
        status, results = _get(connection, f"/s/{NAME}/results?token={demo.secret}")
        _expect(status, 200)
        totals = demo.store.totals(NAME)
        if not all(f"<b>{number}</b>".encode() in results for number in totals):
            raise DemoError("The page of results does not show what was counted.")


def _wait(ready: Any) -> None:
    for _ in range(1_000):
        if ready():
            return
        time.sleep(0.01)
    raise DemoError("The server did not start.")


@contextlib.contextmanager
def _connection(port: int) -> Iterator[http.client.HTTPConnection]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        yield connection


def _post(connection: http.client.HTTPConnection, body: bytes) -> int:
    connection.request("POST", f"/s/{NAME}/report", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    return response.status


def _get(connection: http.client.HTTPConnection, path: str) -> tuple[int, bytes]:
    connection.request("GET", path)
    response = connection.getresponse()
    return response.status, response.read()


def _expect(actual: Any, expected: Any) -> None:
    if actual != expected:
        raise DemoError(
            f"The server answered {actual} where {expected} was due."
            if isinstance(actual, int)
            else "The server served another page than the survey's."
        )
