# %% [markdown]
# # The student project, exercise by exercise
# J.-F. Couchot's project of 25 January 2022 asks to evaluate kRR (generalised randomised response) twice: by its
# estimator, and as what comes before machine learning. Here are all exercises with the 48,842 people of Adult. Every
# answer is randomised, one by one, as on the device of each person; forests have scikit-learn's own size.

# %%
import itertools
import os
from fractions import Fraction

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from bruit import datasets
from bruit.entropy import Entropy
from bruit.figures import style
from bruit.oracles import RandomizedResponse
from bruit_studies import drawing
from bruit_studies.results import StudyResults

# How often surveys and forests are repeated, and how many people there are; fewer make it quicker.
SURVEYS = int(os.environ.get("EXAMPLES_SURVEYS", "200"))
RUNS = int(os.environ.get("EXAMPLES_RUNS", "3"))
PEOPLE = int(os.environ.get("EXAMPLES_PEOPLE", "48842"))
EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
# A seed makes this page repeatable. For real people there is none: whoever knows the seed can take the noise away.
rng = Entropy(2022)

# %% [markdown]
# ## Exercise 2.1: the estimator is without bias, and its variance
# A person with value $v_i$ reports it with probability $\delta_1 = e^\varepsilon/(k-1+e^\varepsilon)$, and each other
# value with $\delta_0 = 1/(k-1+e^\varepsilon)$. So $r_i$ is a sum of $N$ independent coins: $f_i$ of them with
# $\delta_1$, $N - f_i$ with $\delta_0$.
#
# 1. $E[r_i] = f_i\delta_1 + (N-f_i)\delta_0 = f_i(\delta_1-\delta_0) + N\delta_0$. With
#    $\delta_1-\delta_0 = (e^\varepsilon-1)/(k-1+e^\varepsilon)$, equation (3) is
#    $\hat f_i = (r_i - N\delta_0)/(\delta_1-\delta_0)$, so $E[\hat f_i] = f_i$.
# 2. Variances of independent coins add: $Var[r_i] = f_i\delta_1(1-\delta_1) + (N-f_i)\delta_0(1-\delta_0)$, and
#    $\hat f_i$ is $r_i$ times $(k-1+e^\varepsilon)/(e^\varepsilon-1)$ minus a constant.
#
# Both can be checked without any chance, over all outcomes for a few people, in fractions (here $e^\varepsilon = 3$):


# %%
def exact_moments(values: tuple[int, ...], k: int, odds: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of the estimate of how many have value 0, over all outcomes."""
    true, other = Fraction(odds, k - 1 + odds), Fraction(1, k - 1 + odds)
    first = second = Fraction(0)
    for reports in itertools.product(range(k), repeat=len(values)):
        chance = Fraction(1)
        for value, report in zip(values, reports, strict=True):
            chance *= true if value == report else other
        estimate = Fraction(k - 1 + odds, odds - 1) * reports.count(0) - Fraction(len(values), odds - 1)
        first, second = first + chance * estimate, second + chance * estimate**2
    return first, second - first**2


group, k, odds = (0, 0, 1, 2, 2), 3, 3
mean, variance = exact_moments(group, k, odds)
d1, d0 = Fraction(odds, k - 1 + odds), Fraction(1, k - 1 + odds)
formula = Fraction(k - 1 + odds, odds - 1) ** 2 * (2 * d1 * (1 - d1) + 3 * d0 * (1 - d0))
print(f"2 of 5 have the value; the mean of the estimate is {mean}, its variance {variance}, by equation (5) {formula}")
print("Equal:", mean == 2 and variance == formula)

# %% [markdown]
# ## Exercise 2.2: implement it, and verify it
# ### 1. The true frequencies

# %%
adult = datasets.load("adult")
chosen = np.sort(rng.generator().permutation(len(adult))[:PEOPLE])
status = adult["marital-status"][chosen]
labels = adult.schema["marital-status"].labels
truth = np.array([(status == label).sum() for label in labels])
for label, count in zip(labels, truth, strict=True):
    print(f"{label:24}{count:8,}{count / PEOPLE:9.2%}")

# %% [markdown]
# ### 2. The mechanism and the estimator
# By hand it is a few lines. (With floats as here it is for study: bruit's own draws from whole numbers, and states the
# ε of what it draws.)


# %%
def krr(codes: np.ndarray, k: int, epsilon: float, draw: np.random.Generator) -> np.ndarray:
    """Each code kept with probability e^ε/(k − 1 + e^ε), or one of the others at random."""
    kept = draw.random(codes.size) < np.exp(epsilon) / (k - 1 + np.exp(epsilon))
    others = (codes + draw.integers(1, k, codes.size)) % k
    return np.where(kept, codes, others)


def estimate(reports: np.ndarray, k: int, epsilon: float) -> np.ndarray:
    """Equation (3), for every value."""
    counts = np.bincount(reports, minlength=k)
    return (k - 1 + np.exp(epsilon)) / (np.exp(epsilon) - 1) * counts - reports.size / (np.exp(epsilon) - 1)


codes = adult.schema["marital-status"].encode(status).astype(int)
by_hand = estimate(krr(codes, len(labels), 1.0, rng.generator()), len(labels), 1.0)

# %% [markdown]
# ### 3. and 4. Every answer through the mechanism at ε = 1, and back

# %%
oracle = RandomizedResponse(epsilon=1.0, labels=labels)
reports = oracle.privatize(status, rng=rng)
answer = oracle.estimate(oracle.tally(reports), "people")
low, high = answer.interval(0.95).T
print(f"{(reports == codes).mean():.1%} of the reports are true. {oracle.guarantee}")
print(f"{'':24}{'true':>8}{'by hand':>10}{'bruit':>10}   95 % interval")
for place, label in enumerate(labels):
    ends = f"{low[place] * PEOPLE:8,.0f} to {high[place] * PEOPLE:,.0f}"
    print(f"{label:24}{truth[place]:8,}{by_hand[place]:10,.0f}{answer.frequency[place] * PEOPLE:10,.0f}   {ends}")

# %% [markdown]
# Common values are found again to a few per cent. For the rarest the error is larger than the value: the error is of
# the order of √N for every value, whatever its frequency.

# %% [markdown]
# ## Exercise 2.3: its dispersion
# The survey again and again, every answer randomised each time.

# %%
surveys = np.array([oracle.estimate(oracle.tally(oracle.privatize(status, rng=rng))).frequency for _ in range(SURVEYS)])
observed, expected = surveys.std(axis=0, ddof=1), np.sqrt(oracle.variance(truth / PEOPLE, PEOPLE, "people"))
print(f"{'':24}{'bias':>9}{'deviation':>11}{'equation (5)':>14}   ({SURVEYS} surveys, in people)")
for place, label in enumerate(labels):
    bias = surveys[:, place].mean() * PEOPLE - truth[place]
    print(f"{label:24}{bias:9,.0f}{observed[place] * PEOPLE:11,.0f}{expected[place] * PEOPLE:14,.0f}")

# %%
with style.applied():
    ax = drawing.axes(f"{SURVEYS} surveys at ε = 1", x="error of the estimate (people)", y="marital status", height=3.6)
    errors = surveys * PEOPLE - truth
    for place, ends in enumerate(np.quantile(errors, (0.05, 0.25, 0.5, 0.75, 0.95), axis=0).T):
        ax.plot(ends[[0, 4]], [place, place], color=drawing.colour(0), linewidth=1.5)
        ax.plot(ends[[1, 3]], [place, place], color=drawing.colour(0), linewidth=7, alpha=0.5)
        ax.plot(ends[2], place, "o", color=drawing.colour(1))
    ax.axvline(0, color=style.MUTED, linewidth=1)
    ax.set_yticks(range(len(labels)), labels)
    text = "Median, middle half and middle nine tenths of the errors of each estimate: around 0, alike for all values."
    figure = style.whole(drawing.describe(ax, text))
figure  # noqa: B018 - the last line of a cell is shown

# %% [markdown]
# ## Exercise 3.1: attributes, and a baseline
# Seven discrete attributes; who is in which part is drawn before anything else. A missing answer is a category.

# %%
FEATURES = ["workclass", "education", "occupation", "relationship", "race", "sex", "native-country"]
sizes = {name: adult.schema[name].size for name in FEATURES}
X = np.column_stack([adult.schema[name].encode(adult[name][chosen]).astype(int) for name in FEATURES])
y = codes
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)


def forest(X: np.ndarray, y: np.ndarray, seed: int = 0) -> RandomForestClassifier:
    """scikit-learn's own settings: 100 trees, grown to the end."""
    return RandomForestClassifier(random_state=seed).fit(X, y)


baseline = (forest(X_train, y_train).predict(X_test) == y_test).mean()
majority = (y_test == np.bincount(y_train).argmax()).mean()
print(f"{len(y_train):,} people to learn from, {len(y_test):,} to test with.")
print(f"The forest is right for {baseline:.1%}; always the most frequent status, for {majority:.1%}.")

# %% [markdown]
# ## Exercise 3.2: learning from noisy data
# ### 1. Why so
# What is to be judged is a model in use: people send reports, and the model has nothing else. So (a) everything that
# reaches it is randomised: features and label of those it learns from, features of those it answers; (b) it learns
# from the reports; (c) it answers about reports; (d) whether it is right is said of the truth. The proof, with what is
# measured where a step is left out, is in `src/bruit_studies/krr_learning.proof.md`; one part in short: against
# *randomised* test labels a model with accuracy $a$ gets $\delta_0 + (\delta_1-\delta_0)a$, which is another number.
#
# ### 2. A precision


# %%
def randomised(X: np.ndarray, y: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Every answer of every person through kRR, ε for each."""
    oracles = [RandomizedResponse(epsilon=epsilon, k=k) for k in (*sizes.values(), len(labels))]
    *columns, noisy = [oracle.privatize(column, rng=rng) for oracle, column in zip(oracles, (*X.T, y), strict=True)]
    return np.column_stack(columns), noisy


def precision(epsilon: float, seed: int) -> dict[str, float]:
    """Steps (a) to (d) for a new split; beside it what one gets with true features, or noisy labels, in the test."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
    Xp_train, yp_train = randomised(X_train, y_train, epsilon)
    Xp_test, yp_test = randomised(X_test, y_test, epsilon)
    model = forest(Xp_train, yp_train, seed)
    guesses = model.predict(Xp_test)
    return {
        "precision": (guesses == y_test).mean(),
        "true features": (model.predict(X_test) == y_test).mean(),
        "noisy labels": (guesses == yp_test).mean(),
    }


for name, share in precision(1.0, 0).items():
    print(f"{name:16}{share:8.1%}")
total = 8 * RandomizedResponse(epsilon=1.0, k=7).guarantee.epsilon
print(f"A person of the training part tells 8 answers at ε = 1 each: {total:.2f} in all.")

# %% [markdown]
# ## Exercise 3.3: repeated, for several ε

# %%
rows = [{"epsilon": epsilon, **precision(epsilon, seed)} for epsilon in EPSILONS for seed in range(RUNS)]
results = StudyResults("project", {name: [row[name] for row in rows] for name in rows[0]})
curves = {name: results.curve(name, "epsilon").times(100) for name in ("precision", "true features", "noisy labels")}
print(f"{'ε of an answer':16}{'mean':>9}{'deviation':>11}   ({RUNS} runs each)")
shown = curves["precision"]
for epsilon, mean, deviation in zip(shown.x, shown.mean, shown.sd, strict=True):
    print(f"{epsilon:<16g}{mean:8.1f}%{deviation:11.2f}")

# %%
with style.applied():
    ax = drawing.axes("Learning from randomised answers", x="ε of each answer (log scale)", y="precision (%)", log="x",
                      width=6.4, height=4.0)  # fmt: skip
    drawing.spreads(ax, curves)
    drawing.reference(ax, 100 * baseline, "without noise", left=True)
    drawing.reference(ax, 100 * majority, "most frequent status", left=True)
    figure = style.whole(drawing.finish(ax, "Precision against ε, with a band of one deviation.", x=EPSILONS))
figure  # noqa: B018 - the last line of a cell is shown

# %% [markdown]
# While ε is small the forest does worse than always saying the most frequent status: it learns the noise by heart.
# Trees with many people in a leaf do better ([judged](../docs/reference/claims.md) as `krr-learning-forest`), and
# `bruit.learning.LocalNaiveBayes` takes the noise out. At ε = 10 an answer is hardly randomised at all, and eight of
# them tell all there is about a person.
