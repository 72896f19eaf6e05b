"""A page for an ethics board and the people who are asked: what a plan asks, what leaves a person, what that tells.

All numbers come from the plan's integers. The page is one HTML file that loads nothing, fits a phone and one sheet of
paper, and says what bruit cannot know as lines to fill in.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from bruit import _checks
from bruit.collection import Plan, rotation
from bruit.collection.mechanisms import check_ordinary
from bruit.collection.odds import belief, person_ratio
from bruit.collection.panel import ONCE
from bruit.domains.choices import Chosen
from bruit.errors import ParameterError
from bruit.estimation import intervals
from bruit.pages import fill
from bruit.sheets.parts import SheetPart, blanks, bullets, heading, paragraph, table
from bruit.sheets.phrases import Phrases

#: What somebody may have believed before, of a hundred.
BELIEFS = (1, 10, 50)
#: How often a person might take part again, for the line about that.
AGAIN = 2
#: Up to how many answers are listed.
MOST_LISTED = 12


@_checks.renamed({"people": "n=1000"})
def sheet(plan: Plan, language: str, *, n: int, title: str = "") -> str:
    """The page of a plan, as HTML.

    Parameters
    ----------
    plan
        The plan.
    language
        ``"en"`` or ``"fr"``.
    n
        How many people will be asked.
    title
        What the survey is called; a general title by default.

    Examples
    --------
    >>> page = sheet(Plan({"smokes": ["no", "yes"]}, epsilon=1.0), "en", n=1000)
    >>> "73 of 100 people like you send “yes”" in page
    True
    """
    if not isinstance(plan, Plan):
        raise ParameterError("sheet is for a Plan; a mechanism with the name of its column is one.")
    if plan.repeat is not None and plan.repeat.follow_changes:
        raise ParameterError("This page speaks of one memo in an epoch: leave follow_changes out of the plan.")
    check_ordinary(plan.mechanisms, "This page")
    rotation.check_alone(plan.design, "This page speaks of a device that draws its question")
    writer = _Sheet(plan, Phrases(language), _checks.integer(low=1, n=n))
    name = title.strip() or writer.say("title")
    return fill("sheet.html.j2", language=language, title=name, parts=writer.parts(), footer=writer.footer())


class _Sheet:
    """The parts of a page."""

    def __init__(self, plan: Plan, phrases: Phrases, people: int) -> None:
        self.plan, self.phrases, self.people = plan, phrases, people
        self.ratio = person_ratio(plan)

    def say(self, name: str, /, **words: Any) -> str:
        """A phrase of the page."""
        return self.phrases("sheet", name, **words)

    def parts(self) -> list[SheetPart]:
        """All parts, in order."""
        return [
            *self._questions(),
            *self._leaves(),
            *self._learn(),
            *self._clear(),
            *self._people(),
            heading(self.say("duration")),
            paragraph(self._duration()),
            *self._fill(),
        ]

    @property
    def questions(self) -> dict[str, list[Any]]:
        """The attributes of each question; one with several choices has an attribute for each of them."""
        groups: dict[str, list[Any]] = {}
        for attribute in self.plan.schema.values():
            groups.setdefault(attribute.column, []).append(attribute)
        return groups

    @property
    def has_choices(self) -> bool:
        """Whether a question has several choices."""
        return any(attribute.column != name for name, attribute in self.plan.schema.items())

    def _questions(self) -> Iterator[SheetPart]:
        rows = [(name, self._possible(attributes)) for name, attributes in self.questions.items()]
        clear = self.say("in_clear")
        rows += [(f"{name} ({clear})", self._answers(own)) for name, own in self.plan.public.items()]
        yield heading(self.say("asked"))
        yield table([self.say("question"), self.say("answers")], rows, numbers=0)

    def _possible(self, attributes: list[Any]) -> str:
        """The answers to a question: those of its attribute, or the choices that it has."""
        if isinstance(attributes[0].domain, Chosen):
            labels = ", ".join(self.phrases.quoted(attribute.domain.label) for attribute in attributes)
            return self.say("several", labels=labels)
        return self._answers(attributes[0])

    def _answers(self, attribute: Any) -> str:
        labels = attribute.labels
        if attribute.domain.gives == "mean":
            ends = {"low": self._text(labels[0]), "high": self._text(labels[-1])}
            return self.say("cells", cells=self.phrases.whole(attribute.size), **ends)
        if len(labels) > MOST_LISTED:
            ends = {"first": self.phrases.quoted(labels[0]), "last": self.phrases.quoted(labels[-1])}
            return self.say("many", count=self.phrases.whole(len(labels)), **ends)
        return ", ".join(map(self.phrases.quoted, labels))

    def _text(self, number: Any) -> str:
        value = float(number)
        return self.phrases.whole(int(value)) if value.is_integer() else self.phrases.decimal(value, 2)

    def _leaves(self) -> Iterator[SheetPart]:
        yield heading(self.say("leaves"))
        yield paragraph(self.say("leaves_text"))
        numbers = {"d": self.phrases.whole(len(self.questions)), "k": self.phrases.whole(self._sent())}
        yield paragraph(self._method(numbers))
        if self.has_choices:
            yield paragraph(self.phrases("method", "choices"))
        if len(self.plan.schema) == 1:
            yield bullets(self._odds(next(iter(self.plan.schema))))
            return
        for question, name in self._examples().items():
            yield paragraph(self.say("example", name=self.phrases.quoted(question)))
            yield bullets(self._odds(name))

    def _examples(self) -> dict[str, str]:
        """For each question or table, what its odds are shown of; the choices of a question have the same odds."""
        names: dict[str, str] = {}
        for name in self.plan.design.questions:
            attribute = self.plan.schema.get(name)
            names.setdefault(name if attribute is None else attribute.column, name)
        return names

    def _method(self, numbers: dict[str, str]) -> str:
        """What is done with the questions; of a method that has no text of its own, what its card says."""
        kinds = (self.plan.method.kind, self.plan.design.card_kind)
        known = next((kind for kind in kinds if kind is not None and self.phrases.has("method", kind)), None)
        if known is None:
            return self.plan.method.in_words(len(self.plan.schema))
        name = f"{known}_choices" if self.has_choices and self.phrases.has("method", f"{known}_choices") else known
        return self.phrases("method", name, **numbers)

    def _odds(self, name: str) -> list[str]:
        """The odds of a question, or of the cells of a table."""
        schema, design = self.plan.schema, self.plan.design
        labels = schema[name].labels if name in schema else design.question(name).values
        return self.phrases.odds(self.plan.mechanisms[name], labels)

    def _learn(self) -> Iterator[SheetPart]:
        share = self.phrases.share
        rows = []
        for before in BELIEFS:
            moved = belief(self.ratio, before)
            rows.append((share(moved.before), share(moved.least), share(moved.most)))
        yield heading(self.say("learn"))
        yield paragraph(self.say("learn_text"))
        yield table([self.say("before"), self.say("least"), self.say("most")], rows, numbers=2)
        yield paragraph(self.say("learn_note"))
        if self.plan.repeat is None:
            again = belief(self.ratio, BELIEFS[-1], times=AGAIN)
            words = {"times": AGAIN, "before": share(again.before), "most": share(again.most)}
            yield paragraph(self.say("again", **words))
        else:
            yield paragraph(self.say("rounds_note", times=self._times()))
        yield paragraph(self.say("epsilon", epsilon=self._epsilon()), note=True)

    def _sent(self) -> int:
        """To how many questions a person sends a true answer, changed by chance."""
        return round(sum(self.plan.design.chance(name) for name in self.plan.schema))

    def _epsilon(self) -> str:
        """ε to six decimals, rounded up."""
        exact = Fraction(self.plan.guarantee.epsilon)
        return self.phrases.decimal(float(-(-exact * 10**6 // 1) / 10**6), 6).rstrip("0").rstrip(".,")

    def _clear(self) -> Iterator[SheetPart]:
        plan, lines = self.plan, []
        if plan.public:
            lines.append(self.say("clear_public", names=", ".join(map(self.phrases.quoted, plan.public))))
        else:
            lines.append(self.say("clear_nothing"))
        if plan.design.draws is not None:
            alone = self._sent() == 1 and not plan.design.counted_tables
            lines.append(self.say("clear_drawn" if alone else "clear_several"))
        lines.append(self.say("clear_part"))
        lines += [self.say("clear_pairs")] if plan.public else []
        yield heading(self.say("clear"))
        yield bullets(lines)

    def _people(self) -> Iterator[SheetPart]:
        z = intervals.normal_quantile(0.95)
        rows = []
        for name, variance in self.plan.variance(self.people).items():
            half = z * float(variance.mean()) ** 0.5
            shares = self.plan.design.gives(name) == "frequency"
            number = self.phrases.decimal(100 * half if shares else half, 1 if shares or half >= 1 else 3)
            rows.append((name, self.say("of_share", number=number) if shares else number))
        yield heading(self.say("people"))
        yield paragraph(self.say("people_text", people=self.phrases.whole(self.people)))
        yield table([self.say("question"), self.say("error")], rows, numbers=1)
        yield paragraph(self.say("people_note"), note=True)

    def _times(self) -> str:
        """How many messages a person sends at most."""
        repeat = self.plan.repeat or ONCE
        return self.phrases.whole(repeat.rounds * repeat.epochs)

    def _duration(self) -> str:
        if self.plan.repeat is None:
            return self.say("duration_text")
        return self.say("rounds_text", times=self._times(), epochs=self.phrases.whole(self.plan.repeat.epochs))

    def _fill(self) -> Iterator[SheetPart]:
        yield heading(self.say("fill"))
        lines = (self.say(f"fill_{name}") for name in ("who", "from", "kept", "network"))
        yield blanks(lines)

    def footer(self) -> str:
        """What made the page, and of which plan."""
        from bruit import __version__

        return self.say("footer", version=__version__, digest=self.plan.digest)
