"""Whether a guarantee is true: exactly from the law, or as a lower bound from samples of any callable."""

from bruit.audit.empirical import EmpiricalAudit, empirical
from bruit.audit.exact import ExactAudit, Worst, exact
from bruit.audit.models import Transcript, transcript
from bruit.audit.plans import empirical_plan, exact_plan

__all__ = [
    "EmpiricalAudit",
    "ExactAudit",
    "Transcript",
    "Worst",
    "empirical",
    "empirical_plan",
    "exact",
    "exact_plan",
    "transcript",
]
