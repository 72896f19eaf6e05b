# %% [markdown]
# # A student compares mechanisms
# Formulas say how large the error of a mechanism is. Do they hold? And does a mechanism that states ε really have it?

# %%
import os
import tempfile
from pathlib import Path

import numpy as np

import bruit
import bruit_studies
from bruit import audit
from bruit.numbers import BoundedLaplace, Staircase
from bruit.oracles import Oracle

# Where results go: the folder that EXAMPLES_FOLDER names, or a new one.
FOLDER = Path(os.environ.get("EXAMPLES_FOLDER") or tempfile.mkdtemp(prefix="bruit-"))

# %% [markdown]
# ## GRR, OUE and OLH: observed error against theory
# 10,000 people, k values of falling frequency, 200 surveys each. `simulate` draws a tally with the law of
# `privatize` and `tally`, without drawing people. The last column should be near 1; 200 surveys tell it to within
# about a tenth.

# %%
SURVEYS, PEOPLE = 200, 10_000


def observed(oracle: Oracle, counts: np.ndarray) -> float:
    """The mean squared error over all values and surveys."""
    estimates = [oracle.estimate(oracle.simulate(counts, rng=seed)).frequency for seed in range(SURVEYS)]
    return float(np.mean((np.array(estimates) - counts / PEOPLE) ** 2))


print("  k  oracle   observed error   by formula   ratio")
for k in (4, 64):
    counts = np.diff(np.round(np.linspace(0, 1, k + 1) ** 2 * PEOPLE)).astype(int)
    for name in ("GRR", "OUE", "OLH"):
        oracle = bruit.oracle(name, epsilon=1.0, k=k)
        seen = observed(oracle, counts)
        formula = float(np.mean(oracle.variance(counts / PEOPLE, PEOPLE, "people")))
        print(f"{k:3}  {name:6} {seen:16.6f} {formula:12.6f} {seen / formula:7.2f}")

# %% [markdown]
# With 4 values GRR is best; with 64 its error has grown and those of OUE and OLH have not. GRR wins where
# k < 3e^ε + 2, about 10 values here.

# %% [markdown]
# ## Staircase noise that is drawn again until it fits
# A common recipe for numbers within bounds: add noise, and draw again until the sum is inside. With Laplace noise
# scaled to the whole width the stated ε is kept. With staircase noise it is not: drawing again divides by what lies
# inside, which depends on the number that should stay secret. The true ε follows from the exact law.

# %%
print("stated ε   true ε, Laplace   true ε, staircase")
for epsilon in (0.5, 1.0, 2.0):
    laplace, staircase = BoundedLaplace.as_printed(epsilon), Staircase.as_printed(epsilon)
    print(f"{epsilon:8g} {laplace.guarantee.epsilon:17.3f} {staircase.guarantee.epsilon:19.3f}")

# %% [markdown]
# Somebody who sees reports only can find out too. The bound from outside must not pass ε = 1.

# %%
for name, mechanism in {
    "as printed": Staircase.as_printed(1.0, cells=65),
    "calibrated": Staircase(epsilon=1.0, bounds=(0.0, 1.0)),
}.items():
    audited = audit.empirical(mechanism, 0.0, 0.62, trials=200_000, rng=7)
    verdict = "1 is kept" if audited.epsilon_lower <= 1 else "1 is NOT kept"
    print(f"staircase {name}: ε is at least {audited.epsilon_lower:.3f}; {verdict}")

# %% [markdown]
# ## A study: the claims of a course, judged
# The same as `bruit study run warner`, at the quick size; `size="full"` makes ten times as many surveys.

# %%
study = bruit_studies.find("warner")
results = bruit_studies.run(study, size="quick", folder=FOLDER, workers=0)  # 0: in this process
print(f"{study.question} {results.trials:,} trials:")
for claim in study.claims:
    verdict = claim.verdict(results)
    print(f"- {verdict.kind}: {claim.statement}\n  {verdict.sentence}")

# %% [markdown]
# ## More
# `bruit study run --all` and `bruit study report` make one page of every study; `docs/how-to/run_the_studies.md`
# shows how to write one of your own.
