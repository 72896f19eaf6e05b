"""A survey of six questions of every kind, in two languages, and its results."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from bruit.collector import open_store
from bruit.collector.intake import _Waiting, commit
from bruit.collector.results import SurveyResults, results

from ..surveys import opened_in

SIX = """
languages = ["en", "fr"]
title.en = "Life at school"
title.fr = "La vie au collège"
epsilon = 2.0
people = 900
shown_from = 20
[[question]]
name = "drinks"
kind = "yes-no"
text.en = "Have you drunk alcohol this week?"
text.fr = "As-tu bu de l’alcool cette semaine ?"
refusal = true
[[question]]
name = "smokes"
kind = "yes-no"
text.en = "Have you ever smoked?"
text.fr = "As-tu déjà fumé ?"
[[question]]
name = "bullied"
kind = "choice"
text.en = "How often have you been bullied this year?"
text.fr = "À quelle fréquence as-tu été harcelé·e cette année ?"
labels.en = ["never", "once", "a few times", "every week"]
labels.fr = ["jamais", "une fois", "quelques fois", "chaque semaine"]
[[question]]
name = "safe"
kind = "scale"
text.en = "How safe do you feel here?"
text.fr = "À quel point te sens-tu en sécurité ici ?"
from = 1
to = 5
low.en = "not at all"
low.fr = "pas du tout"
high.en = "very"
high.fr = "tout à fait"
[[question]]
name = "sleep"
kind = "number"
text.en = "How many hours did you sleep last night?"
text.fr = "Combien d’heures as-tu dormi la nuit dernière ?"
from = 0
to = 12
[[question]]
name = "seen"
kind = "several"
text.en = "What have you seen here this year?"
text.fr = "Qu’as-tu vu ici cette année ?"
labels.en = ["theft", "a fight", "bullying", "cheating"]
labels.fr = ["un vol", "une bagarre", "du harcèlement", "de la triche"]
[[question]]
name = "grade"
kind = "choice"
text.en = "Your grade"
text.fr = "Ta classe"
labels.en = ["6th", "7th"]
labels.fr = ["6e", "5e"]
clear = true
"""


def six(folder: Path, text: str = SIX, people: int = 900) -> SurveyResults:
    """Results of people who answer at random, with the same true answers every time."""
    path, chance = folder / "school.toml", random.Random(1)
    path.write_text(text, encoding="utf-8")
    store = open_store(folder / "school.sqlite")
    open_survey = opened_in(store, path, "school")

    def truth(question: Any) -> Any:
        if question.kind == "several":
            return [label for place, label in enumerate(question.values) if chance.random() < (place + 1) / 6]
        return chance.choices(question.values, range(len(question.values), 0, -1))[0]

    answers = ({question.name: truth(question) for question in open_survey.survey.questions} for _ in range(people))
    bodies = [open_survey.survey.answer(own) for own in answers]
    commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
    shown = results(store, open_survey)
    store.disconnect()
    return shown
