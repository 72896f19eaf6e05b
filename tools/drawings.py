"""Draw the explanatory pictures of the documentation, one function for each, as SVG in docs/figures.

A picture is 400 units wide, so that its letters stay readable on a telephone. It has its own background, light or dark
as the reader's system is, so that it can stand on any page. Run ``python tools/drawings.py`` after a change; a test
compares the files with what this draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from html import escape
from math import exp, sqrt
from pathlib import Path

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
WIDTH = 400

#: Fill, line and letters of each kind of thing: true data, what chance decides, what others see, and plain.
_LIGHT = {
    "card": "fill:#fbfbfd;stroke:#c9d2dc",
    "ink": "fill:#14202b",
    "faint": "fill:#4a5a69",
    "bad": "fill:#9c2f16",
    "line": "stroke:#5b6c7c;fill:none",
    "tip": "fill:#5b6c7c",
    "plain": "fill:#eef1f5;stroke:#5b6c7c",
    "true": "fill:#fde7df;stroke:#b5492b",
    "chance": "fill:#fdf3cf;stroke:#96700a",
    "seen": "fill:#dcedf8;stroke:#2b6a98",
}
_DARK = {
    "card": "fill:#1b232c;stroke:#3b4957",
    "ink": "fill:#eef3f7",
    "faint": "fill:#b4c1cd",
    "bad": "fill:#ff9d80",
    "line": "stroke:#93a4b4;fill:none",
    "tip": "fill:#93a4b4",
    "plain": "fill:#2a343f;stroke:#93a4b4",
    "true": "fill:#4d2a20;stroke:#e58a6c",
    "chance": "fill:#463a12;stroke:#d9b54a",
    "seen": "fill:#183a53;stroke:#6db3e0",
}


def _rules(colours: dict[str, str]) -> str:
    return "".join(f".{name}{{{style}}}" for name, style in colours.items())


class Drawing:
    """The parts of one picture, from top to bottom."""

    def __init__(self, height: int, title: str, description: str) -> None:
        self.height = height
        dark = f"@media(prefers-color-scheme:dark){{{_rules(_DARK)}}}"
        style = f"text{{font:14px system-ui,sans-serif}}{_rules(_LIGHT)}{dark}"
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="480" height="{height * 480 // WIDTH}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title what">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="what">{escape(description)}</desc>',
            f"<style>{style}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path class="tip" d="M0,0 L8,4 L0,8 z"/></marker></defs>',
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
        ]

    def text(
        self, x: float, y: float, words: str, *, style: str = "ink", anchor: str = "middle", size: int = 14
    ) -> None:
        """Words on one line; ``y`` is the line that the letters stand on."""
        weight = ' style="font-weight:600;font-size:16px"' if size > 14 else ""
        small = ' style="font-size:12.5px"' if size < 14 else ""
        self.parts.append(
            f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}{small}>{escape(words)}</text>'
        )

    def heading(self, y: float, words: str) -> None:
        """A heading at the left edge."""
        self.text(16, y, words, anchor="start", size=16)

    def note(self, y: float, words: str, *, style: str = "faint") -> None:
        """A remark at the left edge."""
        self.text(16, y, words, anchor="start", style=style)

    def box(  # noqa: PLR0917 - a place, a size, words and a kind
        self, x: float, y: float, width: float, height: float, lines: Sequence[str], kind: str = "plain"
    ) -> None:
        """A box whose upper left corner is at x and y, with lines of words in its middle."""
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>')
        first = y + height / 2 + 5 - 9 * (len(lines) - 1)
        for number, line in enumerate(lines):
            self.text(x + width / 2, first + 18 * number, line)

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """A straight arrow."""
        self.parts.append(
            f'<path class="line" d="M{x:g},{y:g} L{to_x:g},{to_y:g}" stroke-width="1.5" marker-end="url(#tip)"/>'
        )

    def person(self, x: float, y: float, kind: str = "true") -> None:
        """A head and shoulders, 20 wide and 30 high, whose middle is at x and whose top is at y."""
        self.parts.append(
            f'<circle class="{kind}" cx="{x:g}" cy="{y + 6:g}" r="6"/>'
            f'<path class="{kind}" d="M{x - 10:g},{y + 30:g} a10,14 0 0 1 20,0 z"/>'
        )

    def finish(self) -> str:
        """The picture as text."""
        return "\n".join([*self.parts, "</svg>", ""])


def local_and_central() -> str:
    """Where the noise is added, and what that costs for 10,000 people at ε = 1."""
    people, epsilon = 10_000, 1.0
    truth = exp(epsilon) / (1 + exp(epsilon))
    local = sqrt(people * truth * (1 - truth)) / (2 * truth - 1)
    central = sqrt(2 * exp(-epsilon)) / (1 - exp(-epsilon))
    drawing = Drawing(
        476,
        "The central and the local model",
        "In the central model people give true answers to a curator, who adds noise once. In the local model every "
        "person adds noise before sending. A count of 10,000 people at ε = 1 has a standard error of "
        f"{central:.1f} people in the central model and {local:.0f} in the local one.",
    )
    drawing.heading(30, "Central model")
    for number in range(4):
        drawing.person(34 + 26 * number, 64)
    drawing.arrow(128, 80, 160, 80)
    drawing.text(66, 116, "true answers", style="faint")
    drawing.box(164, 50, 112, 60, ["data steward", "true table"], "true")
    drawing.arrow(276, 80, 302, 80)
    drawing.box(306, 50, 80, 60, ["noise", "once"], "chance")
    drawing.arrow(346, 110, 346, 138)
    drawing.box(226, 142, 160, 34, ["published count"], "seen")
    drawing.note(164, "You trust the steward.")
    drawing.note(200, f"10,000 people, ε = 1: standard error {central:.1f} people", style="ink")
    drawing.parts.append(f'<path class="line" d="M16,226 H{WIDTH - 16}" stroke-dasharray="3 4"/>')
    drawing.heading(260, "Local model")
    for number in range(4):
        y = 276 + 36 * number
        drawing.person(34, y)
        drawing.arrow(50, y + 16, 70, y + 16)
        drawing.box(74, y + 2, 62, 28, ["noise"], "chance")
        drawing.arrow(136, y + 16, 196, 345 + (number - 1.5) * 10)
    drawing.box(200, 314, 74, 62, ["noisy", "reports"], "seen")
    drawing.arrow(274, 345, 296, 345)
    drawing.box(300, 314, 86, 62, ["estimated", "count"], "seen")
    drawing.text(293, 402, "You trust only your device.", style="faint")
    drawing.note(448, f"10,000 people, ε = 1: standard error {local:.0f} people", style="ink")
    return drawing.finish()


def warner_tree() -> str:
    """How 100 answers become reports at ε = ln 3, and how the share is estimated from them."""
    yes, truth = 40, Fraction(3, 4)
    kept, flipped = yes * truth, (100 - yes) * (1 - truth)
    reported = kept + flipped
    estimate = (reported / 100 - (1 - truth)) / (2 * truth - 1) * 100
    drawing = Drawing(
        434,
        "Warner's randomised response as a tree",
        f"Of 100 people, {yes} would truly say yes. Each sends the true answer with chance 3/4 and the other one with "
        f"chance 1/4. {reported} send yes. The estimate is (0.{reported} − 1/4) / (3/4 − 1/4), "
        f"that is {estimate} of 100.",
    )
    drawing.heading(30, "Randomised response, ε = ln 3")
    drawing.text(20, 62, "true answer", anchor="start", style="faint")
    drawing.text(196, 62, "chance", style="faint")
    drawing.text(380, 62, "report", anchor="end", style="faint")
    for top, count, name, other in ((76, yes, "yes", "no"), (196, 100 - yes, "no", "yes")):
        drawing.box(16, top + 30, 116, 44, [f"{name}: {count} people"], "true")
        for y, share, word in ((top, truth, name), (top + 68, 1 - truth, other)):
            drawing.arrow(132, top + 52, 260, y + 18)
            drawing.box(176, y + (8 if share == truth else -4), 40, 28, [str(share)], "chance")
            drawing.box(264, y, 120, 36, [f"{word}: {count * share} people"], "seen")
    drawing.parts.append(f'<path class="line" d="M16,322 H{WIDTH - 16}" stroke-dasharray="3 4"/>')
    drawing.note(348, f"{kept} + {flipped} = {reported} of 100 reports say yes.", style="ink")
    drawing.note(374, f"Estimate: (0.{reported} − 1/4) ÷ (3/4 − 1/4) = 0.{estimate}", style="ink")
    drawing.note(400, "A “yes” is 3 times as likely from a true yes", style="faint")
    drawing.note(417, "as from a true no. That ratio is e^ε.", style="faint")
    return drawing.finish()


def rsfd_attack() -> str:
    """A report by random sampling plus fake data, and how an attacker guesses which attribute was true."""
    kept = Fraction(3, 4)
    # Of the population 5 % are sick; a true report says "no" this often, and a fake report half of the time.
    says_no = Fraction(95, 100) * kept + Fraction(5, 100) * (1 - kept)
    ratio = says_no / Fraction(1, 2)
    share = round(100 * ratio / (ratio + 2))
    rest = round(100 / (ratio + 2))
    drawing = Drawing(
        514,
        "RS+FD and the attack on it",
        "A person has three attributes. One, drawn at random, is reported through randomised response; the two others "
        "are fakes. The server sees three reports and not which is true. An attacker who knows that 5 % of people are "
        f"sick, and that sex and vote are even, guesses the attribute sick: it was the true one with chance {share} %, "
        f"the two others with {rest} % each.",
    )
    drawing.heading(30, "RS+FD: one truth, two fakes")
    rows = (("sex", "F", "fake", "F"), ("sick", "no", "noise", "no"), ("vote", "B", "fake", "A"))
    for number, (name, value, way, report) in enumerate(rows):
        y = 62 + 50 * number
        drawing.box(16, y, 104, 36, [f"{name} = {value}"], "true" if way == "noise" else "plain")
        if way == "noise":
            drawing.arrow(120, y + 18, 158, y + 18)
        drawing.box(162, y, 84, 36, [way], "chance")
        drawing.arrow(246, y + 18, 284, y + 18)
        drawing.box(288, y, 96, 36, [f"{name}: {report}"], "seen")
    drawing.text(68, 54, "record", style="faint")
    drawing.text(336, 54, "sent", style="faint")
    drawing.note(232, "Chance picks one attribute, here “sick”.")
    drawing.note(252, "The server does not learn which one.")
    drawing.parts.append(f'<path class="line" d="M16,272 H{WIDTH - 16}" stroke-dasharray="3 4"/>')
    drawing.heading(302, "The attack: which one is true?")
    drawing.note(328, "Known to all: 5 % are sick; sex and vote are even.")
    drawing.note(348, f"A true report says “no” {float(says_no * 100):.1f} times in 100, a fake 50.")
    for number, (name, chance) in enumerate((("sex", rest), ("sick", share), ("vote", rest))):
        y = 364 + 30 * number
        drawing.text(58, y + 18, name, anchor="end")
        drawing.box(66, y + 2, chance * 4, 22, [], "true" if name == "sick" else "seen")
        drawing.text(74 + chance * 4, y + 18, f"{chance} %", anchor="start")
    drawing.note(478, "After these three reports “sick” is the best guess.", style="ink")
    drawing.note(497, "By blind chance it would be right 33 times in 100.")
    return drawing.finish()


def memo_and_rounds() -> str:
    """An epoch with one memo and a report in each round."""
    drawing = Drawing(
        440,
        "One memo, many rounds",
        "In an epoch the device draws a memo from the true answer once and keeps it. Every round's report is drawn "
        "from the memo. All reports of the epoch together cost at most the ε of the memo. With a new draw from the "
        "true answer in each of 12 rounds, ε would be 12 times that of a report.",
    )
    drawing.heading(30, "One epoch: one memo, many reports")
    drawing.parts.append('<rect class="plain" x="16" y="46" width="236" height="252" rx="8" fill-opacity="0.35"/>')
    drawing.text(134, 68, "your device", style="faint")
    drawing.box(28, 82, 84, 50, ["true", "answer"], "true")
    drawing.arrow(112, 107, 140, 107)
    drawing.box(144, 82, 96, 50, ["memo,", "drawn once"], "chance")
    for number in range(3):
        y = 156 + 46 * number
        drawing.parts.append(f'<path class="line" d="M128,{y + 17} H146" stroke-width="1.5" marker-end="url(#tip)"/>')
        drawing.box(150, y, 90, 34, ["new noise"], "chance")
        drawing.arrow(240, y + 17, 284, y + 17)
        drawing.box(288, y, 96, 34, [f"report {number + 1}"], "seen")
    drawing.parts.append('<path class="line" d="M144,120 H128 V265" stroke-width="1.5"/>')
    drawing.text(336, 142, "sent", style="faint")
    drawing.note(324, "One report: ε = 1.  All 12 of the epoch: at most 2.", style="ink")
    drawing.note(346, "The memo never leaves the device.")
    drawing.note(378, "Without a memo 12 reports cost up to ε = 12:", style="bad")
    drawing.note(396, "their mean gives the answer away.", style="bad")
    drawing.note(422, "A new epoch draws a new memo and costs 2 again.")
    return drawing.finish()


def ledger() -> str:
    """The order of a release, the lines of a ledger, and a request above the budget."""
    drawing = Drawing(
        474,
        "A ledger books before noise is drawn",
        "A release is first checked against the budget, then written to the ledger, then the noise is drawn, and the "
        "result is saved. A ledger of ε = 1 with entries of 0.5 and 0.3 has 0.2 left. A request for 0.4 is refused and "
        "leaves no trace. Every line holds the digest of the line before it.",
    )
    drawing.heading(30, "A release, step by step")
    steps = ("check", "budget"), ("book", "on disk"), ("draw", "noise"), ("save", "result")
    for number, ((verb, noun), kind) in enumerate(zip(steps, ("plain", "seen", "chance", "seen"), strict=True)):
        x = 16 + 96 * number
        drawing.box(x, 46, 80, 50, [verb, noun], kind)
        if number:
            drawing.arrow(x - 16, 71, x - 2, 71)
    drawing.note(120, "A crash can lose a result. It cannot lose a booking.")
    drawing.parts.append(f'<path class="line" d="M16,140 H{WIDTH - 16}" stroke-dasharray="3 4"/>')
    drawing.heading(168, "The ledger: budget ε = 1")
    lines = (("budget", "ε = 1.0", "plain"), ("ages, histogram", "ε = 0.5", "seen"), ("mean income", "ε = 0.3", "seen"))
    for number, (label, amount, kind) in enumerate(lines):
        y = 182 + 48 * number
        drawing.box(60, y, 324, 34, [], kind)
        drawing.text(74, y + 22, label, anchor="start")
        drawing.text(370, y + 22, amount, anchor="end")
        if number:
            drawing.parts.append(
                f'<path class="line" d="M60,{y + 17} H36 V{y - 31} H56" stroke-width="1.5" marker-end="url(#tip)"/>'
            )
    drawing.note(336, "Every line holds the digest of the line before it.")
    drawing.box(16, 352, 184, 32, ["0.5 spent"], "seen")
    drawing.box(200, 352, 110, 32, ["0.3"], "seen")
    drawing.box(310, 352, 74, 32, ["0.2 left"])
    drawing.box(16, 402, 150, 34, ["new request: 0.4"], "true")
    drawing.arrow(166, 419, 196, 419)
    drawing.text(204, 424, "refused", anchor="start", style="bad")
    drawing.note(460, "A refused request leaves no trace.")
    return drawing.finish()


def survey_layers() -> str:
    """What is known at each layer of a survey, from the true answer to the published result."""
    layers = (
        ("Respondent", "true answer", "true", ""),
        ("Page on the device", "card: the law in whole numbers", "chance", "draws by chance, once"),
        ("Network", "report, always the same length", "seen", "one request"),
        ("Collector", "checked reports, each counted once", "seen", "counts"),
        ("Tally", "counts, no persons", "seen", "removes the bias"),
        ("Estimate", "shares with intervals", "seen", "hides small groups"),
        ("Results page", "what everyone may read", "seen", ""),
    )
    drawing = Drawing(
        604,
        "The layers of a survey",
        "From top to bottom: "
        + "; ".join(f"{name}: {what}" for name, what, _, _ in layers)
        + ". A protected answer does not leave the device.",
    )
    drawing.heading(30, "What each layer of a survey holds")
    for number, (name, what, kind, verb) in enumerate(layers):
        y = 46 + 78 * number
        drawing.box(40, y, 344, 48, [], kind)
        drawing.text(212, y + 20, name, size=16)
        drawing.text(212, y + 39, what)
        if verb:
            drawing.arrow(212, y + 48, 212, y + 75)
            drawing.text(224, y + 67, verb, anchor="start", style="faint")
        elif number == 0:
            drawing.arrow(212, y + 48, 212, y + 75)
    for top, bottom, words in ((46, 172, "on the device"), (202, 562, "only what was drawn")):
        drawing.parts.append(f'<path class="line" d="M34,{top} H28 V{bottom} H34" stroke-width="1.5"/>')
        drawing.parts.append(
            f'<text class="faint" transform="translate(19,{(top + bottom) / 2:g}) rotate(-90)" '
            f'text-anchor="middle">{escape(words)}</text>'
        )
    drawing.text(212, 588, "A protected answer never leaves the device.", style="faint")
    return drawing.finish()


#: Every picture by the name of its file.
DRAWINGS: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (local_and_central, warner_tree, rsfd_attack, memo_and_rounds, ledger, survey_layers)
}


if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        (FIGURES / f"{name}.svg").write_text(draw(), encoding="utf-8")
