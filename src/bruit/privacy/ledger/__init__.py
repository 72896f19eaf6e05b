"""The ledger: what was released about some people, and what may still be.

A ledger has a budget, ε and δ for one kind of neighbours, and a list of entries that only grows.
A release is booked *before* its noise is drawn, so that a kill may leave a spend without a
result, never a result without its spend. A request that does not fit is refused and leaves no
trace.

**The books are kept in the decimals that people write.** The double 0.1 is a little more than one
tenth, and ten of them a little more than 1; nobody who splits a budget of 1.0 in ten wants to
hear that. Each double is therefore booked as its shortest decimal, the text that Python prints,
and these decimals are added exactly. The books differ from the doubles by at most 1.2 parts in
10¹⁶, and no rounding piles up: ten times 0.1 fits in 1.0, eleven times does not.

``storage.py`` says how the file survives kills and full disks. It protects against
accidents, not against somebody who edits it on purpose: the digests have no key. A signed head
(``heads.py``) that is kept elsewhere does.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Self

from bruit import _checks
from bruit.errors import BruitError, BudgetError, FormatError, LedgerError, ParameterError, ParameterTypeError
from bruit.privacy.composition import check_parts
from bruit.privacy.guarantee import ADDED, Guarantee, Neighbours, check_adds
from bruit.privacy.ledger import storage
from bruit.privacy.ledger.accounts import (
    COLUMNS,
    Account,
    Books,
    Entry,
    is_result_name,
    shown_down,
    shown_up,
)
from bruit.privacy.ledger.heads import Head, SignedHead, create_keys
from bruit.privacy.zcdp import epsilon_to_rho, pure_rho, rho_to_epsilon
from bruit.rounding import decimal, down, up
from bruit.tables import Column, Table, digits, html_text

__all__ = ["Booking", "Entry", "Head", "Ledger", "Line", "Part", "Parts", "Remaining", "SignedHead", "create_keys"]

_LONGEST_LABEL = 200
#: The δ at which a budget of ρ is stated as ε, unless it is said.
USUAL_AT = 1e-6
#: What stands for a result that is booked, and whose file is not there.
_LOST = "lost"


class Line(NamedTuple):
    """One spend to book: what is promised, what the ledger writes down, and the ρ that the release proves of itself."""

    guarantee: Guarantee
    label: str
    rho: float | None = None


class Remaining(NamedTuple):
    """What may still be spent; of a ledger in ρ, `epsilon` is that of a release of pure ε."""

    epsilon: float
    delta: float


class _Shared:
    """Its copy is the thing itself, so that no copy forgets what was spent."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Ledger(_Shared):
    """A privacy budget, and what was spent of it. In memory; `Ledger.open` keeps one in a file.

    Copies are the ledger itself. A ledger in memory belongs to its process: it cannot be pickled,
    nor spent from after a fork. A ledger in a file can do both, and may be used by several
    processes and threads at once.

    Parameters
    ----------
    epsilon, delta
        The budget. Both must hold: a release with δ > 0 does not fit in a ledger with δ = 0.
    neighbours
        Whom the guarantees speak of, one kind per ledger: ``"add-remove"`` or ``"replace"`` for
        releases from a table, ``"value"``, ``"attribute"`` or ``"person"`` for answers that are
        made private at their source.
    rho
        A budget of ρ-zCDP in place of ε. Releases add the ρ that they prove of themselves. Then `delta` is
        the chance allowed to releases that prove none, and their ε counts as ε²/2.
    at
        The δ at which ρ is stated as ε, 10⁻⁶ by default.
    zcdp
        Keep ε and δ in ρ: nine tenths of δ are for turning ρ into ε, one tenth for releases that prove none.

    Guarantee
    ---------
    All that was released together satisfies `spent`, by sequential composition, and by parallel
    composition within each `parallel` block; see ``composition.proof.md``. The sums are exact in
    the decimals of the guarantees. In ρ, everything together satisfies the *budget*, also if releases and
    their ρ are chosen by looking at results; see ``rho.proof.md``.

    Examples
    --------
    >>> ledger = Ledger(epsilon=1.0)
    >>> entry = ledger.spend(Guarantee(epsilon=0.8, neighbours="add-remove"), "mean age")
    >>> ledger
    <Ledger: ε = 0.8 of 1.0 spent, 0.2 remain, entries: 1, add-remove>
    >>> median = Guarantee(epsilon=0.5, neighbours="add-remove")
    >>> ledger.spend(median, "median age")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bruit.errors.BudgetError: Budget exceeded: this release needs ε=0.5, 0.2 remain of 1.0. ...
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float = 0.0,
        neighbours: Neighbours = "add-remove",
        *,
        rho: float | None = None,
        at: float | None = None,
        zcdp: bool = False,
    ) -> None:
        self._delta = _checks.fraction(delta=delta)
        self._rho, self._at = None, 0.0
        if zcdp:
            _check_alone(rho=rho, at=at)
            rho, at, self._delta = _in_rho(_checks.positive(epsilon=epsilon), _checks.probability(delta=delta))
        elif rho is not None:
            _check_alone(epsilon=epsilon)
        elif at is not None:
            raise ParameterError("at is the δ at which ρ is stated as ε: give rho, too.")
        if rho is None:
            self._epsilon = _checks.positive(epsilon=1.0 if epsilon is None else epsilon)
        else:
            self._rho = _checks.positive(rho=rho)
            self._at = _checks.probability(at=USUAL_AT if at is None else at)
            self._epsilon = rho_to_epsilon(self._rho, self._at)
        self._neighbours: Neighbours = _checks.one_of(ADDED, neighbours=neighbours)
        self._file: storage.LedgerFile | None = None
        self._books = Books(self._neighbours)
        self._lock = threading.Lock()
        self._forked = False
        _alive.add(self)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Neighbours | None = None,
        *,
        rho: float | None = None,
        at: float | None = None,
        zcdp: bool | None = None,
    ) -> Self:
        """Open the ledger at `path`; with a budget, start it there if there is none.

        What is given must agree with the file. Damage to the file is found here and raises
        `FormatError`.
        """
        options = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, "rho": rho, "at": at, "zcdp": zcdp}
        declared: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        budget = cls(**declared)._budget
        if zcdp:  # the file has what ε and δ became
            declared = {name: budget[name] for name in budget if name != "neighbours" or neighbours is not None}
        file = storage.LedgerFile(path)
        if (epsilon is not None or rho is not None) and not os.path.lexists(file.path):
            storage.create(file.path, storage.header_line(budget))
        with file.locked(write=False) as handle:
            lines = file.lines_after(handle, 0)
            header, _ = storage.read_header(lines[:1])
        for name in declared:
            if header.get(name) != budget[name]:
                if name == "neighbours" and header.get(name) in ADDED:
                    raise LedgerError(_other_kind(header[name], budget[name]))
                raise LedgerError(
                    f"This ledger was started with {name}={header.get(name)!r}, "
                    f"not {budget[name]!r}. "
                    + (
                        "Open it without a budget, or start another one."
                        if len(lines) > 1
                        else "Nothing is booked in it: delete the file to start it with another budget."
                    )
                )
        return cls._on(file, header)

    @classmethod
    def _on(cls, file: storage.LedgerFile, budget: dict[str, Any]) -> Self:
        try:
            ledger = cls(**budget)
        except (BruitError, TypeError):
            ledger = None
        if ledger is None or ledger._budget != budget:
            raise FormatError("Line 1 of the ledger states no budget that bruit knows.")
        ledger._file = file
        with ledger._current():
            return ledger

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> Entry:
        """Book a release, before its noise is drawn; what does not fit raises `BudgetError`.

        Parameters
        ----------
        guarantee
            What the release promises.
        label
            What is released; it is public, and kept.
        rho
            The ρ-zCDP that the release proves of itself, for totals of many by `accounting`. Releases say it; a pure
            guarantee that comes without one has ε²/2, and never more.
        """
        return self.book([Line(guarantee, label, rho)])[0]

    def book(self, lines: Sequence[Line]) -> tuple[Entry, ...]:
        """Book several spends at once, one entry each; if they do not fit together, none is booked.

        >>> ledger = Ledger(epsilon=1.0)
        >>> half = Guarantee(epsilon=0.5, neighbours="add-remove")
        >>> [entry.label for entry in ledger.book([Line(half, "count"), Line(half, "mean age")])]
        ['count', 'mean age']
        """
        return self._book(lines)

    @contextlib.contextmanager
    def parallel(self, label: str, *, fixed: bool = False) -> Iterator[Parts]:
        """Releases on disjoint parts of the data, of which the worst part counts.

        Each release is booked as it comes, so a kill leaves the block at what was really
        released. Which record is in which part must be decided without looking at the data. Under
        ``"replace"`` say with `fixed` that a replaced record stays in its part, because parts
        follow from something public; other parts are refused. See `composition.parallel`.

        >>> ledger = Ledger(epsilon=1.0)
        >>> share = Guarantee(epsilon=0.3, neighbours="add-remove")
        >>> with ledger.parallel("by region") as parts:
        ...     for region in ("north", "south"):
        ...         entry = parts.spend(share, region)
        >>> ledger.spent.epsilon
        0.3
        """
        with Booking(self).parallel(label, fixed=fixed) as parts:
            yield parts

    def keeping(self, result: str) -> Booking:
        """The ledger as it is given to one release whose result is kept in a file that the entry names.

        `result` is the name of a .json file in the folder `results`. The entry is booked before there is a result, so
        an entry whose file is absent tells of a release that was stopped in between.
        """
        if not is_result_name(result):
            raise ParameterError("result must be the name of a .json file: letters, digits, - and _.")
        return Booking(self, result)

    def check(self, lines: Sequence[Line]) -> None:
        """Refuse what `book` would refuse now; nothing is booked."""
        with self._current() as (books, _):
            self._check_budget(books, self._checked(books, lines))

    def foresee(self, lines: Sequence[Line]) -> str:
        """What `book` would leave of the budget, in a sentence; nothing is booked."""
        with self._current() as (books, _):
            entries = self._checked(books, lines)
            try:
                self._check_budget(books, entries)
            except BudgetError as error:
                return f"{self._name} would refuse: {error}"
            after = Books(self.neighbours)
            for entry in (*books.entries, *entries):
                after.add(entry)
            left = [
                f"{item.sign} = {item.left_text} of {item.total!r}" for item in self._currencies(after) if item.total
            ]
        return f"{self._name} would have {' and '.join(left)} left.{self._other_budget(after)}"

    def _other_budget(self, books: Books) -> str:
        """What a budget of the other kind, for the same promise, would have left."""
        promise = self.promise
        if not promise.delta:
            return ""  # nothing in ρ stands for a pure ε
        if self._rho is None:
            other, sign = Ledger(promise.epsilon, promise.delta, self.neighbours, zcdp=True), "in ρ"
        else:
            other, sign = Ledger(promise.epsilon, promise.delta, self.neighbours), "in ε and δ"
        short = [item for item in other._currencies(books) if item.account.total > decimal(item.total)]
        if short:
            return f" Kept {sign}, for the same promise, it would refuse: {short[0].sign} would be {short[0].spent}."
        left = [f"{item.sign} = {item.left:.4g} of {item.total:.4g}" for item in other._currencies(books) if item.total]
        return f" Kept {sign}, for the same promise, it would have {' and '.join(left)} left."

    @contextlib.contextmanager
    def alone_with_results(self) -> Iterator[Path]:
        """The folder of results, made if there is none, alone with it among those who ask so, until the block ends."""
        folder = self.results
        if folder is None:
            raise LedgerError("A ledger in memory keeps no results. Use Ledger.open(path, epsilon=...).")
        with storage.locked_folder(folder):
            yield folder

    @property
    def epsilon(self) -> float:
        """The whole budget of ε; of a ledger in ρ, the ε that its ρ stands for."""
        return self._epsilon

    @property
    def delta(self) -> float:
        """The whole budget of δ; of a ledger in ρ, that of releases which prove no ρ."""
        return self._delta

    @property
    def rho(self) -> float | None:
        """The whole budget of ρ; None for a ledger in ε."""
        return self._rho

    @property
    def promise(self) -> Guarantee:
        """What everything together promises when the budget is spent."""
        delta = up(decimal(self._delta) + decimal(self._at))
        return Guarantee(epsilon=self._epsilon, delta=min(delta, 1.0), neighbours=self.neighbours)

    @property
    def neighbours(self) -> Neighbours:
        """Whom the guarantees in this ledger speak of."""
        return self._neighbours

    @property
    def path(self) -> Path | None:
        """The ledger's file, by the name it was opened by; None for a ledger in memory."""
        return self._file.name if self._file else None

    @property
    def results(self) -> Path | None:
        """The folder beside the ledger's file itself in which results are kept; None for a ledger in memory."""
        return self._file.path.with_name(f"{self._file.path.name}.results") if self._file else None

    @property
    def spent(self) -> Guarantee:
        """The guarantee of everything that was released, rounded up."""
        with self._current() as (books, _):
            return self._spent(books)

    @property
    def remaining(self) -> Remaining:
        """The ε and δ that one more release may have, rounded down."""
        with self._current() as (books, _):
            return self._remaining(books)

    @property
    def amounts(self) -> list[str]:
        """What is spent of each part of the budget, and what remains, in words."""
        with self._current() as (books, _):
            return self._amounts(books)

    @property
    def remaining_rho(self) -> float | None:
        """The ρ that one more release may have, rounded down; None for a ledger in ε."""
        with self._current() as (books, _):
            return None if self._rho is None else self._currencies(books)[0].left

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All releases, oldest first."""
        with self._current() as (books, _):
            return tuple(books.entries)

    @property
    def head(self) -> Head:
        """How far the ledger is, to be signed and kept elsewhere; see `Head.sign` and `SignedHead.check`."""
        return self.head_at(len(self))

    def head_at(self, entries: int) -> Head:
        """The head of the ledger after a number of entries; the file is read and checked again from its first line."""
        if self._file is None:
            raise LedgerError("A ledger in memory has no head: keep it in a file, with Ledger.open(path, epsilon=...).")
        with self._current() as (books, handle):
            _checks.integer(low=0, high=len(books.entries), entries=entries)
            lines = self._file.lines_after(handle, 0)
        _, first = storage.read_header(lines[:1])
        last = first
        for number, line in enumerate(lines[1 : entries + 1], 2):
            _, last = storage.read_entry(line, number, last)
        return Head(first, entries, last)

    def report(self) -> list[dict[str, Any]]:
        """One row of plain values per release, for a table or a data frame."""
        return [entry.row() for entry in self.entries]

    def table(self) -> Table:
        """All releases, oldest first, with what was spent and what remains."""
        with self._current() as (books, _):
            entries, spent, left = tuple(books.entries), self._spent(books), self._remaining(books)
            notes = [f"spent: {text.replace(' spent', '')}" for text in self._amounts(books)]
        if self._rho is not None:
            notes.append(f"ρ = {self._rho!r} stands for ε = {self.epsilon:.4g} at δ = {self.promise.delta:.3g}")
            notes.append(f"spent: ε = {spent.epsilon:.4g} at δ = {spent.delta:.3g}, if fixed beforehand")
        if any(entry.group for entry in entries):
            notes.append("Of releases on disjoint parts, the worst part counts.")
        states = [self._state(entry) for entry in entries]
        if _LOST in states:
            notes.append(
                f"{_LOST}: booked, and its file is not there. The program was stopped, and the same command draws it; "
                "or the file was moved."
            )
        notes.append(f"neighbours: {self.neighbours}")
        about = {"budget": self._budget, "spent": spent.to_dict(), "remaining": left._asdict()}
        columns = _columns(entries, states, in_rho=self._rho is not None)
        return Table(self._name, columns, notes, about, noun="entry", empty="Nothing was released.")

    def is_kept(self, entry: Entry) -> bool:
        """Whether the result of an entry is in its file beside the ledger."""
        return self._state(entry) == str(entry.index)

    def _state(self, entry: Entry) -> str:
        """The number by which the result of an entry is shown again, or what became of it."""
        if entry.result is None or self.results is None:
            return ""
        return str(entry.index) if (self.results / entry.result).exists() else _LOST

    def __len__(self) -> int:
        return len(self.entries)

    def __bool__(self) -> bool:
        # An empty ledger is still a ledger: `ledger or Ledger()` must not drop it.
        return True

    def __repr__(self) -> str:
        return f"<{self._summary()}>"

    def _repr_html_(self) -> str:
        try:
            return self.table()._repr_html_()
        except BruitError:
            return f"<p>{html_text(self._summary())}</p>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._file is None:
            raise LedgerError(
                "A ledger in memory cannot be pickled: the copy would forget what is spent. "
                "Use Ledger.open(path, epsilon=...), which travels as its path."
            )
        return type(self).open, (str(self._file.path),)

    @property
    def _budget(self) -> dict[str, Any]:
        if self._rho is not None:
            return {"rho": self._rho, "delta": self.delta, "at": self._at, "neighbours": self.neighbours}
        return {"epsilon": self.epsilon, "delta": self.delta, "neighbours": self.neighbours}

    def _currencies(self, books: Books) -> list[_Currency]:
        """What is added up against the budget."""
        if self._rho is not None:
            return [
                _Currency("ρ", "rho", books.rho, self._rho, lambda entry: entry.cost.rho),
                _Currency("δ", "delta", books.failure, self._delta, lambda entry: entry.cost.failure),
            ]
        return [
            _Currency("ε", "epsilon", books.epsilon, self._epsilon, lambda entry: entry.guarantee.epsilon),
            _Currency("δ", "delta", books.delta, self._delta, lambda entry: entry.guarantee.delta),
        ]

    def _spent(self, books: Books) -> Guarantee:
        if self._rho is None:
            return books.spent
        spent, failure = up(books.rho.total), books.failure.total
        delta = up(failure + (decimal(self._at) if spent else 0))
        return Guarantee(epsilon=rho_to_epsilon(spent, self._at), delta=min(delta, 1.0), neighbours=self.neighbours)

    def _remaining(self, books: Books) -> Remaining:
        first, delta = (currency.left for currency in self._currencies(books))
        if self._rho is None:
            return Remaining(first, delta)
        return Remaining(_pure_epsilon(first), delta)

    def _amounts(self, books: Books) -> list[str]:
        """What is spent of each currency, and what remains; of δ only where there is any."""
        return [
            f"{item.sign} = {shown_up(item.account.total, item.total)} of {item.total!r} spent, {item.left_text} remain"
            for item in self._currencies(books)
            if item.name != "delta" or item.total or item.account.total
        ]

    @property
    def _name(self) -> str:
        return f"Ledger {self._file.name.name}" if self._file else "Ledger"

    def _summary(self) -> str:
        name = self._name
        try:
            with self._current() as (books, _):
                amounts, size = self._amounts(books), len(books.entries)
        except BruitError:
            return f"{name}: cannot be read now"
        return f"{name}: {'; '.join(amounts)}, entries: {size}, {self.neighbours}"

    def _book(
        self, lines: Sequence[Line], parts: Parts | None = None, part: str | None = None, result: str | None = None
    ) -> tuple[Entry, ...]:
        """Book all lines, or refuse them all."""
        if not lines:
            raise ParameterError("There is nothing to book: give at least one line.")
        with self._current(write=True) as (books, handle):
            index = len(books.entries)
            # A group is named after its first entry, so two blocks with one label stay two groups.
            group = (parts._group or f"{parts.label} #{index}") if parts else None
            entries = self._checked(books, lines, group=group, part=part, result=result)
            self._check_budget(books, entries)
            self._keep(books, handle, entries)
            if parts:
                parts._group = group
            return tuple(books.entries[index:])

    def _checked(self, books: Books, lines: Sequence[Line], **place: str | None) -> list[Entry]:
        """The entries that lines would become."""
        for line in lines:
            self._check_kind(line.guarantee)
        return [
            Entry(
                index=index,
                label=_checked_label(line.label),
                guarantee=line.guarantee,
                rho=_proven(line.guarantee, line.rho),
                **place,
            )
            for index, line in enumerate(lines, len(books.entries))
        ]

    def _check_kind(self, guarantee: Guarantee) -> None:
        if not isinstance(guarantee, Guarantee):
            raise ParameterTypeError("A ledger books a Guarantee, such as a mechanism's own.")
        check_adds([guarantee])
        if guarantee.neighbours != self.neighbours:
            raise LedgerError(_other_kind(self.neighbours, guarantee.neighbours))

    def _check_budget(self, books: Books, entries: Sequence[Entry]) -> None:
        """Refuse what does not fit, with what is needed and what is left of each currency, and what helps."""
        group, part = entries[0].group, entries[0].part
        requests = [currency.requested(entries, group, part) for currency in self._currencies(books)]
        short = [request for request in requests if request.is_short]
        if short:
            others = [request.others_text for request in requests if not request.is_short and request.currency.total]
            raise BudgetError(
                f"Budget exceeded: this release needs {', and '.join(request.text for request in short)}. "
                f"{''.join(others)}{self._advice(*requests)}",
                requested=up(short[0].increase),
                remaining=short[0].currency.left,
                total=short[0].currency.total,
            )

    def _advice(self, first: _Request, delta: _Request) -> str:
        """What helps: a change of the request that fits, or another ledger."""
        sign = first.currency.sign
        if not first.room:
            return f"No {sign} is left for these people, and every release needs some."
        changes, other = [], "a new ledger for the data of other people"
        if first.is_short and self._rho is None:
            changes.append("lower epsilon")
        elif first.is_short:
            most = _pure_epsilon(down(first.room))
            changes.append(f"lower epsilon (without δ, to {shown_down(decimal(most), 10 * most)} at most)")
        if delta.is_short:
            if not delta.currency.total:
                other = "a new ledger with a δ, as in delta=1e-6 (--budget 1,1e-6)"
            lower = ["lower delta"] if delta.room else []
            if self._rho is None:
                changes += lower or ["leave delta out, for Laplace noise and declared groups"]
            else:
                changes += [" or ".join([*lower, "declare its groups"])]
        text = f"{' and '.join(changes)}, or open {other}."
        reason = "It proves no ρ of itself, and so needs δ. " if delta.is_short and self._rho is not None else ""
        return f"{reason}{text[0].upper()}{text[1:]}"

    def _keep(self, books: Books, handle: int, entries: Sequence[Entry]) -> None:
        if self._file is None:
            for entry in entries:
                books.add(entry)
            return
        now, last, lines = datetime.now(UTC).isoformat(timespec="seconds"), books.last, b""
        for entry in entries:
            line = storage.entry_line({**entry.row(), "time": now}, last)
            _, last = storage.read_entry(line, entry.index + 2, last)
            lines += line
        self._file.append(handle, books.end, lines)
        # The books hold only what was read back: an interruption here cannot make them forget.
        self._catch_up(self._file, handle)

    @contextlib.contextmanager
    def _current(self, *, write: bool = False) -> Iterator[tuple[Books, int]]:
        """The books as they are now and the file's descriptor, ours alone until the block ends."""
        lock = self._lock
        if not lock.acquire(timeout=storage.PATIENCE):
            raise LedgerError("Another thread has held this ledger too long. Ask again.")
        try:
            if self._file is None:
                self._check_process(write)
                yield self._books, -1
            else:
                with self._file.locked(write=write) as handle:
                    self._catch_up(self._file, handle)
                    yield self._books, handle
        finally:
            lock.release()

    def _check_process(self, write: bool) -> None:
        if write and self._forked:
            raise LedgerError(
                "A ledger in memory cannot be spent from after a fork: the parent would not know. "
                "Use Ledger.open(path, epsilon=...), which processes share."
            )

    def _catch_up(self, file: storage.LedgerFile, handle: int) -> None:
        """Read and check what was appended since the last time, by whomever."""
        books = self._books
        try:
            lines = file.lines_after(handle, books.end)
            if not books.end:
                header, books.last = storage.read_header(lines[:1])
                books.end = len(lines.pop(0))
                if header != self._budget:
                    raise LedgerError("The ledger's budget was changed while in use.")
            for line in lines:
                books.read(line)
        except BaseException:
            # Half-read books are worth nothing: the next operation reads the file again.
            self._books = Books(self.neighbours)
            raise

    def _after_fork(self) -> None:
        # The lock and the books may have been in use by a thread that the child does not have.
        self._lock = threading.Lock()
        if self._file is None:
            self._forked = True
        else:
            self._books = Books(self.neighbours)


class Booking(_Shared):
    """A ledger as it is given to one release: its entries name the file in which the result is kept.

    See `Ledger.keeping`.
    """

    def __init__(self, ledger: Ledger, result: str | None = None) -> None:
        self.ledger = ledger
        self.result = result

    @property
    def neighbours(self) -> Neighbours:
        """Whom the guarantees in the ledger speak of."""
        return self.ledger.neighbours

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> Entry:
        """Book the release, as `Ledger.spend`."""
        return self.book([Line(guarantee, label, rho)])[0]

    def book(self, lines: Sequence[Line]) -> tuple[Entry, ...]:
        """Book several spends at once, as `Ledger.book`; all entries name the file."""
        return self.ledger._book(lines, result=self.result)

    @contextlib.contextmanager
    def parallel(self, label: str, *, fixed: bool = False) -> Iterator[Parts]:
        """Book releases on disjoint parts, as `Ledger.parallel`."""
        check_parts(self.neighbours, fixed=fixed)
        parts = Parts(self.ledger, _checked_label(label), self.result)
        try:
            yield parts
        finally:
            parts._open = False

    def __reduce__(self) -> NoReturn:
        raise LedgerError("A booking cannot be pickled; pickle a ledger on disk instead.")


class Parts(_Shared):
    """Disjoint parts of the data within one `Ledger.parallel` block."""

    def __init__(self, ledger: Ledger, label: str, result: str | None = None) -> None:
        self.ledger = ledger
        self.label = label
        self.result = result
        self._group: str | None = None
        self._open = True

    def spend(self, guarantee: Guarantee, part: str, *, rho: float | None = None) -> Entry:
        """Book a release on the part of this name. Two releases on one part add."""
        return self.part(part).spend(guarantee, part, rho=rho)

    def part(self, name: str) -> Part:
        """One part, to be given to releases as their ledger."""
        return Part(self, _checked_label(name))

    def __reduce__(self) -> NoReturn:
        raise LedgerError("A parallel block cannot be pickled; pickle a ledger on disk instead.")


class Part(_Shared):
    """One of the disjoint parts of a `Ledger.parallel` block. It is spent from like a ledger.

    >>> ledger = Ledger(epsilon=1.0)
    >>> share = Guarantee(epsilon=0.25, neighbours="add-remove")
    >>> with ledger.parallel("by sex") as parts:
    ...     women, men = parts.part("women"), parts.part("men")
    ...     for part, label in (women, "count"), (women, "mean age"), (men, "count"):
    ...         entry = part.spend(share, label)
    >>> ledger.spent.epsilon
    0.5
    """

    def __init__(self, parts: Parts, name: str) -> None:
        self.parts = parts
        self.name = name

    @property
    def neighbours(self) -> Neighbours:
        """Whom the guarantees in the ledger speak of."""
        return self.parts.ledger.neighbours

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> Entry:
        """Book a release on this part, or refuse it with `BudgetError` and book nothing."""
        return self.book([Line(guarantee, label, rho)])[0]

    def book(self, lines: Sequence[Line]) -> tuple[Entry, ...]:
        """Book several spends on this part at once, as `Ledger.book`."""
        parts = self.parts
        if not parts._open:
            raise LedgerError("This parallel block has ended. Spend inside its `with` block.")
        return parts.ledger._book(lines, parts, self.name, parts.result)

    def __reduce__(self) -> NoReturn:
        raise LedgerError("A parallel block cannot be pickled; pickle a ledger on disk instead.")


def _checked_label(label: str) -> str:
    """A label is public and stands on one line of a file."""
    rule = f"label must be 1 to {_LONGEST_LABEL} printable characters on one line."
    if not isinstance(label, str):
        raise ParameterTypeError(rule)
    if not (label.isprintable() and 1 <= len(label) <= _LONGEST_LABEL):
        raise ParameterError(rule)
    return label


class _Currency(NamedTuple):
    """One of the sums of a ledger: its sign, its account, the budget, and what an entry costs."""

    sign: str
    name: str
    account: Account
    total: float
    cost: Callable[[Entry], float]

    @property
    def left(self) -> float:
        """What remains, rounded down."""
        return down(self._rest)

    @property
    def left_text(self) -> str:
        """What remains, in few digits, rounded down."""
        return shown_down(self._rest, self.total)

    @property
    def _rest(self) -> Fraction:
        return max(decimal(self.total) - self.account.total, Fraction(0))

    @property
    def spent(self) -> str:
        """What is spent, to be read."""
        return f"{up(self.account.total):.4g} of {self.total:.4g}"

    def requested(self, entries: Sequence[Entry], group: str | None, part: str | None) -> _Request:
        """What entries on all data, or on one of several disjoint parts, would cost."""
        amount = sum((decimal(self.cost(entry)) for entry in entries), Fraction(0))
        increase = self.account.total_with(amount, group, part) - self.account.total
        return _Request(self, amount, increase, self._rest + self.account.slack(group, part))


class _Request(NamedTuple):
    """What a request costs of a currency, by how much it raises the total, and what it could cost at most."""

    currency: _Currency
    amount: Fraction
    increase: Fraction
    room: Fraction

    @property
    def is_short(self) -> bool:
        """Whether the budget does not suffice."""
        return self.currency.account.total + self.increase > decimal(self.currency.total)

    @property
    def text(self) -> str:
        """What is needed, and what remains."""
        sign, total, left = self.currency.sign, self.currency.total, self.currency.left_text
        if not total:
            return f"{sign}={up(self.amount)!r}, and this ledger has no {sign}"
        needed = f"{sign}={shown_up(self.amount, total)}"
        if self.increase == self.amount:
            return f"{needed}, {left} remain of {total!r}"
        return f"{needed} for its part, {shown_down(self.room, total)} remain for that and {left} of {total!r} for all"

    @property
    def others_text(self) -> str:
        """What remains of a currency that suffices."""
        return f"Of {self.currency.sign}, {self.currency.left_text} remain of {self.currency.total!r}. "


def _check_alone(**options: float | None) -> None:
    """Options that make no sense beside another kind of budget."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"A ledger is kept in ρ or in ε: leave {name} out.")


def _in_rho(epsilon: float, delta: float) -> tuple[float, float, float]:
    """ρ, the δ at which it stands for ε, and the δ of releases without ρ, which together promise (ε, δ)."""
    at = down(decimal(delta) * Fraction(9, 10))
    rho = epsilon_to_rho(epsilon, at)
    unit = Fraction(10) ** (math.floor(math.log10(rho)) - 5)  # six digits, which people can read
    return down(decimal(rho) // unit * unit), at, down(decimal(delta) - decimal(at))


def _pure_epsilon(rho: float) -> float:
    """The largest ε, or nearly, whose ε²/2 fits in ρ."""
    epsilon = math.sqrt(2 * rho)
    while decimal(pure_rho(epsilon)) > decimal(rho):
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon


def _other_kind(kept: str, wanted: str) -> str:
    """Why a ledger books no release for other neighbours, and what helps."""
    reason = f"This ledger is kept for {kept!r} neighbours, the release's guarantee is for {wanted!r}."
    if kept == f"person-{wanted}":
        return (
            f"{reason} The release protects a row, and the ledger people with all their rows: name the person and how "
            'many rows count, as in person="user_id", rows=10 (--person user_id:rows=10), or use another ledger.'
        )
    if wanted == f"person-{kept}":
        return (
            f"{reason} The release protects people with all their rows, and the ledger rows, whose ε says less: start "
            "another ledger for people."
        )
    return f"{reason} Declare the ledger's for the release, or keep another ledger, with neighbours={wanted!r}."


def _proven(guarantee: Guarantee, rho: float | None) -> float | None:
    """The ρ of a release: the one it proves of itself; of a pure one not above that of any pure release."""
    stated = None if rho is None else _checks.non_negative(rho=rho)
    if guarantee.delta:
        return stated
    pure = pure_rho(guarantee.epsilon)
    return pure if stated is None else min(stated, pure)


def _columns(entries: Sequence[Entry], states: Sequence[str], *, in_rho: bool) -> list[Column]:
    """What programs get of each release; people read what was released, when, and for how much."""
    rows = [entry.row() for entry in entries]
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    names = [entry.group or entry.label for entry in entries]
    return [
        Column("index", columns["index"], hidden=True),
        Column("label", columns["label"], hidden=True),
        Column("group", columns["group"], hidden=True),
        Column("", names, "release", "label", str),
        Column("part", columns["part"], None, "label", _or_nothing, hidden=not any(columns["part"])),
        Column("time", columns["time"], "booked (UTC)", "text", _minute, hidden=not any(columns["time"])),
        Column("epsilon", columns["epsilon"], "ε", write=digits(6)),
        Column("delta", columns["delta"], "δ", write=digits(3), hidden=not any(columns["delta"])),
        Column("rho", columns["rho"], hidden=True),
        Column("", [entry.cost.rho for entry in entries], "ρ", write=digits(4), hidden=not in_rho),
        Column("result", columns["result"], hidden=True),
        Column("lost", [state == _LOST for state in states], hidden=True),
        Column("", states, "result", "text", str, hidden=not any(states)),
    ]


def _or_nothing(text: str | None) -> str:
    return text or ""


def _minute(time: str | None) -> str:
    """A time without its seconds and zone, which is always UTC."""
    return (time or "").replace("T", " ")[:16]


def _refresh_after_fork() -> None:
    for ledger in list(_alive):
        ledger._after_fork()


_alive: weakref.WeakSet[Ledger] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_refresh_after_fork)
