"""The honest way to measure a model that learns from randomised data, and randomised labels.

A model that is used will be trained on reports and asked about reports: features are randomised in training and in
use, and so are the labels it learns from. What it is compared with is the truth. So the labels of the test are kept,
and everything else is randomised, once per person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from bruit import documents
from bruit.collection import Plan
from bruit.domains import Schema
from bruit.domains.codes import Codes
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataError, ParameterTypeError
from bruit.learning.privatizer import LocalPrivatizer, _digest, _usual, check_plan, feature_columns
from bruit.privacy.booking import Charge, booked
from bruit.privacy.guarantee import Guarantee
from bruit.rounding import log_ceiling
from bruit.typing import ColumnLike, SourceLike


class HonestSplit(NamedTuple):
    """Randomised tables to learn from and to predict on, and the true labels to compare with.

    Attributes
    ----------
    X_train, X_test, y_train
        Reports.
    y_test
        The true labels. They stay with those who measure: no guarantee covers them, nor a score computed from them.
    train_guarantee
        What is promised to a person of the training part: features and label together, exactly.
    test_guarantee
        What is promised to a person of the test part, for the features.
    simulated
        Whether the noise came from a seed.
    """

    X_train: Any
    X_test: Any
    y_train: Any
    y_test: Any
    train_guarantee: Guarantee
    test_guarantee: Guarantee
    simulated: bool

    def __repr__(self) -> str:
        # The true labels of the test are people's values, and no repr shows one.
        sizes = f"train {len(self.y_train)}, test {len(self.y_test)}"
        return f"HonestSplit({sizes}, train_guarantee={self.train_guarantee}, test_guarantee={self.test_guarantee})"


def randomize_labels(y: ColumnLike, *, epsilon: float, classes: Any, rng: Randomness = None) -> NDArray[Any]:
    """Labels as people would report them themselves: by GRR, or for a `Grid` of numbers by the piecewise mechanism.

    Parameters
    ----------
    y
        One label per person.
    epsilon
        The most that a report may tell about the label.
    classes
        All labels that there may be, declared; or a `Grid` for the target of a regression.
    rng
        None for secure randomness, or a seed or `Entropy`, as for every verb.

    Examples
    --------
    >>> randomize_labels(["ill", "well", "well"], epsilon=1.0, classes=["ill", "well"], rng=7).shape
    (3,)
    """
    target = _target(classes, epsilon)
    words = Words.resolve(rng, "privatize", target.digest)
    return _reported_labels(target, target.encode({"label": y})["label"], words)


def honest_split(
    X: SourceLike,
    y: ColumnLike,
    privatizer: LocalPrivatizer | Plan,
    *,
    classes: Any,
    epsilon: float,
    test_size: float = 0.2,
    random_state: Any = None,
    rng: Randomness = None,
) -> HonestSplit:
    """Split people into train and test, and randomise all that a deployed model would see randomised.

    Features of both parts and the labels of the training part are reports; the labels of the test are true. Every
    person is randomised once.

    Parameters
    ----------
    X, y
        The true table and its labels.
    privatizer
        How features are randomised: a `LocalPrivatizer`, or a plan for one. Its own rng is not used; its ledger books
        the spend of a person of the training part, which is the larger one, before any noise is drawn.
    classes
        All labels that there may be, or a `Grid` for a regression.
    epsilon
        The most that the report of a label may tell.
    test_size, random_state
        As for scikit-learn's `train_test_split`: who is in which part, which depends on no data.
    rng
        The noise: None for secure randomness, a seed for studies, or an `Entropy`. A seed gives the same reports for
        the same table, labels, split and plans, and other noise where any of them differs.

    Guarantee
    ---------
    The reports of a person in the training part, features and label, are independent given the record: the largest
    ratios of their laws multiply, and ε is the logarithm of the product, rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    >>> privatizer = LocalPrivatizer(epsilon=2.0, bounds=(0.0, 20.0))
    >>> split = honest_split(X, y, privatizer, classes=[0, 1], epsilon=1.0, random_state=0)
    >>> split.X_train.shape, split.X_test.shape, split.y_test.shape
    ((8, 2), (2, 2), (2,))
    >>> print(split.train_guarantee, split.test_guarantee, sep="; ")
    ε = 3 (local, the whole record changed); ε = 2 (local, the whole record changed)
    """
    if isinstance(privatizer, Plan):
        privatizer = LocalPrivatizer(privatizer)
    if not isinstance(privatizer, LocalPrivatizer):
        raise ParameterTypeError("privatizer must be a LocalPrivatizer or a Plan.")
    target = _target(classes, epsilon)
    ledger, model = privatizer.ledger, clone(privatizer).set_params(ledger=None, rng=None, random_state=None)
    codes, labels = model.fit(X)._codes(model._check(X, reset=False)), np.asarray(y)
    people = len(next(iter(codes.values())))
    if labels.shape != (people,):
        raise DataError("y must have one label for each row of X.")
    label_codes = target.encode({"label": labels})["label"]  # what is not declared is found before anything is spent
    train, test = train_test_split(np.arange(people), test_size=test_size, random_state=random_state)
    ratio = model.plan_.design.ratio("person") * target.design.ratio("person")
    guarantee = Guarantee(epsilon=log_ceiling(ratio), neighbours="person")
    booked(Charge(guarantee, "honest_split"), ledger)
    noise = _noise(rng, (model.plan_, codes), (target, label_codes), (train, test))
    *own, of_labels = noise.split(3)
    X_train, X_test = (
        model._table(model.plan_.randomize(_rows(codes, rows), words))
        for rows, words in zip((train, test), own, strict=True)
    )
    y_train = _reported_labels(target, label_codes[train], of_labels)
    return HonestSplit(X_train, X_test, y_train, labels[test], guarantee, model.guarantee_, not noise.secure)


def _noise(
    rng: Randomness, features: tuple[Plan, Mapping[str, Codes]], labels: tuple[Plan, Codes], split: tuple[Any, Any]
) -> Words:
    """The words of a split; a seed is mixed with all that is randomised, so that no two tables share their noise."""
    if rng is None or isinstance(rng, Entropy):
        return Words.resolve(rng, "honest_split", features[0].digest)
    (plan, codes), (target, label_codes), (train, test) = features, labels, split
    data = {"X": _digest(codes).hex(), "y": _digest({"y": label_codes}).hex()}
    places = {"train": _digest({"train": train}).hex(), "test": _digest({"test": test}).hex()}
    design = {"plan": plan.digest, "target": target.digest, **data, **places}
    return Words.resolve(rng, "honest_split", documents.digest(design))


def _target(classes: Any, epsilon: float) -> Plan:
    """How the label of a person is randomised, as a plan for one attribute."""
    schema = Schema({"label": classes})
    plan = Plan(schema, epsilon, _usual(schema["label"]))
    check_plan(plan)
    return plan


def _reported_labels(target: Plan, codes: Codes, words: Words) -> NDArray[Any]:
    reports = target.randomize({"label": codes}, words)
    (column,) = feature_columns(target, "label", "values", reports["label"])
    return column


def _rows(codes: Mapping[str, Codes], rows: Any) -> dict[str, Codes]:
    return {name: column[rows] for name, column in codes.items()}
