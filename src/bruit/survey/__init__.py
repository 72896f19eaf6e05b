"""Surveys that people answer in their own browser: the file, the page, the form of a report, and paper."""

from bruit.pages.policy import security_policy
from bruit.survey.body import Memo, Report
from bruit.survey.check import Check, QuestionProspect
from bruit.survey.codes import CodeForm, CodeReading, CodeSlot, CodeState
from bruit.survey.personal_link import PersonalLink
from bruit.survey.question import Question
from bruit.survey.survey import Survey

__all__ = [
    "Check",
    "CodeForm",
    "CodeReading",
    "CodeSlot",
    "CodeState",
    "Memo",
    "PersonalLink",
    "Question",
    "QuestionProspect",
    "Report",
    "Survey",
    "security_policy",
]
