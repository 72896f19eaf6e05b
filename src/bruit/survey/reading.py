"""From the TOML file of a survey to the survey; errors say where, what the rule is, and how it is spelt."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from bruit import _checks, documents
from bruit.cards.question import MOST_CELLS
from bruit.collection import Plan, Repeat
from bruit.collection.card import assigned_card
from bruit.collection.mechanisms import check_ordinary
from bruit.collection.method import DEFAULT, Method
from bruit.domains import OpenText, Schema
from bruit.domains.open_text import MOST_LETTERS
from bruit.errors import ParameterError, ParameterTypeError
from bruit.open_answers import HeavyHitters
from bruit.survey import wording
from bruit.survey.open_plan import LEAST_SHARE, OpenPlan
from bruit.survey.question import Kind, Question, Texts
from bruit.survey.survey import Channel, Survey, even_step
from bruit.tables import counted

#: The most answers to a question, questions, characters of a label and of another text.
MOST_LABELS = 100
MOST_QUESTIONS = 50
MOST_LABEL = 120
MOST_TEXT = 4_000
#: The most people who may be expected or waited for.
MOST_PEOPLE = 10**9
#: How many answers results wait for, unless the file says.
SHOWN_FROM = 10
#: The most rounds of all epochs together.
MOST_ROUNDS = 400

_NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,39}")
_ODDS = re.compile(r"\s*([0-9]{1,6})\s*:\s*([0-9]{1,6})\s*")
#: The mechanisms whose reports a person can read: an answer, a list of answers, or a stretch of numbers.
_READABLE = (None, "self", "subset", "window")

_SURVEY_KEYS = (
    "title", "introduction", "asker", "languages", "epsilon", "odds", "method", "assign", "people", "shown_from",
    "opens", "closes", "channel", "address", "reading", "rounds", "epochs", "epoch_epsilon", "round_opens", "question",
)  # fmt: skip
_QUESTION_KEYS = {
    "choice": ("labels", "refusal"),
    "yes-no": ("refusal",),
    "scale": ("from", "to", "low", "high", "refusal"),
    "number": ("from", "to", "step"),
    "several": ("labels",),
    "open": ("letters",),
}
#: Results of an open question are decoded anew at every step, so that these are some in a hundred of the people.
_STEPS, MOST_STEPS = 10, 100
#: What a survey with an open question cannot have, and what to write instead.
_NOT_OPEN = {
    "method": "an open question has a mechanism of its own: leave method out.",
    "assign": "an open question is alone, so that there is nothing to assign: leave assign out.",
    **dict.fromkeys(
        ("rounds", "epochs", "epoch_epsilon", "round_opens"),
        "an open question is asked once, because its answers cannot be drawn from a memo: leave rounds, epochs, "
        'epoch_epsilon and round_opens out, or ask a question with labels (kind = "choice").',
    ),
}


def read(path: Path) -> Survey:
    """The survey in a file; texts in a language of its own stand beside it, all that its page needs.

    A store has only surveys that were read so: a text that a later bruit needs takes nobody's results away.
    """

    def beside(name: str) -> bytes | None:
        file = path.parent / name
        return file.read_bytes() if file.is_file() else None

    survey = parse(path.read_bytes(), beside, path.name)
    wording.check(survey)
    return survey


def parse(content: bytes, beside: Callable[[str], bytes | None], name: str = "survey.toml") -> Survey:
    """The survey in the content of a file; `beside` gives the content of another file, as in ``de.toml``, or None."""
    file = _load(content, name)
    _checks.known_keys(file, _SURVEY_KEYS)
    languages = _languages(file)
    own = tuple(language for language in languages if language not in wording.TEXTS)
    address: wording.Address = _one_of(file, "address", wording.Address)
    reading: wording.Reading = _one_of(file, "reading", wording.Reading)
    texts = {code: wording.own(code, beside) if code in own else wording.TEXTS[code] for code in languages}
    words = {code: wording.spoken(known, address, reading) for code, known in texts.items()}
    questions = _questions(file, words)
    plan = _plan(file, questions)
    survey = Survey(
        title=_texts(file, "title", languages, "", MOST_LABEL),
        languages=languages,
        questions=questions,
        plan=plan,
        wording=words,
        introduction=_texts(file, "introduction", languages, "", MOST_TEXT, optional=True),
        asker=_texts(file, "asker", languages, "", MOST_TEXT, optional=True),
        own_wording=own,
        channel=_one_of(file, "channel", Channel),
        address=address,
        reading=reading,
        **_numbers(file, plan),
        **_times(file, plan),
    )
    if survey.channel == "codes":
        _ = survey.codes  # an error where answers do not fit into codes
    return survey


def _load(content: bytes, name: str) -> dict[str, Any]:
    rule = 'must be TOML in UTF-8: lines such as title = "Alcohol at school", and [[question]] before each question.'
    return documents.parse_toml(content, name, f"a survey {rule}")


# Texts.


def _languages(file: Mapping[str, Any]) -> tuple[str, ...]:
    """Those that the file names, or those of its title, or English."""
    title = file.get("title")
    languages = file.get("languages", list(title) if isinstance(title, Mapping) else ["en"])
    if not isinstance(languages, list) or not languages or not all(isinstance(code, str) for code in languages):
        raise ParameterTypeError('languages must be a list of codes, as in languages = ["en", "fr"].')
    if len(set(languages)) < len(languages):
        raise ParameterError("languages must have each language once.")
    return tuple(languages)


def _texts(
    table: Mapping[str, Any], key: str, languages: tuple[str, ...], where: str, most: int, *, optional: bool = False
) -> Texts:
    """A text in every language: one text where there is one language, else a text for each."""
    if key not in table and optional:
        return dict.fromkeys(languages, "")
    entries = _by_language(table, key, languages, where)
    return {language: _spaced(_text(text, where + key, most), language) for language, text in entries}


def _spaced(text: str, language: str) -> str:
    """French marks stay with their word: the space before them does not end a line."""
    return re.sub(r" (?=[?!:;»])|(?<=«) ", "\u00a0", text) if language.split("-", maxsplit=1)[0] == "fr" else text


def _by_language(table: Mapping[str, Any], key: str, languages: tuple[str, ...], where: str) -> list[tuple[str, Any]]:
    """What stands under a key in each language."""
    value = table.get(key)
    if not isinstance(value, Mapping) and len(languages) == 1 and value is not None:
        return [(languages[0], value)]
    if isinstance(value, Mapping) and set(value) == set(languages):
        return [(language, value[language]) for language in languages]
    example = '["…", "…"]' if key == "labels" else '"…"'
    spelt = (
        f"{key} = {example}" if len(languages) == 1 else ", ".join(f"{key}.{code} = {example}" for code in languages)
    )
    raise ParameterError(f"{where}{key} must be given in every language of the survey: {spelt}.")


def _text(value: Any, what: str, most: int) -> str:
    """A text without control characters, in normal form and without spaces around it."""
    if not isinstance(value, str):
        raise ParameterTypeError(f'{what} must be a text in quotes, as in {what.rsplit(maxsplit=1)[-1]} = "…".')
    text = _checks.normal_form(value.strip())
    if any(unicodedata.category(character) == "Cc" and character not in "\n" for character in text):
        raise ParameterError(f"{what} must not have control characters.")
    if not 1 <= len(text) <= most:
        raise ParameterError(f"{what} must have from 1 to {most:,} characters.")
    return text


# Numbers and times.


def _numbers(file: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    expected = None if "people" not in file else _checks.integer(low=1, high=MOST_PEOPLE, people=file["people"])
    usual = SHOWN_FROM
    if isinstance(plan, OpenPlan):
        _check_people(expected, plan)
        usual = _open_step(expected)
    gate = _checks.integer(low=2, high=MOST_PEOPLE, shown_from=file.get("shown_from", usual))
    if isinstance(plan, OpenPlan) and gate * MOST_STEPS < (expected or 0):
        raise ParameterError(
            "Answers to an open question are decoded again at every step: shown_from must be at least a part in "
            f"{MOST_STEPS} of people, as in shown_from = {usual}."
        )
    return {"expected": expected, "shown_from": gate}


def _open_step(expected: int | None) -> int:
    """A tenth of the people, or the nearest step that leaves nobody out."""
    step = max(SHOWN_FROM, math.ceil((expected or 0) / _STEPS))
    return even_step(expected or 0, step) or step


def _check_people(expected: int | None, plan: OpenPlan) -> None:
    """An error unless an answer of one in five would be found among the expected people."""
    needed = plan.answering.people_needed(LEAST_SHARE)
    if expected is not None and expected >= needed:
        return
    (name,) = plan.schema
    said = "does not say how many it expects" if expected is None else f"expects {expected:,}"
    raise ParameterError(
        f"Question {name!r}: to find an answer that {100 * LEAST_SHARE:.0f} % of people give, an open question needs "
        f"{counted(needed, 'person')} at ε = {plan.answering.epsilon:.4g}, and the survey {said}. Ask with a list of "
        f'answers (kind = "choice", with labels), which needs far fewer people; expect more (people = {needed}); or '
        "raise epsilon, which protects each person less."
    )


def _one_of(file: Mapping[str, Any], key: str, values: Any) -> Any:
    """A setting with a few values, the first of them by default."""
    known = get_args(values)
    return _checks.one_of(known, **{key: file.get(key, known[0])})


def _times(file: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    times: dict[str, datetime | None] = {}
    for key in ("opens", "closes"):
        time = file.get(key)
        if time is not None and not _is_time(time):
            raise ParameterTypeError(
                f"{key} must be a time with its offset and without quotes, as in {key} = 2026-12-01T18:00:00+01:00."
            )
        times[key] = time
    rounds = _round_opens(file, plan)
    opens, closes = rounds[-1] if rounds else times["opens"], times["closes"]
    if opens is not None and closes is not None and opens >= closes:
        raise ParameterError(f"{'The last time of round_opens' if rounds else 'opens'} must come before closes.")
    return {**times, "opens": rounds[0] if rounds else times["opens"], "round_opens": rounds}


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _round_opens(file: Mapping[str, Any], plan: Plan) -> tuple[datetime, ...]:
    """When each round begins; nothing where people are asked once."""
    if plan.repeat is None:
        if "round_opens" in file:
            raise ParameterError("round_opens is for a survey with rounds: add rounds, epochs and epoch_epsilon.")
        return ()
    number = plan.repeat.rounds * plan.repeat.epochs
    times = file.get("round_opens")
    if not isinstance(times, list) or len(times) != number or not all(map(_is_time, times)):
        raise ParameterError(
            f"round_opens must have {number} times with their offset, the beginning of each round of each epoch, as in "
            "round_opens = [2026-12-01T08:00:00+01:00, 2026-12-08T08:00:00+01:00]."
        )
    if any(later <= earlier for earlier, later in itertools.pairwise(times)):
        raise ParameterError("round_opens must be in order, each time later than the one before.")
    if "opens" in file:
        raise ParameterError("A survey with rounds opens at the first time of round_opens: leave opens out.")
    return tuple(times)


def _epsilon(file: Mapping[str, Any]) -> float:
    """ε as it is written, or from odds: 3:1 is ε = ln 3."""
    if ("epsilon" in file) == ("odds" in file):
        raise ParameterError(
            'A survey must have epsilon or odds, one of the two: epsilon = 1.0, or odds = "3:1" for three to one.'
        )
    if "epsilon" in file:
        return _checks.epsilon(epsilon=file["epsilon"])
    odds = _ODDS.fullmatch(file["odds"]) if isinstance(file["odds"], str) else None
    if odds is None or int(odds[2]) < 1 or int(odds[1]) <= int(odds[2]):
        raise ParameterError('odds must be two whole numbers, the larger first, as in odds = "3:1".')
    logarithm = math.log(int(odds[1]) / int(odds[2]))
    return _checks.epsilon(epsilon=logarithm - 4 * math.ulp(logarithm))  # a law at these odds or below


# Questions.


def _questions(file: Mapping[str, Any], words: Mapping[str, Mapping[str, str]]) -> tuple[Question, ...]:
    tables = file.get("question")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise ParameterError("A survey must have questions: write [[question]] before each, in double brackets.")
    if len(tables) > MOST_QUESTIONS:
        raise ParameterError(f"A survey must have at most {MOST_QUESTIONS} questions.")
    questions = tuple(_question(table, place, words) for place, table in enumerate(tables, 1))
    names = [question.name for question in questions]
    if len({name.casefold() for name in names}) < len(names):
        raise ParameterError("The questions of a survey must have different names.")
    _check_alone(questions)
    if all(question.clear for question in questions):
        raise ParameterError("A survey must have a question that is not sent in clear: leave clear = true out.")
    return questions


def _check_alone(questions: tuple[Question, ...]) -> None:
    """An error if an open question has others beside it."""
    for question in questions:
        if question.kind == "open" and len(questions) > 1:
            raise ParameterError(
                f"Question {question.name!r}: an open question is alone in its survey. Put the other questions into a "
                "survey of their own. For a person who answers both, the two epsilons add up."
            )


def _question(table: Mapping[str, Any], place: int, words: Mapping[str, Mapping[str, str]]) -> Question:
    name = table.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(
            f'Question {place} must have a name of letters, digits and _ that begins with a letter: name = "drinks".'
        )
    where = f"Question {name!r}: "
    kinds = get_args(Kind)
    if table.get("kind") not in kinds:
        suggestion = _checks.suggestion(table.get("kind"), kinds)
        raise ParameterError(f'{where}kind must be one of {", ".join(kinds)}, as in kind = "choice".{suggestion}')
    kind: Kind = table["kind"]
    known = ("name", "kind", "text", "help", "clear", *_QUESTION_KEYS[kind])
    _check_place(table, known, where)
    _checks.known_keys(table, known, where)
    clear = _flag(table, "clear", where)
    if clear and kind == "several":
        raise ParameterError(f"{where}several choices are not sent in clear: make it a choice, or leave clear out.")
    if clear and kind == "open":
        raise ParameterError(f"{where}an open answer is not sent in clear: leave clear out.")
    languages = tuple(words)
    labels = _labels(table, kind, words, where)
    first = words[languages[0]]
    return Question(
        name=name,
        kind=kind,
        text=_texts(table, "text", languages, where, MOST_TEXT),
        help=_texts(table, "help", languages, where, MOST_TEXT, optional=True),
        labels=labels,
        bounds=_bounds(table, where) if kind == "number" else None,
        clear=clear,
        words=(first["no"], first["yes"]),
        letters=_letters(table, where) if kind == "open" else 0,
    )


def _letters(table: Mapping[str, Any], where: str) -> int:
    """How many letters of an open answer count."""
    return _checks.integer(low=2, high=MOST_LETTERS, **{f"{where}letters": table.get("letters", MOST_LETTERS)})


def _check_place(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """An error for a key of the survey below a [[question]]: TOML takes it for one of that question."""
    for key in table:
        if key in _SURVEY_KEYS and key not in known:
            raise ParameterError(f"{where}{key} belongs to the whole survey: move it above the first [[question]].")


def _flag(table: Mapping[str, Any], key: str, where: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ParameterTypeError(f"{where}{key} must be true or false, without quotes.")
    return value


def _labels(
    table: Mapping[str, Any], kind: Kind, words: Mapping[str, Mapping[str, str]], where: str
) -> dict[str, tuple[str, ...]]:
    """The answers in every language, a refusal last where there is one."""
    if kind == "open":
        return dict.fromkeys(words, ())
    labels = _own_labels(table, kind, words, where)
    if _flag(table, "refusal", where):
        labels = {language: (*known, words[language]["refusal"]) for language, known in labels.items()}
    least = 1 if kind == "several" else 2
    most = MOST_CELLS if kind == "number" else MOST_LABELS
    for known in labels.values():
        if not least <= len(known) <= most:
            raise ParameterError(f"{where}there must be from {least} to {most} labels.")
        if len({unicodedata.normalize("NFKC", label).casefold() for label in known}) < len(known):
            raise ParameterError(f"{where}labels must differ, also when read without capitals.")
    if len({len(known) for known in labels.values()}) > 1:
        raise ParameterError(f"{where}there must be as many labels in every language, in the same order.")
    return labels


def _own_labels(
    table: Mapping[str, Any], kind: Kind, words: Mapping[str, Mapping[str, str]], where: str
) -> dict[str, tuple[str, ...]]:
    if kind == "yes-no":
        return {language: (known["no"], known["yes"]) for language, known in words.items()}
    if kind == "number":
        return dict.fromkeys(words, _points(*_bounds(table, where), where))
    if kind == "scale":
        return _scale(table, tuple(words), where)
    lists = _by_language(table, "labels", tuple(words), where)
    for _, labels in lists:
        if not isinstance(labels, list):
            raise ParameterTypeError(f'{where}labels must be a list of texts, as in labels = ["red", "green"].')
    return {
        language: tuple(_text(label, f"{where}labels", MOST_LABEL) for label in labels) for language, labels in lists
    }


def _scale(table: Mapping[str, Any], languages: tuple[str, ...], where: str) -> dict[str, tuple[str, ...]]:
    """Whole numbers from one to another; words for the ends stand behind them."""
    low, high = (_checks.integer(**{f"{where}{key}": table.get(key)}) for key in ("from", "to"))
    if not 1 <= high - low < MOST_LABELS:
        raise ParameterError(f"{where}a scale must have from 2 to {MOST_LABELS} steps, as in from = 1 and to = 5.")
    ends = {key: _texts(table, key, languages, where, MOST_LABEL, optional=True) for key in ("low", "high")}
    labels = {}
    for language in languages:
        steps = [str(step) for step in range(low, high + 1)]
        for place, key in ((0, "low"), (-1, "high")):
            word = ends[key][language]
            steps[place] += f" – {word}" if word else ""
        labels[language] = tuple(steps)
    return labels


def _bounds(table: Mapping[str, Any], where: str) -> tuple[int | float, int | float, int | float]:
    low, high, step = table.get("from"), table.get("to"), table.get("step", 1)
    for key, value in (("from", low), ("to", high), ("step", step)):
        _checks.finite(**{f"{where}{key}": value})
    return low, high, step  # type: ignore[return-value] # numbers, by the checks above


def _points(low: Any, high: Any, step: Any, where: str) -> tuple[str, ...]:
    """The numbers that may be answered, as texts."""
    first, last, width = (Fraction(str(number)) for number in (low, high, step))
    if width <= 0 or last <= first or (last - first) % width:
        raise ParameterError(f"{where}from must be below to, and step must divide what is between: from = 0, to = 10.")
    if (last - first) / width >= MOST_CELLS:
        raise ParameterError(f"{where}there must be at most {MOST_CELLS} numbers: widen the steps, as in step = 5.")
    return tuple(f"{float(first + place * width):.15g}" for place in range(int((last - first) / width) + 1))


# The plan.


def _plan(file: Mapping[str, Any], questions: tuple[Question, ...]) -> Plan:
    """The plan over the sensitive questions."""
    if questions[0].kind == "open":
        return _open_plan(file, questions[0])
    domains = {
        name: domain for question in questions if not question.clear for name, domain in question.attributes.items()
    }
    epsilon = _epsilon(file)
    plan = Plan(Schema(domains), epsilon, _method(file, len(domains)), repeat=_repeat(file, epsilon))
    check_ordinary(plan.mechanisms, "A survey")
    for name, mechanism in plan.mechanisms.items():
        sets = mechanism.law.sets
        if (None if sets is None else sets.kind) not in _READABLE:
            raise ParameterError(
                f"Question {name!r}: a report by {mechanism.name} says nothing to the person who sends it. Leave "
                'method out, or name GRR, SS or OUE (for several questions: method = "SMP[GRR]").'
            )
    assigned_card(plan)
    return plan


def _method(file: Mapping[str, Any], attributes: int) -> Any:
    """The method, and who says which question a person reports on."""
    name = file.get("method", DEFAULT)
    if "assign" not in file:
        return name
    if attributes == 1:
        raise ParameterError("With one question there is nothing to assign: leave assign out.")
    if "rounds" in file or "epochs" in file:
        raise ParameterError("In rounds every device draws its question: leave assign out, or ask once.")
    if file.get("channel", "collector") != "collector":
        raise ParameterError(
            'assign = "rotation" puts a question into each personal link, and links are answered to a collector: leave '
            "channel out, or leave assign out."
        )
    return Method.named(name, assign=file["assign"])


def _open_plan(file: Mapping[str, Any], question: Question) -> Plan:
    """The plan of one open question."""
    where = f"Question {question.name!r}: "
    for key, instead in _NOT_OPEN.items():
        if key in file:
            raise ParameterError(where + instead)
    if file.get("channel", "collector") != "collector":
        raise ParameterError(
            f"{where}an open question is answered to a collector, since its answers are decoded from whole reports: "
            'leave channel out, or ask a question with labels (kind = "choice").'
        )
    return OpenPlan(question.name, HeavyHitters(_epsilon(file), domain=OpenText(letters=question.letters)))


def _repeat(file: Mapping[str, Any], epsilon: float) -> Repeat | None:
    """How often the same people are asked; None where it is once."""
    rounds, epochs = (_checks.integer(low=1, **{key: file.get(key, 1)}) for key in ("rounds", "epochs"))
    if rounds * epochs == 1:
        if "epoch_epsilon" in file:
            raise ParameterError("epoch_epsilon is for a survey with rounds: say how many, as in rounds = 4.")
        return None
    if rounds * epochs > MOST_ROUNDS:
        raise ParameterError(f"rounds times epochs must be at most {MOST_ROUNDS}.")
    if rounds > 1 and "epoch_epsilon" not in file:
        raise ParameterError(
            "Rounds need the most that all reports of an epoch may tell, besides the epsilon of one report: "
            f"epoch_epsilon = {2 * epsilon:g}."
        )
    return Repeat(rounds, epochs, file.get("epoch_epsilon"))
