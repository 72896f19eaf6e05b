"""What the tour says: blocks of plain sentences and a table, the same on the terminal and on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from bruit.tables import Table, at_least, at_most, counted, interval_of, typeset
from bruit_studies.cli.tour import glimpses
from bruit_studies.cli.tour.facts import EPSILON, LEVEL, PRIORS, SURE, TRIALS, TWIN, FactRow, Facts

TITLE = "A survey that protects everybody who answers"

_DIGITS = Context(prec=40)


@dataclass(frozen=True)
class TourStep:
    """A step of the tour; the first `texts` columns of its table are texts, the others numbers."""

    heading: str
    paragraphs: tuple[str, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    code: str = ""
    texts: int = 1

    @property
    def table(self) -> Table | None:
        """The table, where there is one."""
        return Table.of("", self.columns, self.rows, texts=self.texts) if self.rows else None


def lead(facts: Facts) -> str:
    """What the tour is about, in a sentence or two."""
    kind = (
        "secure randomness: no two tours are alike"
        if facts.seed is None
        else f"seed {facts.seed}: repeatable, not private"
    )
    return f"{len(facts.data):,} real people, two questions, and no answer leaves anybody in the clear ({kind})."


def one_person(facts: Facts) -> TourStep:
    """What two coins do, and what one report tells."""
    coins = facts.coins
    odds = coins.p / coins.q
    even = coins.guarantee.belief(0.5)[1]
    return TourStep(
        "1. One person, two coins",
        (
            "The question: is your income above 50K? Toss a coin that nobody else sees. Heads: tell the truth. "
            "Tails: toss again, and say yes for heads, no for tails.",
            f"A true answer is then reported {_chance(coins.p)}, its opposite {_chance(coins.q)}. A reader of one "
            f"report can change their odds by a factor of at most {odds} "
            f"(ε = ln {odds} = {coins.guarantee.epsilon:.4f}): "
            f"from a belief of {_percent(0.5, 0)} to at most {at_most(even)}, whatever was said.",
        ),
        ("belief before the report", "at least, after it", "at most, after it"),
        tuple((_percent(prior, 0), *_beliefs(*coins.guarantee.belief(prior))) for prior in PRIORS),
    )


def survey(facts: Facts) -> TourStep:
    """What everybody's reports tell together."""
    coins, yes, n = facts.coins, facts.yes, facts.income.n
    scale, shift = 1 / (coins.p - coins.q), coins.q / (coins.p - coins.q)
    return TourStep(
        "2. The survey",
        (
            f"{n:,} people answer in this way. {facts.yes_reports:,} reports say yes, a share of "
            f"r = {_percent(facts.yes_reports / n, 2)}. On average the coins turn a true share f into "
            f"f/{scale} + {coins.q}, so the estimate is {scale}r − {shift} = {_percent(yes.estimate, 2)}.",
            f"The people are real: {facts.data.title}.",
            "Nobody's answer is known, and yet:",
        ),
        ("above 50K", "estimate", interval_of(LEVEL), "truth", "inside"),
        (_cells(yes),),
    )


def seven_answers(facts: Facts) -> TourStep:
    """A question with more answers."""
    rows = facts.rows
    covered = sum(row.covered for row in rows)
    p, q = facts.mechanism(EPSILON).p, facts.mechanism(EPSILON).q
    return TourStep(
        f"3. {len(rows)} answers at ε = {EPSILON:g}",
        (
            "Marital status, by generalised randomised response (GRR): each person reports the true answer with "
            f"probability {_percent(float(p))} and each other answer with {_percent(float(q))}.",
            f"{covered} of {len(rows)} intervals hold the truth; each should in {_percent(LEVEL, 0)} of all surveys. "
            "Estimates are unbiased and not clipped, so a rare answer may come out below zero.",
        ),
        ("answer", "estimate", interval_of(LEVEL), "truth", "inside"),
        tuple(_cells(row) for row in rows),
    )


def price(facts: Facts) -> TourStep:
    """What a smaller or larger ε would have done."""
    first, last = facts.prices[0], facts.prices[-1]
    prior = _percent(PRIORS[0], 0)
    return TourStep(
        "4. What ε buys",
        (
            f"The same survey at several ε. From ε = {first.epsilon:g} to {last.epsilon:g} the intervals become "
            f"{first.half_width / last.half_width:.0f} times shorter, and a suspicion of {prior} can grow to "
            f"{at_most(last.belief)} instead of {at_most(first.belief)}.",
            f"Ask the same people again and the ε add up: all of these together would cost ε = {facts.together:.4g}.",
        ),
        ("ε", f"{interval_of(LEVEL)} ± (points)", f"belief {prior} becomes at most", "a report is true"),
        tuple(
            (f"{item.epsilon:g}", f"{100 * item.half_width:.2f}", at_most(item.belief, 1), _percent(item.truthful))
            for item in facts.prices
        ),
    )


def trust(facts: Facts) -> TourStep:
    """Why one may believe the ε."""
    evidence = facts.trust
    ratio = _DIGITS.divide(Decimal(evidence.own), Decimal(evidence.other))
    return TourStep(
        "5. Why believe it?",
        (
            "Probabilities are ratios of whole numbers, and reports are drawn by comparing whole numbers; no rounding "
            "can leak. The largest ratio between two people's chances of one report is A/B, and ε is its "
            "logarithm, rounded up.",
            f"Exact audit: A/B ≤ e^ε {'holds' if evidence.holds else 'DOES NOT HOLD'}. "
            f"Watching {TRIALS:,} reports of each of two people shows that ε is at least {evidence.bound:.3f} "
            f"({_percent(SURE, 2)} sure), which {'fits' if evidence.passes else 'CONTRADICTS'} the stated ε.",
            f"A broken twin, which states ε = {EPSILON:g} and draws as if it were {TWIN:g}, shows at least "
            f"{evidence.twin_bound:.3f}: it is {'caught' if evidence.twin_caught else 'NOT caught'}.",
        ),
        (f"the law at ε = {evidence.requested:g}", "value"),
        (
            ("A, the weight of one's own answer", f"{evidence.own:,}"),
            ("B, the weight of each other answer", f"{evidence.other:,}"),
            ("sum of the weights", f"{evidence.total:,}"),
            ("A/B", f"{ratio:.24f}"),
            (f"e^{evidence.requested:g}", f"{_DIGITS.exp(Decimal(evidence.requested)):.24f}"),
            ("ε asked for", f"{evidence.requested!r}"),
            ("ε stated", f"{evidence.stated!r}"),
        ),
    )


def your_turn(_: Facts) -> TourStep:
    """How to do the same with another file."""
    return TourStep(
        "6. Your turn",
        ("The same from the command line, with a file of your own or with this one:",),
        code=(
            "bruit data adult -c income -o people.csv\n"
            'bruit privatize people.csv "income=<=50K,>50K" -e 1 -o reports.csv\n'
            "bruit estimate reports.csv"
        ),
    )


def claims(facts: Facts) -> TourStep:
    """What a few studies make of what is taught, and how to run all of them."""
    counts = Counter(claim.verdict.kind for claim in facts.judged)
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return TourStep(
        "7. And what is taught about it?",
        (
            "Courses and reports make claims about private surveys. bruit runs their experiments again and judges each "
            f"claim. Here are {len(facts.judged)} of them after {glimpses.trials():,} small trials made just now "
            f"(seed {facts.study_seed}): {summary}.",
            "The commands below judge all claims, with many more trials, and make one page of them, with figures and "
            "the exact place of each claim.",
        ),
        ("verdict", "claim, in our words, and what was found"),
        tuple(
            (claim.verdict.kind, f"{typeset(claim.claim.statement)} Found: {typeset(claim.verdict.sentence)}")
            for claim in facts.judged
        ),
        code="bruit study run --all\nbruit study report",
        texts=2,
    )


#: The steps, in order.
STEPS: tuple[Callable[[Facts], TourStep], ...] = (
    one_person,
    survey,
    seven_answers,
    price,
    trust,
    your_turn,
    claims,
)


def _cells(row: FactRow) -> tuple[str, ...]:
    ends = f"{_number(100 * row.lower)} … {_number(100 * row.upper)}"
    return row.label, _percent(row.estimate), ends, _percent(row.truth), "yes" if row.covered else "no"


def _percent(share: float, places: int = 1) -> str:
    return f"{_number(100 * share, places)} %"


def _number(number: float, places: int = 1) -> str:
    """With a real minus sign, and none before zero."""
    text = f"{number:.{places}f}"
    return text.replace("-", "−" if float(text) else "")


def _beliefs(low: float, high: float) -> tuple[str, str]:
    return at_least(low, 1), at_most(high, 1)


def _chance(probability: Fraction) -> str:
    return f"{counted(probability.numerator, 'time')} in {probability.denominator}"
