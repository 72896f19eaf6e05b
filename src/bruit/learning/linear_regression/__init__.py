"""Linear regression with differential privacy: the model, its noisy products, and what it minimises."""

from bruit.learning.linear_regression.model import LinearRegression

__all__ = ["LinearRegression"]
