"""Every experiment of the documents, run again, judged and shown.

A study is a value: a question, what is varied, one trial, and what the results say of each claim. `run` makes its
trials on all cores and goes on where an interrupted run stopped; ``bruit study report`` makes one page of all results.
How to add one: ``README.md`` in this folder.

>>> import bruit_studies
>>> [study.name for study in bruit_studies.all_studies()][:2]
['warner', 'krr']
"""

from bruit_studies.claim import (
    DOCUMENTS,
    REFERENCES,
    Claim,
    Verdict,
    confirmed,
    corrected,
    improved,
    not_judged,
    open_question,
    refuted,
    slip,
)
from bruit_studies.results import Curve, NoData, StudyResults, Summary
from bruit_studies.runner import read, run
from bruit_studies.study import Block, Plot, Skipped, Study

__all__ = [
    "DOCUMENTS",
    "REFERENCES",
    "Block",
    "Claim",
    "Curve",
    "NoData",
    "Plot",
    "Skipped",
    "Study",
    "StudyResults",
    "Summary",
    "Verdict",
    "all_studies",
    "confirmed",
    "corrected",
    "find",
    "improved",
    "not_judged",
    "open_question",
    "read",
    "refuted",
    "run",
    "slip",
]


def all_studies() -> tuple[Study, ...]:
    """Every study, in the order of the page."""
    # The modules are light: what a trial or a figure needs is imported inside it.
    from bruit_studies import (
        attack,
        attacker_knowledge,
        attributes_under_attack,
        central_or_local,
        countermeasure,
        deciles,
        few_people,
        inverse_sensitivity,
        krr,
        krr_learning,
        numeric_cleaning,
        rounds,
        several_attributes,
        variance,
        warner,
    )

    asking = (warner, krr, krr_learning, numeric_cleaning, variance)
    several = (several_attributes, few_people, attack, attacker_knowledge, countermeasure, attributes_under_attack)
    modules = (*asking, *several, rounds, deciles, inverse_sensitivity, central_or_local)
    return tuple(module.STUDY for module in modules)


def find(name: str) -> Study:
    """The study of this name.

    >>> find("krr").title
    'Marital status through generalised randomised response'
    """
    from bruit import _checks

    known = {study.name: study for study in all_studies()}
    return known[_checks.one_of(known, name=name)]
