"""scikit-learn's checks: their messages pass where they hold no value, and are told in other words where they do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.validation import check_consistent_length

from bruit.learning._validation import _told


def test_the_message_about_a_single_value_does_not_show_it():
    with pytest.raises(TypeError) as caught:
        check_consistent_length(np.array(12345.678), [1])
    assert "12345" in str(caught.value)  # scikit-learn's own shows it
    assert "12345" not in _told(str(caught.value))
    assert "single value" in _told(str(caught.value))


def test_messages_about_shapes_and_names_are_handed_on():
    for message in ("X has 3 features, but KMeans is expecting 2 features as input.", "Input X contains NaN."):
        assert _told(message) == message


def test_a_message_that_is_not_known_is_not_shown():
    assert "Vesoul" not in _told("could not convert string to float: 'Vesoul'")
