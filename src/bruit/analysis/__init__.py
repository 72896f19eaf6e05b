"""What randomised answers have to do with what is known in clear."""

from bruit.analysis.compliance import (
    Compliance,
    SecondGroup,
    Sensitivity,
    compliance,
    second_group,
    second_plan,
    sensitivity,
)
from bruit.analysis.logistic import logistic
from bruit.analysis.predictors import Term
from bruit.analysis.regression import Regression, WaldTest
from bruit.analysis.table_logistic import table_logistic

__all__ = [
    "Compliance",
    "Regression",
    "SecondGroup",
    "Sensitivity",
    "Term",
    "WaldTest",
    "compliance",
    "logistic",
    "second_group",
    "second_plan",
    "sensitivity",
    "table_logistic",
]
