"""The respondent's page: one HTML file with its own script and style, which loads nothing and sends one report.

The script is ``sample.mjs`` of the cards, which draws, and ``page.mjs``, which asks, shows and sends. What they need to
know stands in the page as data. A content security policy names the two by their hashes, so that nothing else runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from bruit.cards import javascript
from bruit.collection.odds import Share, at_most_ratio, belief, nearest, odds, person_ratio
from bruit.errors import ParameterError
from bruit.pages import fill, source
from bruit.privacy.composition import sequential
from bruit.survey.body import Body, ClaimBody
from bruit.survey.question import Question
from bruit.survey.wording import ASSIGNED, CODE, LATER_CODE, OPEN, PRINT, check, check_texts

if TYPE_CHECKING:
    from bruit.survey.survey import Survey

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?:sample|code|open_text)\.mjs";\n', re.MULTILINE)


def page(survey: Survey, *, address: str, links: bool, insecure_demo: bool) -> bytes:
    """The page of a survey, whole."""
    if survey.needs_links and not links:
        kind = "with rounds" if survey.has_rounds else "in rotation"
        raise ParameterError(f"A survey {kind} is answered by personal links: give --links (links=True in Python).")
    if not address:
        raise ParameterError('address must be a path or an address with https, as in "report".')
    return _page(survey, address=address, links=links, insecure_demo=insecure_demo)


def code_page(survey: Survey) -> bytes:
    """The page of a survey that is answered by codes; its policy allows no connection."""
    check_texts(survey, CODE, "for codes")
    return _page(survey, code=survey.codes.to_dict(), address="", links=False, insecure_demo=False)


def _page(survey: Survey, *, address: str, code: dict[str, Any] | None = None, **options: Any) -> bytes:
    check(survey)
    is_open = survey.open_question is not None
    language, data = survey.languages[0], _data(survey, code, address=address, **options)
    text = fill(
        "respondent.html.j2",
        language=language,
        direction=survey.wording[language]["direction"],
        title=survey.title[language],
        address=address,
        style=source(asset("page.css")),
        script=source(script(code=code is not None, is_open=is_open)),
        needs_script={own: words["needs_script"] for own, words in data["words"].items()},
        data=data,
    )
    return text.encode()


@cache
def script(*, code: bool = False, is_open: bool = False) -> str:
    """The script of every page: the sampler of the cards, and what is around it.

    With codes also how they are written, and with an open question how a text becomes a number.
    """
    further = [name for name, wanted in (("code.mjs", code), ("open_text.mjs", is_open)) if wanted]
    parts = [javascript(), *map(asset, further), _IMPORT.sub("", asset("page.mjs"))]
    return "".join(f"\n{part}" for part in parts)


@cache
def asset(name: str) -> str:
    """A style or script of this package."""
    return resources.files("bruit.survey").joinpath(name).read_text(encoding="utf-8")


# What the script needs to know.


def _data(survey: Survey, code: dict[str, Any] | None, **options: Any) -> dict[str, Any]:
    return {
        **options,
        "code": code,
        "digest": survey.digest,
        "identity": survey.identity,
        "languages": list(survey.languages),
        "words": {
            language: page_words(survey.wording[language], own_texts(survey, code=code is not None))
            for language in survey.languages
        },
        "title": dict(survey.title),
        "introduction": dict(survey.introduction),
        "asker": dict(survey.asker),
        "questions": [_question(question) for question in survey.questions],
        "card": survey.card.to_bytes().decode(),
        "assigned": survey.is_assigned,
        "parts": _parts(survey.body),
        "length": survey.body_length,
        **facts(survey),
    }


def facts(survey: Survey) -> dict[str, Any]:
    """All that is said of a survey in numbers, on its page and on its sheet."""
    return {
        "attributes": _attributes(survey),
        "epsilon": rounded_epsilon(survey.plan.guarantee.epsilon),
        "beliefs": beliefs(person_ratio(survey.plan)),
        "panel": _panel(survey) if survey.has_rounds else None,
    }


def own_texts(survey: Survey, *, code: bool) -> str:
    """How the texts begin that stand in place of others: of codes, an open question, assigned ones, or none."""
    return CODE if code else OPEN if survey.open_question else ASSIGNED if survey.is_assigned else ""


def page_words(texts: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The texts of a page; with codes, ``code_draw`` stands in place of ``draw``."""
    plain = {name: text for name, text in texts.items() if not name.startswith((CODE, PRINT, OPEN, ASSIGNED))}
    if not prefix:
        return plain
    own = {name.removeprefix(prefix): text for name, text in texts.items() if name.startswith(prefix)}
    absent = {name.removeprefix(CODE) for name in LATER_CODE if prefix == CODE and name not in texts}
    return {name: text for name, text in plain.items() if name not in absent} | own


def beliefs(ratio: Fraction) -> list[list[str]]:
    """What somebody can come to think, at least and at most, who thought it 1, 2, … 99 % likely."""
    moved = [belief(ratio, percent) for percent in range(1, 100)]
    return [[_percent(step.least), _percent(step.most)] for step in moved]


def rounded_epsilon(epsilon: float) -> str:
    """ε with three decimals, rounded up."""
    return f"{math.ceil(Fraction(epsilon) * 1000) / 1000:.12g}"


def _parts(body: Body | ClaimBody) -> list[Any]:
    return [part if isinstance(part, str) else [part.role, part.name] for part in body.parts]


def _panel(survey: Survey) -> dict[str, Any]:
    """Rounds and epochs; and what is told at most, by past epochs and reports of the present one."""
    plan = survey.plan
    rounds, epochs = survey.repeat.rounds, survey.repeat.epochs
    after = [plan.panel.after(number) for number in range(1, rounds + 1)]
    ratios = [at_most_ratio(guarantee.epsilon) for guarantee in after]

    def account(past: int, place: int) -> tuple[str, str]:
        epsilon = sequential([*[after[-1]] * past, after[place]]).epsilon
        return rounded_epsilon(epsilon), _percent(belief(ratios[-1] ** past * ratios[place], 50).most)

    return {
        "rounds": rounds,
        "epochs": epochs,
        "opens": [time.isoformat() for time in survey.round_opens],
        "claim": _parts(survey.claim_body),
        "report_epsilon": rounded_epsilon(after[0].epsilon),
        "epoch_epsilon": rounded_epsilon(after[-1].epsilon),
        "accounts": [[account(past, place) for place in range(rounds)] for past in range(epochs)],
    }


def _question(question: Question) -> dict[str, Any]:
    step = "" if question.bounds is None else f"{question.bounds[2]:g}"
    return {**question.to_dict(), "step": step}


def _percent(share: Share) -> str:
    """A share of a hundred as a number, with as many decimals as it takes not to say none or all."""
    return f"{float(100 * share.fraction):.12g}"


def _attributes(survey: Survey) -> list[dict[str, Any]]:
    """For each attribute or table that may be reported on: whose answers it is, how a message reads, and its odds."""
    places = {
        name: {"question": place, "label": label if question.kind == "several" else None}
        for place, question in enumerate(survey.questions)
        if not question.clear
        for label, name in enumerate(question.attribute_names)
    }
    entries = []
    for unit, names in survey.units.items():
        mechanism = survey.plan.mechanisms[unit]
        parts = [{**places[name], "size": survey.plan.schema[name].size} for name in names]
        entries.append({"parts": parts, **(_number(mechanism) if mechanism.gives == "mean" else _category(mechanism))})
    return entries


def _category(mechanism: Any) -> dict[str, Any]:
    """Odds of an answer that is sent as one, as a list, or as a hint at a text."""
    chances = odds(mechanism)
    if chances is None:
        raise ParameterError(f"{mechanism.name} has no odds that could be shown.")
    is_open = mechanism.law.sets is not None and mechanism.law.sets.kind == "parity"
    return {
        "reading": "open" if is_open else "value" if chances.names else "list",
        "own": _share(chances.own_share),
        "other": _share(chances.other_share),
    }


def _number(mechanism: Any) -> dict[str, Any]:
    """The numbers that each message hints at, and how often it hints at the upper half, from the two ends."""
    rows = [mechanism.law.row(code) for code in range(mechanism.size)]
    hints = [_hint(column) for column in zip(*rows, strict=True)]
    above = [low + high > mechanism.size - 1 for low, high in hints]
    low, high = (sum(chance for chance, up in zip(row, above, strict=True) if up) for row in (rows[0], rows[-1]))
    return {"reading": hints, "own": _share(nearest(Fraction(low))), "other": _share(nearest(Fraction(high)))}


def _hint(column: tuple[Fraction, ...]) -> tuple[int, int]:
    """The first and the last of the values under which a message is likeliest."""
    most = max(column)
    likeliest = [code for code, chance in enumerate(column) if chance == most]
    return likeliest[0], likeliest[-1]


def _share(share: Share) -> list[int]:
    return [share.count, share.of]
