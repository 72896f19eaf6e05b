"""That nothing shows a person's value: no message, cause, context or note of an error, no warning, log or output.

An error holds more than its message. ``raise … from None`` hides the error before it from a printed traceback, but
keeps it as ``__context__``, where a program that logs errors with all that led to them finds it; a decoding error has
the bytes as an attribute. All of that is searched. The variables of the frames in a traceback are not: they hold the
data of the caller, and no library can clear them.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import io
import logging
import re
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bruit.entropy import Entropy, Randomness
from bruit.testing._evidence import Mechanism, crowd, require, stream

#: Undeclared values. No domain has that many codes, and no message has a reason to hold them.
SECRET = "zq-" + "7331" * 2 + "-zq"
SECRET_NUMBER = 733_107_733
SECRET_FLOAT = 0.733177331
SECRET_DATE = datetime.date(7331, 7, 31)

#: How they look in a text, however they were written there: bytes in hexadecimal digits, numbers with an exponent.
_TRACES = re.compile(
    "|".join([SECRET, SECRET.encode().hex(), "733107733", r"7\.33107733", "733177331", "7331-07-31", "7331, 7, 31"])
)


def check_canary(verb: Callable[[Any], object], good: Sequence[Any]) -> None:
    """No error, warning, log record or output of a verb shows a value of the data that it was handed.

    The verb is called with columns that hold canaries: texts, numbers, bytes, dates, nested values and undeclared
    objects, alone, before and after good values, in lists and in arrays. It may accept a column or refuse it.
    Searched is what an error and all that led to it say and hold (message, arguments, attributes and notes; causes,
    contexts also where ``from None`` hides them, members of groups), every warning and log record, what is printed, and
    what the verb returns where that is text. The variables of frames in a traceback are left out.

    Parameters
    ----------
    verb
        Takes a column of data, as in ``lambda column: model.fit({"age": column}, …)``.
    good
        Some values that the verb accepts.

    Examples
    --------
    >>> from bruit.oracles import RandomizedResponse
    >>> check_canary(RandomizedResponse(epsilon=1.0, k=4).privatize, good=[0, 3])
    >>> check_canary(lambda column: [float(value) for value in column], good=[1.0])
    Traceback (most recent call last):
    AssertionError: A person's value (a text, alone) is shown by a ValueError.
    """
    for place, column in _columns(list(good)):
        with _listening() as heard:
            shown = _outcome(verb, column)
        for where, text in [*shown, *heard.shown()]:
            require(not shows(text), f"A person's value ({place}) is shown by {where}.")


def check_silence(oracle: Mechanism, *, rng: Randomness = 0) -> None:
    """No log record, warning, output, exception or repr shows a person's value; nothing is printed, nothing is warned.

    The check runs on a twin of the mechanism and people whose values cannot be mistaken for anything else, and runs
    `check_canary` on what takes values, reports and counts.
    """
    twin, values = _secretive(oracle)
    entropy = stream(rng, "check_silence", oracle)
    reports = _use(twin, values, entropy)[0]  # what is compiled or loaded at the first use may well be logged
    before = repr(twin), str(twin)
    with _listening() as heard:
        _, texts = _use(twin, values, entropy)
    require((repr(twin), str(twin)) == before, "The repr of the oracle changes when it is used.")
    for where, text in [*texts, *heard.shown()]:
        require(not shows(text), f"A person's value is shown by {where}.")
    require(not heard.printed(), "Using the oracle prints something.")
    require(not heard.warned, "Using the oracle warns about something.")
    check_canary(lambda column: oracle.privatize(column, rng=entropy), crowd(oracle, 20).tolist())
    check_canary(oracle.tally, reports[:2].tolist())
    check_canary(lambda column: oracle.simulate(column, rng=entropy), [1] * oracle.size)


def shows(text: str) -> bool:
    """Whether a text has a trace of a canary."""
    return _TRACES.search(text) is not None


def shown_by(error: BaseException) -> list[tuple[str, str]]:
    """What an error says and holds, and so do all that led to it: each by its kind, with a text to search."""
    waiting, known = [error], list[BaseException]()
    while waiting:
        current = waiting.pop()
        if not any(current is other for other in known):
            known.append(current)
            linked = [current.__cause__, current.__context__, *getattr(current, "exceptions", ())]
            waiting += [other for other in linked if other is not None]
    return [(f"a {type(other).__name__}", _held_by(other)) for other in known]


def _held_by(error: BaseException) -> str:
    """Message, arguments, notes and attributes; decoding errors, for one, hold all the bytes."""
    names = [name for name in dir(error) if not name.startswith("__") and name != "exceptions"]
    held = {name: getattr(error, name, None) for name in names}
    notes = getattr(error, "__notes__", [])
    lines = traceback.format_exception_only(error)
    return repr(({name: item for name, item in held.items() if not callable(item)}, notes, str(error), lines))


def _outcome(verb: Callable[[Any], object], column: Any) -> list[tuple[str, str]]:
    """What an error shows, or what is returned where that is text; other results are data, as they should be."""
    try:
        result = verb(column)
    except Exception as error:
        return shown_by(error)
    return [("what is returned", repr(result))] if isinstance(result, str | bytes) else []


class _Object:
    """A value that is neither text nor number, and that shows itself whenever it is looked at."""

    def __repr__(self) -> str:
        return SECRET

    def __float__(self) -> float:
        raise ValueError(SECRET)

    def __index__(self) -> int:
        raise TypeError(SECRET)


def _canaries() -> dict[str, Any]:
    """Values of every kind, by what they are."""
    return {
        "a text": SECRET,
        "a text of digits": str(SECRET_NUMBER),
        "half a character": SECRET + "\ud800",
        "bytes": SECRET.encode(),
        "bytes that are no text": SECRET.encode() + b"\xff",
        "a number": SECRET_NUMBER,
        "a negative number": -SECRET_NUMBER,
        "a number beyond 64 bits": SECRET_NUMBER * 10**20,
        "a number beyond all floats": SECRET_NUMBER * 10**400,
        "a fraction": SECRET_FLOAT,
        "a decimal": decimal.Decimal(str(SECRET_FLOAT)),
        "a complex number": complex(0, SECRET_FLOAT),
        "a date": SECRET_DATE,
        "a list": [SECRET],
        "a pair": (SECRET, SECRET_NUMBER),
        "a mapping": {SECRET: SECRET_NUMBER},
        "a set": frozenset([SECRET]),
        "an array": np.array([SECRET_NUMBER, 0]),
        "an object": _Object(),
    }


def _columns(good: list[Any]) -> Iterator[tuple[str, Any]]:
    """Columns with canaries in them, by what they hold and where."""
    for what, canary in _canaries().items():
        yield f"{what}, alone", [canary]
        yield f"{what}, before others", [canary, *good]
        yield f"{what}, after others", [*good, canary]
        yield f"{what}, in an array of objects", _objects([*good, canary])
        if not isinstance(canary, dict):  # a mapping is a table, whose names are public
            yield f"{what}, instead of a column", canary
        if not isinstance(canary, list | tuple | dict | np.ndarray):
            with contextlib.suppress(ValueError, OverflowError):  # such an array there cannot be
                yield f"{what}, in an array", np.array([canary] * (len(good) + 1))
    yield "texts in rows of different lengths", [[SECRET], [SECRET, SECRET], *good]
    yield "numbers in rows", [[SECRET_NUMBER, SECRET_NUMBER], [SECRET_NUMBER, SECRET_NUMBER]]


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _secretive(oracle: Any) -> tuple[Mechanism, Any]:
    """A twin of the mechanism, and secret values of its people."""
    if oracle.gives == "mean":
        # Per distance, numbers that are not whole are rounded by chance.
        rounding = oracle.rounding if oracle.metric is None else "stochastic"
        domain = replace(oracle.domain, low=0.0, high=1.0)
        return replace(oracle, bounds=None, domain=domain, rounding=rounding), np.full(300, SECRET_FLOAT)
    secret = replace(oracle.domain, k=0, labels=[f"{SECRET}-{code}" for code in range(oracle.k)])
    twin = replace(oracle, k=0, labels=None, domain=secret)
    return twin, crowd(twin, 300)


def _use(oracle: Mechanism, values: Any, entropy: Entropy) -> tuple[Any, list[tuple[str, str]]]:
    """Go through all verbs: the reports, and what is shown on the way, except the public domain itself."""
    reports = oracle.privatize(values, rng=entropy)
    tally = oracle.tally(reports)
    estimate = oracle.estimate(tally)
    _ = repr(estimate), estimate.interval(), oracle.simulate(np.arange(oracle.size), rng=entropy)
    return reports, [
        ("the repr of a tally", repr(tally)),
        ("the text of a tally", tally.to_json()),
        ("the repr of an Entropy", repr(entropy)),
        ("the guarantee", f"{oracle.guarantee!r} {oracle.guarantee}"),
    ]


class _Heard(logging.Handler):
    """What was logged, printed and warned meanwhile."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[str] = []
        self.output = io.StringIO()
        self.warned: list[warnings.WarningMessage] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record with all it carries."""
        self.records.append(f"{self.format(record)} {record.__dict__!r}")

    def logged(self) -> str:
        return "\n".join(self.records)

    def printed(self) -> str:
        return self.output.getvalue()

    def shown(self) -> list[tuple[str, str]]:
        """All of it, as texts to search."""
        warned = "\n".join(repr((str(item.message), getattr(item.message, "args", ()))) for item in self.warned)
        return [("a log record", self.logged()), ("output", self.printed()), ("a warning", warned)]


@contextlib.contextmanager
def _listening() -> Iterator[_Heard]:
    """Hear every log record from DEBUG up, every warning, and all that is printed."""
    heard, root = _Heard(), logging.getLogger()
    level = root.level
    root.addHandler(heard)
    root.setLevel(logging.DEBUG)
    try:
        with (
            warnings.catch_warnings(record=True) as heard.warned,
            contextlib.redirect_stdout(heard.output),
            contextlib.redirect_stderr(heard.output),
        ):
            warnings.simplefilter("always")
            yield heard
    finally:
        root.setLevel(level)
        root.removeHandler(heard)
