"""Centres by diffprivlib's k-means, and the time of each fit; runs in diffprivlib's own environment.

The job is JSON in the first argument: a file with X, bounds, the number of clusters, ε and how many
fits; the result is JSON on standard output.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
from diffprivlib.models import KMeans


def main() -> None:
    job = json.loads(sys.argv[1])
    X, bounds = np.load(job["file"]), (np.array(job["low"]), np.array(job["high"]))
    centres, seconds = [], []
    for seed in range(job["repetitions"]):
        model = KMeans(n_clusters=job["k"], epsilon=job["epsilon"], bounds=bounds, random_state=seed)
        start = time.perf_counter()
        model.fit(X)
        seconds.append(time.perf_counter() - start)
        centres.append(model.cluster_centers_.tolist())
    print(json.dumps({"centres": centres, "seconds": seconds}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
