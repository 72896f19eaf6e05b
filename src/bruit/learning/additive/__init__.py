"""Additive models with differential privacy: a curve or bars for each column, which add up to a prediction."""

from bruit.learning.additive.classifier import AdditiveClassifier

__all__ = ["AdditiveClassifier"]
