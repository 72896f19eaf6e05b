"""Every name of the literature is answered with what to write, wherever a person may write a name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import bruit
from bruit import referrals
from bruit.cli import _options
from bruit.collection import SMP
from bruit.errors import ParameterError
from bruit.numbers import number

ONE = {"work": ["a", "b", "c"]}
TWO = {**ONE, "home": ["a", "b"]}

#: Every place where a person writes the name of a mechanism.
DOORS: dict[str, Callable[[str], Any]] = {
    "oracle": lambda name: bruit.oracle(name, epsilon=1.0, k=3),
    "panel": lambda name: bruit.panel(name, epsilon=1.0, epoch_epsilon=2.0, k=3),
    "number": lambda name: number(name, epsilon=1.0, bounds=(0, 1)),
    "plan of one question": lambda name: bruit.Plan(ONE, 1.0, name),
    "plan of two": lambda name: bruit.Plan(TWO, 1.0, name),
    "brackets of a method": lambda name: bruit.Plan(TWO, 1.0, f"SMP[{name}]"),
    "a method": lambda name: bruit.Plan(TWO, 1.0, f"{name}[GRR]"),
    "mechanisms of a method": lambda name: bruit.Plan(TWO, 1.0, SMP("ADP", mechanisms={"work": name})),
    "--method of one question": lambda name: bruit.Plan(ONE, 1.0, _options.method(name, several=False)),
}
#: Where a name of the literature is the name of something.
TAKEN = {"oracle": {"THE"}, "panel": {"L-SUE", "L-OSUE", "L-GRR", "L-ADP", "LOLOHA", "BiLOLOHA"}}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", referrals.REFERRALS)
def test_a_name_of_the_literature_is_answered_alike_at_every_door(name: str, door: str) -> None:
    for spelling in (name, name.lower(), name.replace("-", "_"), name.upper().replace("-", "")):
        if name in TAKEN.get(door, ()):
            assert DOORS[door](spelling) is not None
            continue
        with pytest.raises(ParameterError, match=re.escape(referrals.advice(name))):
            DOORS[door](spelling)


@pytest.mark.parametrize("door", ["oracle", "panel"])
@pytest.mark.parametrize("name", referrals.ELSEWHERE)
def test_a_name_of_plans_or_numbers_is_answered_where_it_means_nothing(name: str, door: str) -> None:
    for spelling in (name, name.upper()):
        with pytest.raises(ParameterError, match=re.escape(referrals.ELSEWHERE[name].format(name=name))):
            DOORS[door](spelling)


@pytest.mark.parametrize(("short", "name"), [("PM", "piecewise"), ("hm", "hybrid"), ("SW", "square-wave")])
def test_numbers_have_the_short_names_of_papers(short: str, name: str) -> None:
    assert number(short, epsilon=1.0, bounds=(0, 1)) == number(name, epsilon=1.0, bounds=(0, 1))


@pytest.mark.parametrize("name", ["GRR", "olh", "SS", "Warner", "kRR", "hadamard"])
def test_an_oracle_of_one_report_is_no_panel(name: str) -> None:
    with pytest.raises(ParameterError, match=r"for one report. With memos it is bruit\.oracles\.Repeated\("):
        DOORS["panel"](name)


@pytest.mark.parametrize(
    ("name", "written"),
    [("CMS", "OLH"), ("THE", "OUE"), ("UE", "SUE or OUE"), ("L-OSUE", r"OUE with rounds \(--rounds 4 .*\)")],
)
def test_a_plan_is_told_the_names_that_it_takes(name: str, written: str) -> None:
    for door in ("plan of one question", "--method of one question", "brackets of a method"):
        with pytest.raises(ParameterError, match=rf"In a plan, and after --method: {written}\.$"):
            DOORS[door](name)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("PEMServer", "bruit.open_answers.HeavyHitters("),
        ("CMSClient", "count_mean_sketch("),
        ("L_OSUE_Aggregator_MI", "bruit.panel('L-OSUE'"),
        ("SMP_GRR", "'SMP[GRR]'"),
        ("RSpFD_ADP_Client", "'RS+FD[ADP]'"),
        ("VAR_Long_Pure", "docs/reference/peers.md"),
        ("GRR_Client", "docs/reference/peers.md"),
        ("L-SS", "Repeated(bruit.oracle('SS'"),
        ("P.E.M.", "bruit.open_answers.HeavyHitters("),
    ],
)
@pytest.mark.parametrize("door", ["oracle", "panel", "plan of one question", "plan of two"])
def test_a_function_of_another_package_is_answered_as_what_it_is_of(name: str, answer: str, door: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(answer)):
        DOORS[door](name)


@pytest.mark.parametrize("in_plans", sorted({known.in_plans for known in referrals.REFERRALS.values()} - {""}))
def test_what_a_plan_is_told_to_take_is_the_name_of_an_oracle(in_plans: str) -> None:
    for name in in_plans.partition(" with ")[0].split(" or "):
        assert name in {*bruit.oracles.NAMES, "ADP"}


@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_nobody_knows_is_answered_with_the_names_there_are(door: str) -> None:
    with pytest.raises(ParameterError, match=r"must be one of|must read as") as caught:
        DOORS[door]("ZZTOP")
    assert not referrals.advice("ZZTOP")
    assert "bruit.open_answers" not in str(caught.value)


@pytest.mark.parametrize(
    "answer", [*(known.text for known in referrals.REFERRALS.values()), *referrals.ELSEWHERE.values()]
)
def test_what_is_to_be_written_is_there(answer: str) -> None:
    """Each call that an answer names is a public name of the library."""
    calls = re.findall(r"bruit((?:\.\w+)+)\(", answer)
    assert calls
    for call in calls:
        found: Any = bruit
        for part in call.strip(".").split("."):
            found = getattr(found, part)
        assert callable(found)
