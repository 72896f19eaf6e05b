"""Additive models with differential privacy: a curve or bars for each column, which add up to a prediction."""

from bruit.learning.additive.classifier import AdditiveClassifier
from bruit.learning.additive.explanation import Explanation, Shape
from bruit.learning.additive.logistic_regression import LogisticRegression
from bruit.learning.additive.regressor import AdditiveRegressor

__all__ = ["AdditiveClassifier", "AdditiveRegressor", "Explanation", "LogisticRegression", "Shape"]
