"""What randomised answers have to do with what is known in clear."""

from bruit.analysis.logistic import logistic
from bruit.analysis.predictors import Term
from bruit.analysis.regression import Regression, WaldTest

__all__ = ["Regression", "Term", "WaldTest", "logistic"]
