"""What is measured, and what is promised.

A case is one piece of work on one size of domain. bruit does it, then each of the others, one right
after the other, so that a busy minute of the machine touches neighbours alike. A promise is the
least ratio of bruit's rate (people per second) to the other's; `run.py` ends with exit code 1 when
one is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

#: The budget of every case. It hardly matters for speed: it sets how often a client lies.
EPSILON = 1.0


@dataclass(frozen=True)
class Case:
    """One piece of work: who does it beside bruit, and the ratios promised."""

    mechanism: str
    side: str
    k: int
    others: tuple[str, ...]
    promises: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    n: int = 0  #: exactly so many people for everyone; 0 to let each library have as many as it can do

    @property
    def title(self) -> str:
        return f"{self.mechanism} {self.side} k={self.k}"


PROMISES = {
    ("GRR", "client", 128): {"multi-freq-ldpy": 40.0},
    ("GRR", "server", 128): {"multi-freq-ldpy": 100.0},
    ("OUE", "client", 128): {"multi-freq-ldpy": 60.0},
    ("OUE", "server", 128): {"multi-freq-ldpy": 30.0},
    ("OLH", "server", 128): {"multi-freq-ldpy": 1000.0},
    ("OLH", "server", 1024): {"multi-freq-ldpy": 1000.0},
    ("SS", "client", 128): {"multi-freq-ldpy": 25.0},
    ("SS", "server", 128): {"multi-freq-ldpy": 75.0},
    # Secure randomness must cost next to nothing, or somebody will switch it off.
    ("GRR", "keystream", 128): {"bruit fed by PCG64": 0.8},
    ("RS+FD[GRR]", "client", 128): {"multi-freq-ldpy": 100.0},
    ("RS+FD[GRR]", "server", 128): {"multi-freq-ldpy": 40.0},
    ("bounded Laplace", "client", 64): {"diffprivlib": 100.0},
    ("staircase", "client", 64): {"diffprivlib": 100.0},
    ("discrete Laplace", "noise", 1): {"OpenDP": 5.0, "diffprivlib": 10.0},
    ("discrete Laplace", "noise", 100): {"OpenDP": 5.0, "diffprivlib": 10.0},
    ("nine deciles", "release", 9): {"diffprivlib": 20.0},
}


#: The oracles beyond randomized response, and who else has them.
ORACLES = {
    "SUE": ("multi-freq-ldpy", "pure-ldp"),
    "OUE": ("multi-freq-ldpy", "pure-ldp"),
    "BLH": ("multi-freq-ldpy", "pure-ldp"),
    "OLH": ("multi-freq-ldpy", "pure-ldp"),
    "SS": ("multi-freq-ldpy",),
    "HR": (),
    "PGR": (),
}


def cases() -> list[Case]:
    """Every case, in the order of the table."""
    peers = ("multi-freq-ldpy", "pure-ldp")
    table = [_case("GRR", side, k, peers) for side in ("client", "server") for k in (2, 16, 128, 1024)]
    table.append(_case("GRR", "keystream", 128, ("bruit fed by PCG64",)))
    for name, others in ORACLES.items():
        table += [_case(name, side, k, others) for side in ("client", "server") for k in (16, 128, 1024)]
    # Ten attributes of k values each; people are whole records.
    table += [_case("RS+FD[GRR]", side, 128, ("multi-freq-ldpy",)) for side in ("client", "server")]
    # k is the number of cells of bruit's grid; diffprivlib works with floats.
    table += [_case(noise, "client", 64, ("diffprivlib",)) for noise in ("bounded Laplace", "staircase")]
    # k is the scale of the noise, and people are draws.
    table += [_case("discrete Laplace", "noise", k, ("OpenDP", "diffprivlib")) for k in (1, 100)]
    # k is the number of bits of an answer. Half of the work is the same for any number of people, so it is a million.
    table.append(_case("heavy hitters", "server", 48, (), n=1_000_000))
    # The time of a quantile is not in proportion to the number of people, so all get as many.
    table.append(_case("nine deciles", "release", 9, ("diffprivlib", "OpenDP", "PyDP"), n=1_000_000))
    return table


def chosen(only: list[str]) -> list[Case]:
    """The cases whose title or libraries contain one of the words; all of them without words."""
    words = [word.lower() for word in only]
    return [
        case
        for case in cases()
        if not words or any(word in " ".join((case.title, *case.others)).lower() for word in words)
    ]


def _case(mechanism: str, side: str, k: int, others: tuple[str, ...], n: int = 0) -> Case:
    return Case(mechanism, side, k, others, PROMISES.get((mechanism, side, k), {}), n)
