"""Every oracle, every number mechanism and every method of plans, with the card of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from bruit import Categories, Grid, Plan
from bruit.cards import Card, CardQuestion
from bruit.laws import Listed, Parity, TwoLevelLaw
from bruit.numbers import number
from bruit.oracles import LocalHashing, RandomizedResponse, SetOracle, UnaryEncoding, oracle

from ..plans import planned


class Design(NamedTuple):
    """A mechanism or a plan, and its card."""

    maker: Any
    card: Card

    @property
    def empty(self) -> dict[str, np.ndarray[Any, Any]]:
        """Nobody's reports."""
        if isinstance(self.maker, Plan):
            return self.maker.records.empty_reports(0)
        return {"answer": self.maker._empty_reports(0)}

    def draw(self, codes: Any, words: Any) -> dict[str, str]:
        """The report of one person; of a memo, where the card asks again."""
        if self.card.rounds is None:
            return self.card.sample_codes(codes, words)
        return self.card.refresh(self.card.draw_memo_codes(codes, words), words)

    def tally(self, reports: list[dict[str, str]]) -> Any:
        """Count reports that a card drew."""
        columns = {name: self.column(name, [report[name] for report in reports]) for name in self.card.columns}
        return self.maker.tally(columns if isinstance(self.maker, Plan) else columns["answer"])

    def column(self, name: str, texts: list[str]) -> np.ndarray[Any, Any]:
        """Texts as the array that counts take: whole numbers, or rows of bytes."""
        if not self.card.columns[name].is_bytes:
            return np.array([int(text) for text in texts], self.card.columns[name].dtype)
        return np.frombuffer(bytes.fromhex("".join(texts)), np.uint8).reshape(len(texts), -1)


def _single(make: Callable[[], Any]) -> Callable[[], Design]:
    def design() -> Design:
        mechanism = make()
        return Design(mechanism, mechanism.card("answer"))

    return design


LABELS = {"sex": ["F", "M"], "colour": ["red", "green", "blue"], "city": [f"city {i}" for i in range(11)]}


def _plan(method: str, schema: Any = LABELS, **settings: Any) -> Callable[[], Design]:
    def design() -> Design:
        plan = planned(schema, 1.2, method, **settings)
        return Design(plan, plan.card())

    return design


class Fano(SetOracle):
    """An oracle with sets of its own: the lines of the plane with seven points."""

    name = "FANO"

    @property
    def law(self):
        lines = tuple(tuple((value + step) % 7 for step in (1, 2, 4)) for value in range(7))
        return TwoLevelLaw.calibrate(self.epsilon, Listed(7, lines))


PRIOR = {"sex": [0.7, 0.3], "colour": [5, 1, 1], "city": list(range(1, 12))}
MIXED = {"sex": Categories(labels=[False, True], missing="category"), "age": Grid(0, 40), "city": list("abcdefghijkl")}

_AGAIN = {name: {"city": LABELS["city"]} for name in ("GRR", "OUE", "SS", "HR", "PGR", "OLH")}

DESIGNS: dict[str, Callable[[], Design]] = {
    "Warner": _single(lambda: RandomizedResponse.two_coins(labels=("no", "yes"))),
    "Warner 1.5": _single(lambda: oracle("Warner", epsilon=1.5)),
    "GRR": _single(lambda: oracle("GRR", epsilon=1.0, k=13)),
    "GRR 300": _single(lambda: oracle("GRR", epsilon=8.0, k=300)),
    "SUE": _single(lambda: oracle("SUE", epsilon=1.0, k=11)),
    "OUE": _single(
        lambda: oracle("OUE", epsilon=1.0, domain=Categories(labels=["red", "green", "blue"], missing="category"))
    ),
    "UE": _single(lambda: UnaryEncoding.with_probabilities(0.9, 0.2, k=9)),
    "BLH": _single(lambda: oracle("BLH", epsilon=1.0, k=20)),
    "OLH": _single(lambda: oracle("OLH", epsilon=1.0, k=20)),
    "LH 300": _single(lambda: LocalHashing(epsilon=4.0, k=20, kind="LH", g=300)),
    "OLH pool": _single(lambda: LocalHashing(epsilon=1.0, k=20, pool=37)),
    "SS": _single(lambda: oracle("SS", epsilon=1.0, k=13)),
    "SS 1": _single(lambda: oracle("SS", epsilon=1.0, k=9, omega=1)),
    "SS 8": _single(lambda: oracle("SS", epsilon=1.0, k=9, omega=8)),
    "HR": _single(lambda: oracle("HR", epsilon=1.0, k=20)),
    "HR 4": _single(lambda: oracle("HR", epsilon=2.0, k=300)),
    "PGR": _single(lambda: oracle("PGR", epsilon=1.0, k=100)),
    "PGR 5": _single(lambda: oracle("PGR", epsilon=1.5, k=500)),
    "listed": _single(lambda: Fano(epsilon=1.0, k=6)),
    "laplace": _single(lambda: number("laplace", epsilon=1.0, bounds=(0, 40))),
    "laplace 256": _single(lambda: number("laplace", epsilon=3.0, bounds=(0.0, 1.0), cells=256)),
    "laplace clamped": _single(lambda: number("laplace", epsilon=1.0, bounds=(0, 40), clamped=True)),
    "staircase": _single(lambda: number("staircase", epsilon=1.0, bounds=(-1.0, 1.0))),
    "staircase 256": _single(lambda: number("staircase", epsilon=1.0, bounds=(0, 255))),
    "staircase clamped": _single(lambda: number("staircase", epsilon=1.0, bounds=(0, 40), clamped=True)),
    "duchi": _single(lambda: number("duchi", epsilon=1.0, bounds=(0, 40))),
    "piecewise": _single(lambda: number("piecewise", epsilon=1.0, bounds=(0, 40))),
    "piecewise 256": _single(lambda: number("piecewise", epsilon=4.0, bounds=(0, 255))),
    "hybrid": _single(lambda: number("hybrid", epsilon=1.0, bounds=(0, 40))),
    "hybrid .5": _single(lambda: number("hybrid", epsilon=0.5, bounds=(0, 40))),
    "square-wave": _single(lambda: number("square-wave", epsilon=1.0, bounds=(0, 40))),
    **{f"SPL[{base}]": _plan(f"SPL[{base}]") for base in ("GRR", "OUE", "OLH", "ADP")},
    **{f"SMP[{base}]": _plan(f"SMP[{base}]") for base in ("GRR", "SS", "OLH", "HR", "PGR")},
    "SMP weighted": _plan("SMP[GRR]", weights={"sex": 1, "colour": 2, "city": 7}),
    **{f"RS+FD[{base}]": _plan(f"RS+FD[{base}]") for base in ("GRR", "SUE-z", "OUE-z", "SUE-r", "OUE-r", "SS", "ADP")},
    "RS+FD attribute": _plan("RS+FD[GRR]", unit="attribute"),
    "RS+FD bases": _plan("RS+FD[GRR]", mechanisms={"city": "OUE-z", "colour": "SS"}),
    **{f"RS+RFD[{base}]": _plan(f"RS+RFD[{base}]", prior=PRIOR) for base in ("GRR", "SUE-r", "OUE-r", "ADP")},
    **{
        f"{method} with a number": _plan(method, MIXED, mechanisms={"age": "hybrid"})
        for method in ("SPL[ADP]", "SMP[ADP]", "SMP[OLH]")
    },
    **{
        f"{method} again": _plan(method, _AGAIN.get(method, LABELS), epoch_epsilon=2.5, rounds=12, epochs=4)
        for method in ("GRR", "OUE", "SS", "HR", "PGR", "OLH", "SPL[SUE]", "SMP[ADP]", "SMP[OLH]", "SMP[OUE]")
    },
    "RS+RFD published": _plan("RS+RFD[GRR]", prior=PRIOR, published=True),
}


@pytest.fixture(scope="session")
def designs() -> dict[str, Design]:
    """All of them."""
    return {name: make() for name, make in DESIGNS.items()}


@pytest.fixture(params=DESIGNS)
def design(request: pytest.FixtureRequest, designs: dict[str, Design]) -> Design:
    """Each of them."""
    return designs[request.param]


@pytest.fixture(scope="session")
def open_card() -> Card:
    """A card of a question whose answer is any text."""
    law = TwoLevelLaw.calibrate(2.0, Parity(parities=3, bits=48, prefix=24, share=430))
    return Card("0123456789abcdef" * 2, "one", (CardQuestion("problem", (), law),))
