"""Surveys to try things with, and a browser."""

from __future__ import annotations

import pytest

from bruit.survey import Survey

from ..surveys import LONG, MANY, ONE, ROUNDS
from . import browser as browsers


@pytest.fixture
def write(tmp_path):
    """Writes a survey and reads it."""

    def read(text, name="survey.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return Survey.load(path)

    return read


@pytest.fixture
def one(write):
    return write(ONE)


@pytest.fixture
def many(write):
    return write(MANY)


@pytest.fixture
def long(write):
    return write(LONG)


@pytest.fixture
def panel(write):
    return write(ROUNDS)


# A browser.


@pytest.fixture(scope="module")
def chromium():
    with browsers.chromium("--host-resolver-rules=MAP insecure.test 127.0.0.1") as browser:
        yield browser


@pytest.fixture
def collector():
    server = browsers.Collector()
    yield server
    server.close()


@pytest.fixture
def visit(chromium, collector):
    """Opens a page as a new person; what the browser complains about fails the test."""
    contexts, complaints = [], []

    def open_page(content, *, path="/s/class", fragment="", context=None, before=None, quiet=True, time="", **options):
        if context is None:
            context = chromium.new_context(**{"locale": "en", "viewport": {"width": 390, "height": 844}, **options})
            context.set_default_timeout(20_000)
            contexts.append(context)
        if before:
            context.add_init_script(before)
        if time:
            context.clock.set_fixed_time(time)
        tab = context.new_page()
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        if quiet:
            tab.on("console", lambda message: complaints.append(message.text))
        tab.goto(collector.serve(content, path) + fragment)
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
