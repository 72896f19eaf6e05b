"""What a person keeps between rounds: memos and the reports that were sent, in a file that is whole or absent.

A memo is *stored*, never derived again: it is drawn from the value at the first report of an epoch and kept whatever
the value becomes. It is on the disk before the first report leaves, and so is every report, so that a retry sends the
same bytes. Whoever reads the file learns what all reports of its epochs could tell, and no more; still it is the
person's own, and is written for its owner alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, DesignError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.oracles.repeated import Repeated

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: The format of the file.
FORMAT = "bruit.memory/1"
_DAMAGED = "This memory was damaged: it has a memo or report that its design does not have."


class Memory:
    """The memos of one or several people in a file, for one design.

    Parameters
    ----------
    path
        The file, which `create` has made.
    panel
        The design; a memory of another is refused.

    Guarantee
    ---------
    What `Repeated` promises, as long as the file is kept: one memo for each person and epoch. A memory that is lost is
    replaced by `create`, and the new memos of an epoch that had begun cost once more the ε of an epoch.

    Examples
    --------
    >>> import tempfile, bruit
    >>> from bruit.oracles import Repeated
    >>> panel = Repeated(bruit.oracle("GRR", epsilon=1.0, labels=["bus", "car", "bike"]), epoch=2.0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> memory = Memory.create(folder.name + "/memory.json", panel)
    >>> report = memory.report("car", epoch=0, round=1)
    >>> bool(memory.report("bike", epoch=0, round=1) == report)
    True
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], panel: Repeated) -> None:
        if not isinstance(panel, Repeated):
            raise ParameterTypeError("panel must be a Repeated oracle.")
        self.path = Path(path)
        self.panel = panel
        self._read()

    @classmethod
    def create(cls, path: str | os.PathLike[str], panel: Repeated) -> Self:
        """A new memory, empty; a file that is there already is not replaced."""
        if not isinstance(panel, Repeated):
            raise ParameterTypeError("panel must be a Repeated oracle.")
        with _alone(Path(path)):
            if Path(path).exists():
                raise ParameterError(f"{Path(path).name} exists: open it with Memory(path, panel).")
            _write(Path(path), panel.digest, {})
        return cls(path, panel)

    def report(
        self, value: Any, *, round: int, epoch: int = 0, person: str = "", rng: Randomness = None
    ) -> NDArray[Any]:
        """The report of one person in one round: an array of one row. The same round gives the same report again.

        Parameters
        ----------
        value
            The value of the person; looked at in the first report of an epoch only.
        round
            The number of the round, within the epoch.
        epoch
            The number of the epoch, which is public.
        person
            Whose memo it is, where a file has those of several people.
        rng
            As for `Oracle.privatize`; a number gives other words for every person, epoch and round.
        """
        _checks.integer(low=0, round=round)
        _checks.integer(low=0, epoch=epoch)
        if not isinstance(person, str):
            raise ParameterTypeError("person must be a text.")
        with _alone(self.path):
            people = self._read()
            kept = people.setdefault(person, {}).setdefault(str(epoch), {"memo": None, "reports": {}})
            if kept["memo"] is None:
                codes = self.panel.oracle.encode([value])
                if len(codes) != 1:
                    raise DataError("A memo needs a value: this one is missing, and missing values are dropped.")
                words = Words.resolve(rng, documents.canonical(["memo", person, epoch]), self.panel.digest)
                kept["memo"] = self.panel.remember(codes, words).tobytes().hex()
            if str(round) not in kept["reports"]:
                words = Words.resolve(rng, documents.canonical(["report", person, epoch, round]), self.panel.digest)
                kept["reports"][str(round)] = self.panel.report(self._row(kept["memo"]), words).tobytes().hex()
                _write(self.path, self.panel.digest, people)
            return self._row(kept["reports"][str(round)])

    def rounds(self, *, epoch: int = 0, person: str = "") -> int:
        """In how many rounds of an epoch a person has reported; `Repeated.after` says what they cost."""
        kept = self._read().get(person, {}).get(str(epoch))
        return len(kept["reports"]) if kept else 0

    def _read(self) -> dict[str, Any]:
        epoch = self.panel.guarantees["epoch"].epsilon
        lost = (
            f"There is no memory at {self.path.name}. Make one with Memory.create; if one was lost, the new memos of "
            f"an epoch that had begun cost ε = {epoch:g} once more."
        )
        with translated(FileNotFoundError, lambda _: ParameterError(lost)):
            body = documents.unseal(self.path.read_bytes(), FORMAT)
        if body.get("design") != self.panel.digest:
            raise DesignError(
                "This memory belongs to another design: open it with the panel that made it.",
                expected=self.panel.digest,
                actual=str(body.get("design")),
            )
        people = body.get("people")
        if not isinstance(people, dict) or not all(_is_history(history) for history in people.values()):
            raise FormatError(_DAMAGED)
        return people

    def _row(self, text: str) -> NDArray[Any]:
        """One memo or report, from its bytes."""
        form = self.panel.oracle.form
        with translated((ValueError, TypeError), lambda _: FormatError(_DAMAGED)):
            row = np.frombuffer(bytes.fromhex(text), form.dtype).reshape(form.empty(1).shape)
        if not self.panel.oracle.valid(row).all():
            raise FormatError(_DAMAGED)
        return row

    def __repr__(self) -> str:
        return f"Memory({self.path.name!r}, design {self.panel.digest[:8]})"


def _is_history(history: Any) -> bool:
    """Whether this is what a person's epochs are kept as: a memo and the reports by round."""
    return isinstance(history, dict) and all(
        isinstance(kept, dict) and "memo" in kept and isinstance(kept.get("reports"), dict) for kept in history.values()
    )


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Alone with a memory among all programs: a lock on a file beside it, for the memory itself is replaced."""
    if fcntl is None:
        raise ParameterError("A memory needs POSIX locks, which this system lacks: keep the array of memoize instead.")
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _write(path: Path, design: str, people: dict[str, Any]) -> None:
    """The whole file anew, for its owner alone, in place of the old one when it is finished."""
    text = documents.seal(FORMAT, {"design": design, "people": people})
    with documents.replacing(path) as partial:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
