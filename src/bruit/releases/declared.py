"""Statistics by a line of text: ``variance: age=0..120``, ``tables: sex=F,M & smokes=no,yes missing=category``.

The option ``--statistic`` has this spelling. A publication file says the same in keys of its own. What the questions
and options of a kind are is its own business: `Statistic.declared`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bruit import _checks
from bruit.domains.declare import column_name
from bruit.errors import ParameterError
from bruit.releases.counts import Count, Histogram
from bruit.releases.moments import Mean, Sum, Variance
from bruit.releases.person import Person
from bruit.releases.power_bounds import PowerBounds
from bruit.releases.quantiles import Median, Quantiles
from bruit.releases.release import Release
from bruit.releases.statistic import Statistic
from bruit.releases.tables import Tables
from bruit.releases.widths import Within
from bruit.rounding import decimal, decimal_share, down, up

__all__ = ["Declaration", "declared_release", "kind_name", "read_declaration", "statistic_kind"]

#: What people may call a kind, and its name here.
_OTHER_WORDS = {
    "average": "mean", "avg": "mean", "total": "sum", "number": "count", "size": "count", "frequency": "histogram",
    "frequencies": "histogram", "distribution": "histogram", "percentile": "quantiles", "percentiles": "quantiles",
    "deciles": "quantiles", "quartiles": "quantiles", "var": "variance", "range": "bounds", "cross": "tables",
    "table": "tables",
}  # fmt: skip

for _kind, _meaning in (
    (Count, "how many records there are"),
    (Histogram, "how many records have each value"),
    (Sum, "the sum of a number"),
    (Mean, "the mean of a number"),
    (Variance, "the variance of a number"),
    (Median, "the median of a number or date"),
    (Quantiles, "quantiles of a number or date"),
    (PowerBounds, "powers of two between which a number lies"),
    (Tables, "counts of every two columns"),
):
    Statistic.kinds.add(_kind.kind, _kind, _meaning)


@dataclass(frozen=True)
class Declaration:
    """A statistic as it is declared, before it has its part of ε.

    Parameters
    ----------
    kind
        A name in `Statistic.kinds`.
    questions
        Columns and what they can be, as in ``["age=0..120"]``.
    options
        Values of the kind's `option_names`.

    Examples
    --------
    >>> Declaration("mean", ["age=0..120"]).statistic(epsilon=0.5).title
    'mean of age'
    """

    kind: str
    questions: Sequence[str] = ()
    options: Mapping[str, Any] | None = None

    def statistic(self, **privacy: Any) -> Statistic:
        """The statistic with its ``delta``, ``neighbours``, and ``epsilon`` unless that follows from a width."""
        return statistic_kind(self.kind).declared(self.questions, {**(self.options or {}), **privacy})

    @property
    def has_width(self) -> bool:
        """Whether it says a width in place of ε."""
        return (self.options or {}).get("within") is not None

    def with_rows(self, n: int | None) -> Declaration:
        """The declaration, whose width, if it has one, is that of a table with n records."""
        if not self.has_width:
            return self
        options = dict(self.options or {})
        return replace(self, options={**options, "within": Within.of(options["within"], n)})

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its questions, and that of its weights.

        >>> Declaration("mean", ["age=0..120"], {"weighted_by": "stands_for=0..5"}).columns
        ('age', 'stands_for')
        """
        weights = (self.options or {}).get("weighted_by")
        return tuple(column_name(text) for text in (*self.questions, *([weights] if weights else [])))

    def with_policies(self, name: str, policies: Mapping[str, str]) -> Declaration:
        """The declaration with policies by column, under ``""`` that of all others, unless it has one of its own.

        >>> Declaration("mean", ["age=0..120"]).with_policies("missing", {"": "refuse", "age": "drop"}).options
        {'missing': 'drop'}
        """
        options = dict(self.options or {})
        own = {column: policies[column] for column in self.columns if column in policies}
        takes = name in statistic_kind(self.kind).option_names() or "weighted_by" in options
        if name in options or not takes or not (own or "" in policies):
            return self
        if len(self.questions) > 1:
            options[name] = {**({"": policies[""]} if "" in policies else {}), **own}
        else:
            options[name] = next(iter(own.values()), policies.get(""))
        return replace(self, options=options)


def declared_release(
    declarations: Sequence[Declaration],
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    neighbours: Any = "add-remove",
    by: Mapping[str, Any] | None = None,
    person: Person | None = None,
) -> Release:
    """The release of several declarations. Widths take the least ε that gives them, and the others equal shares.

    Parameters
    ----------
    declarations
        What is published.
    epsilon, delta, neighbours
        What all results together promise, at most. Without an ε every declaration must have a width.
    by
        The groups by column; None in place of a domain for undeclared groups. Those of many people are then named and
        counted, which is what the one declaration of a count stands for.
    person
        Whose rows are bounded, and how many count.

    Examples
    --------
    >>> both = [Declaration("count"), Declaration("mean", ["age=0..120"])]
    >>> [item.epsilon for item in declared_release(both, epsilon=1.0).statistics.values()]
    [0.5, 0.5]
    """
    if any(item.has_width for item in declarations):
        if by and None in by.values():
            raise ParameterError("Undeclared groups have noise with a threshold: declare epsilon, not within.")
        return _release_of_widths(
            declarations, epsilon, delta, neighbours, lambda statistics: Release(statistics, by or None, person)
        )
    if epsilon is None:
        raise ParameterError("Say an epsilon, or a width for each statistic, as in within=50.")
    share = decimal_share(epsilon, len(declarations))
    if by and None in by.values():
        whole = {"delta": delta} if delta else {}
        named = [
            item.statistic(epsilon=share, neighbours=neighbours, **(whole if item.kind == "count" else {}))
            for item in declarations
        ]
        return Release(named, list(by), person)
    privacy: dict[str, Any] = {"epsilon": share, "neighbours": neighbours}
    if delta:
        privacy["delta"] = decimal_share(delta, len(declarations))
    return Release([item.statistic(**privacy) for item in declarations], by or None, person)


def _release_of_widths(
    declarations: Sequence[Declaration],
    epsilon: float | None,
    delta: float,
    neighbours: Any,
    releasing: Callable[[list[Statistic]], Release],
) -> Release:
    """A release in which widths decide: each takes its least ε, and statistics without a width share what is left."""
    widths = [item for item in declarations if item.has_width]
    whole = decimal_share(delta, len(declarations)) if delta else 0.0
    deltas = [whole] * len(widths)

    def settled() -> Release:
        privacy = [{"delta": part} if part else {} for part in deltas]
        pairs = zip(widths, privacy, strict=True)
        return releasing([item.statistic(neighbours=neighbours, **own) for item, own in pairs])

    release = settled()
    if delta:  # ε as a function of δ is flattest where each part of δ is in proportion to its ε
        epsilons = [item.epsilon for item in release.statistics.values()]
        unit = decimal(delta) * len(widths) / len(declarations) / _total(epsilons)
        deltas = [down(decimal(own) * unit) for own in epsilons]
        release = settled()
    others = [item for item in declarations if not item.has_width]
    rest = _left_for(others, release, epsilon)
    if not others:
        return release
    privacy = {"epsilon": rest, "neighbours": neighbours, **({"delta": whole} if whole else {})}
    own = iter(release.statistics.values())
    statistics = [next(own) if item.has_width else item.statistic(**privacy) for item in declarations]
    return releasing(statistics)


def _left_for(others: Sequence[Declaration], release: Release, epsilon: float | None) -> float:
    """The share of each statistic without a width in what widths leave of ε; widths beyond it are refused."""
    if epsilon is None:
        if others:
            raise ParameterError("Some statistics have no width: say the epsilon of all, or a width for each.")
        return 0.0
    widths = _total(item.epsilon for item in release.statistics.values())
    left = decimal(_checks.spent_epsilon(epsilon=epsilon)) - widths
    if left < 0 or (others and not left):
        raise ParameterError(out_of_reach(release, epsilon))
    return decimal_share(down(left), len(others)) if others else 0.0


def out_of_reach(release: Release, epsilon: float) -> str:
    """That widths need more than an ε, and what could be had with it."""
    needed = up(_total(item.epsilon for item in release.statistics.values()))
    offers = [
        f"{name} within {part.half_width(name, item.epsilon * epsilon / needed):.3g}"
        for part in release.parts
        for name, item in part.statistics.items()
    ]
    return (
        f"These widths need ε = {needed:.4g}, and there is {epsilon:g}. With that there could be {', '.join(offers)}."
    )


def _total(numbers: Iterable[float]) -> Fraction:
    return sum(map(decimal, numbers), Fraction(0))


def statistic_kind(name: Any, where: str = "") -> type[Statistic]:
    """The class of a kind, in any case."""
    return Statistic.kinds[kind_name(name, where)].kind


def kind_name(name: Any, where: str = "") -> str:
    """A kind as it is spelt in `Statistic.kinds`, from any case; of other words for one, the error says which it is."""
    word = name.strip().lower() if isinstance(name, str) else name
    known = {kind.lower(): kind for kind in Statistic.kinds}
    if isinstance(word, str) and word in known:
        return known[word]
    if isinstance(word, str) and word in _OTHER_WORDS:
        raise ParameterError(
            f'{where}kind must be a known word, got {name!r}. Did you mean kind = "{_OTHER_WORDS[word]}"?'
        )
    return _checks.one_of(tuple(Statistic.kinds), **{f"{where}kind": name})


def read_declaration(text: str) -> Declaration:
    """The declaration that a text is: ``KIND: QUESTION [& QUESTION] [option=value]``.

    >>> read_declaration("quantiles: age=0..120:1 at=0.1,0.9 method=joint").options
    {'at': '0.1,0.9', 'method': 'joint'}
    >>> read_declaration("tables: sex=F,M & smokes=no,yes").questions
    ('sex=F,M', 'smokes=no,yes')
    """
    word, colon, _ = _masked(text).partition(":")
    if "=" in word or (not colon and word.strip().lower() not in {name.lower() for name in Statistic.kinds}):
        raise ParameterError(
            "A statistic must begin with its kind and a colon, as in variance: age=0..120. Kinds are "
            f"{', '.join(Statistic.kinds)}."
        )
    name = kind_name(text[: len(word)])
    kind = statistic_kind(name)
    rest = text[len(word) + 1 :]
    end, options = _options(rest, kind)
    questions = _split(rest[:end])
    return Declaration(name, questions, options)


def _masked(text: str) -> str:
    """The text with what is in quotes blotted out: there, no mark has a meaning."""
    return re.sub(r'"[^"]*"', lambda quoted: "_" * len(quoted[0]), text)


def _options(text: str, kind: type[Statistic]) -> tuple[int, dict[str, Any]]:
    """Where the options begin, and their values; they stand behind the last question."""
    masked = _masked(text)
    last = masked.rfind(" & ") + 1
    first = masked.find("=", last) + 1 if "=" in kind.example() else last
    words = [word for word in re.finditer(r"(?:^|(?<=\s))([A-Za-z_]\w*)=", masked) if word.start() >= first]
    values: dict[str, Any] = {}
    for place, word in enumerate(words):
        end = words[place + 1].start() if place + 1 < len(words) else len(text)
        name = word[1]
        known = (*kind.option_names(), *kind.width_options())
        if name not in known:
            near = _checks.suggestion(name, known)
            listed = ", ".join(known)
            raise ParameterError(f"Kind {kind.kind!r} has no option {name!r}.{near} It has {listed or 'none'}.")
        if name in values:
            raise ParameterError(f"The option {name!r} stands there twice: give it once.")
        values[name] = _value(text[word.end() : end].strip())
    return (words[0].start() if words else len(text)), values


def _value(text: str) -> Any:
    """A number as a number; every other value as it is written."""
    if re.fullmatch(r"[+-]?[0-9]{1,15}", text):
        return int(text)
    number = r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
    return float(text) if re.fullmatch(number, text) else text


def _split(text: str) -> tuple[str, ...]:
    """The questions, with & between them."""
    ends = [mark.span() for mark in re.finditer(r"\s&\s", _masked(text))]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(text)]
    questions = [text[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]
    return tuple(question for question in questions if question)
