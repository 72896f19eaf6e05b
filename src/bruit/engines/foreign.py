"""What goes wrong inside other libraries, told in our words.

pyarrow, pandas and narwhals quote data in their messages. ``raise … from None`` only hides those from a printed
traceback: whoever logs an error with all that led to it still finds them. So the link to them is cut.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from bruit.errors import BruitError


@contextlib.contextmanager
def translated(
    kinds: type[Exception] | tuple[type[Exception], ...], explain: Callable[[Exception], BruitError]
) -> Iterator[None]:
    """Raise what `explain` makes of an error of these kinds, and keep nothing of the error; ours pass as they are."""
    try:
        try:
            yield
        except BruitError:  # many are ValueErrors or TypeErrors too
            raise
        except kinds as error:
            raise explain(error) from None
    except BruitError as error:
        error.__context__ = None
        raise
