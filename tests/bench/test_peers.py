"""The table docs/reference/peers.md has every public name of multi-freq-ldpy and pure-ldp; theirs is run beside ours.

Their client and our mechanism randomise one value of many people. Each report becomes a row of scores, one for each
value: whether it supports the value, or what their server adds for it. Compared are the mean of each column, and the
variance of those of values that nobody has, to which n·Var* is proportional. Seeds are fixed on both sides; means may
be 5.5 standard errors apart, variances 3 %.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import bruit
from bruit.collection import RSFD, Repeat
from bruit.open_answers import RAPPOR
from bruit.oracles import DBitFlip, LocalHashing, one_report, panel
from bruit.oracles.longitudinal import protocol

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "peers.md"
#: How the names of a package end that mean one protocol.
ENDINGS = {
    "multi_freq_ldpy": ("_Client", "_Aggregator_MI", "_Aggregator_IBU"),
    "pure_ldp": ("Client", "Server"),
}
PEOPLE, K, EPSILON, EPOCH = 100_000, 4, 2.0, 4.0
#: Standard errors between two means, and the share by which two variances may differ.
FAR, SHARE = 5.5, 0.03

LIST = """
import importlib, inspect, json, pkgutil, sys, warnings
warnings.simplefilter("ignore")
names = set()
for root in ("multi_freq_ldpy", "pure_ldp"):
    package = importlib.import_module(root)
    for info in pkgutil.walk_packages(package.__path__, root + "."):
        if ".internal" in info.name or ".simulations" in info.name:
            continue
        module = importlib.import_module(info.name)
        names |= {(root, name) for name, item in vars(module).items()
                  if callable(item) and not name.startswith("_") and getattr(item, "__module__", None) == info.name}
print(json.dumps(sorted(names)))
"""

PRELUDE = """
import json, math, random, sys, warnings
warnings.simplefilter("ignore")
import numpy as np, xxhash
from numba import njit

@njit
def seed(number):
    np.random.seed(number)

def one_hot(reports, k):
    return (np.asarray(reports)[:, None] == np.arange(k)).astype(float)

def hashed(reports, k, g):
    return np.array([[xxhash.xxh32(str(v), seed=s).intdigest() % g == y for v in range(k)] for y, s in reports], float)

job = json.load(sys.stdin)
n, k, e, a = job["people"], job["k"], job["epsilon"], job["epoch"]
random.seed(7); np.random.seed(7); seed(7)
"""
FINISH = """
rows = np.asarray(rows, float)
print(json.dumps([len(rows), rows.mean(axis=0).tolist(), rows.var(axis=0).tolist()]))
"""


class Moments(NamedTuple):
    """How many people there are, and the mean and variance of their scores for each value; the first is theirs."""

    n: int
    mean: np.ndarray
    variance: np.ndarray

    @property
    def noise(self) -> float:
        """The variance of the scores of values that nobody has."""
        return float(self.variance[1:].mean())


def of_rows(rows: Any) -> Moments:
    rows = np.asarray(rows, float)
    return Moments(len(rows), rows.mean(axis=0), rows.var(axis=0))


def apart(first: Moments, second: Moments) -> float:
    """The largest distance of two means, in standard errors."""
    spread = np.sqrt(first.variance / first.n + second.variance / second.n)
    return float(np.max(np.abs(first.mean - second.mean) / np.maximum(spread, 1e-12)))


# Theirs: code that leaves one row of scores for each person in `rows`.


def _pure_oracle(module: str, name: str, more: str = "") -> str:
    """A client of multi-freq-ldpy whose report is bits, one value or a subset."""
    client = f"{name}_Client"
    return f"from multi_freq_ldpy.{module} import {client}\nreports = [{client}(0, k, {more}) for _ in range(n)]\n"


def _bits(module: str, name: str, more: str) -> str:
    return _pure_oracle(module, name, more) + "rows = reports\n"


def _long(name: str, rows: str = "rows = reports\n") -> str:
    return _pure_oracle(f"long_freq_est.{name}", f"{name}", "a, e") + rows


def _held(d: int) -> str:
    return (
        "from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client\n"
        f"reports = np.array([dBitFlipPM_Client(0, 6, 6, {d}, e) for _ in range(n)])\n"
        "s = math.exp(e / 2)\n"
        f"rows = np.where(reports >= 0, (reports * (s + 1) - 1) / (s - 1), 0) * 6 / {d}\n"
    )


def _several(module: str, name: str, rows: str) -> str:
    """A client of several attributes; of two here, the rows of the first."""
    return (
        f"from multi_freq_ldpy.{module} import {name}_Client\n"
        f"reports = [{name}_Client((0, 1), (k, 3), 2, e) for _ in range(n)]\n{rows}"
    )


FIRST_CODE, FIRST_BITS = "rows = one_hot([r[0] for r in reports], k)\n", "rows = [r[0] for r in reports]\n"
DRAWN_CODE = "rows = one_hot([r for place, r in reports if place == 0], k)\n"
DRAWN_BITS = "rows = [r for place, r in reports if place == 0]\n"
CODE = "rows = one_hot(reports, k)\n"
BUCKETS = "g = {g}\nrows = hashed(reports, k, g)\n"
PURES = "pure_frequency_oracles"


def _client(module: str, made: str, rows: str, calls: str = "client.privatise(1)") -> str:
    """A client of pure-ldp, which counts from 1."""
    return f"from pure_ldp.frequency_oracles.{module} import *\n{made}\nreports = [{calls} for _ in range(n)]\n{rows}"


SKETCH = """
from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer
m = 16
server = CMSServer(e, 1024, m, is_hadamard={hadamard})
client = CMSClient(e, server.get_hash_funcs(), m, is_hadamard={hadamard})
names, places = [str(v) for v in range(k)], {{}}
rows = []
for _ in range(n):
    report = client.privatise("0")
    j = report[1]
    if j not in places:
        places[j] = [server.hash_funcs[j](name) for name in names]
    rows.append({row})
"""

THEIRS: dict[str, str] = {
    "GRR": _pure_oracle(f"{PURES}.GRR", "GRR", "e") + CODE,
    "UE": _bits(f"{PURES}.UE", "UE", "e, True"),
    "UE symmetric": _bits(f"{PURES}.UE", "UE", "e, False"),
    "LH": _pure_oracle(f"{PURES}.LH", "LH", "e, True") + BUCKETS.format(g="round(math.exp(e)) + 1"),
    "LH binary": _pure_oracle(f"{PURES}.LH", "LH", "e, False") + BUCKETS.format(g=2),
    # At k = 9 and ε = ½ a subset has more than one value.
    "SS": "k, e = 9, 0.5\n"
    + _pure_oracle(f"{PURES}.SS", "SS", "e")
    + "rows = [np.isin(np.arange(k), r) for r in reports]\n",
    "ADP": _pure_oracle(f"{PURES}.ADP", "ADP", "e") + CODE,
    "HE": _pure_oracle(f"{PURES}.HE", "HE", "e")
    + "from scipy.optimize import minimize_scalar\nfrom multi_freq_ldpy.pure_frequency_oracles.HE import find_tresh\n"
    + "theta = minimize_scalar(find_tresh, bounds=[0.5, 1], method='bounded', args=(e)).x\n"
    + "rows = np.array(reports) > theta\n",
    "HE summed": _bits(f"{PURES}.HE", "HE", "e"),
    **{name: _long(name) for name in ("L_SUE", "L_OSUE", "L_OUE", "L_SOUE")},
    **{name: _long(name, CODE) for name in ("L_GRR", "L_ADP")},
    "L_LH": _long("L_LH", BUCKETS.format(g=7)),
    "L_LH binary": _pure_oracle("long_freq_est.L_LH", "L_LH", "a, e, False") + BUCKETS.format(g=2),
    "dBitFlipPM": _held(3),
    "dBitFlipPM one": _held(1),
    "SPL_GRR": _several("mdim_freq_est.SPL_solution", "SPL_GRR", FIRST_CODE),
    "SPL_UE": _several("mdim_freq_est.SPL_solution", "SPL_UE", FIRST_BITS),
    "SMP_GRR": _several("mdim_freq_est.SMP_solution", "SMP_GRR", DRAWN_CODE),
    "SMP_UE": _several("mdim_freq_est.SMP_solution", "SMP_UE", DRAWN_BITS),
    "RSpFD_GRR": _several("mdim_freq_est.RSpFD_solution", "RSpFD_GRR", FIRST_CODE),
    "RSpFD_UE_zero": _several("mdim_freq_est.RSpFD_solution", "RSpFD_UE_zero", FIRST_BITS),
    "RSpFD_UE_rnd": _several("mdim_freq_est.RSpFD_solution", "RSpFD_UE_rnd", FIRST_BITS),
    "RSpFD_ADP": _several("mdim_freq_est.RSpFD_solution", "RSpFD_ADP", FIRST_CODE),
    "SPL_L_OSUE": _several("long_mdim_freq_est.L_SPL_Solution", "SPL_L_OSUE", FIRST_BITS).replace("2, e", "2, a, e"),
    "SMP_L_OSUE": _several("long_mdim_freq_est.L_SMP_Solution", "SMP_L_OSUE", DRAWN_BITS).replace("2, e", "2, a, e"),
    "DE": _client("direct_encoding", "client = DEClient(e, k)", CODE),
    "UEClient": _client("unary_encoding", "client = UEClient(e, k, use_oue=True)", "rows = reports\n"),
    "UEClient symmetric": _client("unary_encoding", "client = UEClient(e, k)", "rows = reports\n"),
    "LHClient": _client("local_hashing", "client = LHClient(e, k, use_olh=True)", BUCKETS.format(g="client.g")),
    "LHClient binary": _client("local_hashing", "client = LHClient(e, k)", BUCKETS.format(g=2)),
    "FastLH": _client(
        "local_hashing", "client = FastLHClient(e, k, 65536, use_olh=True)", BUCKETS.format(g="client.g")
    ),
    "HadamardResponse": _client(
        "hadamard_response",
        "server = HadamardResponseServer(e, k)\nclient = HadamardResponseClient(e, k, server.get_hash_funcs())",
        "tables = {y: server.hr.decode_string([y], normalization=-1, iffast=0) for y in set(reports)}\n"
        "rows = [tables[y] for y in reports]\n",
    ),
    "HadamardMech": _client(
        "hadamard_mechanism",
        "client = HadamardMechClient(e, k, 1)\nserver = HadamardMechServer(e, k, 1)",
        "sign = lambda v, j: (-1) ** bin(v & j).count('1')\n"
        "row = lambda r: [sum(h * sign(v, j) for j, h in r) / (2 * server.p - 1) for v in range(k)]\n"
        "rows = [row(list(report)) for report in reports]\n",
    ),
    "HEClient": _client("histogram_encoding", "client = HEClient(e, k)", "rows = np.array(reports) > 0.7096\n"),
    "CMS": SKETCH.format(
        hadamard=False, row="[m / (m - 1) * (server.c / 2 * report[0][p] + 0.5 - 1 / m) for p in places[j]]"
    ),
    "HCMS": SKETCH.format(
        hadamard=True,
        row="[m / (m - 1) * (server.c * report[0] * server.had[report[2], p] - 1 / m) for p in places[j]]",
    ),
    "PCS": """
from pure_ldp.frequency_oracles.priv_count_sketch import PCSClient, PCSServer
server = PCSServer(e, 1024, 16)
client = PCSClient(e, 1024, 16, server.get_hash_funcs())
rows = []
for _ in range(n):
    bits, j = client.privatise("0")
    h, g = server.hash_funcs[j]
    rows.append([(2 * g(str(v)) - 1) * bits[h(str(v))] for v in range(k)])
""",
    "RAPPOR": _client(
        "rappor",
        "server = RAPPORServer(0.5, 16, 1, k, num_of_cohorts=1)\n"
        "client = RAPPORClient(0.5, 16, server.get_hash_funcs(), num_of_cohorts=1)",
        "own = server.hash_family[0][0]('0')\nbits = np.array([r[0] for r in reports])\n"
        "rows = np.column_stack([bits[:, own], np.delete(bits, own, axis=1)[:, :3]])\n",
    ),
}


# Ours.


def supported(oracle: Any, n: int = PEOPLE) -> Moments:
    return of_rows(oracle.supports(oracle.privatize(np.zeros(n, np.int64), rng=7)))


def shown(name: str, k: int = K) -> Moments:
    """One report of stored memos; of a protocol for one round, one report."""
    values = {"epsilon": EPSILON, "epoch_epsilon": EPOCH, "k": k}
    if protocol(name, EPSILON, EPOCH, k=k).panel is None:
        return supported(one_report(name, **values))
    design: Any = panel(name, **values)
    zeros = np.zeros(PEOPLE, np.int64)
    if "LOLOHA" in name:
        reports = design.answer(design.start(PEOPLE, rng=7), zeros, rng=8)
    else:
        reports = design.answer(design.memoize(zeros, rng=7), rng=8)
    return of_rows(design.oracle.supports(reports))


def held(design: DBitFlip) -> Moments:
    """What the published server adds for each bucket."""
    reports = design.answer(design.start(PEOPLE, rng=7), np.zeros(PEOPLE, np.int64))
    score = (design.bits(reports) - float(design.law.q)) / float(design.law.p - design.law.q)
    rows = np.zeros((PEOPLE, design.buckets))
    np.put_along_axis(rows, design.held_buckets(reports), score * design.buckets / design.held, axis=1)
    return of_rows(rows)


def first(method: Any, **repeat: Any) -> Moments:
    """The reports on the first of two attributes."""
    plan = bruit.Plan({"a": list("wxyz"), "b": list("xyz")}, EPSILON, method, **repeat)
    people = {"a": ["w"] * PEOPLE, "b": ["y"] * PEOPLE}
    if repeat:
        return _first_of(plan, plan.panel.answer(plan.panel.memoize(people, rng=7), rng=8))
    return _first_of(plan, plan.privatize(people, rng=7))


def _first_of(plan: bruit.Plan, reports: Any) -> Moments:
    oracle: Any = plan.mechanisms["a"]
    if "attribute" not in reports:
        return of_rows(oracle.supports(reports["a"]))
    rows = reports["report"][reports["attribute"] == 0]
    return of_rows(oracle.supports(rows[:, : oracle.form.width] if oracle.form.width else rows))


def filtered(design: RAPPOR, places: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Whether the bits at these places are set, from the cells of K texts in the cohort of each person."""
    reports = design.privatize(["a"] * PEOPLE, rng=7)
    cohorts = reports[:, :2].copy().view("<u2")[:, 0]
    cells = design.hash.table(design.encode(list("abcd")).tolist())[:, cohorts, 0].T
    bits = np.unpackbits(reports[:, 2:], axis=1, count=design.bits, bitorder="little")
    return np.take_along_axis(bits, places(cells, np.arange(K)), axis=1)


def sketched(m: int = 16) -> Moments:
    """What the server of a count-mean sketch adds for each value."""
    design = RAPPOR.count_mean_sketch(epsilon=EPSILON, buckets=m, functions=1024)
    law = design.cell_law
    score = (filtered(design, lambda cells, _: cells) - law.other) / law.gap
    return of_rows(m / (m - 1) * (score - 1 / m))


def memoised_filter() -> Moments:
    """The bit of the text, and three others, of a memo that is shown."""
    # At this ε symmetric bits have f = ½.
    design = RAPPOR.count_mean_sketch(epsilon=2 * math.log(3), buckets=16, functions=1)
    return of_rows(filtered(design, lambda cells, others: (cells[:, :1] + others) % 16))


def named(name: str, k: int = K, epsilon: float = EPSILON) -> Callable[[], Moments]:
    return lambda: supported(bruit.oracle(name, epsilon=epsilon, k=k))


def scored(name: str) -> Callable[[], Moments]:
    oracle = bruit.oracle(name, epsilon=EPSILON, k=K)
    return lambda: of_rows(oracle.scores(oracle.privatize(np.zeros(PEOPLE, np.int64), rng=7)))


OURS: dict[str, Callable[[], Moments]] = {
    "GRR": named("GRR"),
    "UE": named("OUE"),
    "UE symmetric": named("SUE"),
    "LH": named("OLH"),
    "LH binary": named("BLH"),
    "SS": named("SS", 9, 0.5),
    "ADP": lambda: supported(bruit.choose(K, EPSILON, among=["GRR", "OUE"]).best),
    "HE": named("THE"),
    "L_SUE": lambda: shown("L-SUE"),
    "L_OSUE": lambda: shown("L-OSUE"),
    "L_OUE": lambda: shown("L-OUE"),
    "L_SOUE": lambda: shown("L-SOUE"),
    "L_GRR": lambda: shown("L-GRR"),
    "L_ADP": lambda: shown("L-ADP"),
    "L_LH": lambda: shown("LOLOHA"),
    "L_LH binary": lambda: shown("BiLOLOHA"),
    "dBitFlipPM": lambda: held(DBitFlip(epsilon=EPSILON, held=3, k=6)),
    "dBitFlipPM one": lambda: held(DBitFlip.as_published(epsilon=EPSILON, held=1, k=6)),
    "SPL_GRR": lambda: first("SPL[GRR]"),
    "SPL_UE": lambda: first("SPL[OUE]"),
    "SMP_GRR": lambda: first("SMP[GRR]"),
    "SMP_UE": lambda: first("SMP[OUE]"),
    "RSpFD_GRR": lambda: first(RSFD("GRR", published=True)),
    "RSpFD_UE_zero": lambda: first(RSFD("OUE-z", published=True)),
    "RSpFD_UE_rnd": lambda: first(RSFD("OUE-r", published=True)),
    "RSpFD_ADP": lambda: first(RSFD("ADP", published=True)),
    "SPL_L_OSUE": lambda: first("SPL[OUE]", repeat=Repeat(2, epoch_epsilon=EPOCH)),
    "SMP_L_OSUE": lambda: first("SMP[OUE]", repeat=Repeat(2, epoch_epsilon=EPOCH)),
    "DE": named("GRR"),
    "UEClient": named("OUE"),
    "UEClient symmetric": named("SUE"),
    "LHClient": named("OLH"),
    "LHClient binary": named("BLH"),
    "FastLH": lambda: supported(bruit.oracle("OLH", epsilon=EPSILON, k=K, pool=65536)),
    "HadamardResponse": scored("HR"),
    "HadamardMech": scored("BLH"),
    "HEClient": named("THE"),
    "CMS": sketched,
}


# The table.


def expanded(pattern: str) -> list[str]:
    """The names that a pattern of braces stands for."""
    parts = [part.split(",") for part in re.split(r"[{}]", pattern)]
    return ["".join(choice) for choice in itertools.product(*parts)]


def stems(page: str) -> dict[str, list[str]]:
    """What the first columns name, for each package; a name before … stands for all of its endings."""
    parts = dict(zip(ENDINGS, page.split("\n## ")[1:], strict=True))
    rows = {package: re.findall(r"^\| (`.*?) \| .+ \|$", part, re.MULTILINE) for package, part in parts.items()}
    return {
        package: [name for cell in cells for pattern in re.findall("`([^`]+)`", cell) for name in expanded(pattern)]
        for package, cells in rows.items()
    }


def names_of(package: str, stem: str) -> list[str]:
    """The names that a stem stands for."""
    return [stem.rstrip("…").rstrip("_") + ending for ending in ENDINGS[package]] if stem.endswith("…") else [stem]


#: Rows of the table that nothing is run for, and why.
NOT_RUN = {
    "base classes, helpers and experiments": {
        *("FreqOracle", "HeavyHitter", "create_fo_client_instance", "create_fo_server_instance"),
        *("create_hh_client_instance", "create_hh_server_instance", "project_probability_simplex", "generate_hash"),
        *("generate_hash_funcs", "generate_256_hash", "get_sha256_hash_arr", "pure_ldp.simulations", "find_tresh"),
        *("MI", "MI_long", "IBU", "VAR_Pure", "VAR_RSpFD_GRR", "VAR_RSpFD_UE_zero", "VAR_RSpFD_UE_rnd"),
    },
    "a client above, for each attribute or for one that is drawn": {
        *(f"{way}_{name}" for way in ("SPL", "SMP") for name in ("LH", "SS", "ADP", "dBitFlipPM")),
        *(f"{way}_L_{name}" for way in ("SPL", "SMP") for name in ("GRR", "OUE", "SUE", "SOUE", "ADP")),
    },
    "a client above, over a hash": {"SketchResponse"},
    "nothing is reported": {"ZeroOracle"},
    "lists of names, which have no mean": {"PEM", "SFP", "TreeHist"},
}
#: Names that are run, and are no client.
FORMULA_NAMES = {"VAR_Long_Pure"}


def test_every_row_of_the_table_is_run_or_has_a_reason() -> None:
    rows = [
        stem.rstrip("…").rstrip("_") for cells in stems(PAGE.read_text(encoding="utf-8")).values() for stem in cells
    ]
    left = set().union(*NOT_RUN.values())
    run_names = {name.split(" ")[0] for name in THEIRS} | FORMULA_NAMES
    assert set(rows) <= left | run_names
    assert not left & run_names
    assert left | {name.removesuffix("Client") for name in run_names} - {"HCMS"} == set(rows)
    assert set(OURS) | set(CONTROLS) == set(THEIRS)


def test_a_row_that_is_missing_is_noticed() -> None:
    page = "# x\n\n## a\n\n| `GRR_…`, `SPL_{UE,LH}_…` | y |\n| `MI` | z |\n\n## b\n\n| `DE…` | y |\n"
    assert stems(page) == {"multi_freq_ldpy": ["GRR_…", "SPL_UE_…", "SPL_LH_…", "MI"], "pure_ldp": ["DE…"]}
    assert names_of("pure_ldp", "DE…") == ["DEClient", "DEServer"]
    assert names_of("multi_freq_ldpy", "MI") == ["MI"]


def test_all_code_compiles() -> None:
    for name, code in THEIRS.items():
        compile(PRELUDE + code + FINISH, name, "exec")
    compile(LIST, "list", "exec")


# What takes their packages.


@pytest.fixture(scope="module")
def python() -> Path:
    """The Python that has both packages."""
    sys.path.insert(0, str(ROOT / "bench"))
    peers = importlib.import_module("peers")
    sys.path.remove(str(ROOT / "bench"))
    try:
        ready: Path = peers.ready(peers.LDP)
    except peers.SetupError as error:
        pytest.skip(str(error))
    return ready


def run(python: Path, code: str) -> Any:
    """What code prints, as JSON."""
    job = json.dumps({"people": PEOPLE, "k": K, "epsilon": EPSILON, "epoch": EPOCH})
    done = subprocess.run(
        [str(python), "-c", code], input=job, capture_output=True, text=True, check=False, timeout=1200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def theirs(python: Path, name: str) -> Moments:
    n, mean, variance = run(python, PRELUDE + THEIRS[name] + FINISH)
    return Moments(n, np.array(mean), np.array(variance))


@pytest.mark.audit
def test_the_table_has_every_public_name_and_no_other(python: Path) -> None:
    public = {(package, name) for package, name in run(python, LIST)}
    table = [
        (package, name)
        for package, cells in stems(PAGE.read_text(encoding="utf-8")).items()
        for stem in cells
        for name in names_of(package, stem)
    ]
    # dBitFlipPM, the methods for several attributes, MI … have no estimator by IBU, and one row has all simulations.
    assert len(set(table)) == len(table)
    absent = {(package, name) for package, name in set(table) - public if not name.endswith("_Aggregator_IBU")}
    assert absent == {("pure_ldp", "pure_ldp.simulations")}
    assert public <= set(table)


@pytest.mark.audit
@pytest.mark.parametrize("name", sorted(OURS))
def test_theirs_and_ours_have_the_same_means_and_variances(name: str, python: Path) -> None:
    first, second = theirs(python, name), OURS[name]()
    assert apart(first, second) < FAR
    assert first.noise == pytest.approx(second.noise, rel=SHARE)


@pytest.mark.audit
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("UE", named("OUE", K, 1.9)),
        ("L_OSUE", named("OUE", K, 1.9)),
        ("L_LH", lambda: supported(LocalHashing(epsilon=EPSILON, kind="LH", g=7, k=K))),  # the ε asked for
        ("dBitFlipPM one", lambda: held(DBitFlip(epsilon=EPSILON, held=1, k=6))),
    ],
)
def test_another_epsilon_than_the_real_one_is_caught(name: str, other: Callable[[], Moments], python: Path) -> None:
    first, second = theirs(python, name), other()
    assert apart(first, second) > FAR or first.noise != pytest.approx(second.noise, rel=SHARE)


# What is wrong with some of theirs, or not built here: these must differ, in the way that the page says.


def _never_clears(own: Moments) -> None:
    ours = memoised_filter()
    others = [Moments(side.n, side.mean[1:], side.variance[1:]) for side in (own, ours)]
    assert apart(*others) < FAR
    assert own.mean[0] == 1.0
    assert ours.mean[0] == pytest.approx(0.75, abs=0.01)  # 1 − f/2


def _sketch_is_biased(own: Moments) -> None:
    wanted = math.tanh(EPSILON / 2)
    assert own.mean[0] == pytest.approx(wanted, abs=0.02)
    # Of 16 buckets: a collision adds what the value itself adds, with its sign.
    assert own.mean[1:] == pytest.approx(wanted / 16, abs=0.02)
    assert (own.mean[1:] > 8 * np.sqrt(own.variance[1:] / own.n)).all()


def _hadamard_sketch(own: Moments) -> None:
    c, m = 1 / math.tanh(EPSILON / 2), 16
    assert own.mean == pytest.approx([1, 0, 0, 0], abs=0.04)
    assert own.noise == pytest.approx((m / (m - 1)) ** 2 * (c**2 - 1 / m**2), rel=SHARE)
    assert own.noise > named("OLH")().noise


def _laplace(own: Moments) -> None:
    assert own.noise == pytest.approx(8 / EPSILON**2, rel=SHARE)
    assert own.noise > 2 * bruit.oracle("OUE", epsilon=EPSILON, k=K).typical_variance(0.0, 1)


CONTROLS: dict[str, Callable[[Moments], None]] = {
    "RAPPOR": _never_clears,
    "PCS": _sketch_is_biased,
    "HCMS": _hadamard_sketch,
    "HE summed": _laplace,
}


@pytest.mark.audit
@pytest.mark.parametrize("name", sorted(CONTROLS))
def test_what_is_not_built_or_wrong_is_as_the_page_says(name: str, python: Path) -> None:
    CONTROLS[name](theirs(python, name))


TWICE = """
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client
print(json.dumps(np.mean([L_OSUE_Client(0, k, a, e)[0] * L_OSUE_Client(0, k, a, e)[0] for _ in range(n)])))
"""


@pytest.mark.audit
def test_their_longitudinal_client_draws_a_new_memo_in_every_call(python: Path) -> None:
    design: Any = panel("L-OSUE", epsilon=EPSILON, epoch_epsilon=EPOCH, k=K)
    memos = design.memoize(np.zeros(PEOPLE, np.int64), rng=7)
    rounds = [design.oracle.supports(design.answer(memos, rng=number))[:, 0] for number in (1, 2)]
    both, independent = (rounds[0] & rounds[1]).mean(), float(design.oracle.p) ** 2
    assert run(python, PRELUDE + TWICE) == pytest.approx(independent, abs=0.01)
    assert both > independent + 0.1  # one memo is in both


FORMULAS = """
from multi_freq_ldpy.long_freq_est.Variance_LONG_PURE import VAR_Long_Pure
from pure_ldp.frequency_oracles.rappor import RAPPORClient
a, b = math.exp(2), math.exp(1)
p2 = (a * b - 1) / ((a - 1) * (b + 1))
client = RAPPORClient(0.5, 16, [])
f = client.convert_eps_to_f(2)
print(json.dumps([VAR_Long_Pure(0.5, 1 / (a + 1), p2, 1 - p2, 1, 0.4), client.convert_f_to_eps(f, 2)]))
"""


@pytest.mark.audit
def test_two_formulas_are_wrong_as_the_page_says(python: Path) -> None:
    variance, epsilon = run(python, PRELUDE + FORMULAS)
    right = one_report("L-OSUE", epsilon=1.0, epoch_epsilon=2.0, k=K).typical_variance(0.4, 1)
    assert (round(variance, 2), round(right, 2)) == (3.68, 4.32)
    assert epsilon == pytest.approx(2 * 2, abs=0.05)
