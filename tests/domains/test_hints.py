"""What is said about data that break a rule: the column, what is probably wrong, the way out, and no value."""

import numpy as np
import pytest

import bruit
from bruit import Categories, Grid, Plan, releases
from bruit.errors import DataError, DataTypeError, ParameterError

PLAN = Plan({"status": ["married", "divorced", "never married"]}, epsilon=1.0)
FAR = (
    'values must be among the declared labels. Declare all answers, or outside="other" (--outside other), which counts '
    "the others as one label."
)
NUMBERS = Plan({"income": Grid(0, 100)}, 1.0, "hybrid")


def told(kind, function):
    """The message of an error, and those of all errors behind it."""
    with pytest.raises(kind) as caught:
        function()
    chain, error = "", caught.value
    while error is not None:
        chain, error = f"{chain}{error}\n", error.__cause__ or error.__context__
    return str(caught.value), chain


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("married ", "only by spaces"),
        (" divorced", "only by spaces"),
        ("never  married", "only by spaces"),
        ("never\xa0married", "only by spaces"),
        ("Married", "only by upper and lower case"),
        ("DIVORCED", "only by upper and lower case"),
        ("maried", "only by one letter"),
        ("marrried", "only by one letter"),
        ("divirced", "only by one letter"),
        ("divocred", "only by one letter"),
        ("NA", "--csv missing=NA"),
        ("n/a", "--csv missing=NA"),
        ("?", "--csv missing=NA"),
    ],
)
def test_a_value_near_a_label_is_told_by_how_it_differs_and_not_shown(value, words):
    message, chain = told(DataError, lambda: PLAN.privatize({"status": ["married", value]}))
    assert message.startswith("Column 'status': values must be among the declared labels.")
    assert words in message
    assert message.count("Some") == 1
    assert not any(label in chain for label in ("arried", "divorced"))
    assert value not in chain.replace("such as NA", "").replace("--csv missing=NA", "").replace("misspelt?", "")


@pytest.mark.parametrize("value", ["s3cr3t", "widowed", "mar", "", "remarried"])
def test_a_value_that_is_far_from_all_labels_gets_no_guess(value):
    message, _ = told(DataError, lambda: PLAN.privatize({"status": [value, "married"]}))
    assert message == f"Column 'status': {FAR}"


def test_short_labels_are_not_taken_for_misspelt_ones():
    plan = Plan({"sex": ["F", "M"]}, epsilon=1.0)
    assert "letter" not in told(DataError, lambda: plan.privatize({"sex": ["X"]}))[0]


def test_many_wrong_values_take_no_longer_than_a_few():
    labels = [f"label {i}" for i in range(20_000)]
    wrong = [f"another {i}" for i in range(20_000)]
    message, _ = told(DataError, lambda: Categories(labels=tuple(labels)).encode(wrong))
    assert message == FAR


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1,5", "with a decimal point"),
        ("-12,75", "with a decimal point"),
        ("1,234.5", "with a decimal point"),
        ("NA", "--csv missing=NA"),
        ("?", "--csv missing=NA"),
        ("s3cr3t", ""),
    ],
)
def test_a_text_among_numbers_is_told_by_what_it_looks_like_and_not_shown(value, words):
    from bruit.domains.domain import DictionaryColumn

    file = DictionaryColumn(np.array(["1.5", value], object), np.array([0, 1]))
    for column in (file, ["1.5", value], np.array([1.5, value], object)):
        message, chain = told(DataTypeError, lambda column=column: NUMBERS.privatize({"income": column}))
        assert message.startswith("Column 'income': values must be numbers.")
        assert words in message
        assert "s3cr3t" not in chain
        assert "12,75" not in chain


def test_other_rules_name_the_column_too():
    for table, words in (
        ({"income": [1, 200]}, "must lie in the declared bounds"),
        ({"income": [1, None]}, "missing entries"),
    ):
        message, _ = told(DataError, lambda table=table: NUMBERS.privatize(table))
        assert message.startswith("Column 'income': ")
        assert words in message


def test_releases_name_the_column_and_the_column_of_groups():
    table = {"town": ["a", "b", "Nord"], "age": [1, 2, 3]}
    message, _ = told(
        DataError, lambda: releases.release(table, releases.Histogram("town", epsilon=1.0, domain=["a", "b"]))
    )
    assert message.startswith("Column 'town': values must be among")
    message, _ = told(DataError, lambda: releases.release(table, releases.Count(epsilon=1.0), by={"town": ["a", "b"]}))
    assert message.startswith("Column 'town': ")
    message, _ = told(
        DataError, lambda: releases.release(["a", "c"], releases.Histogram(epsilon=1.0, domain=["a", "b"]))
    )
    assert message.startswith("values must be among")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["x"], "labels must list two or more answers, got one"),
        ([], "labels must list two or more answers, got none"),
        ((True,), "labels must list two or more answers, got one"),
    ],
)
def test_a_list_of_one_label_is_refused_with_what_to_do(labels, words):
    with pytest.raises(ParameterError, match=words) as caught:
        Categories(labels=labels)
    assert "everybody would answer the same" in str(caught.value)
    with pytest.raises(ParameterError, match="two or more answers"):
        bruit.oracle("GRR", epsilon=1.0, labels=labels)
