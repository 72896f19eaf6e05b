"""Surveys to try things with."""

from __future__ import annotations

import pytest

from bruit.survey import Survey

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
