"""An estimate as rows of a page: texts for people, texts for tables, and the places of a bar with its mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from bruit.collector.results import LEVEL
from bruit.collector.sentences import is_open, is_wide, label, lead, leaves_open, mean_numbers, of_hundred
from bruit.survey import Survey

__all__ = ["Row", "is_mean", "local", "main_rows", "percent", "places", "rows"]

#: What stands in place of an estimate whose interval leaves half of the scale open or more; tables have it.
UNKNOWN = "?"
#: How wide a bar is drawn, and its mark.
WIDTH, MARK = 1000, 8


class Row(NamedTuple):
    """A value with its estimate and interval, as texts and as places of a bar.

    Attributes
    ----------
    label
        The answer.
    about, range
        Estimate and interval for people: rounded, and cut to what is possible. A wide interval has no estimate.
    value, interval, heading
        Estimate and interval for a table: as they are; and what stands above the value.
    low, length, mark
        Where the interval begins, how long it is, and where the mark is.
    below, above
        Whether the interval goes on below the left end of the bar, and above its right end.
    ends
        What the two ends of the bar are.
    zero
        Where 0 is, if it is at neither end.
    """

    label: str
    about: str
    range: str
    value: str
    interval: str
    heading: str
    low: int
    length: int
    mark: int
    below: bool
    above: bool
    ends: tuple[str, str]
    zero: int = 0


def rows(
    survey: Survey, name: str, answer: Any, words: Mapping[str, str], own: str, *, signed: bool = False
) -> Iterator[Row]:
    """The values of an estimate.

    Parameters
    ----------
    survey, name
        The survey and the attribute.
    answer
        Its estimate; None has no rows.
    words, own
        The texts of the page, and the language of the survey's texts.
    signed
        Whether it is a change, which is in points and may be on either side of 0.
    """
    if answer is None:
        return
    if is_mean(answer):
        yield _mean(survey, name, answer, words)
        return
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)
    numbers = [(share, *pair) for share, pair in zip(answer.frequency, ends, strict=True)]
    zero = WIDTH // 2 if signed else 0
    everywhere = places(numbers, -1.0 if signed else 0.0, 1.0)
    bounds = ("−100", "100") if signed else (_percent("0", words), _percent("100", words))
    for code, number, own_places in zip(answer.labels, numbers, everywhere, strict=True):
        share, lower, upper = (percent(part, words) for part in number)
        value = words["points"].format(number=share) if signed else _percent(share, words)
        about, between = value, words["to"].format(low=lower, high=upper)
        if not signed:
            low, high = (float(end) for end in number[1:])
            rounded = of_hundred(float(number[0]), [low, high], words)
            about = UNKNOWN if is_wide(low, high) else _percent(rounded["about"], words)
            between = words["to"].format(**rounded)
        heading = words["change" if signed else "share"]
        own_label = label(survey, name, str(code), own)
        yield Row(own_label, about, between, value, f"{lower} … {upper}", heading, *own_places, bounds, zero)


def _mean(survey: Survey, name: str, answer: Any, words: Mapping[str, str]) -> Row:
    ends = np.asarray(answer.interval(LEVEL), float).ravel().tolist()
    low, high = (float(bound) for bound in survey.plan.mechanisms[name].bounds)  # type: ignore[union-attr]
    mean, lower, upper = (local(f"{number:.4g}", words) for number in (answer.mean, *ends))
    bounds = (local(f"{low:.12g}", words), local(f"{high:.12g}", words))
    rounded = mean_numbers(survey, name, answer, words)
    own_places = places([(answer.mean, *ends)], low, high)[0]
    between = words["to"].format(**rounded)
    about = UNKNOWN if leaves_open(survey, name, answer) else rounded["about"]
    return Row(words["mean"], about, between, mean, f"{lower} … {upper}", words["mean"], *own_places, bounds)


def main_rows(
    survey: Survey, name: str, answer: Any, words: Mapping[str, str], own: str, *, signed: bool = False
) -> list[Row]:
    """The rows that a card shows: of two answers one, since the other is the rest.

    Parameters
    ----------
    survey, name, answer, words, own, signed
        As for all rows.
    """
    every = list(rows(survey, name, answer, words, own, signed=signed))
    is_rest = len(every) == 2 and not is_open(survey, name)
    return [every[lead(survey, name, answer)]] if is_rest else every


def places(numbers: Any, low: float, high: float) -> list[tuple[int, int, int, bool, bool]]:
    """Where the interval begins, how long it is, where the mark is, and at which ends the interval is cut."""
    exact = (np.asarray(numbers, float) - low) / (high - low)
    drawn = []
    for (value, lower, upper), (_, below, above) in zip(np.clip(exact, 0, 1).tolist(), exact.tolist(), strict=True):
        left = min(round(lower * WIDTH), WIDTH - 2)
        length = max(2, round(upper * WIDTH) - left)
        drawn.append((left, length, round(value * (WIDTH - MARK)), below < 0, above > 1))
    return drawn


def is_mean(answer: Any) -> bool:
    """Whether an estimate is a mean, and not shares."""
    return answer is not None and not hasattr(answer, "frequency")


def percent(share: float, words: Mapping[str, str]) -> str:
    """A share in percent, with one decimal."""
    return local(f"{100 * float(share):.1f}", words)


def _percent(number: str, words: Mapping[str, str]) -> str:
    return words["percent"].format(number=number)


def local(digits: str, words: Mapping[str, str]) -> str:
    """A number as it is written in the language of the page."""
    return digits.replace("-", "−").replace(".", words["decimal"])
