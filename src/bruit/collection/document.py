"""The document of a plan: what it says, and how it is read back.

What a document states is confirmed by computing it again, so that a plan that is read promises what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bruit import documents
from bruit.collection import mechanisms, records
from bruit.collection.mechanisms import Mechanism
from bruit.collection.method import Method, Task
from bruit.collection.panel import Repeat
from bruit.domains import Attribute, Schema
from bruit.errors import FormatError, LimitError, ParameterError, ParameterTypeError, translated
from bruit.numbers import Number

if TYPE_CHECKING:
    from bruit.collection.plan import Plan

#: About how many microseconds the law of a number takes, by its cells; those of other mechanisms take hardly any.
_WORK: dict[str, Callable[[int], float]] = {
    "laplace": lambda cells: 8.0 * cells,
    "staircase": lambda cells: 30.0 * cells**1.25,
}
#: The most that a document may ask for: one staircase of as many cells as there may be.
MOST_WORK = _WORK["staircase"](Number.MOST_CELLS)


# Writing.


def body(plan: Plan) -> dict[str, Any]:
    """What the document of a plan says."""
    attributes: dict[str, Any] = {"attributes": plan.schema.to_list()}
    if plan.public:
        attributes["attributes"] += [attribute.to_dict() for attribute in plan.public.values()]
        attributes["sent_in_clear"] = list(plan.public)
    again = {} if plan.repeat is None else {"panel": plan.panel.to_dict()}
    return {**attributes, **plan.method.body(plan), **again}


# Reading.


#: Makes a plan of what a document declares: by its method, or with a mechanism of its own.
Make: TypeAlias = "Callable[[Task, Mapping[str, Attribute], Method | Mechanism, Repeat | None], Plan]"


class Declared(NamedTuple):
    """What a plan was made with, from its document."""

    task: Task
    clear: Mapping[str, Attribute]
    method: str
    options: Mapping[str, Any]
    panel: Mapping[str, Any] | None


def read(stated: Mapping[str, Any], make: Make) -> Plan:
    """The plan that a document's body describes."""
    declared = _declared(stated)
    try:
        method = Method.described(declared.method, declared.options)
        _check_work(declared.task.schema, method)
        plan = make(declared.task, declared.clear, method, _repeat(declared.panel))
    except LimitError:
        raise
    except (ParameterError, ParameterTypeError) as error:
        described = _with_own_mechanism(stated, declared, make)
        if described is None:
            raise FormatError("This plan describes a mechanism that this version does not know.") from error
        plan = described
    if _says(plan, stated):
        return plan
    described = _with_own_mechanism(stated, declared, make)
    if described is None or not _says(described, stated):
        raise FormatError("This plan contradicts itself: its mechanism or guarantee is not the one its method gives.")
    return described


def _says(plan: Plan, stated: Mapping[str, Any]) -> bool:
    """Whether this is the plan of a document."""
    return documents.canonical(body(plan)) == documents.canonical(stated)


def _with_own_mechanism(stated: Mapping[str, Any], declared: Declared, make: Make) -> Plan | None:
    """The plan with the mechanism that a document describes in full; None where it describes none."""
    schema, described = declared.task.schema, stated.get("mechanism")
    if len(schema) != 1 or not isinstance(described, Mapping):
        return None
    try:
        mechanism = mechanisms.described(described, next(iter(schema.values())))
        return make(declared.task, declared.clear, mechanism, _repeat(declared.panel))
    except LimitError:
        raise
    except (FormatError, ParameterError, ParameterTypeError):
        return None


def _declared(stated: Mapping[str, Any]) -> Declared:
    """What a plan was made with, from its document."""
    schema, method = Schema.from_list(stated.get("attributes")), stated.get("method")
    if not isinstance(method, str):
        raise FormatError("A plan must have a method and a mechanism.")
    private, clear = _separated(schema)
    if "mechanisms" in stated:
        task = Task(private, stated.get("epsilon"), stated.get("unit", "person"), stated=_stated(stated["mechanisms"]))
        options = stated
    else:
        task, options = Task(private, _epsilon(stated.get("mechanism")), stated={}), {}
    return Declared(task, clear, method, options, stated.get("panel"))


def _epsilon(mechanism: Any) -> Any:
    """The ε of the one mechanism of a document."""
    if not isinstance(mechanism, Mapping):
        raise FormatError("A plan must have a method and a mechanism.")
    # Odds stand for an ε of their own: the survey with two coins is asked for without one.
    return None if "odds" in mechanism else mechanism.get("epsilon")


def _separated(schema: Schema) -> tuple[Schema, dict[str, Attribute]]:
    """The private and the public attributes of a document."""
    with translated(ParameterError, lambda error: FormatError(str(error))):
        private, clear = records.separate(schema, None)
        return private, clear


def _repeat(panel: Any) -> Repeat | None:
    """How often the same people are asked, from a document."""
    if panel is None:
        return None
    if not isinstance(panel, Mapping):
        raise FormatError("The panel of a plan must have epoch_epsilon, rounds and epochs.")
    following = {"follow_changes": panel["follow_changes"]} if "follow_changes" in panel else {}
    return Repeat(*(panel.get(name) for name in ("rounds", "epochs", "epoch_epsilon")), **following)  # type: ignore[arg-type] # it checks them


def _stated(described: Any) -> dict[str, Mapping[str, Any]]:
    """What a document says of each mechanism; what it does not say is refused where it is needed."""
    entries = described.items() if isinstance(described, Mapping) else ()
    return {name: entry for name, entry in entries if isinstance(entry, Mapping)}


def _check_work(schema: Schema, method: Method) -> None:
    """Refuse a document whose laws would take long to compute, by what it declares, before any is computed."""
    # Attributes with the same mechanism, cells and ε have one law.
    wanted = {
        (method.base_of(name).lower(), attribute.size, str(method.budget_of(name)))
        for name, attribute in schema.items()
    }
    if sum(_WORK[base](min(cells, Number.MOST_CELLS)) for base, cells, _ in wanted if base in _WORK) > MOST_WORK:
        raise LimitError(
            "This plan has too many numbers with too many cells to be read from a document: by staircase at most one "
            "of 4,096 cells, or 5 of different numbers near 1,024; by laplace at most 30 of 4,096. Declare fewer cells."
        )
