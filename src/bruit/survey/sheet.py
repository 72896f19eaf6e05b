"""The sheet of a survey: what people and ethics boards read before anybody is asked, one HTML file to print.

It is made of what makes the respondent's page: the survey, its numbers (`page.facts`) and its texts. A sentence that
the page says too is the same text with the same numbers, and is marked in the file (``data-page``). What bruit cannot
know is a line to fill in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bruit import _checks
from bruit.errors import ParameterError
from bruit.pages import fill, isolated
from bruit.sheets import LANGUAGES, Phrases
from bruit.sheets.page import BELIEFS
from bruit.sheets.parts import SheetPart, blanks, bullets, heading, paragraph, table
from bruit.survey.page import beliefs, facts, own_texts, page_words, rounded_epsilon
from bruit.survey.paper import Paper
from bruit.survey.question import Question

if TYPE_CHECKING:
    from bruit.survey.survey import Survey

#: How answers come back: over the network to a collector, as codes that people hand in, or on paper.
CHANNELS = ("collector", "codes", "paper")


def sheet(survey: Survey, language: str | None, *, channel: str | None, links: bool) -> bytes:
    """The sheet of a survey, whole."""
    way = _checks.one_of(CHANNELS, channel=survey.channel if channel is None else channel)
    if survey.open_question is not None and way != "collector":
        raise ParameterError("An open question is answered to a collector: leave --channel out.")
    if way == "codes":
        _ = survey.codes  # refuses what no code carries
    spoken = spoken_language(survey, language)
    if links and way != "collector":
        raise ParameterError("Links are for a collector: leave --links out (links=False in Python).")
    kind = _PaperSheet if way == "paper" else _Sheet
    writer = kind(survey, spoken, way, links=links or (survey.needs_links and way == "collector"))
    text = fill(
        "sheet.html.j2",
        language=spoken,
        direction=survey.wording[spoken]["direction"],
        title=survey.title[spoken],
        parts=list(writer.parts()),
        footer=writer.footer(),
    )
    return text.encode()


def spoken_language(survey: Survey, language: str | None) -> str:
    """The language that is asked for, or the first one of the survey that there are texts in."""
    known = [code for code in survey.languages if code in LANGUAGES]
    if not known:
        raise ParameterError(
            f"The sheet has texts in {' and '.join(LANGUAGES)}: give the survey one of these languages."
        )
    return known[0] if language is None else _checks.one_of(known, language=language)


class _Sheet:
    """The parts of a sheet for answers that a device draws."""

    def __init__(self, survey: Survey, language: str, channel: str, *, links: bool) -> None:
        self.survey, self.language, self.channel, self.links = survey, language, channel, links
        self.phrases = Phrases(language, familiar=survey.address == "tu")
        self.words = self._wording()
        self.facts = self._facts()

    def _wording(self) -> Mapping[str, str]:
        """The texts of the page that people answer on."""
        return page_words(self.survey.wording[self.language], own_texts(self.survey, code=self.channel == "codes"))

    def _facts(self) -> dict[str, Any]:
        return facts(self.survey)

    # Words and numbers.

    def say(self, name: str, /, **values: Any) -> str:
        """A text of the sheet."""
        return self.phrases("survey", name, **values)

    def page(self, name: str, /, **values: Any) -> str:
        """A text of the respondent's page."""
        text = self.words[name]
        for place in values:
            text = text.replace(f"{{{place}}}", f"\0{place}\0")
        pieces = text.split("\0")
        return "".join(piece if place % 2 == 0 else str(values[piece]) for place, piece in enumerate(pieces))

    def quote(self, text: str) -> str:
        """A text of the survey within a sentence."""
        return self.page("quoted", text=isolated(text))

    def figure(self, value: Any) -> str:
        """A number as the page writes it."""
        whole, _, decimals = f"{float(value):.12g}".partition(".")
        return self.phrases.whole(int(whole)) + (self.phrases("survey", "point") + decimals if decimals else "")

    def percent(self, digits: Any) -> str:
        """A percentage as the page writes it."""
        return self.page("percent", number=self.figure(digits))

    # Parts.

    def parts(self) -> Iterator[SheetPart]:
        """All parts, in order."""
        yield from self._who()
        yield from self._questions()
        yield heading(self.say("protection"))
        yield from self._protection()
        yield from self._learn()
        yield from self._clear()
        yield from self._where()
        yield from self._published()
        yield from self._taking_back()
        yield from self._fill()

    def _who(self) -> Iterator[SheetPart]:
        introduction, asker = (texts[self.language] for texts in (self.survey.introduction, self.survey.asker))
        yield paragraph(self.say("for_whom"), note=True)
        yield from (paragraph(text, on_page=True) for text in introduction.split("\n\n") if text.strip())
        if asker:
            yield paragraph(self.page("asked_by", asker=isolated(asker)), on_page=self.channel != "paper")
        times = {"opens": self._time(self.survey.opens), "closes": self._time(self.survey.closes)}
        name = "_".join(["times", *(key for key in times if times[key])])
        if name != "times":
            yield paragraph(self.say(name, **times))

    def _time(self, time: datetime | None) -> str:
        """A time with its offset."""
        if time is None:
            return ""
        return f"{time.strftime(self.say('time'))} (UTC{time.isoformat(timespec='minutes')[16:]})"

    def _questions(self) -> Iterator[SheetPart]:
        rows = [
            (_joined(question.text[self.language], question.help[self.language]), self._answers(question), sent)
            for question in self.survey.questions
            for sent in [self.page("is_clear" if question.clear else "is_protected")]
        ]
        yield heading(self.page("preview"))
        yield table([self.say("question"), self.say("answers"), self.say(f"sent_{self.channel}")], rows, numbers=0)

    def _answers(self, question: Question) -> str:
        if question.kind == "open":
            return self.page("note", letters=self.figure(question.letters))
        if question.bounds is not None:
            low, high, step = map(self.figure, question.bounds)
            return self.page("enter_number", low=low, high=high, step=step)
        labels = ", ".join(map(isolated, question.labels[self.language]))
        return f"{labels}. {self.page('choose_any')}" if question.kind == "several" else labels

    def _protection(self) -> Iterator[SheetPart]:
        yield paragraph(self.page("protection_text"), on_page=True)
        yield from self._rounds()
        attributes = self.facts["attributes"]
        if len(attributes) == 1 and len(attributes[0]["parts"]) == 1:
            yield bullets(self._odds(attributes[0], 0), on_page=True)
            return
        yield from self._pick(attributes)
        places = self._places(attributes)
        for questions, place in places.items():
            name = " + ".join(self.survey.questions[own].text[self.language] for own in questions)
            yield paragraph(self.page("example_of", question=self.quote(name)))
            yield bullets(self._odds(attributes[place], place), on_page=True)
        if self._is_drawn() and len(places) > 1:
            yield paragraph((self.page if self.survey.is_assigned else self.say)("picked_only"), note=True)

    def _places(self, attributes: list[dict[str, Any]]) -> dict[tuple[int, ...], int]:
        """The first attribute of each question, or of each set of questions; its choices have the same odds."""
        places: dict[tuple[int, ...], int] = {}
        for place, attribute in enumerate(attributes):
            places.setdefault(tuple(dict.fromkeys(part["question"] for part in attribute["parts"])), place)
        return places

    def _is_drawn(self) -> bool:
        return self.survey.plan.design.draws is not None

    def _pick(self, attributes: list[dict[str, Any]]) -> Iterator[SheetPart]:
        """Which of several answers is sent; a question with several choices counts once."""
        questions, places = len(self.survey.sensitive), len(self._places(attributes))
        is_drawn, has_choices = self._is_drawn(), any(own.kind == "several" for own in self.survey.sensitive)
        if len(attributes[0]["parts"]) > 1:
            name, count = "table" if len(attributes) == 1 else "tables", places if places > 1 else len(attributes)
        elif questions == 1 and "protection_choices" in self.words:
            name, count, has_choices = "choices" if is_drawn else "choices_all", 1, False
        else:
            name, count = "several" if is_drawn else "all", questions
        yield paragraph(self.page(f"protection_{name}", count=self.figure(count)), on_page=True)
        if has_choices and "protection_choice" in self.words:
            yield paragraph(self.page("protection_choice"), on_page=True)

    def _rounds(self) -> Iterator[SheetPart]:
        panel = self.facts["panel"]
        if panel is not None:
            name = "rounds_anew" if panel["rounds"] == 1 else "rounds_epochs" if panel["epochs"] > 1 else "rounds_epoch"
            counts = {"rounds": len(panel["opens"]), "epochs": panel["epochs"], "length": panel["rounds"]}
            written = {key: self.figure(count) for key, count in counts.items()}
            yield paragraph(self.page(name, **written), on_page=True)

    def _odds(self, attribute: Mapping[str, Any], place: int) -> list[str]:
        """How often a message points to the own answer, and to another one."""
        if attribute["reading"] == "open":
            chances = {name: dict(zip(("count", "of"), attribute[name], strict=True)) for name in ("own", "other")}
            return [self.page(name, **{key: self.figure(n) for key, n in own.items()}) for name, own in chances.items()]
        size = len(self.survey.plan.design.question(list(self.survey.units)[place]).values)
        (first, *others), reading = attribute["parts"], attribute["reading"]
        question = self.survey.questions[first["question"]]
        example = 1 if size == 2 or (not others and question.kind == "yes-no") else 0
        own, other = (
            {"count": self.figure(c), "of": self.figure(of)} for c, of in (attribute["own"], attribute["other"])
        )
        answers = {
            "answer": self.quote(self._label(attribute, example)),
            "other": self.quote(self._label(attribute, 0)),
        }
        if reading == "list":
            return [self.page("own_list", **own, **answers), self.page("other_lists", **other, **answers)]
        if reading == "value":
            second = "other_answer" if size == 2 else "other_answers"
            return [self.page("own_answer", **own, **answers), self.page(second, **other, **answers)]
        low, high = (float(question.labels[self.language][end]) for end in (0, -1))
        ends = {key: self.figure(end) for key, end in (("low", low), ("high", high), ("middle", (low + high) / 2))}
        return [self.page("low_number", **own, **ends), self.page("high_number", **other, **ends)]

    def _label(self, attribute: Mapping[str, Any], code: int) -> str:
        """An answer to an attribute; of a table, those of the cell."""
        labels = []
        for part in reversed(attribute["parts"]):
            code, place = divmod(code, part["size"])
            known = self.survey.questions[part["question"]].labels[self.language]
            labels.append(known[place] if part["label"] is None else self.words["yes" if place else "no"])
        return " + ".join(reversed(labels))

    def _learn(self) -> Iterator[SheetPart]:
        known = self.facts["beliefs"]
        rows = [[self.percent(before), *map(self.percent, known[before - 1])] for before in BELIEFS]
        heads = [self.phrases("sheet", name) for name in ("before", "least", "most")]
        yield heading(self.phrases("sheet", "learn"))
        yield from self._expectation(known[49][1])
        yield table(heads, rows, numbers=2)
        yield paragraph(self.say(f"learn_text_{self.channel}"))
        digest = self.survey.digest
        yield paragraph(self.say("epsilon", epsilon=self.figure(self.facts["epsilon"]), digest=digest), note=True)

    def _expectation(self, most: str) -> Iterator[SheetPart]:
        values = {"before": self.percent(50), "most": self.percent(most)}
        panel, attributes = self.facts["panel"], self.facts["attributes"]
        if panel is not None:
            first = self.percent(panel["accounts"][0][0][1])
            yield paragraph(self.page("belief_rounds", first=first, **values), on_page=True)
            yield paragraph(self.say("lasts_rounds"))
            return
        (first_part, *others) = attributes[0]["parts"]
        if len(attributes) == 1 and not others and first_part["size"] == 2:
            answer = self.quote(self._label(attributes[0], 1))
            yield paragraph(self.page("belief_answer", answer=answer, **values), on_page=True)
        else:
            yield paragraph(self.page("belief_text", **values), on_page=True)
        yield paragraph(self.page("belief_lasts"), on_page=True)

    def _clear(self) -> Iterator[SheetPart]:
        names = [self.quote(question.text[self.language]) for question in self.survey.questions if question.clear]
        yield heading(self.phrases("sheet", "clear"))
        if names:
            yield paragraph(self.page("clear_some", questions=", ".join(names)), on_page=True)
            yield paragraph(self.phrases("sheet", "clear_pairs"))
        else:
            yield paragraph(self.phrases("sheet", "clear_nothing"))

    def _where(self) -> Iterator[SheetPart]:
        yield heading(self.say("where"))
        yield paragraph(self.say(f"where_{self._kind}"))
        if self.survey.has_rounds:
            yield paragraph(self.say("where_rounds"))
        yield paragraph(self.say(f"seen_{self.channel}"))
        if self.links:
            yield paragraph(self.page("leaves_link_rounds" if self.survey.has_rounds else "leaves_link"), on_page=True)
        yield heading(self.say("kept"))
        yield paragraph(self.say(f"kept_{self._kind}"))

    def _published(self) -> Iterator[SheetPart]:
        public, step = bool(self.survey.public), self.figure(self.survey.shown_from)
        name = "groups" if public else "questions" if len(self.survey.units) > 1 else "one"
        yield heading(self.say("published"))
        yield paragraph(self.say("published_groups" if public else "published_all"))
        yield paragraph(self.say(f"published_from_{name}", step=step))
        if self.survey.open_question is not None:
            yield paragraph(self.say("published_open"))
        if self.channel == "codes":
            yield paragraph(self.say("forged_codes"))

    def _taking_back(self) -> Iterator[SheetPart]:
        yield heading(self.say("voluntary"))
        yield paragraph(self.say("voluntary_text"))
        yield paragraph(self.page("leaves_withdraw"), on_page=True)
        yield paragraph(self.say(f"withdraw_{self._kind}"))

    @property
    def _kind(self) -> str:
        """The channel, or that each report of an open question is kept."""
        return "open" if self.survey.open_question else self.channel

    def _fill(self) -> Iterator[SheetPart]:
        names = [] if self.survey.asker[self.language] else ["who"]
        names += ["contact", "kept", *(["server"] if self.channel == "collector" else ["place"])]
        yield heading(self.phrases("sheet", "fill"))
        yield blanks(self.say(f"fill_{name}") for name in names)

    def footer(self) -> str:
        """What made the sheet."""
        from bruit import __version__

        return self.say("footer", version=__version__)


class _PaperSheet(_Sheet):
    """The parts of a sheet for answers that people draw with coins or dice."""

    def __init__(self, survey: Survey, language: str, channel: str, *, links: bool) -> None:
        self.paper = Paper(survey)
        super().__init__(survey, language, channel, links=links)

    def _facts(self) -> dict[str, Any]:
        """The numbers of coins and dice."""
        return {"beliefs": beliefs(self.paper.ratio), "epsilon": rounded_epsilon(self.paper.guarantee.epsilon)}

    def _protection(self) -> Iterator[SheetPart]:
        yield bullets(self.paper.instructions(self.language)[:-1], on_page=True)
        if len(self.paper.parts) > 1:
            for part in self.paper.parts:
                yield paragraph(self.page("example_of", question=self.quote(part.question.text[self.language])))
                texts = (part.instruction(self.language, self.words), part.odds(self.language, self.words))
                yield bullets(texts, on_page=True)

    def _expectation(self, most: str) -> Iterator[SheetPart]:
        yield paragraph(self.say("promise_paper", before=self.percent(50), most=self.percent(most)))

    def _published(self) -> Iterator[SheetPart]:
        yield heading(self.say("published"))
        yield paragraph(self.say("published_all"))

    def _taking_back(self) -> Iterator[SheetPart]:
        yield heading(self.say("voluntary"))
        yield paragraph(self.say("voluntary_text"))
        yield paragraph(self.say("withdraw_paper"))


def _joined(*texts: str) -> str:
    return " ".join(text for text in texts if text)
