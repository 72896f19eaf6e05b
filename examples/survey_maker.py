# %% [markdown]
# # A survey maker asks embarrassing questions
# Nobody should have to trust you: each answer is randomised before it leaves the person, and you estimate what all
# of them said together. Plan first, rehearse, attack your own plan, and only then ask.

# %%
import os
import tempfile
from pathlib import Path

import bruit
from bruit import attacks, datasets, figures

# A seed makes this page repeatable; leave it out when real people answer.
SEED = 7
# Where the figure goes: the folder that EXAMPLES_FOLDER names, or a new one.
FOLDER = Path(os.environ.get("EXAMPLES_FOLDER") or tempfile.mkdtemp(prefix="bruit-"))

# %% [markdown]
# ## One question: how many people are needed, and which mechanism?
# Seven answers at ε = 1, and an answer that one person in ten gives should come out within 2 points.

# %%
needed = bruit.people_needed(k=7, epsilon=1.0, half_width=0.02, frequency=0.1)
for name, people in sorted(needed.items(), key=lambda item: item[1])[:4]:
    print(f"{name:5} {people:7,} people")
print(bruit.choose(k=7, epsilon=1.0, n=10_000))

# %% [markdown]
# ## Several questions: a plan
# One ε for the whole record of a person, not for each answer. Methods are compared before anybody is asked.

# %%
adult = datasets.load("adult")
columns = ["marital-status", "race", "sex", "income"]
schema = bruit.Schema({name: adult.schema[name].domain for name in columns})
print(bruit.compare(schema, epsilon=2.0, n=len(adult)))

plan = bruit.Plan(schema, epsilon=2.0, method="SMP[ADP]")
print(f"A person has   {plan.guarantee}")
print(f"An attribute   {plan.guarantees['attribute']}")

# %% [markdown]
# ## Rehearse with people who do not exist
# Supposed shares are enough to see how wide the intervals will be.

# %%
supposed = {"marital-status": [9000, 3000, 6000, 600, 600, 400, 400], "race": [17000, 1000, 500, 500, 1000]}
supposed |= {"sex": [10000, 10000], "income": [15000, 5000]}
rehearsal = plan.estimate(plan.simulate(supposed, rng=SEED))
low, high = rehearsal["income"].interval(0.95)[1]
print(f"Rehearsed with 20,000 people, “{schema['income'].labels[1]}”: {low:.1%} to {high:.1%} (supposed: 25.0%)")

# %% [markdown]
# ## Attack your own plan before launch
# How often would somebody be right who sees the reports, and how often without them?

# %%
for risk in attacks.risks(plan):
    print(f"{risk.attack}, {risk.attribute or 'whole record'}: {risk.rate:.1%}, blindly {risk.baseline:.1%}")

# %% [markdown]
# Fakes hide which question was answered truly, as long as they look like true answers. On real people they do not
# quite; the attack says how badly.

# %%
faking = bruit.Plan(schema, epsilon=2.0, method="RS+FD[GRR]")
table = {name: adult[name] for name in columns}
print(attacks.sampled_attribute(faking, table, rng=SEED))

# %% [markdown]
# ## Ask
# `privatize` runs on each person's side. Here the people of Adult stand in for those who answer, so that the truth is
# known and the intervals can be checked.

# %%
reports = plan.privatize(table, rng=SEED)
answers = plan.estimate(plan.tally(reports), target="people")
for name in columns:
    answer = answers[name]
    print(f"\n{name}")
    for label, share, (low, high) in zip(answer.labels, answer.frequency, answer.interval(0.95), strict=True):
        truth = (adult[name] == label).mean()
        print(f"  {label:22} {share:6.1%}  ({low:6.1%} to {high:6.1%})  truth {truth:6.1%}")

# %% [markdown]
# ## A figure to pass on

# %%
status = answers["marital-status"]
truth = [(adult["marital-status"] == label).mean() for label in status.labels]
figures.save(figures.plot_estimate(status, truth=truth), FOLDER / "marital-status")
print("\nFigure:", FOLDER / "marital-status.svg")

# %% [markdown]
# ## For real
# `plan.to_json()` is the document that both sides share; `bruit plan`, `bruit privatize` and `bruit estimate` do all
# of this with files. More: `docs/how-to/ask_several_questions.md`, `docs/how-to/estimate_the_risk.md`.
