"""One text per person, from no list: mechanisms that report it privately, and find or count texts afterwards."""

from bruit.open_answers.candidates import CandidateEstimate
from bruit.open_answers.frequent_answers import FrequentAnswers
from bruit.open_answers.hashed_response import HashedResponse
from bruit.open_answers.heavy_hitters import HeavyHitters
from bruit.open_answers.open_reports import OpenReports
from bruit.open_answers.rappor import RAPPOR

__all__ = ["RAPPOR", "CandidateEstimate", "FrequentAnswers", "HashedResponse", "HeavyHitters", "OpenReports"]
