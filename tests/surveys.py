"""The surveys that tests ask, as files, and how one is put into a store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: What the asker shows.
TOKEN = "a-token-that-the-asker-shows"

#: One sensitive question.
ONE = """
title = "Alcohol at school"
epsilon = 1.0
people = 30
[[question]]
name = "drinks"
text = "Have you drunk alcohol this week?"
kind = "yes-no"
"""

#: The same, and one that is sent in clear.
ALCOHOL = (
    ONE.replace("people = 30\n", "people = 30\nshown_from = 10\n")
    + """
[[question]]
name = "class"
text = "Which class are you in?"
kind = "choice"
labels = ["A", "B"]
clear = true
"""
)

_HABITS = """
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

#: Two sensitive questions, of which one is reported on.
HEALTH = (
    """
title = "Health"
epsilon = 2.0
shown_from = 5
"""
    + _HABITS
)

#: The same two, of which each personal link names one.
ASSIGNED = HEALTH.replace("epsilon = 2.0", 'epsilon = 2.0\npeople = 30\nassign = "rotation"')

#: The same two, of which the pair is reported.
TABLES = (
    """
title = "Habits"
epsilon = 2.0
method = "TAB[GRR]"
"""
    + _HABITS
)

#: A question of every kind, in two languages.
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

#: One question that takes any text; three letters count, so that its reports are decoded at once.
OPEN = """
title.en = "Your school"
title.fr = "Ton école"
address = "tu"
epsilon = 4.0
people = 600
shown_from = 100
[[question]]
name = "problem"
kind = "open"
letters = 3
text.en = "What is the biggest problem at your school?"
text.fr = "Quel est le plus gros problème de ton école ?"
"""

#: One question with several choices, of which one is reported on.
CHOICES = """
title = "What happened"
epsilon = 1.0
[[question]]
name = "seen"
text = "What have you seen?"
kind = "several"
labels = ["bullying", "theft", "a fight"]
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

_ROUNDS = """
title = "Sleep at school"
epsilon = 1.0
epoch_epsilon = 2.0
rounds = 2
epochs = 2
round_opens = [TIMES]
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


def rounds(times: Iterable[str], settings: str = "people = 60") -> str:
    """Two epochs of two rounds that begin at these times."""
    return f"{settings}\n{_ROUNDS.replace('TIMES', ', '.join(times))}"


#: Rounds that began in January.
ROUNDS = rounds(f"2026-01-{day:02}T08:00:00+01:00" for day in (5, 12, 19, 26))


def opened_in(
    store: Any, path: Path, name: str = "alcohol", *, links: bool = False, public: bool = False, opening: str = ""
) -> Any:
    """Open a survey file in a store; its open_survey."""
    from bruit.collector import Opened
    from bruit.collector.open_survey import OpenSurvey, document, link_hash
    from bruit.survey import Survey

    digest = Survey.load(path).digest
    store.add(Opened(name, digest, document(path), links, public, link_hash(TOKEN), day="2026-01-01", opening=opening))
    opened = store.survey(name)
    assert opened is not None
    return OpenSurvey(opened)
