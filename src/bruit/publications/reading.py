"""From the TOML file of a publication to the publication; errors say where, what the rule is, and how it is spelt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from bruit import _checks, documents
from bruit.domains.declare import questions
from bruit.domains.domain import Domain
from bruit.errors import ParameterError, ParameterTypeError, translated
from bruit.privacy.ledger import USUAL_AT
from bruit.publications.publication import CHOICES, Publication, Request
from bruit.releases.declared import kind_name, statistic_kind
from bruit.releases.person import Person
from bruit.releases.statistic import Statistic
from bruit.releases.widths import Within

_FILE_KEYS = (
    "title", "table", "epsilon", "delta", "rho", "at", "ledger", "budget", "neighbours", "output", "edition",
    "expected_rows", "page", "csv", "person", "statistic",
)  # fmt: skip
_BOUNDS = ("rows", "groups", "rows_per_group")
_PERSON_KEYS = ("column", *_BOUNDS, "missing")
_BUDGET_KEYS = ("epsilon", "delta", "rho", "zcdp")
_CSV_KEYS = ("delimiter", "encoding", "missing", "quote")
#: What every statistic may have; each kind has its own options besides.
_COMMON_KEYS = ("name", "kind", "description", "by", "gaps", "weight", "share", *_BOUNDS)
#: The longest title, and the longest name of a statistic.
MOST_TITLE = 120
MOST_NAME = 60
MOST_DESCRIPTION = 500
MOST_STATISTICS = 1000


@documents.reading()
def read(path: Path) -> Publication:
    """The publication in a file."""
    rule = "a publication must be TOML in UTF-8: lines such as epsilon = 1.0, and [[statistic]] before each statistic."
    file = documents.read_toml(path, rule)
    _checks.known_keys(file, _FILE_KEYS)
    budget = _budget(file)
    csv = _csv(file)
    person = _person(file)
    requests = _requests(file, person, path.parent)
    expected = file.get("expected_rows")
    return Publication(
        title=_text(file, "title", MOST_TITLE, example="Hospital stays, 2026"),
        table=_text(file, "table", 1000, example="stays.csv"),
        requests=requests,
        epsilon=_epsilon(file),
        delta=_checks.fraction(delta=file.get("delta", 0.0)),
        ledger=Path(_text(file, "ledger", 1000, example="hospital.ledger")),
        neighbours=_checks.one_of(("add-remove", "replace"), neighbours=file.get("neighbours", "add-remove")),
        budget=budget,
        output=Path(_text(file, "output", 1000, default=path.stem)),
        edition=_text(file, "edition", MOST_TITLE, default=""),
        expected_rows=None if expected is None else _checks.integer(low=1, expected_rows=expected),
        csv=csv,
        page=_flag(file, "page", default=True),
        folder=path.parent,
        rho=file.get("rho"),
        at=file.get("at", USUAL_AT),
    )


def _epsilon(file: Mapping[str, Any]) -> float | None:
    """The ε that is split, or None where it is a ρ."""
    if "rho" in file:
        if "epsilon" in file:
            raise ParameterError("A publication splits an ε, or a ρ: leave epsilon or rho out.")
        return None
    if "at" in file:
        raise ParameterError("at is the δ at which ρ is stated as ε: write rho in place of epsilon, or leave it out.")
    if "epsilon" not in file and all("within" in table for table in file["statistic"]):
        return None
    return _checks.spent_epsilon(epsilon=_needed(file, "epsilon", "epsilon = 1.0, or rho = 0.5"))


def _needed(table: Mapping[str, Any], key: str, example: str, where: str = "") -> Any:
    if key not in table:
        raise ParameterError(f"{where}{key} must be there, as in {example}.")
    return table[key]


def _text(
    table: Mapping[str, Any], key: str, most: int, *, where: str = "", example: str = "", default: str | None = None
) -> str:
    """A text on one line, in normal form."""
    value = table.get(key, default) if default is not None else _needed(table, key, f'{key} = "{example}"', where)
    if not isinstance(value, str):
        raise ParameterTypeError(f'{where}{key} must be a text in quotes, as in {key} = "{example or default}".')
    text = _checks.normal_form(value.strip())
    if not text.isprintable() or len(text) > most or (not text and default is None):
        raise ParameterError(f"{where}{key} must be a text of 1 to {most} characters on one line.")
    return text


def _flag(table: Mapping[str, Any], key: str, *, default: bool) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise ParameterTypeError(f"{key} must be true or false, without quotes.")
    return value


def _table(file: Mapping[str, Any], key: str, known: tuple[str, ...], example: str) -> dict[str, Any] | None:
    """A table within the file, with known keys."""
    table = file.get(key)
    if table is None:
        return None
    if not isinstance(table, Mapping):
        raise ParameterTypeError(f"{key} must be a table, as in {key} = {example}.")
    _checks.known_keys(table, known, f"{key}: ")
    return dict(table)


def _budget(file: Mapping[str, Any]) -> dict[str, Any] | None:
    table = _table(file, "budget", _BUDGET_KEYS, "{ epsilon = 2.0, delta = 1e-5 }")
    if table is None:
        return None
    if "rho" not in table:
        _needed(table, "epsilon", "budget = { epsilon = 2.0 }, or budget = { rho = 0.02 }", "budget: ")
    if not isinstance(table.get("zcdp", False), bool):
        raise ParameterTypeError("budget: zcdp must be true or false, without quotes.")
    return table


def _csv(file: Mapping[str, Any]) -> dict[str, Any]:
    table = _table(file, "csv", _CSV_KEYS, '{ delimiter = ";", missing = ["NA"] }') or {}
    marks = table.get("missing", [])
    if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
        raise ParameterTypeError('csv: missing must be a list of texts, as in missing = ["NA"].')
    return {**table, "missing": ("", *marks)}


def _person(file: Mapping[str, Any]) -> dict[str, Any] | None:
    table = _table(file, "person", _PERSON_KEYS, '{ column = "user_id", rows = 10 }')
    if table is None:
        return None
    _text(table, "column", 1000, where="person: ", example="user_id")
    return table


def _requests(file: Mapping[str, Any], person: dict[str, Any] | None, folder: Path) -> tuple[Request, ...]:
    tables = file.get("statistic")
    if isinstance(tables, Mapping):
        raise ParameterError("[statistic] must be written in double brackets, [[statistic]], before each statistic.")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise ParameterError("A publication must have statistics: write [[statistic]] before each, in double brackets.")
    if len(tables) > MOST_STATISTICS:
        raise ParameterError(f"A publication must have at most {MOST_STATISTICS:,} statistics.")
    requests = tuple(_request(table, place, person, folder) for place, table in enumerate(tables, 1))
    names = [request.name.casefold() for request in requests]
    if len(set(names)) < len(names):
        double = next(request.name for request in requests if names.count(request.name.casefold()) > 1)
        raise ParameterError(f"The statistics must have different names, and {double!r} stands there twice.")
    _check_weights(tables)
    return requests


def _check_weights(tables: list[Mapping[str, Any]]) -> None:
    """Either all statistics have shares, which sum to 1, or none has."""
    shares = ["share" in table for table in tables]
    if not any(shares):
        return
    if not all(shares):
        raise ParameterError("Give a share to all statistics, or to none; weight = 2 stands for twice the usual part.")
    total = sum((Fraction(repr(table["share"])) for table in tables), Fraction(0))
    if total != 1:
        raise ParameterError(f"The shares must sum to 1, and these sum to {float(total):.10g}.")


def _request(table: Mapping[str, Any], place: int, person: dict[str, Any] | None, folder: Path) -> Request:
    where = f"Statistic {place}: "
    name = _text(table, "name", MOST_NAME, where=where, example="mean age")
    where = f"Statistic {name!r}: "
    kind = kind_name(_needed(table, "kind", 'kind = "mean"', where), where)
    statistic = statistic_kind(kind)
    _checks.known_keys(table, (*_COMMON_KEYS, *_kind_keys(statistic)), where)
    by = _by(table, where, folder)
    if None in by.values() and kind not in ("count", "sum", "mean", "variance"):
        raise ParameterError(
            f'{where}the groups of a {kind} must be declared, as in by = ["{next(iter(by))}=a,b"]: undeclared '
            'groups can be counted with kind = "count", and beside that count have sums, means and variances.'
        )
    if None in by.values() and any(domain is not None for domain in by.values()):
        raise ParameterError(f"{where}declare the groups of all columns of by, or of none.")
    return Request(
        name=name,
        kind=kind,
        of=_questions(table, statistic, where, folder),
        by=by,
        share=_weight(table, where),
        noise=_checks.one_of(CHOICES, **{f"{where}noise": table.get("noise", "auto")}),
        options=_options(table, statistic, where),
        person=_person_of(table, person, by, where),
        description=_text(table, "description", MOST_DESCRIPTION, where=where, default=""),
    )


def _kind_keys(kind: type[Statistic]) -> tuple[str, ...]:
    """What the table of a statistic may have besides the common keys."""
    of = ("of",) if kind.example() else ()
    noise = ("noise",) if "delta" in kind.parameters() else ()
    return (*of, *noise, *kind.option_names(), *kind.width_options())


def _questions(table: Mapping[str, Any], kind: type[Statistic], where: str, folder: Path) -> tuple[str, ...]:
    """What a statistic is of: a question, or a list of them."""
    if not kind.example():
        return ()
    texts = table.get("of")
    if not isinstance(texts, list):
        return (_located(_text(table, "of", 10**6, where=where, example=kind.example()), folder),)
    return tuple(_located(_text({"of": text}, "of", 10**6, where=where, example="sex=F,M"), folder) for text in texts)


def _options(table: Mapping[str, Any], kind: type[Statistic], where: str) -> dict[str, Any]:
    """The options of the kind that a table has."""
    checks: dict[str, Callable[..., Any]] = {
        "missing": _missing, "outside": _outside, "method": _method, "at": _at, "weighted_by": _weighted_by,
        "within": _within,
    }  # fmt: skip
    names = [name for name in (*kind.option_names(), *kind.width_options()) if name in table]
    return {name: checks[name](table, kind, where) if name in checks else table[name] for name in names}


def _located(text: str, folder: Path) -> str:
    """A question whose file of labels, after an @, is taken from the folder of the publication."""
    return re.sub(r"=\s*@\s*(?=[^/\s])", lambda _: f"=@{folder}/", text, count=1)


def _by(table: Mapping[str, Any], where: str, folder: Path) -> dict[str, Domain | None]:
    texts = table.get("by", [])
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ParameterTypeError(f'{where}by must be a list of questions, as in by = ["sex=F,M"] or by = ["zone=?"].')
    gaps = _checks.one_of(("refuse", "group"), **{f"{where}gaps": table.get("gaps", "refuse")})
    return questions([_located(text, folder) for text in texts], "category" if gaps == "group" else "refuse")


def _weight(table: Mapping[str, Any], where: str) -> Fraction:
    if "weight" in table and "share" in table:
        raise ParameterError(f"{where}give a weight or a share, not both.")
    key = "share" if "share" in table else "weight"
    value = table.get(key, 1)
    _checks.positive(**{f"{where}{key}": value})
    return Fraction(repr(value))


def _missing(table: Mapping[str, Any], kind: type[Statistic], where: str) -> str:
    return _checks.one_of(kind.policy_words("missing"), **{f"{where}missing": table["missing"]})


def _outside(table: Mapping[str, Any], kind: type[Statistic], where: str) -> str:
    return _checks.one_of(kind.policy_words("outside"), **{f"{where}outside": table["outside"]})


def _method(table: Mapping[str, Any], kind: type[Statistic], where: str) -> str:
    methods = ("auto", "exponential", "approximate", "joint", "histogram")
    return _checks.one_of(methods, **{f"{where}method": table["method"]})


def _at(table: Mapping[str, Any], kind: type[Statistic], where: str) -> tuple[float, ...]:
    points = table["at"]
    if not isinstance(points, list) or not points:
        raise ParameterTypeError(f"{where}at must be a list of numbers from 0 to 1, as in at = [0.25, 0.5, 0.75].")
    return tuple(_checks.fraction(**{f"{where}at": point}) for point in points)


def _within(table: Mapping[str, Any], kind: type[Statistic], where: str) -> Within:
    with translated((ParameterError, ParameterTypeError), lambda error: ParameterError(f"{where}{error}")):
        return Within.of(table["within"])


def _weighted_by(table: Mapping[str, Any], kind: type[Statistic], where: str) -> str:
    return _text(table, "weighted_by", 1000, where=where, example="stands_for=0..5")


def _person_of(
    table: Mapping[str, Any], person: dict[str, Any] | None, by: Mapping[str, Any], where: str
) -> Person | None:
    """Whose rows count, by the bounds of the file unless the statistic has its own."""
    own = {key: table[key] for key in _BOUNDS if key in table}
    if person is None:
        if own:
            raise ParameterError(
                f"{where}{next(iter(own))} is about people with several rows: say whose row it is, as in "
                'person = { column = "user_id", rows = 10 }.'
            )
        return None
    common = {key: person[key] for key in _BOUNDS if key in person}
    bounds = {**common, **own}
    if not by:
        if {"groups", "rows_per_group"} & set(own):
            raise ParameterError(f"{where}groups and rows_per_group are about the groups of by, and there are none.")
        bounds = {key: value for key, value in bounds.items() if key == "rows"}
        if not bounds:
            raise ParameterError(f"{where}say how many rows of a person count, as in rows = 10, here or in [person].")
    elif None in by.values():
        bounds["rows_per_group"] = 1
    elif "rows" not in bounds and "rows_per_group" not in bounds:
        raise ParameterError(
            f"{where}say how many rows of a person count: rows = 10, or groups = 3 and rows_per_group = 1, here or in "
            "[person]."
        )
    return Person(person["column"], **bounds, missing=person.get("missing", "refuse"))
