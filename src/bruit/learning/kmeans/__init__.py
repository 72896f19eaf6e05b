"""k-means with differential privacy: the model, the cells it starts from, and the steps of Lloyd's algorithm."""

from bruit.learning.kmeans.model import KMeans

__all__ = ["KMeans"]
