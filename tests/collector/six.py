"""A survey of six questions of every kind, in two languages, and its results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bruit.collector.open_survey import OpenSurvey, document
from bruit.collector.results import SurveyResults, results
from bruit.collector.store import Opened, StoredTotals
from bruit.estimation import Tally
from bruit.survey import Survey

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


class _Kept:
    """A store with one survey and these tallies."""

    def __init__(self, opened: Opened, tallies: Mapping[tuple[int, int], Tally]) -> None:
        self._opened, self._tallies = opened, dict(tallies)

    def survey(self, name: str) -> Opened:
        return self._opened

    def tallies(self, *_: Any) -> dict[tuple[int, int], Tally]:
        return self._tallies

    def totals(self, name: str) -> StoredTotals:
        return StoredTotals(sum(tally.n for tally in self._tallies.values()), 0, 0)


def six(folder: Path, text: str = SIX, people: int = 900) -> SurveyResults:
    """Results that are the same every time: reports are simulated from a seed, half of the people in each grade."""
    path = folder / "school.toml"
    path.write_text(text, encoding="utf-8")
    survey = Survey.load(path)
    open_survey = OpenSurvey(Opened("school", survey.digest, document(path), False, False, bytes(32)))
    counts = {name: _shares(domain.size, people // open_survey.strata) for name, domain in survey.plan.schema.items()}
    tallies = {(stratum, 1): survey.plan.simulate(counts, rng=stratum) for stratum in range(open_survey.strata)}
    return results(_Kept(open_survey.opened, tallies), open_survey)


def _shares(size: int, people: int) -> list[int]:
    """So many people with each answer: the first one is the most frequent."""
    weights = range(size, 0, -1)
    counts = [people * weight // sum(weights) for weight in weights]
    return [counts[0] + people - sum(counts), *counts[1:]]
