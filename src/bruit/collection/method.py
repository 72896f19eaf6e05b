"""Methods: what is done with the questions of a person, as values; and the grammar of their names.

A method is written by its name, ``"SMP[ADP]"``, or as a value with options, ``SMP("ADP", weights={"sex": 2})``. The
name outside the brackets says what is done with the attributes of a person, the one inside how an answer is made
private. Names are read in any case and written in one. A method settles on a design: it checks its options against the
schema, chooses mechanisms and divides ε.

A method from outside extends `Method` and is made known by `bruit.register`, or by an entry point of the group
``bruit.methods``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from bruit import _checks
from bruit.collection import criterion, mechanisms
from bruit.collection.criterion import Floats
from bruit.collection.design import Design, Unit
from bruit.collection.mechanisms import ADAPTIVE, Mechanism
from bruit.domains import Schema
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.numbers import Number
from bruit.oracles import Oracle
from bruit.registry import Registry, first_line

if TYPE_CHECKING:
    from bruit.collection.plan import Plan

#: The method of a plan that names none: for one attribute its mechanism of least error, for several the same with SMP,
#: which has the least error with the same ε for a person in nearly all cases.
DEFAULT = ADAPTIVE
#: What is done with several attributes where a method names a mechanism only; and with one.
USUAL, SINGLE = "SMP", "one"
#: The most attributes of a person.
MOST_ATTRIBUTES = 1024

_FORM = re.compile(r"\s*(?P<kind>[A-Za-z+]+)(?P<number>[0-9]{0,4})\s*\[\s*(?P<base>[^\[\]]*?)\s*\]\s*")
#: Options that documents write under another key.
_KEYS = {"mechanisms": "bases"}

#: Why there is no table from reports on single attributes.
THEOREM = (
    "Reports of {kind} have a law that depends on the margins alone: two populations with the same margins and any "
    "other table send the same reports, so that no estimator of a table exists. Ask for the table itself, with "
    "TAB[ADP], declare one of the attributes as public, or split ε with SPL."
)


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is to settle: the attributes, ε and whom it speaks of.

    Parameters
    ----------
    schema
        The attributes that are asked privately.
    epsilon
        The most that reports may tell; a number from `Method.checked` on.
    unit
        Whom ε speaks of.
    known
        Frequencies of attributes, where they are known: ADP chooses for them.
    stated
        What a document says of each mechanism, by attribute; None for a plan that no document states. It is confirmed
        instead of looked for. Whatever a document states, what is promised is computed.
    """

    schema: Schema
    epsilon: Any
    unit: Unit = "person"
    known: Mapping[str, Any] = field(default_factory=dict)
    stated: Mapping[str, Mapping[str, Any]] | None = None

    @cached_property
    def frequencies(self) -> dict[str, Floats]:
        """The frequencies that the values of each attribute are expected to have: all alike where none are known."""
        return criterion.expected_frequencies(self.schema, self.known)


@dataclass(frozen=True, eq=False)
class Settled:
    """What a method settled on: itself with every option in its final form, the design, ε and whom ε speaks of."""

    method: Method
    design: Design
    epsilon: float
    unit: Unit = "person"


@dataclass(frozen=True, eq=False, repr=False)
class Method(ABC):
    """What is done with the questions of a person, as a value; `Plan` takes it, or its name.

    Parameters
    ----------
    base
        The mechanism of every attribute, by name; ``"ADP"`` for the one of least error for each attribute.
    mechanisms
        Mechanisms of single attributes, by name, instead of `base`.
    published
        Whether to calibrate as the papers do. That does not protect a person at ε: the guarantees of the plan say what
        it really gives. For ADP the candidates are those of the papers.

    Examples
    --------
    >>> from bruit.collection import SMP
    >>> str(SMP("OUE", weights={"sex": 2, "smokes": 1})), SMP("oue") == Method.named("smp[OUE]")
    ('SMP[OUE]', True)
    >>> Method.named("SMP2[OUE]").in_words(3)
    'each person answers 2 of the 3 questions, chosen by chance, each with a share of ε'
    """

    #: Methods by name: the library's own, and those that others add.
    kinds: ClassVar[Registry[Method]] = Registry(
        "method",
        "bruit.methods",
        attribute="kind",
        pattern=re.compile(r"[A-Za-z][A-Za-z+]*"),
        rule="letters, beginning with one; + may stand among them",
    )
    #: The name outside the brackets. At its end, k stands for a number in names: SMPk is written SMP2, SMP3, ….
    kind: ClassVar[str]
    #: What is done with the d questions of a person, in words; the first line of the docstring where it is empty.
    words: ClassVar[str] = ""
    #: Options of every method that this one has no use for.
    refuses: ClassVar[tuple[str, ...]] = ()
    #: Whether the papers calibrate the method otherwise, so that their figures need `published`.
    recalibrated: ClassVar[bool] = False

    base: str = ADAPTIVE
    mechanisms: Mapping[str, str] | None = field(default=None, kw_only=True)
    published: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in self.refuses:
            if getattr(self, name):
                raise _misplaced(name, str(self))
        own: Any = self.mechanisms
        if own is not None and not isinstance(own, Mapping):
            raise ParameterTypeError(
                'mechanisms must be a mapping from attribute to a mechanism, as in {"age": "hybrid"}.'
            )
        if not isinstance(self.published, bool):
            raise ParameterTypeError("published must be True or False.")
        checked = None if own is None else {name: self.base_name(base) for name, base in own.items()}
        self._become(base=self.base_name(self.base), mechanisms=checked)

    def _become(self, **values: Any) -> None:
        """Put options in their final form; of a method that is being made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # Names.

    @staticmethod
    def of(method: Any) -> Method:
        """A method from its name; a method is itself."""
        return method if isinstance(method, Method) else Method.named(method)

    @staticmethod
    def named(name: Any, **options: Any) -> Method:
        """The method of this name; a bare name is that of a mechanism, and stands for one attribute.

        Parameters
        ----------
        name
            As in ``"GRR"``, ``"SPL[OUE]"`` or ``"SMP2[OUE]"``, in any case.
        **options
            What the method takes besides its mechanism. None and False are as good as nothing. With options,
            ``"ADP"`` alone stands for ``"SMP[ADP]"``.
        """
        kind, settings = _read(name)
        wanted = {option: value for option, value in options.items() if value is not None and value is not False}
        chosen = kind.with_options(settings["base"]) if wanted else kind
        for option in wanted:
            if option not in chosen.takes():
                raise _misplaced(option, name.strip() if chosen is kind else f"{chosen.kind}[{settings['base']}]")
        return chosen(**settings, **wanted)

    @classmethod
    def with_options(cls, base: str) -> type[Method]:
        """The class that this name stands for where options are given too."""
        return cls

    @staticmethod
    def kind_of(name: Any) -> type[Method]:
        """The class of the method with this name."""
        return _read(name)[0]

    @classmethod
    def takes(cls) -> tuple[str, ...]:
        """The options of this method, by name, in the order of documents."""
        options = [setting.name for setting in fields(cls) if setting.kw_only and setting.name not in cls.refuses]
        common = [setting.name for setting in fields(Method) if setting.name in options]
        return (*(name for name in options if name not in common), *common)

    @classmethod
    def bases(cls, oracles: Iterable[str], numbers: Iterable[str]) -> tuple[str, ...]:
        """What may stand in the brackets, of these oracles and number mechanisms."""
        return (*oracles, *numbers, ADAPTIVE)

    @classmethod
    def base_name(cls, name: Any, what: str = "") -> str:
        """The name of a mechanism that may stand in the brackets, as this library writes it; errors call it `what`."""
        what = what or f"The mechanism in {cls.kind}[…]"
        loaded = cls.bases(Oracle.kinds.meanings, Number.kinds.meanings)
        if isinstance(name, str) and name.lower() in map(str.lower, loaded):
            return _spelt(name, loaded, what)
        mechanisms.refer(name)
        return _spelt(name, cls.bases(Oracle.kinds, Number.kinds), what)

    def __str__(self) -> str:
        return f"{self.kind}[{self.base}]"

    def __repr__(self) -> str:
        values = ((setting, getattr(self, setting.name)) for setting in fields(self))
        options = [f"{setting.name}={value!r}" for setting, value in values if value != _usual(setting)]
        return f"{type(self).__name__}({', '.join(options)})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Method)
            and (type(self), str(self), self.published) == (type(other), str(other), other.published)
            and self.options() == other.options()
        )

    def __hash__(self) -> int:
        return hash((type(self), str(self)))

    def in_words(self, d: int) -> str:
        """What is done with the d questions of a person."""
        return (self.words or first_line(type(self))).replace("{d}", str(d))

    # From options to a design.

    @abstractmethod
    def settle(self, task: Task) -> Settled:
        """Choose mechanisms, divide ε and make the design, of a task that `checked` has passed."""

    def settled(self, task: Task) -> Settled:
        """What the method settles on, after all checks."""
        checked = self.checked(task)
        settled = self._for_schema(checked.schema).settle(checked)
        for name, mechanism in settled.design.mechanisms.items():
            if mechanism.metric is not None and len(checked.schema) > 1:
                raise ParameterError(
                    f"{mechanism.name} has ε per distance, which does not add to that of other answers: ask for "
                    f"{name!r} in a plan of its own."
                )
        return settled

    def checked(self, task: Task) -> Task:
        """The task with its ε as a number; an error where this method cannot have these attributes."""
        schema = task.schema
        if len(schema) == 1:
            raise ParameterError(f"{self} is for several attributes, this schema has one: name its mechanism alone.")
        if len(schema) > MOST_ATTRIBUTES:
            raise LimitError(f"A plan has at most {MOST_ATTRIBUTES:,} attributes, this schema has {len(schema):,}.")
        for name, attribute in schema.items():
            if attribute.domain.missing == "drop":
                raise ParameterError(
                    f"{name!r} drops missing values, which a record of several attributes cannot: "
                    'declare missing="category" or missing="refuse".'
                )
        return replace(task, epsilon=_checks.epsilon(epsilon=task.epsilon))

    def _for_schema(self, schema: Schema) -> Self:
        """The method with the mechanisms of single attributes in the order of the schema."""
        own = self.mechanisms
        if own is None:
            return self
        if not set(own) <= set(schema):
            raise ParameterError("mechanisms must name attributes of the schema.")
        return replace(self, mechanisms={name: own[name] for name in schema if name in own})

    def base_of(self, name: str) -> str:
        """The mechanism that an attribute is to have, by its name."""
        return (self.mechanisms or {}).get(name, self.base)

    def mechanism(self, task: Task, name: str, epsilon: float) -> Mechanism:
        """The mechanism of an attribute at this ε."""
        return mechanisms.mechanism(
            self.base_of(name), task.schema[name], epsilon, task.frequencies[name], published=self.published
        )

    # What others ask.

    def parts(self, d: int) -> int:
        """Among how many of d attributes ε is divided."""
        return 1

    def known_frequencies(self) -> dict[str, Floats]:
        """Frequencies of the attributes that the method itself declares."""
        return {}

    def budget_of(self, name: str) -> float | None:
        """The part of ε of an attribute, where the method declares one."""
        return None

    def why_no_table(self) -> str:
        """Why reports of this method tell nothing about a table of attributes, where its design gives none."""
        return THEOREM.format(kind=self.kind)

    def check_table(self, plan: Plan, names: tuple[str, ...], *, whole: bool = False) -> None:
        """That a plan by this method tells a table of these attributes; with `whole`, from the reports themselves."""
        clear, source = [name for name in names if name in plan.public], plan.design.tables_from
        if clear:
            name = clear[0]
            raise ParameterError(
                f"{name!r} is sent in clear, which makes groups and no table: use answers.by({name!r}), or --by."
            )
        if source is None:
            raise ParameterError(self.why_no_table())
        if not set(names) <= set(plan.schema):
            raise ParameterError(f"table must name attributes of the plan: {', '.join(map(repr, plan.schema))}.")
        if len(names) < 2 or len(set(names)) < len(names):
            raise ParameterError('table must name two attributes or more, as in table("sex", "smokes").')
        if source == "reports" and not whole:
            raise ParameterError(
                f"A tally of {self.kind} counts every attribute by itself: a table needs the reports. Use "
                f'plan.table(reports, "{names[0]}", "{names[1]}").'
            )

    # Documents.

    def options(self) -> dict[str, Any]:
        """What a document says of the method besides its name and calibration."""
        values = {name: getattr(self, name) for name in self.takes() if name != "published"}
        return {_KEYS.get(name, name): _plain(value) for name, value in values.items() if value is not None}

    @staticmethod
    def described(name: Any, stated: Mapping[str, Any]) -> Method:
        """The inverse of `options`, for the method of this name."""
        kind = Method.kind_of(name)
        options = {option: stated.get(_KEYS.get(option, option)) for option in kind.takes() if option != "published"}
        published = stated.get("calibration") == "published" and "published" in kind.takes()
        return Method.named(name, **options, published=published or None)

    def body(self, plan: Plan) -> dict[str, Any]:
        """What the document of a plan by this method says besides the attributes and rounds."""
        return {
            "method": str(self),
            "epsilon": plan.epsilon,
            "unit": plan.unit,
            "calibration": "published" if self.published else "exact",
            **self.options(),
            "mechanisms": plan.design.describe(),
            "guarantee": plan.guarantee.to_dict(),
            "guarantee_of_an_attribute": plan.guarantees["attribute"].to_dict(),
        }


def _read(name: Any) -> tuple[type[Method], dict[str, Any]]:
    """The class that a name stands for, and what the name says of its options."""
    if not isinstance(name, str):
        raise ParameterTypeError('method must be a name, as in "GRR" or "SPL[OUE]", or a Method.')
    form = _FORM.fullmatch(name)
    if form is None:
        mechanisms.refer(name.partition("[")[0])
        if "[" in name or "]" in name or name.strip().lower() in map(str.lower, Method.kinds.meanings):
            raise ParameterError('method must read as in "SPL[OUE]": a kind and, in brackets, a mechanism.')
        return Method.kinds[SINGLE].kind, {"base": name}
    if form["number"]:
        return _numbered(form["kind"], int(form["number"]), form["base"])
    kind = _class_of(form["kind"])
    if kind is None:
        mechanisms.refer(form["kind"])
        raise _unknown(form["kind"], tuple(Method.kinds), "method")
    return kind, {"base": form["base"]}


def _numbered(kind: str, number: int, base: str) -> tuple[type[Method], dict[str, Any]]:
    """A method whose name has a number in the place of k; with one attribute it is the method without a number."""
    several, plain = _class_of(f"{kind}k"), _class_of(kind)
    if several is None or plain is None or not number:
        raise ParameterError("Only SMP takes a number of attributes, 1 or above, as in SMP2[OUE].")
    return (plain, {"base": base}) if number == 1 else (several, {"base": base, "sampled": number})


def _class_of(name: str) -> type[Method] | None:
    """The class with this name, in any case; installed packages are looked at where it is none that is loaded."""
    for names in (Method.kinds.meanings, Method.kinds):
        spelling = {known.lower(): known for known in names}
        if name.lower() in spelling:
            return Method.kinds[spelling[name.lower()]].kind
    return None


def _misplaced(option: str, method: str) -> ParameterError:
    """An error for an option that a method does not take, with the methods that do."""
    takers = [name for name in Method.kinds if option in Method.kinds[name].kind.takes()]
    if not takers:
        return ParameterError(f"{option} is no option of any method.")
    return ParameterError(f"{option} belongs to {' and '.join(takers)}, not to {method}.")


def _usual(setting: Any) -> Any:
    """The value of an option that nobody gives."""
    return None if setting.default is MISSING else setting.default


def _plain(value: Any) -> Any:
    """The value of an option, as documents have it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _spelt(name: Any, known: tuple[str, ...], what: str) -> str:
    spelling = {other.lower(): other for other in known}
    if not isinstance(name, str) or name.lower() not in spelling:
        raise _unknown(name, known, what)
    return spelling[name.lower()]


def _unknown(name: Any, known: tuple[str, ...], what: str) -> ParameterError:
    return ParameterError(f"{what} must be one of {', '.join(known)}.{_checks.suggestion(name, known)}")
