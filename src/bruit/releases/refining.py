"""Refine a result: pay for a second draw of the same statistic of the same table, and combine both.

The noisy sums of both draws are combined by inverse variance, before anything is clamped or made to agree. Where both
have Laplace noise of the same sums, the second draw depends on the first instead, and holds all that both tell: a pair
is then as good as one draw that costs as much. See ``refining.proof.md``.

What needs no sums cannot be refined: the combination of two quantiles is no quantile, and of two lists of groups that
have passed a threshold it is known which groups were near it.
"""

from __future__ import annotations

import copy
import math
import os
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bruit import _checks, documents, engines
from bruit.errors import DesignError, LedgerError, ParameterError
from bruit.privacy import Entry, Ledger
from bruit.privacy.ledger import Line
from bruit.releases.combined import CombinedNoise
from bruit.releases.draws import DrawnSums, Draws
from bruit.releases.kept import Kept, Once, document, read_result
from bruit.releases.noise import MOST_SUM, DiscreteLaplace
from bruit.releases.release import Release
from bruit.releases.result import Result, Results, labelled
from bruit.releases.sources import SourceMark, SourceRecords
from bruit.releases.statistic import Statistic
from bruit.rounding import decimal, down, up

__all__ = ["Refinement", "refine_once", "why_not"]

#: The most sums whose second draw depends on the first: each takes about a quarter of a millisecond.
MOST_SUMS = 2**16
#: The longest label of a ledger, and what is added to that of a refined line.
_LABEL, _REFINED = 200, ", refined"
CHANGED = (
    "The table has changed since, or is another one, or is read in another way: a refined number would be of two "
    "tables. Draw it again for the new table, with --again."
)


def why_not(result: Result) -> str:
    """Why a result cannot be refined; nothing if it can."""
    kind = str(result.statistic.get("kind"))
    if result.simulated:
        return "its noise came from a seed"
    if result.draws is not None:
        return ""
    if kind == "groups":
        return "its groups are undeclared, and draws that passed a threshold do not combine"
    if kind not in Statistic.kinds or not Statistic.kinds[kind].kind.has_sums:
        return f"{kind} is no function of noisy sums, and two draws of it do not combine"
    if "by" in result.statistic:
        return "its groups are undeclared, so that its draws passed a threshold, or an older version drew it"
    return "an older version drew it, which kept no noisy sums"


@dataclass(frozen=True)
class Refinement:
    """A second draw of a result, and what becomes of both.

    Parameters
    ----------
    result
        The result that is refined, with its draws.
    epsilon, delta
        What the second draw costs.
    gradual
        Whether the second draw may depend on the first. A ledger in ρ books each draw by itself: there it may not.
    title
        The name that the statistic has now; that of the first draw by default.

    Guarantee
    ---------
    Both draws together promise (ε₁ + ε₂, δ₁ + δ₂): by composition, or because the pair is a function of one draw of
    ε₁ + ε₂ and of randomness that knows no data.
    """

    result: Result
    epsilon: float
    delta: float = 0.0
    gradual: bool = True
    title: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.spent_epsilon(epsilon=self.epsilon))
        object.__setattr__(self, "delta", _checks.fraction(delta=self.delta))
        reason = why_not(self.result)
        if not reason and self._name_of_kind == "tables" and bool(self.delta) != bool(self._draws.draws[0].delta):
            reason = "tables have other sums with a δ than without: give a δ if the first draw has one, and else none"
        if reason:
            raise ParameterError(f"{self.result.name} cannot be refined: {reason}. A new draw is paid for in full.")
        _ = self.whole  # ε beyond the limits is found here

    @property
    def _draws(self) -> Draws:
        draws = self.result.draws
        if draws is None or draws.release is None:
            raise ParameterError(f"{self.result.name} has no noisy sums.")
        return draws

    @property
    def _name_of_kind(self) -> Any:
        return self.result.statistic.get("kind")

    @property
    def first_name(self) -> str:
        """The name of the statistic in the release of the first draw."""
        return str((self._draws.release or {})["statistics"][0]["name"])

    @property
    def name(self) -> str:
        """The name of the statistic now."""
        return self.title or self.first_name

    @property
    def depends(self) -> bool:
        """Whether the second draw depends on the first, and both cost no more than one of the sum of their ε."""
        (first, *more), whose = self._draws.draws, (self._draws.release or {}).get("person")
        numbers = [own.values for own in first.sums]
        return (
            self.gradual
            and not more
            and not self.delta
            and whose is None  # other rows of a person count in each draw
            and all(isinstance(own.noise, DiscreteLaplace) for own in first.sums)
            and sum(values.size for values in numbers) <= MOST_SUMS
            and all(abs(int(number)) < MOST_SUM for values in numbers for number in values)
        )

    def release(self) -> Release:
        """The release of the second draw; what it books is the second draw's ε and δ."""
        release = self._release(self.epsilon, self.delta)
        if self.depends:
            first = self._draws.draws[0]
            total = down(decimal(first.epsilon) + decimal(self.epsilon))
            statistic = self._release(total, 0.0).statistics[self.name]
            release.parts[0].follow(self.name, statistic.after(first.sums))
        return release

    @cached_property
    def whole(self) -> Release:
        """The release as if both draws were one, with the sum of what they cost."""
        paid = [(draw.epsilon, draw.delta) for draw in self._draws.draws] + [(self.epsilon, self.delta)]
        epsilon, delta = (up(sum(map(decimal, column))) for column in zip(*paid, strict=True))  # type: ignore[arg-type]
        return self._release(epsilon, delta)

    def _release(self, epsilon: float, delta: float) -> Release:
        body: Any = copy.deepcopy(dict(self._draws.release or {}))
        (statistic,) = body["statistics"]
        statistic["name"], statistic["epsilon"] = self.name, epsilon
        statistic.pop("delta", None)
        if delta:
            statistic["delta"] = delta
        return Release.from_dict(body)

    def combined(self, second: Result) -> Result:
        """The refined result, of the first and of what `release` has drawn."""
        if second.draws is None or second.simulated:
            raise ParameterError("A draw from a seed refines nothing.")
        (draw,) = second.draws.draws
        draws = (draw,) if self.depends else (*self._draws.draws, draw)
        whole, name = self.whole, self.name
        part, groups = whole.parts[0], max(1, len(whole.groups))
        if [own.values.size for own in draw.sums] != [own.values.size for own in self._draws.draws[0].sums]:
            raise DesignError("The draws are not of the same statistic.", expected=name, actual=second.name)
        sums = [_combine(own) for own in zip(*(item.sums for item in draws), strict=True)]
        size = len(sums) // groups
        results = [part.drawn[name].of_sums(sums[place : place + size]) for place in range(0, len(sums), size)]
        grouping: Any = part.grouping
        result = labelled(grouping.gathered(part, name, results), self.result.statistic.get("label"))
        body = whole.to_dict()
        return replace(result, draws=Draws(draws, body), notes=(*result.notes, self.note()))

    def note(self) -> str:
        """How exact both draws are together, in words."""
        paid = [draw.epsilon for draw in self._draws.draws] + [self.epsilon]
        total = f"{up(sum(map(decimal, paid))):.4g}"  # type: ignore[arg-type]
        if self.depends:
            return f"refined: the second draw depends on the first, and is as exact as one draw of ε = {total}"
        several = f"refined: {len(paid)} draws, combined by inverse variance"
        if not self.delta and not any(draw.delta for draw in self._draws.draws):
            root = math.sqrt(math.fsum(own**2 for own in paid))
            return f"{several}; under pure ε they are as exact as one of ε = {root:.4g}, and cost ε = {total}"
        if self.delta and all(draw.delta for draw in self._draws.draws):
            return f"{several}; they are as exact as one draw of the sum of their ρ"
        return several


def _combine(sums: tuple[DrawnSums, ...]) -> DrawnSums:
    """The noisy sums of several draws as one."""
    if len(sums) == 1:
        return sums[0]
    if len({own.n for own in sums}) > 1:
        raise DesignError("The draws are of tables of different sizes.", expected="one size", actual="several")
    noise = CombinedNoise.of([own.noise for own in sums])
    return DrawnSums(noise, noise.combine([own.values for own in sums]), sums[0].n)


def refine_once(
    ledger: Ledger, entry: int, table: str | os.PathLike[str], epsilon: float, *, delta: float | None = None
) -> Kept:
    """Refine the result of an entry by a second draw of the same file; the same call again shows what is kept.

    Parameters
    ----------
    ledger
        A ledger in a file.
    entry
        The number of the entry, which is that of one statistic.
    table
        The file of the table, whose bytes must be those of the first draw.
    epsilon
        What is booked for the second draw.
    delta
        The δ of the second draw; that of the first by default.
    """
    first, result = _result_of(ledger, entry)
    earlier: str = first.result or ""
    draw_delta = (result.draws.draws[0].delta if result.draws else 0.0) if delta is None else delta
    refinement = Refinement(result, epsilon, draw_delta, gradual=ledger.rho is None)
    release = refinement.release()
    lines = release.lines(f"{first.label.removesuffix(_REFINED)[: _LABEL - len(_REFINED)]}{_REFINED}")
    once = Once(ledger, _file(first, refinement.name), lines, read_result)
    _check_booked(once, lines)
    _check_saved(once, refinement)
    if once.is_finished and once.saved():
        return _kept(once, None)
    records = SourceRecords.of(ledger)
    check_recorded(records, earlier, result.name)
    check_free(records, ledger, earlier, refinement.name, once.name)
    if once.missing_lines:
        ledger.check(once.missing_lines)
    mark = records.mark(table, records.text_of(earlier))
    check_mark(records, [earlier], mark)
    raw = release.fold(engines.Source(os.fspath(table), records.text_of(earlier)))
    release.check(raw)
    check_current(mark)
    drawn: list[Results] = []

    def draw() -> str:
        SourceRecords.of(ledger).record(once.name, mark)
        (second,) = release.publish(raw, label=None).values()
        drawn.append(Results({refinement.name: refinement.combined(second)}))
        return document(drawn[0]) + "\n"

    with ledger.alone_with_results():
        claim(ledger, earlier, refinement.name, once.name)
        is_new = once.run_alone(draw)
    return _kept(once, drawn[0] if is_new else None)


def _result_of(ledger: Ledger, number: int) -> tuple[Entry, Result]:
    """An entry, and the result of its statistic."""
    entries = ledger.entries
    if not 0 <= number < len(entries) or entries[number].result is None or ledger.results is None:
        raise ParameterError(f"Entry {number} has no result beside this ledger.")
    entry = entries[number]
    path = ledger.results / str(entry.result)
    if path.name.startswith("publication-"):
        raise ParameterError(
            f"Entry {number} is of a publication: raise its epsilon in the file, and bruit publish refines it."
        )
    if not path.exists():
        raise LedgerError(f"{path.name} is not in {path.parent.name}: restore it from a copy.")
    results = read_result(path.read_bytes())
    place = [other.index for other in entries if other.result == entry.result].index(entry.index)
    if not isinstance(results, Results) or place >= len(results):
        raise ParameterError(f"Entry {number} is no result of a statistic.")
    return entry, list(results.values())[place]


def _file(entry: Entry, statistic: str) -> str:
    """The one file that refines a statistic of a result, whatever ε is paid."""
    slug = re.sub(r"(-refined)?-[0-9a-f]{16}.*", "", str(entry.result))[:40]
    return f"{slug}-refined-{documents.digest({'refines': entry.result, 'statistic': statistic})[:16]}.json"


def _check_booked(once: Once, lines: list[Line]) -> None:
    """One result is refined once: another amount is for what came of it."""
    booked = once.entries
    if booked and booked[0].guarantee != lines[0].guarantee:
        raise ParameterError(
            f"This result was refined before, with {booked[0].guarantee}, in entry {booked[0].index}: refine that "
            "one. One that was stopped is finished with the same ε."
        )


def _check_saved(once: Once, refinement: Refinement) -> None:
    """A file without its lines is booked again: with what it cost, and no other amount."""
    if once.entries or not once.path.exists():
        return
    results = read_result(once.path.read_bytes())
    (saved,) = results.values() if isinstance(results, Results) and len(results) == 1 else (None,)
    whole = refinement.whole.guarantee
    if saved is None or (saved.guarantee.epsilon, saved.guarantee.delta) != (whole.epsilon, whole.delta):
        raise LedgerError(
            f"{once.name} is beside the ledger, and not in it: the ledger was put back to an older copy. Restore the "
            "ledger, or refine with the ε and δ of that time, which are then booked again."
        )


def check_recorded(records: SourceRecords, name: str, what: str) -> None:
    """That it is known of which bytes a result was drawn."""
    if name not in records.draws:
        raise ParameterError(
            f"{what} cannot be refined: it is not known of which bytes it was drawn. Frames, queries, pipes, folders "
            "and Spark leave no digest, nor do versions before this one."
        )


def check_free(records: SourceRecords, ledger: Ledger, earlier: str, statistic: str, by: str) -> None:
    """That nothing else has refined a draw: a second draw that depends on it may be the only one.

    A claim is void if it was never booked. A file that the ledger lacks is of one that was put back to an older copy.
    """
    other = records.refinement(earlier, statistic)
    is_saved = bool(other) and ledger.results is not None and (ledger.results / other).exists()
    is_void = not is_saved and not any(entry.result == other for entry in ledger.entries)
    if other and other != by and not is_void:
        raise LedgerError(f"{statistic} was refined before, in {other}: refine that one, or restore it from a copy.")


def check_mark(records: SourceRecords, names: list[str], mark: SourceMark | None) -> None:
    """That a file has the bytes of which these results were drawn. The answer is for the steward alone."""
    if mark is None or not all(records.agrees(name, mark) for name in names):
        raise ParameterError(CHANGED)


def check_current(mark: SourceMark | None) -> None:
    """That a file did not change while it was read."""
    if mark is None or not mark.is_current:
        raise ParameterError("The table was written to while it was read: nothing was booked.")


def claim(ledger: Ledger, earlier: str, statistic: str, by: str) -> None:
    """Write down what refines a draw before it is booked; the caller holds the lock of the folder of results."""
    records = SourceRecords.of(ledger)
    check_free(records, ledger, earlier, statistic, by)
    records.claim(earlier, statistic, by)


def _kept(once: Once, drawn: Results | None) -> Kept:
    entry = once.entries[0]
    result = read_result(once.path.read_bytes()) if drawn is None else drawn
    return Kept(result, once.path, entry.index, entry.time or "", is_new=drawn is not None)
