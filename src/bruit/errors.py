"""Everything that bruit raises on purpose.

::

    BruitError
    ├── ParameterError          ValueError    a public parameter cannot be what was given
    │   └── LimitError                        it is sensible, but beyond what this version can do exactly
    ├── ParameterTypeError      TypeError     a public parameter is of the wrong kind
    ├── DataError               ValueError    data break a rule (the message names the rule, never a value)
    │   └── MissingError                      an entry is missing where the declared policy refuses that
    ├── DataTypeError           TypeError     data of the wrong dtype or shape
    ├── DesignError             ValueError    a tally, report file or plan belongs to another design
    ├── FormatError             ValueError    a file or text is damaged, or of another format or version
    ├── BudgetError             RuntimeError  a release would exceed its ledger's budget
    ├── LedgerError             RuntimeError  the ledger cannot be used (locked, gone, another budget)
    ├── RandomnessError         TypeError     an attempt to copy or pickle randomness, or a bad `rng`
    ├── MissingExtraError       RuntimeError  an optional dependency is not installed
    └── StudyError              RuntimeError  a trial of a study failed; what was finished is kept

    DisclosureWarning           UserWarning   something was read from the data that no guarantee covers
    WeakPrivacyWarning          UserWarning   an ε is so large that it protects hardly at all

Catch `BruitError` for all of them, or the built-in parent for one kind. Evidence travels as attributes, so that
a program need not parse a message. No message carries a data value.

Nor does an error lead to one. NumPy, pandas, pyarrow and scikit-learn quote data in their messages, a decoding error
holds the bytes, and ``raise … from None`` only hides such an error from a printed traceback: it stays in
``__context__``, where a program that logs errors with all that led to them finds it. So whatever may hold data is never
in flight when an error of ours is raised: leave the ``except`` block first, or use `translated`.
"""

from __future__ import annotations

from collections.abc import Callable


class BruitError(Exception):
    """The parent of every exception that bruit raises on purpose."""


class ParameterError(BruitError, ValueError):
    """A public parameter cannot be what was given."""


class LimitError(ParameterError):
    """A sensible parameter lies beyond what this version can do exactly."""


class ParameterTypeError(BruitError, TypeError):
    """A public parameter is of the wrong kind."""


class DataError(BruitError, ValueError):
    """Data break a rule; the message names the rule and never shows a value."""


class MissingError(DataError):
    """An entry is missing where the declared policy is to refuse such data."""


class DataTypeError(BruitError, TypeError):
    """Data have the wrong dtype or shape."""


class DesignError(BruitError, ValueError):
    """A tally, a file of reports or a plan belongs to another design.

    Attributes
    ----------
    expected, actual
        Digests of the two designs.
    """

    def __init__(self, message: str, *, expected: str = "", actual: str = "") -> None:
        super().__init__(message)
        self.expected = expected
        self.actual = actual


class FormatError(BruitError, ValueError):
    """A file or text is damaged, or of another format or version."""


class BudgetError(BruitError, RuntimeError):
    """A release would exceed its ledger's budget; nothing was spent.

    Attributes
    ----------
    requested, remaining, total
        The ε of the request, what was left, and the whole budget; the same of δ where δ ran out.
    """

    def __init__(self, message: str, *, requested: float, remaining: float, total: float) -> None:
        super().__init__(message)
        self.requested = requested
        self.remaining = remaining
        self.total = total


class LedgerError(BruitError, RuntimeError):
    """A ledger cannot be used: it is locked, gone, or was opened with another budget."""


class RandomnessError(BruitError, TypeError):
    """Randomness was used again, copied or pickled, or an `rng` is not None, an int or an Entropy."""


class MissingExtraError(BruitError, RuntimeError):
    """An optional dependency is not installed.

    Attributes
    ----------
    extra
        The name to install, as in ``pip install 'bruit[extra]'``.
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'bruit[{extra}]'.")
        self.extra = extra


class StudyError(BruitError, RuntimeError):
    """A trial of a study failed; what was finished is kept.

    Attributes
    ----------
    study, factors, repetition
        The trial that failed; no factors where a whole process died.
    """

    def __init__(self, message: str, *, study: str, factors: object = None, repetition: int = 0) -> None:
        super().__init__(message)
        self.study = study
        self.factors = factors
        self.repetition = repetition


class DisclosureWarning(UserWarning):
    """Something was read from the data that should have been declared; no guarantee covers that it is known."""


class WeakPrivacyWarning(UserWarning):
    """An ε is within the limits, and so large that it protects hardly at all."""


class translated:
    """Within the block, an error of these kinds becomes one of ours that keeps nothing of it.

    Parameters
    ----------
    kinds
        What is translated. Errors of ours are not, unless a class of theirs is named: they pass without what led to
        them, although many are ValueErrors or TypeErrors too.
    explain
        Makes our error; it may look at the other one, but must not quote it.

    Examples
    --------
    >>> with translated(ValueError, lambda _: DataError("values must be numbers.")):
    ...     float("Vesoul")
    Traceback (most recent call last):
    bruit.errors.DataError: values must be numbers.
    """

    __slots__ = ("_explain", "_kinds")

    def __init__(
        self, kinds: type[Exception] | tuple[type[Exception], ...], explain: Callable[[Exception], BruitError]
    ) -> None:
        self._kinds, self._explain = kinds, explain

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        ours = error if isinstance(error, BruitError) else None
        if isinstance(error, self._translated(ours)):
            ours = self._explain(error)
        if ours is None:
            return
        try:
            if ours is not error:
                raise ours from None
        finally:
            ours.__context__ = None  # the other error is still in flight here, so the link to it is cut afterwards
            del error, trace  # nor is it kept in a frame of the traceback

    def _translated(self, ours: BruitError | None) -> tuple[type[Exception], ...]:
        """The kinds that are translated: of errors of ours, those that are named as such."""
        every = self._kinds if isinstance(self._kinds, tuple) else (self._kinds,)
        return every if ours is None else tuple(kind for kind in every if issubclass(kind, BruitError))


def in_column(name: str) -> translated:
    """Within the block, errors about data say in which column they arose; its name is public.

    >>> with in_column("age"):
    ...     raise DataError("values must be numbers.")
    Traceback (most recent call last):
    bruit.errors.DataError: Column 'age': values must be numbers.
    """

    def named(error: Exception) -> BruitError:
        kind: type[BruitError] = type(error)  # type: ignore[assignment] # one of the two below
        return kind(f"Column {name!r}: {error}" if not str(error).startswith("Column ") else str(error))

    return translated((DataError, DataTypeError), named)
