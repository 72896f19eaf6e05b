"""The document of a plan: what it says, and how it is read back.

What a document states is confirmed by computing it again, so that a plan that is read promises what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bruit import documents
from bruit.collection import mechanisms, methods, records, resolve
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
    again = {} if plan.rounds is None else {"panel": plan.panel.to_dict()}
    return {**_questions(plan), **again}


def _questions(plan: Plan) -> dict[str, Any]:
    """What a document says of the questions."""
    described = plan.design.describe()
    attributes: dict[str, Any] = {"attributes": plan.schema.to_list()}
    if plan.public:
        attributes["attributes"] += [attribute.to_dict() for attribute in plan.public.values()]
        attributes["sent_in_clear"] = list(plan.public)
    if plan.kind == "one":
        return {
            **attributes,
            "method": plan.method,
            "mechanism": described[next(iter(plan.schema))],
            "guarantee": plan.guarantee.to_dict(),
        }
    return {
        **attributes,
        "method": plan.method,
        "epsilon": plan.epsilon,
        "unit": plan.unit,
        "calibration": "published" if plan.published else "exact",
        **plan._known.options(),
        "mechanisms": described,
        "guarantee": plan.guarantee.to_dict(),
        "guarantee_of_an_attribute": plan.guarantees["attribute"].to_dict(),
    }


# Reading.


def read(made_of: Mapping[str, Any], make: Callable[..., Plan]) -> Plan:
    """The plan that a document's body describes.

    `make` takes what a plan is made with, and either what the document states of fakes or a mechanism of its own.
    """
    values = _values(made_of)
    try:
        _check_work(values["schema"], methods.parse(values["method"]), values.get("bases"), values.get("budgets"))
        plan = make(values, stated=_stated(made_of))
    except LimitError:
        raise
    except (ParameterError, ParameterTypeError) as error:
        described = _with_own_mechanism(made_of, values, make)
        if described is None:
            raise FormatError("This plan describes a mechanism that this version does not know.") from error
        plan = described
    if _says(plan, made_of):
        return plan
    described = _with_own_mechanism(made_of, values, make)
    if described is None or not _says(described, made_of):
        raise FormatError("This plan contradicts itself: its mechanism or guarantee is not the one its method gives.")
    return described


def _says(plan: Plan, stated: Mapping[str, Any]) -> bool:
    """Whether this is the plan of a document."""
    return documents.canonical(body(plan)) == documents.canonical(stated)


def _with_own_mechanism(stated: Mapping[str, Any], values: dict[str, Any], make: Callable[..., Plan]) -> Plan | None:
    """The plan with the mechanism that a document describes in full; None where it describes none."""
    schema = values["schema"]
    if len(schema) != 1 or not isinstance(stated.get("mechanism"), Mapping):
        return None
    try:
        return make(values, mechanism=mechanisms.described(stated["mechanism"], next(iter(schema.values()))))
    except LimitError:
        raise
    except (FormatError, ParameterError, ParameterTypeError):
        return None


def _values(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan was made with, from its document."""
    schema, method = Schema.from_list(stated.get("attributes")), stated.get("method")
    if not isinstance(method, str):
        raise FormatError("A plan must have a method and a mechanism.")
    private, clear = _separated(schema)
    options = {**_read_questions(stated), **_read_panel(stated.get("panel"))}
    return {"schema": private, "public": clear, "method": method, **options}


def _separated(schema: Schema) -> tuple[Schema, dict[str, Attribute]]:
    """The private and the public attributes of a document."""
    with translated(ParameterError, lambda error: FormatError(str(error))):
        private, clear = records.separate(schema, None)
        return private, clear


def _read_panel(panel: Any) -> dict[str, Any]:
    if panel is None:
        return {}
    if not isinstance(panel, Mapping):
        raise FormatError("The panel of a plan must have epoch_epsilon, rounds and epochs.")
    following = {"follow_changes": panel["follow_changes"]} if "follow_changes" in panel else {}
    return {**{name: panel.get(name) for name in ("epoch_epsilon", "rounds", "epochs")}, **following}


def _read_questions(stated: Mapping[str, Any]) -> dict[str, Any]:
    if "mechanisms" in stated:
        names = ("epsilon", "unit", "budgets", "weights", "prior", "bases", "tables")
        return {
            **{name: stated[name] for name in names if name in stated},
            "published": stated.get("calibration") == "published",
        }
    mechanism = stated.get("mechanism")
    if not isinstance(mechanism, Mapping):
        raise FormatError("A plan must have a method and a mechanism.")
    # Odds stand for an ε of their own: the survey with two coins is asked for without one.
    return {"epsilon": None if "odds" in mechanism else mechanism.get("epsilon")}


def _check_work(schema: Schema, method: methods.Method, bases: Any, budgets: Any) -> None:
    """Refuse a document whose laws would take long to compute, by what it declares, before any is computed."""
    own = bases if isinstance(bases, Mapping) else {}
    parts = budgets if isinstance(budgets, Mapping) else {}
    # Attributes with the same mechanism, cells and ε have one law.
    wanted = {
        (str(own.get(name, method.base)).lower(), attribute.size, str(parts.get(name)))
        for name, attribute in schema.items()
    }
    if sum(_WORK[base](min(cells, Number.MOST_CELLS)) for base, cells, _ in wanted if base in _WORK) > MOST_WORK:
        raise LimitError(
            "This plan has too many numbers with too many cells to be read from a document: by staircase at most one "
            "of 4,096 cells, or 5 of different numbers near 1,024; by laplace at most 30 of 4,096. Declare fewer cells."
        )


def _stated(stated: Mapping[str, Any]) -> resolve.Stated:
    """What a document says of its fakes; what it does not say is refused where it is needed."""
    entries = stated.get("mechanisms")
    described = entries.items() if isinstance(entries, Mapping) else ()
    bodies = {name: entry for name, entry in described if isinstance(entry, Mapping)}
    epsilons = [entry.get("epsilon") for entry in bodies.values()]
    names = {name: f"{entry.get('oracle')}{_suffix(entry)}" for name, entry in bodies.items()}
    return resolve.Stated(epsilons[0] if epsilons else None, names)


def _suffix(entry: Mapping[str, Any]) -> str:
    """What stands behind the name of a unary encoding: whether its fakes are noise on zeros or on a random value."""
    if entry.get("oracle") not in ("SUE", "OUE"):
        return ""
    return {"zeros": "-z", "noise": "-r"}.get(str(entry.get("fake")), "")
