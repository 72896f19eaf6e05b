"""A random forest that learns marital status from seven attributes of Adult, all randomised by kRR (GRR)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit.tables import Table
from bruit_studies import drawing
from bruit_studies.claim import Claim, Verdict, confirmed, improved, refuted
from bruit_studies.results import Curve, StudyResults, Summary, summarise
from bruit_studies.study import Block, Plot, Study

if TYPE_CHECKING:
    from bruit.learning import LocalPrivatizer

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
FEATURES = ("workclass", "education", "occupation", "relationship", "race", "sex", "native-country")
LABEL = "marital-status"
#: The least number of training people in a leaf: scikit-learn's own, and one that averages noise.
GROWN, COARSE = 1, 50
#: Standard errors that a difference must exceed.
SURE = 4.0
_PROJECT = "student project"


class _People(NamedTuple):
    """The table as codes, and how many values each attribute has."""

    features: dict[str, NDArray[np.int64]]
    label: NDArray[np.int64]
    sizes: dict[str, int]


@cache
def _people() -> _People:
    from bruit import datasets

    data = datasets.load("adult")
    codes = {name: data.schema[name].encode(data[name]).astype(np.int64) for name in (*FEATURES, LABEL)}
    sizes = {name: len(data.schema[name].labels) for name in codes}
    return _People({name: codes[name] for name in FEATURES}, codes[LABEL], sizes)


@cache
def _label_law(epsilon: float) -> tuple[float, float, float]:
    """For the label: p, q, and how often the best guess from its report alone is right, frequencies being known."""
    from bruit.oracles import RandomizedResponse

    counts = np.bincount(_people().label)
    channel = np.array(RandomizedResponse(epsilon=epsilon, k=counts.size).matrix(), float)
    guess = float((counts[:, None] / counts.sum() * channel).max(axis=0).sum())
    return float(channel[0, 0]), float(channel[0, 1]), guess


def _noisy(results: StudyResults, leaf: int = GROWN) -> StudyResults:
    return results.where(part="noise", leaf=leaf)


@cache
def _privatizer(epsilon: float) -> LocalPrivatizer:
    """How features are randomised: by kRR at ε for each of the seven."""
    from bruit.learning import LocalPrivatizer

    bounds = {name: list(range(_people().sizes[name])) for name in FEATURES}
    return LocalPrivatizer(epsilon=epsilon, bounds=bounds, method="SPL[GRR]", unit="attribute")


def trial(*, part: str, n: int, trees: int, leaf: int, rng: Entropy, epsilon: float = 0.0) -> dict[str, float]:
    """One sample of people, one split, one forest; its accuracy as the project measures it, and in two other ways.

    Measured against true labels on randomised features (`accuracy`, the project's), on true features (`clean_test`),
    and against randomised labels (`noisy_labels`). `majority` always answers with the most frequent true label.
    """
    from bruit.learning import honest_split, randomize_labels  # first: it tells what to install

    people = _people()
    rows = rng.generator().choice(people.label.size, n, replace=False)
    X = {name: codes[rows] for name, codes in people.features.items()}
    y = people.label[rows]
    state, seed = (int(number) for number in rng.integers(2**31, 2))
    train, test = _split(n, state)
    clean = np.column_stack(list(X.values()))
    common = {"majority": float(np.mean(y[test] == np.bincount(y[train]).argmax()))}
    if part == "baseline":
        (accuracy,) = _forest(clean[train], y[train], [(clean[test], y[test])], trees=trees, leaf=leaf, seed=seed)
        return common | {"accuracy": accuracy}
    classes = list(range(people.sizes[LABEL]))
    split = honest_split(X, y, _privatizer(epsilon), classes=classes, epsilon=epsilon, random_state=state, rng=rng)
    labels = randomize_labels(split.y_test, epsilon=epsilon, classes=classes, rng=rng)
    tests = [(split.X_test, split.y_test), (clean[test], split.y_test), (split.X_test, labels)]
    accuracies = _forest(split.X_train, split.y_train, tests, trees=trees, leaf=leaf, seed=seed)
    scores = dict(zip(("accuracy", "clean_test", "noisy_labels"), accuracies, strict=True))
    totals = {"train_epsilon": split.train_guarantee.epsilon, "test_epsilon": split.test_guarantee.epsilon}
    return common | scores | totals


def _split(n: int, state: int) -> tuple[Any, Any]:
    """The same people in both parts as in `honest_split`."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(n), test_size=0.2, random_state=state)
    return train, test


def _forest(X: Any, y: Any, tests: list[tuple[Any, Any]], *, trees: int, leaf: int, seed: int) -> list[float]:
    """Accuracy on each test. Codes are given as they are, as after scikit-learn's LabelEncoder."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(trees, min_samples_leaf=leaf, random_state=seed).fit(X, y)
    return [float(np.mean(model.predict(features) == labels)) for features, labels in tests]


def _paired(rows: StudyResults, metric: str, other: str) -> Summary:
    """The difference of two scores of the same forest."""
    return summarise(rows[metric] - rows[other])


def _test_features(results: StudyResults) -> Verdict:
    rows = results.where(part="noise")
    gains = {key: _paired(part, "clean_test", "accuracy") for key, part in rows.by("leaf", "epsilon")}
    worst = max((key for key in gains if gains[key].sure(SURE)), key=lambda key: abs(gains[key].mean), default=None)
    if worst is None:
        gap = max(abs(gain.mean) for gain in gains.values())
        return refuted(f"On true test features accuracy differs nowhere for sure ({gap * 100:.1f} points).", worst=gap)
    (leaf, epsilon), top = worst, gains[worst]
    score = rows.where(leaf=leaf, epsilon=epsilon).mean("accuracy")
    sure = ", ".join(f"{epsilon:g}" for epsilon in sorted({key[1] for key in gains if gains[key].sure(SURE)}))
    return confirmed(
        f"Tested on true features, the same forests (leaves of {leaf:.0f} people or more) have "
        f"{top.points()} points at ε = {epsilon:g} over the {score:.3f} "
        f"that users who send reports get; the difference is beyond {SURE:g} standard errors at ε = {sure}. "
        "(A model that runs on the person's own device does see true features: then those are the right test.)",
        worst=top.mean,
        epsilon=epsilon,
    )


def _test_labels(results: StudyResults) -> Verdict:
    """A randomised label agrees with a prediction with probability q + a(p − q): judged on all ε."""
    gaps, lost, scores = [], {}, {}
    for epsilon, rows in _noisy(results).by("epsilon"):
        p, q, _ = _label_law(epsilon)
        gap = summarise(rows["noisy_labels"] - (q + rows["accuracy"] * (p - q)))
        gaps.append(abs(gap.mean) / max(gap.error, 1e-9))
        lost[epsilon] = _paired(rows, "noisy_labels", "accuracy")
        scores[epsilon] = rows.mean("noisy_labels"), rows.mean("accuracy"), (rows.mean("noisy_labels") - q) / (p - q)
    worst = max(lost, key=lambda epsilon: abs(lost[epsilon].mean))
    shown, true, mended = scores[worst]
    evidence = f"at ε = {worst:g} the accuracy against randomised labels is {shown:.3f} instead of {true:.3f}"
    if not lost[worst].sure(SURE):
        return refuted(f"Nothing is lost: {evidence}.", lost=lost[worst].mean)
    if max(gaps) > 4.5:
        return confirmed(f"Yes: {evidence}, and no formula gives it back.", lost=lost[worst].mean)
    return improved(
        f"Yes: {evidence}. If only randomised labels are at hand, there is a way still: since it is "
        f"q + a(p − q) on average, (score − q)/(p − q) = {mended:.3f} estimates a without bias "
        f"(largest gap {max(gaps):.1f} standard errors).",
        lost=lost[worst].mean,
        mended=mended,
        gap=max(gaps),
    )


def _protects(results: StudyResults) -> Verdict:
    guesses = [_label_law(epsilon)[2] for epsilon in EPSILONS]
    kept = [_label_law(epsilon)[0] for epsilon in EPSILONS]
    curve = _noisy(results).curve("accuracy", "epsilon")
    falls = bool(np.any(np.diff(curve.mean) < -SURE * np.hypot(curve.error[1:], curve.error[:-1])))
    if np.any(np.diff(guesses) < -1e-12) or np.any(np.diff(kept) <= 0) or falls:
        return refuted("A smaller ε does not always add noise, protect more or cost accuracy.")
    return confirmed(
        f"A label is kept with probability {kept[0]:.3f} at ε = 0.01, {kept[4]:.3f} at 1 and {kept[-1]:.3f} at 10; the "
        f"best guess of it from its report is right with probability {guesses[0]:.3f} (what frequencies alone give), "
        f"{guesses[4]:.3f} and {guesses[-1]:.3f}, exactly; the forest's accuracy goes from {curve.mean[0]:.3f} to "
        f"{curve.mean[-1]:.3f}.",
        kept=kept[0],
        guess=guesses[-1],
    )


def _coarse(results: StudyResults) -> Verdict:
    """Whether scikit-learn's own leaves are the forest to judge kRR by."""
    gains = {}
    for epsilon, rows in _noisy(results, COARSE).by("epsilon"):
        large, single = rows.summary("accuracy"), _noisy(results).where(epsilon=epsilon).summary("accuracy")
        error = float(np.hypot(large.error, single.error))
        gains[epsilon] = (large.mean - single.mean, error, large.mean, single.mean)
    best = max(gains, key=lambda epsilon: gains[epsilon][0])
    gain, error, coarse, grown = gains[best]
    if gain <= SURE * error:
        return confirmed(
            f"Leaves of {COARSE} people gain nothing anywhere (at most {gain * 100:.1f} points).", gain=gain
        )
    return improved(
        f"It does, of mechanism and forest together: at ε = {best:g} such reports give {coarse:.3f} with at least "
        f"{COARSE} people in a leaf and {grown:.3f} with scikit-learn's single ones, which learn the noise "
        f"({gain * 100:+.1f} ± {error * 100:.1f} points).",
        gain=gain,
        coarse=coarse,
    )


def _percent(rows: StudyResults, metric: str) -> Curve:
    return rows.curve(metric, "epsilon").times(100)


def _three(values: Any) -> str:
    """Shares at ε = 0.01, 1 and 10."""
    return f"{values[0]:.0f} % at ε = 0.01, {values[4]:.0f} % at 1, {values[-1]:.0f} % at 10"


def _draw_accuracy(results: StudyResults) -> Any:
    ax = drawing.axes(
        f"Forest on randomised attributes, n = {_noisy(results).mean('n'):,.0f}",
        x="ε for each attribute (log scale)",
        y="accuracy (%)",
        log="x",
        width=6.4,
        height=4.3,
    )
    lines = (
        ("accuracy", GROWN, "project's way"),
        ("clean_test", GROWN, "true test features"),
        ("noisy_labels", GROWN, "noisy test labels"),
        ("accuracy", COARSE, f"{COARSE} in a leaf"),
        ("clean_test", COARSE, f"{COARSE}, true features"),
    )
    notes = []
    for place, (metric, leaf, name) in enumerate(lines):
        curve = _percent(_noisy(results, leaf), metric)
        drawing.curve(ax, curve, name, place, dashes=drawing.DASHES[int(metric != "accuracy")])
        notes.append(f"{name} {_three(curve.mean)}")
    clean = results.where(part="baseline", leaf=GROWN).mean("accuracy") * 100
    majority = _noisy(results).mean("majority") * 100
    ax.set_ylim(8, max(clean, majority) + 8)
    drawing.reference(ax, clean, "without noise", left=True)
    drawing.reference(ax, majority, "majority class", left=True)
    text = f"Accuracy of predicting marital status against ε. Without noise {clean:.0f} %, majority {majority:.0f} %."
    return drawing.finish(ax, f"{text} {'; '.join(notes)}.", x=EPSILONS)


def _draw_risk(results: StudyResults) -> Any:
    ax = drawing.axes(
        f"What is learnt and given away, n = {_noisy(results).mean('n'):,.0f}",
        x="ε for each attribute (log scale)",
        y="marital status known (%)",
        log="x",
        width=6.4,
    )
    guesses = np.array([_label_law(epsilon)[2] for epsilon in EPSILONS]) * 100
    curve = _percent(_noisy(results), "accuracy")
    drawing.curve(ax, curve, "by the forest", 0)
    drawing.line(ax, np.array(EPSILONS), guesses, "from own report", 1, mark=drawing.MARKS[1], dashes=drawing.DASHES[1])
    drawing.reference(ax, _noisy(results).mean("majority") * 100, "majority class", left=True, below=True)
    text = (
        "Share of people whose marital status is known, against ε. By the forest from seven other reports: "
        f"{_three(curve.mean)}. By the best guess from the person's own report of it: {_three(guesses)}."
    )
    return drawing.finish(ax, text, x=EPSILONS)


def _table(results: StudyResults) -> Table:
    lines = []
    for epsilon, rows in _noisy(results).by("epsilon"):
        scores = [rows.summary(metric) for metric in ("accuracy", "clean_test", "noisy_labels")]
        scores.append(_noisy(results, COARSE).where(epsilon=epsilon).summary("accuracy"))
        total = f"{rows.mean('train_epsilon'):.3g}"
        lines.append((f"{epsilon:g}", total, *(score.text(scale=100) for score in scores)))
    grown, coarse = (results.where(part="baseline", leaf=leaf).summary("accuracy") for leaf in (GROWN, COARSE))
    lines.append(("no noise", "", *[grown.text(scale=100)] * 3, coarse.text(scale=100)))
    head = ("ε, attribute", "ε, person", "project's way", "true test features", "noisy test labels",
            f"{COARSE} in a leaf")  # fmt: skip
    return Table.of("Accuracy of the random forest in percent, ± dispersion of a run", head, lines)


def _blocks(n: int, trees: int, repetitions: int) -> list[Block]:
    size: dict[str, list[Any]] = {"n": [n], "trees": [trees], "leaf": [GROWN, COARSE]}
    return [
        Block({"part": ["baseline"], **size}, repetitions),
        Block({"part": ["noise"], **size, "epsilon": list(EPSILONS)}, repetitions),
    ]


STUDY = Study(
    name="krr-learning",
    title="Learning marital status from randomised attributes",
    question="What does a random forest learn from Adult after kRR on every attribute, and how is that measured?",
    method=(
        "People of Adult (quick: 16,000 drawn anew in each run; full: all) are split 80/20; the seven attributes "
        "of both parts and the training labels go through kRR at ε each, so that a training person spends 8ε. A random "
        "forest is fitted and compared with true test labels, as the project says. The same forest is also tested on "
        "true features, and against randomised labels; forests without noise and the majority class are the baselines."
    ),
    trial=trial,
    quick=_blocks(16_000, 15, 25),
    full=_blocks(48_842, 100, 30),
    claims=[
        Claim("krr-learning-test-features", "To evaluate kRR, the features of the test must be randomised like those "
              "of the training.", _PROJECT, "§3, exercise 3.2, question 1, (a) and (c)", _test_features),
        Claim("krr-learning-test-labels", "Predictions must be compared with test labels that were not modified.",
              _PROJECT, "§3, exercise 3.2, question 1, (d)", _test_labels),
        Claim("krr-learning-forest", "Predictions with and without kRR, by a random forest, evaluate the quality of "
              "the mechanism.", _PROJECT, "§1, “L'objectif de ce projet”, and §3, exercise 3.2, question 2", _coarse),
        Claim("krr-learning-protection", "The smaller ε is, the more noise is added, the better privacy is protected, "
              "and conversely.", _PROJECT, "§1, paragraph after equation (2), last sentence", _protects),
    ],
    plots=[
        Plot("accuracy", "Mean accuracy with its 95 % band, measured as the project says and in two other ways; dashes "
             "show the baselines.", _draw_accuracy),
        Plot("risk", "How often marital status is predicted from the reports of seven other attributes, and how often "
             "the best guess from a person's own report of it is right (exact law).", _draw_risk),
    ],
    table=_table,
)  # fmt: skip
