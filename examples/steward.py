# %% [markdown]
# # A data steward publishes
# You hold records about people, are trusted with them, and publish figures. Every figure costs some privacy; a
# *ledger* keeps the account, and says no when the budget is spent. The table is Adult: 48,842 people of a census.

# %%
import bruit
from bruit import datasets, releases
from bruit.errors import BudgetError
from bruit.learning import NaiveBayes

# A seed makes this page repeatable. For real people leave it out: whoever knows the seed can take the noise away.
SEED = 7

adult = datasets.load("adult")
people = adult.to_frame("pandas")  # or polars, or the path of a file larger than memory
budget = bruit.Ledger(epsilon=1.0)
print(f"{adult.title}\nBudget: ε = {budget.remaining.epsilon:g}")

# %% [markdown]
# ## Counts by group
# Groups, values and bounds are declared, not read from the data: that a value occurs would itself be a disclosure.
# A person is in one group, so counting all groups costs what counting one costs.

# %%
by_sex = releases.release(people, releases.Count(epsilon=0.1), by={"sex": ["Female", "Male"]}, ledger=budget, rng=SEED)
print(by_sex)

# %% [markdown]
# ## A mean and nine deciles
# The error of the mean is known beforehand; it decides how much ε the mean is worth.

# %%
expected = releases.Mean(bounds=(17, 90), epsilon=0.1).expected_error(n=50_000)
print(f"Error of the mean age to expect at ε = 0.1: {expected:.3f} years")

age = releases.release(people, releases.Mean("age", bounds=(17, 90), epsilon=0.1), ledger=budget, rng=SEED)
low, high = age.interval(0.95)
print(f"Mean age: {age.value:.2f} years ({low:.2f} to {high:.2f})")

# %%
hours = releases.release(
    people,
    releases.Quantiles(
        "hours-per-week", bounds=bruit.Grid(1, 99), epsilon=0.2, quantiles=[i / 10 for i in range(1, 10)]
    ),
    ledger=budget,
    rng=SEED,
)
print("Deciles of hours per week:", *(f"{value:g}" for value in hours.values))

# %% [markdown]
# ## What is left

# %%
print(f"Spent: ε = {budget.spent.epsilon:g}; left: ε = {budget.remaining.epsilon:g}")

# %% [markdown]
# ## A model, in the same account
# Naive Bayes learns from noisy counts and sums, so the fitted model may be published. Who earns more than 50K?

# %%
features = ["age", "education-num", "hours-per-week", "sex"]
schema = bruit.Schema({name: adult.schema[name].domain for name in features})
model = NaiveBayes(epsilon=0.4, bounds=schema, classes=["<=50K", ">50K"], ledger=budget, random_state=SEED)
train, test = adult.train.to_frame("pandas"), adult.test.to_frame("pandas")
model.fit(train[[*features, "income"]], "income")

# For your eyes: a score of real records is not noised, so it is not to be published.
right = (model.predict(test[features]) == test["income"]).mean()
always = (test["income"] == "<=50K").mean()
print(f"The model is right for {right:.1%} of the test records; always saying “<=50K” for {always:.1%}")
print(f"Its guarantee: {model.guarantee_}")

# %% [markdown]
# ## The budget is a promise
# 0.2 is left. What needs more is refused before any noise is drawn, and nothing is spent.

# %%
try:
    releases.release(people, releases.Variance("age", bounds=(17, 90), epsilon=0.5), ledger=budget, rng=SEED)
except BudgetError as refusal:
    print(f"Refused. {refusal}")
print(f"Left: ε = {budget.remaining.epsilon:g}")

# %% [markdown]
# ## For real
# `bruit.Ledger.open("budget.jsonl", epsilon=1.0)` keeps the account in a file that outlives the program, and
# `bruit release` does all of this from the shell. More: `docs/how-to/publish_a_statistic.md`, `docs/how-
# to/keep_a_budget.md`, `docs/tutorials/train_a_model.md`.
