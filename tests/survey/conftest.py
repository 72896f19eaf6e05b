"""Surveys to try things with."""

from __future__ import annotations

import pytest

from bruit.survey import Survey

from . import browser as browsers

ONE = """
title = "Alcohol at school"
epsilon = 1.0
people = 30
[[question]]
name = "drinks"
text = "Have you drunk alcohol this week?"
kind = "yes-no"
"""

MANY = """
# A comment.
title.en = "Life at school"
title.fr = "La vie au collège"
introduction.en = "A few questions."
introduction.fr = "Quelques questions."
asker.en = "Ms Martin, maths"
asker.fr = "Mme Martin, maths"
epsilon = 1.0
people = 200
shown_from = 20
opens = 2026-11-20T08:00:00+01:00
closes = 2026-12-01T18:00:00+01:00

[[question]]
name = "drinks"
text.en = "Have you drunk alcohol this week?"
text.fr = "As-tu bu de l’alcool cette semaine ?"
kind = "yes-no"
refusal = true

[[question]]
name = "hours"
text.en = "How many hours did you sleep last night?"
text.fr = "Combien d’heures as-tu dormi la nuit dernière ?"
help.en = "Half hours count."
help.fr = "Les demi-heures comptent."
kind = "number"
from = 0
to = 12
step = 0.5

[[question]]
name = "happy"
text.en = "How do you like it here?"
text.fr = "Te plais-tu ici ?"
kind = "scale"
from = 1
to = 5
low.en = "not at all"
low.fr = "pas du tout"
high.en = "very much"
high.fr = "beaucoup"

[[question]]
name = "seen"
text.en = "What have you seen?"
text.fr = "Qu’as-tu vu ?"
kind = "several"
labels.en = ["bullying", "theft", "a \\"prank\\" <b>é</b> 😀"]
labels.fr = ["du harcèlement", "un vol", "une « farce »"]

[[question]]
name = "class"
text.en = "Your class"
text.fr = "Ta classe"
kind = "choice"
labels.en = ["A", "B", "C"]
labels.fr = ["A", "B", "C"]
clear = true
"""

#: Twelve answers, so that a report is a list of them.
LONG = """
title = "Where from"
epsilon = 1.0
[[question]]
name = "town"
text = "Which town are you from?"
kind = "choice"
labels = [
  "Vesoul", "Dole", "Gray", "Lure", "Luxeuil", "Arbois",
  "Poligny", "Morez", "Ornans", "Pontarlier", "Baume", "Salins",
]
"""


#: A pair of answers is reported.
TABLES = """
title = "Habits"
epsilon = 2.0
method = "TAB[GRR]"
[[question]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"
[[question]]
name = "sport"
text = "How often do you do sport?"
kind = "choice"
labels = ["never", "sometimes", "often"]
"""


@pytest.fixture
def write(tmp_path):
    """Writes a survey and reads it."""

    def read(text, name="survey.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return Survey.read(path)

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


#: Two epochs of two rounds.
ROUNDS = """
title = "Sleep at school"
epsilon = 1.0
epoch_epsilon = 2.0
rounds = 2
epochs = 2
round_opens = [
  2026-01-05T08:00:00+01:00, 2026-01-12T08:00:00+01:00, 2026-01-19T08:00:00+01:00, 2026-01-26T08:00:00+01:00,
]
people = 60
[[question]]
name = "slept"
text = "Did you sleep well?"
kind = "yes-no"
[[question]]
name = "class"
text = "Your class"
kind = "choice"
labels = ["A", "B"]
clear = true
"""


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
