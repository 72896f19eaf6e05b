"""A statistic: whole numbers counted from records, the noise that one record's change needs, and a published result.

A statistic is a value. `count` is the only code that sees records; `change` bounds what one record moves; `publish`
draws the noise and sees nothing else. `Release` reads the data once for several statistics, books them and publishes.

`AdditiveStatistic` is for sums with Laplace or Gaussian noise: what is published is a function of the noisy sums, so
nothing without noise can reach a result, and the privacy loss is that of the sums.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents, rounding
from bruit.domains.codes import Codes
from bruit.domains.declare import counted_question, number_question
from bruit.domains.domain import Domain
from bruit.domains.grid import checked_bounds
from bruit.domains.interval import Interval
from bruit.domains.outside import check_outside, clamping, declared_outside
from bruit.domains.policy import POLICIES, Policy, moved, written
from bruit.domains.schema import domain_from_dict
from bruit.engines import batch as batching
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, FormatError, LimitError, ParameterError, ParameterTypeError, translated
from bruit.estimation.tally import Counts, RawTally
from bruit.privacy.booking import LedgerLike
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.zcdp import epsilon_to_rho, pure_rho
from bruit.registry import Registry
from bruit.releases.draws import DrawnSums, Draws
from bruit.releases.gradual import GradualLaplace
from bruit.releases.laws import OutcomeLaw, SumLaw
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace, Integers, Noise, add, cut
from bruit.releases.person import Contribution
from bruit.releases.result import Floats, Result
from bruit.releases.widths import LEVEL, WidthLike, Within, least_epsilon
from bruit.tables import Described, number
from bruit.typing import SourceLike

if TYPE_CHECKING:
    from bruit.releases.release import Release

__all__ = ["AdditiveStatistic", "CentralNeighbours", "Change", "Floats", "Statistic"]

#: Whom the guarantee of a central release speaks of.
CentralNeighbours = Literal["add-remove", "replace"]
#: The words for it, for checks.
CENTRAL: tuple[CentralNeighbours, ...] = ("add-remove", "replace")
#: The number of records that are summed without a cut, whatever they are.
MOST_RECORDS = 2**40
#: The name of the one column of data that come without names.
VALUES = "values"

#: How a kind may be written: it stands before a colon on the command line, and in documents.
_KIND = re.compile(r"[^\W\d_][^:=&\n]{0,59}")


#: The fields that a declaration has from its question, and those that say what is promised.
_QUESTION_FIELDS = ("column", "domain", "bounds", "policy", "step", "epsilon", "delta", "neighbours")


class Change(NamedTuple):
    """The most that one record changes the numbers that noise is added to: in L1, and as the square of L2."""

    l1: int
    l2_squared: int


class Statistic(Described, ABC):
    """A statistic of raw records that is published with noise.

    A subclass is a frozen dataclass with a `kind`, and has `size`, `count` and `publish`; those of bruit, and every
    subclass whose module is imported, can be read from a document by their `kind`. `bruit.register`, or an entry point
    of the group ``bruit.statistics``, lets a publication file and ``bruit release --statistic`` name it too.
    """

    #: Statistics by their kind: those with a meaning can be declared by a text, the others stand in documents.
    kinds: ClassVar[Registry[Statistic]] = Registry(
        "statistic",
        "bruit.statistics",
        attribute="kind",
        pattern=_KIND,
        rule="up to 60 characters, beginning with a letter, without a colon, = or &",
    )
    #: The name of the statistic, in documents and results.
    kind: ClassVar[str] = ""
    #: Whether it needs a column, or only the rows.
    reads_column: ClassVar[bool] = True
    #: Whether what is published is a function of noisy sums, so that a second draw can refine it.
    has_sums: ClassVar[bool] = False
    #: What its widths are in: the unit of its values, or ranks.
    width_unit: ClassVar[str] = "values"

    column: str | None
    epsilon: float
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    #: The width from which ε follows; None where ε is declared. No document has it: ε says all.
    asked_width: Within | None = None

    #: The noisy sums of an earlier draw, on which the next draw depends; None for a draw of its own.
    earlier: ClassVar[tuple[DrawnSums, ...] | None] = None

    #: The policies of its bounds, or of its `policy` where it has none, that stand beside them in a document.
    document_policies: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__dict__.get("kind"):
            cls.kinds.define(cls.kind, cls)

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The options that a declaration may have, beside its questions and its privacy: by default, every field."""
        fields = cls.parameters()
        policies = POLICIES if {"domain", "bounds"} & set(fields) else cls.document_policies
        return (*policies, *(name for name in fields if name not in _QUESTION_FIELDS))

    @classmethod
    def width_options(cls) -> tuple[str, ...]:
        """The option that says a width in place of ε, where the kind has it."""
        return ("within",) if "within" in cls.__dataclass_fields__ else ()  # type: ignore[attr-defined]

    @classmethod
    def policy_words(cls, name: str) -> tuple[str, ...]:
        """The words that a declaration may say of a policy, ``"missing"`` or ``"outside"``."""
        numbers = {"bounds", "policy"} & set(cls.parameters())
        return (Interval if numbers else Policy).words(name)

    @classmethod
    def example(cls) -> str:
        """A question as a declaration may have it, for messages; nothing where it has none."""
        if not cls.reads_column:
            return ""
        fields = cls.parameters()
        return "sex=F,M" if "domain" in fields else "age=0..120" if "bounds" in fields else "income"

    @classmethod
    def declared(cls, questions: Sequence[str], options: Mapping[str, Any]) -> Statistic:
        """The statistic that texts declare, as in a publication file or after ``--statistic``.

        A statistic with a `domain` takes the values that its question lists. One with `bounds` takes a range, and one
        with neither takes the name of a column.

        Parameters
        ----------
        questions
            Columns and what they can be, as in ``["age=0..120"]``.
        options
            Values of `option_names`, and ``epsilon``, ``delta`` and ``neighbours``.

        Examples
        --------
        >>> from bruit.releases import Mean
        >>> Mean.declared(["age=0..120"], {"epsilon": 0.5}).bounds
        (0.0, 120.0)
        """
        build: Any = cls
        if not cls.reads_column:
            cls._check_questions(questions, 0)
            return cast(Statistic, build(**options))
        text = cls._check_questions(questions, 1)[0]
        fields = cls.parameters()
        others = {name: value for name, value in options.items() if name not in POLICIES or name in fields}
        policies = {name: value for name, value in options.items() if name not in others}
        if "domain" in fields:
            name, domain = counted_question(text, **policies)
            check_outside(policies.get("outside"), domain.policies)
            return cast(Statistic, build(name, domain=domain, **others))
        if "bounds" in fields:
            name, bounds, cells, step = number_question(text)
            if cells is not None or (step is not None and "step" not in fields):
                colon, example = (", and a step after a colon", ":1") if "step" in fields else ("", "")
                written_bounds = f"{name}={bounds[0]}..{bounds[1]}{example}"
                raise ParameterError(f"Kind {cls.kind!r} takes bounds{colon}: write {written_bounds}.")
            steps = {} if step is None else {"step": step}
            return cast(Statistic, build(name, bounds=Interval(*bounds, **policies), **steps, **others))
        if not text.strip() or "=" in text:
            raise ParameterError(f"Kind {cls.kind!r} takes the name of a column alone, as in income.")
        if "policy" in fields:
            others["policy"] = Policy(**policies)
        return cast(Statistic, build(text.strip(), **others))

    @classmethod
    def _check_questions(cls, questions: Sequence[str], many: int) -> Sequence[str]:
        """That there are as many questions as the statistic takes."""
        if len(questions) == many:
            return questions
        if not many:
            raise ParameterError(f"Kind {cls.kind!r} is of no column: leave the question out.")
        raise ParameterError(f"Kind {cls.kind!r} takes one question, as in {cls.example()}.")

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of what it is made with, as in ``column``, ``bounds`` and ``epsilon``."""
        return tuple(field.name for field in dataclasses.fields(cast(Any, cls)) if field.init)

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """A statistic; parameters that are absent or unknown are an error with the call as it should be."""
        if (arguments or options) and "__dataclass_fields__" in cls.__dict__:
            _check_call(cls, arguments, options)
        return super().__new__(cls)

    @property
    def name(self) -> str:
        """What is published, in a word."""
        return self.kind

    @property
    def title(self) -> str:
        """What is published, of which column."""
        return self.name if self.column is None else f"{self.name} of {self.column}"

    @property
    def noise_name(self) -> str:
        """The law of the noise, in a word, for readers."""
        return "exponential"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that `count` reads."""
        return () if self.column is None else (batching.clean_name(self.column),)

    @property
    def public(self) -> bool:
        """Whether the number of records is public."""
        return self.neighbours == "replace"

    @property
    def guarantee(self) -> Guarantee:
        """The ε and δ asked, which the noise that is drawn does not exceed, roundings included."""
        return Guarantee(epsilon=self.epsilon, delta=self.delta, neighbours=self.neighbours)

    @property
    def rho(self) -> float | None:
        """The ρ-zCDP that the statistic proves of itself, which its ledger books; None where only (ε, δ) is known.

        That of any pure statistic, ε²/2, unless a subclass proves less.
        """
        return None if self.delta else pure_rho(self.epsilon)

    @property
    @abstractmethod
    def size(self) -> int:
        """How many whole numbers are counted."""

    def change(self, neighbours: CentralNeighbours, n: int | None = None) -> Change:
        """What one record changes, between neighbours; with n records where n is public.

        By default that of a histogram: a record is in one cell, and a replaced one leaves it for another.
        """
        return Change(2, 2) if neighbours == "replace" else Change(1, 1)

    def check_rows(self) -> None:  # most statistics have nothing to refuse
        """Refuse what has no meaning where a row is a person of its own, so that the number of rows may be public."""

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """What `count` sees of each record, as whole numbers: records with equal codes count alike.

        By them the rows of a person are told apart, where a release bounds how many of them count.
        """
        raise ParameterError(f"Rows of a person cannot be bounded for {self.name}: the statistic has no row_codes.")

    def for_people(self, contribution: Contribution) -> Statistic:
        """The statistic of rows whose noise hides all rows of a person: by default, at a share of ε for each row.

        Two neighbouring tables differ by this many rows, added or removed one after the other, and losses add.
        """
        if self.delta:
            raise ParameterError(f"{self.name} with a δ cannot be released for people with several rows: use delta=0.")
        share = rounding.share(self.epsilon, contribution.times)
        statistic: Statistic = self._of_rows(epsilon=share)
        return statistic

    def _of_rows(self, **options: Any) -> Any:
        """The same statistic for neighbours that differ by a row added or removed."""
        fields = {field.name for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        if "neighbours" not in fields:
            raise ParameterError(
                f"{self.name} is for one record of a person: the number of rows is not public where people have "
                "several. Take a statistic that has add-remove."
            )
        return dataclasses.replace(self, neighbours="add-remove", **options)  # type: ignore[type-var]

    @abstractmethod
    def count(self, batch: Mapping[str, Any]) -> Counts:
        """The whole numbers of some records: columns by name, each an array or a `DictionaryColumn`."""

    def values(self, batch: Mapping[str, Any]) -> Any:
        """The statistic's own column of a batch."""
        return batch[self.columns[0] if self.columns else VALUES]

    def prepare(self, counts: Counts) -> Counts:
        """What `publish` needs of the counts of all records. It runs before anything is booked, and may fail."""
        return counts

    @abstractmethod
    def publish(self, counts: Counts, words: Words) -> Result:
        """The result, from what `prepare` returns, with noise. It must not fail, nor warn, for any data."""

    def after(self, earlier: Sequence[DrawnSums]) -> Self:
        """The statistic whose draw depends on an earlier one with more Laplace noise, of the same sums; group by group.

        The pair then costs what this one has as its ε: see `GradualLaplace`. It is for tables that did not change.
        """
        later = copy.copy(self)
        object.__setattr__(later, "earlier", tuple(earlier))
        return later

    def in_groups(self, many: int) -> list[Self]:
        """The statistic for each of as many groups; one that depends on an earlier draw has the sums of its group."""
        if self.earlier is None:
            return [self] * many
        size = len(self.earlier) // many
        return [self.after(self.earlier[place : place + size]) for place in range(0, many * size, size)]

    def of_sums(self, sums: Sequence[DrawnSums]) -> Result:
        """The result of noisy sums that were drawn before, for statistics that are a function of such sums."""
        raise ParameterError(f"{self.name} is no function of noisy sums.")

    def expected_error(self, n: int | None = None) -> Any:
        """The standard deviation of the noise in each value, for n records where it depends on them; NaN if unknown."""
        return float("nan")

    @property
    def standard_error(self) -> Any:
        """The standard deviation of the noise in each value, where it does not depend on the number of records."""
        return self.expected_error()

    def half_width(self, n: int | None = None, level: float = LEVEL) -> float:
        """Half the width of the widest interval, in `width_unit`, from declared parameters.

        Parameters
        ----------
        n
            The number of records, where the width depends on it.
        level
            How often intervals hold.
        """
        raise ParameterError(f"The width of {self.name} is not known before it is drawn: declare epsilon.")

    def settled(self, drawn: Callable[[Statistic], Statistic]) -> Self:
        """The statistic at the least ε for its width; as it is, where ε is declared.

        Parameters
        ----------
        drawn
            The statistic as its noise is drawn, such as for all rows of a person.
        """
        width = self.asked_width
        if width is None:
            return self
        wanted = width.in_unit(self.width_unit, self.kind)

        def half_width(epsilon: float) -> float:
            return drawn(dataclasses.replace(self, epsilon=epsilon)).half_width(width.n)  # type: ignore[type-var]

        statistic: Self = dataclasses.replace(self, epsilon=least_epsilon(wanted, half_width))  # type: ignore[type-var]
        object.__setattr__(statistic, "asked_width", width)
        return statistic

    def _settle(self, within: WidthLike | None) -> None:
        """Take ε from a width, for `__post_init__` of statistics with both parameters."""
        if within is not None:
            object.__setattr__(self, "asked_width", Within.of(within))
            object.__setattr__(self, "epsilon", self.settled(lambda statistic: statistic).epsilon)

    def describe_error(self, n: int) -> str:
        """The expected error in words, from declared parameters, for n records where it depends on them."""
        return written_error(float(np.max(self.expected_error(n))))

    @property
    def outcomes(self) -> int:
        """How many values are published, of each group."""
        return len(getattr(self, "labels", None) or getattr(self, "quantiles", None) or (self.name,))

    def loss_between(self, first: Counts, second: Counts) -> Fraction | float | None:
        """The largest privacy loss between two counts: of ln P(outcome | first)/P(outcome | second), either way.

        For checks, which know both. None where it has no closed form.
        """
        return None

    def law(self, counts: Counts) -> tuple[OutcomeLaw, ...]:
        """The laws of what is drawn, independent of each other, given the counts of a table; for audits.

        They know the data and are as secret. `counts` are those of `count`, added up over all records.
        """
        raise ParameterError(
            f"The law of {self.name} is not written down: compare samples, with bruit.audit.empirical."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: the kind, and every field that is declared; a δ of 0 is left out."""
        names = [field.name for field in dataclasses.fields(self) if field.name != "policy"]  # type: ignore[arg-type]
        fields = {name: getattr(self, name) for name in names}
        named = {name: value for name, value in fields.items() if value is not None and (name, value) != ("delta", 0)}
        return {"kind": self.kind, **{name: _plain(value) for name, value in named.items()}, **self._declared_policy()}

    def _declared_policy(self) -> dict[str, Any]:
        """The policies of the bounds, which a document has beside them; those of a grid or of dates are in it too."""
        bounds = getattr(self, "bounds", getattr(self, "policy", None))
        policy: Policy = bounds if isinstance(bounds, Policy) else Policy()
        body: dict[str, Any] = {"missing": policy.missing} if "missing" in self.document_policies else {}
        return body | (declared_outside(policy.outside) if isinstance(bounds, Interval) else {})

    @classmethod
    @documents.reading()
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`, for any statistic that is known here."""
        with translated((KeyError, TypeError, AttributeError), lambda _: FormatError(_rule(body))):
            kind: Any = cls.kinds[body["kind"]].kind
            options = {name: _field(value) for name, value in body.items() if name != "kind"}
            policies = {name: options.pop(name) for name in kind.document_policies if name in options}
            if isinstance(options.get("bounds"), tuple) and policies:
                options["bounds"] = Interval(*options["bounds"], **policies)
            if "policy" in kind.parameters():
                options["policy"] = Policy(**policies)
            statistic = kind(**options)
        if not isinstance(statistic, cls):
            raise FormatError(f"This is not a statistic of the class {cls.__name__}.")
        return statistic

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that identify the release of this statistic alone; its raw tallies carry it."""
        return self.alone.digest

    def fold(self, source: SourceLike) -> RawTally:
        """The counts of all records, as in `Release.fold`, for a release of this statistic alone."""
        return self.alone.fold(source)

    def release(
        self, raw: RawTally, ledger: LedgerLike | None = None, rng: Randomness = None, *, label: str | None = None
    ) -> Result:
        """The result, as in `Release.publish`, for a release of this statistic alone."""
        (result,) = self.alone.publish(raw, ledger, rng, label=label).values()
        return result

    @cached_property
    def alone(self) -> Release:
        """The release of this statistic alone."""
        from bruit.releases.release import Release

        return Release(self)

    def _result(self, values: Any, simulated: bool, **options: Any) -> Result:
        """A result of this statistic; the labels are its name unless they are among the options."""
        return Result(
            name=self.name,
            values=values,
            guarantee=self.guarantee,
            simulated=simulated,
            statistic=self.to_dict(),
            **{"labels": (self.name,), "standard_error": float("nan"), **options},
        )

    def _check_privacy(self) -> None:
        """The column is a name, and ε, δ and the neighbours make sense."""
        if self.column is not None and not isinstance(self.column, str):
            raise ParameterTypeError('column must be the name of a column, as in column="age".')
        object.__setattr__(self, "epsilon", _checks.spent_epsilon(epsilon=self.epsilon))
        object.__setattr__(self, "delta", _checks.non_negative(delta=self.delta))
        if self.delta >= 1:
            raise ParameterError(f"delta must be 0, or a small number below 1, got {self.delta}.")
        _checks.one_of(CENTRAL, neighbours=self.neighbours)

    def _check_gaps(self, policy: Any) -> None:
        """That no record is dropped where their number is public."""
        if isinstance(policy, Policy) and policy.missing == "drop" and self.public:
            raise ParameterError(
                'Under "replace" the number of records is public, so none may be dropped: '
                'fill the gaps first, or use neighbours="add-remove".'
            )


class AdditiveStatistic(Statistic):
    """Whole-number sums, discrete Laplace or Gaussian noise on each, and arithmetic on the noisy sums."""

    has_sums: ClassVar[bool] = True
    #: Whether no record makes any of the sums smaller, under add-remove.
    rising: ClassVar[bool] = False
    #: What a person contributes, where people have several rows; None for one row each.
    contribution: Contribution | None = None

    def for_people(self, contribution: Contribution) -> Statistic:
        """The same sums, with noise for all that a person contributes to them."""
        statistic: AdditiveStatistic = self._of_rows()
        object.__setattr__(statistic, "contribution", contribution)
        statistic.noise()  # a scale beyond the limits is found here
        return statistic

    def contributed(self, contribution: Contribution) -> Change:
        """What a person changes. For `rising` sums, what one person takes and another brings has an angle below 90°."""
        change = self.change("add-remove")
        squares = contribution.squares * change.l2_squared
        if contribution.replaced:
            squares *= 2 if self.rising else 4
        return Change(contribution.times * change.l1, squares)

    @property
    def rho(self) -> float:
        """The ρ-zCDP of the noise: that of (ε, δ) for Gaussian noise, ε²/2 for Laplace noise."""
        return epsilon_to_rho(self.epsilon, self.delta) if self.delta else pure_rho(self.epsilon)

    @property
    def noise_name(self) -> str:
        """The law of the noise: Laplace, or with a δ Gaussian."""
        return "Gaussian" if self.delta else "Laplace"

    def noise(self, n: int | None = None) -> Noise:
        """The noise on each sum; with n records where n is public."""
        contribution = self.contribution
        change = self.change(self.neighbours, n) if contribution is None else self.contributed(contribution)
        if self.delta:
            return DiscreteGaussian.calibrate(change.l2_squared, self.epsilon, self.delta)
        return DiscreteLaplace.calibrate(change.l1, self.epsilon)

    def expected_error(self, n: int | None = None) -> Any:
        """The standard deviation of the noise on each sum."""
        return self.noise(n).standard_error

    def half_width(self, n: int | None = None, level: float = LEVEL) -> float:
        """Half the width of an interval, where what is published is the noisy sums."""
        return self.noise(n).half_width(level)

    def sums(self, counts: Counts) -> Integers:
        """What noise is added to: by default the counts."""
        return counts

    @abstractmethod
    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        """The result, from noisy sums, and n where it is public."""

    def public_size(self, counts: Counts) -> int | None:
        """The number of records, where it is public and needed."""
        return None

    def loss_between(self, first: Counts, second: Counts) -> Fraction | None:
        """The exact loss: the distance (L1) of the sums over the scale; None for Gaussian noise, whose loss has no end.

        The numbers of records agree if they are public.
        """
        noise = self.noise(self.public_size(first))
        if not isinstance(noise, DiscreteLaplace):
            return None
        pairs = zip(cut(self.sums(first)), cut(self.sums(second)), strict=True)
        return sum(abs(int(ours) - int(theirs)) for ours, theirs in pairs) / noise.scale

    def law(self, counts: Counts) -> tuple[SumLaw]:
        """The noisy sums, of which everything published is computed."""
        exact = cut(self.sums(np.asarray(counts)))
        return (SumLaw(tuple(exact.tolist()), (self.noise(self.public_size(np.asarray(counts))),) * exact.size),)

    def prepare(self, counts: Counts) -> Counts:
        """The counts; a public number of records that is impossible, or has no noise, is refused."""
        self.noise(self.public_size(counts))
        return counts

    def publish(self, counts: Counts, words: Words) -> Result:
        """The sums, cut to ±2⁶¹, with noise, and the result of them."""
        n = self.public_size(counts)
        noise, sums = self.noise(n), self.sums(counts)
        noisy = with_noise(sums, noise, words, None if self.earlier is None else self.earlier[0])
        result = self.from_noisy(noisy, noise, n, not words.secure)
        return with_draw(result, self, [DrawnSums(noise, noisy, n)])

    def of_sums(self, sums: Sequence[DrawnSums]) -> Result:
        """The result of noisy sums that were drawn before."""
        ((noise, values, n),) = sums
        return self.from_noisy(values, noise, n, False)


def with_noise(sums: Any, noise: Noise, words: Words, earlier: DrawnSums | None = None) -> Integers:
    """Whole numbers with noise, which depends on that of an earlier draw where there is one."""
    if earlier is None:
        return add(sums, noise.sample(len(sums), words))
    exact, first = cut(sums), earlier.noise
    if not isinstance(first, DiscreteLaplace) or not isinstance(noise, DiscreteLaplace):
        raise ParameterError("A draw that depends on an earlier one needs Laplace noise in both.")
    return add(exact, GradualLaplace(first, noise).draw(earlier.values - exact, words))


def with_draw(result: Result, statistic: Statistic, sums: Sequence[DrawnSums]) -> Result:
    """A result that keeps the noisy sums it is made of, unless a seed can remove their noise."""
    if result.simulated:
        return result
    return dataclasses.replace(result, draws=Draws.of(statistic.epsilon, statistic.delta, sums))


#: Parameters as they may be written, for messages.
_WRITTEN = {"bounds": "bounds=(0, 100)", "epsilon": "epsilon=1.0", "quantiles": "quantiles=[0.25, 0.5, 0.75]"}


def _check_call(kind: type[Statistic], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """That a statistic is called with the parameters that it has, and with all that it needs."""
    known = [item for item in dataclasses.fields(kind) if item.init]  # type: ignore[arg-type] # subclasses are dataclasses
    placed = [item.name for item in known if not item.kw_only]
    absent = dataclasses.MISSING
    needed = [item.name for item in known if item.default is absent and item.default_factory is absent]
    takes_width = bool(kind.width_options())
    if takes_width:
        needed = [*needed, "epsilon"]
    column = ['"age"'] if kind.reads_column and "column" in placed else []
    example = f"{kind.__name__}({', '.join([*column, *(_WRITTEN.get(name, f'{name}=…') for name in needed)])})"
    names = [*(item.name for item in known), *(["within"] if takes_width else [])]
    unknown = next((name for name in options if name not in names), None)
    if unknown in POLICIES:
        raise moved(options, _respelt(kind, arguments, options))
    if unknown is not None:
        near = _checks.suggestion(unknown, names)
        raise ParameterTypeError(f"{kind.__name__} has no parameter {unknown!r}.{near} Write it as in {example}.")
    if len(arguments) > len(placed):
        raise ParameterTypeError(f"{kind.__name__} needs the names of its parameters: write it as in {example}.")
    if takes_width and options.get("within") is not None:
        if "epsilon" in options:
            raise ParameterTypeError(f"{kind.__name__} takes epsilon or within: the other follows from it.")
        needed.remove("epsilon")
    missing = [name for name in needed if name not in options and name not in placed[: len(arguments)]]
    if missing:
        raise ParameterTypeError(f"{kind.__name__} needs {' and '.join(missing)}: write it as in {example}.")


def _respelt(kind: type[Statistic], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> str:
    """A call with policies as it should be: they belong to the bounds."""
    policies = {name: options[name] for name in POLICIES if name in options}
    others = {name: value for name, value in options.items() if name not in POLICIES}
    bounds = others.get("bounds")
    if "policy" in kind.parameters():
        others["policy"] = Policy(**policies)
    elif isinstance(bounds, Policy):
        others["bounds"] = dataclasses.replace(bounds, **policies)
    elif bounds is not None:
        others["bounds"] = Interval(*checked_bounds(bounds), **policies)
    written_call = ", ".join(part for part in (*map(repr, arguments), written(**others)) if part)
    return f"{kind.__name__}({written_call})"


def record_codes(domain: Domain, values: Any) -> Codes:
    """The codes of records: the one place where a release clamps numbers and dates whose domain declares nothing."""
    return clamping(domain).encode(values)


def codes_by(domain: Domain, values: Any) -> Integers:
    """The code of each record, where a gap has a code of its own."""
    if domain.missing == "drop":
        domain = dataclasses.replace(domain, missing="category")
    return record_codes(domain, values).astype(np.int64)


def whole(*numbers: Any) -> Integers:
    """Python's whole numbers as an array."""
    return np.array(numbers, np.int64)


def checked_size(n: int) -> int:
    """A public number of records that may be divided by, and whose sums are exact."""
    if n < 1:
        raise DataError("There must be at least one record.")
    if n > MOST_RECORDS:
        raise LimitError("There must be at most 2⁴⁰ records, about a million millions.")
    return n


def histogram_of(codes: NDArray[Any], size: int) -> Counts:
    """How many records have each code."""
    return np.bincount(codes, minlength=size).astype(np.int64, copy=False)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | Interval):
        return [_plain(item) for item in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def _field(value: Any) -> Any:
    """A field of a document: a domain, a tuple, or a plain value."""
    if isinstance(value, Mapping) and "kind" in value:
        return domain_from_dict(value)
    return tuple(value) if isinstance(value, list) else value


def _rule(body: Any) -> str:
    kind = body.get("kind") if isinstance(body, Mapping) else None
    if kind in Statistic.kinds:
        return "A statistic has a field that its kind does not have."
    return f"A statistic must be one of {', '.join(sorted(Statistic.kinds))}."


def written_error(error: float) -> str:
    """A standard deviation in words."""
    return f"± {number(float(f'{error:.3g}'))}" if math.isfinite(error) else "depends on the data"
