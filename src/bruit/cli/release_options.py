"""What the options of `bruit release` ask for, as a release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bruit import _checks
from bruit.cli import _questions
from bruit.errors import DataError, ParameterError, translated

if TYPE_CHECKING:
    from bruit.releases import Declaration, Release

#: How the limits of a person are chosen.
HOW_MANY = "bruit limits says how many are best: few lose what people have beyond them, many need more noise."
#: What can be published of undeclared groups, beside their count.
_OF_MANY = ("sum", "mean", "variance")


def statistics(texts: dict[str, list[str] | None], others: list[str] | None, *, count: bool) -> list[Declaration]:
    """The statistics that options ask for: a count, those of the common kinds, and any other by its line of text."""
    from bruit.releases import Declaration
    from bruit.releases.declared import read_declaration

    common = [Declaration(kind, (text,)) for kind, questions in texts.items() for text in questions or []]
    with translated(ParameterError, lambda error: ParameterError(f"--statistic: {error}")):
        rare = [read_declaration(text) for text in others or []]
    return [*([Declaration("count")] if count else []), *common, *rare]


def release(
    declarations: list[Declaration],
    *,
    epsilon: float | None,
    delta: float,
    neighbours: str,
    by: list[str],
    person: str | None,
    said: Mapping[str, list[str] | None],
) -> Release:
    """The release of these statistics; `said` has the policies by their options, ``--missing`` and ``--outside``."""
    from bruit.releases.declared import declared_release

    if not declarations:
        raise ParameterError(
            "Say what to publish: --count, --mean age=0..120, --histogram sex=F,M, "
            '--statistic "variance: age=0..120", or --ask FILE.'
        )
    if epsilon is not None:
        _checks.positive(**{"--epsilon": epsilon})
    elif not all(item.has_width for item in declarations):
        raise ParameterError(
            "--epsilon must be given: the most that the results may tell about a record, such as 0.5. Or say how exact "
            'each result must be: --statistic "count: within=50".'
        )
    _checks.fraction(**{"--delta": delta})
    _checks.one_of(("add-remove", "replace"), **{"--neighbours": neighbours})
    gaps, beyond = (_questions.policies(said.get(option), option) for option in ("--missing", "--outside"))
    groups = _groups(by, gaps, beyond)
    selects = None in groups.values()
    whose = _questions.person(person)
    columns = [*groups, *([whose[0]] if whose else []), *(name for item in declarations for name in item.columns)]
    for option, policies in (("--missing", gaps), ("--outside", beyond)):
        _check_columns(option, policies, columns)
    if selects:
        _check_selected(groups, declarations, delta, whose)
    elif delta:
        _check_delta(declarations)
    completed = [item.with_policies("missing", gaps).with_policies("outside", beyond) for item in declarations]
    _check_policies(completed, gaps, beyond, by)
    return declared_release(
        completed,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        by=groups,
        person=_person(whose, gaps, rows_per_group=1 if selects else None),
    )


def from_file(path: Path, options: dict[str, Any]) -> Release:
    """The release that a file describes; options that say what to publish would be ignored, and are refused."""
    from bruit.releases import Release

    idle = [name for name, value in options.items() if value]
    if idle:
        raise ParameterError(f"--ask FILE says what is published: leave out {' and '.join(idle)}.")
    with translated(OSError, lambda _: DataError(f"{str(path)!r} cannot be read.")):
        text = path.read_bytes()
    return Release.from_json(text)


def _groups(by: list[str], gaps: dict[str, str], beyond: dict[str, str]) -> dict[str, Any]:
    """The groups by column; a column without its groups is told both ways to have them."""
    from bruit.domains.declare import column_name, questions
    from bruit.domains.outside import check_outside

    bare = next((text.strip() for text in by if "=" not in text), None)
    if bare is not None:
        raise ParameterError(
            f"--by {bare} must declare its groups, as in --by {bare}=a,b: a list that is read from the data tells "
            f"which groups occur. Or name and count only groups of many: --count --by {bare}=? --delta 1e-6."
        )
    questions(by)  # a column that stands there twice
    groups: dict[str, Any] = {}
    for text in by:
        name = column_name(text)
        missing: Any = _checks.one_of(("refuse", "category"), **{f"--missing {name}": gaps.get(name, "refuse")})
        outside: Any = beyond.get(name, beyond.get(""))
        groups |= questions([text], missing, outside)
        if outside == "other" and groups[name] is not None:
            check_outside(outside, groups[name].policies)
    return groups


def _person(whose: tuple[str, dict[str, int]] | None, gaps: dict[str, str], rows_per_group: int | None) -> Any:
    """The person, or None if none is named; with the default number of rows in a group."""
    from bruit.releases import Person

    if whose is None:
        return None
    column, limits = whose
    if rows_per_group is not None:
        limits = {"rows_per_group": rows_per_group, **limits}
    missing: Any = _checks.one_of(("refuse", "drop"), **{f"--missing {column}": gaps.get(column, "refuse")})
    if not {"rows", "rows_per_group"} & limits.keys():
        raise ParameterError(
            f"Say how many rows of a person count: --person {column}:rows=10, or with --by "
            f"--person {column}:groups=3,rows_per_group=1. {HOW_MANY}"
        )
    return Person(column, **limits, missing=missing)


def _check_selected(
    groups: dict[str, Any],
    declarations: list[Declaration],
    delta: float,
    whose: tuple[str, dict[str, int]] | None,
) -> None:
    """That undeclared groups are counted, and nothing is asked of them that their noise does not cover."""
    name = next(name for name, domain in groups.items() if domain is None)
    kinds = [item.kind for item in declarations]
    sums = kinds.count("count") == 1 and all(kind in ("count", *_OF_MANY) for kind in kinds)
    weighted = any((item.options or {}).get("weighted_by") for item in declarations)
    if not sums or weighted or any(domain is not None for domain in groups.values()):
        raise ParameterError(
            f"The groups must be declared, as in --by {name}=a,b: reading them from the data would tell which groups "
            f"occur. Groups of many people can be named and counted: --count --by {name}=? --delta 1e-6, with sums, "
            "means and variances of them, and no other statistic."
        )
    if not delta:
        raise ParameterError(
            f"--by {name}=? needs a δ, the chance that a group of one person is named: add --delta 1e-6, or one far "
            f"below one over the number of people; or declare the groups, as in --by {name}=a,b."
        )
    if whose is not None and not {"rows", "groups"} & whose[1].keys():
        raise ParameterError(
            f"Say in how many groups a person counts at most: --person {whose[0]}:groups=3. Of each group the people "
            f"are counted, and not their rows. {HOW_MANY}"
        )


def _check_delta(declarations: list[Declaration]) -> None:
    from bruit.releases.declared import statistic_kind

    pure = next((item.kind for item in declarations if "delta" not in statistic_kind(item.kind).parameters()), None)
    if pure is not None:
        raise ParameterError(f"Kind {pure!r} has no δ: publish it in a command without --delta.")


def _check_columns(option: str, policies: dict[str, str], columns: list[str]) -> None:
    unread = next((name for name in policies if name and name not in columns), None)
    if unread is not None:
        near = _checks.suggestion(unread, columns)
        raise ParameterError(f"{option} names the column {unread!r}, which this release does not read.{near}")


def _check_policies(
    declarations: list[Declaration], gaps: dict[str, str], beyond: dict[str, str], by: list[str]
) -> None:
    """A policy that no statistic takes is a misunderstanding, and so is one that its kind cannot follow."""
    from bruit.releases.declared import statistic_kind

    taken = [option for item in declarations for option in (item.options or {})]
    if gaps.get("", "refuse") != "refuse" and "missing" not in taken:
        raise ParameterError("--missing is of no use here: leave it out.")
    if "" in beyond and not by and "outside" not in taken:
        raise ParameterError("--outside is of no use here: leave it out.")
    for item in declarations:
        chosen = (item.options or {}).get("missing")
        words = set(chosen.values()) if isinstance(chosen, dict) else {chosen}
        if "category" in words - set(statistic_kind(item.kind).policy_words("missing")):
            raise ParameterError("--missing category is for histograms and tables alone: use --missing drop.")
        if "drop" in words and item.kind == "tables":
            raise ParameterError("--missing drop is not for tables: a gap is a value there, with --missing category.")
