"""Whether a guarantee is true: exactly from the law, or as a lower bound from samples of any callable."""

from bruit.audit.empirical import EmpiricalAudit, empirical
from bruit.audit.exact import ExactAudit, Worst, exact
from bruit.audit.plans import empirical_plan, exact_plan

__all__ = ["EmpiricalAudit", "ExactAudit", "Worst", "empirical", "empirical_plan", "exact", "exact_plan"]
