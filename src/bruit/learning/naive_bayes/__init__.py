"""Naive Bayes with differential privacy: the model, its declared classes, their noisy sums, and the laws from these."""

from bruit.learning.naive_bayes.model import NaiveBayes

__all__ = ["NaiveBayes"]
