"""The fewest people: as a plain search finds them, and an error beyond the most."""

from __future__ import annotations

import pytest

from bruit.errors import LimitError
from bruit.estimation.fewest_people import fewest_people


@pytest.mark.parametrize("wanted", [1, 2, 3, 7, 8, 9, 63, 64, 65, 1000])
@pytest.mark.parametrize("least", [1, 5, 64])
def test_the_fewest_are_those_of_a_plain_search(wanted: int, least: int) -> None:
    assert fewest_people(lambda n: n >= wanted, least) == max(least, wanted)


def test_a_search_ends_at_the_most() -> None:
    assert fewest_people(lambda n: n >= 900, most=1024) == 900
    with pytest.raises(LimitError, match="more than 1,024 people"):
        fewest_people(lambda n: False, most=1024)
